/**
 * Losses, for each sample or reduced. Invariant: all are compositions, so that they fuse with the model's last layer;
 * ignored targets contribute neither to the loss nor to its divisor.
 */
import { checkShare } from "../../base/checked_numbers.ts";
import { isFloat, promoteTypes } from "../../base/dtype.ts";
import { DynError } from "../../base/errors.ts";
import { warnOfUse } from "../../base/usage.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { type Dim, product } from "../../sym/expr.ts";
import { isEqual } from "../../sym/decide.ts";
import { FUNCTIONAL, type OpDefinition, type Sample, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { beside, type Formula, type NumberOf, numberOf } from "../numbers.ts";
import { nullable, type NumberRange, optional, type Param, type Params, required } from "../params.ts";
import { checkCategory, reduceTo, t } from "../pointwise.ts";
import { resultTypeOf } from "../promotion.ts";
import { broadcastShapes, sameShape, shapeText } from "../shapes.ts";
import { composeWideOp } from "../wide.ts";
import { checkAffine } from "./normalization.ts";

const REDUCTIONS = ["none", "mean", "sum"] as const;
export const reductionParam = optional("string", "mean", { oneOf: REDUCTIONS });

/** Reduces the losses of all samples by `reduction`. */
function reduce<T extends TensorLike>(o: OpApi<T>, loss: T, reduction: string): T {
  return reduction === "mean" ? o.mean(loss) : reduction === "sum" ? o.sum(loss) : loss;
}

/** Metadata of losses of a shape after their reduction. */
export function lossMeta(shape: readonly Dim[], like: TensorMeta, reduction: string): TensorMeta {
  return contiguousMeta(reduction === "none" ? shape : [], like.dtype, like.device);
}

/** Reduces weighted losses; a mean divides by the sum of weights, as in PyTorch. */
function reduceWeighted<T extends TensorLike>(
  o: OpApi<T>,
  loss: T,
  { weight, reduction }: { readonly weight: T | null; readonly reduction: string },
): T {
  if (weight === null) return reduce(o, loss, reduction);
  const weighted = o.mul(loss, weight);
  return reduction === "mean" ? o.div(o.sum(weighted), o.sum(weight)) : reduce(o, weighted, reduction);
}

/** Throws DynError unless predictions and targets promote to floats: differences of unsigned integers wrap around. */
function checkFloats(name: string, ...tensors: readonly TensorMeta[]): void {
  checkCategory(name, resultTypeOf(tensors), ["float"]);
}

/** Arguments of a loss of two tensors. */
interface Pair {
  readonly self: TensorMeta;
  readonly target: TensorMeta;
  readonly weight?: TensorMeta | null;
  readonly reduction: string;
}

/** Infers the result of a loss of two tensors. Throws DynError for weights of another shape than the input's. */
function pairMeta({ self, target, weight = null, reduction }: Pair): TensorMeta {
  const dtype = promoteTypes(self.dtype, target.dtype);
  if (weight && !sameShape(weight.shape, self.shape)) {
    throw new DynError(
      `Expected weights of the input's shape ${shapeText(self.shape)} but found ${shapeText(weight.shape)}`,
    );
  }
  return lossMeta(
    broadcastShapes(self.shape, target.shape),
    { ...self, dtype: weight ? promoteTypes(dtype, weight.dtype) : dtype },
    reduction,
  );
}

/**
 * Warns of a prediction and a target that are broadcast: of [n, 1] and [n] each sample is compared with all targets.
 * Sizes that are symbols are not compared, which would add guards.
 */
function warnOfBroadcast(name: string, { self, target }: Pair): void {
  const isSame = self.shape.length === target.shape.length &&
    self.shape.every((size, d) => {
      const other = target.shape[d];
      return typeof size !== "number" || typeof other !== "number" || size === other;
    });
  if (isSame) return;
  warnOfUse(`${name} of ${self.shape.length} and ${target.shape.length} dimensions`, () => {
    const [from, to] = [shapeText(self.shape), shapeText(target.shape)];
    const all = shapeText(broadcastShapes(self.shape, target.shape));
    return `${name} compares an input of shape ${from} with a target of shape ${to}, both broadcast to ${all}; ` +
      "reshape one of them if each element has its own target";
  });
}

interface PairParams extends Params {
  readonly self: Param<"tensor", false>;
  readonly target: Param<"tensor", false>;
  readonly reduction: Param<"string", false>;
}

interface WeightedParams extends PairParams {
  readonly weight: Param<"tensor", true>;
}

/** Samples of a loss, with weights if it takes any. */
const pairSamples = (weighs: boolean): readonly Sample[] =>
  REDUCTIONS.flatMap((reduction): readonly Sample[] => [
    { args: [t(3, 4), t(3, 4)], options: { reduction } },
    ...weighs ? [{ args: [t(3, 4), t(3, 4)], options: { reduction, weight: t(3, 4) } }] : [],
  ]);

/** A loss of two broadcast tensors, element by element, with a weight for each element. */
function weighedLoss(
  name: string,
  doc: string,
  element: <T extends TensorLike>(o: OpApi<T>, input: T, target: T) => T,
): OpDefinition<WeightedParams> {
  return composeWideOp({
    name,
    doc,
    params: {
      self: required("tensor"),
      target: required("tensor"),
      reduction: reductionParam,
      weight: nullable("tensor"),
    },
    exposure: FUNCTIONAL,
    infer(pair) {
      if (name === "mseLoss") checkFloats(name, pair.self, pair.target, ...pair.weight ? [pair.weight] : []);
      warnOfBroadcast(name, pair);
      return pairMeta(pair);
    },
    compose: (o, { self, target, reduction, weight }) =>
      reduceWeighted(o, element(o, self, target), { weight, reduction }),
    samples: pairSamples(true),
  });
}

const mseLoss = weighedLoss(
  "mseLoss",
  "(self − target)², as `nn.functional.mse_loss`.",
  (o, input, target) => o.square(o.sub(input, target)),
);

const l1Loss = weighedLoss(
  "l1Loss",
  "|self − target|, as `nn.functional.l1_loss`.",
  (o, input, target) => o.abs(o.sub(input, target)),
);

const softMarginLoss = composeWideOp({
  name: "softMarginLoss",
  doc: "log(1 + exp(−target · self)), as `nn.functional.soft_margin_loss`: of tensors of one shape.",
  params: { self: required("tensor"), target: required("tensor"), reduction: reductionParam },
  exposure: FUNCTIONAL,
  infer(pair) {
    checkTarget(pair.target, pair.self.shape);
    checkFloats("softMarginLoss", pair.self, pair.target);
    return pairMeta(pair);
  },
  compose: (o, { self, target, reduction }) =>
    reduce(o, o.log1p(o.exp(o.mul(o.neg(target), self))), reduction),
  samples: pairSamples(false),
  errors: [{ args: [t(3, 4), t(4)], message: "Expected a target of shape" }],
});

/** x / 2. */
const halved: Formula<readonly [unknown]> = (m, x) => m.mul(m.constant(0.5), x);

/** Throws DynError for an invalid width. */
function checkWidth(name: string, width: NumberOf<TensorMeta>, isMeant: (width: number) => boolean): void {
  if (typeof width !== "number" || isMeant(width)) return;
  const wanted = name === "delta" ? "positive" : "non-negative";
  throw new DynError(`Expected a ${wanted} ${name} but found ${width}`);
}

const smoothL1Loss = composeWideOp({
  name: "smoothL1Loss",
  doc:
    "d² / (2 beta) where d = |self − target| < beta, else d − beta / 2, as `nn.functional.smooth_l1_loss`.",
  params: {
    self: required("tensor"),
    target: required("tensor"),
    reduction: reductionParam,
    beta: optional("floatOperand", 1, { changes: { above: 0 } }),
  },
  exposure: FUNCTIONAL,
  infer({ beta, ...pair }) {
    checkWidth("beta", beta, (width) => width >= 0);
    checkFloats("smoothL1Loss", pair.self, pair.target);
    warnOfBroadcast("smoothL1Loss", pair);
    return pairMeta(pair);
  },
  compose(o, { self, target, reduction, beta }) {
    const d = o.abs(o.sub(self, target));
    if (beta === 0) return reduce(o, d, reduction);
    const steep = numberOf(o, [beta], (m, width) => m.div(m.constant(0.5), width));
    const half = numberOf(o, [beta], halved), near = o.mul(o.square(d), beside(o, d, steep));
    return reduce(o, o.where(o.lt(d, beta), near, o.sub(d, beside(o, d, half))), reduction);
  },
  samples: pairSamples(false),
});

const huberLoss = composeWideOp({
  name: "huberLoss",
  doc:
    "d² / 2 where d = |self − target| ≤ delta, else delta · (d − delta / 2), as `nn.functional.huber_loss`.",
  params: {
    self: required("tensor"),
    target: required("tensor"),
    reduction: reductionParam,
    delta: optional("floatOperand", 1, { changes: { above: 0 } }),
    weight: nullable("tensor"),
  },
  exposure: FUNCTIONAL,
  infer({ delta, ...pair }) {
    checkWidth("delta", delta, (width) => width > 0);
    checkFloats("huberLoss", pair.self, pair.target);
    warnOfBroadcast("huberLoss", pair);
    return pairMeta(pair);
  },
  compose(o, { self, target, reduction, delta, weight }) {
    const d = o.abs(o.sub(self, target)), half = numberOf(o, [delta], halved);
    const far = o.mul(o.sub(d, beside(o, d, half)), beside(o, d, delta));
    const loss = o.where(o.le(d, delta), o.mul(o.square(d), 0.5), far);
    return reduce(o, weight === null ? loss : o.mul(loss, weight), reduction);
  },
  samples: pairSamples(true),
});

const classDim = (input: TensorLike): number => input.shape.length === 1 ? 0 : 1;

/** Shape [N, ...] of class indices for an input [N, C, ...] (or [C] → []). */
function checkIndices(name: string, self: TensorMeta, target: TensorMeta): void {
  const expected = self.shape.filter((_, d) => d !== classDim(self));
  const fits = target.shape.length === expected.length &&
    expected.every((n, d) => isEqual(n, target.shape[d] ?? -1));
  if (self.shape.length === 0 || !fits) {
    throw new DynError(
      `Expected class indices of shape ${shapeText(expected)} for ${name} of ${
        shapeText(self.shape)
      } but found ${shapeText(target.shape)}`,
    );
  }
}

interface ClassTargets<T> {
  readonly input: T;
  readonly target: T;
  readonly weight: T | null;
  readonly ignoreIndex: number;
}

/** −input[target] with weights, the weights, and a mask of the samples that count. */
function pick<T extends TensorLike>(o: OpApi<T>, { input, target, weight, ignoreIndex }: ClassTargets<T>) {
  const dim = classDim(input);
  const counts = o.ne(target, ignoreIndex);
  const safe = o.where(counts, target, o.zerosLike(target));
  const picked = o.neg(o.squeeze(o.gather(input, dim, o.unsqueeze(safe, dim)), dim));
  const weights = weight ? o.take(weight, safe) : o.onesLike(picked);
  const factor = o.where(counts, weights, o.zerosLike(weights));
  return { counts, losses: o.where(counts, o.mul(picked, weights), o.zerosLike(picked)), factor };
}

const nllLoss = composeWideOp({
  name: "nllLoss",
  doc: "−weight[target] · self[target] of log-probabilities [N, C, ...] and class indices [N, ...], as " +
    "`nn.functional.nll_loss`.",
  params: {
    self: required("tensor"),
    target: required("tensor"),
    weight: nullable("tensor"),
    ignoreIndex: optional("int", -100),
    reduction: reductionParam,
  },
  exposure: FUNCTIONAL,
  infer({ self, target, weight, reduction }) {
    checkFloats("nllLoss", self);
    checkIndices("nllLoss", self, target);
    checkAffine("weight", weight, [self.shape[classDim(self)] ?? 1]);
    return lossMeta(target.shape, self, reduction);
  },
  compose(o, { self, target, weight, ignoreIndex, reduction }) {
    const { losses, factor } = pick(o, { input: self, target, weight, ignoreIndex });
    return reduction === "mean" ? o.div(o.sum(losses), o.sum(factor)) : reduce(o, losses, reduction);
  },
  samples: REDUCTIONS.map((reduction) => ({
    args: [t(3, 5), { tensor: [3], dtype: "int64", range: [0, 4] }],
    options: { reduction },
  })),
  errors: [{ args: [t(3, 5), { tensor: [4], dtype: "int64" }], message: "Expected class indices of shape" }],
});

/** The shares of classes besides the wanted one; without any the loss has one term. */
export const SMOOTHING: NumberRange = { above: 0, atMost: 1 };

const crossEntropy = composeWideOp({
  name: "crossEntropy",
  doc:
    "Cross entropy of softmax(self) over the classes of logits [N, C, ...] against class indices [N, ...] or " +
    "probabilities [N, C, ...], as `nn.functional.cross_entropy`.",
  params: {
    self: required("tensor"),
    target: required("tensor"),
    weight: nullable("tensor"),
    ignoreIndex: optional("int", -100),
    reduction: reductionParam,
    labelSmoothing: optional("floatOperand", 0, { changes: SMOOTHING }),
  },
  exposure: FUNCTIONAL,
  infer({ self, target, weight, ignoreIndex, reduction, labelSmoothing }) {
    checkShare("labelSmoothing", labelSmoothing);
    checkAffine("weight", weight, [self.shape[classDim(self)] ?? 1]);
    if (isFloat(target.dtype)) {
      if (ignoreIndex >= 0) {
        throw new DynError(
          `Expected no ignoreIndex where targets are probabilities but found ${ignoreIndex}`,
        );
      }
      if (!sameShape(self.shape, target.shape)) {
        throw new DynError(
          `Expected probabilities of shape ${shapeText(self.shape)} but found ${shapeText(target.shape)}`,
        );
      }
    } else {
      checkIndices("crossEntropy", self, target);
    }
    return lossMeta(self.shape.filter((_, d) => d !== classDim(self)), self, reduction);
  },
  compose(o, { self, target, weight, ignoreIndex, reduction, labelSmoothing }) {
    const dim = classDim(self), classes = self.shape[dim] ?? 1;
    const wanted = numberOf(o, [labelSmoothing], (m, share) => m.sub(m.constant(1), share));
    const logits = o.logSoftmax(self, dim);
    // [C] → [C, 1, ...], to be broadcast over what follows the classes
    const along = weight ? o.reshape(weight, [classes, ...self.shape.slice(dim + 1).map(() => 1)]) : null;
    const weighted = along ? o.mul(logits, along) : logits;
    if (isFloat(target.dtype)) {
      const even = () =>
        typeof labelSmoothing === "number"
          ? o.full([], labelSmoothing, { dtype: self.dtype, device: self.device })
          : o.to(labelSmoothing, self.dtype);
      const smooth = labelSmoothing === 0 ? target : o.add(o.mul(target, wanted), o.div(even(), classes));
      const losses = reduce(o, o.neg(o.sum(o.mul(weighted, smooth), dim)), reduction);
      // The mean is a sum divided by numel(self) / classes, which is no number without classes
      return classes === 0 && reduction === "mean" ? o.div(losses, 0) : losses;
    }
    const { counts, losses, factor } = pick(o, { input: logits, target, weight, ignoreIndex });
    const finish = (each: typeof losses) =>
      reduction === "mean" ? o.div(o.sum(each), o.sum(factor)) : reduce(o, each, reduction);
    if (labelSmoothing === 0) return finish(losses);
    const even = o.neg(o.sum(weighted, dim));
    const uniform = o.where(counts, even, o.zerosLike(even));
    const one = finish(losses), others = finish(uniform);
    return o.add(
      o.mul(one, beside(o, one, wanted)),
      o.div(o.mul(others, beside(o, others, labelSmoothing)), classes),
    );
  },
  samples: [
    ...REDUCTIONS.map((reduction) => ({
      args: [t(3, 5), { tensor: [3], dtype: "int64" as const, range: [0, 4] as const }],
      options: { reduction, labelSmoothing: reduction === "sum" ? 0.1 : 0 },
    })),
    { args: [t(2, 4, 3), { tensor: [2, 3], dtype: "int64" as const, range: [0, 3] as const }] },
  ],
  errors: [{ args: [t(3, 5), { tensor: [4], dtype: "int64" }], message: "Expected class indices of shape" }],
});

/** Throws unless a target has this shape. */
export function checkTarget(target: TensorMeta, shape: readonly Dim[]): void {
  if (sameShape(target.shape, shape)) return;
  throw new DynError(`Expected a target of shape ${shapeText(shape)} but found ${shapeText(target.shape)}`);
}

const binaryCrossEntropy = composeWideOp({
  name: "binaryCrossEntropy",
  doc:
    "−(target · log self + (1 − target) · log(1 − self)) of probabilities, logarithms not below −100, as " +
    "`nn.functional.binary_cross_entropy`. Elements outside of [0, 1] are refused on the CPU; on other devices they " +
    "give NaN.",
  params: {
    self: required("tensor"),
    target: required("tensor"),
    weight: nullable("tensor"),
    reduction: reductionParam,
  },
  exposure: FUNCTIONAL,
  bounds: () => ({ self: [0, 1], target: [0, 1] }),
  infer({ self, target, reduction }) {
    checkTarget(target, self.shape);
    checkFloats("binaryCrossEntropy", self);
    return lossMeta(self.shape, { ...self, dtype: resultTypeOf([self, target]) }, reduction);
  },
  compose(o, { self, target, weight, reduction }) {
    const yes = o.clampMin(o.log(self), -100), no = o.clampMin(o.log1p(o.neg(self)), -100);
    const losses = o.neg(o.add(o.mul(target, o.sub(yes, no)), no));
    return reduce(o, weight ? o.mul(losses, weight) : losses, reduction);
  },
  gradient: {
    saves: ["self", "target", "weight"],
    single(o, grad, { args: { self, target, weight, reduction }, needs }) {
      const scaled = reduction === "mean" ? o.div(grad, product(self.shape)) : grad;
      const g = weight ? o.mul(scaled, weight) : scaled;
      // bounded as in PyTorch, so that gradients are finite at 0 and 1
      const slope = o.div(o.sub(self, target), o.clampMin(o.mul(o.rsub(self, 1), self), 1e-12));
      const lead = o.sub(o.clampMin(o.log1p(o.neg(self)), -100), o.clampMin(o.log(self), -100));
      return {
        self: needs("self") ? o.mul(g, slope) : null,
        target: needs("target") ? reduceTo(o, o.mul(g, lead), target) : null,
      };
    },
  },
  samples: REDUCTIONS.map((reduction) => ({
    args: [{ tensor: [3, 4], range: [0.05, 0.95] }, { tensor: [3, 4], range: [0, 1] }],
    options: { reduction },
  })),
});

const binaryCrossEntropyWithLogits = composeWideOp({
  name: "binaryCrossEntropyWithLogits",
  doc:
    "Binary cross entropy of sigmoid(self), without overflow for large logits; `posWeight` scales the positive " +
    "part. As `nn.functional.binary_cross_entropy_with_logits`.",
  params: {
    self: required("tensor"),
    target: required("tensor"),
    weight: nullable("tensor"),
    reduction: reductionParam,
    posWeight: nullable("tensor"),
  },
  exposure: FUNCTIONAL,
  infer({ self, target, reduction }) {
    checkTarget(target, self.shape);
    checkFloats("binaryCrossEntropyWithLogits", self);
    return lossMeta(self.shape, { ...self, dtype: resultTypeOf([self, target]) }, reduction);
  },
  compose(o, { self, target, weight, reduction, posWeight }) {
    // log(1 + e⁻ˣ): written out by |x| and max(−x, 0), it would have their gradients at logits of 0
    const soft = o.neg(o.logsigmoid(self));
    const factor = posWeight ? o.add(o.mul(o.sub(posWeight, 1), target), 1) : null;
    const losses = o.add(o.mul(o.rsub(target, 1), self), factor ? o.mul(factor, soft) : soft);
    return reduce(o, weight ? o.mul(losses, weight) : losses, reduction);
  },
  samples: REDUCTIONS.map((reduction) => ({
    args: [t(3, 4), { tensor: [3, 4], range: [0, 1] }],
    options: { reduction },
  })),
});

const klDiv = composeWideOp({
  name: "klDiv",
  doc: "target · (log target − self) of log-probabilities `self`, as `nn.functional.kl_div`.",
  params: {
    self: required("tensor"),
    target: required("tensor"),
    reduction: optional("string", "mean", { oneOf: [...REDUCTIONS, "batchmean"] }),
    logTarget: optional("bool", false),
  },
  exposure: FUNCTIONAL,
  infer({ self, target, reduction }) {
    checkFloats("klDiv", self);
    checkFloats("klDiv", target);
    const shape = broadcastShapes(self.shape, target.shape);
    return lossMeta(shape, { ...self, dtype: resultTypeOf([self, target]) }, reduction);
  },
  compose(o, { self, target, reduction, logTarget }) {
    const losses = logTarget
      ? o.mul(o.exp(target), o.sub(target, self))
      : o.sub(o.xlogy(target, target), o.mul(target, self));
    if (reduction === "batchmean") return o.div(o.sum(losses), self.shape[0] ?? 1);
    return reduce(o, losses, reduction);
  },
  samples: [...REDUCTIONS, "batchmean"].map((reduction) => ({
    args: [t(3, 4), { tensor: [3, 4], range: [0.1, 1] }],
    options: { reduction },
  })),
});

export const losses = {
  mseLoss,
  l1Loss,
  smoothL1Loss,
  huberLoss,
  softMarginLoss,
  nllLoss,
  crossEntropy,
  binaryCrossEntropy,
  binaryCrossEntropyWithLogits,
  klDiv,
} as const;
