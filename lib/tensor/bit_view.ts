/**
 * `x.view(dtype)`: the memory of a tensor as elements of another type. Invariant: no element is computed, and no history
 * leads through it, as in PyTorch.
 */
import { checkDType } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { ops } from "./eager.ts";
import { deviceNamed, isShapesOnly } from "./storage.ts";
import { modes, type Tensor } from "./tensor.ts";

/** A tensor over the same memory. Throws DynError where elements of the new type would not lie at whole positions. */
export function bitView(tensor: Tensor, dtype: unknown): Tensor {
  checkDType(dtype, "view");
  const { device } = tensor;
  const refuse = (wanted: string, found: string): never => {
    throw new DynError(`Expected ${wanted} to view ${tensor.dtype} as ${dtype} but found ${found}`);
  };
  if (modes.top !== null) refuse("tensors with elements", "a transform or mode around the call");
  if (!isShapesOnly(device) && !deviceNamed(device).hostReadable) {
    refuse("memory of the host", `a tensor on ${device}`);
  }
  return ops.bitView(tensor, dtype);
}
