/**
 * sin, cos, tan: x = n·π/2 + r, r as an unevaluated sum of two floats, and minimax polynomials on |r| ≤ π/4. For
 * usual arguments π/2 is subtracted in three parts (Cody and Waite; the first difference is exact with fma). Large
 * ones multiply the bits of x with those of 1/2π around the binary point (Payne and Hanek, "Radian Reduction for
 * Trigonometric Functions", 1983), in a masked part.
 */
import {
  difference,
  exactProduct,
  fastSum,
  flipSign,
  kept,
  type MathBody,
  type Pair,
  polynomial,
} from "./body.ts";
import { constantsLike, type FloatValueType, nearestInteger } from "./format.ts";
import { quarterTurnsOfLargeF32, quarterTurnsOfLargeF64 } from "./large_arguments.ts";
import type { QuarterTurns } from "./large_arguments.ts";

interface TrigonometryTable {
  /** π/2 as a sum. */
  readonly quarter: readonly [number, number, number];
  /** The largest |x| whose n and r the short reduction finds, and the same where fma may round twice. */
  readonly near: number;
  readonly nearTwice?: number;
  /** (sin r / r − 1) / r², (cos r − 1) / r² and (tan r / r − 1) / r² in r², |r| ≤ π/4. */
  readonly sin: readonly number[];
  readonly cos: readonly number[];
  readonly tan: readonly number[];
}

const TABLES: Readonly<Record<FloatValueType, TrigonometryTable>> = {
  float32: {
    quarter: [1.5707963705062866, -4.371138828673793e-8, -1.7151245100058819e-15],
    near: 2 ** 17,
    nearTwice: 2 ** 12,
    sin: [-0.16666653752326965, 0.008332101628184319, -0.00019506820535752922],
    cos: [-0.5, 0.04166664555668831, -0.0013887298991903663, 2.443020093778614e-5],
    tan: [
      0.3333335220813751,
      0.13332560658454895,
      0.0540727861225605,
      0.021211260929703712,
      0.011028552427887917,
      -0.0001639207184780389,
      0.004505068529397249,
    ],
  },
  float64: {
    quarter: [1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33],
    near: 2 ** 30,
    sin: [
      -0.16666666666666632,
      0.008333333333322486,
      -0.0001984126982985331,
      2.755731370503179e-06,
      -2.5050759883869057e-08,
      1.5896886128390974e-10,
    ],
    cos: [
      -0.5,
      0.0416666666666666,
      -0.001388888888887447,
      2.4801587289666817e-05,
      -2.7557314399204037e-07,
      2.087572898109394e-09,
      -1.1359916451057691e-11,
    ],
    tan: [
      0.33333333333332776,
      0.13333333333414824,
      0.05396825392657134,
      0.021869489611324663,
      0.008863219131526235,
      0.0035922893731129123,
      0.0014547561893807476,
      0.0005950721551244704,
      0.00022235827769732068,
      0.00013656895110735092,
      -2.644570678218066e-05,
      8.950534374630103e-05,
      -4.490417499459715e-05,
      2.086964790199647e-05,
    ],
  },
};

const tableOf = <V>(o: MathBody<V>, x: V): TrigonometryTable => TABLES[constantsLike(o, x).format.dtype];

/** x − n·p, exact where they nearly cancel. Products of n with either half of p are exact. */
function without<V>(o: MathBody<V>, x: V, { n, p }: { readonly n: V; readonly p: number }): V {
  const { c } = constantsLike(o, x);
  if (o.arithmetic !== "single") return o.fma(n, c(-p), x);
  const upper = Math.trunc(p * 2 ** 7) / 2 ** 7;
  return kept(o, o.fma(n, c(upper - p), kept(o, o.fma(n, c(-upper), x))));
}

/** For |x| up to the table's `near`. The product with the second part of π/2 is exact, because the first may cancel. */
function quarterTurns<V>(o: MathBody<V>, x: V): QuarterTurns<V> {
  const { c } = constantsLike(o, x), [p0, p1, p2] = tableOf(o, x).quarter;
  const { n, bits } = nearestInteger(o, x, 2 / Math.PI);
  const second = exactProduct(o, n, c(-p1));
  const { high, low } = fastSum(o, without(o, x, { n, p: p0 }), second.high);
  return { r: { high, low: o.add(low, o.fma(n, c(-p2), second.low)) }, n: bits };
}

/** r², including the contribution of the low part. */
function square<V>(o: MathBody<V>, { high, low }: Pair<V>): V {
  const half = o.mul(high, low);
  return o.fma(high, high, o.add(half, half));
}

/** Returns whether a bit of an integer is set. */
function hasBit<V>(o: MathBody<V>, x: V, bit: number): V {
  const dtype = o.dtypeOf(x);
  return o.ne(o.and(x, o.constant(bit, dtype)), o.constant(0, dtype));
}

