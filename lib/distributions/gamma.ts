/** The gamma distribution and distributions derived from it. */
import { ops } from "../tensor/eager.ts";
import type { Tensor } from "../tensor/tensor.ts";
import {
  type ArgConstraints,
  type Constraint,
  independent,
  nonnegative,
  positive,
  real,
  simplex,
  unitInterval,
} from "./constraints.ts";
import { type ParametersOf, parametersOf } from "./given_parameters.ts";
import { checkParameters } from "./checked_parameters.ts";
import {
  Distribution,
  logBeta,
  type SampleShape,
  standardNormal,
  vectors,
  whereAbove,
} from "./distribution.ts";
import { standardGamma } from "./standard_gamma.ts";

/** The gamma distribution, as `torch.distributions.Gamma`. */
export class Gamma extends Distribution {
  override readonly hasRsample: boolean = true;
  override readonly argConstraints: ArgConstraints = { concentration: positive, rate: positive };
  readonly concentration: Tensor;
  readonly rate: Tensor;

  constructor(...given: ParametersOf<["concentration", "rate"]>) {
    const { tensors: [a, b], validateArgs } = parametersOf(new.target.name, ["concentration", "rate"], given);
    super(a.shape, [], validateArgs);
    [this.concentration, this.rate] = [a, b];
    checkParameters(this, this.argConstraints, { validateArgs });
  }

  get mean(): Tensor {
    return this.concentration.div(this.rate);
  }

  get variance(): Tensor {
    return this.concentration.div(this.rate.square());
  }

  override get mode(): Tensor {
    return ops.clamp(this.concentration.sub(1).div(this.rate), 0, null);
  }

  override get support(): Constraint {
    return nonnegative;
  }

  protected draw(shape: SampleShape): Tensor {
    return standardGamma(this.concentration, shape).div(this.rate);
  }

  protected override logDensity(value: Tensor): Tensor {
    const { concentration: a, rate: b } = this;
    return ops.xlogy(a, b).add(ops.xlogy(a.sub(1), value)).sub(b.mul(value)).sub(a.lgamma());
  }

  /** No gradient reaches the concentration. */
  protected override cumulative(value: Tensor): Tensor {
    return ops.igamma(this.concentration, this.rate.mul(value));
  }

  protected override computedEntropy(): Tensor {
    const { concentration: a, rate: b } = this;
    return a.sub(b.log()).add(a.lgamma()).add(a.neg().add(1).mul(a.digamma()));
  }
}

/** The distribution of a sum of squares of standard normal numbers, as `torch.distributions.Chi2`. */
export class Chi2 extends Gamma {
  override readonly argConstraints: ArgConstraints = { df: positive };

  constructor(...given: ParametersOf<["df"]>) {
    const { tensors: [df], validateArgs } = parametersOf(new.target.name, ["df"], given);
    super(df.div(2), 0.5, validateArgs);
  }

  protected override get printed(): readonly string[] {
    return ["df"];
  }

  get df(): Tensor {
    return this.concentration.mul(2);
  }
}

/** The beta distribution, as `torch.distributions.Beta`. */
export class Beta extends Distribution {
  override readonly hasRsample: boolean = true;
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

  get mean(): Tensor {
    return this.concentration1.div(this.concentration1.add(this.concentration0));
  }

  get variance(): Tensor {
    const { concentration1: a, concentration0: b } = this, total = a.add(b);
    return a.mul(b).div(total.square().mul(total.add(1)));
  }

  override get mode(): Tensor {
    return new Dirichlet(ops.stack([this.concentration1, this.concentration0], -1)).mode.select(-1, 0);
  }

  override get support(): Constraint {
    return unitInterval;
  }

  protected draw(shape: SampleShape): Tensor {
    const x = standardGamma(this.concentration1, shape);
    return x.div(x.add(standardGamma(this.concentration0, shape)));
  }

  protected override logDensity(value: Tensor): Tensor {
    const { concentration1: a, concentration0: b } = this;
    return ops.xlogy(a.sub(1), value).add(ops.xlog1py(b.sub(1), value.neg())).sub(logBeta(a, b));
  }

  protected override computedEntropy(): Tensor {
    const { concentration1: a, concentration0: b } = this, total = a.add(b);
    return logBeta(a, b).sub(a.sub(1).mul(a.digamma())).sub(b.sub(1).mul(b.digamma()))
      .add(total.sub(2).mul(total.digamma()));
  }
}

