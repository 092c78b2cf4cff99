/**
 * Programs printed as C++ against the reference interpreter: every scalar operation and type, reductions in all
 * layouts, loops with carried values, masks, scatters, library calls, sizes known only when called. Float32 functions
 * must be within a few units in the last place of the float64 result.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { decodeElements } from "../lib/base/bfloat16.ts";
import {
  type DType,
  type HostArray,
  hostArray,
  isFloat,
  isSmall,
  itemSize,
  REAL_DTYPES,
  type ValueType,
} from "../lib/base/dtype.ts";
import type { Body, Lowered, Operand } from "../lib/loops/body.ts";
import type { Program } from "../lib/loops/ir.ts";
import { axesOf, symbolsOf, wrapLoops } from "../lib/loops/nest.ts";
import { flatIndex, loadBufferOperand, Recorder, ValueIds } from "../lib/loops/record.ts";
import { contiguousStrides } from "../lib/graph/meta.ts";
import { add, type Dim, evaluate, floorDiv, freeSymbols, max, min, mod, mul } from "../lib/sym/expr.ts";
import { verifyProgram } from "../lib/loops/verify.ts";
import { definitionOf } from "../lib/loops/math/table.ts";
import { resultType, SCALAR_OPS, type ScalarOpName } from "../lib/loops/scalar.ts";
import { generate } from "../lib/codegen/generate.ts";
import { nativeTarget } from "../backends/cpu/native_target.ts";
import { printProgram } from "../backends/cpu/print/program.ts";
import { printIndex } from "../backends/cpu/print/types.ts";
import { compileNative, isFar } from "../backends/cpu/native_program.ts";
import { HostMemory } from "../backends/cpu/host_memory.ts";
import { MemoryPool } from "../backends/cpu/memory_pool.ts";
import { interpret } from "./reference/interpret.ts";
import { mergePrograms } from "./support/merge.ts";
import { SKIP_NATIVE } from "./support/native.ts";
import { randomNumbers, sampleBySeed, testSeed } from "./support/sampling.ts";
import { libraryCall, singleOp, type TestOperand } from "./support/single_op.ts";
import { floatsOf } from "./support/host_floats.ts";
import { sizeLike } from "./support/sizes.ts";

const tests: Deno.TestDefinition[] = [];
const test = (name: string, fn: () => void): void =>
  void tests.push({ name: `cpu: ${name}`, ignore: SKIP_NATIVE, fn });

function toHost(dtype: DType, values: readonly number[]): HostArray {
  const array = hostArray(dtype, new ArrayBuffer(values.length * itemSize(dtype)));
  values.forEach((v, i) => array[i] = array instanceof BigInt64Array ? BigInt(Math.trunc(v)) : v);
  return array;
}

/** A program with its inputs, and how far from the wide result its floats may be, in units in the last place. */
interface Case {
  readonly program: Program;
  readonly inputs: readonly HostArray[];
  readonly ulps?: number;
  /** The size, by the first operand, below which units are not counted any finer: that of the terms of a sum. */
  readonly scale?: number | ((operand: number) => number);
  readonly label: string;
}

function memoryOf(bytes: number): HostMemory {
  return new HostMemory("cpu", new ArrayBuffer(Math.max(64, Math.ceil(bytes / 64) * 64)));
}

function ulpOf(x: number, dtype: DType): number {
  const exponent = Math.floor(Math.log2(Math.max(Math.abs(x), dtype === "float32" ? 2 ** -126 : 2 ** -1022)));
  return 2 ** (exponent - (dtype === "float32" ? 23 : 52));
}

