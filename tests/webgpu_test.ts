/**
 * The WebGPU device against the reference interpreter: every scalar operation, loads and stores of every type,
 * reductions, library calls. A software adapter compiles each shader for seconds, so that one run takes a few of the
 * tests and a part of their cases; the task test:webgpu takes all. Where there is no adapter the tests say so and are
 * skipped, except in CI.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { type DType, type HostArray, REAL_DTYPES } from "../lib/base/dtype.ts";
import type { Body, Lowered, Operand } from "../lib/loops/body.ts";
import { vec4LoopsIn } from "../lib/codegen/vec4.ts";
import { generate } from "../lib/codegen/generate.ts";
import type { BufferDecl, Kernel, Program, Statement } from "../lib/loops/ir.ts";
import { resultType, SCALAR_OPS, type ScalarOpName } from "../lib/loops/scalar.ts";
import { initWebGpu } from "../backends/webgpu/device.ts";
import { rowsOfGrid } from "../backends/webgpu/program.ts";
import { webGpuTarget } from "../backends/webgpu/target.ts";
import { compare, toHost } from "./support/compare.ts";
import { sampleBySeed } from "./support/sampling.ts";
import { libraryCall, singleOp, type TestOperand, vectorised } from "./support/single_op.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";
import { runOnWebGpu, webGpu } from "./support/webgpu_run.ts";

/** A test of every run. */
function test(name: string, body: () => void | Promise<void>): void {
  Deno.test({ name: `webgpu: ${name}`, ignore: SKIP_WEBGPU, fn: () => initWebGpu().then(body) });
}

/** A test out of which a run takes some. */
const sometimes = (name: string, body: () => void): void => void sampled.push([name, body]);
const sampled: (readonly [name: string, body: () => void])[] = [];

/** Numbers of sampled tests in a run, and of cases in each. */
const TESTS_AT_ONCE = 2, CASES_AT_ONCE = 6;

const check = (program: Program, inputs: readonly HostArray[], tolerance = 2e-6) =>
  compare(program, inputs, {
    run: (program, inputs, outputs) => runOnWebGpu(program, { inputs, outputs }),
    tolerance,
  });

const FLOATS = [0, -0, 0.5, -0.5, 1, -1, 1.5, 2.5, -2.5, 3, 0.01, -7.25, 20, 1e-3, NaN, Infinity, -Infinity];
const UNITS = FLOATS.filter((x) => Math.abs(x) <= 1);
const POSITIVE = [0.1, 0.5, 1, 1.5, 2, 2.5, 3, 7.25, 20, 100];
const MODERATE = FLOATS.filter((x) => Number.isFinite(x));
const ANGLES = FLOATS.concat([511.9, -512.1, 1000.5, 1e5, -1e7, 2 ** 23 + 1, 1e10, -1e20, 3e38, 2 ** 127]);
const DOMAINS: Partial<Record<ScalarOpName, readonly number[]>> = {
  sin: ANGLES,
  cos: ANGLES,
  tan: ANGLES,
  sqrt: POSITIVE,
  rsqrt: POSITIVE,
  log: POSITIVE,
  log2: POSITIVE,
  log10: POSITIVE,
  lgamma: POSITIVE,
  digamma: POSITIVE,
  asin: UNITS,
  acos: UNITS,
  atan: MODERATE,
  atan2: [0.5, 1, -1, 2],
  exp: MODERATE,
  exp2: MODERATE,
  sinh: MODERATE,
  cosh: MODERATE,
  truncMod: MODERATE,
  floorMod: MODERATE,
  div: [0.5, 1, -1, 2, 3, -7.25],
  fma: [0.5, 1, -1, 2],
  pow: [0.5, 1, 2, 3, 7.25],
};
const INTEGERS = [0, 1, -1, 2, 3, -3, 7, -7, 31, 100];
/** int64 is computed in 32 bits on this device: results must fit. */
const SHORT_INTEGERS = INTEGERS.filter((n) => n < 31);

