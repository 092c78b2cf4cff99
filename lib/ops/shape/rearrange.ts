/**
 * Views composed of other views, and lists of views. Invariant: nothing is copied, except by flatten if strides forbid
 * a view.
 */
import { checkAtLeast } from "../../base/checked_numbers.ts";
import { DynError } from "../../base/errors.ts";
import { add, ceilDiv, type Dim, floorDiv, max, mod, mul, sub } from "../../sym/expr.ts";
import { isEqual, isLess, sizeText } from "../../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { composeOp, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import {
  inferSizes,
  knownSize,
  normalizeDim,
  normalizeDims,
  ownDim,
  shapeText,
  sliceRange,
  withSize,
} from "../shapes.ts";
import { flattenedShape, permuted, selected, viewStrides } from "./views.ts";

const transpose = composeOp({
  name: "transpose",
  doc: "Two dimensions exchanged, as `torch.transpose`.",
  params: { self: required("tensor"), dim0: required("int"), dim1: required("int") },
  exposure: { aliases: ["swapdims"] },
  inplace: "layout",
  infer: ({ self, dim0, dim1 }) => permuted(self, exchanged(self.shape.length, dim0, dim1)),
  compose: (o, { self, dim0, dim1 }) =>
    self.shape.length === 0 ? o.alias(self) : o.permute(self, exchanged(self.shape.length, dim0, dim1)),
  samples: [{ args: [t(2, 3, 4), 0, -1] }, { args: [t(), 0, -1] }],
  errors: [{ args: [t(2, 3), 0, 2], message: "Expected dim in [-2, 1]" }],
});

const swapaxes = composeOp({
  name: "swapaxes",
  doc: "`transpose`, by NumPy's names of its arguments, as `torch.swapaxes`.",
  params: { self: required("tensor"), axis0: required("int"), axis1: required("int") },
  inplace: "layout",
  infer: ({ self, axis0, axis1 }) => permuted(self, exchanged(self.shape.length, axis0, axis1)),
  compose: (o, { self, axis0, axis1 }) => o.transpose(self, axis0, axis1),
  samples: [{ args: [t(2, 3, 4), 0, -1] }, { args: [t(), 0, -1] }],
  errors: [{ args: [t(2, 3), 0, 2], message: "Expected dim in [-2, 1]" }],
});

function exchanged(rank: number, dim0: number, dim1: number): number[] {
  const a = normalizeDim(dim0, rank), b = normalizeDim(dim1, rank), order: number[] = [];
  for (let d = 0; d < rank; d++) order.push(d === a ? b : d === b ? a : d);
  return order;
}

const tOp = composeOp({
  name: "t",
  doc: "A matrix transposed; tensors of fewer dimensions as they are. As `torch.t`.",
  params: { self: required("tensor") },
  inplace: "layout",
  infer({ self }) {
    if (self.shape.length > 2) {
      throw new DynError(`Expected at most 2 dimensions but found ${shapeText(self.shape)}`);
    }
    return self.shape.length < 2 ? self : permuted(self, [1, 0]);
  },
  compose: (o, { self }) => self.shape.length < 2 ? o.alias(self) : o.permute(self, [1, 0]),
  samples: [{ args: [t(2, 3)] }, { args: [t(3)] }],
  errors: [{ args: [t(2, 3, 4)], message: "at most 2" }],
});

const mT = composeOp({
  name: "mT",
  doc: "The last two dimensions exchanged, as the property `x.mT`.",
  params: { self: required("tensor") },
  exposure: { method: false },
  infer({ self }) {
    if (self.shape.length < 2) {
      throw new DynError(`Expected at least 2 dimensions but found ${shapeText(self.shape)}`);
    }
    return permuted(self, exchanged(self.shape.length, -2, -1));
  },
  compose: (o, { self }) => o.transpose(self, -2, -1),
  samples: [{ args: [t(2, 3, 4)] }],
  errors: [{ args: [t(2)], message: "at least 2" }],
});

const reversed = composeOp({
  name: "T",
  doc: "All dimensions in reverse order, as the property `x.T`.",
  params: { self: required("tensor") },
  exposure: { method: false },
  infer: ({ self }) => permuted(self, self.shape.map((_, d) => self.shape.length - 1 - d)),
  compose: (o, { self }) => o.permute(self, self.shape.map((_, d) => self.shape.length - 1 - d)),
  samples: [{ args: [t(2, 3)] }, { args: [t()] }],
});

