/** Normal and related distributions. */
import type { Arguments } from "../base/arguments.ts";
import { DynError } from "../base/errors.ts";
import { ops } from "../tensor/eager.ts";
import type { Tensor } from "../tensor/tensor.ts";
import {
  type ArgConstraints,
  Constraint,
  interval,
  lowerCholesky,
  nonnegative,
  positive,
  positiveDefinite,
  real,
  realVector,
} from "./constraints.ts";
import { formOf, type OneForm, type ParametersOf, parametersOf } from "./given_parameters.ts";
import { checkParameters, type Validation } from "./checked_parameters.ts";
import {
  Distribution,
  floating,
  type SampleShape,
  standardNormal,
  uniform01,
  vectors,
} from "./distribution.ts";
import { LocationScale } from "./location_scale.ts";

const LOG_2PI = Math.log(2 * Math.PI);

/** The normal distribution, as `torch.distributions.Normal`. */
export class Normal extends LocationScale {
  get mean(): Tensor {
    return this.loc;
  }

  get variance(): Tensor {
    return this.scale.square();
  }

  override get support(): Constraint {
    return real;
  }

  protected draw(shape: SampleShape): Tensor {
    return this.loc.add(standardNormal(shape, this.loc).mul(this.scale));
  }

  protected override logDensity(value: Tensor): Tensor {
    return value.sub(this.loc).div(this.scale).square().mul(-0.5).sub(this.scale.log()).sub(LOG_2PI / 2);
  }

  protected override computedEntropy(): Tensor {
    return this.scale.log().add(0.5 + LOG_2PI / 2);
  }

  protected override cumulative(value: Tensor): Tensor {
    return value.sub(this.loc).div(this.scale.mul(Math.SQRT2)).erf().add(1).mul(0.5);
  }

  protected override quantile(probability: Tensor): Tensor {
    return this.loc.add(this.scale.mul(probability.mul(2).sub(1).erfinv()).mul(Math.SQRT2));
  }
}

/** The distribution of absolute values of a normal variable around 0, as `torch.distributions.HalfNormal`. */
export class HalfNormal extends Distribution {
  override readonly hasRsample = true;
  override readonly argConstraints: ArgConstraints = { scale: positive };
  readonly baseDist: Normal;

  constructor(...given: ParametersOf<["scale"]>) {
    const { tensors: [scale], validateArgs } = parametersOf(new.target.name, ["scale"], given);
    const base = new Normal(0, scale, validateArgs);
    super(base.batchShape, [], base.validateArgs);
    this.baseDist = base;
  }

  get scale(): Tensor {
    return this.baseDist.scale;
  }

  get mean(): Tensor {
    return this.scale.mul(Math.sqrt(2 / Math.PI));
  }

  get variance(): Tensor {
    return this.scale.square().mul(1 - 2 / Math.PI);
  }

  override get mode(): Tensor {
    return ops.zerosLike(this.scale);
  }

  override get support(): Constraint {
    return nonnegative;
  }

  protected draw(shape: SampleShape): Tensor {
    return standardNormal(shape, this.scale).mul(this.scale).abs();
  }

  protected override logDensity(value: Tensor): Tensor {
    return ops.where(value.ge(0), this.baseDist.logProb(value).add(Math.LN2), -Infinity);
  }

  protected override computedEntropy(): Tensor {
    return this.baseDist.entropy().sub(Math.LN2);
  }

  protected override cumulative(value: Tensor): Tensor {
    return this.baseDist.cdf(value).mul(2).sub(1);
  }

  protected override quantile(probability: Tensor): Tensor {
    return this.baseDist.icdf(probability.add(1).div(2));
  }
}

/** The distribution of eˣ for a normal variable x, as `torch.distributions.LogNormal`. */
export class LogNormal extends Distribution {
  override readonly hasRsample = true;
  override readonly argConstraints: ArgConstraints = { loc: real, scale: positive };
  readonly baseDist: Normal;

  constructor(...given: ParametersOf<["loc", "scale"]>) {
    const base = new Normal(...given);
    super(base.batchShape, [], base.validateArgs);
    this.baseDist = base;
  }

  get loc(): Tensor {
    return this.baseDist.loc;
  }

  get scale(): Tensor {
    return this.baseDist.scale;
  }

