/**
 * Every scalar operation, conversion and reduction on every element type as WebAssembly, against the reference
 * interpreter: special values in all pairs, strides, every length of a tail. Exact operations must be equal;
 * mathematics is compared with the same statements of its function.
 */
import { assert, assertEquals } from "@std/assert";
import { toBfloat16 } from "../lib/base/bfloat16.ts";
import {
  type DType,
  type HostArray,
  hostArray,
  isFloat,
  itemSize,
  REAL_DTYPES,
  type RealType,
  type ValueType,
  valueType,
} from "../lib/base/dtype.ts";
import type { Lowered, Operand } from "../lib/loops/body.ts";
import type { Program, ReductionOp } from "../lib/loops/ir.ts";
import { admits, resultType, SCALAR_OPS, type ScalarOpName } from "../lib/loops/scalar.ts";
import { mul } from "../lib/sym/expr.ts";
import { compileNative } from "../backends/cpu/native_program.ts";
import { HostMemory } from "../backends/cpu/host_memory.ts";
import { toolchainStatus } from "../backends/cpu/toolchain.ts";
import { interpret } from "./reference/interpret.ts";
import { compileToWasm } from "../backends/wasm/program.ts";
import { ThreadPool } from "../backends/wasm/threads.ts";
import { expanded } from "./support/expanded.ts";
import { mergePrograms } from "./support/merge.ts";
import { sampleBySeed } from "./support/sampling.ts";
import { libraryCall, singleOp, vectorised } from "./support/single_op.ts";
import { orderedNumbers, SPECIAL } from "./support/special_numbers.ts";

const POOL = new ThreadPool(1);
const VALUE_TYPES = REAL_DTYPES.map(valueType).filter((dtype, k, all) => all.indexOf(dtype) === k);

/** A host array of values, and room behind it as memories have it. */
function hostOf(dtype: DType, values: readonly (number | bigint)[]): HostArray {
  const bytes = Math.ceil(values.length * itemSize(dtype) / 64) * 64;
  const array = hostArray(dtype, new ArrayBuffer(bytes), { length: values.length });
  values.forEach((v, i) => {
    if (array instanceof BigInt64Array) array[i] = BigInt(v);
    else array[i] = dtype === "bfloat16" ? toBfloat16(Number(v)) : Number(v);
  });
  return array;
}

interface Case {
  readonly label: string;
  readonly program: Program;
  readonly inputs: readonly HostArray[];
}

type Run = (program: Program, inputs: readonly HostArray[], outputs: readonly HostArray[]) => void;

function memoryOf(array: HostArray): HostMemory {
  assert(array.buffer instanceof ArrayBuffer);
  return new HostMemory("cpu", array.buffer);
}

const onWasm = (fuses: boolean): Run => (program, inputs, outputs) => {
  const call = { inputs: inputs.map(memoryOf), outputs: outputs.map(memoryOf), sizes: [] };
  compileToWasm(program, POOL, { fuses }).run(call);
};
const native: Run = (program, inputs, outputs) => {
  compileNative(program).run({ inputs: inputs.map(memoryOf), outputs: outputs.map(memoryOf), sizes: [] });
};
const reference: Run = (program, inputs, outputs) => interpret(expanded(program), { inputs, outputs });

function outputsOf({ outputs, buffers }: Program): HostArray[] {
  return outputs.map((id) => {
    const decl = buffers[id];
    assert(decl && typeof decl.length === "number");
    return hostOf(decl.dtype, new Array<number>(decl.length).fill(0));
  });
}

/** Runs programs as one, two ways; says which elements differ: NaN equals NaN, and −0 is not 0. */
function differences(cases: readonly Case[], [run, expected]: readonly [Run, Run]): string[] {
  const merged = mergePrograms(cases.map((c) => c.program)), inputs = cases.flatMap((c) => c.inputs);
  const [found, wanted] = [outputsOf(merged), outputsOf(merged)];
  run(merged, inputs, found);
  expected(merged, inputs, wanted);
  return cases.flatMap(({ label }, k) => {
    const [got = hostOf("bool", []), want = got] = [found[k], wanted[k]];
    const at = [...got].findIndex((x, i) => !Object.is(x, want[i]));
    return at < 0 ? [] : [`${label}: element ${at} is ${got[at]}, expected ${want[at]}`];
  });
}

