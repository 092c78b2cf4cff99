/**
 * Building blocks of special functions: constants, polynomials and Chebyshev series over scalar primitives.
 */
import type { Body } from "../../loops/body.ts";
import type { OpDefinition, TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { k, unary, type UnaryContext, type UnaryParams, type UnarySpec } from "../pointwise.ts";
import { nearZero, ORDER_ONE } from "./near_zero.ts";

type Derivative = <T extends TensorLike>(o: OpApi<T>, context: UnaryContext<T>) => T;

/** A derivative that reads only the argument. */
export const ofSelf = (of: Derivative): UnarySpec["derivative"] => ({ reads: ["self"], of });

/** The derivative of a Bessel function of order 1 by that of order 0: f₀(x) − f₁(x)/x, or its series near 0. */
export const ofOrderOne = (
  kind: keyof typeof ORDER_ONE,
  orderZero: <T extends TensorLike>(o: OpApi<T>, x: T) => T,
): UnarySpec["derivative"] => ({
  reads: ["self", "out"],
  of: (o, { grad, self, out }) =>
    o.mul(
      grad,
      nearZero(o, self, { ...ORDER_ONE[kind], quotient: (x) => o.sub(orderZero(o, x), o.div(out, x)) }),
    ),
});

/** The namespace of special functions that are not methods. */
export const SPECIAL = { method: false, free: false, namespaces: ["special"] } as const;

/** Defines a function of floats in that namespace, without an in-place form. */
export function special(spec: Omit<UnarySpec, "rule" | "inplace" | "exposure">): OpDefinition<UnaryParams> {
  return unary({ ...spec, rule: "float", inplace: false, exposure: SPECIAL });
}

/** A polynomial by Horner's rule, highest power first. */
export function polynomial<V>(o: Body<V>, x: V, coefficients: readonly number[]): V {
  return coefficients.slice(1).reduce<V>(
    (sum, c) => o.fma(sum, x, k(o, x, c)),
    k(o, x, coefficients[0] ?? 0),
  );
}

/** A Chebyshev series as Cephes' chbevl evaluates it: x in [−2, 2], highest first, the last coefficient halved. */
export function chebyshev<V>(o: Body<V>, x: V, coefficients: readonly number[]): V {
  let b0 = k(o, x, coefficients[0] ?? 0), b1 = k(o, x, 0), b2 = b1;
  for (const c of coefficients.slice(1)) {
    b2 = b1;
    b1 = b0;
    b0 = o.add(o.sub(o.mul(x, b1), b2), k(o, x, c));
  }
  return o.mul(k(o, x, 0.5), o.sub(b0, b2));
}
