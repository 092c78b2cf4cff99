/**
 * Transforms of numbers, and compositions of transforms: the namespace `distributions.transforms`, with those of
 * vectors and matrices, like `torch.distributions.transforms`. Invariants are those of `Transform`.
 */
import { type Arguments, argumentsOf } from "../base/arguments.ts";
import { checkInstance, checkInstances, checkKind, optionsOf } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { ops } from "../tensor/eager.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import { type Distribution, type Parameter, softplus, sumRightmost } from "./distribution.ts";
import { Transform, type TransformOptions } from "./transform.ts";

export { Transform, type TransformOptions } from "./transform.ts";
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

  /** The image of a value. */
  protected override image(x: Tensor): Tensor {
    return x.sigmoid();
  }

  /** The value of an image. */
  protected override preimage(y: Tensor): Tensor {
    return y.log().sub(y.neg().log1p());
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

/** Reinterprets the last batch dimensions of a transform as event dimensions. */
export class IndependentTransform extends Transform {
  /** Whether it is bijective. */
  override readonly bijective: boolean;
  /** Whether it is increasing or decreasing. */
  override readonly sign: number | Tensor | null;

  /** Takes its settings, then options. */
  constructor(
    readonly base: Transform,
    readonly reinterpretedBatchNdims: number,
    options: TransformOptions = {},
  ) {
    super(options);
    checkInstance(base, Transform, "IndependentTransform");
    [this.bijective, this.sign] = [base.bijective, base.sign];
  }

  /** Dimensions of one event of the domain. */
  override get domainDim(): number {
    return this.base.domainDim + this.reinterpretedBatchNdims;
  }

  /** Dimensions of one event of the codomain. */
  override get codomainDim(): number {
    return this.base.codomainDim + this.reinterpretedBatchNdims;
  }

  /** The image of a value. */
  protected override image(x: Tensor): Tensor {
    return this.base.call(x);
  }

  /** The value of an image. */
  protected override preimage(y: Tensor): Tensor {
    return this.base.inv(y);
  }

  /** Returns the log determinant of the Jacobian. */
  override logAbsDetJacobian(x: Tensor, y: Tensor): Tensor {
    return sumRightmost(this.base.logAbsDetJacobian(x, y), this.reinterpretedBatchNdims);
  }

  /** The shape of the images of values with a shape. */
  override forwardShape(shape: readonly number[]): readonly number[] {
    return this.base.forwardShape(shape);
  }

  /** The shape of the values whose images have a shape. */
  override inverseShape(shape: readonly number[]): readonly number[] {
    return this.base.inverseShape(shape);
  }
}

/** A composition of transforms, applied in order. */
export class ComposeTransform extends Transform {
  /** Whether it is bijective. */
  override readonly bijective: boolean;
  /** Whether it is increasing or decreasing. */
  override readonly sign: number | Tensor | null;

  /** Takes its settings, then options. */
  constructor(readonly parts: readonly Transform[], options: TransformOptions = {}) {
    super(options);
    checkInstances(parts, Transform, "ComposeTransform");
    this.bijective = parts.every((part) => part.bijective);
    this.sign = parts.reduce<number | Tensor | null>((sign, part) => times(sign, part.sign), 1);
  }

  /** The parts in order. */
  override toString(): string {
    return `ComposeTransform(${this.parts.join(", ")})`;
  }

  /** Dimensions of one event of the domain. */
  override get domainDim(): number {
    return this.parts.reduceRight(
      (dim, part) => Math.max(dim + part.domainDim - part.codomainDim, part.domainDim),
      this.parts.at(-1)?.codomainDim ?? 0,
    );
  }

  /** Dimensions of one event of the codomain. */
  override get codomainDim(): number {
    return this.parts.reduce(
      (dim, part) => Math.max(dim + part.codomainDim - part.domainDim, part.codomainDim),
      this.parts[0]?.domainDim ?? 0,
    );
  }

  /** The image of a value. */
  protected override image(x: Tensor): Tensor {
    return this.parts.reduce((y, part) => part.call(y), x);
  }

  /** The value of an image. */
  protected override preimage(y: Tensor): Tensor {
    return this.parts.reduceRight((x, part) => part.inv(x), y);
  }

  /** Returns the log determinant of the Jacobian. */
  override logAbsDetJacobian(x: Tensor): Tensor {
    let at = x, dim = this.domainDim, sum = ops.zerosLike(sumRightmost(x, dim));
    for (const part of this.parts) {
      const next = part.call(at);
      sum = sum.add(sumRightmost(part.logAbsDetJacobian(at, next), dim - part.domainDim));
      dim += part.codomainDim - part.domainDim;
      at = next;
    }
    return sum;
  }

  /** The shape of the images of values with a shape. */
  override forwardShape(shape: readonly number[]): readonly number[] {
    return this.parts.reduce((known, part) => part.forwardShape(known), shape);
  }

  /** The shape of the values whose images have a shape. */
  override inverseShape(shape: readonly number[]): readonly number[] {
    return this.parts.reduceRight((known, part) => part.inverseShape(known), shape);
  }
}

function times(a: number | Tensor | null, b: number | Tensor | null): number | Tensor | null {
  if (a === null || b === null) return null;
  return isTensor(a) ? a.mul(b) : isTensor(b) ? b.mul(a) : a * b;
}

/** Leaves values unchanged. */
export const identityTransform: Transform = new ComposeTransform([]);

/** Applies a transform to each part of a dimension. */
abstract class ByParts extends Transform {
  /** Takes its settings, then options. */
  constructor(readonly transforms: readonly Transform[], readonly dim: number, options: TransformOptions) {
    super(options);
    checkInstances(transforms, Transform, this.constructor.name);
  }

  /** Dimensions of one event of the domain. */
  override get domainDim(): number {
    return Math.max(0, ...this.transforms.map((each) => each.domainDim));
  }

  /** Dimensions of one event of the codomain. */
  override get codomainDim(): number {
    return Math.max(0, ...this.transforms.map((each) => each.codomainDim));
  }

  /** Splits a value into one part for each transform. */
  protected abstract take(value: Tensor): readonly Tensor[];
  /** Joins the parts. */
  protected abstract join(parts: readonly Tensor[]): Tensor;

  private each(value: Tensor, map: (transform: Transform, part: Tensor) => Tensor): Tensor {
    const parts = this.take(value);
    if (parts.length !== this.transforms.length) {
      throw new DynError(`Expected ${this.transforms.length} parts but found ${parts.length}`);
    }
    return this.join(this.transforms.map((transform, k) => map(transform, parts[k] ?? value)));
  }

  /** The image of a value. */
  protected override image(x: Tensor): Tensor {
    return this.each(x, (transform, part) => transform.call(part));
  }

  /** The value of an image. */
  protected override preimage(y: Tensor): Tensor {
    return this.each(y, (transform, part) => transform.inv(part));
  }

  /** Returns the log determinant of the Jacobian. */
  override logAbsDetJacobian(x: Tensor, y: Tensor): Tensor {
    const images = this.take(y);
    let k = 0;
    return this.each(x, (transform, part) => transform.logAbsDetJacobian(part, images[k++] ?? y));
  }
}

/** Applies a transform to each slice of a dimension. */
export class StackTransform extends ByParts {
  /** Takes its settings, then options. */
  constructor(transforms: readonly Transform[], dim: number = 0, options: TransformOptions = {}) {
    super(transforms, dim, options);
  }

  /** Splits a value into its parts. */
  protected override take(value: Tensor): readonly Tensor[] {
    return value.unbind(this.dim);
  }

  /** Joins the parts. */
  protected override join(parts: readonly Tensor[]): Tensor {
    return ops.stack(parts, this.dim);
  }
}

/** Applies a transform to each part of a dimension, with given lengths, by default 1. */
export class CatTransform extends ByParts {
  /** The length of each part. */
  readonly lengths: readonly number[];

  /** Takes its settings, then options. */
  constructor(
    transforms: readonly Transform[],
    dim: number = 0,
    options: TransformOptions & { readonly lengths?: readonly number[] } = {},
  ) {
    const { lengths, ...rest } = optionsOf("CatTransform", options, ["cacheSize", "lengths"]);
    super(transforms, dim, rest);
    this.lengths = lengths ?? transforms.map(() => 1);
  }

  /** Splits a value into its parts. */
  protected override take(value: Tensor): readonly Tensor[] {
    return value.split([...this.lengths], this.dim);
  }

  /** Joins the parts. */
  protected override join(parts: readonly Tensor[]): Tensor {
    return ops.cat(parts, this.dim);
  }
}
