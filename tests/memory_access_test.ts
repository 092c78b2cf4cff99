/**
 * Every form in which a loop reads and writes memory, in WebAssembly and in C++, against the reference interpreter:
 * element type × step × length × offset × masked or not, along the lanes and not. Values are moved, not computed,
 * so that every element must be equal.
 */
import { assert, assertEquals } from "@std/assert";
import { type DType, type HostArray, hostArray, itemSize, REAL_DTYPES } from "../lib/base/dtype.ts";
import type { Body } from "../lib/loops/body.ts";
import type { Program } from "../lib/loops/ir.ts";
import { add, type Dim, mul } from "../lib/sym/expr.ts";
import { compileNative } from "../backends/cpu/native_program.ts";
import { toolchainStatus } from "../backends/cpu/toolchain.ts";
import { HostMemory } from "../backends/cpu/host_memory.ts";
import { interpret } from "./reference/interpret.ts";
import { compileToWasm } from "../backends/wasm/program.ts";
import { ThreadPool } from "../backends/wasm/threads.ts";
import { toHost } from "./support/compare.ts";
import "./support/turns/ops.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { mergePrograms } from "./support/merge.ts";
import { singleOp, vectorised } from "./support/single_op.ts";
import { sampleBySeed } from "./support/sampling.ts";

interface Case {
  readonly label: string;
  readonly program: Program;
  readonly inputs: readonly HostArray[];
}

/** The element of a walk through memory: never before its beginning. */
function walk(i: Dim, step: number, { offset, length }: { offset: number; length: number }): Dim {
  return add(mul(i, step), offset + Math.max(0, -step) * (length - 1));
}

const extent = (step: number, length: number, offset: number) => offset + Math.abs(step) * (length - 1) + 1;

/** Elements of a type that differ from their neighbours, wherever a wrong width or step would look. */
function elements(dtype: DType, count: number): HostArray {
  return toHost(
    dtype,
    Array.from({ length: count }, (_, k) => {
      if (dtype === "bool") return (k * k + (k >> 2)) % 3 === 0 ? 1 : 0;
      const value = (k * 37 + 11) % 101;
      return dtype === "uint8" ? value : value - 50;
    }),
  );
}

/** `body()` for three of eight positions, else nothing is read. */
function sometimes<V>(
  o: Body<V>,
  i: Dim,
  { masked, dtype }: { readonly masked: boolean; readonly dtype: DType },
  body: () => V,
): V {
  if (!masked) return body();
  const bits = o.and(o.index(mul(i, 3), "int32"), o.constant(7, "int32"));
  return o.masked(o.gt(bits, o.constant(4, "int32")), body, o.constant(dtype === "bool" ? true : 1, dtype));
}

interface Form {
  readonly dtype: DType;
  readonly step: number;
  readonly length: number;
  readonly offset: number;
  readonly masked: boolean;
}

const text = ({ dtype, step, length, offset, masked }: Form) =>
  `${dtype} step ${step} length ${length} offset ${offset}${masked ? " masked" : ""}`;

/** A strided read, stored densely. */
function reading(form: Form): Case {
  const { dtype, step, length, offset } = form, count = extent(step, length, offset);
  const program = singleOp([{ shape: [count], dtype }], [{ shape: [length], dtype }], (x) => ({
    kind: "pointwise",
    shape: [length],
    dtype,
    element: (o, [i = 0]) => sometimes(o, i, form, () => x ? o.load(x, [walk(i, step, form)]) : missing()),
  }));
  return { label: `read ${text(form)}`, program, inputs: [elements(dtype, count)] };
}

/** A strided read of integers that are compared. */
function comparing(form: Form): Case {
  const { step, length, offset } = form, dtype = "int64", count = extent(step, length, offset);
  const program = singleOp([{ shape: [count], dtype }], [{ shape: [length], dtype: "bool" }], (x) => ({
    kind: "pointwise",
    shape: [length],
    dtype: "bool",
    element: (o, [i = 0]) =>
      sometimes(
        o,
        i,
        { ...form, dtype: "bool" },
        () => x ? o.lt(o.load(x, [walk(i, step, form)]), o.constant(3, dtype)) : missing(),
      ),
  }));
  return { label: `compare ${text(form)}`, program, inputs: [elements(dtype, count)] };
}

/** A strided read of integers that are positions in a table. */
function picking(form: Form): Case {
  const { dtype, step, length, offset } = form, count = extent(step, length, offset), size = 101;
  const program = singleOp(
    [{ shape: [count], dtype }, { shape: [size], dtype: "float32" }],
    [{ shape: [length], dtype: "float32" }],
    (x, table) => ({
      kind: "pointwise",
      shape: [length],
      dtype: "float32",
      element: (o, [i = 0]) =>
        sometimes(
          o,
          i,
          { ...form, dtype: "float32" },
          () => x && table ? o.load(table, [o.indirect(o.load(x, [walk(i, step, form)]), size)]) : missing(),
        ),
    }),
  );
  const positions = toHost(dtype, Array.from({ length: count }, (_, k) => (k * 37 + 11) % size));
  return { label: `pick by ${text(form)}`, program, inputs: [positions, elements("float32", size)] };
}

