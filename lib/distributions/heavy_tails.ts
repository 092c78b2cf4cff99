/** Distributions with power-law tails, and others that are sampled by inverse cdf. */
import { ops } from "../tensor/eager.ts";
import type { Tensor } from "../tensor/tensor.ts";
import {
  type ArgConstraints,
  type Constraint,
  greaterThanEq,
  interval,
  nonnegative,
  positive,
  real,
  unitInterval,
} from "./constraints.ts";
import { type ParametersOf, parametersOf } from "./given_parameters.ts";
import { checkParameters } from "./checked_parameters.ts";
import { Distribution, logBeta, type SampleShape, uniform01, whereAbove } from "./distribution.ts";
import { LocationScale } from "./location_scale.ts";

const EULER = 0.5772156649015329;

/** Distributions that are sampled by applying the inverse cdf to uniform numbers in the shape of a parameter. */
abstract class ByQuantile extends Distribution {
  override readonly hasRsample: boolean = true;
  /** A parameter that determines type and device. */
  protected abstract get like(): Tensor;

  protected draw(shape: SampleShape): Tensor {
    return this.icdf(uniform01(shape, this.like));
  }
}

/** The Cauchy distribution, which has no mean, as `torch.distributions.Cauchy`. */
export class Cauchy extends LocationScale {
  override get support(): Constraint {
    return real;
  }

  protected draw(shape: SampleShape): Tensor {
    return this.icdf(uniform01(shape, this.loc));
  }

  get mean(): Tensor {
    return ops.fullLike(this.loc, NaN);
  }

  get variance(): Tensor {
    return ops.fullLike(this.loc, Infinity);
  }

  protected override logDensity(value: Tensor): Tensor {
    const apart = value.sub(this.loc).div(this.scale);
    return apart.square().log1p().add(this.scale.log()).add(Math.log(Math.PI)).neg();
  }

  protected override computedEntropy(): Tensor {
    return this.scale.log().add(Math.log(4 * Math.PI));
  }

  protected override cumulative(value: Tensor): Tensor {
    return value.sub(this.loc).div(this.scale).atan().div(Math.PI).add(0.5);
  }

  protected override quantile(probability: Tensor): Tensor {
    return probability.sub(0.5).mul(Math.PI).tan().mul(this.scale).add(this.loc);
  }
}

/** The distribution of absolute values of a Cauchy variable around 0, as `torch.distributions.HalfCauchy`. */
export class HalfCauchy extends ByQuantile {
  override readonly argConstraints: ArgConstraints = { scale: positive };
  readonly scale: Tensor;

  constructor(...given: ParametersOf<["scale"]>) {
    const { tensors: [s], validateArgs } = parametersOf(new.target.name, ["scale"], given);
    super(s.shape, [], validateArgs);
    this.scale = s;
    checkParameters(this, this.argConstraints, { validateArgs });
  }

  protected get like(): Tensor {
    return this.scale;
  }

  get mean(): Tensor {
    return ops.fullLike(this.scale, Infinity);
  }

  get variance(): Tensor {
    return this.mean;
  }

  override get mode(): Tensor {
    return ops.zerosLike(this.scale);
  }

  override get support(): Constraint {
    return nonnegative;
  }

  protected override logDensity(value: Tensor): Tensor {
    const whole = new Cauchy(0, this.scale).logProb(value).add(Math.LN2);
    return ops.where(value.ge(0), whole, -Infinity);
  }

  protected override computedEntropy(): Tensor {
    return this.scale.log().add(Math.log(2 * Math.PI));
  }

  protected override cumulative(value: Tensor): Tensor {
    return value.div(this.scale).atan().mul(2 / Math.PI);
  }

  protected override quantile(probability: Tensor): Tensor {
    return probability.mul(Math.PI / 2).tan().mul(this.scale);
  }
}

/** The Pareto distribution on [scale, ∞), as `torch.distributions.Pareto`. */
export class Pareto extends ByQuantile {
  override readonly argConstraints: ArgConstraints = { scale: positive, alpha: positive };
  readonly scale: Tensor;
  readonly alpha: Tensor;

  constructor(...given: ParametersOf<["scale", "alpha"]>) {
    const { tensors: [s, a], validateArgs } = parametersOf(new.target.name, ["scale", "alpha"], given);
    super(s.shape, [], validateArgs);
    [this.scale, this.alpha] = [s, a];
    checkParameters(this, this.argConstraints, { validateArgs });
  }

  protected get like(): Tensor {
    return this.scale;
  }

  get mean(): Tensor {
    const { alpha, scale } = this;
    return whereAbove([alpha, 1], (known) => known.mul(scale).div(known.sub(1)), Infinity);
  }

