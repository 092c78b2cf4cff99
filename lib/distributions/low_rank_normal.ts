/** Normal vectors whose covariance is the sum of a low-rank and a diagonal matrix. */
import { ops } from "../tensor/eager.ts";
import type { Tensor } from "../tensor/tensor.ts";
import {
  type ArgConstraints,
  type Constraint,
  independent,
  positive,
  real,
  realVector,
} from "./constraints.ts";
import { checkParameters } from "./checked_parameters.ts";
import { type ValidatedArguments, validatedArguments } from "./given_parameters.ts";
import { Distribution, floating, type SampleShape, standardNormal, vectors } from "./distribution.ts";

const LOG_2PI = Math.log(2 * Math.PI);

/** Arguments of LowRankMultivariateNormal. */
interface LowRank {
  readonly loc: Tensor;
  readonly covFactor: Tensor;
  readonly covDiag: Tensor;
}

/**
 * Normal vectors with covariance W · Wᵀ + diag(D), as `torch.distributions.LowRankMultivariateNormal`. Densities solve
 * systems of the size of W's rank, not of an event.
 */
export class LowRankMultivariateNormal extends Distribution {
  override readonly hasRsample = true;
  override readonly argConstraints: ArgConstraints = {
    loc: realVector,
    covFactor: independent(real, 2),
    covDiag: independent(positive, 1),
  };
  readonly loc: Tensor;
  /** W, of shape [..., n, rank]. */
  readonly covFactor: Tensor;
  /** D, of shape [..., n]. */
  readonly covDiag: Tensor;
  /** The lower Cholesky factor of I + Wᵀ · D⁻¹ · W. */
  protected readonly capacitanceTril: Tensor;

  /** Takes `loc` [..., n], `covFactor` [..., n, rank] and the positive `covDiag` [..., n]. */
  constructor(...given: ValidatedArguments<LowRank, ["loc", "covFactor", "covDiag"]>) {
    const { loc, covFactor, covDiag, validateArgs } = validatedArguments<LowRank>(new.target.name, [
      "loc",
      "covFactor",
      "covDiag",
    ], given);
    const l = vectors(loc, "loc"), W = floating(covFactor), D = vectors(covDiag, "covDiag");
    const [size = 1, rank = 1] = W.shape.slice(-2);
    const both = ops.add(l.detach(), D.detach());
    const batch = ops.add(both.select(-1, 0), W.detach().select(-1, 0).select(-1, 0)).shape;
    super(batch, [size], validateArgs);
    this.loc = ops.expand(l, [...batch, size]);
    this.covFactor = ops.expand(W, [...batch, size, rank]);
    this.covDiag = ops.expand(D, [...batch, size]);
    checkParameters(this, this.argConstraints, { validateArgs });
    const eye = ops.eye(rank, { dtype: W.dtype, device: W.device });
    this.capacitanceTril = ops.cholesky(this.covFactor.mT.matmul(this.overDiag(this.covFactor)).add(eye));
  }

  protected override get printed(): readonly string[] {
    return ["loc", "covFactor", "covDiag"];
  }

  get mean(): Tensor {
    return this.loc;
  }

  override get mode(): Tensor {
    return this.loc;
  }

  get variance(): Tensor {
    return this.covFactor.square().sum(-1).add(this.covDiag);
  }

  get covarianceMatrix(): Tensor {
    return this.covFactor.matmul(this.covFactor.mT).add(ops.diagEmbed(this.covDiag));
  }

  /** The inverse of the covariance, by Woodbury's identity. */
  get precisionMatrix(): Tensor {
    const inner = ops.solveTriangular(this.capacitanceTril, this.overDiag(this.covFactor).mT, false);
    return ops.diagEmbed(this.covDiag.reciprocal()).sub(inner.mT.matmul(inner));
  }

  /** The lower Cholesky factor of the covariance. */
  get scaleTril(): Tensor {
    return ops.cholesky(this.covarianceMatrix);
  }

  override get support(): Constraint {
    return realVector;
  }

  protected draw(shape: SampleShape): Tensor {
    const [rank = 1] = this.covFactor.shape.slice(-1);
    const along = standardNormal([...shape.slice(0, -1), rank], this.loc).unsqueeze(-1);
    return this.loc.add(this.covFactor.matmul(along).squeeze(-1))
      .add(standardNormal(shape, this.loc).mul(this.covDiag.sqrt()));
  }

  protected override logDensity(value: Tensor): Tensor {
    const [size = 1] = this.eventShape, apart = value.sub(this.loc);
    const along = this.covFactor.mT.matmul(apart.div(this.covDiag).unsqueeze(-1));
    const factor = ops.expand(this.capacitanceTril, [...along.shape.slice(0, -1), along.shape.at(-2) ?? 1]);
    const inner = ops.solveTriangular(factor, along, false).squeeze(-1).square().sum(-1);
    const distance = apart.square().div(this.covDiag).sum(-1).sub(inner);
    return distance.add(size * LOG_2PI).mul(-0.5).sub(this.halfLogDeterminant());
  }

  protected override computedEntropy(): Tensor {
    const [size = 1] = this.eventShape;
    return this.halfLogDeterminant().add(0.5 * size * (1 + LOG_2PI));
  }

  private overDiag(matrix: Tensor): Tensor {
    return matrix.div(this.covDiag.unsqueeze(-1));
  }

  private halfLogDeterminant(): Tensor {
    return this.capacitanceTril.diagonal(0, -2, -1).log().sum(-1).add(this.covDiag.log().sum(-1).mul(0.5));
  }
}