/** Compiles the cases as one program, runs it, and compares every element of every output. */
function check(cases: readonly Case[]): void {
  const [first] = cases;
  const program = cases.length === 1 && first ? first.program : mergePrograms(cases.map((c) => c.program));
  const compiled = compileNative(program);
  const given = cases.flatMap((c) => c.inputs).map((array) => {
    const memory = memoryOf(array.byteLength);
    memory.uint8.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    return memory;
  });
  const results = program.outputs.map((id) => {
    const decl = program.buffers[id];
    assert(decl && typeof decl.length === "number");
    const memory = memoryOf(decl.length * itemSize(decl.dtype));
    memory.uint8.fill(0);
    return memory;
  });
  compiled.run({ inputs: given, outputs: results, sizes: [] });
  let at = 0;
  for (const { program: one, inputs, ulps = 2, scale = 0, label } of cases) {
    const decls = one.outputs.map((id) => one.buffers[id]);
    const expected = decls.map((decl) => {
      assert(decl && typeof decl.length === "number");
      // float32 results are judged by float64 ones
      return hostArray(decl.dtype, new ArrayBuffer(decl.length * itemSize(decl.dtype)));
    });
    interpret(one, { inputs, outputs: expected, precision: "wide" });
    decls.forEach((decl, i) => {
      const stored = expected[i], memory = results[at++];
      assert(decl && stored && memory);
      const want = decodeElements(decl.dtype, stored);
      const got = decodeElements(
        decl.dtype,
        hostArray(decl.dtype, memory.uint8.buffer, { length: stored.length }),
      );
      for (let k = 0; k < want.length; k++) {
        const x = Number(got[k]), y = Number(want[k]);
        const least = typeof scale === "number" ? scale : scale(Number(inputs[0]?.[k]));
        const same = x === y || (Number.isNaN(x) && Number.isNaN(y));
        const near = isFloat(decl.dtype) &&
          Math.abs(x - y) <= ulps * ulpOf(Math.max(Math.abs(y), least), decl.dtype);
        const from = inputs.map((array) => array[k]).join(", ");
        assert(same || near, `${label}: element ${k} (${from}) is ${x}, expected ${y}`);
      }
    });
  }
}

const FLOATS = [
  0,
  -0,
  0.5,
  -0.5,
  1,
  -1,
  1.5,
  2.5,
  -2.5,
  3,
  0.01,
  -7.25,
  20,
  1e-3,
  1e-20,
  3e-39,
  87.5,
  1e9,
  NaN,
]
  .concat([Infinity, -Infinity]);
const SPREAD = FLOATS.concat(
  Array.from({ length: 4000 }, (_, i) => Math.fround((i - 2000) * 0.0217 + Math.sin(i))),
)
  .concat(Array.from({ length: 830 }, (_, i) => Math.fround(10 ** (i / 10 - 44.5) * (i % 2 ? 1 : -1))));
const UNITS = SPREAD.filter((x) => Math.abs(x) <= 1);
const DOMAINS: Partial<Record<ScalarOpName, readonly number[]>> = {
  asin: UNITS,
  acos: UNITS,
  atanh: UNITS,
};

function apply<V>(o: Body<V>, op: ScalarOpName, args: readonly V[]): V {
  const [a, b = a, c = a] = args;
  assert(a !== undefined && b !== undefined && c !== undefined);
  return Reflect.apply(o[op], o, [a, b, c].slice(0, SCALAR_OPS[op].arity));
}

function columns(domain: readonly number[], arity: number): number[][] {
  const short = arity === 1 ? domain : domain.slice(0, 24);
  const n = arity === 1 ? short.length : short.length ** 2;
  const at = (i: number): number => short[i % short.length] ?? 0;
  return Array.from(
    { length: arity },
    (_, p) =>
      Array.from(
        { length: n },
        (_, i) => at(p === 0 ? i : p === 1 ? Math.floor(i / short.length) : i * 7 + 3),
      ),
  );
}

function scalarCase(name: ScalarOpName, type: ValueType, domain: readonly number[]): Case {
  const { arity } = SCALAR_OPS[name];
  const data = columns(domain, arity),
    shape = [data[0]?.length ?? 0],
    dtype: DType = resultType(name, type);
  const program = singleOp(data.map(() => ({ shape, dtype: type })), [{ shape, dtype }], (...xs) => ({
    kind: "pointwise",
    shape,
    dtype,
    element: (o, index) => apply(o, name, xs.map((x) => o.load(x, index))),
  }));
  return {
    program,
    inputs: data.map((column) => toHost(type, column)),
    label: `${name} of ${type}`,
  };
}

const NAMES = Object.keys(SCALAR_OPS).filter((n): n is ScalarOpName => n in SCALAR_OPS);
const takes = (name: ScalarOpName, ...kinds: string[]): boolean => kinds.includes(SCALAR_OPS[name].operands);

test("scalar operations on float32", () => {
  check(
    NAMES.filter((n) => takes(n, "float", "number", "any")).map((n) =>
      scalarCase(n, "float32", DOMAINS[n] ?? SPREAD)
    ),
  );
});

test("scalar operations on float64", () => {
  const names = NAMES.filter((n) => takes(n, "float", "number", "any") && n !== "floatToBits");
  check(
    names.map((n) => ({
      ...scalarCase(n, "float64", DOMAINS[n] ?? FLOATS),
      ulps: 4,
      scale: scaleOf(n, "float64"),
    })),
  );
});

