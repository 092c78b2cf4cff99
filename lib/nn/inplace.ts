/**
 * Functions of nn.functional that write their result into their input, and their options. Invariant: results equal
 * those of the ops.
 */
import { type InPlace, inPlace } from "../tensor/inplace_function.ts";

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

export { celu_, relu_, selu_, threshold_ } from "../tensor/inplace_functions.ts";

/** elu written into x. */
export const elu_: InPlace<"elu_"> = inPlace("elu_");
/** hardtanh written into x. */
export const hardtanh_: InPlace<"hardtanh_"> = inPlace("hardtanh_");
/** leakyRelu written into x. */
export const leakyRelu_: InPlace<"leakyRelu_"> = inPlace("leakyRelu_");
