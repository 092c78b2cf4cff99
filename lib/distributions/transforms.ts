/**
 * Transforms of numbers, and compositions of transforms: the namespace `distributions.transforms`, with those of
 * vectors and matrices, like `torch.distributions.transforms`. Invariants are those of `Transform`.
 */
import { type Arguments, argumentsOf } from "../base/arguments.ts";
import { checkKind } from "../base/checked_input.ts";
import { checkInteger } from "../base/checked_numbers.ts";
import { DynError } from "../base/errors.ts";
import { ops } from "../tensor/eager.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import { type Constraint, interval, positive, unitInterval } from "./constraints.ts";
import { type Distribution, type Parameter, softplus, sumRightmost } from "./distribution.ts";
import { inside } from "./event_transforms.ts";
import { Transform, type TransformOptions } from "./transform.ts";

export { Transform, type TransformOptions } from "./transform.ts";
export {
  CatTransform,
  ComposeTransform,
  identityTransform,
  IndependentTransform,
  StackTransform,
} from "./composed_transforms.ts";
export {
  CorrCholeskyTransform,
  LowerCholeskyTransform,
  PositiveDefiniteTransform,
  SoftmaxTransform,
  StickBreakingTransform,
} from "./event_transforms.ts";

/** Required arguments of AffineTransform. */
interface Affine {
  readonly loc: Parameter;
  readonly scale: Parameter;
}

/** Options of AffineTransform. */
interface AffineOptions extends TransformOptions {
  readonly eventDim?: number;
}

const AFFINE = { required: ["loc", "scale"], positional: ["eventDim", "cacheSize"] } as const;

/** x ↦ loc + scale · x. */
export class AffineTransform extends Transform {
  /** Dimensions of one event. */
  override readonly eventDim: number;
  /** Whether it is increasing or decreasing. */
  override readonly sign: number | Tensor;

  /** The shift of the scaled value. */
  readonly loc: Parameter;
  /** The factor of the value. */
  readonly scale: Parameter;

  /** Takes a location and a scale, then the number of event dimensions. */
  constructor(...given: Arguments<Affine, AffineOptions, typeof AFFINE>) {
    const { loc, scale, eventDim = 0, ...rest } = argumentsOf<Affine, AffineOptions>(
      "AffineTransform",
      AFFINE,
      given,
    );
    super(rest);
    checkInteger("eventDim of AffineTransform", eventDim, 0);
    [this.loc, this.scale, this.eventDim] = [loc, scale, eventDim];
    this.sign = isTensor(scale) ? scale.sign() : Math.sign(scale);
  }

  /** The image of a value. */
  protected override image(x: Tensor): Tensor {
    return x.mul(this.scale).add(this.loc);
  }

  /** The value of an image. */
  protected override preimage(y: Tensor): Tensor {
    return y.sub(this.loc).div(this.scale);
  }

  /** Returns the log determinant of the Jacobian. */
  override logAbsDetJacobian(x: Tensor): Tensor {
    return sumRightmost(ops.mul(ops.onesLike(x), this.scale).abs().log(), this.eventDim);
  }
}

/** x ↦ eˣ. */
export class ExpTransform extends Transform {
  /** Whether it is increasing or decreasing. */
  override readonly sign = 1;

  /** The set of their images. */
  override get codomain(): Constraint {
    return positive;
  }

  /** The image of a value. */
  protected override image(x: Tensor): Tensor {
    return x.exp();
  }

  /** The value of an image. */
  protected override preimage(y: Tensor): Tensor {
    return y.log();
  }

  /** Returns the log determinant of the Jacobian. */
  override logAbsDetJacobian(x: Tensor): Tensor {
    return x;
  }
}

/** x ↦ 1 / (1 + e⁻ˣ). */
export class SigmoidTransform extends Transform {
  /** Whether it is increasing or decreasing. */
  override readonly sign = 1;

  /** The set of their images. */
  override get codomain(): Constraint {
    return unitInterval;
  }

  /** The image of a value. */
  protected override image(x: Tensor): Tensor {
    return inside(x.sigmoid());
  }

  /** The value of an image. */
  protected override preimage(y: Tensor): Tensor {
    const probs = inside(y);
    return probs.log().sub(probs.neg().log1p());
  }

  /** Returns the log determinant of the Jacobian. */
  override logAbsDetJacobian(x: Tensor): Tensor {
    return softplus(x).add(softplus(x.neg())).neg();
  }
}

/** x ↦ tanh x. */
export class TanhTransform extends Transform {
  /** Whether it is increasing or decreasing. */
  override readonly sign = 1;

  /** The set of their images. */
  override get codomain(): Constraint {
    return interval(-1, 1);
  }

  /** The image of a value. */
  protected override image(x: Tensor): Tensor {
    return x.tanh();
  }

  /** The value of an image. */
  protected override preimage(y: Tensor): Tensor {
    return y.atanh();
  }

  /** Returns the log determinant of the Jacobian. */
  override logAbsDetJacobian(x: Tensor): Tensor {
    return x.add(softplus(x.mul(-2))).neg().add(Math.LN2).mul(2);
  }
}

/** x ↦ log(1 + eˣ). */
export class SoftplusTransform extends Transform {
  /** Whether it is increasing or decreasing. */
  override readonly sign = 1;

  /** The set of their images. */
  override get codomain(): Constraint {
    return positive;
  }

  /** The image of a value. */
  protected override image(x: Tensor): Tensor {
    return softplus(x);
  }

  /** The value of an image. */
  protected override preimage(y: Tensor): Tensor {
    return y.neg().expm1().neg().log().add(y);
  }

