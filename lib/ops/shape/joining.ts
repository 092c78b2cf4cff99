/**
 * Combined shapes: stacking by name, grids, products, blocks, and tensors with more dimensions. Invariant: nothing
 * here has a kernel.
 */
import { snakeCase } from "../../base/names.ts";
import { checkAtLeast } from "../../base/checked_numbers.ts";
import { DynError } from "../../base/errors.ts";
import { isComplex, isFloat, isInteger } from "../../base/dtype.ts";
import { add, type Dim, mul, product } from "../../sym/expr.ts";
import { isAtMost, isEqual } from "../../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { composeOp, hostOp, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, optional, required } from "../params.ts";
import { checkSameType, floatTypeOf, isTensor, resultTypeOf } from "../promotion.ts";
import { deviceOf, t } from "../pointwise.ts";
import {
  broadcastShapes,
  normalizeDim,
  normalizeDims,
  ownDim,
  sameShape,
  shapeText,
  withSize,
} from "../shapes.ts";
import { distanceOf } from "./views.ts";

const LIST = { method: false } as const;

/** The shape extended to a rank, with new dimensions where PyTorch adds them. */
function raised(shape: readonly Dim[], rank: 1 | 2 | 3): Dim[] {
  if (shape.length >= rank) return [...shape];
  if (rank === 3 && shape.length === 2) return [...shape, 1];
  if (rank === 3 && shape.length === 1) return [1, ...shape, 1];
  return [...new Array<Dim>(rank - shape.length).fill(1), ...shape];
}

const reshapedMeta = (self: TensorMeta, shape: readonly Dim[]): TensorMeta =>
  contiguousMeta(shape, self.dtype, self.device);

/** atleast1d, atleast2d, atleast3d of one tensor. */
function atLeast(rank: 1 | 2 | 3) {
  return composeOp({
    name: `atleast${rank}d`,
    doc: `With at least ${rank} dimension(s), as \`torch.atleast_${rank}d\` of one tensor.`,
    params: { self: required("tensor") },
    exposure: LIST,
    infer: ({ self }) => self.shape.length >= rank ? self : reshapedMeta(self, raised(self.shape, rank)),
    compose: (o, { self }) => self.shape.length >= rank ? self : o.reshape(self, raised(self.shape, rank)),
    samples: [{ args: [t(3)] }, { args: [t()] }],
  });
}

/** The shape of a concatenation. */
function joinedShape(shapes: readonly (readonly Dim[])[], dim: number): Dim[] {
  const [first, ...rest] = shapes;
  if (!first) throw new DynError("Expected at least one tensor but found none");
  const at = normalizeDim(dim, first.length);
  let size: Dim = first[at] ?? 1;
  for (const shape of rest) {
    if (shape.length !== first.length || !sameShape(withSize(shape, at, 1), withSize(first, at, 1))) {
      throw new DynError(
        `Expected shapes that agree except at dimension ${at} but found ${shapeText(first)} and ${
          shapeText(shape)
        }`,
      );
    }
    size = add(size, shape[at] ?? 1);
  }
  return withSize(first, at, size);
}

/** hstack, vstack, dstack, columnStack: a concatenation of tensors with enough dimensions. */
function stacking(
  name: "hstack" | "vstack" | "dstack" | "columnStack",
  spec: {
    readonly along: string;
    readonly raise: (shape: readonly Dim[]) => Dim[];
    readonly dim: (rank: number) => number;
  },
  aliases: readonly string[] = [],
) {
  return composeOp({
    name,
    doc: `Tensors joined ${spec.along}, as \`torch.${snakeCase(name)}\`.`,
    params: { tensors: required("tensors") },
    exposure: { ...LIST, aliases },
    infer({ tensors }) {
      const shapes = tensors.map((x) => spec.raise(x.shape));
      const shape = joinedShape(shapes, spec.dim(shapes[0]?.length ?? 1));
      return contiguousMeta(shape, resultTypeOf(tensors), deviceOf(tensors));
    },
    compose(o, { tensors }) {
      const raisedTensors = tensors.map((x) => {
        const shape = spec.raise(x.shape);
        return shape.length === x.shape.length ? x : o.reshape(x, shape);
      });
      return o.cat(raisedTensors, spec.dim(raisedTensors[0]?.shape.length ?? 1));
    },
    samples: [{ args: [[t(2, 3, 1), t(2, 3, 1)]] }, { args: [[t(3), t(3)]] }],
    errors: [{ args: [[t(2, 3, 1), t(3, 2, 2)]], message: "agree" }],
  });
}

