/** Resizing of images. Invariant: images of integers stay so, rounded. */
import { isFloat } from "../base/dtype.ts";
import { tensor } from "../tensor/creation.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { sizeOf } from "./image_transform.ts";

/** An image in another size, by bilinear interpolation with antialiasing. */
export function resized(image: Tensor, [h, w]: readonly [number, number]): Tensor {
  const [height, width] = sizeOf(image);
  const x = isFloat(image.dtype) ? image : image.to("float32");
  const found = shares(height, h, x).matmul(x).matmul(shares(width, w, x).t());
  return isFloat(image.dtype) ? found : found.round().clamp(0, 255).to(image.dtype);
}

/**
 * Returns the weight of each of `given` pixels in each of `wanted`: a triangle as wide as the pixels that are merged.
 */
function shares(given: number, wanted: number, { dtype, device }: Tensor): Tensor {
  const scale = given / wanted, reach = Math.max(1, scale);
  const rows = Array.from({ length: wanted }, (_, to) => {
    const center = (to + 0.5) * scale;
    const row = Array.from(
      { length: given },
      (_, from) => Math.max(0, 1 - Math.abs(from + 0.5 - center) / reach),
    );
    const sum = row.reduce((a, b) => a + b, 0);
    return row.map((each) => each / sum);
  });
  return tensor(rows, { dtype, device });
}
