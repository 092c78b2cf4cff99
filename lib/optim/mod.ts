/** Optimizers and learning-rate schedules: the namespace `optim`. */
export {
  type AnyOptimizer,
  type ExecutionOptions,
  type Hyperparameters,
  Optimizer,
  type OptimizerState,
  type ParamGroup,
  type ParamsOrGroups,
  type ParamState,
} from "./optimizer.ts";
export type {
  OptimizerHook,
  OptimizerHooks,
  OptimizerStateHook,
  StepPostHook,
  StepPreHook,
} from "./hooks.ts";
export { SGD, type SGDOptions } from "./sgd.ts";
export { Adam, type AdamOptions, AdamW } from "./adam.ts";
export {
  Adadelta,
  type AdadeltaOptions,
  Adagrad,
  type AdagradOptions,
  RMSprop,
  type RMSpropOptions,
} from "./adaptive.ts";
export {
  Adamax,
  type AdamaxOptions,
  NAdam,
  type NAdamOptions,
  RAdam,
  type RAdamOptions,
} from "./adam_variants.ts";
export { Adafactor, type AdafactorOptions } from "./adafactor.ts";
export { ASGD, type ASGDOptions } from "./asgd.ts";
export { LBFGS, type LBFGSOptions } from "./lbfgs.ts";
export { Muon, type MuonOptions } from "./muon.ts";
export { Rprop, type RpropOptions } from "./rprop.ts";
export type { TorchOptimizerState, TorchScheduleState } from "./torch_state.ts";
/** Learning-rate schedulers, like `torch.optim.lr_scheduler`. */
export * as lrScheduler from "./lr_scheduler.ts";
/** Averages of models and their rates, like `torch.optim.swa_utils`. */
export * as swaUtils from "./averaging.ts";
