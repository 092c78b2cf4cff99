/**
 * Quarter turns of large arguments (Payne and Hanek, "Radian Reduction for Trigonometric Functions", 1983): the bits of
 * x times those bits of 1/2π that affect the fraction of the product. float32 multiplies words of 32 bits, which every
 * target has; float64 multiplies pieces of 53 bits, with exact products and sums.
 */
import { exactProduct, exactSum, fastSum, flipSign, kept, type MathBody, type Pair } from "./body.ts";
import { constantsLike, nearestInteger } from "./format.ts";

/** x = n·π/2 + r. */
export interface QuarterTurns<V> {
  readonly r: Pair<V>;
  /** An integer whose two lowest bits are n modulo 4. */
  readonly n: V;
}

/** 1/2π in words of 32 bits; the first is its integer part. */
const TURN = [0, 0x28be60db, 0x9391054a, 0x7f09d5f4, 0x7d4d3770, 0x36d8a566, 0x4f10e410, 0x7f9458ea];

/** The high word of the unsigned product of 24 bits and 32 bits. */
function highProduct<V>(o: MathBody<V>, a: V, b: V): V {
  const i = (value: number) => o.constant(value, "int32");
  const low = (x: V) => o.and(x, i(0xffff)), high = (x: V) => low(o.shr(x, i(16)));
  const [a0, a1, b0, b1] = [low(a), high(a), low(b), high(b)];
  const middle = o.add(o.mul(a1, b0), high(o.mul(a0, b0)));
  const other = o.add(o.mul(a0, b1), low(middle));
  return o.add(o.mul(a1, b1), o.add(high(middle), high(other)));
}

/** a < b for the bits of int32 as unsigned integers. */
function lessUnsigned<V>(o: MathBody<V>, a: V, b: V): V {
  const sign = o.constant(-(2 ** 31), "int32");
  return o.lt(o.xor(a, sign), o.xor(b, sign));
}

/** For 1 ≤ |x| < ∞; NaN where x is infinite. */
export function quarterTurnsOfLargeF32<V>(o: MathBody<V>, x: V): QuarterTurns<V> {
  const i = (value: number) => o.constant(value, "int32"),
    c = (value: number) => o.constant(value, "float32");
  const bits = o.floatToBits(x);
  const mantissa = o.or(o.and(bits, i(0x7fffff)), i(0x800000));
  // |x| = mantissa · 2^(offset − 32); words before bit `offset` only add multiples of a turn
  const offset = o.sub(o.and(o.shr(bits, i(23)), i(0xff)), i(118));
  let words = TURN.map(i);
  for (const step of [4, 2, 1]) {
    const skips = o.ne(o.and(offset, i(32 * step)), i(0));
    words = words.slice(0, step + 3).map((word, at) => {
      const next = words[at + step];
      return next === undefined ? word : o.select(skips, next, word);
    });
  }
  const shift = o.and(offset, i(31)), back = o.sub(i(32), shift), mask = o.sub(o.shl(i(1), shift), i(1));
  const window = (at: number): V => {
    const [first = i(0), second = i(0)] = words.slice(at);
    return o.or(o.shl(first, shift), o.and(o.shr(second, back), mask));
  };
  const middle = window(1);
  const product = o.mul(mantissa, middle), low = o.add(product, highProduct(o, mantissa, window(2)));
  const carry = o.cast(lessUnsigned(o, low, product), "int32");
  const fraction = o.add(o.add(o.mul(mantissa, window(0)), highProduct(o, mantissa, middle)), carry);
  // The nearest quarter; what is left is a signed number of 64 bits
  const n = o.and(o.shr(o.add(fraction, i(1 << 29)), i(30)), i(3));
  const high = o.sub(fraction, o.shl(n, i(30)));
  const rounded = o.cast(high, "float32");
  const rest = o.cast(o.sub(high, o.cast(rounded, "int32")), "float32");
  const unsignedLow = o.cast(o.and(o.shr(low, i(1)), i(0x7fffffff)), "float32");
  const turn = fastSum(o, rounded, o.fma(unsignedLow, c(2 ** -31), rest));
  // 2π·2⁻³² in two parts
  const scaled = exactProduct(o, turn.high, c(1.462918119976564e-9));
  const r = fastSum(
    o,
    scaled.high,
    o.fma(turn.high, c(-4.070940267922164e-17), o.fma(turn.low, c(1.462918119976564e-9), scaled.low)),
  );
  const sign = o.and(bits, i(-(2 ** 31)));
  const infinite = o.sub(kept(o, x), x);
  return {
    r: { high: o.add(flipSign(o, r.high, sign), infinite), low: flipSign(o, r.low, sign) },
    n: o.select(o.lt(x, c(0)), o.neg(n), n),
  };
}

