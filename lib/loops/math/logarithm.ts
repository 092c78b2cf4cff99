/**
 * log, log2, log10, log1p: x = 2ᵏ·(1 + f) with 1 + f about 1, and k times the logarithm of 2 in two parts. float32
 * takes a minimax polynomial in f; float64 takes log(1 + f) = 2·artanh(s), s = f/(2 + f), in the arrangement of Sun's
 * fdlibm, whose largest term f is exact. Subnormal arguments are scaled up first. Results are unevaluated sums up to
 * their last operation.
 */
import { exactProduct, fastSum, kept, type MathBody, type Pair, polynomial, quickly } from "./body.ts";
import { constantsLike, type FloatValueType } from "./format.ts";

interface LogarithmTable {
  /** The bits of the least 1 + f. */
  readonly least: bigint;
  /** Logarithms of 2 in two parts; k times the first one is exact. */
  readonly ln2: readonly [number, number];
  readonly log10Of2: readonly [number, number];
  /** 1/ln 2 and 1/ln 10 in two parts. */
  readonly log2OfE: readonly [number, number];
  readonly log10OfE: readonly [number, number];
}

const TABLES: Readonly<Record<FloatValueType, LogarithmTable>> = {
  float32: {
    // 2/3: f in [−1/3, 1/3)
    least: 0x3f2aaaabn,
    ln2: [0.693115234375, 3.194618329871446e-5],
    log10Of2: [0.301025390625, 4.605039066518657e-6],
    log2OfE: [1.4426950216293335, 1.925963033500011e-8],
    log10OfE: [0.4342944920063019, -1.0103049952192578e-8],
  },
  float64: {
    // √½: f in [−0.293, 0.414)
    least: 0x3fe6a09e667f3bcdn,
    ln2: [0.6931471805601177, -1.7239444525614835e-13],
    log10Of2: [0.3010299956640665, -8.532344317057107e-14],
    log2OfE: [1.4426950408889634, 2.0355273740931033e-17],
    log10OfE: [0.4342944819032518, 1.098319650216765e-17],
  },
};

/** (log(1 + f) − f) / f² on |f| ≤ 1/3, for float32. */
const LOG_F32 = [
  -0.5,
  0.3333320915699005,
  -0.24999716877937317,
  0.20010747015476227,
  -0.16682302951812744,
  0.14001159369945526,
  -0.12167185544967651,
  0.14004762470722198,
  -0.12948833405971527,
];

/** (log(1 + f) / s − 2) / s² in s², for float64. */
const LOG_F64 = [
  0.6666666666666735,
  0.3999999999940939,
  0.2857142874365992,
  0.2222219843350633,
  0.18183572041758617,
  0.15313841753441243,
  0.14798150494752702,
];

/** log(1 + f) as a sum. In float32 f²/2 is exact in it. */
function logOfMantissa<V>(o: MathBody<V>, f: V): Pair<V> {
  const { format, c } = constantsLike(o, f);
  if (format.dtype === "float32") {
    const square = exactProduct(o, f, f), sum = fastSum(o, f, o.mul(square.high, c(-0.5)));
    const low = o.fma(square.low, c(-0.5), sum.low);
    return { high: sum.high, low: o.fma(o.mul(f, square.high), polynomial(o, LOG_F32.slice(1), f), low) };
  }
  const s = o.div(f, o.add(f, c(2))), z = o.mul(s, s);
  const half = o.mul(o.mul(f, c(0.5)), f);
  return { high: f, low: o.sub(o.mul(s, o.fma(z, polynomial(o, LOG_F64, z), half)), half) };
}

/** x = 2ᵏ·(1 + f). */
export interface Split<V> {
  /** k as a float. */
  readonly k: V;
  readonly f: V;
  /** k in the bits of the exponent, as an integer. */
  readonly exponent: V;
}

/** Splits a positive normal number; `added` is added to k. */
function split<V>(o: MathBody<V>, x: V, added: V): Split<V> {
  const { format: { digits, dtype, rounder }, c, i } = constantsLike(o, x);
  const bits = o.floatToBits(x);
  const exponent = o.and(o.sub(bits, i(TABLES[dtype].least)), i(-(1n << BigInt(digits))));
  const f = o.sub(o.bitsToFloat(o.sub(bits, exponent)), c(1));
  if (dtype === "float32") return { k: o.fma(o.cast(exponent, dtype), c(2 ** -digits), added), f, exponent };
  // Few targets convert int64 in lanes: k goes below the bits of a number whose ulp is 1
  const whole = o.bitsToFloat(o.add(o.shr(exponent, i(digits)), o.floatToBits(c(rounder))));
  return { k: o.add(o.sub(whole, c(rounder)), added), f, exponent };
}

/** Splits any positive number, subnormal ones included. */
export function splitAll<V>(o: MathBody<V>, x: V): Split<V> {
  const { format: { digits, least }, c } = constantsLike(o, x);
  const tiny = o.lt(x, c(least));
  return split(o, o.select(tiny, o.mul(x, c(2 ** digits)), x), o.select(tiny, c(-digits), c(0)));
}

