/**
 * Hooks around steps of optimizers and around saving and loading of their states, typed as methods, so that an optimizer
 * of one kind can be used as any.
 */
import { optionsOf } from "../base/checked_input.ts";
import { addHook, type HookHandle, type HookList, type HookOptions, noHooks } from "../base/hook_list.ts";

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

/** The hooks of an optimizer by time of call. */
export class OptimizerHooks<O, S> {
  readonly beforeStep: HookList<StepPreHook<O>> = noHooks();
  readonly afterStep: HookList<StepPostHook<O>> = noHooks();
  readonly beforeWriting: HookList<OptimizerHook<O>> = noHooks();
  readonly afterWriting: HookList<OptimizerStateHook<O, S>> = noHooks();
  readonly beforeReading: HookList<OptimizerStateHook<O, S>> = noHooks();
  readonly afterReading: HookList<OptimizerHook<O>> = noHooks();

  /** Runs a step between its hooks. */
  step<R>(optimizer: O, given: readonly unknown[], run: (args: readonly unknown[]) => R): R {
    let args = given;
    for (const { hook } of this.beforeStep.entries) args = hook(optimizer, args) ?? args;
    const result = run(args);
    for (const { hook } of this.afterStep.entries) hook(optimizer, args);
    return result;
  }
}

/** Adds a hook of an optimizer to a list. Throws DynError unless it is a function. */
export function register<H>(list: HookList<H>, hook: H, options: HookOptions = {}): HookHandle {
  const { prepend = false } = optionsOf("a hook", options, ["prepend"]);
  return addHook(list, hook, { purpose: "as a hook of an optimizer", prepend });
}
