/**
 * What all distributions have, as `torch.distributions.Distribution`. Input: parameters that broadcast against each
 * other; output: samples, densities and moments. Invariant: a sample has the shape that is asked for, then that of the
 * batch (of parameters), then that of one event.
 */
import { DynError } from "../base/errors.ts";
import { broadcastShapes, sameShape } from "../ops/shapes.ts";
import { scalarTensor } from "../tensor/creation.ts";
import { ops } from "../tensor/eager.ts";
import { getDefaultDtype } from "../base/dtype.ts";
import { noGrad } from "../tensor/modes.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";

/** A parameter: a number for all, or a tensor of them. */
export type Parameter = number | Tensor;

/** Sizes of samples. */
export type SampleShape = readonly number[];

/** Parameters as tensors of one shape and type. */
export function broadcastAll<const P extends readonly Parameter[]>(...given: P): { [K in keyof P]: Tensor } {
  const [like] = given.filter(isTensor), dtype = like?.isFloatingPoint() ? like.dtype : getDefaultDtype();
  const device = like?.device ?? "cpu";
  const tensors = given.map((each) => isTensor(each) ? each : scalarTensor(each, { dtype, device }));
  const shape = broadcastShapes(...tensors.map((each) => each.shape)).map(Number);
  const all = tensors.map((each) => sameShape(each.shape, shape) ? each : ops.expand(each, shape));
  return all as { [K in keyof P]: Tensor };
}

/** A distribution of tensors. */
export abstract class Distribution {
  /** Whether samples can be differentiated by the parameters. */
  readonly hasRsample: boolean = false;

  constructor(readonly batchShape: SampleShape, readonly eventShape: SampleShape = []) {}

  /** Expected values. */
  abstract get mean(): Tensor;
  /** Variances. */
  abstract get variance(): Tensor;
  /** Logarithms of densities, or of probabilities. */
  abstract logProb(value: Tensor): Tensor;
  /** Samples of a shape. */
  protected abstract draw(shape: SampleShape): Tensor;

  /** Standard deviations. */
  get stddev(): Tensor {
    return this.variance.sqrt();
  }

  /** Samples through which no gradient flows. */
  sample(shape: SampleShape = []): Tensor {
    return noGrad(() => this.draw(this.extended(shape)).detach());
  }

  /** Samples through which gradients flow to the parameters. Throws DynError where they cannot. */
  rsample(shape: SampleShape = []): Tensor {
    if (this.hasRsample) return this.draw(this.extended(shape));
    throw new DynError(
      `Expected a distribution that has rsample but found ${this.constructor.name}; use sample`,
    );
  }

  /** Entropies. */
  entropy(): Tensor {
    throw new DynError(`Expected a distribution whose entropy is known but found ${this.constructor.name}`);
  }

  /** Probabilities of values that are not greater. */
  cdf(_value: Tensor): Tensor {
    throw new DynError(`Expected a distribution whose cdf is known but found ${this.constructor.name}`);
  }

  /** The values of which `cdf` gives probabilities. */
  icdf(_probability: Tensor): Tensor {
    throw new DynError(`Expected a distribution whose icdf is known but found ${this.constructor.name}`);
  }

  /** e to the power of entropies. */
  perplexity(): Tensor {
    return this.entropy().exp();
  }

  /** The whole shape of samples. */
  protected extended(shape: SampleShape): SampleShape {
    return [...shape, ...this.batchShape, ...this.eventShape];
  }

  toString(): string {
    return `${this.constructor.name}(batchShape: [${this.batchShape}], eventShape: [${this.eventShape}])`;
  }
}

/** Standard normal samples of a shape, like a tensor. */
export function standardNormal(shape: SampleShape, { dtype, device }: Tensor): Tensor {
  return ops.randn([...shape], { dtype, device });
}

/** Samples in (0, 1), like a tensor: never 0. */
export function uniform01(shape: SampleShape, { dtype, device }: Tensor): Tensor {
  const tiny = dtype === "float64" ? 2 ** -53 : 2 ** -24;
  return ops.clamp(ops.rand([...shape], { dtype, device }), tiny, 1 - tiny);
}

/** Sums over the last dimensions. */
export function sumRightmost(value: Tensor, count: number): Tensor {
  return count === 0 ? value : value.sum(Array.from({ length: count }, (_, k) => value.ndim - count + k));
}

/** log(1 + eˣ), to the last digit wherever x is. */
export const softplus = (x: Tensor): Tensor => ops.clamp(x, 0, null).add(x.abs().neg().exp().log1p());

/** log of the beta function. */
export const logBeta = (a: Tensor, b: Tensor): Tensor => a.lgamma().add(b.lgamma()).sub(a.add(b).lgamma());
