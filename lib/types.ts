/**
 * The types that public functions use and that programs seldom write: named arguments, elements, hooks, settings, graph
 * backends; exported again by the public module.
 */
export type {
  Config,
  ConfigPatch,
  InductorConfig,
  InductorPatch,
  Precision,
  Settings,
  Tier,
  TraceConfig,
} from "./base/config.ts";
export type { ComplexType, FloatType, HostArray, RealType, SmallType, ValueType } from "./base/dtype.ts";
export type { UserFrame } from "./base/errors.ts";
export type { Counters, LogDetails, LogLevel, Logs, LogSink } from "./base/logs.ts";
export type { ArtifactRecord, Plain } from "./base/recording.ts";
export type { AnyFunction, Trailing } from "./base/arguments.ts";
export type { Compiled, MethodContext } from "./compile.ts";
export type { DimensionSpec, ShapesSpec } from "./dynamo/mod.ts";
export type { CompiledFunction, GraphBackend } from "./graph/backend.ts";
export type { TensorMeta } from "./graph/meta.ts";
export type { Callable, GraphModule } from "./graph/graph_module.ts";
export type { DeviceName } from "./loops/device.ts";
export type { CallOf, LoadOptions, LoadResult, Module, StateDict } from "./nn/module.ts";
export type { HookHandle, HookList, HookOptions, RegisteredHook } from "./base/hook_list.ts";
export type { TypeOrDevice } from "./base/type_or_device.ts";
export type { RandomSource } from "./ops/random_source.ts";
export type {
  BackwardHook,
  BackwardPreHook,
  CallGradients,
  ForwardHook,
  ForwardHookOptions,
  ForwardPreHook,
  LoadStateDictPostHook,
  LoadStateDictPreHook,
  NamedArguments,
  NamedForwardHook,
  NamedForwardPreHook,
  StateDictHook,
  StateDictPreHook,
  UnfitKeys,
} from "./nn/hooks.ts";
export type { Parameter } from "./nn/parameter.ts";
export type { AutocastType } from "./ops/autocast.ts";
export type * from "./ops/generated_options.ts";
export type { IntOrInts, Scalar } from "./ops/params.ts";
export type { TensorLike } from "./ops/tensor_like.ts";
export type {
  Argument,
  Graph,
  Node,
  NodeMeta,
  NodeValue,
  Opcode,
  Region,
  SourcePosition,
} from "./graph/node.ts";
export type { Dim, Sym } from "./sym/expr.ts";
export type { BackwardOptions, GradFn, TensorHook } from "./tensor/autograd_state.ts";
export type { BackwardArguments, NamedBackward } from "./tensor/backward_arguments.ts";
export type { AtLeast, NamedOperands } from "./tensor/free_forms.ts";
export type { TensorMethods } from "./tensor/generated_methods.ts";
export type { Tensors } from "./tensor/higher_order.ts";
export type { Element, NestedElements, RealElement } from "./tensor/host.ts";
export type { IndexArgument, IndexItem, SliceIndex } from "./tensor/index_syntax.ts";
export type { Generator, GeneratorState, RandomKeys } from "./tensor/random.ts";
export type { ConversionOptions, Tolerances } from "./tensor/tensor_options.ts";
