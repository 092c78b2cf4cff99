/**
 * Transforms of colours, with the names and numbers of `torchvision.transforms.v2`: grey pictures, jitter, blurring.
 * Invariant: images keep their type; those of integers count to 255, those of floats to 1.
 */
import { type Arguments, argumentsOf, type Trailing, trailing } from "../base/arguments.ts";
import { checkKind, refuseValue } from "../base/checked_input.ts";
import { isFloat } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { tensor } from "../tensor/creation.ts";
import { conv2d, pad, randperm, stack, where } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import {
  chanceOf,
  type ChanceOptions,
  happens,
  type ImageTransform,
  made,
  randomIn,
  type Range,
  rangeOf,
} from "./image_transform.ts";

/** The number of channels of an image. Throws DynError unless it is one or three. */
function channelsOf(image: Tensor): number {
  const count = image.shape.at(-3);
  if (count === 1 || count === 3) return count;
  throw new DynError(`Expected an image with 1 or 3 channels but found shape [${image.shape}]`);
}

const brightest = (image: Tensor): number => isFloat(image.dtype) ? 1 : 255;
const limited = (x: Tensor, image: Tensor): Tensor => x.clamp(0, brightest(image)).to(image.dtype);
const asFloats = (image: Tensor): Tensor => isFloat(image.dtype) ? image : image.to("float32");

/** The luminance of an image, as floats of one channel; whole numbers for an image of integers if `isWhole`. */
function luminance(image: Tensor, isWhole = false): Tensor {
  const x = asFloats(image);
  if (channelsOf(image) === 1) return x;
  const [r, g, b] = [0, 1, 2].map((k) => x.narrow(-3, k, 1));
  if (!r || !g || !b) return x;
  const sum = r.mul(0.2989).add(g.mul(0.587)).add(b.mul(0.114));
  return isWhole && !isFloat(image.dtype) ? sum.floor() : sum;
}

function grey(image: Tensor, channels: number): Tensor {
  const one = luminance(image).to(image.dtype), shape = [...image.shape];
  shape[shape.length - 3] = channels;
  return channels === 1 ? one : one.expand(shape).contiguous();
}

/** Options of `grayscale`. */
export interface GrayscaleOptions {
  /** 1 or 3 equal ones; default 1. */
  readonly numOutputChannels?: number | undefined;
}

/** Converts to shades of grey. */
export function grayscale(...given: Trailing<GrayscaleOptions, ["numOutputChannels"]>): ImageTransform {
  const { numOutputChannels = 1 } = trailing<GrayscaleOptions>("grayscale", ["numOutputChannels"], given);
  if (numOutputChannels !== 1 && numOutputChannels !== 3) {
    refuseValue("numOutputChannels of grayscale to be 1 or 3", numOutputChannels);
  }
  return made("grayscale", { numOutputChannels }, (image) => grey(image, numOutputChannels));
}

/** Converts to shades of grey, in as many channels, with a probability, by default 0.1. */
export function randomGrayscale(...given: Trailing<ChanceOptions, ["p"]>): ImageTransform {
  const p = chanceOf("randomGrayscale", given, 0.1);
  return made("randomGrayscale", { p }, (image) => happens(p) ? grey(image, channelsOf(image)) : image);
}

/** Mixes an image with another by a factor: 1 is the image itself, more than 1 exaggerates what differs. */
const blended = (image: Tensor, other: Tensor, factor: number): Tensor =>
  limited(asFloats(image).mul(factor).add(other.mul(1 - factor)), image);

const brightened = (image: Tensor, factor: number): Tensor => limited(asFloats(image).mul(factor), image);

const contrasted = (image: Tensor, factor: number): Tensor =>
  blended(image, luminance(image, true).mean([-3, -2, -1], true), factor);

const saturated = (image: Tensor, factor: number): Tensor =>
  channelsOf(image) === 1 ? image : blended(image, luminance(image, true), factor);

