/** A script whose module still runs while its function is compiled, and has variables that no function captures. */
import { compile, compiler, type Tensor, tensor } from "../../mod.ts";

let captured = 0;
let own = 1;

function count(x: Tensor): Tensor {
  captured++;
  return x.mul(captured);
}

const compiled = compile(count, { backend: "eager" });
for (let i = 0; i < 3; i++) {
  own *= 2;
  console.log(compiled(tensor([1])).tolist(), captured);
}
captured = 10;
console.log(compiled(tensor([1])).tolist(), captured, own, compiler.status(compiled).graphBreaks);
