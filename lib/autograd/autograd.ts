/**
 * The public `autograd` namespace. Importing it connects tensors with the tape.
 */
import "./install.ts";

export {
  backward,
  type BackwardIntoOptions,
  grad,
  type Gradients,
  type GradOptions,
} from "./entry_points.ts";
/** Forward-mode derivatives, like `torch.autograd.forward_ad`. */
export * as forwardAd from "./forward_ad.ts";
/** Saved tensors and hooks on them, like `torch.autograd.graph`. */
export * as graph from "./graph.ts";
export { Function, FunctionContext } from "./function.ts";
export { type AnomalyOptions, detectAnomaly, isAnomalyEnabled, setDetectAnomaly } from "./anomaly.ts";
/** Derivatives of functions at a point, like `torch.autograd.functional`. */
export * as functional from "./derivatives.ts";
export { type Differentiable, gradcheck, type GradcheckOptions, gradgradcheck } from "./gradcheck.ts";
export { enableGrad, inferenceMode, isGradEnabled, noGrad, setGradEnabled } from "../tensor/modes.ts";
