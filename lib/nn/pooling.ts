/** Pooling layers over [N, C, ...] inputs, or [C, ...] without a batch: each calls the op of its name. */
import { refuseSurplus } from "../base/checked_input.ts";
import {
  adaptiveAvgPool1d,
  adaptiveAvgPool2d,
  adaptiveAvgPool3d,
  adaptiveMaxPool1d,
  adaptiveMaxPool2d,
  adaptiveMaxPool3d,
  avgPool1d,
  avgPool2d,
  avgPool3d,
  maxPool1d,
  maxPool2d,
  maxPool3d,
} from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Arguments, argumentsOf, spreadOver } from "../base/arguments.ts";
import { settings } from "../base/console_text.ts";
import { Module } from "./module.ts";

/** One number for all spatial dimensions, or one for each. */
export type Sizes = number | readonly number[];

/** Options of a pooling window; stride defaults to the kernel size. */
export interface PoolOptions {
  /** Stride between windows; default: the kernel size. */
  readonly stride?: Sizes | null;
  /** Implicit padding on both sides; default 0. */
  readonly padding?: Sizes;
  /** Whether the last window may extend past the end. */
  readonly ceilMode?: boolean;
}

/** Options of max pooling. */
export interface MaxPoolOptions extends PoolOptions {
  /** Distance between elements of a window; default 1. */
  readonly dilation?: Sizes;
  /** Whether to also return the flat indices of maxima in their channels, for MaxUnpool. */
  readonly returnIndices?: boolean;
}

/**
 * The result of a layer that may return indices: `new nn.MaxPool2d<true>(2, { returnIndices: true })` selects the pair
 * in the type.
 */
export type WithIndices<I extends boolean> = I extends true ? [values: Tensor, indices: Tensor] : Tensor;

/** Options of average pooling. */
export interface AvgPoolOptions extends PoolOptions {
  /** Whether averages include the zeros of the padding. */
  readonly countIncludePad?: boolean;
  /** The divisor of sums, by default the size of the window. */
  readonly divisorOverride?: number | null;
}

interface Window {
  readonly kernelSize: Sizes;
}

const LARGEST = {
  required: ["kernelSize"],
  positional: ["stride", "padding", "dilation", "returnIndices", "ceilMode"],
  flags: { ceilMode: true, returnIndices: true },
} as const;

abstract class MaxPool<I extends boolean> extends Module {
  readonly kernelSize: Sizes;
  readonly stride: Sizes;
  readonly padding: Sizes;
  readonly dilation: Sizes;
  readonly returnIndices: boolean;
  readonly ceilMode: boolean;

  constructor(...given: Arguments<Window, MaxPoolOptions, typeof LARGEST>) {
    super();
    const options = argumentsOf<Window, MaxPoolOptions>(new.target.name, LARGEST, given);
    this.kernelSize = options.kernelSize;
    this.stride = options.stride ?? this.kernelSize;
    this.padding = options.padding ?? 0;
    this.dilation = options.dilation ?? 1;
    this.returnIndices = options.returnIndices ?? false;
    this.ceilMode = options.ceilMode ?? false;
  }

  abstract override forward(x: Tensor): WithIndices<I>;

  protected pooled(pool: typeof maxPool1d, x: Tensor): WithIndices<I> {
    const { kernelSize, stride, padding, dilation, ceilMode, returnIndices } = this;
    const found = returnIndices
      ? pool(x, kernelSize, stride, padding, dilation, ceilMode, true)
      : pool(x, kernelSize, stride, padding, dilation, ceilMode);
    return found as WithIndices<I>;
  }

  override extraRepr(): string {
    const { kernelSize, stride, padding, dilation, ceilMode } = this;
    return settings([], { kernelSize, stride, padding, dilation, ceilMode });
  }
}

/** Maximum of each window of [N, C, L], as torch.nn.MaxPool1d. */
export class MaxPool1d<I extends boolean = false> extends MaxPool<I> {
  /** The output of the layer. */
  override forward(x: Tensor): WithIndices<I> {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return this.pooled(maxPool1d, x);
  }
}

/** Maximum of each window of [N, C, H, W], as torch.nn.MaxPool2d. */
export class MaxPool2d<I extends boolean = false> extends MaxPool<I> {
  /** The output of the layer. */
  override forward(x: Tensor): WithIndices<I> {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return this.pooled(maxPool2d, x);
  }
}

/** Maximum of each window of [N, C, D, H, W], as torch.nn.MaxPool3d. */
export class MaxPool3d<I extends boolean = false> extends MaxPool<I> {
  /** The output of the layer. */
  override forward(x: Tensor): WithIndices<I> {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return this.pooled(maxPool3d, x);
  }
}

const AVERAGED = {
  required: ["kernelSize"],
  positional: ["stride", "padding", "ceilMode", "countIncludePad", "divisorOverride"],
  flags: { ceilMode: true, countIncludePad: true },
} as const;

abstract class AvgPool extends Module {
  /** Number of spatial dimensions if sizes are stored as lists. */
  protected static readonly rank: number | null = null;
  readonly kernelSize: Sizes;
  readonly stride: Sizes;
  readonly padding: Sizes;
  readonly ceilMode: boolean;
  readonly countIncludePad: boolean;
  readonly divisorOverride: number | null;

