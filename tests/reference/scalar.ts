/**
 * The scalar operations over JavaScript values: their exact meaning, to the bit where they are exact. Operands are
 * numbers, bigint for int64, or booleans. Invariant: float operations are computed in float64 and rounded once to the
 * element type.
 */
import { isFloat, type ValueType } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import { SCALAR_OPS, type ScalarOpName } from "../../lib/loops/scalar.ts";
import { fma } from "./fused.ts";
import { digamma, erf, erfc, lgamma, philox, roundEven } from "./special.ts";

/** One element: number, bigint for int64, boolean for bool. */
export type Element = number | bigint | boolean;

/** Precision of float results: that of the element type, or always float64 (to judge rounding errors). */
export type Precision = "exact" | "wide";

/** Makes the function of an operation at an operand type. */
export function scalarFunction(
  op: ScalarOpName,
  dtype: ValueType,
  precision: Precision,
): (...args: readonly Element[]) => Element {
  if (dtype === "bool") return boolFunction(op);
  if (dtype === "int64") return bigFunction(op);
  if (!isFloat(dtype)) return integerFunction(op);
  if (op === "floatToBits" && dtype === "float64") return (a) => bitsOfDouble(Number(a));
  const type = dtype === "float32" && precision === "exact" ? "float32" : "float64";
  const compute: FloatFunction | undefined = op === "fma" ? (a, b, c) => fma([a, b, c], type) : FLOAT[op];
  if (!compute) throw new InternalError(`Expected an operation on floats but found ${op}`);
  const round = type === "float32" ? Math.fround : (x: number) => x;
  return (...args) => {
    const result = compute(Number(args[0]), Number(args[1]), Number(args[2]));
    return typeof result === "number" && SCALAR_OPS[op].result === "same" ? round(result) : result;
  };
}

/** Converts between element types as `cast` does. */
export function castElement(value: Element, to: ValueType, precision: Precision): Element {
  switch (to) {
    case "bool":
      return typeof value === "boolean" ? value : value != 0;
    case "float64":
      return Number(value);
    case "float32":
      return precision === "exact" ? Math.fround(Number(value)) : Number(value);
    case "int64":
      return BigInt.asIntN(64, whole(value));
    case "int32":
      return Number(BigInt.asIntN(32, whole(value)));
    default:
      return to satisfies never;
  }
}

/** Truncates; what has no integer becomes the least int64, as x86 does. */
function whole(value: Element): bigint {
  if (typeof value === "bigint") return value;
  if (typeof value === "boolean") return value ? 1n : 0n;
  const least = -(2n ** 63n);
  if (!Number.isFinite(value) || Math.abs(value) >= 2 ** 63) return least;
  return BigInt(Math.trunc(value));
}

type FloatFunction = (a: number, b: number, c: number) => number | boolean;

const scratch = new DataView(new ArrayBuffer(8));

const floorMod = (a: number, b: number) => {
  const r = a % b;
  return r !== 0 && (r < 0) !== (b < 0) ? r + b : r;
};
const FLOAT: Partial<Record<ScalarOpName, FloatFunction>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  neg: (a) => -a,
  abs: Math.abs,
  sign: Math.sign,
  truncMod: (a, b) => a % b,
  floorMod,
  minimum: (a, b) => b < a || Number.isNaN(b) ? b : a,
  maximum: (a, b) => b > a || Number.isNaN(b) ? b : a,
  floor: Math.floor,
  ceil: Math.ceil,
  trunc: Math.trunc,
  round: roundEven,
  sqrt: Math.sqrt,
  rsqrt: (a) => 1 / Math.sqrt(a),
  exp: Math.exp,
  exp2: (a) => 2 ** a,
  expm1: Math.expm1,
  log: Math.log,
  log2: Math.log2,
  log10: Math.log10,
  log1p: Math.log1p,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  asinh: Math.asinh,
  acosh: Math.acosh,
  atanh: Math.atanh,
  erf,
  erfc,
  lgamma,
  digamma,
  atan2: Math.atan2,
  pow: (a, b) => a === 1 || (Math.abs(a) === 1 && !Number.isFinite(b) && !Number.isNaN(b)) ? 1 : a ** b,
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
  isNan: (a) => Number.isNaN(a),
  floatToHalf: (a) => {
    scratch.setFloat16(0, Math.fround(a));
    return scratch.getUint16(0);
  },
  floatToBfloat: (a) => {
    if (Number.isNaN(a)) return 0x7fc0;
    // The unit in the last of 8 digits; below the normal numbers it stays that of the least of them
    scratch.setFloat32(0, a);
    const exponent = Math.max(1, scratch.getUint32(0) >>> 23 & 0xff), unit = 2 ** (exponent - 127 - 7);
    scratch.setFloat32(0, roundEven(Math.fround(a) / unit) * unit);
    return scratch.getUint16(0);
  },
  rounded: (a) => a,
  floatToBits: (a) => {
    scratch.setFloat32(0, a);
    return scratch.getInt32(0);
  },
};

