/** A function with a variable of its module that it changes. */
import type { Tensor } from "../../mod.ts";

let calls = 0;

export function scaled(x: Tensor): Tensor {
  calls++;
  return x.mul(calls);
}
