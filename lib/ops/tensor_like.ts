/**
 * The minimal interface of tensor values for ops, implemented by eager tensors, graph values and metadata. It does not
 * include elements or strides.
 */
import type { DType } from "../base/dtype.ts";
import type { DeviceName } from "../loops/device.ts";
import type { Dim } from "../sym/expr.ts";

/** The properties that compositions and gradients may read of a tensor value: eager tensor, graph node or fake. */
export interface TensorLike {
  /** Sizes of the dimensions. */
  readonly shape: readonly Dim[];
  /** Element type. */
  readonly dtype: DType;
  /** Name of the device. */
  readonly device: DeviceName;
}

/** Returns whether a value is a tensor value. */
export function isTensorLike<T extends TensorLike>(value: unknown): value is T {
  return typeof value === "object" && value !== null && "dtype" in value && "shape" in value;
}
