/** Distributions of counts. */
import { checkTensor } from "../tensor/checked.ts";
import { optionsOf, refuseSurplus } from "../base/checked_input.ts";
import type { Flag } from "../base/arguments.ts";
import { isFloat } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { ops } from "../tensor/eager.ts";
import { noGrad } from "../tensor/modes.ts";
import { drawnFrom, type Generator } from "../tensor/random.ts";
import { canReadElements, type Tensor } from "../tensor/tensor.ts";
import {
  type ArgConstraints,
  boolean,
  Constraint,
  integerInterval,
  nonnegative,
  nonnegativeInteger,
  unitInterval,
} from "./constraints.ts";
import {
  BinaryDistribution,
  BinaryProbs,
  CountDistribution,
  type Counted,
  OneTrial,
  type ProbsOrLogits,
  probsOrLogits,
} from "./probs_or_logits.ts";
import { type ParametersOf, parametersOf } from "./given_parameters.ts";
import { checkParameters } from "./checked_parameters.ts";
import {
  Distribution,
  enumerated,
  type Parameter,
  type SampleShape,
  softplus,
  uniform01,
} from "./distribution.ts";

/** 1 with a probability, else 0, as `torch.distributions.Bernoulli`. */
export class Bernoulli extends OneTrial {
  get mean(): Tensor {
    return this.probs;
  }

  get variance(): Tensor {
    return this.probs.mul(this.probs.neg().add(1));
  }

  override get mode(): Tensor {
    const { probs } = this;
    return ops.where(probs.eq(0.5), NaN, probs.ge(0.5).to(probs.dtype));
  }

  override get hasEnumerateSupport(): boolean {
    return true;
  }

  override enumerateSupport(expand: Flag<"expand"> = true): Tensor {
    if (arguments.length > 1) refuseSurplus("enumerateSupport", 1, arguments);
    return enumerated(
      ops.arange(2, null, 1, { dtype: this.probs.dtype, device: this.probs.device }),
      this,
      expand,
    );
  }

  override get support(): Constraint {
    return boolean;
  }

  protected draw(shape: SampleShape): Tensor {
    return ops.bernoulli(ops.expand(this.probs, [...shape]));
  }

  protected override logDensity(value: Tensor): Tensor {
    return value.mul(this.logits).sub(softplus(this.logits));
  }

  protected override computedEntropy(): Tensor {
    return softplus(this.logits).sub(this.probs.mul(this.logits));
  }
}

/** The count of failures before a success, as `torch.distributions.Geometric`. */
export class Geometric extends BinaryDistribution {
  constructor(...given: ProbsOrLogits) {
    const name = new.target.name, wanted = new Constraint("in (0, 1]", (x) => x.gt(0).logicalAnd(x.le(1)));
    super(new BinaryProbs(probsOrLogits(name, given), name, wanted));
  }

  get mean(): Tensor {
    return this.probs.reciprocal().sub(1);
  }

  get variance(): Tensor {
    return this.probs.reciprocal().sub(1).div(this.probs);
  }

  override get mode(): Tensor {
    return ops.zerosLike(this.probs);
  }

  override get support(): Constraint {
    return nonnegativeInteger;
  }

  protected draw(shape: SampleShape): Tensor {
    return uniform01(shape, this.probs).log().div(this.probs.neg().log1p()).floor();
  }

  protected override logDensity(value: Tensor): Tensor {
    // Certain successes without failures: the logarithm of a probability of 0 would have an undefined gradient
    const failure = ops.where(value.eq(0).logicalAnd(this.probs.eq(1)), 0, this.probs).neg();
    return ops.xlog1py(value, failure).add(this.probs.log());
  }

  protected override computedEntropy(): Tensor {
    return softplus(this.logits).sub(this.probs.mul(this.logits)).div(this.probs);
  }
}

/** The number of trials of a whole batch. Throws DynError if it varies. */
function sameCount(counts: Tensor): number {
  const most = Number(counts.max().item());
  if (Number(counts.min().item()) === most) return most;
  throw new DynError(
    `Expected one totalCount to enumerate values of but found [${counts.shape}] different ones`,
  );
}

/** Maximum number of trials of Binomial that are drawn together, which is that of random numbers in memory. */
const MOST_DRAWN = 2 ** 18;

