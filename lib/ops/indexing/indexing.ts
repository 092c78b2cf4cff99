/**
 * Reading and writing by index tensors along one dimension. Invariant: kernels clamp indices, callers check them.
 */
import { DynError } from "../../base/errors.ts";
import { isInteger } from "../../base/dtype.ts";
import { type Dim, mul, sub } from "../../sym/expr.ts";
import { isAtMost, isEqual } from "../../sym/decide.ts";
import { contiguousMeta, elementCount, type TensorMeta } from "../../graph/meta.ts";
import type { Body, Lowered, Operand } from "../../loops/body.ts";
import { composeOp, type ElementRange, lowerOp, type Sample, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, optional, required } from "../params.ts";
import { castTo, checkHeld, isTensor, numberValue } from "../promotion.ts";
import { deviceOf, elements, type OperandOf, t } from "../pointwise.ts";
import { broadcastShapes, flatIndex, normalizeDim, shapeText, unravel, withSize } from "../shapes.ts";

/** An index of `size` positions from an integer value; with `wrap`, negative ones count from the end. */
export function indirectIndex<V>(
  o: Body<V>,
  value: V,
  into: { readonly size: Dim; readonly wrap?: boolean },
): Dim {
  const zero = o.constant(0, "int64"), count = o.index(into.size, "int64");
  const given = castTo(o, value, "int64");
  const index = into.wrap ? o.select(o.lt(given, zero), o.add(given, count), given) : given;
  const last = o.index(sub(into.size, 1), "int64");
  return o.indirect(o.maximum(o.minimum(index, last), zero), into.size);
}

/** Checks the type of an index tensor. */
export function checkIndex(name: string, index: Pick<TensorMeta, "dtype">): void {
  if (!isInteger(index.dtype)) {
    throw new DynError(
      `Expected indices of ${name} of an integer type such as int64 but found ${index.dtype}`,
    );
  }
}

/** Returns the check that indices lie in a dimension; with `wrap` they may be negative. */
export function indexRange(values: TensorMeta, size: Dim, wrap = false): ElementRange {
  return { values, low: wrap ? mul(-1, size) : 0, high: size, what: "index" };
}

/** The size along a dimension; negative dimensions count from the end. */
export const sizeAt = (x: { readonly shape: readonly Dim[] }, dim: number): Dim =>
  x.shape[normalizeDim(dim, x.shape.length)] ?? 1;

/** Checks that an index tensor fits into a tensor in all dimensions but one. */
function checkFits(
  name: string,
  index: TensorMeta,
  into: { readonly shape: readonly Dim[]; readonly except: number | null; readonly what: string },
): void {
  const rank = Math.max(1, into.shape.length);
  if (isEqual(elementCount(index), 0)) return;
  if (Math.max(1, index.shape.length) !== rank) {
    throw new DynError(
      `Expected an index of ${name} with ${rank} dimensions but found ${shapeText(index.shape)}`,
    );
  }
  index.shape.forEach((size, d) => {
    if (d !== into.except && !isAtMost(size, into.shape[d] ?? 1)) {
      throw new DynError(
        `Expected an index of ${name} no larger than ${into.what} ${shapeText(into.shape)} but found ` +
          `${shapeText(index.shape)}`,
      );
    }
  });
}

/** A position in a tensor that may be a number where the other is a vector of one element, and the reverse. */
const inRank = (x: Operand, position: readonly Dim[]): readonly Dim[] =>
  x.shape.length === 0 ? [] : position.length === 0 ? [0] : position;

/** A position with the index along `dim` taken from an index tensor. */
function redirected<V>(
  o: Body<V>,
  index: Operand,
  at: { readonly position: readonly Dim[]; readonly dim: number; readonly self: Operand },
): Dim[] {
  if (at.self.shape.length === 0) return [];
  const value = o.load(index, inRank(index, at.position));
  const target = indirectIndex(o, value, { size: at.self.shape[at.dim] ?? 1 });
  return index.shape.length === 0 ? [target] : withSize(at.position, at.dim, target);
}

