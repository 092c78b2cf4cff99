/** Forms of loop kernels on WebAssembly against the reference: masks, positions, bools, running sums, threads. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import type { DType, HostArray } from "../lib/base/dtype.ts";
import { windowsOfBuffers } from "../lib/codegen/windows.ts";
import type { BufferDecl, LoopKernel, Program, Statement } from "../lib/loops/ir.ts";
import { recordLowered, wrapLoops } from "../lib/loops/nest.ts";
import { add, type Dim, floorDiv, min, mod, mul, sub, symbol } from "../lib/sym/expr.ts";
import { HostMemory } from "../backends/cpu/host_memory.ts";
import { ModuleWriter } from "../backends/wasm/binary.ts";
import { FunctionBody } from "../backends/wasm/function_body.ts";
import { compileToWasm } from "../backends/wasm/program.ts";
import { JOB_PARAMS } from "../backends/wasm/pool.ts";
import { wasmTarget } from "../backends/wasm/target.ts";
import { ThreadPool } from "../backends/wasm/threads.ts";
import { compare, type Runner, toHost } from "./support/compare.ts";
import { libraryCall, singleOp, vectorised } from "./support/single_op.ts";
import { sizeLike } from "./support/sizes.ts";

const POOLS = [new ThreadPool(1, { leastWork: 0 }), new ThreadPool(3, { leastWork: 0 })];

const runner = (pool: ThreadPool, form: string): Runner => (program, inputs, outputs) => {
  const memoryOf = (array: HostArray) => {
    assert(array.buffer instanceof ArrayBuffer);
    return new HostMemory("cpu", array.buffer);
  };
  const compiled = compileToWasm(program, pool);
  assertEquals(/^\/\/ op(?:_0)?: (.*)$/m.exec(compiled.source)?.[1], form);
  compiled.run({ inputs: inputs.map(memoryOf), outputs: outputs.map(memoryOf), sizes: [] });
  return compiled.source;
};

/** Checks unchanged and with lanes along either end of every nest, on one thread and on several. */
function check(program: Program, inputs: readonly HostArray[], form = "SIMD"): void {
  for (const pool of POOLS) {
    const run = runner(pool, form);
    compare(program, inputs, { run });
    compare(vectorised(program, "innermost"), inputs, { run });
    compare(vectorised(program, "outermost"), inputs, { run });
  }
}

const wave = (count: number, scale = 1) => {
  const values = new Float32Array(Math.ceil(count / 16) * 16);
  for (let i = 0; i < count; i++) values[i] = scale * Math.sin(i * 1.7 + 0.3);
  return values;
};
const float = (...shape: readonly number[]) => ({ shape, dtype: "float32" as const });

Deno.test("padding: loads where they are valid, elsewhere a constant", () => {
  for (const [h, w, left] of [[5, 9, 2], [1, 3, 1], [4, 16, 5]] as const) {
    const shape = [h + 3, w + left + 2];
    const program = singleOp([float(h, w)], [float(...shape)], (x) => ({
      kind: "pointwise",
      shape,
      dtype: "float32",
      element: (o, [i, j]) => {
        const y = o.index(sub(i!, 1), "int64"), x0 = o.index(sub(j!, left), "int64");
        const zero = o.constant(0, "int64");
        const inside = o.and(
          o.and(o.ge(y, zero), o.lt(y, o.constant(h, "int64"))),
          o.and(o.ge(x0, zero), o.lt(x0, o.constant(w, "int64"))),
        );
        return o.masked(
          inside,
          () => o.mul(o.load(x!, [sub(i!, 1), sub(j!, left)]), o.constant(2, "float32")),
          o.constant(-1, "float32"),
        );
      },
    }));
    check(program, [wave(h * w)]);
  }
});

Deno.test("masks within masks", () => {
  const program = singleOp([float(7)], [float(23)], (x) => ({
    kind: "pointwise",
    shape: [23],
    dtype: "float32",
    element: (o, [i]) => {
      const at = o.index(sub(i!, 9), "int32"), otherwise = o.constant(5, "float32");
      return o.masked(
        o.ge(at, o.constant(0, "int32")),
        () =>
          o.masked(
            o.lt(at, o.constant(7, "int32")),
            () => o.load(x!, [sub(i!, 9)]),
            o.constant(7, "float32"),
          ),
        otherwise,
      );
    },
  }));
  check(program, [wave(7)]);
});

