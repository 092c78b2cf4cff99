/**
 * Comparisons and predicates of complex tensors, and their magnitude and angle. Invariant: complex numbers are not
 * ordered, so ops that need an order have no rule; the gradients of magnitude and angle at 0 are 0, as in PyTorch.
 */
import { comparisons } from "../elementwise/comparison.ts";
import type { OpDefinition, TensorLike } from "../definition.ts";
import { floatParts } from "../elementwise/float_parts.ts";
import type { OpApi } from "../generated.ts";
import { hostOps } from "../host.ts";
import { partOps } from "./parts_ops.ts";
import { unaryOps } from "../elementwise/unary.ts";
import {
  asComplex,
  complexResult,
  isComplexTensor,
  joined,
  type OperandOf,
  type Parts,
  partsOf,
} from "./parts.ts";
import { truth } from "./reductions.ts";
import { type ComplexRule, rule } from "./rule.ts";
import { checkSameType } from "../promotion.ts";

/**
 * The parts with zeros replaced by ones, since magnitude and angle have no derivative at 0, and a mask of the zeros.
 */
function awayFromZero<T extends TensorLike>(o: OpApi<T>, z: T): Parts<T> & { readonly isZero: T } {
  const { re, im } = partsOf(o, z);
  const isZero = o.logicalAnd(o.eq(re, 0), o.eq(im, 0));
  return { re: o.where(isZero, o.onesLike(re), re), im, isZero };
}

/** |z|. */
function magnitude<T extends TensorLike>(o: OpApi<T>, z: T): T {
  const { re, im, isZero } = awayFromZero(o, z), size = o.hypot(re, im);
  return o.where(isZero, o.zerosLike(size), size);
}

/** The angle in (−π, π]; at 0 that of the signs of its parts. */
function argument<T extends TensorLike>(o: OpApi<T>, z: T): T {
  const { re, im, isZero } = awayFromZero(o, z), { re: plain } = partsOf(o, o.detach(z));
  return o.where(isZero, o.atan2(o.detach(im), plain), o.atan2(im, re));
}

/** The parts of both operands, as complex tensors of one type. */
function bothParts<T extends TensorLike>(o: OpApi<T>, a: T, b: OperandOf<T>): readonly [Parts<T>, Parts<T>] {
  const dtype = complexResult([a, b]), like = a;
  return [partsOf(o, asComplex(o, a, { dtype, like })), partsOf(o, asComplex(o, b, { dtype, like }))];
}

function equal<T extends TensorLike>(o: OpApi<T>, a: T, b: OperandOf<T>): T {
  const [p, q] = bothParts(o, a, b);
  return o.logicalAnd(o.eq(p.re, q.re), o.eq(p.im, q.im));
}

/** A predicate of both parts, or of one of them. */
const ofParts = (
  definition: OpDefinition<typeof comparisons.isnan.params>,
  name: "isnan" | "isinf" | "isfinite",
  join: "logicalAnd" | "logicalOr",
): ComplexRule =>
  rule(definition, (o, { self }) => {
    const { re, im } = partsOf(o, self);
    return o[join](o[name](re), o[name](im));
  });

const logical = (
  definition: OpDefinition<typeof comparisons.logicalAnd.params>,
  name: "logicalAnd" | "logicalOr" | "logicalXor",
): ComplexRule =>
  rule(
    definition,
    (o, { self, other }) => o[name](truth(o, self), isComplexTensor(other) ? truth(o, other) : other),
  );

export const comparisonRules: readonly ComplexRule[] = [
  rule(comparisons.eq, (o, { self, other }) => equal(o, self, other)),
  rule(comparisons.ne, (o, { self, other }) => o.logicalNot(equal(o, self, other))),
  rule(comparisons.isclose, (o, { self, other, rtol, atol, equalNan }) => {
    checkSameType("isclose", self, other);
    const error = o.abs(o.sub(self, other)), allowed = o.add(o.mul(o.abs(other), rtol), atol);
    const near = o.logicalOr(o.eq(self, other), o.logicalAnd(o.isfinite(error), o.le(error, allowed)));
    return equalNan ? o.logicalOr(near, o.logicalAnd(o.isnan(self), o.isnan(other))) : near;
  }),
  ofParts(comparisons.isnan, "isnan", "logicalOr"),
  ofParts(comparisons.isinf, "isinf", "logicalOr"),
  ofParts(comparisons.isfinite, "isfinite", "logicalAnd"),
  rule(comparisons.isreal, (o, { self }) => o.eq(partsOf(o, self).im, 0)),
  rule(comparisons.logicalNot, (o, { self }) => o.eq(self, 0)),
  logical(comparisons.logicalAnd, "logicalAnd"),
  logical(comparisons.logicalOr, "logicalOr"),
  logical(comparisons.logicalXor, "logicalXor"),
  rule(hostOps.argwhere, (o, { self }) => o.argwhere(truth(o, self))),
  rule(unaryOps.abs, (o, { self }) => magnitude(o, self)),
  rule(floatParts.angle, (o, { self }) => argument(o, self)),
  rule(partOps.real, (o, { self }) => partsOf(o, self).re),
  rule(partOps.conj, (o, { self }) => conjugate(o, self)),
  rule(partOps.conjPhysical, (o, { self }) => conjugate(o, self)),
  rule(partOps.resolveConj, (_o, { self }) => self),
  rule(partOps.resolveNeg, (_o, { self }) => self),
  rule(partOps.sgn, (o, { self }) => {
    const { re, im, isZero } = awayFromZero(o, self), size = o.hypot(re, im);
    const unit = (part: typeof self) => o.where(isZero, o.zerosLike(size), o.div(part, size));
    return joined(o, { re: unit(re), im: unit(im) });
  }),
];

function conjugate<T extends TensorLike>(o: OpApi<T>, z: T): T {
  const { re, im } = partsOf(o, z);
  return joined(o, { re, im: o.neg(im) });
}
