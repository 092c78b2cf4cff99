/**
 * Ops that write views into copies: the inverses of views, used by gradients and by functionalised in-place ops.
 * Invariant: xScatter(base, x(base)) is base.
 */
import { DynError } from "../../base/errors.ts";
import { add, type Dim, floorDiv, mod, mul, sub } from "../../sym/expr.ts";
import { isEqual, isLess, sizeText } from "../../sym/decide.ts";
import { addressed, type Addressing, checkAddressing } from "./addressing.ts";
import { contiguousMeta, elementCount, isContiguous, reachOf, type TensorMeta } from "../../graph/meta.ts";
import type { Body, Lowered, Operand } from "../../loops/body.ts";
import { composeOp, lowerOp } from "../definition.ts";
import { nullable, optional, required } from "../params.ts";
import { castTo } from "../promotion.ts";
import { t } from "../pointwise.ts";
import {
  normalizeDim,
  normalizeIndex,
  sameShape,
  shapeText,
  sliceLength,
  sliceRange,
  unravel,
  withSize,
} from "../shapes.ts";
import { diagonalOf, distanceOf, readAt } from "./views.ts";

/** lo ≤ index < hi as a condition. */
export function within<V>(o: Body<V>, index: Dim, lo: Dim, hi: Dim): V {
  const i = o.index(index, "int64");
  return o.and(o.ge(i, o.index(lo, "int64")), o.lt(i, o.index(hi, "int64")));
}

/** Elements of `source` where the index is in its part, of `base` elsewhere. */
function overlay(
  args: { base: Operand; source: Operand },
  part: {
    readonly holds: <V>(o: Body<V>, index: readonly Dim[]) => V;
    readonly at: (index: readonly Dim[]) => readonly Dim[];
  },
): Lowered[] {
  const { base, source } = args;
  return [{
    kind: "pointwise",
    shape: base.shape,
    dtype: base.dtype,
    element: (o, index) =>
      o.masked(
        part.holds(o, index),
        () => castTo(o, o.load(source, part.at(index)), base.dtype),
        o.load(base, index),
      ),
  }];
}

function checkPart(name: string, src: TensorMeta, expected: readonly Dim[]): void {
  if (!sameShape(src.shape, expected)) {
    throw new DynError(
      `Expected src of ${name} of shape ${shapeText(expected)} but found ${shapeText(src.shape)}`,
    );
  }
}

const fresh = (self: TensorMeta): TensorMeta => contiguousMeta(self.shape, self.dtype, self.device);

const selectScatter = lowerOp({
  name: "selectScatter",
  doc: "self with the elements of select(dim, index) replaced by `src`, as `torch.select_scatter`.",
  params: {
    self: required("tensor"),
    src: required("tensor"),
    dim: required("int"),
    index: required("size"),
  },
  infer({ self, src, dim, index }) {
    const at = normalizeDim(dim, self.shape.length);
    normalizeIndex(index, self.shape[at] ?? 1);
    checkPart("selectScatter", src, self.shape.toSpliced(at, 1));
    return fresh(self);
  },
  lower({ self, src, dim, index }) {
    const at = normalizeDim(dim, self.shape.length), from = normalizeIndex(index, self.shape[at] ?? 1);
    return overlay({ base: self, source: src }, {
      holds: (o, i) => o.eq(o.index(i[at] ?? 0, "int64"), o.index(from, "int64")),
      at: (i) => i.toSpliced(at, 1),
    });
  },
  gradient: {
    saves: [],
    single: (o, grad, { args: { src, dim, index } }) => ({
      self: o.selectScatter(grad, o.zerosLike(src), dim, index),
      src: o.select(grad, dim, index),
    }),
  },
  samples: [{ args: [t(3, 4), t(4), 0, 1] }],
  errors: [{ args: [t(3, 4), t(3), 0, 1], message: "of shape [4]" }],
});

