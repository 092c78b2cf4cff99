/**
 * Flat buffers over host arrays, with checked reads and writes of single elements. Invariant: an index outside the
 * array throws; bool elements are booleans.
 */
import type { DType, HostArray } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import type { Element } from "./scalar.ts";

/** A flat buffer as the interpreter sees it. */
export interface Buffer {
  readonly dtype: DType;
  readonly length: number;
  get(index: number): Element;
  set(index: number, value: Element): void;
}

/** A buffer over a whole array; `name` is for messages. Small floats are their bits. */
export function hostBuffer(given: HostArray, dtype: DType, name: string): Buffer {
  const array = given instanceof Float16Array
    ? new Uint16Array(given.buffer, given.byteOffset, given.length)
    : given;
  const check = (index: number) => {
    if (!Number.isInteger(index) || index < 0 || index >= array.length) {
      throw new InternalError(`Expected an index of ${name} in [0, ${array.length}) but found ${index}`);
    }
  };
  return {
    dtype,
    length: array.length,
    get(index) {
      check(index);
      const value = array[index] ?? 0;
      return dtype === "bool" ? value !== 0 : value;
    },
    set(index, value) {
      check(index);
      if (array instanceof BigInt64Array) array[index] = BigInt(value);
      else array[index] = Number(value);
    },
  };
}
