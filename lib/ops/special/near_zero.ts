/**
 * Derivatives that are differences of close numbers divided by a small one. Invariant: around 0, where those digits
 * cancel, they are power series in x², so that derivatives of any order have the precision of the type.
 */
import type { TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";

interface NearZero<T> {
  /** The size of x from which the quotient serves. */
  readonly bound: number;
  /** The coefficients of x⁰, x², x⁴, …. */
  readonly series: readonly number[];
  /** A factor of the series; default 1. */
  readonly factor?: (x: T) => T;
  /** The value elsewhere, of arguments that are not near 0. */
  readonly quotient: (x: T) => T;
}

/**
 * The value by a series near 0 and by a quotient elsewhere. Each sees only its own arguments: the gradient of the other
 * is 0 times its slope, which must be finite.
 */
export function nearZero<T extends TensorLike>(
  o: OpApi<T>,
  x: T,
  { bound, series, factor, quotient }: NearZero<T>,
): T {
  const near = o.lt(o.abs(x), bound), small = o.where(near, x, 0), square = o.mul(small, small);
  const [last = 0, next = 0, ...rest] = series.toReversed();
  const sum = rest.reduce((value, c) => o.add(o.mul(value, square), c), o.add(o.mul(square, last), next));
  return o.where(near, factor ? o.mul(factor(small), sum) : sum, quotient(o.where(near, 1, x)));
}

/** n! as a float. */
export const factorial = (n: number): number =>
  Array.from({ length: n }, (_, i) => i + 1).reduce((a, b) => a * b, 1);

/** Of I₁′(x) = ½ Σ (2k + 1) (x/2)²ᵏ / (k! (k + 1)!), or of J₁′, whose signs alternate. */
const ofOrderOne = (sign: 1 | -1): readonly number[] =>
  Array.from(
    { length: 9 },
    (_, k) => (sign / 4) ** k * (2 * k + 1) / (2 * factorial(k) * factorial(k + 1)),
  );

/** The slopes of I₁ and J₁: f₀(x) − f₁(x)/x elsewhere. */
export const ORDER_ONE = {
  growing: { bound: 0.5, series: ofOrderOne(1) },
  waving: { bound: 0.5, series: ofOrderOne(-1) },
} as const;

/** The slope of sin(x)/x over x: Σ (−1)ᵏ 2k x²ᵏ⁻² / (2k + 1)!, from k = 1. */
export const SINE_QUOTIENT = {
  bound: 0.6,
  series: Array.from({ length: 8 }, (_, n) => (-1) ** (n + 1) * (2 * n + 2) / factorial(2 * n + 3)),
} as const;