/** Rotates hues by a share of the whole circle. */
function hued(image: Tensor, turn: number): Tensor {
  if (channelsOf(image) === 1) return image;
  const x = isFloat(image.dtype) ? image : image.to("float32").div(255);
  const { hue, saturation, value } = hsvOf(x);
  const turned = rgbOf({ hue: hue.add(turn).remainder(1), saturation, value });
  // As torchvision converts to integers: each has an equal share of [0, 1]
  return isFloat(image.dtype) ? turned : turned.mul(256 - 1e-3).to(image.dtype);
}

/** Hue as a share of the circle, saturation and value of an image. */
interface Hsv {
  readonly hue: Tensor;
  readonly saturation: Tensor;
  readonly value: Tensor;
}

function hsvOf(image: Tensor): Hsv {
  const value = image.amax(-3), range = value.sub(image.amin(-3)), isGrey = range.eq(0);
  const [r, g] = [image.select(-3, 0), image.select(-3, 1)];
  const apart = value.unsqueeze(-3).sub(image).div(where(isGrey, 1, range).unsqueeze(-3));
  const [rc, gc, bc] = [0, 1, 2].map((k) => apart.select(-3, k));
  if (!rc || !gc || !bc) throw new DynError(`Expected 3 channels but found shape [${image.shape}]`);
  const sixth = where(value.eq(r), bc.sub(gc), where(value.eq(g), rc.add(2).sub(bc), gc.add(4).sub(rc)));
  return {
    hue: sixth.div(6).add(1).fmod(1),
    saturation: range.div(where(isGrey, 1, value)),
    value,
  };
}

/** Which of value, p, q and t is the red, the green and the blue of each sixth of the circle. */
const SIXTHS: readonly (readonly number[])[] = [[0, 2, 1, 1, 3, 0], [3, 0, 0, 2, 1, 1], [1, 1, 3, 0, 0, 2]];

function rgbOf({ hue, saturation: s, value: v }: Hsv): Tensor {
  const six = hue.mul(6), sector = six.floor(), sf = s.mul(six.sub(sector));
  const parts = [v, s.neg().add(1), sf.neg().add(1), sf.sub(s).add(1)]
    .map((each, k) => k === 0 ? v : each.mul(v).clamp(0, 1));
  const at = sector.remainder(6).to("int64").unsqueeze(-3), all = stack(parts, -3);
  const channels = SIXTHS.map((row) =>
    all.gather(-3, tensor([...row], { dtype: "int64" }).to(at.device).take(at))
  );
  return stack(channels.map((each) => each.squeeze(-3)), -3);
}

/** A factor's range, or how far it may be from 1. */
export type JitterRange = number | readonly [from: number, to: number];

/** Options of `colorJitter`; what is absent stays as it is. */
export interface JitterOptions {
  /** Factor of brightness; a number b stands for [max(0, 1 − b), 1 + b]. */
  readonly brightness?: JitterRange | undefined;
  /** Factor of contrast. */
  readonly contrast?: JitterRange | undefined;
  /** Factor of saturation. */
  readonly saturation?: JitterRange | undefined;
  /** Rotation of hues as a share of the circle, within [−0.5, 0.5]; a number h stands for [−h, h]. */
  readonly hue?: JitterRange | undefined;
}

const JITTER = ["brightness", "contrast", "saturation", "hue"] as const;

const ADJUST: Readonly<Record<typeof JITTER[number], (image: Tensor, factor: number) => Tensor>> = {
  brightness: brightened,
  contrast: contrasted,
  saturation: saturated,
  hue: hued,
};

