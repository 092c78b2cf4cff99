/** Dropout: random zeros while training, nothing otherwise. */
import { DynError } from "../base/errors.ts";
import { dropout, dropout1d, dropout2d, dropout3d } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { Module } from "./module.ts";

abstract class RandomZeros extends Module {
  readonly p: number;

  /** Zeroes with probability p and scales the rest by 1/(1−p). */
  constructor(p: number | { readonly p?: number } = 0.5) {
    super();
    this.p = typeof p === "number" ? p : p.p ?? 0.5;
    if (!(this.p >= 0 && this.p <= 1)) {
      throw new DynError(`Expected a probability in [0, 1] but found ${this.p}`);
    }
  }

  override extraRepr(): string {
    return `p=${this.p}`;
  }
}

/** Of single elements, as torch.nn.Dropout. */
export class Dropout extends RandomZeros {
  override forward(x: Tensor): Tensor {
    return dropout(x, this.p, this.training);
  }
}

/** Of whole channels of [N, C, L], as torch.nn.Dropout1d. */
export class Dropout1d extends RandomZeros {
  override forward(x: Tensor): Tensor {
    return dropout1d(x, this.p, this.training);
  }
}

/** Of whole channels of [N, C, H, W], as torch.nn.Dropout2d. */
export class Dropout2d extends RandomZeros {
  override forward(x: Tensor): Tensor {
    return dropout2d(x, this.p, this.training);
  }
}

/** Of whole channels of [N, C, D, H, W], as torch.nn.Dropout3d. */
export class Dropout3d extends RandomZeros {
  override forward(x: Tensor): Tensor {
    return dropout3d(x, this.p, this.training);
  }
}
