/** Functions that share a variable, in a module that is loaded behind dyn, which can then tell such variables apart. */
import type { Tensor } from "../../../mod.ts";

type Step = (x: Tensor) => Tensor;

/** Two functions with one variable: the first changes and adds it, the second multiplies by it. */
export function pair(): readonly [Step, Step] {
  let n = 1;
  return [(x) => x.add(n += 2), (x) => x.mul(n)];
}
