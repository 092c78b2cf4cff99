/** Memory of large results: dropped blocks are used again, living ones never. */
import { assert, assertEquals } from "@std/assert";
import { addressOf } from "../backends/cpu/ffi.ts";
import { freshBuffer, LARGE_BYTES } from "../backends/cpu/host_heap.ts";
import { compile, full, type Tensor } from "../mod.ts";
import { SKIP_NATIVE } from "./support/native.ts";

const BYTES = 4 * LARGE_BYTES;

Deno.test({
  name: "blocks of dropped buffers are used again in a loop that does not wait",
  ignore: SKIP_NATIVE,
  fn: () => {
    const places = new Set<number>();
    for (let i = 0; i < 400; i++) places.add(addressOf(freshBuffer(BYTES)));
    assert(places.size <= 200, `Expected at most 200 places but found ${places.size}`);
  },
});

Deno.test("buffers that are kept share no memory, whatever their size", () => {
  const kept: Int32Array[] = [];
  for (let i = 0; i < 300; i++) {
    const buffer = freshBuffer(i % 3 === 0 ? BYTES : LARGE_BYTES);
    assertEquals(buffer.byteLength, i % 3 === 0 ? BYTES : LARGE_BYTES);
    const words = new Int32Array(buffer);
    words.fill(i);
    // Some live long, most are dropped soon.
    if (i % 10 === 0) kept.push(words);
  }
  kept.forEach((words, i) => assert(words.every((word) => word === 10 * i), `buffer ${i} was overwritten`));
});

Deno.test("results of a compiled function keep their values while others come and go", () => {
  const f = compile((x: Tensor, n: Tensor) => x.add(n));
  const x = full([1024, 1024], 1);
  const kept: Tensor[] = [];
  for (let i = 0; i < 60; i++) {
    const y = f(x, full([1], i));
    if (i % 7 === 0) kept.push(y);
  }
  kept.forEach((y, i) => assertEquals([y.min().item(), y.max().item()], [1 + 7 * i, 1 + 7 * i]));
});
