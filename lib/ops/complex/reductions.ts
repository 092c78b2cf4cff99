/**
 * Products, norms and statistics of complex tensors; norms are real. Invariant: products are trees of log n
 * multiplications, so that their gradients hold where elements are 0.
 */
import { DynError } from "../../base/errors.ts";
import { isComplex } from "../../base/dtype.ts";
import type { Dim } from "../../sym/expr.ts";
import { cumulative } from "../reductions/cumulative.ts";
import type { TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { linearAlgebra, matrixDims, matrixNormOf } from "../linalg/linear_algebra.ts";
import { isTensor } from "../promotion.ts";
import { reductions } from "../reductions/reductions.ts";
import { knownSize, normalizeDim, withSize } from "../shapes.ts";
import { statistics } from "../reductions/statistics.ts";
import { partsOf } from "./parts.ts";
import { type ComplexRule, rule } from "./rule.ts";

/** Ones in the shape of a tensor, of another size along a dimension. */
function onesAlong<T extends TensorLike>(o: OpApi<T>, z: T, dim: number, size: Dim): T {
  return o.ones(withSize(z.shape, dim, size), { dtype: z.dtype, device: z.device });
}

/** The product along a dimension: halves are multiplied until one element is left. */
function productAlong<T extends TensorLike>(o: OpApi<T>, z: T, dim: number): T {
  let left = z;
  for (let size = knownSize(z.shape[dim] ?? 1); size > 1; size = Math.ceil(size / 2)) {
    const half = Math.ceil(size / 2);
    const even = size % 2 === 0 ? left : o.cat([left, onesAlong(o, left, dim, 1)], dim);
    left = o.mul(o.narrow(even, dim, 0, half), o.narrow(even, dim, half, half));
  }
  if (left.shape[dim] === 0) return onesAlong(o, left, dim, 1);
  return left === z ? o.clone(z) : left;
}

/** Cumulative products: each step multiplies by the element twice as far back (Hillis and Steele 1986). */
function runningProduct<T extends TensorLike>(o: OpApi<T>, z: T, dim: number): T {
  const size = knownSize(z.shape[dim] ?? 1);
  let found = z;
  for (let back = 1; back < size; back *= 2) {
    const former = o.cat([onesAlong(o, z, dim, back), o.narrow(found, dim, 0, size - back)], dim);
    found = o.mul(found, former);
  }
  return found === z ? o.clone(z) : found;
}

const typed = <T extends TensorLike>(o: OpApi<T>, x: T, dtype: T["dtype"] | null): T =>
  dtype === null ? x : o.to(x, dtype);

/** Norms depend only on magnitudes. */
const sized = <T extends TensorLike>(o: OpApi<T>, x: T): T => isComplex(x.dtype) ? o.abs(x) : x;

function realOnly(name: string, dtype: string | null): void {
  if (dtype === "complex64" || dtype === "complex128") {
    throw new DynError(`Expected a type of real numbers for ${name} but found ${dtype}`);
  }
}

/** Orders of matrix norms that depend only on magnitudes. */
const ENTRYWISE: readonly unknown[] = ["fro", 1, -1, Infinity, -Infinity];

export const reductionRules: readonly ComplexRule[] = [
  rule(reductions.prod, (o, { self, dim, keepdim, dtype }) => {
    const z = typed(o, self, dtype);
    if (dim === null) return o.reshape(productAlong(o, o.reshape(z, [-1]), 0), []);
    const at = normalizeDim(dim, z.shape.length);
    if (z.shape.length === 0) return o.clone(z);
    const found = productAlong(o, z, at);
    return keepdim ? found : o.squeeze(found, at);
  }),
  rule(cumulative.cumprod, (o, { self, dim, dtype }) => {
    const z = typed(o, self, dtype), at = normalizeDim(dim, z.shape.length);
    return z.shape.length === 0 ? o.clone(z) : runningProduct(o, z, at);
  }),
  rule(statistics.var, (o, { self, dim, unbiased, keepdim, correction }) => {
    const { re, im } = partsOf(o, self);
    const of = (part: typeof self) => o.var(part, dim, unbiased, keepdim, { correction });
    return o.add(of(re), of(im));
  }),
  rule(
    statistics.std,
    (o, { self, dim, unbiased, keepdim, correction }) =>
      o.sqrt(o.var(self, dim, unbiased, keepdim, { correction })),
  ),
  rule(statistics.vectorNorm, (o, { x, ord, dim, keepdim, dtype }) => {
    realOnly("vectorNorm", dtype);
    return o.vectorNorm(sized(o, x), ord, dim, keepdim, { dtype });
  }),
  rule(statistics.norm, (o, { self, p, dim, keepdim, dtype }) => {
    realOnly("norm", dtype);
    if (p === "nuc") return typed(o, o.matrixNorm(self, p, dim ?? [-2, -1], keepdim), dtype);
    return o.norm(sized(o, self), p, dim, keepdim, dtype);
  }),
  rule(statistics.norm0, (o, { self, dim, keepdim }) => o.norm0(sized(o, self), dim, keepdim)),
  rule(statistics.norm2, (o, { self, dim, keepdim }) => o.norm2(sized(o, self), dim, keepdim)),
  rule(statistics.normP, (o, { self, p, dim, keepdim }) => o.normP(sized(o, self), p, dim, keepdim)),
  rule(linearAlgebra.matrixNorm, (o, { A, ord, dim, keepdim, dtype }) => {
    realOnly("matrixNorm", dtype);
    // Singular values are those of the matrix, other norms those of magnitudes
    if (ENTRYWISE.includes(ord)) return o.matrixNorm(sized(o, A), ord, dim, keepdim, { dtype });
    const found = matrixNormOf(o, A, { ord, dims: matrixDims(A, dim), keepdim });
    return typed(o, found, dtype);
  }),
  rule(linearAlgebra.vecdot, (o, { x, y, dim }) => o.sum(o.mul(o.conj(x), y), dim)),
  rule(reductions.any, (o, { self, dim, keepdim }) => o.any(truth(o, self), dim, keepdim)),
  rule(reductions.all, (o, { self, dim, keepdim }) => o.all(truth(o, self), dim, keepdim)),
  rule(reductions.countNonzero, (o, { self, dim }) => o.countNonzero(truth(o, self), dim)),
];

/** Returns a mask of the elements that are not 0, for complex tensors; others are returned unchanged. */
export function truth<T extends TensorLike>(o: OpApi<T>, x: T): T {
  return isTensor(x) && isComplex(x.dtype) ? o.ne(x, 0) : x;
}
