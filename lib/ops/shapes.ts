/**
 * Shape rules that ops share: dimensions counted from the end, broadcasting, reduced shapes, inferred sizes and index
 * ranges. Invariant: sizes are compared only through sym/decide.ts, so that assumptions of a trace are recorded.
 */
import { DynError } from "../base/errors.ts";
import { add, ceilDiv, type Dim, floorDiv, max, min, mod, mul, product, sub, Sym } from "../sym/expr.ts";
import type { Scalar } from "./params.ts";
import { isAtMost, isEqual, isLess, isUnbacked, sizeText, specialize } from "../sym/decide.ts";

/** A shape as text, for messages: with the sizes of the traced call. */
export function shapeText(shape: readonly Dim[]): string {
  return `[${shape.map(sizeText).join(", ")}]`;
}

/** A dimension of a tensor of `rank` dimensions, counted from the front. A 0-d tensor has dimensions −1 and 0. */
export function normalizeDim(dim: number, rank: number): number {
  const count = Math.max(rank, 1);
  if (!Number.isInteger(dim) || dim < -count || dim >= count) {
    throw new DynError(`Expected dim in [${-count}, ${count - 1}] but found ${dim}`);
  }
  return dim < 0 ? dim + count : dim;
}

/** The same for ops along a dimension, of which a 0-d tensor has none. */
export function ownDim(dim: number, { length }: readonly unknown[]): number {
  if (length === 0) throw new DynError("Expected a tensor with at least 1 dimension but found a 0-d one");
  return normalizeDim(dim, length);
}

/** Several dimensions, each once; null means all. */
export function normalizeDims(dims: number | readonly number[] | null, rank: number): number[] {
  if (dims === null) return Array.from({ length: rank }, (_, d) => d);
  const list = (typeof dims === "number" ? [dims] : dims).map((d) => normalizeDim(d, rank));
  const seen = new Set<number>();
  for (const d of list) {
    if (seen.has(d)) throw new DynError(`Expected each dim once but found dim ${d} twice`);
    seen.add(d);
  }
  return rank === 0 ? [] : list;
}

/** Maximum rank of a tensor that is reduced: PyTorch keeps a bit per dimension in a word. */
const MOST_REDUCED = 64;

/** Like `normalizeDims`, but an empty list also means all dimensions, as in sums. */
export function reducedDims(dims: number | readonly number[] | null, rank: number): number[] {
  if (rank > MOST_REDUCED) {
    throw new DynError(`Expected at most ${MOST_REDUCED} dimensions but found ${rank}`);
  }
  return normalizeDims(typeof dims === "object" && dims?.length === 0 ? null : dims, rank);
}

/** The shape after reducing `dims` (normalized). */
export function reducedShape(shape: readonly Dim[], dims: readonly number[], keepdim: boolean): Dim[] {
  return keepdim
    ? shape.map((size, d) => dims.includes(d) ? 1 : size)
    : shape.filter((_, d) => !dims.includes(d));
}

/** The common size of two broadcast dimensions, or undefined if they do not fit. */
function broadcastSize(a: Dim, b: Dim): Dim | undefined {
  if (a === b) return a;
  if (isEqual(a, 1)) return b;
  if (isEqual(b, 1)) return a;
  if (isEqual(a, b)) return typeof a === "number" ? a : b;
  return undefined;
}

/** The shape that shapes broadcast to. */
export function broadcastShapes(...shapes: readonly (readonly Dim[])[]): Dim[] {
  const rank = Math.max(0, ...shapes.map((s) => s.length));
  const out: Dim[] = new Array<Dim>(rank).fill(1);
  for (const shape of shapes) {
    for (let i = 1; i <= shape.length; i++) {
      const size = broadcastSize(out[rank - i] ?? 1, shape[shape.length - i] ?? 1);
      if (size === undefined) {
        throw new DynError(
          `Expected shapes that broadcast but found ${shapes.map(shapeText).join(" and ")}, ` +
            `which differ at dimension ${rank - i}`,
        );
      }
      out[rank - i] = size;
    }
  }
  return out;
}

/** Returns whether a shape broadcasts to another without changing it. */
export function broadcastsTo(shape: readonly Dim[], to: readonly Dim[]): boolean {
  if (shape.length > to.length) return false;
  const lead = to.length - shape.length;
  return shape.every((size, d) => isEqual(size, 1) || isEqual(size, to[lead + d] ?? 1));
}

/** Returns whether two shapes are the same. */
export function sameShape(a: readonly Dim[], b: readonly Dim[]): boolean {
  return a.length === b.length && a.every((size, d) => isEqual(size, b[d] ?? 0));
}

/** The index into an operand of `shape` that is broadcast to the shape that `index` runs over. */
export function broadcastIndex(shape: readonly Dim[], index: readonly Dim[]): Dim[] {
  const lead = index.length - shape.length;
  return shape.map((size, d) => isEqual(size, 1) ? 0 : index[lead + d] ?? 0);
}

/** An index of the reduced tensor, combined with reduced axes at `dims`. */
export function fullIndex(
  index: readonly Dim[],
  reduced: readonly Dim[],
  layout: { readonly rank: number; readonly dims: readonly number[]; readonly keepdim: boolean },
): Dim[] {
  const full: Dim[] = [];
  let next = 0;
  for (let d = 0; d < layout.rank; d++) {
    const at = layout.dims.indexOf(d);
    if (at < 0) full.push(index[layout.keepdim ? d : next++] ?? 0);
    else full.push(reduced[at] ?? 0);
  }
  return full;
}

