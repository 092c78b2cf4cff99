/**
 * Views over batches: views of the whole. Invariant: where the call returns an alias for each element, the whole is
 * an alias too.
 */
import type { TensorLike } from "../definition.ts";
import { normalizeDim, normalizeDims } from "../shapes.ts";
import { complexViews } from "../complex/views.ts";
import { fourierTransform } from "../fourier/transform.ts";
import { views } from "../shape/views.ts";
import { stridedViews } from "../shape/strided_views.ts";
import { isEqual } from "../../sym/decide.ts";
import { type Dim, product } from "../../sym/expr.ts";
import { type BatchCall, over, type RuleOf } from "./call.ts";
import type { Params } from "../params.ts";

/** The sizes of the result with the batch first. */
function outSizes<P extends Params, T extends TensorLike>(call: BatchCall<P, T>): readonly Dim[] {
  return call.sizes(call.out[0]?.shape ?? []);
}

export const viewRules: readonly RuleOf[] = [
  over(views.view, { apply: (call) => call.o.view(call.front(call.args.self), outSizes(call)) }),
  over(views.reshape, { apply: (call) => call.o.reshape(call.front(call.args.self), outSizes(call)) }),
  over(views.contiguous, { apply: (call) => call.o.contiguous(call.front(call.args.self)) }),
  over(complexViews.viewAsReal, { apply: (call) => call.o.viewAsReal(call.front(call.args.self)) }),
  over(complexViews.viewAsComplex, { apply: (call) => call.o.viewAsComplex(call.front(call.args.self)) }),
  over(fourierTransform.fourierPairs, {
    apply: (call) => call.o.fourierPairs(call.front(call.args.self), call.args.inverse),
  }),
  over(views.alias, { apply: (call) => call.o.alias(call.front(call.args.self)) }),
  over(views.detach, { apply: (call) => call.o.detach(call.front(call.args.self)) }),
  over(views.permute, {
    apply: (call) => {
      const { self, dims } = call.args;
      const order = dims.map((d) => normalizeDim(d, Math.max(1, call.rankOf(self))) + 1);
      return call.o.permute(call.front(self), [0, ...order]);
    },
  }),
  over(views.squeeze, {
    apply: (call) => {
      const { self, dim } = call.args, shape = call.shapeOf(self);
      const dims = (dim === null ? shape.map((_, d) => d) : normalizeDims(dim, Math.max(1, shape.length)))
        .filter((d) => d < shape.length && isEqual(shape[d] ?? 0, 1));
      const front = call.front(self);
      return dims.length === 0 ? call.o.alias(front) : call.o.squeeze(front, dims.map((d) => d + 1));
    },
  }),
  over(views.unsqueeze, {
    apply: (call) => {
      const { self, dim } = call.args;
      return call.o.unsqueeze(call.front(self), normalizeDim(dim, call.rankOf(self) + 1) + 1);
    },
  }),
  over(views.expand, {
    apply: (call) => {
      const { self } = call.args, rank = call.out[0]?.shape.length ?? 0;
      return call.o.expand(call.widened(call.front(self), rank), outSizes(call));
    },
  }),
  over(views.select, {
    apply: (call) => {
      const { self, dim, index } = call.args;
      return call.o.select(call.front(self), call.axis(dim, self), index);
    },
  }),
  over(views.slice, {
    apply: (call) => {
      const { self, dim, start, end, step } = call.args;
      return call.o.slice(call.front(self), call.axis(dim, self), start, end, step);
    },
  }),
  over(views.diagonal, {
    apply: (call) => {
      const { self, offset, dim1, dim2 } = call.args;
      return call.o.diagonal(call.front(self), offset, call.axis(dim1, self), call.axis(dim2, self));
    },
  }),
  over(stridedViews.unfold, {
    apply: (call) => {
      const { self, dimension, size, step } = call.args;
      return call.shaped(call.o.unfold(call.raised(self), call.axis(dimension, self), size, step));
    },
  }),
  over(stridedViews.asStrided, {
    // The caller ensures that elements of the batch are contiguous, one after the other
    apply: (call) => {
      const { self, size, stride, storageOffset } = call.args, one = product(call.shapeOf(self));
      return call.o.asStrided(call.front(self), call.sizes(size), [one, ...stride], storageOffset);
    },
  }),
];