/** Below which size the mathematics counts units no finer. */
function scaleOf(name: ScalarOpName, dtype: ValueType): (operand: number) => number {
  const atLeast = definitionOf(name, dtype)?.atLeast;
  if (atLeast === "one") return () => 1;
  return atLeast === "negative argument" ? (x) => Math.max(0, -x) : () => 0;
}

const INTEGERS = [0, 1, -1, 2, 3, -3, 7, -7, 31, 32, 63, 64, 100, -100, 2147483647, -2147483648];

test("selections of what functions give have no branches", () => {
  const data = FLOATS.filter((x) => Math.abs(x) > 1e-30 || x === 0), shape = [data.length];
  const soft = <V>(o: Body<V>, x: V): V => o.log1p(o.exp(o.neg(o.abs(x))));
  type Select = <V>(o: Body<V>, x: V, constant: (value: number) => V) => V;
  const selects: readonly (readonly [ValueType | "own", Select])[] = [
    ["own", (o, x, c) => o.select(o.gt(x, c(0.5)), x, soft(o, x))],
    ["own", (o, x, c) => o.select(o.gt(x, c(0.5)), o.mul(soft(o, x), soft(o, x)), c(3))],
    ["bool", (o, x, c) => o.select(o.gt(x, c(1)), o.gt(soft(o, x), c(0.1)), o.lt(x, x))],
    [
      "int64",
      (o, x, c) =>
        o.select(o.gt(x, c(-1)), o.cast(o.mul(soft(o, x), c(100)), "int64"), o.constant(-7, "int64")),
    ],
  ];
  const cases = (["float32", "float64"] as const).flatMap((type) =>
    selects.map(([result, select]): Case => {
      const dtype = result === "own" ? type : result;
      const program = singleOp([{ shape, dtype: type }], [{ shape, dtype }], (x) => ({
        kind: "pointwise",
        shape,
        dtype,
        element: (o, index) => select(o, o.load(x, index), (value) => o.constant(value, type)),
      }));
      return { label: `a selection of ${dtype} by ${type}`, inputs: [toHost(type, data)], ulps: 4, program };
    })
  );
  const seen = singleOp([{ shape: [7, 300], dtype: "float32" }], [{ shape: [7], dtype: "float32" }], (x) => ({
    kind: "reduction",
    shape: [7],
    dtype: "float32",
    op: "max",
    over: [300],
    accumulator: "float32",
    position: ([r = 0]) => r,
    element: (o, [row = 0], [r = 0]) => {
      const value = o.load(x, [row, r]), least = o.constant(-Infinity, "float32");
      return o.select(o.le(o.index(r, "int32"), o.index(row, "int32")), value, least);
    },
  }));
  const scores = Array.from({ length: 2100 }, (_, i) => Math.fround(Math.sin(i * 1.7)));
  cases.push({
    label: "a maximum of what is selected",
    inputs: [toHost("float32", scores)],
    ulps: 0,
    program: seen,
  });
  for (const { program, label } of cases) {
    assert(printProgram(generate(program, nativeTarget)).text.includes("= pick("), label);
  }
  check(cases);
});

test("scalar operations on integers and bool", () => {
  const cases: Case[] = [];
  for (const name of NAMES) {
    if (takes(name, "integer", "number", "any", "bits")) {
      const domain = name === "pow" ? [0, 1, 2, 3, -2, -1, 5] : INTEGERS;
      for (const type of ["int32", "int64"] as const) cases.push(scalarCase(name, type, domain));
    }
    if (takes(name, "any", "bits") && name !== "shl" && name !== "shr") {
      cases.push(scalarCase(name, "bool", [0, 1]));
    }
    if (takes(name, "random", "word")) cases.push(scalarCase(name, "int32", INTEGERS));
  }
  check(cases);
});

test("loads, casts and stores of every type, transposed", () => {
  const cases: Case[] = [];
  for (const from of REAL_DTYPES) {
    for (const to of REAL_DTYPES) {
      const shape = [3, 37];
      const values = Array.from({ length: 111 }, (_, i) => {
        if (from === "bool") return i % 3 === 0 ? 1 : 0;
        return from === "uint8" ? i * 2 : (i - 50) * (isFloat(from) ? 1.75 : 3);
      });
      const program = singleOp([{ shape, dtype: from, strides: [1, 3] }], [{ shape, dtype: to }], (x) => ({
        kind: "pointwise",
        shape,
        dtype: to,
        element: (o, index) => o.cast(o.load(operand(x), index), to),
      }));
      cases.push({ program, inputs: [toHost(from, values)], label: `${from} to ${to}` });
    }
  }
  check(cases);
});

