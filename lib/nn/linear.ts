/** Affine layers and the shape-only ones that go with them. */
import { empty } from "../tensor/generated_functions.ts";
import { linear } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import type { DType } from "../base/dtype.ts";
import { kaimingUniform_, uniform_ } from "./init.ts";
import { Module } from "./module.ts";
import { Parameter } from "./parameter.ts";

/** y = x·Wᵀ + b for x [..., inFeatures] → [..., outFeatures], as torch.nn.Linear. */
export class Linear extends Module {
  readonly inFeatures: number;
  readonly outFeatures: number;
  /** [outFeatures, inFeatures] */
  weight: Parameter;
  /** [outFeatures] */
  bias: Parameter | null;

  constructor(
    inFeatures: number,
    outFeatures: number,
    options: boolean | { bias?: boolean; dtype?: DType; device?: string } = {},
  ) {
    super();
    const { bias = true, ...placement } = typeof options === "boolean" ? { bias: options } : options;
    this.inFeatures = inFeatures;
    this.outFeatures = outFeatures;
    this.weight = new Parameter(empty([outFeatures, inFeatures], placement));
    this.bias = bias ? new Parameter(empty([outFeatures], placement)) : null;
    this.resetParameters();
  }

  resetParameters(): void {
    kaimingUniform_(this.weight, { a: Math.sqrt(5) });
    const bound = this.inFeatures > 0 ? 1 / Math.sqrt(this.inFeatures) : 0;
    if (this.bias) uniform_(this.bias, -bound, bound);
  }

  override forward(x: Tensor): Tensor {
    return linear(x, this.weight, this.bias);
  }

  override extraRepr(): string {
    return `inFeatures=${this.inFeatures}, outFeatures=${this.outFeatures}, bias=${this.bias !== null}`;
  }
}

/** Gives its argument back. */
export class Identity extends Module {
  override forward(x: Tensor): Tensor {
    return x;
  }
}

/** Joins dimensions startDim to endDim into one. */
export class Flatten extends Module {
  constructor(readonly startDim: number = 1, readonly endDim: number = -1) {
    super();
  }

  override forward(x: Tensor): Tensor {
    return x.flatten(this.startDim, this.endDim);
  }

  override extraRepr(): string {
    return `startDim=${this.startDim}, endDim=${this.endDim}`;
  }
}
