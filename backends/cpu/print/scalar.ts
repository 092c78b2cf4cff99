/**
 * One scalar operation as a C++ expression. Input: operation, operand type, operand texts (names or literals);
 * output: an expression of the result type, and the math functions it needs through `need`.
 * Invariant: operands are used as they stand, so they must be names or literals (they may occur twice).
 */
import { isFloat, type ValueType } from "../../../lib/base/dtype.ts";
import { InternalError } from "../../../lib/base/errors.ts";
import type { ScalarOpName } from "../../../lib/loops/scalar.ts";
import { isMathFunction } from "./math.ts";
import { SUFFIX, VALUE_TYPE, wrapping } from "./types.ts";

/** Declares that a math function (a key of math.ts) is used. */
export type Need = (name: string) => void;

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
  { args, need }: { readonly args: readonly string[]; readonly need: Need },
): string {
  if (dtype === "bool") return boolExpression(op, args);
  const operator = OPERATORS[op];
  const [a = "", b = "", c = ""] = args;
  if (operator === "+" || operator === "-" || operator === "*") {
    return wrapping(operator, dtype, [a, b]);
  }
  if (operator !== undefined) return `${a} ${operator} ${b}`;
  return isFloat(dtype)
    ? floatExpression(op, dtype, { args: [a, b, c], need })
    : integerExpression(op, dtype, { args: [a, b, c], need });
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
  readonly need: Need;
}

function floatExpression(op: ScalarOpName, dtype: ValueType, { args: [a, b, c], need }: Operands): string {
  const f = dtype === "float32" ? "f" : "", suffix = SUFFIX[dtype];
  const zero = dtype === "float32" ? "0.0f" : "0.0", one = dtype === "float32" ? "1.0f" : "1.0";
  const call = (name: string, ...rest: string[]): string => `${name}(${[a, ...rest].join(", ")})`;
  switch (op) {
    case "fma":
      need(`fma_${suffix}`);
      return call(`fma_${suffix}`, b, c);
    case "neg":
      return `-${a}`;
    case "abs":
      return call(`__builtin_fabs${f}`);
    case "sign":
      return `${a} > ${zero} ? ${one} : ${a} < ${zero} ? -${one} : ${a}`;
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
    case "rsqrt":
      return `${one} / __builtin_sqrt${f}(${a})`;
    case "truncMod":
      need("fmod");
      return call(`fmod${f}`, b);
    case "floorMod":
      need("fmod");
      return call(`floor_mod_${suffix}`, b);
    case "isNan":
      return `is_nan(${a})`;
    case "floatToBits":
      need("bits");
      return call("float_bits");
    case "atan2":
      need(`atan2_${suffix}`);
      return call(`atan2_${suffix}`, b);
    case "pow": {
      const power = constantPower(a, b);
      if (power !== undefined) return power;
      need(`pow_${suffix}`);
      return call(`pow_${suffix}`, b);
    }
    default: {
      const name = `${op}_${suffix}`;
      if (!isMathFunction(name)) throw new InternalError(`Expected an operation on ${dtype} but found ${op}`);
      need(name);
      return call(name);
    }
  }
}

/**
 * NaN if either is, the first of equal operands; against a constant one comparison does. is_nan looks at bits: see the
 * prelude.
 */
function extreme(sign: "<" | ">", a: string, b: string): string {
  const opposite = sign === "<" ? ">" : "<";
  if (isNumber(b)) return `${a} ${opposite} ${b} ? ${b} : ${a}`;
  if (isNumber(a)) return `${b} ${opposite}= ${a} ? ${a} : ${b}`;
  return `${b} ${sign} ${a} ? ${b} : is_nan(${b}) ? ${b} : ${a}`;
}

const isNumber = (text: string): boolean => /^\(?-?\d/.test(text);

/** Powers that are products, exactly as the C library computes them to within a rounding. */
function constantPower(base: string, exponent: string): string | undefined {
  if (/^1\.0f?$/.test(exponent)) return base;
  if (/^2\.0f?$/.test(exponent)) return `${base} * ${base}`;
  if (/^3\.0f?$/.test(exponent)) return `${base} * ${base} * ${base}`;
  if (/^\(-1\.0f?\)$/.test(exponent)) return `${exponent.includes("f") ? "1.0f" : "1.0"} / ${base}`;
  return undefined;
}

const INTEGER_FUNCTIONS: Partial<Record<ScalarOpName, string>> = {
  truncDiv: "trunc_div",
  truncMod: "trunc_mod",
  floorDiv: "floor_div",
  floorMod: "floor_mod",
  shl: "shl",
  shr: "shr",
  pow: "pow",
};

function integerExpression(op: ScalarOpName, dtype: ValueType, { args: [a, b, c], need }: Operands): string {
  const named = INTEGER_FUNCTIONS[op];
  if (named !== undefined) {
    need("integers");
    return `${named}_${SUFFIX[dtype]}(${a}, ${b})`;
  }
  switch (op) {
    case "neg":
      return wrapping("-", dtype, ["0", a]);
    case "abs":
      return `${a} < 0 ? ${wrapping("-", dtype, ["0", a])} : ${a}`;
    case "sign":
      return `(${a} > 0) - (${a} < 0)`;
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
    case "random":
      need("random");
      return `philox(${a}, ${b}, ${c})`;
    case "bitsToFloat":
      need("bits");
      return `bits_float(${a})`;
    default:
      throw new InternalError(`Expected an operation on ${dtype} but found ${op}`);
  }
}

/** A conversion, as `cast` of the scalar vocabulary. */
export function castExpression(value: string, from: ValueType, to: ValueType): string {
  if (to === "bool") return from === "bool" ? value : `${value} != 0`;
  // through long: what has no integer becomes the least one, and narrower types keep its low bits
  if (isFloat(from) && !isFloat(to)) {
    return to === "int64" ? `(long) ${value}` : `(${VALUE_TYPE[to]}) (long) ${value}`;
  }
  return `(${VALUE_TYPE[to]}) ${value}`;
}
