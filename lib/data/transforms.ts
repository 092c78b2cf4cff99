/**
 * Image transforms: the namespace `data.transforms`, like `torchvision.transforms.v2`, for tensors [..., channels,
 * height, width]. Invariant: random transforms draw from the global generator, so that a seed, or a worker's seed,
 * determines them.
 */
import { type Trailing, trailing } from "../base/arguments.ts";
import { checkShare } from "../base/checked_numbers.ts";
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
    tensor([...each], { dtype: "float32", device: "cpu" }).reshape(-1, 1, 1)
  );
  return made("normalize", { mean, std }, (image) => {
    if (!isFloat(image.dtype)) throw new DynError(`Expected floats but found ${image.dtype}; see toFloat`);
    return center && scale ? image.sub(center.to(image.device)).div(scale.to(image.device)) : image;
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
    const found = shares(height, h, x).matmul(x).matmul(shares(width, w, x).t());
    return isFloat(image.dtype) ? found : found.round().clamp(0, 255).to(image.dtype);
  });
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

/** Options of transforms that are applied with a probability. */
export interface ChanceOptions {
  /** The probability; default 0.5. */
  readonly p?: number | undefined;
}

/** Returns a probability, given by position or by name. Throws DynError if it is none. */
function chanceOf(owner: string, given: Trailing<ChanceOptions, ["p"]>): number {
  const { p = 0.5 } = trailing<ChanceOptions>(owner, ["p"], given);
  checkShare(`p of ${owner}`, p);
  return p;
}

/** Flips left and right, with a probability. */
export function randomHorizontalFlip(...given: Trailing<ChanceOptions, ["p"]>): ImageTransform {
  const p = chanceOf("randomHorizontalFlip", given);
  return made("randomHorizontalFlip", { p }, (image) => random() < p ? flip(image, [-1]) : image);
}

/** Flips top and bottom, with a probability. */
export function randomVerticalFlip(...given: Trailing<ChanceOptions, ["p"]>): ImageTransform {
  const p = chanceOf("randomVerticalFlip", given);
  return made("randomVerticalFlip", { p }, (image) => random() < p ? flip(image, [-2]) : image);
}

/** Applies another transform, or several in order, with a probability. */
export function randomApply(
  transforms: ImageTransform | readonly ImageTransform[],
  ...given: Trailing<ChanceOptions, ["p"]>
): ImageTransform {
  const transform = compose(typeof transforms === "function" ? [transforms] : transforms);
  const p = chanceOf("randomApply", given);
  return made("randomApply", { p }, (image) => random() < p ? transform(image) : image);
}

/** Options of `randomErasing`. */
export interface ErasingOptions extends ChanceOptions {
  /** The range of the rectangle's share of the area; default [0.02, 0.33]. */
  readonly scale?: readonly [number, number] | undefined;
}

/** Erases a rectangle, of a share of the area in the range `scale`, with a probability (Zhong et al., 2020). */
export function randomErasing(...given: Trailing<ErasingOptions, ["p", "scale"]>): ImageTransform {
  const { scale = [0.02, 0.33], ...rest } = trailing<ErasingOptions>("randomErasing", ["p", "scale"], given);
  const p = chanceOf("randomErasing", [rest]);
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
