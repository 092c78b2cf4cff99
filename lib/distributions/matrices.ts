/** Distributions of matrices: covariance matrices, and Cholesky factors of correlation matrices. */
import { type Arguments, argumentsOf } from "../base/arguments.ts";
import { checkInteger } from "../base/checked_numbers.ts";
import { ops } from "../tensor/eager.ts";
import type { Tensor } from "../tensor/tensor.ts";
import {
  type ArgConstraints,
  type Constraint,
  corrCholesky,
  positive,
  positiveDefinite,
} from "./constraints.ts";
import { checkParameters, type Validation } from "./checked_parameters.ts";
import {
  broadcastAll,
  Distribution,
  type Parameter,
  type SampleShape,
  standardNormal,
} from "./distribution.ts";
import { Beta } from "./gamma.ts";
import { COVARIANCE, type Covariance, type CovarianceForms, covarianceOf } from "./normal.ts";
import { standardGamma } from "./standard_gamma.ts";

/** The numbers from 0 to count − 1, in a tensor's type. */
const counted = (count: number, { dtype, device }: Tensor): Tensor =>
  ops.arange(0, count, 1, { dtype, device });

/** The sum of digamma(x − k/2) over k < count: the derivative of `mvlgamma`. */
export const mvdigamma = (x: Tensor, count: number): Tensor =>
  x.unsqueeze(-1).sub(counted(count, x).div(2)).digamma().sum(-1);

/** The distribution of the scatter matrix of `df` normal vectors, as `torch.distributions.Wishart`. */
export class Wishart extends Distribution {
  override readonly hasRsample = true;
  override readonly argConstraints: ArgConstraints = { df: positive, ...COVARIANCE };
  readonly df: Tensor;
  /** The lower Cholesky factor of the covariance of the vectors. */
  readonly scaleTril: Tensor;
  /** The form of the covariance that was given. */
  protected readonly form: CovarianceForms[number];

  /**
   * Takes `df` > n − 1, and the vectors' covariance, its inverse or its lower Cholesky factor [..., n, n], by position in
   * this order or by name.
   */
  constructor(...given: Covariance<"df", Parameter>) {
    const { df, form, factor, validateArgs } = covarianceOf<{ readonly df: Parameter }>(
      new.target.name,
      "df",
      given,
    );
    const [size = 1] = factor.shape.slice(-1);
    const [degrees] = broadcastAll(df, factor.detach().select(-1, 0).select(-1, 0));
    super(degrees.shape, [size, size], validateArgs);
    [this.df, this.form] = [degrees, form];
    this.scaleTril = ops.expand(factor, [...degrees.shape, size, size]);
    checkParameters({ "df − (n − 1)": degrees.sub(size - 1) }, { "df − (n − 1)": positive }, {
      name: "Wishart",
      validateArgs,
    });
  }

  protected override get printed(): readonly string[] {
    return ["df", this.form];
  }

  get covarianceMatrix(): Tensor {
    return this.scaleTril.matmul(this.scaleTril.mT);
  }

  get precisionMatrix(): Tensor {
    return ops.choleskyInverse(this.scaleTril);
  }

  get mean(): Tensor {
    return this.covarianceMatrix.mul(this.matrices(this.df));
  }

  override get mode(): Tensor {
    const factor = this.df.sub(this.size + 1);
    return this.covarianceMatrix.mul(this.matrices(ops.where(factor.gt(0), factor, NaN)));
  }

  get variance(): Tensor {
    const matrix = this.covarianceMatrix, diagonal = matrix.diagonal(0, -2, -1);
    return matrix.square().add(diagonal.unsqueeze(-1).mul(diagonal.unsqueeze(-2))).mul(
      this.matrices(this.df),
    );
  }

  /** The set of positive definite matrices. */
  override get support(): Constraint {
    return positiveDefinite;
  }

  /** Samples by Bartlett's decomposition. */
  protected draw(shape: SampleShape): Tensor {
    const degrees = this.df.unsqueeze(-1).sub(counted(this.size, this.df));
    const lengths = standardGamma(degrees.div(2), shape.slice(0, -1)).mul(2).sqrt();
    const noise = standardNormal(shape, this.df).tril(-1).add(ops.diagEmbed(lengths));
    const factor = this.scaleTril.matmul(noise);
    return factor.matmul(factor.mT);
  }

