/**
 * What is known of a tensor without its elements. Graph nodes, fake tensors and shape inference share it.
 * Invariant: shape and strides have the same length; strides and offset count elements.
 */
import type { DType } from "../base/dtype.ts";
import { type Dim, mul, product } from "../sym/expr.ts";
import { isEqual } from "../sym/decide.ts";
import type { DeviceName } from "../loops/device.ts";

export interface TensorMeta {
  readonly shape: readonly Dim[];
  readonly strides: readonly Dim[];
  readonly offset: Dim;
  readonly dtype: DType;
  readonly device: DeviceName;
}

/** Row-major strides of a shape. */
export function contiguousStrides(shape: readonly Dim[]): Dim[] {
  const strides: Dim[] = new Array(shape.length);
  let step: Dim = 1;
  for (let d = shape.length - 1; d >= 0; d--) {
    strides[d] = step;
    const size = shape[d] ?? 1;
    // PyTorch counts an empty dimension as one when it lays out strides
    step = size === 0 ? step : mul(step, size);
  }
  return strides;
}

/** Metadata of a fresh row-major tensor. */
export function contiguousMeta(shape: readonly Dim[], dtype: DType, device: DeviceName): TensorMeta {
  return { shape, strides: contiguousStrides(shape), offset: 0, dtype, device };
}

/** Whether elements lie in row-major order without gaps (dimensions of size 1 may have any stride). */
export function isContiguous(meta: Pick<TensorMeta, "shape" | "strides">): boolean {
  let step: Dim = 1;
  for (let d = meta.shape.length - 1; d >= 0; d--) {
    const size = meta.shape[d] ?? 1, stride = meta.strides[d] ?? 1;
    if (size === 0) return true;
    if (size === 1) continue;
    if (!isEqual(stride, step)) return false;
    step = mul(step, size);
  }
  return true;
}

/** Number of elements. */
export function elementCount(meta: Pick<TensorMeta, "shape">): Dim {
  return product(meta.shape);
}