  get mean(): Tensor {
    return this.loc.add(this.scale.square().div(2)).exp();
  }

  get variance(): Tensor {
    const square = this.scale.square();
    return square.expm1().mul(this.loc.mul(2).add(square).exp());
  }

  override get mode(): Tensor {
    return this.loc.sub(this.scale.square()).exp();
  }

  override get support(): Constraint {
    return positive;
  }

  protected draw(shape: SampleShape): Tensor {
    return this.loc.add(standardNormal(shape, this.loc).mul(this.scale)).exp();
  }

  protected override logDensity(value: Tensor): Tensor {
    const log = value.log();
    return this.baseDist.logProb(log).sub(log);
  }

  protected override computedEntropy(): Tensor {
    return this.baseDist.entropy().add(this.loc);
  }

  protected override cumulative(value: Tensor): Tensor {
    return this.baseDist.cdf(value.log());
  }

  protected override quantile(probability: Tensor): Tensor {
    return this.baseDist.icdf(probability).exp();
  }
}

/** Forms of a covariance, in PyTorch's order. */
export type CovarianceForms = readonly ["covarianceMatrix", "precisionMatrix", "scaleTril"];

const COVARIANCE_FORMS: CovarianceForms = ["covarianceMatrix", "precisionMatrix", "scaleTril"];

/** A covariance in one of its forms, and the validation. */
type GivenCovariance = OneForm<CovarianceForms[number], Tensor> & Validation;

/** A parameter `N` of type `P`, then a covariance in one of its forms, by position or by name. */
export type Covariance<N extends string, P> = Arguments<
  { readonly [K in N]: P },
  GivenCovariance,
  { readonly required: readonly [N]; readonly positional: readonly [...CovarianceForms, "validateArgs"] }
>;

/** Constraints of each form of a covariance. */
export const COVARIANCE: ArgConstraints = {
  covarianceMatrix: positiveDefinite,
  precisionMatrix: positiveDefinite,
  scaleTril: lowerCholesky,
};

/**
 * Returns the arguments of `owner`: the one before the covariance, the form of the covariance, and its lower Cholesky factor.
 * Throws DynError unless the covariance is given in one form, and for a matrix that is none of this form.
 */
export function covarianceOf<R extends object>(
  owner: string,
  first: keyof R & string,
  given: readonly unknown[],
): R & Validation & { readonly form: CovarianceForms[number]; readonly factor: Tensor } {
  const found = formOf<R, GivenCovariance, CovarianceForms[number]>(
    owner,
    { required: [first], positional: [...COVARIANCE_FORMS, "validateArgs"], forms: COVARIANCE_FORMS },
    given,
  );
  const { form, validateArgs } = found, value = floating(found.value);
  if (value.ndim < 2) {
    throw new DynError(`Expected ${form} of ${owner} to be matrices but found [${value.shape}]`);
  }
  const wanted = Object.entries(COVARIANCE).filter(([name]) => name === form);
  checkParameters({ [form]: value }, Object.fromEntries(wanted), { name: owner, validateArgs });
  return { ...found, factor: factorOf(form, value) };
}

/** The lower Cholesky factor of a covariance. */
function factorOf(form: CovarianceForms[number], matrix: Tensor): Tensor {
  if (form === "scaleTril") return matrix;
  if (form === "covarianceMatrix") return ops.cholesky(matrix);
  // The factor of an inverse without computing the inverse: flip the matrix, factor, transpose and flip again
  const turned = ops.cholesky(ops.flip(matrix, [-2, -1]));
  const upper = ops.flip(turned, [-2, -1]).mT;
  const one = ops.eye(Number(upper.shape.at(-1)), { dtype: upper.dtype, device: upper.device });
  return ops.solveTriangular(upper, ops.expand(one, upper.shape), false);
}

/** Correlated normal vectors, as `torch.distributions.MultivariateNormal`. */
export class MultivariateNormal extends Distribution {
  override readonly hasRsample = true;
  override readonly argConstraints: ArgConstraints = { loc: realVector, ...COVARIANCE };
  readonly loc: Tensor;
  /** The lower Cholesky factor of the covariance. */
  readonly scaleTril: Tensor;
  /** The form of the covariance that was given. */
  protected readonly form: CovarianceForms[number];

