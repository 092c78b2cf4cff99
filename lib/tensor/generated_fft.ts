/**
 * The ops in `fft`. Written by tools/generate.ts from the definitions in lib/ops; run `deno task generate`.
 */
export {
  fftFft as fft,
  fftFft2 as fft2,
  fftFftfreq as fftfreq,
  fftFftn as fftn,
  fftFftshift as fftshift,
  fftHfft as hfft,
  fftHfft2 as hfft2,
  fftHfftn as hfftn,
  fftIfft as ifft,
  fftIfft2 as ifft2,
  fftIfftn as ifftn,
  fftIfftshift as ifftshift,
  fftIhfft as ihfft,
  fftIhfft2 as ihfft2,
  fftIhfftn as ihfftn,
  fftIrfft as irfft,
  fftIrfft2 as irfft2,
  fftIrfftn as irfftn,
  fftRfft as rfft,
  fftRfft2 as rfft2,
  fftRfftfreq as rfftfreq,
  fftRfftn as rfftn,
} from "./generated_functions.ts";
