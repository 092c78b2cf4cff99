/**
 * Transforms from unconstrained numbers onto sets, like `torch.distributions.biject_to` and `transform_to`: images
 * satisfy a constraint of the namespace `constraints`. Invariant: `bijectTo` returns invertible transforms.
 */
import { refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { isTensor } from "../tensor/tensor.ts";
import * as sets from "./constraints.ts";
import type { Constraint } from "./constraints.ts";
import {
  AffineTransform,
  CatTransform,
  ComposeTransform,
  CorrCholeskyTransform,
  ExpTransform,
  identityTransform,
  IndependentTransform,
  LowerCholeskyTransform,
  PositiveDefiniteTransform,
  SigmoidTransform,
  SoftmaxTransform,
  StackTransform,
  StickBreakingTransform,
  type Transform,
} from "./transforms.ts";

type Made = () => Transform;

const EITHER: ReadonlyMap<Constraint, Made> = new Map<Constraint, Made>([
  [sets.real, () => identityTransform],
  [sets.positive, () => new ExpTransform()],
  [sets.nonnegative, () => new ExpTransform()],
  [sets.unitInterval, () => new SigmoidTransform()],
  [sets.corrCholesky, () => new CorrCholeskyTransform()],
]);

/** Those that ignore a part of their values, so that they have no inverse. */
const ONTO: ReadonlyMap<Constraint, Made> = new Map<Constraint, Made>([
  [sets.simplex, () => new SoftmaxTransform()],
  [sets.lowerCholesky, () => new LowerCholeskyTransform()],
  [sets.positiveDefinite, () => new PositiveDefiniteTransform()],
  [sets.positiveSemidefinite, () => new PositiveDefiniteTransform()],
]);

/** Finds a transform onto a set; `onto` finds those onto its parts. */
function found(constraint: Constraint, onto: (part: Constraint) => Transform): Transform {
  const made = EITHER.get(constraint);
  if (made) return made();
  if (constraint instanceof sets.CompoundConstraint && !constraint.isDiscrete) {
    const { kind, of, dim, lengths } = constraint.form, parts = of.map(onto);
    if (kind === "cat") return new CatTransform(parts, dim, lengths ? { lengths } : {});
    if (kind === "stack") return new StackTransform(parts, dim);
    return new IndependentTransform(parts[0] ?? identityTransform, dim);
  }
  if (!(constraint instanceof sets.Constraint)) {
    refuseValue("one of distributions.constraints", constraint);
  }
  const { bounds: { lower, upper }, isDiscrete } = constraint;
  if (isDiscrete || (lower === undefined && upper === undefined)) {
    throw new DynError(`Expected a constraint that a transform is known for but found ${constraint}`);
  }
  if (lower === undefined) {
    return new ComposeTransform([new ExpTransform(), new AffineTransform(upper ?? 0, -1)]);
  }
  if (upper === undefined) return new ComposeTransform([new ExpTransform(), new AffineTransform(lower, 1)]);
  const width = isTensor(lower) ? lower.neg().add(upper) : isTensor(upper) ? upper.sub(lower) : upper - lower;
  return new ComposeTransform([new SigmoidTransform(), new AffineTransform(lower, width)]);
}

/** A bijective transform onto a set. Throws DynError if none is known. */
export function bijectTo(constraint: Constraint): Transform {
  if (arguments.length > 1) refuseSurplus("bijectTo", 1, arguments);
  return constraint === sets.simplex ? new StickBreakingTransform() : found(constraint, bijectTo);
}

/** A transform onto a set that suits optimizers. Throws DynError if none is known. */
export function transformTo(constraint: Constraint): Transform {
  if (arguments.length > 1) refuseSurplus("transformTo", 1, arguments);
  return ONTO.get(constraint)?.() ?? found(constraint, transformTo);
}
