/**
 * a·b + c rounded once, for targets that have no such instruction. Invariant: the results are those of IEEE 754's
 * fusedMultiplyAdd, subnormal numbers, infinities and NaN included.
 */
import { exactSum, type MathBody, type Pair, withSign } from "./body.ts";

/** a + b, rounded to odd where it is not exact: rounding it again, to two digits less or more, is rounding once. */
function oddSum<V>(o: MathBody<V>, a: V, b: V): V {
  const { high, low } = exactSum(o, a, b), zero = o.constant(0, "float64"), one = o.constant(1, "int64");
  const bits = o.floatToBits(high), none = o.constant(0, "int64");
  const away = o.ge(o.xor(bits, o.floatToBits(low)), none);
  const isLost = o.or(o.lt(low, zero), o.gt(low, zero)), isEven = o.eq(o.and(bits, one), none);
  const odd = o.add(bits, o.select(away, one, o.constant(-1n, "int64")));
  return o.bitsToFloat(o.select(o.and(isLost, isEven), odd, bits));
}

/**
 * The product is exact in float64, and the sum is rounded to odd there (Boldo and Melquiond, "Emulation of a FMA and
 * correctly rounded sums").
 */
export function fusedF32<V>(o: MathBody<V>, a: V, b: V, c: V): V {
  const wide = (x: V): V => o.cast(x, "float64");
  return o.cast(oddSum(o, o.mul(wide(a), wide(b)), wide(c)), "float32");
}

/** An addend this far from the product decides only which way that is rounded, or is rounded itself. */
const FAR = 120n;
/** Exponents of results that are rounded to 0, and of those that no scale makes subnormal. */
const LEAST = -2022n, NORMAL = -22n;

/** A nonzero number as a factor in [1, 2) and a power of two. */
function scaled<V>(o: MathBody<V>, x: V): { readonly factor: V; readonly exponent: V } {
  const integer = (value: bigint): V => o.constant(value, "int64");
  const isSmall = o.lt(o.abs(x), o.constant(2 ** -1022, "float64"));
  const bits = o.floatToBits(o.select(isSmall, o.mul(x, o.constant(2 ** 64, "float64")), x));
  const field = o.and(o.shr(bits, integer(52n)), integer(2047n));
  const factor = o.bitsToFloat(
    o.or(o.and(bits, integer(-(2n ** 63n) + 2n ** 52n - 1n)), integer(1023n << 52n)),
  );
  return { factor, exponent: o.sub(field, o.select(isSmall, integer(1023n + 64n), integer(1023n))) };
}

/** 2^exponent, which is normal. */
const powerOf = <V>(o: MathBody<V>, exponent: V): V =>
  o.bitsToFloat(o.shl(o.add(exponent, o.constant(1023n, "int64")), o.constant(52n, "int64")));

/** a·b without error, of factors in [1, 2) (Dekker, Veltkamp). */
function product<V>(o: MathBody<V>, a: V, b: V): Pair<V> {
  const halves = (x: V): readonly [V, V] => {
    const large = o.mul(x, o.constant(2 ** 27 + 1, "float64")), upper = o.sub(large, o.sub(large, x));
    return [upper, o.sub(x, upper)];
  };
  const high = o.mul(a, b), [a1, a0] = halves(a), [b1, b0] = halves(b);
  const rest = o.sub(o.sub(o.sub(high, o.mul(a1, b1)), o.mul(a0, b1)), o.mul(a1, b0));
  return { high, low: o.sub(o.mul(a0, b0), rest) };
}

/**
 * The same in sums of float64. Numbers are brought near 1, so that nothing overflows or loses digits on the way;
 * results that will be subnormal are rounded by adding them to a number with as few digits after the point.
 */
export function fusedF64<V>(o: MathBody<V>, a: V, b: V, c: V): V {
  const integer = (value: bigint): V => o.constant(value, "int64"), zero = o.constant(0, "float64");
  const [x, y, z] = [scaled(o, a), scaled(o, b), scaled(o, c)], isZero = o.eq(c, zero);
  const exponent = o.add(x.exponent, y.exponent), distance = o.sub(z.exponent, exponent);
  const near = o.minimum(o.maximum(o.select(isZero, integer(-FAR), distance), integer(-FAR)), integer(FAR));
  const isFar = o.and(o.not(isZero), o.gt(distance, integer(FAR)));
  const scale = o.maximum(o.select(isFar, o.sub(z.exponent, integer(FAR)), exponent), integer(LEAST));
  const addend = o.select(isZero, zero, o.mul(z.factor, powerOf(o, near)));
  const { high, low } = product(o, x.factor, y.factor), first = exactSum(o, addend, low);
  const second = exactSum(o, high, first.high), rest = oddSum(o, first.low, second.low);
  const sum = o.add(second.high, rest);
  const least = powerOf(o, o.sub(integer(-1022n), o.minimum(scale, integer(NORMAL))));
  const step = withSign(o, least, sum), coarse = exactSum(o, step, second.high);
  const rounded = o.sub(o.add(coarse.high, oddSum(o, coarse.low, rest)), step);
  const value = o.select(o.lt(o.abs(sum), least), withSign(o, rounded, sum), sum);
  const half = o.shr(scale, integer(1n));
  const result = o.mul(o.mul(value, powerOf(o, half)), powerOf(o, o.sub(scale, half)));
  const isFinite = (value: V): V => o.lt(o.abs(value), o.constant(Infinity, "float64"));
  const factors = o.and(isFinite(a), isFinite(b));
  const simple = o.select(o.and(factors, o.not(isFinite(c))), c, o.add(o.mul(a, b), c));
  const isProduct = o.and(factors, o.and(o.ne(a, zero), o.ne(b, zero)));
  return o.select(o.and(isProduct, isFinite(c)), result, simple);
}
