/**
 * Layouts: shape, strides, element type and device of eager tensors, one shared object per distinct combination. Its
 * `id` makes cache keys short. Invariant: equal layouts are the same object.
 */
import { type DType, itemSize } from "../base/dtype.ts";
import { optionsOf } from "../base/checked_input.ts";
import { isPlainObject } from "../base/tree.ts";
import { DynError } from "../base/errors.ts";
import { contiguousStrides, isContiguous, isNonOverlapping, type TensorMeta } from "../graph/meta.ts";
import type { DeviceName } from "../loops/device.ts";
import type { Dim } from "../sym/expr.ts";

/** The data that tensors of one shape, strides, type and device share. Strides count elements. */
export interface Layout {
  readonly id: number;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly dtype: DType;
  readonly device: DeviceName;
  readonly numel: number;
  readonly contiguous: boolean;
  /** Number of elements from the first to the last addressed one. */
  readonly extent: number;
  /** Bytes of the addressed range. */
  readonly byteLength: number;
  /** The same as metadata with offset 0. */
  readonly meta: TensorMeta;
}

const layouts = new Map<string, Layout>();

/** The layout of metadata, without its offset. Throws DynError for symbolic sizes. */
export function layoutOf(meta: Pick<TensorMeta, "shape" | "strides" | "dtype" | "device">): Layout {
  const key = `${meta.shape}|${meta.strides}|${meta.dtype}|${meta.device}`;
  const known = layouts.get(key);
  if (known) return known;
  const shape = meta.shape.map(concrete), strides = meta.strides.map(concrete);
  const numel = shape.reduce((a, b) => a * b, 1);
  const extent = numel === 0 ? 0 : shape.reduce((last, size, d) => last + (size - 1) * (strides[d] ?? 0), 1);
  const { dtype, device } = meta;
  const made: Layout = {
    id: layouts.size,
    shape: Object.freeze(shape),
    strides: Object.freeze(strides),
    dtype,
    device,
    numel,
    contiguous: isContiguous({ shape, strides }),
    extent,
    byteLength: extent * itemSize(dtype),
    meta: Object.freeze({ shape, strides, offset: 0, dtype, device }),
  };
  layouts.set(key, made);
  return made;
}

const apart = new WeakMap<Layout, boolean>();

/** Returns whether no two indices address the same element. */
export function hasDistinctElements(layout: Layout): boolean {
  if (layout.contiguous) return true;
  let known = apart.get(layout);
  if (known === undefined) apart.set(layout, known = isNonOverlapping(layout.shape, layout.strides));
  return known;
}

/** The row-major layout of a shape. */
export function contiguousLayout(shape: readonly Dim[], dtype: DType, device: DeviceName): Layout {
  return layoutOf({ shape, strides: contiguousStrides(shape), dtype, device });
}

/** A size that must be known. */
export function concrete(d: Dim): number {
  if (typeof d === "number") return d;
  throw new DynError(`Expected a known size for a tensor with elements but found the symbolic ${d}`);
}

/** A dimension, by position or by name. */
type DimArgument = number | { readonly dim: number };

/** The entry of a list for the dimension that a call of `owner` gives; negative ones count from the end. */
export function alongDim(list: readonly number[], given: DimArgument, owner: string): number {
  const dim = isPlainObject(given) ? optionsOf(owner, given, ["dim"]).dim : given;
  const at = typeof dim === "number" ? dim : NaN, found = list[at < 0 ? at + list.length : at];
  if (found === undefined) {
    throw new DynError(
      list.length === 0
        ? `Expected a tensor with dimensions but found a scalar (dim ${dim})`
        : `Expected dim in [${-list.length}, ${list.length - 1}] but found ${dim}`,
    );
  }
  return found;
}
