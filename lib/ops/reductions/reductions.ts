/**
 * Reductions over dimensions; null or an empty list means all. Invariant: types, empty cases and gradients follow
 * PyTorch.
 */
import { DynError } from "../../base/errors.ts";
import { type DType, isFloat } from "../../base/dtype.ts";
import { add, type Dim, product } from "../../sym/expr.ts";
import { isEqual } from "../../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { Body, Lowered, Operand } from "../../loops/body.ts";
import type { ReductionOp } from "../../loops/ir.ts";
import { type Sample, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, optional, required } from "../params.ts";
import { castTo, floatTypeOf, isTensor } from "../promotion.ts";
import { checkCategory, elements, pointwiseMeta, t, typesOf } from "../pointwise.ts";
import {
  flatIndex,
  fullIndex,
  knownNumber,
  normalizeDim,
  reducedDims,
  reducedShape,
  shapeText,
} from "../shapes.ts";
import { composeWideOp, lowerWideOp } from "../wide.ts";

/** Samples of a reduction over one or several dimensions. */
export const REDUCTION_SAMPLES: readonly Sample[] = [
  { args: [t(3, 4)] },
  { args: [t(3, 4), 1] },
  { args: [{ tensor: [4, 3], transposed: true }, [0, -1], true] },
  { args: [t(2, 3, 4), [0, 2]] },
  { args: [t()] },
];

/** The dimensions that a reduction is over: one, several, or all. */
interface Reduced {
  readonly dim: number | readonly number[] | null;
  readonly keepdim: boolean;
}

/** An op, and the dimensions that it reduces. */
interface Over extends Reduced {
  readonly op: ReductionOp;
  /** Type in which values combine. */
  readonly accumulator: DType;
  /** The contribution of a loaded element. */
  readonly value?: <V>(o: Body<V>, x: V) => V;
}

/** Metadata of a reduction. */
function reducedMeta(self: TensorMeta, { dim, keepdim }: Reduced, dtype: DType): TensorMeta {
  const shape = reducedShape(self.shape, reducedDims(dim, self.shape.length), keepdim);
  return contiguousMeta(shape, dtype, self.device);
}

/** A reduction of `self`. */
function reduction(self: Operand, result: TensorMeta | undefined, over: Over): Lowered[] {
  if (!result) return [];
  const { dim, keepdim, op, accumulator, value } = over, dims = reducedDims(dim, self.shape.length);
  const layout = { rank: self.shape.length, dims, keepdim };
  const sizes = dims.map((d) => self.shape[d] ?? 1);
  if (dims.length === 0) {
    // Over no axes each element is its own result
    return elements(result, (o, index) => {
      if (op === "argmax" || op === "argmin") return o.constant(0, result.dtype);
      const x = o.load(self, index);
      return castTo(o, castTo(o, value ? value(o, x) : x, accumulator), result.dtype);
    });
  }
  return [{
    kind: "reduction",
    shape: result.shape,
    dtype: result.dtype,
    op,
    over: sizes,
    accumulator,
    element: (o, index, reduced) => {
      const x = o.load(self, fullIndex(index, reduced, layout));
      return castTo(o, value ? value(o, x) : x, accumulator);
    },
    ...(op === "argmax" || op === "argmin" ? { position: (at: readonly Dim[]) => flatIndex(at, sizes) } : {}),
  }];
}

/** A reduced tensor with the reduced dimensions restored as 1, so that it broadcasts against the input. */
export function restoreDims<T extends TensorLike>(
  o: OpApi<T>,
  reduced: T,
  over: { shape: readonly Dim[]; dims: readonly number[]; keepdim: boolean },
): T {
  if (over.keepdim || over.dims.length === 0) return reduced;
  return o.reshape(reduced, reducedShape(over.shape, over.dims, true));
}

/** Returns the number of elements that each result of a reduction combines. */
export function countOver(shape: readonly Dim[], dims: readonly number[]): Dim {
  return product(dims.map((d) => shape[d] ?? 1));
}

const reductionParams = {
  self: required("tensor"),
  dim: nullable("dims"),
  keepdim: optional("bool", false),
  dtype: nullable("dtype", { keyword: true }),
} as const;

/** The type of a sum: int64 for integers and bools. */
function sumType(dtype: DType): DType {
  return isFloat(dtype) ? dtype : "int64";
}

