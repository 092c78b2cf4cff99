/** Activation layers: each calls the op of its name. */
import {
  elu,
  gelu,
  hardswish,
  leakyRelu,
  logsigmoid,
  logSoftmax,
  mish,
  relu,
  relu6,
  selu,
  sigmoid,
  silu,
  softmax,
  softplus,
  tanh,
} from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { Module } from "./module.ts";

/** max(x, 0) */
export class ReLU extends Module {
  override forward(x: Tensor): Tensor {
    return relu(x);
  }
}

/** min(max(x, 0), 6) */
export class ReLU6 extends Module {
  override forward(x: Tensor): Tensor {
    return relu6(x);
  }
}

/** x where positive, else negativeSlope·x */
export class LeakyReLU extends Module {
  constructor(readonly negativeSlope: number = 0.01) {
    super();
  }

  override forward(x: Tensor): Tensor {
    return leakyRelu(x, this.negativeSlope);
  }
}

/** x where positive, else alpha·(eˣ − 1) */
export class ELU extends Module {
  constructor(readonly alpha: number = 1) {
    super();
  }

  override forward(x: Tensor): Tensor {
    return elu(x, this.alpha);
  }
}

/** Klambauer et al. 2017 */
export class SELU extends Module {
  override forward(x: Tensor): Tensor {
    return selu(x);
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
export class SiLU extends Module {
  override forward(x: Tensor): Tensor {
    return silu(x);
  }
}

/** x·tanh(softplus(x)) */
export class Mish extends Module {
  override forward(x: Tensor): Tensor {
    return mish(x);
  }
}

/** x·relu6(x + 3) / 6 */
export class Hardswish extends Module {
  override forward(x: Tensor): Tensor {
    return hardswish(x);
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
  constructor(readonly beta: number = 1, readonly threshold: number = 20) {
    super();
  }

  override forward(x: Tensor): Tensor {
    return softplus(x, this.beta, this.threshold);
  }
}

/** Probabilities along `dim` */
export class Softmax extends Module {
  constructor(readonly dim: number) {
    super();
  }

  override forward(x: Tensor): Tensor {
    return softmax(x, this.dim);
  }
}

/** Log-probabilities along `dim` */
export class LogSoftmax extends Module {
  constructor(readonly dim: number) {
    super();
  }

  override forward(x: Tensor): Tensor {
    return logSoftmax(x, this.dim);
  }
}
