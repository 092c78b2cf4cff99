/**
 * float16 and bfloat16 to float32 and back over integer operations. Invariant: widening is exact, narrowing rounds to
 * nearest even; subnormal numbers are preserved although no operation here has a subnormal operand, which some devices
 * flush to 0. NaN stays NaN, made quiet, with as much of its payload as fits, as in the conversions of processors.
 */
import type { ScalarOps } from "../scalar.ts";

const int = <V>(o: ScalarOps<V>, value: number): V => o.constant(value, "int32");

/** The difference of the exponents' biases. */
const REBIAS = 127 - 15;

/** The float32 with the value of the low 16 bits as a float16. */
export function halfToFloat<V>(o: ScalarOps<V>, bits: V): V {
  const magnitude = o.and(bits, int(o, 0x7fff));
  const isSmall = o.lt(magnitude, int(o, 0x400)), isSpecial = o.ge(magnitude, int(o, 0x7c00));
  // Subnormal numbers get the leading digit that they lack, which is subtracted again; infinity and NaN get the
  // greatest exponent. The selects choose constants, not results, so that compilers do not branch.
  const offset = o.select(isSpecial, int(o, 2 * REBIAS << 23), int(o, REBIAS << 23));
  const raised = o.add(o.shl(magnitude, int(o, 13)), o.select(isSmall, int(o, (REBIAS + 1) << 23), offset));
  const digit = o.select(isSmall, o.constant(2 ** -14, "float32"), o.constant(0, "float32"));
  const value = o.floatToBits(o.sub(o.bitsToFloat(raised), digit));
  return o.bitsToFloat(o.or(value, o.shl(o.and(bits, int(o, 0x8000)), int(o, 16))));
}

/** The float16 nearest to a float32, in the low 16 bits. */
export function floatToHalf<V>(o: ScalarOps<V>, x: V): V {
  const bits = o.floatToBits(x), magnitude = o.and(bits, int(o, 0x7fffffff));
  // The last place of numbers from 1/2 on is the smallest step of float16, so the sum rounds to multiples of it
  const isSmall = o.lt(magnitude, int(o, 0x38800000));
  const rounding = o.select(isSmall, o.constant(0.5, "float32"), o.constant(0, "float32"));
  const sum = o.floatToBits(o.add(o.abs(x), rounding)), cut = o.shr(sum, int(o, 13));
  const up = o.add(o.add(sum, int(o, 0xfff)), o.and(cut, int(o, 1)));
  const normal = o.minimum(o.sub(o.shr(up, int(o, 13)), int(o, REBIAS << 10)), int(o, 0x7c00));
  const number = o.select(isSmall, o.sub(sum, int(o, 0x3f000000)), normal);
  const nan = o.or(o.and(o.shr(magnitude, int(o, 13)), int(o, 0x3ff)), int(o, 0x7e00));
  const result = o.select(o.gt(magnitude, int(o, 0x7f800000)), nan, number);
  return o.or(result, o.and(o.shr(bits, int(o, 16)), int(o, 0x8000)));
}

/** The float32 with the value of the low 16 bits as a bfloat16. */
export function bfloatToFloat<V>(o: ScalarOps<V>, bits: V): V {
  return o.bitsToFloat(o.shl(bits, int(o, 16)));
}

/** The bfloat16 nearest to a float32, in the low 16 bits. */
export function floatToBfloat<V>(o: ScalarOps<V>, x: V): V {
  const bits = o.floatToBits(x), cut = o.shr(bits, int(o, 16));
  const up = o.add(bits, o.add(o.and(cut, int(o, 1)), int(o, 0x7fff)));
  const isNan = o.gt(o.and(bits, int(o, 0x7fffffff)), int(o, 0x7f800000));
  return o.select(isNan, o.or(cut, int(o, 0x40)), o.shr(up, int(o, 16)));
}

/** The conversions, by their names in the vocabulary. */
export const HALF_CONVERSIONS = { halfToFloat, floatToHalf, bfloatToFloat, floatToBfloat } as const;
