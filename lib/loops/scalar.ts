/**
 * The scalar vocabulary: everything one element of a kernel can compute. An op's body is a function over
 * `ScalarOps<V>`; analyses, interpreters and printers implement it or walk the recorded form (ir.ts).
 * Invariant: operands of one operation have one element type, conversions are explicit casts.
 */
import { type DType, isFloat, isInteger, type ValueType } from "../base/dtype.ts";

/** Result type of an operation: that of its operands, bool, or the type of as many bits ("bits"). */
type ResultRule = "same" | "bool" | "bits";

/**
 * The operand types of an operation. `word` is int32 and int64, whose bits are those of a float; `single` is float32,
 * `random` int32.
 */
type OperandKind =
  | "float"
  | "single"
  | "number"
  | "integer"
  | "bits"
  | "any"
  | "bool"
  | "random"
  | "word";

/** Properties of an operation. */
interface ScalarOpInfo {
  readonly arity: 1 | 2 | 3;
  readonly operands: OperandKind;
  readonly result: ResultRule;
  /** Cost in units of one addition. Weights only choose between equivalent programs. */
  readonly weight: number;
}

const op = (
  arity: 1 | 2 | 3,
  operands: OperandKind,
  { result = "same", weight = 1 }: Partial<ScalarOpInfo> = {},
): ScalarOpInfo => ({ arity, operands, result, weight });

const TEST = { result: "bool" } as const, BITS = { result: "bits", weight: 0 } as const;
const DIVISION = { weight: 4 }, FUNCTION = { weight: 16 }, LONG = { weight: 40 };

/** Operations of one operand. */
type UnaryOpName =
  | "neg"
  | "abs"
  | "sign"
  | "floor"
  | "ceil"
  | "trunc"
  | "round"
  | "sqrt"
  | "rsqrt"
  | "exp"
  | "exp2"
  | "expm1"
  | "log"
  | "log2"
  | "log10"
  | "log1p"
  | "sin"
  | "cos"
  | "tan"
  | "asin"
  | "acos"
  | "atan"
  | "sinh"
  | "cosh"
  | "tanh"
  | "asinh"
  | "acosh"
  | "atanh"
  | "erf"
  | "erfc"
  | "lgamma"
  | "digamma"
  | "isNan"
  | "not"
  | "rounded"
  | "bitsToFloat"
  | "floatToBits"
  | "halfToFloat"
  | "floatToHalf"
  | "bfloatToFloat"
  | "floatToBfloat";

/** Operations of two operands. */
type BinaryOpName =
  | "add"
  | "sub"
  | "mul"
  | "mulHigh"
  | "div"
  | "truncDiv"
  | "truncMod"
  | "floorDiv"
  | "floorMod"
  | "minimum"
  | "maximum"
  | "atan2"
  | "pow"
  | "eq"
  | "ne"
  | "lt"
  | "le"
  | "gt"
  | "ge"
  | "and"
  | "or"
  | "xor"
  | "shl"
  | "shr";

/** Operations of three operands. */
type TernaryOpName = "fma" | "random";

/** Name of an operation of the vocabulary. */
export type ScalarOpName = UnaryOpName | BinaryOpName | TernaryOpName;

/**
 * All operations.
 * - add, sub, mul, neg, abs: integers wrap. div: float only, IEEE. fma(a, b, c) = a·b + c rounded once.
 * - mulHigh: the high word of the product of two int32, taken as unsigned words.
 * - truncDiv, truncMod (sign of the dividend), floorDiv, floorMod (sign of the divisor): integers; by zero
 *   gives 0. Floats: floorMod and truncMod only, as PyTorch's remainder and fmod.
 * - minimum, maximum: NaN if either is NaN, the first of equal operands (so of −0 and 0, on CPUs). sign: NaN for
 *   NaN. round: half to even.
 * - shl, shr: integers, arithmetic; a shift outside [0, bits) gives 0 (or −1 for a negative shr operand).
 * - and, or, xor, not: bitwise on integers, logical on bool.
 * - random(key0, key1, counter): 32 random bits (Philox 4×32-10, first word, counter in word 0), all int32.
 * - rounded: its operand, opaque to a target's optimisations: (x + y) − y keeps its rounding error.
 * - bitsToFloat, floatToBits: float32 ↔ int32 and float64 ↔ int64 reinterpretation.
 * - halfToFloat, bfloatToFloat: the float32 with the value of the low 16 bits of an int32. floatToHalf, floatToBfloat:
 *   the 16 bits of the nearest float16 or bfloat16 in an int32 (see math/half.ts).
 */
