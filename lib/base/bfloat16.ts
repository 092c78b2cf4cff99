/**
 * bfloat16 on the host, where no typed array holds it: there its elements are 16 bits each, and numbers of it are
 * float32. Invariant: rounds by way of float32, as PyTorch makes bfloat16 of numbers, to nearest even; NaN stays NaN.
 */
import { type DType, type HostArray, hostArray, itemSize } from "./dtype.ts";

const single = new Float32Array(1), word = new Uint32Array(single.buffer);

/** The bits of the bfloat16 nearest to a number. */
export function toBfloat16(value: number): number {
  single[0] = value;
  const bits = word[0] ?? 0;
  if (Number.isNaN(value)) return (bits >>> 16) | 0x40;
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

/** The number that the bits of a bfloat16 stand for. */
export function fromBfloat16(bits: number): number {
  word[0] = bits << 16;
  return single[0] ?? 0;
}

/** An array whose items are the numbers that elements of a type are. */
export function numberArray(dtype: DType, length: number): HostArray {
  return dtype === "bfloat16"
    ? new Float32Array(length)
    : hostArray(dtype, new ArrayBuffer(length * itemSize(dtype)));
}

/** Elements as memory holds them (hostArray), given as numbers. */
export function encodeElements(dtype: DType, numbers: HostArray): HostArray {
  if (dtype !== "bfloat16" || numbers instanceof Uint16Array) return numbers;
  return new Uint16Array(numbers.length).map((_, i) => toBfloat16(Number(numbers[i])));
}

/** Elements as numbers, given as memory holds them. */
export function decodeElements(dtype: DType, stored: HostArray): HostArray {
  if (dtype !== "bfloat16") return stored;
  return new Float32Array(stored.length).map((_, i) => fromBfloat16(Number(stored[i])));
}
