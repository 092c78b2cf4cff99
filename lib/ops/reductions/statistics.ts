/**
 * Variance, norms and logarithms of sums. Invariant: variances come from centred values and logsumexp from shifted
 * ones, so that neither loses digits.
 */
import { DynError } from "../../base/errors.ts";
import { type DType, isFloat } from "../../base/dtype.ts";
import { type Dim, max, sub } from "../../sym/expr.ts";
import { isEqual, isLess } from "../../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { type Exposure, FUNCTIONAL, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { atLeastNumber, beside } from "../numbers.ts";
import { nullable, optional, required, type Scalar } from "../params.ts";
import { floatTypeOf, resultTypeOf } from "../promotion.ts";
import { checkCategory, t } from "../pointwise.ts";
import { countOver, REDUCTION_SAMPLES, restoreDims } from "./reductions.ts";
import {
  broadcastShapes,
  knownNumber,
  normalizeDim,
  reducedDims,
  reducedShape,
  shapeText,
} from "../shapes.ts";
import { composeWideOp } from "../wide.ts";

type Dims = number | readonly number[] | boolean | null;

/** Reduced dimensions; a boolean instead is `unbiased`, over all dimensions. */
const spreadDims = (dim: Dims, rank: number): number[] =>
  reducedDims(typeof dim === "boolean" ? null : dim, rank);

/** The arguments that select dimensions and correction of a variance. */
interface SpreadArgs {
  readonly dim: Dims;
  readonly unbiased: boolean | null;
  readonly keepdim: boolean;
  readonly correction: Scalar | Dim | null;
}

/** Returns the number to subtract from the count. */
function correctionOf({ dim, unbiased, correction }: SpreadArgs): number {
  if (correction !== null) return knownNumber(correction);
  return unbiased === false || dim === false ? 0 : 1;
}

/**
 * The elements less their mean. A mean is rounded: the mean of what is left is taken away too, so that equal elements
 * have exactly no deviation, and no slope.
 */
function centredOver<T extends TensorLike>(o: OpApi<T>, self: T, dims: readonly number[]): T {
  const near = o.sub(self, o.mean(self, dims, true));
  return o.sub(near, o.mean(near, dims, true));
}

function varianceOf<T extends TensorLike>(o: OpApi<T>, self: T, args: SpreadArgs): T {
  const dims = spreadDims(args.dim, self.shape.length);
  const total = o.sum(o.square(centredOver(o, self, dims)), dims, args.keepdim);
  const count = countOver(self.shape, dims), correction = correctionOf(args);
  const divisor = Number.isInteger(correction)
    ? max(sub(count, correction), 0)
    : Math.max(0, Number(count) - correction);
  return o.div(total, divisor);
}

function root<T extends TensorLike>(o: OpApi<T>, variance: T): T {
  return o.sqrt(variance);
}

const spreadParams = {
  self: required("tensor"),
  dim: nullable("dimsOrBool"),
  unbiased: nullable("bool"),
  keepdim: optional("bool", false),
  correction: nullable("scalar", { keyword: true }),
} as const;

function reducedMeta(name: string, self: TensorMeta, dim: Dims, keepdim: boolean): TensorMeta {
  checkCategory(name, self.dtype, ["float"]);
  const dims = spreadDims(dim, self.shape.length);
  return contiguousMeta(reducedShape(self.shape, dims, keepdim), self.dtype, self.device);
}