function apply<V>(o: Body<V>, op: ScalarOpName, args: readonly V[]): V {
  const [a, b = a, c = a] = args;
  assert(a !== undefined && b !== undefined && c !== undefined);
  return Reflect.apply(o[op], o, [a, b, c].slice(0, SCALAR_OPS[op].arity));
}

/** All pairs (triples) of a domain as operand columns. */
function columns(domain: readonly number[], arity: number): number[][] {
  const n = domain.length ** Math.min(arity, 2);
  const at = (i: number) => domain[i % domain.length] ?? 0;
  return Array.from(
    { length: arity },
    (_, p) =>
      Array.from(
        { length: n },
        (_, i) => at(p === 0 ? i : p === 1 ? Math.floor(i / domain.length) : i * 7 + 3),
      ),
  );
}

sometimes("scalar operations on floats", () => {
  const names = Object.keys(SCALAR_OPS).filter((n): n is ScalarOpName => n in SCALAR_OPS)
    .filter((name) => ["float", "number", "any"].includes(SCALAR_OPS[name].operands));
  for (const name of sampleBySeed(names, CASES_AT_ONCE)) {
    const { arity } = SCALAR_OPS[name];
    const data = columns(DOMAINS[name] ?? FLOATS, arity);
    const shape = [data[0]?.length ?? 0];
    const dtype: DType = resultType(name, "float32");
    const program = singleOp(
      data.map(() => ({ shape, dtype: "float32" })),
      [{ shape, dtype }],
      (...xs) => ({
        kind: "pointwise",
        shape,
        dtype,
        element: (o, index) => apply(o, name, xs.map((x) => o.load(x, index))),
      }),
    );
    check(program, data.map((column) => toHost("float32", column)));
  }
});

sometimes("scalar operations on integers", () => {
  const names = Object.keys(SCALAR_OPS).filter((n): n is ScalarOpName => n in SCALAR_OPS)
    .filter((name) => ["integer", "number", "any", "bits", "random"].includes(SCALAR_OPS[name].operands))
    .filter((name) => name !== "bitsToFloat");
  for (const name of sampleBySeed(names, CASES_AT_ONCE / 2)) {
    const { operands, arity } = SCALAR_OPS[name];
    for (const type of ["int32", "int64"] as const) {
      if (operands === "random" && type !== "int32") continue;
      const domain = type === "int64" ? SHORT_INTEGERS : INTEGERS;
      const data = columns(name === "pow" ? [0, 1, 2, 3, -2] : domain, arity);
      const shape = [data[0]?.length ?? 0];
      const dtype: DType = resultType(name, type);
      const program = singleOp(
        data.map(() => ({ shape, dtype: type })),
        [{ shape, dtype }],
        (...xs) => ({
          kind: "pointwise",
          shape,
          dtype,
          element: (o, index) => apply(o, name, xs.map((x) => o.load(x, index))),
        }),
      );
      check(program, data.map((column) => toHost(type, column)));
    }
  }
});

sometimes("loads, casts and stores of every type", () => {
  const types = REAL_DTYPES.filter((dtype) => dtype !== "float64");
  const pairs = types.flatMap((from) => types.map((to) => ({ from, to })));
  for (const { from, to } of sampleBySeed(pairs, CASES_AT_ONCE)) {
    const shape = [3, 5];
    const values = Array.from({ length: 15 }, (_, i) => from === "bool" ? i % 3 === 0 ? 1 : 0 : i * 3);
    const program = singleOp(
      [{ shape, dtype: from, strides: [1, 3] }],
      [{ shape, dtype: to }],
      (x) => ({
        kind: "pointwise",
        shape,
        dtype: to,
        element: (o, index) => o.cast(o.load(x!, index), to),
      }),
    );
    check(program, [toHost(from, values)]);
  }
});

