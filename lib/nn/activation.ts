/** Activation layers: each calls the op of its name. */
import { optionsOf, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { settings, unlessDefault } from "../base/console_text.ts";
import { getDefaultDtype } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import {
  celu,
  elu,
  full,
  gelu,
  glu,
  hardshrink,
  hardsigmoid,
  hardswish,
  hardtanh,
  leakyRelu,
  logsigmoid,
  logSoftmax,
  mish,
  prelu,
  relu,
  relu6,
  selu,
  sigmoid,
  silu,
  softmax,
  softmin,
  softplus,
  softshrink,
  softsign,
  tanh,
  tanhshrink,
  threshold,
} from "../tensor/generated_functions.ts";
import { checkTensor } from "../tensor/checked.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Arguments, argumentsOf, type Trailing, trailing } from "../base/arguments.ts";
import type { AlphaOptions, BoundsOptions, InplaceOptions, LeakyOptions } from "./inplace.ts";
import { constant_ } from "./init.ts";
import { Module } from "./module.ts";
import { Parameter } from "./parameter.ts";
import type { Placement } from "./placement.ts";

/** A layer of one number, given by position or by name. */
type One<K extends string> = Trailing<{ readonly [name in K]?: number }, [K]>;

function one<K extends string>(layer: string, name: K, given: readonly unknown[]): number | undefined {
  return trailing<Record<string, number>>(layer, [name], given)[name];
}

/** The settings that a layer prints, including `inplace` if it is set. */
function settingsOf<L extends object>(layer: L, ...names: readonly (keyof L & string)[]): string {
  const named = Object.fromEntries(names.map((name) => [name, layer[name]]));
  return settings([], {
    ...named,
    inplace: "inplace" in layer ? unlessDefault(false, layer.inplace) : undefined,
  });
}

/** A layer that may write its result into its input. */
abstract class MaybeInplace extends Module {
  readonly inplace: boolean;

  constructor(...given: Trailing<InplaceOptions, ["inplace"]>) {
    super();
    this.inplace =
      trailing<InplaceOptions>(new.target.name, { positional: ["inplace"], flags: { inplace: true } }, given)
        .inplace ?? false;
  }

  override extraRepr(): string {
    return settingsOf(this);
  }
}

/** max(x, 0) */
export class ReLU extends MaybeInplace {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return relu(x, this.inplace);
  }
}

/** min(max(x, 0), 6) */
export class ReLU6 extends MaybeInplace {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return relu6(x, this.inplace);
  }
}

/** x if positive, else negativeSlope·x */
export class LeakyReLU extends Module {
  /** The slope of negative inputs. */
  readonly negativeSlope: number;
  /** Whether the input is overwritten. */
  readonly inplace: boolean;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Trailing<LeakyOptions, ["negativeSlope", "inplace"]>) {
    super();
    const options = trailing<LeakyOptions>("LeakyReLU", {
      positional: ["negativeSlope", "inplace"],
      flags: { inplace: true },
    }, given);
    this.negativeSlope = options.negativeSlope ?? 0.01;
    this.inplace = options.inplace ?? false;
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    return settingsOf(this, "negativeSlope");
  }

  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return leakyRelu(x, this.negativeSlope, this.inplace);
  }
}

/** A layer with one factor, alpha, by default 1. */
abstract class WithAlpha extends Module {
  readonly alpha: number;
  readonly inplace: boolean;

  constructor(...given: Trailing<AlphaOptions, ["alpha", "inplace"]>) {
    super();
    const options = trailing<AlphaOptions>(new.target.name, {
      positional: ["alpha", "inplace"],
      flags: { inplace: true },
    }, given);
    this.alpha = options.alpha ?? 1;
    this.inplace = options.inplace ?? false;
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    return settingsOf(this, "alpha");
  }
}

/** x if positive, else alpha·(eˣ − 1) */
export class ELU extends WithAlpha {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return elu(x, this.alpha, this.inplace);
  }
}