const blockDiag = composeOp({
  name: "blockDiag",
  doc: "Matrices along the diagonal of a matrix of zeros, as `torch.block_diag`.",
  params: { tensors: required("tensors", { variadic: true }) },
  exposure: LIST,
  infer({ tensors }) {
    const shapes = tensors.map((x) => blockShape(x.shape));
    const sum = (d: 0 | 1) => shapes.reduce<Dim>((n, s) => add(n, s[d]), 0);
    return contiguousMeta(
      tensors.length === 0 ? [1, 0] : [sum(0), sum(1)],
      resultTypeOf(tensors),
      deviceOf(tensors),
    );
  },
  compose(o, { tensors }) {
    // A 0-d tensor takes part in the type as such, though it becomes a matrix
    const dtype = resultTypeOf(tensors),
      columns = tensors.reduce<Dim>((n, x) => add(n, blockShape(x.shape)[1]), 0);
    let before: Dim = 0;
    const rows = tensors.map((x) => {
      const shape = blockShape(x.shape), start = before;
      before = add(before, shape[1]);
      const after = add(columns, mul(before, -1));
      return o.constantPadNd(o.reshape(o.to(x, dtype), shape), [start, after], 0);
    });
    return o.cat(rows, 0);
  },
  samples: [{ args: [[t(2, 3), t(1, 2)]] }],
  errors: [{ args: [[t(2, 2, 2)]], message: "matrices" }],
});

function blockShape(shape: readonly Dim[]): [Dim, Dim] {
  if (shape.length > 2) throw new DynError(`Expected vectors or matrices but found ${shapeText(shape)}`);
  return [shape.length === 2 ? shape[0] ?? 1 : 1, shape.at(-1) ?? 1];
}

const meshgrid = composeOp({
  name: "meshgrid",
  doc: 'Each vector along a dimension of its own, all expanded to the grid; indexing "ij" or "xy". As ' +
    "`torch.meshgrid`.",
  params: {
    tensors: required("tensors", { variadic: true }),
    indexing: optional("string", "ij", { keyword: true, oneOf: ["ij", "xy"] }),
  },
  resultList: true,
  exposure: LIST,
  infer({ tensors, indexing }) {
    for (const x of tensors) {
      if (x.shape.length > 1) {
        throw new DynError(`Expected vectors for meshgrid but found ${shapeText(x.shape)}`);
      }
      checkSameType("meshgrid", ...tensors);
    }
    const sizes = tensors.map((x) => x.shape[0] ?? 1);
    const shape = indexing === "xy" ? swapped(sizes) : sizes;
    return tensors.map((x) => contiguousMeta(shape, x.dtype, x.device));
  },
  compose(o, { tensors, indexing }) {
    const sizes = tensors.map((x) => x.shape[0] ?? 1);
    const shape = indexing === "xy" ? swapped(sizes) : sizes;
    const places = sizes.map((_, i) => i);
    const order = indexing === "xy" ? swapped(places) : places;
    return tensors.map((x, i) => {
      const at = order.indexOf(i);
      return o.expand(o.reshape(x, shape.map((_, d) => d === at ? x.shape[0] ?? 1 : 1)), shape);
    });
  },
  samples: [{ args: [[t(2), t(3)]] }, { args: [[t(2), t(3)]], options: { indexing: "xy" } }],
  errors: [{ args: [[t(2, 2)]], message: "vectors" }],
});

function swapped<T>(items: readonly T[]): T[] {
  const [a, b, ...rest] = items;
  return a === undefined || b === undefined ? [...items] : [b, a, ...rest];
}

const cartesianProd = composeOp({
  name: "cartesianProd",
  doc: "All combinations of elements of vectors, one a row, as `torch.cartesian_prod`.",
  params: { tensors: required("tensors", { variadic: true }) },
  exposure: LIST,
  infer({ tensors }) {
    const [first] = tensors;
    if (!first || tensors.some((x) => x.shape.length !== 1)) {
      const found = tensors.map((x) => shapeText(x.shape)).join(", ") || "none";
      throw new DynError(`Expected vectors for cartesianProd but found ${found}`);
    }
    if (tensors.length === 1) return first;
    const count = product(tensors.map((x) => x.shape[0] ?? 1));
    return contiguousMeta([count, tensors.length], first.dtype, first.device);
  },
  compose(o, { tensors }) {
    const [first] = tensors;
    if (first && tensors.length === 1) return first;
    return o.stack(o.meshgrid(tensors).map((x) => o.reshape(x, [-1])), 1);
  },
  samples: [{ args: [[t(2), t(3)]] }],
});

