/**
 * Further pooling layers: power-average, fractional max pooling, and unpooling, for [N, C, ...] or [C, ...].
 */
import { refuseSurplus } from "../base/checked_input.ts";
import {
  fractionalMaxPool2d,
  fractionalMaxPool3d,
  lpPool1d,
  lpPool2d,
  lpPool3d,
  maxUnpool1d,
  maxUnpool2d,
  maxUnpool3d,
} from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Arguments, argumentsOf, spread } from "../base/arguments.ts";
import { settings } from "../base/console_text.ts";
import { Module } from "./module.ts";
import { outputSizeOf, type SizedArguments } from "./sized_call.ts";
import type { Sizes, WithIndices } from "./pooling.ts";

interface PowerWindow {
  readonly normType: number;
  readonly kernelSize: Sizes;
}

/** Options of power-average pooling. */
export interface LPPoolOptions {
  /** Stride between windows; default: the kernel size. */
  readonly stride?: Sizes | null;
  /** Whether the last window may extend past the end. */
  readonly ceilMode?: boolean;
}

const POWERS = {
  required: ["normType", "kernelSize"],
  positional: ["stride", "ceilMode"],
  flags: { ceilMode: true },
} as const;

abstract class LPPool extends Module {
  readonly normType: number;
  readonly kernelSize: Sizes;
  readonly stride: Sizes | null;
  readonly ceilMode: boolean;

  constructor(...given: Arguments<PowerWindow, LPPoolOptions, typeof POWERS>) {
    super();
    const options = argumentsOf<PowerWindow, LPPoolOptions>(new.target.name, POWERS, given);
    this.normType = options.normType;
    this.kernelSize = options.kernelSize;
    this.stride = options.stride ?? null;
    this.ceilMode = options.ceilMode ?? false;
  }

  override extraRepr(): string {
    const { normType, kernelSize, stride, ceilMode } = this;
    return settings([], { normType, kernelSize, stride, ceilMode });
  }
}

/** (Σ xᵖ)^(1/p) of each window of [N, C, L], as torch.nn.LPPool1d. */
export class LPPool1d extends LPPool {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return lpPool1d(x, this.normType, this.kernelSize, this.stride, this.ceilMode);
  }
}

/** (Σ xᵖ)^(1/p) of each window of [N, C, H, W], as torch.nn.LPPool2d. */
export class LPPool2d extends LPPool {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return lpPool2d(x, this.normType, this.kernelSize, this.stride, this.ceilMode);
  }
}

/** (Σ xᵖ)^(1/p) of each window of [N, C, D, H, W], as torch.nn.LPPool3d. */
export class LPPool3d extends LPPool {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return lpPool3d(x, this.normType, this.kernelSize, this.stride, this.ceilMode);
  }
}

interface Window {
  readonly kernelSize: Sizes;
}

/** Options of fractional max pooling: exactly one of outputSize and outputRatio is set. */
export interface FractionalMaxPoolOptions {
  /** Sizes of the result. */
  readonly outputSize?: Sizes | null;
  /** Sizes of the result relative to the input's. */
  readonly outputRatio?: number | readonly number[] | null;
  /** Whether to also return the flat indices of maxima. */
  readonly returnIndices?: boolean;
}

const FRACTIONAL = {
  required: ["kernelSize"],
  positional: ["outputSize", "outputRatio", "returnIndices"],
  flags: { returnIndices: true },
} as const;

abstract class FractionalMaxPool<I extends boolean> extends Module {
  readonly kernelSize: Sizes;
  readonly outputSize: Sizes | null;
  readonly outputRatio: number | readonly number[] | null;
  readonly returnIndices: boolean;

  constructor(...given: Arguments<Window, FractionalMaxPoolOptions, typeof FRACTIONAL>) {
    super();
    const options = argumentsOf<Window, FractionalMaxPoolOptions>(new.target.name, FRACTIONAL, given);
    this.kernelSize = options.kernelSize;
    this.outputSize = options.outputSize ?? null;
    this.outputRatio = options.outputRatio ?? null;
    this.returnIndices = options.returnIndices ?? false;
  }

