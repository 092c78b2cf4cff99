/** Pooling layers over [N, C, H, W] inputs. */
import { adaptiveAvgPool2d, avgPool2d, maxPool2d } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { Module } from "./module.ts";

/** Options of a pooling window; stride defaults to the kernel size. */
export interface PoolOptions {
  readonly stride?: number | readonly number[];
  readonly padding?: number | readonly number[];
}

/** Largest value of each window, as torch.nn.MaxPool2d. */
export class MaxPool2d extends Module {
  constructor(readonly kernelSize: number | readonly number[], readonly options: PoolOptions = {}) {
    super();
  }

  override forward(x: Tensor): Tensor {
    return maxPool2d(x, this.kernelSize, this.options.stride ?? this.kernelSize, this.options.padding ?? 0);
  }

  override extraRepr(): string {
    return `kernelSize=${this.kernelSize}`;
  }
}

/** Mean of each window, as torch.nn.AvgPool2d. */
export class AvgPool2d extends Module {
  constructor(readonly kernelSize: number | readonly number[], readonly options: PoolOptions = {}) {
    super();
  }

  override forward(x: Tensor): Tensor {
    return avgPool2d(x, this.kernelSize, this.options.stride ?? this.kernelSize, this.options.padding ?? 0);
  }

  override extraRepr(): string {
    return `kernelSize=${this.kernelSize}`;
  }
}

/** Means over windows that tile the image into outputSize cells, as torch.nn.AdaptiveAvgPool2d. */
export class AdaptiveAvgPool2d extends Module {
  constructor(readonly outputSize: number | readonly number[]) {
    super();
  }

  override forward(x: Tensor): Tensor {
    return adaptiveAvgPool2d(x, this.outputSize);
  }

  override extraRepr(): string {
    return `outputSize=${this.outputSize}`;
  }
}
