/** Losses of margins, distances and distributions, as modules: each calls the op of its name. */
import {
  cosineEmbeddingLoss,
  cosineSimilarity,
  gaussianNllLoss,
  hingeEmbeddingLoss,
  marginRankingLoss,
  multilabelMarginLoss,
  multilabelSoftMarginLoss,
  multiMarginLoss,
  pairwiseDistance,
  poissonNllLoss,
  softMarginLoss,
  tripletMarginLoss,
} from "../tensor/generated_functions.ts";
import { optionsOf, refuseSurplus } from "../base/checked_input.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Trailing, trailing } from "../base/arguments.ts";
import { type TripletDistanceOptions, tripletMarginWithDistanceLoss } from "./functional.ts";
import {
  ReducedLoss,
  type Reduction,
  type ReductionOptions,
  type Weighted,
  WeightedLoss,
  type WeightOptions,
} from "./loss.ts";
import { Module } from "./module.ts";
import { aliasFields } from "./module_tree.ts";

/** Options of losses with a margin. */
export interface MarginOptions {
  /** The required margin; default 1. */
  readonly margin?: number;
  /** Reduction of the losses of a batch: "mean", "sum" or "none"; default "mean". */
  readonly reduction?: Reduction;
}

abstract class MarginLoss extends ReducedLoss {
  /** The margin unless one is given. */
  protected static readonly usual: number = 0;
  readonly margin: number;

  constructor(...given: Trailing<MarginOptions, ["margin"]>) {
    const options = trailing<MarginOptions>(
      "a margin loss",
      { positional: ["margin"], named: ["reduction"] },
      given,
    );
    super(options.reduction);
    this.margin = options.margin ?? new.target.usual;
  }
}

/** 1 − cos where the target is 1, max(0, cos − margin) where it is −1. */
export class CosineEmbeddingLoss extends MarginLoss {
  /** The loss of the arguments, reduced as `reduction` says. */
  override forward(input1: Tensor, input2: Tensor, target: Tensor): Tensor {
    if (arguments.length > 3) refuseSurplus("forward", 3, arguments);
    return cosineEmbeddingLoss(input1, input2, target, this.margin, this.reduction);
  }
}

/** input where the target is 1, max(0, margin − input) where it is −1. */
export class HingeEmbeddingLoss extends MarginLoss {
  /** The margin unless one is given. */
  protected static override readonly usual = 1;

  /** The loss of the arguments, reduced as `reduction` says. */
  override forward(input: Tensor, target: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    return hingeEmbeddingLoss(input, target, this.margin, this.reduction);
  }
}

/** max(0, −target·(input1 − input2) + margin) */
export class MarginRankingLoss extends MarginLoss {
  /** The loss of the arguments, reduced as `reduction` says. */
  override forward(input1: Tensor, input2: Tensor, target: Tensor): Tensor {
    if (arguments.length > 3) refuseSurplus("forward", 3, arguments);
    return marginRankingLoss(input1, input2, target, this.margin, this.reduction);
  }
}

/** Options of TripletMarginLoss. */
export interface TripletMarginOptions extends MarginOptions {
  /** The exponent of the norm. */
  readonly p?: number;
  /** Added to distances, which keeps roots away from 0. */
  readonly eps?: number;
  /** Whether the positive replaces the anchor if it is closer to the negative; default false. */
  readonly swap?: boolean;
}

/** max(0, d(anchor, positive) − d(anchor, negative) + margin) */
export class TripletMarginLoss extends ReducedLoss {
  /** The least difference of the distances without loss. */
  margin: number;
  /** The exponent of the norm. */
  p: number;
  /** Added to distances, which keeps roots away from 0. */
  eps: number;
  /** Whether the positive replaces the anchor if it is closer to the negative. */
  swap: boolean;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Trailing<TripletMarginOptions, ["margin", "p", "eps", "swap"]>) {
    const names = ["margin", "p", "eps", "swap"] as const;
    const options = trailing<TripletMarginOptions>("TripletMarginLoss", {
      positional: names,
      named: ["reduction"],
      flags: { swap: true },
    }, given);
    super(options.reduction);
    this.margin = options.margin ?? 1;
    this.p = options.p ?? 2;
    this.eps = options.eps ?? 1e-6;
    this.swap = options.swap ?? false;
  }

  /** The loss of the arguments, reduced as `reduction` says. */
  override forward(anchor: Tensor, positive: Tensor, negative: Tensor): Tensor {
    if (arguments.length > 3) refuseSurplus("forward", 3, arguments);
    const { margin, p, eps, swap, reduction } = this;
    return tripletMarginLoss(anchor, positive, negative, { margin, p, eps, swap, reduction });
  }
}