  constructor(...given: Arguments<Window, AvgPoolOptions, typeof AVERAGED>) {
    super();
    const options = argumentsOf<Window, AvgPoolOptions>(new.target.name, AVERAGED, given);
    const sizes = (value: Sizes) => spreadOver(new.target.rank, value);
    this.kernelSize = sizes(options.kernelSize);
    this.stride = sizes(options.stride ?? this.kernelSize);
    this.padding = sizes(options.padding ?? 0);
    this.ceilMode = options.ceilMode ?? false;
    this.countIncludePad = options.countIncludePad ?? true;
    this.divisorOverride = options.divisorOverride ?? null;
  }

  override extraRepr(): string {
    const { kernelSize, stride, padding } = this;
    return settings([], { kernelSize, stride, padding });
  }
}

/** Mean of each window of [N, C, L], as torch.nn.AvgPool1d. */
export class AvgPool1d extends AvgPool {
  /** Number of spatial dimensions. */
  protected static override readonly rank = 1;

  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return avgPool1d(x, this.kernelSize, this.stride, this.padding, this.ceilMode, this.countIncludePad);
  }
}

/** Mean of each window of [N, C, H, W], as torch.nn.AvgPool2d. */
export class AvgPool2d extends AvgPool {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    const { kernelSize, stride, padding, ceilMode, countIncludePad, divisorOverride } = this;
    return avgPool2d(x, kernelSize, stride, padding, ceilMode, countIncludePad, divisorOverride);
  }
}

/** Mean of each window of [N, C, D, H, W], as torch.nn.AvgPool3d. */
export class AvgPool3d extends AvgPool {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    const { kernelSize, stride, padding, ceilMode, countIncludePad, divisorOverride } = this;
    return avgPool3d(x, kernelSize, stride, padding, ceilMode, countIncludePad, divisorOverride);
  }
}

/** The output size per spatial dimension; null keeps the input's. */
interface Cells {
  readonly outputSize: number | readonly (number | null)[];
}

const ADAPTIVE = { required: ["outputSize"], positional: [] } as const;

abstract class AdaptivePool extends Module {
  readonly outputSize: number | readonly (number | null)[];

  constructor(...given: Arguments<Cells, object, typeof ADAPTIVE>) {
    super();
    this.outputSize = argumentsOf<Cells, object>(new.target.name, ADAPTIVE, given).outputSize;
  }

  override extraRepr(): string {
    return settings([], { outputSize: this.outputSize });
  }
}

/** Means over windows that tile [N, C, L] into outputSize cells, as torch.nn.AdaptiveAvgPool1d. */
export class AdaptiveAvgPool1d extends AdaptivePool {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return adaptiveAvgPool1d(x, this.outputSize);
  }
}

/** Means over windows that tile [N, C, H, W] into outputSize cells, as torch.nn.AdaptiveAvgPool2d. */
export class AdaptiveAvgPool2d extends AdaptivePool {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return adaptiveAvgPool2d(x, this.outputSize);
  }
}

/** Means over windows that tile [N, C, D, H, W] into outputSize cells, as torch.nn.AdaptiveAvgPool3d. */
export class AdaptiveAvgPool3d extends AdaptivePool {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return adaptiveAvgPool3d(x, this.outputSize);
  }
}

interface IndicesOption {
  readonly returnIndices?: boolean;
}

const ADAPTIVE_MAX = {
  required: ["outputSize"],
  positional: ["returnIndices"],
  flags: { returnIndices: true },
} as const;

abstract class AdaptiveMaxPool<I extends boolean> extends Module {
  readonly outputSize: number | readonly (number | null)[];
  readonly returnIndices: boolean;

  constructor(...given: Arguments<Cells, IndicesOption, typeof ADAPTIVE_MAX>) {
    super();
    const options = argumentsOf<Cells, IndicesOption>(new.target.name, ADAPTIVE_MAX, given);
    this.outputSize = options.outputSize;
    this.returnIndices = options.returnIndices ?? false;
  }

  abstract override forward(x: Tensor): WithIndices<I>;

  protected pooled(pool: typeof adaptiveMaxPool1d, x: Tensor): WithIndices<I> {
    const { outputSize, returnIndices } = this;
    return (returnIndices ? pool(x, outputSize, true) : pool(x, outputSize)) as WithIndices<I>;
  }

  override extraRepr(): string {
    return settings([], { outputSize: this.outputSize });
  }
}

/** Maxima over windows that tile [N, C, L], as torch.nn.AdaptiveMaxPool1d. */
export class AdaptiveMaxPool1d<I extends boolean = false> extends AdaptiveMaxPool<I> {
  /** The output of the layer. */
  override forward(x: Tensor): WithIndices<I> {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return this.pooled(adaptiveMaxPool1d, x);
  }
}

/** Maxima over windows that tile [N, C, H, W], as torch.nn.AdaptiveMaxPool2d. */
export class AdaptiveMaxPool2d<I extends boolean = false> extends AdaptiveMaxPool<I> {
  /** The output of the layer. */
  override forward(x: Tensor): WithIndices<I> {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return this.pooled(adaptiveMaxPool2d, x);
  }
}

/** Maxima over windows that tile [N, C, D, H, W], as torch.nn.AdaptiveMaxPool3d. */
export class AdaptiveMaxPool3d<I extends boolean = false> extends AdaptiveMaxPool<I> {
  /** The output of the layer. */
  override forward(x: Tensor): WithIndices<I> {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return this.pooled(adaptiveMaxPool3d, x);
  }
}
