/**
 * The scalar vocabulary: everything one element of a kernel can compute. An op's body is a function over
 * `ScalarOps<V>`; analyses, interpreters and printers implement it or walk the recorded form (ir.ts).
 * Invariant: operands of one operation have one element type, conversions are explicit casts.
 */
import type { DType } from "../base/dtype.ts";

/** Result type of an operation: that of its operands, bool, or fixed. */
export type ResultRule = "same" | "bool" | "int32" | "float32";

/** Which operands an operation takes. */
export type OperandKind = "float" | "number" | "integer" | "bits" | "any" | "bool" | "random";

/** What is known of an operation. */
export interface ScalarOpInfo {
  readonly arity: 1 | 2 | 3;
  readonly operands: OperandKind;
  readonly result: ResultRule;
}

const op = (arity: 1 | 2 | 3, operands: OperandKind, result: ResultRule = "same"): ScalarOpInfo => ({
  arity,
  operands,
  result,
});

/** Operations of one operand. */
export type UnaryOpName =
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
  | "bitsToFloat"
  | "floatToBits";

/** Operations of two operands. */
export type BinaryOpName =
  | "add"
  | "sub"
  | "mul"
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
export type TernaryOpName = "fma" | "random";

/** Name of an operation of the vocabulary. */
export type ScalarOpName = UnaryOpName | BinaryOpName | TernaryOpName;

/**
 * All operations.
 * - add, sub, mul, neg, abs: integers wrap. div: float only, IEEE. fma(a, b, c) = a·b + c rounded once.
 * - truncDiv, truncMod (sign of the dividend), floorDiv, floorMod (sign of the divisor): integers; by zero
 *   gives 0. Floats: floorMod and truncMod only, as PyTorch's remainder and fmod.
 * - minimum, maximum: NaN if either is NaN, the first of equal operands (so of −0 and 0, on CPUs). sign: NaN for
 *   NaN. round: half to even.
 * - shl, shr: integers, arithmetic; a shift outside [0, bits) gives 0 (or −1 for a negative shr operand).
 * - and, or, xor, not: bitwise on integers, logical on bool.
 * - random(key0, key1, counter): 32 random bits (Philox 4×32-10, first word, counter in word 0), all int32.
 * - bitsToFloat, floatToBits: float32 ↔ int32 reinterpretation.
 */
export const SCALAR_OPS: Readonly<Record<ScalarOpName, ScalarOpInfo>> = {
  add: op(2, "number"),
  sub: op(2, "number"),
  mul: op(2, "number"),
  div: op(2, "float"),
  fma: op(3, "float"),
  neg: op(1, "number"),
  abs: op(1, "number"),
  sign: op(1, "number"),
  truncDiv: op(2, "integer"),
  truncMod: op(2, "number"),
  floorDiv: op(2, "integer"),
  floorMod: op(2, "number"),
  minimum: op(2, "any"),
  maximum: op(2, "any"),
  floor: op(1, "float"),
  ceil: op(1, "float"),
  trunc: op(1, "float"),
  round: op(1, "float"),
  sqrt: op(1, "float"),
  rsqrt: op(1, "float"),
  exp: op(1, "float"),
  exp2: op(1, "float"),
  expm1: op(1, "float"),
  log: op(1, "float"),
  log2: op(1, "float"),
  log10: op(1, "float"),
  log1p: op(1, "float"),
  sin: op(1, "float"),
  cos: op(1, "float"),
  tan: op(1, "float"),
  asin: op(1, "float"),
  acos: op(1, "float"),
  atan: op(1, "float"),
  sinh: op(1, "float"),
  cosh: op(1, "float"),
  tanh: op(1, "float"),
  asinh: op(1, "float"),
  acosh: op(1, "float"),
  atanh: op(1, "float"),
  erf: op(1, "float"),
  erfc: op(1, "float"),
  lgamma: op(1, "float"),
  digamma: op(1, "float"),
  atan2: op(2, "float"),
  pow: op(2, "number"),
  eq: op(2, "any", "bool"),
  ne: op(2, "any", "bool"),
  lt: op(2, "any", "bool"),
  le: op(2, "any", "bool"),
  gt: op(2, "any", "bool"),
  ge: op(2, "any", "bool"),
  isNan: op(1, "float", "bool"),
  and: op(2, "bits"),
  or: op(2, "bits"),
  xor: op(2, "bits"),
  not: op(1, "bits"),
  shl: op(2, "integer"),
  shr: op(2, "integer"),
  random: op(3, "random", "int32"),
  bitsToFloat: op(1, "random", "float32"),
  floatToBits: op(1, "float", "int32"),
};

/** One method per operation, plus the ones whose arguments are not values. */
export type ScalarOps<V> =
  & { readonly [K in UnaryOpName]: (a: V) => V }
  & { readonly [K in BinaryOpName]: (a: V, b: V) => V }
  & { readonly [K in TernaryOpName]: (a: V, b: V, c: V) => V }
  & {
    constant(value: number | bigint | boolean, dtype: DType): V;
    /** Converts; float to integer truncates, to bool is ≠ 0, from bool gives 0 or 1. */
    cast(value: V, dtype: DType): V;
    /** condition ? then : otherwise, both evaluated. */
    select(condition: V, then: V, otherwise: V): V;
    dtypeOf(value: V): DType;
  };

/** The element type that an operation gives. */
export function resultType(name: ScalarOpName, operand: DType): DType {
  const rule: ResultRule = SCALAR_OPS[name].result;
  return rule === "same" ? operand : rule;
}
