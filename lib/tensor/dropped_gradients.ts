/** `zeroGrad` of modules and optimizers. */
import { type Flag, flagOf } from "../base/arguments.ts";
import type { Tensor } from "./tensor.ts";

/** Drops the gradients of some tensors, or zeroes them in place if `setToNone` is false. */
export function dropGradients(tensors: readonly Tensor[], setToNone: Flag<"setToNone">): void {
  const drop = flagOf("zeroGrad", "setToNone", setToNone);
  for (const tensor of tensors) {
    if (drop) tensor.grad = null;
    else if (tensor.grad) tensor.grad = tensor.grad.detach().zero_();
  }
}