sometimes("reductions over rows, columns and everything", () => {
  const shape = [7, 300];
  const data = Float32Array.from({ length: 2100 }, (_, i) => Math.sin(i * 1.7) * 2);
  data[310] = NaN;
  for (const op of sampleBySeed(["sum", "max", "min", "argmax", "argmin"] as const, 2)) {
    const dtype: DType = op.startsWith("arg") ? "int64" : "float32";
    for (const [kept, over] of [[[7], [300]], [[300], [7]], [[], [7, 300]]] as const) {
      const program = singleOp([{ shape, dtype: "float32" }], [{ shape: kept, dtype }], (x) => ({
        kind: "reduction",
        shape: kept,
        dtype,
        op,
        over,
        accumulator: "float32",
        position: (r) => r[0] ?? 0,
        element: (o, index, reduced) =>
          o.load(
            x!,
            kept.length === 0 ? reduced : kept[0] === 7 ? [index[0]!, reduced[0]!] : [reduced[0]!, index[0]!],
          ),
      }));
      if (op.startsWith("arg") && kept.length === 0) continue;
      check(program, [data], 2e-5);
    }
  }
});

sometimes("matrix products with odd sizes and depths, transposed operands and batches", () => {
  for (
    const [batch, m, n, k] of sampleBySeed(
      [[1, 5, 7, 3], [2, 65, 70, 33], [3, 1, 130, 17], [1, 20, 40, 1031]] as const,
      1,
    )
  ) {
    for (const transposed of [false, true]) {
      const a = { shape: [batch, m, k], dtype: "float32" as const };
      const b = {
        shape: [batch, k, n],
        dtype: "float32" as const,
        ...(transposed ? { strides: [k * n, 1, k] } : {}),
      };
      const out = { shape: [batch, m, n], dtype: "float32" as const };
      const program = libraryCall({ op: "matmul", accumulate: false }, [a, b], [out]);
      const fill = (count: number, seed: number) =>
        Float32Array.from({ length: count }, (_, i) => Math.sin(i * seed));
      check(program, [fill(batch * m * k, 1.3), fill(batch * k * n, 0.7)], 1e-5);
    }
  }
});

sometimes("convolutions and sorting as loops", () => {
  const geometry = { stride: [2, 1], padding: [1, 0], dilation: [1, 2], groups: 2 } as const;
  const input = { shape: [2, 4, 6, 7], dtype: "float32" as const };
  const weight = { shape: [6, 2, 3, 2], dtype: "float32" as const };
  const out = { shape: [2, 6, 3, 5], dtype: "float32" as const };
  const fill = (shape: readonly number[]) =>
    Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.cos(i * 0.9));
  check(
    libraryCall({ op: "convForward", ...geometry }, [input, weight], [out]),
    [fill(input.shape), fill(weight.shape)],
    1e-5,
  );
  check(
    libraryCall({ op: "convBackwardInput", ...geometry }, [out, weight], [input]),
    [fill(out.shape), fill(weight.shape)],
    1e-5,
  );
  check(
    libraryCall({ op: "convBackwardWeight", ...geometry }, [out, input], [weight]),
    [fill(out.shape), fill(input.shape)],
    1e-5,
  );
  const rows = { shape: [3, 9], dtype: "float32" as const };
  const values = Float32Array.from([3, 1, 2, 1, NaN, 5, -1, 3, 0, ...Array(18).keys()]);
  for (const [descending, count] of [[false, 9], [true, 9], [false, 4], [true, 1]] as const) {
    const first = { ...rows, shape: [3, count] }, places = { shape: [3, count], dtype: "int64" as const };
    check(
      libraryCall({ op: "sort", descending }, [rows], [first, places]),
      [values],
    );
  }
});

interface Geometry {
  /** Images [batch, channels, height, width] and filters [channels, channels of a group, height, width]. */
  readonly image: readonly [number, number, number, number];
  readonly filter: readonly [number, number, number, number];
  readonly stride: readonly [number, number];
  readonly padding: readonly [number, number];
}

