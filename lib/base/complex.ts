/**
 * Complex numbers as JavaScript values. Invariant: a complex number is a plain object with `re` and `im` and nothing
 * else.
 */
import { isPlainObject } from "./tree.ts";

/** A complex number: real and imaginary part. */
export interface Complex {
  /** The real part. */
  readonly re: number;
  /** The imaginary part. */
  readonly im: number;
}

/** Returns whether a value is a complex number. */
export function isComplexNumber(value: unknown): value is Complex {
  if (typeof value !== "object" || value === null || !("re" in value) || !("im" in value)) return false;
  return typeof value.re === "number" && typeof value.im === "number" && isPlainObject(value) &&
    Object.keys(value).length === 2;
}

/** `1+2i`, for messages. */
export function complexText({ re, im }: Complex): string {
  return `${re}${im < 0 || Object.is(im, -0) ? "-" : "+"}${Math.abs(im)}i`;
}
