/**
 * Continuous relaxations of discrete distributions, with differentiable samples (Maddison et al., 2017; Jang et al.,
 * 2017). The lower the temperature, the closer they are to discrete outcomes.
 */
import { refuseSurplus } from "../base/checked_input.ts";
import { finfo } from "../base/type_info.ts";
import { ops } from "../tensor/eager.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type ArgConstraints, type Constraint, real, simplex, unitInterval } from "./constraints.ts";
import { OneHotCategorical } from "./categorical.ts";
import {
  BinaryDistribution,
  BinaryProbs,
  CATEGORY_CONSTRAINTS,
  CategoryProbs,
  type ProbsOrLogits,
  probsOrLogits,
} from "./probs_or_logits.ts";
import { Distribution, type Parameter, type SampleShape, softplus, uniform01 } from "./distribution.ts";

/** How closely a relaxation follows discrete outcomes. */
interface Relaxed {
  readonly temperature: Parameter;
}

const RELAXED = { required: ["temperature"] } as const;

/** The base of relaxed Bernoulli distributions. */
abstract class RelaxedBinary extends BinaryDistribution {
  override readonly hasRsample = true;

  readonly temperature: Parameter;

  constructor(...given: ProbsOrLogits<Parameter, ["temperature"]>) {
    const name = new.target.name;
    const { temperature, ...found } = probsOrLogits<Parameter, Relaxed>(name, given, RELAXED);
    super(new BinaryProbs(found, name));
    this.temperature = temperature;
  }

  get mean(): Tensor {
    return this.unknown("mean");
  }

  get variance(): Tensor {
    return this.unknown("variance");
  }

  /** Logits of samples. */
  protected drawLogits(shape: SampleShape): Tensor {
    const u = uniform01(shape, this.probs);
    return u.log().sub(u.neg().log1p()).add(this.logits).div(this.temperature);
  }

  /** Densities of logits. */
  protected logProbOf(logit: Tensor): Tensor {
    const apart = this.logits.sub(logit.mul(this.temperature));
    const t = typeof this.temperature === "number" ? Math.log(this.temperature) : this.temperature.log();
    return apart.add(t).sub(softplus(apart).mul(2));
  }
}

/** Logits of samples in (0, 1), as `torch.distributions.LogitRelaxedBernoulli`. */
export class LogitRelaxedBernoulli extends RelaxedBinary {
  override get support(): Constraint {
    return real;
  }

  protected draw(shape: SampleShape): Tensor {
    return this.drawLogits(shape);
  }

  protected override logDensity(value: Tensor): Tensor {
    return this.logProbOf(value);
  }
}

/** Differentiable samples in (0, 1), as `torch.distributions.RelaxedBernoulli`. */
export class RelaxedBernoulli extends RelaxedBinary {
  override get support(): Constraint {
    return unitInterval;
  }

  protected draw(shape: SampleShape): Tensor {
    return this.drawLogits(shape).sigmoid();
  }

  protected override logDensity(value: Tensor): Tensor {
    // Samples of a low temperature are rounded to 0 or 1, whose logits are infinite
    const { eps, tiny } = finfo(value.dtype), inside = ops.clamp(value, tiny, 1 - eps);
    const y = inside.log().sub(inside.neg().log1p());
    // The density of the logit, and the change of variables by the sigmoid
    return this.logProbOf(y).add(softplus(y)).add(softplus(y.neg()));
  }
}

/** Differentiable samples on the simplex, as `torch.distributions.RelaxedOneHotCategorical`. */
export class RelaxedOneHotCategorical extends Distribution {
  override readonly hasRsample = true;
  override readonly argConstraints: ArgConstraints = CATEGORY_CONSTRAINTS;
  readonly temperature: Parameter;
  readonly probs: Tensor;
  readonly logits: Tensor;
  /** The form that was given. */
  protected readonly form: CategoryProbs["form"];

  constructor(...given: ProbsOrLogits<Tensor, ["temperature"]>) {
    const { temperature, ...found } = probsOrLogits<Tensor, Relaxed>(new.target.name, given, RELAXED);
    const { form, probs, logits, validateArgs } = new CategoryProbs(found);
    super(probs.shape.slice(0, -1), probs.shape.slice(-1), validateArgs);
    [this.probs, this.logits, this.form] = [probs, logits, form];
    this.temperature = temperature;
  }

  protected override get printed(): readonly string[] {
    return ["temperature", this.form];
  }

  get mean(): Tensor {
    return this.unknown("mean");
  }

  get variance(): Tensor {
    return this.unknown("variance");
  }

  /** The temperature belongs to all outcomes, whatever the batch. */
  override expand(batchShape: SampleShape): this {
    if (arguments.length > 1) refuseSurplus("expand", 1, arguments);
    return Object.assign(super.expand(batchShape), { temperature: this.temperature });
  }

  override get support(): Constraint {
    return simplex;
  }

  protected draw(shape: SampleShape): Tensor {
    const noise = uniform01(shape, this.probs).log().neg().log().neg();
    return this.logits.add(noise).div(this.temperature).softmax(-1);
  }

  protected override logDensity(value: Tensor): Tensor {
    const [count = 1] = this.eventShape, log = value.log(), t = this.temperature;
    const apart = this.logits.sub(log.mul(t)), size = count - 1;
    const scale = typeof t === "number" ? size * Math.log(t) : t.log().mul(size);
    const normaliser = ops.lgamma(ops.fullLike(this.probs.select(-1, 0), count)).add(scale);
    return apart.sub(apart.logsumexp(-1, true)).sum(-1).add(normaliser).sub(log.sum(-1));
  }
}

/**
 * One-hot samples with the gradient of their probabilities, as `torch.distributions.OneHotCategoricalStraightThrough`.
 */
export class OneHotCategoricalStraightThrough extends OneHotCategorical {
  override readonly hasRsample = true;

  override rsample(shape: SampleShape = []): Tensor {
    if (arguments.length > 1) refuseSurplus("rsample", 1, arguments);
    return this.sample(shape).add(this.probs.sub(this.probs.detach()));
  }
}