const DISTANCE = { distanceFunction: "distance_function" };

/** Like TripletMarginLoss for any distance, as torch.nn.TripletMarginWithDistanceLoss. */
export class TripletMarginWithDistanceLoss extends ReducedLoss {
  /** The distance between two batches of vectors. */
  readonly distanceFunction: NonNullable<TripletDistanceOptions["distanceFunction"]>;
  /** The least difference of the distances without loss. */
  margin: number;
  /** Whether the positive replaces the anchor if it is closer to the negative. */
  swap: boolean;

  /** Takes its arguments by name. */
  constructor(options: TripletDistanceOptions = {}) {
    super(
      optionsOf("TripletMarginWithDistanceLoss", options, ["distanceFunction", "margin", "swap", "reduction"])
        .reduction,
    );
    this.distanceFunction = options.distanceFunction ?? new PairwiseDistance();
    Object.assign(this.stateKeys, DISTANCE);
    this.margin = options.margin ?? 1;
    this.swap = options.swap ?? false;
  }

  /** The output of the layer. */
  override forward(anchor: Tensor, positive: Tensor, negative: Tensor): Tensor {
    if (arguments.length > 3) refuseSurplus("forward", 3, arguments);
    const { distanceFunction, margin, swap, reduction } = this, options = { margin, swap, reduction };
    return tripletMarginWithDistanceLoss(anchor, positive, negative, { ...options, distanceFunction });
  }
}

aliasFields(TripletMarginWithDistanceLoss.prototype, DISTANCE);

/** Options of MultiMarginLoss. */
export interface MultiMarginOptions extends MarginOptions {
  /** The exponent of the norm. */
  readonly p?: number;
  /** [C], a factor per class. */
  readonly weight?: Tensor | null;
}

/** Σ over other classes of max(0, margin − input[target] + input[i])ᵖ, divided by their number. */
export class MultiMarginLoss extends WeightedLoss {
  /** The exponent of the norm. */
  readonly p: number;
  /** The required margin. */
  readonly margin: number;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Trailing<MultiMarginOptions, ["p", "margin", "weight"]>) {
    const options = trailing<MultiMarginOptions>("MultiMarginLoss", {
      positional: ["p", "margin", "weight"],
      named: ["reduction"],
    }, given);
    super(options);
    this.p = options.p ?? 1;
    this.margin = options.margin ?? 1;
  }

  /** The loss of the arguments, reduced as `reduction` says. */
  override forward(input: Tensor, target: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    const { p, margin, weight, reduction } = this;
    return multiMarginLoss(input, target, { p, margin, weight, reduction });
  }
}

/** log(1 + e^(−target·input)) */
export class SoftMarginLoss extends ReducedLoss {
  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(options: ReductionOptions = {}) {
    super(optionsOf("SoftMarginLoss", options, ["reduction"]).reduction);
  }

  /** The loss of the arguments, reduced as `reduction` says. */
  override forward(input: Tensor, target: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    return softMarginLoss(input, target, { reduction: this.reduction });
  }
}

/** Mean binary cross entropy over classes, of logits [N, C]. */
export class MultiLabelSoftMarginLoss extends WeightedLoss {
  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Weighted<ReductionOptions & WeightOptions>) {
    const names = { positional: ["weight"], named: ["reduction"] } as const;
    const options = trailing<ReductionOptions & WeightOptions>("MultiLabelSoftMarginLoss", names, given);
    super(options);
  }

  /** The loss of the arguments, reduced as `reduction` says. */
  override forward(input: Tensor, target: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    const { weight, reduction } = this;
    return multilabelSoftMarginLoss(input, target, { weight, reduction });
  }
}

/**
 * The mean over pairs of a target class and another class of max(0, 1 − x[target] + x[other]); rows of targets end at
 * −1.
 */
export class MultiLabelMarginLoss extends ReducedLoss {
  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(options: ReductionOptions = {}) {
    super(optionsOf("MultiLabelMarginLoss", options, ["reduction"]).reduction);
  }

