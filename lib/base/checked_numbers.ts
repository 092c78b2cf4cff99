/**
 * Checks of numbers from programs. Errors say which number it is, what it may be and what was found; NaN never passes. A
 * number that is a tensor of a graph was checked when the graph was made, or is checked by each call.
 */
import { refuseValue } from "./checked_input.ts";
import type { DType } from "./dtype.ts";

/** A number of a program, or a tensor of a graph that stands for it; sizes are compared by rules of their own. */
type Checked = number | { readonly dtype: DType };

/** Returns whether a value, which untyped programs choose, is neither a number nor a tensor that stands for one. */
function isNoNumber(value: unknown): boolean {
  return typeof value !== "number" && !(typeof value === "object" && value !== null && "dtype" in value);
}

/** Throws DynError unless `what` is an integer of at least `least`. */
export function checkInteger(what: string, value: unknown, least: number): void {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return;
  refuseValue(`${what} to be an integer of at least ${least}`, value);
}

/** Throws DynError unless `what` is at least `least`. */
export function checkAtLeast(what: string, value: Checked, least: number): void {
  if (isNoNumber(value) || typeof value === "number" && !(value >= least)) {
    refuseValue(`${what} to be at least ${least}`, value);
  }
}

/** Throws DynError unless `what` is above 0. */
export function checkPositive(what: string, value: Checked): void {
  if (isNoNumber(value) || typeof value === "number" && !(value > 0)) {
    refuseValue(`${what} to be positive`, value);
  }
}

/** Throws DynError unless `what`, a share or a probability, lies in [0, 1]. */
export function checkShare(what: string, value: Checked): void {
  if (isNoNumber(value) || typeof value === "number" && !(value >= 0 && value <= 1)) {
    refuseValue(`${what} to be in [0, 1]`, value);
  }
}

/** Throws DynError unless each of these settings of `owner` is a finite number. */
export function checkFinite(owner: string, settings: Readonly<Record<string, Checked>>): void {
  for (const [name, value] of Object.entries(settings)) {
    if (isNoNumber(value) || typeof value === "number" && !Number.isFinite(value)) {
      refuseValue(`${name} of ${owner} to be a finite number`, value);
    }
  }
}
