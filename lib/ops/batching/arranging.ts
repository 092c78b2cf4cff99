/**
 * Copies, joins, padding and new tensors over batches. Invariant: dimensions, sizes and repetitions in the arguments
 * are those of one element.
 */
import { type Dim, product } from "../../sym/expr.ts";
import { adaptivePooling } from "../nn/adaptive.ts";
import { averagePooling } from "../nn/average_pooling.ts";
import { copies } from "../shape/copies.ts";
import { creation } from "../creation/creation.ts";
import type { TensorLike } from "../definition.ts";
import { embeddings } from "../indexing/embedding.ts";
import { padding } from "../shape/padding.ts";
import type { Params } from "../params.ts";
import { isTensor, resultTypeOf } from "../promotion.ts";
import { searching } from "../reductions/searching.ts";
import { scatterReductions } from "../indexing/scatter_reduce.ts";
import { scatterViews } from "../shape/scatter_views.ts";
import { normalizeDims } from "../shapes.ts";
import { type BatchCall, over, type RuleOf } from "./call.ts";

/**
 * Padding accepts one or two dimensions before the padded ones: others, including the batch, are folded into the first.
 */
function asPadded<P extends Params, T extends TensorLike>(call: BatchCall<P, T>, x: T, count: number): T {
  const front = call.front(x), lead = front.shape.length - count;
  return lead <= 2 ? front : call.o.reshape(front, paddedSizes(front.shape, count));
}

function paddedSizes(shape: readonly Dim[], count: number): readonly Dim[] {
  const lead = shape.length - count;
  return lead <= 2 ? shape : [product(shape.slice(0, lead)), ...shape.slice(lead)];
}

