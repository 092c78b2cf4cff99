/**
 * Remainders of floats, exact: with q = trunc(a/b) below 2⁵³ the difference a − q·b is a float, one fma finds it, and a
 * quotient that was rounded up is mended by adding b. Larger quotients are reduced by b·2⁵²ᵏ first, from the greatest k
 * that can occur down, in masked parts. float32 is computed in float64, where b·2⁵²ᵏ cannot overflow.
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

/** size modulo base·2⁵²ᵏ for k = count, …, 1. */
function reduceBySteps<V>(
  o: MathBody<V>,
  size: V,
  { base, count }: { readonly base: V; readonly count: number },
): V {
  const { c } = constantsLike(o, size);
  return o.masked(o.ge(size, o.mul(base, c(2 ** STEP))), () => {
    let rest = size;
    for (let k = count; k >= 1; k--) {
      const step = o.mul(base, c(2 ** (STEP * k)));
      rest = o.select(o.lt(step, c(Infinity)), reduce(o, rest, step), rest);
    }
    return rest;
  }, size);
}

/** |a| modulo |b| in float64; `groups` of ten steps. An infinite b leaves what is finite. */
function remainderOfSizes<V>(
  o: MathBody<V>,
  { a, b }: { readonly a: V; readonly b: V },
  counts: readonly number[],
): V {
  const { c } = constantsLike(o, a);
  const bases = counts.map((_, group) => group).reduce<V[]>(
    (done, group) => [...done, group === 0 ? b : o.mul(done[group - 1] ?? b, c(2 ** (STEP * 10)))],
    [],
  );
  const rest = bases.reduceRight(
    (size, base, group) => reduceBySteps(o, size, { base, count: counts[group] ?? 0 }),
    a,
  );
  const alone = o.and(o.eq(b, c(Infinity)), o.lt(a, c(Infinity)));
  return o.select(alone, a, reduce(o, rest, b));
}

/** With the sign of the dividend, as fmod. NaN where the divisor is 0 or the dividend infinite. */
export function truncMod<V>(o: MathBody<V>, a: V, b: V): V {
  if (o.dtypeOf(a) === "float64") {
    return withSign(o, remainderOfSizes(o, { a: o.abs(a), b: o.abs(b) }, [10, 10, 10, 10]), a);
  }
  const sizes = { a: o.cast(o.abs(a), "float64"), b: o.cast(o.abs(b), "float64") };
  return withSign(o, o.cast(remainderOfSizes(o, sizes, [5]), "float32"), a);
}

/** With the sign of the divisor, as PyTorch's remainder; a zero keeps the sign of the dividend. */
export function floorMod<V>(o: MathBody<V>, a: V, b: V): V {
  const { c } = constantsLike(o, a), rest = o.truncMod(a, b);
  const differs = o.xor(o.lt(rest, c(0)), o.lt(b, c(0)));
  return o.select(o.and(o.ne(rest, c(0)), differs), o.add(rest, b), rest);
}