const sliceScatter = lowerOp({
  name: "sliceScatter",
  doc: "self with the elements of slice(dim, start, end, step) replaced by `src`, as `torch.slice_scatter`.",
  params: {
    self: required("tensor"),
    src: required("tensor"),
    dim: optional("int", 0),
    start: nullable("size"),
    end: nullable("size"),
    step: optional("int", 1),
  },
  infer({ self, src, dim, start, end, step }) {
    const at = normalizeDim(dim, self.shape.length);
    const length = sliceLength(sliceRange(self.shape[at] ?? 1, start, end), step);
    checkPart("sliceScatter", src, withSize(self.shape, at, length));
    return fresh(self);
  },
  lower({ self, src, dim, start, end, step }) {
    const at = normalizeDim(dim, self.shape.length);
    const range = sliceRange(self.shape[at] ?? 1, start, end);
    return overlay({ base: self, source: src }, {
      holds: (o, i) => {
        const inside = within(o, i[at] ?? 0, range.start, range.end);
        if (step === 1) return inside;
        const past = mod(sub(i[at] ?? 0, range.start), step);
        return o.and(inside, o.eq(o.index(past, "int64"), o.constant(0, "int64")));
      },
      at: (i) => withSize(i, at, floorDiv(sub(i[at] ?? 0, range.start), step)),
    });
  },
  gradient: {
    saves: [],
    single: (o, grad, { args: { src, dim, start, end, step } }) => ({
      self: o.sliceScatter(grad, o.zerosLike(src), dim, start, end, step),
      src: o.slice(grad, dim, start, end, step),
    }),
  },
  samples: [{ args: [t(5, 2), t(2, 2), 0, 1, 5, 2] }, { args: [t(4), t(2), 0, 2, null] }],
  errors: [{ args: [t(4), t(3), 0, 2, null], message: "of shape [2]" }],
});

const diagonalScatter = lowerOp({
  name: "diagonalScatter",
  doc:
    "self with the elements of diagonal(offset, dim1, dim2) replaced by `src`, as `torch.diagonal_scatter`.",
  params: {
    self: required("tensor"),
    src: required("tensor"),
    offset: optional("size", 0),
    dim1: optional("int", 0),
    dim2: optional("int", 1),
  },
  infer({ self, src, offset, dim1, dim2 }) {
    const at = diagonalOf(self.shape, { offset, dim1, dim2 });
    checkPart("diagonalScatter", src, [
      ...self.shape.filter((_, d) => d !== at.dim1 && d !== at.dim2),
      at.length,
    ]);
    return fresh(self);
  },
  lower({ self, src, offset, dim1, dim2 }) {
    const at = diagonalOf(self.shape, { offset, dim1, dim2 });
    const element = <V>(o: Body<V>, i: readonly Dim[]): V => {
      const row = sub(i[at.dim1] ?? 0, at.row), column = sub(i[at.dim2] ?? 0, at.column);
      const place = [...i.filter((_, d) => d !== at.dim1 && d !== at.dim2), row];
      const read = () => castTo(o, o.load(src, place), self.dtype), base = o.load(self, i);
      // A whole row is written, so no element needs its own condition for the read
      const rows = at.row === 0 && at.length === self.shape[at.dim1];
      const value = rows ? read() : o.masked(within(o, row, 0, at.length), read, base);
      return o.select(o.eq(o.index(row, "int64"), o.index(column, "int64")), value, base);
    };
    return [{ kind: "pointwise", shape: self.shape, dtype: self.dtype, element }];
  },
  gradient: {
    saves: [],
    single: (o, grad, { args: { src, offset, dim1, dim2 } }) => ({
      self: o.diagonalScatter(grad, o.zerosLike(src), offset, dim1, dim2),
      src: o.diagonal(grad, offset, dim1, dim2),
    }),
  },
  samples: [{ args: [t(3, 4), t(3)] }, { args: [t(3, 3), t(2), 1] }],
});

