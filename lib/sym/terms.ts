/**
 * Symbolic expressions in the forms that proofs need: as a sum of terms, as a difference of two sums without negative
 * coefficients, and as an interval over the intervals of its operands. Invariant: nothing here records or assumes
 * anything.
 */
import { InternalError } from "../base/errors.ts";
import { add, type Dim, mul, operandsOf, type Sym } from "./expr.ts";

/** An inclusive interval. */
export interface Range {
  readonly lower: number;
  readonly upper: number;
}

/** The interval of an unknown value. */
export const EVERYTHING: Range = { lower: -Infinity, upper: Infinity };

/** A sum: constant + Σ coefficient · term. */
export interface Linear {
  readonly constant: number;
  readonly terms: readonly { readonly term: Sym; readonly coefficient: number }[];
}

/** An expression as a sum. */
export function linear(s: Dim): Linear {
  if (typeof s === "number") return { constant: s, terms: [] };
  return s.node.kind === "sum" ? s.node : { constant: 0, terms: [{ term: s, coefficient: 1 }] };
}

/** −e, for an expression. */
export function negated(e: Sym): Sym {
  const result = mul(e, -1);
  if (typeof result === "number") throw new InternalError(`Expected an expression but found ${result}`);
  return result;
}

/** e as positive − negative part, both without negative coefficients. */
export function split(e: Dim): readonly [Dim, Dim] {
  const { constant, terms } = linear(e);
  let positive: Dim = Math.max(constant, 0), negative: Dim = Math.max(-constant, 0);
  for (const { term, coefficient } of terms) {
    if (coefficient > 0) positive = add(positive, mul(term, coefficient));
    else negative = add(negative, mul(term, -coefficient));
  }
  return [positive, negative];
}

/** The interval of an expression whose operands have the intervals that `rangeOf` returns, within its own bounds. */
export function rangeWithin(s: Sym, rangeOf: (d: Dim) => Range): Range {
  const [lower, upper] = operandBounds(s, rangeOf);
  return { lower: Math.max(lower, s.lower), upper: Math.min(upper, s.upper) };
}

/** Unlike in floating point, 0 times infinity is 0. */
const times = (a: number, b: number): number => a === 0 || b === 0 ? 0 : a * b;

function operandBounds(s: Sym, rangeOf: (d: Dim) => Range): readonly [number, number] {
  const { node } = s;
  if (node.kind === "sum") {
    let lower = node.constant, upper = node.constant;
    for (const { term, coefficient } of node.terms) {
      const inner = rangeOf(term);
      lower += times(coefficient, coefficient > 0 ? inner.lower : inner.upper);
      upper += times(coefficient, coefficient > 0 ? inner.upper : inner.lower);
    }
    return [lower, upper];
  }
  const ranges = operandsOf(s).map(rangeOf), divisor = ranges[1] ?? EVERYTHING;
  const corners = (combine: (a: number, b: number) => number): readonly [number, number] => {
    const [first = EVERYTHING, ...rest] = ranges;
    let { lower, upper } = first;
    for (const next of rest) {
      const values = [lower, upper].flatMap((a) => [combine(a, next.lower), combine(a, next.upper)]);
      // An infinite quotient of infinities is one of the other corners
      const known = values.map((v) => Number.isNaN(v) ? 0 : v);
      lower = Math.min(...known);
      upper = Math.max(...known);
    }
    return [lower, upper];
  };
  switch (node.kind) {
    case "product":
      return corners(times);
    case "min":
      return corners(Math.min);
    case "max":
      return corners(Math.max);
    case "floorDiv":
      return divisor.lower > 0 ? corners((a, b) => Math.floor(a / b)) : [-Infinity, Infinity];
    case "mod":
      return [-Infinity, divisor.upper > 0 ? divisor.upper - 1 : Infinity];
    case "symbol":
      return [-Infinity, Infinity];
    default:
      return node satisfies never;
  }
}
