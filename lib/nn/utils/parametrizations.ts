/**
 * Parametrizations that are known by name: the namespace `nn.utils.parametrizations`, as torch.nn.utils.parametrizations.
 * Input: a module and the name of its weight; output: the module, whose weight is normalised or orthogonal.
 */
import { type Trailing, trailing } from "../../base/arguments.ts";
import { DynError } from "../../base/errors.ts";
import { cat, diagEmbed, eye, geqrf, randn, zeros } from "../../tensor/generated_functions.ts";
import { householderProduct, matrixExp, qr, solve, vectorNorm } from "../../tensor/generated_linalg.ts";
import { normalize } from "../../tensor/generated_functional.ts";
import { noGrad } from "../../tensor/modes.ts";
import { isTensor, type Tensor } from "../../tensor/tensor.ts";
import { ConvTranspose1d, ConvTranspose2d, ConvTranspose3d } from "../conv.ts";
import { Module } from "../module.ts";
import { registerParametrization } from "./parametrize.ts";

/** The norm over all dimensions but one; over all for −1. */
function normExcept(v: Tensor, dim: number): Tensor {
  if (dim === -1) return vectorNorm(v, 2);
  return vectorNorm(v, 2, v.shape.map((_, d) => d).filter((d) => d !== dim), true);
}

/** Length times direction. */
class WeightNorm extends Module {
  constructor(readonly dim: number) {
    super();
  }

  override forward(length: Tensor, direction: Tensor): Tensor {
    return direction.mul(length.div(normExcept(direction, this.dim)));
  }

  rightInverse(weight: Tensor): Tensor[] {
    return [normExcept(weight, this.dim), weight];
  }
}

/** Options of weightNorm. */
export interface WeightNormOptions {
  /** The name of the weight; "weight" unless given. */
  readonly name?: string;
  /** The dimension whose slices have a length each; 0 unless given, null for one length of all. */
  readonly dim?: number | null;
}

const WEIGHT_NORM = ["name", "dim"] as const;

/**
 * Makes a weight the product of its length (`original0`, by the slices of dimension `dim`; one number for null) and its
 * direction (`original1`), as torch.nn.utils.parametrizations.weight_norm.
 */
export function weightNorm<M extends Module>(
  module: M,
  ...given: Trailing<WeightNormOptions, typeof WEIGHT_NORM>
): M {
  const { name = "weight", dim = 0 } = trailing<WeightNormOptions>("weightNorm", WEIGHT_NORM, given);
  return registerParametrization(module, name, new WeightNorm(dim ?? -1), { unsafe: true });
}

/** Options of spectralNorm. */
export interface SpectralOptions {
  /** The name of the weight; "weight" unless given. */
  readonly name?: string;
  /** How often the estimate is improved by each call while training; 1 unless given. */
  readonly nPowerIterations?: number;
  /** The least length that vectors are divided by; 1e-12 unless given. */
  readonly eps?: number;
  /** The dimension of outputs; 0 unless given, 1 of transposed convolutions. */
  readonly dim?: number | null;
}

const SPECTRAL_NORM = ["name", "nPowerIterations", "eps", "dim"] as const;

/** A weight divided by its greatest singular value, which is estimated by power iterations. */
class SpectralNorm extends Module {
  readonly dim: number;
  readonly nPowerIterations: number;
  readonly eps: number;

  constructor(weight: Tensor, { nPowerIterations = 1, eps = 1e-12, dim = 0 }: SpectralOptions) {
    super();
    if (nPowerIterations <= 0) {
      throw new DynError(`Expected a positive nPowerIterations but found ${nPowerIterations}`);
    }
    this.dim = dim ?? 0;
    this.nPowerIterations = nPowerIterations;
    this.eps = eps;
    if (weight.ndim < 2) return;
    noGrad(() => {
      const matrix = this.matrix(weight), place = { dtype: weight.dtype, device: weight.device };
      const [rows = 1, columns = 1] = matrix.shape;
      this.registerBuffer("_u", normalize(randn([rows], place), { dim: 0, eps }));
      this.registerBuffer("_v", normalize(randn([columns], place), { dim: 0, eps }));
      this.improve(matrix, 15);
    });
  }

