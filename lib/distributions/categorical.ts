/** Distributions over a finite list of outcomes. */
import { checkInteger } from "../base/checked_numbers.ts";
import { finfo } from "../base/type_info.ts";
import { refuseSurplus } from "../base/checked_input.ts";
import type { Flag } from "../base/arguments.ts";
import { ops } from "../tensor/eager.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type ArgConstraints, type Constraint, integerInterval, multinomial, oneHot } from "./constraints.ts";
import {
  CATEGORY_CONSTRAINTS,
  CategoryProbs,
  type GivenProbs,
  type ProbsOrLogits,
  probsOrLogits,
} from "./probs_or_logits.ts";
import { Binomial } from "./discrete.ts";
import { Distribution, enumerated, type SampleShape, uniform01 } from "./distribution.ts";

/** Probabilities of outcomes along the last dimension, or their logits, by position or by name. */
export type Outcomes = ProbsOrLogits<Tensor>;

/** The index of an outcome, as `torch.distributions.Categorical`. */
export class Categorical extends Distribution {
  override readonly argConstraints: ArgConstraints = CATEGORY_CONSTRAINTS;
  readonly probs: Tensor;
  readonly logits: Tensor;
  /** The form that was given. */
  protected readonly form: CategoryProbs["form"];

  constructor(...given: Outcomes) {
    const { form, probs, logits, validateArgs } = new CategoryProbs(probsOrLogits(new.target.name, given));
    super(probs.shape.slice(0, -1), [], validateArgs);
    [this.probs, this.logits, this.form] = [probs, logits, form];
  }

  protected override get printed(): readonly string[] {
    return [this.form];
  }

  get mean(): Tensor {
    return ops.fullLike(this.probs.select(-1, 0), NaN);
  }

  get variance(): Tensor {
    return this.mean;
  }

  override get mode(): Tensor {
    return this.probs.argmax(-1);
  }

  override get hasEnumerateSupport(): boolean {
    return true;
  }

  override enumerateSupport(expand: Flag<"expand"> = true): Tensor {
    if (arguments.length > 1) refuseSurplus("enumerateSupport", 1, arguments);
    return enumerated(ops.arange(this.probs.size(-1), null, 1, { device: this.probs.device }), this, expand);
  }

  override get support(): Constraint {
    return integerInterval(0, this.probs.size(-1) - 1);
  }

  protected draw(shape: SampleShape): Tensor {
    const [count = 1] = this.probs.shape.slice(-1), before = this.probs.cumsum(-1);
    const drawn = uniform01(shape, this.probs).unsqueeze(-1);
    return ops.clamp(drawn.gt(before).to("int64").sum(-1), 0, count - 1);
  }

  protected override logDensity(value: Tensor): Tensor {
    const shape = ops.add(value, this.probs.select(-1, 0).mul(0)).shape,
      [count = 1] = this.probs.shape.slice(-1);
    const index = ops.expand(value.to("int64"), [...shape]).unsqueeze(-1);
    return ops.expand(this.logits, [...shape, count]).gather(-1, index).squeeze(-1);
  }

  protected override computedEntropy(): Tensor {
    // Impossible outcomes contribute 0, and have a gradient of 0, although their logits may be infinite
    const finite = ops.clamp(this.logits, finfo(this.logits.dtype).min, null);
    return finite.mul(this.probs).sum(-1).neg();
  }
}

/** A distribution of vectors with an element for each outcome. */
abstract class OverOutcomes extends Distribution {
  override readonly argConstraints: ArgConstraints = CATEGORY_CONSTRAINTS;
  protected readonly base: Categorical;

  constructor({ form, value, validateArgs }: GivenProbs<Tensor>) {
    const base = new Categorical({ [form]: value, validateArgs });
    super(base.batchShape, base.probs.shape.slice(-1), validateArgs);
    this.base = base;
  }

  get probs(): Tensor {
    return this.base.probs;
  }

  get logits(): Tensor {
    return this.base.logits;
  }
}

/** One-hot vectors of outcomes, as `torch.distributions.OneHotCategorical`. */
export class OneHotCategorical extends OverOutcomes {
  constructor(...given: Outcomes) {
    super(probsOrLogits(new.target.name, given));
  }

  get mean(): Tensor {
    return this.probs;
  }

  get variance(): Tensor {
    return this.probs.mul(this.probs.neg().add(1));
  }

  override get mode(): Tensor {
    return ops.oneHot(this.probs.argmax(-1), this.probs.size(-1)).to(this.probs.dtype);
  }

  override get hasEnumerateSupport(): boolean {
    return true;
  }

  override enumerateSupport(expand: Flag<"expand"> = true): Tensor {
    if (arguments.length > 1) refuseSurplus("enumerateSupport", 1, arguments);
    return enumerated(
      ops.eye(this.probs.size(-1), null, { dtype: this.probs.dtype, device: this.probs.device }),
      this,
      expand,
    );
  }

  override get support(): Constraint {
    return oneHot;
  }

  protected draw(shape: SampleShape): Tensor {
    const [count = 1] = this.eventShape,
      drawn = this.base.sample(shape.slice(0, shape.length - this.batchShape.length - 1));
    return ops.oneHot(drawn, count).to(this.probs.dtype);
  }

  protected override logDensity(value: Tensor): Tensor {
    return this.base.logProb(value.argmax(-1));
  }

  protected override computedEntropy(): Tensor {
    return this.base.entropy();
  }
}

/** The number of trials. */
interface Trials {
  readonly totalCount: number;
}

/** Counts of outcomes in a number of trials, as `torch.distributions.Multinomial`. */
export class Multinomial extends OverOutcomes {
  readonly totalCount: number;

  /** Takes the number of trials, 1 by default, then the probabilities of outcomes or their logits. */
  constructor(...given: ProbsOrLogits<Tensor, [], ["totalCount"], number>) {
    const { totalCount = 1, ...found } = probsOrLogits<Tensor, object, Trials>(
      new.target.name,
      given,
      { optional: ["totalCount"] },
    );
    checkInteger("totalCount of Multinomial", totalCount, 0);
    super(found);
    this.totalCount = totalCount;
  }

  get mean(): Tensor {
    return this.probs.mul(this.totalCount);
  }

  get variance(): Tensor {
    return this.mean.mul(this.probs.neg().add(1));
  }

  override get support(): Constraint {
    return multinomial(this.totalCount);
  }

  protected draw(shape: SampleShape): Tensor {
    const [count = 1] = this.eventShape, lead = shape.slice(0, shape.length - this.batchShape.length - 1);
    const drawn = this.base.sample([this.totalCount, ...lead]);
    return ops.oneHot(drawn, count).to(this.probs.dtype).sum(0);
  }

  protected override logDensity(value: Tensor): Tensor {
    const ways = value.sum(-1).add(1).lgamma().sub(value.add(1).lgamma().sum(-1));
    return ways.add(
      ops.where(value.eq(0).logicalAnd(this.logits.eq(-Infinity)), 0, this.logits.mul(value)).sum(-1),
    );
  }

  /** Combines the entropies of single trials with that of the order of the counts. */
  protected override computedEntropy(): Tensor {
    const n = this.totalCount, { probs } = this, { dtype, device } = probs;
    const counts = ops.arange(1, n + 1, 1, { dtype, device });
    const support = ops.reshape(counts, [n, ...probs.shape.map(() => 1)]);
    const chances = new Binomial(n, { probs }).logProb(support).exp();
    const orders = chances.mul(support.add(1).lgamma()).sum([0, -1]);
    return this.base.entropy().mul(n).sub(ops.lgamma(ops.fullLike(orders, n + 1))).add(orders);
  }
}
