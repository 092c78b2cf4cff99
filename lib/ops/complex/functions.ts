/**
 * Functions of a complex variable: values from real and imaginary parts, and derivatives over complex tensors.
 * Invariant: values keep their precision near branch points and for large parts (Kahan 1987, "Branch cuts for complex
 * elementary functions") and are those of annex G of C99 for infinite and undefined parts; derivatives are complex, so
 * that a gradient is multiplied by their conjugate.
 */
import type { TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import type { Parts } from "./parts.ts";

/** A function by its value and derivative; `z` is the argument, `w` the value. */
interface ComplexFunction {
  value<T extends TensorLike>(o: OpApi<T>, z: Parts<T>): Parts<T>;
  derivative<T extends TensorLike>(o: OpApi<T>, z: T, w: T): T;
}

/** i·z. */
const timesI = <T extends TensorLike>(o: OpApi<T>, { re, im }: Parts<T>): Parts<T> => ({
  re: o.neg(im),
  im: re,
});

/** −i·z. */
const overI = <T extends TensorLike>(o: OpApi<T>, { re, im }: Parts<T>): Parts<T> => ({
  re: im,
  im: o.neg(re),
});

const conjugate = <T extends TensorLike>(o: OpApi<T>, { re, im }: Parts<T>): Parts<T> => ({
  re,
  im: o.neg(im),
});

const times = <T extends TensorLike>(o: OpApi<T>, a: Parts<T>, b: Parts<T>): Parts<T> => ({
  re: o.sub(o.mul(a.re, b.re), o.mul(a.im, b.im)),
  im: o.add(o.mul(a.re, b.im), o.mul(a.im, b.re)),
});

const or = <T extends TensorLike>(o: OpApi<T>, a: T, b: T): T => o.logicalOr(a, b);
const and = <T extends TensorLike>(o: OpApi<T>, a: T, b: T): T => o.logicalAnd(a, b);
const isInfinite = <T extends TensorLike>(o: OpApi<T>, { re, im }: Parts<T>): T =>
  or(o, o.isinf(re), o.isinf(im));

/** |z|. */
const size = <T extends TensorLike>(o: OpApi<T>, { re, im }: Parts<T>): T => o.hypot(re, im);

/** `product`, or `zero` where that is 0 and the other factor is infinite or undefined. */
const unlessZero = <T extends TensorLike>(o: OpApi<T>, zero: T, product: T): T =>
  o.where(and(o, o.eq(zero, 0), o.isnan(product)), zero, product);

/** e^|x| beyond a value that does not overflow, to be multiplied last: products may be finite where it is not. */
function excessive<T extends TensorLike>(o: OpApi<T>, x: T): { readonly limit: number; readonly excess: T } {
  const limit = x.dtype === "float64" ? 700 : 80;
  return { limit, excess: o.exp(o.clamp(o.sub(o.abs(x), limit), 0, null)) };
}

/** Binary digits by which parts near the ends of their type are moved towards 1. */
const MOVED = 60;

/** Exponents of 2 below and above which parts are moved: their squares, or the length of both, may leave the type. */
const NARROW = 100;

/**
 * z by a power of 2 such that |z| neither overflows nor is one of the smallest numbers, with few digits. `choose` takes
 * what undoes it: the value after small numbers were enlarged, the one after large ones were reduced, or neither.
 */
function inRange<T extends TensorLike>(o: OpApi<T>, { re, im }: Parts<T>) {
  const larger = o.maximum(o.abs(re), o.abs(im));
  const isSmall = o.lt(larger, 2 ** -NARROW), isLarge = o.gt(larger, 2 ** NARROW);
  const choose = (enlarged: number, reduced: number, same: T): T =>
    o.where(isSmall, enlarged, o.where(isLarge, reduced, same));
  const factor = choose(2 ** MOVED, 2 ** -MOVED, o.onesLike(re));
  return { moved: { re: o.mul(re, factor), im: o.mul(im, factor) }, choose };
}

/** log |z|, where |z| is not near 1. */
function logSize<T extends TensorLike>(o: OpApi<T>, z: Parts<T>): T {
  const { moved, choose } = inRange(o, z), undone = MOVED * Math.LN2;
  return o.add(o.log(size(o, moved)), choose(-undone, undone, o.zerosLike(z.re)));
}

/** log |z|, precise where |z| is near 1: there |z|² − 1 = (m − 1)(m + 1) + n² with the larger part m. */
function logAbs<T extends TensorLike>(o: OpApi<T>, z: Parts<T>): T {
  const x = o.abs(z.re), y = o.abs(z.im), larger = o.maximum(x, y), smaller = o.minimum(x, y);
  const length = size(o, z);
  const excess = o.add(o.mul(o.sub(larger, 1), o.add(larger, 1)), o.mul(smaller, smaller));
  const isNear = o.logicalAnd(o.gt(length, 0.5), o.lt(length, 2));
  return o.where(isNear, o.mul(o.log1p(excess), 0.5), logSize(o, z));
}

function log<T extends TensorLike>(o: OpApi<T>, z: Parts<T>): Parts<T> {
  return { re: logAbs(o, z), im: o.atan2(z.im, z.re) };
}

/** The root with a nonnegative real part; the part with cancellation is computed from the other one. */
function sqrt<T extends TensorLike>(o: OpApi<T>, z: Parts<T>): Parts<T> {
  const { moved: { re, im }, choose } = inRange(o, z), isSteep = o.isinf(im), y = o.abs(im);
  const large = o.where(isSteep, y, o.sqrt(o.add(o.mul(o.hypot(re, im), 0.5), o.mul(o.abs(re), 0.5))));
  const small = o.where(or(o, isSteep, o.eq(large, 0)), y, o.div(o.mul(y, 0.5), large));
  const isRight = o.ge(re, 0), undo = choose(2 ** (-MOVED / 2), 2 ** (MOVED / 2), o.onesLike(re));
  return {
    re: o.mul(o.where(isRight, large, small), undo),
    im: o.copysign(o.mul(o.where(isRight, small, large), undo), im),
  };
}

/** 1 − z and 1 + z. */
const around = <T extends TensorLike>(o: OpApi<T>, { re, im }: Parts<T>): readonly [Parts<T>, Parts<T>] => [
  { re: o.add(o.neg(re), 1), im: o.neg(im) },
  { re: o.add(re, 1), im },
];

function reciprocal<T extends TensorLike>(o: OpApi<T>, { re, im }: Parts<T>): Parts<T> {
  const scale = o.maximum(o.abs(re), o.abs(im)), x = o.div(re, scale), y = o.div(im, scale);
  const norm = o.add(o.mul(x, x), o.mul(y, y)), isZero = o.eq(scale, 0), isFar = isInfinite(o, { re, im });
  // The norm times the scale may overflow where the result does not vanish
  const over = (part: T): T => o.div(o.div(part, norm), scale);
  const at = (part: T, value: T): T => o.where(isFar, o.copysign(o.zerosLike(part), part), value);
  return {
    re: at(re, o.where(isZero, o.reciprocal(o.abs(re)), over(x))),
    im: at(o.neg(im), o.where(isZero, NaN, o.neg(over(y)))),
  };
}

function exp<T extends TensorLike>(o: OpApi<T>, { re, im }: Parts<T>): Parts<T> {
  const { limit, excess } = excessive(o, o.clamp(re, 0, null)), size = o.exp(o.clamp(re, null, limit));
  const isTurning = o.logicalNot(o.isfinite(im)), isNothing = and(o, isTurning, o.eq(re, -Infinity));
  const along = o.where(and(o, isTurning, o.eq(re, Infinity)), re, o.mul(o.mul(size, o.cos(im)), excess));
  const across = unlessZero(o, im, o.mul(o.mul(size, o.sin(im)), excess));
  return { re: o.where(isNothing, 0, along), im: o.where(isNothing, o.copysign(size, im), across) };
}

/** The hyperbolic sine and cosine of the real part, up to an excess, and where it is infinite and the imaginary is not finite. */
function hyperbolic<T extends TensorLike>(o: OpApi<T>, { re, im }: Parts<T>) {
  const { limit, excess } = excessive(o, re), x = o.clamp(re, -limit, limit);
  const isTurning = and(o, o.isinf(re), o.logicalNot(o.isfinite(im)));
  return { isTurning, excess, sine: o.sinh(x), cosine: o.cosh(x) };
}

function sinh<T extends TensorLike>(o: OpApi<T>, { re, im }: Parts<T>): Parts<T> {
  const { isTurning, excess, sine, cosine } = hyperbolic(o, { re, im });
  const along = unlessZero(o, re, o.mul(o.mul(sine, o.cos(im)), excess));
  return {
    re: o.where(isTurning, re, along),
    im: unlessZero(o, im, o.mul(o.mul(cosine, o.sin(im)), excess)),
  };
}

function cosh<T extends TensorLike>(o: OpApi<T>, { re, im }: Parts<T>): Parts<T> {
  const { isTurning, excess, sine, cosine } = hyperbolic(o, { re, im });
  const across = o.mul(o.mul(sine, o.sin(im)), excess), nothing = o.mul(im, o.copysign(o.onesLike(re), re));
  return {
    re: o.where(isTurning, o.abs(re), o.mul(o.mul(cosine, o.cos(im)), excess)),
    im: unlessZero(o, nothing, unlessZero(o, re, across)),
  };
}

/** Above this value the hyperbolic tangent rounds to 1 in both types. */
const FLAT = 20;

function tanh<T extends TensorLike>(o: OpApi<T>, { re, im }: Parts<T>): Parts<T> {
  const tangent = o.tan(im), steep = o.add(o.mul(tangent, tangent), 1);
  const s = o.sinh(o.clamp(re, -FLAT, FLAT)), c = o.sqrt(o.add(o.mul(s, s), 1));
  const norm = o.add(o.mul(steep, o.mul(s, s)), 1);
  const isFlat = o.gt(o.abs(re), FLAT), isFar = o.isinf(re), left = o.exp(o.mul(o.abs(re), -2));
  const sides = o.div(o.mul(tangent, 4), steep), along = o.div(o.mul(steep, o.mul(c, s)), norm);
  const isKnown = and(o, isFlat, or(o, isFar, o.isfinite(im)));
  const across = o.where(isFlat, o.mul(sides, left), o.div(tangent, norm));
  return {
    re: o.where(isKnown, o.copysign(o.onesLike(re), re), unlessZero(o, re, along)),
    im: o.where(and(o, isFar, o.isnan(sides)), o.copysign(left, im), unlessZero(o, im, across)),
  };
}

/** Above this value squares may overflow, and these functions are logarithms: log 2|z| is exact to the last digit. */
const FAR = 1e18;

/** Returns whether z is that far; parts that are undefined are not, unless the other one is infinite. */
const isFarAway = <T extends TensorLike>(o: OpApi<T>, z: Parts<T>): T =>
  or(o, isInfinite(o, z), o.gt(o.maximum(o.abs(z.re), o.abs(z.im)), FAR));

/** log 2|z|. */
const logTwice = <T extends TensorLike>(o: OpApi<T>, z: Parts<T>): T => o.add(logSize(o, z), Math.LN2);

function asin<T extends TensorLike>(o: OpApi<T>, z: Parts<T>): Parts<T> {
  const [below, above] = around(o, z), p = sqrt(o, below), q = sqrt(o, above);
  const isFar = isFarAway(o, z), far = o.copysign(o.atan2(o.abs(z.re), o.abs(z.im)), z.re);
  return {
    re: o.where(isFar, far, unlessZero(o, z.re, o.atan2(z.re, times(o, p, q).re))),
    im: o.where(
      isFar,
      o.copysign(logTwice(o, z), z.im),
      o.asinh(times(o, conjugate(o, p), q).im),
    ),
  };
}

function acos<T extends TensorLike>(o: OpApi<T>, z: Parts<T>): Parts<T> {
  const [below, above] = around(o, z), p = sqrt(o, below), q = sqrt(o, above);
  const isFar = isFarAway(o, z), isUpright = and(o, o.eq(z.re, 0), o.isnan(z.im));
  const near = o.where(isUpright, Math.PI / 2, o.mul(o.atan2(p.re, q.re), 2));
  return {
    re: o.where(isFar, o.abs(o.atan2(z.im, z.re)), near),
    im: o.where(isFar, o.copysign(logTwice(o, z), o.neg(z.im)), o.asinh(times(o, conjugate(o, q), p).im)),
  };
}

function acosh<T extends TensorLike>(o: OpApi<T>, z: Parts<T>): Parts<T> {
  const p = sqrt(o, { re: o.sub(z.re, 1), im: z.im }), q = sqrt(o, { re: o.add(z.re, 1), im: z.im });
  const isFar = isFarAway(o, z), isUpright = and(o, o.eq(z.re, 0), o.isnan(z.im));
  const near = o.where(isUpright, Math.PI / 2, o.mul(o.atan2(p.im, q.re), 2));
  return {
    re: o.where(isFar, logTwice(o, z), o.asinh(times(o, conjugate(o, p), q).re)),
    im: o.where(isFar, o.atan2(z.im, z.re), near),
  };
}

/** ¼·log(((1 + x)² + y²) / ((1 − x)² + y²)), for x ≥ 0 and signed afterwards; far away it is 1/z ± iπ/2. */
function atanh<T extends TensorLike>(o: OpApi<T>, { re, im }: Parts<T>): Parts<T> {
  const x = o.abs(re), gap = o.sub(x, 1), square = o.mul(im, im);
  const ratio = o.div(o.mul(x, 4), o.add(o.mul(gap, gap), square));
  const opening = o.sub(o.mul(o.add(o.neg(x), 1), o.add(x, 1)), square);
  const isFar = isFarAway(o, { re, im }), far = reciprocal(o, { re: x, im }).re;
  // The squares of small distances from a pole may vanish
  const distance = o.hypot(gap, im),
    pole = o.sub(o.mul(o.log(o.mul(x, 4)), 0.25), o.mul(o.log(distance), 0.5));
  const open = unlessZero(o, x, o.mul(o.log1p(ratio), 0.25));
  const near = o.where(o.lt(distance, 1e-6), pole, open), isTurning = o.isnan(im);
  const turn = o.copysign(o.fullLike(im, Math.PI / 2), im);
  return {
    re: o.copysign(o.where(isFar, far, near), re),
    im: o.where(isFar, o.where(isTurning, im, turn), o.mul(o.atan2(o.mul(im, 2), opening), 0.5)),
  };
}

const scaled = <T extends TensorLike>(o: OpApi<T>, { re, im }: Parts<T>, factor: number): Parts<T> => ({
  re: o.mul(re, factor),
  im: o.mul(im, factor),
});

/** 1 / √(1 − z) / √(1 + z); √(1 − z²) would have different branch cuts. */
const arcSlope = <T extends TensorLike>(o: OpApi<T>, z: T): T =>
  o.mul(o.rsqrt(o.add(o.neg(z), 1)), o.rsqrt(o.add(z, 1)));

/** The functions by the names of their ops. */
const COMPLEX_FUNCTIONS = {
  exp: { value: exp, derivative: (_o, _z, w) => w },
  exp2: {
    value: (o, z) => exp(o, scaled(o, z, Math.LN2)),
    derivative: (o, _z, w) => o.mul(w, Math.LN2),
  },
  expm1: {
    // (e^x − 1)·cos y − 2·sin²(y/2): nothing cancels near 0
    value(o, { re, im }) {
      const half = o.sin(o.mul(im, 0.5)), grown = o.expm1(re);
      return {
        re: o.sub(o.mul(grown, o.cos(im)), o.mul(o.mul(half, half), 2)),
        im: o.mul(o.exp(re), o.sin(im)),
      };
    },
    derivative: (o, _z, w) => o.add(w, 1),
  },
  log: { value: log, derivative: (o, z) => o.reciprocal(z) },
  log2: {
    value: (o, z) => scaled(o, log(o, z), Math.LOG2E),
    derivative: (o, z) => o.mul(o.reciprocal(z), Math.LOG2E),
  },
  log10: {
    value: (o, z) => scaled(o, log(o, z), Math.LOG10E),
    derivative: (o, z) => o.mul(o.reciprocal(z), Math.LOG10E),
  },
  log1p: {
    // |1 + z|² − 1 = x·(x + 2) + y²
    value(o, { re, im }) {
      const excess = o.add(o.mul(re, o.add(re, 2)), o.mul(im, im)), above = { re: o.add(re, 1), im };
      const isNear = o.lt(o.abs(excess), 0.5);
      return {
        re: o.where(isNear, o.mul(o.log1p(excess), 0.5), logSize(o, above)),
        im: o.atan2(im, above.re),
      };
    },
    derivative: (o, z) => o.reciprocal(o.add(z, 1)),
  },
  sqrt: { value: sqrt, derivative: (o, _z, w) => o.mul(o.reciprocal(w), 0.5) },
  rsqrt: {
    value: (o, z) => reciprocal(o, sqrt(o, z)),
    derivative: (o, _z, w) => o.mul(o.mul(w, o.mul(w, w)), -0.5),
  },
  reciprocal: { value: reciprocal, derivative: (o, _z, w) => o.neg(o.mul(w, w)) },
  square: { value: (o, z) => times(o, z, z), derivative: (o, z) => o.mul(z, 2) },
  sinh: { value: sinh, derivative: (o, z) => o.cosh(z) },
  cosh: { value: cosh, derivative: (o, z) => o.sinh(z) },
  tanh: { value: tanh, derivative: (o, _z, w) => o.add(o.neg(o.mul(w, w)), 1) },
  sin: { value: (o, z) => overI(o, sinh(o, timesI(o, z))), derivative: (o, z) => o.cos(z) },
  cos: { value: (o, z) => cosh(o, timesI(o, z)), derivative: (o, z) => o.neg(o.sin(z)) },
  tan: {
    value: (o, z) => overI(o, tanh(o, timesI(o, z))),
    derivative: (o, _z, w) => o.add(o.mul(w, w), 1),
  },
  asin: { value: asin, derivative: arcSlope },
  acos: { value: acos, derivative: (o, z) => o.neg(arcSlope(o, z)) },
  atan: {
    value: (o, z) => overI(o, atanh(o, timesI(o, z))),
    derivative: (o, z) => o.reciprocal(o.add(o.mul(z, z), 1)),
  },
  asinh: {
    value: (o, z) => overI(o, asin(o, timesI(o, z))),
    derivative: (o, z) => o.rsqrt(o.add(o.mul(z, z), 1)),
  },
  acosh: {
    value: acosh,
    derivative: (o, z) => o.mul(o.rsqrt(o.add(z, -1)), o.rsqrt(o.add(z, 1))),
  },
  atanh: { value: atanh, derivative: (o, z) => o.reciprocal(o.add(o.neg(o.mul(z, z)), 1)) },
  sigmoid: {
    // (1 + tanh(z/2)) / 2
    value(o, z) {
      const half = scaled(o, tanh(o, scaled(o, z, 0.5)), 0.5);
      return { re: o.add(half.re, 0.5), im: half.im };
    },
    derivative: (o, _z, w) => o.mul(w, o.add(o.neg(w), 1)),
  },
} as const satisfies Readonly<Record<string, ComplexFunction>>;

/** The name of a function of a complex variable. */
type ComplexFunctionName = keyof typeof COMPLEX_FUNCTIONS;

/** Their names. */
export const COMPLEX_FUNCTION_NAMES: readonly ComplexFunctionName[] = Object.keys(COMPLEX_FUNCTIONS)
  .filter((name): name is ComplexFunctionName => name in COMPLEX_FUNCTIONS);

/** The function of a name. */
export function complexFunctionNamed(name: string): ComplexFunction | undefined {
  const known: Readonly<Record<string, ComplexFunction>> = COMPLEX_FUNCTIONS;
  return Object.hasOwn(known, name) ? known[name] : undefined;
}
