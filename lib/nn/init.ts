/**
 * Ways to fill parameters, as torch.nn.init. Every function writes in place without recording gradients and
 * returns its tensor.
 */
import { DynError } from "../base/errors.ts";
import { noGrad } from "../tensor/modes.ts";
import type { Tensor } from "../tensor/tensor.ts";

/** What a weight's inputs and outputs are: [outputs, inputs, ...kernel]. */
export function fanInAndOut(tensor: Tensor): { fanIn: number; fanOut: number } {
  const [outputs, inputs, ...kernel] = tensor.shape;
  if (outputs === undefined || inputs === undefined) {
    throw new DynError(`Expected a tensor of at least 2 dimensions but found shape [${tensor.shape}]`);
  }
  const field = kernel.reduce((a, b) => a * b, 1);
  return { fanIn: inputs * field, fanOut: outputs * field };
}

export function uniform_(tensor: Tensor, low = 0, high = 1): Tensor {
  return noGrad(() => tensor.uniform_(low, high));
}

export function normal_(tensor: Tensor, mean = 0, std = 1): Tensor {
  return noGrad(() => tensor.normal_(mean, std));
}

export function constant_(tensor: Tensor, value: number): Tensor {
  return noGrad(() => tensor.fill_(value));
}

export function zeros_(tensor: Tensor): Tensor {
  return constant_(tensor, 0);
}

export function ones_(tensor: Tensor): Tensor {
  return constant_(tensor, 1);
}

/** The recommended gain for a non-linearity; `param` is leaky ReLU's slope. */
export function calculateGain(nonlinearity: Nonlinearity, param = 0.01): number {
  switch (nonlinearity) {
    case "linear":
    case "conv2d":
    case "sigmoid":
      return 1;
    case "tanh":
      return 5 / 3;
    case "relu":
      return Math.SQRT2;
    case "leakyRelu":
      return Math.sqrt(2 / (1 + param ** 2));
    case "selu":
      return 3 / 4;
    default:
      return nonlinearity satisfies never;
  }
}

export type Nonlinearity = "linear" | "conv2d" | "sigmoid" | "tanh" | "relu" | "leakyRelu" | "selu";

interface KaimingOptions {
  /** Negative slope of the leaky ReLU behind the weight. */
  readonly a?: number;
  readonly mode?: "fanIn" | "fanOut";
  readonly nonlinearity?: Nonlinearity;
}

function kaimingStd(
  tensor: Tensor,
  { a = 0, mode = "fanIn", nonlinearity = "leakyRelu" }: KaimingOptions,
): number {
  return calculateGain(nonlinearity, a) / Math.sqrt(fanInAndOut(tensor)[mode]);
}

/** He et al. 2015, uniform in ±√3·gain/√fan. */
export function kaimingUniform_(tensor: Tensor, options: KaimingOptions = {}): Tensor {
  const bound = Math.sqrt(3) * kaimingStd(tensor, options);
  return uniform_(tensor, -bound, bound);
}

/** He et al. 2015, normal with deviation gain/√fan. */
export function kaimingNormal_(tensor: Tensor, options: KaimingOptions = {}): Tensor {
  return normal_(tensor, 0, kaimingStd(tensor, options));
}

/** Glorot and Bengio 2010, uniform. */
export function xavierUniform_(tensor: Tensor, gain = 1): Tensor {
  const { fanIn, fanOut } = fanInAndOut(tensor);
  const bound = gain * Math.sqrt(6 / (fanIn + fanOut));
  return uniform_(tensor, -bound, bound);
}

/** Glorot and Bengio 2010, normal. */
export function xavierNormal_(tensor: Tensor, gain = 1): Tensor {
  const { fanIn, fanOut } = fanInAndOut(tensor);
  return normal_(tensor, 0, gain * Math.sqrt(2 / (fanIn + fanOut)));
}
