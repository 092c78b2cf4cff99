/**
 * The base of all distributions, like `torch.distributions.Distribution`. Invariant: a sample has the requested
 * shape, then that of the batch (of parameters), then that of one event.
 */
import { checkTensor } from "../tensor/checked.ts";
import { getDefaultDtype, isFloat } from "../base/dtype.ts";
import { checkKind, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { type Flag, flagOf } from "../base/arguments.ts";
import { DynError } from "../base/errors.ts";
import { oneLine, showAsText } from "../base/console_text.ts";
import { broadcastShapes, sameShape, shapeText } from "../ops/shapes.ts";
import { scalarTensor } from "../tensor/creation.ts";
import { checkValue, supportOf, UnknownFigure, type Validation } from "./checked_parameters.ts";
import type { ArgConstraints, Bounds, Constraint } from "./constraints.ts";
import { ops } from "../tensor/eager.ts";
import { noGrad } from "../tensor/modes.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";

/** A parameter: one number, or a tensor. */
export type Parameter = number | Tensor;

/** Sizes of samples. */
export type SampleShape = readonly number[];

/** A class of distributions. */
export type Class<D extends Distribution> = abstract new (...args: never) => D;

/**
 * Converts a parameter to a floating type; integers count as floats, since JavaScript cannot distinguish 1.0 from 1.
 */
export function floating(given: Tensor): Tensor {
  checkTensor(given, "a parameter of a distribution");
  return isFloat(given.dtype) ? given : given.to(getDefaultDtype());
}

/** A parameter whose last dimension is that of outcomes. Throws DynError for a 0-d tensor. */
export function vectors(given: Tensor, name: string): Tensor {
  const found = floating(given);
  if (found.ndim > 0) return found;
  throw new DynError(`Expected ${name} of at least 1 dimension but found a 0-d tensor`);
}

/** Broadcasts parameters to floating tensors of one shape. */
export function broadcastAll<const P extends readonly Parameter[]>(...given: P): { [K in keyof P]: Tensor } {
  const [like] = given.filter(isTensor), dtype = like?.isFloatingPoint() ? like.dtype : getDefaultDtype();
  const tensors = given.map((each) =>
    isTensor(each) ? floating(each) : scalarTensor(each, { dtype, device: like?.device })
  );
  const shape = broadcastShapes(...tensors.map((each) => each.shape)).map(Number);
  const all = tensors.map((each) => sameShape(each.shape, shape) ? each : ops.expand(each, shape));
  return all as { [K in keyof P]: Tensor };
}

/** A distribution of tensors. */
export abstract class Distribution {
  /** Whether samples can be differentiated with respect to the parameters. */
  readonly hasRsample: boolean = false;
  /** Constraints of parameters, by name. */
  readonly argConstraints: ArgConstraints = {};

  constructor(
    readonly batchShape: SampleShape,
    readonly eventShape: SampleShape = [],
    /** Whether parameters and values are checked; by default, as `setDefaultValidateArgs` says. */
    readonly validateArgs: Validation["validateArgs"] = null,
  ) {}

  /** Expected values. */
  abstract get mean(): Tensor;
  /** Variances. */
  abstract get variance(): Tensor;
  /** Draws samples. */
  protected abstract draw(shape: SampleShape): Tensor;

  /** Standard deviations. */
  get stddev(): Tensor {
    return this.variance.sqrt();
  }

  /** The set of values that can be drawn. Throws DynError if it is not known. */
  get support(): Constraint {
    return this.unknown("support");
  }

  /** Whether `enumerateSupport` is implemented. */
  get hasEnumerateSupport(): boolean {
    return false;
  }

  /**
   * All possible values along a new first dimension; the dimensions of the batch have size 1 unless `expand`. Throws
   * DynError if they are unknown or too many.
   */
  enumerateSupport(_expand: Flag<"expand"> = true): Tensor {
    if (arguments.length > 1) refuseSurplus("enumerateSupport", 1, arguments);
    return this.unknown("support");
  }

  /** The most likely values. Throws DynError if they are unknown. */
  get mode(): Tensor {
    return this.unknown("mode");
  }

  /** Logarithms of densities, or of probabilities. Throws DynError for values outside the support, if they are checked. */
  logProb(value: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("logProb", 1, arguments);
    checkTensor(value, `logProb of ${this.constructor.name}`);
    this.checkValue(value);
    return this.logDensity(value);
  }

  /** Draws samples without gradients. */
  sample(shape: SampleShape = []): Tensor {
    const whole = this.extended(shape);
    if (arguments.length > 1) refuseSurplus("sample", 1, arguments);
    return noGrad(() => this.draw(whole).detach());
  }

  /** Draws `count` samples. */
  sampleN(count: number): Tensor {
    if (arguments.length > 1) refuseSurplus("sampleN", 1, arguments);
    return this.sample([count]);
  }

  /** Draws samples whose gradients reach the parameters. Throws DynError if that is impossible. */
  rsample(shape: SampleShape = []): Tensor {
    if (arguments.length > 1) refuseSurplus("rsample", 1, arguments);
    if (this.hasRsample) return this.draw(this.extended(shape));
    throw new DynError(
      `Expected a distribution that has rsample but found ${this.constructor.name}; use sample`,
    );
  }

  /** Entropies. Throws DynError if they are unknown. */
  entropy(): Tensor {
    if (arguments.length > 0) refuseSurplus("entropy", 0, arguments);
    return this.computedEntropy();
  }

  /** Probabilities of values up to the given ones, 0 below the support and 1 above it. Throws DynError if they are unknown. */
  cdf(value: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("cdf", 1, arguments);
    checkTensor(value, `cdf of ${this.constructor.name}`);
    return cumulativeWithin(supportOf(this)?.bounds ?? {}, value, (inside) => this.cumulative(inside));
  }

  /** The quantiles of probabilities, the inverse of `cdf`. Throws DynError if they are unknown. */
  icdf(probability: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("icdf", 1, arguments);
    checkTensor(probability, `icdf of ${this.constructor.name}`);
    return this.quantile(probability);
  }

  /** e to the power of entropies. */
  perplexity(): Tensor {
    if (arguments.length > 0) refuseSurplus("perplexity", 0, arguments);
    return this.entropy().exp();
  }

  /**
   * Expands the distribution to a larger batch. Throws DynError unless the batch's shape expands to it. No constructor
   * runs, so that classes of distributions have no members whose names begin with #.
   */
  expand(batchShape: SampleShape): this {
    if (arguments.length > 1) refuseSurplus("expand", 1, arguments);
    checkKind(batchShape, "a list", `expand of ${this.constructor.name}`);
    if (!sameShape(broadcastShapes(this.batchShape, batchShape), batchShape)) {
      throw new DynError(`Expected a shape that [${this.batchShape}] expands to but found [${batchShape}]`);
    }
    const fields = Object.entries(this).map(([name, value]) =>
      [name, this.grown(value, batchShape)] as const
    );
    const expanded: this = Object.create(Object.getPrototypeOf(this));
    return Object.assign(expanded, Object.fromEntries(fields), { batchShape });
  }

  /** Expands a parameter to a larger batch; its event dimensions are unchanged. */
  private grown(value: unknown, batchShape: SampleShape): unknown {
    const own = this.batchShape.length;
    if (isTensor(value)) return ops.expand(value, [...batchShape, ...value.shape.slice(own)]);
    if (!isExpandable(value)) return value;
    return value.expand([...batchShape, ...value.batchShape.slice(own)]);
  }

  /** Checks a value. Distributions over others leave that to them. */
  protected checkValue(value: Tensor): void {
    checkValue(this, value);
  }

  /** Computes `logProb`; subclasses define one or the other. */
  protected logDensity(_value: Tensor): Tensor {
    return this.unknown("logProb");
  }

  /** Computes `entropy`. */
  protected computedEntropy(): Tensor {
    return this.unknown("entropy");
  }

  /** Computes `cdf` for values between the bounds of the support. */
  protected cumulative(_value: Tensor): Tensor {
    return this.unknown("cdf");
  }

  /** Computes `icdf`. */
  protected quantile(_probability: Tensor): Tensor {
    return this.unknown("icdf");
  }

  /** The full shape of samples. */
  protected extended(shape: SampleShape): SampleShape {
    checkKind(shape, "a list", `the shape of samples of ${this.constructor.name}`);
    return [...shape, ...this.batchShape, ...this.eventShape];
  }

  /** Throws DynError: a property of this distribution is unknown. */
  protected unknown(figure: string): never {
    throw new UnknownFigure(
      `Expected a distribution whose ${figure} is known but found ${this.constructor.name}`,
    );
  }

  /** Names of the parameters that are printed; a class with fields that follow from its parameters names its own. */
  protected get printed(): readonly string[] {
    return Object.keys(this).filter((name) => !OWN_FIELDS.has(name));
  }

  /** The parameters as they were given, with the values of those with one element, as PyTorch prints them. */
  toString(): string {
    const parts = this.printed.map((name) => {
      const value: unknown = Reflect.get(this, name);
      if (isTensor(value)) return `${name}: ${parameterText(value)}`;
      return isExpandable(value) ? `${value}` : `${name}: ${oneLine(value)}`;
    });
    return `${this.constructor.name}(${parts.join(", ")})`;
  }
}

showAsText(Distribution.prototype);

/** Fields that every distribution has. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  "argConstraints",
  "batchShape",
  "eventShape",
  "hasRsample",
  "validateArgs",
]);

/** The text of a parameter: its value if it has one element. */
export const parameterText = (value: Tensor): string =>
  value.numel() === 1 ? `${value.detach().reshape([]).item()}` : shapeText(value.shape);

/** Objects with a batch: nested distributions, probabilities. */
interface Expandable {
  readonly batchShape: SampleShape;
  expand(batchShape: SampleShape): Expandable;
}

const isExpandable = (value: unknown): value is Expandable =>
  typeof value === "object" && value !== null && "batchShape" in value && "expand" in value;

/** Standard normal samples of a shape, like a tensor. */
export function standardNormal(shape: SampleShape, { dtype, device }: Tensor): Tensor {
  return ops.randn([...shape], { dtype, device });
}

/** Samples in (0, 1), like a tensor: never 0. */
export function uniform01(shape: SampleShape, { dtype, device }: Tensor): Tensor {
  const tiny = dtype === "float64" ? 2 ** -53 : 2 ** -24;
  return ops.clamp(ops.rand([...shape], { dtype, device }), tiny, 1 - tiny);
}

/** Arranges possible values [n, ...event] in the shape that `enumerateSupport` returns. */
export function enumerated(
  values: Tensor,
  { batchShape, eventShape }: Pick<Distribution, "batchShape" | "eventShape">,
  expand: Flag<"expand">,
): Tensor {
  const count = values.shape[0] ?? 0;
  const laid = values.reshape([count, ...batchShape.map(() => 1), ...eventShape]);
  return flagOf("enumerateSupport", "expand", expand)
    ? laid.expand([count, ...batchShape, ...eventShape])
    : laid;
}

/** Sums over the last dimensions. */
export function sumRightmost(value: Tensor, count: number): Tensor {
  return count === 0 ? value : value.sum(Array.from({ length: count }, (_, k) => value.ndim - count + k));
}

/** log(1 + eˣ), accurate for all x. By |x| and max(x, 0), it would have their gradients at 0. */
export const softplus = (x: Tensor): Tensor => ops.logsigmoid(x.neg()).neg();

/** log of the beta function. */
export const logBeta = (a: Tensor, b: Tensor): Tensor => a.lgamma().add(b.lgamma()).sub(a.add(b).lgamma());

/**
 * A moment that exists where a parameter is above a bound, and is `other` elsewhere, with a gradient of 0: `moment` gets
 * the parameter with a value above the bound in place of others, since a division by 0 that is not chosen would have a
 * gradient that is not a number.
 */
export function whereAbove(
  [parameter, bound]: readonly [parameter: Tensor, bound: number],
  moment: (known: Tensor) => Tensor,
  other: number,
): Tensor {
  const exists = parameter.gt(bound);
  return ops.where(exists, moment(ops.where(exists, parameter, bound + 1)), other);
}

/** Probabilities of values up to the given ones: `inside` gets values between the bounds, or undefined ones. */
function cumulativeWithin(
  { lower, upper }: Bounds,
  value: Tensor,
  inside: (value: Tensor) => Tensor,
): Tensor {
  const isBelow = lower === undefined ? null : value.lt(lower),
    isAbove = upper === undefined ? null : value.gt(upper);
  let bounded = value;
  if (isBelow) bounded = ops.where(isBelow, constant(lower), bounded);
  if (isAbove) bounded = ops.where(isAbove, constant(upper), bounded);
  let found = inside(bounded);
  if (isBelow) found = ops.where(isBelow, 0, found);
  return isAbove ? ops.where(isAbove, 1, found) : found;
}

/** A bound without its history: a probability of 0 or 1 does not depend on it. */
const constant = (bound: number | Tensor = 0): number | Tensor => isTensor(bound) ? bound.detach() : bound;

/** Throws DynError unless a value is a distribution; `owner` is what it was passed to. */
export function checkDistribution(value: unknown, owner: string): asserts value is Distribution {
  if (!(value instanceof Distribution)) {
    refuseValue(`a distribution for ${owner}`, value);
  }
}
