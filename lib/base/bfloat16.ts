/**
 * bfloat16 on the host, where no typed array has it: elements are stored as 16 bits, and computed with as float32.
 * Invariant: numbers are rounded by way of float32, as in PyTorch, to nearest even; NaN stays NaN.
 */
import { type DType, type HostArray, hostArray, itemSize } from "./dtype.ts";

const single = new Float32Array(1), word = new Uint32Array(single.buffer);

/** Returns the bits of the bfloat16 nearest to a number. */
export function toBfloat16(value: number): number {
  single[0] = value;
  const bits = word[0] ?? 0;
  if (Number.isNaN(value)) return (bits >>> 16) | 0x40;
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

/** Returns the number that the bits of a bfloat16 represent. */
export function fromBfloat16(bits: number): number {
  word[0] = bits << 16;
  return single[0] ?? 0;
}

/** Creates an array for elements of a type as numbers. */
export function numberArray(dtype: DType, length: number): HostArray {
  return dtype === "bfloat16"
    ? new Float32Array(length)
    : hostArray(dtype, new ArrayBuffer(length * itemSize(dtype)));
}

/** Converts numbers to elements as memory stores them (hostArray). */
export function encodeElements(dtype: DType, numbers: HostArray): HostArray {
  if (dtype !== "bfloat16" || numbers instanceof Uint16Array) return numbers;
  return new Uint16Array(numbers.length).map((_, i) => toBfloat16(Number(numbers[i])));
}

/** Converts elements as memory stores them to numbers. */
export function decodeElements(dtype: DType, stored: HostArray): HostArray {
  if (dtype !== "bfloat16") return stored;
  return new Float32Array(stored.length).map((_, i) => fromBfloat16(Number(stored[i])));
}
