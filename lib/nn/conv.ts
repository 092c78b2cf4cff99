/** Convolution layers over [N, C, ...] inputs. */
import { DynError } from "../base/errors.ts";
import { empty } from "../tensor/generated_functions.ts";
import { conv1d, conv2d } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { fanInAndOut, kaimingUniform_, uniform_ } from "./init.ts";
import { Module } from "./module.ts";
import { Parameter } from "./parameter.ts";

/** Options of a convolution, one number for all spatial dimensions or one for each. */
export interface ConvOptions {
  readonly stride?: number | readonly number[];
  readonly padding?: number | readonly number[];
  readonly dilation?: number | readonly number[];
  readonly groups?: number;
  readonly bias?: boolean;
}

abstract class Conv extends Module {
  readonly stride: readonly number[];
  readonly padding: readonly number[];
  readonly dilation: readonly number[];
  readonly groups: number;
  /** [outChannels, inChannels / groups, ...kernelSize] */
  weight: Parameter;
  /** [outChannels] */
  bias: Parameter | null;

  constructor(
    readonly inChannels: number,
    readonly outChannels: number,
    readonly kernelSize: readonly number[],
    options: ConvOptions,
  ) {
    super();
    const rank = kernelSize.length;
    this.stride = spread(options.stride ?? 1, rank);
    this.padding = spread(options.padding ?? 0, rank);
    this.dilation = spread(options.dilation ?? 1, rank);
    this.groups = options.groups ?? 1;
    if (inChannels % this.groups !== 0 || outChannels % this.groups !== 0) {
      throw new DynError(
        `Expected channels divisible by groups=${this.groups} but found ${inChannels} in and ${outChannels} out`,
      );
    }
    this.weight = new Parameter(empty([outChannels, inChannels / this.groups, ...kernelSize]));
    this.bias = options.bias ?? true ? new Parameter(empty([outChannels])) : null;
    this.resetParameters();
  }

  resetParameters(): void {
    kaimingUniform_(this.weight, { a: Math.sqrt(5) });
    if (this.bias) {
      const bound = 1 / Math.sqrt(fanInAndOut(this.weight).fanIn);
      uniform_(this.bias, -bound, bound);
    }
  }

  override extraRepr(): string {
    return `${this.inChannels}, ${this.outChannels}, kernelSize=[${this.kernelSize}], stride=[${this.stride}], ` +
      `padding=[${this.padding}]`;
  }
}

/** [N, C, L] → [N, outChannels, Lout], as torch.nn.Conv1d. */
export class Conv1d extends Conv {
  constructor(
    inChannels: number,
    outChannels: number,
    kernelSize: number | readonly number[],
    options: ConvOptions = {},
  ) {
    super(inChannels, outChannels, spread(kernelSize, 1), options);
  }

  override forward(x: Tensor): Tensor {
    return conv1d(x, this.weight, this.bias, this.stride, this.padding, this.dilation, this.groups);
  }
}

/** [N, C, H, W] → [N, outChannels, Hout, Wout], as torch.nn.Conv2d. */
export class Conv2d extends Conv {
  constructor(
    inChannels: number,
    outChannels: number,
    kernelSize: number | readonly number[],
    options: ConvOptions = {},
  ) {
    super(inChannels, outChannels, spread(kernelSize, 2), options);
  }

  override forward(x: Tensor): Tensor {
    return conv2d(x, this.weight, this.bias, this.stride, this.padding, this.dilation, this.groups);
  }
}

function spread(value: number | readonly number[], rank: number): readonly number[] {
  if (typeof value === "number") return new Array<number>(rank).fill(value);
  if (value.length !== rank) {
    throw new DynError(`Expected ${rank} numbers, one a spatial dimension, but found [${value}]`);
  }
  return value;
}
