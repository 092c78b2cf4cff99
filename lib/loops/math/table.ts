/**
 * All scalar functions: for each operation and each type of operands that it takes, whether targets support it directly
 * or which body computes it, and how large its error may be. The bounds are what tests hold bodies to. They are just
 * above the largest errors found in comparisons with twice the precision: of every 31st argument in float32, and in
 * float64 of a million and a half in each usual range, of all magnitudes and around special values.
 * tools/fit_polynomials.py fits the polynomials.
 */
import type { ValueType } from "../../base/dtype.ts";
import type { ScalarOpName } from "../scalar.ts";
import type { Arithmetic, MathBody } from "./body.ts";
import { exp, exp2, expm1 } from "./exponential.ts";
import { erfcF32, erfcF64, erfF32, erfF64 } from "./error_function.ts";
import { digammaF32, digammaF64, lgammaF32, lgammaF64 } from "./gamma.ts";
import { pow } from "./power.ts";
import { bfloatToFloat, floatToBfloat, floatToHalf, halfToFloat } from "./half.ts";
import { acosh, asinh, atanh, cosh, sinh, tanh } from "./hyperbolic.ts";
import { acos, asin, atan, atan2 } from "./inverse_trigonometry.ts";
import { log, log10, log1p, log2 } from "./logarithm.ts";
import * as integers from "./integers.ts";
import { random, randomInLongs } from "./random.ts";
import { floorMod, truncMod } from "./remainder.ts";
import { rsqrt, sign } from "./simple.ts";
import { cos, sin, tan } from "./trigonometry.ts";

/** Records a function's result; unused operands are ignored. */
export type Formula = <V>(o: MathBody<V>, a: V, b: V, c: V) => V;

/** A function as a body. */
export interface Definition {
  readonly body: Formula;
  /** A bound of its error, in units in the last place of the result. 0 is exact. */
  readonly ulps: number;
  /** Units are those of at least 1, or of at least the argument too, where terms of that size are subtracted. */
  readonly atLeast?: "one" | "negative argument";
}

/** Targets support the operation directly. */
const NATIVE = "native";

/** The definitions of an operation for each type that it accepts. */
interface FloatEntry {
  readonly float32: Definition;
  /** For float32 in the arithmetic "single"; absent: the same. */
  readonly single?: Definition | typeof NATIVE;
  readonly float64: Definition;
}
interface IntegerEntry {
  readonly int64: Definition;
  readonly int32: Definition;
}
/** Operations on words of 32 bits, and on float32 alone. */
interface WordEntry {
  readonly int32: Definition;
  /** In the arithmetic "wide"; absent: the same. */
  readonly wide?: Definition;
}
interface SingleEntry {
  readonly float32: Definition;
}
type Entry =
  | typeof NATIVE
  | FloatEntry
  | IntegerEntry
  | WordEntry
  | SingleEntry
  | (FloatEntry & IntegerEntry);

/** One body for both float types. */
const floats = (body: Formula, ulps32: number, ulps64: number): FloatEntry => ({
  float32: { body, ulps: ulps32 },
  float64: { body, ulps: ulps64 },
});

/** One exact body for all integer types. */
const integer = (body: Formula): IntegerEntry => ({
  int64: { body, ulps: 0 },
  int32: { body, ulps: 0 },
});