  private vector(name: "_u" | "_v"): Tensor {
    const found: unknown = Reflect.get(this, name);
    if (isTensor(found)) return found;
    throw new DynError(`Expected the vector ${name} but found none`);
  }

  /** The weight with outputs as rows. */
  private matrix(weight: Tensor): Tensor {
    const others = weight.shape.map((_, d) => d).filter((d) => d !== this.dim);
    return weight.permute([this.dim, ...others]).reshape(weight.shape[this.dim] ?? 1, -1);
  }

  private improve(matrix: Tensor, times: number): void {
    const u = this.vector("_u"), v = this.vector("_v"), { eps } = this;
    for (let i = 0; i < times; i++) {
      u.copy_(normalize(matrix.mv(v), { dim: 0, eps }));
      v.copy_(normalize(matrix.transpose(0, 1).mv(u), { dim: 0, eps }));
    }
  }

  override forward(weight: Tensor): Tensor {
    if (weight.ndim === 1) return normalize(weight, { dim: 0, eps: this.eps });
    const matrix = this.matrix(weight);
    if (this.training) noGrad(() => this.improve(matrix.detach(), this.nPowerIterations));
    // The next call writes to the vectors
    const u = this.vector("_u").clone(), v = this.vector("_v").clone();
    return weight.div(u.dot(matrix.mv(v)));
  }

  rightInverse(weight: Tensor): Tensor {
    return weight;
  }
}

/** Divides a weight by its greatest singular value, as torch.nn.utils.parametrizations.spectral_norm (Miyato et al. 2018). */
export function spectralNorm<M extends Module>(
  module: M,
  ...given: Trailing<SpectralOptions, typeof SPECTRAL_NORM>
): M {
  const { name = "weight", ...options } = trailing<SpectralOptions>("spectralNorm", SPECTRAL_NORM, given);
  const weight: unknown = Reflect.get(module, name);
  if (!isTensor(weight)) throw new DynError(`Expected a parameter or buffer ${name} but found none`);
  const transposed = module instanceof ConvTranspose1d || module instanceof ConvTranspose2d ||
    module instanceof ConvTranspose3d;
  const dim = options.dim ?? (transposed ? 1 : 0);
  return registerParametrization(module, name, new SpectralNorm(weight, { ...options, dim }));
}

/** How orthogonal matrices are made of others. */
export type OrthogonalMap = "matrixExp" | "cayley" | "householder";

/** Options of orthogonal. */
export interface OrthogonalOptions {
  /** The name of the weight; "weight" unless given. */
  readonly name?: string;
  /** "matrixExp" of square weights, else "householder", unless given. */
  readonly orthogonalMap?: OrthogonalMap | null;
  /** Whether the map is of changes to the weight that there is; true unless given. */
  readonly useTrivialization?: boolean;
}

const ORTHOGONAL = ["name", "orthogonalMap", "useTrivialization"] as const;

/** Q with as many columns as A, of the same space, with the signs of A's diagonal. */
function madeOrthogonal(A: Tensor): Tensor {
  const [Q, R] = qr(A);
  return Q.mul(R.diagonal(0, -2, -1).sign().unsqueeze(-2));
}

const ones = (n: number, like: Tensor): Tensor => eye(n, null, { dtype: like.dtype, device: like.device });

/** Matrices with orthonormal rows or columns, whichever are fewer. */
class Orthogonal extends Module {
  base: Tensor | null = null;

  constructor(readonly map: OrthogonalMap, readonly trivialized: boolean) {
    super();
    if (trivialized) this.registerBuffer("base", null);
  }