  get variance(): Tensor {
    const { alpha, scale } = this;
    return whereAbove([alpha, 2], (known) => {
      return scale.square().mul(known).div(known.sub(1).square().mul(known.sub(2)));
    }, Infinity);
  }

  override get mode(): Tensor {
    return this.scale;
  }

  override get support(): Constraint {
    return greaterThanEq(this.scale);
  }

  protected override logDensity(value: Tensor): Tensor {
    const { alpha, scale } = this;
    const density = alpha.log().add(alpha.mul(scale.log())).sub(alpha.add(1).mul(value.log()));
    return ops.where(value.lt(scale), -Infinity, density);
  }

  protected override computedEntropy(): Tensor {
    return this.scale.div(this.alpha).log().add(this.alpha.reciprocal()).add(1);
  }

  protected override cumulative(value: Tensor): Tensor {
    return this.scale.div(value).pow(this.alpha).neg().add(1);
  }

  protected override quantile(probability: Tensor): Tensor {
    return this.scale.mul(probability.neg().log1p().neg().div(this.alpha).exp());
  }
}

/** The Weibull distribution, as `torch.distributions.Weibull`. */
export class Weibull extends ByQuantile {
  override readonly argConstraints: ArgConstraints = { scale: positive, concentration: positive };
  readonly scale: Tensor;
  readonly concentration: Tensor;

  constructor(...given: ParametersOf<["scale", "concentration"]>) {
    const { tensors: [s, k], validateArgs } = parametersOf(
      new.target.name,
      ["scale", "concentration"],
      given,
    );
    super(s.shape, [], validateArgs);
    [this.scale, this.concentration] = [s, k];
    checkParameters(this, this.argConstraints, { validateArgs });
  }

  protected get like(): Tensor {
    return this.scale;
  }

  get mean(): Tensor {
    return this.scale.mul(this.moment(1));
  }

  get variance(): Tensor {
    return this.scale.square().mul(this.moment(2).sub(this.moment(1).square()));
  }

  override get mode(): Tensor {
    const k = this.concentration;
    return this.scale.mul(ops.clamp(k.sub(1).div(k), 0, null).pow(k.reciprocal()));
  }

  /** A moment of the distribution with scale 1. */
  private moment(order: number): Tensor {
    return this.concentration.reciprocal().mul(order).add(1).lgamma().exp();
  }

  override get support(): Constraint {
    return positive;
  }

  protected override logDensity(value: Tensor): Tensor {
    const { scale, concentration: k } = this, ratio = value.div(scale);
    const density = k.div(scale).log().add(ops.xlogy(k.sub(1), ratio)).sub(ratio.pow(k));
    return ops.where(value.lt(0), -Infinity, density);
  }

  protected override computedEntropy(): Tensor {
    const { scale, concentration: k } = this;
    return k.reciprocal().neg().add(1).mul(EULER).add(scale.div(k).log()).add(1);
  }

  protected override cumulative(value: Tensor): Tensor {
    return value.div(this.scale).pow(this.concentration).neg().expm1().neg();
  }

  protected override quantile(probability: Tensor): Tensor {
    return probability.neg().log1p().neg().pow(this.concentration.reciprocal()).mul(this.scale);
  }
}

/** Kumaraswamy's distribution on (0, 1), as `torch.distributions.Kumaraswamy`. */
export class Kumaraswamy extends ByQuantile {
  override readonly argConstraints: ArgConstraints = { concentration1: positive, concentration0: positive };
  readonly concentration1: Tensor;
  readonly concentration0: Tensor;

  constructor(...given: ParametersOf<["concentration1", "concentration0"]>) {
    const { tensors: [a, b], validateArgs } = parametersOf(new.target.name, [
      "concentration1",
      "concentration0",
    ], given);
    super(a.shape, [], validateArgs);
    [this.concentration1, this.concentration0] = [a, b];
    checkParameters(this, this.argConstraints, { validateArgs });
  }

  protected get like(): Tensor {
    return this.concentration1;
  }

  get mean(): Tensor {
    return this.moment(1);
  }

  get variance(): Tensor {
    return this.moment(2).sub(this.mean.square());
  }

  override get mode(): Tensor {
    const { concentration1: a, concentration0: b } = this;
    // Where both are 1 all values are as likely
    const inside = a.ge(1).logicalAnd(b.ge(1)).logicalAnd(a.mul(b).gt(1));
    const ratio = ops.where(inside, a.sub(1), 1).div(ops.where(inside, a.mul(b).sub(1), 1));
    return ops.where(inside, ratio.pow(a.reciprocal()), NaN);
  }

