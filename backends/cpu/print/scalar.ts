/**
 * One scalar operation as a C++ expression of the result type; `need` names the function of an operation that is not
 * primitive. Invariant: operands are inserted verbatim and may occur twice, so they must be names or literals.
 */
import { isFloat, type ValueType } from "../../../lib/base/dtype.ts";
import { InternalError } from "../../../lib/base/errors.ts";
import type { ScalarOpName } from "../../../lib/loops/scalar.ts";
import { VALUE_TYPE, wrapping } from "./types.ts";

/** How a function call is compiled. */
type CallForm =
  /** As a call of the function's vector form, if there is one. */
  | "vector"
  /** Inlined: under a condition, since loops cannot call vector forms there. */
  | "inline"
  /** Inlined into another function, unless it has parts that are rarely needed. */
  | "nested";

/** Returns the name by which an operation is called, and makes sure that it is defined. */
export type Need = (op: ScalarOpName, dtype: ValueType, form: CallForm) => string;

/** Expressions by operation over operands `a`, `b` and `c`. */
type Expressions = Partial<Record<ScalarOpName, string>>;

/** Operations of floats and integers alike. */
const OF_NUMBERS: Expressions = {
  div: "a / b",
  eq: "a == b",
  ne: "a != b",
  lt: "a < b",
  le: "a <= b",
  gt: "a > b",
  ge: "a >= b",
};

const OF_BOOLS: Expressions = {
  and: "a & b",
  minimum: "a & b",
  mul: "a & b",
  or: "a | b",
  maximum: "a | b",
  add: "a | b",
  xor: "a ^ b",
  ne: "a ^ b",
  eq: "!(a ^ b)",
  not: "!a",
  lt: "!a & b",
  le: "!a | b",
  gt: "a & !b",
  ge: "a | !b",
};

const OF_DOUBLES: Expressions = {
  ...OF_NUMBERS,
  fma: "__builtin_fma(a, b, c)",
  neg: "-a",
  abs: "__builtin_fabs(a)",
  floor: "__builtin_floor(a)",
  ceil: "__builtin_ceil(a)",
  trunc: "__builtin_trunc(a)",
  sqrt: "__builtin_sqrt(a)",
  round: "__builtin_rint(a)",
  isNan: "is_nan(a)",
  rounded: "a",
  floatToBits: "float_bits(a)",
};

const OF_INTEGERS: Expressions = {
  ...OF_NUMBERS,
  minimum: "a < b ? a : b",
  maximum: "a > b ? a : b",
  and: "a & b",
  or: "a | b",
  xor: "a ^ b",
  not: "~a",
  shl: "shl(a, b)",
  shr: "shr(a, b)",
  mulHigh: "mul_high(a, b)",
  truncDiv: "trunc_div(a, b)",
  bitsToFloat: "bits_float(a)",
};

const EXPRESSIONS: Readonly<Record<ValueType, Expressions>> = {
  bool: OF_BOOLS,
  int32: OF_INTEGERS,
  int64: OF_INTEGERS,
  float64: OF_DOUBLES,
  float32: OF_DOUBLES,
};

const WRAPPING = { add: "+", sub: "-", mul: "*" } as const;

/** The expression of an operation on operands of type `dtype`. */
export function scalarExpression(
  op: ScalarOpName,
  dtype: ValueType,
  { args, need, form }: { readonly args: readonly string[]; readonly need: Need; readonly form: CallForm },
): string {
  const [a = "", b = "", c = ""] = args;
  if (dtype !== "bool") {
    if (op === "add" || op === "sub" || op === "mul") return wrapping(WRAPPING[op], dtype, [a, b]);
    if (!isFloat(dtype) && op === "neg") return wrapping("-", dtype, ["0", a]);
    if (!isFloat(dtype) && op === "abs") return `${a} < 0 ? ${wrapping("-", dtype, ["0", a])} : ${a}`;
    if (isFloat(dtype) && (op === "minimum" || op === "maximum")) return extreme(op, a, b);
  }
  const text = EXPRESSIONS[dtype][op];
  if (text === undefined && dtype === "bool") {
    throw new InternalError(`Expected an operation on bool but found ${op}`);
  }
  if (text === undefined) return `${need(op, dtype, form)}(${args.join(", ")})`;
  const found = dtype === "float32" ? text.replace(/^__builtin_\w+/, "$&f") : text;
  return found.replace(/\b[abc]\b/g, (name) => name === "a" ? a : name === "b" ? b : c);
}

/** NaN if either is, the first of equal operands; against a constant one comparison suffices. */
function extreme(op: "minimum" | "maximum", a: string, b: string): string {
  const [opposite, called] = op === "minimum" ? [">", "least"] : ["<", "greatest"];
  if (isNumber(b)) return `${a} ${opposite} ${b} ? ${b} : ${a}`;
  if (isNumber(a)) return `${b} ${opposite}= ${a} ? ${a} : ${b}`;
  return `${called}(${a}, ${b})`;
}

const isNumber = (text: string): boolean => /^\(?-?\d/.test(text);

/** A conversion, as `cast` of the scalar vocabulary. */
export function castExpression(value: string, from: ValueType, to: ValueType): string {
  if (to === "bool") return from === "bool" ? value : `${value} != 0`;
  // Through long: values out of range become the least integer, and narrower types keep its low bits
  if (isFloat(from) && !isFloat(to)) {
    return to === "int64" ? `to_long(${value})` : `(${VALUE_TYPE[to]}) to_long(${value})`;
  }
  return `(${VALUE_TYPE[to]}) ${value}`;
}
