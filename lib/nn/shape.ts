/** Layers that move elements to other shapes, or between resolutions. */
import {
  channelShuffle,
  im2col,
  interpolate,
  pixelShuffle,
  pixelUnshuffle,
} from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Trailing, trailing } from "../base/arguments.ts";
import { Module } from "./module.ts";

type Sizes = number | readonly number[];

/** Splits dimension `dim` into `unflattenedSize`. */
export class Unflatten extends Module {
  constructor(readonly dim: number, readonly unflattenedSize: readonly number[]) {
    super();
  }

  override forward(x: Tensor): Tensor {
    return x.unflatten(this.dim, [...this.unflattenedSize]);
  }
}

/** [N, C·r², H, W] → [N, C, H·r, W·r] */
export class PixelShuffle extends Module {
  constructor(readonly upscaleFactor: number) {
    super();
  }

  override forward(x: Tensor): Tensor {
    return pixelShuffle(x, this.upscaleFactor);
  }
}

/** [N, C, H·r, W·r] → [N, C·r², H, W] */
export class PixelUnshuffle extends Module {
  constructor(readonly downscaleFactor: number) {
    super();
  }

  override forward(x: Tensor): Tensor {
    return pixelUnshuffle(x, this.downscaleFactor);
  }
}

/** Channels of [N, C, H, W] dealt out over groups. */
export class ChannelShuffle extends Module {
  constructor(readonly groups: number) {
    super();
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

/** Windows of [N, C, H, W] as columns: [N, C·size, windows]. */
export class Unfold extends Module {
  readonly options: UnfoldOptions;

  constructor(
    readonly kernelSize: Sizes,
    ...given: Trailing<UnfoldOptions, ["dilation", "padding", "stride"]>
  ) {
    super();
    this.options = trailing<UnfoldOptions>("Unfold", ["dilation", "padding", "stride"], given);
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
