/**
 * Hooks of all modules, like `torch.nn.modules.module.register_module_forward_hook`, called before each module's own.
 */
import { refuseSurplus } from "../base/checked_input.ts";
import type { HookHandle } from "../base/hook_list.ts";
import {
  type BackwardHook,
  type BackwardPreHook,
  type ForwardHook,
  type ForwardHookOptions,
  type ForwardPreHook,
  type NamedForwardHook,
  namedHook,
  namedPreHook,
  register,
} from "./hooks.ts";
import { ALL_MODULES, type Module } from "./module.ts";

/** Calls a hook after `forward` of every module. */
export function registerModuleForwardHook(
  hook: ForwardHook<Module>,
  options?: ForwardHookOptions & { withKwargs?: false },
): HookHandle;
/** Like the overload above, with named arguments passed separately. */
export function registerModuleForwardHook(
  hook: NamedForwardHook<Module>,
  options: ForwardHookOptions & { withKwargs: true },
): HookHandle;
export function registerModuleForwardHook(
  hook: ForwardHook<Module> | NamedForwardHook<Module>,
  options: ForwardHookOptions = {},
): HookHandle {
  if (arguments.length > 2) refuseSurplus("registerModuleForwardHook", 2, arguments);
  return register(ALL_MODULES, ({ after }) => after, namedHook(hook, options), options);
}

/** Calls a hook before `forward` of every module. */
export function registerModuleForwardPreHook(hook: ForwardPreHook<Module>): HookHandle {
  if (arguments.length > 1) refuseSurplus("registerModuleForwardPreHook", 1, arguments);
  return register(ALL_MODULES, ({ before }) => before, namedPreHook(hook, {}));
}

/** Calls a hook with the gradients of the inputs and outputs of every module. */
export function registerModuleFullBackwardHook(hook: BackwardHook<Module>): HookHandle {
  if (arguments.length > 1) refuseSurplus("registerModuleFullBackwardHook", 1, arguments);
  return register(ALL_MODULES, ({ gradients }) => gradients, hook);
}

/** Calls a hook with the gradients of the outputs of every module. */
export function registerModuleFullBackwardPreHook(hook: BackwardPreHook<Module>): HookHandle {
  if (arguments.length > 1) refuseSurplus("registerModuleFullBackwardPreHook", 1, arguments);
  return register(ALL_MODULES, ({ gradientsBefore }) => gradientsBefore, hook);
}
