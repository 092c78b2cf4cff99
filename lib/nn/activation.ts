/** Activation layers: each calls the op of its name. */
import { getDefaultDtype } from "../base/dtype.ts";
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
import type { Tensor } from "../tensor/tensor.ts";
import { type Arguments, argumentsOf, type Trailing, trailing } from "../base/arguments.ts";
import type { AlphaOptions, BoundsOptions, InplaceOptions, LeakyOptions } from "./inplace.ts";
import { Module } from "./module.ts";
import { Parameter } from "./parameter.ts";

/** A layer of one number, given by position or by name. */
type One<K extends string> = Trailing<{ readonly [name in K]?: number }, [K]>;

function one<K extends string>(layer: string, name: K, given: readonly unknown[]): number | undefined {
  return trailing<Record<K, number>>(layer, [name], given)[name];
}

/** A layer that may write its result into its input. */
abstract class MaybeInplace extends Module {
  readonly inplace: boolean;

  constructor(...given: Trailing<InplaceOptions, ["inplace"]>) {
    super();
    this.inplace = trailing<InplaceOptions>(new.target.name, ["inplace"], given).inplace ?? false;
  }

  override extraRepr(): string {
    return this.inplace ? "inplace=true" : "";
  }
}

/** max(x, 0) */
export class ReLU extends MaybeInplace {
  override forward(x: Tensor): Tensor {
    return relu(x, this.inplace);
  }
}

/** min(max(x, 0), 6) */
export class ReLU6 extends MaybeInplace {
  override forward(x: Tensor): Tensor {
    return relu6(x, this.inplace);
  }
}

/** x where positive, else negativeSlope·x */
export class LeakyReLU extends Module {
  readonly negativeSlope: number;
  readonly inplace: boolean;

  constructor(...given: Trailing<LeakyOptions, ["negativeSlope", "inplace"]>) {
    super();
    const options = trailing<LeakyOptions>("LeakyReLU", ["negativeSlope", "inplace"], given);
    this.negativeSlope = options.negativeSlope ?? 0.01;
    this.inplace = options.inplace ?? false;
  }

  override forward(x: Tensor): Tensor {
    return leakyRelu(x, this.negativeSlope, this.inplace);
  }
}

/** A layer of one factor, alpha, 1 unless given. */
abstract class WithAlpha extends Module {
  readonly alpha: number;
  readonly inplace: boolean;

  constructor(...given: Trailing<AlphaOptions, ["alpha", "inplace"]>) {
    super();
    const options = trailing<AlphaOptions>(new.target.name, ["alpha", "inplace"], given);
    this.alpha = options.alpha ?? 1;
    this.inplace = options.inplace ?? false;
  }
}

/** x where positive, else alpha·(eˣ − 1) */
export class ELU extends WithAlpha {
  override forward(x: Tensor): Tensor {
    return elu(x, this.alpha, this.inplace);
  }
}

/** max(x, 0) + min(0, alpha·(e^(x / alpha) − 1)) */
export class CELU extends WithAlpha {
  override forward(x: Tensor): Tensor {
    return celu(x, this.alpha, this.inplace);
  }
}

/** Klambauer et al. 2017 */
export class SELU extends MaybeInplace {
  override forward(x: Tensor): Tensor {
    return selu(x, this.inplace);
  }
}

/** x·Φ(x), exact or by its tanh approximation */
export class GELU extends Module {
  readonly approximate: "none" | "tanh";

  constructor(options: "none" | "tanh" | { approximate?: "none" | "tanh" } = "none") {
    super();
    this.approximate = typeof options === "string" ? options : options.approximate ?? "none";
  }

  override forward(x: Tensor): Tensor {
    return gelu(x, { approximate: this.approximate });
  }
}

/** x·sigmoid(x) */
export class SiLU extends MaybeInplace {
  override forward(x: Tensor): Tensor {
    return silu(x, this.inplace);
  }
}

/** x·tanh(softplus(x)) */
export class Mish extends MaybeInplace {
  override forward(x: Tensor): Tensor {
    return mish(x, this.inplace);
  }
}

/** x·relu6(x + 3) / 6 */
export class Hardswish extends MaybeInplace {
  override forward(x: Tensor): Tensor {
    return hardswish(x, this.inplace);
  }
}

export class Sigmoid extends Module {
  override forward(x: Tensor): Tensor {
    return sigmoid(x);
  }
}

export class LogSigmoid extends Module {
  override forward(x: Tensor): Tensor {
    return logsigmoid(x);
  }
}

export class Tanh extends Module {
  override forward(x: Tensor): Tensor {
    return tanh(x);
  }
}

/** log(1 + e^(beta·x)) / beta */
export class Softplus extends Module {
  readonly beta: number;
  readonly threshold: number;

  constructor(
    ...given: Trailing<{ readonly beta?: number; readonly threshold?: number }, ["beta", "threshold"]>
  ) {
    super();
    const options = trailing<{ beta: number; threshold: number }>("Softplus", ["beta", "threshold"], given);
    this.beta = options.beta ?? 1;
    this.threshold = options.threshold ?? 20;
  }

