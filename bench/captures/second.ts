/** A module of its own for a function to be captured. */
import type { Tensor } from "../../mod.ts";

let calls = 0;

export function second(x: Tensor): Tensor {
  calls++;
  return x.add(calls);
}
