/**
 * Indexing over batches: tensors, indices or both may have a batch. Invariant: an index never reaches into another
 * element of the batch, since it is checked against the sizes of one element.
 */
import { type Dim, product } from "../../sym/expr.ts";
import { advancedIndexing } from "../indexing/advanced_indexing.ts";
import type { TensorLike } from "../definition.ts";
import { embeddings } from "../indexing/embedding.ts";
import { indexing } from "../indexing/indexing.ts";
import type { Params, Scalar } from "../params.ts";
import { isTensor } from "../promotion.ts";
import { broadcastShapes } from "../shapes.ts";
import { vectorIndexing } from "../indexing/vector_indexing.ts";
import { type BatchCall, over, type RuleOf } from "./call.ts";

type Operand<T> = T | Scalar | Dim;

/** A flattened tensor, with the batch first. */
function rows<P extends Params, T extends TensorLike>(call: BatchCall<P, T>, x: T): T {
  return call.o.reshape(call.front(x), call.sizes([product(call.shapeOf(x))]));
}

/** Indices with negative ones, which count from the end, made nonnegative. */
function wrapped<P extends Params, T extends TensorLike>(call: BatchCall<P, T>, index: T, size: Dim): T {
  return call.o.where(call.o.lt(index, 0), call.o.add(index, size), index);
}

/** The values to write, as a tensor of the shape of the indices. */
function sourceOf<P extends Params, T extends TensorLike>(
  call: BatchCall<P, T>,
  src: Operand<T>,
  { self, index }: { readonly self: T; readonly index: T },
): T {
  if (isTensor(src)) return call.raised(src);
  return call.o.fullLike(index, src, { dtype: self.dtype });
}

/**
 * An index vector, or one index, repeated for all other dimensions of a tensor, in the form of `gather` and `scatter`.
 */
function spreadIndex<P extends Params, T extends TensorLike>(
  call: BatchCall<P, T>,
  index: T,
  { like, axis }: { readonly like: readonly Dim[]; readonly axis: number },
): T {
  const { o } = call, vector = rows(call, index), count = vector.shape[1] ?? 1;
  const shape = like.map((_, d) => d === 0 ? call.size : d === axis ? count : 1);
  return o.expand(o.reshape(o.to(vector, "int64"), shape), like.map((size, d) => d === axis ? count : size));
}

/** Writes or adds values, batch first, at an index vector along a dimension. */
function scattered<P extends Params, T extends TensorLike>(
  call: BatchCall<P, T>,
  { self, dim, index, source, mode, wrap = false }: {
    readonly self: T;
    readonly dim: number;
    readonly index: T;
    readonly source: Operand<T>;
    readonly mode: "set" | "add";
    /** Whether negative indices count from the end. */
    readonly wrap?: boolean;
  },
): T {
  const { o } = call, axis = call.axis(dim, self), into = call.raised(self);
  const given = spreadIndex(call, index, { like: into.shape, axis });
  const at = wrap ? wrapped(call, given, into.shape[axis] ?? 1) : given;
  const missing = isTensor(source) ? into.shape.length - source.shape.length : 0;
  const values = isTensor(source)
    ? o.expand(
      o.reshape(source, [call.size, ...new Array<Dim>(missing).fill(1), ...source.shape.slice(1)]),
      at.shape,
    )
    : source;
  const result = mode === "set"
    ? o.scatterSet(into, axis, at, values)
    : o.scatterAdd(into, axis, at, isTensor(values) ? values : o.fullLike(at, values, { dtype: self.dtype }));
  return call.shaped(result);
}

/** The number of each element of the batch, as an index that broadcasts against others of a rank. */
function batchIndex<P extends Params, T extends TensorLike>(call: BatchCall<P, T>, like: T, rank: number): T {
  const numbers = call.o.toDevice(call.o.arange(0, call.size, 1), like.device);
  return call.o.reshape(numbers, call.sizes(new Array<Dim>(rank).fill(1)));
}

/** Advanced indices, preceded by one for the batch. */
function withBatch<P extends Params, T extends TensorLike>(
  call: BatchCall<P, T>,
  indices: readonly (T | null)[],
): { readonly indices: readonly (T | null)[]; readonly rank: number; readonly at: number } {
  const given = indices.flatMap((index) => index ? [index] : []);
  const rank = broadcastShapes(...given.map((index) => call.shapeOf(index))).length;
  const used = indices.flatMap((index, d) => index ? [d] : []);
  const first = used[0] ?? 0, last = used.at(-1) ?? 0;
  const like = given[0];
  const wide = indices.map((index) => index && call.widened(index, rank));
  return {
    indices: like ? [batchIndex(call, like, rank), ...wide] : [null, ...indices],
    rank,
    // Position of the index dimensions in the result for one element of the batch
    at: used.length === last - first + 1 ? first : 0,
  };
}

/** An order of dimensions that moves those of indices from after the batch to `at`, or back. */
function moved(ndim: number, { rank, at, back }: { rank: number; at: number; back: boolean }): number[] {
  const order = Array.from({ length: ndim }, (_, d) => d);
  const inner = back ? order.splice(1 + at, rank) : order.splice(1, rank);
  return order.toSpliced(back ? 1 : 1 + at, 0, ...inner);
}

