/**
 * `x.to(…)`: another type, another device, or both. It works on eager and traced tensors, and returns the tensor
 * itself if nothing changes. Invariant: the gradient of a move moves back.
 */
import { optionsOf, refuseValue } from "../base/checked_input.ts";
import { isDType } from "../base/dtype.ts";
import { looksLikeDType, refuseDType } from "../base/dtype_names.ts";
import { findDevice } from "../loops/device.ts";
import type { OpApi } from "../ops/generated.ts";
import { isTensorLike, type TensorLike } from "../ops/tensor_like.ts";
import type { ConversionOptions } from "./tensor_options.ts";

const OPTIONS = ["dtype", "device", "copy", "nonBlocking"] as const;

/** Reads the arguments of `to`: types, devices, tensors that have both, and options. Throws DynError for others. */
export function placeOf(given: readonly unknown[]): ConversionOptions {
  let { dtype, device, copy }: ConversionOptions = {};
  for (const each of given) {
    if (isDType(each)) dtype = each;
    else if (typeof each === "string") {
      if (looksLikeDType(each)) refuseDType("dtype", each);
      device = each;
    } else if (isTensorLike(each)) [dtype, device] = [each.dtype, each.device];
    else if (typeof each === "object" && each !== null) {
      const options = optionsOf<ConversionOptions>("to", each, OPTIONS);
      dtype = options.dtype ?? dtype;
      device = options.device ?? device;
      copy = options.copy ?? copy;
    } else if (typeof each !== "boolean" && each !== undefined) {
      refuseValue("a dtype, a device or a tensor", each);
    }
  }
  return { dtype, device, copy };
}

/** The tensor with another type or on another device. */
export function convertTo<T extends TensorLike>(ops: OpApi<T>, tensor: T, given: readonly unknown[]): T {
  return converted(ops, tensor, placeOf(given));
}

/** The same by names. */
export function converted<T extends TensorLike>(
  ops: OpApi<T>,
  tensor: T,
  { dtype, device, copy }: ConversionOptions,
): T {
  const typed = (each: T): T => dtype == null || dtype === each.dtype ? each : ops.to(each, dtype);
  const moved = (each: T): T => device == null || device === each.device ? each : ops.toDevice(each, device);
  // The device that it leaves may lack the type, or the one that it moves to the former one
  const lacksType = dtype === "float64" && findDevice(tensor.device)?.lacksFloat64 === true;
  const result = lacksType ? typed(moved(tensor)) : moved(typed(tensor));
  return copy && result === tensor ? ops.clone(tensor) : result;
}

/** A tensor on the device of another and, if it was elsewhere, in its type, which its own device may lack. */
export function movedTo<T extends TensorLike>(ops: OpApi<T>, tensor: T, { dtype, device }: TensorLike): T {
  if (tensor.device === device) return tensor;
  return converted(ops, converted(ops, tensor, { device: "cpu" }), { dtype, device });
}