/** max(x, 0) + min(0, alpha·(e^(x / alpha) − 1)) */
export class CELU extends WithAlpha {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return celu(x, this.alpha, this.inplace);
  }
}

/** Klambauer et al. 2017 */
export class SELU extends MaybeInplace {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return selu(x, this.inplace);
  }
}

/** x·Φ(x), exact or by its tanh approximation */
export class GELU extends Module {
  /** The formula: by the error function, or its tanh approximation. */
  readonly approximate: "none" | "tanh";

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(options: "none" | "tanh" | { approximate?: "none" | "tanh" } = "none") {
    super();
    this.approximate = typeof options === "string"
      ? options
      : optionsOf("GELU", options, ["approximate"]).approximate ?? "none";
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    return `approximate='${this.approximate}'`;
  }

  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return gelu(x, { approximate: this.approximate });
  }
}

/** x·sigmoid(x) */
export class SiLU extends MaybeInplace {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return silu(x, this.inplace);
  }
}

/** x·tanh(softplus(x)) */
export class Mish extends MaybeInplace {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return mish(x, this.inplace);
  }
}

/** x·relu6(x + 3) / 6 */
export class Hardswish extends MaybeInplace {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return hardswish(x, this.inplace);
  }
}

/** 1 / (1 + exp(−x)), as `torch.nn.Sigmoid`. */
export class Sigmoid extends Module {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return sigmoid(x);
  }
}

/** log(sigmoid(x)), as `torch.nn.LogSigmoid`. */
export class LogSigmoid extends Module {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return logsigmoid(x);
  }
}

/** The hyperbolic tangent, as `torch.nn.Tanh`. */
export class Tanh extends Module {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return tanh(x);
  }
}

/** log(1 + e^(beta·x)) / beta */
export class Softplus extends Module {
  /** Sharpness of the transition. */
  readonly beta: number;
  /** Value above which the function is linear. */
  readonly threshold: number;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(
    ...given: Trailing<{ readonly beta?: number; readonly threshold?: number }, ["beta", "threshold"]>
  ) {
    super();
    const options = trailing<{ beta: number; threshold: number }>("Softplus", ["beta", "threshold"], given);
    this.beta = options.beta ?? 1;
    this.threshold = options.threshold ?? 20;
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    return settingsOf(this, "beta", "threshold");
  }

  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return softplus(x, this.beta, this.threshold);
  }
}

const DIM = { required: ["dim"], positional: [] } as const;

/** A layer along one dimension. */
abstract class AlongDim extends Module {
  /** The dimension of the softmax. */
  readonly dim: number;

  /** Takes the dimension, by position or by name. */
  constructor(...given: Arguments<{ readonly dim: number }, object, typeof DIM>) {
    super();
    const { dim } = argumentsOf<{ readonly dim: number }, object>(new.target.name, DIM, given);
    if (typeof dim !== "number") refuseValue(`the dim of ${new.target.name}`, dim);
    this.dim = dim;
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    return settingsOf(this, "dim");
  }
}

/** Probabilities along `dim` */
export class Softmax extends AlongDim {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return softmax(x, this.dim);
  }
}

/** Log-probabilities along `dim` */
export class LogSoftmax extends AlongDim {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return logSoftmax(x, this.dim);
  }
}

/** softmax(−x) along `dim` */
export class Softmin extends AlongDim {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return softmin(x, this.dim);
  }
}

/** The first half along `dim` times the sigmoid of the second */
export class GLU extends Module {
  /** The dimension that is halved. */
  readonly dim: number;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: One<"dim">) {
    super();
    this.dim = one("GLU", "dim", given) ?? -1;
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    return settingsOf(this, "dim");
  }

  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return glu(x, this.dim);
  }
}

/** A layer that maps an interval around 0 to 0. */
abstract class Shrink extends Module {
  /** Half the width of the interval. */
  readonly lambd: number;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: One<"lambd">) {
    super();
    this.lambd = one(new.target.name, "lambd", given) ?? 0.5;
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    return settings([this.lambd]);
  }
}

