/**
 * Views: results that alias their input with other sizes, strides or offset, as metadata and as index arithmetic for
 * values without storage. Invariant: `lower` reads the element that the strides address; `writeBack` is its inverse.
 */
import { checkPositive } from "../../base/checked_numbers.ts";
import { DynError } from "../../base/errors.ts";
import { add, type Dim, mul, product, sub } from "../../sym/expr.ts";
import { isEqual, isLess } from "../../sym/decide.ts";
import {
  contiguousMeta,
  contiguousStrides,
  elementCount,
  isContiguous,
  type TensorMeta,
} from "../../graph/meta.ts";
import type { Lowered, Operand } from "../../loops/body.ts";
import { type TensorLike, viewOp } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, optional, required } from "../params.ts";
import { elements, sumTo, t } from "../pointwise.ts";
import {
  broadcastIndex,
  flatIndex,
  inferSizes,
  normalizeDim,
  normalizeDims,
  normalizeIndex,
  ownDim,
  shapeText,
  sliceLength,
  sliceRange,
  unravel,
  withSize,
} from "../shapes.ts";

/** The gradient of views of all elements, in order. */
const RESHAPED = {
  saves: [],
  single: <T extends TensorLike>(
    o: OpApi<T>,
    grad: T,
    { args: { self } }: { readonly args: { readonly self: T } },
  ) => ({ self: o.reshape(grad, self.shape) }),
} as const;

/** Elements of a view, read from `self` at the index that `at` gives. */
export function readAt(
  self: Operand,
  result: TensorMeta | undefined,
  at: (index: readonly Dim[]) => readonly Dim[],
): Lowered[] {
  return elements(result, (o, index) => o.load(self, at(index)));
}

/**
 * Strides that show a strided tensor in another shape of as many elements without copying, or null if that is
 * impossible. Follows `computeStride` of ATen.
 */
export function viewStrides(
  self: Pick<TensorMeta, "shape" | "strides">,
  shape: readonly Dim[],
): Dim[] | null {
  if (self.shape.some((s) => s === 0) || isContiguous(self)) return contiguousStrides(shape);
  const strides: Dim[] = new Array<Dim>(shape.length).fill(1);
  let to = shape.length - 1;
  let base: Dim = self.strides.at(-1) ?? 1, run: Dim = 1, seen: Dim = 1;
  for (let d = self.shape.length - 1; d >= 0; d--) {
    run = mul(run, self.shape[d] ?? 1);
    const outer = self.shape[d - 1] ?? 1;
    const joins = d > 0 &&
      (isEqual(outer, 1) || isEqual(self.strides[d - 1] ?? 1, mul(run, base)));
    if (joins) continue;
    while (to >= 0 && (isLess(seen, run) || isEqual(shape[to] ?? 1, 1))) {
      strides[to] = mul(seen, base);
      seen = mul(seen, shape[to] ?? 1);
      to--;
    }
    if (!isEqual(seen, run)) return null;
    if (d > 0) {
      base = self.strides[d - 1] ?? 1;
      run = 1;
      seen = 1;
    }
  }
  return to === -1 ? strides : null;
}

/** The flattened index of a reshape. */
const reshaped = (from: readonly Dim[], to: readonly Dim[]) => (index: readonly Dim[]) =>
  unravel(flatIndex(index, to), from);

const view = viewOp({
  name: "view",
  doc: "The same elements in another shape, sharing memory; one size may be −1. As `Tensor.view`.",
  params: { self: required("tensor"), size: required("sizes", { variadic: true }) },
  infer({ self, size }) {
    const shape = inferSizes(size, elementCount(self));
    const strides = viewStrides(self, shape);
    if (!strides) {
      throw new DynError(
        `Expected strides that allow a view as ${shapeText(shape)} but found ${
          shapeText(self.strides)
        } of shape ` +
          `${shapeText(self.shape)}; use reshape`,
      );
    }
    return { ...self, shape, strides };
  },
  lower: ({ self }, [out]) => readAt(self, out, reshaped(self.shape, out?.shape ?? [])),
  writeBack: (o, { self }, { value }) => o.reshape(value, self.shape),
  gradient: RESHAPED,
  exposure: { free: false },
  samples: [{ args: [t(3, 4), [2, -1]] }, { args: [t(0, 3), [3, 0]] }, { args: [t(), [1, 1]] }],
  errors: [
    { args: [t(3, 4), [5, -1]], message: "12 elements" },
    { args: [{ tensor: [3, 4], transposed: true }, [12]], message: "use reshape" },
  ],
});

