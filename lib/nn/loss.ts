/** Losses as modules: each calls the op of its name with the options it was made with. */
import {
  binaryCrossEntropy,
  binaryCrossEntropyWithLogits,
  crossEntropy,
  huberLoss,
  klDiv,
  l1Loss,
  mseLoss,
  nllLoss,
  smoothL1Loss,
} from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Trailing, trailing } from "../base/arguments.ts";
import { Module } from "./module.ts";

/** What becomes of the losses of a batch. */
export type Reduction = "none" | "mean" | "sum";

interface ReductionOptions {
  readonly reduction?: Reduction;
}

/** Options of a loss that may start with a weight by position. */
type Weighted<O extends { readonly weight?: Tensor | null }> = Trailing<O, ["weight"]>;

/** (input − target)² */
export class MSELoss extends Module {
  constructor(readonly options: ReductionOptions = {}) {
    super();
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    return mseLoss(input, target, { reduction: this.options.reduction ?? "mean" });
  }
}

/** |input − target| */
export class L1Loss extends Module {
  constructor(readonly options: ReductionOptions = {}) {
    super();
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    return l1Loss(input, target, { reduction: this.options.reduction ?? "mean" });
  }
}

/** Quadratic below beta, linear above. */
export class SmoothL1Loss extends Module {
  constructor(readonly options: ReductionOptions & { readonly beta?: number } = {}) {
    super();
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { reduction = "mean", beta = 1 } = this.options;
    return smoothL1Loss(input, target, { reduction, beta });
  }
}

/** Quadratic below delta, delta-scaled linear above. */
export class HuberLoss extends Module {
  constructor(readonly options: ReductionOptions & { readonly delta?: number } = {}) {
    super();
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { reduction = "mean", delta = 1 } = this.options;
    return huberLoss(input, target, { reduction, delta });
  }
}

/** Options of classification losses. */
export interface ClassOptions extends ReductionOptions {
  /** [C], a factor a class. */
  readonly weight?: Tensor | null;
  readonly ignoreIndex?: number;
}

/** Softmax cross entropy of logits [N, C, ...] against class indices [N, ...] or probabilities. */
export class CrossEntropyLoss extends Module {
  readonly options: ClassOptions & { readonly labelSmoothing?: number };

  constructor(...given: Weighted<ClassOptions & { readonly labelSmoothing?: number }>) {
    super();
    this.options = trailing<ClassOptions & { readonly labelSmoothing?: number }>("CrossEntropyLoss", {
      positional: ["weight"],
      named: [
        "ignoreIndex",
        "reduction",
        "labelSmoothing",
      ],
    }, given);
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { weight = null, ignoreIndex = -100, reduction = "mean", labelSmoothing = 0 } = this.options;
    return crossEntropy(input, target, { weight, ignoreIndex, reduction, labelSmoothing });
  }
}

/** Negative log-likelihood of log-probabilities [N, C, ...]. */
export class NLLLoss extends Module {
  readonly options: ClassOptions;

  constructor(...given: Weighted<ClassOptions>) {
    super();
    this.options = trailing<ClassOptions>("NLLLoss", {
      positional: ["weight"],
      named: ["ignoreIndex", "reduction"],
    }, given);
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { weight = null, ignoreIndex = -100, reduction = "mean" } = this.options;
    return nllLoss(input, target, { weight, ignoreIndex, reduction });
  }
}

/** Options of binary losses. */
export interface BinaryOptions extends ReductionOptions {
  /** A factor an element; broadcasts. */
  readonly weight?: Tensor | null;
}

/** Binary cross entropy of probabilities. */
export class BCELoss extends Module {
  readonly options: BinaryOptions;

  constructor(...given: Weighted<BinaryOptions>) {
    super();
    this.options = trailing<BinaryOptions>(
      "BCELoss",
      { positional: ["weight"], named: ["reduction"] },
      given,
    );
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { weight = null, reduction = "mean" } = this.options;
    return binaryCrossEntropy(input, target, { weight, reduction });
  }
}

/** Binary cross entropy of logits, stable for large ones; posWeight is a factor of the positive targets. */
export class BCEWithLogitsLoss extends Module {
  readonly options: BinaryOptions & { readonly posWeight?: Tensor | null };

  constructor(...given: Weighted<BinaryOptions & { readonly posWeight?: Tensor | null }>) {
    super();
    this.options = trailing<BinaryOptions & { readonly posWeight?: Tensor | null }>("BCEWithLogitsLoss", {
      positional: ["weight"],
      named: ["reduction", "posWeight"],
    }, given);
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { weight = null, reduction = "mean", posWeight = null } = this.options;
    return binaryCrossEntropyWithLogits(input, target, { weight, reduction, posWeight });
  }
}

/** Kullback–Leibler divergence of log-probabilities from target probabilities. */
export class KLDivLoss extends Module {
  constructor(
    readonly options: { readonly reduction?: Reduction | "batchmean"; readonly logTarget?: boolean } = {},
  ) {
    super();
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { reduction = "mean", logTarget = false } = this.options;
    return klDiv(input, target, { reduction, logTarget });
  }
}