/** 0 within lambd of 0, else x */
export class Hardshrink extends Shrink {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return hardshrink(x, this.lambd);
  }
}

/** 0 within lambd of 0, else x moved towards 0 by lambd */
export class Softshrink extends Shrink {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return softshrink(x, this.lambd);
  }
}

/** x − tanh(x) */
export class Tanhshrink extends Module {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return tanhshrink(x);
  }
}

/** relu6(x + 3) / 6 */
export class Hardsigmoid extends MaybeInplace {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return hardsigmoid(x, this.inplace);
  }
}

/** x limited to [minVal, maxVal] */
export class Hardtanh extends Module {
  /** The least output. */
  readonly minVal: number;
  /** The greatest output. */
  readonly maxVal: number;
  /** Whether the input is overwritten. */
  readonly inplace: boolean;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Trailing<BoundsOptions, ["minVal", "maxVal", "inplace"]>) {
    super();
    const options = trailing<BoundsOptions>("Hardtanh", {
      positional: ["minVal", "maxVal", "inplace"],
      flags: { inplace: true },
    }, given);
    this.minVal = options.minVal ?? -1;
    this.maxVal = options.maxVal ?? 1;
    this.inplace = options.inplace ?? false;
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    return settingsOf(this, "minVal", "maxVal");
  }

  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    const { minVal, maxVal } = this;
    return hardtanh(x, minVal, maxVal, this.inplace);
  }
}

/** x / (1 + |x|) */
export class Softsign extends Module {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return softsign(x);
  }
}

interface ThresholdValues {
  readonly threshold: number;
  readonly value: number;
}

const THRESHOLD = {
  required: ["threshold", "value"],
  positional: ["inplace"],
  flags: { inplace: true },
} as const;

/** x above the threshold, else `value` */
export class Threshold extends Module {
  /** Value up to which inputs are replaced. */
  readonly threshold: number;
  /** The value that replaces inputs up to the threshold. */
  readonly value: number;
  /** Whether the input is overwritten. */
  readonly inplace: boolean;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<ThresholdValues, InplaceOptions, typeof THRESHOLD>) {
    super();
    const options = argumentsOf<ThresholdValues, InplaceOptions>("Threshold", THRESHOLD, given);
    this.threshold = options.threshold;
    this.value = options.value;
    this.inplace = options.inplace ?? false;
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    return settingsOf(this, "threshold", "value");
  }

  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return threshold(x, this.threshold, this.value, this.inplace);
  }
}

/** Options of PReLU. */
export interface PReLUOptions extends Placement {
  /** Number of slopes: one, or one per channel. */
  readonly numParameters?: number;
  /** The initial slope. */
  readonly init?: number;
}

const PRELU = ["numParameters", "init", "device", "dtype"] as const;

/** x if positive, else weight·x with a learnt slope: one for all channels, or one per channel */
export class PReLU extends Module {
  /** [numParameters] */
  weight: Parameter;
  /** Number of slopes: one, or one per channel. */
  readonly numParameters: number;
  /** The initial slope. */
  readonly init: number;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Trailing<PReLUOptions, typeof PRELU>) {
    super();
    const options = trailing<PReLUOptions>("PReLU", PRELU, given);
    this.init = options.init ?? 0.25;
    this.numParameters = options.numParameters ?? 1;
    const { device, dtype = getDefaultDtype() } = options;
    this.weight = new Parameter(full([this.numParameters], this.init, { device, dtype }));
  }

  /** Reinitialises the slopes. */
  resetParameters(): void {
    constant_(this.weight, this.init);
  }

  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return prelu(x, this.weight);
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    return settings([], { numParameters: this.numParameters });
  }
}

/** Softmax over the channels of [N, C, H, W] or [C, H, W], as torch.nn.Softmax2d. */
export class Softmax2d extends Module {
  /** The output of the layer. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    checkTensor(x, "Softmax2d");
    if (x.ndim === 3 || x.ndim === 4) return softmax(x, -3);
    throw new DynError(`Expected an input of 3 or 4 dimensions but found shape [${x.shape}]`);
  }
}