Deno.test("positions of extremes: ties, NaN, infinities, rows and columns", () => {
  const data = wave(6 * 37);
  data.set([NaN, 3, NaN], 40);
  data.fill(-Infinity, 74, 111);
  data.fill(Infinity, 111, 148);
  data.set([2, 5, 5, 2], 150);
  for (const op of ["argmax", "argmin"] as const) {
    for (const [kept, over] of [[[6], [37]], [[37], [6]], [[], [6, 37]]] as const) {
      const program = singleOp([float(6, 37)], [{ shape: kept, dtype: "int64" }], (x) => ({
        kind: "reduction",
        shape: kept,
        dtype: "int64",
        op,
        over,
        accumulator: "float32",
        element: (o, index, reduced) =>
          o.load(
            x!,
            kept.length === 0 ? reduced : kept[0] === 6 ? [index[0]!, reduced[0]!] : [reduced[0]!, index[0]!],
          ),
        position: (reduced) =>
          over.length === 1 ? reduced[0]! : sub(mul(reduced[0]!, 37), sub(0, reduced[1]!)),
      }));
      check(program, [data]);
    }
  }
});

Deno.test("columns are reduced several vectors at a time, one reduction behind another and within one", () => {
  // More rows than are unrolled, and more columns than parts of a job have vectors
  const blocks = 15, rows = 10 * blocks, columns = 70, dtype = "float32";
  const [column, block, first, second] = ([["c", columns], ["b", blocks], ["r", 10], ["q", rows]] as const)
    .map(([name, size]) => symbol(name, { kind: "axis" }, [0, size - 1]));
  assert(column && block && first && second);
  const plain = { carried: [], vector: false };
  const load = (id: number, row: Dim): Statement => ({
    kind: "load",
    id,
    buffer: 0,
    index: add(column, mul(row, columns)),
    dtype,
  });
  const sum = (id: number, value: number) => ({ id, op: "sum", value, dtype }) as const;
  const loop: Statement = {
    ...plain,
    kind: "loop",
    axis: { symbol: column, size: columns },
    order: "parallel",
    reductions: [],
    body: [
      {
        ...plain,
        kind: "loop",
        axis: { symbol: block, size: blocks },
        order: "reduction",
        body: [{
          ...plain,
          kind: "loop",
          axis: { symbol: first, size: 10 },
          order: "reduction",
          body: [load(0, add(first, mul(block, 10)))],
          reductions: [sum(11, 0)],
        }],
        reductions: [sum(1, 11)],
      },
      { kind: "constant", id: 2, value: 1 / rows, dtype },
      { kind: "scalar", id: 3, op: "mul", args: [1, 2], dtype },
      { kind: "index", id: 4, index: column, dtype },
      {
        ...plain,
        kind: "loop",
        axis: { symbol: second, size: rows },
        order: "reduction",
        body: [
          load(5, second),
          { kind: "scalar", id: 6, op: "sub", args: [5, 3], dtype },
          { kind: "scalar", id: 7, op: "mul", args: [6, 6], dtype },
        ],
        reductions: [sum(8, 7), { ...sum(9, 5), op: "max" }],
      },
      { kind: "scalar", id: 10, op: "add", args: [8, 4], dtype },
      { kind: "store", buffer: 1, index: column, value: 10, mode: "set" },
      { kind: "store", buffer: 2, index: column, value: 9, mode: "set" },
    ],
  };
  const given = singleOp([float(rows, columns)], [float(columns)], (x) => ({
    kind: "reduction",
    shape: [columns],
    dtype,
    op: "sum",
    over: [rows],
    accumulator: dtype,
    element: (o, [c], [r]) => o.load(x, [r!, c!]),
  }));
  const [kernel] = given.kernels, [, out] = given.buffers;
  assert(kernel?.kind === "loops" && out);
  const program = {
    ...given,
    buffers: [...given.buffers, { ...out, name: "t2" }],
    outputs: [1, 2],
    kernels: [{ ...kernel, body: [loop] }],
  };
  check(program, [wave(rows * columns)]);
});

