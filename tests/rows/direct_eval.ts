/** A function with a direct eval, in a separate module: an eval may assign every variable in scope. */
import type { Tensor } from "../../mod.ts";

/** Cannot be traced. */
export function withEval(x: Tensor): Tensor {
  const y = x.add(1);
  eval("1");
  return y;
}