/** Few channels, filters that no stride divides, filters smaller than strides, depthwise ones, sums in parts. */
const GEOMETRIES: readonly Geometry[] = [
  { image: [2, 3, 11, 13], filter: [20, 3, 7, 5], stride: [2, 3], padding: [3, 1] },
  { image: [2, 20, 8, 9], filter: [5, 20, 3, 3], stride: [2, 2], padding: [1, 0] },
  { image: [1, 17, 7, 6], filter: [18, 17, 1, 1], stride: [2, 3], padding: [0, 0] },
  { image: [3, 6, 9, 8], filter: [6, 1, 3, 3], stride: [2, 1], padding: [1, 1] },
  { image: [2, 12, 5, 40], filter: [18, 6, 2, 3], stride: [1, 1], padding: [0, 2] },
  { image: [1, 10, 6, 90], filter: [12, 10, 2, 2], stride: [1, 2], padding: [1, 0] },
  { image: [1, 2, 4, 4], filter: [300, 2, 3, 3], stride: [2, 2], padding: [1, 1] },
];

sometimes("convolutions of few channels, and by the phases of strides", () => {
  for (const { image, filter, stride, padding } of sampleBySeed(GEOMETRIES, 2)) {
    const [batch, channels, ...sizes] = image, [filters, perGroup, ...taps] = filter;
    const places = sizes.map((size, d) =>
      Math.floor((size + 2 * (padding[d] ?? 0) - (taps[d] ?? 1)) / (stride[d] ?? 1)) + 1
    );
    const geometry = { stride, padding, dilation: [1, 1], groups: channels / perGroup } as const;
    const operand = (shape: readonly number[]) => ({ shape, dtype: "float32" as const });
    const [input, weight, out] = [operand(image), operand(filter), operand([batch, filters, ...places])];
    // Whole numbers, whose sums are exact in whatever order they are added: devices that fuse products add otherwise
    const fill = ({ shape }: { readonly shape: readonly number[] }) =>
      Float32Array.from(
        { length: shape.reduce((a, b) => a * b, 1) },
        (_, i) => Math.round(9 * Math.cos(i * 0.9)),
      );
    check(
      libraryCall({ op: "convForward", ...geometry }, [input, weight, operand([filters])], [out]),
      [fill(input), fill(weight), fill(operand([filters]))],
      0,
    );
    check(
      libraryCall({ op: "convBackwardInput", ...geometry }, [out, weight], [input]),
      [fill(out), fill(weight)],
      0,
    );
    check(
      libraryCall({ op: "convBackwardWeight", ...geometry }, [out, input], [weight]),
      [fill(out), fill(input)],
      0,
    );
  }
});

sometimes("accumulating stores collide without loss", () => {
  for (const dtype of REAL_DTYPES) {
    if (dtype === "float64") continue;
    const program = singleOp(
      [{ shape: [2000], dtype }, { shape: [2000], dtype: "int64" }],
      [{ shape: [10], dtype }],
      (values, targets) => ({
        kind: "scatter",
        shape: [10],
        dtype,
        base: (o) => o.constant(1, dtype),
        over: [2000],
        mode: "add",
        target: (o, position) => [o.indirect(o.load(targets!, position), 10)],
        value: (o, position) => o.load(values!, position),
      }),
    );
    // Sums that every type of floats holds exactly, in any order; int8 wraps
    const least = dtype === "uint8" || dtype === "bool" ? 0 : -2;
    const values = toHost(dtype, Array.from({ length: 2000 }, (_, i) => i % 3 + least));
    check(program, [values, BigInt64Array.from({ length: 2000 }, (_, i) => BigInt(i * 7 % 10))]);
  }
});

