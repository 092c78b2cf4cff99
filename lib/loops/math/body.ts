/**
 * The interface for bodies of scalar functions: scalar operations plus masks, and the few idioms that several
 * families share. Invariant: everything here records primitive operations only.
 */
import type { ScalarOps } from "../scalar.ts";

/**
 * Properties of a target's arithmetic. "exact": each operation is rounded once, as written, and there is float64.
 * "wide": the same, with wide vectors of int64. "single": there is no float64, and the target may simplify (x + y) −
 * y to x, unless the sum is `kept`; corrections computed from rounding errors can only improve results.
 */
export type Arithmetic = "exact" | "wide" | "single";

/** The handler that a body is run with. V is opaque to bodies. */
export interface MathBody<V> extends ScalarOps<V> {
  readonly arithmetic: Arithmetic;
  /** select(condition, body(), otherwise), where `body` may be skipped if no lane satisfies the condition. */
  masked(condition: V, body: () => V, otherwise: V): V;
}

/** Σ coefficients[i]·xⁱ by Horner's rule, one fma for each coefficient but the last. */
export function polynomial<V>(o: MathBody<V>, coefficients: readonly number[], x: V): V {
  const dtype = o.dtypeOf(x);
  const constants = coefficients.map((c) => o.constant(c, dtype));
  return constants.reduceRight((sum, c) => o.fma(sum, x, c));
}

/** x + x³·Σ coefficients[i]·x²ⁱ. */
export function oddPolynomial<V>(o: MathBody<V>, coefficients: readonly number[], x: V): V {
  const z = o.mul(x, x);
  return o.fma(o.mul(x, z), polynomial(o, coefficients, z), x);
}

/** A nonnegative magnitude with the sign of another value. */
export function withSign<V>(o: MathBody<V>, magnitude: V, sign: V): V {
  return o.bitsToFloat(o.or(o.floatToBits(magnitude), signBit(o, sign)));
}

/** The sign bit of a float alone, as an integer of the same width. */
export function signBit<V>(o: MathBody<V>, x: V): V {
  const mask = o.dtypeOf(x) === "float64"
    ? o.constant(-(2n ** 63n), "int64")
    : o.constant(-(2 ** 31), "int32");
  return o.and(o.floatToBits(x), mask);
}

/** x with its sign flipped where the integer of the same width has its sign bit set. */
export function flipSign<V>(o: MathBody<V>, x: V, sign: V): V {
  return o.bitsToFloat(o.xor(o.floatToBits(x), sign));
}

/** An unevaluated sum: its rounded value and the rounding error. */
export interface Pair<V> {
  readonly high: V;
  readonly low: V;
}

/**
 * whole(), which equals quick() unless an argument is `unusual`. With few lanes unusual arguments are rare, so a branch
 * costs less than always computing whole(); in wide vectors a branch would prevent inlining.
 */
export function quickly<V>(
  o: MathBody<V>,
  { unusual, quick, whole }: { readonly unusual: () => V; readonly quick: () => V; readonly whole: () => V },
): V {
  return o.arithmetic === "exact" ? o.masked(unusual(), whole, quick()) : whole();
}

/** A result that must be used as rounded, also by targets that simplify sums. */
export function kept<V>(o: MathBody<V>, x: V): V {
  return o.arithmetic === "single" ? o.rounded(x) : x;
}

/** a + b without error, where |a| ≥ |b| or a is 0 (Dekker). */
export function fastSum<V>(o: MathBody<V>, a: V, b: V): Pair<V> {
  const high = kept(o, o.add(a, b));
  return { high, low: o.sub(b, kept(o, o.sub(high, a))) };
}

/** a + b without error (Knuth). */
export function exactSum<V>(o: MathBody<V>, a: V, b: V): Pair<V> {
  const high = kept(o, o.add(a, b)), ofB = kept(o, o.sub(high, a)), ofA = kept(o, o.sub(high, ofB));
  return { high, low: o.add(o.sub(a, ofA), o.sub(b, ofB)) };
}

/** a·b without error, where nothing underflows; by halves of the digits (Dekker) where fma rounds twice. */
export function exactProduct<V>(o: MathBody<V>, a: V, b: V): Pair<V> {
  const high = kept(o, o.mul(a, b)), low = o.fma(a, b, o.neg(high));
  if (o.arithmetic !== "single") return { high, low };
  return { high, low: o.masked(roundsTwice(o, a), () => lowByHalves(o, { a, b, high }), low) };
}

/** Returns whether fma rounds twice, which only the device knows: (1 + 2⁻¹²)² is 1 + 2⁻¹¹ + 2⁻²⁴. */
function roundsTwice<V>(o: MathBody<V>, like: V): V {
  const c = (value: number): V => o.constant(value, o.dtypeOf(like)), root = o.rounded(c(1 + 2 ** -12));
  return o.eq(o.fma(root, root, c(-1 - 2 ** -11)), c(0));
}

function lowByHalves<V>(
  o: MathBody<V>,
  { a, b, high }: { readonly a: V; readonly b: V; readonly high: V },
): V {
  const upper = (x: V): V => o.bitsToFloat(o.and(o.floatToBits(x), o.constant(-(2 ** 12), "int32")));
  const [a1, b1] = [upper(a), upper(b)], [a0, b0] = [o.sub(a, a1), o.sub(b, b1)];
  const rest = kept(o, o.sub(o.mul(a1, b1), high));
  return o.fma(a0, b0, o.fma(a0, b1, kept(o, o.fma(a1, b0, rest))));
}

/** a·b + c, which nearly cancel. */
export function difference<V>(o: MathBody<V>, a: V, b: V, c: V): V {
  if (o.arithmetic !== "single") return o.fma(a, b, c);
  const product = exactProduct(o, a, b);
  return o.add(kept(o, o.add(product.high, c)), product.low);
}

/** Returns the rounding error of the square root of high + low. */
export function lostByRoot<V>(o: MathBody<V>, root: V, { high, low }: Pair<V>): V {
  const zero = o.constant(0, o.dtypeOf(root));
  const rest = o.add(difference(o, o.neg(root), root, high), low);
  return o.select(o.gt(root, zero), o.div(rest, o.add(root, root)), zero);
}
