/**
 * Arithmetic of complex tensors as compositions of real ops on their parts. Invariant: gradients follow from those of
 * the real ops, which by PyTorch's convention are the complex ones: ∂L/∂re + i·∂L/∂im.
 */
import { DynError, invariant } from "../../base/errors.ts";
import { type ComplexType, isComplex, partType } from "../../base/dtype.ts";
import { arithmetic } from "../elementwise/arithmetic.ts";
import { elementwise } from "../elementwise/elementwise.ts";
import type { TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { isTensor } from "../promotion.ts";
import {
  asComplex,
  complexResult,
  factorOfPairs,
  isComplexTensor,
  joined,
  type OperandOf,
  overPairs,
  partsOf,
} from "./parts.ts";
import { type ComplexRule, rule } from "./rule.ts";

/** The complex tensor among two operands, and the other one. */
function complexFirst<T extends TensorLike>(a: OperandOf<T>, b: OperandOf<T>): readonly [T, OperandOf<T>] {
  if (isComplexTensor(a)) return [a, b];
  invariant(isComplexTensor(b), "Expected a complex operand but found real ones");
  return [b, a];
}

/** a · b. A real factor scales both parts. */
function product<T extends TensorLike>(o: OpApi<T>, a: OperandOf<T>, b: OperandOf<T>): T {
  const dtype = complexResult([a, b]), [z, other] = complexFirst(a, b);
  const left = asComplex(o, z, { dtype, like: z });
  if (!isComplexTensor(other)) {
    return overPairs(o, o.mul(o.viewAsReal(left), factorOfPairs(o, other, dtype)));
  }
  const p = partsOf(o, left), q = partsOf(o, asComplex(o, other, { dtype, like: z }));
  return joined(o, {
    re: o.sub(o.mul(p.re, q.re), o.mul(p.im, q.im)),
    im: o.add(o.mul(p.re, q.im), o.mul(p.im, q.re)),
  });
}

/** A part of an infinite number without its size: its sign as 1 or, where only the other part is infinite, as 0. */
const direction = <T extends TensorLike>(o: OpApi<T>, part: T): T =>
  o.detach(o.copysign(o.to(o.isinf(part), part.dtype), part));

/**
 * a / b, scaled by the larger part of b so that nothing overflows on the way. By annex G of C99, a finite number over
 * an infinite one is zero, and one over zero is infinite.
 */
function quotient<T extends TensorLike>(o: OpApi<T>, a: OperandOf<T>, b: OperandOf<T>): T {
  const dtype = complexResult([a, b]), [like] = complexFirst(a, b);
  if (!isComplexTensor(b)) {
    const pairs = o.viewAsReal(asComplex(o, a, { dtype, like }));
    return overPairs(o, o.div(pairs, factorOfPairs(o, b, dtype)));
  }
  const q = partsOf(o, asComplex(o, b, { dtype, like }));
  const size = o.detach(o.maximum(o.abs(q.re), o.abs(q.im))), isFar = o.isinf(size), isZero = o.eq(size, 0);
  // The quotient does not depend on the scale, so it needs no gradient
  const scale = o.where(isZero, 1, size);
  const c = o.where(isFar, direction(o, q.re), o.div(q.re, scale));
  const d = o.where(isFar, direction(o, q.im), o.div(q.im, scale));
  const norm = o.add(o.mul(c, c), o.mul(d, d));
  const over = (part: T, sum: T): T => o.div(o.div(o.where(isZero, part, sum), norm), scale);
  if (!isComplexTensor(a)) {
    const x = isTensor(a) ? partsOf(o, asComplex(o, a, { dtype, like })).re : o.mul(o.onesLike(c), a);
    return joined(o, { re: over(x, o.mul(c, x)), im: over(o.zerosLike(x), o.neg(o.mul(d, x))) });
  }
  const p = partsOf(o, asComplex(o, a, { dtype, like }));
  return joined(o, {
    re: over(p.re, o.add(o.mul(p.re, c), o.mul(p.im, d))),
    im: over(p.im, o.sub(o.mul(p.im, c), o.mul(p.re, d))),
  });
}

/** Maximum integer power that is computed by products, with squaring. */
const MOST_FACTORS = 64;

/** zⁿ for a whole n, as products. */
function wholePower<T extends TensorLike>(o: OpApi<T>, z: T, n: number): T {
  // Its gradient is 0, but must exist
  if (n === 0) return o.maskedFill(z, o.ones(z.shape, { dtype: "bool", device: z.device }), 1);
  if (n < 0) return o.reciprocal(wholePower(o, z, -n));
  const half = n === 1 ? null : wholePower(o, z, Math.floor(n / 2));
  if (half === null) return z;
  const even = o.mul(half, half);
  return n % 2 === 0 ? even : o.mul(even, z);
}

/** exp(b · log a); 0 to a power of positive real part is 0, of negative real part infinite, to 0 it is 1. */
function power<T extends TensorLike>(o: OpApi<T>, a: OperandOf<T>, b: OperandOf<T>): T {
  const dtype = complexResult([a, b]), [like] = complexFirst(a, b);
  const base = asComplex(o, a, { dtype, like });
  if (b === 0.5) return o.sqrt(base);
  if (typeof b === "number" && Number.isInteger(b) && Math.abs(b) <= MOST_FACTORS) {
    return wholePower(o, base, b);
  }
  const exponent = isTensor(b) && isComplex(b.dtype) ? b : isTensor(b) ? asComplex(o, b, { dtype, like }) : b;
  const isZero = o.eq(base, 0), one = o.onesLike(base);
  const found = o.exp(o.mul(o.log(o.where(isZero, one, base)), exponent));
  const power = asComplex(o, exponent, { dtype, like }), rate = partsOf(o, power).re;
  const limit = o.where(o.gt(rate, 0), 0, o.where(o.lt(rate, 0), Infinity, NaN));
  const re = o.to(o.detach(o.where(o.eq(power, 0), 1, limit)), partType(dtype));
  return o.where(isZero, joined(o, { re, im: o.mul(re, 0) }), found);
}

/** Real numbers as float64 take part in float powers. */
const WIDE: ComplexType = "complex128";

export const arithmeticRules: readonly ComplexRule[] = [
  rule(arithmetic.mul, (o, { self, other }) => product(o, self, other)),
  rule(arithmetic.div, (o, { self, other, roundingMode }) => {
    if (roundingMode !== null) {
      throw new DynError("Expected division without rounding for complex numbers, which have no order");
    }
    return quotient(o, self, other);
  }),
  rule(arithmetic.pow, (o, { self, exponent }) => power(o, self, exponent)),
  rule(arithmetic.floatPower, (o, { self, exponent }) => {
    const wide = (x: typeof self) => isTensor(x) ? o.to(x, isComplex(x.dtype) ? WIDE : "float64") : x;
    return o.pow(wide(self), wide(exponent));
  }),
  rule(
    elementwise.addcmul,
    (o, { self, tensor1, tensor2, value }) => o.add(self, o.mul(o.mul(tensor1, tensor2), value)),
  ),
  rule(
    elementwise.addcdiv,
    (o, { self, tensor1, tensor2, value }) => o.add(self, o.mul(o.div(tensor1, tensor2), value)),
  ),
  rule(elementwise.lerp, (o, { self, end, weight }) => o.add(self, o.mul(o.sub(end, self), weight))),
];