function operand(x: Operand | undefined): Operand {
  assert(x);
  return x;
}

function reduction(
  op: Extract<Lowered, { kind: "reduction" }>["op"],
  dtype: DType,
  shape: readonly number[],
  axes: readonly number[],
  strides?: readonly number[],
): Case {
  const kept = shape.filter((_, d) => !axes.includes(d)), over = axes.map((d) => shape[d] ?? 1);
  const position = op === "argmax" || op === "argmin";
  const accumulator: DType = op === "any" || op === "all" ? "bool" : dtype;
  const result: TestOperand = { shape: kept, dtype: position ? "int64" : accumulator };
  const count = shape.reduce((a, b) => a * b, 1);
  const input: TestOperand = strides ? { shape, dtype, strides } : { shape, dtype };
  const program = singleOp([input], [result], (x) => ({
    kind: "reduction",
    shape: kept,
    dtype: result.dtype,
    op,
    over,
    accumulator,
    position: (r) => r[0] ?? 0,
    element: (o, index, reduced) => {
      let i = 0, r = 0;
      const at = shape.map((_, d) => (axes.includes(d) ? reduced[r++] : index[i++]) ?? 0);
      const value = o.load(operand(x), at);
      return accumulator === dtype ? value : o.cast(value, accumulator);
    },
  }));
  const values = Array.from({ length: count }, (_, i) => {
    if (op === "prod" && isFloat(dtype)) return 1 + Math.sin(i * 1.7) * 0.01;
    if (op === "any" || op === "all") return (i * 7) % 11 === 0 === (op === "any") ? 1 : 0;
    return isFloat(dtype) ? Math.fround(Math.sin(i * 1.7) * 2) : i * 7919 % 251;
  });
  if (isFloat(dtype) && (op === "max" || op === "min" || position) && count > 50) values[37] = NaN;
  const label = `${op} of ${dtype} [${shape}] over ${axes}`;
  // Rounding errors of a sum go as the root of their number, in whatever order it is taken
  const judged = op === "sum"
    ? { ulps: 4, scale: Math.sqrt(axes.reduce((n, d) => n * (shape[d] ?? 1), 1)) }
    : { ulps: 60, scale: 1 };
  return { program, inputs: [toHost(dtype, values)], ...judged, label };
}

test("reductions of rows, columns, middles and everything", () => {
  const cases: Case[] = [];
  for (const op of ["sum", "prod", "max", "min", "argmax", "argmin", "any", "all"] as const) {
    for (const dtype of ["float32", "float64", "int64", "int32"] as const) {
      const position = op.startsWith("arg");
      // the layouts differ in the loops, the types only in what they do: not all pairs are needed
      if (dtype !== "float32") {
        cases.push(reduction(op, dtype, [7, 300], [1]), reduction(op, dtype, [300, 7], [0]));
        continue;
      }
      for (
        const [shape, axes] of [[[7, 300], [1]], [[300, 7], [0]], [[5, 3], [1]], [[3, 50, 40], [1]]] as const
      ) {
        cases.push(reduction(op, dtype, shape, axes));
      }
      if (!position) {
        cases.push(reduction(op, dtype, [70, 3, 20], [0, 2]), reduction(op, dtype, [31, 17], [0, 1]));
      }
      cases.push(
        reduction(op, dtype, [300, 7], [1], [1, 300]),
        reduction(op, dtype, [4, 0], [1]),
        reduction(op, dtype, [513], [0]),
      );
    }
  }
  check(cases);
});

test("reductions of very many elements, in chunks", () => {
  check([
    reduction("sum", "float32", [200001], [0]),
    reduction("max", "float32", [300, 700], [0, 1], [1, 300]),
    reduction("sum", "int64", [100000], [0]),
    reduction("any", "int32", [100000], [0]),
    reduction("argmin", "float32", [100000], [0]),
  ]);
});

