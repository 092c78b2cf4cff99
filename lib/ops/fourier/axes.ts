/**
 * Transforms along dimensions of complex tensors, as compositions. Results are real if only real values are possible.
 * Invariant: the scale is applied once.
 */
import { complexType, getDefaultDtype, isComplex, isFloat, isHalf } from "../../base/dtype.ts";
import { DynError } from "../../base/errors.ts";
import { isEqual, isLess } from "../../sym/decide.ts";
import { add, ceilDiv, type Dim, floorDiv, product, sub } from "../../sym/expr.ts";
import type { TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { type NumberOf, numberOf, ratioOf, sizeAsNumber } from "../numbers.ts";
import { checkSizeAtLeast, normalizeDims, ownDim, shapeText } from "../shapes.ts";

/** A transformed dimension and its size. */
export interface Axis {
  readonly dim: number;
  readonly size: Dim;
}

/** Direction of a transform, and its scaling: "backward" (null), "ortho" or "forward". */
export interface Direction {
  readonly inverse: boolean;
  readonly norm: string | null;
}

/** The requested sizes of a transform's dimensions; default: their own. */
export function axesOf(
  { shape }: TensorLike,
  dims: number | readonly number[] | null,
  sizes: readonly Dim[] | null,
): Axis[] {
  const rank = shape.length;
  if (sizes !== null && dims === null && sizes.length > rank) {
    throw new DynError(`Expected at most ${rank} sizes but found ${shapeText(sizes)}`);
  }
  const last = sizes === null
    ? null
    : Array.from({ length: sizes.length }, (_, k) => rank - sizes.length + k);
  const given = dims ?? last, order = normalizeDims(given, rank);
  if (rank === 0) { for (const dim of [given ?? []].flat()) ownDim(dim, []); }
  if (sizes !== null && sizes.length !== order.length) {
    throw new DynError(`Expected as many sizes as dims but found ${sizes.length} for ${order.length}`);
  }
  return order.map((dim, k) => {
    const asked = sizes?.[k] ?? -1, size = asked === -1 ? shape[dim] ?? 1 : asked;
    return { dim, size: checked(size) };
  });
}

/** The one dimension of a transform. */
export function axisOf({ shape }: TensorLike, dim: number, n: Dim | null): Axis {
  const at = ownDim(dim, shape);
  return { dim: at, size: checked(n ?? shape[at] ?? 1) };
}

function checked(size: Dim): Dim {
  checkSizeAtLeast("the size to transform", size, 1);
  return size;
}

/** Throws DynError for a type without transforms. */
export function checkType(name: string, { dtype }: TensorLike, real: boolean): void {
  if (isHalf(dtype)) throw new DynError(`Expected float32 or float64 for ${name} but found ${dtype}`);
  if (real && isComplex(dtype)) throw new DynError(`Expected a real tensor for ${name} but found ${dtype}`);
}

/** The complex type of a transform's result. */
export function transformedType({ dtype }: TensorLike): "complex64" | "complex128" {
  return complexType(dtype);
}

/** The elements of a tensor as pairs, in the form of `transform`. */
function pairsOf<T extends TensorLike>(o: OpApi<T>, x: T): T {
  if (isComplex(x.dtype)) return o.viewAsReal(x);
  const re = isFloat(x.dtype) ? x : o.to(x, getDefaultDtype());
  return o.stack([re, o.zerosLike(re)], -1);
}

/** Cropped, or padded with zeros, to the sizes of the axes. */
function fitted<T extends TensorLike>(o: OpApi<T>, pairs: T, axes: readonly Axis[]): T {
  let found = pairs;
  for (const { dim, size } of axes) {
    const own = found.shape[dim] ?? 1;
    if (isEqual(own, size)) continue;
    if (isLess(size, own)) found = o.narrow(found, dim, 0, size);
    else {
      const behind = found.shape.length - 1 - dim;
      found = o.constantPadNd(found, [...new Array<number>(2 * behind).fill(0), 0, sub(size, own)], 0);
    }
  }
  return found;
}

/** The scale of a norm for this many elements, as a number beside x. */
function scaleOf<T extends TensorLike>(
  o: OpApi<T>,
  x: T,
  { count, direction: { inverse, norm } }: { readonly count: Dim; readonly direction: Direction },
): NumberOf<T> {
  if (norm === "ortho") {
    return numberOf(o, [sizeAsNumber(o, count, x.device)], (m, n) => m.div(m.constant(1), m.sqrt(n)));
  }
  return (norm === "forward") === inverse ? 1 : ratioOf(o, x, { over: 1, by: count });
}

function scaled<T extends TensorLike>(o: OpApi<T>, x: T, axes: readonly Axis[], direction: Direction): T {
  const factor = scaleOf(o, x, { count: product(axes.map(({ size }) => size)), direction });
  return factor === 1 ? x : o.mul(x, factor);
}

/** Sums along each dimension, not scaled. */
function summed<T extends TensorLike>(o: OpApi<T>, pairs: T, axes: readonly Axis[], inverse: boolean): T {
  let found = pairs;
  for (const { dim } of axes) {
    const there = o.transpose(found, dim, -2);
    found = o.transpose(o.fourierPairs(o.contiguous(there), inverse), dim, -2);
  }
  return o.contiguous(found);
}

/** From complex or real tensors to complex ones. */
export function complexToComplex<T extends TensorLike>(
  o: OpApi<T>,
  x: T,
  axes: readonly Axis[],
  direction: Direction,
): T {
  const sums = summed(o, fitted(o, pairsOf(o, x), axes), axes, direction.inverse);
  return o.viewAsComplex(scaled(o, sums, axes, direction));
}

/** The number of frequencies that determine all of a real signal. */
export const halfOf = (size: Dim): Dim => add(floorDiv(size, 2), 1);

/** From real tensors to complex ones; only the half of the last axis that determines the other half. */
export function realToComplex<T extends TensorLike>(
  o: OpApi<T>,
  x: T,
  axes: readonly Axis[],
  direction: Direction,
): T {
  const last = axes.at(-1);
  if (!last) throw new DynError("Expected at least one dim to transform but found none");
  const pairs = fitted(o, pairsOf(o, x), axes), before = axes.slice(0, -1);
  const half = o.narrow(
    summed(o, pairs, [last], direction.inverse),
    last.dim,
    0,
    halfOf(last.size),
  );
  return o.viewAsComplex(scaled(o, summed(o, half, before, direction.inverse), axes, direction));
}

/** From half of a Hermitian tensor to a real one; the last axis has the size of the result. */
export function complexToReal<T extends TensorLike>(
  o: OpApi<T>,
  x: T,
  axes: readonly Axis[],
  direction: Direction,
): T {
  const last = axes.at(-1);
  if (!last) throw new DynError("Expected at least one dim to transform but found none");
  const before = axes.slice(0, -1), { dim, size } = last;
  const given = fitted(o, pairsOf(o, x), [...before, { dim, size: halfOf(size) }]);
  const half = summed(o, given, before, direction.inverse);
  // The other half is the reversed conjugate of this one
  const others = sub(ceilDiv(size, 2), 1);
  const mirrored = () => {
    const there = o.flip(o.narrow(half, dim, 1, others), [dim]);
    return o.stack([o.select(there, -1, 0), o.neg(o.select(there, -1, 1))], -1);
  };
  const whole = others === 0 ? half : o.cat([half, mirrored()], dim);
  const sums = summed(o, whole, [last], direction.inverse);
  return scaled(o, o.contiguous(o.select(sums, -1, 0)), axes, direction);
}
