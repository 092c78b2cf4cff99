/**
 * log, log2, log10, log1p: x = 2ᵏ·(1 + f) with 1 + f about 1, a minimax polynomial in f, and k·ln 2 in two parts.
 * k is what the bits of x are above those of the least 1 + f; subnormal arguments are scaled up first.
 */
import { type MathOps, polynomial } from "./body.ts";

/** (log(1 + f) − f) / f² on −1/3 ≤ f ≤ 1/3, for float32. */
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

/** The mantissa of float32 above which 1 + f is halved: 2/3 as bits, so that 1 + f lies in [2/3, 4/3). */
const TWO_THIRDS_F32 = 0x3f2aaaab;

/** +∞, NaN, zero and negative arguments. */
function logSpecial<V>(o: MathOps<V>, x: V, result: V): V {
  const c = (value: number) => o.constant(value, o.dtypeOf(x));
  const finite = o.select(o.lt(x, c(Infinity)), result, o.add(x, x));
  return o.select(o.lt(x, c(0)), c(NaN), o.select(o.eq(x, c(0)), c(-Infinity), finite));
}

export function logF32<V>(o: MathOps<V>, x: V): V {
  const c = (value: number) => o.constant(value, "float32"),
    i = (value: number) => o.constant(value, "int32");
  const tiny = o.lt(x, c(2 ** -126));
  const bits = o.floatToBits(o.select(tiny, o.mul(x, c(2 ** 23)), x));
  const exponent = o.and(o.sub(bits, i(TWO_THIRDS_F32)), i(-(2 ** 23)));
  const f = o.sub(o.bitsToFloat(o.sub(bits, exponent)), c(1));
  const k = o.fma(o.cast(exponent, "float32"), c(2 ** -23), o.select(tiny, c(-23), c(0)));
  const mantissa = o.fma(o.mul(f, f), polynomial(o, LOG_F32, f), f);
  return logSpecial(o, x, o.fma(k, c(0.693359375), o.fma(k, c(-2.12194440e-4), mantissa)));
}
