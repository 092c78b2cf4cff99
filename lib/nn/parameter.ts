/**
 * A tensor that a Module trains. Assigning one to a field of a Module makes it part of `parameters()`.
 * Invariant: a leaf of the autograd graph; it shares the storage of the tensor it is made from.
 */
import { optionsOf, refuseValue } from "../base/checked_input.ts";
import { isTensor, Tensor } from "../tensor/tensor.ts";

/** A trainable leaf tensor, as torch.nn.Parameter. */
export class Parameter extends Tensor {
  /** Shares the storage of `data`; by default requires grad (float types only). */
  constructor(data: Tensor, requiresGrad: boolean | { requiresGrad?: boolean } = true) {
    if (!isTensor(data)) refuseValue("a tensor for a parameter", data);
    super(data.storage, data.layout, data.offset);
    const wanted = typeof requiresGrad === "boolean"
      ? requiresGrad
      : optionsOf("Parameter", requiresGrad, ["requiresGrad"]).requiresGrad ?? true;
    this.requiresGrad_(wanted);
  }

  /** Returns the text that PyTorch prints. */
  override toString(): string {
    return `Parameter containing:\n${super.toString()}`;
  }
}
