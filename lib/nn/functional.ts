/** Stateless functions of neural networks: the namespace `nn.functional`. */
import { checkPositive } from "../base/checked_numbers.ts";
import { checkOneOf, isIterable, optionsOf, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { type Arguments, argumentsOf, type Trailing, trailing } from "../base/arguments.ts";
import { tensor } from "../tensor/creation.ts";
import { ctcLoss as ctcOp, minimum, tripletMarginLoss } from "../tensor/generated_functions.ts";
import { Tensor } from "../tensor/tensor.ts";
import type { InstanceNormOptions } from "../ops/generated_options.ts";
import { type BatchNormOptions, normalizeBatch, normalizeInstances } from "./running_statistics.ts";

export * from "../tensor/generated_functional.ts";
export type { BatchNormOptions } from "./running_statistics.ts";
export { multiHeadAttentionForward } from "./attention_forward.ts";
export { celu_, elu_, hardtanh_, leakyRelu_, relu_, selu_, threshold_ } from "./inplace.ts";

const BATCH_NORM = ["weight", "bias", "training", "momentum", "eps"] as const;

/**
 * [N, C, ...] normalised per channel, as `torch.nn.functional.batch_norm`: in training by the batch's statistics, which
 * also update the running ones in place by `momentum`; otherwise by the running ones. Arguments from `weight` on may be
 * given by name.
 */
export function batchNorm(
  input: Tensor,
  runningMean: Tensor | null,
  runningVar: Tensor | null,
  ...given: Trailing<BatchNormOptions, typeof BATCH_NORM>
): Tensor {
  const options = trailing<BatchNormOptions>("batchNorm", {
    positional: BATCH_NORM,
    flags: { training: true },
  }, given);
  return normalizeBatch(input, runningMean, runningVar, options);
}

const INSTANCE_NORM = [
  "runningMean",
  "runningVar",
  "weight",
  "bias",
  "useInputStats",
  "momentum",
  "eps",
] as const;

/**
 * [N, C, ...] normalised over each image of each channel, as `torch.nn.functional.instance_norm`: by its statistics,
 * whose means over the images also update the running ones in place by `momentum`; without `useInputStats` by the
 * running ones. Arguments from `runningMean` on may be given by name. Throws DynError if an image has one element.
 */
export function instanceNorm(
  input: Tensor,
  ...given: Trailing<InstanceNormOptions<Tensor>, typeof INSTANCE_NORM>
): Tensor {
  return normalizeInstances(
    input,
    trailing("instanceNorm", { positional: INSTANCE_NORM, flags: { useInputStats: true } }, given),
  );
}

type Lengths = Tensor | readonly number[];

interface CtcRequired {
  /** [T, N, C], or [T, C] without a batch. */
  readonly logProbs: Tensor;
  /** [N, S], or all targets in one vector. */
  readonly targets: Tensor;
  /** [N]: the number of steps of each sequence, and of labels of its target. */
  readonly inputLengths: Lengths;
  readonly targetLengths: Lengths;
}

interface CtcOptions {
  readonly blank?: number;
  readonly reduction?: "none" | "mean" | "sum";
  /** Whether infinite losses, of targets that do not fit, are replaced by 0. */
  readonly zeroInfinity?: boolean;
}

const CTC = {
  required: ["logProbs", "targets", "inputLengths", "targetLengths"],
  positional: ["blank", "reduction", "zeroInfinity"],
  flags: { zeroInfinity: true },
} as const;

function lengthsOf(lengths: Lengths): Tensor {
  if (lengths instanceof Tensor) return lengths;
  if (!isIterable(lengths)) refuseValue("a tensor or a list as lengths of ctcLoss", lengths);
  return tensor([...lengths], { dtype: "int64" });
}

/**
 * Minus the log-probability of targets over all alignments with blanks, as `torch.nn.functional.ctc_loss`; lengths may
 * be lists. Throws DynError for invalid lengths and classes.
 */
export function ctcLoss(...given: Arguments<CtcRequired, CtcOptions, typeof CTC>): Tensor {
  const call = argumentsOf<CtcRequired, CtcOptions>("ctcLoss", CTC, given);
  const { logProbs, targets, blank = 0, reduction = "mean", zeroInfinity = false } = call;
  const inputs = lengthsOf(call.inputLengths), labels = lengthsOf(call.targetLengths);
  return ctcOp(logProbs, targets, inputs, labels, blank, reduction, zeroInfinity);
}

/** A layer that computes a distance of two batches of vectors, as PairwiseDistance. */
export interface DistanceLayer {
  /** Returns the distances between corresponding vectors. */
  call(a: Tensor, b: Tensor): Tensor;
}

/** Arguments of tripletMarginWithDistanceLoss by name. */
export interface TripletDistanceOptions {
  /** The distance of vectors; default: Euclidean, along the last dimension. */
  readonly distanceFunction?: ((a: Tensor, b: Tensor) => Tensor) | DistanceLayer | null;
  /** Required difference of distances; default 1. */
  readonly margin?: number;
  /** Whether the positive replaces the anchor if it is closer to the negative. */
  readonly swap?: boolean;
  /** Reduction of the losses of a batch; default "mean". */
  readonly reduction?: "none" | "mean" | "sum";
}

/**
 * max(0, d(anchor, positive) − d(anchor, negative) + margin) for any distance, as
 * `torch.nn.functional.triplet_margin_with_distance_loss`.
 */
export function tripletMarginWithDistanceLoss(
  anchor: Tensor,
  positive: Tensor,
  negative: Tensor,
  options: TripletDistanceOptions = {},
): Tensor {
  if (arguments.length > 4) refuseSurplus("tripletMarginWithDistanceLoss", 4, arguments);
  optionsOf("tripletMarginWithDistanceLoss", options, ["distanceFunction", "margin", "swap", "reduction"]);
  const { distanceFunction, margin = 1, swap = false, reduction = "mean" } = options;
  if (!distanceFunction) return tripletMarginLoss(anchor, positive, negative, { margin, swap, reduction });
  checkPositive("margin of tripletMarginWithDistanceLoss", margin);
  checkOneOf("reduction of tripletMarginWithDistanceLoss", reduction, ["none", "mean", "sum"]);
  const distance = (a: Tensor, b: Tensor) =>
    typeof distanceFunction === "function" ? distanceFunction(a, b) : distanceFunction.call(a, b);
  const near = distance(anchor, positive), far = distance(anchor, negative);
  const apart = swap ? minimum(far, distance(positive, negative)) : far;
  const losses = near.sub(apart).add(margin).clampMin(0);
  return reduction === "none" ? losses : reduction === "sum" ? losses.sum() : losses.mean();
}