Deno.test("bools are bytes in memory, and masks in lanes", () => {
  const types: readonly DType[] = ["bool", "float32", "int32"];
  for (const dtype of types) {
    for (const stride of [1, 2, 3]) {
      const n = 21;
      const program = singleOp(
        [{ shape: [n], dtype: "bool", strides: [stride] }, float(n)],
        [{ shape: [n], dtype }],
        (x, y) => ({
          kind: "pointwise",
          shape: [n],
          dtype,
          element: (o, index) =>
            o.cast(o.and(o.load(x!, index), o.lt(o.load(y!, index), o.constant(0.5, "float32"))), dtype),
        }),
      );
      check(program, [new Uint8Array(64).map((_, i) => i % 3 === 0 ? 0 : 1), wave(n)]);
    }
  }
});

Deno.test("positions as numbers, steps of every size, every third element", () => {
  for (const step of [2, 3, -1]) {
    const n = 19;
    const program = singleOp([float(3 * n)], [float(n)], (x) => ({
      kind: "pointwise",
      shape: [n],
      dtype: "float32",
      element: (o, [i]) => {
        const at = step > 0 ? mul(i!, step) : sub(n - 1, i!);
        return o.add(o.load(x!, [at]), o.index(at, "float32"));
      },
    }));
    check(program, [wave(3 * n)]);
  }
});

Deno.test("int64 results within 32 bits, and beyond", () => {
  const of = (offset: number) =>
    singleOp([], [{ shape: [13], dtype: "int64" }], () => ({
      kind: "pointwise",
      shape: [13],
      dtype: "int64",
      element: (o, [i]) => o.add(o.index(i!, "int64"), o.constant(offset, "int64")),
    }));
  check(of(-5), []);
  check(of(2 ** 31), []);
});

Deno.test("sizes known only in the call", () => {
  const n = sizeLike("n", 6, [1, Infinity]);
  const target = { buffer: 0, offset: 0, shape: [n], strides: [1], dtype: "int64" as const };
  const kernel = recordLowered(
    {
      kind: "pointwise",
      shape: [n],
      dtype: "int64",
      element: (o, [i]) =>
        o.select(
          o.lt(o.index(i!, "int64"), o.constant(5, "int64")),
          o.constant(-1, "int64"),
          o.index(i!, "int64"),
        ),
    },
    [target],
    { name: "op" },
  );
  const program: Program = {
    name: "sizes",
    buffers: [{ name: "out", dtype: "int64", length: n, role: { kind: "output" } }],
    inputs: [],
    outputs: [0],
    sizes: [n],
    arenaBytes: 0,
    kernels: [kernel],
  };
  for (const pool of POOLS) {
    const compiled = compileToWasm(program, pool);
    assertEquals(/^\/\/ op(?:_0)?: (.*)$/m.exec(compiled.source)?.[1], "SIMD");
    for (const size of [1, 6, 37, 2 ** 16 + 3]) {
      const out = new HostMemory("cpu", new ArrayBuffer(8 * Math.ceil(size / 8) * 8));
      compiled.run({ inputs: [], outputs: [out], sizes: [size] });
      for (const at of [0, 4, 5, size - 1]) {
        if (at < size) assertEquals(new BigInt64Array(out.uint8.buffer)[at], at < 5 ? -1n : BigInt(at));
      }
    }
  }
});

