/** Normalising layers. Batch norm keeps running statistics as buffers under PyTorch's key names. */
import { tensor } from "../tensor/creation.ts";
import { groupNorm, layerNorm, ones, rmsNorm, zeros } from "../tensor/generated_functions.ts";
import { batchNorm } from "./functional.ts";
import { noGrad } from "../tensor/modes.ts";
import { DynError } from "../base/errors.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { Module } from "./module.ts";
import { Parameter } from "./parameter.ts";

/** Options of batch normalisation. */
export interface BatchNormOptions {
  readonly eps?: number;
  /** Share of the new batch in the running statistics. */
  readonly momentum?: number;
  readonly affine?: boolean;
  readonly trackRunningStats?: boolean;
}

abstract class BatchNorm extends Module {
  readonly eps: number;
  readonly momentum: number;
  weight: Parameter | null;
  bias: Parameter | null;
  runningMean: Tensor | null = null;
  runningVar: Tensor | null = null;
  numBatchesTracked: Tensor | null = null;

  constructor(readonly numFeatures: number, options: BatchNormOptions = {}) {
    super();
    this.eps = options.eps ?? 1e-5;
    this.momentum = options.momentum ?? 0.1;
    const affine = options.affine ?? true;
    this.weight = affine ? new Parameter(ones([numFeatures])) : null;
    this.bias = affine ? new Parameter(zeros([numFeatures])) : null;
    if (options.trackRunningStats ?? true) {
      this.registerBuffer("runningMean", zeros([numFeatures]), { key: "running_mean" });
      this.registerBuffer("runningVar", ones([numFeatures]), { key: "running_var" });
      this.registerBuffer("numBatchesTracked", tensor(0, { dtype: "int64" }), { key: "num_batches_tracked" });
    }
  }

  /** Dimensions that the input may have. */
  abstract readonly ranks: readonly number[];

  override forward(x: Tensor): Tensor {
    if (!this.ranks.includes(x.ndim)) {
      throw new DynError(
        `Expected an input of ${this.ranks.join(" or ")} dimensions but found shape [${x.shape}]`,
      );
    }
    if (this.training && this.numBatchesTracked) {
      const counter = this.numBatchesTracked;
      noGrad(() => counter.add_(1));
    }
    const useBatch = this.training || this.runningMean === null;
    return batchNorm(
      x,
      this.runningMean,
      this.runningVar,
      this.weight,
      this.bias,
      useBatch,
      this.momentum,
      this.eps,
    );
  }

  override extraRepr(): string {
    return `${this.numFeatures}, eps=${this.eps}, momentum=${this.momentum}`;
  }
}

/** Over [N, C] or [N, C, L], as torch.nn.BatchNorm1d. */
export class BatchNorm1d extends BatchNorm {
  override readonly ranks: readonly number[] = [2, 3];
}

/** Over [N, C, H, W], as torch.nn.BatchNorm2d. */
export class BatchNorm2d extends BatchNorm {
  override readonly ranks: readonly number[] = [4];
}

/** Over the last dimensions `normalizedShape`, as torch.nn.LayerNorm. */
export class LayerNorm extends Module {
  readonly normalizedShape: readonly number[];
  readonly eps: number;
  weight: Parameter | null;
  bias: Parameter | null;

  constructor(
    normalizedShape: number | readonly number[],
    options: { eps?: number; elementwiseAffine?: boolean; bias?: boolean } = {},
  ) {
    super();
    this.normalizedShape = typeof normalizedShape === "number" ? [normalizedShape] : normalizedShape;
    this.eps = options.eps ?? 1e-5;
    const affine = options.elementwiseAffine ?? true;
    this.weight = affine ? new Parameter(ones([...this.normalizedShape])) : null;
    this.bias = affine && (options.bias ?? true) ? new Parameter(zeros([...this.normalizedShape])) : null;
  }

  override forward(x: Tensor): Tensor {
    return layerNorm(x, this.normalizedShape, this.weight, this.bias, this.eps);
  }

  override extraRepr(): string {
    return `[${this.normalizedShape}], eps=${this.eps}`;
  }
}

/** x / √(mean x² + eps) over the last dimensions, as torch.nn.RMSNorm. */
export class RMSNorm extends Module {
  readonly normalizedShape: readonly number[];
  readonly eps: number | null;
  weight: Parameter | null;

  constructor(
    normalizedShape: number | readonly number[],
    options: { eps?: number; elementwiseAffine?: boolean } = {},
  ) {
    super();
    this.normalizedShape = typeof normalizedShape === "number" ? [normalizedShape] : normalizedShape;
    this.eps = options.eps ?? null;
    this.weight = options.elementwiseAffine ?? true ? new Parameter(ones([...this.normalizedShape])) : null;
  }

  override forward(x: Tensor): Tensor {
    return rmsNorm(x, this.normalizedShape, this.weight, this.eps);
  }
}

/** Over groups of channels, as torch.nn.GroupNorm. */
export class GroupNorm extends Module {
  readonly eps: number;
  weight: Parameter | null;
  bias: Parameter | null;

  constructor(
    readonly numGroups: number,
    readonly numChannels: number,
    options: { eps?: number; affine?: boolean } = {},
  ) {
    super();
    if (numChannels % numGroups !== 0) {
      throw new DynError(`Expected channels divisible by ${numGroups} groups but found ${numChannels}`);
    }
    this.eps = options.eps ?? 1e-5;
    const affine = options.affine ?? true;
    this.weight = affine ? new Parameter(ones([numChannels])) : null;
    this.bias = affine ? new Parameter(zeros([numChannels])) : null;
  }

  override forward(x: Tensor): Tensor {
    return groupNorm(x, this.numGroups, this.weight, this.bias, this.eps);
  }
}