const inLanes = (each: Case): Case => ({
  ...each,
  label: `${each.label}, lanes`,
  program: vectorised(each.program, "innermost"),
});

/** Runs many cases in parts. */
function check(cases: readonly Case[], runs: readonly [Run, Run]): void {
  const failures: string[] = [];
  for (let k = 0; k < cases.length; k += 100) failures.push(...differences(cases.slice(k, k + 100), runs));
  assertEquals(failures, []);
}

/** A pointwise program over operands read at a step. */
function pointwise(
  operands: readonly DType[],
  result: DType,
  { length, step, element }: {
    readonly length: number;
    readonly step: number;
    readonly element: (...args: Parameters<typeof elementOf>) => ReturnType<typeof elementOf>;
  },
): Program {
  const count = step * (length - 1) + 1;
  return singleOp(
    operands.map((dtype) => ({ shape: [count], dtype })),
    [{ shape: [length], dtype: result }],
    (...xs) => element(xs, { length, step, result }),
  );
}

interface Form {
  readonly length: number;
  readonly step: number;
  readonly result: DType;
}

/** Returns the result of an operation on its operands. */
const elementOf = (
  xs: readonly Operand[],
  { length, step, result }: Form,
  op: ScalarOpName = "add",
): Lowered => ({
  kind: "pointwise",
  shape: [length],
  dtype: result,
  element: (o, [i = 0]) => Reflect.apply(o[op], o, xs.map((x) => o.load(x, [mul(i, step)]))),
});

/** All values with all others, as far as there are operands. */
function grid(dtype: RealType, arity: number, count: number): HostArray[] {
  const values = SPECIAL[dtype], n = values.length;
  return Array.from({ length: arity }, (_, p) =>
    hostOf(
      dtype,
      Array.from({ length: count }, (_, i) =>
        values[(p === 0 ? i : p === 1 ? Math.floor(i / n) + i : 7 * i + 3) % n] ?? 0),
    ));
}

/** Every length of a tail, every step, and all pairs of values. */
function* forms(
  dtype: RealType,
  arity: number,
): Generator<{ readonly length: number; readonly step: number }> {
  const all = SPECIAL[dtype].length ** Math.min(2, arity);
  yield { length: all + 3, step: 1 };
  for (let length = 1; length <= 17; length++) yield { length, step: [1, 2, 3, 5][length % 4] ?? 1 };
  for (const step of [1, 2, 3, 5]) yield { length: 21, step };
}

function operationCases(op: ScalarOpName, dtype: ValueType): Case[] {
  const { arity } = SCALAR_OPS[op], result = resultType(op, dtype);
  const operands = new Array<DType>(arity).fill(dtype);
  const make = (length: number, step: number, inputs: readonly HostArray[]): Case => ({
    label: `${op} of ${dtype}, length ${length}, step ${step}`,
    program: pointwise(operands, result, {
      length,
      step,
      element: (xs, form) => elementOf(xs, form, op),
    }),
    inputs,
  });
  const apart = [...forms(dtype, arity)].map(({ length, step }) =>
    make(length, step, grid(dtype, arity, step * (length - 1) + 1))
  );
  // The same element again and again: all lanes are equal
  const again = SPECIAL[dtype].map((value, k) =>
    make(
      7,
      0,
      operands.map((_, p) => hostOf(dtype, [SPECIAL[dtype][(k + p) % SPECIAL[dtype].length] ?? value])),
    )
  );
  return [...apart, ...again];
}

const OPERATIONS = Object.keys(SCALAR_OPS).filter((op): op is ScalarOpName => op in SCALAR_OPS);

