/**
 * asin, acos, atan, atan2: arguments are brought near 0 by half angles (asin, acos: asin x = π/2 − 2·asin √((1 − x)/2))
 * or by subtracting the nearest of a few known angles (atan: arctan of 0, ½, 1, 3/2 and ∞, as in Sun's fdlibm), where
 * odd minimax polynomials are used. The rounding errors of divisions and roots are added back.
 */
import { difference, fastSum, lostByRoot, type MathBody, type Pair, polynomial, withSign } from "./body.ts";
import { atMost } from "./exponential.ts";
import { constantsLike, type FloatValueType } from "./format.ts";

interface InverseTable {
  /** π as a sum. */
  readonly pi: readonly [number, number];
  /** (asin x / x − 1) / x² in x², |x| ≤ ½. */
  readonly asin: readonly number[];
  /** (atan x / x − 1) / x² in x², |x| ≤ 7/16. */
  readonly atan: readonly number[];
  /** arctan ½ and arctan 3/2 as sums. */
  readonly ofHalf: readonly [number, number];
  readonly ofThreeHalves: readonly [number, number];
  /** Operands of atan2 beyond these are scaled by this. */
  readonly large: number;
  readonly small: number;
  readonly scale: number;
}

const TABLES: Readonly<Record<FloatValueType, InverseTable>> = {
  float32: {
    pi: [3.1415927410125732, -8.742277657347586e-8],
    asin: [
      0.16666753590106964,
      0.07495249062776566,
      0.04547664895653725,
      0.02414822205901146,
      0.042219605296850204,
    ],
    atan: [
      -0.3333330452442169,
      0.199977844953537,
      -0.14230231940746307,
      0.10494465380907059,
      -0.058262716978788376,
    ],
    ofHalf: [0.46364760398864746, 5.01215868808913e-9],
    ofThreeHalves: [0.9827937483787537, -2.5131424052915463e-8],
    large: 2 ** 100,
    small: 2 ** -60,
    scale: 2 ** 64,
  },
  float64: {
    pi: [3.141592653589793, 1.2246467991473532e-16],
    asin: [
      0.16666666666666763,
      0.07499999999970117,
      0.044642857175273894,
      0.03038194267570301,
      0.02237221589718168,
      0.017351595613964654,
      0.013981017562329402,
      0.01139729853462499,
      0.010789301111396128,
      0.0036722300366709413,
      0.021790592996591016,
      -0.02111669780281614,
      0.03270217120152007,
    ],
    atan: [
      -0.33333333333332926,
      0.1999999999987508,
      -0.1428571427237619,
      0.11111110399680124,
      -0.09090886981816916,
      0.07691873743396585,
      -0.06661047602847096,
      0.058334007043676084,
      -0.04976182430811691,
      0.03651548612853364,
      -0.016269798365000004,
    ],
    ofHalf: [0.4636476090008061, 2.2698777452961687e-17],
    ofThreeHalves: [0.982793723247329, 1.3903311031230998e-17],
    large: 2 ** 900,
    small: 2 ** -400,
    scale: 2 ** 500,
  },
};

const tableOf = <V>(o: MathBody<V>, x: V): InverseTable => TABLES[constantsLike(o, x).format.dtype];

/**
 * The common part of asin and acos: s = |x| or √((1 − |x|)/2), whichever is at most about ½, and asin s = s + tail.
 */
interface HalfAngle<V> {
  readonly s: V;
  readonly tail: V;
  /** Whether s is the root. */
  readonly halved: V;
}

function halfAngle<V>(o: MathBody<V>, x: V): HalfAngle<V> {
  const { c } = constantsLike(o, x), size = o.abs(x), halved = o.gt(size, c(0.5));
  const z = o.select(halved, o.mul(o.sub(c(1), size), c(0.5)), o.mul(x, x)), root = o.sqrt(z);
  const s = o.select(halved, root, size);
  const lost = o.select(halved, lostByRoot(o, root, { high: z, low: c(0) }), c(0));
  return { s, tail: o.fma(o.mul(s, z), polynomial(o, tableOf(o, x).asin, z), lost), halved };
}

/** base − (high + low), base a sum whose first part is the greater one or 0. */
function minus<V>(o: MathBody<V>, base: Pair<V>, { high, low }: Pair<V>): V {
  const sum = fastSum(o, base.high, o.neg(high));
  return o.add(sum.high, o.add(sum.low, o.sub(base.low, low)));
}