test("running sums, masks and scatters", () => {
  const cases: Case[] = [];
  const data = Array.from({ length: 600 }, (_, i) => Math.fround(Math.sin(i)));
  for (const dim of [0, 1]) {
    const shape = [20, 30];
    cases.push({
      label: `cumsum over ${dim}`,
      ulps: 60,
      scale: 1,
      inputs: [toHost("float32", data)],
      program: singleOp([{ shape, dtype: "float32" }], [{ shape, dtype: "float32" }], (x) => ({
        kind: "scan",
        shape,
        dtype: "float32",
        dim,
        initial: 0,
        element: (o, index) => o.load(operand(x), index),
        combine: (o, before, value) => o.add(before, value),
      })),
    });
  }
  const padded = [22, 33];
  cases.push({
    label: "pad",
    inputs: [toHost("float32", data)],
    program: singleOp(
      [{ shape: [20, 30], dtype: "float32" }],
      [{ shape: padded, dtype: "float32" }],
      (x) => ({
        kind: "pointwise",
        shape: padded,
        dtype: "float32",
        element: (o, [i = 0, j = 0]) => {
          const row = o.index(i, "int64"), column = o.index(j, "int64");
          const inside = o.and(o.lt(row, o.constant(20, "int64")), o.lt(column, o.constant(30, "int64")));
          return o.masked(inside, () => o.load(operand(x), [i, j]), o.constant(-1, "float32"));
        },
      }),
    ),
  });
  for (const mode of ["add", "set"] as const) {
    cases.push({
      label: `scatter ${mode}`,
      inputs: [
        toHost("float32", data),
        toHost("int64", data.map((_, i) => mode === "add" ? i * 7 % 10 : i * 7 % 601)),
      ],
      program: singleOp(
        [{ shape: [600], dtype: "float32" }, { shape: [600], dtype: "int64" }],
        [{ shape: [601], dtype: "float32" }],
        (values, targets) => ({
          kind: "scatter",
          shape: [601],
          dtype: "float32",
          base: (o) => o.constant(1, "float32"),
          over: [600],
          mode,
          target: (o, position) => [o.indirect(o.load(operand(targets), position), 601)],
          value: (o, position) => o.load(operand(values), position),
        }),
      ),
      ulps: 4,
    });
  }
  cases.push({
    label: "gather",
    inputs: [toHost("float32", data), toHost("int32", Array.from({ length: 50 }, (_, i) => i * 13 % 20))],
    program: singleOp(
      [{ shape: [20, 30], dtype: "float32" }, { shape: [50], dtype: "int32" }],
      [{ shape: [50, 30], dtype: "float32" }],
      (table, rows) => ({
        kind: "pointwise",
        shape: [50, 30],
        dtype: "float32",
        element: (o, [i = 0, j = 0]) =>
          o.load(operand(table), [o.indirect(o.load(operand(rows), [i]), 20), j]),
      }),
    ),
  });
  check(cases);
});

test("library calls of all types", () => {
  const cases: Case[] = [];
  const fill = (t: TestOperand, seed = 0.9): HostArray =>
    toHost(
      t.dtype,
      Array.from({ length: t.shape.reduce((a, b) => a * b, 1) }, (_, i) =>
        isFloat(t.dtype) ? Math.fround(Math.cos(i * seed)) : i % 13 - 6),
    );
  for (const dtype of ["float32", "float64", "int64"] as const) {
    for (const [batch, m, n, k] of [[[], 5, 7, 3], [[2], 65, 70, 33], [[3, 2], 1, 130, 17]] as const) {
      const a = { shape: [...batch, m, k], dtype },
        b = { shape: [...batch, k, n], dtype },
        out = { shape: [...batch, m, n], dtype };
      cases.push({
        label: `matmul ${dtype} ${out.shape}`,
        ulps: 60,
        scale: 1,
        inputs: [fill(a), fill(b, 0.7)],
        program: libraryCall({ op: "matmul", accumulate: false }, [a, b], [out]),
      });
    }
  }
  const geometry = { stride: [2, 1], padding: [1, 0], dilation: [1, 2], groups: 2 } as const;
  const input = { shape: [2, 4, 6, 7], dtype: "float32" as const },
    weight = { shape: [6, 2, 3, 2], dtype: "float32" as const };
  const out = { shape: [2, 6, 3, 5], dtype: "float32" as const };
  const kinds = [["convForward", input, weight, out], ["convBackwardInput", out, weight, input], [
    "convBackwardWeight",
    out,
    input,
    weight,
  ]] as const;
  for (const [op, a, b, result] of kinds) {
    cases.push({
      label: op,
      ulps: 60,
      scale: 1,
      inputs: [fill(a), fill(b, 0.7)],
      program: libraryCall({ op, ...geometry }, [a, b], [result]),
    });
  }
  for (const dtype of REAL_DTYPES.filter((each) => !isSmall(each))) {
    for (const descending of [false, true]) {
      const rows = { shape: [3, 90], dtype };
      const values = Array.from(
        { length: 270 },
        (_, i) => dtype === "bool" ? i % 2 : (i * 37 % 50) - 20,
      );
      if (isFloat(dtype)) values[5] = values[100] = values[101] = NaN;
      const results = [rows, { shape: [3, 90], dtype: "int64" as const }];
      cases.push({
        label: `sort ${dtype} ${descending ? "down" : "up"}`,
        inputs: [toHost(dtype, values)],
        program: libraryCall({ op: "sort", descending }, [rows], results),
      });
    }
  }
  // Most have a library of their own
  check(sampleBySeed(cases, 5));
});