  private moment(order: number): Tensor {
    const { concentration1: a, concentration0: b } = this;
    return b.mul(logBeta(a.reciprocal().mul(order).add(1), b).exp());
  }

  override get support(): Constraint {
    return unitInterval;
  }

  protected override logDensity(value: Tensor): Tensor {
    const { concentration1: a, concentration0: b } = this, x = value.clamp(0, 1);
    const tail = ops.xlog1py(b.sub(1), x.pow(a).neg());
    const density = a.mul(b).log().add(ops.xlogy(a.sub(1), x)).add(tail);
    return ops.where(value.lt(0).logicalOr(value.gt(1)), -Infinity, density);
  }

  protected override computedEntropy(): Tensor {
    const { concentration1: a, concentration0: b } = this;
    const harmonic = b.add(1).digamma().add(EULER);
    return a.reciprocal().neg().add(1).mul(harmonic).add(b.reciprocal().neg().add(1)).sub(a.log()).sub(
      b.log(),
    );
  }

  protected override cumulative(value: Tensor): Tensor {
    const power = value.pow(this.concentration1);
    return ops.xlog1py(this.concentration0, power.neg()).expm1().neg();
  }

  protected override quantile(probability: Tensor): Tensor {
    const rest = probability.neg().log1p().div(this.concentration0).expm1().neg();
    return rest.pow(this.concentration1.reciprocal());
  }
}

/**
 * The generalised Pareto distribution of excesses over a threshold `loc`, as `torch.distributions.GeneralizedPareto`:
 * its tail is a power law if `concentration` is positive, exponential if it is 0, and bounded if it is negative.
 */
export class GeneralizedPareto extends ByQuantile {
  override readonly argConstraints: ArgConstraints = { loc: real, scale: positive, concentration: real };
  readonly loc: Tensor;
  readonly scale: Tensor;
  readonly concentration: Tensor;

  constructor(...given: ParametersOf<["loc", "scale", "concentration"]>) {
    const { tensors: [l, s, c], validateArgs } = parametersOf(new.target.name, [
      "loc",
      "scale",
      "concentration",
    ], given);
    super(l.shape, [], validateArgs);
    [this.loc, this.scale, this.concentration] = [l, s, c];
    checkParameters(this, this.argConstraints, { validateArgs });
  }

  protected get like(): Tensor {
    return this.loc;
  }

  get mean(): Tensor {
    const { loc, scale, concentration } = this;
    return whereAbove([concentration.neg(), -1], (known) => scale.div(known.add(1)).add(loc), Infinity);
  }

  get variance(): Tensor {
    const { scale, concentration } = this;
    return whereAbove([concentration.neg(), -0.5], (known) => {
      return scale.div(known.add(1)).square().div(known.mul(2).add(1));
    }, Infinity);
  }

  override get mode(): Tensor {
    return this.loc;
  }

  /** Bounded above where the concentration is negative. */
  override get support(): Constraint {
    const { loc, scale, concentration } = this;
    return interval(loc, ops.where(concentration.lt(0), loc.sub(scale.div(concentration)), Infinity));
  }

  protected override logDensity(value: Tensor): Tensor {
    const { concentration } = this, log = this.logSurvival(value);
    // The density is the survival function to the power of 1 + concentration, divided by the scale
    const inside = log.mul(concentration.add(1)).sub(this.scale.log());
    return ops.where(value.lt(this.loc).logicalOr(log.eq(-Infinity)), -Infinity, inside);
  }

  protected override computedEntropy(): Tensor {
    return this.scale.log().add(this.concentration).add(1);
  }

  protected override cumulative(value: Tensor): Tensor {
    return this.logSurvival(value).expm1().neg();
  }

  protected override quantile(probability: Tensor): Tensor {
    const { loc, scale } = this, { isZero, safe } = this.apart(), log = probability.neg().log1p();
    const apart = ops.where(isZero, log.neg(), safe.mul(log).neg().expm1().div(safe));
    return apart.mul(scale).add(loc);
  }

  /** The log probability of greater values. */
  private logSurvival(value: Tensor): Tensor {
    const z = value.sub(this.loc).div(this.scale), { isZero, safe } = this.apart();
    return ops.where(isZero, z, ops.clamp(safe.mul(z), -1, null).log1p().div(safe)).neg();
  }

  /** Separates zero concentrations and replaces them for divisions. */
  private apart(): { readonly isZero: Tensor; readonly safe: Tensor } {
    const isZero = this.concentration.eq(0);
    return { isZero, safe: ops.where(isZero, 1, this.concentration) };
  }
}
