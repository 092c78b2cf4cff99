/** CTC loss and the fused linear cross entropy, as modules: each calls the function of its name. */
import { refuseSurplus } from "../base/checked_input.ts";
import { settings } from "../base/console_text.ts";
import { linearCrossEntropy } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Arguments, type Trailing, trailing } from "../base/arguments.ts";
import { layerArguments } from "./layer_arguments.ts";
import { ctcLoss } from "./functional.ts";
import { Linear } from "./linear.ts";
import { ReducedLoss, type Reduction, WeightedLoss } from "./loss.ts";
import type { Placement } from "./placement.ts";

/** Options of CTCLoss. */
export interface CTCOptions {
  /** The class of blanks; default 0. */
  readonly blank?: number;
  /** Reduction of the losses of a batch; default "mean". */
  readonly reduction?: Reduction;
  /** Whether infinite losses, of targets that do not fit, are replaced by 0. */
  readonly zeroInfinity?: boolean;
}

const CTC = ["blank", "reduction", "zeroInfinity"] as const;

/** Minus the log-probability of targets over all alignments with blanks, as torch.nn.CTCLoss. */
export class CTCLoss extends ReducedLoss {
  /** The class of blanks. */
  blank: number;
  /** Whether infinite losses, of targets that do not fit, are replaced by 0. */
  zeroInfinity: boolean;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Trailing<CTCOptions, typeof CTC>) {
    const options = trailing<CTCOptions>(
      "CTCLoss",
      { positional: CTC, flags: { zeroInfinity: true } },
      given,
    );
    super(options.reduction);
    this.blank = options.blank ?? 0;
    this.zeroInfinity = options.zeroInfinity ?? false;
  }

  /** The output of the layer. */
  override forward(
    logProbs: Tensor,
    targets: Tensor,
    inputLengths: Tensor | readonly number[],
    targetLengths: Tensor | readonly number[],
  ): Tensor {
    if (arguments.length > 4) refuseSurplus("forward", 4, arguments);
    const { blank, reduction, zeroInfinity } = this, options = { blank, reduction, zeroInfinity };
    return ctcLoss(logProbs, targets, inputLengths, targetLengths, options);
  }
}

/** Sizes of LinearCrossEntropyLoss. */
export interface LinearCrossEntropySizes {
  /** Features of the input. */
  readonly inFeatures: number;
  /** Number of classes. */
  readonly numClasses: number;
}

/** Options of LinearCrossEntropyLoss. */
export interface LinearCrossEntropyOptions extends Placement {
  /** Further dimensions of the targets. */
  readonly outFeatures?: readonly number[];
  /** Whether the linear layer has a bias; default false. */
  readonly bias?: boolean;
  /** Reduction of the losses of a batch; default "mean". */
  readonly reduction?: Reduction;
  /** [C], a factor per class. */
  readonly weight?: Tensor | null;
  /** A class whose targets are ignored. */
  readonly ignoreIndex?: number | null;
  /** The share of each target that is spread over all classes. */
  readonly labelSmoothing?: number;
}

const LINEAR = {
  required: ["inFeatures", "numClasses"],
  counts: ["inFeatures", "numClasses"],
  positional: [],
  named: [
    "outFeatures",
    "bias",
    "device",
    "dtype",
    "reduction",
    "weight",
    "ignoreIndex",
    "labelSmoothing",
  ],
  flags: { bias: true },
} as const;

/** A linear layer followed by cross entropy, as torch.nn.LinearCrossEntropyLoss. */
export class LinearCrossEntropyLoss extends WeightedLoss {
  /** Number of classes. */
  readonly numClasses: number;
  /** Further dimensions of the targets. */
  readonly outFeatures: readonly number[];
  /** A class whose targets are ignored. */
  readonly ignoreIndex: number | null;
  /** The share of each target that is spread over all classes. */
  readonly labelSmoothing: number;
  /** The layer that computes the logits. */
  readonly linear: Linear;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<LinearCrossEntropySizes, LinearCrossEntropyOptions, typeof LINEAR>) {
    const options = layerArguments<LinearCrossEntropySizes, LinearCrossEntropyOptions>(
      "LinearCrossEntropyLoss",
      LINEAR,
      given,
    );
    super(options);
    const { inFeatures, numClasses, outFeatures = [], bias = false, device, dtype } = options;
    this.numClasses = numClasses;
    this.outFeatures = outFeatures;
    this.ignoreIndex = options.ignoreIndex ?? null;
    this.labelSmoothing = options.labelSmoothing ?? 0;
    this.linear = new Linear(inFeatures, outFeatures.reduce((a, b) => a * b, numClasses), {
      bias,
      device,
      dtype,
    });
  }

  /** The output of the layer. */
  override forward(input: Tensor, target: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    const { linear, numClasses, outFeatures, weight, reduction, ignoreIndex, labelSmoothing } = this;
    const shape = [numClasses, ...outFeatures];
    return linearCrossEntropy(input, linear.weight.reshape(...shape, linear.inFeatures), target, {
      linearBias: linear.bias && linear.bias.reshape(...shape),
      weight,
      reduction,
      ignoreIndex,
      labelSmoothing,
    });
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    const { linear, numClasses, outFeatures, reduction, ignoreIndex, labelSmoothing } = this;
    const sizes = { inFeatures: linear.inFeatures, numClasses, outFeatures, bias: linear.bias !== null };
    return settings([], { ...sizes, reduction, ignoreIndex, labelSmoothing });
  }
}
