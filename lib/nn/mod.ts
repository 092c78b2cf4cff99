/** Layers, losses and the base Module: the namespace `nn`. */
export { type HookHandle, type LoadResult, Module, type StateDict } from "./module.ts";
export { Parameter } from "./parameter.ts";
export { type Layer, ModuleDict, ModuleList, ParameterList, Sequential } from "./container.ts";
export { Flatten, Identity, Linear } from "./linear.ts";
export { Conv1d, Conv2d, type ConvOptions } from "./conv.ts";
export { AdaptiveAvgPool2d, AvgPool2d, MaxPool2d, type PoolOptions } from "./pooling.ts";
export {
  ELU,
  GELU,
  Hardswish,
  LeakyReLU,
  LogSigmoid,
  LogSoftmax,
  Mish,
  ReLU,
  ReLU6,
  SELU,
  Sigmoid,
  SiLU,
  Softmax,
  Softplus,
  Tanh,
} from "./activation.ts";
export {
  BatchNorm1d,
  BatchNorm2d,
  type BatchNormOptions,
  GroupNorm,
  LayerNorm,
  RMSNorm,
} from "./normalization.ts";
export { Dropout } from "./dropout.ts";
export { Embedding } from "./sparse.ts";
export {
  BCELoss,
  BCEWithLogitsLoss,
  type ClassOptions,
  CrossEntropyLoss,
  HuberLoss,
  KLDivLoss,
  L1Loss,
  MSELoss,
  NLLLoss,
  type Reduction,
  SmoothL1Loss,
} from "./loss.ts";
export * as init from "./init.ts";
export * as functional from "./functional.ts";