/** 2/π = Σ piece[j]·2^(−53·j), each of at most 53 bits. */
const PIECES = [
  0.6366197723675813,
  0.6455004762340146,
  0.8260347502167291,
  0.6177029686506639,
  0.22946046207480975,
  0.28461387860774945,
  0.006138546976630632,
  0.5660391411155584,
  0.16270821739654884,
  0.6478181222020806,
  0.752362340216695,
  0.7848375294503177,
  0.2882121784458589,
  0.3143043483578357,
  0.505462883924126,
  0.35474129975356194,
  0.495348441190541,
  0.9093006150323975,
  0.7102755855591438,
  0.9716433593102769,
  0.645159640989469,
  0.38377539675336436,
  0.7971457910852385,
  0.5253582608053253,
];

/** Number of pieces needed: the last ones are for arguments close to a multiple of π/2. */
const USED = 5;

/** For 2³⁰ ≤ |x|; NaN where x is infinite. */
export function quarterTurnsOfLargeF64<V>(o: MathBody<V>, x: V): QuarterTurns<V> {
  const { c } = constantsLike(o, x);
  // A piece whose product with the last bit of x is a multiple of 4 does not matter
  let pieces = PIECES.map(c), scaled = x;
  for (const step of [16, 8, 4, 2, 1]) {
    const skips = o.ge(o.abs(scaled), c(2 ** (53 * step + 54)));
    scaled = o.select(skips, o.mul(scaled, c(2 ** (-53 * step))), scaled);
    pieces = pieces.slice(0, step - 1 + USED).map((piece, at) => {
      const next = pieces[at + step];
      return next === undefined ? piece : o.select(skips, next, piece);
    });
  }
  const modulo4 = (p: V): V => o.fma(o.round(o.mul(p, c(0.25))), c(-4), p);
  const terms = pieces.flatMap((piece, at) => {
    const { high, low } = exactProduct(o, o.mul(scaled, c(2 ** (-53 * at))), piece);
    return at > 1 ? [high, low] : [modulo4(high), modulo4(low)];
  });
  const { n, bits } = nearestInteger(o, terms.reduce((sum, term) => o.add(sum, term)));
  const turns = sumOf(o, [...terms.slice(0, USED), o.neg(n), ...terms.slice(USED)]);
  const product = exactProduct(o, turns.high, c(1.5707963267948966));
  const low = o.fma(
    turns.high,
    c(6.123233995736766e-17),
    o.fma(turns.low, c(1.5707963267948966), product.low),
  );
  return { r: fastSum(o, product.high, low), n: bits };
}

/** A sum as if in three times the precision (Ogita, Rump and Oishi, "Accurate Sum and Dot Product", SumK for K = 3). */
function sumOf<V>(o: MathBody<V>, terms: readonly V[]): Pair<V> {
  let rest = terms;
  for (let pass = 0; pass < 2; pass++) {
    const lost: V[] = [];
    const sum = rest.reduce((before, term) => {
      const { high, low } = exactSum(o, before, term);
      lost.push(low);
      return high;
    });
    rest = [...lost, sum];
  }
  const sum = rest.at(-1), lost = rest.slice(0, -1).reduce((before, term) => o.add(before, term));
  return sum === undefined ? { high: lost, low: lost } : fastSum(o, sum, lost);
}
