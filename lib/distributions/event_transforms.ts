/**
 * Transforms of vectors and matrices: onto simplices, triangular factors, correlations and covariances. Invariants are
 * those of `Transform`.
 */
import { DynError } from "../base/errors.ts";
import { finfo } from "../base/type_info.ts";
import { ops } from "../tensor/eager.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Constraint, corrCholesky, lowerCholesky, positiveDefinite, simplex } from "./constraints.ts";
import { softplus } from "./distribution.ts";
import { Transform } from "./transform.ts";

const smallest = (x: Tensor): number => finfo(x.dtype).tiny;

/** Probabilities without 0 and 1, whose logits are infinite. */
export function inside(probs: Tensor): Tensor {
  const { tiny, eps } = finfo(probs.dtype);
  return probs.clamp(tiny, 1 - eps);
}

/** Maps vectors onto the simplex by a softmax; not bijective, as adding a constant changes nothing. */
export class SoftmaxTransform extends Transform {
  /** Dimensions of one event. */
  override readonly eventDim = 1;
  /** Whether it is bijective. */
  override readonly bijective = false;

  /** The set of their images. */
  override get codomain(): Constraint {
    return simplex;
  }

  /** The image of a value. */
  protected override image(x: Tensor): Tensor {
    return ops.softmax(x, -1);
  }

  /** The value of an image. */
  protected override preimage(y: Tensor): Tensor {
    return y.log();
  }

  /** Throws DynError: it is not bijective. */
  override logAbsDetJacobian(): Tensor {
    throw new DynError("Expected a transform that can be inverted but found SoftmaxTransform");
  }
}

/** Maps vectors of n − 1 numbers onto the simplex of size n, splitting off one part after another. */
export class StickBreakingTransform extends Transform {
  /** Dimensions of one event. */
  override readonly eventDim = 1;

  /** The set of their images. */
  override get codomain(): Constraint {
    return simplex;
  }

  /** The image of a value. */
  protected override image(x: Tensor): Tensor {
    const z = inside(x.sub(remaining(x, 1).log()).sigmoid()), left = z.neg().add(1).cumprod(-1);
    return ops.constantPadNd(z, [0, 1], 1).mul(ops.constantPadNd(left, [1, 0], 1));
  }

  /** The value of an image. */
  protected override preimage(y: Tensor): Tensor {
    const first = y.narrow(-1, 0, (y.shape.at(-1) ?? 1) - 1);
    const left = first.cumsum(-1).neg().add(1).clamp({ min: smallest(y) });
    return first.log().sub(left.log()).add(remaining(first, 1).log());
  }

  /** Returns the log determinant of the Jacobian. */
  override logAbsDetJacobian(given: Tensor, y: Tensor): Tensor {
    const x = given.sub(remaining(given, 1).log()), first = y.narrow(-1, 0, (y.shape.at(-1) ?? 1) - 1);
    return ops.logsigmoid(x).sub(x).add(first.log()).sum(-1);
  }

  /** The shape of the images of values with a shape. */
  override forwardShape(shape: readonly number[]): readonly number[] {
    return grown(shape, 1);
  }

  /** The shape of the values whose images have a shape. */
  override inverseShape(shape: readonly number[]): readonly number[] {
    return grown(shape, -1);
  }
}

/** For each position of a vector, the number of entries from there on, plus `more`. */
function remaining(x: Tensor, more: number): Tensor {
  return ops.onesLike(x).cumsum(-1).neg().add((x.shape.at(-1) ?? 0) + more);
}

function grown(shape: readonly number[], by: number): readonly number[] {
  const last = shape.at(-1);
  if (last === undefined) throw new DynError("Expected vectors but found a shape without dimensions");
  return [...shape.slice(0, -1), last + by];
}

/** Maps matrices onto lower triangular ones with a positive diagonal. */
export class LowerCholeskyTransform extends Transform {
  /** Dimensions of one event. */
  override readonly eventDim: number = 2;
  /** Whether it is bijective: it ignores half of each matrix. */
  override readonly bijective = false;

  /** The set of their images. */
  override get codomain(): Constraint {
    return lowerCholesky;
  }

  /** The image of a value. */
  protected override image(x: Tensor): Tensor {
    return x.tril(-1).add(ops.diagEmbed(x.diagonal(0, -2, -1).exp()));
  }

  /** The value of an image. */
  protected override preimage(y: Tensor): Tensor {
    return y.tril(-1).add(ops.diagEmbed(y.diagonal(0, -2, -1).log()));
  }

