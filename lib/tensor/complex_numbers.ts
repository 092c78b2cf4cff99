/**
 * Converts complex numbers `{ re, im }` among the arguments of calls to 0-d tensors. Invariant: the type of such a
 * tensor is the one to which the number and the tensors of the call promote, so that it affects promotion only as a
 * number would.
 */
import { type Complex, isComplexNumber } from "../base/complex.ts";
import { type ComplexType, complexType, getDefaultDtype, partType } from "../base/dtype.ts";
import { isPlainObject } from "../base/tree.ts";
import { resultTypeOf } from "../ops/promotion.ts";
import type { DeviceName } from "../loops/device.ts";
import { writeElements } from "./host.ts";
import { contiguousLayout } from "./layout.ts";
import { allocateStorage } from "./storage.ts";
import { isTensor, Tensor } from "./tensor.ts";

/** Returns whether complex numbers are among the arguments, by position or by name. */
export function hasComplexNumbers(given: readonly unknown[]): boolean {
  for (const each of given) {
    if (typeof each !== "object" || each === null || isTensor(each)) continue;
    if (isComplexNumber(each)) return true;
    if (isPlainObject(each) && Object.values(each).some(isComplexNumber)) return true;
  }
  return false;
}

/** The arguments with tensors in place of complex numbers. */
export function withComplexTensors(given: readonly unknown[]): unknown[] {
  const options = given.filter(isPlainObject).flatMap((each) => Object.values(each));
  const tensors = [...given, ...options].flat().filter(isTensor);
  const dtype = complexType(tensors.length === 0 ? getDefaultDtype() : resultTypeOf(tensors));
  const device = tensors[0]?.device ?? "cpu";
  const replaced = (value: unknown): unknown =>
    isComplexNumber(value) ? numberTensor(value, { dtype, device }) : value;
  return given.map((each) => {
    if (isComplexNumber(each) || !isPlainObject(each)) return replaced(each);
    return Object.fromEntries(Object.entries(each).map(([name, value]) => [name, replaced(value)]));
  });
}

/** A complex number as a 0-d tensor. */
export function numberTensor(
  { re, im }: Complex,
  { dtype, device }: { readonly dtype: ComplexType; readonly device: DeviceName },
): Tensor {
  const layout = contiguousLayout([], dtype, device);
  const storage = allocateStorage(device, layout.byteLength, layout);
  writeElements(storage, partType(dtype) === "float64" ? Float64Array.of(re, im) : Float32Array.of(re, im));
  return new Tensor(storage, layout);
}