/** sin(r + n·π/2). */
function sineOfTurns<V>(o: MathBody<V>, { r, n }: QuarterTurns<V>): V {
  const { format: { digits }, c, i } = constantsLike(o, r.high), table = tableOf(o, r.high);
  const z = square(o, r);
  const sine = o.add(r.high, o.fma(o.mul(r.high, z), polynomial(o, table.sin, z), r.low));
  const cosine = o.fma(z, polynomial(o, table.cos, z), c(1));
  const top = digits === 23 ? 31 : 63;
  const flip = o.and(o.shl(n, i(top - 1)), i(-(1n << BigInt(top))));
  return flipSign(o, o.select(hasBit(o, n, 1), cosine, sine), flip);
}

/**
 * tan(r + n·π/2): tan r, or −1 / tan r corrected by one step of Newton's method. r³/3 is too large a part of the result
 * to be rounded three times, so it is kept as a sum.
 */
function tangentOfTurns<V>(o: MathBody<V>, { r, n }: QuarterTurns<V>): V {
  const { c } = constantsLike(o, r.high), { high, low } = r;
  const [third = 0, ...others] = tableOf(o, high).tan, half = o.mul(high, low);
  const z = exactProduct(o, high, high), zLow = o.add(z.low, o.add(half, half));
  const cube = exactProduct(o, high, z.high), part = exactProduct(o, cube.high, c(third));
  const square = o.add(z.high, zLow);
  const rest = o.fma(o.mul(cube.high, square), polynomial(o, others, square), low);
  const partLow = o.fma(o.fma(high, zLow, cube.low), c(third), part.low);
  const sum = fastSum(o, high, part.high);
  const tangent = fastSum(o, sum.high, o.add(sum.low, o.add(rest, partLow)));
  const reciprocal = o.div(c(-1), tangent.high);
  const wrong = difference(o, reciprocal, tangent.high, c(1));
  const inverse = o.fma(reciprocal, o.fma(reciprocal, tangent.low, wrong), reciprocal);
  return o.select(hasBit(o, n, 1), inverse, tangent.high);
}

/** A function of quarter turns, for near and far arguments. */
function byQuarterTurns<V>(o: MathBody<V>, x: V, of: (turns: QuarterTurns<V>) => V): V {
  const { format: { dtype }, c } = constantsLike(o, x), table = TABLES[dtype];
  const near = o.arithmetic === "single" ? table.nearTwice ?? table.near : table.near;
  const large = dtype === "float64" ? quarterTurnsOfLargeF64 : quarterTurnsOfLargeF32;
  return o.masked(o.gt(o.abs(x), c(near)), () => of(large(o, x)), of(quarterTurns(o, x)));
}

const nextQuarter = <V>(o: MathBody<V>, { r, n }: QuarterTurns<V>): QuarterTurns<V> => ({
  r,
  n: o.add(n, o.constant(1, o.dtypeOf(n))),
});

/** Preserves zeros, with their sign. */
function keepingZero<V>(o: MathBody<V>, x: V, result: V): V {
  return o.select(o.eq(x, o.constant(0, o.dtypeOf(x))), x, result);
}

/** sin x; zeros are preserved. */
export function sin<V>(o: MathBody<V>, x: V): V {
  return keepingZero(o, x, byQuarterTurns(o, x, (turns) => sineOfTurns(o, turns)));
}

/** cos x = sin(x + π/2), one quarter turn more. */
export function cos<V>(o: MathBody<V>, x: V): V {
  return byQuarterTurns(o, x, (turns) => sineOfTurns(o, nextQuarter(o, turns)));
}

/** tan x; zeros are preserved. */
export function tan<V>(o: MathBody<V>, x: V): V {
  return keepingZero(o, x, byQuarterTurns(o, x, (turns) => tangentOfTurns(o, turns)));
}

/** π·f for |f| ≤ ½, as quarter turns and a remainder. */
function halfTurns<V>(o: MathBody<V>, f: V): QuarterTurns<V> {
  const { c } = constantsLike(o, f), [p0, p1] = tableOf(o, f).quarter;
  const { n, bits } = nearestInteger(o, o.add(f, f));
  const rest = o.fma(n, c(-0.5), f), product = exactProduct(o, rest, c(2 * p0));
  return { r: { high: product.high, low: o.fma(rest, c(2 * p1), product.low) }, n: bits };
}

/** sin(π·f) for |f| ≤ ½. */
export function sineOfHalfTurns<V>(o: MathBody<V>, f: V): V {
  return sineOfTurns(o, halfTurns(o, f));
}

/** tan(π·f) for |f| ≤ ½. */
export function tangentOfHalfTurns<V>(o: MathBody<V>, f: V): V {
  return tangentOfTurns(o, halfTurns(o, f));
}