/** Sums and products convert elements to the type of the result first: bools are counted. */
function combinedAs(dtype: DType): Pick<Over, "accumulator" | "value"> {
  return dtype === "bool"
    ? { accumulator: "int64", value: (o, x) => castTo(o, x, "bool") }
    : { accumulator: dtype };
}

const sum = lowerWideOp({
  name: "sum",
  doc: "The sum over dimensions; integers and bools are summed as int64. As `torch.sum`.",
  params: reductionParams,
  infer: ({ self, dim, keepdim, dtype }) => reducedMeta(self, { dim, keepdim }, dtype ?? sumType(self.dtype)),
  lower: ({ self, dim, keepdim }, [result]) =>
    reduction(self, result, {
      dim,
      keepdim,
      op: "sum",
      ...combinedAs(result?.dtype ?? "float32"),
    }),
  gradient: {
    saves: [],
    single(o, grad, { args: { self, dim, keepdim } }) {
      const dims = reducedDims(dim, self.shape.length);
      const wide = o.expand(restoreDims(o, grad, { shape: self.shape, dims, keepdim }), self.shape);
      return { self: wide.dtype === self.dtype ? wide : o.to(wide, self.dtype) };
    },
  },
  samples: [...REDUCTION_SAMPLES, { args: [t(0, 3), 0] }, { args: [{ tensor: [3, 2], dtype: "bool" }] }],
  errors: [{ args: [t(3, 4), 2], message: "Expected dim in [-2, 1]" }],
});

const mean = composeWideOp({
  name: "mean",
  doc: "The mean over dimensions, of floats, as `torch.mean`.",
  params: reductionParams,
  infer({ self, dim, keepdim, dtype }) {
    checkCategory("mean", dtype ?? self.dtype, ["float"]);
    return reducedMeta(self, { dim, keepdim }, dtype ?? self.dtype);
  },
  compose(o, { self, dim, keepdim, dtype }) {
    const dims = reducedDims(dim, self.shape.length);
    const total = o.sum(self, dims, keepdim, { dtype: dtype ?? self.dtype });
    return o.div(total, countOver(self.shape, dims));
  },
  samples: REDUCTION_SAMPLES,
  errors: [{ args: [{ tensor: [3], dtype: "int64" }], message: "float" }],
});

const prod = lowerWideOp({
  name: "prod",
  doc: "The product over all elements or one dimension, as `torch.prod`.",
  params: {
    self: required("tensor"),
    dim: nullable("int"),
    keepdim: optional("bool", false),
    dtype: nullable("dtype", { keyword: true }),
  },
  infer: ({ self, dim, keepdim, dtype }) => reducedMeta(self, { dim, keepdim }, dtype ?? sumType(self.dtype)),
  lower: ({ self, dim, keepdim }, [result]) =>
    reduction(self, result, {
      dim,
      keepdim,
      op: "prod",
      ...combinedAs(result?.dtype ?? "float32"),
    }),
  gradient: {
    saves: ["self"],
    single(o, grad, { args: { self, dim, keepdim } }) {
      const flat = dim === null ? o.reshape(self, [-1]) : self;
      const at = dim === null ? 0 : normalizeDim(dim, self.shape.length);
      if (self.shape.length === 0) return { self: grad };
      // The product of all other elements is that of the elements before times that of those after; correct for zeros
      // too.
      const others = o.mul(
        exclusiveProduct(o, flat, at),
        o.flip(exclusiveProduct(o, o.flip(flat, [at]), at), [at]),
      );
      const wide = dim === null ? grad : restoreDims(o, grad, { shape: self.shape, dims: [at], keepdim });
      return { self: o.reshape(o.mul(others, dim === null ? o.reshape(wide, [1]) : wide), self.shape) };
    },
  },
  samples: [{ args: [t(3, 4)] }, { args: [t(3, 4), 1] }, { args: [t(3, 4), 0, true] }],
});

/** Products of the elements before each along a dimension. */
function exclusiveProduct<T extends TensorLike>(o: OpApi<T>, x: T, dim: number): T {
  const size = x.shape[dim] ?? 1;
  if (isEqual(size, 0)) return x;
  const first = o.onesLike(o.slice(x, dim, 0, 1));
  return o.cumprod(o.cat([first, o.slice(x, dim, 0, add(size, -1))], dim), dim);
}

function checkNotEmpty(name: string, self: TensorMeta, dims: readonly number[]): void {
  if (
    dims.some((d) => isEqual(self.shape[d] ?? 1, 0)) || (dims.length === 0 && self.shape.some((s) => s === 0))
  ) {
    throw new DynError(`Expected ${name} over at least one element but found shape ${shapeText(self.shape)}`);
  }
}

