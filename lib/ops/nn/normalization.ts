/**
 * Normalisation: subtract a mean, divide by a deviation, scale and shift. Invariant: variances are population
 * variances and computed from centred values, so that large means lose no digits; statistics are recomputed by
 * gradients, for the compiler to share or to save.
 */
import { valueType } from "../../base/dtype.ts";
import { DynError } from "../../base/errors.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { type Dim, product } from "../../sym/expr.ts";
import { isEqual } from "../../sym/decide.ts";
import { FUNCTIONAL, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import type { NumberOf } from "../numbers.ts";
import { nullable, optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { shapeText } from "../shapes.ts";
import { composeWideOp } from "../wide.ts";

const same = (self: TensorMeta): TensorMeta => contiguousMeta(self.shape, self.dtype, self.device);

/** Centred values and 1/deviation over some dimensions (kept with size 1). */
function standardize<T extends TensorLike>(
  o: OpApi<T>,
  x: T,
  { dims, eps }: { dims: readonly number[]; eps: NumberOf<T> },
) {
  const mean = o.mean(x, dims, true);
  const centred = o.sub(x, mean);
  const variance = o.mean(o.square(centred), dims, true);
  const rstd = o.rsqrt(o.add(variance, eps));
  return { mean, variance, rstd, normal: o.mul(centred, rstd) };
}

/** dx of y = (x − mean)·rstd, given dy. */
function standardizeBackward<T extends TensorLike>(
  o: OpApi<T>,
  grad: T,
  { normal, rstd, dims }: { normal: T; rstd: T; dims: readonly number[] },
): T {
  const mean = o.mean(grad, dims, true), slope = o.mean(o.mul(grad, normal), dims, true);
  return o.mul(o.sub(o.sub(grad, mean), o.mul(normal, slope)), rstd);
}

/** normal·weight + bias; weight and bias may be absent. */
function affine<T extends TensorLike>(o: OpApi<T>, normal: T, weight: T | null, bias: T | null): T {
  const scaled = weight ? o.mul(normal, weight) : normal;
  return bias ? o.add(scaled, bias) : scaled;
}

/** The last dimensions, as many as `normalizedShape` has, which they must match. */
function trailingDims(self: TensorLike, normalizedShape: readonly Dim[]): number[] {
  const first = self.shape.length - normalizedShape.length;
  const fits = first >= 0 && normalizedShape.length > 0 &&
    normalizedShape.every((n, d) => isEqual(n, self.shape[first + d] ?? -1));
  if (!fits) {
    throw new DynError(
      `Expected an input that ends in ${shapeText(normalizedShape)} but found shape ${shapeText(self.shape)}`,
    );
  }
  return normalizedShape.map((_, d) => first + d);
}

export function checkAffine(name: string, parameter: TensorMeta | null, shape: readonly Dim[]): void {
  if (!parameter) return;
  const fits = parameter.shape.length === shape.length &&
    shape.every((n, d) => isEqual(n, parameter.shape[d] ?? -1));
  if (!fits) {
    throw new DynError(
      `Expected ${name} of shape ${shapeText(shape)} but found ${shapeText(parameter.shape)}`,
    );
  }
}

const layerNorm = composeWideOp({
  name: "layerNorm",
  doc: "Normalised over the last dimensions `normalizedShape`, then scaled and shifted, as " +
    "`nn.functional.layer_norm`.",
  params: {
    self: required("tensor"),
    normalizedShape: required("sizes"),
    weight: nullable("tensor"),
    bias: nullable("tensor"),
    eps: optional("floatOperand", 1e-5, { changes: {} }),
  },
  exposure: { ...FUNCTIONAL, free: true },
  infer({ self, normalizedShape, weight, bias }) {
    trailingDims(self, normalizedShape);
    checkAffine("weight", weight, normalizedShape);
    checkAffine("bias", bias, normalizedShape);
    return same(self);
  },
  compose(o, { self, normalizedShape, weight, bias, eps }) {
    const { normal } = standardize(o, self, { dims: trailingDims(self, normalizedShape), eps });
    return affine(o, normal, weight, bias);
  },
  gradient: {
    saves: ["self", "weight", "eps"],
    single(o, grad, { args: { self, normalizedShape, weight, bias, eps }, needs }) {
      const dims = trailingDims(self, normalizedShape);
      const { normal, rstd } = standardize(o, self, { dims, eps });
      const outer = self.shape.map((_, d) => d).filter((d) => !dims.includes(d));
      const sumOuter = (x: typeof grad) => outer.length === 0 ? x : o.sum(x, outer);
      const inner = weight ? o.mul(grad, weight) : grad;
      return {
        self: needs("self") ? standardizeBackward(o, inner, { normal, rstd, dims }) : null,
        weight: weight && needs("weight") ? sumOuter(o.mul(grad, normal)) : null,
        bias: bias && needs("bias") ? sumOuter(grad) : null,
      };
    },
  },
  samples: [
    { args: [t(3, 5), [5], t(5), t(5)] },
    { args: [t(2, 3, 4), [3, 4], t(3, 4), t(3, 4)] },
    { args: [t(3, 5), [5]] },
  ],
  errors: [{ args: [t(3, 5), [4]], message: "Expected an input that ends in [4]" }],
});

const rmsNorm = composeWideOp({
  name: "rmsNorm",
  doc: "self / √(mean self² + eps) over the last dimensions, times weight, as `nn.functional.rms_norm`.",
  params: {
    self: required("tensor"),
    normalizedShape: required("sizes"),
    weight: nullable("tensor"),
    eps: nullable("floatOperand", { changes: {} }),
  },
  exposure: { ...FUNCTIONAL, free: true },
  infer({ self, normalizedShape, weight }) {
    trailingDims(self, normalizedShape);
    checkAffine("weight", weight, normalizedShape);
    return same(self);
  },
  compose(o, { self, normalizedShape, weight, eps }) {
    const dims = trailingDims(self, normalizedShape);
    // PyTorch's default: the machine epsilon of the type
    const small = eps ?? (self.dtype === "float64" ? 2 ** -52 : 2 ** -23);
    const normal = o.mul(self, o.rsqrt(o.add(o.mean(o.square(self), dims, true), small)));
    return weight ? o.mul(normal, weight) : normal;
  },
  samples: [{ args: [t(3, 5), [5], t(5)] }, { args: [t(2, 3, 4), [3, 4]] }],
});

/** [N, C, ...] → [N, groups, C/groups · ...] */
function grouped(self: TensorLike, groups: number): Dim[] {
  const [n = 1, channels = 1, ...rest] = self.shape;
  if (typeof channels !== "number" || channels % groups !== 0) {
    throw new DynError(`Expected channels divisible by ${groups} groups but found ${channels}`);
  }
  return [n, groups, product([channels / groups, ...rest])];
}

/** A parameter [C] shaped for [N, C, ...]. */
function perChannel<T extends TensorLike>(o: OpApi<T>, parameter: T | null, self: TensorLike): T | null {
  return parameter
    ? o.reshape(parameter, [1, self.shape[1] ?? 1, ...self.shape.slice(2).map(() => 1)])
    : null;
}

const groupNorm = composeWideOp({
  name: "groupNorm",
  doc: "[N, C, ...] normalised over groups of channels, as `nn.functional.group_norm`.",
  params: {
    self: required("tensor"),
    numGroups: required("int"),
    weight: nullable("tensor"),
    bias: nullable("tensor"),
    eps: optional("floatOperand", 1e-5, { changes: {} }),
  },
  exposure: { ...FUNCTIONAL, free: true },
  infer({ self, numGroups }) {
    if (self.shape.length < 2) {
      throw new DynError(`Expected an input [N, C, ...] but found ${shapeText(self.shape)}`);
    }
    grouped(self, numGroups);
    if (isEqual(self.shape[1] ?? 1, 0)) {
      throw new DynError(`Expected at least one channel but found ${shapeText(self.shape)}`);
    }
    if (self.shape.slice(2).some((size) => isEqual(size, 0))) {
      throw new DynError(`Expected at least one element in each channel but found ${shapeText(self.shape)}`);
    }
    if (isEqual(product([self.shape[0] ?? 1, grouped(self, numGroups)[2] ?? 1]), 1)) {
      throw new DynError(`Expected more than 1 value in each group but found shape ${shapeText(self.shape)}`);
    }
    return same(self);
  },
  compose(o, { self, numGroups, weight, bias, eps }) {
    const { normal } = standardize(o, o.reshape(self, grouped(self, numGroups)), { dims: [2], eps });
    return affine(o, o.reshape(normal, self.shape), perChannel(o, weight, self), perChannel(o, bias, self));
  },
  samples: [{ args: [t(2, 4, 3), 2, t(4), t(4)] }, { args: [t(2, 6), 3] }],
  errors: [
    { args: [t(2, 5, 3), 2], message: "Expected channels divisible by 2 groups but found 5" },
    { args: [t(1, 4), 4], message: "Expected more than 1 value in each group" },
  ],
});

const spatialDims = (self: TensorLike): number[] => self.shape.map((_, d) => d).slice(2);
const batchDims = (self: TensorLike): number[] => [0, ...spatialDims(self)];

const instanceNorm = composeWideOp({
  name: "instanceNorm",
  doc: "[N, C, ...] normalised over each image of each channel, as `nn.functional.instance_norm`; with " +
    "`useInputStats` false by the running statistics.",
  params: {
    self: required("tensor"),
    runningMean: nullable("tensor"),
    runningVar: nullable("tensor"),
    weight: nullable("tensor"),
    bias: nullable("tensor"),
    useInputStats: optional("bool", true),
    momentum: optional("floatOperand", 0.1, { changes: {} }),
    eps: optional("floatOperand", 1e-5, { changes: {} }),
  },
  exposure: FUNCTIONAL,
  infer({ self, useInputStats }) {
    if (self.shape.length < 3) {
      throw new DynError(`Expected an input [N, C, ...] but found ${shapeText(self.shape)}`);
    }
    if (useInputStats && self.shape.slice(2).every((size) => isEqual(size, 1))) {
      throw new DynError(
        `Expected more than 1 spatial element when training but found shape ${shapeText(self.shape)}`,
      );
    }
    return same(self);
  },
  compose(o, { self, runningMean, runningVar, weight, bias, useInputStats, eps }) {
    const scale = perChannel(o, weight, self), shift = perChannel(o, bias, self);
    const mean = perChannel(o, runningMean, self), variance = perChannel(o, runningVar, self);
    if (!useInputStats && mean && variance) {
      return affine(o, o.mul(o.sub(self, mean), o.rsqrt(o.add(variance, eps))), scale, shift);
    }
    return affine(o, standardize(o, self, { dims: spatialDims(self), eps }).normal, scale, shift);
  },
  samples: [{ args: [t(2, 3, 4)] }, { args: [t(2, 3, 4), null, null, t(3), t(3)] }],
  errors: [{ args: [t(2, 3, 1)], message: "Expected more than 1 spatial element when training" }],
});

const batchNormTraining = composeWideOp({
  name: "batchNormTraining",
  doc:
    "[N, C, ...] normalised by the batch's own statistics, which are results too: `mean` and the unbiased " +
    "`variance`, both [C]. nn.functional.batchNorm updates its running statistics with them.",
  params: {
    self: required("tensor"),
    weight: nullable("tensor"),
    bias: nullable("tensor"),
    eps: optional("floatOperand", 1e-5, { changes: {} }),
  },
  results: ["output", "mean", "variance"],
  auxiliary: ["mean", "variance"],
  exposure: { method: false, free: false },
  infer({ self, weight, bias }) {
    const channels = self.shape[1];
    if (channels === undefined) {
      throw new DynError(`Expected an input [N, C, ...] but found ${shapeText(self.shape)}`);
    }
    checkAffine("weight", weight, [channels]);
    checkAffine("bias", bias, [channels]);
    if (isEqual(product(batchDims(self).map((d) => self.shape[d] ?? 1)), 1)) {
      throw new DynError(
        `Expected more than 1 value per channel when training but found shape ${shapeText(self.shape)}`,
      );
    }
    // Statistics of small floats have the type of computations
    const statistics = contiguousMeta([channels], valueType(self.dtype), self.device);
    return [same(self), statistics, statistics];
  },
  compose(o, { self, weight, bias, eps }) {
    const dims = batchDims(self), channels = self.shape[1] ?? 1;
    const { mean, variance, normal } = standardize(o, self, { dims, eps });
    const output = affine(o, normal, perChannel(o, weight, self), perChannel(o, bias, self));
    const count = product(dims.map((d) => self.shape[d] ?? 1));
    const unbiased = o.div(
      o.mul(variance, count),
      o.sub(o.full([], count, { dtype: self.dtype, device: self.device }), 1),
    );
    return [output, o.reshape(mean, [channels]), o.reshape(unbiased, [channels])];
  },
  gradient: {
    saves: ["self", "weight", "eps"],
    single(o, grad, { args: { self, weight, bias, eps }, needs }) {
      const dims = batchDims(self);
      const { normal, rstd } = standardize(o, self, { dims, eps });
      const scale = perChannel(o, weight, self);
      const inner = scale ? o.mul(grad, scale) : grad;
      return {
        self: needs("self") ? standardizeBackward(o, inner, { normal, rstd, dims }) : null,
        weight: weight && needs("weight") ? o.sum(o.mul(grad, normal), dims) : null,
        bias: bias && needs("bias") ? o.sum(grad, dims) : null,
      };
    },
  },
  samples: [{ args: [t(4, 3, 2), t(3), t(3)] }, { args: [t(4, 3)] }],
  errors: [{ args: [t(1, 3)], message: "Expected more than 1 value per channel when training" }],
});

const batchNormInference = composeWideOp({
  name: "batchNormInference",
  doc: "[N, C, ...] normalised by running statistics [C].",
  params: {
    self: required("tensor"),
    runningMean: required("tensor"),
    runningVar: required("tensor"),
    weight: nullable("tensor"),
    bias: nullable("tensor"),
    eps: optional("floatOperand", 1e-5, { changes: {} }),
  },
  exposure: { method: false, free: false },
  infer({ self, runningMean, runningVar, weight, bias }) {
    const channels = self.shape[1];
    if (channels === undefined) {
      throw new DynError(`Expected an input [N, C, ...] but found ${shapeText(self.shape)}`);
    }
    checkAffine("runningMean", runningMean, [channels]);
    checkAffine("runningVar", runningVar, [channels]);
    checkAffine("weight", weight, [channels]);
    checkAffine("bias", bias, [channels]);
    return same(self);
  },
  compose(o, { self, runningMean, runningVar, weight, bias, eps }) {
    // One factor and one summand a channel: x·k + (bias − mean·k)
    const rstd = o.rsqrt(o.add(runningVar, eps));
    const factor = weight ? o.mul(rstd, weight) : rstd;
    const centre = o.mul(runningMean, factor);
    const summand = bias ? o.sub(bias, centre) : o.neg(centre);
    const [k, b] = [perChannel(o, factor, self), perChannel(o, summand, self)];
    return affine(o, self, k, b);
  },
  samples: [{ args: [t(4, 3, 2), t(3), { tensor: [3], range: [0.5, 2] }, t(3), t(3)] }],
});

export const normalizations = {
  layerNorm,
  rmsNorm,
  groupNorm,
  instanceNorm,
  batchNormTraining,
  batchNormInference,
} as const;
