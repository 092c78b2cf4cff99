/** Distributions of quotients of gamma variables, and of Poisson counts with a gamma distributed rate. */
import { ops } from "../tensor/eager.ts";
import type { Tensor } from "../tensor/tensor.ts";
import {
  type ArgConstraints,
  type Constraint,
  halfOpenInterval,
  nonnegative,
  nonnegativeInteger,
  positive,
} from "./constraints.ts";
import { CountDistribution, type Counted, type ProbsOrLogits, probsOrLogits } from "./probs_or_logits.ts";
import { type ParametersOf, parametersOf } from "./given_parameters.ts";
import { checkParameters } from "./checked_parameters.ts";
import { Poisson } from "./discrete.ts";
import { Distribution, logBeta, type Parameter, type SampleShape, whereAbove } from "./distribution.ts";
import { Gamma } from "./gamma.ts";
import { standardGamma } from "./standard_gamma.ts";

/** The distribution of the reciprocal of a gamma variable, as `torch.distributions.InverseGamma`. */
export class InverseGamma extends Distribution {
  override readonly hasRsample = true;
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
    const { concentration: a, rate: b } = this;
    return whereAbove([a, 1], (known) => b.div(known.sub(1)), Infinity);
  }

  get variance(): Tensor {
    const { concentration: a, rate: b } = this;
    return whereAbove([a, 2], (known) => {
      return b.square().div(known.sub(1).square().mul(known.sub(2)));
    }, Infinity);
  }

  override get mode(): Tensor {
    return this.rate.div(this.concentration.add(1));
  }

  override get support(): Constraint {
    return positive;
  }

  protected draw(shape: SampleShape): Tensor {
    return this.rate.div(standardGamma(this.concentration, shape));
  }

  protected override logDensity(value: Tensor): Tensor {
    const { concentration: a, rate: b } = this;
    return ops.xlogy(a, b).sub(a.add(1).mul(value.log())).sub(b.div(value)).sub(a.lgamma());
  }

  /** No gradient reaches the concentration. */
  protected override cumulative(value: Tensor): Tensor {
    return ops.igammac(this.concentration, this.rate.div(value));
  }

  protected override computedEntropy(): Tensor {
    const { concentration: a, rate: b } = this;
    return a.add(b.log()).add(a.lgamma()).sub(a.add(1).mul(a.digamma()));
  }
}

/**
 * The distribution of the quotient of two chi-squared variables, each divided by its degrees of freedom, as
 * `torch.distributions.FisherSnedecor`.
 */
export class FisherSnedecor extends Distribution {
  override readonly hasRsample = true;
  override readonly argConstraints: ArgConstraints = { df1: positive, df2: positive };
  readonly df1: Tensor;
  readonly df2: Tensor;

  constructor(...given: ParametersOf<["df1", "df2"]>) {
    const { tensors: [a, b], validateArgs } = parametersOf(new.target.name, ["df1", "df2"], given);
    super(a.shape, [], validateArgs);
    [this.df1, this.df2] = [a, b];
    checkParameters(this, this.argConstraints, { validateArgs });
  }

  get mean(): Tensor {
    return whereAbove([this.df2, 2], (known) => known.div(known.sub(2)), NaN);
  }

  get variance(): Tensor {
    const { df1: a } = this;
    return whereAbove([this.df2, 4], (b) => {
      const below = a.mul(b.sub(2).square()).mul(b.sub(4));
      return b.square().mul(2).mul(a.add(b).sub(2)).div(below);
    }, NaN);
  }

  override get mode(): Tensor {
    const { df1: a, df2: b } = this;
    return ops.where(a.gt(2), a.sub(2).div(a).mul(b).div(b.add(2)), NaN);
  }

  override get support(): Constraint {
    return positive;
  }

  protected draw(shape: SampleShape): Tensor {
    const [x, y] = [this.df1, this.df2].map((df) => standardGamma(df.div(2), shape).div(df));
    return (x ?? this.df1).div(y ?? this.df2);
  }

  protected override logDensity(value: Tensor): Tensor {
    const { df1: a, df2: b } = this, [p, q, ratio] = [a.div(2), b.div(2), a.div(b)];
    return p.mul(ratio.log()).add(p.sub(1).mul(value.log()))
      .sub(p.add(q).mul(ratio.mul(value).log1p())).sub(logBeta(p, q));
  }
}

/**
 * The number of successes, of probability `probs`, before a number of failures, as
 * `torch.distributions.NegativeBinomial`.
 */
export class NegativeBinomial extends CountDistribution {
  /** Takes the number of failures that end the trials, then the probability of success or its logit. */
  constructor(...given: ProbsOrLogits<Parameter, ["totalCount"]>) {
    const name = new.target.name;
    super(name, probsOrLogits<Parameter, Counted>(name, given, { required: ["totalCount"] }), {
      totalCount: nonnegative,
      probs: halfOpenInterval(0, 1),
    });
  }

  get mean(): Tensor {
    return this.totalCount.mul(this.logits.exp());
  }

  get variance(): Tensor {
    return this.mean.div(this.logits.neg().sigmoid());
  }

  override get mode(): Tensor {
    return ops.clamp(this.totalCount.sub(1).mul(this.logits.exp()).floor(), 0, null);
  }

  /** Poisson counts with gamma distributed rates. */
  override get support(): Constraint {
    return nonnegativeInteger;
  }

  protected draw(shape: SampleShape): Tensor {
    const lead = shape.slice(0, shape.length - this.batchShape.length);
    return new Poisson(new Gamma(this.totalCount, this.logits.neg().exp()).sample(lead)).sample();
  }

  protected override logDensity(value: Tensor): Tensor {
    const { totalCount: n, logits } = this;
    const chance = n.mul(ops.logsigmoid(logits.neg())).add(value.mul(ops.logsigmoid(logits)));
    const ways = n.add(value).lgamma().sub(value.add(1).lgamma()).sub(n.lgamma());
    return chance.add(ops.where(n.add(value).eq(0), 0, ways));
  }
}
