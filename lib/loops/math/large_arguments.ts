/**
 * Quarter turns of large arguments (Payne and Hanek, "Radian Reduction for Trigonometric Functions", 1983): the bits
 * of x times those bits of 1/2π that matter to the fraction of the product, in integers.
 */
import { exactProduct, fastSum, flipSign, type MathOps, type Pair } from "./body.ts";

/** x = n·π/2 + r. */
export interface QuarterTurns<V> {
  readonly r: Pair<V>;
  /** An integer whose two lowest bits are n modulo 4. */
  readonly n: V;
}

/** 1/2π in words of 32 bits; the first is its integer part. */
const TURN = [0, 0x28be60db, 0x9391054a, 0x7f09d5f4, 0x7d4d3770, 0x36d8a566, 0x4f10e410, 0x7f9458ea];

/** The high word of the unsigned product of 24 bits and 32 bits. */
function highProduct<V>(o: MathOps<V>, a: V, b: V): V {
  const i = (value: number) => o.constant(value, "int32");
  const low = (x: V) => o.and(x, i(0xffff)), high = (x: V) => low(o.shr(x, i(16)));
  const [a0, a1, b0, b1] = [low(a), high(a), low(b), high(b)];
  const middle = o.add(o.mul(a1, b0), high(o.mul(a0, b0)));
  const other = o.add(o.mul(a0, b1), low(middle));
  return o.add(o.mul(a1, b1), o.add(high(middle), high(other)));
}

/** a < b for the bits of int32 as unsigned integers. */
function lessUnsigned<V>(o: MathOps<V>, a: V, b: V): V {
  const sign = o.constant(-(2 ** 31), "int32");
  return o.lt(o.xor(a, sign), o.xor(b, sign));
}

/** For 1 ≤ |x| < ∞; NaN where x is infinite. */
export function quarterTurnsOfLargeF32<V>(o: MathOps<V>, x: V): QuarterTurns<V> {
  const i = (value: number) => o.constant(value, "int32"),
    c = (value: number) => o.constant(value, "float32");
  const bits = o.floatToBits(x);
  const mantissa = o.or(o.and(bits, i(0x7fffff)), i(0x800000));
  // |x| = mantissa · 2^(offset − 32), and words from bit `offset` on are what is not a multiple of a turn
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
  const infinite = o.sub(x, x);
  return {
    r: { high: o.add(flipSign(o, r.high, sign), infinite), low: flipSign(o, r.low, sign) },
    n: o.select(o.lt(x, c(0)), o.neg(n), n),
  };
}
