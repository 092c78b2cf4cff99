/** Stateless functions of neural networks: the namespace `nn.functional`. */
import { DynError } from "../base/errors.ts";
import { noGrad } from "../tensor/modes.ts";
import { batchNormInference, batchNormTraining } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";

export * from "../tensor/generated_functional.ts";

/**
 * [N, C, ...] normalised per channel, as `torch.nn.functional.batch_norm`: by the batch's statistics when
 * training, which then move the running ones (in place, by `momentum`), else by the running ones.
 */
export function batchNorm(
  input: Tensor,
  runningMean: Tensor | null = null,
  runningVar: Tensor | null = null,
  weight: Tensor | null = null,
  bias: Tensor | null = null,
  training = false,
  momentum = 0.1,
  eps = 1e-5,
): Tensor {
  if (!training) {
    if (!runningMean || !runningVar) {
      throw new DynError("Expected running statistics outside training but found none");
    }
    return batchNormInference(input, runningMean, runningVar, weight, bias, eps);
  }
  const [output, mean, variance] = batchNormTraining(input, weight, bias, eps);
  noGrad(() => {
    runningMean?.lerp_(mean, momentum);
    runningVar?.lerp_(variance, momentum);
  });
  return output;
}
