/** Layers that rearrange or resample elements. */
import { refuseSurplus } from "../base/checked_input.ts";
import {
  channelShuffle,
  col2im,
  im2col,
  interpolate,
  pixelShuffle,
  pixelUnshuffle,
} from "../tensor/generated_functions.ts";
import { checkTensor } from "../tensor/checked.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Arguments, type Trailing, trailing } from "../base/arguments.ts";
import { settings } from "../base/console_text.ts";
import { layerArguments } from "./layer_arguments.ts";
import { Module } from "./module.ts";

type Sizes = number | readonly number[];

interface Unflattened {
  readonly dim: number;
  readonly unflattenedSize: readonly number[];
}

const UNFLATTEN = { required: ["dim", "unflattenedSize"], positional: [], counts: [] } as const;

/** Splits dimension `dim` into `unflattenedSize`. */
export class Unflatten extends Module {
  /** The dimension that is split. */
  readonly dim: number;
  /** The sizes that the dimension is split into. */
  readonly unflattenedSize: readonly number[];

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<Unflattened, object, typeof UNFLATTEN>) {
    super();
    const { dim, unflattenedSize } = layerArguments<Unflattened, object>("Unflatten", UNFLATTEN, given);
    this.dim = dim;
    this.unflattenedSize = unflattenedSize;
  }

  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    checkTensor(x, "Unflatten");
    return x.unflatten(this.dim, [...this.unflattenedSize]);
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    return settings([], { dim: this.dim, unflattenedSize: this.unflattenedSize });
  }
}

interface Upscale {
  readonly upscaleFactor: number;
}

const UPSCALE = { required: ["upscaleFactor"], positional: [], counts: ["upscaleFactor"] } as const;

/** [N, C·r², H, W] → [N, C, H·r, W·r] */
export class PixelShuffle extends Module {
  /** Factor by which height and width grow. */
  readonly upscaleFactor: number;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<Upscale, object, typeof UPSCALE>) {
    super();
    this.upscaleFactor = layerArguments<Upscale, object>("PixelShuffle", UPSCALE, given).upscaleFactor;
  }

  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return pixelShuffle(x, this.upscaleFactor);
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    return settings([], { upscaleFactor: this.upscaleFactor });
  }
}

interface Downscale {
  readonly downscaleFactor: number;
}

const DOWNSCALE = { required: ["downscaleFactor"], positional: [], counts: ["downscaleFactor"] } as const;

/** [N, C, H·r, W·r] → [N, C·r², H, W] */
export class PixelUnshuffle extends Module {
  /** Factor by which height and width shrink. */
  readonly downscaleFactor: number;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<Downscale, object, typeof DOWNSCALE>) {
    super();
    this.downscaleFactor =
      layerArguments<Downscale, object>("PixelUnshuffle", DOWNSCALE, given).downscaleFactor;
  }

  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return pixelUnshuffle(x, this.downscaleFactor);
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    return settings([], { downscaleFactor: this.downscaleFactor });
  }
}

interface Groups {
  readonly groups: number;
}

const GROUPS = { required: ["groups"], positional: [], counts: [] } as const;

/** Interleaves the channels of [N, C, H, W] across groups. */
export class ChannelShuffle extends Module {
  /** Number of groups of channels. */
  readonly groups: number;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<Groups, object, typeof GROUPS>) {
    super();
    this.groups = layerArguments<Groups, object>("ChannelShuffle", GROUPS, given).groups;
  }

  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return channelShuffle(x, this.groups);
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    return settings([], { groups: this.groups });
  }
}

/** Options of Unfold. */
export interface UnfoldOptions {
  /** Distance between elements of a window; default 1. */
  readonly dilation?: Sizes;
  /** Implicit padding on both sides; default 0. */
  readonly padding?: Sizes;
  /** Stride between windows; default 1. */
  readonly stride?: Sizes;
}

interface Kernel {
  readonly kernelSize: Sizes;
}

const UNFOLD = {
  required: ["kernelSize"],
  positional: ["dilation", "padding", "stride"],
  counts: [],
} as const;

/** Windows of [N, C, H, W] as columns: [N, C·size, windows]. */
export class Unfold extends Module {
  /** Sizes of the sliding window. */
  readonly kernelSize: Sizes;
  /** Distance between elements of a window. */
  dilation: Sizes;
  /** Implicit padding on both sides. */
  padding: Sizes;
  /** Stride between windows. */
  stride: Sizes;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<Kernel, UnfoldOptions, typeof UNFOLD>) {
    super();
    const options = layerArguments<Kernel, UnfoldOptions>("Unfold", UNFOLD, given);
    this.kernelSize = options.kernelSize;
    this.dilation = options.dilation ?? 1;
    this.padding = options.padding ?? 0;
    this.stride = options.stride ?? 1;
  }

  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return im2col(x, this.kernelSize, this.dilation, this.padding, this.stride);
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    return windows(this);
  }
}

