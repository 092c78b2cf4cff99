/**
 * Transforms made of others: in order, for each part of a value, with more event dimensions. Invariants are those of
 * `Transform`.
 */
import { type Arguments, argumentsOf, type Trailing, trailing } from "../base/arguments.ts";
import { checkInstance, checkInstances } from "../base/checked_input.ts";
import { checkInteger } from "../base/checked_numbers.ts";
import { DynError } from "../base/errors.ts";
import { ops } from "../tensor/eager.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import { cat, type Constraint, independent, real, stack } from "./constraints.ts";
import { sumRightmost } from "./distribution.ts";
import { Transform, type TransformOptions } from "./transform.ts";

/** Required arguments of IndependentTransform. */
interface Reinterpreted {
  readonly baseTransform: Transform;
  /** How many batch dimensions become dimensions of an event. */
  readonly reinterpretedBatchNdims: number;
}

const REINTERPRETED = {
  required: ["baseTransform", "reinterpretedBatchNdims"],
  positional: ["cacheSize"],
} as const;

/** Reinterprets the last batch dimensions of a transform as event dimensions. */
export class IndependentTransform extends Transform {
  /** Whether it is bijective. */
  override readonly bijective: boolean;
  /** Whether it is increasing or decreasing. */
  override readonly sign: number | Tensor | null;

  /** The transform of the elements. */
  readonly baseTransform: Transform;
  /** How many of its batch dimensions are dimensions of an event. */
  readonly reinterpretedBatchNdims: number;

  /** Takes a transform, and how many of its last batch dimensions become dimensions of an event. */
  constructor(...given: Arguments<Reinterpreted, TransformOptions, typeof REINTERPRETED>) {
    const { baseTransform, reinterpretedBatchNdims, ...options } = argumentsOf<
      Reinterpreted,
      TransformOptions
    >("IndependentTransform", REINTERPRETED, given);
    super(options);
    checkInstance(baseTransform, Transform, "IndependentTransform");
    checkInteger("reinterpretedBatchNdims of IndependentTransform", reinterpretedBatchNdims, 0);
    [this.baseTransform, this.reinterpretedBatchNdims] = [baseTransform, reinterpretedBatchNdims];
    [this.bijective, this.sign] = [baseTransform.bijective, baseTransform.sign];
  }

  /** Dimensions of one event of the domain. */
  override get domainDim(): number {
    return this.baseTransform.domainDim + this.reinterpretedBatchNdims;
  }

  /** Dimensions of one event of the codomain. */
  override get codomainDim(): number {
    return this.baseTransform.codomainDim + this.reinterpretedBatchNdims;
  }

  /** The set of its values. */
  override get domain(): Constraint {
    return independent(this.baseTransform.domain, this.reinterpretedBatchNdims);
  }

  /** The set of their images. */
  override get codomain(): Constraint {
    return independent(this.baseTransform.codomain, this.reinterpretedBatchNdims);
  }

  /** The image of a value. */
  protected override image(x: Tensor): Tensor {
    return this.baseTransform.call(x);
  }

  /** The value of an image. */
  protected override preimage(y: Tensor): Tensor {
    return this.baseTransform.inv(y);
  }

  /** Returns the log determinant of the Jacobian. */
  override logAbsDetJacobian(x: Tensor, y: Tensor): Tensor {
    return sumRightmost(this.baseTransform.logAbsDetJacobian(x, y), this.reinterpretedBatchNdims);
  }

  /** The shape of the images of values with a shape. */
  override forwardShape(shape: readonly number[]): readonly number[] {
    return this.baseTransform.forwardShape(shape);
  }

  /** The shape of the values whose images have a shape. */
  override inverseShape(shape: readonly number[]): readonly number[] {
    return this.baseTransform.inverseShape(shape);
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

  /** The set of its values. */
  override get domain(): Constraint {
    return widened(this.parts[0]?.domain ?? real, this.domainDim);
  }

  /** The set of their images. */
  override get codomain(): Constraint {
    return widened(this.parts.at(-1)?.codomain ?? real, this.codomainDim);
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

/** A set of events with so many dimensions. */
export function widened(set: Constraint, eventDim: number): Constraint {
  return eventDim > set.eventDim ? independent(set, eventDim - set.eventDim) : set;
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

  /** The set of its values. */
  override get domain(): Constraint {
    return this.sets(this.transforms.map((each) => each.domain));
  }

  /** The set of their images. */
  override get codomain(): Constraint {
    return this.sets(this.transforms.map((each) => each.codomain));
  }

  /** The set of values whose parts are in these. */
  protected abstract sets(parts: readonly Constraint[]): Constraint;

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

/** Options of transforms of parts. */
interface PartOptions extends TransformOptions {
  /** The dimension that has the parts; default 0. */
  readonly dim?: number;
}

/** Applies a transform to each slice of a dimension. */
export class StackTransform extends ByParts {
  /** Takes the transforms, then the dimension. */
  constructor(
    transforms: readonly Transform[],
    ...given: Trailing<PartOptions, ["dim", "cacheSize"]>
  ) {
    const { dim = 0, ...rest } = trailing<PartOptions>("StackTransform", ["dim", "cacheSize"], given);
    super(transforms, dim, rest);
  }

  /** Splits a value into its parts. */
  protected override take(value: Tensor): readonly Tensor[] {
    return value.unbind(this.dim);
  }

  /** The set of values whose parts are in these. */
  protected override sets(parts: readonly Constraint[]): Constraint {
    return stack(parts, this.dim);
  }

  /** Joins the parts. */
  protected override join(parts: readonly Tensor[]): Tensor {
    return ops.stack(parts, this.dim);
  }
}

interface LengthOptions extends PartOptions {
  /** The length of each part; default 1. */
  readonly lengths?: readonly number[];
}

/** Applies a transform to each part of a dimension, with given lengths, by default 1. */
export class CatTransform extends ByParts {
  /** The length of each part. */
  readonly lengths: readonly number[];

  /** Takes the transforms, then the dimension and the lengths. */
  constructor(
    transforms: readonly Transform[],
    ...given: Trailing<LengthOptions, ["dim", "lengths", "cacheSize"]>
  ) {
    const names = ["dim", "lengths", "cacheSize"] as const;
    const { dim = 0, lengths, ...rest } = trailing<LengthOptions>("CatTransform", names, given);
    super(transforms, dim, rest);
    this.lengths = lengths ?? transforms.map(() => 1);
  }

  /** Splits a value into its parts. */
  protected override take(value: Tensor): readonly Tensor[] {
    return value.split([...this.lengths], this.dim);
  }

  /** The set of values whose parts are in these. */
  protected override sets(parts: readonly Constraint[]): Constraint {
    return cat(parts, this.dim, { lengths: this.lengths });
  }

  /** Joins the parts. */
  protected override join(parts: readonly Tensor[]): Tensor {
    return ops.cat(parts, this.dim);
  }
}
