/**
 * exp, exp2, expm1: reduction x = n·ln 2 + r, |r| ≤ ½·ln 2, in two parts (Cody and Waite, "Software Manual for the
 * Elementary Functions"), a minimax polynomial in r, and n added to the bits of the exponent. n is found by adding
 * 1.5·2^digits, which rounds, and leaves n in the low bits of the sum.
 */
import { fastSum, kept, type MathBody, type Pair, polynomial, quickly } from "./body.ts";
import { constantsLike, type FloatValueType, nearestInteger, powerOfTwo } from "./format.ts";

interface ExponentialTable {
  /** ln 2 as a sum; n times the first part is exact once x is added (by fma, or because it has few digits). */
  readonly ln2: readonly [number, number];
  /** (e^r − 1 − r) / r² on |r| ≤ ½·ln 2: good enough for e^r, and for e^r − 1. */
  readonly exp: readonly number[];
  readonly expm1: readonly number[];
  /** (2^f − 1) / f on |f| ≤ ½. */
  readonly exp2: readonly number[];
  /** e^x and 2^x are infinite above, and 0 below. */
  readonly largest: number;
  readonly largest2: number;
  readonly zero: number;
  readonly zero2: number;
  /** expm1 is −1 below. */
  readonly minusOne: number;
}

const TABLES: Readonly<Record<FloatValueType, ExponentialTable>> = {
  float32: {
    ln2: [0.693359375, -2.12194440e-4],
    exp: [
      0.4999999403953552,
      0.16666515171527863,
      0.041668448597192764,
      0.008369323797523975,
      0.001381334033794701,
    ],
    expm1: [
      0.5,
      0.1666666567325592,
      0.04166635870933533,
      0.008333389647305012,
      0.0013940719654783607,
      0.00019845944189000875,
    ],
    exp2: [
      0.6931471824645996,
      0.24022650718688965,
      0.05550357699394226,
      0.009618105366826057,
      0.0013391977408900857,
      0.0001544117694720626,
    ],
    largest: 88.72283172607422,
    largest2: 127.99999237060547,
    zero: -104,
    zero2: -151,
    minusOne: -18,
  },
  float64: {
    ln2: [0.6931471805599453, 2.3190468138462996e-17],
    exp: [
      0.5000000000000006,
      0.16666666666666588,
      0.04166666666657611,
      0.008333333333389972,
      0.0013888888931793447,
      0.00019841269718324223,
      2.4801504980527055e-05,
      2.7557407872358224e-06,
      2.762616082659028e-07,
      2.5053776375863808e-08,
    ],
    expm1: [
      0.5,
      0.16666666666666677,
      0.041666666666666685,
      0.008333333333321804,
      0.0013888888888893675,
      0.000198412698853269,
      2.4801587279089737e-05,
      2.7557245153426255e-06,
      2.755732932426222e-07,
      2.5108692347211178e-08,
      2.0894025508247804e-09,
    ],
    exp2: [
      0.6931471805599453,
      0.2402265069591015,
      0.05550410866482406,
      0.009618129107586216,
      0.001333355814577441,
      0.0001540353046737609,
      1.5252734481132803e-05,
      1.3215430091231622e-06,
      1.017778089156966e-07,
      7.074679923342729e-09,
      4.4985085116109617e-10,
    ],
    largest: 709.782712893384,
    largest2: 1023.9999999999999,
    zero: -746,
    zero2: -1076,
    minusOne: -40,
  },
};

/** The table of a value's type. */
const tableOf = <V>(o: MathBody<V>, x: V): ExponentialTable => TABLES[constantsLike(o, x).format.dtype];

/** x = n·ln 2 + r. */
interface Reduced<V> {
  readonly r: Pair<V>;
  /** An integer whose lowest bits are n. */
  readonly bits: V;
}

/** For |x| below 10⁴. */
function reduced<V>(o: MathBody<V>, x: V): Reduced<V> {
  const { c } = constantsLike(o, x), [first, second] = tableOf(o, x).ln2;
  const { n, bits } = nearestInteger(o, x, Math.LOG2E);
  const part = kept(o, o.fma(n, c(-first), x)), high = kept(o, o.fma(n, c(-second), part));
  return { r: { high, low: o.fma(n, c(-second), o.sub(part, high)) }, bits };
}

/** e^x = (1 + m)·2ⁿ. */
interface ExpParts<V> {
  /** e^r − 1 and its rounding error. */
  readonly m: Pair<V>;
  /** An integer whose lowest bits are n. */
  readonly bits: V;
}

/** The parts of e^x, |x| below 10⁴. */
export function expParts<V>(o: MathBody<V>, x: V): ExpParts<V> {
  const { r: { high, low }, bits } = reduced(o, x);
  const series = polynomial(o, tableOf(o, x).expm1, high);
  return { m: fastSum(o, high, o.fma(o.mul(high, high), series, o.fma(high, low, low))), bits };
}