const broadcastTensors = composeOp({
  name: "broadcastTensors",
  doc: "Tensors expanded to the shape that they broadcast to, as `torch.broadcast_tensors`.",
  params: { tensors: required("tensors", { variadic: true }) },
  resultList: true,
  exposure: LIST,
  infer({ tensors }) {
    const shape = broadcastShapes(...tensors.map((x) => x.shape));
    return tensors.map((x) => contiguousMeta(shape, x.dtype, x.device));
  },
  compose(o, { tensors }) {
    const shape = broadcastShapes(...tensors.map((x) => x.shape));
    return tensors.map((x) => o.expand(x, shape));
  },
  samples: [{ args: [[t(2, 1), t(3)]] }],
  errors: [{ args: [[t(2), t(3)]], message: "broadcast" }],
});

const ravel = composeOp({
  name: "ravel",
  doc: "All elements in one dimension, as `torch.ravel`.",
  params: { self: required("tensor") },
  infer: ({ self }) => reshapedMeta(self, [product(self.shape)]),
  compose: (o, { self }) => o.reshape(self, [product(self.shape)]),
  samples: [{ args: [t(2, 3)] }],
});

const diagflat = composeOp({
  name: "diagflat",
  doc: "The flattened tensor on a diagonal, as `torch.diagflat`.",
  params: { self: required("tensor"), offset: optional("size", 0) },
  infer({ self, offset }) {
    const side = add(product(self.shape), distanceOf(offset));
    return reshapedMeta(self, [side, side]);
  },
  compose: (o, { self, offset }) => o.diagEmbed(o.reshape(self, [product(self.shape)]), offset),
  samples: [{ args: [t(2, 2)] }, { args: [t(3), 1] }],
});

/** triuIndices and trilIndices, from known sizes. */
function triangleIndices(name: "triuIndices" | "trilIndices") {
  const kept = (row: number, column: number, offset: number) =>
    name === "triuIndices" ? column - row >= offset : column - row <= offset;
  const count = (rows: number, columns: number, offset: number) => {
    let total = 0;
    for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) if (kept(r, c, offset)) total++;
    return total;
  };
  return hostOp({
    name,
    doc: `Rows and columns of the ${name === "triuIndices" ? "upper" : "lower"} triangle of a matrix.`,
    params: {
      row: required("int"),
      col: required("int"),
      offset: optional("int", 0),
      dtype: nullable("dtype", { keyword: true }),
      device: nullable("device", { keyword: true }),
    },
    exposure: LIST,
    infer({ row, col, offset, dtype, device }) {
      if (row < 0 || col < 0) {
        throw new DynError(`Expected non-negative sizes but found ${row} and ${col}`);
      }
      if (dtype !== null && dtype !== "int32" && dtype !== "int64") {
        throw new DynError(`Expected ${name} of type int32 or int64 but found ${dtype}`);
      }
      return contiguousMeta([2, count(row, col, offset)], dtype ?? "int64", device ?? "cpu");
    },
    compute({ row, col, offset, dtype }) {
      const rows: number[] = [], columns: number[] = [];
      for (let r = 0; r < row; r++) {
        for (let c = 0; c < col; c++) {
          if (kept(r, c, offset)) {
            rows.push(r);
            columns.push(c);
          }
        }
      }
      const all = [...rows, ...columns];
      const data = dtype === "int32" ? Int32Array.from(all) : BigInt64Array.from(all, BigInt);
      return [{ shape: [2, rows.length], dtype: dtype ?? "int64", data }];
    },
    gradient: { kind: "none", because: "its result is made of indices" },
    samples: [{ args: [3, 3] }, { args: [3, 4, 1] }],
    errors: [{ args: [-1, 2], message: "non-negative" }],
  });
}