/** The distribution of vectors of probabilities, as `torch.distributions.Dirichlet`. */
export class Dirichlet extends Distribution {
  override readonly hasRsample = true;
  override readonly argConstraints: ArgConstraints = { concentration: independent(positive, 1) };
  readonly concentration: Tensor;

  /** `concentration` of shape [..., n]. */
  constructor(...given: ParametersOf<["concentration"]>) {
    const { tensors: [each], validateArgs } = parametersOf(new.target.name, ["concentration"], given);
    const a = vectors(each, "concentration");
    super(a.shape.slice(0, -1), a.shape.slice(-1), validateArgs);
    this.concentration = a;
    checkParameters(this, { concentration: positive }, { validateArgs });
  }

  get mean(): Tensor {
    return this.concentration.div(this.concentration.sum(-1, true));
  }

  get variance(): Tensor {
    const { concentration: a } = this, total = a.sum(-1, true);
    return a.mul(total.sub(a)).div(total.square().mul(total.add(1)));
  }

  override get mode(): Tensor {
    const rest = ops.clamp(this.concentration.sub(1), 0, null), [count = 1] = this.eventShape;
    // If all concentrations are below 1, the density is unbounded at every corner; PyTorch returns the first one
    const corner = ops.oneHot(ops.argmax(rest, -1), count).to(rest.dtype);
    return ops.where(this.concentration.lt(1).all(-1, true), corner, rest.div(rest.sum(-1, true)));
  }

  override get support(): Constraint {
    return simplex;
  }

  protected draw(shape: SampleShape): Tensor {
    const x = standardGamma(this.concentration, shape);
    return x.div(x.sum(-1, true));
  }

  protected override logDensity(value: Tensor): Tensor {
    const { concentration: a } = this;
    return ops.xlogy(a.sub(1), value).sum(-1).add(a.sum(-1).lgamma()).sub(a.lgamma().sum(-1));
  }

  protected override computedEntropy(): Tensor {
    const { concentration: a } = this, total = a.sum(-1), [count = 1] = this.eventShape;
    return a.lgamma().sum(-1).sub(total.lgamma()).sub(total.digamma().mul(total.neg().add(count)))
      .sub(a.sub(1).mul(a.digamma()).sum(-1));
  }
}

/** Student's t-distribution, as `torch.distributions.StudentT`. */
export class StudentT extends Distribution {
  override readonly hasRsample: boolean = true;
  override readonly argConstraints: ArgConstraints = { df: positive, loc: real, scale: positive };
  readonly df: Tensor;
  readonly loc: Tensor;
  readonly scale: Tensor;

  constructor(...given: ParametersOf<["df"], ["loc", "scale"]>) {
    const { tensors: [d, l, s], validateArgs } = parametersOf(
      new.target.name,
      ["df", ["loc", 0], ["scale", 1]],
      given,
    );
    super(d.shape, [], validateArgs);
    [this.df, this.loc, this.scale] = [d, l, s];
    checkParameters(this, this.argConstraints, { validateArgs });
  }

  get mean(): Tensor {
    return ops.where(this.df.gt(1), this.loc, NaN);
  }

  get variance(): Tensor {
    const { df, scale } = this;
    const above = whereAbove([df, 2], (known) => scale.square().mul(known).div(known.sub(2)), Infinity);
    return ops.where(df.gt(1), above, NaN);
  }

  override get mode(): Tensor {
    return this.loc;
  }

  override get support(): Constraint {
    return real;
  }

  protected draw(shape: SampleShape): Tensor {
    const spread = standardGamma(this.df.div(2), shape).mul(2).div(this.df).rsqrt();
    return this.loc.add(this.scale.mul(standardNormal(shape, this.loc)).mul(spread));
  }

  protected override logDensity(value: Tensor): Tensor {
    const { df, loc, scale } = this, y = value.sub(loc).div(scale);
    const normaliser = scale.log().add(df.log().mul(0.5)).add(0.5 * Math.log(Math.PI)).add(
      df.mul(0.5).lgamma(),
    )
      .sub(df.add(1).mul(0.5).lgamma());
    return df.add(1).mul(-0.5).mul(y.square().div(df).log1p()).sub(normaliser);
  }

  protected override computedEntropy(): Tensor {
    const { df, scale } = this, half = df.mul(0.5), next = df.add(1).mul(0.5);
    return scale.log().add(next.mul(next.digamma().sub(half.digamma()))).add(df.log().mul(0.5))
      .add(half.lgamma().add(0.5 * Math.log(Math.PI)).sub(next.lgamma()));
  }
}