const gather = lowerOp({
  name: "gather",
  doc:
    "out[i][j] = self[index[i][j]][j] for dim 0, and so on: an element for each of `index`, of its shape. As " +
    "`torch.gather`.",
  params: {
    self: required("tensor"),
    dim: required("int"),
    index: required("tensor"),
    sparseGrad: optional("bool", false, { keyword: true }),
  },
  infer({ self, dim, index }) {
    checkIndex("gather", index);
    const at = normalizeDim(dim, self.shape.length);
    checkFits("gather", index, { shape: self.shape, except: at, what: "the input" });
    return contiguousMeta(index.shape, self.dtype, deviceOf([self, index]));
  },
  ranges: ({ self, dim, index }) => [indexRange(index, sizeAt(self, dim))],
  lower({ self, dim, index }, [result]) {
    const at = normalizeDim(dim, self.shape.length);
    return elements(result, (o, position) => o.load(self, redirected(o, index, { position, dim: at, self })));
  },
  gradient: {
    saves: ["index"],
    single: (o, grad, { args: { self, dim, index } }) => ({
      self: o.scatterAdd(o.newZeros(grad, self.shape), dim, index, grad),
    }),
  },
  samples: [{ args: [t(3, 4), 0, { tensor: [2, 4], dtype: "int64", range: [0, 3] }] }],
  errors: [{ args: [t(3, 4), 0, t(2, 4)], message: "int64" }],
});

/** Writes elements along a dimension at the positions of an index tensor. */
function scatterLowered(
  args: { self: Operand; dim: number; index: Operand; src: OperandOf<Operand> },
  mode: "set" | "add",
): Lowered[] {
  const { self, index, src } = args;
  const dim = normalizeDim(args.dim, self.shape.length), dtype = self.dtype;
  return [{
    kind: "scatter",
    shape: self.shape,
    dtype,
    base: (o, at) => o.load(self, at),
    over: index.shape,
    mode,
    target: (o, position) => redirected(o, index, { position, dim, self }),
    value: (o, position) =>
      isTensor(src) ? castTo(o, o.load(src, inRank(src, position)), dtype) : numberValue(o, src, dtype),
  }];
}

function checkScatter(
  name: string,
  args: { self: TensorMeta; dim: number; index: TensorMeta; src: OperandOf<TensorMeta> },
): TensorMeta {
  const { self, index, src } = args;
  checkIndex(name, index);
  const dim = normalizeDim(args.dim, self.shape.length);
  checkFits(name, index, { shape: self.shape, except: dim, what: "the input" });
  if (isTensor(src)) {
    if (src.dtype !== self.dtype) {
      throw new DynError(`Expected src of ${name} of type ${self.dtype} but found ${src.dtype}`);
    }
    checkFits(name, index, { shape: src.shape, except: null, what: "src" });
  } else checkHeld(src, self.dtype);
  return contiguousMeta(self.shape, self.dtype, deviceOf([self, index]));
}

const scatterParams = {
  self: required("tensor"),
  dim: required("int"),
  index: required("tensor"),
} as const;

const INDEX_2X4 = { tensor: [2, 4], dtype: "int64", range: [0, 3] } as const;

/** Samples of numbers where vectors of one element are meant. */
const NUMBERS: readonly Sample[] = [
  { args: [t(3), 0, { tensor: [], dtype: "int64", range: [0, 3] }, t(1)] },
  { args: [t(3), 0, { tensor: [1], dtype: "int64", range: [0, 3] }, t()] },
  { args: [t(), 0, { tensor: [2], dtype: "int64", range: [0, 1] }, t(3)] },
];

const scatter = composeOp({
  name: "scatter",
  doc: 'self with src[i][j] (or a number) put at [index[i][j]][j] for dim 0, and so on; `reduce` "add" or ' +
    '"multiply" combines instead. As `torch.scatter`.',
  params: {
    ...scatterParams,
    src: nullable("operand"),
    value: nullable("scalar"),
    reduce: nullable("string", { keyword: true, oneOf: ["add", "multiply"] }),
  },
  inplace: true,
  // A tensor has an element for each of the index
  checksNumbers: true,
  infer: ({ self, dim, index, src, value }) =>
    checkScatter("scatter", { self, dim, index, src: src ?? value ?? 0 }),
  ranges: ({ self, dim, index }) => [indexRange(index, sizeAt(self, dim))],
  compose(o, { self, dim, index, src, value, reduce }) {
    const source = src ?? value ?? 0;
    if (reduce === null) return o.scatterSet(self, dim, index, source);
    const values = isTensor(source) ? source : o.fullLike(index, source, { dtype: self.dtype });
    return reduce === "add"
      ? o.scatterAdd(self, dim, index, values)
      : o.scatterReduce(self, dim, index, values, "prod");
  },
  samples: [{ args: [t(3, 4), 0, INDEX_2X4, t(2, 4)] }, { args: [t(3, 4), 0, INDEX_2X4, 1.5] }],
  errors: [{ args: [t(3, 4), 0, t(2, 4), 1], message: "int64" }],
});