const tensordot = composeOp({
  name: "tensordot",
  doc:
    "Sums of products over dimensions of two tensors: so many of the last and first, or given as two lists. As " +
    "`torch.tensordot`.",
  params: { self: required("tensor"), other: required("tensor"), dims: optional("pairs", 2) },
  otherNames: { a: "self", b: "other" },
  exposure: LIST,
  infer: ({ self, other, dims }) => {
    const { left, right } = pairedDims(self, other, dims);
    const shape = [
      ...self.shape.filter((_, d) => !left.includes(d)),
      ...other.shape.filter((_, d) => !right.includes(d)),
    ];
    return contiguousMeta(shape, self.dtype, self.device);
  },
  compose(o, { self, other, dims }) {
    const { left, right } = pairedDims(self, other, dims);
    return o.tensordotDims(self, other, left, right);
  },
  samples: [{ args: [t(2, 3), t(3, 4), 1] }],
});

function pairedDims(
  self: TensorLike,
  other: TensorLike,
  dims: number | readonly (readonly number[])[],
): { left: number[]; right: number[] } {
  const rank = self.shape.length;
  if (typeof dims === "number") {
    if (dims < 0 || dims > rank || dims > other.shape.length) {
      throw new DynError(
        `Expected a number of dims in [0, ${Math.min(rank, other.shape.length)}] but found ${dims}`,
      );
    }
    return {
      left: Array.from({ length: dims }, (_, i) => rank - dims + i),
      right: Array.from({ length: dims }, (_, i) => i),
    };
  }
  return {
    left: normalizeDims(dims[0] ?? [], rank),
    right: normalizeDims(dims[1] ?? [], other.shape.length),
  };
}

const diff = composeOp({
  name: "diff",
  doc:
    "Differences of neighbours along a dimension, n times, with elements added before and after, as `torch.diff`.",
  params: {
    self: required("tensor"),
    n: optional("int", 1),
    dim: optional("int", -1),
    prepend: nullable("tensor"),
    append: nullable("tensor"),
  },
  infer({ self, n, dim, prepend, append }) {
    checkAtLeast("n of diff", n, 0);
    const at = ownDim(dim, self.shape);
    if (n === 0) return reshapedMeta(self, self.shape);
    const shape = joinedShape([prepend, self, append].flatMap((x) => x ? [x.shape] : []), at);
    const size = shape[at] ?? 1;
    return reshapedMeta(self, withSize(shape, at, isAtMost(n, size) ? add(size, -n) : 0));
  },
  compose(o, { self, n, dim, prepend, append }) {
    const at = normalizeDim(dim, self.shape.length);
    if (n === 0) return o.clone(self);
    const parts = [prepend, self, append].filter((x) => x !== null);
    let x = parts.length === 1 ? self : o.cat(parts, at);
    for (let i = 0; i < n; i++) {
      const size = x.shape[at] ?? 1;
      if (isEqual(size, 0)) return o.clone(x);
      const next = o.slice(x, at, 1, null), before = o.slice(x, at, 0, add(size, -1));
      x = x.dtype === "bool" ? o.logicalXor(next, before) : o.sub(next, before);
    }
    return x;
  },
  samples: [{ args: [t(5)] }, { args: [t(3, 4), 2, 0] }, { args: [t(3)], options: { prepend: t(2) } }],
});

/** trapezoid and cumulativeTrapezoid by the rule of trapezoids. */
function trapezoidRule(name: "trapezoid" | "cumulativeTrapezoid", aliases: readonly string[]) {
  const lastShape = (shape: readonly Dim[], dim: number): Dim[] => {
    const at = normalizeDim(dim, shape.length);
    if (name === "trapezoid") return shape.toSpliced(at, 1);
    const size = shape[at] ?? 1;
    return withSize(shape, at, isEqual(size, 0) ? 0 : add(size, -1));
  };
  return composeOp({
    name,
    doc: `The integral along a dimension by trapezoids, as \`torch.${
      snakeCase(name)
    }\`: y, then x (a tensor), or dx. Integers are summed as int64; PyTorch's small ones wrap around.`,
    params: {
      y: required("tensor"),
      x: nullable("operand"),
      dx: nullable("operand", { keyword: true, changes: {} }),
      dim: optional("int", -1, { keyword: true }),
    },
    // A number for x is a distance, but a tensor has coordinates
    checksNumbers: true,
    exposure: { method: false, aliases },
    infer({ y, x, dim }) {
      if ([y, x].some((each) => isTensor(each) && each.dtype === "bool")) {
        throw new DynError(`Expected numbers in ${name} but found bool tensors`);
      }
      return contiguousMeta(lastShape(y.shape, dim), floatTypeOf(y.dtype), y.device);
    },
    compose(o, { y, x, dx, dim }) {
      const at = normalizeDim(dim, y.shape.length);
      const heights = widened(o, y);
      const spacing = isTensor(x) ? o.diff(alignedTo(o, widened(o, x), y, at), 1, at) : x ?? dx ?? 1;
      const size = y.shape[at] ?? 1;
      if (isEqual(size, 0)) {
        const none = isComplex(y.dtype) ? y : o.to(y, floatTypeOf(y.dtype));
        return name === "trapezoid" ? o.sum(none, [at]) : o.cumsum(none, at);
      }
      const pairs = o.add(o.slice(heights, at, 1, null), o.slice(heights, at, 0, add(size, -1)));
      const areas = o.mul(pairs, spacing);
      return o.div(name === "trapezoid" ? o.sum(areas, [at]) : o.cumsum(areas, at), 2);
    },
    samples: [{ args: [t(4)] }, { args: [t(3, 4), t(4)] }],
  });
}