/**
 * The gradient of an extreme: shared evenly by the elements that attain it. As in PyTorch, NaN attains the extreme of a
 * whole tensor, but none along dimensions, where all of the gradient is then NaN.
 */
function evenly<T extends TensorLike>(
  o: OpApi<T>,
  self: T,
  at: { out: T; grad: T; dim: Reduced["dim"]; keepdim: boolean },
): T {
  const dims = reducedDims(at.dim, self.shape.length);
  const over = { shape: self.shape, dims, keepdim: at.keepdim };
  const equal = o.eq(self, restoreDims(o, at.out, over));
  const attains = at.dim === null ? o.logicalOr(equal, o.isnan(self)) : equal;
  return o.mul(o.div(restoreDims(o, at.grad, over), o.sum(attains, dims, true)), attains);
}

function extreme(name: "amax" | "amin", op: "max" | "min") {
  return lowerWideOp({
    name,
    doc: `The ${op}imum over dimensions; NaN where there is one. As \`torch.${name}\`.`,
    params: { self: required("tensor"), dim: nullable("dims"), keepdim: optional("bool", false) },
    infer({ self, dim, keepdim }) {
      checkNotEmpty(name, self, reducedDims(dim, self.shape.length));
      return reducedMeta(self, { dim, keepdim }, self.dtype);
    },
    lower: ({ self, dim, keepdim }, [result]) =>
      reduction(self, result, { dim, keepdim, op, accumulator: self.dtype }),
    gradient: {
      saves: ["self", "out"],
      single(o, grad, { args: { self, dim, keepdim }, out: [out] }) {
        if (!out) return {};
        return { self: evenly(o, self, { out, grad, dim, keepdim }) };
      },
    },
    samples: REDUCTION_SAMPLES,
    errors: [{ args: [t(0, 3), 0], message: "at least one element" }],
  });
}

function positionOf(name: "argmax" | "argmin") {
  return lowerWideOp({
    name,
    doc: `The index of the first ${name.slice(3)}imum over one dimension, or in the flattened tensor. As ` +
      `\`torch.${name}\`.`,
    params: { self: required("tensor"), dim: nullable("int"), keepdim: optional("bool", false) },
    infer({ self, dim, keepdim }) {
      const dims = reducedDims(dim, self.shape.length);
      checkCategory(name, self.dtype, ["integer", "float"]);
      checkNotEmpty(name, self, dims);
      return reducedMeta(self, { dim, keepdim }, "int64");
    },
    lower: ({ self, dim, keepdim }, [result]) =>
      reduction(self, result, { dim, keepdim, op: name, accumulator: self.dtype }),
    gradient: { kind: "none", because: "its result is an index" },
    samples: [{ args: [t(3, 4)] }, { args: [t(3, 4), 1] }, { args: [t(3, 4), 0, true] }],
    errors: [{ args: [t(0)], message: "at least one element" }],
  });
}

/** Returns whether `any` or `all` reduces no dimension; for other reductions an empty list means all. */
export function overNone(dim: Reduced["dim"]): boolean {
  return typeof dim === "object" && dim?.length === 0;
}

function truth(name: "any" | "all") {
  return lowerWideOp({
    name,
    doc: `True where ${name} of the elements over dimensions are not 0, as \`torch.${name}\`.`,
    params: { self: required("tensor"), dim: nullable("dims"), keepdim: optional("bool", false) },
    infer({ self, dim, keepdim }) {
      const dtype = self.dtype === "uint8" ? "uint8" : "bool";
      return overNone(dim)
        ? contiguousMeta(self.shape, dtype, self.device)
        : reducedMeta(self, { dim, keepdim }, dtype);
    },
    lower: ({ self, dim, keepdim }, [result]) =>
      overNone(dim)
        ? elements(
          result,
          (o, index) => o.cast(castTo(o, o.load(self, index), "bool"), result?.dtype ?? "bool"),
        )
        : reduction(self, result, { dim, keepdim, op: name, accumulator: "bool" }),
    gradient: { kind: "none", because: "its result is not of a floating type" },
    samples: [{ args: [{ tensor: [3, 4], dtype: "bool" }] }, {
      args: [{ tensor: [3, 4], dtype: "bool" }, 1],
    }, { args: [{ tensor: [3, 4], dtype: "uint8" }, []] }],
  });
}

