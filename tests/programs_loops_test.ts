/** Loops that go on behind graph breaks. */
import { assertEquals } from "@std/assert";
import { compile, compiler, type Tensor, tensor } from "../mod.ts";
import { begunLoops } from "./programs/begun_loops.ts";
import { register } from "./support/programs.ts";

register(begunLoops, ["eager"], [3, 9, 17]);

Deno.test("a round of a loop that breaks once is one graph", () => {
  const look = compiler.disable(() => {});
  const f = compile((list: readonly Tensor[], y: Tensor) => {
    for (const [i, x] of list.entries()) {
      y = y.add(x.mul(i));
      look();
      y = y.sin();
    }
    return y;
  }, { backend: "eager" });
  const list = Array.from({ length: 8 }, (_, i) => tensor([i], { dtype: "float32" }));
  for (let i = 0; i < 3; i++) f(list, tensor([1], { dtype: "float32" }));
  const { graphBreaks, uncompiled } = compiler.status(f);
  assertEquals([graphBreaks, uncompiled], [1, []]);
  const { graphCount } = compiler.explain(f)(list, tensor([1], { dtype: "float32" }));
  // Up to the first break, between two, with a number that changes, and behind the last
  assertEquals(graphCount, 4);
});