/** asin |x| below ½, π/2 − 2·asin √((1 − |x|)/2) above. */
export function asin<V>(o: MathBody<V>, x: V): V {
  const { c } = constantsLike(o, x), [high, low] = tableOf(o, x).pi, { s, tail, halved } = halfAngle(o, x);
  const quarter = { high: c(high / 2), low: c(low / 2) };
  const far = minus(o, quarter, { high: o.add(s, s), low: o.add(tail, tail) });
  return withSign(o, o.select(halved, far, o.add(s, tail)), x);
}

/** π/2 − asin x, 2·asin s for positive x and π − 2·asin s for negative ones, all as one difference. */
export function acos<V>(o: MathBody<V>, x: V): V {
  const { c } = constantsLike(o, x), [high, low] = tableOf(o, x).pi, { s, tail, halved } = halfAngle(o, x);
  const negative = o.lt(x, c(0));
  const base = (pi: number) => o.select(halved, o.select(negative, c(pi), c(0)), c(pi / 2));
  // If s is the root, the sign is that of −x
  const sign = o.select(halved, o.select(negative, c(2), c(-2)), o.select(negative, c(-1), c(1)));
  return minus(o, { high: base(high), low: base(low) }, { high: o.mul(sign, s), low: o.mul(sign, tail) });
}

/** The angle of (x, y), x and y not negative, finite and not both 0, as a sum. */
function angle<V>(o: MathBody<V>, y: V, x: V): Pair<V> {
  const { c } = constantsLike(o, x), { pi, ofHalf, ofThreeHalves, atan } = tableOf(o, x);
  const below = (ratio: number) => o.lt(y, o.mul(x, c(ratio)));
  const [first, second, third, fourth] = [below(7 / 16), below(11 / 16), below(19 / 16), below(39 / 16)];
  const choose = ([a, b, d, e, f]: readonly [number, number, number, number, number]): V =>
    o.select(first, c(a), o.select(second, c(b), o.select(third, c(d), o.select(fourth, c(e), c(f)))));
  // tan(angle − arctan k) = (y − k·x) / (x + k·y); −x / y for infinite k
  const k = choose([0, 0.5, 1, 1.5, 0]);
  const over = o.select(fourth, o.fma(o.neg(k), x, y), o.neg(x)), under = o.select(fourth, o.fma(k, y, x), y);
  const inverse = o.div(c(1), under), t = o.mul(over, inverse);
  const lost = o.mul(difference(o, o.neg(t), under, over), inverse);
  const z = o.mul(t, t), tail = o.fma(o.mul(t, z), polynomial(o, atan, z), lost);
  const sum = fastSum(o, choose([0, ofHalf[0], pi[0] / 4, ofThreeHalves[0], pi[0] / 2]), t);
  const low = choose([0, ofHalf[1], pi[1] / 4, ofThreeHalves[1], pi[1] / 2]);
  return { high: sum.high, low: o.add(sum.low, o.add(tail, low)) };
}

/** Beyond 2^(digits + 4) the result is π/2. */
export function atan<V>(o: MathBody<V>, x: V): V {
  const { format: { digits }, c } = constantsLike(o, x);
  const { high, low } = angle(o, atMost(o, o.abs(x), 2 ** (digits + 4)), c(1));
  return withSign(o, o.add(high, low), x);
}

/**
 * The angle of (|x|, |y|), subtracted from π where x has a sign, with the sign of y. Infinite operands count as 1
 * beside finite ones as 0; the angle of (0, 0) is 0.
 */
export function atan2<V>(o: MathBody<V>, y: V, x: V): V {
  const { c, i } = constantsLike(o, x), { pi, large, small, scale } = tableOf(o, x);
  const most = o.maximum(o.abs(y), o.abs(x));
  const infinite = o.eq(most, c(Infinity)), zero = o.eq(most, c(0));
  const factor = o.select(o.gt(most, c(large)), c(1 / scale), o.select(o.lt(most, c(small)), c(scale), c(1)));
  const leg = (of: V): V => {
    const size = o.abs(of), count = o.select(o.eq(size, c(Infinity)), c(1), c(0));
    return o.select(infinite, count, o.mul(size, factor));
  };
  const { high, low } = angle(o, leg(y), o.select(zero, c(1), leg(x)));
  const opposite = minus(o, { high: c(pi[0]), low: c(pi[1]) }, { high, low });
  const isLeft = o.lt(o.floatToBits(x), i(0));
  return withSign(o, o.select(isLeft, opposite, o.add(high, low)), y);
}
