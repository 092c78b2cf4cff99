/** A function with a direct eval, in a module of its own: an eval may assign every variable that it sees. */
import type { Tensor } from "../../mod.ts";

/** Cannot be traced. */
export function withEval(x: Tensor): Tensor {
  const y = x.add(1);
  eval("1");
  return y;
}
