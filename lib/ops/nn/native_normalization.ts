/**
 * Normalisations that also return their statistics, as PyTorch's native ops do: the normalised values, means and
 * reciprocal deviations. Invariant: compositions.
 */
import { DynError } from "../../base/errors.ts";
import { mul } from "../../sym/expr.ts";
import { isEqual } from "../../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import type { NumberOf } from "../numbers.ts";
import { nullable, required } from "../params.ts";
import { floatTypeOf } from "../promotion.ts";
import { checkAffine } from "./normalization.ts";
import { t } from "../pointwise.ts";
import { knownSize, shapeText } from "../shapes.ts";
import { composeWideOp } from "../wide.ts";

const LIST = { method: false } as const;

/** Normalised values with the mean and 1/deviation over some dimensions (kept). */
function standard<T extends TensorLike>(
  o: OpApi<T>,
  x: T,
  dims: readonly number[],
  eps: NumberOf<T>,
): [T, T, T] {
  const mean = o.mean(x, dims, true), centred = o.sub(x, mean);
  const rstd = o.rsqrt(o.add(o.mean(o.square(centred), dims, true), eps));
  return [o.mul(centred, rstd), mean, rstd];
}

const nativeLayerNorm = composeWideOp({
  name: "nativeLayerNorm",
  doc: "layerNorm with the mean and 1/deviation of each sample, as `torch.native_layer_norm`.",
  params: {
    self: required("tensor"),
    normalizedShape: required("sizes"),
    weight: nullable("tensor"),
    bias: nullable("tensor"),
    eps: required("floatOperand", { changes: {} }),
  },
  results: ["output", "mean", "rstd"],
  exposure: LIST,
  infer({ self, normalizedShape, weight, bias }) {
    const lead = self.shape.length - normalizedShape.length;
    const fits = lead >= 0 && normalizedShape.length > 0 &&
      normalizedShape.every((s, d) => isEqual(s, self.shape[lead + d] ?? -1));
    if (!fits) {
      throw new DynError(
        `Expected an input that ends in ${shapeText(normalizedShape)} but found ${shapeText(self.shape)}`,
      );
    }
    checkAffine("weight", weight, normalizedShape);
    checkAffine("bias", bias, normalizedShape);
    const kept: TensorMeta = contiguousMeta(
      self.shape.map((s, d) => d < lead ? s : 1),
      self.dtype,
      self.device,
    );
    return [contiguousMeta(self.shape, self.dtype, self.device), kept, kept];
  },
  compose(o, { self, normalizedShape, weight, bias, eps }) {
    const lead = self.shape.length - normalizedShape.length;
    const [normal, mean, rstd] = standard(o, self, normalizedShape.map((_, d) => lead + d), eps);
    const scaled = weight ? o.mul(normal, weight) : normal;
    return [bias ? o.add(scaled, bias) : scaled, o.detach(mean), o.detach(rstd)];
  },
  samples: [{ args: [t(2, 3), [3], t(3), t(3), 1e-5] }],
});

const nativeGroupNorm = composeWideOp({
  name: "nativeGroupNorm",
  doc: "groupNorm with the mean and 1/deviation of each group, as `torch.native_group_norm`.",
  params: {
    self: required("tensor"),
    weight: nullable("tensor"),
    bias: nullable("tensor"),
    n: required("size"),
    c: required("size"),
    hxw: required("size"),
    group: required("int"),
    eps: required("floatOperand", { changes: {} }),
  },
  results: ["output", "mean", "rstd"],
  exposure: LIST,
  infer({ self, weight, bias, n, c, group }) {
    checkAffine("weight", weight, [c]);
    checkAffine("bias", bias, [c]);
    const statistics = contiguousMeta([n, group], self.dtype, self.device);
    return [contiguousMeta(self.shape, self.dtype, self.device), statistics, statistics];
  },
  compose(o, { self, weight, bias, n, c, hxw, group, eps }) {
    const size = Number(knownSize(mul(c, hxw))) / group;
    const [normal, mean, rstd] = standard(o, o.reshape(self, [n, group, size]), [2], eps);
    const channels = self.shape.map((s, d) => d === 1 ? s : 1);
    const output = o.reshape(normal, self.shape);
    const scaled = weight ? o.mul(output, o.reshape(weight, channels)) : output;
    const shifted = bias ? o.add(scaled, o.reshape(bias, channels)) : scaled;
    return [shifted, o.squeeze(mean, 2), o.squeeze(rstd, 2)];
  },
  samples: [{ args: [t(2, 4, 3), t(4), t(4), 2, 4, 3, 2, 1e-5] }],
});

const nativeBatchNorm = composeWideOp({
  name: "nativeBatchNorm",
  doc: "batchNorm with the mean and 1/deviation of each channel, as `torch.native_batch_norm`, but without " +
    "updating running statistics.",
  params: {
    self: required("tensor"),
    weight: nullable("tensor"),
    bias: nullable("tensor"),
    runningMean: nullable("tensor"),
    runningVar: nullable("tensor"),
    training: required("bool"),
    momentum: required("floatOperand", { changes: {} }),
    eps: required("floatOperand", { changes: {} }),
  },
  results: ["output", "mean", "rstd"],
  exposure: LIST,
  infer({ self, training }) {
    const statistics = contiguousMeta([training ? self.shape[1] ?? 1 : 0], self.dtype, self.device);
    return [contiguousMeta(self.shape, self.dtype, self.device), statistics, statistics];
  },
  compose(o, { self, weight, bias, runningMean, runningVar, training, eps }) {
    const channels = self.shape.map((s, d) => d === 1 ? s : 1);
    const wide = (x: typeof self) => o.reshape(x, channels);
    const affine = (normal: typeof self) => {
      const scaled = weight ? o.mul(normal, wide(weight)) : normal;
      return bias ? o.add(scaled, wide(bias)) : scaled;
    };
    if (training) {
      const dims = self.shape.flatMap((_, d) => d === 1 ? [] : [d]);
      const [normal, mean, rstd] = standard(o, self, dims, eps);
      return [affine(normal), o.reshape(o.detach(mean), [-1]), o.reshape(o.detach(rstd), [-1])];
    }
    if (!runningMean || !runningVar) {
      throw new DynError("Expected running statistics outside of training but found none");
    }
    const normal = o.mul(o.sub(self, wide(runningMean)), wide(o.rsqrt(o.add(runningVar, eps))));
    return [affine(normal), o.newEmpty(self, [0]), o.newEmpty(self, [0])];
  },
  samples: [{ args: [t(2, 3, 4), t(3), t(3), null, null, true, 0.1, 1e-5] }],
});

const nativeDropoutBackward = composeWideOp({
  name: "nativeDropoutBackward",
  doc: "grad · mask · scale, as `torch.native_dropout_backward`.",
  params: {
    gradOutput: required("tensor"),
    mask: required("tensor"),
    scale: required("floatOperand", { changes: {} }),
  },
  exposure: LIST,
  infer({ gradOutput }) {
    return contiguousMeta(gradOutput.shape, floatTypeOf(gradOutput.dtype), gradOutput.device);
  },
  compose: (o, { gradOutput, mask, scale }) =>
    o.mul(
      o.to(gradOutput, floatTypeOf(gradOutput.dtype)),
      o.mul(o.to(mask, floatTypeOf(gradOutput.dtype)), scale),
    ),
  samples: [{ args: [t(3), { tensor: [3], dtype: "bool" }, 2] }],
});

export const nativeNormalizations = {
  nativeLayerNorm,
  nativeGroupNorm,
  nativeBatchNorm,
  nativeDropoutBackward,
} as const;
