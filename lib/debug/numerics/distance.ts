/**
 * Distances between two computations of the same tensor: in units in the last place of its type, element by element,
 * and relative to its largest element. The first says how many roundings separate two elements; the second is not
 * inflated by elements that cancel to almost nothing. Invariant: equal elements, and NaN in both, are zero apart; a
 * NaN or infinity on one side only is infinitely far.
 */
import { type DType, type FloatType, type HostArray, isFloat, partType } from "../../base/dtype.ts";

/** The distance between two computations of a tensor. */
export interface Distance {
  /** The largest difference of two elements, in units in the last place of the larger one; of integers, as it is. */
  readonly ulps: number;
  /** The largest difference of two elements. */
  readonly absolute: number;
  /** The same relative to the largest finite element of either side. */
  readonly relative: number;
  /** Index, in row-major order, of the element with the most units. */
  readonly at: number;
  /** Number of elements that differ at all. */
  readonly count: number;
}

/** Significant bits of a type, and the exponent of its smallest normal number. */
const FORMATS: Readonly<Record<FloatType, { readonly bits: number; readonly least: number }>> = {
  float64: { bits: 53, least: -1022 },
  float32: { bits: 24, least: -126 },
  float16: { bits: 11, least: -14 },
  bfloat16: { bits: 8, least: -126 },
};

/** The distance between neighbours of a type at a number; 1 for integers. */
export function ulpAt(value: number, dtype: DType): number {
  const part = partType(dtype);
  if (!isFloat(part)) return 1;
  const { bits, least } = FORMATS[part], size = Math.abs(value);
  // The logarithm may be off by one next to a power of two
  let exponent = size === 0 ? least : Math.max(least, Math.floor(Math.log2(size)));
  if (exponent > least && 2 ** exponent > size) exponent--;
  else if (2 ** (exponent + 1) <= size) exponent++;
  return Math.max(Number.MIN_VALUE, 2 ** (exponent - bits + 1));
}

/** Compares elements of a tensor of a type with those that they stand for. */
export function distanceOf(got: HostArray, want: HostArray, dtype: DType): Distance {
  let ulps = 0, most = 0, scale = 0, at = 0, count = 0;
  for (let k = 0; k < want.length; k++) {
    const g = got[k] ?? NaN, w = want[k] ?? NaN, size = Math.max(Math.abs(Number(g)), Math.abs(Number(w)));
    if (size > scale && Number.isFinite(size)) scale = size;
    if (g === w || (g !== g && w !== w)) continue;
    count++;
    const apart = Math.abs(Number(g) - Number(w));
    const isFar = !Number.isFinite(apart), distance = isFar ? Infinity : apart;
    const units = isFar ? Infinity : distance / ulpAt(size, dtype);
    most = Math.max(most, distance);
    if (units > ulps) [ulps, at] = [units, k];
  }
  return { ulps, absolute: most, relative: most === 0 ? 0 : most / scale, at, count };
}