/** The number of successes in a number of trials, as `torch.distributions.Binomial`. */
export class Binomial extends CountDistribution {
  /** Takes the number of trials, 1 by default, then their probability of success or its logit. */
  constructor(...given: ProbsOrLogits<Parameter, [], ["totalCount"]>) {
    const name = new.target.name;
    const found = probsOrLogits<Parameter, object, Counted>(name, given, { optional: ["totalCount"] });
    super(name, { totalCount: 1, ...found }, { totalCount: nonnegativeInteger, probs: unitInterval });
  }

  get mean(): Tensor {
    return this.totalCount.mul(this.probs);
  }

  get variance(): Tensor {
    return this.mean.mul(this.probs.neg().add(1));
  }

  override get mode(): Tensor {
    return this.totalCount.add(1).mul(this.probs).floor().minimum(this.totalCount);
  }

  override get hasEnumerateSupport(): boolean {
    return true;
  }

  override enumerateSupport(expand: Flag<"expand"> = true): Tensor {
    if (arguments.length > 1) refuseSurplus("enumerateSupport", 1, arguments);
    return enumerated(
      ops.arange(sameCount(this.totalCount) + 1, null, 1, {
        dtype: this.probs.dtype,
        device: this.probs.device,
      }),
      this,
      expand,
    );
  }

  override get support(): Constraint {
    return integerInterval(0, this.totalCount);
  }

  protected draw(shape: SampleShape): Tensor {
    const trials = Number(this.totalCount.max().item()), { dtype, device } = this.probs;
    const together = Math.max(1, Math.floor(MOST_DRAWN / shape.reduce((a, b) => a * b, 1)));
    let successes = ops.zeros([...shape], { dtype, device });
    for (let from = 0; from < trials; from += together) {
      const count = Math.min(together, trials - from);
      const drawn = uniform01([count, ...shape], this.probs), hits = drawn.lt(this.probs);
      const numbers = ops.arange(from, from + count, 1, { device });
      const exists = ops.reshape(numbers, [count, ...shape.map(() => 1)]).lt(this.totalCount);
      const both = hits.logicalAnd(exists), counted = both.to(dtype);
      successes = successes.add(counted.sum(0));
      // The next ones take their memory, which the collector would find later
      if (canReadElements()) {
        for (const each of [drawn, hits, numbers, exists, both, counted]) each[Symbol.dispose]();
      }
    }
    return successes;
  }

  protected override logDensity(value: Tensor): Tensor {
    const { totalCount: n, logits } = this;
    const ways = n.add(1).lgamma().sub(value.add(1).lgamma()).sub(n.sub(value).add(1).lgamma());
    return ways.add(value.mul(logits)).sub(n.mul(softplus(logits)));
  }

  /** Throws DynError if the numbers of trials differ. */
  protected override computedEntropy(): Tensor {
    const most = Number(this.totalCount.max().item());
    if (Number(this.totalCount.min().item()) !== most) {
      throw new DynError("Expected one totalCount for entropies of Binomial but found several");
    }
    const { dtype, device } = this.probs, counts = ops.arange(most + 1, null, 1, { dtype, device });
    const values = ops.reshape(counts, [most + 1, ...this.batchShape.map(() => 1)]);
    const log = this.logProb(values);
    return log.exp().mul(log).sum(0).neg();
  }
}

/** Rates from which samples are drawn by rejection. */
const HIGH_RATE = 10;

/** Log probabilities of counts, precise for high ones too: terms of the size of the rate would cancel. */
function logMass(rate: Tensor, count: Tensor): Tensor {
  const k = count.clamp(HIGH_RATE, null), t = rate.sub(k).div(k);
  // Stirling's series of the factorial
  const rest = k.mul(2 * Math.PI).log().mul(0.5).add(k.mul(12).reciprocal()).sub(k.pow(-3).div(360));
  const high = k.mul(t.log1p().sub(t)).sub(rest);
  return ops.where(count.lt(HIGH_RATE), new Poisson(rate).logProb(count.clamp(0, null)), high);
}

/**
 * Poisson samples at rates of 10 or more (Hörmann 1993, "The transformed rejection method for generating Poisson random
 * variables", algorithm PTRS): each round accepts most of them, whatever the rates.
 */