  abstract override forward(x: Tensor): WithIndices<I>;

  protected pooled(pool: typeof fractionalMaxPool2d, x: Tensor): WithIndices<I> {
    const { kernelSize, outputSize, outputRatio, returnIndices } = this;
    const found = returnIndices
      ? pool(x, kernelSize, outputSize, outputRatio, true)
      : pool(x, kernelSize, outputSize, outputRatio);
    return found as WithIndices<I>;
  }
}

/** Maxima of randomly placed windows of [N, C, H, W] (Graham 2014), as torch.nn.FractionalMaxPool2d. */
export class FractionalMaxPool2d<I extends boolean = false> extends FractionalMaxPool<I> {
  /** The output of the layer. */
  override forward(x: Tensor): WithIndices<I> {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return this.pooled(fractionalMaxPool2d, x);
  }
}

/** Maxima of randomly placed windows of [N, C, D, H, W], as torch.nn.FractionalMaxPool3d. */
export class FractionalMaxPool3d<I extends boolean = false> extends FractionalMaxPool<I> {
  /** The output of the layer. */
  override forward(x: Tensor): WithIndices<I> {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return this.pooled(fractionalMaxPool3d, x);
  }
}

/** Options of unpooling. */
export interface MaxUnpoolOptions {
  /** Stride between windows; default: the kernel size. */
  readonly stride?: Sizes | null;
  /** Padding on both sides. */
  readonly padding?: Sizes;
}

const UNPOOLED = { required: ["kernelSize"], positional: ["stride", "padding"] } as const;

abstract class MaxUnpool extends Module {
  /** Number of spatial dimensions. */
  protected static readonly rank: number;
  readonly kernelSize: Sizes;
  readonly stride: Sizes;
  readonly padding: Sizes;

  constructor(...given: Arguments<Window, MaxUnpoolOptions, typeof UNPOOLED>) {
    super();
    const options = argumentsOf<Window, MaxUnpoolOptions>(new.target.name, UNPOOLED, given);
    const sizes = (value: Sizes) => spread(value, new.target.rank);
    this.kernelSize = sizes(options.kernelSize);
    this.stride = sizes(options.stride ?? this.kernelSize);
    this.padding = sizes(options.padding ?? 0);
  }

  override extraRepr(): string {
    const { kernelSize, stride, padding } = this;
    return settings([], { kernelSize, stride, padding });
  }
}

/**
 * Scatters maxima of [N, C, L] to the positions where MaxPool1d found them, zeros elsewhere, as torch.nn.MaxUnpool1d.
 */
export class MaxUnpool1d extends MaxUnpool {
  /** Number of spatial dimensions. */
  protected static override readonly rank = 1;

  /** The output of the layer. */
  override forward(x: Tensor, indices: Tensor, ...given: SizedArguments): Tensor {
    const { kernelSize, stride, padding } = this;
    return maxUnpool1d(x, indices, kernelSize, stride, padding, outputSizeOf(this, given));
  }
}

/**
 * Scatters maxima of [N, C, H, W] to the positions where MaxPool2d found them, zeros elsewhere, as
 * torch.nn.MaxUnpool2d.
 */
export class MaxUnpool2d extends MaxUnpool {
  /** Number of spatial dimensions. */
  protected static override readonly rank = 2;

  /** The output of the layer. */
  override forward(x: Tensor, indices: Tensor, ...given: SizedArguments): Tensor {
    const { kernelSize, stride, padding } = this;
    return maxUnpool2d(x, indices, kernelSize, stride, padding, outputSizeOf(this, given));
  }
}

/**
 * Scatters maxima of [N, C, D, H, W] to the positions where MaxPool3d found them, zeros elsewhere, as
 * torch.nn.MaxUnpool3d.
 */
export class MaxUnpool3d extends MaxUnpool {
  /** Number of spatial dimensions. */
  protected static override readonly rank = 3;

  /** The output of the layer. */
  override forward(x: Tensor, indices: Tensor, ...given: SizedArguments): Tensor {
    const { kernelSize, stride, padding } = this;
    return maxUnpool3d(x, indices, kernelSize, stride, padding, outputSizeOf(this, given));
  }
}
