/**
 * Hooks around steps of optimizers and around saving and loading of their states. Invariant: they run in the order of
 * registration, prepended ones first. Hooks are typed as methods, so that an optimizer of one kind can be used as any.
 */
import { checkFunction, optionsOf } from "../base/checked_input.ts";
import type { HookHandle } from "../tensor/autograd_state.ts";

/** Called before a step with its arguments; a list that it returns replaces them. */
export type StepPreHook<O> = {
  hook(optimizer: O, args: readonly unknown[]): readonly unknown[] | void;
}["hook"];
/** Called after a step with its arguments. */
export type StepPostHook<O> = { hook(optimizer: O, args: readonly unknown[]): void }["hook"];
/** Called before a state is saved, or after one was loaded. */
export type OptimizerHook<O> = { hook(optimizer: O): void }["hook"];
/** Called with a state that was saved, or will be loaded; a state that it returns replaces it. */
export type OptimizerStateHook<O, S> = { hook(optimizer: O, state: S): S | void }["hook"];

/** The position of a new hook. */
export interface PlaceOfHook {
  /** Whether it runs before the existing ones; default false. */
  readonly prepend?: boolean;
}

/** Hooks of one time of call. The list is replaced, not changed: a hook that removes itself hides no other one. */
export interface HookList<H> {
  hooks: readonly H[];
}

/** The hooks of an optimizer by time of call. */
export class OptimizerHooks<O, S> {
  readonly beforeStep: HookList<StepPreHook<O>> = { hooks: [] };
  readonly afterStep: HookList<StepPostHook<O>> = { hooks: [] };
  readonly beforeWriting: HookList<OptimizerHook<O>> = { hooks: [] };
  readonly afterWriting: HookList<OptimizerStateHook<O, S>> = { hooks: [] };
  readonly beforeReading: HookList<OptimizerStateHook<O, S>> = { hooks: [] };
  readonly afterReading: HookList<OptimizerHook<O>> = { hooks: [] };

  /** Runs a step between its hooks. */
  step<R>(optimizer: O, given: readonly unknown[], run: (args: readonly unknown[]) => R): R {
    let args = given;
    for (const hook of this.beforeStep.hooks) args = hook(optimizer, args) ?? args;
    const result = run(args);
    for (const hook of this.afterStep.hooks) hook(optimizer, args);
    return result;
  }
}

/** Adds a hook to a list. */
export function addHook<H>(list: HookList<H>, hook: H, options: PlaceOfHook = {}): HookHandle {
  checkFunction(hook, "as a hook of an optimizer");
  const isFirst = optionsOf("a hook", options, ["prepend"]).prepend;
  list.hooks = isFirst ? [hook, ...list.hooks] : [...list.hooks, hook];
  let isThere = true;
  return {
    remove() {
      if (isThere) list.hooks = list.hooks.toSpliced(list.hooks.indexOf(hook), 1);
      isThere = false;
    },
  };
}
