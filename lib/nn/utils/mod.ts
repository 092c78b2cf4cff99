/** Utilities for modules: gradient clipping, vectors of parameters, parametrizations: the namespace `nn.utils`. */
export * from "../gradient_clipping.ts";
export {
  type BatchNorm,
  type Convolution,
  fuseConvBnEval,
  fuseConvBnWeights,
  fuseLinearBnEval,
  fuseLinearBnWeights,
  type Running,
} from "./fusion.ts";
export {
  removeSpectralNorm,
  removeWeightNorm,
  spectralNorm,
  type WeightName,
  weightNorm,
  type WeightNormOptions,
} from "./former_norms.ts";
export type { SpectralOptions } from "./weight_norms.ts";
export { parametersToVector, vectorToParameters } from "./vectors.ts";
export { skipInit } from "../init.ts";
/** Parameters that are functions of others, as `torch.nn.utils.parametrize`. */
export * as parametrize from "./parametrize.ts";
/** Weights that are normalised or orthogonal, as `torch.nn.utils.parametrizations`. */
export * as parametrizations from "./parametrizations.ts";
/** Sequences of different lengths, as `torch.nn.utils.rnn`. */
export * as rnn from "./sequences.ts";
/** Pruned parameters, as `torch.nn.utils.prune`. */
export * as prune from "./prune.ts";
