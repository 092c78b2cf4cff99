/** Losses as modules: each calls the op of its name with the module's options. */
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
import { optionsOf, refuseSurplus } from "../base/checked_input.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Trailing, trailing } from "../base/arguments.ts";
import { Module } from "./module.ts";

/** Reduction of the losses of a batch. */
export type Reduction = "none" | "mean" | "sum";

/** Options of losses that are reduced. */
export interface ReductionOptions {
  readonly reduction?: Reduction;
}

/** Arguments of a loss, of which the first by position may be a weight. */
export type Weighted<O extends WeightOptions> = Trailing<O, ["weight"]>;

/** Options of losses with weights. */
export interface WeightOptions {
  readonly weight?: Tensor | null;
}

/** A loss whose values for the elements or samples of a batch are reduced. */
export abstract class ReducedLoss<R extends string = Reduction> extends Module {
  /** Reduction of the losses of a batch. */
  reduction: R | "mean";

  constructor(reduction: R | undefined) {
    super();
    this.reduction = reduction ?? "mean";
  }
}

/** A loss whose weight is a buffer, so that it moves with the module and is part of its state. */
export abstract class WeightedLoss extends ReducedLoss {
  weight: Tensor | null = null;

  constructor({ weight, reduction }: WeightOptions & ReductionOptions) {
    super(reduction);
    this.registerBuffer("weight", weight ?? null);
  }
}

/** (input − target)² */
export class MSELoss extends ReducedLoss {
  constructor(options: ReductionOptions = {}) {
    super(optionsOf("MSELoss", options, ["reduction"]).reduction);
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    return mseLoss(input, target, { reduction: this.reduction });
  }
}

/** |input − target| */
export class L1Loss extends ReducedLoss {
  constructor(options: ReductionOptions = {}) {
    super(optionsOf("L1Loss", options, ["reduction"]).reduction);
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    return l1Loss(input, target, { reduction: this.reduction });
  }
}

/** Quadratic below beta, linear above. */
export class SmoothL1Loss extends ReducedLoss {
  beta: number;

  constructor(options: ReductionOptions & { readonly beta?: number } = {}) {
    super(optionsOf("SmoothL1Loss", options, ["reduction", "beta"]).reduction);
    this.beta = options.beta ?? 1;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    const { reduction, beta } = this;
    return smoothL1Loss(input, target, { reduction, beta });
  }
}

/** Quadratic below delta, linear with slope delta above. */
export class HuberLoss extends ReducedLoss {
  delta: number;

  constructor(options: ReductionOptions & { readonly delta?: number } = {}) {
    super(optionsOf("HuberLoss", options, ["reduction", "delta"]).reduction);
    this.delta = options.delta ?? 1;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    const { reduction, delta } = this;
    return huberLoss(input, target, { reduction, delta });
  }
}

/** Options of classification losses. */
export interface ClassOptions extends ReductionOptions {
  /** [C], a factor per class. */
  readonly weight?: Tensor | null;
  readonly ignoreIndex?: number;
}

/** Options of CrossEntropyLoss. */
export interface CrossEntropyOptions extends ClassOptions {
  readonly labelSmoothing?: number;
}

/** Softmax cross entropy of logits [N, C, ...] against class indices [N, ...] or probabilities. */
export class CrossEntropyLoss extends WeightedLoss {
  readonly ignoreIndex: number;
  readonly labelSmoothing: number;

  constructor(...given: Weighted<CrossEntropyOptions>) {
    const options = trailing<CrossEntropyOptions>("CrossEntropyLoss", {
      positional: ["weight"],
      named: ["ignoreIndex", "reduction", "labelSmoothing"],
    }, given);
    super(options);
    this.ignoreIndex = options.ignoreIndex ?? -100;
    this.labelSmoothing = options.labelSmoothing ?? 0;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    const { weight, ignoreIndex, reduction, labelSmoothing } = this;
    return crossEntropy(input, target, { weight, ignoreIndex, reduction, labelSmoothing });
  }
}

/** Negative log-likelihood of log-probabilities [N, C, ...]. */
export class NLLLoss extends WeightedLoss {
  readonly ignoreIndex: number;

  constructor(...given: Weighted<ClassOptions>) {
    const options = trailing<ClassOptions>("NLLLoss", {
      positional: ["weight"],
      named: ["ignoreIndex", "reduction"],
    }, given);
    super(options);
    this.ignoreIndex = options.ignoreIndex ?? -100;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    const { weight, ignoreIndex, reduction } = this;
    return nllLoss(input, target, { weight, ignoreIndex, reduction });
  }
}

/** Options of binary losses. */
export interface BinaryOptions extends ReductionOptions {
  /** A factor per element; broadcasts. */
  readonly weight?: Tensor | null;
}

/** Binary cross entropy of probabilities. */
export class BCELoss extends WeightedLoss {
  constructor(...given: Weighted<BinaryOptions>) {
    const names = { positional: ["weight"], named: ["reduction"] } as const;
    const options = trailing<BinaryOptions>("BCELoss", names, given);
    super(options);
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    const { weight, reduction } = this;
    return binaryCrossEntropy(input, target, { weight, reduction });
  }
}

/** Options of BCEWithLogitsLoss. */
interface LogitsOptions extends BinaryOptions {
  readonly posWeight?: Tensor | null;
}

/** Binary cross entropy of logits, stable for large ones; posWeight scales the positive targets. */
export class BCEWithLogitsLoss extends WeightedLoss {
  posWeight: Tensor | null = null;

  constructor(...given: Weighted<LogitsOptions>) {
    const options = trailing<LogitsOptions>("BCEWithLogitsLoss", {
      positional: ["weight"],
      named: ["reduction", "posWeight"],
    }, given);
    super(options);
    this.registerBuffer("posWeight", options.posWeight ?? null, { key: "pos_weight" });
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    const { weight, reduction, posWeight } = this;
    return binaryCrossEntropyWithLogits(input, target, { weight, reduction, posWeight });
  }
}

/** Kullback–Leibler divergence from the input's distribution, given by log-probabilities, to the target's. */
export class KLDivLoss extends ReducedLoss<Reduction | "batchmean"> {
  logTarget: boolean;

  constructor(
    options: { readonly reduction?: Reduction | "batchmean"; readonly logTarget?: boolean } = {},
  ) {
    super(optionsOf("KLDivLoss", options, ["reduction", "logTarget"]).reduction);
    this.logTarget = options.logTarget ?? false;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    const { reduction, logTarget } = this;
    return klDiv(input, target, { reduction, logTarget });
  }
}