/** var and std. */
function spreadOf(name: "var" | "std", exposure: Exposure) {
  return composeWideOp({
    name,
    doc:
      `The ${
        name === "var" ? "variance" : "standard deviation"
      } over dimensions, divided by the count less ` +
      `\`correction\` (1). As \`torch.${name}\`${name === "var" ? "; the free function is `variance`" : ""}.`,
    params: spreadParams,
    exposure,
    infer: ({ self, dim, keepdim }) => reducedMeta(name, self, dim, keepdim),
    compose(o, { self, ...args }) {
      const variance = varianceOf(o, self, args);
      return name === "var" ? variance : root(o, variance);
    },
    gradient: {
      kind: "rule",
      saves: name === "var" ? ["self"] : ["self", "out"],
      rule(o, { args: { self, ...args }, out: [out], grads: [grad] }) {
        if (!grad || !out) return {};
        const dims = spreadDims(args.dim, self.shape.length), correction = correctionOf(args);
        const over = { shape: self.shape, dims, keepdim: args.keepdim }, count = countOver(self.shape, dims);
        const centred = centredOver(o, self, dims), freedom = sub(count, correction);
        const isWhole = typeof args.dim !== "number" && !Array.isArray(args.dim);
        // Without degrees of freedom the result is infinite, and so are the slopes over all elements, as in PyTorch
        if (isWhole && correction > 1 && isLess(count, Math.floor(correction) + 1)) {
          const steep = o.where(o.eq(centred, 0), NaN, Infinity);
          return { self: o.mul(restoreDims(o, name === "var" ? grad : o.div(grad, out), over), steep) };
        }
        // 0 where the deviation is 0, as in PyTorch
        const slope = name === "var"
          ? o.div(o.mul(grad, 2), freedom)
          : o.where(o.eq(out, 0), 0, o.div(grad, o.mul(divisible(o, out), freedom)));
        return { self: o.mul(restoreDims(o, slope, over), centred) };
      },
    },
    samples: [...REDUCTION_SAMPLES.slice(0, 4), { args: [t(3, 4), 1], options: { correction: 0 } }],
    errors: [{ args: [{ tensor: [3], dtype: "int64" }], message: "float" }],
  });
}

/** varMean and stdMean. */
function spreadMean(name: "varMean" | "stdMean") {
  const base = name === "varMean" ? "var" : "std";
  return composeWideOp({
    name,
    doc: `${base} and mean over dimensions, as \`torch.${base}_mean\`.`,
    params: spreadParams,
    results: [name === "varMean" ? "variance" : "deviation", "mean"],
    exposure: { method: false },
    infer({ self, dim, keepdim }) {
      const meta = reducedMeta(name, self, dim, keepdim);
      return [meta, meta];
    },
    compose: (o, { self, dim, unbiased, keepdim, correction }) => [
      o[base](self, dim, unbiased, keepdim, { correction }),
      o.mean(self, spreadDims(dim, self.shape.length), keepdim),
    ],
    samples: REDUCTION_SAMPLES.slice(0, 4),
  });
}

const logsumexp = composeWideOp({
  name: "logsumexp",
  doc: "log(Σ e^self) over dimensions without overflow, as `torch.logsumexp`.",
  params: { self: required("tensor"), dim: required("dims"), keepdim: optional("bool", false) },
  exposure: { namespaces: ["special"] },
  infer({ self, dim, keepdim }) {
    const dims = reducedDims(dim, self.shape.length);
    return contiguousMeta(reducedShape(self.shape, dims, keepdim), floatTypeOf(self.dtype), self.device);
  },
  compose(o, { self, dim, keepdim }) {
    const dims = reducedDims(dim, self.shape.length);
    const x = isFloat(self.dtype) ? self : o.to(self, floatTypeOf(self.dtype));
    if (dims.some((d) => isEqual(self.shape[d] ?? 1, 0))) return o.log(o.sum(o.exp(x), dims, keepdim));
    const highest = o.amax(o.detach(x), dims, true);
    // Shifting by an infinite maximum would give NaN
    const shift = o.where(o.isfinite(highest), highest, 0);
    const sums = o.log(o.sum(o.exp(o.sub(x, shift)), dims, keepdim));
    return o.add(sums, keepdim ? shift : o.reshape(shift, reducedShape(self.shape, dims, false)));
  },
  gradient: {
    saves: ["self", "out"],
    single(o, grad, { args: { self, dim, keepdim }, out: [out] }) {
      if (!out) return {};
      const over = { shape: self.shape, dims: reducedDims(dim, self.shape.length), keepdim };
      const total = restoreDims(o, out, over);
      const finite = o.where(o.eq(total, -Infinity), 0, total);
      return { self: o.mul(restoreDims(o, grad, over), o.exp(o.sub(self, finite))) };
    },
  },
  samples: [{ args: [t(3, 4), 1] }, { args: [t(3, 4), [0, 1], true] }],
});

/** A divisor with zeros replaced, so that a rule, which is 0 there, has no NaN when it is differentiated itself. */
function divisible<T extends TensorLike>(o: OpApi<T>, norm: T): T {
  return o.where(o.eq(norm, 0), 1, norm);
}

