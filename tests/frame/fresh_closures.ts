/** Calls a compiled function with a new closure each time, whose variable changes. */
import { compile, type Tensor, tensor } from "../../mod.ts";

const run = compile((x: Tensor, step: (x: Tensor) => Tensor): Tensor => step(x).mul(2), { backend: "eager" });
let sum = 0;
let last = 0;
for (let i = 0; i < 24; i++) {
  let n = i;
  const step = (x: Tensor): Tensor => x.add(n++);
  sum += Number(run(tensor([1]), step).item());
  last = n;
}
console.log(sum, last);