Deno.test("sizes and positions beyond 32 bits", () => {
  const n = sizeLike("n", 6, [1, Infinity]), m = sizeLike("m", 6, [1, Infinity]);
  const target = (buffer: number) => ({
    buffer,
    offset: 0,
    shape: [n],
    strides: [1],
    dtype: "int64" as const,
  });
  const kernels = [
    (i: Dim) => mul(i, m),
    (i: Dim) => mod(mul(i, m), 1009),
    (i: Dim) => floorDiv(mul(i, m), 13),
    (i: Dim) => min(mul(i, m), sub(m, i)),
  ].map((index, k) =>
    recordLowered(
      { kind: "pointwise", shape: [n], dtype: "int64", element: (o, [i = 0]) => o.index(index(i), "int64") },
      [target(k)],
      { name: "op" },
    )
  );
  const program: Program = {
    name: "sizes",
    buffers: kernels.map((_, k) => ({
      name: `out${k}`,
      dtype: "int64",
      length: n,
      role: { kind: "output" },
    })),
    inputs: [],
    outputs: kernels.map((_, k) => k),
    sizes: [n, m],
    arenaBytes: 0,
    kernels,
  };
  for (const pool of POOLS) {
    const compiled = compileToWasm(program, pool);
    for (const [rows, factor] of [[37, 5], [37, 2 ** 28 - 1], [21, 2 ** 28], [37, 2 ** 33 + 7]] as const) {
      const outputs = kernels.map(() => new HostMemory("cpu", new ArrayBuffer(8 * 40)));
      compiled.run({ inputs: [], outputs, sizes: [rows, factor] });
      const [first, second, third, fourth] = outputs.map((
        memory,
      ) => [...new BigInt64Array(memory.uint8.buffer, 0, rows)]);
      const all = Array.from({ length: rows }, (_, i) => i);
      assertEquals(first, all.map((i) => BigInt(i * factor)));
      assertEquals(second, all.map((i) => BigInt(i * factor % 1009)));
      assertEquals(third, all.map((i) => BigInt(Math.floor(i * factor / 13))));
      assertEquals(fourth, all.map((i) => BigInt(Math.min(i * factor, factor - i))));
    }
  }
});

Deno.test("a loop of more iterations than 31 bits count", () => {
  const length = 2 ** 31 + 5;
  const program = singleOp([{ shape: [length], dtype: "int32", strides: [0] }], [{
    shape: [],
    dtype: "int64",
  }], (x) => ({
    kind: "reduction",
    shape: [],
    dtype: "int64",
    op: "sum",
    over: [length],
    accumulator: "int64",
    element: (o, _, reduced) => o.cast(o.load(x, reduced), "int64"),
  }));
  const [input, output] = [0, 1].map(() => new HostMemory("cpu", new ArrayBuffer(64)));
  assert(input && output);
  new Int32Array(input.uint8.buffer)[0] = 3;
  compileToWasm(vectorised(program, "innermost"), new ThreadPool(2)).run({
    inputs: [input],
    outputs: [output],
    sizes: [],
  });
  assertEquals(new BigInt64Array(output.uint8.buffer)[0], 3n * BigInt(length));
});

Deno.test("running sums and products of every type, along rows and columns", () => {
  for (const dtype of ["float32", "float64", "int64", "int32"] as const) {
    for (const dim of [0, 1]) {
      const program = singleOp([{ shape: [7, 10], dtype }], [{ shape: [7, 10], dtype }], (x) => ({
        kind: "scan",
        shape: [7, 10],
        dtype,
        dim,
        initial: 1,
        element: (o, index) => o.load(x, index),
        combine: (o, before, value) => o.add(o.mul(before, value), value),
      }));
      const mark = (s: Statement): Statement =>
        s.kind === "loop" ? { ...s, vector: s.order === "parallel" } : s;
      const along: Program = {
        ...program,
        kernels: program.kernels.map((k) => k.kind === "loops" ? { ...k, body: k.body.map(mark) } : k),
      };
      const values = toHost(dtype, Array.from({ length: 70 }, (_, k) => (k * 5) % 7 - 3));
      for (const pool of POOLS) {
        compare(program, [values], { run: runner(pool, "SIMD"), tolerance: 0 });
        compare(along, [values], { run: runner(pool, "SIMD"), tolerance: 0 });
      }
    }
  }
});

