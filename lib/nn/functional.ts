/** Stateless functions of neural networks: the namespace `nn.functional`. */
import { checkPositive } from "../base/checked_numbers.ts";
import { checkTensor } from "../tensor/checked.ts";
import { optionsOf } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { type Arguments, argumentsOf } from "../base/arguments.ts";
import { noGrad } from "../tensor/modes.ts";
import { tensor } from "../tensor/creation.ts";
import { ops } from "../tensor/eager.ts";
import { ctcLoss as ctcOp, minimum, tripletMarginLoss } from "../tensor/generated_functions.ts";
import { Tensor } from "../tensor/tensor.ts";

export * from "../tensor/generated_functional.ts";
export { multiHeadAttentionForward } from "./attention_forward.ts";
export { celu_, elu_, hardtanh_, leakyRelu_, relu_, selu_, threshold_ } from "./inplace.ts";

const { batchNormInference, batchNormTraining } = ops;

/** Arguments of batchNorm by name. */
export interface BatchNormOptions {
  /** Factors of the normalised elements. */
  readonly weight?: Tensor | null | undefined;
  /** Terms added to the normalised elements. */
  readonly bias?: Tensor | null | undefined;
  /** Whether to use the statistics of the batch and update the running ones; default false. */
  readonly training?: boolean | undefined;
  /** The share of new statistics in the running ones; default 0.1. */
  readonly momentum?: number | undefined;
  /** Added to variances, so that roots and divisions stay away from 0. */
  readonly eps?: number | undefined;
}

/**
 * [N, C, ...] normalised per channel, as `torch.nn.functional.batch_norm`: in training by the batch's statistics, which
 * also update the running ones in place by `momentum`; otherwise by the running ones. Arguments from `weight` on may be
 * given by name.
 */
export function batchNorm(
  input: Tensor,
  runningMean: Tensor | null,
  runningVar: Tensor | null,
  weight: Tensor | BatchNormOptions | null = null,
  bias: Tensor | BatchNormOptions | null = null,
  training: boolean | BatchNormOptions = false,
  momentum: number | BatchNormOptions = 0.1,
  eps: number | BatchNormOptions = 1e-5,
): Tensor {
  checkTensor(input, "batchNorm");
  // An empty vector has no channels to normalise
  if (input.ndim === 1 && input.shape[0] === 0) return input.clone();
  const named: BatchNormOptions = [weight, bias, training, momentum, eps].find(isOptions) ?? {};
  const scale = named.weight ?? tensorOrNull(weight), shift = named.bias ?? tensorOrNull(bias);
  const small = named.eps ?? (typeof eps === "number" ? eps : 1e-5);
  if (!(named.training ?? training === true)) {
    if (!runningMean || !runningVar) {
      throw new DynError("Expected running statistics outside training but found none");
    }
    return batchNormInference(input, runningMean, runningVar, scale, shift, small);
  }
  const share = named.momentum ?? (typeof momentum === "number" ? momentum : 0.1);
  const [output, mean, variance] = batchNormTraining(input, scale, shift, small);
  noGrad(() => {
    runningMean?.lerp_(mean.to(runningMean.dtype), share);
    runningVar?.lerp_(variance.to(runningVar.dtype), share);
  });
  return output;
}

function isOptions(value: unknown): value is BatchNormOptions {
  return typeof value === "object" && value !== null && !(value instanceof Tensor);
}

function tensorOrNull(value: Tensor | BatchNormOptions | null): Tensor | null {
  return value instanceof Tensor ? value : null;
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
} as const;

const lengthsOf = (lengths: Lengths): Tensor =>
  lengths instanceof Tensor ? lengths : tensor([...lengths], { dtype: "int64" });

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
  optionsOf("tripletMarginWithDistanceLoss", options, ["distanceFunction", "margin", "swap", "reduction"]);
  const { distanceFunction, margin = 1, swap = false, reduction = "mean" } = options;
  if (!distanceFunction) return tripletMarginLoss(anchor, positive, negative, { margin, swap, reduction });
  checkPositive("margin of tripletMarginWithDistanceLoss", margin);
  const distance = (a: Tensor, b: Tensor) =>
    typeof distanceFunction === "function" ? distanceFunction(a, b) : distanceFunction.call(a, b);
  const near = distance(anchor, positive), far = distance(anchor, negative);
  const apart = swap ? minimum(far, distance(positive, negative)) : far;
  const losses = near.sub(apart).add(margin).clampMin(0);
  return reduction === "none" ? losses : reduction === "sum" ? losses.sum() : losses.mean();
}
