/**
 * Runs bodies of scalar functions with exact primitive operations: every float operation is rounded once, except fma
 * in the arithmetic "single", and int64 is bigint. Invariant: nothing here comes from the bodies or from a printer;
 * called functions are found through `functionOf`.
 */
import { assert } from "@std/assert";
import type { ValueType } from "../../lib/base/dtype.ts";
import type { Statement, ValueId } from "../../lib/loops/ir.ts";
import { functionOf, isPrimitive, type ScalarFunction } from "../../lib/loops/math/function.ts";
import type { Arithmetic } from "../../lib/loops/math/body.ts";
import type { ScalarOpName } from "../../lib/loops/scalar.ts";
import { fmaDouble, fmaSingle } from "./exact_fma.ts";

/** One value: number, bigint for int64, boolean for bool. */
export type Scalar = number | bigint | boolean;

const view = new DataView(new ArrayBuffer(8));

/** The bits of a float as an integer of the same width. */
export function bitsOf(x: number, dtype: ValueType): Scalar {
  if (dtype === "float32") {
    view.setFloat32(0, x);
    return view.getInt32(0);
  }
  view.setFloat64(0, x);
  return view.getBigInt64(0);
}

function floatOf(bits: Scalar): number {
  if (typeof bits === "bigint") {
    view.setBigInt64(0, bits);
    return view.getFloat64(0);
  }
  view.setInt32(0, Number(bits));
  return view.getFloat32(0);
}

/** Half to even. */
function roundEven(x: number): number {
  const down = Math.floor(x), rest = x - down;
  const up = rest > 0.5 || (rest === 0.5 && down % 2 !== 0);
  const result = up ? down + 1 : down;
  return result === 0 ? x * 0 : result;
}

type FloatOperation = (a: number, b: number, c: number) => number | boolean;

/** Before they are rounded to float32, which these operations allow without a second error. */
const FLOAT: Partial<Record<ScalarOpName, FloatOperation>> = {
  rounded: (a) => a,
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  neg: (a) => -a,
  abs: Math.abs,
  sqrt: Math.sqrt,
  floor: Math.floor,
  ceil: Math.ceil,
  trunc: Math.trunc,
  round: roundEven,
  minimum: (a, b) => b < a || Number.isNaN(b) ? b : a,
  maximum: (a, b) => b > a || Number.isNaN(b) ? b : a,
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
  isNan: Number.isNaN,
};

type IntegerOperation = (a: bigint, b: bigint, bits: bigint) => bigint | boolean;

/** Before they wrap. */
const INTEGER: Partial<Record<ScalarOpName, IntegerOperation>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  mulHigh: (a, b) => BigInt.asUintN(32, a) * BigInt.asUintN(32, b) >> 32n,
  neg: (a) => -a,
  abs: (a) => a < 0n ? -a : a,
  truncDiv: (a, b) => b === 0n ? 0n : a / b,
  minimum: (a, b) => b < a ? b : a,
  maximum: (a, b) => b > a ? b : a,
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  not: (a) => ~a,
  shl: (a, b, bits) => b >= 0n && b < bits ? a << b : 0n,
  shr: (a, b, bits) => b >= 0n && b < bits ? a >> b : a < 0n ? -1n : 0n,
};

const LOGICAL: Partial<Record<ScalarOpName, (a: boolean, b: boolean) => boolean>> = {
  and: (a, b) => a && b,
  or: (a, b) => a || b,
  xor: (a, b) => a !== b,
  ne: (a, b) => a !== b,
  eq: (a, b) => a === b,
  not: (a) => !a,
};

const missing = (op: ScalarOpName, dtype: ValueType): never => {
  throw new Error(`Expected a primitive operation but found ${op} of ${dtype}`);
};

