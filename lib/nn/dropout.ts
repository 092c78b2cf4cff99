/** Dropout: random zeros during training, the identity otherwise. */
import { refuseSurplus } from "../base/checked_input.ts";
import { checkShare } from "../base/checked_numbers.ts";
import { settings } from "../base/console_text.ts";
import { type Trailing, trailing } from "../base/arguments.ts";
import { dropout, dropout1d, dropout2d, dropout3d } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import type { InplaceOptions } from "./inplace.ts";
import { Module } from "./module.ts";

/** Options of dropout layers. */
interface DropoutLayerOptions extends InplaceOptions {
  readonly p?: number;
}

/** A layer that drops elements with probability p during training. */
export abstract class RandomZeros extends Module {
  readonly p: number;
  readonly inplace: boolean;

  /** Zeroes with probability p and scales the rest by 1/(1−p). */
  constructor(...given: Trailing<DropoutLayerOptions, ["p", "inplace"]>) {
    super();
    const options = trailing<DropoutLayerOptions>(new.target.name, {
      positional: ["p", "inplace"],
      flags: { inplace: true },
    }, given);
    this.p = options.p ?? 0.5;
    this.inplace = options.inplace ?? false;
    checkShare(`p of ${this.constructor.name}`, this.p);
  }

  override extraRepr(): string {
    return settings([], { p: this.p, inplace: this.inplace });
  }
}

/** Drops single elements, as torch.nn.Dropout. */
export class Dropout extends RandomZeros {
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return dropout(x, this.p, this.training, this.inplace);
  }
}

/** Drops whole channels of [N, C, L], as torch.nn.Dropout1d. */
export class Dropout1d extends RandomZeros {
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return dropout1d(x, this.p, this.training, this.inplace);
  }
}

/** Drops whole channels of [N, C, H, W], as torch.nn.Dropout2d. */
export class Dropout2d extends RandomZeros {
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return dropout2d(x, this.p, this.training, this.inplace);
  }
}

/** Drops whole channels of [N, C, D, H, W], as torch.nn.Dropout3d. */
export class Dropout3d extends RandomZeros {
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return dropout3d(x, this.p, this.training, this.inplace);
  }
}
