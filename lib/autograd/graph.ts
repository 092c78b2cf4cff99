/** The namespace `autograd.graph`: how tensors are saved for backward passes. */
export { disableSavedTensorsHooks, savedTensorsHooks, saveOnCpu } from "./saved_hooks.ts";