/** Dense values, written apart: what lies between stays 0. */
function writing(form: Form, mode: "set" | "add"): Case {
  const { dtype, step, length, offset } = form, count = extent(step, length, offset);
  const program = singleOp([{ shape: [length], dtype }], [{ shape: [count], dtype }], (x) => ({
    kind: "scatter",
    shape: [count],
    dtype,
    base: (o) => o.constant(dtype === "bool" ? false : 0, dtype),
    over: [length],
    mode,
    target: (_, [i = 0]) => [walk(i, step, form)],
    value: (o, [i = 0]) => sometimes(o, i, form, () => x ? o.load(x, [i]) : missing()),
  }));
  return { label: `${mode} ${text(form)}`, program, inputs: [elements(dtype, length)] };
}

function missing(): never {
  throw new Error("Expected an operand");
}

/** Cases that are combined with every type, masked and not. */
interface Extent {
  readonly steps: readonly number[];
  readonly lengths: readonly number[];
  readonly offsets: readonly number[];
}

function* forms({ steps, lengths, offsets }: Extent): Generator<Form> {
  for (const dtype of REAL_DTYPES) {
    for (const step of steps) {
      for (const length of lengths) {
        for (const offset of offsets) {
          for (const masked of [false, true]) yield { dtype, step, length, offset, masked };
        }
      }
    }
  }
}

function allCases(extent: Extent): Case[] {
  const cases: Case[] = [];
  for (const form of forms(extent)) {
    cases.push(reading(form));
    if (form.dtype === "int64") cases.push(comparing(form));
    if (["int64", "int32", "uint8"].includes(form.dtype)) cases.push(picking(form));
    if (form.step !== 0) cases.push(writing(form, "set"));
    cases.push(writing(form, "add"));
  }
  return cases;
}

type Run = (program: Program, inputs: readonly HostArray[], outputs: readonly HostArray[]) => void;

function memoryOf(array: HostArray): HostMemory {
  assert(array.buffer instanceof ArrayBuffer);
  return new HostMemory("cpu", array.buffer);
}

function outputsOf({ outputs, buffers }: Program): HostArray[] {
  return outputs.map((id) => {
    const decl = buffers[id];
    assert(decl && typeof decl.length === "number");
    const bytes = Math.ceil(decl.length * itemSize(decl.dtype) / 64) * 64;
    return hostArray(decl.dtype, new ArrayBuffer(bytes), { length: decl.length });
  });
}

/** Runs programs as one; says which of them part from the reference. */
function differences(cases: readonly Case[], run: Run): string[] {
  const merged = mergePrograms(cases.map((c) => c.program));
  const found = outputsOf(merged);
  run(merged, cases.flatMap((c) => c.inputs), found);
  return cases.flatMap(({ label, program, inputs }, k) => {
    const expected = outputsOf(program);
    interpret(program, { inputs, outputs: expected });
    return `${found[k]}` === `${expected[0]}` ? [] : [`${label}: ${found[k]}, expected ${expected[0]}`];
  });
}

const inLanes = (each: Case): Case => ({
  ...each,
  label: `${each.label}, lanes`,
  program: vectorised(each.program, "innermost"),
});

Deno.test("every form of memory access, in WebAssembly", () => {
  const pool = new ThreadPool(1);
  const plain = allCases({ steps: [1, 2, 3, 5, -1, 0], lengths: [1, 3, 4, 21], offsets: [0, 3] });
  const cases = plain.flatMap((each) => [each, inLanes(each)]);
  for (let k = 0; k < cases.length; k += 200) {
    const part = cases.slice(k, k + 200);
    const run: Run = (program, inputs, outputs) => {
      const compiled = compileToWasm(program, pool);
      compiled.run({ inputs: inputs.map(memoryOf), outputs: outputs.map(memoryOf), sizes: [] });
    };
    assertEquals(differences(part, run), []);
  }
});

testInTurn("memory access in C++", {
  name: "every form of memory access, in C++",
  ignore: toolchainStatus().kind !== "ready",
  fn: () => {
    const run: Run = (program, inputs, outputs) =>
      compileNative(program).run({
        inputs: inputs.map(memoryOf),
        outputs: outputs.map(memoryOf),
        sizes: [],
      });
    const every = allCases({ steps: [1, 2, 5, -1, 0], lengths: [21], offsets: [3] });
    const cases = sampleBySeed(every, every.length >> 1);
    assertEquals(differences(cases.map(inLanes), run), []);
  },
});
