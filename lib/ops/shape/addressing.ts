/**
 * Sizes, strides and an offset that address elements directly, for the ops that take them as arguments. Invariant: no
 * position before the first element.
 */
import { DynError } from "../../base/errors.ts";
import { isLess } from "../../sym/decide.ts";
import { add, type Dim, mul } from "../../sym/expr.ts";
import { checkSizes, shapeText } from "../shapes.ts";

/** Strides, in elements, and the position of the first element; null is that of the viewed tensor. */
export interface Addressing {
  readonly size: readonly Dim[];
  readonly stride: readonly Dim[];
  readonly storageOffset: Dim | null;
}

/** Throws DynError for other than one stride a size, and for what addresses elements before the first one. */
export function checkAddressing({ size, stride, storageOffset }: Addressing): void {
  if (size.length !== stride.length) {
    throw new DynError(
      `Expected as many strides as sizes but found ${shapeText(stride)} for ${shapeText(size)}`,
    );
  }
  checkSizes(size);
  if (stride.some((s) => isLess(s, 0))) {
    throw new DynError(`Expected non-negative strides but found ${shapeText(stride)}`);
  }
  if (isLess(storageOffset ?? 0, 0)) {
    throw new DynError(`Expected a storageOffset of at least 0 but found ${storageOffset}`);
  }
}

/** The flat position in a row-major storage that strides and an offset address. */
export function addressed(index: readonly Dim[], { stride, storageOffset }: Omit<Addressing, "size">): Dim {
  return index.reduce<Dim>((at, i, d) => add(at, mul(i, stride[d] ?? 0)), storageOffset ?? 0);
}
