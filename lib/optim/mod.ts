/** Optimizers and learning-rate schedules: the namespace `optim`. */
export {
  type ExecutionOptions,
  type Hyperparameters,
  Optimizer,
  type OptimizerState,
  type ParamGroup,
  type ParamsOrGroups,
  type ParamState,
} from "./optimizer.ts";
export { SGD, type SGDOptions } from "./sgd.ts";
export { Adam, type AdamOptions, AdamW } from "./adam.ts";
export { Adagrad, type AdagradOptions, RMSprop, type RMSpropOptions } from "./adaptive.ts";
export * as lrScheduler from "./lr_scheduler.ts";
