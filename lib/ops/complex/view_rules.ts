/**
 * Views of complex tensors: the same views of their pairs, with the dimension of parts kept last. Invariant: an op
 * that would copy copies pairs.
 */
import { mul } from "../../sym/expr.ts";
import { elementCount } from "../../graph/meta.ts";
import type { TensorLike } from "../definition.ts";
import { inferSizes, normalizeDim, normalizeDims, ownDim } from "../shapes.ts";
import { isEqual } from "../../sym/decide.ts";
import { stridedViews } from "../shape/strided_views.ts";
import { views } from "../shape/views.ts";
import { type ComplexRule, rule } from "./rule.ts";

/** A dimension of a complex tensor as one of its pairs. */
function dimOf({ shape }: TensorLike, dim: number): number {
  return ownDim(dim, shape);
}

export const viewRules: readonly ComplexRule[] = [
  rule(
    views.view,
    (o, { self, size }) =>
      o.viewAsComplex(o.view(o.viewAsReal(self), [...inferSizes(size, elementCount(self)), 2])),
  ),
  rule(
    views.reshape,
    (o, { self, shape }) =>
      o.viewAsComplex(o.reshape(o.viewAsReal(self), [...inferSizes(shape, elementCount(self)), 2])),
  ),
  rule(views.contiguous, (o, { self }) => o.viewAsComplex(o.contiguous(o.viewAsReal(self)))),
  rule(views.permute, (o, { self, dims }) => {
    const rank = self.shape.length;
    return o.viewAsComplex(o.permute(o.viewAsReal(self), [...dims.map((d) => normalizeDim(d, rank)), rank]));
  }),
  rule(views.squeeze, (o, { self, dim }) => {
    const { shape } = self, gone = normalizeDims(dim, shape.length).filter((d) => isEqual(shape[d] ?? 0, 1));
    const pairs = o.viewAsReal(self);
    return o.viewAsComplex(gone.length === 0 ? pairs : o.squeeze(pairs, gone));
  }),
  rule(
    views.unsqueeze,
    (o, { self, dim }) =>
      o.viewAsComplex(o.unsqueeze(o.viewAsReal(self), normalizeDim(dim, self.shape.length + 1))),
  ),
  rule(
    views.expand,
    (o, { self, size, implicit }) =>
      o.viewAsComplex(o.expand(o.viewAsReal(self), [...size, 2], { implicit })),
  ),
  rule(
    views.select,
    (o, { self, dim, index }) => o.viewAsComplex(o.select(o.viewAsReal(self), dimOf(self, dim), index)),
  ),
  rule(
    views.slice,
    (o, { self, dim, start, end, step }) =>
      o.viewAsComplex(o.slice(o.viewAsReal(self), dimOf(self, dim), start, end, step)),
  ),
  rule(views.diagonal, (o, { self, offset, dim1, dim2 }) => {
    const rank = self.shape.length;
    const found = o.diagonal(
      o.viewAsReal(self),
      offset,
      normalizeDim(dim1, rank),
      normalizeDim(dim2, rank),
    );
    return o.viewAsComplex(o.transpose(found, -1, -2));
  }),
  rule(views.alias, (o, { self }) => o.viewAsComplex(o.alias(o.viewAsReal(self)))),
  rule(views.detach, (o, { self }) => o.viewAsComplex(o.detach(o.viewAsReal(self)))),
  rule(stridedViews.unfold, (o, { self, dimension, size, step }) => {
    const found = o.unfold(o.viewAsReal(self), dimOf(self, dimension), size, step);
    return o.viewAsComplex(o.transpose(found, -1, -2));
  }),
  rule(stridedViews.asStrided, (o, { self, size, stride, storageOffset }) =>
    o.viewAsComplex(o.asStrided(
      o.viewAsReal(self),
      [...size, 2],
      [...stride.map((step) => mul(step, 2)), 1],
      storageOffset === null ? null : mul(storageOffset, 2),
    ))),
];
