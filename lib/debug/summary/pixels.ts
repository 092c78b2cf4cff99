/**
 * Tensors as images. Invariant: floats range from 0 to 1 and integers from 0 to 255, as in torch.utils.tensorboard;
 * values outside are clamped.
 */
import { isFloat } from "../../base/dtype.ts";
import { DynError } from "../../base/errors.ts";
import { readElements } from "../../tensor/host.ts";
import type { Tensor } from "../../tensor/tensor.ts";
import type { Pixels } from "./png.ts";

/** Layout of an image's dimensions: channels, height, width. */
export type DataFormats = "CHW" | "HWC" | "HW";

/** The pixels of an image of 1, 3 or 4 channels. Throws DynError for other tensors. */
export function pixelsOf(image: Tensor, dataformats: DataFormats = "CHW"): Pixels {
  const sizeOf = (letter: string): number => image.shape[dataformats.indexOf(letter)] ?? 1;
  const height = sizeOf("H"), width = sizeOf("W"), channels = sizeOf("C");
  const isImage = image.ndim === dataformats.length && (channels === 1 || channels === 3 || channels === 4);
  if (!isImage || height * width === 0) {
    throw new DynError(
      `Expected an image ${dataformats} of 1, 3 or 4 channels but found shape [${image.shape.join(", ")}]`,
    );
  }
  const elements = readElements(image), scale = isFloat(image.dtype) ? 255 : 1;
  const data = new Uint8Array(height * width * channels);
  const [perRow, perColumn, perChannel] = dataformats === "CHW"
    ? [width, 1, height * width]
    : [width * channels, channels, 1];
  let to = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let c = 0; c < channels; c++) {
        const value = Number(elements[y * perRow + x * perColumn + c * perChannel]) * scale;
        data[to++] = Math.min(255, Math.max(0, Math.trunc(value) || 0));
      }
    }
  }
  return { width, height, channels, data };
}
