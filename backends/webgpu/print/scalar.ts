/**
 * Scalar operations, constants, casts and index expressions as WGSL expressions. Invariant: in registers float32 is
 * f32, bool is bool and every integer type is i32 (int64 keeps its low word: results beyond ±2³¹ are out of this
 * device's range). Division of indices by a positive divisor rounds down.
 */
import { isFloat, type ValueType } from "../../../lib/base/dtype.ts";
import { InternalError, OperandRefused } from "../../../lib/base/errors.ts";
import { isPrimitive } from "../../../lib/loops/math/function.ts";
import type { ScalarOpName } from "../../../lib/loops/scalar.ts";
import { boundsOf, type Dim, type Sym } from "../../../lib/sym/expr.ts";

/** A function beyond arithmetic, written by the prelude. */
export type HelperName =
  | "inf"
  | "nan"
  | "zero"
  | "hidden"
  | "fuses"
  | "to_integer"
  | "to_float"
  | "is_nan"
  | "less"
  | "at_most"
  | "same"
  | "divide"
  | "root"
  | "short_exp"
  | "minimum"
  | "maximum"
  | "shift_left"
  | "shift_right"
  | "trunc_div"
  | "trunc_mod_f"
  | "mul_high";

/** Makes sure that functions which texts call are in the shader, and returns their names. */
export interface Helpers {
  use(name: HelperName): string;
  /** Calls a function of the shared mathematics. */
  call(op: ScalarOpName, dtype: ValueType): string;
  /** Applies one of these functions to each element of vectors of four. */
  byElement(name: string): string;
}

/** Thrown if a program computes in float64, which the language lacks. */
export class LacksFloat64 extends OperandRefused {}

/** The register type of an element type. Throws for float64, which the language lacks. */
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
      throw new LacksFloat64('Expected float32 on webgpu but found float64: convert with x.to("float32")');
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
  // Compilers simplify x · 0 and 0 / x to 0, even if x is NaN or infinite, and x + 0 to x, even if x is −0
  if (value === 0) return Object.is(value, -0) ? `(-${helpers.use("zero")}())` : `${helpers.use("zero")}()`;
  const text = String(Math.fround(value));
  const literal = /[.e]/.test(text) ? text : `${text}.0`;
  return value < 0 ? `(${literal})` : literal;
}

/** A conversion between register types. */
export function castText(text: string, { from, to, helpers, lanes = 1 }: CastTypes): string {
  const source = registerType(from), target = registerType(to);
  const helper = (name: HelperName) => lanes === 4 ? helpers.byElement(helpers.use(name)) : helpers.use(name);
  const converted = `${lanes === 4 ? `vec4<${target}>` : target}(${text})`;
  if (source === target) return text;
  // A product by such a number might become a selection of 0 or the other factor, which may be NaN
  if (source === "bool" && target === "f32") return `${helper("hidden")}(${converted})`;
  if (source === "i32" && target === "f32") return `${helper("to_float")}(${text})`;
  if (source === "f32" && target === "i32") return `${helper("to_integer")}(${text})`;
  return converted;
}

/** Source and target types of a conversion. */
interface CastTypes {
  readonly from: ValueType;
  readonly to: ValueType;
  readonly helpers: Helpers;
  /** Number of elements that are converted together: four are a vector. */
  readonly lanes?: 1 | 4;
}

/** The context of an operation. */
interface ScalarContext {
  /** Type of the operands. */
  readonly dtype: ValueType;
  readonly helpers: Helpers;
  /** Whether it is in a function of the shared mathematics, which marks the expressions that must not be rearranged. */
  readonly trusted?: boolean;
  /** Number of elements of each operand: four are a vector. */
  readonly lanes?: 1 | 4;
}

