/**
 * Rows of narrow tensors that are moved, padded and joined: short loops with masked loads, which compilers unroll
 * and vectorise across rows.
 */
import { assertEquals } from "@std/assert";
import { cat, compile, nn, randn, type Tensor } from "../mod.ts";

const PROGRAMS: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  "joined in another order": (x) => cat([x.slice(0, 2), x.slice(0, 0, 2)], 0),
  "padded on all sides": (x) => nn.functional.pad(x, [1, 1, 2, 1]).mul(2),
  "turned around and joined": (x) => {
    const turned = x.flip([1]), both = cat([turned, turned.neg()], 0);
    return both.amax(1, true).add(both);
  },
  "integers turned around and joined": (x) => {
    const turned = x.mul(100).to("int32").flip([1]);
    return cat([turned, turned.neg().mul(3)], 0).add(1);
  },
  "joined with what is computed": (x) => cat([x.slice(0, 2), x.neg(), x.slice(0, 0, 2)], 0),
};

for (const [name, program] of Object.entries(PROGRAMS)) {
  Deno.test(`narrow tensors, ${name}`, () => {
    for (const shape of [[4, 2], [4, 6], [9, 6], [9, 8]]) {
      const x = randn(shape);
      assertEquals(compile(program)(x).tolist(), program(x).tolist(), `shape ${shape}`);
    }
  });
}