function transformedRejection(shape: SampleShape, rate: Tensor): Tensor {
  const b = rate.sqrt().mul(2.53).add(0.931), a = b.mul(0.02483).sub(0.059);
  const scale = b.sub(3.4).reciprocal().mul(1.1328).add(1.1239).log();
  const edge = b.sub(2).reciprocal().mul(-3.6224).add(0.9277);
  let found = ops.zerosLike(rate), isOpen = ops.onesLike(rate).to("bool");
  while (isOpen.any().item<boolean>()) {
    const u = uniform01(shape, rate).sub(0.5), v = uniform01(shape, rate), left = u.abs().neg().add(0.5);
    const apart = a.mul(2).div(left).add(b).mul(u).add(0.43), k = rate.add(apart).floor();
    const isInside = left.ge(0.07).logicalAnd(v.le(edge));
    const isOutside = k.lt(0).logicalOr(left.lt(0.013).logicalAnd(v.gt(left)));
    const bound = v.log().add(scale).sub(a.div(left.square()).add(b).log());
    const isBelow = bound.le(logMass(rate, k));
    const isTaken = isInside.logicalOr(isOutside.logicalNot().logicalAnd(isBelow)).logicalAnd(isOpen);
    found = ops.where(isTaken, k, found);
    isOpen = isOpen.logicalAnd(isTaken.logicalNot());
  }
  return found;
}

/** Counts of events at a rate, as `torch.distributions.Poisson`. */
export class Poisson extends Distribution {
  override readonly argConstraints: ArgConstraints = { rate: nonnegative };
  readonly rate: Tensor;

  constructor(...given: ParametersOf<["rate"]>) {
    const { tensors: [r], validateArgs } = parametersOf(new.target.name, ["rate"], given);
    super(r.shape, [], validateArgs);
    this.rate = r;
    checkParameters(this, this.argConstraints, { validateArgs });
  }

  get mean(): Tensor {
    return this.rate;
  }

  get variance(): Tensor {
    return this.rate;
  }

  override get mode(): Tensor {
    return this.rate.floor();
  }

  override get support(): Constraint {
    return nonnegativeInteger;
  }

  /** Counts arrivals until the time is over, in as many rounds as the largest sample needs; high rates by rejection. */
  protected draw(shape: SampleShape): Tensor {
    const whole = ops.expand(this.rate, [...shape]), isHigh = whole.ge(HIGH_RATE);
    const low = this.arrivals(shape, ops.where(isHigh, 0, whole));
    if (!isHigh.any().item<boolean>()) return low;
    return ops.where(isHigh, transformedRejection(shape, ops.where(isHigh, whole, HIGH_RATE)), low);
  }

  private arrivals(shape: SampleShape, rate: Tensor): Tensor {
    let time = uniform01(shape, rate).log().neg(), count = ops.zerosLike(rate);
    for (let open = time.lt(rate); open.any().item<boolean>(); open = time.lt(rate)) {
      count = count.add(open.to(rate.dtype));
      time = time.sub(uniform01(shape, rate).log());
    }
    return count;
  }

  protected override logDensity(value: Tensor): Tensor {
    return ops.xlogy(value, this.rate).sub(this.rate).sub(value.add(1).lgamma());
  }
}

/** Numbers of successes in trials of given probabilities, as `torch.binomial`, in the type of the probabilities. */
export function binomial(
  count: Tensor,
  prob: Tensor,
  options: { readonly generator?: Generator | null } = {},
): Tensor {
  if (arguments.length > 3) refuseSurplus("binomial", 3, arguments);
  const { generator = null } = optionsOf("binomial", options, ["generator"]);
  return drawnFrom(generator, () => new Binomial(count, prob).sample());
}

/**
 * A Poisson sample for each rate, as `torch.poisson`, in the type of the rates. Throws DynError for rates that are
 * negative or not floating.
 */
export function poisson(
  rates: Tensor,
  options: { readonly generator?: Generator | null } = {},
): Tensor {
  if (arguments.length > 2) refuseSurplus("poisson", 2, arguments);
  checkTensor(rates, "poisson");
  const { generator = null } = optionsOf("poisson", options, ["generator"]);
  if (!isFloat(rates.dtype)) {
    throw new DynError(`Expected floats as rates of poisson but found ${rates.dtype}`);
  }
  if (noGrad(() => rates.lt(0).any().item<boolean>())) {
    throw new DynError("Expected non-negative rates for poisson but found negative ones");
  }
  return drawnFrom(generator, () => new Poisson(rates).sample());
}
