/** Linear and bilinear layers, Identity and Flatten. */
import { refuseSurplus } from "../base/checked_input.ts";
import { bilinear, empty, linear } from "../tensor/generated_functions.ts";
import { checkTensor } from "../tensor/checked.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { layerArguments } from "./layer_arguments.ts";
import { kaimingUniform_, uniform_ } from "./init.ts";
import { settings } from "../base/console_text.ts";
import { type Arguments, type Trailing, trailing } from "../base/arguments.ts";
import { Module } from "./module.ts";
import { Parameter } from "./parameter.ts";
import type { Placement } from "./placement.ts";

/** Options of linear layers. */
export interface LinearOptions extends Placement {
  readonly bias?: boolean;
}

/** Sizes of a linear layer. */
interface LinearSizes {
  readonly inFeatures: number;
  readonly outFeatures: number;
}

const LINEAR = {
  required: ["inFeatures", "outFeatures"],
  counts: ["inFeatures", "outFeatures"],
  positional: ["bias", "device", "dtype"],
  flags: { bias: true },
} as const;

/** y = x·Wᵀ + b for x [..., inFeatures] → [..., outFeatures], as torch.nn.Linear. */
export class Linear extends Module {
  readonly inFeatures: number;
  readonly outFeatures: number;
  /** [outFeatures, inFeatures] */
  weight: Parameter;
  /** [outFeatures] */
  bias: Parameter | null;

  constructor(...given: Arguments<LinearSizes, LinearOptions, typeof LINEAR>) {
    super();
    const written = layerArguments<LinearSizes, LinearOptions>("Linear", LINEAR, given);
    const { inFeatures, outFeatures, bias = true, ...placement } = written;
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
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return linear(x, this.weight, this.bias);
  }

  override extraRepr(): string {
    const { inFeatures, outFeatures, bias } = this;
    return settings([], { inFeatures, outFeatures, bias: bias !== null });
  }
}

/** The output projection of attention, which prints under PyTorch's name. */
export class NonDynamicallyQuantizableLinear extends Linear {}

/** Sizes of a bilinear layer. */
interface BilinearSizes {
  readonly in1Features: number;
  readonly in2Features: number;
  readonly outFeatures: number;
}

const BILINEAR = {
  required: ["in1Features", "in2Features", "outFeatures"],
  counts: ["in1Features", "in2Features", "outFeatures"],
  positional: ["bias", "device", "dtype"],
  flags: { bias: true },
} as const;

/** x1·W·x2ᵀ + b for every output: x1 [..., in1], x2 [..., in2] → [..., out], like torch.nn.Bilinear. */
export class Bilinear extends Module {
  readonly in1Features: number;
  readonly in2Features: number;
  readonly outFeatures: number;
  /** [outFeatures, in1Features, in2Features] */
  weight: Parameter;
  /** [outFeatures] */
  bias: Parameter | null;

  constructor(...given: Arguments<BilinearSizes, LinearOptions, typeof BILINEAR>) {
    super();
    const written = layerArguments<BilinearSizes, LinearOptions>("Bilinear", BILINEAR, given);
    const { in1Features, in2Features, outFeatures, bias = true, ...placement } = written;
    this.in1Features = in1Features;
    this.in2Features = in2Features;
    this.outFeatures = outFeatures;
    this.weight = new Parameter(empty([outFeatures, in1Features, in2Features], placement));
    this.bias = bias ? new Parameter(empty([outFeatures], placement)) : null;
    this.resetParameters();
  }

  /** Reinitialises the parameters. */
  resetParameters(): void {
    const bound = 1 / Math.sqrt(this.in1Features);
    uniform_(this.weight, -bound, bound);
    if (this.bias) uniform_(this.bias, -bound, bound);
  }

  override forward(x1: Tensor, x2: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    return bilinear(x1, x2, this.weight, this.bias);
  }

  override extraRepr(): string {
    const { in1Features, in2Features, outFeatures, bias } = this;
    return settings([], { in1Features, in2Features, outFeatures, bias: bias !== null });
  }
}

/** Returns its argument. */
export class Identity extends Module {
  /** Takes any arguments, as PyTorch's does, so that it can stand in for any layer. */
  constructor(..._given: readonly unknown[]) {
    super();
  }

  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return x;
  }
}

/** Flattens dimensions startDim to endDim into one. */
export class Flatten extends Module {
  readonly startDim: number;
  readonly endDim: number;

  constructor(
    ...given: Trailing<{ readonly startDim?: number; readonly endDim?: number }, ["startDim", "endDim"]>
  ) {
    super();
    const options = trailing<{ startDim: number; endDim: number }>("Flatten", ["startDim", "endDim"], given);
    this.startDim = options.startDim ?? 1;
    this.endDim = options.endDim ?? -1;
  }

  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    checkTensor(x, "Flatten");
    return x.flatten(this.startDim, this.endDim);
  }

  override extraRepr(): string {
    return settings([], { startDim: this.startDim, endDim: this.endDim });
  }
}