const reshape = viewOp({
  name: "reshape",
  doc: "The same elements in another shape: a view where strides allow it, else a copy. As `torch.reshape`.",
  params: { self: required("tensor"), shape: required("sizes", { variadic: true }) },
  infer({ self, shape }) {
    const sizes = inferSizes(shape, elementCount(self));
    const strides = viewStrides(self, sizes);
    return strides ? { ...self, shape: sizes, strides } : contiguousMeta(sizes, self.dtype, self.device);
  },
  copies: ({ self, shape }) => viewStrides(self, inferSizes(shape, elementCount(self))) === null,
  lower: ({ self }, [out]) => readAt(self, out, reshaped(self.shape, out?.shape ?? [])),
  writeBack: (o, { self }, { value }) => o.reshape(value, self.shape),
  gradient: RESHAPED,
  samples: [{ args: [t(3, 4), [2, -1]] }, { args: [{ tensor: [3, 4], transposed: true }, [12]] }],
  errors: [{ args: [t(3, 4), [5, -1]], message: "12 elements" }],
});

const contiguous = viewOp({
  name: "contiguous",
  doc: "Itself if its elements are in row-major order, else a row-major copy. As `Tensor.contiguous`.",
  params: { self: required("tensor") },
  infer: ({ self }) => isContiguous(self) ? self : contiguousMeta(self.shape, self.dtype, self.device),
  copies: ({ self }) => !isContiguous(self),
  lower: ({ self }, [out]) => readAt(self, out, (index) => index),
  writeBack: (_o, _args, { value }) => value,
  gradient: { saves: [], single: (_o, grad) => ({ self: grad }) },
  exposure: { free: false },
  samples: [{ args: [{ tensor: [3, 4], transposed: true }] }, { args: [t(3)] }],
});

/** A tensor with its dimensions in another order. */
export function permuted(self: TensorMeta, order: readonly number[]): TensorMeta {
  if (self.shape.length === 0) return self;
  return {
    ...self,
    shape: order.map((d) => self.shape[d] ?? 1),
    strides: order.map((d) => self.strides[d] ?? 1),
  };
}

/** The part at an index of a dimension, without that dimension. */
export function selected(self: TensorMeta, at: number, index: Dim): TensorMeta {
  return {
    ...self,
    shape: self.shape.toSpliced(at, 1),
    strides: self.strides.toSpliced(at, 1),
    offset: add(self.offset, mul(index, self.strides[at] ?? 1)),
  };
}

const permute = viewOp({
  name: "permute",
  doc: "The dimensions in another order, as `torch.permute`.",
  params: { self: required("tensor"), dims: required("ints", { variadic: true }) },
  infer({ self, dims }) {
    if (dims.length !== self.shape.length) {
      throw new DynError(`Expected ${self.shape.length} dims but found ${dims.length}`);
    }
    return permuted(self, normalizeDims(dims, self.shape.length));
  },
  lower({ self, dims }, [out]) {
    const inverse = inverseOrder(normalizeDims(dims, self.shape.length));
    return readAt(self, out, (index) => inverse.map((d) => index[d] ?? 0));
  },
  writeBack: (o, { self, dims }, { value }) =>
    o.permute(value, inverseOrder(normalizeDims(dims, self.shape.length))),
  gradient: {
    saves: [],
    single: (o, grad, { args: { self, dims } }) => ({
      self: o.permute(grad, inverseOrder(normalizeDims(dims, self.shape.length))),
    }),
  },
  samples: [{ args: [t(2, 3, 4), [2, 0, 1]] }, { args: [t(2, 3), [-1, 0]] }],
  errors: [{ args: [t(2, 3), [0, 0]], message: "twice" }],
});