export const indexingRules: readonly RuleOf[] = [
  over(indexing.gather, {
    apply: (call) => {
      const { self, dim, index } = call.args;
      return call.shaped(call.o.gather(call.raised(self), call.axis(dim, self), call.raised(index)));
    },
  }),
  over(indexing.scatterSet, {
    apply: (call) => {
      const { self, dim, index, src } = call.args, at = call.raised(index);
      const source = isTensor(src) ? call.raised(src) : src;
      return call.shaped(call.o.scatterSet(call.raised(self), call.axis(dim, self), at, source));
    },
  }),
  over(indexing.scatterAdd, {
    apply: (call) => {
      const { self, dim, index, src } = call.args, at = call.raised(index);
      const source = sourceOf(call, src, { self, index: at });
      return call.shaped(call.o.scatterAdd(call.raised(self), call.axis(dim, self), at, source));
    },
  }),
  over(indexing.take, {
    apply: (call) => {
      const { self, index } = call.args;
      if (!call.isBatched(self)) return call.o.take(self, index);
      const at = wrapped(call, rows(call, index), product(call.shapeOf(self)));
      return call.o.reshape(call.o.gather(rows(call, self), 1, at), call.sizes(call.shapeOf(index)));
    },
  }),
  over(indexing.put, {
    apply: (call) => {
      const { self, index, source, accumulate } = call.args, { o } = call;
      const into = rows(call, self), at = wrapped(call, rows(call, index), product(call.shapeOf(self)));
      const values = rows(call, source);
      const result = accumulate ? o.scatterAdd(into, 1, at, values) : o.scatterSet(into, 1, at, values);
      return o.reshape(result, call.sizes(call.shapeOf(self)));
    },
  }),
  over(vectorIndexing.indexSelect, {
    apply: (call) => {
      const { self, dim, index } = call.args, axis = call.axis(dim, self), from = call.raised(self);
      if (!call.isBatched(index)) return call.shaped(call.o.indexSelect(from, axis, index));
      return call.shaped(call.o.gather(from, axis, spreadIndex(call, index, { like: from.shape, axis })));
    },
  }),
  over(vectorIndexing.indexAdd, {
    apply: (call) => {
      const { self, dim, index, source, alpha } = call.args, { o } = call;
      const values = call.front(source), scaled = alpha === 1 ? values : o.mul(values, alpha);
      return scattered(call, { self, dim, index, source: scaled, mode: "add" });
    },
  }),
  over(vectorIndexing.indexCopy, {
    apply: (call) => {
      const { self, dim, index, source } = call.args;
      return scattered(call, { self, dim, index, source: call.front(source), mode: "set" });
    },
  }),
  over(vectorIndexing.indexFill, {
    apply: (call) => {
      const { self, dim, index, value } = call.args;
      const source = isTensor(value) ? call.o.to(call.front(value), self.dtype) : value;
      return scattered(call, { self, dim, index, source, mode: "set", wrap: true });
    },
  }),
  over(advancedIndexing.gatherIndices, {
    apply: (call) => {
      const { self } = call.args, { indices, rank, at } = withBatch(call, call.args.indices);
      const found = call.o.gatherIndices(call.front(self), indices);
      // Next to the index of the batch, the others are adjacent if they begin at the first dimension, or are not
      // adjacent anyway
      return call.o.permute(found, moved(found.shape.length, { rank, at, back: false }));
    },
  }),
  over(advancedIndexing.putIndices, {
    apply: (call) => {
      const { self, values, accumulate } = call.args;
      const { indices, rank, at } = withBatch(call, call.args.indices);
      const whole = [
        ...broadcastShapes(...call.args.indices.flatMap((index) => index ? [call.shapeOf(index)] : [])),
      ];
      const rest = call.shapeOf(self).filter((_, d) => !call.args.indices[d]);
      const shape = rest.toSpliced(at, 0, ...whole);
      const wide = call.o.expand(
        call.isBatched(values) ? call.widened(values, shape.length) : values,
        call.sizes(shape),
      );
      const ordered = call.o.permute(wide, moved(shape.length + 1, { rank, at, back: true }));
      return call.o.putIndices(call.front(self), indices, ordered, accumulate);
    },
  }),
  over(embeddings.embeddingRows, {
    apply: (call) => {
      const { weight, indices, paddingIdx, scaleGradByFreq } = call.args, { o } = call;
      if (!call.isBatched(weight)) return o.embeddingRows(weight, indices, paddingIdx, scaleGradByFreq);
      if (scaleGradByFreq) return null;
      const [, width = 1] = call.shapeOf(weight), at = o.unsqueeze(o.to(rows(call, indices), "int64"), 2);
      const found = o.gather(weight, 1, o.expand(at, [call.size, at.shape[1] ?? 1, width]));
      // A padding row receives no gradient
      const kept = paddingIdx === null ? found : o.where(o.eq(at, paddingIdx), o.detach(found), found);
      return o.reshape(kept, call.sizes([...call.shapeOf(indices), width]));
    },
  }),
  over(embeddings.embeddingBackward, {
    apply: (call) => {
      const { grad, indices, rows: count, paddingIdx } = call.args, { o } = call;
      const width = call.shapeOf(grad).at(-1) ?? 1, at = o.unsqueeze(o.to(rows(call, indices), "int64"), 2);
      const total = at.shape[1] ?? 1;
      const parts = o.reshape(call.front(grad), call.sizes([total, width]));
      const kept = paddingIdx === null ? parts : o.where(o.eq(at, paddingIdx), 0, parts);
      const into = o.newZeros(kept, call.sizes([count, width]));
      return o.scatterAdd(into, 1, o.expand(at, call.sizes([total, width])), kept);
    },
  }),
];
