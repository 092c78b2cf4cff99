/** Layers, losses and the base Module: the namespace `nn`. */
export type { HookHandle } from "../base/hook_list.ts";
export { type CallOf, type LoadOptions, type LoadResult, Module, type StateDict } from "./module.ts";
export {
  registerModuleForwardHook,
  registerModuleForwardPreHook,
  registerModuleFullBackwardHook,
  registerModuleFullBackwardPreHook,
} from "./all_modules.ts";
export { Parameter } from "./parameter.ts";
export { Buffer } from "./buffer.ts";
export { type Layer, ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential } from "./container.ts";
export { Bilinear, Flatten, Identity, Linear, type LinearOptions } from "./linear.ts";
export {
  Conv1d,
  Conv2d,
  Conv3d,
  type ConvOptions,
  ConvTranspose1d,
  ConvTranspose2d,
  ConvTranspose3d,
  type ConvTransposeOptions,
} from "./conv.ts";
export {
  LazyBatchNorm1d,
  LazyBatchNorm2d,
  LazyBatchNorm3d,
  LazyConv1d,
  LazyConv2d,
  LazyConv3d,
  LazyConvTranspose1d,
  LazyConvTranspose2d,
  LazyConvTranspose3d,
  LazyInstanceNorm1d,
  LazyInstanceNorm2d,
  LazyInstanceNorm3d,
  LazyLinear,
  type WithoutInputs,
} from "./lazy.ts";
export { UninitializedBuffer, type UninitializedOptions, UninitializedParameter } from "./uninitialized.ts";
export * from "./pooling.ts";
export * from "./random_pooling.ts";
export * from "./noise.ts";
export * from "./padding.ts";
export * from "./activation.ts";
export {
  BatchNorm1d,
  BatchNorm2d,
  BatchNorm3d,
  type BatchNormOptions,
  GroupNorm,
  InstanceNorm1d,
  InstanceNorm2d,
  InstanceNorm3d,
  LayerNorm,
  type LayerNormOptions,
  LocalResponseNorm,
  RMSNorm,
} from "./normalization.ts";
export { Dropout, Dropout1d, Dropout2d, Dropout3d } from "./dropout.ts";
export { Embedding, EmbeddingBag, type EmbeddingBagOptions, type EmbeddingOptions } from "./sparse.ts";
export {
  BCELoss,
  BCEWithLogitsLoss,
  type BinaryOptions,
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
/** Initialisation of parameters in place, as `torch.nn.init`. */
export * as init from "./init.ts";
/** Layers as functions, as `torch.nn.functional`. */
export * as functional from "./functional.ts";
/** Attention with user-defined scores and masks, as `torch.nn.attention.flex_attention`. */
export * as attention from "./flex_attention.ts";
/** Tools for parameters, as `torch.nn.utils`. */
export * as utils from "./utils/mod.ts";
export * from "./margin_loss.ts";
export * from "./sequence_loss.ts";
export * from "./adaptive_softmax.ts";
export {
  type ElmanOptions,
  GRU,
  LSTM,
  type LSTMOptions,
  type RecurrentOptions,
  type RecurrentSizes,
  RNN,
  RNNBase,
} from "./recurrent.ts";
export * from "./recurrent_cells.ts";
export * from "./attention.ts";
export {
  type DecoderCall,
  type EncoderLayerCall,
  TransformerDecoderLayer,
  TransformerEncoderLayer,
  type TransformerLayerOptions,
  type TransformerSizes,
} from "./transformer_layer.ts";
export * from "./transformer.ts";
export * from "./shape.ts";
