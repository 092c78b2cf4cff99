/** Hooks of all modules, called before those of their own, as `torch.nn.modules.module.register_module_forward_hook`. */
import { checkFunction } from "../base/checked_input.ts";
import type { HookHandle } from "../tensor/autograd_state.ts";
import {
  type BackwardHook,
  type BackwardPreHook,
  type ForwardHook,
  type ForwardHookOptions,
  type ForwardPreHook,
  type NamedForwardHook,
  namedHook,
  namedPreHook,
  noHooks,
  register,
  type RegisteredHooks,
} from "./hooks.ts";
import { ALL_MODULES, type Module } from "./module.ts";

/** The list that a hook joins; one that is no function leaves none, which all modules would look through. */
function hooksFor(hook: unknown): RegisteredHooks<Module> {
  checkFunction(hook, "as a hook");
  return ALL_MODULES.hooks ??= noHooks();
}

/** Calls a hook after `forward` of every module. */
export function registerModuleForwardHook(
  hook: ForwardHook<Module>,
  options?: ForwardHookOptions & { withKwargs?: false },
): HookHandle;
/** The same, with arguments by name apart. */
export function registerModuleForwardHook(
  hook: NamedForwardHook<Module>,
  options: ForwardHookOptions & { withKwargs: true },
): HookHandle;
export function registerModuleForwardHook(
  hook: ForwardHook<Module> | NamedForwardHook<Module>,
  options: ForwardHookOptions = {},
): HookHandle {
  return register(hooksFor(hook).after, namedHook(hook, options), options);
}

/** Calls a hook before `forward` of every module. */
export function registerModuleForwardPreHook(hook: ForwardPreHook<Module>): HookHandle {
  return register(hooksFor(hook).before, namedPreHook(hook, {}));
}

/** Calls a hook with gradients of what goes into every module and comes out of it. */
export function registerModuleFullBackwardHook(hook: BackwardHook<Module>): HookHandle {
  return register(hooksFor(hook).gradients, hook);
}

/** Calls a hook with gradients of what comes out of every module. */
export function registerModuleFullBackwardPreHook(hook: BackwardPreHook<Module>): HookHandle {
  return register(hooksFor(hook).gradientsBefore, hook);
}