const scatterSet = lowerOp({
  name: "scatterSet",
  doc: "As scatter without `reduce`.",
  params: { ...scatterParams, src: required("operand") },
  exposure: { method: false, free: false },
  infer: (args) => checkScatter("scatter", args),
  ranges: ({ self, dim, index }) => [indexRange(index, sizeAt(self, dim))],
  lower: (args) => scatterLowered(args, "set"),
  gradient: {
    saves: ["index"],
    single: (o, grad, { args: { dim, index, src }, needs }) => ({
      self: needs("self") ? o.scatterSet(grad, dim, index, 0) : null,
      src: isTensor(src) && needs("src") ? padTo(o, o.gather(grad, dim, index), src) : null,
    }),
  },
  samples: [{ args: [t(3, 4), 0, INDEX_2X4, t(2, 4)] }, ...NUMBERS.slice(0, 2)],
});

/** A number as a vector of one element; other tensors as they are. */
export const asRow = <T extends TensorLike>(o: OpApi<T>, x: T): T =>
  x.shape.length === 0 ? o.reshape(x, [1]) : x;

/** A gradient of the leading part of a tensor, or of a vector's as a number, as one of the whole tensor. */
function padTo<T extends TensorLike>(o: OpApi<T>, grad: T, like: T): T {
  if (grad.shape.length !== like.shape.length) {
    return o.reshape(padTo(o, asRow(o, grad), asRow(o, like)), like.shape);
  }
  const pad: Dim[] = [];
  for (let d = like.shape.length - 1; d >= 0; d--) pad.push(0, sub(like.shape[d] ?? 1, grad.shape[d] ?? 1));
  return pad.every((p) => p === 0) ? grad : o.constantPadNd(grad, pad, 0);
}

const scatterAdd = lowerOp({
  name: "scatterAdd",
  doc: "self with src[i][j] added at [index[i][j]][j] for dim 0, and so on, as `torch.scatter_add`.",
  params: { ...scatterParams, src: required("tensor") },
  inplace: true,
  infer: (args) => checkScatter("scatterAdd", args),
  ranges: ({ self, dim, index }) => [indexRange(index, sizeAt(self, dim))],
  lower: (args) => scatterLowered(args, "add"),
  gradient: {
    saves: ["index"],
    single: (o, grad, { args: { dim, index, src }, needs }) => ({
      self: grad,
      src: needs("src") ? padTo(o, o.gather(grad, dim, index), src) : null,
    }),
  },
  samples: [
    { args: [t(3, 4), 0, INDEX_2X4, t(2, 4)] },
    ...NUMBERS,
    {
      args: [
        { tensor: [3, 4], dtype: "bool" },
        0,
        { ...INDEX_2X4, tensor: [1, 4] },
        { tensor: [1, 4], dtype: "bool" },
      ],
    },
  ],
  errors: [{ args: [t(3, 4), 0, t(2, 4), t(2, 4)], message: "int64" }],
});

const take = lowerOp({
  name: "take",
  doc: "Elements of the flattened tensor at indices, of the shape of `index`, as `torch.take`.",
  params: { self: required("tensor"), index: required("tensor") },
  infer({ self, index }) {
    checkIndex("take", index);
    return contiguousMeta(index.shape, self.dtype, deviceOf([self, index]));
  },
  ranges: ({ self, index }) => [indexRange(index, elementCount(self), true)],
  lower({ self, index }, [result]) {
    return elements(result, (o, position) => {
      const flat = indirectIndex(o, o.load(index, position), { size: elementCount(self), wrap: true });
      return o.load(self, unravel(flat, self.shape));
    });
  },
  gradient: {
    saves: ["index"],
    single: (o, grad, { args: { self, index } }) => ({
      self: o.put(o.newZeros(grad, self.shape), index, grad, true),
    }),
  },
  samples: [{ args: [t(3, 4), { tensor: [2, 2], dtype: "int64", range: [-12, 12] }] }],
  errors: [{ args: [t(3), t(2)], message: "int64" }],
});