/** The vector norm of an order, over dimensions. */
function normOf<T extends TensorLike>(
  o: OpApi<T>,
  x: T,
  at: { readonly order: number; readonly dims: readonly number[]; readonly keepdim: boolean },
): T {
  const { order, dims, keepdim } = at;
  if (dims.length === 0 && order !== 0) return o.abs(x);
  switch (order) {
    case Infinity:
      return o.amax(o.abs(x), dims, keepdim);
    case -Infinity:
      return o.amin(o.abs(x), dims, keepdim);
    case 0:
      return o.norm0(x, dims, keepdim);
    case 1:
      return o.sum(o.abs(x), dims, keepdim);
    case 2:
      return o.norm2(x, dims, keepdim);
    default:
      return o.normP(x, order, dims, keepdim);
  }
}

const norm0 = composeWideOp({
  name: "norm0",
  doc: "The number of elements over dimensions that are not 0. Its gradient is 0, as in PyTorch.",
  params: { self: required("tensor"), dim: required("ints"), keepdim: required("bool") },
  exposure: { method: false, free: false },
  infer: ({ self, dim, keepdim }) => reducedMeta("norm", self, dim, keepdim),
  compose(o, { self, dim, keepdim }) {
    const counted = o.to(o.ne(self, 0), self.dtype);
    return dim.length === 0 ? counted : o.sum(counted, dim, keepdim);
  },
  gradient: {
    saves: ["self"],
    single: (o, _grad, { args: { self } }) => ({ self: o.zerosLike(self) }),
  },
  samples: [{ args: [t(3, 4), [1], false] }],
});

const norm2 = composeWideOp({
  name: "norm2",
  doc: "√Σ self² over dimensions.",
  params: { self: required("tensor"), dim: required("ints"), keepdim: required("bool") },
  exposure: { method: false, free: false },
  infer: ({ self, dim, keepdim }) => reducedMeta("norm", self, dim, keepdim),
  compose: (o, { self, dim, keepdim }) => o.sqrt(o.sum(o.square(self), dim, keepdim)),
  gradient: {
    saves: ["self", "out"],
    // 0 at the origin, where the norm has no slope
    single(o, grad, { args: { self, dim, keepdim }, out: [out] }) {
      if (!out) return {};
      const over = { shape: self.shape, dims: dim, keepdim }, norm = restoreDims(o, out, over);
      const slope = o.div(restoreDims(o, grad, over), divisible(o, norm));
      return { self: o.where(o.eq(norm, 0), 0, o.mul(self, slope)) };
    },
  },
  samples: [{ args: [t(3, 4), [1], false] }],
});

const normP = composeWideOp({
  name: "normP",
  doc: "(Σ |self|^p)^(1/p) over dimensions.",
  params: {
    self: required("tensor"),
    p: required("float"),
    dim: required("ints"),
    keepdim: required("bool"),
  },
  exposure: { method: false, free: false },
  infer: ({ self, dim, keepdim }) => reducedMeta("norm", self, dim, keepdim),
  compose: (o, { self, p, dim, keepdim }) => o.pow(o.sum(o.pow(o.abs(self), p), dim, keepdim), 1 / p),
  gradient: {
    saves: ["self", "out"],
    single(o, grad, { args: { self, p, dim, keepdim }, out: [out] }) {
      if (!out) return {};
      const over = { shape: self.shape, dims: dim, keepdim }, norm = restoreDims(o, out, over);
      const scaled = p < 1
        ? o.mul(o.mul(o.sign(self), o.where(o.eq(self, 0), 0, o.pow(o.abs(self), p - 1))), o.pow(norm, 1 - p))
        : o.mul(o.sign(self), o.pow(o.div(o.abs(self), divisible(o, norm)), p - 1));
      return { self: o.where(o.eq(norm, 0), 0, o.mul(restoreDims(o, grad, over), scaled)) };
    },
  },
  samples: [{ args: [t(3, 4), 3, [1], false] }],
});

