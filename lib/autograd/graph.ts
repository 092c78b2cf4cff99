/** The namespace `autograd.graph`: what becomes of tensors that are saved for backward passes. */
export { disableSavedTensorsHooks, savedTensorsHooks, saveOnCpu } from "./saved_hooks.ts";
