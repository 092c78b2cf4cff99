/**
 * dyn: a compiler for tensor programs written in TypeScript, and the tensor library it compiles.
 *
 * ```ts
 * import { compile, randn, type Tensor } from "jsr:@x/dyn";
 * const f = compile((x: Tensor) => x.mul(1.5).tanh().mul(x.sigmoid()));
 * console.log(f(randn([4, 3])));
 * ```
 *
 * @module
 */
import "./modules.ts";
import { optionsOf, refuseSurplus } from "./lib/base/checked_input.ts";
import { loadUnlessOnDemand } from "./lib/base/on_demand.ts";
import { environmentVariable } from "./lib/base/permissions.ts";
import "./preload.ts";
import "./lib/tensor/install.ts";
import "./backends/cpu/device.ts";
import "./backends/meta/device.ts";
import "./backends/mpi/registration.ts";
import "./backends/onednn/registration.ts";
import "./packaging/onnx/registration.ts";
import "./lib/debug/install.ts";
import "./lib/steering.ts";
import { initDevice, useDevice } from "./backends/devices.ts";
import { loadInWorkers } from "./lib/data/worker_modules.ts";
export { config } from "./lib/base/config.ts";
export {
  BackendCompilerFailed,
  type BreakReason,
  DynError,
  FailOnRecompileLimitHit,
  InternalError,
  Unsupported,
} from "./lib/base/errors.ts";
export { type Artifact, ARTIFACTS, counters, logs } from "./lib/base/logs.ts";
export { canCast, finfo, type FloatInfo, iinfo, type IntegerInfo } from "./lib/base/type_info.ts";
export type { Complex } from "./lib/base/complex.ts";
export type { Flag, RequiredFlag } from "./lib/base/arguments.ts";
export type { NameArguments, NameOptions } from "./lib/nn/name_options.ts";
export { type DType, DTYPES, getDefaultDtype, promoteTypes, setDefaultDtype } from "./lib/base/dtype.ts";

export { isTensor, Tensor } from "./lib/tensor/tensor.ts";
export type { DataOf, Nearness } from "./lib/tensor/tensor_options.ts";
export {
  asTensor,
  asTensor as asarray,
  fromTypedArray,
  scalarTensor,
  type SharingOptions,
  tensor,
  type TensorData,
  type TensorOptions,
} from "./lib/tensor/creation.ts";
export {
  emptyCache,
  maxMemoryAllocated,
  maxMemoryReserved,
  memoryAllocated,
  memoryReserved,
  memorySummary,
  resetPeakMemoryStats,
  setMemoryLimit,
} from "./lib/tensor/memory_use.ts";
export {
  forkRng,
  Generator,
  type GeneratorState,
  getRngState,
  initialSeed,
  manualSeed,
  setRngState,
} from "./lib/tensor/random.ts";
export {
  autocast,
  type AutocastOptions,
  type AutocastSettings,
  getAutocastDtype,
  isAutocastEnabled,
} from "./lib/tensor/autocast.ts";
export {
  enableGrad,
  inferenceMode,
  isGradEnabled,
  isInferenceMode,
  isInferenceMode as isInferenceModeEnabled,
  noGrad,
  setGradEnabled,
} from "./lib/tensor/modes.ts";
export * from "./lib/tensor/generated_free.ts";
export {
  adjoint,
  allclose,
  atleast1d,
  atleast2d,
  atleast3d,
  broadcastShapes,
  chainMatmul,
  emptyPermuted,
  equal,
  H,
  isComplex,
  isFloatingPoint,
  isNonzero,
  isSameSize,
  isSigned,
  mH,
  numel,
  resultType,
  vander,
  type VanderColumns,
} from "./lib/tensor/free_forms.ts";
export * from "./lib/tensor/inplace_functions.ts";
export { emptyStrided, nonzeroStatic } from "./lib/tensor/descriptions.ts";
export type { Described, NonzeroStaticOptions } from "./lib/tensor/described.ts";
export { defaultDevice as getDefaultDevice, setDefaultDevice } from "./lib/tensor/default_device.ts";
export { getNumThreads, setNumThreads } from "./lib/base/threads.ts";
export * from "./lib/base/constants.ts";
export * from "./lib/base/precision.ts";
export { getPrintoptions, type PrintOptions, setPrintoptions } from "./lib/tensor/print.ts";
/** Queries of CUDA devices, which do not exist here. */
export * as cuda from "./lib/base/cuda.ts";
export { type NamedNormal, normal, type NormalDrawOptions } from "./lib/tensor/normal_draws.ts";
export { gradient, type GradientOptions } from "./lib/tensor/differences.ts";
export {
  type GridBins,
  histogramdd,
  type HistogramddOptions,
  type HistogramddResult,
} from "./lib/tensor/histograms.ts";
export { cond } from "./lib/tensor/higher_order.ts";
/** Control flow and scans inside graphs, like `torch.higher_order_ops`. */
export * as higherOrderOps from "./lib/higher_order_ops.ts";
/** Linear algebra, like `torch.linalg`. */
export * as linalg from "./lib/tensor/linalg.ts";
/** Fourier transforms, like `torch.fft`. */
export * as fft from "./lib/tensor/generated_fft.ts";
/** Programs' own behaviour of ops, like `torch.overrides`. */
export * as overrides from "./lib/tensor/overrides.ts";
/** Windows of samples, like `torch.signal`. */
export * as signal from "./lib/tensor/signal.ts";
/** Special functions, like `torch.special`. */
export * as special from "./lib/tensor/special.ts";

