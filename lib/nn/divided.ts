/**
 * Parameters that are divided between processes. Code that divides parameters registers them here; code that needs
 * whole parameters looks them up here. Invariant: parameters that are divided in the same way share one object, so that
 * they are handled together.
 */
import type { Tensor } from "../tensor/tensor.ts";

/** The division of a parameter between processes. */
export interface Division {
  /** Returns the norm of order `p` over all processes from this process's norm; collective. */
  normOfAll(own: Tensor, p: number): Tensor;
}

const divisions = new WeakMap<Tensor, Division>();

/** Whether any parameter is divided: graphs are guarded on this flag rather than on single parameters. */
export const noted = { any: false };

/** Registers a parameter as one part of a divided parameter. */
export function registerDivision(parameter: Tensor, division: Division): void {
  divisions.set(parameter, division);
  noted.any = true;
}

/** Returns the division of a parameter, or null if this process holds all of it. */
export function divisionOf(parameter: Tensor): Division | null {
  return divisions.get(parameter) ?? null;
}
