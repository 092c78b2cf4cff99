/** Transforms of functions: the namespace `func`, as `torch.func`. */
export {
  type AnyFunction,
  grad,
  gradAndValue,
  type GradientOptions,
  jvp,
  linearize,
  vjp,
} from "./transforms.ts";
export type { Positions } from "./arguments.ts";
export { functionalCall, type NamedTensors } from "./functional_call.ts";
export { hessian, jacfwd, jacrev } from "./jacobians.ts";