  /** Throws DynError: it ignores half of each matrix. */
  override logAbsDetJacobian(): Tensor {
    throw new DynError(
      `Expected a transform whose log-determinant is known but found ${this.constructor.name}`,
    );
  }
}

/** Maps matrices onto positive definite ones. */
export class PositiveDefiniteTransform extends LowerCholeskyTransform {
  /** The set of their images. */
  override get codomain(): Constraint {
    return positiveDefinite;
  }

  /** The image of a value. */
  protected override image(x: Tensor): Tensor {
    const factor = super.image(x);
    return factor.matmul(factor.mT);
  }

  /** The value of an image. */
  protected override preimage(y: Tensor): Tensor {
    return super.preimage(ops.cholesky(y));
  }
}

/** Maps vectors of n(n − 1)/2 numbers onto Cholesky factors of n × n correlation matrices (Lewandowski et al. 2009). */
export class CorrCholeskyTransform extends Transform {
  /** Dimensions of one event of the domain. */
  override get domainDim(): number {
    return 1;
  }

  /** Dimensions of one event of the codomain. */
  override get codomainDim(): number {
    return 2;
  }

  /** The set of their images. */
  override get codomain(): Constraint {
    return corrCholesky;
  }

  /** The image of a value. */
  protected override image(x: Tensor): Tensor {
    const { eps } = finfo(x.dtype), r = belowDiagonal(x.tanh().clamp(eps - 1, 1 - eps));
    const left = r.square().neg().add(1).sqrt().cumprod(-1), n = left.shape.at(-1) ?? 1;
    const unit = ops.eye(n, null, { dtype: x.dtype, device: x.device });
    return r.add(unit).mul(ops.constantPadNd(left.narrow(-1, 0, n - 1), [1, 0], 1));
  }

  /** The value of an image. */
  protected override preimage(y: Tensor): Tensor {
    const n = y.shape.at(-1) ?? 1, left = y.square().cumsum(-1).neg().add(1);
    const before = ops.constantPadNd(left.narrow(-1, 0, n - 1), [1, 0], 1);
    const t = entriesBelow(y, -1).div(entriesBelow(before, -1).sqrt());
    return t.log1p().sub(t.neg().log1p()).div(2);
  }

  /** Returns the log determinant of the Jacobian. */
  override logAbsDetJacobian(x: Tensor, y: Tensor): Tensor {
    const left = entriesBelow(y.square().cumsum(-1).neg().add(1), -2);
    const growth = x.add(softplus(x.mul(-2))).sub(Math.LN2).sum(-1).mul(-2);
    return left.log().sum(-1).mul(0.5).add(growth);
  }

  /** The shape of the images of values with a shape. */
  override forwardShape(shape: readonly number[]): readonly number[] {
    const n = sizeOf(shape.at(-1) ?? 0);
    return [...shape.slice(0, -1), n, n];
  }

  /** The shape of the values whose images have a shape. */
  override inverseShape(shape: readonly number[]): readonly number[] {
    const n = shape.at(-1) ?? 0;
    if (n !== shape.at(-2)) throw new DynError(`Expected square matrices but found shape [${shape}]`);
    return [...shape.slice(0, -2), n * (n - 1) / 2];
  }
}

/** The size of a matrix with a number of entries below its diagonal. Throws DynError if there is none. */
function sizeOf(entries: number): number {
  const n = (1 + Math.sqrt(1 + 8 * entries)) / 2;
  if (Number.isInteger(n)) return n;
  throw new DynError(`Expected n(n − 1)/2 entries below a diagonal but found ${entries}`);
}

/** Matrices with the given entries below the diagonal, in row-major order, and zeros elsewhere. */
function belowDiagonal(entries: Tensor): Tensor {
  const n = sizeOf(entries.shape.at(-1) ?? 0), rows: Tensor[] = [];
  for (let i = 0, at = 0; i < n; at += i, i++) {
    rows.push(ops.constantPadNd(entries.narrow(-1, at, i), [0, n - i], 0));
  }
  return ops.stack(rows, -2);
}

/** The entries of matrices on and below a diagonal, in row-major order. */
function entriesBelow(matrices: Tensor, diagonal: number): Tensor {
  const n = matrices.shape.at(-1) ?? 0, rows: Tensor[] = [matrices.select(-2, 0).narrow(-1, 0, 0)];
  for (let i = 0; i < n; i++) {
    if (i + diagonal + 1 > 0) rows.push(matrices.select(-2, i).narrow(-1, 0, i + diagonal + 1));
  }
  return ops.cat(rows, -1);
}
