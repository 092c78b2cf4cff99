/**
 * Parts that all transforms of images share: their type, sizes, chances and random numbers. Invariant: random numbers
 * come from the global generator.
 */
import { type Trailing, trailing } from "../base/arguments.ts";
import { checkShare } from "../base/checked_numbers.ts";
import { refuseValue } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { withSettings } from "../base/console_text.ts";
import { rand } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";

/**
 * Maps an image to an image; the functions here create such transforms, which can be mixed with any other functions.
 */
export type ImageTransform = (image: Tensor) => Tensor;

/** Height and width: one number for both. */
export type ImageSize = number | readonly [number, number];

/** The ends of a range. */
export type Range = readonly [from: number, to: number];

/** Creates a transform that shows its settings. */
export function made(name: string, settings: object, transform: ImageTransform): ImageTransform {
  return Object.defineProperty(transform, "toString", { value: () => withSettings(name, settings) });
}

/** A random number in [0, 1). */
const random = (): number => rand([], { device: "cpu" }).item();

/** A random number in a range. */
export const randomIn = ([from, to]: Range): number => from + random() * (to - from);

/** A random whole number from 0 to below a limit. */
export const randomBelow = (limit: number): number => Math.floor(random() * limit);

/** Returns whether an event of a probability happens. */
export const happens = (p: number): boolean => random() < p;

/** Height and width of a size. Throws DynError unless it is one positive whole number or two. */
export function both(owner: string, size: ImageSize): readonly [number, number] {
  const found: unknown = typeof size === "number" ? [size, size] : size;
  const isSize = Array.isArray(found) && found.length === 2 &&
    found.every((each) => Number.isInteger(each) && each > 0);
  if (!isSize) refuseValue(`one whole number or two for the size of ${owner}`, size);
  return [Number(found[0]), Number(found[1])];
}

/** The range of a random number. Throws DynError unless it is two numbers in order. */
export function rangeOf(what: string, given: readonly number[]): Range {
  const [from, to] = Array.isArray(given) ? given : [];
  if (typeof from !== "number" || typeof to !== "number" || !(from <= to) || given.length !== 2) {
    refuseValue(`two numbers in order for ${what}`, given);
  }
  return [from, to];
}

/** Rounds halves to even, as Python does. */
export function rounded(x: number): number {
  const floor = Math.floor(x);
  return x - floor === 0.5 ? floor + floor % 2 : Math.round(x);
}

/** Height and width of an image. Throws DynError for a tensor that is none. */
export function sizeOf(image: Tensor): readonly [number, number] {
  const [height, width] = image.shape.slice(-2);
  if (image.ndim >= 2 && height !== undefined && width !== undefined) return [height, width];
  throw new DynError(`Expected an image [..., height, width] but found shape [${image.shape}]`);
}

/** Crops a part at a position. Throws DynError if it is larger than the image. */
export function cropped(
  image: Tensor,
  [top, left]: readonly [number, number],
  size: readonly [number, number],
) {
  const [height, width] = sizeOf(image);
  if (size[0] > height || size[1] > width) {
    throw new DynError(`Expected an image of at least [${size}] but found [${height}, ${width}]`);
  }
  return image.narrow(-2, top, size[0]).narrow(-1, left, size[1]);
}

/** Options of transforms that are applied with a probability. */
export interface ChanceOptions {
  /** The probability; default 0.5. */
  readonly p?: number | undefined;
}

/** Returns a probability, given by position or by name. Throws DynError if it is none. */
export function chanceOf(owner: string, given: Trailing<ChanceOptions, ["p"]>, usual = 0.5): number {
  const { p = usual } = trailing<ChanceOptions>(owner, ["p"], given);
  checkShare(`p of ${owner}`, p);
  return p;
}
