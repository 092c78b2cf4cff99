/**
 * JavaScript expressions for the scalar vocabulary. Input: an operation, its operand type and operand texts;
 * output: an expression text. Values are numbers (bool as 0 or 1), int64 is bigint. Invariant: a float32
 * expression is rounded to float32 whenever its operation may be inexact.
 */
import { isFloat, type ValueType } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import type { ScalarOpName } from "../../lib/loops/scalar.ts";

type Unary = (a: string) => string;

/** Float functions that are exact, hence need no rounding. */
const EXACT: Partial<Record<ScalarOpName, Unary>> = {
  neg: (a) => `(-${a})`,
  abs: (a) => `Math.abs(${a})`,
  sign: (a) => `Math.sign(${a})`,
  floor: (a) => `Math.floor(${a})`,
  ceil: (a) => `Math.ceil(${a})`,
  trunc: (a) => `Math.trunc(${a})`,
  round: (a) => `m.roundEven(${a})`,
};

/** Float functions computed in double precision and then rounded. */
const ROUNDED: Partial<Record<ScalarOpName, Unary>> = {
  sqrt: (a) => `Math.sqrt(${a})`,
  rsqrt: (a) => `(1 / Math.sqrt(${a}))`,
  exp: (a) => `Math.exp(${a})`,
  exp2: (a) => `Math.pow(2, ${a})`,
  expm1: (a) => `Math.expm1(${a})`,
  log: (a) => `Math.log(${a})`,
  log2: (a) => `Math.log2(${a})`,
  log10: (a) => `Math.log10(${a})`,
  log1p: (a) => `Math.log1p(${a})`,
  sin: (a) => `Math.sin(${a})`,
  cos: (a) => `Math.cos(${a})`,
  tan: (a) => `Math.tan(${a})`,
  asin: (a) => `Math.asin(${a})`,
  acos: (a) => `Math.acos(${a})`,
  atan: (a) => `Math.atan(${a})`,
  sinh: (a) => `Math.sinh(${a})`,
  cosh: (a) => `Math.cosh(${a})`,
  tanh: (a) => `Math.tanh(${a})`,
  asinh: (a) => `Math.asinh(${a})`,
  acosh: (a) => `Math.acosh(${a})`,
  atanh: (a) => `Math.atanh(${a})`,
  erf: (a) => `m.erf(${a})`,
  erfc: (a) => `m.erfc(${a})`,
  lgamma: (a) => `m.lgamma(${a})`,
  digamma: (a) => `m.digamma(${a})`,
};

const COMPARE: Partial<Record<ScalarOpName, string>> = {
  eq: "===",
  ne: "!==",
  lt: "<",
  le: "<=",
  gt: ">",
  ge: ">=",
};

/** The expression of one operation on operands of type `dtype`. */
export function scalarText(op: ScalarOpName, dtype: ValueType, args: readonly string[]): string {
  const [a = "", b = "", c = ""] = args;
  const comparison = COMPARE[op];
  if (comparison) return `(${a} ${comparison} ${b} ? 1 : 0)`;
  if (op === "random") return `m.philox(${a}, ${b}, ${c})`;
  if (op === "bitsToFloat") return `m.bitsToFloat(${a})`;
  if (op === "floatToBits") return `m.floatToBits(${a})`;
  if (isFloat(dtype)) return floatText(op, dtype, a, b, c);
  return dtype === "int64" ? bigText(op, a, b) : intText(op, dtype, a, b);
}

function floatText(op: ScalarOpName, dtype: ValueType, a: string, b: string, c: string): string {
  const round = (text: string) => dtype === "float32" ? `f(${text})` : text;
  const exact = EXACT[op];
  if (exact) return exact(a);
  const rounded = ROUNDED[op];
  if (rounded) return round(rounded(a));
  switch (op) {
    case "add":
      return round(`(${a} + ${b})`);
    case "sub":
      return round(`(${a} - ${b})`);
    case "mul":
      return round(`(${a} * ${b})`);
    case "div":
      return round(`(${a} / ${b})`);
    case "fma":
      return dtype === "float32" ? `f(${a} * ${b} + ${c})` : `m.fma(${a}, ${b}, ${c})`;
    case "truncMod":
      return `(${a} % ${b})`;
    case "floorMod":
      return round(`m.floorMod(${a}, ${b})`);
    case "minimum":
      return `(${b} < ${a} || ${b} !== ${b} ? ${b} : ${a})`;
    case "maximum":
      return `(${b} > ${a} || ${b} !== ${b} ? ${b} : ${a})`;
    case "atan2":
      return round(`Math.atan2(${a}, ${b})`);
    case "pow":
      return round(`m.pow(${a}, ${b})`);
    case "isNan":
      return `(${a} !== ${a} ? 1 : 0)`;
    default:
      throw new InternalError(`Expected a float operation but found ${op} on ${dtype}`);
  }
}

