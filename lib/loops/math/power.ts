/**
 * pow: e^(y·log|x|), the logarithm and the product as unevaluated sums, and the table of special cases of C99 (F.9.4.4).
 * log(1 + f) = 2s + ⅔s³ + s⁵·P(s²), s = f/(2 + f), whose first two terms are sums. Where there is float64, float32 is
 * computed in it, with polynomials good enough to be rounded once.
 */
import { difference, exactProduct, fastSum, type MathBody, type Pair, polynomial, withSign } from "./body.ts";
import { atLeast, atMost, expOfPair } from "./exponential.ts";
import { constantsLike, nearestInteger, powerOfTwo } from "./format.ts";
import { splitAll } from "./logarithm.ts";

/** ln 2 as a sum, whose first part times an exponent is exact, and the rounding error of ⅔. */
const SPLIT = {
  float32: { ln2: [0.693145751953125, 1.4286068203094173e-6], twoThirds: -1.9868214925130208e-8 },
  float64: { ln2: [0.6931471805601177, -1.7239444525614835e-13], twoThirds: 3.700743415417188e-17 },
} as const;

/** (2·artanh s − 2s − ⅔s³) / s⁵ in s². */
const SERIES = [
  0.4000000000000227,
  0.2857142857009119,
  0.22222222521492027,
  0.18181784223985206,
  0.15386764172391384,
  0.13256653124425125,
  0.13197902360987615,
];

/** log x of a positive finite number as a sum: a fraction of float64 is wrong by 2⁻⁶⁴, one of float32 by 2⁻³⁵. */
function longLogPair<V>(o: MathBody<V>, x: V): Pair<V> {
  const { format: { dtype }, c } = constantsLike(o, x), { k, f } = splitAll(o, x);
  const { ln2, twoThirds } = SPLIT[dtype];
  const under = fastSum(o, c(2), f), inverse = o.div(c(1), under.high);
  const s = o.mul(f, inverse), negative = o.neg(s);
  const sLow = o.mul(o.fma(negative, under.low, difference(o, negative, under.high, f)), inverse);
  const z = exactProduct(o, s, s), zLow = o.fma(o.add(s, s), sLow, z.low);
  const cube = exactProduct(o, s, z.high), cubeLow = o.fma(sLow, z.high, o.fma(s, zLow, cube.low));
  const second = exactProduct(o, cube.high, c(2 / 3));
  const secondLow = o.fma(cube.high, c(twoThirds), o.fma(cubeLow, c(2 / 3), second.low));
  const rest = o.mul(o.mul(cube.high, z.high), polynomial(o, SERIES, z.high));
  const mantissa = fastSum(o, o.add(s, s), second.high);
  const sum = fastSum(o, o.mul(k, c(ln2[0])), mantissa.high);
  const small = o.add(o.add(o.add(sLow, sLow), secondLow), o.fma(k, c(ln2[1]), rest));
  return fastSum(o, sum.high, o.add(sum.low, o.add(mantissa.low, small)));
}

/** |x|^y for x that is neither 0 nor infinite. */
function powerOfSize<V>(o: MathBody<V>, size: V, y: V): V {
  // A greater exponent makes no difference
  const bounded = atLeast(o, atMost(o, y, 2 ** 65), -(2 ** 65)), log = longLogPair(o, size);
  const product = exactProduct(o, bounded, log.high);
  return expOfPair(o, { high: product.high, low: o.fma(bounded, log.low, product.low) });
}

/** log₂(1 + f) / s in s², s = f/(2 + f), |f| ≤ 1/3. */
const LOG2_WIDE = [
  2.885390081777422,
  0.9617966948290279,
  0.5770777548733214,
  0.41222622364521067,
  0.31928361129622757,
  0.2908454428570958,
];

/** 2^f on |f| ≤ ½. */
const EXP2_WIDE = [
  1.0000000005557546,
  0.6931472057701088,
  0.2402264688451486,
  0.05550328708581726,
  0.009618489355892849,
  0.0013399958517711233,
  0.00015345765414552282,
];

/** 2^(y·log₂ x), for float32 in float64; infinite and 0 far beyond the range of float32. */
function powerOfSizeF32<V>(o: MathBody<V>, size: V, y: V): V {
  const d = (value: number) => o.constant(value, "float64"), { k, f } = splitAll(o, size);
  const wide = o.cast(f, "float64"), s = o.div(wide, o.add(wide, d(2))), z = o.mul(s, s);
  const log = o.fma(s, polynomial(o, LOG2_WIDE, z), o.cast(k, "float64"));
  const exponent = atLeast(
    o,
    atMost(o, o.mul(atLeast(o, atMost(o, o.cast(y, "float64"), 2 ** 40), -(2 ** 40)), log), 200),
    -200,
  );
  const { n, bits } = nearestInteger(o, exponent);
  const mantissa = polynomial(o, EXP2_WIDE, o.sub(exponent, n));
  return o.cast(o.mul(mantissa, powerOfTwo(o, mantissa, bits)), "float32");
}

/** x^y. 1 where x is 1 or y is 0, NaN or not; NaN for negative x and exponents that are not integers. */
export function pow<V>(o: MathBody<V>, x: V, y: V): V {
  const { format: { dtype }, c } = constantsLike(o, x), size = o.abs(x);
  const wider = dtype === "float32" && o.arithmetic !== "single";
  const usual = wider ? powerOfSizeF32(o, size, y) : powerOfSize(o, size, y);
  const isZero = o.eq(size, c(0)), isInfinite = o.eq(size, c(Infinity));
  const edge = o.select(o.xor(isZero, o.lt(y, c(0))), c(0), c(Infinity));
  const magnitude = o.select(o.or(isZero, isInfinite), edge, usual);
  const half = o.mul(y, c(0.5)), whole = o.eq(o.round(y), y);
  const odd = o.and(whole, o.ne(o.round(half), half));
  const signed = o.select(odd, withSign(o, magnitude, x), magnitude);
  const undefinedRoot = o.and(o.and(o.lt(x, c(0)), o.not(isInfinite)), o.not(whole));
  const noNumber = o.or(undefinedRoot, o.or(o.isNan(x), o.isNan(y)));
  const isOne = o.or(o.eq(x, c(1)), o.eq(y, c(0)));
  return o.select(isOne, c(1), o.select(noNumber, c(NaN), signed));
}
