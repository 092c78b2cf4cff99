/** Hooks of gradients in compiled functions: those of tensors from outside do not end the graph. */
import { assertEquals } from "@std/assert";
import { compile, type Tensor, tensor } from "../mod.ts";
import { brokenHooks, unbrokenHooks } from "./programs/tape_hooks.ts";
import { FORCED, register, registerUnbroken } from "./support/programs.ts";

register(brokenHooks, ["eager", "inductor"], FORCED);
registerUnbroken(unbrokenHooks, ["eager", "inductor"], FORCED);

Deno.test("a graph with hooks on its inputs is whole", () => {
  const seen: number[] = [];
  const run = compile((x: Tensor, y: Tensor) => {
    const handle = x.registerHook((g) => void seen.push(g.shape.length));
    y.registerHook((g) => g.mul(3));
    return [x.mul(y), handle] as const;
  }, { backend: "eager", fullgraph: true });
  const given = () => tensor([1, 2], { dtype: "float32", requiresGrad: true });
  const x = given(), y = given(), [product, handle] = run(x, y);
  product.sum().backward();
  assertEquals([x.grad?.tolist(), y.grad?.tolist(), seen], [[1, 2], [3, 6], [1]]);
  handle.remove();
  x.sum().backward();
  assertEquals(seen, [1]);
});