/** The settings of sliding windows that a layer prints. */
function windows({ kernelSize, dilation, padding, stride }: Unfold | Fold): string {
  return settings([], { kernelSize, dilation, padding, stride });
}

interface Folded extends Kernel {
  readonly outputSize: Sizes;
}

const FOLD = {
  required: ["outputSize", "kernelSize"],
  counts: [],
  positional: ["dilation", "padding", "stride"],
} as const;

/** Sums columns of windows [N, C·size, windows] into images [N, C, ...outputSize], as torch.nn.Fold. */
export class Fold extends Module {
  /** Sizes of the result. */
  readonly outputSize: Sizes;
  /** Sizes of a window. */
  readonly kernelSize: Sizes;
  /** Distance between elements of a window. */
  dilation: Sizes;
  /** Implicit padding on both sides. */
  padding: Sizes;
  /** Stride between windows. */
  stride: Sizes;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<Folded, UnfoldOptions, typeof FOLD>) {
    super();
    const options = layerArguments<Folded, UnfoldOptions>("Fold", FOLD, given);
    this.outputSize = options.outputSize;
    this.kernelSize = options.kernelSize;
    this.dilation = options.dilation ?? 1;
    this.padding = options.padding ?? 0;
    this.stride = options.stride ?? 1;
  }

  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return col2im(x, this.outputSize, this.kernelSize, this.dilation, this.padding, this.stride);
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    return `${settings([], { outputSize: this.outputSize })}, ${windows(this)}`;
  }
}

/** Options of Upsample. */
export interface UpsampleOptions {
  /** The sizes of the result. */
  readonly size?: Sizes | null;
  /** Factors of the sizes, if `size` is not given. */
  readonly scaleFactor?: Sizes | null;
  /** Interpolation; default "nearest". */
  readonly mode?: "nearest" | "linear" | "bilinear" | "bicubic" | "trilinear";
  /** Whether the corners of input and output are the same points. */
  readonly alignCorners?: boolean | null;
  /** Whether to recompute the scale from the rounded sizes. */
  readonly recomputeScaleFactor?: boolean | null;
}

const UPSAMPLE = ["size", "scaleFactor", "mode", "alignCorners", "recomputeScaleFactor"] as const;

/** Resamples to another resolution, given by size or by factor. */
export class Upsample extends Module {
  /** The sizes of the result; null: by `scaleFactor`. */
  size: Sizes | null;
  /** Factors of the sizes, if `size` is null. */
  scaleFactor: Sizes | null;
  /** Interpolation. */
  mode: NonNullable<UpsampleOptions["mode"]>;
  /** Whether the corners of input and output are the same points; null: the default of the mode. */
  alignCorners: boolean | null;
  /** Whether to recompute the scale from the rounded sizes. */
  recomputeScaleFactor: boolean | null;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Trailing<UpsampleOptions, typeof UPSAMPLE>) {
    super();
    const options = trailing<UpsampleOptions>(new.target.name, {
      positional: UPSAMPLE,
      flags: { alignCorners: true, recomputeScaleFactor: true },
    }, given);
    this.size = options.size ?? null;
    this.scaleFactor = options.scaleFactor ?? null;
    this.mode = options.mode ?? "nearest";
    this.alignCorners = options.alignCorners ?? null;
    this.recomputeScaleFactor = options.recomputeScaleFactor ?? null;
  }

  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    const { size, scaleFactor, mode, alignCorners, recomputeScaleFactor } = this;
    return interpolate(x, size, scaleFactor, mode, alignCorners, recomputeScaleFactor);
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    const { size, scaleFactor, mode } = this;
    return settings([], { ...scaleFactor === null ? { size } : { scaleFactor }, mode: `'${mode}'` });
  }
}

interface ResolutionOptions {
  readonly size?: Sizes | null;
  readonly scaleFactor?: Sizes | null;
}

type Resolution = Trailing<ResolutionOptions, ["size", "scaleFactor"]>;

/** Resamples [N, C, H, W] to another resolution by nearest neighbours, as torch.nn.UpsamplingNearest2d. */
export class UpsamplingNearest2d extends Upsample {
  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Resolution) {
    const names = ["size", "scaleFactor"] as const;
    super({ ...trailing<ResolutionOptions>("UpsamplingNearest2d", names, given), mode: "nearest" });
  }
}

/**
 * Resamples [N, C, H, W] to another resolution by bilinear interpolation between aligned corners, as
 * torch.nn.UpsamplingBilinear2d.
 */
export class UpsamplingBilinear2d extends Upsample {
  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Resolution) {
    const names = ["size", "scaleFactor"] as const;
    const options = trailing<ResolutionOptions>("UpsamplingBilinear2d", names, given);
    super({ ...options, mode: "bilinear", alignCorners: true });
  }
}
