/**
 * float16 and bfloat16 to float32 and back over integer operations. Input: the 16 bits in the lower half of an int32,
 * or a float32; output: the other. Invariant: exact one way, rounded to nearest even the other; subnormal numbers
 * are kept though no operation here has a subnormal operand, which some devices take for 0. NaN stays NaN, made
 * quiet, with as much of its payload as fits, as the conversions of processors have it.
 */
import type { ScalarOps } from "../scalar.ts";

const int = <V>(o: ScalarOps<V>, value: number): V => o.constant(value, "int32");

/** The difference of the exponents' biases. */
const REBIAS = 127 - 15;

/** The float32 that the low 16 bits stand for as a float16. */
export function halfToFloat<V>(o: ScalarOps<V>, bits: V): V {
  const magnitude = o.and(bits, int(o, 0x7fff)), shifted = o.shl(magnitude, int(o, 13));
  const normal = o.add(shifted, int(o, REBIAS << 23));
  // A subnormal one is a whole number of the least steps
  const small = o.floatToBits(o.mul(o.cast(magnitude, "float32"), o.constant(2 ** -24, "float32")));
  const special = o.or(
    shifted,
    o.select(o.gt(magnitude, int(o, 0x7c00)), int(o, 0x7fc00000), int(o, 0x7f800000)),
  );
  const finite = o.select(o.lt(magnitude, int(o, 0x400)), small, normal);
  const result = o.select(o.lt(magnitude, int(o, 0x7c00)), finite, special);
  return o.bitsToFloat(o.or(result, o.shl(o.and(bits, int(o, 0x8000)), int(o, 16))));
}

/** The float16 nearest to a float32, in the low 16 bits. */
export function floatToHalf<V>(o: ScalarOps<V>, x: V): V {
  const bits = o.floatToBits(x),
    magnitude = o.and(bits, int(o, 0x7fffffff)),
    cut = o.shr(magnitude, int(o, 13));
  const up = o.add(o.add(magnitude, int(o, 0xfff)), o.and(cut, int(o, 1)));
  const normal = o.minimum(o.sub(o.shr(up, int(o, 13)), int(o, REBIAS << 10)), int(o, 0x7c00));
  // The last place of numbers from 1/2 on is the least step of float16, so the sum rounds to whole ones
  const small = o.sub(o.floatToBits(o.add(o.abs(x), o.constant(0.5, "float32"))), int(o, 0x3f000000));
  const number = o.select(o.lt(magnitude, int(o, 0x38800000)), small, normal);
  const nan = o.or(o.and(cut, int(o, 0x3ff)), int(o, 0x7e00));
  const result = o.select(o.gt(magnitude, int(o, 0x7f800000)), nan, number);
  return o.or(result, o.and(o.shr(bits, int(o, 16)), int(o, 0x8000)));
}

/** The float32 that the low 16 bits stand for as a bfloat16. */
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

/** The conversions by the names that the vocabulary has for them. */
export const HALF_CONVERSIONS = { halfToFloat, floatToHalf, bfloatToFloat, floatToBfloat } as const;