function intText(op: ScalarOpName, dtype: ValueType, a: string, b: string): string {
  const wrap = (text: string) => dtype === "bool" ? `(${text} & 1)` : `(${text} | 0)`;
  switch (op) {
    case "add":
      return wrap(`${a} + ${b}`);
    case "sub":
      return wrap(`${a} - ${b}`);
    case "mul":
      return dtype === "int32" ? `Math.imul(${a}, ${b})` : wrap(`${a} * ${b}`);
    case "neg":
      return wrap(`-${a}`);
    case "abs":
      return wrap(`Math.abs(${a})`);
    case "sign":
      return `(Math.sign(${a}) | 0)`;
    case "truncDiv":
      return `(${b} === 0 ? 0 : ${a} / ${b} | 0)`;
    case "floorDiv":
      return `(${b} === 0 ? 0 : Math.floor(${a} / ${b}) | 0)`;
    case "truncMod":
      return `(${b} === 0 ? 0 : ${a} % ${b} | 0)`;
    case "floorMod":
      return `(${b} === 0 ? 0 : m.floorMod(${a}, ${b}) | 0)`;
    case "minimum":
      return `(${a} < ${b} ? ${a} : ${b})`;
    case "maximum":
      return `(${a} > ${b} ? ${a} : ${b})`;
    case "pow":
      return wrap(`m.powInt(${a}, ${b})`);
    case "and":
      return `(${a} & ${b})`;
    case "or":
      return `(${a} | ${b})`;
    case "xor":
      return `(${a} ^ ${b})`;
    case "not":
      return wrap(`~${a}`);
    case "shl":
      return `(${b} >>> 0 < 32 ? ${a} << ${b} : 0)`;
    case "shr":
      return `(${b} >>> 0 < 32 ? ${a} >> ${b} : ${a} < 0 ? -1 : 0)`;
    default:
      throw new InternalError(`Expected an integer operation but found ${op} on ${dtype}`);
  }
}

/** The expression of an int64 operation whose operands and result are exact as numbers. */
export function integerText(op: ScalarOpName, [a = "", b = ""]: readonly string[]): string {
  const comparison = COMPARE[op];
  if (comparison) return `(${a} ${comparison} ${b} ? 1 : 0)`;
  switch (op) {
    case "add":
      return `(${a} + ${b})`;
    case "sub":
      return `(${a} - ${b})`;
    case "mul":
      return `(${a} * ${b})`;
    case "neg":
      return `(0 - ${a})`;
    case "abs":
      return `Math.abs(${a})`;
    case "truncDiv":
      return `(${b} === 0 ? 0 : Math.trunc(${a} / ${b}))`;
    case "floorDiv":
      return `(${b} === 0 ? 0 : Math.floor(${a} / ${b}))`;
    case "truncMod":
      return `(${b} === 0 ? 0 : ${a} % ${b})`;
    case "floorMod":
      return `(${b} === 0 ? 0 : m.floorMod(${a}, ${b}))`;
    case "minimum":
      return `(${a} < ${b} ? ${a} : ${b})`;
    case "maximum":
      return `(${a} > ${b} ? ${a} : ${b})`;
    default:
      throw new InternalError(`Expected an operation that is exact on numbers but found ${op}`);
  }
}

function bigText(op: ScalarOpName, a: string, b: string): string {
  const wrap = (text: string) => `BigInt.asIntN(64, ${text})`;
  switch (op) {
    case "add":
      return wrap(`${a} + ${b}`);
    case "sub":
      return wrap(`${a} - ${b}`);
    case "mul":
      return wrap(`${a} * ${b}`);
    case "neg":
      return wrap(`-${a}`);
    case "abs":
      return wrap(`${a} < 0n ? -${a} : ${a}`);
    case "sign":
      return `(${a} > 0n ? 1n : ${a} < 0n ? -1n : 0n)`;
    case "truncDiv":
      return `(${b} === 0n ? 0n : ${wrap(`${a} / ${b}`)})`;
    case "floorDiv":
      return `(${b} === 0n ? 0n : ${wrap(`m.floorDivBig(${a}, ${b})`)})`;
    case "truncMod":
      return `(${b} === 0n ? 0n : ${a} % ${b})`;
    case "floorMod":
      return `(${b} === 0n ? 0n : m.floorModBig(${a}, ${b}))`;
    case "minimum":
      return `(${a} < ${b} ? ${a} : ${b})`;
    case "maximum":
      return `(${a} > ${b} ? ${a} : ${b})`;
    case "pow":
      return wrap(`m.powBig(${a}, ${b})`);
    case "and":
      return `(${a} & ${b})`;
    case "or":
      return `(${a} | ${b})`;
    case "xor":
      return `(${a} ^ ${b})`;
    case "not":
      return `(~${a})`;
    case "shl":
      return `(${b} >= 0n && ${b} < 64n ? ${wrap(`${a} << ${b}`)} : 0n)`;
    case "shr":
      return `(${b} >= 0n && ${b} < 64n ? ${a} >> ${b} : ${a} < 0n ? -1n : 0n)`;
    default:
      throw new InternalError(`Expected an integer operation but found ${op} on int64`);
  }
}

/** The expression of a conversion. */
export function castText(from: ValueType, to: ValueType, a: string): string {
  if (from === to) return a;
  if (to === "bool") return from === "int64" ? `(${a} !== 0n ? 1 : 0)` : `(${a} !== 0 ? 1 : 0)`;
  if (from === "int64") {
    switch (to) {
      case "float64":
        return `Number(${a})`;
      case "float32":
        return `f(Number(${a}))`;
      case "int32":
        return `Number(BigInt.asIntN(32, ${a}))`;
      case "int64":
        return a;
      default:
        return to satisfies never;
    }
  }
  switch (to) {
    case "float64":
      return a;
    case "float32":
      return from === "float64" || from === "int32" ? `f(${a})` : a;
    case "int64":
      return isFloat(from) ? `m.toBig(${a})` : `BigInt(${a})`;
    case "int32":
      return isFloat(from) ? `(${a} | 0)` : a;
    default:
      return to satisfies never;
  }
}

/** A constant as text. */
export function constantText(value: number | bigint | boolean, dtype: ValueType): string {
  if (dtype === "int64") return `(${BigInt(value)}n)`;
  const number = Number(value);
  if (Object.is(number, -0)) return "(-0)";
  return number < 0 ? `(${number})` : `${number}`;
}