const put = lowerOp({
  name: "put",
  doc:
    "self with source put (or added, where accumulate) at indices of the flattened tensor, as `torch.put`.",
  params: {
    self: required("tensor"),
    index: required("tensor"),
    source: required("tensor"),
    accumulate: optional("bool", false),
  },
  inplace: true,
  infer({ self, index, source }) {
    checkIndex("put", index);
    if (source.dtype !== self.dtype) {
      throw new DynError(`Expected source of put of type ${self.dtype} but found ${source.dtype}`);
    }
    if (!isEqual(elementCount(index), elementCount(source))) {
      throw new DynError(`Expected as many elements as indices but found ${shapeText(source.shape)}`);
    }
    return contiguousMeta(self.shape, self.dtype, deviceOf([self, index]));
  },
  ranges: ({ self, index }) => [indexRange(index, elementCount(self), true)],
  lower({ self, index, source, accumulate }) {
    return [{
      kind: "scatter",
      shape: self.shape,
      dtype: self.dtype,
      base: (o, position) => o.load(self, position),
      over: index.shape,
      mode: accumulate ? "add" : "set",
      target: (o, position) =>
        unravel(
          indirectIndex(o, o.load(index, position), { size: elementCount(self), wrap: true }),
          self.shape,
        ),
      value: (o, position) => o.load(source, unravel(flatIndex(position, index.shape), source.shape)),
    }];
  },
  gradient: {
    saves: ["index"],
    single: (o, grad, { args: { index, source, accumulate }, needs }) => ({
      self: accumulate ? grad : needs("self") ? o.put(grad, index, o.zerosLike(source)) : null,
      source: needs("source") ? o.reshape(o.take(grad, index), source.shape) : null,
    }),
  },
  samples: [{ args: [t(3, 4), { tensor: [2], dtype: "int64", range: [0, 12] }, t(2)] }],
});

/** Indices with negative ones, which count from the end, made nonnegative. */
function fromStart<T extends TensorLike>(o: OpApi<T>, indices: T, size: Dim): T {
  return o.where(o.lt(indices, 0), o.add(indices, size), indices);
}

const takeAlongDim = composeOp({
  name: "takeAlongDim",
  doc: "As gather with broadcasting; without `dim`, of the flattened tensor. As `torch.take_along_dim`.",
  params: { self: required("tensor"), indices: required("tensor"), dim: nullable("int") },
  infer({ self, indices, dim }) {
    checkIndex("takeAlongDim", indices);
    if (dim === null) return contiguousMeta([elementCount(indices)], self.dtype, self.device);
    if (self.shape.length !== indices.shape.length) {
      throw new DynError(
        `Expected ranks that agree but found ${shapeText(self.shape)} and ${shapeText(indices.shape)}`,
      );
    }
    const at = normalizeDim(dim, self.shape.length);
    const shape = broadcastShapes(withSize(self.shape, at, 1), withSize(indices.shape, at, 1));
    return contiguousMeta(withSize(shape, at, indices.shape[at] ?? 1), self.dtype, self.device);
  },
  compose(o, { self, indices, dim }) {
    if (dim === null) {
      const flat = o.reshape(self, [-1]);
      return o.gather(flat, 0, fromStart(o, o.reshape(indices, [-1]), flat.shape[0] ?? 1));
    }
    const at = normalizeDim(dim, self.shape.length);
    const shape = broadcastShapes(withSize(self.shape, at, 1), withSize(indices.shape, at, 1));
    return o.gather(
      o.expand(self, withSize(shape, at, self.shape[at] ?? 1)),
      at,
      o.expand(fromStart(o, indices, self.shape[at] ?? 1), withSize(shape, at, indices.shape[at] ?? 1)),
    );
  },
  samples: [{ args: [t(3, 4), { tensor: [1, 4], dtype: "int64", range: [0, 3] }, 0] }],
  errors: [{ args: [t(3), t(2), 0], message: "int64" }],
});

export const indexing = {
  gather,
  scatter,
  scatterSet,
  scatterAdd,
  take,
  put,
  takeAlongDim,
} as const;