const vectorNorm = composeWideOp({
  name: "vectorNorm",
  doc: "The norm of order `ord` of the vectors along dimensions, as `torch.linalg.vector_norm`.",
  params: {
    x: required("tensor"),
    ord: optional("float", 2),
    dim: nullable("dims"),
    keepdim: optional("bool", false),
    dtype: nullable("dtype", { keyword: true }),
  },
  exposure: { method: false, free: false, namespaces: ["linalg"] },
  infer({ x, ord, dim, keepdim, dtype }) {
    checkCategory("vectorNorm", x.dtype, ["float"]);
    const dims = reducedDims(dim, x.shape.length);
    if ((ord < 0 || ord === Infinity) && dims.some((d) => isEqual(x.shape[d] ?? 1, 0))) {
      throw new DynError(
        `Expected at least one element for a norm of order ${ord} but found ${shapeText(x.shape)}`,
      );
    }
    return contiguousMeta(reducedShape(x.shape, dims, keepdim), checkedType(dtype ?? x.dtype), x.device);
  },
  compose(o, { x, ord, dim, keepdim, dtype }) {
    const wide = dtype ? o.to(x, dtype) : x;
    return normOf(o, wide, { order: ord, dims: reducedDims(dim, x.shape.length), keepdim });
  },
  samples: [{ args: [t(3, 4)] }, { args: [t(3, 4), 1, 1] }, { args: [t(3, 4), 3, 0, true] }],
});

function checkedType(dtype: DType): DType {
  checkCategory("norm", dtype, ["float"]);
  return dtype;
}

const norm = composeWideOp({
  name: "norm",
  doc:
    'The norm of order p ("fro" is 2, "nuc" of singular values) of all elements or along dimensions, as `torch.norm`.',
  params: {
    self: required("tensor"),
    p: optional("scalarOrString", "fro"),
    dim: nullable("dims"),
    keepdim: optional("bool", false),
    dtype: nullable("dtype"),
  },
  hostParts: true,
  infer({ self, p, dim, keepdim, dtype }) {
    if (typeof p === "string" && p !== "fro" && p !== "nuc") {
      throw new DynError(`Expected a norm by number, "fro" or "nuc" but found ${p}`);
    }
    if (p === "nuc" && reducedDims(dim, self.shape.length).length !== 2) {
      throw new DynError(
        `Expected two dims of matrices for a nuclear norm but found ${shapeText(self.shape)}`,
      );
    }
    return { ...reducedMeta("norm", self, dim, keepdim), dtype: checkedType(dtype ?? self.dtype) };
  },
  compose(o, { self, p, dim, keepdim, dtype }) {
    const wide = dtype ? o.to(self, dtype) : self;
    if (p === "nuc") {
      return o.matrixNorm(wide, "nuc", reducedDims(dim, self.shape.length), keepdim);
    }
    const order = typeof p === "string" ? 2 : Number(p);
    return normOf(o, wide, { order, dims: reducedDims(dim, self.shape.length), keepdim });
  },
  samples: [{ args: [t(3, 4)] }, { args: [t(3, 4), 1, 1] }],
});

const normalize = composeWideOp({
  name: "normalize",
  doc: "self divided by its norm along a dimension, at least eps, as `nn.functional.normalize`.",
  params: {
    self: required("tensor"),
    p: optional("float", 2),
    dim: optional("dims", 1),
    eps: optional("floatOperand", 1e-12, { changes: {} }),
  },
  exposure: FUNCTIONAL,
  infer: ({ self, dim }) => {
    reducedMeta("normalize", self, dim, true);
    return contiguousMeta(self.shape, self.dtype, self.device);
  },
  compose(o, { self, p, dim, eps }) {
    const length = normOf(o, self, { order: p, dims: reducedDims(dim, self.shape.length), keepdim: true });
    return o.div(self, atLeastNumber(o, length, eps));
  },
  samples: [{ args: [t(3, 4)] }],
});

/** The shape and the type of two tensors together. */
const common = (a: TensorLike, b: TensorLike): { readonly shape: readonly Dim[]; readonly dtype: DType } => ({
  shape: broadcastShapes(a.shape, b.shape),
  dtype: resultTypeOf([a, b]),
});

const cosineSimilarity = composeWideOp({
  name: "cosineSimilarity",
  doc: "The cosine of the angle between vectors along a dimension, as `nn.functional.cosine_similarity`.",
  params: {
    x1: required("tensor"),
    x2: required("tensor"),
    dim: optional("int", 1),
    eps: optional("floatOperand", 1e-8, { changes: {} }),
  },
  exposure: { method: false, namespaces: ["nn.functional"] },
  infer({ x1, x2, dim }) {
    const both = { ...x1, ...common(x1, x2) };
    return reducedMeta("cosineSimilarity", both, normalizeDim(dim, both.shape.length), false);
  },
  compose(o, { x1, x2, dim, eps }) {
    const { shape, dtype } = common(x1, x2), dims = reducedDims(dim, shape.length);
    const a = o.to(o.expand(x1, shape), dtype), b = o.to(o.expand(x2, shape), dtype);
    const la = atLeastNumber(o, o.norm2(a, dims, true), eps);
    const lb = atLeastNumber(o, o.norm2(b, dims, true), eps);
    return o.sum(o.mul(o.div(a, la), o.div(b, lb)), dims);
  },
  samples: [{ args: [t(3, 4), t(3, 4)] }, {
    args: [{ tensor: [3, 4], dtype: "float16", range: [1, 6] }, t(3, 4)],
    frozen: true,
  }],
});