/** The range of a factor. Throws DynError for a negative one, and for a hue outside [−0.5, 0.5]. */
function jitterRange(name: typeof JITTER[number], given: JitterRange): Range {
  const what = `${name} of colorJitter`, isHue = name === "hue";
  const spread = (x: number): Range => isHue ? [-x, x] : [Math.max(0, 1 - x), 1 + x];
  if (typeof given === "number" && !(given >= 0)) refuseValue(`${what} of at least 0`, given);
  const range = rangeOf(what, typeof given === "number" ? spread(given) : given);
  if (range[0] < (isHue ? -0.5 : 0) || (isHue && range[1] > 0.5)) {
    refuseValue(`${what} ${isHue ? "in [-0.5, 0.5]" : "of at least 0"}`, given);
  }
  return range;
}

/** Changes brightness, contrast, saturation and hue by random factors, in a random order. */
export function colorJitter(...given: Trailing<JitterOptions, typeof JITTER>): ImageTransform {
  const found = trailing<JitterOptions>("colorJitter", JITTER, given);
  const changes = JITTER.flatMap((name) => {
    const value = found[name];
    return value === undefined || value === 0 ? [] : [{ name, range: jitterRange(name, value) }];
  });
  return made("colorJitter", found, (image) => {
    const order = Array.from(randperm(changes.length, { device: "cpu" }).toTypedArray(), Number);
    return order.reduce((x, k) => {
      const change = changes[k];
      return change ? ADJUST[change.name](x, randomIn(change.range)) : x;
    }, image);
  });
}

/** Required arguments of `gaussianBlur`. */
interface Blur {
  readonly kernelSize: number | readonly [width: number, height: number];
}

/** Options of `gaussianBlur`. */
interface BlurOptions {
  readonly sigma?: JitterRange | undefined;
}

const BLUR = { required: ["kernelSize"], positional: ["sigma"] } as const;

/** The weights of one dimension. */
function bell(size: number, sigma: number, { dtype, device }: Tensor): Tensor {
  const weights = Array.from(
    { length: size },
    (_, k) => Math.exp(-0.5 * ((k - (size - 1) / 2) / sigma) ** 2),
  );
  const sum = weights.reduce((a, b) => a + b, 0);
  return tensor(weights.map((each) => each / sum), { dtype, device });
}

/**
 * Blurs by a Gaussian kernel of odd size with a random deviation, by default in [0.1, 2]; the image is reflected at its
 * edges.
 */
export function gaussianBlur(...given: Arguments<Blur, BlurOptions, typeof BLUR>): ImageTransform {
  const { kernelSize, sigma = [0.1, 2] } = argumentsOf<Blur, BlurOptions>("gaussianBlur", BLUR, given);
  if (typeof kernelSize !== "number") checkKind(kernelSize, "a list", "kernelSize of gaussianBlur");
  const [width, height] = typeof kernelSize === "number" ? [kernelSize, kernelSize] : kernelSize;
  if (![width, height].every((each) => Number.isInteger(each) && each % 2 === 1 && each > 0)) {
    refuseValue("odd sizes for kernelSize of gaussianBlur", kernelSize);
  }
  const range = rangeOf("sigma of gaussianBlur", typeof sigma === "number" ? [sigma, sigma] : sigma);
  if (!(range[0] > 0)) refuseValue("a positive sigma of gaussianBlur", sigma);
  return made("gaussianBlur", { kernelSize, sigma }, (image) => {
    const drawn = randomIn(range), x = asFloats(image), [h = 0, w = 0] = image.shape.slice(-2);
    const padded = pad(x.reshape(-1, 1, h, w), [width, width, height, height].map((n) => n >> 1), "reflect");
    const kernel = bell(height, drawn, x).unsqueeze(1).mul(bell(width, drawn, x));
    const found = conv2d(padded, kernel.reshape(1, 1, height, width)).reshape(image.shape);
    return isFloat(image.dtype) ? found : found.round().to(image.dtype);
  });
}

/** Inverts colours, with a probability. */
export function randomInvert(...given: Trailing<ChanceOptions, ["p"]>): ImageTransform {
  const p = chanceOf("randomInvert", given);
  return made(
    "randomInvert",
    { p },
    (image) => happens(p) ? image.neg().add(brightest(image)).to(image.dtype) : image,
  );
}