Deno.test("stores within masks, in lanes and not", () => {
  const n = 21, count = 64;
  for (
    const [step, dtype] of [[1, "float32"], [2, "float64"], [3, "int32"], [1, "bool"], [1, "int64"]] as const
  ) {
    const i = symbol("i", { kind: "axis" }, [0, n - 1]);
    const recorded = singleOp([{ shape: [n], dtype }], [{ shape: [count], dtype }], () => ({
      kind: "pointwise",
      shape: [count],
      dtype,
      element: (o) => o.constant(dtype === "bool" ? false : 0, dtype),
    }));
    const type = dtype === "int64" ? 7n : dtype === "bool" ? true : 7;
    const body: readonly Statement[] = [{
      kind: "loop",
      axis: { symbol: i, size: n },
      order: "parallel",
      vector: true,
      reductions: [],
      carried: [],
      body: [
        { kind: "index", id: 0, index: mod(mul(i, 5), 8), dtype: "int32" },
        { kind: "constant", id: 1, value: 4, dtype: "int32" },
        { kind: "scalar", id: 2, op: "gt", args: [0, 1], dtype: "bool" },
        { kind: "constant", id: 3, value: type, dtype },
        {
          kind: "masked",
          id: 4,
          condition: 2,
          body: [
            { kind: "load", id: 5, buffer: 0, index: i, dtype },
            { kind: "store", buffer: 1, index: mul(i, step), value: 5, mode: "set" },
          ],
          value: 5,
          otherwise: 3,
          dtype,
        },
      ],
    }];
    const program: Program = {
      ...recorded,
      kernels: [...recorded.kernels, { kind: "loops", name: "op", body, origins: [] }],
    };
    const values = toHost(dtype, Array.from({ length: n }, (_, k) => dtype === "bool" ? 1 : k + 1));
    for (const pool of POOLS) compare(program, [values], { run: runner(pool, "SIMD"), tolerance: 0 });
  }
});

Deno.test("rows and elements picked by int64 positions", () => {
  const rows = new BigInt64Array(8), columns = new BigInt64Array(24);
  rows.set([3n, 0n, 3n, 5n, 1n]);
  columns.forEach((_, i) => columns[i] = BigInt((i * 5) % 9));
  const picked = singleOp([float(6, 9), { shape: [5], dtype: "int64" }], [float(5, 9)], (x, at) => ({
    kind: "pointwise",
    shape: [5, 9],
    dtype: "float32",
    element: (o, [i, j]) => o.load(x!, [o.indirect(o.load(at!, [i!]), 6), j!]),
  }));
  check(picked, [wave(54), rows]);
  const each = singleOp([float(6, 9), { shape: [21], dtype: "int64" }], [float(2, 21)], (x, at) => ({
    kind: "pointwise",
    shape: [2, 21],
    dtype: "float32",
    element: (o, [i, j]) => o.load(x!, [i!, o.indirect(o.load(at!, [j!]), 9)]),
  }));
  check(each, [wave(54), columns]);
});

Deno.test("int64 labels beyond 32 bits compare as they are", () => {
  const labels = new BigInt64Array(16);
  labels.set([-100n, 2n ** 32n - 100n, -(2n ** 40n), 7n, 2n ** 31n, -(2n ** 31n) - 100n, 2n ** 62n, -1n, 0n]);
  const program = singleOp([{ shape: [9], dtype: "int64" }], [float(9)], (x) => ({
    kind: "pointwise",
    shape: [9],
    dtype: "float32",
    element: (o, index) => {
      const label = o.load(x!, index), zero = o.constant(0, "int64");
      const wrapped = o.select(o.lt(label, zero), o.add(label, o.constant(10, "int64")), label);
      const known = o.cast(o.ne(label, o.constant(-100, "int64")), "float32");
      return o.add(known, o.mul(o.cast(o.ge(wrapped, zero), "float32"), o.constant(2, "float32")));
    },
  }));
  check(program, [labels]);
});

Deno.test("sums into picked elements, several into one", () => {
  const at = new BigInt64Array(40);
  at.forEach((_, i) => at[i] = BigInt((i * i) % 7));
  for (const mode of ["add", "set"] as const) {
    const program = singleOp([float(37), { shape: [37], dtype: "int64" }], [float(7)], (x, to) => ({
      kind: "scatter",
      shape: [7],
      dtype: "float32",
      base: (o) => o.constant(0.5, "float32"),
      over: [37],
      mode,
      target: (o, [i]) => [o.indirect(o.load(to!, [i!]), 7)],
      value: (o, index) => o.load(x!, index),
    }));
    for (const pool of POOLS) compare(program, [wave(37), at], { run: runner(pool, "SIMD") });
  }
});

Deno.test("random bits are those of Philox", () => {
  const program = singleOp([], [{ shape: [29], dtype: "int32" }], () => ({
    kind: "pointwise",
    shape: [29],
    dtype: "int32",
    element: (o, [i]) =>
      o.random(o.constant(-12345, "int32"), o.constant(99, "int32"), o.index(sub(i!, 3), "int32")),
  }));
  check(program, []);
});

