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
import { Module } from "./module.ts";

/** What becomes of the losses of a batch. */
export type Reduction = "none" | "mean" | "sum";

interface ReductionOptions {
  readonly reduction?: Reduction;
}

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
  readonly weight?: Tensor;
  readonly ignoreIndex?: number;
}

/** Softmax cross entropy of logits [N, C, ...] against class indices [N, ...] or probabilities. */
export class CrossEntropyLoss extends Module {
  constructor(readonly options: ClassOptions & { readonly labelSmoothing?: number } = {}) {
    super();
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { weight = null, ignoreIndex = -100, reduction = "mean", labelSmoothing = 0 } = this.options;
    return crossEntropy(input, target, { weight, ignoreIndex, reduction, labelSmoothing });
  }
}

/** Negative log-likelihood of log-probabilities [N, C, ...]. */
export class NLLLoss extends Module {
  constructor(readonly options: ClassOptions = {}) {
    super();
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { weight = null, ignoreIndex = -100, reduction = "mean" } = this.options;
    return nllLoss(input, target, { weight, ignoreIndex, reduction });
  }
}

/** Binary cross entropy of probabilities. */
export class BCELoss extends Module {
  constructor(readonly options: ReductionOptions = {}) {
    super();
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    return binaryCrossEntropy(input, target, { reduction: this.options.reduction ?? "mean" });
  }
}

/** Binary cross entropy of logits, stable for large ones. */
export class BCEWithLogitsLoss extends Module {
  constructor(readonly options: ReductionOptions = {}) {
    super();
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    return binaryCrossEntropyWithLogits(input, target, { reduction: this.options.reduction ?? "mean" });
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