/** Steps of an optimizer, each a kernel of its own: x = √(x + 1), and y, in the arena, what is left of it. */
function steps(count: number): Program {
  const body = (k: number): readonly Statement[] => [
    { kind: "load", id: 3, buffer: k, index: 0, dtype: "float32" },
    { kind: "constant", id: 4, value: 1, dtype: "float32" },
    { kind: "scalar", id: 5, op: "add", args: [3, 4], dtype: "float32" },
    { kind: "scalar", id: 6, op: "sqrt", args: [5], dtype: "float32" },
    { kind: "store", buffer: k, index: 0, value: 6, mode: "set" },
    { kind: "store", buffer: count, index: k, value: 5, mode: "set" },
  ];
  const each = Array.from({ length: count }, (_, k) => k);
  const input = (k: number): BufferDecl => (
    { name: `x${k}`, dtype: "float32", length: 1, role: { kind: "input", written: true } }
  );
  return {
    name: "steps",
    buffers: [...each.map(input), {
      name: "sums",
      dtype: "float32",
      length: count,
      role: { kind: "output" },
    }],
    inputs: each,
    outputs: [count],
    sizes: [],
    arenaBytes: 0,
    kernels: each.map((k) => ({ kind: "loops", name: `step${k}`, body: body(k), origins: [`line ${k}`] })),
  };
}

test("kernels of single elements run as one, as many as fit", () => {
  const made = (program: Program, kernelBuffers: number) =>
    generate(program, webGpuTarget({ kernelBuffers, workgroupBytes: 1 << 14, bindingBytes: 1 << 27 }, true));
  const numbers = ({ kernels }: Program) => kernels.map(({ originals }) => originals);
  assertEquals(numbers(made(steps(5), 8)), [[0, 1, 2, 3, 4]]);
  assertEquals(numbers(made(steps(5), 4)), [[0, 1, 2], [3, 4]]);
  assertEquals(made(steps(20), 32).kernels.map(({ origins }) => origins.length), [16, 4]);
  const sums = new Float32Array(5), inputs = Array.from({ length: 5 }, (_, k) => Float32Array.of(k + 1));
  runOnWebGpu(steps(5), { inputs, outputs: [sums] });
  assertEquals([...sums], [2, 3, 4, 5, 6]);
});

test("kernels of single elements on both sides of a decision stay apart", () => {
  const { buffers, kernels, ...rest } = steps(4), flag = buffers.length;
  const decide: Kernel = {
    kind: "loops",
    name: "decide",
    origins: [],
    body: [
      { kind: "constant", id: 0, value: false, dtype: "bool" },
      { kind: "store", buffer: flag, index: 0, value: 0, mode: "set" },
    ],
  };
  const program: Program = {
    ...rest,
    buffers: [...buffers, { name: "flag", dtype: "bool", length: 1, role: { kind: "output" } }],
    outputs: [...rest.outputs, flag],
    kernels: [decide, ...kernels],
    guard: { flag, after: 1 },
  };
  const after = generate(
    program,
    webGpuTarget({ kernelBuffers: 8, workgroupBytes: 1 << 14, bindingBytes: 1 << 27 }, true),
  );
  assertEquals([after.kernels.map(({ originals }) => originals), after.guard?.after], [
    [[0], [1, 2, 3, 4]],
    1,
  ]);
});

test("neighbours of a grid go along what most reads and writes have side by side", () => {
  const target = webGpuTarget({ kernelBuffers: 8, workgroupBytes: 1 << 14, bindingBytes: 1 << 27 }, false);
  const shape = [64, 48], dtype = "float32", turned = { shape, dtype, strides: [1, 64] } as const;
  const made = (second: TestOperand, out: TestOperand) =>
    vectorised(
      singleOp([{ shape, dtype }, second], [out], (x, y) => ({
        kind: "pointwise",
        shape,
        dtype,
        element: (o, index) => o.sub(o.load(x!, index), o.load(y!, index)),
      })),
      "innermost",
    );
  const fast = (program: Program) => {
    const [kernel] = generate(program, target).kernels;
    const [outer] = kernel?.kind === "loops" ? kernel.body : [],
      inner = outer?.kind === "loop" ? outer.body[0] : outer;
    return inner?.kind === "loop" ? inner.axis.size : undefined;
  };
  assertEquals([fast(made(turned, turned)), fast(made(turned, { shape, dtype }))], [64, 48]);
  const values = Float32Array.from({ length: 64 * 48 }, (_, i) => i);
  check(made(turned, turned), [values, values.toReversed()]);
});

