/** The WebAssembly printer against the reference interpreter: loops, reductions, library calls. */
import { assert, assertEquals } from "@std/assert";
import type { HostArray } from "../lib/base/dtype.ts";
import type { Program } from "../lib/loops/ir.ts";
import { HostBlock, HostMemory } from "../backends/cpu/host_memory.ts";
import { TensorHeap, WasmMemory } from "../backends/wasm/memory.ts";
import { compileToWasm } from "../backends/wasm/program.ts";
import { ThreadPool } from "../backends/wasm/threads.ts";
import { compare, type Runner } from "./support/compare.ts";
import { libraryCall, singleOp, vectorised } from "./support/single_op.ts";
import { floatsOf } from "./support/host_floats.ts";

const run: Runner = (program, inputs, outputs) => {
  const memoryOf = (array: HostArray) => {
    assert(array.buffer instanceof ArrayBuffer);
    return new HostMemory("cpu", array.buffer);
  };
  const compiled = compileToWasm(program);
  compiled.run({ inputs: inputs.map(memoryOf), outputs: outputs.map(memoryOf), sizes: [] });
  return compiled.source;
};

/** Checks unchanged, and with lanes along either end of every nest. */
function check(program: Program, inputs: readonly HostArray[], tolerance = 2e-6): void {
  compare(program, inputs, { run, tolerance });
  compare(vectorised(program, "innermost"), inputs, { run, tolerance });
  compare(vectorised(program, "outermost"), inputs, { run, tolerance });
}

const wave = (count: number, scale = 1) =>
  Float32Array.from({ length: count }, (_, i) => scale * Math.sin(i * 1.7 + 0.3));

Deno.test("wasm: transposed loads, broadcasts and constants", () => {
  const program = singleOp(
    [{ shape: [5, 7], dtype: "float32", strides: [1, 5] }, { shape: [7], dtype: "float32" }],
    [{ shape: [5, 7], dtype: "float32" }],
    (x, y) => ({
      kind: "pointwise",
      shape: [5, 7],
      dtype: "float32",
      element: (o, [i, j]) =>
        o.select(
          o.gt(o.load(x!, [i!, j!]), o.constant(0.1, "float32")),
          o.mul(o.load(x!, [i!, j!]), o.load(y!, [j!])),
          o.constant(-3, "float32"),
        ),
    }),
  );
  check(program, [wave(35), wave(7)]);
});

Deno.test("wasm: reductions over rows, columns and everything", () => {
  const shape = [9, 131];
  const data = wave(9 * 131, 2);
  for (const op of ["sum", "prod", "max", "min"] as const) {
    for (const [kept, over] of [[[9], [131]], [[131], [9]], [[], [9, 131]]] as const) {
      const program = singleOp([{ shape, dtype: "float32" }], [{ shape: kept, dtype: "float32" }], (x) => ({
        kind: "reduction",
        shape: kept,
        dtype: "float32",
        op,
        over,
        accumulator: "float32",
        element: (o, index, reduced) =>
          o.load(
            x!,
            kept.length === 0 ? reduced : kept[0] === 9 ? [index[0]!, reduced[0]!] : [reduced[0]!, index[0]!],
          ),
      }));
      check(program, [data], 1e-5);
    }
  }
});

Deno.test("wasm: matrix products of all layouts", () => {
  for (const [batch, m, n, k] of [[1, 5, 7, 3], [2, 33, 20, 17], [3, 1, 130, 9], [1, 8, 16, 64]] as const) {
    for (const transposed of [false, true]) {
      const a = { shape: [batch, m, k], dtype: "float32" as const };
      const b = {
        shape: [batch, k, n],
        dtype: "float32" as const,
        ...(transposed ? { strides: [k * n, 1, k] } : {}),
      };
      const out = { shape: [batch, m, n], dtype: "float32" as const };
      const program = libraryCall({ op: "matmul", accumulate: false }, [a, b], [out]);
      check(program, [wave(batch * m * k), wave(batch * k * n)], 1e-5);
    }
  }
});