/** The order of dimensions that moves `source` to `destination`. */
function movedOrder(
  rank: number,
  source: number | readonly number[],
  destination: number | readonly number[],
): number[] {
  const from = normalizeDims(source, rank), to = normalizeDims(destination, rank);
  if (from.length !== to.length) {
    throw new DynError(`Expected as many destinations as sources but found ${to.length} for ${from.length}`);
  }
  const order = new Array<number | undefined>(rank).fill(undefined);
  to.forEach((d, i) => order[d] = from[i]);
  const rest = Array.from({ length: rank }, (_, d) => d).filter((d) => !from.includes(d));
  return order.map((d) => d ?? rest.shift() ?? 0);
}

const movedim = composeOp({
  name: "movedim",
  doc: "Dimensions moved to other places, the rest in order, as `torch.movedim`.",
  params: { self: required("tensor"), source: required("dims"), destination: required("dims") },
  exposure: { aliases: ["moveaxis"] },
  infer: ({ self, source, destination }) =>
    permuted(self, movedOrder(self.shape.length, source, destination)),
  compose: (o, { self, source, destination }) =>
    self.shape.length === 0
      ? o.alias(self)
      : o.permute(self, movedOrder(self.shape.length, source, destination)),
  samples: [{ args: [t(2, 3, 4), 0, 2] }, { args: [t(2, 3, 4), [0, 1], [2, 0]] }],
  errors: [{ args: [t(2, 3), [0, 1], [0]], message: "as many" }],
});

/** Metadata of a reshape: an alias if strides allow it, else a copy. */
function reshapedMeta(self: TensorMeta, shape: readonly Dim[]): TensorMeta {
  const strides = viewStrides(self, shape);
  return strides ? { ...self, shape, strides } : contiguousMeta(shape, self.dtype, self.device);
}

function flatShape(shape: readonly Dim[], start: number, end: number): Dim[] {
  if (shape.length === 0) {
    for (const dim of [start, end]) normalizeDim(dim, 1);
    return [1];
  }
  const from = normalizeDim(start, shape.length), to = normalizeDim(end, shape.length);
  if (from > to) throw new DynError(`Expected startDim not after endDim but found ${from} and ${to}`);
  return flattenedShape(shape, from, to);
}

const flatten = composeOp({
  name: "flatten",
  doc: "The dimensions from startDim to endDim as one, as `torch.flatten`.",
  params: { self: required("tensor"), startDim: optional("int", 0), endDim: optional("int", -1) },
  infer: ({ self, startDim, endDim }) => reshapedMeta(self, flatShape(self.shape, startDim, endDim)),
  compose: (o, { self, startDim, endDim }) => o.reshape(self, flatShape(self.shape, startDim, endDim)),
  samples: [{ args: [t(2, 3, 4)] }, { args: [t(2, 3, 4), 1] }, { args: [t()] }],
  errors: [{ args: [t(2, 3), 1, 0], message: "not after" }],
});

const unflatten = composeOp({
  name: "unflatten",
  doc: "One dimension as several, one of whose sizes may be −1, as `torch.unflatten`.",
  params: { self: required("tensor"), dim: required("int"), sizes: required("sizes") },
  infer: ({ self, dim, sizes }) => reshapedMeta(self, unflatShape(self.shape, dim, sizes)),
  compose: (o, { self, dim, sizes }) => o.view(self, unflatShape(self.shape, dim, sizes)),
  samples: [{ args: [t(2, 6), 1, [2, -1]] }],
  errors: [{ args: [t(2, 6), 1, [4, -1]], message: "6 elements" }],
});

function unflatShape(shape: readonly Dim[], dim: number, sizes: readonly Dim[]): Dim[] {
  if (sizes.length === 0) throw new DynError("Expected at least one size but found none");
  const at = normalizeDim(dim, shape.length);
  return shape.toSpliced(at, 1, ...inferSizes(sizes, shape[at] ?? 1));
}