  /** Returns the log determinant of the Jacobian. */
  override logAbsDetJacobian(x: Tensor): Tensor {
    return softplus(x.neg()).neg();
  }
}

/** Arguments of PowerTransform. */
interface Power {
  readonly exponent: Parameter;
}

const POWER = { required: ["exponent"], positional: ["cacheSize"] } as const;

/** x ↦ x^exponent, for positive numbers. */
export class PowerTransform extends Transform {
  /** The power of values. */
  readonly exponent: Parameter;
  /** Whether it is increasing or decreasing. */
  override readonly sign: number | Tensor;

  /** Takes its settings, then options. */
  constructor(...given: Arguments<Power, TransformOptions, typeof POWER>) {
    const { exponent, ...rest } = argumentsOf<Power, TransformOptions>("PowerTransform", POWER, given);
    super(rest);
    this.exponent = exponent;
    this.sign = isTensor(exponent) ? exponent.sign() : Math.sign(exponent);
  }

  /** The set of its values. */
  override get domain(): Constraint {
    return positive;
  }

  /** The set of their images. */
  override get codomain(): Constraint {
    return positive;
  }

  /** The image of a value. */
  protected override image(x: Tensor): Tensor {
    return x.pow(this.exponent);
  }

  /** The value of an image. */
  protected override preimage(y: Tensor): Tensor {
    return y.pow(isTensor(this.exponent) ? this.exponent.reciprocal() : 1 / this.exponent);
  }

  /** Returns the log determinant of the Jacobian. */
  override logAbsDetJacobian(x: Tensor, y: Tensor): Tensor {
    return y.mul(this.exponent).div(x).abs().log();
  }
}

/** x ↦ |x|; the preimage is the positive one. */
export class AbsTransform extends Transform {
  /** Whether it is bijective. */
  override readonly bijective = false;

  /** The set of their images. */
  override get codomain(): Constraint {
    return positive;
  }

  /** The image of a value. */
  protected override image(x: Tensor): Tensor {
    return x.abs();
  }

  /** The value of an image. */
  protected override preimage(y: Tensor): Tensor {
    return y;
  }

  /** Throws DynError: it is not bijective. */
  override logAbsDetJacobian(): Tensor {
    throw new DynError("Expected a transform that can be inverted but found AbsTransform");
  }
}

/** x ↦ cdf(x) of a distribution. */
export class CumulativeDistributionTransform extends Transform {
  /** Whether it is increasing or decreasing. */
  override readonly sign = 1;

  /** Takes its settings, then options. */
  constructor(readonly distribution: Distribution, options: TransformOptions = {}) {
    super(options);
  }

  /** The set of its values. */
  override get domain(): Constraint {
    return this.distribution.support;
  }

  /** The set of their images. */
  override get codomain(): Constraint {
    return unitInterval;
  }

  /** The image of a value. */
  protected override image(x: Tensor): Tensor {
    return this.distribution.cdf(x);
  }

  /** The value of an image. */
  protected override preimage(y: Tensor): Tensor {
    return this.distribution.icdf(y);
  }

  /** Returns the log determinant of the Jacobian. */
  override logAbsDetJacobian(x: Tensor): Tensor {
    return this.distribution.logProb(x);
  }
}

/** Reshapes events. */
export class ReshapeTransform extends Transform {
  /** Whether it is increasing or decreasing. */
  override readonly sign = 1;

  /** Takes the shapes of one event before and after. Throws DynError if they have different numbers of elements. */
  constructor(
    readonly inShape: readonly number[],
    readonly outShape: readonly number[],
    options: TransformOptions = {},
  ) {
    super(options);
    for (const shape of [inShape, outShape]) checkKind(shape, "a list", "a shape of ReshapeTransform");
    if (countOf(inShape) !== countOf(outShape)) {
      throw new DynError(
        `Expected shapes with the same number of elements but found [${inShape}] and [${outShape}]`,
      );
    }
  }

  /** Dimensions of one event of the domain. */
  override get domainDim(): number {
    return this.inShape.length;
  }

  /** Dimensions of one event of the codomain. */
  override get codomainDim(): number {
    return this.outShape.length;
  }

  /** The image of a value. */
  protected override image(x: Tensor): Tensor {
    return x.reshape([...this.forwardShape(x.shape)]);
  }

  /** The value of an image. */
  protected override preimage(y: Tensor): Tensor {
    return y.reshape([...this.inverseShape(y.shape)]);
  }

  /** Returns the log determinant of the Jacobian. */
  override logAbsDetJacobian(x: Tensor): Tensor {
    return x.newZeros(x.shape.slice(0, x.ndim - this.inShape.length));
  }

  /** The shape of the images of values with a shape. */
  override forwardShape(shape: readonly number[]): readonly number[] {
    return withEvent(shape, this.inShape, this.outShape);
  }

  /** The shape of the values whose images have a shape. */
  override inverseShape(shape: readonly number[]): readonly number[] {
    return withEvent(shape, this.outShape, this.inShape);
  }
}

const countOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** Replaces the event at the end of a shape. Throws DynError if the shape does not end in it. */
function withEvent(
  shape: readonly number[],
  from: readonly number[],
  to: readonly number[],
): readonly number[] {
  const lead = shape.slice(0, shape.length - from.length);
  if (shape.length < from.length || `${shape.slice(lead.length)}` !== `${from}`) {
    throw new DynError(`Expected events of shape [${from}] but found shape [${shape}]`);
  }
  return [...lead, ...to];
}
