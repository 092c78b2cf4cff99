/** Normalisation by statistics of a batch or of each image, which running statistics follow. */
import { checkPositive } from "../base/checked_numbers.ts";
import { DynError } from "../base/errors.ts";
import type { InstanceNormOptions } from "../ops/generated_options.ts";
import { checkTensor } from "../tensor/checked.ts";
import { ops } from "../tensor/eager.ts";
import { instanceNorm } from "../tensor/generated_functional.ts";
import { isGradEnabled, noGrad } from "../tensor/modes.ts";
import type { Tensor } from "../tensor/tensor.ts";

const { batchNormInference, batchNormTraining } = ops;

/** Arguments of batchNorm by name. */
export interface BatchNormOptions {
  /** Factors of the normalised elements. */
  readonly weight?: Tensor | null | undefined;
  /** Terms added to the normalised elements. */
  readonly bias?: Tensor | null | undefined;
  /** Whether to use the statistics of the batch and update the running ones; default false. */
  readonly training?: boolean | undefined;
  /** The share of new statistics in the running ones; default 0.1. */
  readonly momentum?: number | undefined;
  /** Added to variances, so that roots and divisions stay away from 0. */
  readonly eps?: number | undefined;
}

/** Throws DynError for running statistics that require grad: they are written, and no gradient leads through them. */
function checkFollows(owner: string, statistics: Readonly<Record<string, Tensor | null>>): void {
  if (!isGradEnabled()) return;
  for (const [name, tensor] of Object.entries(statistics)) {
    if (!tensor?.requiresGrad) continue;
    throw new DynError(
      `Expected ${name} of ${owner} that does not require grad but found one that does; detach() it`,
    );
  }
}

/** As batchNorm, with the rest of its arguments by name. */
export function normalizeBatch(
  input: Tensor,
  runningMean: Tensor | null,
  runningVar: Tensor | null,
  { weight = null, bias = null, training = false, momentum = 0.1, eps = 1e-5 }: BatchNormOptions,
): Tensor {
  checkTensor(input, "batchNorm");
  checkPositive("eps of batchNorm", eps);
  // An empty vector has no channels to normalise
  if (input.ndim === 1 && input.shape[0] === 0) return input.clone();
  if (!training) {
    if (!runningMean || !runningVar) {
      throw new DynError("Expected running statistics outside training but found none");
    }
    return batchNormInference(input, runningMean, runningVar, weight, bias, eps);
  }
  checkFollows("batchNorm", { runningMean, runningVar });
  const [output, mean, variance] = batchNormTraining(input, weight, bias, eps);
  // A batch of nothing has no statistics to follow
  if (input.numel() > 0) {
    noGrad(() => {
      runningMean?.lerp_(mean.to(runningMean.dtype), momentum);
      runningVar?.lerp_(variance.to(runningVar.dtype), momentum);
    });
  }
  return output;
}

/** As instanceNorm, with all but the input by name. */
export function normalizeInstances(
  input: Tensor,
  {
    runningMean = null,
    runningVar = null,
    weight = null,
    bias = null,
    useInputStats = true,
    momentum = 0.1,
    eps = 1e-5,
  }: InstanceNormOptions<Tensor>,
): Tensor {
  if (!useInputStats) {
    return instanceNorm(input, runningMean, runningVar, weight, bias, useInputStats, momentum, eps);
  }
  checkFollows("instanceNorm", { runningMean, runningVar });
  // Running statistics are not operands, because they change before the gradient is computed
  const result = instanceNorm(input, null, null, weight, bias, useInputStats, momentum, eps);
  const dims = input.shape.map((_, d) => d).slice(2);
  noGrad(() => {
    runningMean?.lerp_(input.mean(dims).mean(0).to(runningMean.dtype), momentum);
    runningVar?.lerp_(input.var(dims).mean(0).to(runningVar.dtype), momentum);
  });
  return result;
}