/** k·ln 2 + log(1 + f). */
function natural<V>(o: MathBody<V>, { k, f }: { readonly k: V; readonly f: V }): Pair<V> {
  const { format: { dtype }, c } = constantsLike(o, f), [high, low] = TABLES[dtype].ln2;
  const mantissa = logOfMantissa(o, f), sum = fastSum(o, o.mul(k, c(high)), mantissa.high);
  return { high: sum.high, low: o.add(sum.low, o.fma(k, c(low), mantissa.low)) };
}

/** log x of a positive finite number, as a sum. */
export function logPair<V>(o: MathBody<V>, x: V): Pair<V> {
  const { high, low } = natural(o, splitAll(o, x));
  return fastSum(o, high, low);
}

/** Logarithms of numbers that are not positive. */
function special<V>(o: MathBody<V>, x: V, result: V): V {
  const { c } = constantsLike(o, x);
  const finite = o.select(o.lt(x, c(Infinity)), result, x);
  return o.select(o.lt(x, c(0)), c(NaN), o.select(o.eq(x, c(0)), c(-Infinity), finite));
}

/** A logarithm of x by its parts. */
function logarithm<V>(o: MathBody<V>, x: V, of: (parts: Split<V>) => V): V {
  const { format: { digits, bias, integer }, c, i } = constantsLike(o, x), unit = 1n << BigInt(digits);
  // Subtracting the least positive normal number, and adding the least integer, makes positive normal numbers the least
  // integers
  const least = integer === "int32" ? -(2n ** 31n) : -(2n ** 63n);
  return quickly(o, {
    unusual: () => o.ge(o.add(o.floatToBits(x), i(-least - unit)), i(least + BigInt(2 * bias) * unit)),
    quick: () => of(split(o, x, c(0))),
    whole: () => special(o, x, of(splitAll(o, x))),
  });
}

/** In float32 two fma compute k·ln 2 as exactly. */
export function log<V>(o: MathBody<V>, x: V): V {
  return logarithm(o, x, (parts) => {
    const { k, f } = parts, { format: { dtype }, c } = constantsLike(o, f);
    if (dtype === "float64") {
      const { high, low } = natural(o, parts);
      return o.add(high, low);
    }
    const mantissa = o.fma(o.mul(f, f), polynomial(o, LOG_F32, f), f);
    return o.fma(k, c(0.693359375), o.fma(k, c(-2.12194440e-4), mantissa));
  });
}

/** k·log 2 + log(1 + f)·scale, for a base given by these two. */
function inBase<V>(
  o: MathBody<V>,
  x: V,
  { ofTwo, ofE }: { readonly ofTwo: readonly [number, number]; readonly ofE: readonly [number, number] },
): V {
  const { c } = constantsLike(o, x);
  return logarithm(o, x, ({ k, f }) => {
    const parts = logOfMantissa(o, f),
      mantissa = fastSum(o, parts.high, parts.low),
      product = exactProduct(o, mantissa.high, c(ofE[0]));
    const low = o.fma(mantissa.high, c(ofE[1]), o.fma(mantissa.low, c(ofE[0]), product.low));
    const sum = fastSum(o, o.mul(k, c(ofTwo[0])), product.high);
    return o.add(sum.high, o.add(sum.low, o.fma(k, c(ofTwo[1]), low)));
  });
}

/** k + log(1 + f)/ln 2; exact for powers of two. */
export function log2<V>(o: MathBody<V>, x: V): V {
  return inBase(o, x, { ofTwo: [1, 0], ofE: TABLES[constantsLike(o, x).format.dtype].log2OfE });
}

/** k·log₁₀ 2 + log(1 + f)/ln 10. */
export function log10<V>(o: MathBody<V>, x: V): V {
  const { log10Of2, log10OfE } = TABLES[constantsLike(o, x).format.dtype];
  return inBase(o, x, { ofTwo: log10Of2, ofE: log10OfE });
}

/** log(1 + x) as a sum. */
interface Log1pParts<V> extends Pair<V> {
  /** 1 + x, rounded. */
  readonly whole: V;
}

/**
 * log(1 + x) as a sum, for −1 < x < ∞: f = (1 + x)·2⁻ᵏ − 1, and its rounding error. Beyond the precision 1 + x is x.
 */
export function log1pParts<V>(o: MathBody<V>, x: V): Log1pParts<V> {
  const { format: { digits, bias }, c, i } = constantsLike(o, x);
  const whole = o.add(x, c(1)), { k, f, exponent } = split(o, whole, c(0));
  const scale = o.bitsToFloat(o.sub(i(BigInt(bias) << BigInt(digits)), exponent));
  const far = o.gt(k, c(digits + 4)), less = o.sub(scale, c(1)), near = kept(o, o.fma(x, scale, less));
  const exact = o.select(far, f, near);
  const lost = o.select(far, c(0), o.fma(x, scale, kept(o, o.sub(less, near))));
  const { high, low } = natural(o, { k, f: exact });
  return { high, low: o.add(low, o.fma(o.neg(exact), lost, lost)), whole };
}

/** log(1 + x), exact to the last place near 0; preserves −0. */
export function log1p<V>(o: MathBody<V>, x: V): V {
  const { c } = constantsLike(o, x), { high, low, whole } = log1pParts(o, x);
  // 1 + x is 0, negative, infinite and NaN where the result is special
  return o.select(o.eq(x, c(0)), x, special(o, whole, o.add(high, low)));
}
