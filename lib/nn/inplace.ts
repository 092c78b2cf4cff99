/**
 * Functions of nn.functional that write their result into their input, and their options. Invariant: results equal
 * those of the ops.
 */
import { checkTensor } from "../tensor/checked.ts";
import type { ArgumentsOf } from "../tensor/inplace_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";

/** Whether the input is overwritten with the result. */
export interface InplaceOptions {
  readonly inplace?: boolean;
}

/** Options of leakyRelu. */
export interface LeakyOptions extends InplaceOptions {
  readonly negativeSlope?: number;
}

/** Options of elu and celu. */
export interface AlphaOptions extends InplaceOptions {
  readonly alpha?: number;
}

/** Options of hardtanh. */
export interface BoundsOptions extends InplaceOptions {
  readonly minVal?: number;
  readonly maxVal?: number;
}

/** max(x, 0) written into x. */
export function relu_(x: Tensor, ...given: Parameters<Tensor["relu_"]>): Tensor {
  checkTensor(x, "relu_");
  return x.relu_(...given);
}

/** selu written into x. */
export function selu_(x: Tensor, ...given: Parameters<Tensor["selu_"]>): Tensor {
  checkTensor(x, "selu_");
  return x.selu_(...given);
}

/** leakyRelu written into x. */
export function leakyRelu_(x: Tensor, ...given: Parameters<Tensor["leakyRelu_"]>): Tensor {
  checkTensor(x, "leakyRelu_");
  return x.leakyRelu_(...given);
}

/** elu written into x. */
export function elu_(x: Tensor, ...given: Parameters<Tensor["elu_"]>): Tensor {
  checkTensor(x, "elu_");
  return x.elu_(...given);
}

/** celu written into x. */
export function celu_(x: Tensor, ...given: Parameters<Tensor["celu_"]>): Tensor {
  checkTensor(x, "celu_");
  return x.celu_(...given);
}

/** hardtanh written into x. */
export function hardtanh_(x: Tensor, ...given: Parameters<Tensor["hardtanh_"]>): Tensor {
  checkTensor(x, "hardtanh_");
  return x.hardtanh_(...given);
}

/** threshold written into x. */
export function threshold_(x: Tensor, ...given: ArgumentsOf<Tensor["threshold_"]>): Tensor {
  checkTensor(x, "threshold_");
  return Reflect.apply(x.threshold_, x, given);
}
