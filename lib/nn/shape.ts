/** Layers that move elements to other shapes, or between resolutions. */
import {
  channelShuffle,
  im2col,
  interpolate,
  pixelShuffle,
  pixelUnshuffle,
} from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Arguments, argumentsOf, type Trailing, trailing } from "../base/arguments.ts";
import { Module } from "./module.ts";

type Sizes = number | readonly number[];

interface Unflattened {
  readonly dim: number;
  readonly unflattenedSize: readonly number[];
}

const UNFLATTEN = { required: ["dim", "unflattenedSize"], positional: [] } as const;

/** Splits dimension `dim` into `unflattenedSize`. */
export class Unflatten extends Module {
  readonly dim: number;
  readonly unflattenedSize: readonly number[];

  constructor(...given: Arguments<Unflattened, object, typeof UNFLATTEN>) {
    super();
    const { dim, unflattenedSize } = argumentsOf<Unflattened, object>("Unflatten", UNFLATTEN, given);
    this.dim = dim;
    this.unflattenedSize = unflattenedSize;
  }

  override forward(x: Tensor): Tensor {
    return x.unflatten(this.dim, [...this.unflattenedSize]);
  }
}

interface Upscale {
  readonly upscaleFactor: number;
}

const UPSCALE = { required: ["upscaleFactor"], positional: [] } as const;

/** [N, C·r², H, W] → [N, C, H·r, W·r] */
export class PixelShuffle extends Module {
  readonly upscaleFactor: number;

  constructor(...given: Arguments<Upscale, object, typeof UPSCALE>) {
    super();
    this.upscaleFactor = argumentsOf<Upscale, object>("PixelShuffle", UPSCALE, given).upscaleFactor;
  }

  override forward(x: Tensor): Tensor {
    return pixelShuffle(x, this.upscaleFactor);
  }
}

interface Downscale {
  readonly downscaleFactor: number;
}

const DOWNSCALE = { required: ["downscaleFactor"], positional: [] } as const;

/** [N, C, H·r, W·r] → [N, C·r², H, W] */
export class PixelUnshuffle extends Module {
  readonly downscaleFactor: number;

  constructor(...given: Arguments<Downscale, object, typeof DOWNSCALE>) {
    super();
    this.downscaleFactor = argumentsOf<Downscale, object>("PixelUnshuffle", DOWNSCALE, given).downscaleFactor;
  }

  override forward(x: Tensor): Tensor {
    return pixelUnshuffle(x, this.downscaleFactor);
  }
}

interface Groups {
  readonly groups: number;
}

const GROUPS = { required: ["groups"], positional: [] } as const;

/** Channels of [N, C, H, W] dealt out over groups. */
export class ChannelShuffle extends Module {
  readonly groups: number;

  constructor(...given: Arguments<Groups, object, typeof GROUPS>) {
    super();
    this.groups = argumentsOf<Groups, object>("ChannelShuffle", GROUPS, given).groups;
  }

  override forward(x: Tensor): Tensor {
    return channelShuffle(x, this.groups);
  }
}

/** Options of Unfold. */
export interface UnfoldOptions {
  readonly dilation?: Sizes;
  readonly padding?: Sizes;
  readonly stride?: Sizes;
}

interface Kernel {
  readonly kernelSize: Sizes;
}

const UNFOLD = { required: ["kernelSize"], positional: ["dilation", "padding", "stride"] } as const;

/** Windows of [N, C, H, W] as columns: [N, C·size, windows]. */
export class Unfold extends Module {
  readonly kernelSize: Sizes;
  readonly options: UnfoldOptions;

  constructor(...given: Arguments<Kernel, UnfoldOptions, typeof UNFOLD>) {
    super();
    const { kernelSize, ...options } = argumentsOf<Kernel, UnfoldOptions>("Unfold", UNFOLD, given);
    this.kernelSize = kernelSize;
    this.options = options;
  }

  override forward(x: Tensor): Tensor {
    const { dilation = 1, padding = 0, stride = 1 } = this.options;
    return im2col(x, this.kernelSize, dilation, padding, stride);
  }
}

/** Options of Upsample. */
export interface UpsampleOptions {
  readonly size?: Sizes | null;
  readonly scaleFactor?: Sizes | null;
  readonly mode?: "nearest" | "linear" | "bilinear" | "bicubic" | "trilinear";
  readonly alignCorners?: boolean | null;
}

/** Another resolution, given by size or by factor. */
export class Upsample extends Module {
  readonly options: UpsampleOptions;

  constructor(...given: Trailing<UpsampleOptions, ["size", "scaleFactor", "mode", "alignCorners"]>) {
    super();
    const names = ["size", "scaleFactor", "mode", "alignCorners"] as const;
    this.options = trailing<UpsampleOptions>("Upsample", names, given);
  }

  override forward(x: Tensor): Tensor {
    const { size = null, scaleFactor = null, mode = "nearest", alignCorners = null } = this.options;
    return interpolate(x, size, scaleFactor, mode, alignCorners);
  }
}