  override forward(x: Tensor): Tensor {
    return softplus(x, this.beta, this.threshold);
  }
}

/** Probabilities along `dim` */
export class Softmax extends Module {
  readonly dim: number;

  constructor(dim: number | { readonly dim: number }) {
    super();
    this.dim = typeof dim === "number" ? dim : dim.dim;
  }

  override forward(x: Tensor): Tensor {
    return softmax(x, this.dim);
  }
}

/** Log-probabilities along `dim` */
export class LogSoftmax extends Module {
  readonly dim: number;

  constructor(dim: number | { readonly dim: number }) {
    super();
    this.dim = typeof dim === "number" ? dim : dim.dim;
  }

  override forward(x: Tensor): Tensor {
    return logSoftmax(x, this.dim);
  }
}

/** Minus-log-likelihoods' probabilities: softmax(−x) along `dim` */
export class Softmin extends Module {
  readonly dim: number;

  constructor(dim: number | { readonly dim: number }) {
    super();
    this.dim = typeof dim === "number" ? dim : dim.dim;
  }

  override forward(x: Tensor): Tensor {
    return softmin(x, this.dim);
  }
}

/** The first half along `dim` times the sigmoid of the second */
export class GLU extends Module {
  readonly dim: number;

  constructor(...given: One<"dim">) {
    super();
    this.dim = one("GLU", "dim", given) ?? -1;
  }

  override forward(x: Tensor): Tensor {
    return glu(x, this.dim);
  }
}

/** 0 within lambd of 0, else x */
export class Hardshrink extends Module {
  readonly lambd: number;

  constructor(...given: One<"lambd">) {
    super();
    this.lambd = one("Hardshrink", "lambd", given) ?? 0.5;
  }

  override forward(x: Tensor): Tensor {
    return hardshrink(x, this.lambd);
  }
}

/** 0 within lambd of 0, else x brought nearer by it */
export class Softshrink extends Module {
  readonly lambd: number;

  constructor(...given: One<"lambd">) {
    super();
    this.lambd = one("Softshrink", "lambd", given) ?? 0.5;
  }

  override forward(x: Tensor): Tensor {
    return softshrink(x, this.lambd);
  }
}

/** x − tanh(x) */
export class Tanhshrink extends Module {
  override forward(x: Tensor): Tensor {
    return tanhshrink(x);
  }
}

/** relu6(x + 3) / 6 */
export class Hardsigmoid extends MaybeInplace {
  override forward(x: Tensor): Tensor {
    return hardsigmoid(x, this.inplace);
  }
}

/** x limited to [minVal, maxVal] */
export class Hardtanh extends Module {
  readonly minVal: number;
  readonly maxVal: number;
  readonly inplace: boolean;

  constructor(...given: Trailing<BoundsOptions, ["minVal", "maxVal", "inplace"]>) {
    super();
    const options = trailing<BoundsOptions>("Hardtanh", ["minVal", "maxVal", "inplace"], given);
    this.minVal = options.minVal ?? -1;
    this.maxVal = options.maxVal ?? 1;
    this.inplace = options.inplace ?? false;
  }

  override forward(x: Tensor): Tensor {
    const { minVal, maxVal } = this;
    return hardtanh(x, minVal, maxVal, this.inplace);
  }
}

/** x / (1 + |x|) */
export class Softsign extends Module {
  override forward(x: Tensor): Tensor {
    return softsign(x);
  }
}

interface ThresholdValues {
  readonly threshold: number;
  readonly value: number;
}

const THRESHOLD = { required: ["threshold", "value"], positional: ["inplace"] } as const;

/** x above the threshold, else `value` */
export class Threshold extends Module {
  readonly threshold: number;
  readonly value: number;
  readonly inplace: boolean;

  constructor(...given: Arguments<ThresholdValues, InplaceOptions, typeof THRESHOLD>) {
    super();
    const options = argumentsOf<ThresholdValues, InplaceOptions>("Threshold", THRESHOLD, given);
    this.threshold = options.threshold;
    this.value = options.value;
    this.inplace = options.inplace ?? false;
  }

  override forward(x: Tensor): Tensor {
    return threshold(x, this.threshold, this.value, this.inplace);
  }
}

/** x where positive, else weight·x with a learnt slope, one for all or one a channel */
export class PReLU extends Module {
  /** [numParameters] */
  weight: Parameter;

  constructor(
    ...given: Trailing<
      { readonly numParameters?: number; readonly init?: number },
      ["numParameters", "init"]
    >
  ) {
    super();
    const options = trailing<{ numParameters: number; init: number }>(
      "PReLU",
      ["numParameters", "init"],
      given,
    );
    this.weight = new Parameter(
      full([options.numParameters ?? 1], options.init ?? 0.25, { dtype: getDefaultDtype() }),
    );
  }

  override forward(x: Tensor): Tensor {
    return prelu(x, this.weight);
  }
}