const TABLE: Readonly<Record<ScalarOpName, Entry>> = {
  add: NATIVE,
  sub: NATIVE,
  mul: NATIVE,
  mulHigh: NATIVE,
  div: NATIVE,
  fma: NATIVE,
  neg: NATIVE,
  abs: NATIVE,
  sign: { ...floats(sign, 0, 0), ...integer(integers.sign) },
  truncDiv: NATIVE,
  truncMod: { ...floats(truncMod, 0, 0), single: NATIVE, ...integer(integers.truncMod) },
  floorDiv: integer(integers.floorDiv),
  floorMod: { ...floats(floorMod, 0.5, 0.5), ...integer(integers.floorMod) },
  minimum: NATIVE,
  maximum: NATIVE,
  floor: NATIVE,
  ceil: NATIVE,
  trunc: NATIVE,
  round: NATIVE,
  sqrt: NATIVE,
  rsqrt: { ...floats(rsqrt, 1.5, 1.5), single: NATIVE },
  exp: floats(exp, 0.95, 0.95),
  exp2: floats(exp2, 0.9, 0.85),
  expm1: floats(expm1, 0.9, 0.9),
  log: floats(log, 0.95, 0.85),
  log2: floats(log2, 0.8, 0.9),
  log10: floats(log10, 0.8, 0.75),
  log1p: floats(log1p, 0.8, 0.95),
  sin: floats(sin, 0.9, 0.9),
  cos: floats(cos, 0.9, 0.9),
  tan: floats(tan, 0.95, 1),
  asin: floats(asin, 0.7, 0.65),
  acos: floats(acos, 0.65, 0.65),
  atan: floats(atan, 0.65, 0.65),
  sinh: floats(sinh, 0.75, 0.75),
  cosh: floats(cosh, 0.9, 0.9),
  tanh: floats(tanh, 1, 1),
  asinh: floats(asinh, 0.75, 0.9),
  acosh: floats(acosh, 0.7, 0.9),
  atanh: floats(atanh, 0.75, 0.9),
  erf: { float32: { body: erfF32, ulps: 1.05 }, float64: { body: erfF64, ulps: 1.2 } },
  erfc: {
    float32: { body: erfcF32, ulps: 0.51 },
    single: { body: erfcF64, ulps: 4 },
    float64: { body: erfcF64, ulps: 3.5 },
  },
  lgamma: {
    float32: { body: lgammaF32, ulps: 0.51 },
    single: { body: lgammaF64, ulps: 4, atLeast: "negative argument" },
    float64: { body: lgammaF64, ulps: 3.5, atLeast: "negative argument" },
  },
  digamma: {
    float32: { body: digammaF32, ulps: 0.51, atLeast: "one" },
    single: { body: digammaF64, ulps: 4, atLeast: "one" },
    float64: { body: digammaF64, ulps: 4, atLeast: "one" },
  },
  atan2: floats(atan2, 1.05, 0.85),
  pow: { ...floats(pow, 0.55, 0.9), single: { body: pow, ulps: 1 }, ...integer(integers.pow) },
  eq: NATIVE,
  ne: NATIVE,
  lt: NATIVE,
  le: NATIVE,
  gt: NATIVE,
  ge: NATIVE,
  isNan: NATIVE,
  and: NATIVE,
  or: NATIVE,
  xor: NATIVE,
  not: NATIVE,
  shl: NATIVE,
  shr: NATIVE,
  random: { int32: { body: random, ulps: 0 }, wide: { body: randomInLongs, ulps: 0 } },
  rounded: NATIVE,
  bitsToFloat: NATIVE,
  floatToBits: NATIVE,
  halfToFloat: { int32: { body: halfToFloat, ulps: 0 } },
  floatToHalf: { float32: { body: floatToHalf, ulps: 0 } },
  bfloatToFloat: { int32: { body: bfloatToFloat, ulps: 0 } },
  floatToBfloat: { float32: { body: floatToBfloat, ulps: 0 } },
};

/**
 * Returns the definition of an operation on a type; undefined if targets support the operation or it does not accept
 * the type.
 */
export function definitionOf(
  op: ScalarOpName,
  dtype: ValueType,
  arithmetic: Arithmetic = "exact",
): Definition | undefined {
  const entry: Entry = TABLE[op];
  if (entry === NATIVE) return undefined;
  const types: Partial<Record<ValueType, Definition> & Pick<FloatEntry, "single"> & Pick<WordEntry, "wide">> =
    entry;
  const single = dtype === "float32" && arithmetic === "single" ? types.single : undefined;
  if (single !== undefined) return single === NATIVE ? undefined : single;
  if (dtype === "int32" && arithmetic === "wide" && types.wide) return types.wide;
  return types[dtype];
}