/** Ops that view a tensor in the shape of another. */
function like(
  name: "viewAs" | "reshapeAs" | "expandAs",
  base: "view" | "reshape" | "expand",
) {
  return composeOp({
    name,
    doc: `As ${base}, in the shape of \`other\`.`,
    params: { self: required("tensor"), other: required("tensor") },
    exposure: { free: false },
    infer({ self, other }) {
      if (base === "expand") return broadcastMeta(self, other.shape);
      return reshapedMeta(self, inferSizes(other.shape, self.shape.reduce<Dim>(mul, 1)));
    },
    compose: (o, { self, other }) => o[base](self, other.shape),
    samples: [{ args: base === "expand" ? [t(3, 1), t(2, 3, 4)] : [t(2, 3), t(3, 2)] }],
  });
}

function broadcastMeta(self: TensorMeta, shape: readonly Dim[]): TensorMeta {
  const lead = shape.length - self.shape.length;
  if (lead < 0) {
    throw new DynError(`Expected at least ${self.shape.length} sizes but found ${shapeText(shape)}`);
  }
  const strides = shape.map((size, d) => {
    const own = self.shape[d - lead];
    if (d < lead || own === undefined) return 0;
    if (own === size || isEqual(own, size)) return self.strides[d - lead] ?? 0;
    if (isEqual(own, 1)) return 0;
    throw new DynError(
      `Expected a shape that ${shapeText(self.shape)} expands to but found ${shapeText(shape)}`,
    );
  });
  return { ...self, shape, strides };
}

const broadcastTo = composeOp({
  name: "broadcastTo",
  doc: "As expand, as `torch.broadcast_to`.",
  params: { self: required("tensor"), size: required("sizes") },
  infer: ({ self, size }) =>
    broadcastMeta(
      self,
      size.map((s, d) => s === -1 ? self.shape[d - size.length + self.shape.length] ?? 1 : s),
    ),
  compose: (o, { self, size }) => o.expand(self, size),
  samples: [{ args: [t(3, 1), [2, 3, 4]] }],
  errors: [{ args: [t(3, 2), [3, 4]], message: "expands" }],
});

const narrow = composeOp({
  name: "narrow",
  doc: "`length` elements from `start` along a dimension, as `torch.narrow`.",
  params: {
    self: required("tensor"),
    dim: required("int"),
    start: required("size"),
    length: required("size"),
  },
  infer({ self, dim, start, length }) {
    const at = ownDim(dim, self.shape), size = self.shape[at] ?? 1;
    const from = narrowStart(size, start, length);
    return {
      ...self,
      shape: withSize(self.shape, at, length),
      offset: add(self.offset, mul(from, self.strides[at] ?? 1)),
    };
  },
  compose(o, { self, dim, start, length }) {
    const from = narrowStart(self.shape[normalizeDim(dim, self.shape.length)] ?? 1, start, length);
    return o.slice(self, dim, from, add(from, length));
  },
  samples: [{ args: [t(5, 2), 0, 1, 3] }, { args: [t(5), 0, -2, 2] }],
  errors: [{ args: [t(3), 0, 2, 2], message: "Expected" }],
});

function narrowStart(size: Dim, start: Dim, length: Dim): Dim {
  const from = isLess(start, 0) ? add(start, size) : start;
  const range = sliceRange(size, from, add(from, length));
  if (
    isLess(from, 0) || isLess(length, 0) || !isEqual(sub(range.end, range.start), length) ||
    !isEqual(range.start, from)
  ) {
    throw new DynError(
      `Expected start and length inside of size ${sizeText(size)} but found ${sizeText(start)} and ${
        sizeText(length)
      }`,
    );
  }
  return from;
}

/** Start and end of each part of a dimension. */
type Cuts = readonly (readonly [Dim, Dim])[];

function partMetas(self: TensorMeta, dim: number, cutsOf: (size: Dim) => Cuts): TensorMeta[] {
  const at = ownDim(dim, self.shape);
  return cutsOf(self.shape[at] ?? 1).map(([start, end]) => ({
    ...self,
    shape: withSize(self.shape, at, sub(end, start)),
    offset: add(self.offset, mul(start, self.strides[at] ?? 1)),
  }));
}

function partViews<T extends TensorLike>(
  o: OpApi<T>,
  self: T,
  at: { dim: number; cuts: (size: Dim) => Cuts },
): T[] {
  const dim = normalizeDim(at.dim, self.shape.length);
  return at.cuts(self.shape[dim] ?? 1).map(([start, end]) => o.slice(self, dim, start, end));
}

