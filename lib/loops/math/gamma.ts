/**
 * lgamma and digamma in float64; float32 is rounded once from it.
 *
 * lgamma: below 8 the argument is moved to y in [1.5, 2.5) by the recurrence Γ(x + 1) = x·Γ(x), where
 * log Γ(y) = (y − 2)·P(y − 2) keeps its relative precision at the zeros 1 and 2; from 8 on Stirling's series. Negative
 * arguments are reflected in a masked part.
 * digamma: below 4 the recurrence, as one fraction; then log x − 1/(2x) and a polynomial in 1/x² (compare Abramowitz
 * and Stegun 6.3.18).
 */
import {
  difference,
  exactProduct,
  exactSum,
  flipSign,
  type MathBody,
  type Pair,
  polynomial,
  signBit,
} from "./body.ts";
import { constantsLike } from "./format.ts";
import { logPair } from "./logarithm.ts";
import { sineOfHalfTurns, tangentOfHalfTurns } from "./trigonometry.ts";

/** log Γ(2 + z) / z, |z| ≤ ½. */
const NEAR_TWO = [
  0.42278433509846713,
  0.32246703342411326,
  -0.0673523010531956,
  0.02058080842777715,
  -0.0073855510289383775,
  0.0028905103312155613,
  -0.001192753900906158,
  0.0005096695108447231,
  -0.00022315497893346997,
  9.945773456029851e-5,
  -4.4923714829752706e-5,
  2.0505128529875048e-5,
  -9.456349574308452e-6,
  4.3866990637536674e-6,
  -1.9741583066605835e-6,
  9.15485557171813e-7,
  -5.812822164646394e-7,
  2.830468706921444e-7,
];

/** (log Γ(x) − (x − ½)·log x + x − ½·log 2π)·x in 1/x², x ≥ 8. */
const STIRLING = [
  0.08333333333333333,
  -0.0027777777777548483,
  0.0007936507750894251,
  -0.0005952325000061795,
  0.0008409579236764038,
  -0.0018608719438719017,
  0.004429659621197438,
];

/** (ψ(x) − log x + 1/(2x))·x² in 1/x², x ≥ 4. */
const DIGAMMA = [
  -0.08333333333333234,
  0.008333333332527466,
  -0.003968253740472559,
  0.004166634562785725,
  -0.0075731249835172335,
  0.020956400171981405,
  -0.07864453756301411,
  0.33261098167726233,
  -1.1919978499268833,
  2.349615706524507,
];

/** log Γ(x) for x ≥ 0. */
function lgammaOfPositive<V>(o: MathBody<V>, x: V): V {
  const { c } = constantsLike(o, x), isLarge = o.ge(x, c(8));
  // Γ(x) = Γ(2 + z)·over above 2.5, Γ(2 + z) / under below 1.5
  let y = x, over = c(1);
  for (let step = 0; step < 6; step++) {
    const less = o.sub(y, c(1)), down = o.ge(y, c(2.5));
    over = o.select(down, o.mul(over, less), over);
    y = o.select(down, less, y);
  }
  const rises = o.lt(x, c(1.5)), twice = o.lt(x, c(0.5)), minusOne = o.sub(x, c(1));
  const under = o.select(twice, o.fma(x, x, x), x);
  const z = o.select(twice, x, o.select(rises, minusOne, o.sub(y, c(2))));
  const log = logPair(o, o.select(isLarge, x, o.select(rises, under, over)));
  const sign = o.select(rises, c(-1), c(1)), [first = 0, ...others] = NEAR_TWO;
  // The terms may cancel down to a third, so the first term of the series is kept exact
  const term = exactProduct(o, z, c(first)), rest = o.fma(o.mul(z, z), polynomial(o, others, z), term.low);
  const small = o.add(o.fma(sign, log.high, term.high), o.fma(sign, log.low, rest));
  const inverse = o.div(c(1), x), series = o.mul(inverse, polynomial(o, STIRLING, o.mul(inverse, inverse)));
  const least = o.fma(x, log.low, o.add(series, c(0.41893853320467274)));
  const large = o.fma(o.sub(x, c(0.5)), o.sub(log.high, c(1)), least);
  return o.select(o.isNan(x), x, o.select(o.eq(x, c(0)), c(Infinity), o.select(isLarge, large, small)));
}