test("invocations share rows and columns out, of which several are run side by side", () => {
  const target = webGpuTarget({ kernelBuffers: 8, workgroupBytes: 1 << 14, bindingBytes: 1 << 27 }, true);
  const dtype = "float32";
  const cases = [
    // Rows that 16 invocations read by fours, and others whose workgroups would be few
    { shape: [2048, 256], along: 1, found: [128, { count: 8, interleaved: false }, true] },
    { shape: [3, 256], along: 1, found: [64, undefined, true] },
    { shape: [512, 130], along: 1, found: [64, { count: 2, interleaved: false }, false] },
    // Results side by side
    { shape: [64, 96], along: 0, found: [256, { count: 8, interleaved: true }, true] },
    { shape: [37, 10], along: 0, found: [256, { count: 2, interleaved: true }, false] },
    // Results of an invocation each, which adds up by fours
    { shape: [20, 96], along: 0, found: [undefined, undefined, true] },
  ] as const;
  for (const { shape, along, found } of cases) {
    const [over, kept] = along === 0 ? shape : shape.toReversed(), data = { shape, dtype } as const;
    for (const op of ["sum", "argmax"] as const) {
      const type = op === "sum" ? dtype : "int64";
      const program = vectorised(
        singleOp([data], [{ shape: [kept ?? 0], dtype: type }], (x) => ({
          kind: "reduction",
          shape: [kept ?? 0],
          dtype: type,
          op,
          over: [over ?? 0],
          accumulator: dtype,
          position: (r) => r[0] ?? 0,
          element: (o, [i = 0], [r = 0]) => o.load(x!, along === 0 ? [r, i] : [i, r]),
        })),
        along === 0 ? "outermost" : "innermost",
      );
      const [kernel] = generate(program, target).kernels;
      assert(kernel?.kind === "loops");
      const { workgroup, points, body } = kernel;
      assertEquals([workgroup, points, vec4LoopsIn(body).length > 0], [...found]);
      check(program, [Float32Array.from({ length: shape[0] * shape[1] }, (_, i) => i * 31 % 97)], 0);
    }
  }
});

test("sums over several dimensions are shared out as over one", () => {
  const target = webGpuTarget({ kernelBuffers: 8, workgroupBytes: 1 << 14, bindingBytes: 1 << 27 }, true);
  const shape = [8, 40, 96], dtype = "float32", kept = [96];
  const program = vectorised(
    singleOp([{ shape, dtype }], [{ shape: kept, dtype }], (x) => ({
      kind: "reduction",
      ...{ shape: kept, dtype, op: "sum", over: [8, 40], accumulator: dtype },
      element: (o, index, reduced) => o.load(x!, [...reduced, ...index]),
    })),
    "outermost",
  );
  const [kernel] = generate(program, target).kernels;
  assertEquals(kernel?.kind === "loops" && kernel.points, { count: 8, interleaved: true });
  check(program, [Float32Array.from({ length: 8 * 40 * 96 }, (_, i) => i * 31 % 97)], 0);
});

test("grids have rows of workgroups without many that find nothing to do", () => {
  const grids = [1, 65535, 65536, 131072, 200_001].map((count) => [count, ...rowsOfGrid(count)] as const);
  assertEquals(grids.filter(([count, x, y]) => x > 65535 || x * y < count || x * y - count >= y), []);
});

