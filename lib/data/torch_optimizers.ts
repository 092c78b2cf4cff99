/**
 * States of optimizers in the form in which PyTorch's optimizers read them. Invariant: values stay as they are, so those
 * of LBFGS, which PyTorch keeps in lists, begin anew there.
 */
import { snakeCase } from "../base/names.ts";
import { isPlainObject } from "../base/tree.ts";

/** Returns whether a value is the state of an optimizer in the names that are used here. */
export function isOwnState(value: object): value is OwnState {
  if (!isPlainObject(value) || Object.keys(value).length !== 2) return false;
  const { state, paramGroups: groups } = value;
  return isPlainObject(state) && Array.isArray(groups) &&
    groups.every((group) => isPlainObject(group) && Array.isArray(group["params"]));
}

/** The state of an optimizer, of whatever hyperparameters. */
interface OwnState {
  readonly state: Readonly<Record<number, Readonly<Record<string, unknown>>>>;
  readonly paramGroups: readonly Readonly<Record<string, unknown>>[];
}

/**
 * The state as PyTorch's optimizers read it: numbers of parameters are integers, hyperparameters have Python's spelling.
 */
export function torchState({ state, paramGroups }: OwnState): Record<"state" | "param_groups", unknown> {
  return {
    state: new Map(Object.entries(state).map(([number, values]) => [Number(number), values])),
    param_groups: paramGroups.map((group) =>
      Object.fromEntries(Object.entries(group).map(([name, value]) => [snakeCase(name), value]))
    ),
  };
}
