/**
 * Remainders of floats, exact: with q = trunc(a/b) below 2⁵³ the difference a − q·b is a float, one fma computes it,
 * and a quotient that was rounded up is corrected by adding b. Larger quotients are reduced by b·2⁵²ᵏ first, from the
 * greatest k that can occur down, in masked parts. float32 is computed in float64, where b·2⁵²ᵏ cannot overflow.
 */
import { type MathBody, withSign } from "./body.ts";
import { constantsLike } from "./format.ts";

/** Bits of a quotient that one step takes. */
const STEP = 52;

/** size modulo step, for a quotient below 2⁵³. */
function reduce<V>(o: MathBody<V>, size: V, step: V): V {
  const { c } = constantsLike(o, size);
  const rest = o.fma(o.neg(o.trunc(o.div(size, step))), step, size);
  return o.select(o.lt(rest, c(0)), o.add(rest, step), rest);
}

/** Maximum size of a quotient: `groups` times `steps` steps above the last one. */
interface Reach {
  readonly groups: number;
  readonly steps: number;
}

/** |a| modulo |b| in float64. With an infinite b, finite a are unchanged. */
function remainderOfSizes<V>(o: MathBody<V>, a: V, b: V, { groups, steps }: Reach): V {
  const { c } = constantsLike(o, a);
  let rest = a;
  for (let group = groups - 1; group >= 0; group--) {
    let base = b;
    for (let n = 0; n < group; n++) base = o.mul(base, c(2 ** (STEP * steps)));
    rest = o.masked(
      o.ge(rest, o.mul(base, c(2 ** STEP))),
      () => reduceBySteps(o, { size: rest, base }, steps),
      rest,
    );
  }
  const alone = o.and(o.eq(b, c(Infinity)), o.lt(a, c(Infinity)));
  return o.select(alone, a, reduce(o, rest, b));
}

/** size modulo base·2⁵²ᵏ for k = steps, …, 1, where that is finite. */
function reduceBySteps<V>(
  o: MathBody<V>,
  { size, base }: { readonly size: V; readonly base: V },
  steps: number,
): V {
  const { c } = constantsLike(o, size);
  let rest = size;
  for (let k = steps; k >= 1; k--) {
    const step = o.mul(base, c(2 ** (STEP * k)));
    rest = o.select(o.lt(step, c(Infinity)), reduce(o, rest, step), rest);
  }
  return rest;
}

/** With the sign of the dividend, as fmod. NaN where the divisor is 0 or the dividend infinite. */
export function truncMod<V>(o: MathBody<V>, a: V, b: V): V {
  const sizeA = o.abs(a), sizeB = o.abs(b);
  if (o.dtypeOf(a) === "float64") {
    return withSign(o, remainderOfSizes(o, sizeA, sizeB, { groups: 4, steps: 10 }), a);
  }
  const [wideA, wideB] = [o.cast(sizeA, "float64"), o.cast(sizeB, "float64")];
  return withSign(o, o.cast(remainderOfSizes(o, wideA, wideB, { groups: 1, steps: 5 }), "float32"), a);
}

/** With the sign of the divisor, as PyTorch's remainder; a zero keeps the sign of the dividend. */
export function floorMod<V>(o: MathBody<V>, a: V, b: V): V {
  const { c } = constantsLike(o, a), rest = o.truncMod(a, b);
  const differs = o.xor(o.lt(rest, c(0)), o.lt(b, c(0)));
  return o.select(o.and(o.ne(rest, c(0)), differs), o.add(rest, b), rest);
}
