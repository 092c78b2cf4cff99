/** Functions of floats that take only a few operations. */
import type { MathBody } from "./body.ts";
import { constantsLike } from "./format.ts";

/** −1 or 1; NaN and zeros are preserved. */
export function sign<V>(o: MathBody<V>, x: V): V {
  const { c } = constantsLike(o, x);
  return o.select(o.gt(x, c(0)), c(1), o.select(o.lt(x, c(0)), c(-1), x));
}

/** 1/√x. */
export function rsqrt<V>(o: MathBody<V>, x: V): V {
  return o.div(constantsLike(o, x).c(1), o.sqrt(x));
}
