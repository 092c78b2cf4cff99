/** Convolution layers over [N, C, ...] inputs, or [C, ...] without a batch. */
import { checkOneOf, refuseSurplus } from "../base/checked_input.ts";
import { settings, unlessDefault } from "../base/console_text.ts";
import { DynError } from "../base/errors.ts";
import {
  conv1d,
  conv2d,
  conv3d,
  convTranspose1d,
  convTranspose2d,
  convTranspose3d,
  empty,
  pad,
} from "../tensor/generated_functions.ts";
import { checkTensor } from "../tensor/checked.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Arguments, spread } from "../base/arguments.ts";
import { layerArguments } from "./layer_arguments.ts";
import { fanInAndOut, kaimingUniform_, uniform_ } from "./init.ts";
import { Module } from "./module.ts";
import { outputSizeOf, type SizedArguments } from "./sized_call.ts";
import { Parameter } from "./parameter.ts";
import type { Placement } from "./placement.ts";

type Sizes = number | readonly number[];

/** Options that convolutions of both directions share; one number for all spatial dimensions, or one for each. */
interface KernelOptions extends Placement {
  readonly stride?: Sizes;
  readonly dilation?: Sizes;
  readonly groups?: number;
  readonly bias?: boolean;
}

/** Options of a convolution. */
export interface ConvOptions extends KernelOptions {
  readonly padding?: Sizes | "same" | "valid";
  readonly paddingMode?: "zeros" | "reflect" | "replicate" | "circular";
}

/** Options of a transposed convolution. */
export interface ConvTransposeOptions extends KernelOptions {
  readonly padding?: Sizes;
  /** Added to one side of the result. */
  readonly outputPadding?: Sizes;
  /** Only "zeros" is supported. */
  readonly paddingMode?: "zeros";
}

/** Required arguments of every convolution. */
interface KernelSizes {
  readonly inChannels: number;
  readonly outChannels: number;
  readonly kernelSize: Sizes;
}

/** The settings of a layer in either direction. */
interface Kernel {
  readonly inChannels: number;
  readonly outChannels: number;
  readonly kernelSize: readonly number[];
  readonly options: KernelOptions;
  /** Sizes of the first two dimensions of the weight. */
  readonly channels: readonly [number, number];
}

abstract class KernelLayer extends Module {
  readonly inChannels: number;
  readonly outChannels: number;
  readonly kernelSize: readonly number[];
  readonly stride: readonly number[];
  readonly dilation: readonly number[];
  readonly groups: number;
  /**
   * [outChannels, inChannels / groups, ...kernelSize]; transposed: [inChannels, outChannels / groups, ...kernelSize].
   */
  weight: Parameter;
  /** [outChannels] */
  bias: Parameter | null;

  constructor({ inChannels, outChannels, kernelSize, options, channels }: Kernel) {
    super();
    const rank = kernelSize.length, groups = options.groups ?? 1;
    if (inChannels % groups !== 0 || outChannels % groups !== 0) {
      throw new DynError(
        `Expected channels divisible by groups=${groups} but found ${inChannels} in and ${outChannels} out`,
      );
    }
    this.inChannels = inChannels;
    this.outChannels = outChannels;
    this.kernelSize = kernelSize;
    this.stride = spread(options.stride ?? 1, rank);
    this.dilation = spread(options.dilation ?? 1, rank);
    this.groups = groups;
    const place = { dtype: options.dtype, device: options.device };
    this.weight = new Parameter(empty([...channels, ...kernelSize], place));
    this.bias = options.bias ?? true ? new Parameter(empty([outChannels], place)) : null;
    this.resetParameters();
  }

  resetParameters(): void {
    kaimingUniform_(this.weight, { a: Math.sqrt(5) });
    const { fanIn } = fanInAndOut(this.weight);
    const bound = fanIn > 0 ? 1 / Math.sqrt(fanIn) : 0;
    if (this.bias) uniform_(this.bias, -bound, bound);
  }
}

