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

/** Returns bounds of an expression that is not a sum, as if its operands were symbols with these ranges. */
export function rebuiltBounds(s: Sym, rangeOf: (d: Dim) => Range): readonly [number, number] {
  const ranges = operandsOf(s).map(rangeOf);
  const corners = (combine: (a: number, b: number) => number): readonly [number, number] => {
    const [first = EVERYTHING, ...rest] = ranges;
    let { lower, upper } = first;
    for (const next of rest) {
      const values = [lower, upper].flatMap((a) => [combine(a, next.lower), combine(a, next.upper)]);
      // 0·∞ arises only where a factor may be 0
      const known = values.map((v) => Number.isNaN(v) ? 0 : v);
      lower = Math.min(...known);
      upper = Math.max(...known);
    }
    return [lower, upper];
  };
  switch (s.node.kind) {
    case "product":
      return corners((a, b) => a * b);
    case "min":
      return corners(Math.min);
    case "max":
      return corners(Math.max);
    case "floorDiv": {
      const divisor = ranges[1] ?? EVERYTHING;
      return divisor.lower > 0 ? corners((a, b) => Math.floor(a / b)) : [s.lower, s.upper];
    }
    case "mod":
    case "symbol":
    case "sum":
      return [s.lower, s.upper];
    default:
      return s.node satisfies never;
  }
}