/** One primitive operation on operands of this type. */
function primitive(
  op: ScalarOpName,
  dtype: ValueType,
  { args, arithmetic }: { readonly args: readonly Scalar[]; readonly arithmetic: Arithmetic },
): Scalar {
  const [a = 0, b = 0, c = 0] = args;
  if (op === "floatToBits") return bitsOf(Number(a), dtype);
  if (op === "bitsToFloat") return floatOf(a);
  switch (dtype) {
    case "float32":
    case "float64": {
      const numbers = [Number(a), Number(b), Number(c)] as const;
      if (op === "fma" && arithmetic === "single") {
        return Math.fround(Math.fround(numbers[0] * numbers[1]) + numbers[2]);
      }
      if (op === "fma") return dtype === "float32" ? fmaSingle(...numbers) : fmaDouble(...numbers);
      const result = (FLOAT[op] ?? missing(op, dtype))(...numbers);
      return typeof result === "number" && dtype === "float32" ? Math.fround(result) : result;
    }
    case "int64":
    case "int32": {
      const bits = dtype === "int64" ? 64n : 32n;
      const result = (INTEGER[op] ?? missing(op, dtype))(BigInt(a), BigInt(b), bits);
      return typeof result === "bigint" ? cast(result, dtype) : result;
    }
    case "bool":
      return (LOGICAL[op] ?? missing(op, dtype))(Boolean(a), Boolean(b));
    default:
      return dtype satisfies never;
  }
}

/** Truncates floats, wraps integers. */
function cast(value: Scalar, to: ValueType, arithmetic: Arithmetic = "exact"): Scalar {
  switch (to) {
    case "bool":
      return typeof value === "boolean" ? value : value != 0;
    case "float64":
      return Number(value);
    case "float32":
      return Math.fround(Number(value));
    case "int64":
      return BigInt.asIntN(64, whole(value, arithmetic));
    case "int32":
      return Number(BigInt.asIntN(32, whole(value, arithmetic)));
    default:
      return to satisfies never;
  }
}

/** A value beyond int64 must not be converted: targets differ in the result. "single" ones choose among results. */
function whole(value: Scalar, arithmetic: Arithmetic): bigint {
  if (typeof value !== "number") return BigInt(value);
  if (arithmetic === "single" && !(Math.abs(value) < 2 ** 31)) return -12345n;
  assert(Math.abs(value) < 2 ** 63, `Expected a number that int64 holds but found ${value}`);
  return BigInt(Math.trunc(value));
}

interface Known {
  readonly value: Scalar;
  readonly dtype: ValueType;
}

/** The result of a function for arguments of its type. */
export function evaluate(
  f: ScalarFunction,
  args: readonly Scalar[],
  arithmetic: Arithmetic = "exact",
): Scalar {
  const known = new Map<ValueId, Known>();
  f.parameters.forEach((p, at) => known.set(p.id, { value: args[at] ?? 0, dtype: p.dtype }));
  run(f.body, known, arithmetic);
  return read(known, f.result.id).value;
}

function read(known: ReadonlyMap<ValueId, Known>, id: ValueId): Known {
  const found = known.get(id);
  assert(found, `Expected value ${id} to be computed before its use`);
  return found;
}

function run(body: readonly Statement[], known: Map<ValueId, Known>, arithmetic: Arithmetic): void {
  const value = (id: ValueId): Scalar => read(known, id).value;
  for (const s of body) {
    switch (s.kind) {
      case "constant":
        known.set(s.id, { value: s.value, dtype: s.dtype });
        break;
      case "scalar": {
        const operand = read(known, s.args[0] ?? s.id).dtype, args = s.args.map(value);
        const result = isPrimitive(s.op, operand, arithmetic)
          ? primitive(s.op, operand, { args, arithmetic })
          : evaluate(functionOf(s.op, operand, arithmetic), args, arithmetic);
        known.set(s.id, { value: result, dtype: s.dtype });
        break;
      }
      case "cast":
        known.set(s.id, { value: cast(value(s.value), s.dtype, arithmetic), dtype: s.dtype });
        break;
      case "select":
        known.set(s.id, { value: value(s.condition) ? value(s.then) : value(s.otherwise), dtype: s.dtype });
        break;
      case "masked": {
        if (!value(s.condition)) {
          known.set(s.id, { value: value(s.otherwise), dtype: s.dtype });
          break;
        }
        const inside = new Map(known);
        run(s.body, inside, arithmetic);
        known.set(s.id, { value: read(inside, s.value).value, dtype: s.dtype });
        break;
      }
      case "index":
      case "load":
      case "store":
      case "loop":
        throw new Error(`Expected a straight-line statement but found a ${s.kind}`);
      default:
        s satisfies never;
    }
  }
}
