/** The namespace `autograd.graph`: how tensors are saved for backward passes, and hooks on several gradients. */
export { type AllGradientsHook, type AnyGradientHook, registerMultiGradHook } from "./multi_grad_hook.ts";
export { disableSavedTensorsHooks, savedTensorsHooks, saveOnCpu } from "./saved_hooks.ts";