  /** The output of the layer. */
  override forward(input: Tensor, target: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    return multilabelMarginLoss(input, target, { reduction: this.reduction });
  }
}

/** Options of GaussianNLLLoss. */
export interface GaussianOptions extends ReductionOptions {
  /** Whether to include the constant term. */
  readonly full?: boolean;
  /** The least variance. */
  readonly eps?: number;
}

/** Negative log-likelihood of a normal distribution with given variances. */
export class GaussianNLLLoss extends ReducedLoss {
  /** Whether to include the constant term. */
  full: boolean;
  /** The least variance. */
  eps: number;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(options: GaussianOptions = {}) {
    super(optionsOf("GaussianNLLLoss", options, ["full", "eps", "reduction"]).reduction);
    this.full = options.full ?? false;
    this.eps = options.eps ?? 1e-6;
  }

  /** The loss of the arguments, reduced as `reduction` says. */
  override forward(input: Tensor, target: Tensor, variance: Tensor): Tensor {
    if (arguments.length > 3) refuseSurplus("forward", 3, arguments);
    const { full, eps, reduction } = this;
    return gaussianNllLoss(input, target, variance, { full, eps, reduction });
  }
}

/** Options of PoissonNLLLoss. */
export interface PoissonOptions extends GaussianOptions {
  /** Whether the input is the logarithm of the rate. */
  readonly logInput?: boolean;
}

/** Negative log-likelihood of a Poisson distribution. */
export class PoissonNLLLoss extends ReducedLoss {
  /** Whether the input is the logarithm of the rate. */
  logInput: boolean;
  /** Whether to include the constant term. */
  full: boolean;
  /** Added to rates, which keeps logarithms finite. */
  eps: number;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Trailing<PoissonOptions, ["logInput", "full"]>) {
    const options = trailing<PoissonOptions>("PoissonNLLLoss", {
      positional: ["logInput", "full"],
      named: [
        "eps",
        "reduction",
      ],
      flags: { full: true, logInput: true },
    }, given);
    super(options.reduction);
    this.logInput = options.logInput ?? true;
    this.full = options.full ?? false;
    this.eps = options.eps ?? 1e-8;
  }

  /** The loss of the arguments, reduced as `reduction` says. */
  override forward(input: Tensor, target: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    const { logInput, full, eps, reduction } = this;
    return poissonNllLoss(input, target, { logInput, full, eps, reduction });
  }
}

/** The cosine of the angle between vectors along `dim`. */
export class CosineSimilarity extends Module {
  /** The dimension of the vectors. */
  dim: number;
  /** The least product of norms. */
  eps: number;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Trailing<{ readonly dim?: number; readonly eps?: number }, ["dim", "eps"]>) {
    super();
    const options = trailing<{ readonly dim?: number; readonly eps?: number }>(
      "CosineSimilarity",
      ["dim", "eps"],
      given,
    );
    this.dim = options.dim ?? 1;
    this.eps = options.eps ?? 1e-8;
  }

  /** The loss of the arguments, reduced as `reduction` says. */
  override forward(x1: Tensor, x2: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    return cosineSimilarity(x1, x2, this.dim, this.eps);
  }
}

/** Options of PairwiseDistance. */
export interface DistanceOptions {
  /** The exponent of the norm. */
  readonly p?: number;
  /** Added to differences, which keeps roots away from 0. */
  readonly eps?: number;
  /** Whether the dimension is kept, with size 1; default false. */
  readonly keepdim?: boolean;
}

/** The norm of x1 − x2 along the last dimension. */
export class PairwiseDistance extends Module {
  /** The exponent of the norm. */
  norm: number;
  /** Added to differences, which keeps roots away from 0. */
  eps: number;
  /** Whether the dimension is kept, with size 1. */
  keepdim: boolean;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Trailing<DistanceOptions, ["p", "eps", "keepdim"]>) {
    super();
    const options = trailing<DistanceOptions>("PairwiseDistance", {
      positional: ["p", "eps", "keepdim"],
      flags: { keepdim: true },
    }, given);
    this.norm = options.p ?? 2;
    this.eps = options.eps ?? 1e-6;
    this.keepdim = options.keepdim ?? false;
  }

  /** The loss of the arguments, reduced as `reduction` says. */
  override forward(x1: Tensor, x2: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    return pairwiseDistance(x1, x2, this.norm, this.eps, this.keepdim);
  }
}