/** e^(high + low) = (1 + m)·2ⁿ with m rounded, for results that depend little on it. */
export function shortExpParts<V>(
  o: MathBody<V>,
  x: { readonly high: V; readonly low?: V },
): { readonly m: V; readonly bits: V } {
  const { r, bits } = reduced(o, x.high), rest = x.low === undefined ? r.high : o.add(r.high, x.low);
  return { m: o.fma(o.mul(rest, rest), polynomial(o, tableOf(o, rest).exp, rest), rest), bits };
}

/**
 * mantissa·2ⁿ for an exponential of x: n goes straight into the exponent. Results near and below the least normal
 * number take a detour by 2⁶⁴, so that they are rounded once. NaN and overflow are x + ∞.
 */
function scaled<V>(
  o: MathBody<V>,
  { mantissa, bits }: { readonly mantissa: V; readonly bits: V },
  { x, largest, small }: { readonly x: V; readonly largest: number; readonly small: number },
): V {
  const { format: { digits }, c, i } = constantsLike(o, x), exponent = o.shl(bits, i(digits));
  const raised = (power: V): V => o.bitsToFloat(o.add(o.floatToBits(mantissa), power));
  const whole = (): V => {
    const isSmall = o.lt(x, c(small));
    const large = raised(o.add(exponent, o.select(isSmall, i(64n << BigInt(digits)), i(0))));
    const result = o.select(isSmall, o.mul(large, c(2 ** -64)), large);
    return o.select(o.le(x, c(largest)), result, o.add(x, c(Infinity)));
  };
  // As integers, NaN and ∞ are above every number
  const unusual = (): V => o.gt(o.floatToBits(o.abs(x)), o.floatToBits(c(-small)));
  return quickly(o, { unusual, quick: () => raised(exponent), whole });
}

/** x, or a bound where x is less; NaN stays. */
export function atLeast<V>(o: MathBody<V>, x: V, bound: number): V {
  const { c } = constantsLike(o, x);
  return o.select(o.lt(x, c(bound)), c(bound), x);
}

/** x, or a bound where x is greater; NaN stays. */
export function atMost<V>(o: MathBody<V>, x: V, bound: number): V {
  const { c } = constantsLike(o, x);
  return o.select(o.gt(x, c(bound)), c(bound), x);
}

/** e^x, the mantissa e^r as one polynomial. */
export function exp<V>(o: MathBody<V>, x: V): V {
  const { largest, zero, exp: series } = tableOf(o, x);
  const { r: { high }, bits } = reduced(o, atLeast(o, x, zero));
  const mantissa = polynomial(o, [1, 1, ...series], high);
  return scaled(o, { mantissa, bits }, { x, largest, small: 0.8 * zero });
}

/** 2^x: x = n + f, and 2^f = 1 + f·P(f). */
export function exp2<V>(o: MathBody<V>, x: V): V {
  const { c } = constantsLike(o, x), table = tableOf(o, x);
  const clamped = atLeast(o, x, table.zero2);
  const { n, bits } = nearestInteger(o, clamped);
  const f = o.sub(clamped, n);
  const mantissa = o.fma(f, polynomial(o, table.exp2, f), c(1));
  return scaled(o, { mantissa, bits }, { x, largest: table.largest2, small: 0.8 * table.zero2 });
}

/**
 * 2ⁿ·m + (2ⁿ − 1), by halves, so that 2ⁿ does not overflow before the result does. If x² is negligible, the result is
 * x.
 */
export function expm1<V>(o: MathBody<V>, x: V): V {
  const { format: { digits }, c, i } = constantsLike(o, x), table = tableOf(o, x);
  const { m, bits } = expParts(o, atMost(o, atLeast(o, x, table.minusOne), table.largest + 0.2));
  const power = powerOfTwo(o, x, o.sub(bits, i(1))), whole = o.sub(power, c(0.5));
  const high = kept(o, o.fma(m.high, power, whole)), low = o.fma(m.high, power, o.sub(whole, high));
  const lost = o.sub(o.sub(power, whole), c(0.5));
  const half = o.add(high, o.add(lost, o.fma(m.low, power, low)));
  return o.select(o.lt(o.abs(x), c(2 ** (-digits - 2))), x, o.add(half, half));
}

/** e^(high + low) in two scalings, so that results are rounded once. */
export function expOfPair<V>(o: MathBody<V>, { high, low }: Pair<V>): V {
  const { c, i } = constantsLike(o, high), { largest, zero } = tableOf(o, high);
  const clamped = atLeast(o, atMost(o, high, largest + 10), zero - 4);
  const { r, bits } = reduced(o, clamped);
  // Beyond the bounds the low part may be large
  const rest = o.add(r.high, o.add(r.low, o.select(o.eq(clamped, high), low, c(0))));
  const mantissa = polynomial(o, [1, 1, ...tableOf(o, high).expm1], rest), falls = o.lt(high, c(0));
  const power = powerOfTwo(o, high, o.add(bits, o.select(falls, i(64), i(-64))));
  return o.mul(o.mul(mantissa, power), o.select(falls, c(2 ** -64), c(2 ** 64)));
}
