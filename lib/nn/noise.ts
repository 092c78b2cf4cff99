/** Layers that draw random numbers during training, besides dropout. */
import { refuseSurplus } from "../base/checked_input.ts";
import { alphaDropout, featureAlphaDropout, rrelu } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Trailing, trailing } from "../base/arguments.ts";
import { settings, unlessDefault } from "../base/console_text.ts";
import { RandomZeros } from "./dropout.ts";
import type { InplaceOptions } from "./inplace.ts";
import { Module } from "./module.ts";

/**
 * Sets random elements to SELU's negative saturation value and rescales all to keep mean and variance, as
 * torch.nn.AlphaDropout.
 */
export class AlphaDropout extends RandomZeros {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return alphaDropout(x, this.p, this.training, this.inplace);
  }
}

/** Like AlphaDropout for whole channels [N, C, ...], as torch.nn.FeatureAlphaDropout. */
export class FeatureAlphaDropout extends RandomZeros {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return featureAlphaDropout(x, this.p, this.training, this.inplace);
  }
}

/** Bounds of RReLU's slopes. */
export interface RReLUOptions extends InplaceOptions {
  /** The least slope; default ⅛. */
  readonly lower?: number;
  /** The upper bound of slopes; default ⅓. */
  readonly upper?: number;
}

/** x if positive, else x times a slope that is random in [lower, upper) during training, as torch.nn.RReLU. */
export class RReLU extends Module {
  /** The least slope. */
  readonly lower: number;
  /** The upper bound of slopes. */
  readonly upper: number;
  /** Whether the input is overwritten. */
  readonly inplace: boolean;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Trailing<RReLUOptions, ["lower", "upper", "inplace"]>) {
    super();
    const options = trailing<RReLUOptions>("RReLU", {
      positional: ["lower", "upper", "inplace"],
      flags: { inplace: true },
    }, given);
    this.lower = options.lower ?? 1 / 8;
    this.upper = options.upper ?? 1 / 3;
    this.inplace = options.inplace ?? false;
  }

  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return rrelu(x, this.lower, this.upper, this.training, this.inplace);
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    return settings([], {
      lower: this.lower,
      upper: this.upper,
      inplace: unlessDefault(false, this.inplace),
    });
  }
}