function inverseOrder(order: readonly number[]): number[] {
  const inverse = new Array<number>(order.length);
  order.forEach((d, i) => inverse[d] = i);
  return inverse;
}

/** The dimensions that squeeze removes. */
function squeezed(shape: readonly Dim[], dim: number | readonly number[] | null): number[] {
  return normalizeDims(dim, shape.length).filter((d) => isEqual(shape[d] ?? 0, 1));
}

const squeeze = viewOp({
  name: "squeeze",
  doc: "Without dimensions of size 1: all, or those of `dim` that have it. As `torch.squeeze`.",
  params: { self: required("tensor"), dim: nullable("dims", { variadic: true }) },
  inplace: "layout",
  infer({ self, dim }) {
    const gone = squeezed(self.shape, dim);
    return {
      ...self,
      shape: self.shape.filter((_, d) => !gone.includes(d)),
      strides: self.strides.filter((_, d) => !gone.includes(d)),
    };
  },
  lower({ self, dim }, [out]) {
    const gone = squeezed(self.shape, dim);
    return readAt(self, out, (index) => {
      let next = 0;
      return self.shape.map((_, d) => gone.includes(d) ? 0 : index[next++] ?? 0);
    });
  },
  writeBack: (o, { self }, { value }) => o.reshape(value, self.shape),
  gradient: RESHAPED,
  samples: [{ args: [t(1, 3, 1)] }, { args: [t(1, 3, 1), 0] }, { args: [t(2, 3), 1] }],
});

const unsqueeze = viewOp({
  name: "unsqueeze",
  doc: "With a dimension of size 1 put before `dim`, as `torch.unsqueeze`.",
  params: { self: required("tensor"), dim: required("int") },
  inplace: "layout",
  infer({ self, dim }) {
    const at = normalizeDim(dim, self.shape.length + 1);
    const step = at < self.shape.length ? mul(self.shape[at] ?? 1, self.strides[at] ?? 1) : 1;
    return { ...self, shape: self.shape.toSpliced(at, 0, 1), strides: self.strides.toSpliced(at, 0, step) };
  },
  lower: ({ self, dim }, [out]) =>
    readAt(self, out, (index) => index.toSpliced(normalizeDim(dim, self.shape.length + 1), 1)),
  writeBack: (o, { self }, { value }) => o.reshape(value, self.shape),
  gradient: RESHAPED,
  samples: [{ args: [t(2, 3), 0] }, { args: [t(2, 3), -1] }, { args: [t(), 0] }],
  errors: [{ args: [t(2, 3), 3], message: "Expected dim in [-3, 2]" }],
});

/** The sizes of expand with −1 resolved. */
function expandedShape(self: { readonly shape: readonly Dim[] }, size: readonly Dim[]): Dim[] {
  const lead = size.length - self.shape.length;
  if (lead < 0) {
    throw new DynError(`Expected at least ${self.shape.length} sizes but found ${shapeText(size)}`);
  }
  return size.map((s, d) => {
    const own = self.shape[d - lead];
    if (s === -1) {
      if (d < lead || own === undefined) {
        throw new DynError(
          `Expected non-negative sizes of new dimensions but found ${shapeText(size)}`,
        );
      }
      return own;
    }
    if (isLess(s, 0)) throw new DynError(`Expected sizes of at least -1 but found ${shapeText(size)}`);
    if (d >= lead && own !== undefined && own !== s && !isEqual(own, 1) && !isEqual(own, s)) {
      throw new DynError(
        `Expected a shape that ${shapeText(self.shape)} expands to but found ${shapeText(size)}`,
      );
    }
    return s;
  });
}

