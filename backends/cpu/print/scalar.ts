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

const OPERATORS: Partial<Record<ScalarOpName, string>> = {
  add: "+",
  sub: "-",
  mul: "*",
  div: "/",
  eq: "==",
  ne: "!=",
  lt: "<",
  le: "<=",
  gt: ">",
  ge: ">=",
};

/** The expression of an operation on operands of type `dtype`. */
export function scalarExpression(
  op: ScalarOpName,
  dtype: ValueType,
  { args, need, form }: { readonly args: readonly string[]; readonly need: Need; readonly form: CallForm },
): string {
  if (dtype === "bool") return boolExpression(op, args);
  const operator = OPERATORS[op];
  const [a = "", b = "", c = ""] = args;
  if (operator === "+" || operator === "-" || operator === "*") {
    return wrapping(operator, dtype, [a, b]);
  }
  if (operator !== undefined) return `${a} ${operator} ${b}`;
  const operands: Operands = {
    args: [a, b, c],
    called: () => `${need(op, dtype, form)}(${args.join(", ")})`,
  };
  return isFloat(dtype) ? floatExpression(op, dtype, operands) : integerExpression(op, dtype, operands);
}

function boolExpression(op: ScalarOpName, args: readonly string[]): string {
  const [a = "", b = ""] = args;
  switch (op) {
    case "and":
    case "minimum":
    case "mul":
      return `${a} & ${b}`;
    case "or":
    case "maximum":
    case "add":
      return `${a} | ${b}`;
    case "xor":
    case "ne":
      return `${a} ^ ${b}`;
    case "eq":
      return `!(${a} ^ ${b})`;
    case "not":
      return `!${a}`;
    case "lt":
      return `!${a} & ${b}`;
    case "le":
      return `!${a} | ${b}`;
    case "gt":
      return `${a} & !${b}`;
    case "ge":
      return `${a} | !${b}`;
    default:
      throw new InternalError(`Expected an operation on bool but found ${op}`);
  }
}

interface Operands {
  readonly args: readonly [string, string, string];
  /** A call of the operation's function of lib/loops/math. */
  readonly called: () => string;
}

function floatExpression(op: ScalarOpName, dtype: ValueType, { args: [a, b, c], called }: Operands): string {
  const f = dtype === "float32" ? "f" : "";
  const call = (name: string, ...rest: string[]): string => `${name}(${[a, ...rest].join(", ")})`;
  switch (op) {
    case "fma":
      return call(`__builtin_fma${f}`, b, c);
    case "neg":
      return `-${a}`;
    case "abs":
      return call(`__builtin_fabs${f}`);
    case "minimum":
      return extreme("<", a, b);
    case "maximum":
      return extreme(">", a, b);
    case "floor":
    case "ceil":
    case "trunc":
    case "sqrt":
      return call(`__builtin_${op}${f}`);
    case "round":
      return call(`__builtin_rint${f}`);
    case "isNan":
      return call("is_nan");
    case "rounded":
      return a;
    case "floatToBits":
      return call("float_bits");
    default:
      return called();
  }
}

/** NaN if either is, the first of equal operands; against a constant one comparison suffices. */
function extreme(sign: "<" | ">", a: string, b: string): string {
  const opposite = sign === "<" ? ">" : "<";
  if (isNumber(b)) return `${a} ${opposite} ${b} ? ${b} : ${a}`;
  if (isNumber(a)) return `${b} ${opposite}= ${a} ? ${a} : ${b}`;
  return `${sign === "<" ? "least" : "greatest"}(${a}, ${b})`;
}

const isNumber = (text: string): boolean => /^\(?-?\d/.test(text);

function integerExpression(op: ScalarOpName, dtype: ValueType, { args: [a, b], called }: Operands): string {
  switch (op) {
    case "neg":
      return wrapping("-", dtype, ["0", a]);
    case "abs":
      return `${a} < 0 ? ${wrapping("-", dtype, ["0", a])} : ${a}`;
    case "minimum":
      return `${a} < ${b} ? ${a} : ${b}`;
    case "maximum":
      return `${a} > ${b} ? ${a} : ${b}`;
    case "and":
      return `${a} & ${b}`;
    case "or":
      return `${a} | ${b}`;
    case "xor":
      return `${a} ^ ${b}`;
    case "not":
      return `~${a}`;
    case "shl":
    case "shr":
      return `${op}(${a}, ${b})`;
    case "mulHigh":
      return `mul_high(${a}, ${b})`;
    case "truncDiv":
      return `trunc_div(${a}, ${b})`;
    case "bitsToFloat":
      return `bits_float(${a})`;
    default:
      return called();
  }
}

/** A conversion, as `cast` of the scalar vocabulary. */
export function castExpression(value: string, from: ValueType, to: ValueType): string {
  if (to === "bool") return from === "bool" ? value : `${value} != 0`;
  // Through long: values out of range become the least integer, and narrower types keep its low bits
  if (isFloat(from) && !isFloat(to)) {
    return to === "int64" ? `to_long(${value})` : `(${VALUE_TYPE[to]}) to_long(${value})`;
  }
  return `(${VALUE_TYPE[to]}) ${value}`;
}