/** Parts of given lengths, one after the other. */
function bySizes(sizes: readonly Dim[]): Cuts {
  let from: Dim = 0;
  return sizes.map((size) => {
    const start = from;
    from = add(from, size);
    return [start, from] as const;
  });
}

/** Parts of one length, the last one shorter if it does not divide the size. */
function byLength(size: Dim, length: Dim): Cuts {
  if (isLess(length, 0)) {
    throw new DynError(`Expected a non-negative split size but found ${sizeText(length)}`);
  }
  if (isEqual(length, 0)) {
    if (isEqual(size, 0)) return [[0, 0]];
    throw new DynError(`Expected a positive split size for size ${sizeText(size)} but found 0`);
  }
  const count = Math.max(1, knownSize(ceilDiv(size, length)));
  return Array.from({ length: count }, (_, i) => {
    const start = mul(i, length);
    return [start, i === count - 1 ? size : add(start, length)] as const;
  });
}

function isList(value: Dim | readonly Dim[]): value is readonly Dim[] {
  return Array.isArray(value);
}

function splitCuts(splitSize: Dim | readonly Dim[]): (size: Dim) => Cuts {
  return (size) => {
    if (!isList(splitSize)) return byLength(size, splitSize);
    const sizes = splitSize;
    const total = sizes.reduce<Dim>(add, 0);
    if (sizes.some((s) => isLess(s, 0)) || !isEqual(total, size)) {
      throw new DynError(
        `Expected split sizes that add up to ${sizeText(size)} but found ${shapeText(sizes)}`,
      );
    }
    return bySizes(sizes);
  };
}

const split = composeOp({
  name: "split",
  doc: "Parts of one length, or of the lengths in a list, along a dimension, as `torch.split`.",
  params: { self: required("tensor"), splitSize: required("sizeOrSizes"), dim: optional("int", 0) },
  otherNames: { tensor: "self", splitSizeOrSections: "splitSize" },
  resultList: true,
  infer: ({ self, splitSize, dim }) => partMetas(self, dim, splitCuts(splitSize)),
  compose: (o, { self, splitSize, dim }) => partViews(o, self, { dim, cuts: splitCuts(splitSize) }),
  samples: [{ args: [t(5, 2), 2] }, { args: [t(5, 2), [1, 4]] }, { args: [t(2, 4), 2, 1] }],
  errors: [{ args: [t(5), [1, 2]], message: "add up" }],
});

const splitWithSizes = composeOp({
  name: "splitWithSizes",
  doc: "Parts of the given lengths along a dimension, as `torch.split_with_sizes`.",
  params: { self: required("tensor"), splitSizes: required("sizes"), dim: optional("int", 0) },
  resultList: true,
  infer: ({ self, splitSizes, dim }) => partMetas(self, dim, splitCuts(splitSizes)),
  compose: (o, { self, splitSizes, dim }) => partViews(o, self, { dim, cuts: splitCuts(splitSizes) }),
  samples: [{ args: [t(5, 2), [1, 4]] }],
  errors: [{ args: [t(5), [1, 2]], message: "add up" }],
});

function chunkCuts(chunks: number): (size: Dim) => Cuts {
  return (size) => {
    checkAtLeast("the number of chunks", chunks, 1);
    if (isEqual(size, 0)) return Array.from({ length: chunks }, () => [0, 0] as const);
    return byLength(size, max(1, ceilDiv(size, chunks)));
  };
}

const chunk = composeOp({
  name: "chunk",
  doc: "At most `chunks` parts of equal length, the last one possibly shorter, as `torch.chunk`.",
  params: { self: required("tensor"), chunks: required("int"), dim: optional("int", 0) },
  resultList: true,
  infer: ({ self, chunks, dim }) => partMetas(self, dim, chunkCuts(chunks)),
  compose: (o, { self, chunks, dim }) => partViews(o, self, { dim, cuts: chunkCuts(chunks) }),
  samples: [{ args: [t(5, 2), 2] }, { args: [t(2, 4), 2, -1] }],
  errors: [{ args: [t(5), 0], message: "at least 1" }],
});

