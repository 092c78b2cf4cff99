/**
 * Numbers for tests of kernels: special values of each type, and numbers whose sums reveal the order of additions.
 */
import type { RealType } from "../../lib/base/dtype.ts";

/** Difficult floats: signs of zero, halves, ends of other types' ranges, values that are not numbers. */
const FLOATS = [
  0,
  -0,
  1,
  -1,
  0.5,
  -0.5,
  1.5,
  2.5,
  -2.5,
  NaN,
  Infinity,
  -Infinity,
  3.7,
  -7.25,
  255,
  256.5,
  1e-3,
  88.7,
];
/** Beyond the ranges of integers, and where floats have no fractions any more. */
const LARGE = [
  2 ** 31,
  -(2 ** 31),
  2 ** 31 - 128,
  2 ** 32 + 512,
  2 ** 51,
  2 ** 62,
  2 ** 63,
  -(2 ** 63),
  1e20,
  -1e20,
];
const WHOLE = [0, 1, -1, 2, 3, -3, 7, 31, 32, 33, 63, 64, 65, 100, -100, 2 ** 31 - 1, -(2 ** 31)];

/** Values that operations of each type must handle: halves, ends of ranges, subnormal numbers, counts of bits. */
export const SPECIAL: Readonly<Record<RealType, readonly (number | bigint)[]>> = {
  float32: [...FLOATS, ...LARGE, 1e-45, -1e-40, 2 ** -126, 3.4028234663852886e38, 16777217],
  float64: [...FLOATS, ...LARGE, 5e-324, -1e-310, 2 ** -1022, 1.7976931348623157e308, 2 ** 53 + 2, 0.1],
  int64: [
    ...WHOLE.map(BigInt),
    2n ** 63n - 1n,
    -(2n ** 63n),
    2n ** 53n + 1n,
    -(2n ** 53n) - 1n,
    2n ** 32n,
    2n ** 31n,
    0x123456789abcdefn,
    -0x7654321fedcba98n,
  ],
  int32: WHOLE,
  float16: [...FLOATS, 65504, -65504, 6e-8, 6e-5, 2049],
  bfloat16: [...FLOATS, 3e38, 1e-40, 257],
  int16: [0, 1, -1, 2, 7, 31, 32, 100, -100, 127, 128, 255, 256, 32767, -32768],
  int8: [0, 1, -1, 2, 3, -3, 7, 31, 32, 63, 64, 100, -100, 127, -128],
  uint8: [0, 1, 2, 3, 7, 8, 9, 31, 32, 63, 64, 100, 127, 128, 200, 254, 255],
  bool: [0, 1],
};

/** The kth of numbers whose sums and products depend on their order: of both signs and many magnitudes. */
export const orderedNumber = (k: number): number => Math.sin(k * 12.9898) * 10 ** (k % 5);

/** Returns the given number of them. */
export const orderedNumbers = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, k) => orderedNumber(k));