const CONV = {
  required: ["inChannels", "outChannels", "kernelSize"],
  counts: ["inChannels", "outChannels"],
  positional: ["stride", "padding", "dilation", "groups", "bias", "paddingMode"],
  named: ["dtype", "device"],
  flags: { bias: true },
} as const;
type ConvArguments = Arguments<KernelSizes, ConvOptions, typeof CONV>;

/** Settings that only one kind of convolution has. */
interface OwnSettings {
  readonly padding: readonly number[] | string;
  readonly outputPadding?: readonly number[];
  readonly paddingMode?: string;
}

/** The settings that a convolution prints. */
function settingsOf(
  layer: KernelLayer,
  { padding, outputPadding = [], paddingMode = "zeros" }: OwnSettings,
): string {
  const { inChannels, outChannels, kernelSize, stride, dilation, groups, bias } = layer;
  return settings([inChannels, outChannels], {
    kernelSize,
    stride,
    padding: unlessDefault(0, padding),
    dilation: unlessDefault(1, dilation),
    outputPadding: unlessDefault(0, outputPadding),
    groups: unlessDefault(1, groups),
    bias: unlessDefault(true, bias !== null),
    paddingMode: unlessDefault("zeros", paddingMode),
  });
}

const MODES = ["zeros", "reflect", "replicate", "circular"];

abstract class Conv extends KernelLayer {
  readonly padding: readonly number[] | "same" | "valid";
  readonly paddingMode: "zeros" | "reflect" | "replicate" | "circular";

  constructor(rank: number, given: ConvArguments) {
    const options = layerArguments<KernelSizes, ConvOptions>(new.target.name, CONV, given);
    const { inChannels, outChannels, groups = 1 } = options, kernelSize = spread(options.kernelSize, rank);
    super({ inChannels, outChannels, kernelSize, options, channels: [outChannels, inChannels / groups] });
    const { padding = 0 } = options;
    if (typeof padding === "string") checkOneOf(`padding of ${new.target.name}`, padding, ["same", "valid"]);
    checkOneOf(`paddingMode of ${new.target.name}`, options.paddingMode ?? "zeros", MODES);
    this.padding = typeof padding === "string" ? padding : spread(padding, kernelSize.length);
    this.paddingMode = options.paddingMode ?? "zeros";
    if (padding === "same" && this.stride.some((s) => s !== 1)) {
      throw new DynError(`Expected strides of 1 for padding "same" but found [${this.stride}]`);
    }
  }

  /** Pads the input unless the mode is "zeros", and returns the padding that remains for the convolution. */
  protected padded(x: Tensor): { readonly x: Tensor; readonly padding: Sizes | "same" | "valid" } {
    if (this.paddingMode === "zeros") return { x, padding: this.padding };
    const sides = this.kernelSize.map((size, d) => {
      if (typeof this.padding !== "string") return [this.padding[d] ?? 0, this.padding[d] ?? 0];
      const total = this.padding === "same" ? (this.dilation[d] ?? 1) * (size - 1) : 0;
      return [Math.floor(total / 2), total - Math.floor(total / 2)];
    });
    return { x: pad(x, sides.reverse().flat(), this.paddingMode), padding: 0 };
  }

  override extraRepr(): string {
    return settingsOf(this, this);
  }
}

/** [N, C, L] → [N, outChannels, Lout], as torch.nn.Conv1d. */
export class Conv1d extends Conv {
  constructor(...given: ConvArguments) {
    super(1, given);
  }

  override forward(input: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    const { x, padding } = this.padded(input);
    return conv1d(x, this.weight, this.bias, this.stride, padding, this.dilation, this.groups);
  }
}

/** [N, C, H, W] → [N, outChannels, Hout, Wout], as torch.nn.Conv2d. */
export class Conv2d extends Conv {
  constructor(...given: ConvArguments) {
    super(2, given);
  }

  override forward(input: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    const { x, padding } = this.padded(input);
    return conv2d(x, this.weight, this.bias, this.stride, padding, this.dilation, this.groups);
  }
}

/** [N, C, D, H, W] → [N, outChannels, Dout, Hout, Wout], as torch.nn.Conv3d. */
export class Conv3d extends Conv {
  constructor(...given: ConvArguments) {
    super(3, given);
  }

