/**
 * Image transforms: the namespace `data.transforms`, like `torchvision.transforms.v2`, for tensors [..., channels,
 * height, width]. Invariant: random transforms draw from the global generator, so that a seed, or a worker's seed,
 * determines them.
 */
import { checkFunction, checkKind, optionsOf } from "../base/checked_input.ts";
import { isFloat } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { withSettings } from "../base/console_text.ts";
import { tensor } from "../tensor/creation.ts";
import { flip, pad, rand } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";

/**
 * Maps an image to an image; the functions here create such transforms, which can be mixed with any other functions.
 */
export type ImageTransform = (image: Tensor) => Tensor;

/** Height and width: one number for both. */
export type ImageSize = number | readonly [number, number];

/** Creates a transform that shows its settings. */
function made(name: string, settings: object, transform: ImageTransform): ImageTransform {
  return Object.defineProperty(transform, "toString", { value: () => withSettings(name, settings) });
}

const random = (): number => rand([], { device: "cpu" }).item();
const both = (size: ImageSize): readonly [number, number] => typeof size === "number" ? [size, size] : size;

function sizeOf(image: Tensor): readonly [number, number] {
  const [height, width] = image.shape.slice(-2);
  if (image.ndim >= 2 && height !== undefined && width !== undefined) return [height, width];
  throw new DynError(`Expected an image [..., height, width] but found shape [${image.shape}]`);
}

/** Composes transforms. */
export function compose(transforms: readonly ImageTransform[]): ImageTransform {
  checkKind(transforms, "a list", "compose");
  for (const each of transforms) checkFunction(each, "of image transforms to compose");
  return made(
    "compose",
    { transforms: transforms.length },
    (image) => transforms.reduce((x, transform) => transform(x), image),
  );
}

/** Converts to float32 from 0 to 1: integers are divided by 255. */
export function toFloat(): ImageTransform {
  return made("toFloat", {}, (image) => isFloat(image.dtype) ? image : image.to("float32").div(255));
}

/** (x − mean) / std by channel. Throws DynError for integers, and for zero deviations. */
export function normalize(mean: readonly number[], std: readonly number[]): ImageTransform {
  for (const list of [mean, std]) checkKind(list, "a list", "normalize");
  if (std.some((each) => each === 0) || mean.length !== std.length) {
    throw new DynError(`Expected one nonzero deviation per mean but found [${std}] for [${mean}]`);
  }
  const [center, scale] = [mean, std].map((each) =>
    tensor([...each], { dtype: "float32" }).reshape(-1, 1, 1)
  );
  return made("normalize", { mean, std }, (image) => {
    if (!isFloat(image.dtype)) throw new DynError(`Expected floats but found ${image.dtype}; see toFloat`);
    return center && scale ? image.sub(center).div(scale) : image;
  });
}

/**
 * Resizes by bilinear interpolation with antialiasing, as `antialias=True` does: a single number is the size of the
 * shorter side.
 */
export function resize(size: ImageSize): ImageTransform {
  return made("resize", { size }, (image) => {
    const [height, width] = sizeOf(image), short = Math.min(height, width);
    const [h = 1, w = 1] = typeof size === "number"
      ? [Math.floor(size * height / short), Math.floor(size * width / short)]
      : size;
    const x = isFloat(image.dtype) ? image : image.to("float32");
    const found = shares(height, h).to(x.dtype).matmul(x).matmul(shares(width, w).to(x.dtype).t());
    return isFloat(image.dtype) ? found : found.round().clamp(0, 255).to(image.dtype);
  });
}

/**
 * Returns the weight of each of `given` pixels in each of `wanted`: a triangle as wide as the pixels that are merged.
 */
function shares(given: number, wanted: number): Tensor {
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
  return tensor(rows, { dtype: "float64" });
}

/** Crops a part at a position. Throws DynError if it is larger than the image. */
function cropped(image: Tensor, [top, left]: readonly [number, number], size: readonly [number, number]) {
  const [height, width] = sizeOf(image);
  if (size[0] > height || size[1] > width) {
    throw new DynError(`Expected an image of at least [${size}] but found [${height}, ${width}]`);
  }
  return image.narrow(-2, top, size[0]).narrow(-1, left, size[1]);
}

/** Crops the centre. */
export function centerCrop(size: ImageSize): ImageTransform {
  const wanted = both(size);
  return made("centerCrop", { size }, (image) => {
    const [height, width] = sizeOf(image);
    return cropped(image, [
      Math.max(0, Math.round((height - wanted[0]) / 2)),
      Math.max(0, Math.round((width - wanted[1]) / 2)),
    ], wanted);
  });
}

/** Crops a part at a random position of the padded image. */
export function randomCrop(size: ImageSize, options: { readonly padding?: number } = {}): ImageTransform {
  const wanted = both(size), { padding = 0 } = optionsOf("randomCrop", options, ["padding"]);
  return made("randomCrop", { size, padding }, (image) => {
    const whole = padding > 0 ? pad(image, [padding, padding, padding, padding]) : image;
    const [height, width] = sizeOf(whole);
    const at = (room: number) => Math.floor(random() * (Math.max(0, room) + 1));
    return cropped(whole, [at(height - wanted[0]), at(width - wanted[1])], wanted);
  });
}

/** Flips left and right, with a probability. */
export function randomHorizontalFlip(p = 0.5): ImageTransform {
  return made("randomHorizontalFlip", { p }, (image) => random() < p ? flip(image, [-1]) : image);
}

/** Flips top and bottom, with a probability. */
export function randomVerticalFlip(p = 0.5): ImageTransform {
  return made("randomVerticalFlip", { p }, (image) => random() < p ? flip(image, [-2]) : image);
}

/** Applies another transform, with a probability. */
export function randomApply(transform: ImageTransform, p = 0.5): ImageTransform {
  return made("randomApply", { p }, (image) => random() < p ? transform(image) : image);
}

/** Erases a rectangle, of a share of the area in the range `scale`, with a probability (Zhong et al., 2020). */
export function randomErasing(p = 0.5, scale: readonly [number, number] = [0.02, 0.33]): ImageTransform {
  return made("randomErasing", { p, scale }, (image) => {
    if (random() >= p) return image;
    const [height, width] = sizeOf(image),
      area = height * width * (scale[0] + random() * (scale[1] - scale[0]));
    const ratio = Math.exp((random() * 2 - 1) * Math.log(3.3));
    const h = Math.min(height, Math.round(Math.sqrt(area * ratio)));
    const w = Math.min(width, Math.round(Math.sqrt(area / ratio)));
    const erased = image.clone();
    const top = Math.floor(random() * (height - h + 1)), left = Math.floor(random() * (width - w + 1));
    erased.narrow(-2, top, h).narrow(-1, left, w).zero_();
    return erased;
  });
}
