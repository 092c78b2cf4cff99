/**
 * Scalar operations, constants and casts as WGSL expressions. Input: operand texts and element types; output:
 * text, and the helpers it needs. Invariant: in registers float32 is f32, bool is bool and every integer type is
 * i32 (int64 keeps its low word: results past ±2³¹ are out of this device's range).
 */
import { isFloat, type ValueType } from "../../../lib/base/dtype.ts";
import { DynError, InternalError } from "../../../lib/base/errors.ts";
import { isPrimitive } from "../../../lib/loops/math/function.ts";
import type { ScalarOpName } from "../../../lib/loops/scalar.ts";
import { UNKNOWN_ZERO } from "./parameters.ts";

/** A function beyond arithmetic, which the prelude writes. */
export type HelperName =
  | "inf"
  | "nan"
  | "is_nan"
  | "minimum"
  | "maximum"
  | "trunc_div"
  | "trunc_mod_f"
  | "mul_high";

/** Sees to it that functions which texts call are in the shader, and gives their names. */
export interface Helpers {
  use(name: HelperName): string;
  /** Of the shared mathematics. */
  call(op: ScalarOpName, dtype: ValueType): string;
}

/** The register type of an element type. Throws for float64, which the language has not. */
export function registerType(dtype: ValueType): "f32" | "i32" | "bool" {
  switch (dtype) {
    case "float32":
      return "f32";
    case "int64":
    case "int32":
      return "i32";
    case "bool":
      return "bool";
    case "float64":
      throw new DynError('Expected float32 on webgpu but found float64: convert with x.to("float32")');
    default:
      return dtype satisfies never;
  }
}

/** A literal. */
export function constantText(value: number | bigint | boolean, dtype: ValueType, helpers: Helpers): string {
  switch (registerType(dtype)) {
    case "bool":
      return value ? "true" : "false";
    case "i32": {
      const n = Number(value);
      return n === -(2 ** 31) ? "(-2147483647 - 1)" : n < 0 ? `(${n})` : `${n}`;
    }
    case "f32":
      return floatText(Number(value), helpers);
  }
}

function floatText(value: number, helpers: Helpers): string {
  if (Number.isNaN(value)) return `${helpers.use("nan")}()`;
  if (!Number.isFinite(value)) return value > 0 ? `${helpers.use("inf")}()` : `(-${helpers.use("inf")}())`;
  if (Object.is(value, -0)) return "bitcast<f32>(0x80000000u)";
  const text = String(Math.fround(value));
  const literal = /[.e]/.test(text) ? text : `${text}.0`;
  return value < 0 ? `(${literal})` : literal;
}

/** A conversion between register types. */
export function castText(text: string, from: ValueType, to: ValueType): string {
  const source = registerType(from), target = registerType(to);
  return source === target ? text : `${target}(${text})`;
}

/** One operation on operands of one type. */
export function scalarText(
  op: ScalarOpName,
  args: readonly string[],
  { dtype, helpers }: { dtype: ValueType; helpers: Helpers },
): string {
  const [a = "", b = "", c = ""] = args;
  const float = isFloat(dtype), bool = dtype === "bool";
  /** A function of ours: the language's own is missing or too coarse. */
  const called = (name: string) => `${name}(${args.join(", ")})`;
  const helper = (name: HelperName) => called(helpers.use(name));
  const type = registerType(dtype) === "i32" ? "int32" : dtype;
  if (!isPrimitive(op, type, "single")) return called(helpers.call(op, type));
  switch (op) {
    case "add":
      return bool ? `(${a} || ${b})` : `(${a} + ${b})`;
    case "sub":
      return `(${a} - ${b})`;
    case "mul":
      return bool ? `(${a} && ${b})` : `(${a} * ${b})`;
    case "div":
      return `(${a} / ${b})`;
    case "fma":
      return `fma(${a}, ${b}, ${c})`;
    case "neg":
      return `(-${a})`;
    case "abs":
      return `abs(${a})`;
    case "truncDiv":
      return helper("trunc_div");
    case "truncMod":
      return helper("trunc_mod_f");
    case "minimum":
      return bool ? `(${a} && ${b})` : float ? helper("minimum") : `min(${a}, ${b})`;
    case "maximum":
      return bool ? `(${a} || ${b})` : float ? helper("maximum") : `max(${a}, ${b})`;
    case "floor":
    case "ceil":
    case "trunc":
    case "round":
    case "sqrt":
      return `${op}(${a})`;
    case "rsqrt":
      return `inverseSqrt(${a})`;
    case "mulHigh":
      return helper("mul_high");
    case "eq":
      return `(${a} == ${b})`;
    case "ne":
      // != is ordered in some implementations: false for NaN
      return float ? `(!(${a} == ${b}))` : `(${a} != ${b})`;
    case "lt":
      return bool ? `(!${a} && ${b})` : `(${a} < ${b})`;
    case "le":
      return bool ? `(!${a} || ${b})` : `(${a} <= ${b})`;
    case "gt":
      return bool ? `(${a} && !${b})` : `(${a} > ${b})`;
    case "ge":
      return bool ? `(${a} || !${b})` : `(${a} >= ${b})`;
    case "isNan":
      return helper("is_nan");
    case "and":
      return bool ? `(${a} && ${b})` : `(${a} & ${b})`;
    case "or":
      return bool ? `(${a} || ${b})` : `(${a} | ${b})`;
    case "xor":
      return bool ? `(${a} != ${b})` : `(${a} ^ ${b})`;
    case "not":
      return bool ? `(!${a})` : `(~${a})`;
    case "shl":
      return `select(0, ${a} << (u32(${b}) & 31u), u32(${b}) < 32u)`;
    case "shr":
      return `select(select(0, -1, ${a} < 0), ${a} >> (u32(${b}) & 31u), u32(${b}) < 32u)`;
    case "rounded":
      return `bitcast<f32>(bitcast<i32>(${a}) ^ ${UNKNOWN_ZERO})`;
    case "bitsToFloat":
      return `bitcast<f32>(${a})`;
    case "floatToBits":
      return `bitcast<i32>(${a})`;
    default:
      throw new InternalError(`Expected an operation of the language but found ${op} of ${dtype}`);
  }
}