/** The row-major position of an index. */
export function flatIndex(index: readonly Dim[], shape: readonly Dim[]): Dim {
  return index.reduce<Dim>((flat, i, d) => add(mul(flat, shape[d] ?? 1), i), 0);
}

/** The index at a row-major position. */
export function unravel(flat: Dim, shape: readonly Dim[]): Dim[] {
  const index: Dim[] = new Array<Dim>(shape.length);
  let rest = flat;
  for (let d = shape.length - 1; d >= 0; d--) {
    const size = shape[d] ?? 1;
    index[d] = d === 0 ? rest : mod(rest, size);
    rest = floorDiv(rest, size);
  }
  return index;
}

/** Infers the size given as −1 from the number of elements. */
export function inferSizes(sizes: readonly Dim[], count: Dim): Dim[] {
  const unknown = sizes.findIndex((s) => s === -1);
  if (sizes.some((s, d) => s === -1 && d !== unknown)) {
    throw new DynError(`Expected at most one size of -1 but found ${shapeText(sizes)}`);
  }
  for (const s of sizes) {
    if (typeof s === "number" && (s < -1 || !Number.isInteger(s))) {
      throw new DynError(`Expected non-negative sizes but found ${shapeText(sizes)}`);
    }
  }
  const known = product(sizes.filter((_, d) => d !== unknown));
  const fail = () =>
    new DynError(`Expected a shape for ${sizeText(count)} elements but found ${shapeText(sizes)}`);
  if (unknown < 0) {
    if (!isEqual(known, count)) throw fail();
    return [...sizes];
  }
  if (isEqual(known, 0)) {
    throw new DynError(`Expected a shape that determines the size of -1 but found ${shapeText(sizes)}`);
  }
  if (!isEqual(mod(count, known), 0)) throw fail();
  return sizes.map((s, d) => d === unknown ? floorDiv(count, known) : s);
}

/** Checks that sizes are not negative. */
export function checkSizes(sizes: readonly Dim[]): void {
  for (const s of sizes) {
    if (isLess(s, 0) || (typeof s === "number" && !Number.isInteger(s))) {
      throw new DynError(`Expected non-negative sizes but found ${shapeText(sizes)}`);
    }
  }
}

/** Throws DynError unless `what`, an integer that may be a size, is at least `least`; symbolic ones guard the answer. */
export function checkSizeAtLeast(what: string, value: Dim, least: number): void {
  if (isLess(value, least)) {
    throw new DynError(`Expected ${what} to be at least ${least} but found ${sizeText(value)}`);
  }
}

/** An index into a dimension of `size`, counted from the front. */
export function normalizeIndex(index: Dim, size: Dim): Dim {
  if (typeof index === "number" && !Number.isInteger(index)) {
    throw new DynError(`Expected an integer index but found ${index}`);
  }
  const from = isLess(index, 0) ? add(index, size) : index;
  if (isLess(from, 0) || !isLess(from, size)) {
    throw new DynError(
      `Expected index in [${sizeText(mul(-1, size))}, ${sizeText(sub(size, 1))}] but found ${
        sizeText(index)
      }`,
    );
  }
  return from;
}

/** The part [start, end) of a dimension, clamped as in Python. */
export function sliceRange(size: Dim, start: Dim | null, end: Dim | null): { start: Dim; end: Dim } {
  const clamp = (bound: Dim): Dim => {
    const from = isLess(bound, 0) ? add(bound, size) : bound;
    if (isLess(from, 0)) return 0;
    // For an unbacked size, the minimum is computed when the graph runs
    if (isUnbacked(from) || isUnbacked(size)) return min(from, size);
    return from === size || isAtMost(from, size) ? from : size;
  };
  const first = start === null ? 0 : clamp(start);
  const last = end === null || end === Infinity ? size : clamp(end);
  if (isUnbacked(first) || isUnbacked(last)) return { start: first, end: max(first, last) };
  return { start: first, end: isLess(last, first) ? first : last };
}

/** Returns the number of elements of a slice. */
export function sliceLength(range: { start: Dim; end: Dim }, step: Dim): Dim {
  return ceilDiv(sub(range.end, range.start), step);
}

/** A size that must be a number here: a symbolic one becomes its value in the call being traced, with a guard. */
export function knownSize(d: Dim): number {
  return typeof d === "number" ? d : specialize(d);
}

/** A number that must be known here; symbolic ones as in `knownSize`. */
export function knownNumber(value: Scalar | Dim): number {
  return value instanceof Sym ? specialize(value) : Number(value);
}

/** The shape with dimension `dim` replaced. */
export function withSize(shape: readonly Dim[], dim: number, size: Dim): Dim[] {
  return shape.map((s, d) => d === dim ? size : s);
}

/** An integer or several, as exactly `count` integers. */
export function spread(value: number | readonly number[], count: number, what: string): number[];
export function spread(value: Dim | readonly Dim[], count: number, what: string): Dim[];
export function spread(value: Dim | readonly Dim[], count: number, what: string): Dim[] {
  if (typeof value === "number" || value instanceof Sym) return new Array<Dim>(count).fill(value);
  if (value.length === 1 && count !== 1) return new Array<Dim>(count).fill(value[0] ?? 0);
  if (value.length !== count) {
    throw new DynError(
      `Expected ${what} to be one integer or ${count} but found [${value.map(sizeText).join(", ")}]`,
    );
  }
  return [...value];
}