  override forward(input: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    const { x, padding } = this.padded(input);
    return conv3d(x, this.weight, this.bias, this.stride, padding, this.dilation, this.groups);
  }
}

const TRANSPOSED = {
  required: ["inChannels", "outChannels", "kernelSize"],
  counts: ["inChannels", "outChannels"],
  positional: ["stride", "padding", "outputPadding", "groups", "bias", "dilation", "paddingMode"],
  named: ["dtype", "device"],
  flags: { bias: true },
} as const;
type TransposedArguments = Arguments<KernelSizes, ConvTransposeOptions, typeof TRANSPOSED>;

abstract class ConvTranspose extends KernelLayer {
  readonly padding: readonly number[];
  readonly outputPadding: readonly number[];

  constructor(rank: number, given: TransposedArguments) {
    const options = layerArguments<KernelSizes, ConvTransposeOptions>(
      new.target.name,
      TRANSPOSED,
      given,
    );
    const { inChannels, outChannels, groups = 1 } = options, kernelSize = spread(options.kernelSize, rank);
    super({ inChannels, outChannels, kernelSize, options, channels: [inChannels, outChannels / groups] });
    this.padding = spread(options.padding ?? 0, kernelSize.length);
    this.outputPadding = spread(options.outputPadding ?? 0, kernelSize.length);
    checkOneOf(`paddingMode of ${new.target.name}`, options.paddingMode ?? "zeros", ["zeros"]);
  }

  /** The number of elements added to one side of the result, per dimension. */
  protected extra(x: Tensor, outputSize: readonly number[] | null): readonly number[] {
    if (outputSize === null) return this.outputPadding;
    checkTensor(x, this.constructor.name);
    const rank = this.kernelSize.length, wanted = outputSize.slice(-rank);
    const extra = wanted.map((size, d) => {
      const stride = this.stride[d] ?? 1, reach = (this.dilation[d] ?? 1) * ((this.kernelSize[d] ?? 1) - 1);
      return size - ((x.shape[x.ndim - rank + d] ?? 1) - 1) * stride + 2 * (this.padding[d] ?? 0) - reach - 1;
    });
    if (wanted.length === rank && extra.every((more, d) => more >= 0 && more < (this.stride[d] ?? 1))) {
      return extra;
    }
    throw new DynError(
      `Expected output sizes that strides of [${this.stride}] can produce but found [${outputSize}]`,
    );
  }

  override extraRepr(): string {
    return settingsOf(this, this);
  }
}

/** [N, C, L] → [N, outChannels, Lout], transposing a convolution, as torch.nn.ConvTranspose1d. */
export class ConvTranspose1d extends ConvTranspose {
  constructor(...given: TransposedArguments) {
    super(1, given);
  }

  override forward(x: Tensor, ...given: SizedArguments): Tensor {
    const outputSize = outputSizeOf(this, given);
    const { weight, bias, stride, padding, groups, dilation } = this;
    return convTranspose1d(x, weight, bias, stride, padding, this.extra(x, outputSize), groups, dilation);
  }
}

/** [N, C, H, W] → [N, outChannels, Hout, Wout], as torch.nn.ConvTranspose2d. */
export class ConvTranspose2d extends ConvTranspose {
  constructor(...given: TransposedArguments) {
    super(2, given);
  }

  override forward(x: Tensor, ...given: SizedArguments): Tensor {
    const outputSize = outputSizeOf(this, given);
    const { weight, bias, stride, padding, groups, dilation } = this;
    return convTranspose2d(x, weight, bias, stride, padding, this.extra(x, outputSize), groups, dilation);
  }
}

/** [N, C, D, H, W] → [N, outChannels, Dout, Hout, Wout], as torch.nn.ConvTranspose3d. */
export class ConvTranspose3d extends ConvTranspose {
  constructor(...given: TransposedArguments) {
    super(3, given);
  }

  override forward(x: Tensor, ...given: SizedArguments): Tensor {
    const outputSize = outputSizeOf(this, given);
    const { weight, bias, stride, padding, groups, dilation } = this;
    return convTranspose3d(x, weight, bias, stride, padding, this.extra(x, outputSize), groups, dilation);
  }
}