  override forward(X: Tensor): Tensor {
    const [rows = 1, columns = 1] = X.shape.slice(-2),
      wide = rows < columns,
      tall = wide ? X.transpose(-2, -1) : X;
    const n = Math.max(rows, columns), k = Math.min(rows, columns);
    let Q: Tensor;
    if (this.map === "householder") {
      const A = tall.tril(-1), tau = A.square().sum(-2).add(1).reciprocal().mul(2);
      Q = householderProduct(A, tau).mul(tall.diagonal(0, -2, -1).sign().unsqueeze(-2));
    } else {
      const low = tall.tril(), place = { dtype: X.dtype, device: X.device };
      const square = n === k ? low : cat([low, zeros([...low.shape.slice(0, -1), n - k], place)], -1);
      const skew = square.sub(square.transpose(-2, -1)), unit = ones(n, X);
      const whole = this.map === "matrixExp"
        ? matrixExp(skew)
        : solve(unit.sub(skew.mul(0.5)), unit.add(skew.mul(0.5)));
      Q = n === k ? whole : whole.narrow(-1, 0, k);
    }
    if (this.base) Q = this.base.matmul(Q);
    return wide ? Q.transpose(-2, -1) : Q;
  }

  rightInverse(given: Tensor): Tensor {
    const [rows = 1, columns = 1] = given.shape.slice(-2), wide = rows < columns;
    const tall = wide ? given.transpose(-2, -1) : given,
      n = Math.max(rows, columns),
      k = Math.min(rows, columns);
    let original: Tensor;
    if (this.trivialized) {
      const square = n === k ? tall : cat(
        [tall, randn([...tall.shape.slice(0, -1), n - k], { dtype: tall.dtype, device: tall.device })],
        -1,
      );
      this.base = madeOrthogonal(square).detach();
      // Every map sends the negative of the unit matrix's first columns to those columns
      original = ones(n, tall).narrow(-1, 0, k).neg().expand(tall.shape).contiguous();
    } else {
      if (this.map !== "householder") {
        throw new DynError("Expected useTrivialization for a map that has no right inverse");
      }
      const [A, tau] = geqrf(tall), diagonal = A.diagonal(0, -2, -1), sign = diagonal.sign();
      const signs = sign.mul(tau.eq(0).to(sign.dtype).mul(-2).add(1));
      original = A.sub(embedded(diagonal, n)).add(embedded(signs, n));
    }
    return wide ? original.transpose(-2, -1).contiguous() : original;
  }
}

/** [..., n, k] with [..., k] on the diagonal. */
function embedded(diagonal: Tensor, n: number): Tensor {
  const square = diagEmbed(diagonal), k = diagonal.shape.at(-1) ?? 1;
  if (n === k) return square;
  const place = { dtype: square.dtype, device: square.device };
  return cat([square, zeros([...square.shape.slice(0, -2), n - k, k], place)], -2);
}

/**
 * Makes a weight a matrix with orthonormal rows or columns, whichever are fewer, that stays one while it is trained, as
 * torch.nn.utils.parametrizations.orthogonal; it begins as the orthogonal matrix that belongs to the weight.
 */
export function orthogonal<M extends Module>(
  module: M,
  ...given: Trailing<OrthogonalOptions, typeof ORTHOGONAL>
): M {
  const { name = "weight", ...options } = trailing<OrthogonalOptions>("orthogonal", ORTHOGONAL, given);
  const weight: unknown = Reflect.get(module, name);
  if (!isTensor(weight) || weight.ndim < 2) {
    throw new DynError(`Expected a weight ${name} of at least 2 dimensions but found none`);
  }
  const square = weight.shape.at(-1) === weight.shape.at(-2);
  const map = options.orthogonalMap ?? (square ? "matrixExp" : "householder");
  return registerParametrization(module, name, new Orthogonal(map, options.useTrivialization ?? true), {
    unsafe: true,
  });
}
