/**
 * sinh, cosh, tanh and their inverses, from the parts of the exponential and of the logarithm. Where the difference of
 * exponentials would cancel, odd minimax polynomials are used.
 */
import {
  difference,
  exactProduct,
  exactSum,
  fastSum,
  flipSign,
  kept,
  lostByRoot,
  type MathBody,
  oddPolynomial,
  type Pair,
  signBit,
  withSign,
} from "./body.ts";
import { atMost, expParts, shortExpParts } from "./exponential.ts";
import { constantsLike, type FloatValueType, powerOfTwo } from "./format.ts";
import { log1pParts } from "./logarithm.ts";

interface HyperbolicTable {
  /** (tanh x / x − 1) / x² in x² on |x| ≤ 0.9; from `one` on, tanh is 1. */
  readonly tanh: readonly number[];
  readonly one: number;
  /** (sinh x / x − 1) / x² in x² on |x| ≤ 1; above `most`, sinh and cosh are infinite. */
  readonly sinh: readonly number[];
  readonly most: number;
}

const TABLES: Readonly<Record<FloatValueType, HyperbolicTable>> = {
  float32: {
    tanh: [
      -0.33333322405815125,
      0.13332980871200562,
      -0.05392947420477867,
      0.02166409231722355,
      -0.00826545525342226,
      0.002583425957709551,
      -0.0004557101638056338,
    ],
    one: 9.5,
    sinh: [0.1666666716337204, 0.008333311416208744, 0.00019842635083477944, 2.783925765470485e-6],
    most: 89.6,
  },
  float64: {
    tanh: [
      -0.33333333333333,
      0.1333333333329554,
      -0.05396825395327582,
      0.021869488235190998,
      -0.008863231931016763,
      0.003592100052270565,
      -0.0014556850338836975,
      0.0005894614692561804,
      -0.00023757459938926823,
      9.378717093746063e-05,
      -3.4651927207697845e-05,
      1.0902592076323536e-05,
      -2.4767666717408413e-06,
      2.906520116359802e-07,
    ],
    one: 22,
    sinh: [
      0.16666666666666669,
      0.008333333333332915,
      0.0001984126984158926,
      2.7557319108460267e-6,
      2.505213068630413e-8,
      1.6056685487466412e-10,
      7.775769690930486e-13,
    ],
    most: 710.6,
  },
};

const tableOf = <V>(o: MathBody<V>, x: V): HyperbolicTable => TABLES[constantsLike(o, x).format.dtype];

/** An odd polynomial up to 0.9, and 1 − 2 / (exp(2|x|) + 1) above. */
export function tanh<V>(o: MathBody<V>, x: V): V {
  const { c } = constantsLike(o, x), table = tableOf(o, x), size = o.abs(x);
  const a = atMost(o, size, table.one), { m, bits } = shortExpParts(o, { high: o.add(a, a) });
  const power = powerOfTwo(o, x, bits);
  const large = o.sub(c(1), o.div(c(2), o.fma(m, power, o.add(power, c(1)))));
  return withSign(o, o.select(o.lt(size, c(0.9)), oddPolynomial(o, table.tanh, size), large), x);
}

/** ½·(e^|x| ± e^−|x|), by halves of it, so that e^|x| does not overflow before the result does. */
function halfSum<V>(o: MathBody<V>, size: V, sign: 1 | -1): V {
  const { c, i } = constantsLike(o, size), table = tableOf(o, size);
  const { m, bits } = expParts(o, atMost(o, size, table.most));
  const quarter = powerOfTwo(o, size, o.sub(bits, i(2)));
  const rising = fastSum(o, quarter, o.mul(quarter, m.high));
  const falling = o.div(c(sign * 0.0625), rising.high);
  const sum = fastSum(o, rising.high, falling);
  const half = o.add(sum.high, o.add(sum.low, o.fma(quarter, m.low, rising.low)));
  return o.add(half, half);
}

/** An odd polynomial below 1, ½·(e^|x| − e^−|x|) above. */
export function sinh<V>(o: MathBody<V>, x: V): V {
  const { c } = constantsLike(o, x), size = o.abs(x);
  const large = flipSign(o, halfSum(o, size, -1), signBit(o, x));
  return o.select(o.lt(size, c(1)), oddPolynomial(o, tableOf(o, x).sinh, x), large);
}

/** ½·(e^|x| + e^−|x|). */
export function cosh<V>(o: MathBody<V>, x: V): V {
  return halfSum(o, o.abs(x), 1);
}

/** log(1 + high + low), and of 2·high where high is huge. */
function logOfSum<V>(
  o: MathBody<V>,
  { high, low }: Pair<V>,
  huge: V,
): V {
  const { c } = constantsLike(o, high), log = log1pParts(o, high);
  return o.add(log.high, o.add(log.low, o.select(huge, c(Math.LN2), o.div(low, log.whole))));
}

/** log(1 + |x| + (√(x² + 1) − 1)), with the square root as a sum; log(2·|x|) where 1 is negligible. */
export function asinh<V>(o: MathBody<V>, x: V): V {
  const { format: { digits }, c } = constantsLike(o, x), size = o.abs(x);
  const huge = o.gt(size, c(2 ** (digits + 4)));
  const square = exactProduct(o, size, size), more = exactSum(o, square.high, c(1));
  const root = o.sqrt(more.high);
  const lost = lostByRoot(o, root, { high: more.high, low: o.add(more.low, square.low) });
  const { high, low } = fastSum(o, size, o.sub(root, c(1)));
  const sum = { high: o.select(huge, size, high), low: o.add(low, lost) };
  const result = o.select(o.lt(size, c(Infinity)), logOfSum(o, sum, huge), size);
  return withSign(o, result, x);
}

/** log(1 + t + √(2t + t²)), t = x − 1, with the square root as a sum; log(2x) where 1 is negligible. */
export function acosh<V>(o: MathBody<V>, x: V): V {
  const { format: { digits }, c } = constantsLike(o, x);
  const huge = o.gt(x, c(2 ** (digits + 4)));
  const t = o.sub(x, c(1)), twice = o.add(t, t), square = kept(o, o.fma(t, t, twice));
  const root = o.sqrt(square);
  const lost = lostByRoot(o, root, { high: square, low: difference(o, t, t, o.sub(twice, square)) });
  const { high, low } = fastSum(o, root, t);
  const sum = { high: o.select(huge, x, high), low: o.add(low, lost) };
  const result = o.select(o.lt(x, c(Infinity)), logOfSum(o, sum, huge), x);
  return o.select(o.lt(x, c(1)), c(NaN), result);
}

/** ½·log(1 + 2|x| / (1 − |x|)), with the quotient as a sum. */
export function atanh<V>(o: MathBody<V>, x: V): V {
  const { c } = constantsLike(o, x), size = o.abs(x), twice = o.add(size, size);
  const rest = fastSum(o, c(1), o.neg(size)), quotient = o.div(twice, rest.high);
  const wrong = o.fma(o.neg(quotient), rest.low, difference(o, o.neg(quotient), rest.high, twice));
  const log = log1pParts(o, quotient);
  const sum = o.add(log.high, o.add(log.low, o.div(o.div(wrong, rest.high), log.whole)));
  const outside = o.select(o.eq(size, c(1)), c(Infinity), c(NaN));
  return withSign(o, o.select(o.lt(size, c(1)), o.mul(sum, c(0.5)), outside), x);
}
