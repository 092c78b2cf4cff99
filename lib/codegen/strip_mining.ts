/**
 * Strip-mines loops: cuts them into a loop over parts and one over the iterations of a part. Also computes the lengths
 * of loops.
 */
import {
  add,
  boundsOf,
  type Dim,
  floorDiv,
  freeSymbols,
  max,
  min,
  mul,
  sub,
  type Sym,
  symbol,
} from "../sym/expr.ts";
import type { Axis, Loop } from "../loops/ir.ts";
import { substituteIndices } from "../loops/nest.ts";

/** A loop in parts. */
interface StripMined {
  /** Counter of the parts. */
  readonly axis: Axis;
  /** The loop over one of the parts, the last of which may be shorter. */
  readonly part: Loop;
}

/** Cuts a loop into parts of this length. With `count`, there are that many parts, the last of which may be empty. */
export function stripMine(loop: Loop, length: Dim, count?: number): StripMined {
  const { axis: { symbol: whole, size } } = loop;
  const axis = axisOf("p", count ?? floorDiv(sub(add(size, length), 1), length)), inner = axisOf("r", length);
  const start = mul(axis.symbol, length), left = sub(size, start);
  const even = typeof size === "number" && typeof length === "number" && size % length === 0;
  const part: Loop = {
    ...loop,
    axis: {
      symbol: inner.symbol,
      size: even && count === undefined ? length : min(length, count === undefined ? left : max(0, left)),
    },
    body: substituteIndices(loop.body, (s) => s === whole ? add(start, inner.symbol) : s),
  };
  return { axis, part };
}

/** A new loop counter. */
export function axisOf(name: string, size: Dim): Axis {
  return { symbol: symbol(name, { kind: "axis" }, [0, Math.max(0, boundsOf(size)[1] - 1)]), size };
}

/** Returns whether a length is constant during a call. */
export const isFixed = (length: Dim): boolean => [...freeSymbols(length)].every(isSize);

const isSize = ({ node }: Sym): boolean => node.kind === "symbol" && node.role.kind === "size";

/** A loop's length; its maximum if it differs within a call. */
export const lengthOf = (size: Dim): Dim => isFixed(size) ? size : boundsOf(size)[1];