for (const fuses of [true, false]) {
  Deno.test(`every operation on every type${fuses ? "" : ", where the engine does not round once"}`, () => {
    for (const op of sampleBySeed(OPERATIONS, OPERATIONS.length >> (fuses ? 2 : 3))) {
      for (const dtype of VALUE_TYPES) {
        if (!admits(SCALAR_OPS[op].operands, dtype)) continue;
        const plain = operationCases(op, dtype);
        check([...plain, ...plain.map(inLanes)], [onWasm(fuses), reference]);
      }
    }
  });
}

Deno.test("every selection between compared values, and 0", () => {
  const cases = VALUE_TYPES.filter((dtype) => dtype !== "bool").flatMap((dtype) =>
    (["lt", "gt", "le", "ge"] as const).flatMap((op) =>
      ["xy", "yx", "x0", "0x"].map((picked): Case => {
        const length = SPECIAL[dtype].length ** 2 + 3;
        const element = (xs: readonly Operand[]): Lowered => ({
          kind: "pointwise",
          shape: [length],
          dtype,
          element: (o, [i = 0]) => {
            const [x, y] = xs.map((each) => o.load(each, [i])), zero = o.constant(0, dtype);
            assert(x !== undefined && y !== undefined);
            const [then = x, otherwise = y] = [...picked].map((name) =>
              name === "x" ? x : name === "y" ? y : zero
            );
            return o.select(o[op](x, y), then, otherwise);
          },
        });
        return {
          label: `${picked} by ${op} of ${dtype}`,
          program: pointwise([dtype, dtype], dtype, { length, step: 1, element }),
          inputs: grid(dtype, 2, length),
        };
      })
    )
  );
  for (const fuses of [true, false]) check([...cases, ...cases.map(inLanes)], [onWasm(fuses), reference]);
});

Deno.test("every conversion", () => {
  for (const from of REAL_DTYPES) {
    for (const to of REAL_DTYPES) {
      const plain = [...forms(from, 1)].map(({ length, step }): Case => ({
        label: `${from} to ${to}, length ${length}, step ${step}`,
        program: pointwise([from], to, {
          length,
          step,
          element: ([x]) => ({
            kind: "pointwise",
            shape: [length],
            dtype: to,
            element: (o, [i = 0]) => x ? o.cast(o.load(x, [mul(i, step)]), to) : o.constant(0, to),
          }),
        }),
        inputs: grid(from, 1, step * (length - 1) + 1),
      }));
      check([...plain, ...plain.map(inLanes)], [onWasm(true), reference]);
    }
  }
});

const REDUCTIONS: readonly ReductionOp[] = ["sum", "prod", "max", "min", "any", "all", "argmax", "argmin"];

/** Returns whether a reduction is defined for a type. */
function reduces(op: ReductionOp, dtype: ValueType): boolean {
  if (op === "any" || op === "all") return dtype === "bool";
  return dtype !== "bool" || (op !== "sum" && op !== "prod");
}

/** Rows of so many elements, read at a step. */
function reductionProgram(
  { op, dtype, rows, length, step }: {
    readonly op: ReductionOp;
    readonly dtype: ValueType;
    readonly rows: number;
    readonly length: number;
    readonly step: number;
  },
): Program {
  const positional = op === "argmax" || op === "argmin", result: ValueType = positional ? "int64" : dtype;
  return singleOp([{ shape: [rows, length], dtype, strides: [length * step, step] }], [{
    shape: [rows],
    dtype: result,
  }], (x) => ({
    kind: "reduction",
    shape: [rows],
    dtype: result,
    op,
    over: [length],
    accumulator: dtype,
    element: (o, [row = 0], [k = 0]) => o.load(x, [row, k]),
    ...(positional ? { position: ([k = 0]) => k } : {}),
  }));
}

/** Small whole numbers, whose sums and products are exact in any order; some NaN. */
const small = (dtype: ValueType, k: number): number | bigint => {
  if (dtype === "bool") return (k * k) % 3 === 0 ? 1 : 0;
  const value = [1, 2, 1, 3, 1, 1, 5, 1, 1, 2][(k * 7 + (k >> 3)) % 10] ?? 1;
  if (k % 3 > 0) return dtype === "int64" ? BigInt(value) : value;
  return dtype === "int64" ? BigInt(-value) : isFloat(dtype) && k % 29 === 0 ? NaN : -value;
};

