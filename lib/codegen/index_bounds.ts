/**
 * Bounds of index expressions whose sizes are only known in a call. Invariant: the ranges hold as long as every size is
 * below the limit.
 */
import type { Statement } from "../loops/ir.ts";
import { allOf } from "../loops/uses.ts";
import { boundsOf, type Dim, type Sym } from "../sym/expr.ts";

/** Least and greatest value, both included. */
export type Bounds = readonly [low: number, high: number];

/** The range of index expressions in a kernel, where every size is below `limit`. */
export function boundsWithin(
  body: readonly Statement[],
  sizes: readonly Sym[],
  limit: number,
): (index: Dim) => Bounds {
  if (sizes.length === 0) return boundsOf;
  const known = new Map<Sym, Bounds>(sizes.map((s) => [s, [s.lower, Math.min(s.upper, limit - 1)]]));
  const bounds = (d: Dim): Bounds => rangeOf(d, known);
  for (const s of allOf(body)) {
    if (s.kind === "loop") known.set(s.axis.symbol, [0, Math.max(0, bounds(s.axis.size)[1] - 1)]);
  }
  return bounds;
}

/** Interval arithmetic; symbols without bounds here have those that the expression itself carries. */
function rangeOf(d: Dim, known: ReadonlyMap<Sym, Bounds>): Bounds {
  if (typeof d === "number") return [d, d];
  const { node } = d, own = boundsOf(d);
  const of = (part: Dim) => rangeOf(part, known);
  const within = ([low, high]: Bounds): Bounds => [Math.max(low, own[0]), Math.min(high, own[1])];
  switch (node.kind) {
    case "symbol":
      return within(known.get(d) ?? own);
    case "sum": {
      const parts = node.terms.map(({ term, coefficient }) => scaled(of(term), coefficient));
      return within(parts.reduce<Bounds>(([a, b], [x, y]) => [a + x, b + y], [node.constant, node.constant]));
    }
    case "product":
      return within(node.factors.map(of).reduce<Bounds>(product, [1, 1]));
    case "floorDiv": {
      const [low, high] = of(node.left), [least] = of(node.right);
      return least >= 1 ? within([Math.min(0, low), Math.max(0, high)]) : own;
    }
    case "mod": {
      const [, most] = of(node.right);
      return most > 0 ? within([own[0], most - 1]) : own;
    }
    case "min": {
      const [a, b] = of(node.left), [x, y] = of(node.right);
      return within([Math.min(a, x), Math.min(b, y)]);
    }
    case "max": {
      const [a, b] = of(node.left), [x, y] = of(node.right);
      return within([Math.max(a, x), Math.max(b, y)]);
    }
    default:
      return node satisfies never;
  }
}

const scaled = ([low, high]: Bounds, by: number): Bounds =>
  by >= 0 ? [times(low, by), times(high, by)] : [
    times(high, by),
    times(low, by),
  ];

function product([a, b]: Bounds, [x, y]: Bounds): Bounds {
  const corners = [times(a, x), times(a, y), times(b, x), times(b, y)];
  return [Math.min(...corners), Math.max(...corners)];
}

/** Unlike in floating point, 0 times infinity is 0. */
const times = (a: number, b: number): number => a === 0 || b === 0 ? 0 : a * b;
