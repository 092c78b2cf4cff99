/** Powers with known exponents, by products and roots if those are as exact as the general function. */
import { isFloat } from "../../base/dtype.ts";
import type { Body } from "../../loops/body.ts";
import type { NumberRange } from "../params.ts";

/** An unevaluated sum: its rounded value and the rounding error; absent: 0. */
interface Pair<V> {
  readonly high: V;
  readonly low?: V;
}

/** Exponents whose powers are within half a unit in the last place, or two if fma rounds twice. */
const BY_PRODUCTS: readonly number[] = [1.5, 2.5, 4];

/** Exponents whose powers need not have the bits of the general function. */
const KNOWN_POWERS: readonly number[] = [1, 2, 3, 0.5, -1, ...BY_PRODUCTS];

/** Exponents that, with the one less of the gradient, have the bits of the general function. */
export const GENERAL_POWERS: NumberRange = {
  not: [0, ...KNOWN_POWERS, ...KNOWN_POWERS.map((exponent) => exponent + 1)],
};

/** x to a known power; undefined if the general function is better. */
export function knownPower<V>(o: Body<V>, x: V, exponent: unknown): V | undefined {
  const float = isFloat(o.dtypeOf(x));
  if (exponent === 1) return x;
  if (exponent === 2) return o.mul(x, x);
  if (exponent === 3) return o.mul(o.mul(x, x), x);
  if (!float) return undefined;
  if (exponent === 0.5) return o.sqrt(x);
  if (exponent === -1) return o.div(o.constant(1, o.dtypeOf(x)), x);
  return typeof exponent === "number" && BY_PRODUCTS.includes(exponent)
    ? powerByProducts(o, x, exponent)
    : undefined;
}

/** x to a power of two, or to a power of two plus a half, with the rounding errors of the products and the root. */
function powerByProducts<V>(o: Body<V>, x: V, exponent: number): V {
  const c = (value: number): V => o.constant(value, o.dtypeOf(x)), whole = Math.floor(exponent);
  let power: Pair<V> = { high: x };
  for (let n = 1; n < whole; n *= 2) power = product(o, power, power);
  const hasRoot = whole < exponent, { high, low = c(0) } = hasRoot ? product(o, power, rootOf(o, x)) : power;
  // The error of an infinite or zero value is NaN
  const isUsual = o.and(o.lt(o.abs(high), c(Infinity)), o.gt(o.abs(low), c(0)));
  const value = o.select(isUsual, o.add(high, low), high);
  return hasRoot ? o.select(o.eq(x, c(-Infinity)), c(Infinity), o.abs(value)) : value;
}

function product<V>(o: Body<V>, a: Pair<V>, b: Pair<V>): Pair<V> {
  const high = o.mul(a.high, b.high), rest = o.fma(a.high, b.high, o.neg(high));
  const ofB = b.low === undefined ? rest : o.fma(a.high, b.low, rest);
  return { high, low: a.low === undefined ? ofB : o.fma(a.low, b.high, ofB) };
}

/** √x = s + (x − s²) / 2√x, s the rounded root. */
function rootOf<V>(o: Body<V>, x: V): Pair<V> {
  const high = o.sqrt(x), rest = o.fma(o.neg(high), high, x), half = o.constant(0.5, o.dtypeOf(x));
  return { high, low: o.mul(o.mul(rest, half), o.rsqrt(x)) };
}