const expand = viewOp({
  name: "expand",
  doc: "Dimensions of size 1 repeated without copying; −1 keeps a size. As `Tensor.expand`.",
  params: {
    self: required("tensor"),
    size: required("sizes", { variadic: true }),
    implicit: optional("bool", false, { keyword: true }),
  },
  infer({ self, size }) {
    const shape = expandedShape(self, size), lead = shape.length - self.shape.length;
    const strides = shape.map((s, d) => {
      const own = self.shape[d - lead];
      return d < lead || own === undefined || (own !== s && isEqual(own, 1))
        ? 0
        : self.strides[d - lead] ?? 0;
    });
    return { ...self, shape, strides };
  },
  lower: ({ self }, [out]) => readAt(self, out, (index) => broadcastIndex(self.shape, index)),
  gradient: {
    saves: [],
    single: (o, grad, { args: { self } }) => ({ self: sumTo(o, grad, self.shape) }),
  },
  exposure: { free: false },
  samples: [{ args: [t(3, 1), [2, 3, 4]] }, { args: [t(3, 1), [-1, 4]] }, { args: [t(), [2]] }],
  errors: [{ args: [t(3, 2), [3, 4]], message: "expands" }],
});

const select = viewOp({
  name: "select",
  doc: "The part at `index` along `dim`, without that dimension, as `torch.select`.",
  params: { self: required("tensor"), dim: required("int"), index: required("size") },
  infer({ self, dim, index }) {
    const at = ownDim(dim, self.shape);
    return selected(self, at, normalizeIndex(index, self.shape[at] ?? 1));
  },
  lower({ self, dim, index: wanted }, [out]) {
    const at = normalizeDim(dim, self.shape.length);
    const from = normalizeIndex(wanted, self.shape[at] ?? 1);
    return readAt(self, out, (index) => index.toSpliced(at, 0, from));
  },
  writeBack: (o, { self, dim, index }, { value }) => o.selectScatter(self, value, dim, index),
  gradient: {
    saves: [],
    single: (o, grad, { args: { self, dim, index } }) => ({
      self: o.selectScatter(o.newZeros(grad, self.shape), grad, dim, index),
    }),
  },
  samples: [{ args: [t(3, 4), 0, 1] }, { args: [t(3, 4), -1, -2] }],
  errors: [{ args: [t(3, 4), 0, 3], message: "Expected index in [-3, 2] but found 3" }],
});

const slice = viewOp({
  name: "slice",
  doc: "The elements start, start + step, … before end along `dim`, as x[start:end:step].",
  params: {
    self: required("tensor"),
    dim: optional("int", 0),
    start: nullable("size"),
    end: nullable("size"),
    step: optional("int", 1),
  },
  infer({ self, dim, start, end, step }) {
    checkPositive("step of a slice", step);
    const at = ownDim(dim, self.shape);
    const range = sliceRange(self.shape[at] ?? 1, start, end), stride = self.strides[at] ?? 1;
    return {
      ...self,
      shape: withSize(self.shape, at, sliceLength(range, step)),
      strides: withSize(self.strides, at, mul(stride, step)),
      offset: add(self.offset, mul(range.start, stride)),
    };
  },
  lower({ self, dim, start, end, step }, [out]) {
    const at = normalizeDim(dim, self.shape.length);
    const range = sliceRange(self.shape[at] ?? 1, start, end);
    return readAt(self, out, (index) => withSize(index, at, add(range.start, mul(index[at] ?? 0, step))));
  },
  writeBack: (o, { self, dim, start, end, step }, { value }) =>
    o.sliceScatter(self, value, dim, start, end, step),
  gradient: {
    saves: [],
    single: (o, grad, { args: { self, dim, start, end, step } }) => ({
      self: o.sliceScatter(o.newZeros(grad, self.shape), grad, dim, start, end, step),
    }),
  },
  samples: [{ args: [t(3, 4), 1, 1, 3] }, { args: [t(5), 0, -4, null, 2] }, { args: [t(3), 0, 2, 1] }],
  errors: [{ args: [t(3), 0, 0, 2, 0], message: "to be positive" }],
});

/** Returns how far a diagonal is from the main one. */
export const distanceOf = (offset: Dim): Dim => isLess(offset, 0) ? sub(0, offset) : offset;

