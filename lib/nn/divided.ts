/**
 * Parameters that are divided between processes. Code that divides parameters registers them here; code that needs
 * values of whole parameters asks here. Invariant: parameters that are divided in the same way share one object, so
 * that they are handled together.
 */
import type { Tensor } from "../tensor/tensor.ts";

/** The division of a parameter between processes. */
export interface Division {
  /** The norm of order `p` of what all processes have, from that of what this one has; all of them call it. */
  normOfAll(own: Tensor, p: number): Tensor;
}

const divisions = new WeakMap<Tensor, Division>();

/** Whether there are any: graphs read this, but not what is known of single parameters. */
export const noted = { any: false };

/** Says that a parameter is a part. */
export function noteDivision(parameter: Tensor, division: Division): void {
  divisions.set(parameter, division);
  noted.any = true;
}

/** Returns the division of a parameter, or null if this process holds all of it. */
export function divisionOf(parameter: Tensor): Division | null {
  return divisions.get(parameter) ?? null;
}
