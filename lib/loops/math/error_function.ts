/**
 * erf and erfc. In float64 erf is an odd polynomial near 0, and erfc is e^(−x²)·P(t) / (1 + 2x) elsewhere, with
 * t = (x − 4)/(x + 4) (Shepherd and Laframboise, "Chebyshev Approximation of (1 + 2x) exp(x²) erfc x", 1981). In float32
 * erf is an odd polynomial below 1 and 1 − e^(−P(|x|)) above; erfc is rounded once from float64.
 */
import { exactProduct, type MathBody, polynomial, withSign } from "./body.ts";
import { atMost, expOfPair, shortExpParts } from "./exponential.ts";
import { constantsLike, powerOfTwo } from "./format.ts";

/** erf x / x − 1 in x², |x| ≤ 1, for float32. */
const NEAR_F32 = [
  0.12837916612625122,
  -0.3761262595653534,
  0.1128358542919159,
  -0.026853810995817184,
  0.00518832728266716,
  -0.000801019137725234,
  0.00007853854913264513,
];

/** −log(1 − erf x) on 1 ≤ x ≤ 4, for float32: the constant term, and the others. */
const FAR_F32 = [
  1.1270400285720825,
  0.6382257342338562,
  0.1030372604727745,
  -0.021805228665471077,
  0.0029395732562988997,
  -0.00018556916620582342,
];
const FAR_CONSTANT_F32 = 0.0003537176817189902;

/** erf x / x − 1 in x², |x| ≤ 0.85, for float64. */
const NEAR_F64 = [
  0.12837916709551256,
  -0.37612638903183354,
  0.11283791670933008,
  -0.026866170640328837,
  0.005223977571928018,
  -0.0008548323540675677,
  0.00012055191406105079,
  -1.4921942460194688e-5,
  1.6399367977368326e-6,
  -1.5698709051535177e-7,
  1.0680103640794095e-8,
];

/** (1 + 2x)·e^(x²)·erfc x in t = (x − 4)/(x + 4), 0.8 ≤ x ≤ 28. */
const FAR_F64 = [
  1.2329951186255526,
  -0.13962111684056241,
  0.015379652102621873,
  0.06809705425467703,
  -0.10103906603645865,
  0.09373283499905143,
  -0.06633036580790472,
  0.03716751552284342,
  -0.01619773411873238,
  0.005031970148122464,
  -0.0007577727968797523,
  -0.00019925789913236827,
  0.00015061928053110128,
  -2.4393796544311472e-5,
  -1.1214913483627855e-5,
  5.694118668259324e-6,
  2.8141518992610216e-7,
  -7.973406360695058e-7,
  8.560913305581708e-8,
  8.094310267044782e-8,
  -2.032725405820007e-8,
];

/** Threshold between the two forms in float64. */
const BORDER = 0.85;

/** The rounding error of the exponent matters near 1. */
export function erfF32<V>(o: MathBody<V>, x: V): V {
  const { c } = constantsLike(o, x), size = o.abs(x), s = o.mul(x, x);
  const near = o.fma(polynomial(o, NEAR_F32, s), size, size);
  const a = atMost(o, size, 4), slope = o.neg(polynomial(o, FAR_F32, a));
  const high = o.fma(slope, a, c(-FAR_CONSTANT_F32));
  const low = o.fma(slope, a, o.sub(c(-FAR_CONSTANT_F32), high));
  const { m, bits } = shortExpParts(o, { high, low });
  const power = powerOfTwo(o, x, bits), far = o.sub(c(1), o.fma(m, power, power));
  return withSign(o, o.select(o.lt(size, c(1)), near, far), x);
}

/** An odd polynomial below 0.85, 1 − erfc above. */
export function erfF64<V>(o: MathBody<V>, x: V): V {
  const { c } = constantsLike(o, x), size = o.abs(x);
  const near = o.fma(polynomial(o, NEAR_F64, o.mul(x, x)), size, size);
  const far = o.sub(c(1), o.erfc(size));
  return withSign(o, o.select(o.lt(size, c(BORDER)), near, far), x);
}

/** 1 − erf x near 0, and 2 − erfc(−x) for negative x. */
export function erfcF64<V>(o: MathBody<V>, x: V): V {
  const { c } = constantsLike(o, x), size = o.abs(x), a = atMost(o, size, 28);
  const near = o.fma(o.neg(x), polynomial(o, NEAR_F64, o.mul(x, x)), o.sub(c(1), x));
  const square = exactProduct(o, a, a),
    power = expOfPair(o, { high: o.neg(square.high), low: o.neg(square.low) });
  const t = o.div(o.sub(a, c(4)), o.add(a, c(4)));
  const tail = o.div(polynomial(o, FAR_F64, t), o.fma(a, c(2), c(1)));
  const far = o.mul(power, tail);
  return o.select(o.lt(size, c(BORDER)), near, o.select(o.lt(x, c(0)), o.sub(c(2), far), far));
}

/** Rounded once from float64. */
export function erfcF32<V>(o: MathBody<V>, x: V): V {
  return o.cast(o.erfc(o.cast(x, "float64")), "float32");
}
