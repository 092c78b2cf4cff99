/**
 * Formats of the float types for bodies that serve several of them: the layout of bits, and the largest exact
 * integers.
 */
import { kept, type MathBody } from "./body.ts";

/** A float type. */
export type FloatValueType = "float32" | "float64";

/** The layout of a float type. */
interface FloatFormat {
  readonly dtype: FloatValueType;
  /** The integer type with as many bits. */
  readonly integer: "int32" | "int64";
  /** Bits of the fraction, below those of the exponent. */
  readonly digits: 23 | 52;
  /** Exponent bits of 1. */
  readonly bias: 127 | 1023;
  /** 1.5·2^digits: adding it rounds to an integer, which the low bits of the sum then hold. */
  readonly rounder: number;
  /** Least normal number. */
  readonly least: number;
}

const FORMATS: Readonly<Record<FloatValueType, FloatFormat>> = {
  float32: {
    dtype: "float32",
    integer: "int32",
    digits: 23,
    bias: 127,
    rounder: 1.5 * 2 ** 23,
    least: 2 ** -126,
  },
  float64: {
    dtype: "float64",
    integer: "int64",
    digits: 52,
    bias: 1023,
    rounder: 1.5 * 2 ** 52,
    least: 2 ** -1022,
  },
};

/** The layout of the type of a float value. */
export function formatOf<V>(o: MathBody<V>, x: V): FloatFormat {
  return FORMATS[o.dtypeOf(x) === "float64" ? "float64" : "float32"];
}

/** Constants of a float value's type, and of the integer type as wide. */
export interface Constants<V> {
  readonly format: FloatFormat;
  c(value: number): V;
  i(value: number | bigint): V;
}

/** Makers of constants that go with a float value. */
export function constantsLike<V>(o: MathBody<V>, x: V): Constants<V> {
  const format = formatOf(o, x);
  return {
    format,
    c: (value) => o.constant(value, format.dtype),
    i: (value) => o.constant(value, format.integer),
  };
}

/** The integer nearest to x·times, which must not be large: as a float, and in the low bits of an integer. */
export function nearestInteger<V>(
  o: MathBody<V>,
  x: V,
  times?: number,
): { readonly n: V; readonly bits: V } {
  const { format: { rounder }, c } = constantsLike(o, x);
  // A sum that rounds by adding might be reordered
  const sum = times === undefined ? o.add(kept(o, x), c(rounder)) : o.fma(x, c(times), c(rounder));
  const shifted = kept(o, sum);
  return { n: o.sub(shifted, c(rounder)), bits: o.floatToBits(shifted) };
}

/** 2ⁿ for the n in the low bits of an integer, where that is a normal number. */
export function powerOfTwo<V>(o: MathBody<V>, like: V, n: V): V {
  const { format: { digits, bias }, i } = constantsLike(o, like);
  return o.bitsToFloat(o.add(o.shl(n, i(digits)), i(BigInt(bias) << BigInt(digits))));
}
