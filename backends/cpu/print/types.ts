/**
 * Element types, constants and index expressions in C++. Invariant: arithmetic on signed elements wraps, through the
 * unsigned type; bool is one byte, 0 or 1, in memory and `bool` in registers; index expressions are `long`, which
 * does not overflow (-fwrapv would let it, and makes GCC 12 mix up groups of masked loads).
 */
import { type DType, realOnly, type RealType, type ValueType } from "../../../lib/base/dtype.ts";
import { LANES } from "../../../lib/loops/reductions.ts";
import { boundsOf, type Dim, freeSymbols, operandsOf, type Sym } from "../../../lib/sym/expr.ts";

/** The type of a value in a register. */
export const VALUE_TYPE: Readonly<Record<ValueType, string>> = {
  float32: "float",
  float64: "double",
  int64: "long",
  int32: "int",
  bool: "bool",
};

/** The type of an element in memory; small floats are their bits. */
export const MEMORY_TYPE: Readonly<Record<RealType, string>> = {
  ...VALUE_TYPE,
  float16: "unsigned short",
  bfloat16: "unsigned short",
  int16: "short",
  int8: "signed char",
  uint8: "unsigned char",
  bool: "unsigned char",
};

/** The type of an element of a buffer. */
export function memoryType(dtype: DType): string {
  return MEMORY_TYPE[realOnly(dtype)];
}

/** An operator on elements; on signed ones it wraps. */
export function wrapping(
  operator: "+" | "-" | "*",
  dtype: ValueType,
  [a, b]: readonly [string, string],
): string {
  if (dtype !== "int64" && dtype !== "int32") return `${a} ${operator} ${b}`;
  const type = VALUE_TYPE[dtype];
  return `(${type}) ((unsigned ${type}) ${a} ${operator} (unsigned ${type}) ${b})`;
}

/** Suffix of library functions over an element type. */
export const SUFFIX: Readonly<Record<ValueType, string>> = {
  float32: "f32",
  float64: "f64",
  int64: "i64",
  int32: "i32",
  bool: "b",
};

/** A constant as an expression of its type. */
export function literal(value: number | bigint | boolean, dtype: ValueType): string {
  switch (dtype) {
    case "bool":
      return Number(value) !== 0 ? "true" : "false";
    case "int64": {
      const whole = BigInt(value);
      return whole === -(2n ** 63n) ? "(-9223372036854775807L - 1)" : negative(`${whole}L`);
    }
    case "int32":
      return Number(value) === -(2 ** 31) ? "(-2147483647 - 1)" : negative(`${Number(value)}`);
    case "float32":
      return floating(Number(value), "f");
    case "float64":
      return floating(Number(value), "");
    default:
      return dtype satisfies never;
  }
}

const negative = (text: string): string => text.startsWith("-") ? `(${text})` : text;

function floating(value: number, suffix: "f" | ""): string {
  if (Number.isNaN(value)) return `__builtin_nan${suffix}("")`;
  if (!Number.isFinite(value)) return value < 0 ? `(-__builtin_inf${suffix}())` : `__builtin_inf${suffix}()`;
  const text = Object.is(value, -0) ? "-0" : `${value}`;
  return negative((/[.e]/.test(text) ? text : `${text}.0`) + suffix);
}

/** Returns the name of an index symbol: a counter, a size, or a value of the kernel as `long`. */
export type NameOf = (symbol: Sym) => string;

/** Lanes that run together: `LANES` positions of an axis from a multiple of `LANES` on, and the number of one of them. */
export interface Group {
  readonly axis: Sym;
  readonly first: string;
  readonly lane: string;
}

/**
 * An index expression. In a group of lanes, divisions by multiples of `LANES` are those of the first lane where the
 * quotient is that of all of them, so that what is read there is read once.
 */
export function printIndex(d: Dim, nameOf: NameOf, group?: Group): string {
  if (typeof d === "number") return `${d}${Math.abs(d) >= 2 ** 31 ? "L" : ""}`;
  const { node } = d;
  const innerBy = (nameOf: NameOf, group?: Group) => (x: Dim): string => {
    const text = printIndex(x, nameOf, group);
    return typeof x === "number" ? negative(text) : x.node.kind === "symbol" ? text : `(${text})`;
  };
  const inner = innerBy(nameOf, group);
  switch (node.kind) {
    case "symbol":
      return nameOf(d);
    case "sum": {
      let text = "";
      for (const { term, coefficient } of node.terms) {
        const size = Math.abs(coefficient), product = size === 1 ? inner(term) : `${inner(term)} * ${size}L`;
        text += text === ""
          ? (coefficient < 0 ? `-${product}` : product)
          : (coefficient < 0 ? " - " : " + ") + product;
      }
      if (node.constant !== 0) text += node.constant < 0 ? ` - ${-node.constant}` : ` + ${node.constant}`;
      return text;
    }
    case "product":
      return node.factors.map(inner).join(" * ");
    case "floorDiv":
    case "mod": {
      const operands = [node.left, node.right] as const;
      if (!group || !isOneQuotient(operands, group.axis)) return division(node.kind, operands, inner);
      const first = (symbol: Sym) => symbol === group.axis ? group.first : nameOf(symbol);
      const text = division(node.kind, operands, innerBy(first));
      return node.kind === "floorDiv" ? text : `${text} + ${group.lane}`;
    }
    case "min":
    case "max": {
      const a = inner(node.left), b = inner(node.right);
      // Operands that are chosen themselves would double the text at each level
      if (isChoice(node.left) || isChoice(node.right)) return `index_${node.kind}(${a}, ${b})`;
      return `(${a} ${node.kind === "min" ? "<" : ">"} ${b} ? ${a} : ${b})`;
    }
    default:
      return node satisfies never;
  }
}

/** Returns whether a minimum or maximum is printed within an expression. */
function isChoice(d: Dim): boolean {
  if (typeof d === "number") return false;
  const { kind } = d.node;
  return kind === "min" || kind === "max" || operandsOf(d).some(isChoice);
}

/** Returns whether the quotient is the same for all lanes of a group: all but the axis are multiples of `LANES`. */
function isOneQuotient([left, right]: readonly [Dim, Dim], axis: Sym): boolean {
  const divides = (n: number) => n % LANES === 0;
  if (typeof left === "number" || typeof right !== "number" || !divides(right)) return false;
  if (left === axis) return true;
  const { node } = left;
  if (node.kind !== "sum" || !divides(node.constant)) return false;
  return node.terms.some(({ term, coefficient }) => term === axis && coefficient === 1) &&
    node.terms.every(({ term, coefficient }) =>
      term === axis || divides(coefficient) && !freeSymbols(term).has(axis)
    );
}

/** Non-negative 32-bit dividends use unsigned division, which vectorises; others are rounded towards −∞ explicitly. */
function division(
  kind: "floorDiv" | "mod",
  [left, right]: readonly [Dim, Dim],
  inner: (d: Dim) => string,
): string {
  const [low, high] = boundsOf(left), [, most] = boundsOf(right);
  const sign = kind === "floorDiv" ? "/" : "%";
  if (low >= 0 && high < 2 ** 31 && most < 2 ** 31) {
    const divisor = typeof right === "number" ? `${right}u` : `(unsigned) ${inner(right)}`;
    return `(long) ((unsigned) ${inner(left)} ${sign} ${divisor})`;
  }
  if (low >= 0) return `(${inner(left)} ${sign} ${inner(right)})`;
  return `${kind === "floorDiv" ? "index_div" : "index_mod"}(${inner(left)}, ${inner(right)})`;
}
