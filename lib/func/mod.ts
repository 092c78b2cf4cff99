/** Transforms of functions: the namespace `func`, like `torch.func`. */
export {
  type AnyFunction,
  grad,
  gradAndValue,
  type GradientOptions,
  jvp,
  linearize,
  type Pull,
  vjp,
} from "./transforms.ts";
export type { Chosen, Positions } from "./arguments.ts";
export { functionalCall, type NamedTensors } from "./functional_call.ts";
export { hessian, jacfwd, type Jacobian, type JacobianOptions, jacrev } from "./jacobians.ts";
export { rearrange } from "./rearrange.ts";
export { stackModuleState } from "./stacked_state.ts";
export { replaceAllBatchNormModules_ } from "./batch_norms.ts";
export { type BatchDims, vmap, type VmapOptions } from "./vmap.ts";
export type { Randomness } from "../ops/batching/random.ts";
