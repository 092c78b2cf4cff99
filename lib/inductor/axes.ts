/**
 * Matches the axes of two iteration spaces, splitting axes where one space is the other reshaped. Invariant:
 * substituting the replacements maps each space onto the common one, element for element.
 */
import type { Axis } from "../loops/ir.ts";
import { coefficientOf } from "../loops/nest.ts";
import {
  add,
  type Dim,
  divideDims,
  floorDiv,
  mod,
  mul,
  operandsOf,
  substitute,
  type Sym,
} from "../sym/expr.ts";
import { hintOf } from "../sym/decide.ts";
import { newAxis } from "./computation.ts";

/** Old axis symbols in terms of new ones. */
export type Replacement = ReadonlyMap<Sym, Dim>;

/** One axis and how far a step along it moves. */
export interface Strided {
  readonly axis: Axis;
  readonly stride: Dim;
}

/** One common axis and the axes it came from. */
interface Match {
  readonly axis: Axis;
  readonly left: Sym;
  readonly right: Sym;
}

export interface Unified {
  readonly matches: readonly Match[];
  readonly left: Replacement;
  readonly right: Replacement;
}

/** The axes by their strides in an index; undefined where the index is not linear in them. */
export function stridesIn(index: Dim, axes: readonly Axis[]): { strided: Strided[]; rest: Dim } | undefined {
  const strided: Strided[] = [];
  let rest: Dim = index;
  for (const axis of axes) {
    const stride = coefficientOf(index, axis.symbol);
    if (stride === undefined) return undefined;
    if (stride === 0) continue;
    strided.push({ axis, stride });
    rest = add(rest, mul(-1, mul(stride, axis.symbol)));
  }
  return { strided, rest };
}

/** Axes with the strides of a row-major array of their sizes. */
export function rowMajor(axes: readonly Axis[]): Strided[] {
  let step: Dim = 1;
  return axes.toReversed().map((axis) => {
    const strided = { axis, stride: step };
    step = mul(step, axis.size);
    return strided;
  });
}

/** The part of an axis that is not matched yet. */
interface Remainder {
  readonly symbol: Sym;
  size: Dim;
  stride: Dim;
  /** Stride of this part in steps of the original axis. */
  unit: Dim;
}

/** Matches two lists completely, from the smallest stride up; undefined if they do not fit together. */
export function unify(left: readonly Strided[], right: readonly Strided[]): Unified | undefined {
  const a = remainders(left), b = remainders(right);
  const matches: Match[] = [];
  const made = { left: new Map<Sym, Dim>(), right: new Map<Sym, Dim>() };
  const take = (from: Remainder, into: Map<Sym, Dim>, piece: Axis) => {
    into.set(from.symbol, add(into.get(from.symbol) ?? 0, mul(piece.symbol, from.unit)));
    const size = divideDims(from.size, piece.size) ?? 1;
    from.stride = mul(from.stride, piece.size);
    from.unit = mul(from.unit, piece.size);
    from.size = size;
  };
  for (;;) {
    drop(a);
    drop(b);
    const x = a[0], y = b[0];
    if (!x || !y) return x || y ? undefined : { matches, left: made.left, right: made.right };
    if (x.stride !== y.stride) return undefined;
    const size = x.size === y.size || divideDims(y.size, x.size) !== undefined
      ? x.size
      : divideDims(x.size, y.size) !== undefined
      ? y.size
      : undefined;
    if (size === undefined) return undefined;
    const { node } = x.symbol;
    const axis = newAxis(size, node.kind === "symbol" ? node.name : "i");
    matches.unshift({ axis, left: x.symbol, right: y.symbol });
    take(x, made.left, axis);
    take(y, made.right, axis);
  }
}

function remainders(list: readonly Strided[]): Remainder[] {
  return list
    .map(({ axis, stride }) => ({ symbol: axis.symbol, size: axis.size, stride, unit: 1 as Dim }))
    .sort((p, q) => hintOf(p.stride) - hintOf(q.stride));
}

function drop(list: Remainder[]): void {
  while (list[0]?.size === 1) list.shift();
}