export const SCALAR_OPS: Readonly<Record<ScalarOpName, ScalarOpInfo>> = {
  add: op(2, "number"),
  sub: op(2, "number"),
  mul: op(2, "number"),
  mulHigh: op(2, "random", { weight: 2 }),
  div: op(2, "float", DIVISION),
  fma: op(3, "float"),
  neg: op(1, "number"),
  abs: op(1, "number"),
  sign: op(1, "number"),
  truncDiv: op(2, "integer", DIVISION),
  truncMod: op(2, "number", DIVISION),
  floorDiv: op(2, "integer", DIVISION),
  floorMod: op(2, "number", DIVISION),
  minimum: op(2, "any"),
  maximum: op(2, "any"),
  floor: op(1, "float"),
  ceil: op(1, "float"),
  trunc: op(1, "float"),
  round: op(1, "float"),
  sqrt: op(1, "float", DIVISION),
  rsqrt: op(1, "float", DIVISION),
  exp: op(1, "float", FUNCTION),
  exp2: op(1, "float", FUNCTION),
  expm1: op(1, "float", FUNCTION),
  log: op(1, "float", FUNCTION),
  log2: op(1, "float", FUNCTION),
  log10: op(1, "float", FUNCTION),
  log1p: op(1, "float", FUNCTION),
  sin: op(1, "float", FUNCTION),
  cos: op(1, "float", FUNCTION),
  tan: op(1, "float", FUNCTION),
  asin: op(1, "float", FUNCTION),
  acos: op(1, "float", FUNCTION),
  atan: op(1, "float", FUNCTION),
  sinh: op(1, "float", FUNCTION),
  cosh: op(1, "float", FUNCTION),
  tanh: op(1, "float", FUNCTION),
  asinh: op(1, "float", FUNCTION),
  acosh: op(1, "float", FUNCTION),
  atanh: op(1, "float", FUNCTION),
  erf: op(1, "float", FUNCTION),
  erfc: op(1, "float", FUNCTION),
  lgamma: op(1, "float", LONG),
  digamma: op(1, "float", LONG),
  atan2: op(2, "float", FUNCTION),
  pow: op(2, "number", FUNCTION),
  eq: op(2, "any", TEST),
  ne: op(2, "any", TEST),
  lt: op(2, "any", TEST),
  le: op(2, "any", TEST),
  gt: op(2, "any", TEST),
  ge: op(2, "any", TEST),
  isNan: op(1, "float", TEST),
  and: op(2, "bits"),
  or: op(2, "bits"),
  xor: op(2, "bits"),
  not: op(1, "bits"),
  shl: op(2, "integer"),
  shr: op(2, "integer"),
  random: op(3, "random", LONG),
  rounded: op(1, "float"),
  bitsToFloat: op(1, "word", BITS),
  floatToBits: op(1, "float", BITS),
  halfToFloat: op(1, "random", { ...BITS, weight: 4 }),
  floatToHalf: op(1, "single", { ...BITS, weight: 4 }),
  bfloatToFloat: op(1, "random", { ...BITS, weight: 1 }),
  floatToBfloat: op(1, "single", { ...BITS, weight: 4 }),
};

/** One method per operation, plus the ones whose arguments are not values. */
export type ScalarOps<V> =
  & { readonly [K in UnaryOpName]: (a: V) => V }
  & { readonly [K in BinaryOpName]: (a: V, b: V) => V }
  & { readonly [K in TernaryOpName]: (a: V, b: V, c: V) => V }
  & {
    /** A number as a value of the type that `dtype` is computed in; floats are not rounded to a small type. */
    constant(value: number | bigint | boolean, dtype: DType): V;
    /**
     * Converts to the type that `dtype` is computed in; float to integer truncates, to bool is ≠ 0, from bool gives 0
     * or 1. Small integers wrap. Small floats keep the precision of float32 until they are stored.
     */
    cast(value: V, dtype: DType): V;
    /** The same, but rounds to `dtype` itself. */
    narrow(value: V, dtype: DType): V;
    /** condition ? then : otherwise, both evaluated. */
    select(condition: V, then: V, otherwise: V): V;
    dtypeOf(value: V): ValueType;
  };

/** The element type that an operation gives. */
export function resultType(name: ScalarOpName, operand: ValueType): ValueType {
  const rule: ResultRule = SCALAR_OPS[name].result;
  if (rule === "same") return operand;
  return rule === "bits" ? typeOfBits(operand) : rule;
}

/** Returns the integer type with as many bits as a float type, and vice versa. Other types have no such operation. */
function typeOfBits(dtype: ValueType): ValueType {
  switch (dtype) {
    case "float32":
      return "int32";
    case "float64":
      return "int64";
    case "int64":
      return "float64";
    case "int32":
    case "bool":
      return "float32";
    default:
      return dtype satisfies never;
  }
}

/** Returns whether operands of a kind may have a type. */
export function admits(kind: OperandKind, dtype: ValueType): boolean {
  switch (kind) {
    case "float":
      return isFloat(dtype);
    case "single":
      return dtype === "float32";
    case "number":
      return dtype !== "bool";
    case "integer":
      return isInteger(dtype);
    case "bits":
      return !isFloat(dtype);
    case "any":
      return true;
    case "bool":
      return dtype === "bool";
    case "random":
      return dtype === "int32";
    case "word":
      return dtype === "int32" || dtype === "int64";
    default:
      return kind satisfies never;
  }
}
