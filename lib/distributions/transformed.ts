/**
 * Distributions derived from others: images of random variables, batches as one event. Invariant: the original
 * distributions are not changed.
 */
import { checkInteger } from "../base/checked_numbers.ts";
import { checkKind, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { DynError, InternalError } from "../base/errors.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import { type ArgConstraints, type Constraint, independent, positive, real } from "./constraints.ts";
import { type ParametersOf, type ValidatedArguments, validatedArguments } from "./given_parameters.ts";
import { checkDistribution, Distribution, type SampleShape, sumRightmost } from "./distribution.ts";
import { Normal } from "./normal.ts";
import { widened } from "./composed_transforms.ts";
import { ComposeTransform, StickBreakingTransform, type Transform } from "./transforms.ts";

/** Samples a distribution, differentiably if possible. */
const drawn = (base: Distribution, lead: SampleShape): Tensor =>
  base.hasRsample ? base.rsample(lead) : base.sample(lead);

/** Arguments of TransformedDistribution. */
interface Transformed {
  readonly baseDistribution: Distribution;
  readonly transforms: Transform | readonly Transform[];
}

/** The distribution of a transformed random variable, as `torch.distributions.TransformedDistribution`. */
export class TransformedDistribution extends Distribution {
  override readonly hasRsample: boolean;
  /** The distribution before the transforms. */
  readonly baseDist: Distribution;
  readonly transform: ComposeTransform;

  /**
   * Takes a distribution and one or more transforms. Throws DynError if their events have more dimensions than a
   * sample.
   */
  constructor(...given: ValidatedArguments<Transformed, ["baseDistribution", "transforms"]>) {
    const { baseDistribution: base, transforms, validateArgs } = validatedArguments<Transformed>(
      new.target.name,
      [
        "baseDistribution",
        "transforms",
      ],
      given,
    );
    const parts = [transforms].flat(), other = parts.findIndex((each) => typeof each?.call !== "function");
    if (other >= 0) refuseValue("transforms", parts[other]);
    checkDistribution(base, "TransformedDistribution");
    const transform = new ComposeTransform(parts), { domainDim, codomainDim } = transform;
    const before = [...base.batchShape, ...base.eventShape], own = base.eventShape.length;
    if (before.length < domainDim) {
      throw new DynError(
        `Expected a base whose samples have ${domainDim} dimensions or more but found shape [${before}]`,
      );
    }
    const shape = transform.forwardShape(before);
    const at = shape.length - codomainDim - Math.max(own - domainDim, 0);
    super(shape.slice(0, at), shape.slice(at), validateArgs);
    // Parameters of transforms may broadcast
    const wide = transform.inverseShape(shape);
    const grown = `${wide}` === `${before}` ? base : base.expand(wide.slice(0, wide.length - own));
    this.baseDist = domainDim > own ? new Independent(grown, domainDim - own) : grown;
    this.transform = transform;
    this.hasRsample = base.hasRsample;
  }

  /** The transforms, in the order of their application. */
  get transforms(): readonly Transform[] {
    return this.transform.parts;
  }

  get mean(): Tensor {
    return this.unknown("mean");
  }

  get variance(): Tensor {
    return this.unknown("variance");
  }

  override get support(): Constraint {
    const last = this.transform.parts.at(-1);
    return last ? widened(last.codomain, this.eventShape.length) : this.baseDist.support;
  }

  protected draw(shape: SampleShape): Tensor {
    const own = this.batchShape.length + this.eventShape.length;
    return this.transform.call(drawn(this.baseDist, shape.slice(0, shape.length - own)));
  }

  protected override logDensity(value: Tensor): Tensor {
    const growths: Tensor[] = [];
    let y = value, dim = this.eventShape.length;
    for (const part of this.transform.parts.toReversed()) {
      const x = part.inv(y);
      dim += part.domainDim - part.codomainDim;
      growths.push(sumRightmost(part.logAbsDetJacobian(x, y), dim - part.domainDim));
      y = x;
    }
    const density = sumRightmost(this.baseDist.logProb(y), dim - this.baseDist.eventShape.length);
    return growths.reduce((known, growth) => known.sub(growth), density);
  }

  protected override cumulative(value: Tensor): Tensor {
    return this.turned(this.baseDist.cdf(this.transform.inv(value)));
  }

  protected override quantile(probability: Tensor): Tensor {
    return this.transform.call(this.baseDist.icdf(this.turned(probability)));
  }

  /** Probabilities under increasing transforms, their complements under decreasing ones. */
  private turned(probability: Tensor): Tensor {
    const { sign } = this.transform;
    if (sign === null) return this.unknown("cdf");
    if (!isTensor(sign)) return sign === 1 ? probability : probability.neg().add(1);
    return probability.sub(0.5).mul(sign).add(0.5);
  }

  override expand(batchShape: SampleShape): this {
    checkKind(batchShape, "a list", "expand of TransformedDistribution");
    const wide = this.transform.inverseShape([...batchShape, ...this.eventShape]);
    const baseDist = this.baseDist.expand(wide.slice(0, wide.length - this.baseDist.eventShape.length));
    if (arguments.length > 1) refuseSurplus("expand", 1, arguments);
    const own: this = Object.create(Object.getPrototypeOf(this));
    return Object.assign(own, this, { baseDist, batchShape });
  }
}

/** Normal vectors mapped to the simplex, as `torch.distributions.LogisticNormal`. */
export class LogisticNormal extends TransformedDistribution {
  override readonly argConstraints: ArgConstraints = { loc: real, scale: positive };

  constructor(...given: ParametersOf<["loc", "scale"]>) {
    const base = new Normal(...given);
    super(base.batchShape.length > 0 ? base : base.expand([1]), new StickBreakingTransform(), {
      validateArgs: base.validateArgs,
    });
  }

  get loc(): Tensor {
    return this.normal.loc;
  }

  get scale(): Tensor {
    return this.normal.scale;
  }

  /** The distribution of the vectors' elements. */
  private get normal(): Normal {
    const { baseDist } = this, own = baseDist instanceof Independent ? baseDist.baseDist : baseDist;
    if (own instanceof Normal) return own;
    throw new InternalError(`Expected a normal distribution but found ${own}`);
  }
}

/** Arguments of Independent. */
interface Reinterpreted {
  readonly baseDistribution: Distribution;
  readonly reinterpretedBatchNdims: number;
}

/** Reinterprets batch dimensions as event dimensions, as `torch.distributions.Independent`. */
export class Independent extends Distribution {
  override readonly hasRsample: boolean;

  /** The distribution whose batch dimensions are reinterpreted. */
  readonly baseDist: Distribution;
  readonly reinterpretedBatchNdims: number;

  /** Takes a distribution, and how many of its last batch dimensions become dimensions of an event. */
  constructor(...given: ValidatedArguments<Reinterpreted, ["baseDistribution", "reinterpretedBatchNdims"]>) {
    const { baseDistribution: base, reinterpretedBatchNdims, validateArgs } = validatedArguments<
      Reinterpreted
    >(
      new.target.name,
      ["baseDistribution", "reinterpretedBatchNdims"],
      given,
    );
    checkDistribution(base, "Independent");
    checkInteger("reinterpretedBatchNdims of Independent", reinterpretedBatchNdims, 0);
    const { batchShape, eventShape } = base, at = batchShape.length - reinterpretedBatchNdims;
    if (at < 0) {
      throw new DynError(
        `Expected at most ${batchShape.length} dimensions of a batch but found ${reinterpretedBatchNdims}`,
      );
    }
    super(batchShape.slice(0, at), [...batchShape.slice(at), ...eventShape], validateArgs);
    [this.baseDist, this.reinterpretedBatchNdims] = [base, reinterpretedBatchNdims];
    this.hasRsample = base.hasRsample;
  }

  get mean(): Tensor {
    return this.baseDist.mean;
  }

  override get mode(): Tensor {
    return this.baseDist.mode;
  }

  get variance(): Tensor {
    return this.baseDist.variance;
  }

  override get support(): Constraint {
    return independent(this.baseDist.support, this.reinterpretedBatchNdims);
  }

  protected draw(shape: SampleShape): Tensor {
    return drawn(
      this.baseDist,
      shape.slice(0, shape.length - this.batchShape.length - this.eventShape.length),
    );
  }

  /** The distribution of the elements checks it. */
  protected override checkValue(): void {}

  protected override logDensity(value: Tensor): Tensor {
    return sumRightmost(this.baseDist.logProb(value), this.reinterpretedBatchNdims);
  }

  protected override computedEntropy(): Tensor {
    return sumRightmost(this.baseDist.entropy(), this.reinterpretedBatchNdims);
  }
}