const diagEmbed = composeOp({
  name: "diagEmbed",
  doc: "The last dimension spread over a diagonal of two new ones, as `torch.diag_embed`.",
  params: {
    self: required("tensor"),
    offset: optional("size", 0),
    dim1: optional("int", -2),
    dim2: optional("int", -1),
  },
  infer({ self, offset, dim1, dim2 }) {
    return contiguousMeta(embeddedShape(self.shape, { offset, dim1, dim2 }), self.dtype, self.device);
  },
  compose: (o, { self, offset, dim1, dim2 }) =>
    o.diagonalScatter(
      o.newZeros(self, embeddedShape(self.shape, { offset, dim1, dim2 })),
      self,
      offset,
      dim1,
      dim2,
    ),
  samples: [{ args: [t(3)] }, { args: [t(2, 3), 1, 0, 2] }],
});

function embeddedShape(shape: readonly Dim[], at: { offset: Dim; dim1: number; dim2: number }): Dim[] {
  const rank = shape.length + 1;
  const first = normalizeDim(at.dim1, rank), second = normalizeDim(at.dim2, rank);
  if (first === second) throw new DynError(`Expected two different dims but found ${first} twice`);
  const side = add(shape.at(-1) ?? 1, distanceOf(at.offset));
  const rest = shape.slice(0, -1);
  let next = 0;
  return Array.from({ length: rank }, (_, d) => d === first || d === second ? side : rest[next++] ?? 1);
}

/** Adds every element of a gradient at the position from which it was read. */
export function addBack(
  grad: Operand,
  result: TensorMeta,
  target: <V>(o: Body<V>, index: readonly Dim[]) => readonly Dim[],
): Lowered {
  return {
    kind: "scatter",
    shape: result.shape,
    dtype: result.dtype,
    base: (o) => o.constant(0, result.dtype),
    over: grad.shape,
    mode: "add",
    target,
    value: (o, position) => castTo(o, o.load(grad, position), result.dtype),
  };
}

const unfoldBackward = lowerOp({
  name: "unfoldBackward",
  doc: "Adds the windows of an unfolding back into a tensor of the shape it had.",
  params: {
    grad: required("tensor"),
    inputSizes: required("sizes"),
    dim: required("int"),
    size: required("size"),
    step: required("size"),
  },
  exposure: { method: false, free: false },
  infer: ({ grad, inputSizes }) => contiguousMeta(inputSizes, grad.dtype, grad.device),
  lower({ grad, inputSizes, dim, step }, [result]) {
    if (!result) return [];
    const at = normalizeDim(dim, inputSizes.length);
    return [addBack(grad, result, (_o, position) => {
      const inside = position.at(-1) ?? 0, rest = position.slice(0, -1);
      return inputSizes.length === 0 ? [] : withSize(rest, at, add(mul(rest[at] ?? 0, step), inside));
    })];
  },
  gradient: {
    saves: [],
    single: (o, grad, { args: { dim, size, step } }) => ({ grad: o.unfold(grad, dim, size, step) }),
  },
  samples: [{ args: [t(3, 3), [7], 0, 3, 2] }],
});

/** Throws DynError if a strided view of a tensor taken as row-major would leave it. */
function checkInside(
  self: TensorMeta,
  view: Addressing,
): void {
  checkAddressing(view);
  const { size, stride, storageOffset } = view;
  const reach = reachOf({ shape: size, strides: stride, offset: storageOffset ?? 0 });
  if (!isLess(elementCount(self), reach)) return;
  throw new DynError(
    `Expected strides that stay inside of ${shapeText(self.shape)} but found ${shapeText(stride)}`,
  );
}

/** Parameters of a view by sizes, strides and an offset. */
export const STRIDED = {
  size: required("sizes"),
  stride: required("sizes"),
  storageOffset: nullable("size"),
} as const;

const readStrided = lowerOp({
  name: "readStrided",
  doc: "The elements that asStrided shows of self, taken as row-major wherever its elements lie.",
  params: { self: required("tensor"), ...STRIDED },
  exposure: { method: false, free: false },
  infer({ self, ...view }) {
    checkInside(self, view);
    return contiguousMeta(view.size, self.dtype, self.device);
  },
  lower: ({ self, stride, storageOffset }, [out]) =>
    readAt(
      self,
      out,
      (index) => unravel(addressed(index, { stride, storageOffset }), self.shape),
    ),
  gradient: {
    saves: [],
    single: (o, grad, { args: { self, size, stride, storageOffset } }) => ({
      self: o.asStridedBackward(grad, self.shape, size, stride, storageOffset),
    }),
  },
  samples: [{ args: [t(6), [2, 2], [2, 1], 1] }],
});

