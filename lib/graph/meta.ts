/**
 * Metadata of tensors, shared by graph nodes, fake tensors and shape inference. Invariant: shape and strides have the
 * same length; strides and offset count elements.
 */
import type { DType } from "../base/dtype.ts";
import { elementsStand } from "../base/inherited_elements.ts";
import { add, type Dim, mul, product, sub } from "../sym/expr.ts";
import { isEqual, provablyEqual } from "../sym/decide.ts";
import type { DeviceName } from "../loops/device.ts";

/** The class of lists that dyn was loaded with. */
const OwnArray = Array;

/** Metadata of a tensor: everything but its elements. */
export interface TensorMeta {
  /** Sizes of the dimensions. */
  readonly shape: readonly Dim[];
  /** In elements. */
  readonly strides: readonly Dim[];
  /** Of the first element in its storage. */
  readonly offset: Dim;
  /** Element type. */
  readonly dtype: DType;
  /** Name of the device. */
  readonly device: DeviceName;
}

/** Returns the row-major strides of a shape. */
export function contiguousStrides(shape: readonly Dim[]): Dim[] {
  // Holes would be filled by the setters that arrays inherit
  const strides: Dim[] = elementsStand() ? [...shape] : new OwnArray(shape.length);
  let step: Dim = 1;
  for (let d = shape.length - 1; d >= 0; d--) {
    strides[d] = step;
    const size = shape[d] ?? 1;
    // PyTorch counts an empty dimension as one when it lays out strides
    step = size === 0 ? step : mul(step, size);
  }
  return strides;
}

/** Returns the metadata of a new row-major tensor. */
export function contiguousMeta(shape: readonly Dim[], dtype: DType, device: DeviceName): TensorMeta {
  return { shape, strides: contiguousStrides(shape), offset: 0, dtype, device };
}

/** Returns whether elements lie in row-major order without gaps (dimensions of size 1 may have any stride). */
export function isContiguous(meta: Pick<TensorMeta, "shape" | "strides">): boolean {
  let step: Dim = 1;
  for (let d = meta.shape.length - 1; d >= 0; d--) {
    const size = meta.shape[d] ?? 1, stride = meta.strides[d] ?? 1;
    if (size === 0) return true;
    if (size === 1) continue;
    if (!isEqual(stride, step)) {
      // A size that is computed may be 1 as well, or there may be no elements
      if (isEqual(size, 1)) continue;
      return meta.shape.some((each) => isEqual(each, 0));
    }
    step = mul(step, size);
  }
  return true;
}

/** Returns the number of elements. */
export function elementCount(meta: Pick<TensorMeta, "shape">): Dim {
  return product(meta.shape);
}

/** Returns the number of elements of a memory up to the last one that a layout addresses; 0 without elements. */
export function reachOf({ shape, strides, offset }: Pick<TensorMeta, "shape" | "strides" | "offset">): Dim {
  if (shape.includes(0)) return 0;
  return shape.reduce<Dim>(
    (reach, size, d) => add(reach, mul(sub(size, 1), strides[d] ?? 0)),
    add(offset, 1),
  );
}

/** The error for a write into a layout with shared elements. */
export const SHARED_ELEMENTS =
  "Expected a tensor whose elements lie apart but several indices refer to a single memory location; clone() it first";

/** Returns whether no two indices of a layout address the same element, as is required to write to the tensor. */
export function isNonOverlapping(shape: readonly number[], strides: readonly number[]): boolean {
  if (shape.includes(0)) return true;
  const axes = shape.flatMap((size, d) => size > 1 ? [{ size, stride: Math.abs(strides[d] ?? 0) }] : []);
  axes.sort((a, b) => a.stride - b.stride);
  let reach = 0, nested = true;
  for (const { size, stride } of axes) {
    if (stride === 0) return false;
    if (stride <= reach) nested = false;
    reach += (size - 1) * stride;
  }
  return nested || offsetsDiffer(axes, reach);
}

/** The same for interleaved axes: compares all offsets. */
function offsetsDiffer(
  axes: readonly { readonly size: number; readonly stride: number }[],
  reach: number,
): boolean {
  const count = axes.reduce((product, { size }) => product * size, 1);
  if (count > reach + 1) return false;
  const seen = new Uint8Array(reach + 1);
  for (let k = 0; k < count; k++) {
    let rest = k, place = 0;
    for (const { size, stride } of axes) {
      place += rest % size * stride;
      rest = Math.floor(rest / size);
    }
    if (seen[place] === 1) return false;
    seen[place] = 1;
  }
  return true;
}

/** Returns whether the elements of a tensor fill its memory without gaps, for all sizes. */
export function isDense({ shape, strides }: Pick<TensorMeta, "shape" | "strides">): boolean {
  const left = shape.flatMap((size, d) => size === 1 ? [] : [{ size, stride: strides[d] ?? 0 }]);
  if (left.some(({ size }) => size === 0)) return true;
  for (let step: Dim = 1; left.length > 0;) {
    const at = left.findIndex(({ stride }) => stride === step || provablyEqual(stride, step) === true);
    const [next] = at < 0 ? [] : left.splice(at, 1);
    if (!next) return false;
    step = mul(step, next.size);
  }
  return true;
}

/** Returns whether the result is a list. */
export function isMetas(result: TensorMeta | readonly TensorMeta[]): result is readonly TensorMeta[] {
  return Array.isArray(result);
}