function boolFunction(op: ScalarOpName): (...args: readonly Element[]) => Element {
  const a = (x: Element | undefined) => Boolean(x);
  switch (op) {
    case "and":
    case "minimum":
      return (x, y) => a(x) && a(y);
    case "or":
    case "maximum":
      return (x, y) => a(x) || a(y);
    case "xor":
    case "ne":
      return (x, y) => a(x) !== a(y);
    case "eq":
      return (x, y) => a(x) === a(y);
    case "not":
      return (x) => !a(x);
    case "lt":
      return (x, y) => !a(x) && a(y);
    case "le":
      return (x, y) => !a(x) || a(y);
    case "gt":
      return (x, y) => a(x) && !a(y);
    case "ge":
      return (x, y) => a(x) || !a(y);
    default:
      throw new InternalError(`Expected an operation on bool but found ${op}`);
  }
}

function bitsOfDouble(x: number): bigint {
  scratch.setFloat64(0, x);
  return scratch.getBigInt64(0);
}

function bigFunction(op: ScalarOpName): (...args: readonly Element[]) => Element {
  if (op === "bitsToFloat") {
    return (x) => {
      scratch.setBigInt64(0, BigInt(x ?? 0));
      return scratch.getFloat64(0);
    };
  }
  const compute = integerOperation(op, 64n);
  return (x, y) => {
    const result = compute(BigInt(x ?? 0), BigInt(y ?? 0));
    return typeof result === "bigint" ? BigInt.asIntN(64, result) : result;
  };
}

function integerFunction(op: ScalarOpName): (...args: readonly Element[]) => Element {
  if (op === "random") return (k0, k1, c) => philox(Number(k0), Number(k1), Number(c));
  if (op === "bitsToFloat") {
    return (x) => {
      scratch.setInt32(0, Number(x));
      return scratch.getFloat32(0);
    };
  }
  const fromBits = FROM_BITS[op];
  if (fromBits) return (x) => fromBits(Number(x) & 0xffff);
  const wrap = (x: bigint) => Number(BigInt.asIntN(32, x));
  const compute = integerOperation(op, 32n);
  return (x, y) => {
    const result = compute(BigInt(x ?? 0), BigInt(y ?? 0));
    return typeof result === "bigint" ? wrap(result) : result;
  };
}

/** Values of 16-bit floats. */
const FROM_BITS: Partial<Record<ScalarOpName, (bits: number) => number>> = {
  halfToFloat(bits) {
    scratch.setUint16(0, bits);
    return scratch.getFloat16(0);
  },
  bfloatToFloat(bits) {
    scratch.setUint32(0, bits * 65536);
    return scratch.getFloat32(0);
  },
};

type IntegerOperation = (a: bigint, b: bigint) => bigint | boolean;

function integerOperation(op: ScalarOpName, bits: bigint): IntegerOperation {
  const found = INTEGER[op];
  if (found) return found;
  const outside = (count: bigint) => count < 0n || count >= bits;
  // One past the widest shift loses every bit, as the vocabulary asks
  if (op === "shl") return (a, b) => outside(b) ? 0n : a << b;
  if (op === "shr") return (a, b) => outside(b) ? (a < 0n ? -1n : 0n) : a >> b;
  throw new InternalError(`Expected an operation on integers but found ${op}`);
}

const INTEGER: Partial<Record<ScalarOpName, IntegerOperation>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  mulHigh: (a, b) => BigInt.asUintN(32, a) * BigInt.asUintN(32, b) >> 32n,
  neg: (a) => -a,
  abs: (a) => a < 0n ? -a : a,
  sign: (a) => a > 0n ? 1n : a < 0n ? -1n : 0n,
  truncDiv: (a, b) => b === 0n ? 0n : a / b,
  truncMod: (a, b) => b === 0n ? 0n : a % b,
  floorDiv: (a, b) => b === 0n ? 0n : (a - floorRemainder(a, b)) / b,
  floorMod: (a, b) => b === 0n ? 0n : floorRemainder(a, b),
  minimum: (a, b) => a < b ? a : b,
  maximum: (a, b) => a > b ? a : b,
  pow: (a, b) => b >= 0n ? a ** b : a === 1n ? 1n : a === -1n ? (b % 2n === 0n ? 1n : -1n) : 0n,
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
};

function floorRemainder(a: bigint, b: bigint): bigint {
  const r = a % b;
  return r !== 0n && (r < 0n) !== (b < 0n) ? r + b : r;
}