Deno.test("wasm: convolutions and their gradients", () => {
  const geometry = { stride: [2, 1], padding: [1, 2], dilation: [1, 2], groups: 2 } as const;
  const input = { shape: [2, 4, 6, 7], dtype: "float32" as const };
  const weight = { shape: [6, 2, 3, 2], dtype: "float32" as const };
  const bias = { shape: [6], dtype: "float32" as const };
  const out = { shape: [2, 6, 3, 9], dtype: "float32" as const };
  const count = (t: { shape: readonly number[] }) => t.shape.reduce((x, y) => x * y, 1);
  const cases = [
    { op: "convForward", operands: [input, weight, bias], result: out },
    { op: "convBackwardInput", operands: [out, weight], result: input },
    { op: "convBackwardWeight", operands: [out, input], result: weight },
  ] as const;
  for (const { op, operands, result } of cases) {
    const program = libraryCall({ op, ...geometry }, operands, [result]);
    check(program, operands.map((t, i) => wave(count(t), 1 + i)), 1e-5);
  }
});

Deno.test("wasm: sine and cosine of large angles", () => {
  const angles = Array.from({ length: 61 }, (_, i) => (i % 2 ? 1 : -1) * 10 ** (i / 4) * 1.2345);
  for (const name of ["sin", "cos"] as const) {
    const shape = [angles.length];
    const program = singleOp([{ shape, dtype: "float32" }], [{ shape, dtype: "float32" }], (x) => ({
      kind: "pointwise",
      shape,
      dtype: "float32",
      element: (o, index) => o[name](o.load(x!, index)),
    }));
    const inputs = new Float32Array(64);
    inputs.set(angles);
    check(program, [inputs]);
  }
});

Deno.test("wasm: operands in its memory are used in place, beside others", () => {
  const pool = new ThreadPool(2), heap = new TensorHeap(pool.memory), shape = [1000];
  const resident = (): HostMemory => {
    const address = heap.allocate(4096), { memory } = pool;
    assert(address !== undefined && address >= memory.tensors.from);
    const bytes = new Uint8Array(memory.memory.buffer, address, 4096);
    return new HostMemory("cpu", new HostBlock(bytes, { memory, address }));
  };
  const program = singleOp(
    [{ shape, dtype: "float32" }, { shape, dtype: "float32" }],
    [{ shape, dtype: "float32" }],
    (x, y) => ({
      kind: "pointwise",
      shape,
      dtype: "float32",
      element: (o, [i]) => o.sub(o.load(x!, [i!]), o.mul(o.load(y!, [i!]), o.constant(2, "float32"))),
    }),
  );
  const compiled = compileToWasm(program, pool),
    ordinary = () => new HostMemory("cpu", new ArrayBuffer(4096));
  for (const [first, second, result] of [[true, true, true], [true, false, false], [false, true, true]]) {
    const [x, y, out] = [first, second, result].map((lives) => lives ? resident() : ordinary());
    assert(x && y && out);
    floatsOf(x).set(wave(1000));
    floatsOf(y).set(wave(1000, 3));
    const wanted = Array.from({ length: 990 }, (_, i) => {
      return Math.fround((floatsOf(x)[i + 10] ?? 0) - 2 * (floatsOf(y)[i] ?? 0));
    });
    // Offsets, and a result over an operand
    const byteOffsets = [40, 0, 0];
    compiled.run({ inputs: [x, y], outputs: [out], byteOffsets, sizes: [] });
    assertEquals([...floatsOf(out).subarray(0, 990)], wanted);
    compiled.run({ inputs: [out, y], outputs: [out], sizes: [] });
    assertEquals(
      [...floatsOf(out).subarray(0, 990)],
      wanted.map((w, i) => Math.fround(w - 2 * (floatsOf(y)[i] ?? 0))),
    );
  }
});

Deno.test("wasm: pieces of the memory are disjoint, reusable, and merge", () => {
  const memory = new WasmMemory(true), heap = new TensorHeap(memory);
  const [a, b, c] = [heap.allocate(128), heap.allocate(64), heap.allocate(256)],
    { from, to } = memory.tensors;
  assert(a !== undefined && b !== undefined && c !== undefined);
  assertEquals([a, b, c], [from, from + 128, from + 192]);
  heap.free(a, 128);
  heap.free(c, 256);
  assertEquals(heap.allocate(256), c);
  heap.free(b, 64);
  // Adjacent freed pieces are merged
  assertEquals([heap.allocate(192), heap.allocate(to - from)], [a, undefined]);
  assertEquals(new TensorHeap(new WasmMemory(false)).allocate(64), undefined);
});