/** `max(x)`, `max(x, dim)` and `max(x, other)`. */
function extremeWithIndex(name: "max" | "min") {
  const value = name === "max" ? "amax" : "amin", index = name === "max" ? "argmax" : "argmin";
  const elementwise = name === "max" ? "maximum" : "minimum";
  return composeWideOp({
    name,
    doc:
      `The ${name}imum of all elements; with \`dim\`, values and first indices along it; with a tensor in its ` +
      `place, the elementwise ${name}imum. As \`torch.${name}\`.`,
    params: { self: required("tensor"), dim: nullable("operand"), keepdim: optional("bool", false) },
    otherNames: { other: "dim" },
    results: ["values", "indices"],
    resultsIf: "dim",
    // A number is a dimension, but a tensor is an operand
    checksNumbers: true,
    infer({ self, dim, keepdim }) {
      if (dim === null) {
        checkNotEmpty(name, self, reducedDims(null, self.shape.length));
        return contiguousMeta([], self.dtype, self.device);
      }
      if (isTensor(dim)) return pointwiseMeta([self, dim], typesOf("promote", [self, dim]).result);
      const dims = [normalizeDim(knownNumber(dim), self.shape.length)].slice(0, self.shape.length);
      checkNotEmpty(name, self, dims);
      const shape = reducedShape(self.shape, dims, keepdim);
      return [contiguousMeta(shape, self.dtype, self.device), contiguousMeta(shape, "int64", self.device)];
    },
    compose(o, { self, dim, keepdim }) {
      if (dim === null) return o[value](self);
      if (isTensor(dim)) return o[elementwise](self, dim);
      const at = normalizeDim(knownNumber(dim), self.shape.length);
      if (self.shape.length === 0) return [o.clone(self), o.zerosLike(self, { dtype: "int64" })];
      const indices = o[index](self.dtype === "bool" ? o.to(self, "uint8") : self, at, true);
      const values = o.gather(self, at, indices);
      return keepdim ? [values, indices] : [o.squeeze(values, at), o.squeeze(indices, at)];
    },
    samples: [{ args: [t(3, 4)] }, { args: [t(3, 4), 1] }, { args: [t(3, 4), 0, true] }],
    errors: [{ args: [t(0)], message: "at least one element" }],
  });
}

const countNonzero = composeWideOp({
  name: "countNonzero",
  doc: "The number of elements over dimensions that are not 0, as `torch.count_nonzero`.",
  params: { self: required("tensor"), dim: nullable("dims") },
  infer: ({ self, dim }) => reducedMeta(self, { dim, keepdim: false }, "int64"),
  compose: (o, { self, dim }) => o.sum(o.ne(self, 0), reducedDims(dim, self.shape.length)),
  gradient: { kind: "none", because: "its result is a count" },
  samples: [{ args: [t(3, 4)] }, { args: [t(3, 4), 1] }],
});

/** A sum or mean that ignores NaN. */
function withoutNan(name: "nansum" | "nanmean") {
  return composeWideOp({
    name,
    doc: `The ${name.slice(3)} over dimensions, ignoring NaN, as \`torch.${name}\`.`,
    params: reductionParams,
    infer({ self, dim, keepdim, dtype }) {
      const type = dtype ?? (name === "nanmean" ? floatTypeOf(self.dtype) : sumType(self.dtype));
      if (name === "nanmean") checkCategory(name, dtype ?? self.dtype, ["float"]);
      return reducedMeta(self, { dim, keepdim }, type);
    },
    compose(o, { self, dim, keepdim, dtype }) {
      const dims = reducedDims(dim, self.shape.length);
      const total = o.sum(o.where(o.isnan(self), 0, self), dims, keepdim, {
        dtype: dtype ?? sumType(self.dtype),
      });
      if (name === "nansum") return total;
      return o.div(total, o.sum(o.logicalNot(o.isnan(self)), dims, keepdim));
    },
    samples: REDUCTION_SAMPLES,
  });
}

export const reductions = {
  sum,
  mean,
  prod,
  amax: extreme("amax", "max"),
  amin: extreme("amin", "min"),
  argmax: positionOf("argmax"),
  argmin: positionOf("argmin"),
  any: truth("any"),
  all: truth("all"),
  max: extremeWithIndex("max"),
  min: extremeWithIndex("min"),
  countNonzero,
  nansum: withoutNan("nansum"),
  nanmean: withoutNan("nanmean"),
} as const;