/** Small integers as int64, in which sums and differences of them do not wrap around. */
const widened = <T extends TensorLike>(o: OpApi<T>, x: T): T => isInteger(x.dtype) ? o.to(x, "int64") : x;

/** Coordinates given as a vector along a dimension, in the rank of the values. */
function alignedTo<T extends TensorLike>(o: OpApi<T>, x: T, y: T, at: number): T {
  if (x.shape.length === y.shape.length) return x;
  return o.reshape(x, y.shape.map((_, d) => d === at ? x.shape[0] ?? 1 : 1));
}

const sumToSize = composeOp({
  name: "sumToSize",
  doc: "Summed to a shape that broadcasts to that of `self`, as `Tensor.sum_to_size`.",
  params: { self: required("tensor"), size: required("sizes", { variadic: true }) },
  exposure: { free: false },
  infer({ self, size }) {
    if (!sameShape(broadcastShapes(self.shape, size), self.shape)) {
      throw new DynError(
        `Expected a size that expands to ${shapeText(self.shape)} but found ${shapeText(size)}`,
      );
    }
    const kept = isFloat(self.dtype) || (size.length > 0 && sameShape(size, self.shape));
    return contiguousMeta(size, kept ? self.dtype : "int64", self.device);
  },
  compose(o, { self, size }) {
    // Summing to a 0-d shape has the type of a sum even for a single element
    if (size.length === 0) return o.sum(self);
    const lead = self.shape.length - size.length;
    const dims = self.shape.flatMap((s, d) =>
      d < lead || (!isEqual(s, 1) && isEqual(size[d - lead] ?? 0, 1)) ? [d] : []
    );
    return dims.length === 0 ? self : o.reshape(o.sum(self, dims, true), size);
  },
  samples: [{ args: [t(2, 3), [1, 3]] }, { args: [t(2, 3), [3]] }],
});

export const joining = {
  atleast1d: atLeast(1),
  atleast2d: atLeast(2),
  atleast3d: atLeast(3),
  hstack: stacking("hstack", {
    along: "along dimension 1, or 0 of vectors",
    raise: (s) => raised(s, 1),
    dim: (rank) => rank === 1 ? 0 : 1,
  }),
  vstack: stacking("vstack", {
    along: "along dimension 0, vectors as rows",
    raise: (s) => raised(s, 2),
    dim: () => 0,
  }, ["rowStack"]),
  dstack: stacking("dstack", { along: "along dimension 2", raise: (s) => raised(s, 3), dim: () => 2 }),
  columnStack: stacking("columnStack", {
    along: "along dimension 1, vectors as columns",
    raise: (s) => s.length >= 2 ? [...s] : [s[0] ?? 1, 1],
    dim: () => 1,
  }),
  blockDiag,
  meshgrid,
  cartesianProd,
  broadcastTensors,
  ravel,
  diagflat,
  triuIndices: triangleIndices("triuIndices"),
  trilIndices: triangleIndices("trilIndices"),
  tensordot,
  diff,
  trapezoid: trapezoidRule("trapezoid", ["trapz"]),
  cumulativeTrapezoid: trapezoidRule("cumulativeTrapezoid", []),
  sumToSize,
} as const;