/** One operation on operands of one type. */
export function scalarText(
  op: ScalarOpName,
  args: readonly string[],
  { dtype, helpers, trusted = false, lanes = 1 }: ScalarContext,
): string {
  const [a = "", b = "", c = ""] = args;
  const float = isFloat(dtype), bool = dtype === "bool";
  const [and, or] = lanes === 4 ? ["&", "|"] : ["&&", "||"];
  /** A function of the prelude: the language's own is missing or too inaccurate. */
  const called = (name: string, ...operands: readonly string[]) =>
    `${lanes === 4 ? helpers.byElement(name) : name}(${operands.join(", ")})`;
  const helper = (name: HelperName, operands = args) => called(helpers.use(name), ...operands);
  /** Hides a value from compilers: they simplify x − x and x + (−x) to 0, even if x is NaN or infinite. */
  const hidden = (x: string) => trusted ? x : helper("hidden", [x]);
  const bits = (type: string, x: string) => `bitcast<${lanes === 4 ? `vec4<${type}>` : type}>(${x})`;
  const type = registerType(dtype) === "i32" ? "int32" : dtype;
  if (!isPrimitive(op, type, "single")) return called(helpers.call(op, type), ...args);
  switch (op) {
    case "add":
      return bool ? `(${a} ${or} ${b})` : `(${a} + ${b})`;
    case "sub":
      return float ? `(${a} - ${hidden(b)})` : `(${a} - ${b})`;
    case "mul":
      return bool ? `(${a} ${and} ${b})` : `(${a} * ${b})`;
    case "div":
      return float ? helper("divide") : `(${a} / ${b})`;
    case "fma":
      return `fma(${a}, ${b}, ${c})`;
    case "neg":
      return float ? `(-${hidden(a)})` : `(-${a})`;
    case "abs":
      return `abs(${a})`;
    case "truncDiv":
      return helper("trunc_div");
    case "truncMod":
      return helper("trunc_mod_f");
    case "minimum":
      return bool ? `(${a} ${and} ${b})` : float ? helper("minimum") : `min(${a}, ${b})`;
    case "maximum":
      return bool ? `(${a} ${or} ${b})` : float ? helper("maximum") : `max(${a}, ${b})`;
    case "floor":
    case "ceil":
    case "trunc":
    case "round":
      return `${op}(${a})`;
    case "sqrt":
      return helper("root");
    case "rsqrt":
      return `inverseSqrt(${a})`;
    case "mulHigh":
      return helper("mul_high");
    case "eq":
      return float ? helper("same") : `(${a} == ${b})`;
    case "ne":
      return float ? `(!${helper("same")})` : `(${a} != ${b})`;
    case "lt":
      return bool ? `(!${a} ${and} ${b})` : float ? helper("less") : `(${a} < ${b})`;
    case "le":
      return bool ? `(!${a} ${or} ${b})` : float ? helper("at_most") : `(${a} <= ${b})`;
    case "gt":
      return bool ? `(${a} ${and} !${b})` : float ? helper("less", [b, a]) : `(${a} > ${b})`;
    case "ge":
      return bool ? `(${a} ${or} !${b})` : float ? helper("at_most", [b, a]) : `(${a} >= ${b})`;
    case "isNan":
      return helper("is_nan");
    case "and":
      return bool ? `(${a} ${and} ${b})` : `(${a} & ${b})`;
    case "or":
      return bool ? `(${a} ${or} ${b})` : `(${a} | ${b})`;
    case "xor":
      return bool ? `(${a} != ${b})` : `(${a} ^ ${b})`;
    case "not":
      return bool ? `(!${a})` : `(~${a})`;
    case "shl":
      return helper("shift_left");
    case "shr":
      return helper("shift_right");
    case "rounded":
      return helper("hidden");
    case "bitsToFloat":
      return bits("f32", a);
    case "floatToBits":
      return bits("i32", a);
    default:
      throw new InternalError(`Expected an operation of the language but found ${op} of ${dtype}`);
  }
}

/** Names the symbols of an expression: counters, sizes and values. */
type SymbolNames = (symbol: Sym) => string;

/** The text of an expression. */
export function indexText(d: Dim, names: SymbolNames, helpers: Helpers): string {
  if (typeof d === "number") {
    if (!Number.isSafeInteger(d) || Math.abs(d) >= 2 ** 31) {
      throw new InternalError(`Expected an index below 2^31 but found ${d}`);
    }
    return d < 0 ? `(${d})` : `${d}`;
  }
  const again = (x: Dim) => indexText(x, names, helpers);
  const { node } = d;
  switch (node.kind) {
    case "symbol":
      return names(d);
    case "sum": {
      const parts = node.terms.map(({ term, coefficient }) =>
        coefficient === 1 ? again(term) : `${again(term)} * ${again(coefficient)}`
      );
      if (node.constant !== 0) parts.push(again(node.constant));
      return `(${parts.join(" + ")})`;
    }
    case "product":
      return `(${node.factors.map(again).join(" * ")})`;
    case "floorDiv":
      return division(node.left, node.right, "/");
    case "mod":
      return division(node.left, node.right, "%");
    case "min":
    case "max":
      return `${node.kind}(${again(node.left)}, ${again(node.right)})`;
    default:
      return node satisfies never;
  }

  function division(left: Dim, right: Dim, sign: "/" | "%"): string {
    if (boundsOf(left)[0] >= 0) return `(${again(left)} ${sign} ${again(right)})`;
    const name = helpers.call(sign === "/" ? "floorDiv" : "floorMod", "int32");
    return `${name}(${again(left)}, ${again(right)})`;
  }
}