const pairwiseDistance = composeWideOp({
  name: "pairwiseDistance",
  doc: "The norm of x1 − x2 + eps along the last dimension, as `nn.functional.pairwise_distance`.",
  params: {
    x1: required("tensor"),
    x2: required("tensor"),
    p: optional("float", 2),
    eps: optional("floatOperand", 1e-6, { changes: {} }),
    keepdim: optional("bool", false),
  },
  exposure: { method: false, namespaces: ["nn.functional"] },
  infer({ x1, x2, keepdim }) {
    const { shape, dtype } = common(x1, x2);
    return reducedMeta("pairwiseDistance", { ...x1, dtype: floatTypeOf(dtype), shape }, -1, keepdim);
  },
  compose(o, { x1, x2, p, eps, keepdim }) {
    const difference = o.sub(x1, x2);
    const wide = o.to(difference, floatTypeOf(difference.dtype)), gap = o.add(wide, beside(o, wide, eps));
    return normOf(o, gap, { order: p, dims: reducedDims(-1, gap.shape.length), keepdim });
  },
  samples: [{ args: [t(3, 4), t(3, 4)] }],
});

const dist = composeWideOp({
  name: "dist",
  doc: "The norm of self − other, as `torch.dist`.",
  params: { self: required("tensor"), other: required("tensor"), p: optional("float", 2) },
  infer({ self, other }) {
    return reducedMeta("dist", { ...self, ...common(self, other) }, null, false);
  },
  compose(o, { self, other, p }) {
    const gap = o.sub(self, other);
    return normOf(o, gap, { order: p, dims: reducedDims(null, gap.shape.length), keepdim: false });
  },
  samples: [{ args: [t(3, 4), t(3, 4)] }],
});

const renorm = composeWideOp({
  name: "renorm",
  doc: "Parts along a dimension scaled down to a norm of at most maxnorm, as `torch.renorm`.",
  params: {
    self: required("tensor"),
    p: required("float"),
    dim: required("int"),
    maxnorm: required("floatOperand", { changes: { atLeast: 0 } }),
  },
  inplace: true,
  infer({ self, p, dim, maxnorm }) {
    checkCategory("renorm", self.dtype, ["float"]);
    if (self.shape.length < 2) {
      throw new DynError(`Expected at least 2 dimensions but found ${self.shape.length}`);
    }
    if (p <= 0 || (typeof maxnorm === "number" && maxnorm < 0)) {
      throw new DynError(
        `Expected a positive p and a non-negative maxnorm but found ${p} and ${String(maxnorm)}`,
      );
    }
    normalizeDim(dim, self.shape.length);
    return contiguousMeta(self.shape, self.dtype, self.device);
  },
  compose(o, { self, p, dim, maxnorm }) {
    const at = normalizeDim(dim, self.shape.length);
    const others = self.shape.flatMap((_, d) => d === at ? [] : [d]);
    const length = o.vectorNorm(self, p, others, true);
    return o.mul(
      self,
      o.where(o.gt(length, maxnorm), o.mul(o.reciprocal(o.add(length, 1e-7)), maxnorm), 1),
    );
  },
  samples: [{ args: [t(3, 4), 2, 0, 0.5] }],
  errors: [{ args: [t(3), 2, 0, 1], message: "at least 2" }],
});

export const statistics = {
  var: spreadOf("var", { aliases: ["variance"] }),
  std: spreadOf("std", {}),
  varMean: spreadMean("varMean"),
  stdMean: spreadMean("stdMean"),
  logsumexp,
  norm0,
  norm2,
  normP,
  vectorNorm,
  norm,
  normalize,
  cosineSimilarity,
  pairwiseDistance,
  dist,
  renorm,
} as const;