/** Returns start and length of a diagonal. */
export function diagonalOf(
  shape: readonly Dim[],
  at: { offset: Dim; dim1: number; dim2: number },
): { dim1: number; dim2: number; row: Dim; column: Dim; length: Dim } {
  const dim1 = normalizeDim(at.dim1, shape.length), dim2 = normalizeDim(at.dim2, shape.length);
  if (dim1 === dim2) throw new DynError(`Expected two different dims but found ${dim1} twice`);
  const isBelow = isLess(at.offset, 0),
    row = isBelow ? sub(0, at.offset) : 0,
    column = isBelow ? 0 : at.offset;
  const rows = sub(shape[dim1] ?? 1, row), columns = sub(shape[dim2] ?? 1, column);
  const length = isLess(rows, columns) ? rows : columns;
  return { dim1, dim2, row, column, length: isLess(length, 0) ? 0 : length };
}

const diagonal = viewOp({
  name: "diagonal",
  doc: "The diagonal of two dimensions as a new last dimension, as `torch.diagonal`.",
  params: {
    self: required("tensor"),
    offset: optional("size", 0),
    dim1: optional("int", 0),
    dim2: optional("int", 1),
  },
  infer({ self, offset, dim1, dim2 }) {
    const at = diagonalOf(self.shape, { offset, dim1, dim2 });
    const without = (dims: readonly Dim[]) => dims.filter((_, d) => d !== at.dim1 && d !== at.dim2);
    const s1 = self.strides[at.dim1] ?? 1, s2 = self.strides[at.dim2] ?? 1;
    const start = at.length === 0 ? 0 : add(mul(at.row, s1), mul(at.column, s2));
    return {
      ...self,
      shape: [...without(self.shape), at.length],
      strides: [...without(self.strides), add(s1, s2)],
      offset: add(self.offset, start),
    };
  },
  lower({ self, offset, dim1, dim2 }, [out]) {
    const at = diagonalOf(self.shape, { offset, dim1, dim2 });
    return readAt(self, out, (index) => {
      const along = index.at(-1) ?? 0;
      let next = 0;
      return self.shape.map((_, d) =>
        d === at.dim1 ? add(along, at.row) : d === at.dim2 ? add(along, at.column) : index[next++] ?? 0
      );
    });
  },
  writeBack: (o, { self, offset, dim1, dim2 }, { value }) =>
    o.diagonalScatter(self, value, offset, dim1, dim2),
  gradient: {
    saves: [],
    single: (o, grad, { args: { self, offset, dim1, dim2 } }) => ({
      self: o.diagonalScatter(o.newZeros(grad, self.shape), grad, offset, dim1, dim2),
    }),
  },
  samples: [{ args: [t(3, 4)] }, { args: [t(2, 3, 4), -1, 1, 2] }, { args: [t(2, 2), 5] }],
});

const alias = viewOp({
  name: "alias",
  doc: "The same tensor as another object.",
  params: { self: required("tensor") },
  infer: ({ self }) => self,
  lower: ({ self }, [out]) => readAt(self, out, (index) => index),
  writeBack: (_o, _args, { value }) => value,
  gradient: { saves: [], single: (_o, grad) => ({ self: grad }) },
  exposure: { method: false, free: false },
  samples: [{ args: [t(3)] }],
});

const detach = viewOp({
  name: "detach",
  doc: "The same elements, sharing memory, without a history of gradients, as `Tensor.detach`.",
  params: { self: required("tensor") },
  infer: ({ self }) => self,
  lower: ({ self }, [out]) => readAt(self, out, (index) => index),
  writeBack: (_o, _args, { value }) => value,
  gradient: { kind: "none", because: "it is what cuts gradients off" },
  samples: [{ args: [t(3)] }],
});

/** Sizes of a flattened range of dimensions. */
export function flattenedShape(shape: readonly Dim[], from: number, to: number): Dim[] {
  return [...shape.slice(0, from), product(shape.slice(from, to + 1)), ...shape.slice(to + 1)];
}

export const views = {
  view,
  reshape,
  contiguous,
  permute,
  squeeze,
  unsqueeze,
  expand,
  select,
  slice,
  diagonal,
  alias,
  detach,
} as const;
