/**
 * `x.to(…)`: another type, another device, or both. Input: a tensor and what to convert to; output: a tensor,
 * itself where nothing changes. Invariant: the gradient of a move moves back.
 */
import { type DType, isDType } from "../base/dtype.ts";
import { dtypeExpected, looksLikeDType } from "../base/dtype_names.ts";
import { DynError } from "../base/errors.ts";
import type { DeviceName } from "../loops/device.ts";
import { ops } from "./eager.ts";
import { isTensor, type Tensor } from "./tensor.ts";
import type { ConversionOptions } from "./tensor_options.ts";

/** The tensor with another type or on another device. */
export function convertTo(tensor: Tensor, given: readonly unknown[]): Tensor {
  let dtype: DType | undefined, device: DeviceName | undefined, copy = false;
  for (const each of given) {
    if (isDType(each)) dtype = each;
    else if (typeof each === "string") {
      if (looksLikeDType(each)) throw new DynError(`Expected ${dtypeExpected(each)}`);
      device = each;
    } else if (isTensor(each)) [dtype, device] = [each.dtype, each.device];
    else if (typeof each === "object" && each !== null) {
      const options: ConversionOptions = each;
      dtype = options.dtype ?? dtype;
      device = options.device ?? device;
      copy = options.copy ?? copy;
    } else if (typeof each !== "boolean" && each !== undefined) {
      throw new DynError(`Expected a dtype, a device or a tensor but found ${String(each)}`);
    }
  }
  const typed = dtype === undefined || dtype === tensor.dtype ? tensor : ops.to(tensor, dtype);
  const moved = device === undefined || device === typed.device ? typed : ops.toDevice(typed, device);
  return copy && moved === tensor ? ops.clone(tensor) : moved;
}