Deno.test("every reduction of every type", () => {
  for (const dtype of VALUE_TYPES) {
    const cases: Case[] = [];
    for (const op of REDUCTIONS) {
      if (!reduces(op, dtype)) continue;
      for (const length of [...Array.from({ length: 17 }, (_, k) => k + 1), 40, 67]) {
        const step = [1, 2, 3, 5][length % 4] ?? 1, rows = 3;
        const program = reductionProgram({ op, dtype, rows, length, step });
        const values = Array.from({ length: rows * length * step }, (_, k) => small(dtype, k));
        const label = `${op} of ${length} ${dtype}, step ${step}`;
        cases.push({ label, program, inputs: [hostOf(dtype, values)] });
        cases.push({
          label: `${label}, rows in lanes`,
          program: vectorised(program, "outermost"),
          inputs: [hostOf(dtype, values)],
        });
      }
    }
    check([...cases, ...cases.filter((_, k) => k % 2 === 0).map(inLanes)], [onWasm(true), reference]);
  }
});

/** Numbers whose sums depend on their order. */
const noise = (dtype: DType, count: number): HostArray => hostOf(dtype, orderedNumbers(count));

Deno.test({
  name: "sums of C++ have the same bits, in rows and of everything",
  ignore: toolchainStatus().kind !== "ready",
  fn: () => {
    const cases: Case[] = [];
    for (const dtype of ["float32", "float64"] as const) {
      for (const op of ["sum", "prod"] as const) {
        for (const length of [1, 5, 16, 17, 31, 32, 100, 5000]) {
          const program = reductionProgram({ op, dtype, rows: 2, length, step: 1 });
          cases.push({ label: `${op} of ${length} ${dtype}`, program, inputs: [noise(dtype, 2 * length)] });
        }
        for (const over of [[100_000], [300, 400], [7, 20_000], [70_000, 3]]) {
          const count = over.reduce((x, y) => x * y, 1);
          const program = singleOp([{ shape: over, dtype }], [{ shape: [], dtype }], (x) => ({
            kind: "reduction",
            shape: [],
            dtype,
            op,
            over,
            accumulator: dtype,
            element: (o, _, reduced) => o.load(x, reduced),
          }));
          cases.push({ label: `${op} of ${over} ${dtype}`, program, inputs: [noise(dtype, count)] });
        }
      }
    }
    check([...cases, ...cases.map(inLanes)], [onWasm(true), native]);
  },
});

Deno.test({
  name: "operations of C++ have the same bits",
  ignore: toolchainStatus().kind !== "ready",
  fn: () => {
    const cases = VALUE_TYPES.flatMap((dtype) =>
      sampleBySeed(OPERATIONS.filter((op) => admits(SCALAR_OPS[op].operands, dtype)), 10)
        .map((op) => operationCases(op, dtype).slice(0, 1).map(inLanes)).flat()
    );
    check(cases, [onWasm(true), native]);
  },
});

Deno.test("sorting, of every type, for any strides", () => {
  const [rows, length] = [5, 77];
  for (const dtype of VALUE_TYPES) {
    for (const descending of [false, true]) {
      for (const strides of [[length, 1], [1, rows], [2 * length, 2]]) {
        const out = { shape: [rows, length], dtype },
          places = { shape: [rows, length], dtype: "int64" as const };
        const program = libraryCall({ op: "sort", descending }, [{ shape: [rows, length], dtype, strides }], [
          out,
          places,
        ]);
        const values = SPECIAL[dtype], count = 2 * rows * length;
        const inputs = [
          hostOf(
            dtype,
            Array.from({ length: count }, (_, k) => values[(k * k + 3 * k) % values.length] ?? 0),
          ),
        ];
        const [found, wanted] = [outputsOf(program), outputsOf(program)];
        onWasm(true)(program, inputs, found);
        reference(program, inputs, wanted);
        assertEquals(found, wanted, `${dtype} ${descending} ${strides}`);
      }
    }
  }
});
