/**
 * exp, exp2, expm1: reduction x = n·ln 2 + r, |r| ≤ ½·ln 2, in two parts (Cody and Waite, "Software Manual for the
 * Elementary Functions"), a minimax polynomial in r, and n added to the bits of the exponent. n is found by adding
 * 1.5·2^(digits − 1), which rounds, and leaves n in the low bits of the sum.
 */
import { type MathOps, polynomial } from "./body.ts";

/** (e^r − 1 − r) / r² on |r| ≤ ½·ln 2, for float32. */
const EXP_F32 = [
  0.4999999403953552,
  0.16666515171527863,
  0.041668448597192764,
  0.008369323797523975,
  0.001381334033794701,
];
const ROUND_F32 = 12582912;

/** x = n·ln 2 + r: `m` = e^r − 1, and integer bits whose lowest ones are n. */
export interface ExpParts<V> {
  readonly m: V;
  readonly bits: V;
}

/** The parts of e^x in float32, for |x| < 10⁶. */
export function expPartsF32<V>(o: MathOps<V>, x: V): ExpParts<V> {
  const c = (value: number) => o.constant(value, "float32");
  const shifted = o.fma(x, c(Math.LOG2E), c(ROUND_F32));
  const n = o.sub(shifted, c(ROUND_F32));
  const r = o.fma(n, c(2.12194440e-4), o.fma(n, c(-0.693359375), x));
  return { m: o.fma(o.mul(r, r), polynomial(o, EXP_F32, r), r), bits: o.floatToBits(shifted) };
}

/** 2ⁿ in float32 for the n in the low bits of an integer, −126 ≤ n ≤ 127. */
export function powerOfTwoF32<V>(o: MathOps<V>, bits: V): V {
  return o.bitsToFloat(o.add(o.shl(bits, o.constant(23, "int32")), o.constant(0x3f800000, "int32")));
}

/** Results near and below the least normal number take a detour by 2⁶⁴, so that they are rounded once. */
export function expF32<V>(o: MathOps<V>, x: V): V {
  const c = (value: number) => o.constant(value, "float32"),
    i = (value: number) => o.constant(value, "int32");
  const small = o.lt(x, c(-80));
  const { m, bits } = expPartsF32(o, o.select(o.lt(x, c(-104)), c(-104), x));
  const power = o.add(o.shl(bits, i(23)), o.select(small, i(64 << 23), i(0)));
  const scaled = o.bitsToFloat(o.add(o.floatToBits(o.add(m, c(1))), power));
  const result = o.select(small, o.mul(scaled, c(2 ** -64)), scaled);
  // NaN and overflow
  return o.select(o.le(x, c(88.72283172607422)), result, o.add(x, c(Infinity)));
}
