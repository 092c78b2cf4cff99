/**
 * Parameters of which other processes hold other parts. Input: such parameters, from what divides them; output: what counts
 * for the whole. Invariant: parameters that are divided alike share one object, so that they are asked about together.
 */
import type { Tensor } from "../tensor/tensor.ts";

/** How a parameter is divided. */
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

/** How a parameter is divided; null where this process has the whole. */
export function divisionOf(parameter: Tensor): Division | null {
  return divisions.get(parameter) ?? null;
}
