/** Distributions with exponential tails, sampled by inverse cdf. */
import { ops } from "../tensor/eager.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type ArgConstraints, type Constraint, nonnegative, positive, real } from "./constraints.ts";
import { type ParametersOf, parametersOf } from "./given_parameters.ts";
import { checkParameters } from "./checked_parameters.ts";
import { Distribution, type SampleShape, uniform01 } from "./distribution.ts";
import { LocationScale } from "./location_scale.ts";

const EULER = 0.5772156649015329;

/** The exponential distribution, as `torch.distributions.Exponential`. */
export class Exponential extends Distribution {
  override readonly hasRsample = true;
  override readonly argConstraints: ArgConstraints = { rate: positive };
  readonly rate: Tensor;

  constructor(...given: ParametersOf<["rate"]>) {
    const { tensors: [r], validateArgs } = parametersOf(new.target.name, ["rate"], given);
    super(r.shape, [], validateArgs);
    this.rate = r;
    checkParameters(this, this.argConstraints, { validateArgs });
  }

  get mean(): Tensor {
    return this.rate.reciprocal();
  }

  get variance(): Tensor {
    return this.rate.square().reciprocal();
  }

  override get mode(): Tensor {
    return ops.zerosLike(this.rate);
  }

  override get support(): Constraint {
    return nonnegative;
  }

  protected draw(shape: SampleShape): Tensor {
    return uniform01(shape, this.rate).log().neg().div(this.rate);
  }

  protected override logDensity(value: Tensor): Tensor {
    return ops.where(value.lt(0), -Infinity, this.rate.log().sub(this.rate.mul(value)));
  }

  protected override computedEntropy(): Tensor {
    return this.rate.log().neg().add(1);
  }

  protected override cumulative(value: Tensor): Tensor {
    return this.rate.mul(value).neg().expm1().neg();
  }

  protected override quantile(probability: Tensor): Tensor {
    return probability.neg().log1p().neg().div(this.rate);
  }
}

/** The Laplace distribution, as `torch.distributions.Laplace`. */
export class Laplace extends LocationScale {
  get mean(): Tensor {
    return this.loc;
  }

  get variance(): Tensor {
    return this.scale.square().mul(2);
  }

  override get support(): Constraint {
    return real;
  }

  protected draw(shape: SampleShape): Tensor {
    return this.icdf(uniform01(shape, this.loc));
  }

  protected override logDensity(value: Tensor): Tensor {
    return value.sub(this.loc).abs().div(this.scale).add(this.scale.mul(2).log()).neg();
  }

  protected override computedEntropy(): Tensor {
    return this.scale.mul(2).log().add(1);
  }

  protected override cumulative(value: Tensor): Tensor {
    const apart = value.sub(this.loc);
    return apart.sign().mul(apart.abs().neg().div(this.scale).expm1()).mul(-0.5).add(0.5);
  }

  protected override quantile(probability: Tensor): Tensor {
    const term = probability.sub(0.5);
    return this.loc.sub(this.scale.mul(term.sign()).mul(term.abs().mul(-2).log1p()));
  }
}

/** The Gumbel distribution, as `torch.distributions.Gumbel`. */
export class Gumbel extends LocationScale {
  get mean(): Tensor {
    return this.loc.add(this.scale.mul(EULER));
  }

  get variance(): Tensor {
    return this.scale.square().mul(Math.PI ** 2 / 6);
  }

  override get support(): Constraint {
    return real;
  }

  protected draw(shape: SampleShape): Tensor {
    return this.icdf(uniform01(shape, this.loc));
  }

  protected override logDensity(value: Tensor): Tensor {
    const y = this.loc.sub(value).div(this.scale);
    return y.sub(y.exp()).sub(this.scale.log());
  }

  protected override computedEntropy(): Tensor {
    return this.scale.log().add(1 + EULER);
  }

  protected override cumulative(value: Tensor): Tensor {
    return this.loc.sub(value).div(this.scale).exp().neg().exp();
  }

  protected override quantile(probability: Tensor): Tensor {
    return this.loc.sub(this.scale.mul(probability.log().neg().log()));
  }
}
