/**
 * sin, cos, tan: x = n·π/2 + r, r as an unevaluated sum of two floats, and minimax polynomials on |r| ≤ π/4. For
 * usual arguments π/2 is subtracted in three parts (Cody and Waite; the first difference is exact with fma). Large
 * ones multiply the bits of x with those of 1/2π around the binary point (Payne and Hanek, "Radian Reduction for
 * Trigonometric Functions", 1983), in a masked part.
 */
import { exactProduct, fastSum, flipSign, type MathOps, type Pair, polynomial } from "./body.ts";
import { type QuarterTurns, quarterTurnsOfLargeF32 } from "./large_arguments.ts";

/** (sin r / r − 1) / r² in r², |r| ≤ π/4, for float32. */
const SIN_F32 = [-0.16666653752326965, 0.008332101628184319, -0.00019506820535752922];
/** (cos r − 1) / r² in r². */
const COS_F32 = [-0.5, 0.04166664555668831, -0.0013887298991903663, 2.443020093778614e-5];
/** (tan r / r − 1) / r² in r². */
const TAN_F32 = [
  0.3333335220813751,
  0.13332560658454895,
  0.0540727861225605,
  0.021211260929703712,
  0.011028552427887917,
  -0.0001639207184780389,
  0.004505068529397249,
];
const ROUND_F32 = 12582912;

/** The largest |x| whose n and r the short reduction finds. */
const NEAR_F32 = 2 ** 17;

/** For |x| ≤ NEAR_F32. The parts of π/2: 24 bits rounded to nearest each. */
function quarterTurnsF32<V>(o: MathOps<V>, x: V): QuarterTurns<V> {
  const c = (value: number) => o.constant(value, "float32");
  const shifted = o.fma(x, c(2 / Math.PI), c(ROUND_F32));
  const n = o.sub(shifted, c(ROUND_F32));
  const first = o.fma(n, c(-1.5707963705062866), x);
  const second = exactProduct(o, n, c(4.371138828673793e-8));
  const { high, low } = fastSum(o, first, second.high);
  return {
    r: { high, low: o.add(low, o.fma(n, c(1.7151245100058819e-15), second.low)) },
    n: o.floatToBits(shifted),
  };
}

/** r² with what the low part adds to it. */
function square<V>(o: MathOps<V>, { high, low }: Pair<V>): V {
  const half = o.mul(high, low);
  return o.fma(high, high, o.add(half, half));
}

/** sin r and cos r. */
function sineAndCosineF32<V>(o: MathOps<V>, r: Pair<V>): { readonly sine: V; readonly cosine: V } {
  const { high, low } = r, z = square(o, r);
  const sine = o.add(high, o.fma(o.mul(high, z), polynomial(o, SIN_F32, z), low));
  const cosine = o.fma(z, polynomial(o, COS_F32, z), o.constant(1, "float32"));
  return { sine, cosine };
}

/** Whether the bit of an integer is set. */
function hasBit<V>(o: MathOps<V>, x: V, bit: number): V {
  const dtype = o.dtypeOf(x);
  return o.ne(o.and(x, o.constant(bit, dtype)), o.constant(0, dtype));
}

/** sin(r + n·π/2). */
function sineOfTurnsF32<V>(o: MathOps<V>, { r, n }: QuarterTurns<V>): V {
  const { sine, cosine } = sineAndCosineF32(o, r);
  const flip = o.and(o.shl(n, o.constant(30, "int32")), o.constant(-(2 ** 31), "int32"));
  return flipSign(o, o.select(hasBit(o, n, 1), cosine, sine), flip);
}

/** tan(r + n·π/2): tan r, or −1 / tan r corrected by one step of Newton's method. */
function tangentOfTurnsF32<V>(o: MathOps<V>, { r, n }: QuarterTurns<V>): V {
  const { high, low } = r, twice = o.mul(high, low);
  // r³/3 is too large a part of the result to be rounded three times
  const [third = 0, ...others] = TAN_F32, c = o.constant(third, "float32");
  const z = exactProduct(o, high, high), zLow = o.add(z.low, o.add(twice, twice));
  const cube = exactProduct(o, high, z.high), part = exactProduct(o, cube.high, c);
  const rest = o.fma(o.mul(cube.high, z.high), polynomial(o, others, z.high), low);
  const cubeLow = o.fma(high, zLow, cube.low);
  const sum = fastSum(o, high, part.high);
  const tangent = fastSum(o, sum.high, o.add(sum.low, o.add(rest, o.fma(cubeLow, c, part.low))));
  const reciprocal = o.div(o.constant(-1, "float32"), tangent.high);
  const wrong = o.fma(reciprocal, tangent.high, o.constant(1, "float32"));
  const inverse = o.fma(reciprocal, o.fma(reciprocal, tangent.low, wrong), reciprocal);
  return o.select(hasBit(o, n, 1), inverse, tangent.high);
}

/** A function of quarter turns, for near and far arguments. */
function byQuarterTurnsF32<V>(o: MathOps<V>, x: V, of: (turns: QuarterTurns<V>) => V): V {
  const far = o.gt(o.abs(x), o.constant(NEAR_F32, "float32"));
  return o.masked(far, () => of(quarterTurnsOfLargeF32(o, x)), of(quarterTurnsF32(o, x)));
}

const nextQuarter = <V>(o: MathOps<V>, { r, n }: QuarterTurns<V>): QuarterTurns<V> => ({
  r,
  n: o.add(n, o.constant(1, o.dtypeOf(n))),
});

export function sinF32<V>(o: MathOps<V>, x: V): V {
  const sine = byQuarterTurnsF32(o, x, (turns) => sineOfTurnsF32(o, turns));
  return o.select(o.eq(x, o.constant(0, "float32")), x, sine);
}

export function cosF32<V>(o: MathOps<V>, x: V): V {
  return byQuarterTurnsF32(o, x, (turns) => sineOfTurnsF32(o, nextQuarter(o, turns)));
}

export function tanF32<V>(o: MathOps<V>, x: V): V {
  const tangent = byQuarterTurnsF32(o, x, (turns) => tangentOfTurnsF32(o, turns));
  return o.select(o.eq(x, o.constant(0, "float32")), x, tangent);
}