const asStridedBackward = lowerOp({
  name: "asStridedBackward",
  doc: "Adds the elements of a strided view back into a row-major tensor of the shape it had.",
  params: { grad: required("tensor"), inputSizes: required("sizes"), ...STRIDED },
  exposure: { method: false, free: false },
  infer: ({ grad, inputSizes }) => contiguousMeta(inputSizes, grad.dtype, grad.device),
  lower({ grad, inputSizes, stride, storageOffset }, [result]) {
    if (!result) return [];
    const at = (position: readonly Dim[]) => addressed(position, { stride, storageOffset });
    return [addBack(grad, result, (_o, position) => unravel(at(position), inputSizes))];
  },
  gradient: {
    saves: [],
    single: (o, grad, { args: { size, stride, storageOffset } }) => ({
      grad: o.readStrided(grad, size, stride, storageOffset),
    }),
  },
  samples: [{ args: [t(2, 2), [6], [2, 2], [2, 1], 1] }],
});

const stridedParams = { self: required("tensor"), src: required("tensor"), ...STRIDED } as const;

const writeStrided = lowerOp({
  name: "writeStrided",
  doc: "self, taken as row-major, with the elements of asStrided replaced by `src`.",
  params: stridedParams,
  exposure: { method: false, free: false },
  infer({ self, src, size, stride, storageOffset }) {
    checkPart("asStridedScatter", src, size);
    checkInside(self, { size, stride, storageOffset });
    return fresh(self);
  },
  lower({ self, src, stride, storageOffset }, [result]) {
    if (!result) return [];
    return [{
      kind: "scatter",
      shape: self.shape,
      dtype: self.dtype,
      base: (o, index) => o.load(self, index),
      over: src.shape,
      mode: "set",
      target: (_o, position) => unravel(addressed(position, { stride, storageOffset }), self.shape),
      value: (o, position) => castTo(o, o.load(src, position), self.dtype),
    }];
  },
  gradient: {
    saves: [],
    single: (o, grad, { args: { src, size, stride, storageOffset } }) => ({
      self: o.writeStrided(grad, o.zerosLike(src), size, stride, storageOffset),
      src: o.readStrided(grad, size, stride, storageOffset),
    }),
  },
  samples: [{ args: [t(6), t(2, 2), [2, 2], [2, 1], 1] }],
});

const asStridedScatter = composeOp({
  name: "asStridedScatter",
  doc:
    "self, a row-major tensor, with the elements of asStrided replaced by `src`, as `torch.as_strided_scatter`. Its " +
    "gradient is PyTorch's, which is not the derivative: self gets that of the elements that were replaced.",
  params: stridedParams,
  infer(args) {
    const { self, storageOffset } = args, { shape, strides, offset } = self;
    if (!isContiguous(self) || (storageOffset !== null && !isEqual(offset, 0))) {
      throw new DynError(
        `Expected asStridedScatter into a whole tensor in row-major order but found sizes ${
          shapeText(shape)
        }, ` +
          `strides ${shapeText(strides)} and offset ${sizeText(offset)}; take contiguous() first`,
      );
    }
    return writeStrided.infer(args);
  },
  compose: (o, { self, src, size, stride, storageOffset }) =>
    o.writeStrided(self, src, size, stride, storageOffset),
  gradient: {
    saves: [],
    single(o, grad, { args: { size, stride, storageOffset } }) {
      const part = o.readStrided(grad, size, stride, storageOffset);
      return { self: o.writeStrided(o.zerosLike(grad), part, size, stride, storageOffset), src: part };
    },
  },
  samples: [{ args: [t(6), t(2, 2), [2, 2], [2, 1], 1], frozen: true }],
});

export const scatterViews = {
  selectScatter,
  sliceScatter,
  diagonalScatter,
  diagEmbed,
  unfoldBackward,
  asStridedBackward,
  readStrided,
  writeStrided,
  asStridedScatter,
} as const;
