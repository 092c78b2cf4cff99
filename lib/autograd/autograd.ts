/**
 * The public `autograd` namespace. Importing it connects tensors with the tape.
 */
import "./install.ts";

export { backward, grad, type GradOptions } from "./engine.ts";
/** What is saved for backward passes, as `torch.autograd.graph`. */
export * as graph from "./graph.ts";
export { Function, FunctionContext } from "./function.ts";
export { type Differentiable, gradcheck, type GradcheckOptions } from "./gradcheck.ts";
export { enableGrad, inferenceMode, isGradEnabled, noGrad, setGradEnabled } from "../tensor/modes.ts";