/** relu(result · scale[column] + row), as an epilogue over a result whose last dimensions are (rows, columns). */
function withEpilogue(program: Program, shape: readonly number[]): Program {
  const [result = 0] = program.outputs;
  const kernel = program.kernels[0];
  assert(kernel?.kind === "extern");
  const columns = shape.at(-1) ?? 1;
  const buffers = [
    ...program.buffers.map((b, id) =>
      id === result ? { ...b, role: { kind: "temporary", offset: 0 } as const } : b
    ),
    { name: "scale", dtype: "float32", length: columns, role: { kind: "input", written: false } } as const,
    {
      name: "final",
      dtype: "float32",
      length: shape.reduce((a, b) => a * b, 1),
      role: { kind: "output" },
    } as const,
  ];
  const axes = axesOf(shape), recorder = new Recorder(loadBufferOperand, new ValueIds());
  const strides = contiguousStrides(shape).map(Number), index = axes.map((a) => a.symbol);
  const at = flatIndex({ offset: 0, strides }, index), last = index.at(-1) ?? 0;
  const scaled = recorder.mul(
    recorder.loadBuffer(result, at, "float32"),
    recorder.loadBuffer(buffers.length - 2, last, "float32"),
  );
  const sum = recorder.add(scaled, recorder.index(index[index.length - 2] ?? 0, "float32"));
  recorder.store({ buffer: buffers.length - 1, dtype: "float32" }, at, {
    value: recorder.maximum(sum, recorder.constant(0, "float32")),
  });
  const body = wrapLoops(axes, recorder.statements);
  const arenaBytes = shape.reduce((a, b) => a * b, 4);
  return {
    ...program,
    buffers,
    inputs: [...program.inputs, buffers.length - 2],
    outputs: [buffers.length - 1],
    arenaBytes: Math.ceil(arenaBytes / 64) * 64,
    kernels: [{ ...kernel, epilogue: { kind: "loops", name: "epilogue", body, origins: [] } }],
  };
}

test("epilogues of matrix products and convolutions", () => {
  const values = (shape: readonly number[], seed: number): HostArray =>
    toHost(
      "float32",
      Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.fround(Math.cos(i * seed))),
    );
  const f32 = "float32" as const;
  for (
    const [batch, m, n, k] of sampleBySeed(
      [[[], 150, 130, 40], [[], 1, 300, 500], [[], 300, 1, 20], [[3], 20, 70, 33], [
        [2, 3],
        9,
        10,
        8,
      ]] as const,
      1,
    )
  ) {
    const a = { shape: [...batch, m, k], dtype: f32 }, b = { shape: [...batch, k, n], dtype: f32 };
    const out = { shape: [...batch, m, n], dtype: f32 };
    const plain = libraryCall({ op: "matmul", accumulate: false }, [a, b], [out]);
    const inputs = [values(a.shape, 0.9), values(b.shape, 0.7), values([n], 0.3)];
    check([{
      program: withEpilogue(plain, out.shape),
      inputs,
      ulps: 60,
      scale: 1,
      label: `matmul ${out.shape}`,
    }]);
  }
  const geometry = { stride: [1, 1], padding: [1, 1], dilation: [1, 1], groups: 1 } as const;
  const x = { shape: [3, 5, 20, 21], dtype: f32 },
    w = { shape: [10, 5, 3, 3], dtype: f32 },
    y = { shape: [3, 10, 20, 21], dtype: f32 };
  const convolutions = [["convForward", x, y], ["convBackwardInput", y, x]] as const;
  for (const [op, first, result] of sampleBySeed(convolutions, 1)) {
    const plain = libraryCall({ op, ...geometry }, [first, w], [result]);
    const inputs = [values(first.shape, 0.9), values(w.shape, 0.7), values([21], 0.3)];
    check([{ program: withEpilogue(plain, result.shape), inputs, ulps: 60, scale: 1, label: op }]);
  }
});

