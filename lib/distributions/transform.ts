/**
 * Maps of random variables, with the log determinant of the Jacobian. Invariant: `inv(call(x))` equals x if the map is
 * bijective, and is x itself with a cache.
 */
import { showAsText } from "../base/console_text.ts";
import { optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { checkTensor } from "../tensor/checked.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Constraint, independent, real } from "./constraints.ts";

/** Options of transforms. */
export interface TransformOptions {
  /** 1 to cache the last value and its image, so that `inv` of that image returns the same tensor; default 0. */
  readonly cacheSize?: number;
}

/** A map, as `torch.distributions.Transform`. Subclasses define `image` and `preimage`, or `call` and `inv` themselves. */
export abstract class Transform {
  /** Number of dimensions of one event. */
  readonly eventDim: number = 0;
  /** Whether it is bijective. */
  readonly bijective: boolean = true;
  /** 1 if increasing, −1 if decreasing, null if neither. */
  readonly sign: number | Tensor | null = null;
  private readonly keeps: boolean;
  private last: readonly [x: Tensor, y: Tensor] | null = null;

  /** Takes its settings, then options. */
  constructor(options: TransformOptions = {}) {
    this.keeps = (optionsOf(this.constructor.name, options, ["cacheSize"]).cacheSize ?? 0) > 0;
  }

  /** Dimensions of one event of the domain. */
  get domainDim(): number {
    return this.eventDim;
  }

  /** Dimensions of one event of the codomain. */
  get codomainDim(): number {
    return this.eventDim;
  }

  /** The set of its values, as `domain` in PyTorch: any numbers, unless a subclass says otherwise. */
  get domain(): Constraint {
    return this.domainDim > 0 ? independent(real, this.domainDim) : real;
  }

  /** The set of their images: any numbers, unless a subclass says otherwise. */
  get codomain(): Constraint {
    return this.codomainDim > 0 ? independent(real, this.codomainDim) : real;
  }

  /** The image of a value. */
  call(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("call", 1, arguments);
    checkTensor(x, this.constructor.name);
    const { last } = this;
    if (last && last[0] === x) return last[1];
    const y = this.image(x);
    if (this.keeps) this.last = [x, y];
    return y;
  }

  /** The value with a given image. */
  inv(y: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("inv", 1, arguments);
    checkTensor(y, `inv of ${this.constructor.name}`);
    const { last } = this;
    if (last && last[1] === y) return last[0];
    const x = this.preimage(y);
    if (this.keeps) this.last = [x, y];
    return x;
  }

  /** log |dy/dx|, summed over one event. */
  abstract logAbsDetJacobian(x: Tensor, y: Tensor): Tensor;

  /** The shape of the images of values with a shape. */
  forwardShape(shape: readonly number[]): readonly number[] {
    if (arguments.length > 1) refuseSurplus("forwardShape", 1, arguments);
    return shape;
  }

  /** The shape of the values whose images have a shape. */
  inverseShape(shape: readonly number[]): readonly number[] {
    if (arguments.length > 1) refuseSurplus("inverseShape", 1, arguments);
    return shape;
  }

  /** Computes `call` without the cache. */
  protected image(x: Tensor): Tensor {
    return this.call(x);
  }

  /** Computes `inv` without the cache. */
  protected preimage(y: Tensor): Tensor {
    return this.inv(y);
  }

  /** The class name, as PyTorch prints it. */
  toString(): string {
    return `${this.constructor.name}()`;
  }
}

showAsText(Transform.prototype);