test("grids of other lengths run the same shader", () => {
  const dtype = "float32";
  const sources = (shapeOf: (length: number) => readonly number[], lower: (x: Operand) => Lowered) =>
    [512, 1000].map((length) => {
      const shape = shapeOf(length), out = { shape: [length], dtype } as const;
      const operand = { shape, dtype } as const;
      const program = vectorised(singleOp([operand], [out], (x) => lower(x!)), "innermost");
      check(program, [Float32Array.from({ length: length * (shape[1] ?? 1) }, (_, i) => i % 97)], 0);
      return webGpu().compile(program).source;
    });
  const added = sources((n) => [n], (x) => ({
    kind: "pointwise",
    shape: x.shape,
    dtype,
    element: (o, at) => o.add(o.load(x, at), o.load(x, at)),
  }));
  const summed = sources((n) => [n, 96], (x) => ({
    kind: "reduction",
    ...{ shape: x.shape.slice(0, 1), dtype, op: "sum", over: [96], accumulator: dtype },
    element: (o, index, reduced) => o.load(x, [...index, ...reduced]),
  }));
  for (const [first, second] of [added, summed]) assertEquals(first, second);
});

test("gradients of strided convolutions and convolutions in parts run the same shader for other sizes", () => {
  const operand = (shape: readonly number[]) => ({ shape, dtype: "float32" as const });
  const few = ({ shape }: { readonly shape: readonly number[] }) =>
    Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => i * 7 % 5 - 2);
  const geometry = { stride: [2, 2], padding: [1, 1], dilation: [1, 1], groups: 1 } as const;
  const of = (channels: number, size: number) => {
    const image = operand([1, 20, 2 * size, 2 * size + 2]), filter = operand([channels, 20, 3, 3]);
    const made = operand([1, channels, size, size + 1]);
    const program = libraryCall({ op: "convBackwardInput", ...geometry }, [made, filter], [image]);
    check(program, [few(made), few(filter)], 0);
    const input = operand([1, 4 * channels, size, size + 1]), out = operand([1, 64, size, size + 1]);
    const weight = operand([64, 4 * channels, 3, 3]);
    const long = libraryCall({ op: "convForward", ...geometry, stride: [1, 1] }, [input, weight], [out]);
    check(long, [few(input), few(weight)], 0);
    return [program, long].map((each) => webGpu().compile(each).source.split("// ")[1]);
  };
  assertEquals(of(24, 5), of(40, 9));
});

test("reads in parts and at odd places", () => {
  const gpu = webGpu();
  const bytes = Uint8Array.from({ length: (4 << 20) + 1001 }, (_, i) => i * 31 % 251);
  const memory = gpu.allocate(bytes.length);
  gpu.write(memory, 0, bytes);
  assertEquals(gpu.readSync(memory, 0, bytes.length), bytes);
  assertEquals(gpu.readSync(memory, 4194301, 9), bytes.slice(4194301, 4194310));
  const pieces = [[3, 1], [4096, 8], [7, 2], [4194301, 9]].map(([byteOffset = 0, byteLength = 0]) => ({
    memory,
    byteOffset,
    byteLength,
  }));
  const large = { memory, byteOffset: 5, byteLength: 4 << 20 };
  for (const several of [pieces, [...pieces, large]]) {
    assertEquals(
      gpu.readTogether?.(several),
      several.map(({ byteOffset, byteLength }) => bytes.slice(byteOffset, byteOffset + byteLength)),
    );
  }
  gpu.write(memory, 3, new Uint8Array([9, 8]));
  assertEquals([...gpu.readSync(memory, 0, 6)], [bytes[0], bytes[1], bytes[2], 9, 8, bytes[5]]);
});

test("float64 is refused with advice", () => {
  const program = singleOp([{ shape: [2], dtype: "float64" }], [{ shape: [2], dtype: "float64" }], (x) => ({
    kind: "pointwise",
    shape: [2],
    dtype: "float64",
    element: (o, index) => o.load(x!, index),
  }));
  const error = assertThrows(() => webGpu().compile(program), Error);
  assertEquals(error.message, 'Expected float32 on webgpu but found float64: convert with x.to("float32")');
});

for (const [name, body] of sampleBySeed(sampled, TESTS_AT_ONCE)) test(name, body);
