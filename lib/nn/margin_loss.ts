/** Losses of margins, distances and distributions, as modules: each calls the op of its name. */
import {
  cosineEmbeddingLoss,
  cosineSimilarity,
  gaussianNllLoss,
  hingeEmbeddingLoss,
  marginRankingLoss,
  multilabelSoftMarginLoss,
  multiMarginLoss,
  pairwiseDistance,
  poissonNllLoss,
  softMarginLoss,
  tripletMarginLoss,
} from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Trailing, trailing } from "../base/arguments.ts";
import { type Reduction, type Weighted, WeightedLoss, type WeightOptions } from "./loss.ts";
import { Module } from "./module.ts";

/** Options of losses with a margin. */
export interface MarginOptions {
  readonly margin?: number;
  readonly reduction?: Reduction;
}

abstract class MarginLoss extends Module {
  readonly margin: number;
  readonly reduction: Reduction;

  constructor(given: Trailing<MarginOptions, ["margin"]>, margin: number) {
    super();
    const options = trailing<MarginOptions>(
      "a margin loss",
      { positional: ["margin"], named: ["reduction"] },
      given,
    );
    this.margin = options.margin ?? margin;
    this.reduction = options.reduction ?? "mean";
  }
}

/** 1 − cos where the target is 1, max(0, cos − margin) where it is −1. */
export class CosineEmbeddingLoss extends MarginLoss {
  constructor(...given: Trailing<MarginOptions, ["margin"]>) {
    super(given, 0);
  }

  override forward(input1: Tensor, input2: Tensor, target: Tensor): Tensor {
    return cosineEmbeddingLoss(input1, input2, target, this.margin, this.reduction);
  }
}

/** input where the target is 1, max(0, margin − input) where it is −1. */
export class HingeEmbeddingLoss extends MarginLoss {
  constructor(...given: Trailing<MarginOptions, ["margin"]>) {
    super(given, 1);
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    return hingeEmbeddingLoss(input, target, this.margin, this.reduction);
  }
}

/** max(0, −target·(input1 − input2) + margin) */
export class MarginRankingLoss extends MarginLoss {
  constructor(...given: Trailing<MarginOptions, ["margin"]>) {
    super(given, 0);
  }

  override forward(input1: Tensor, input2: Tensor, target: Tensor): Tensor {
    return marginRankingLoss(input1, input2, target, this.margin, this.reduction);
  }
}

/** Options of TripletMarginLoss. */
export interface TripletMarginOptions extends MarginOptions {
  readonly p?: number;
  readonly eps?: number;
  readonly swap?: boolean;
}

/** max(0, d(anchor, positive) − d(anchor, negative) + margin) */
export class TripletMarginLoss extends Module {
  readonly options: TripletMarginOptions;

  constructor(...given: Trailing<TripletMarginOptions, ["margin", "p", "eps", "swap"]>) {
    super();
    const names = ["margin", "p", "eps", "swap"] as const;
    this.options = trailing<TripletMarginOptions>("TripletMarginLoss", {
      positional: names,
      named: ["reduction"],
    }, given);
  }

  override forward(anchor: Tensor, positive: Tensor, negative: Tensor): Tensor {
    const { margin = 1, p = 2, eps = 1e-6, swap = false, reduction = "mean" } = this.options;
    return tripletMarginLoss(anchor, positive, negative, { margin, p, eps, swap, reduction });
  }
}

/** Options of MultiMarginLoss. */
export interface MultiMarginOptions extends MarginOptions {
  readonly p?: number;
  /** [C], a factor a class. */
  readonly weight?: Tensor | null;
}

/** Σ over other classes of max(0, margin − input[target] + input[i])ᵖ, divided by their number. */
export class MultiMarginLoss extends WeightedLoss {
  readonly p: number;
  readonly margin: number;
  readonly reduction: Reduction;

