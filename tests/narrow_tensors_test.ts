/**
 * Rows of narrow tensors that are moved, padded and concatenated: short loops with masked loads, which compilers unroll
 * and vectorise across rows.
 */
import { assertEquals } from "@std/assert";
import { arange, cat, compile, nn, randn, type Tensor } from "../mod.ts";
import "./support/turns/ops.ts";

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

Deno.test("narrow tensors, padded in every type", () => {
  const pad = (x: Tensor) => nn.functional.pad(x, [0, 1, 1, 0]);
  for (const dtype of ["int64", "int32", "float64", "float32", "uint8"] as const) {
    const x = arange(44).reshape([4, 11]).to(dtype);
    assertEquals(compile(pad)(x).tolist(), pad(x).tolist(), dtype);
  }
});

Deno.test("narrow tensors, a row written from another one of the same tensor", () => {
  const write = (x: Tensor) => {
    x.slice(0, 1, 4).select(0, 0).copy_(x.select(0, 3));
    return x;
  };
  const x = () => arange(54).reshape([6, 1, 9]);
  assertEquals(compile(write)(x()).tolist(), write(x()).tolist());
});
