/**
 * Image transforms: the namespace `data.transforms`, like `torchvision.transforms.v2`, for tensors [..., channels,
 * height, width]. Invariant: random transforms draw from the global generator, so that a seed, or a worker's seed,
 * determines them.
 */
import { type Trailing, trailing } from "../base/arguments.ts";
import { checkFunction, checkKind, optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { isFloat } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { tensor } from "../tensor/creation.ts";
import { flip, pad } from "../tensor/generated_functions.ts";
import {
  both,
  chanceOf,
  type ChanceOptions,
  cropped,
  happens,
  type ImageSize,
  type ImageTransform,
  made,
  randomBelow,
  randomIn,
  rounded,
  sizeOf,
} from "./image_transform.ts";
import { resized } from "./resizing.ts";

export type { ChanceOptions, ImageSize, ImageTransform } from "./image_transform.ts";
export * from "./color_transforms.ts";
export * from "./geometric_transforms.ts";

/** Composes transforms. */
export function compose(transforms: readonly ImageTransform[]): ImageTransform {
  if (arguments.length > 1) refuseSurplus("compose", 1, arguments);
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
  if (arguments.length > 0) refuseSurplus("toFloat", 0, arguments);
  return made("toFloat", {}, (image) => isFloat(image.dtype) ? image : image.to("float32").div(255));
}

/** (x − mean) / std by channel. Throws DynError for integers, and for zero deviations. */
export function normalize(
  mean: readonly number[],
  std: readonly number[],
): ImageTransform {
  if (arguments.length > 2) refuseSurplus("normalize", 2, arguments);
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
  if (arguments.length > 1) refuseSurplus("resize", 1, arguments);
  const [first, second] = both("resize", size);
  return made("resize", { size }, (image) => {
    const [height, width] = sizeOf(image), short = Math.min(height, width);
    return resized(
      image,
      typeof size === "number"
        ? [Math.floor(size * height / short), Math.floor(size * width / short)]
        : [first, second],
    );
  });
}

/** Crops the centre. */
export function centerCrop(size: ImageSize): ImageTransform {
  if (arguments.length > 1) refuseSurplus("centerCrop", 1, arguments);
  const wanted = both("centerCrop", size);
  return made("centerCrop", { size }, (image) => {
    const [height, width] = sizeOf(image);
    return cropped(image, [
      Math.max(0, rounded((height - wanted[0]) / 2)),
      Math.max(0, rounded((width - wanted[1]) / 2)),
    ], wanted);
  });
}

/** Crops a part at a random position of the padded image. */
export function randomCrop(size: ImageSize, options: { readonly padding?: number } = {}): ImageTransform {
  if (arguments.length > 2) refuseSurplus("randomCrop", 2, arguments);
  const wanted = both("randomCrop", size), { padding = 0 } = optionsOf("randomCrop", options, ["padding"]);
  return made("randomCrop", { size, padding }, (image) => {
    const whole = padding > 0 ? pad(image, [padding, padding, padding, padding]) : image;
    const [height, width] = sizeOf(whole);
    const at = (room: number) => randomBelow(Math.max(0, room) + 1);
    return cropped(whole, [at(height - wanted[0]), at(width - wanted[1])], wanted);
  });
}

/** Flips left and right, with a probability. */
export function randomHorizontalFlip(...given: Trailing<ChanceOptions, ["p"]>): ImageTransform {
  const p = chanceOf("randomHorizontalFlip", given);
  return made("randomHorizontalFlip", { p }, (image) => happens(p) ? flip(image, [-1]) : image);
}

/** Flips top and bottom, with a probability. */
export function randomVerticalFlip(...given: Trailing<ChanceOptions, ["p"]>): ImageTransform {
  const p = chanceOf("randomVerticalFlip", given);
  return made("randomVerticalFlip", { p }, (image) => happens(p) ? flip(image, [-2]) : image);
}

/** Applies another transform, or several in order, with a probability. */
export function randomApply(
  transforms: ImageTransform | readonly ImageTransform[],
  ...given: Trailing<ChanceOptions, ["p"]>
): ImageTransform {
  const transform = compose(typeof transforms === "function" ? [transforms] : transforms);
  const p = chanceOf("randomApply", given);
  return made("randomApply", { p }, (image) => happens(p) ? transform(image) : image);
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
    if (!happens(p)) return image;
    const [height, width] = sizeOf(image),
      area = height * width * randomIn(scale);
    const ratio = Math.exp(randomIn([-Math.log(3.3), Math.log(3.3)]));
    const h = Math.min(height, Math.round(Math.sqrt(area * ratio)));
    const w = Math.min(width, Math.round(Math.sqrt(area / ratio)));
    const erased = image.clone();
    const top = randomBelow(height - h + 1), left = randomBelow(width - w + 1);
    erased.narrow(-2, top, h).narrow(-1, left, w).zero_();
    return erased;
  });
}
