/** sinh, cosh, tanh and their inverses, from the parts of the exponential and the logarithm. */
import { type MathOps, polynomial, withSign } from "./body.ts";
import { expPartsF32, powerOfTwoF32 } from "./exponential.ts";

/** (tanh x / x − 1) / x² in x² on |x| ≤ 0.9, for float32. */
const TANH_F32 = [
  -0.33333322405815125,
  0.13332980871200562,
  -0.05392947420477867,
  0.02166409231722355,
  -0.00826545525342226,
  0.002583425957709551,
  -0.0004557101638056338,
];

/** An odd polynomial up to 0.9, 1 − 2 / (exp(2|x|) + 1) above, 1 from 9.5 on. */
export function tanhF32<V>(o: MathOps<V>, x: V): V {
  const c = (value: number) => o.constant(value, "float32");
  const size = o.abs(x), a = o.select(o.gt(size, c(9.5)), c(9.5), size);
  const { m, bits } = expPartsF32(o, o.add(a, a));
  const power = powerOfTwoF32(o, bits);
  const large = o.sub(c(1), o.div(c(2), o.fma(m, power, o.add(power, c(1)))));
  const z = o.mul(x, x), small = o.fma(o.mul(x, z), polynomial(o, TANH_F32, z), x);
  return o.select(o.lt(size, c(0.9)), small, withSign(o, large, x));
}
