/** Stateless functions of neural networks: the namespace `nn.functional`. */
import { DynError } from "../base/errors.ts";
import { noGrad } from "../tensor/modes.ts";
import { batchNormInference, batchNormTraining } from "../tensor/generated_functions.ts";
import { Tensor } from "../tensor/tensor.ts";

export * from "../tensor/generated_functional.ts";
export { celu_, elu_, hardtanh_, leakyRelu_, relu_, selu_, threshold_ } from "./inplace.ts";

/** Arguments of batchNorm by name. */
export interface BatchNormOptions {
  /** Factors of the normalised elements. */
  readonly weight?: Tensor | null | undefined;
  /** Whether there are biases; true unless given. */
  readonly bias?: Tensor | null | undefined;
  /** Whether statistics of the batch are used and kept; false unless given. */
  readonly training?: boolean | undefined;
  /** The share of new statistics in the running ones; 0.1 unless given. */
  readonly momentum?: number | undefined;
  /** What keeps divisions and roots from 0. */
  readonly eps?: number | undefined;
}

/**
 * [N, C, ...] normalised per channel, as `torch.nn.functional.batch_norm`: by the batch's statistics when
 * training, which then move the running ones (in place, by `momentum`), else by the running ones. Everything from
 * `weight` on may be given by name.
 */
export function batchNorm(
  input: Tensor,
  runningMean: Tensor | null,
  runningVar: Tensor | null,
  weight: Tensor | BatchNormOptions | null = null,
  bias: Tensor | BatchNormOptions | null = null,
  training: boolean | BatchNormOptions = false,
  momentum: number | BatchNormOptions = 0.1,
  eps: number | BatchNormOptions = 1e-5,
): Tensor {
  // An empty vector has no channels to normalise
  if (input.ndim === 1 && input.shape[0] === 0) return input.clone();
  const named: BatchNormOptions = [weight, bias, training, momentum, eps].find(isOptions) ?? {};
  const scale = named.weight ?? tensorOrNull(weight), shift = named.bias ?? tensorOrNull(bias);
  const small = named.eps ?? (typeof eps === "number" ? eps : 1e-5);
  if (!(named.training ?? training === true)) {
    if (!runningMean || !runningVar) {
      throw new DynError("Expected running statistics outside training but found none");
    }
    return batchNormInference(input, runningMean, runningVar, scale, shift, small);
  }
  const share = named.momentum ?? (typeof momentum === "number" ? momentum : 0.1);
  const [output, mean, variance] = batchNormTraining(input, scale, shift, small);
  noGrad(() => {
    runningMean?.lerp_(mean.to(runningMean.dtype), share);
    runningVar?.lerp_(variance.to(runningVar.dtype), share);
  });
  return output;
}

function isOptions(value: unknown): value is BatchNormOptions {
  return typeof value === "object" && value !== null && !(value instanceof Tensor);
}

function tensorOrNull(value: Tensor | BatchNormOptions | null): Tensor | null {
  return value instanceof Tensor ? value : null;
}