  /**
   * Takes `loc` [..., n], and the covariance, its inverse or its lower Cholesky factor [..., n, n], by position in this
   * order or by name.
   */
  constructor(...given: Covariance<"loc", Tensor>) {
    const { loc: each, form, factor, validateArgs } = covarianceOf<{ readonly loc: Tensor }>(
      new.target.name,
      "loc",
      given,
    );
    const loc = vectors(each, "loc"),
      [size = 1] = loc.shape.slice(-1);
    const batch = ops.add(loc.detach().select(-1, 0), factor.detach().select(-1, 0).select(-1, 0)).shape;
    super(batch, [size], validateArgs);
    [this.loc, this.form] = [ops.expand(loc, [...batch, size]), form];
    this.scaleTril = ops.expand(factor, [...batch, size, size]);
    checkParameters(this, { loc: realVector }, { validateArgs });
  }

  protected override get printed(): readonly string[] {
    return ["loc", this.form];
  }

  get mean(): Tensor {
    return this.loc;
  }

  get covarianceMatrix(): Tensor {
    return this.scaleTril.matmul(this.scaleTril.mT);
  }

  get precisionMatrix(): Tensor {
    return ops.choleskyInverse(this.scaleTril);
  }

  get variance(): Tensor {
    return this.scaleTril.square().sum(-1);
  }

  override get mode(): Tensor {
    return this.loc;
  }

  override get support(): Constraint {
    return realVector;
  }

  protected draw(shape: SampleShape): Tensor {
    const noise = standardNormal(shape, this.loc).unsqueeze(-1);
    return this.loc.add(this.scaleTril.matmul(noise).squeeze(-1));
  }

  protected override logDensity(value: Tensor): Tensor {
    const [size = 1] = this.eventShape, apart = value.sub(this.loc).unsqueeze(-1);
    const factor = ops.expand(this.scaleTril, [...apart.shape.slice(0, -1), size]);
    const white = ops.solveTriangular(factor, apart, false).squeeze(-1);
    return white.square().sum(-1).add(size * LOG_2PI).mul(-0.5).sub(this.halfLogDeterminant());
  }

  protected override computedEntropy(): Tensor {
    const [size = 1] = this.eventShape;
    return this.halfLogDeterminant().add(0.5 * size * (1 + LOG_2PI));
  }

  private halfLogDeterminant(): Tensor {
    return this.scaleTril.diagonal(0, -2, -1).log().sum(-1);
  }
}

/** The uniform distribution over [low, high), as `torch.distributions.Uniform`. */
export class Uniform extends Distribution {
  override readonly hasRsample = true;
  override readonly argConstraints: ArgConstraints = { low: real, high: real };
  readonly low: Tensor;
  readonly high: Tensor;

  constructor(...given: ParametersOf<["low", "high"]>) {
    const { tensors: [l, h], validateArgs } = parametersOf(new.target.name, ["low", "high"], given);
    super(l.shape, [], validateArgs);
    [this.low, this.high] = [l, h];
    checkParameters(this, { low: real, high: new Constraint("above low", (x) => x.gt(l)) }, { validateArgs });
  }

  get mean(): Tensor {
    return this.low.add(this.high).div(2);
  }

  get variance(): Tensor {
    return this.high.sub(this.low).square().div(12);
  }

  override get mode(): Tensor {
    // All values are equally likely
    return ops.fullLike(this.high, NaN);
  }

  override get support(): Constraint {
    return interval(this.low, this.high);
  }

  protected draw(shape: SampleShape): Tensor {
    return this.low.add(uniform01(shape, this.low).mul(this.high.sub(this.low)));
  }

  protected override logDensity(value: Tensor): Tensor {
    const inside = value.ge(this.low).logicalAnd(value.lt(this.high));
    return ops.where(inside, this.high.sub(this.low).log().neg(), -Infinity);
  }

  protected override computedEntropy(): Tensor {
    return this.high.sub(this.low).log();
  }

  protected override cumulative(value: Tensor): Tensor {
    return value.sub(this.low).div(this.high.sub(this.low));
  }

  protected override quantile(probability: Tensor): Tensor {
    return this.low.add(probability.mul(this.high.sub(this.low)));
  }
}
