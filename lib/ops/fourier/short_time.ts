/**
 * Short-time Fourier transforms between signals [batch?, samples] and spectra [batch?, frequencies, frames].
 * Invariant: frames are windows of nFft samples, hopLength apart, laid out as in PyTorch.
 */
import { zeroUnless } from "../refusals.ts";
import { isComplex, partType } from "../../base/dtype.ts";
import { DynError } from "../../base/errors.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { isAtMost, isEqual, isLess, sizeText } from "../../sym/decide.ts";
import { add, type Dim, floorDiv, mul, sub } from "../../sym/expr.ts";
import { composeOp, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { shapeText } from "../shapes.ts";
import { halfOf, transformedType } from "./axes.ts";

const PAD_MODES = ["constant", "reflect", "replicate", "circular"] as const;

type PadMode = typeof PAD_MODES[number];

const isPadMode = (mode: string): mode is PadMode => PAD_MODES.some((known) => known === mode);

/** Sizes of frames. */
interface Frames {
  readonly nFft: Dim;
  readonly hopLength: Dim;
  readonly winLength: Dim;
}

function framesOf(
  given: { readonly nFft: Dim; readonly hopLength: Dim | null; readonly winLength: Dim | null },
  window: TensorLike | null,
): Frames {
  const { nFft } = given,
    hopLength = given.hopLength ?? floorDiv(nFft, 4),
    winLength = given.winLength ?? nFft;
  if ([nFft, hopLength, winLength].some((size) => isLess(size, 1)) || isLess(nFft, winLength)) {
    throw new DynError(
      `Expected 0 < winLength <= nFft and hopLength > 0 but found nFft ${sizeText(nFft)}, winLength ` +
        `${sizeText(winLength)}, hopLength ${sizeText(hopLength)}`,
    );
  }
  if (window && (window.shape.length !== 1 || !isEqual(window.shape[0] ?? 1, winLength))) {
    throw new DynError(
      `Expected a window of ${sizeText(winLength)} elements but found ${shapeText(window.shape)}`,
    );
  }
  return { nFft, hopLength, winLength };
}

/** The window, padded with zeros to the length of a frame; null: ones. */
function framed<T extends TensorLike>(
  o: OpApi<T>,
  window: T | null,
  frames: Frames,
  like: TensorLike,
): T | null {
  const { nFft, winLength } = frames;
  const isWhole = isEqual(winLength, nFft);
  if (!window && isWhole) return null;
  const options = { dtype: partType(like.dtype), device: like.device };
  const shown = window ?? o.ones([winLength], options), around = sub(nFft, winLength);
  const left = floorDiv(around, 2);
  return isWhole ? shown : o.constantPadNd(shown, [left, sub(around, left)], 0);
}

/** A signal, or a batch of them, as a batch. */
function batched<T extends TensorLike>(o: OpApi<T>, x: T, rank: number, name: string): T {
  if (x.shape.length === rank) return x;
  if (x.shape.length === rank - 1) return o.unsqueeze(x, 0);
  throw new DynError(
    `Expected ${rank - 1} or ${rank} dimensions for ${name} but found ${shapeText(x.shape)}`,
  );
}

/** Returns whether only half of the frequencies is stored: the default for real signals. */
const isHalf = (onesided: boolean | null, ...tensors: readonly (TensorLike | null)[]): boolean =>
  onesided ?? !tensors.some((x) => x && isComplex(x.dtype));

const stft = composeOp({
  name: "stft",
  doc:
    "Spectra of windows of a signal, [batch?, frequencies, frames], complex unless `returnComplex` is false, which " +
    "gives pairs in a last dimension. As `torch.stft`. Computed on the host.",
  params: {
    self: required("tensor"),
    nFft: required("size"),
    hopLength: nullable("size"),
    winLength: nullable("size"),
    window: nullable("tensor"),
    center: optional("bool", true),
    padMode: optional("string", "reflect", { oneOf: PAD_MODES }),
    normalized: optional("bool", false),
    onesided: nullable("bool"),
    returnComplex: optional("bool", true),
  },
  hostParts: true,
  infer({ self, window, center, onesided, returnComplex, ...given }) {
    const { nFft, hopLength } = framesOf(given, window), rank = self.shape.length;
    if (rank !== 1 && rank !== 2) {
      throw new DynError(`Expected 1 or 2 dimensions for stft but found ${shapeText(self.shape)}`);
    }
    const length = add(self.shape.at(-1) ?? 1, center ? mul(2, floorDiv(nFft, 2)) : 0);
    if (isLess(length, nFft)) {
      throw new DynError(
        `Expected at least ${sizeText(nFft)} samples for stft but found ${sizeText(length)}`,
      );
    }
    const half = isHalf(onesided, self, window), dtype = transformedType(self);
    const shape = [
      ...self.shape.slice(0, -1),
      half ? halfOf(nFft) : nFft,
      add(floorDiv(sub(length, nFft), hopLength), 1),
    ];
    return returnComplex
      ? contiguousMeta(shape, dtype, self.device)
      : contiguousMeta([...shape, 2], partType(dtype), self.device);
  },
  compose(o, { self, window, center, padMode, normalized, onesided, returnComplex, ...given }) {
    const frames = framesOf(given, window), { nFft, hopLength } = frames;
    const half = isHalf(onesided, self, window);
    if (half && isComplex(self.dtype)) {
      throw new DynError(`Expected a real signal for onesided stft but found ${self.dtype}`);
    }
    const signals = batched(o, self, 2, "stft"), around = floorDiv(nFft, 2);
    const padded = center && isPadMode(padMode) ? padSignal(o, signals, around, padMode) : signals;
    const cut = o.unfold(padded, -1, nFft, hopLength), weights = framed(o, window, frames, self);
    const weighed = weights ? o.mul(cut, weights) : cut, norm = normalized ? "ortho" : null;
    const spectra = half ? o.fftRfft(weighed, null, -1, norm) : o.fftFft(weighed, null, -1, norm);
    const turned = o.transpose(spectra, -1, -2);
    const found = self.shape.length === 1 ? o.squeeze(turned, 0) : turned;
    return returnComplex ? found : o.viewAsReal(found);
  },
  samples: [],
  errors: [
    { args: [t(2, 2, 2), 4], message: "1 or 2 dimensions" },
    { args: [t(3), 0], message: "winLength" },
    { args: [t(9), 4, 1, 3, t(4)], message: "window of 3" },
  ],
});

/** Signals padded with samples before and after. */
function padSignal<T extends TensorLike>(o: OpApi<T>, x: T, around: Dim, mode: PadMode): T {
  if (mode === "constant") return o.constantPadNd(x, [around, around], 0);
  return o.squeeze(o.pad(o.unsqueeze(x, 1), [around, around], mode), 1);
}

const istft = composeOp({
  name: "istft",
  doc:
    "The signal of the spectra that stft gives: frames are weighed by the window, added up, and divided by the sum of " +
    "squared windows, which must not be 0 anywhere in the result. As `torch.istft`. Computed on the host.",
  params: {
    self: required("tensor"),
    nFft: required("size"),
    hopLength: nullable("size"),
    winLength: nullable("size"),
    window: nullable("tensor"),
    center: optional("bool", true),
    normalized: optional("bool", false),
    onesided: nullable("bool"),
    length: nullable("size"),
    returnComplex: optional("bool", false),
  },
  hostParts: true,
  infer({ self, window, center, onesided, length, returnComplex, ...given }): TensorMeta {
    const frames = framesOf(given, window), dtype = transformedType(self), rank = self.shape.length;
    if (!isComplex(self.dtype) || (rank !== 2 && rank !== 3)) {
      throw new DynError(
        `Expected complex spectra of 2 or 3 dimensions for istft but found ${self.dtype} ${
          shapeText(self.shape)
        }`,
      );
    }
    const half = holdsHalf(self, frames, onesided);
    const wanted = half ? halfOf(frames.nFft) : frames.nFft;
    if (!isEqual(self.shape.at(-2) ?? 1, wanted)) {
      throw new DynError(
        `Expected ${sizeText(wanted)} frequencies for istft but found ${shapeText(self.shape)}`,
      );
    }
    const { start, end } = rangeOf(frames, self.shape.at(-1) ?? 1, { center, length });
    return contiguousMeta(
      [...self.shape.slice(0, -2), sub(end, start)],
      returnComplex ? dtype : partType(dtype),
      self.device,
    );
  },
  compose(o, { self, window, center, normalized, onesided, length, returnComplex, ...given }) {
    const frames = framesOf(given, window), { nFft, hopLength } = frames;
    if (returnComplex && holdsHalf(self, frames, onesided)) {
      throw new DynError("Expected all frequencies for a complex signal of istft but found onesided true");
    }
    const spectra = o.transpose(batched(o, self, 3, "istft"), -1, -2),
      count = spectra.shape[1] ?? 1;
    const norm = normalized ? "ortho" : null, weights = framed(o, window, frames, self);
    // A real signal reads half of the frequencies, even if all are there
    const cut = returnComplex ? o.fftIfft(spectra, null, -1, norm) : o.fftIrfft(spectra, nFft, -1, norm);
    const { start, end, samples } = rangeOf(frames, count, { center, length });
    const signal = o.unfoldBackward(
      weights ? o.mul(cut, weights) : cut,
      [spectra.shape[0] ?? 1, samples],
      1,
      nFft,
      hopLength,
    );
    const square = weights
      ? o.mul(weights, weights)
      : o.ones([nFft], { dtype: partType(self.dtype), device: self.device });
    const sums = o.unfoldBackward(o.expand(square, [count, nFft]), [samples], 0, nFft, hopLength);
    const isShort = isLess(samples, end), reach = sub(isShort ? samples : end, start);
    const overlap = o.narrow(sums, 0, start, reach);
    // Where no window overlaps, the divisor is 1
    const divisor = o.add(
      overlap,
      zeroUnless(o, o.lt(o.abs(overlap), 1e-11), {
        like: overlap,
        expected:
          "windows of istft that cover every sample but found samples where their squares add up to 0",
      }),
    );
    const found = o.div(o.narrow(signal, 1, start, reach), divisor);
    const filled = isShort ? o.constantPadNd(found, [0, sub(end, samples)], 0) : found;
    return self.shape.length === 2 ? o.squeeze(filled, 0) : filled;
  },
  samples: [],
  errors: [{ args: [t(3, 4), 4], message: "complex spectra" }],
});

/** Returns whether spectra hold half of the frequencies; by default, if there are not as many as samples of a frame. */
function holdsHalf(
  self: { readonly shape: readonly Dim[] },
  { nFft }: Frames,
  onesided: boolean | null,
): boolean {
  return onesided ?? !isEqual(self.shape.at(-2) ?? 1, nFft);
}

/** Returns the range of samples of the overlap-added frames that make up the signal. */
function rangeOf(
  { nFft, hopLength }: Frames,
  count: Dim,
  { center, length }: { readonly center: boolean; readonly length: Dim | null },
): { readonly start: Dim; readonly end: Dim; readonly samples: Dim } {
  const samples = add(mul(sub(count, 1), hopLength), nFft), start = center ? floorDiv(nFft, 2) : 0;
  const end = length !== null ? add(start, length) : center ? sub(samples, start) : samples;
  if (isAtMost(end, start)) {
    throw new DynError(
      `Expected spectra of a signal for istft but found [${sizeText(start)}, ${sizeText(end)})`,
    );
  }
  return { start, end, samples };
}

export const shortTimeTransforms = { stft, istft } as const;