/** An expression with its axes replaced. */
export function replaceIn(d: Dim, replacement: Replacement): Dim {
  return replacement.size === 0 ? d : substitute(d, (s) => replacement.get(s) ?? s);
}

/**
 * Joins neighbouring axes that every index walks as one; returns the new axes and each old one in terms of them.
 * `areEqual` compares strides.
 */
export function joinAxes(
  axes: readonly Axis[],
  indices: ReadonlySet<Dim>,
  areEqual: (a: Dim, b: Dim) => boolean = Object.is,
): { axes: readonly Axis[]; replacement: Replacement } {
  const left = [...axes];
  let current = new Set(indices);
  const replacement = new Map<Sym, Dim>();
  for (let d = left.length - 2; d >= 0; d--) {
    const outer = left[d], inner = left[d + 1];
    if (!outer || !inner) continue;
    if (![...current].every((index) => walkedAsOne(index, [outer, inner], areEqual))) continue;
    const { node } = inner.symbol;
    const joined = newAxis(mul(outer.size, inner.size), node.kind === "symbol" ? node.name : "i");
    const step: Replacement = new Map([
      [outer.symbol, floorDiv(joined.symbol, inner.size)],
      [inner.symbol, mod(joined.symbol, inner.size)],
    ]);
    for (const [symbol, expression] of replacement) replacement.set(symbol, replaceIn(expression, step));
    for (const [symbol, expression] of step) replacement.set(symbol, expression);
    current = new Set([...current].map((index) => replaceIn(index, step)));
    left.splice(d, 2, joined);
  }
  return { axes: left, replacement };
}

function walkedAsOne(
  index: Dim,
  [outer, inner]: readonly [Axis, Axis],
  areEqual: (a: Dim, b: Dim) => boolean,
): boolean {
  const a = coefficientOf(index, outer.symbol), b = coefficientOf(index, inner.symbol);
  return a !== undefined && b !== undefined && areEqual(a, mul(b, inner.size));
}

/**
 * Cuts axes where that makes indices linear: an index over axis div c or axis mod c is linear in the two parts of the
 * axis cut at c. Returns the new axes and the old ones in terms of them.
 */
export function cutAxes(
  axes: readonly Axis[],
  indices: ReadonlySet<Dim>,
): { axes: readonly Axis[]; replacement: Replacement } {
  let current: ReadonlySet<Dim> = indices, left = [...axes];
  let replacement: Replacement = new Map();
  for (let round = 0; round < 8; round++) {
    const cut = cutOf(left, current);
    if (!cut) break;
    const { axis, at, rest } = cut;
    const { node } = axis.symbol;
    const name = node.kind === "symbol" ? node.name : "i";
    const major = newAxis(rest, name), minor = newAxis(at, name);
    const step: Replacement = new Map([[axis.symbol, add(mul(major.symbol, at), minor.symbol)]]);
    left = left.flatMap((each) => each === axis ? [major, minor] : [each]);
    replacement = new Map([...[...replacement].map(([s, d]) => [s, replaceIn(d, step)] as const), ...step]);
    current = new Set([...current].map((index) => replaceIn(index, step)));
  }
  return { axes: left, replacement };
}

/** Where to cut: an axis, and a divisor of its size by which some index divides it. */
function cutOf(
  axes: readonly Axis[],
  indices: ReadonlySet<Dim>,
): { axis: Axis; at: Dim; rest: Dim } | undefined {
  const seen = new Set<Dim>();
  const search = (d: Dim): { axis: Axis; at: Dim; rest: Dim } | undefined => {
    if (typeof d === "number" || seen.has(d)) return undefined;
    seen.add(d);
    const { node } = d;
    if (node.kind === "floorDiv" || node.kind === "mod") {
      const axis = axes.find((a) => a.symbol === node.left);
      const rest = axis && node.right !== 1 ? divideDims(axis.size, node.right) : undefined;
      if (axis && rest !== undefined && rest !== 1) return { axis, at: node.right, rest };
    }
    for (const operand of operandsOf(d)) {
      const found = search(operand);
      if (found) return found;
    }
    return undefined;
  };
  for (const index of indices) {
    const found = search(index);
    if (found) return found;
  }
  return undefined;
}