/** Cuts at indices, or into a number of parts whose lengths differ by at most one. */
function tensorCuts(at: Dim | readonly Dim[]): (size: Dim) => Cuts {
  return (size) => {
    if (isList(at)) {
      const clamp = (i: Dim) => sliceRange(size, i, null).start;
      const points: Dim[] = [0, ...at.map(clamp), size];
      return points.slice(1).map((end, i) => {
        const range = sliceRange(size, points[i] ?? 0, end);
        return [range.start, range.end] as const;
      });
    }
    const count = knownSize(at);
    checkAtLeast("the number of sections", count, 1);
    const small = floorDiv(size, count), rest = mod(size, count);
    return bySizes(Array.from({ length: count }, (_, i) => isLess(i, rest) ? add(small, 1) : small));
  };
}

const tensorSplit = composeOp({
  name: "tensorSplit",
  doc:
    "Parts between indices, or a number of nearly equal parts, along a dimension, as `torch.tensor_split`.",
  params: { self: required("tensor"), indicesOrSections: required("sizeOrSizes"), dim: optional("int", 0) },
  otherNames: { indices: "indicesOrSections", sections: "indicesOrSections" },
  resultList: true,
  infer: ({ self, indicesOrSections, dim }) => partMetas(self, dim, tensorCuts(indicesOrSections)),
  compose: (o, { self, indicesOrSections, dim }) =>
    partViews(o, self, { dim, cuts: tensorCuts(indicesOrSections) }),
  samples: [{ args: [t(7), 3] }, { args: [t(7), [2, 5]] }],
  errors: [{ args: [t(7), 0], message: "at least 1" }],
});

/** hsplit, vsplit, dsplit: tensorSplit along a dimension that rank decides, into equal parts. */
function splitAlong(name: "hsplit" | "vsplit" | "dsplit", dimOf: (rank: number) => number, least: number) {
  const cutsOf = (sections: number | readonly number[]) => (size: Dim): Cuts => {
    if (
      typeof sections === "number" && (sections <= 0 || knownSize(size) % sections !== 0)
    ) {
      throw new DynError(
        `Expected a number of sections that divides ${sizeText(size)} but found ${sections}`,
      );
    }
    return tensorCuts(sections)(size);
  };
  const check = (self: TensorLike) => {
    if (self.shape.length < least) {
      throw new DynError(`Expected at least ${least} dimensions but found ${shapeText(self.shape)}`);
    }
  };
  return composeOp({
    name,
    doc: `Parts along a dimension, as \`torch.${name}\`.`,
    params: { self: required("tensor"), indicesOrSections: required("intOrInts") },
    otherNames: { indices: "indicesOrSections", sections: "indicesOrSections" },
    resultList: true,
    infer({ self, indicesOrSections }) {
      check(self);
      return partMetas(self, dimOf(self.shape.length), cutsOf(indicesOrSections));
    },
    compose: (o, { self, indicesOrSections }) =>
      partViews(o, self, { dim: dimOf(self.shape.length), cuts: cutsOf(indicesOrSections) }),
    samples: [{ args: [t(2, 2, 2), 2] }],
    errors: [{ args: [t(), 2], message: "at least" }],
  });
}

const unbind = composeOp({
  name: "unbind",
  doc: "All parts along a dimension, without it, as `torch.unbind`.",
  params: { self: required("tensor"), dim: optional("int", 0) },
  resultList: true,
  infer({ self, dim }) {
    const at = ownDim(dim, self.shape);
    return Array.from({ length: knownSize(self.shape[at] ?? 1) }, (_, i) => selected(self, at, i));
  },
  compose(o, { self, dim }) {
    const at = normalizeDim(dim, self.shape.length);
    const count = knownSize(self.shape[at] ?? 1);
    return Array.from({ length: count }, (_, i) => o.select(self, at, i));
  },
  samples: [{ args: [t(3, 2)] }, { args: [t(3, 2), 1] }],
  errors: [{ args: [t()], message: "0-d" }],
});

export const rearrange = {
  transpose,
  swapaxes,
  t: tOp,
  T: reversed,
  mT,
  movedim,
  flatten,
  unflatten,
  viewAs: like("viewAs", "view"),
  reshapeAs: like("reshapeAs", "reshape"),
  expandAs: like("expandAs", "expand"),
  broadcastTo,
  narrow,
  split,
  splitWithSizes,
  chunk,
  tensorSplit,
  hsplit: splitAlong("hsplit", (rank) => rank === 1 ? 0 : 1, 1),
  vsplit: splitAlong("vsplit", () => 0, 2),
  dsplit: splitAlong("dsplit", () => 2, 3),
  unbind,
} as const;