Deno.test("an epilogue is fused into its product", () => {
  const [m, n, k] = [33, 12, 20];
  const product = libraryCall({ op: "matmul", accumulate: false }, [float(m, k), float(k, n)], [float(m, n)]);
  const result = { ...float(m, n), buffer: 2, offset: 0, strides: [n, 1] };
  const after = singleOp([float(m, n), float(m, n)], [float(m, n)], () => ({
    kind: "pointwise",
    shape: [m, n],
    dtype: "float32",
    element: (o, [i, j]) =>
      o.maximum(
        o.load(result, [i!, j!]),
        o.constant(0, "float32"),
      ),
  }));
  const epilogue = after.kernels[0];
  assert(epilogue?.kind === "loops");
  const fused: Program = {
    ...product,
    kernels: product.kernels.map((kernel) => kernel.kind === "extern" ? { ...kernel, epilogue } : kernel),
  };
  for (const pool of POOLS) {
    compare(fused, [wave(m * k), wave(k * n)], { run: runner(pool, "library"), tolerance: 1e-5 });
  }
});

Deno.test("nests of one kernel run in sequence", () => {
  const first = singleOp([float(45), float(45)], [float(45)], (x, y) => ({
    kind: "pointwise",
    shape: [45],
    dtype: "float32",
    element: (o, index) => o.mul(o.load(x, index), o.load(y, index)),
  }));
  const [kernel] = first.kernels, i = symbol("i", { kind: "axis" }, [0, 44]);
  assert(kernel?.kind === "loops");
  const second: Statement = {
    kind: "loop",
    axis: { symbol: i, size: 45 },
    order: "parallel",
    vector: false,
    reductions: [],
    carried: [],
    body: [
      { kind: "load", id: 100, buffer: 2, index: i, dtype: "float32" },
      { kind: "constant", id: 101, value: 1, dtype: "float32" },
      { kind: "scalar", id: 102, op: "add", args: [100, 101], dtype: "float32" },
      { kind: "store", buffer: 2, index: i, value: 102, mode: "set" },
    ],
  };
  check({ ...first, kernels: [{ ...kernel, body: [...kernel.body, second] }] }, [wave(45), wave(45)]);
});

/** A module with one job that stores at description + 4·unit, after a while, the address of its scratch memory. */
function slowJob(trap: boolean, pool: ThreadPool): Uint8Array<ArrayBuffer> {
  const body = new FunctionBody(JOB_PARAMS.map(() => "i32"), []);
  const [description, from, to, scratch] = [0, 1, 2, 3] as const;
  const counter = body.local("i32"), wait = body.local("i32");
  body.loop(counter, { from: () => body.get(from), to: () => body.get(to), step: 1 }, () => {
    body.i32(3_000_000).set(wait);
    body.times(wait, () => {});
    body.get(description).get(counter).i32(2).op("i32Shl", "i32Add").get(scratch).memory("i32Store");
    if (trap) body.get(counter).i32(0).op("i32DivS").set(wait);
  });
  const writer = new ModuleWriter(pool.memory.kind);
  writer.export(writer.add(body), "slow");
  return writer.finish();
}

Deno.test("units of a job run on several threads, each with its own scratch memory", () => {
  const pool = new ThreadPool(2, { leastWork: 0 }), { memory } = pool;
  const code = pool.load(slowJob(false, pool));
  memory.reserve(4096, 0);
  const units = 16, scratch = { bytes: 100, address: memory.base + 1024 };
  const seen = new Set<number>();
  // The other thread takes a moment to start
  for (let round = 0; round < 500 && seen.size < 2; round++) {
    const words = new Int32Array(memory.memory.buffer, memory.base, units).fill(0);
    pool.run(code, "slow", { description: memory.base, units, scratch, work: 1 });
    for (const word of words) seen.add(word);
  }
  assertEquals([...seen].sort((a, b) => a - b), [scratch.address, scratch.address + scratch.bytes]);
});

