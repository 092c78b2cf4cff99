/**
 * Transforms of random variables, and distributions that they give, as `torch.distributions.transforms`. Input: a value;
 * output: its image and the logarithm of how much volumes grow. Invariant: `inv(call(x))` is x.
 */
import { DynError } from "../base/errors.ts";
import { ops } from "../tensor/eager.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { Distribution, type Parameter, type SampleShape, softplus, sumRightmost } from "./distribution.ts";

/** An invertible map. */
export interface Transform {
  /** How many dimensions one event has. */
  readonly eventDim: number;
  call(x: Tensor): Tensor;
  inv(y: Tensor): Tensor;
  /** log |dy/dx|. */
  logAbsDetJacobian(x: Tensor, y: Tensor): Tensor;
}

/** x ↦ loc + scale · x. */
export class AffineTransform implements Transform {
  readonly eventDim = 0;
  constructor(readonly loc: Parameter, readonly scale: Parameter) {}
  call(x: Tensor): Tensor {
    return x.mul(this.scale).add(this.loc);
  }
  inv(y: Tensor): Tensor {
    return y.sub(this.loc).div(this.scale);
  }
  logAbsDetJacobian(x: Tensor): Tensor {
    return ops.mul(ops.onesLike(x), this.scale).abs().log();
  }
}

/** x ↦ eˣ. */
export class ExpTransform implements Transform {
  readonly eventDim = 0;
  call(x: Tensor): Tensor {
    return x.exp();
  }
  inv(y: Tensor): Tensor {
    return y.log();
  }
  logAbsDetJacobian(x: Tensor): Tensor {
    return x;
  }
}

/** x ↦ 1 / (1 + e⁻ˣ). */
export class SigmoidTransform implements Transform {
  readonly eventDim = 0;
  call(x: Tensor): Tensor {
    return x.sigmoid();
  }
  inv(y: Tensor): Tensor {
    return y.log().sub(y.neg().log1p());
  }
  logAbsDetJacobian(x: Tensor): Tensor {
    return softplus(x).add(softplus(x.neg())).neg();
  }
}

/** x ↦ tanh x. */
export class TanhTransform implements Transform {
  readonly eventDim = 0;
  call(x: Tensor): Tensor {
    return x.tanh();
  }
  inv(y: Tensor): Tensor {
    return y.atanh();
  }
  logAbsDetJacobian(x: Tensor): Tensor {
    return x.add(softplus(x.mul(-2))).neg().add(Math.LN2).mul(2);
  }
}

/** x ↦ x to a power, of positive numbers. */
export class PowerTransform implements Transform {
  readonly eventDim = 0;
  constructor(readonly exponent: number) {}
  call(x: Tensor): Tensor {
    return x.pow(this.exponent);
  }
  inv(y: Tensor): Tensor {
    return y.pow(1 / this.exponent);
  }
  logAbsDetJacobian(x: Tensor, y: Tensor): Tensor {
    return y.mul(this.exponent).div(x).abs().log();
  }
}

/** Transforms one after the other. */
export class ComposeTransform implements Transform {
  readonly eventDim: number;
  constructor(readonly parts: readonly Transform[]) {
    this.eventDim = Math.max(0, ...parts.map((part) => part.eventDim));
  }
  call(x: Tensor): Tensor {
    return this.parts.reduce((y, part) => part.call(y), x);
  }
  inv(y: Tensor): Tensor {
    return this.parts.reduceRight((x, part) => part.inv(x), y);
  }
  logAbsDetJacobian(x: Tensor): Tensor {
    let at = x, sum = ops.zerosLike(sumRightmost(x, this.eventDim));
    for (const part of this.parts) {
      const next = part.call(at);
      sum = sum.add(sumRightmost(part.logAbsDetJacobian(at, next), this.eventDim - part.eventDim));
      at = next;
    }
    return sum;
  }
}

/** The distribution of images of a random variable, as `torch.distributions.TransformedDistribution`. */
export class TransformedDistribution extends Distribution {
  override readonly hasRsample: boolean;
  readonly transform: Transform;

  constructor(readonly base: Distribution, transforms: Transform | readonly Transform[]) {
    super(base.batchShape, base.eventShape);
    this.transform = new ComposeTransform([transforms].flat());
    this.hasRsample = base.hasRsample;
    if (this.transform.eventDim > base.eventShape.length) {
      throw new DynError(`Expected a base whose events have ${this.transform.eventDim} dimensions`);
    }
  }

  get mean(): Tensor {
    throw new DynError("Expected a distribution whose mean is known but found a TransformedDistribution");
  }

  get variance(): Tensor {
    throw new DynError("Expected a distribution whose variance is known but found a TransformedDistribution");
  }

  protected draw(shape: SampleShape): Tensor {
    const lead = shape.slice(0, shape.length - this.batchShape.length - this.eventShape.length);
    return this.transform.call(this.base.hasRsample ? this.base.rsample(lead) : this.base.sample(lead));
  }

  logProb(value: Tensor): Tensor {
    const x = this.transform.inv(value), growth = this.transform.logAbsDetJacobian(x, value);
    return this.base.logProb(x).sub(sumRightmost(growth, this.eventShape.length - this.transform.eventDim));
  }
}

/** Dimensions of a batch as dimensions of one event, as `torch.distributions.Independent`. */
export class Independent extends Distribution {
  override readonly hasRsample: boolean;

  constructor(readonly base: Distribution, readonly reinterpretedBatchNdims: number) {
    const { batchShape, eventShape } = base, at = batchShape.length - reinterpretedBatchNdims;
    if (at < 0) {
      throw new DynError(
        `Expected at most ${batchShape.length} dimensions of a batch but found ${reinterpretedBatchNdims}`,
      );
    }
    super(batchShape.slice(0, at), [...batchShape.slice(at), ...eventShape]);
    this.hasRsample = base.hasRsample;
  }

  get mean(): Tensor {
    return this.base.mean;
  }

  get variance(): Tensor {
    return this.base.variance;
  }

  protected draw(shape: SampleShape): Tensor {
    const lead = shape.slice(0, shape.length - this.batchShape.length - this.eventShape.length);
    return this.base.hasRsample ? this.base.rsample(lead) : this.base.sample(lead);
  }

  logProb(value: Tensor): Tensor {
    return sumRightmost(this.base.logProb(value), this.reinterpretedBatchNdims);
  }

  override entropy(): Tensor {
    return sumRightmost(this.base.entropy(), this.reinterpretedBatchNdims);
  }
}