export const arrangingRules: readonly RuleOf[] = [
  over(copies.cat, {
    apply: (call) => {
      const { tensors, dim } = call.args, rank = call.out[0]?.shape.length ?? 1;
      // An empty vector can be joined with tensors of any rank
      const parts = tensors.filter((x) => call.rankOf(x) === rank), [first] = parts;
      return first ? call.o.cat(parts.map((x) => call.front(x)), call.axis(dim, first)) : null;
    },
  }),
  over(copies.flip, {
    apply: (call) => {
      const { self, dims } = call.args;
      const along = normalizeDims(dims, Math.max(1, call.rankOf(self))).map((d) => d + 1);
      return call.shaped(call.o.flip(call.raised(self), along));
    },
  }),
  over(copies.rollDims, {
    apply: (call) => {
      const { self, shifts, dims } = call.args;
      const along = dims.map((d) => call.axis(d, self));
      return call.shapedRun({ self: call.raised(self), shifts, dims: along });
    },
  }),
  over(copies.repeat, {
    apply: (call) => {
      const { self, repeats } = call.args;
      return call.o.repeat(call.widened(call.front(self), repeats.length), [1, ...repeats]);
    },
  }),
  over(creation.fill, {
    apply: (call) => {
      const { self, value } = call.args, into = call.front(self);
      return isTensor(value)
        ? call.o.copy(into, call.widened(value, call.rankOf(self)))
        : call.o.fill(into, value);
    },
  }),
  over(creation.copy, {
    apply: (call) => {
      const { self, src } = call.args, into = call.front(self);
      return call.o.copy(into, isTensor(src) ? call.widened(src, call.rankOf(self)) : src);
    },
  }),
  ...[creation.newZeros, creation.newOnes, creation.newEmpty].map((definition) =>
    over(definition, {
      apply: (call) => call.run({ ...call.args, size: call.sizes(call.args.size) }),
    })
  ),
  over(creation.newFull, {
    apply: (call) => call.run({ ...call.args, size: call.sizes(call.args.size) }),
  }),
  over(scatterViews.selectScatter, {
    apply: (call) => {
      const { self, src, dim, index } = call.args;
      return call.o.selectScatter(call.front(self), call.front(src), call.axis(dim, self), index);
    },
  }),
  over(scatterViews.sliceScatter, {
    apply: (call) => {
      const { self, src, dim, start, end, step } = call.args;
      return call.o.sliceScatter(call.front(self), call.front(src), call.axis(dim, self), start, end, step);
    },
  }),
  over(scatterViews.diagonalScatter, {
    apply: (call) => {
      const { self, src, offset, dim1, dim2 } = call.args;
      const dims = [call.axis(dim1, self), call.axis(dim2, self)] as const;
      return call.o.diagonalScatter(call.front(self), call.front(src), offset, ...dims);
    },
  }),
  over(scatterViews.unfoldBackward, {
    apply: (call) => {
      const { grad, inputSizes, dim, size, step } = call.args, rank = inputSizes.length;
      if (rank === 0) return null;
      const axis = (dim < 0 ? dim + rank : dim) + 1;
      return call.o.unfoldBackward(call.front(grad), call.sizes(inputSizes), axis, size, step);
    },
  }),
  over(scatterViews.readStrided, {
    apply: (call) => {
      const { self, size, stride, storageOffset } = call.args, one = product(call.shapeOf(self));
      return call.o.readStrided(call.front(self), call.sizes(size), [one, ...stride], storageOffset);
    },
  }),
  over(scatterViews.writeStrided, {
    apply: (call) => {
      const { self, src, size, stride, storageOffset } = call.args, one = product(call.shapeOf(self));
      const into = call.front(self), values = call.front(src);
      return call.o.writeStrided(into, values, call.sizes(size), [one, ...stride], storageOffset);
    },
  }),
  over(scatterViews.asStridedBackward, {
    apply: (call) => {
      const { grad, inputSizes, size, stride, storageOffset } = call.args;
      const strides = [product(inputSizes), ...stride], whole = call.sizes(inputSizes);
      return call.o.asStridedBackward(call.front(grad), whole, call.sizes(size), strides, storageOffset);
    },
  }),
  over(scatterReductions.scatterCombined, {
    apply: (call) => {
      const { self, dim, index, src, reduce } = call.args;
      return call.shapedRun({
        self: call.raised(self),
        dim: call.axis(dim, self),
        index: call.raised(index),
        src: call.raised(src),
        reduce,
      });
    },
  }),
  over(padding.padBy, {
    apply: (call) => {
      const { self, pad, mode } = call.args, sizes = call.sizes(call.out[0]?.shape ?? []);
      const found = call.run({ self: asPadded(call, self, pad.length / 2), pad, mode });
      return found.map((result) => call.o.reshape(result, sizes));
    },
  }),
  over(padding.padByBackward, {
    apply: (call) => {
      const { grad, inputSizes, pad, mode } = call.args, count = pad.length / 2;
      const sizes = paddedSizes(call.sizes(inputSizes), count), along = asPadded(call, grad, count);
      const found = call.run({ grad: along, inputSizes: sizes, pad, mode });
      return found.map((result) => call.o.reshape(result, call.sizes(inputSizes)));
    },
  }),
  over(searching.countBefore, {
    apply: (call) => {
      const { sequence, values, right, int32 } = call.args, { o } = call;
      const ranked = [sequence, values].map((x) => ({ shape: call.shapeOf(x), dtype: x.dtype }));
      const sought = o.to(call.raised(values), resultTypeOf(ranked));
      if (!call.isBatched(sequence) && call.rankOf(sequence) === 1) {
        return call.shapedRun({ sequence, values: sought, right, int32 });
      }
      // A sequence for each row of values
      const length = sequence.shape.at(-1) ?? 1, rank = sought.shape.length - 1;
      const wide = call.widened(call.front(sequence), rank);
      const within = o.expand(
        call.isBatched(sequence) ? wide : call.front(sequence),
        [...sought.shape.slice(0, -1), length],
      );
      return call.shapedRun({ sequence: within, values: sought, right, int32 });
    },
  }),
  over(embeddings.oneHotClasses, {
    apply: (call) => call.o.oneHotClasses(call.front(call.args.self), call.args.numClasses),
  }),
  over(adaptivePooling.windowLengths, {
    apply: (call) => call.front(call.o.windowLengths(call.args.like, call.args.size, call.args.count)),
  }),
  over(averagePooling.windowSizes, {
    apply: (call) => call.run(call.args).map((sizes) => call.front(sizes)),
  }),
];