test("sizes known only in the call, in kernels, arenas and library calls", () => {
  const n = sizeLike("n", 64, [1, 1 << 20]), f32 = "float32" as const;
  // t = x·x (n × 8), y[i] = Σ_j exp(t[i, j]) + n
  const [i] = axesOf([n]), [j] = axesOf([8], "j");
  assert(i && j);
  const recorder = new Recorder(loadBufferOperand, new ValueIds());
  const { statements, result } = recorder.nested(() =>
    recorder.exp(recorder.loadBuffer(1, flatIndex({ offset: 0, strides: [8, 1] }, [i.symbol, j.symbol]), f32))
  );
  const id = recorder.ids.next();
  const reductions = [{ id, op: "sum", value: result.id, dtype: f32 }] as const;
  recorder.push({
    kind: "loop",
    axis: j,
    order: "reduction",
    vector: false,
    body: statements,
    reductions,
    carried: [],
  });
  recorder.store({ buffer: 2, dtype: f32 }, i.symbol, {
    value: recorder.add({ id, dtype: f32 }, recorder.index(n, f32)),
  });
  const view = (buffer: number, shape: readonly Dim[], strides: readonly Dim[]) => ({
    buffer,
    offset: 0,
    shape,
    strides,
  });
  const program: Program = {
    name: "dynamic",
    buffers: [
      { name: "x", dtype: f32, length: mul(n, 8), role: { kind: "input", written: false } },
      { name: "t", dtype: f32, length: mul(n, 8), role: { kind: "temporary", offset: 64 } },
      { name: "y", dtype: f32, length: n, role: { kind: "output" } },
      { name: "w", dtype: f32, length: 64, role: { kind: "input", written: false } },
    ],
    inputs: [0, 3],
    outputs: [2],
    sizes: [n],
    arenaBytes: add(mul(n, 32), 64),
    kernels: [
      {
        kind: "extern",
        name: "product",
        call: { op: "matmul", accumulate: false },
        inputs: [view(0, [n, 8], [8, 1]), view(3, [8, 8], [1, 8])],
        outputs: [view(1, [n, 8], [8, 1])],
        origins: [],
      },
      { kind: "loops", name: "sums", body: wrapLoops([i], recorder.statements), origins: ["here"] },
    ],
  };
  verifyProgram(program);
  const compiled = compileNative(program);
  for (const size of [1, 17, 40000]) {
    const x = Float32Array.from({ length: size * 8 }, (_, k) => Math.sin(k)),
      w = Float32Array.from({ length: 64 }, (_, k) => Math.cos(k) / 4);
    const expected = new Float32Array(size);
    interpret(program, { inputs: [x, w], outputs: [expected], sizes: [size] });
    const [mx, mw, my] = [memoryOf(x.byteLength), memoryOf(256), memoryOf(size * 4)];
    floatsOf(mx).set(x);
    floatsOf(mw).set(w);
    compiled.run({ inputs: [mx, mw], outputs: [my], sizes: [size] });
    for (let k = 0; k < size; k++) {
      const got = floatsOf(my)[k] ?? NaN, want = expected[k] ?? 0;
      assert(
        Math.abs(got - want) <= 8 * ulpOf(want, f32),
        `n = ${size}: element ${k} is ${got}, expected ${want}`,
      );
    }
  }
});

Deno.test("cpu: positions that lanes divide are those of each lane, though the first one divides for all of them", () => {
  const random = randomNumbers(testSeed()), below = (n: number) => Math.floor(random() * n);
  const [i, j, k] = symbolsOf(axesOf([1 << 20, 64, 9])), [lane] = freeSymbols(i ?? 0);
  assert(i !== undefined && j !== undefined && k !== undefined && lane);
  const factor = () => [16, 48, 1024, 1, 24][below(5)] ?? 1;
  /** A sum of the lane, most often as it is, and of multiples of others. */
  const dividend = (): Dim => {
    const own = mul(below(6) > 0 ? 1 : factor(), i), others = add(mul(factor(), j), mul(factor(), k));
    const inside = below(4) === 0 ? mul(factor(), floorDiv(i, factor())) : 0;
    return add(add(own, below(3) > 0 ? others : 0), add(inside, below(3) === 0 ? factor() - 1024 : 0));
  };
  const divided = (): Dim => (below(2) > 0 ? floorDiv : mod)(dividend(), factor());
  const names = new Map([i, j, k].map((symbol, at) => [symbol, "ijk"[at] ?? ""]));
  const big = (value: number) => BigInt(value), floored = (a: bigint, b: bigint) => (a - (a % b + b) % b) / b;
  let first = 0;
  for (let left = 400; left > 0; left--) {
    const d = add(mul(factor(), divided()), below(2) > 0 ? mul(factor(), divided()) : i);
    const text = printIndex(d, (s) => names.get(s) ?? "", { axis: lane, first: "b", lane: "l" });
    if (/\bb\b/.test(text)) first++;
    const inJs = text.replace(/\((?:long|unsigned)\) ?/g, "").replace(/\b(\d+)[uL]?\b/g, "$1n");
    const run = new Function("i", "j", "k", "b", "l", "index_div", "index_mod", `return ${inJs};`);
    const b = 16 * below(60_000), others = [below(64), below(9)];
    for (let l = 0; l < 16; l++) {
      const at = [b + l, ...others, b, l].map(big);
      const got = run(...at, floored, (a: bigint, n: bigint) => a - floored(a, n) * n);
      const values = new Map([[i, b + l], [j, others[0] ?? 0], [k, others[1] ?? 0]]);
      assertEquals(Number(got), evaluate(d, (s) => values.get(s) ?? 0), `${text} at ${at}`);
    }
  }
  assert(first > 40, `${first} of 400`);
});