export { OutOfMemory, type Shortage } from "./lib/loops/device.ts";

/** Gradients, like `torch.autograd`. */
export * as autograd from "./lib/autograd/autograd.ts";
/** Transforms that return derivatives as functions, like `torch.func`. */
export * as func from "./lib/func/mod.ts";
export type { BatchDims, Randomness } from "./lib/func/mod.ts";
export { vmap, type VmapOptions } from "./lib/func/vmap.ts";
/** Modules and functions of neural networks, like `torch.nn`. */
export * as nn from "./lib/distributed/nn_namespace.ts";
/** 8-bit weights of models, like `torchao.quantization`. */
export * as quantization from "./lib/nn/quantization.ts";
/** Recomputation of intermediates, like `torch.utils.checkpoint`. */
export * as utils from "./lib/autograd/recomputation.ts";
export { binomial, poisson } from "./lib/distributions/discrete.ts";
/** Probability distributions, like `torch.distributions`. */
export * as distributions from "./lib/distributions/mod.ts";
/** Assertions about tensors, like `torch.testing`. */
export * as testing from "./lib/tensor/testing.ts";
/** Mixed precision, like `torch.amp`. */
export * as amp from "./lib/optim/amp.ts";
/** Optimizers and learning rate schedulers, like `torch.optim`. */
export * as optim from "./lib/optim/mod.ts";
export {
  GradScaler,
  type GradScalerOptions,
  type GradScalerState,
  type Losses,
  type Scaled,
  type ScaleUpdate,
} from "./lib/optim/grad_scaler.ts";
/** Data sets and loaders, like `torch.utils.data`. */
export * as data from "./lib/data/mod.ts";
/** Training over several processes, like `torch.distributed`. */
export * as distributed from "./lib/distributed/mod.ts";
export { type FileLoadOptions, type FileSaveOptions, load, save } from "./lib/data/checkpoint.ts";
export {
  loadSharded,
  saveSharded,
  type ShardedOptimizer,
  type ShardedState,
} from "./lib/data/sharded_checkpoint.ts";
export { Progress, progress, type ProgressOptions, type ProgressOutput } from "./lib/data/progress.ts";
/** Files of tensors in the safetensors format. */
export * as safetensors from "./lib/data/safetensors.ts";

export { type Backend, compile, type CompileOptions, type Mode } from "./lib/compile.ts";
/** Programs that run without the compiler. */
export type {
  ExportedInput,
  ExportedOutput,
  ExportedProgram,
  ExportSignature,
  HeldKind,
} from "./lib/export/mod.ts";
export { savePackage, type SavePackageOptions } from "./packaging/mod.ts";
export { saveOnnx } from "./packaging/onnx/mod.ts";
export { loadPackage, type LoadPackageOptions, Package, PackageTensor } from "./runtime/mod.ts";

/** Control over compilation, like `torch.compiler`. */
export * as compiler from "./lib/compiler.ts";
/** User-defined ops, like `torch.library`. */
export * as library from "./lib/library.ts";
/** Graphs and their transformations, like `torch.fx`. */
export * as fx from "./lib/graph/mod.ts";
export { DebugMode, type LoggedOp } from "./lib/debug/op_log.ts";
export { numerics, type NumericsOf, type NumericsReport } from "./lib/debug/numerics/numerics.ts";
export type { DriftWithout, GraphNumerics, ValueNumerics } from "./lib/debug/numerics/measure.ts";
export type { Distance } from "./lib/debug/numerics/distance.ts";
export type { UncompiledCalls } from "./lib/compiler.ts";
export type { Rounding } from "./lib/debug/numerics/roundings.ts";
export {
  type DataFormats,
  type Hyperparameter,
  type ImageOptions,
  Writer,
  type WriterOptions,
} from "./lib/debug/summary/writer.ts";
/** Display in notebooks, beyond tensors and modules, which display themselves. */
export * as notebook from "./lib/debug/notebook/mod.ts";
/** Times and memory of what runs, like `torch.profiler`. */
export * as profiler from "./lib/debug/profiler/mod.ts";
export { profile, recordFunction } from "./lib/debug/profiler/profile.ts";
export type * from "./lib/debug/profiler/mod.ts";
/** The runtime of repro scripts. */
export * as repro from "./lib/debug/repro/mod.ts";
/** The GPU device. */
export * as webgpu from "./backends/webgpu/mod.ts";

export type * from "./lib/types.ts";

/** Initialises a device. "cpu" always is; "webgpu" acquires its adapter once and fails with advice if there is none. */
export async function init(options: { device?: string } = {}): Promise<void> {
  if (arguments.length > 1) refuseSurplus("init", 1, arguments);
  const { device = "cpu" } = optionsOf("init", options, ["device"]);
  await initDevice(device);
}

loadInWorkers({ module: import.meta.url });
await loadUnlessOnDemand();

// The default device must work before the first statement of any module that imports this one
const device = environmentVariable("DYN_DEVICE");
if (device) await useDevice(device);
