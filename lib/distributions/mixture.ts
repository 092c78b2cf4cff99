/** Mixtures of distributions of one kind. */
import { DynError } from "../base/errors.ts";
import { sameShape } from "../ops/shapes.ts";
import { ops } from "../tensor/eager.ts";
import type { Tensor } from "../tensor/tensor.ts";
import type { Constraint } from "./constraints.ts";
import { Categorical } from "./categorical.ts";
import { type ValidatedArguments, validatedArguments } from "./given_parameters.ts";
import { checkDistribution, Distribution, type SampleShape, sumRightmost } from "./distribution.ts";

/** Distributions of a mixture. */
interface Mixed {
  readonly mixtureDistribution: Categorical;
  readonly componentDistribution: Distribution;
}

/**
 * A component sampled by its weight, then a sample of it, as `torch.distributions.MixtureSameFamily`: `mixture` selects
 * along the last batch dimension of the components. Throws DynError for incompatible batches.
 */
export class MixtureSameFamily extends Distribution {
  readonly mixtureDistribution: Categorical;
  readonly componentDistribution: Distribution;

  /** Takes the distribution that chooses, then the one that is chosen from. */
  constructor(...given: ValidatedArguments<Mixed, ["mixtureDistribution", "componentDistribution"]>) {
    const { mixtureDistribution, componentDistribution, validateArgs } = validatedArguments<Mixed>(
      new.target.name,
      [
        "mixtureDistribution",
        "componentDistribution",
      ],
      given,
    );
    checkDistribution(mixtureDistribution, "MixtureSameFamily");
    checkDistribution(componentDistribution, "MixtureSameFamily");
    const { batchShape, eventShape } = componentDistribution, count = batchShape.at(-1);
    if (count === undefined || count !== mixtureDistribution.probs.shape.at(-1)) {
      throw new DynError(
        `Expected as many components as ${mixtureDistribution} chooses of but found a batch of [${batchShape}]`,
      );
    }
    const mixtures = mixtureDistribution.batchShape;
    if (mixtures.length > 0 && !sameShape(mixtures, batchShape.slice(0, -1))) {
      throw new DynError(
        `Expected a mixture for each of [${batchShape.slice(0, -1)}] but found [${mixtures}]`,
      );
    }
    super(batchShape.slice(0, -1), eventShape, validateArgs);
    this.mixtureDistribution = mixtureDistribution;
    this.componentDistribution = componentDistribution;
  }

  /** Weights with dimensions for an event. */
  private shares(): Tensor {
    const { probs } = this.mixtureDistribution;
    return ops.reshape(probs, [...probs.shape, ...this.eventShape.map(() => 1)]);
  }

  /** The dimension of components, from the end. */
  private get dim(): number {
    return -1 - this.eventShape.length;
  }

  get mean(): Tensor {
    return this.shares().mul(this.componentDistribution.mean).sum(this.dim);
  }

  /** Variance by the law of total variance. */
  get variance(): Tensor {
    const { mean, variance } = this.componentDistribution, shares = this.shares();
    const apart = mean.sub(this.mean.unsqueeze(this.dim)).square();
    return shares.mul(variance).sum(this.dim).add(shares.mul(apart).sum(this.dim));
  }

  override get support(): Constraint {
    return this.componentDistribution.support;
  }

  protected draw(shape: SampleShape): Tensor {
    const { mixtureDistribution, componentDistribution, eventShape } = this;
    const lead = shape.slice(0, shape.length - this.batchShape.length - eventShape.length);
    const whole = shape.slice(0, shape.length - eventShape.length);
    const isShared = mixtureDistribution.batchShape.length < this.batchShape.length;
    const chosen = mixtureDistribution.sample(isShared ? whole : lead);
    const index = ops.reshape(chosen, [...whole, 1, ...eventShape.map(() => 1)]);
    const drawn = componentDistribution.sample(lead);
    return drawn.gather(this.dim, ops.expand(index, [...whole, 1, ...eventShape])).squeeze(this.dim);
  }

  /** The components check it. */
  protected override checkValue(): void {}

  protected override logDensity(value: Tensor): Tensor {
    const density = this.componentDistribution.logProb(value.unsqueeze(this.dim));
    return density.add(this.mixtureDistribution.logits).logsumexp(-1);
  }

  protected override cumulative(value: Tensor): Tensor {
    const below = this.componentDistribution.cdf(value.unsqueeze(this.dim));
    return sumRightmost(below.mul(this.mixtureDistribution.probs), 1);
  }
}
