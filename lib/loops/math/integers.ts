/**
 * Integer functions beyond the primitive ones. Results wrap; division by zero gives 0.
 */
import type { ValueType } from "../../base/dtype.ts";
import type { MathBody } from "./body.ts";

const like = <V>(o: MathBody<V>, x: V) => (value: number | bigint): V => o.constant(value, o.dtypeOf(x));

/** −1, 0 or 1. */
export function sign<V>(o: MathBody<V>, x: V): V {
  const i = like(o, x);
  return o.select(o.gt(x, i(0)), i(1), o.select(o.lt(x, i(0)), i(-1), i(0)));
}

/** The quotient towards zero, and the remainder with the sign of the dividend. */
function divided<V>(o: MathBody<V>, a: V, b: V): { readonly quotient: V; readonly rest: V } {
  const i = like(o, a), quotient = o.truncDiv(a, b);
  return { quotient, rest: o.select(o.eq(b, i(0)), i(0), o.sub(a, o.mul(quotient, b))) };
}

/** Returns whether a remainder is nonzero with a sign other than the divisor's. */
function isBelow<V>(o: MathBody<V>, rest: V, b: V): V {
  const i = like(o, rest);
  return o.and(o.ne(rest, i(0)), o.xor(o.lt(rest, i(0)), o.lt(b, i(0))));
}

/** a − b·(quotient towards zero): the remainder with the sign of the dividend. */
export function truncMod<V>(o: MathBody<V>, a: V, b: V): V {
  return divided(o, a, b).rest;
}

/** The quotient towards −∞. */
export function floorDiv<V>(o: MathBody<V>, a: V, b: V): V {
  const { quotient, rest } = divided(o, a, b);
  return o.select(isBelow(o, rest, b), o.sub(quotient, like(o, a)(1)), quotient);
}

/** The remainder with the sign of the divisor. */
export function floorMod<V>(o: MathBody<V>, a: V, b: V): V {
  const { rest } = divided(o, a, b);
  return o.select(isBelow(o, rest, b), o.add(rest, b), rest);
}

/** Bits of the greatest exponent, by type. */
const EXPONENT_BITS: Partial<Record<ValueType, number>> = { int64: 63, int32: 31 };

/** Number of bits that are always processed. */
const USUAL_BITS = 8;

/** Power by squaring. A negative exponent gives the truncated quotient: 0 except for the bases 1 and −1. */
export function pow<V>(o: MathBody<V>, a: V, b: V): V {
  const i = like(o, a), bits = EXPONENT_BITS[o.dtypeOf(a)] ?? 0;
  const isSet = (bit: number) => o.ne(o.and(b, i(1n << BigInt(bit))), i(0));
  let power = a, result = i(1);
  const take = (from: number, to: number): V => {
    for (let bit = from; bit < to; bit++) {
      result = o.select(isSet(bit), o.mul(result, power), result);
      power = o.mul(power, power);
    }
    return result;
  };
  const usual = take(0, USUAL_BITS);
  const all = o.masked(o.ge(b, i(1 << USUAL_BITS)), () => take(USUAL_BITS, bits), usual);
  const unit = o.select(isSet(0), a, i(1));
  const isUnit = o.or(o.eq(a, i(1)), o.eq(a, i(-1)));
  return o.select(o.lt(b, i(0)), o.select(isUnit, unit, i(0)), all);
}