Deno.test("the greatest of many sizes names each once, also where sizes repeat", () => {
  const sizes = Array.from(
    { length: 60 },
    (_, k) => sizeLike(`s${k}`, 64, [0, 2 ** 31]),
  );
  const all = sizes.map((size, k) => add(mul(size, k + 2), k));
  for (const [choose, name] of [[max, "index_max"], [min, "index_min"]] as const) {
    const chosen = all.reduce((most, each) => choose(choose(most, each), each), all[0] ?? 0);
    const text = printIndex(chosen, () => "s");
    assertEquals([text.split("s *").length - 1, text.split(name).length - 1], [62, 58]);
    assert(choose(chosen, all[30] ?? 0) === chosen && choose(all[59] ?? 0, chosen) === chosen);
  }
});

// Each has a file of C++ compiled, which takes longer than the comparison
for (const each of sampleBySeed(tests, 3)) Deno.test(each);

Deno.test({
  name: "cpu: results that the caches have lost are written past them, with the same bits",
  ignore: SKIP_NATIVE,
  fn: () => {
    const whole = { shape: [2 ** 18 + 5], strides: [1] }, rows = { shape: [264, 1001], strides: [1008, 1] };
    const toAnother = (to: DType, { shape, strides }: typeof whole): Program =>
      singleOp([{ shape, strides, dtype: "float32" }], [{ shape, dtype: to }], (x) => ({
        kind: "pointwise",
        shape,
        dtype: to,
        element: (o, index) => o.cast(o.add(o.load(operand(x), index), o.constant(0.5, "float32")), to),
      }));
    const program = mergePrograms([
      toAnother("float32", whole),
      toAnother("float64", whole),
      toAnother("uint8", whole),
      toAnother("bfloat16", whole),
      toAnother("float32", rows),
    ]);
    const { text } = printProgram(generate(program, nativeTarget));
    for (const bytes of [64, 128]) assertStringIncludes(text, `stream<${bytes}>`);
    assertEquals(text.match(/ {2}stream</g)?.length, program.kernels.length);
    const native = compileNative(program), hostPool = new MemoryPool("cpu");
    const memories = (ids: readonly number[]): HostMemory[] =>
      ids.map((id) => {
        const { length, dtype } = program.buffers[id] ?? {};
        assert(typeof length === "number" && dtype);
        return hostPool.allocate(length * itemSize(dtype));
      });
    const inputs = memories(program.inputs);
    for (const each of inputs) {
      floatsOf(each).forEach((_, i, all) => all[i] = (i % 509) / 4);
    }
    // Half of what the cores of any machine can count on
    const share = navigator.hardwareConcurrency * 2 ** 23;
    const [near, far] = [0, share].map((away) => {
      const outputs = memories(program.outputs);
      for (const { block, uint8 } of outputs) {
        uint8.fill(0);
        block.size = away > 0 ? share : 64;
        block.away = away;
        assertEquals(isFar(block), away > 0);
        block.away = away;
      }
      native.run({ inputs, outputs, sizes: [] });
      // Others may have the memory from here on
      return outputs.map(({ uint8 }) => uint8.slice());
    });
    assert(far?.every((bytes, i) => bytes.every((each, k) => each === near?.[i]?.[k])));
    assert(far?.every((bytes) => bytes.some((each) => each !== 0)));
  },
});
