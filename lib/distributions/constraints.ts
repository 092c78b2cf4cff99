/**
 * Sets of values: the namespace `distributions.constraints`, like `torch.distributions.constraints`. Invariant:
 * checks have no side effects and no gradient.
 */
import { checkInstances, checkKind, optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { showAsText } from "../base/console_text.ts";
import { ops } from "../tensor/eager.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import { isCaptured, noGrad } from "../tensor/modes.ts";

/** The ends of an interval. */
export interface Bounds {
  /** The lower bound, inclusive or exclusive as the constraint says. */
  readonly lower?: number | Tensor;
  /** The upper bound, inclusive or exclusive as the constraint says. */
  readonly upper?: number | Tensor;
}

/** Properties of the events of a constraint. */
export interface EventProperties {
  /** Dimensions of one event; default 0. */
  readonly eventDim?: number;
  /** Whether values are discrete; default false. */
  readonly isDiscrete?: boolean;
  /** The ends of an interval; default: none. */
  readonly bounds?: Bounds;
}

/** A set of values. */
export class Constraint {
  /** Dimensions of one event. */
  readonly eventDim: number;
  /** Whether values are discrete. */
  readonly isDiscrete: boolean;
  /** The ends of an interval, or undefined. */
  readonly bounds: Bounds;

  /**
   * Takes the text of errors after "Expected scale to be", which is made when it is needed where it shows elements, a
   * test of events, and properties of events.
   */
  constructor(
    private readonly words: string | (() => string),
    private readonly holds: (value: Tensor) => Tensor,
    properties: EventProperties = {},
  ) {
    const { eventDim = 0, isDiscrete = false, bounds = {} } = optionsOf("Constraint", properties, [
      "eventDim",
      "isDiscrete",
      "bounds",
    ]);
    this.eventDim = eventDim;
    this.isDiscrete = isDiscrete;
    this.bounds = bounds;
  }

  /** Text of errors after "Expected scale to be". */
  get text(): string {
    return typeof this.words === "string" ? this.words : this.words();
  }

  /** Returns whether each event is in the set: bools, without the dimensions of an event. */
  check(value: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("check", 1, arguments);
    return noGrad(() => this.holds(value));
  }

  /** Returns the text of the constraint as errors show it. */
  toString(): string {
    return `Constraint(${this.text})`;
  }
}

showAsText(Constraint.prototype);

/** Constraints of parameters, by name. */
export type ArgConstraints = Readonly<Record<string, Constraint>>;

/** The kind and parts of a compound constraint. */
interface Compound {
  readonly kind: "independent" | "cat" | "stack";
  readonly of: readonly Constraint[];
  /** The dimension of the parts; of an independent one, the number of dimensions. */
  readonly dim: number;
  /** Sizes of the parts of a cat. */
  readonly lengths?: readonly number[];
}

/** A constraint of values with several parts. */
export class CompoundConstraint extends Constraint {
  /** Takes its parts and a test of events. */
  constructor(
    /** @internal */
    readonly form: Compound,
    holds: (value: Tensor) => Tensor,
  ) {
    checkKind(form, "an object", "CompoundConstraint");
    checkInstances(form.of, Constraint, form.kind);
    const { kind, of, dim } = form;
    const text = (): string => {
      const texts = of.map((each) => each.text);
      return kind === "independent" ? texts.join() : `in order ${texts.join(", then ")}`;
    };
    const eventDim = Math.max(0, ...of.map((each) => each.eventDim));
    super(text, holds, {
      eventDim: kind === "independent" ? eventDim + dim : eventDim,
      isDiscrete: of.some(({ isDiscrete }) => isDiscrete),
    });
  }
}

/** A bound in messages: its number, if it has one. */
const boundText = (bound: number | Tensor): string =>
  `${isTensor(bound) && bound.numel() === 1 ? bound.detach().reshape([]).item() : bound}`;

const whole = (x: Tensor): Tensor => x.remainder(1).eq(0);
const allLast = (x: Tensor, dims: number): Tensor => {
  let found = x;
  for (let k = 0; k < dims; k++) found = found.all(-1);
  return found;
};

/** Any number but NaN. */
export const real: Constraint = new Constraint("a number other than NaN", (x) => x.eq(x));
/** Above 0. */
export const positive: Constraint = new Constraint("positive", (x) => x.gt(0), { bounds: { lower: 0 } });
/** 0 or more. */
export const nonnegative: Constraint = new Constraint("non-negative", (x) => x.ge(0), {
  bounds: { lower: 0 },
});
/** From 0 to 1. */
export const unitInterval: Constraint = interval(0, 1);
/** 0 or 1. */
export const boolean: Constraint = new Constraint("0 or 1", (x) => x.eq(0).logicalOr(x.eq(1)), {
  isDiscrete: true,
});
/** Non-negative whole numbers. */
export const nonnegativeInteger: Constraint = new Constraint(
  "a non-negative integer",
  (x) => whole(x).logicalAnd(x.ge(0)),
  { isDiscrete: true },
);
/** Positive whole numbers. */
export const positiveInteger: Constraint = new Constraint(
  "a positive integer",
  (x) => whole(x).logicalAnd(x.ge(1)),
  { isDiscrete: true },
);

/** Vectors of probabilities that sum to 1. */
export const simplex: Constraint = new Constraint(
  "probabilities that sum to 1",
  (x) => x.ge(0).all(-1).logicalAnd(x.sum(-1).sub(1).abs().lt(1e-6)),
  { eventDim: 1 },
);
/** One-hot vectors. */
export const oneHot: Constraint = new Constraint(
  "a one-hot vector",
  (x) => boolean.check(x).all(-1).logicalAnd(x.sum(-1).eq(1)),
  { eventDim: 1, isDiscrete: true },
);
/** Square matrices. */
export const square: Constraint = new Constraint("a square matrix", (x) => {
  const isSquare = x.shape.at(-1) === x.shape.at(-2);
  return ops.full(x.shape.slice(0, -2), isSquare, { dtype: "bool", device: x.device });
}, { eventDim: 2 });
/** Matrices that are their own transposes. */
export const symmetric: Constraint = new Constraint(
  "a symmetric matrix",
  (x) =>
    x.shape.at(-1) === x.shape.at(-2) ? allLast(ops.isclose(x, x.mT, { atol: 1e-6 }), 2) : square.check(x),
  { eventDim: 2 },
);
/** Matrices with zeros above the diagonal. */
export const lowerTriangular: Constraint = new Constraint(
  "a lower triangular matrix",
  (x) => allLast(x.tril().eq(x), 2),
  { eventDim: 2 },
);
/** Lower triangular matrices with a positive diagonal. */
export const lowerCholesky: Constraint = new Constraint(
  "a lower triangular matrix with a positive diagonal",
  (x) => lowerTriangular.check(x).logicalAnd(x.diagonal(0, -2, -1).gt(0).all(-1)),
  { eventDim: 2 },
);
/** Lower triangular matrices with a positive diagonal and rows of length 1. */
export const corrCholesky: Constraint = new Constraint(
  "a Cholesky factor of a correlation",
  (x) => {
    const apart = x.square().sum(-1).sub(1).abs(), near = x.dtype === "float64" ? 1e-14 : 1e-5;
    return lowerCholesky.check(x).logicalAnd(apart.le(near * (x.shape.at(-1) ?? 1)).all(-1));
  },
  { eventDim: 2 },
);

/** Symmetric matrices whose eigenvalues pass a test. */
const byEigenvalues = (text: string, holds: (values: Tensor) => Tensor) =>
  new Constraint(text, (x) => {
    const symmetry = symmetric.check(x);
    // Eigenvalues are computed only if all matrices are symmetric, where that is known
    const isSymmetric = isCaptured() || symmetry.all().item<boolean>();
    return isSymmetric ? symmetry.logicalAnd(holds(ops.eigvalsh(x)).all(-1)) : symmetry;
  }, { eventDim: 2 });

/** Symmetric matrices without negative eigenvalues. */
export const positiveSemidefinite: Constraint = byEigenvalues(
  "a positive semidefinite matrix",
  (values) => values.ge(0),
);
/** Symmetric matrices with positive eigenvalues. */
export const positiveDefinite: Constraint = byEigenvalues(
  "a positive definite matrix",
  (values) => values.gt(0),
);

/** Numbers from one to another, ends included. */
export function interval(lowerBound: number | Tensor, upperBound: number | Tensor): Constraint {
  if (arguments.length > 2) refuseSurplus("interval", 2, arguments);
  return new Constraint(
    () => `in [${boundText(lowerBound)}, ${boundText(upperBound)}]`,
    (x) => x.ge(lowerBound).logicalAnd(x.le(upperBound)),
    { bounds: { lower: lowerBound, upper: upperBound } },
  );
}

/** Numbers from a lower bound, included, to an upper one, excluded. */
export function halfOpenInterval(lowerBound: number | Tensor, upperBound: number | Tensor): Constraint {
  if (arguments.length > 2) refuseSurplus("halfOpenInterval", 2, arguments);
  return new Constraint(
    () => `in [${boundText(lowerBound)}, ${boundText(upperBound)})`,
    (x) => x.ge(lowerBound).logicalAnd(x.lt(upperBound)),
    { bounds: { lower: lowerBound, upper: upperBound } },
  );
}

/** Whole numbers from one to another, ends included. */
export function integerInterval(lowerBound: number | Tensor, upperBound: number | Tensor): Constraint {
  if (arguments.length > 2) refuseSurplus("integerInterval", 2, arguments);
  return new Constraint(
    () => `a whole number in [${boundText(lowerBound)}, ${boundText(upperBound)}]`,
    (x) => whole(x).logicalAnd(x.ge(lowerBound)).logicalAnd(x.le(upperBound)),
    { isDiscrete: true },
  );
}

/** Numbers above a bound. */
export function greaterThan(lowerBound: number | Tensor): Constraint {
  if (arguments.length > 1) refuseSurplus("greaterThan", 1, arguments);
  return new Constraint(() => `greater than ${boundText(lowerBound)}`, (x) => x.gt(lowerBound), {
    bounds: { lower: lowerBound },
  });
}

/** Numbers of at least a bound. */
export function greaterThanEq(lowerBound: number | Tensor): Constraint {
  if (arguments.length > 1) refuseSurplus("greaterThanEq", 1, arguments);
  return new Constraint(() => `at least ${boundText(lowerBound)}`, (x) => x.ge(lowerBound), {
    bounds: { lower: lowerBound },
  });
}

/** Numbers below a bound. */
export function lessThan(upperBound: number | Tensor): Constraint {
  if (arguments.length > 1) refuseSurplus("lessThan", 1, arguments);
  return new Constraint(() => `less than ${boundText(upperBound)}`, (x) => x.lt(upperBound), {
    bounds: { upper: upperBound },
  });
}

/** Vectors of counts whose sum is at most `upperBound`. */
export function multinomial(upperBound: number | Tensor): Constraint {
  if (arguments.length > 1) refuseSurplus("multinomial", 1, arguments);
  return new Constraint(
    () => `counts of at most ${boundText(upperBound)} together`,
    (x) => x.ge(0).all(-1).logicalAnd(x.sum(-1).le(upperBound)),
    { eventDim: 1, isDiscrete: true },
  );
}

/** Extends the event of a constraint by the last batch dimensions. */
export function independent(baseConstraint: Constraint, reinterpretedBatchNdims: number): Constraint {
  if (arguments.length > 2) refuseSurplus("independent", 2, arguments);
  return new CompoundConstraint({
    kind: "independent",
    of: [baseConstraint],
    dim: reinterpretedBatchNdims,
  }, (x) => allLast(baseConstraint.check(x), reinterpretedBatchNdims));
}

/** A constraint for each part along a dimension; parts have one element unless `lengths` are given. */
export function cat(
  constraints: readonly Constraint[],
  dim: number = 0,
  options: { readonly lengths?: readonly number[] } = {},
): Constraint {
  if (arguments.length > 3) refuseSurplus("cat", 3, arguments);
  checkInstances(constraints, Constraint, "cat");
  const { lengths = constraints.map(() => 1) } = optionsOf("cat", options, ["lengths"]);
  if (lengths.length !== constraints.length) {
    throw new DynError(
      `Expected as many lengths as there are constraints, ${constraints.length}, but found ${lengths.length}`,
    );
  }
  return new CompoundConstraint({ kind: "cat", of: constraints, dim, lengths }, (x) => {
    const parts = ops.splitWithSizes(x, lengths, dim);
    return ops.cat(constraints.map((each, k) => each.check(parts[k] ?? x)), dim);
  });
}

/** A constraint for each index of a dimension. Its `check` throws DynError if the dimension has another size. */
export function stack(constraints: readonly Constraint[], dim: number = 0): Constraint {
  if (arguments.length > 2) refuseSurplus("stack", 2, arguments);
  return new CompoundConstraint({ kind: "stack", of: constraints, dim }, (x) => {
    const parts = ops.unbind(x, dim);
    if (parts.length !== constraints.length) {
      throw new DynError(
        `Expected dimension ${dim} to have size ${constraints.length} but found [${x.shape}]`,
      );
    }
    return ops.stack(constraints.map((each, k) => each.check(parts[k] ?? x)), dim);
  });
}

/** Vectors without NaN. */
export const realVector: Constraint = independent(real, 1);