  protected override logDensity(value: Tensor): Tensor {
    const size = this.size,
      half = this.df.div(2),
      [whole, factor] = broadcastAll(value, this.scaleTril);
    const trace = ops.choleskySolve(whole, factor).diagonal(0, -2, -1).sum(-1);
    return ops.slogdet(value)[1].mul(this.df.sub(size + 1).div(2)).sub(trace.div(2))
      .sub(this.halfLogDeterminant().add(0.5 * size * Math.LN2).mul(this.df)).sub(ops.mvlgamma(half, size));
  }

  protected override computedEntropy(): Tensor {
    const size = this.size, half = this.df.div(2);
    return this.halfLogDeterminant().add(0.5 * size * Math.LN2).mul(size + 1).add(ops.mvlgamma(half, size))
      .sub(this.df.sub(size + 1).div(2).mul(mvdigamma(half, size))).add(half.mul(size));
  }

  private get size(): number {
    return this.eventShape[0] ?? 1;
  }

  private matrices(each: Tensor): Tensor {
    return each.unsqueeze(-1).unsqueeze(-1);
  }

  private halfLogDeterminant(): Tensor {
    return this.scaleTril.diagonal(0, -2, -1).log().sum(-1);
  }
}

/** The concentration of matrices, and the validation. */
interface Concentration extends Validation {
  readonly concentration?: Parameter | undefined;
}

/** The number of rows, then the concentration, by position or by name. */
type Correlations = Arguments<
  { readonly dim: number },
  Concentration,
  { readonly required: readonly ["dim"]; readonly positional: readonly ["concentration", "validateArgs"] }
>;

/**
 * The distribution of lower Cholesky factors of correlation matrices whose density is proportional to
 * det^(concentration − 1), uniform for 1, as `torch.distributions.LKJCholesky`. Samples have this density for any
 * `dim`; those of PyTorch 2.15 have too long rows from the third on.
 */
export class LKJCholesky extends Distribution {
  override readonly argConstraints: ArgConstraints = { concentration: positive };
  /** The number of rows, at least 2. */
  readonly dim: number;
  readonly concentration: Tensor;
  /** The distribution of the squared length of each row below the diagonal. */
  protected readonly lengths: Beta;

  /** Takes `dim`, and the concentration, 1 by default. */
  constructor(...given: Correlations) {
    const { dim, concentration = 1, validateArgs } = argumentsOf<{ readonly dim: number }, Concentration>(
      new.target.name,
      { required: ["dim"], positional: ["concentration", "validateArgs"], flags: { validateArgs: true } },
      given,
    );
    checkInteger("dim of LKJCholesky", dim, 2);
    const [c] = broadcastAll(concentration);
    super(c.shape, [dim, dim], validateArgs);
    [this.dim, this.concentration] = [dim, c];
    checkParameters(this, this.argConstraints, { validateArgs });
    const rows = ops.clamp(counted(dim, c).sub(1), 0, null);
    this.lengths = new Beta(rows.add(1).div(2), c.add(0.5 * (dim - 2)).unsqueeze(-1).sub(rows.div(2)));
  }

  protected override get printed(): readonly string[] {
    return ["dim", "concentration"];
  }

  get mean(): Tensor {
    return this.unknown("mean");
  }

  get variance(): Tensor {
    return this.unknown("variance");
  }

  /** The Cholesky factors of correlation matrices. */
  override get support(): Constraint {
    return corrCholesky;
  }

  /** Samples the direction and length of rows (Lewandowski, Kurowicka and Joe 2009, the onion method). */
  protected draw(shape: SampleShape): Tensor {
    const squares = this.lengths.sample(shape.slice(0, shape.length - 2 - this.batchShape.length)).unsqueeze(
      -1,
    );
    const apart = standardNormal(shape, this.concentration).tril(-1),
      length = ops.vectorNorm(apart, 2, -1, true);
    // The first row has no direction
    const below = apart.div(ops.where(length.gt(0), length, 1)).mul(squares.sqrt());
    const rest = ops.clamp(below.square().sum(-1).neg().add(1), 1e-30, null).sqrt();
    return below.add(ops.diagEmbed(rest));
  }

  protected override logDensity(value: Tensor): Tensor {
    const { dim, concentration } = this, rows = counted(dim - 1, concentration).add(2);
    const order = concentration.sub(1).mul(2).unsqueeze(-1).sub(rows).add(dim);
    const diagonal = value.diagonal(0, -2, -1).narrow(-1, 1, dim - 1);
    const density = diagonal.log().mul(order).sum(-1), alpha = concentration.add(0.5 * (dim - 1));
    return density.sub(ops.mvlgamma(alpha.sub(0.5), dim - 1)).add(alpha.lgamma().mul(dim - 1))
      .sub(0.5 * (dim - 1) * Math.log(Math.PI));
  }
}