  constructor(...given: Trailing<MultiMarginOptions, ["p", "margin", "weight"]>) {
    const options = trailing<MultiMarginOptions>("MultiMarginLoss", {
      positional: ["p", "margin", "weight"],
      named: ["reduction"],
    }, given);
    super(options.weight);
    this.p = options.p ?? 1;
    this.margin = options.margin ?? 1;
    this.reduction = options.reduction ?? "mean";
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { p, margin, weight, reduction } = this;
    return multiMarginLoss(input, target, { p, margin, weight, reduction });
  }
}

interface ReductionOptions {
  readonly reduction?: Reduction;
}

/** log(1 + e^(−target·input)) */
export class SoftMarginLoss extends Module {
  constructor(readonly options: ReductionOptions = {}) {
    super();
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    return softMarginLoss(input, target, { reduction: this.options.reduction ?? "mean" });
  }
}

/** Mean binary cross entropy over classes, of logits [N, C]. */
export class MultiLabelSoftMarginLoss extends WeightedLoss {
  readonly reduction: Reduction;

  constructor(...given: Weighted<ReductionOptions & WeightOptions>) {
    const names = { positional: ["weight"], named: ["reduction"] } as const;
    const options = trailing<ReductionOptions & WeightOptions>("MultiLabelSoftMarginLoss", names, given);
    super(options.weight);
    this.reduction = options.reduction ?? "mean";
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { weight, reduction } = this;
    return multilabelSoftMarginLoss(input, target, { weight, reduction });
  }
}

/** Options of GaussianNLLLoss. */
export interface GaussianOptions extends ReductionOptions {
  /** Whether the constant part is added. */
  readonly full?: boolean;
  readonly eps?: number;
}

/** Negative log-likelihood of a normal distribution with the variances given. */
export class GaussianNLLLoss extends Module {
  constructor(readonly options: GaussianOptions = {}) {
    super();
  }

  override forward(input: Tensor, target: Tensor, variance: Tensor): Tensor {
    const { full = false, eps = 1e-6, reduction = "mean" } = this.options;
    return gaussianNllLoss(input, target, variance, { full, eps, reduction });
  }
}

/** Options of PoissonNLLLoss. */
export interface PoissonOptions extends GaussianOptions {
  /** Whether the input is the logarithm of the rate. */
  readonly logInput?: boolean;
}

/** Negative log-likelihood of a Poisson distribution. */
export class PoissonNLLLoss extends Module {
  readonly options: PoissonOptions;

  constructor(...given: Trailing<PoissonOptions, ["logInput", "full"]>) {
    super();
    this.options = trailing<PoissonOptions>("PoissonNLLLoss", {
      positional: ["logInput", "full"],
      named: [
        "eps",
        "reduction",
      ],
    }, given);
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { logInput = true, full = false, eps = 1e-8, reduction = "mean" } = this.options;
    return poissonNllLoss(input, target, { logInput, full, eps, reduction });
  }
}

/** The cosine of the angle between vectors along `dim`. */
export class CosineSimilarity extends Module {
  readonly options: { readonly dim?: number; readonly eps?: number };

  constructor(...given: Trailing<{ readonly dim?: number; readonly eps?: number }, ["dim", "eps"]>) {
    super();
    this.options = trailing<{ readonly dim?: number; readonly eps?: number }>(
      "CosineSimilarity",
      ["dim", "eps"],
      given,
    );
  }

  override forward(x1: Tensor, x2: Tensor): Tensor {
    const { dim = 1, eps = 1e-8 } = this.options;
    return cosineSimilarity(x1, x2, dim, eps);
  }
}

/** Options of PairwiseDistance. */
export interface DistanceOptions {
  readonly p?: number;
  readonly eps?: number;
  readonly keepdim?: boolean;
}

/** The norm of x1 − x2 along the last dimension. */
export class PairwiseDistance extends Module {
  readonly options: DistanceOptions;

  constructor(...given: Trailing<DistanceOptions, ["p", "eps", "keepdim"]>) {
    super();
    this.options = trailing<DistanceOptions>("PairwiseDistance", ["p", "eps", "keepdim"], given);
  }

  override forward(x1: Tensor, x2: Tensor): Tensor {
    const { p = 2, eps = 1e-6, keepdim = false } = this.options;
    return pairwiseDistance(x1, x2, p, eps, keepdim);
  }
}
