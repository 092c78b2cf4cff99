/**
 * States that PyTorch's optimizers and schedules have saved, in the names that are used here: of hyperparameters and
 * settings, since the states of parameters have PyTorch's names in both. Invariant: what a state has besides, such as
 * choices of PyTorch's kernels, is left out.
 */
import { camelCase } from "../base/names.ts";
import { isPlainObject } from "../base/tree.ts";
import { stack } from "../tensor/generated_functions.ts";
import { tensor } from "../tensor/creation.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";

/** The state of an optimizer as `torch.optim` writes it. */
export interface TorchOptimizerState {
  /** By parameter number; values that are no tensors belong to LBFGS. */
  readonly state: Readonly<Record<number, Readonly<Record<string, unknown>>>>;
  /** Hyperparameters in Python's spelling, and the numbers of parameters. */
  readonly param_groups: readonly Readonly<Record<string, unknown>>[];
}

/** Returns whether a state is one of PyTorch. */
export function isTorchState(state: object): state is TorchOptimizerState {
  return isPlainObject(state) && "param_groups" in state && Array.isArray(state["param_groups"]);
}

/** The members of a state under the names that `known` has, too. */
export function inOwnNames(state: object, known: readonly string[]): Record<string, unknown> {
  const renamed = Object.entries(state).map(([name, value]): [string, unknown] => [camelCase(name), value]);
  return Object.fromEntries(renamed.filter(([name]) => known.includes(name)));
}

/** The tensors of a parameter's state: numbers have no dimensions, lists one more. */
export function asTensors(values: Readonly<Record<string, unknown>>): Record<string, Tensor> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]): [string, Tensor][] => {
      if (isTensor(value)) return [[name, value]];
      if (typeof value === "number") return [[name, tensor(value, { dtype: "float64" })]];
      const parts = Array.isArray(value) ? value.filter(isTensor) : [];
      return parts.length > 0 ? [[name, stack(parts)]] : [];
    }),
  );
}

/** The state of a schedule as `torch.optim.lr_scheduler` writes it. */
export interface TorchScheduleState {
  /** Number of steps so far; schedules that run at once count themselves. */
  readonly last_epoch?: number;
  /** Settings in Python's spelling. */
  readonly [setting: string]: unknown;
}

/** The state of a schedule in names of `known`, if PyTorch has written it; others are as they are. */
export function scheduleState<S extends object>(
  given: S | TorchScheduleState,
  own: S,
): S {
  if (!isTorchSchedule(given)) return given;
  const { milestones } = given,
    counted = isPlainObject(milestones) ? { milestones: elements(milestones) } : {};
  return { ...own, ...inOwnNames({ ...given, ...counted }, Object.keys(own)) };
}

/** The elements of Python's Counter, which holds how often each occurs. */
const elements = (counts: object): number[] =>
  Object.entries(counts).flatMap(([each, count]) => Array<number>(Number(count)).fill(Number(each)));

function isTorchSchedule(given: object): given is TorchScheduleState {
  return isPlainObject(given) && ("last_epoch" in given || "_schedulers" in given);
}