Deno.test("on one thread a job is many calls over whole grains, so that the engine can replace its code in between", () => {
  const pool = new ThreadPool(1, { leastWork: 10 }), calls: [from: number, to: number][] = [];
  const functions = { work: (_: number, from: number, to: number) => void calls.push([from, to]) };
  const run = (units: number, work: number): readonly (readonly [number, number])[] => {
    calls.length = 0;
    pool.run({ functions, order: ["work"], at: undefined }, "work", {
      description: 0,
      units,
      grain: 16,
      work,
    });
    return calls;
  };
  assertEquals(run(1000, 9), [[0, 1000]]);
  const parts = run(1000, 10);
  assertEquals(parts.length > 8, true);
  assertEquals(parts.map(([from]) => from), [0, ...parts.slice(0, -1).map(([, to]) => to)]);
  assertEquals([parts.at(-1)?.[1], parts.every(([from]) => from % 16 === 0)], [1000, true]);
});

Deno.test("threads are created one by one if the program waits after some work, else later", async () => {
  const pool = new ThreadPool(3, { leastWork: 1 }), { memory } = pool;
  const code = pool.load(slowJob(false, pool));
  memory.reserve(4096, 0);
  const made: number[] = [];
  for (const works of [[100, 100, 49], [1, 1], [249, 501], [1, 5000]]) {
    for (const work of works) {
      pool.run(code, "slow", { description: memory.base, units: 2, work });
      made.push(pool.created);
    }
    await Promise.resolve();
    made.push(pool.created);
  }
  assertEquals(made, [1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 3]);
});

Deno.test("a failing unit is reported, and the threads continue", () => {
  const pool = new ThreadPool(2, { leastWork: 0 }), { memory } = pool;
  const bad = pool.load(slowJob(true, pool)), good = pool.load(slowJob(false, pool));
  memory.reserve(4096, 0);
  for (let round = 0; round < 3; round++) {
    const job = { description: memory.base, units: 8, work: 1 };
    assertThrows(() => pool.run(bad, "slow", job));
    pool.run(good, "slow", job);
  }
});

Deno.test("running a program repeatedly takes no more memory", () => {
  const pool = new ThreadPool(2, { leastWork: 0 });
  const program = libraryCall({ op: "matmul", accumulate: false }, [float(64, 64), float(64, 64)], [
    float(64, 64),
  ]);
  const compiled = compileToWasm(program, pool);
  const memories = [0, 1, 2].map(() => new HostMemory("cpu", new ArrayBuffer(64 * 64 * 4)));
  const call = { inputs: memories.slice(0, 2), outputs: memories.slice(2), sizes: [] };
  compiled.run(call);
  const before = pool.memory.memory.buffer.byteLength;
  for (let i = 0; i < 200; i++) compiled.run(call);
  assertEquals(pool.memory.memory.buffer.byteLength, before);
});

Deno.test("windows begin no later than any element that is read, and never on a thread's own memory", () => {
  const i = symbol("i", { kind: "axis" }, [0, 3]);
  const copy = (from: number, index: Dim, to: number): LoopKernel => ({
    kind: "loops",
    name: "copy",
    body: wrapLoops([{ symbol: i, size: 4 }], [
      { kind: "load", id: 0, buffer: from, index, dtype: "float32" },
      { kind: "store", buffer: 1, index: add(i, to), value: 0, mode: "set" },
    ]),
    origins: [],
  });
  const places = Array.from({ length: 8 }, (_, k) => 10 * k);
  const buffer = (name: string, length: number, role: BufferDecl["role"]): BufferDecl => ({
    name,
    dtype: "float32",
    length,
    role,
  });
  const program: Program = {
    name: "windows",
    buffers: [
      buffer("read", 100, { kind: "input", written: false }),
      buffer("made", 100, { kind: "output" }),
      buffer("own", 100, { kind: "local" }),
    ],
    inputs: [0],
    outputs: [1],
    sizes: [],
    arenaBytes: 0,
    kernels: [
      ...places.flatMap((place) => [copy(0, add(i, place), 4), copy(2, add(i, place), 4)]),
      copy(0, add(floorDiv(sub(i, 3), 2), 80), 4),
    ],
  };
  const roles = windowsOfBuffers(program, wasmTarget(1000)).buffers.slice(3).map(({ role }) => role);
  assertEquals(roles, [...places.slice(1), 78].map((from) => ({ kind: "window", of: 0, from })));
});