/** log |Γ(x)|; ∞ at the poles. Reflection: log(π / |x·sin πx|) − log Γ(−x). */
export function lgammaF64<V>(o: MathBody<V>, x: V): V {
  const { c } = constantsLike(o, x), size = o.abs(x), usual = lgammaOfPositive(o, size);
  const result = o.masked(o.lt(x, c(0)), () => {
    const sine = o.abs(sineOfHalfTurns(o, o.sub(x, o.round(x))));
    const reflected = o.sub(o.log(o.div(c(Math.PI), o.mul(size, sine))), usual);
    // sin πx is πx where x is tiny, and the product may underflow
    const finite = o.select(o.lt(size, c(2 ** -60)), usual, reflected);
    return o.select(o.eq(x, o.floor(x)), c(Infinity), finite);
  }, usual);
  return o.select(o.eq(size, c(Infinity)), c(Infinity), result);
}

/** over/under + 1/y, both fractions of sums. */
function withReciprocal<V>(o: MathBody<V>, { over, under }: Fraction<V>, y: V): Fraction<V> {
  const first = exactProduct(o, over.high, y), sum = exactSum(o, first.high, under.high);
  const low = o.add(o.fma(over.low, y, first.low), o.add(under.low, sum.low));
  const product = exactProduct(o, under.high, y);
  return {
    over: { high: sum.high, low },
    under: { high: product.high, low: o.fma(under.low, y, product.low) },
  };
}

interface Fraction<V> {
  readonly over: Pair<V>;
  readonly under: Pair<V>;
}

/** ψ(x) for x > 0. The terms cancel at the zero near 1.46 and below it, so that they are sums. */
function digammaOfPositive<V>(o: MathBody<V>, x: V): V {
  const { c } = constantsLike(o, x), none = { high: c(0), low: c(0) };
  // ψ(x) = ψ(y) − fraction, y = x + steps
  let y = x, steps = c(0), fraction: Fraction<V> = { over: none, under: { high: c(1), low: c(0) } };
  for (let step = 0; step < 4; step++) {
    const up = o.lt(x, c(4 - step)), next = withReciprocal(o, fraction, y), before = fraction;
    const chosen = (of: (from: Fraction<V>) => V): V => o.select(up, of(next), of(before));
    fraction = {
      over: { high: chosen((from) => from.over.high), low: chosen((from) => from.over.low) },
      under: { high: chosen((from) => from.under.high), low: chosen((from) => from.under.low) },
    };
    steps = o.select(up, c(step + 1), steps);
    y = o.select(up, o.add(x, c(step + 1)), y);
  }
  const { over, under } = fraction, scale = o.div(c(1), under.high), quotient = o.mul(over.high, scale);
  const minus = o.neg(quotient),
    rest = o.add(difference(o, minus, under.high, over.high), o.fma(minus, under.low, over.low));
  const inverse = o.div(c(1), y), square = o.mul(inverse, inverse), log = logPair(o, y);
  const series = o.fma(inverse, c(-0.5), o.mul(square, polynomial(o, DIGAMMA, square)));
  const lost = o.mul(o.sub(x, o.sub(y, steps)), inverse);
  const sum = exactSum(o, log.high, minus);
  const small = o.add(o.add(log.low, lost), o.fma(o.neg(rest), scale, series));
  const finite = o.select(o.lt(quotient, c(Infinity)), o.add(sum.high, o.add(sum.low, small)), minus);
  return o.select(o.lt(x, c(Infinity)), finite, x);
}

/** ψ(x); ∓∞ at ±0, NaN at the other poles. Reflection: ψ(1 − x) − π / tan πx. */
export function digammaF64<V>(o: MathBody<V>, x: V): V {
  const { c } = constantsLike(o, x), negative = o.lt(x, c(0));
  const usual = digammaOfPositive(o, o.select(negative, o.sub(c(1), x), x));
  const result = o.masked(negative, () => {
    // cot πx = tan(π/2 − πx); the subtraction is exact from a quarter on
    const part = o.sub(x, o.round(x)), isNear = o.lt(o.abs(part), c(0.25));
    const other = flipSign(o, o.sub(c(0.5), o.abs(part)), signBit(o, part));
    const tangent = tangentOfHalfTurns(o, o.select(isNear, part, other));
    const cotangent = o.select(isNear, o.div(c(1), tangent), tangent);
    return o.select(o.eq(part, c(0)), c(NaN), o.fma(cotangent, c(-Math.PI), usual));
  }, usual);
  return o.select(o.eq(x, c(0)), o.div(c(-1), x), result);
}

/** Rounded once from float64. */
export function lgammaF32<V>(o: MathBody<V>, x: V): V {
  return o.cast(o.lgamma(o.cast(x, "float64")), "float32");
}

/** Rounded once from float64. */
export function digammaF32<V>(o: MathBody<V>, x: V): V {
  return o.cast(o.digamma(o.cast(x, "float64")), "float32");
}
