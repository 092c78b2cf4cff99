/**
 * Indexing by several tensors at once, as in NumPy and PyTorch: for each leading dimension an index tensor, or null
 * for all of it. Invariant: indices broadcast against each other; their dimensions stay in place if adjacent and come
 * first otherwise.
 */
import { DynError } from "../../base/errors.ts";
import type { Dim } from "../../sym/expr.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { Body, Operand } from "../../loops/body.ts";
import { composeOp, type ElementRange, lowerOp, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { optional, required } from "../params.ts";
import { castTo } from "../promotion.ts";
import { deviceOf, elements, reduceTo, t } from "../pointwise.ts";
import { indexRange, indirectIndex } from "./indexing.ts";
import { broadcastIndex, broadcastShapes, broadcastsTo, shapeText } from "../shapes.ts";

interface Shaped {
  readonly shape: readonly Dim[];
}

/** Maps the dimensions of a result of advanced indexing to the index and the tensor. */
interface Plan {
  /** The common shape of the indices. */
  readonly indexShape: readonly Dim[];
  /** First of the index dimensions in the result. */
  readonly at: number;
  readonly shape: readonly Dim[];
}

function planOf(self: Shaped, indices: readonly (Shaped | null)[]): Plan {
  if (indices.length > self.shape.length) {
    throw new DynError(`Expected at most ${self.shape.length} indices but found ${indices.length}`);
  }
  const used = indices.flatMap((index, d) => index ? [d] : []);
  const indexShape = broadcastShapes(...indices.flatMap((index) => index ? [index.shape] : []));
  const first = used[0] ?? 0, last = used.at(-1) ?? 0;
  const adjacent = used.length === last - first + 1;
  const rest = self.shape.filter((_, d) => !used.includes(d));
  const at = adjacent ? first : 0;
  return { indexShape, at, shape: rest.toSpliced(at, 0, ...indexShape) };
}

/** The index into `self` of a position of the result. */
function sourceIndex<V>(
  o: Body<V>,
  args: { self: Shaped; indices: readonly (Operand | null)[]; plan: Plan },
  position: readonly Dim[],
): Dim[] {
  const { self, indices, plan } = args;
  const inner = position.slice(plan.at, plan.at + plan.indexShape.length);
  const rest = position.toSpliced(plan.at, plan.indexShape.length);
  let next = 0;
  return self.shape.map((size, d) => {
    const index = indices[d];
    if (!index) return rest[next++] ?? 0;
    return indirectIndex(o, o.load(index, broadcastIndex(index.shape, inner)), { size, wrap: true });
  });
}

function checkIntegers(indices: readonly (TensorMeta | null)[]): void {
  for (const index of indices) {
    if (index && index.dtype !== "int64" && index.dtype !== "int32") {
      throw new DynError(`Expected indices of type int64, int32 or bool but found ${index.dtype}`);
    }
  }
}

function rangesOf(self: TensorMeta, indices: readonly (TensorMeta | null)[]): ElementRange[] {
  return indices.flatMap((index, d) => index ? [indexRange(index, self.shape[d] ?? 1, true)] : []);
}

const isMask = (index: Pick<TensorLike, "dtype"> | null): boolean =>
  index?.dtype === "bool" || index?.dtype === "uint8";

/** Integer indices, with each mask replaced by the positions of its true elements, one tensor for each dimension. */
function withoutMasks<T extends TensorLike>(o: OpApi<T>, indices: readonly (T | null)[]): (T | null)[] {
  return indices.flatMap((index) => {
    if (index === null || !isMask(index)) return [index];
    return o.unbind(o.nonzero(index), 1);
  });
}

const index = composeOp({
  name: "index",
  doc:
    "The elements at index tensors, one for each leading dimension (null: all of it). Masks make the size depend " +
    "on elements. As `x[i, j]` with tensors.",
  params: { self: required("tensor"), indices: required("tensorsOrNulls") },
  exposure: { method: false, free: false },
  dataDependent: ({ indices }) => indices.some(isMask),
  infer({ self, indices }) {
    checkIntegers(indices);
    return contiguousMeta(planOf(self, indices).shape, self.dtype, self.device);
  },
  compose: (o, { self, indices }) => o.gatherIndices(self, withoutMasks(o, indices)),
  samples: [{ args: [t(3, 4), [{ tensor: [2], dtype: "int64", range: [-3, 3] }]] }],
  errors: [{ args: [t(3), [t(2)]], message: "int64" }],
});

const gatherIndices = lowerOp({
  name: "gatherIndices",
  doc: "As index, of integer tensors.",
  params: { self: required("tensor"), indices: required("tensorsOrNulls") },
  exposure: { method: false, free: false },
  infer({ self, indices }) {
    checkIntegers(indices);
    return contiguousMeta(planOf(self, indices).shape, self.dtype, self.device);
  },
  ranges: ({ self, indices }) => rangesOf(self, indices),
  lower({ self, indices }, [result]) {
    const plan = planOf(self, indices);
    return elements(result, (o, position) => o.load(self, sourceIndex(o, { self, indices, plan }, position)));
  },
  gradient: {
    saves: ["indices"],
    single: (o, grad, { args: { self, indices } }) => ({
      self: o.putIndices(o.newZeros(grad, self.shape), indices, grad, true),
    }),
  },
  samples: [
    { args: [t(3, 4), [{ tensor: [2], dtype: "int64", range: [-3, 3] }]] },
    { args: [t(3, 4), [null, { tensor: [2, 2], dtype: "int64", range: [-4, 4] }]] },
    {
      args: [t(3, 2, 4), [{ tensor: [2], dtype: "int64", range: [0, 3] }, null, {
        tensor: [3, 1],
        dtype: "int64",
        range: [0, 4],
      }]],
    },
  ],
});

/** A write of values at indices. */
interface Write<T, I = T> {
  readonly self: T;
  readonly indices: readonly (I | null)[];
  readonly values: T;
}

/** A write at a mask that needs no positions. */
interface MaskedWrite<T> {
  /** The mask, and the values, so that both broadcast to the tensor. */
  readonly mask: T;
  readonly values: T;
}

/**
 * The write with a mask in place of positions, if that mask is the only index and all selected positions get the same
 * values: then sizes stay known. Null otherwise.
 */
function maskedWrite<T extends TensorLike>(o: OpApi<T>, write: Write<T>): MaskedWrite<T> | null {
  const selection = selectionOf(write);
  if (selection?.count !== 1) return null;
  const { mask, behind } = selection, { values } = write;
  const wide = o.reshape(o.to(mask, "bool"), [...mask.shape, ...ones(behind)]);
  // The one dimension of the selected positions becomes those of the mask
  const selected = values.shape.length - 1 - behind;
  if (selected < 0) return { mask: wide, values };
  const shape = values.shape.toSpliced(selected, 1, ...ones(mask.shape.length));
  return { mask: wide, values: o.reshape(values, shape) };
}

const ones = (count: number): Dim[] => new Array<Dim>(count).fill(1);

/** A mask that is the only index of a write. */
interface Selection<T> {
  readonly mask: T;
  /** Numbers of dimensions before and behind those of the mask. */
  readonly before: number;
  readonly behind: number;
  /** The number of elements that it has to select for the values: 1 is any number. */
  readonly count: Dim;
}

function selectionOf<I extends Pick<TensorLike, "dtype" | "shape">>(
  { self, indices, values }: Write<Shaped, I>,
): Selection<I> | null {
  const [mask, ...others] = indices.filter((index) => index !== null);
  if (!mask || others.length > 0 || !isMask(mask)) return null;
  const before = indices.indexOf(mask), behind = self.shape.length - before - mask.shape.length;
  return { mask, before, behind, count: values.shape[values.shape.length - 1 - behind] ?? 1 };
}

/** Integer indices for a write: where the values state how many elements a mask selects, that size is known. */
function placesOf<T extends TensorLike>(o: OpApi<T>, write: Write<T>): (T | null)[] {
  const selection = selectionOf(write);
  if (!selection) return withoutMasks(o, write.indices);
  const positions = o.unbind(o.maskPositions(selection.mask, selection.count), 1);
  return write.indices.flatMap((index) => index === selection.mask ? positions : [null]);
}

const indexPut = composeOp({
  name: "indexPut",
  doc: "self with values (broadcast) put, or added where accumulate, at index tensors, as `torch.index_put`.",
  params: {
    self: required("tensor"),
    indices: required("tensorsOrNulls"),
    values: required("tensor"),
    accumulate: optional("bool", false),
  },
  inplace: true,
  infer({ self, indices, values }) {
    checkTypes(self, values);
    if (!indices.some(isMask)) checkValues(self, indices, values);
    const selection = selectionOf({ self, indices, values });
    if (selection) checkMasked(self, selection, values);
    return contiguousMeta(self.shape, self.dtype, deviceOf([self, values]));
  },
  compose(o, { self, indices, values, accumulate }) {
    // Nothing is inferred where the number of written elements depends on a mask
    checkTypes(self, values);
    const masked = maskedWrite(o, { self, indices, values });
    if (masked) {
      return o.where(masked.mask, accumulate ? o.add(self, masked.values) : masked.values, self);
    }
    return o.putIndices(self, placesOf(o, { self, indices, values }), values, accumulate);
  },
  dataDependent: ({ self, indices, values }) =>
    indices.some(isMask) && selectionOf({ self, indices, values })?.count !== 1,
  samples: [{ args: [t(3, 4), [{ tensor: [2], dtype: "int64", range: [-3, 3] }], t(4)] }],
  errors: [{ args: [t(3), [{ tensor: [2], dtype: "int64", range: [0, 3] }], t(3)], message: "broadcast" }],
});

function checkTypes(self: TensorLike, values: TensorLike): void {
  if (values.dtype === self.dtype) return;
  throw new DynError(`Expected values of type ${self.dtype} but found ${values.dtype}`);
}

function checkValues(self: TensorMeta, indices: readonly (TensorMeta | null)[], values: TensorMeta): void {
  checkIntegers(indices);
  const { shape } = planOf(self, indices);
  if (!broadcastsTo(values.shape, shape)) {
    throw new DynError(
      `Expected values that broadcast to ${shapeText(shape)} but found ${shapeText(values.shape)}`,
    );
  }
}

/** Throws unless values fit into what a mask selects, but for the number of selected elements. */
function checkMasked(self: Shaped, { mask, before, count }: Selection<Shaped>, values: Shaped): void {
  const selected = self.shape.toSpliced(before, mask.shape.length, count);
  if (broadcastsTo(values.shape, selected)) return;
  throw new DynError(
    `Expected values that broadcast to ${shapeText(selected)} but found ${shapeText(values.shape)}`,
  );
}

const putIndices = lowerOp({
  name: "putIndices",
  doc: "As indexPut, at integer tensors.",
  params: {
    self: required("tensor"),
    indices: required("tensorsOrNulls"),
    values: required("tensor"),
    accumulate: optional("bool", false),
  },
  exposure: { method: false, free: false },
  infer({ self, indices, values }) {
    checkValues(self, indices, values);
    return contiguousMeta(self.shape, self.dtype, deviceOf([self, values]));
  },
  ranges: ({ self, indices }) => rangesOf(self, indices),
  lower({ self, indices, values, accumulate }) {
    const plan = planOf(self, indices);
    return [{
      kind: "scatter",
      shape: self.shape,
      dtype: self.dtype,
      base: (o, position) => o.load(self, position),
      over: plan.shape,
      mode: accumulate ? "add" : "set",
      target: (o, position) => sourceIndex(o, { self, indices, plan }, position),
      value: (o, position) => castTo(o, o.load(values, broadcastIndex(values.shape, position)), self.dtype),
    }];
  },
  gradient: {
    saves: ["indices"],
    single: (o, grad, { args: { indices, values, accumulate }, needs }) => ({
      self: !needs("self") || accumulate ? grad : o.putIndices(grad, indices, o.newZeros(grad, []), false),
      values: needs("values") ? reduceTo(o, o.gatherIndices(grad, indices), values) : null,
    }),
  },
  samples: [{ args: [t(3, 4), [{ tensor: [2], dtype: "int64", range: [-3, 3] }], t(4), true] }],
});

const maskedSelect = composeOp({
  name: "maskedSelect",
  doc: "The elements where the mask (broadcast) is true, in order, as `torch.masked_select`.",
  params: { self: required("tensor"), mask: required("tensor") },
  dataDependent: () => true,
  infer() {
    throw new DynError("Expected a tensor with data for maskedSelect but found one with a shape only");
  },
  compose(o, { self, mask }) {
    if (mask.dtype !== "bool") throw new DynError(`Expected a bool mask but found ${mask.dtype}`);
    const shape = broadcastShapes(self.shape, mask.shape);
    const positions = o.nonzero(o.reshape(o.expand(mask, shape), [-1]));
    return o.take(o.expand(self, shape), o.squeeze(positions, 1));
  },
  samples: [{ args: [t(3, 4), { tensor: [4], dtype: "bool" }] }],
  errors: [{ args: [t(3), t(3)], message: "bool mask" }],
});

const maskedScatter = composeOp({
  name: "maskedScatter",
  doc: "self with the elements of `source`, in order, where the mask is true, as `Tensor.masked_scatter`.",
  params: { self: required("tensor"), mask: required("tensor"), source: required("tensor") },
  inplace: true,
  infer({ self, mask, source }) {
    if (mask.dtype !== "bool") throw new DynError(`Expected a bool mask but found ${mask.dtype}`);
    if (source.dtype !== self.dtype) {
      throw new DynError(`Expected source of type ${self.dtype} but found ${source.dtype}`);
    }
    return contiguousMeta(
      broadcastShapes(self.shape, mask.shape),
      self.dtype,
      deviceOf([self, mask, source]),
    );
  },
  compose(o, { self, mask, source }) {
    const shape = broadcastShapes(self.shape, mask.shape);
    const wide = o.expand(mask, shape), flat = o.reshape(wide, [-1]);
    const nth = o.reshape(o.sub(o.cumsum(o.to(flat, "int64"), 0), 1), shape);
    return o.where(wide, o.take(source, o.clamp(nth, 0, null)), self);
  },
  samples: [{ args: [t(3, 4), { tensor: [3, 4], dtype: "bool" }, t(12)] }],
  errors: [{ args: [t(3), t(3), t(3)], message: "bool mask" }],
});

export const advancedIndexing = {
  index,
  gatherIndices,
  indexPut,
  putIndices,
  maskedSelect,
  maskedScatter,
} as const;
