/**
 * Dimensions that change between calls: tensors have few, so that each has a version, and none ends the graph or leaves
 * a call uncompiled.
 */
import { assertEquals } from "@std/assert";
import { compile, compiler, ones, type Tensor } from "../mod.ts";

const PROGRAMS: Readonly<Record<string, (x: Tensor, dim: number) => Tensor>> = {
  "size": (x, dim) => x.mul(x.size(dim)),
  "stride": (x, dim) => x.mul(x.stride(dim)),
  "the size of a computed dimension": (x, dim) => x.mul(x.size(dim < 0 ? dim + x.ndim : dim)),
  "sum": (x, dim) => x.sum(dim),
  "softmax": (x, dim) => x.softmax(dim),
};

for (const [name, program] of Object.entries(PROGRAMS)) {
  Deno.test(`dimensions that change between calls: ${name}`, () => {
    const x = ones([2, 3, 4, 5]), run = compile(program, { backend: "eager" });
    for (const dim of [0, 1, 2, 3, -1, -2, 0, 3, -2]) {
      assertEquals(run(x, dim).tolist(), program(x, dim).tolist(), `dim ${dim}`);
    }
    const { graphBreaks, givenUp, uncompiled } = compiler.status(run);
    assertEquals({ graphBreaks, givenUp, uncompiled }, { graphBreaks: 0, givenUp: null, uncompiled: [] });
  });
}

Deno.test("a changing dimension that is out of range throws what it throws uncompiled", () => {
  const size = (x: Tensor, dim: number) => x.mul(x.size(dim));
  const run = compile(size, { backend: "eager" }), x = ones([2, 3]);
  const messages = [run, size].map((each) =>
    [0, 1, -1, 2].map((dim) => {
      try {
        return each(x, dim).tolist();
      } catch (error) {
        return String(error);
      }
    })
  );
  assertEquals(messages[0], messages[1]);
});
