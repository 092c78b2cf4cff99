/** Dropout: random zeros while training, nothing otherwise. */
import { DynError } from "../base/errors.ts";
import { dropout } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { Module } from "./module.ts";

/** Zeroes elements with probability p and scales the rest by 1/(1−p), as torch.nn.Dropout. */
export class Dropout extends Module {
  constructor(readonly p: number = 0.5) {
    super();
    if (!(p >= 0 && p <= 1)) throw new DynError(`Expected a probability in [0, 1] but found ${p}`);
  }

  override forward(x: Tensor): Tensor {
    return dropout(x, this.p, this.training);
  }

  override extraRepr(): string {
    return `p=${this.p}`;
  }
}
