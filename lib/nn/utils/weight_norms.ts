/**
 * Computes normalised weights, however a module stores their parts: from lengths and directions, or from a weight and
 * estimates of its singular vectors.
 */
import { checkAtLeast } from "../../base/checked_numbers.ts";
import { randn } from "../../tensor/generated_functions.ts";
import { normalize } from "../../tensor/generated_functional.ts";
import { vectorNorm } from "../../tensor/generated_linalg.ts";
import { noGrad } from "../../tensor/modes.ts";
import type { Tensor } from "../../tensor/tensor.ts";
import { ConvTranspose1d, ConvTranspose2d, ConvTranspose3d } from "../conv.ts";
import type { Module } from "../module.ts";

/** The norm over all dimensions but one; over all for −1. */
export function normExcept(v: Tensor, dim: number): Tensor {
  if (dim === -1) return vectorNorm(v, 2);
  return vectorNorm(v, 2, v.shape.map((_, d) => d).filter((d) => d !== dim), true);
}

/** A direction with lengths by the slices of a dimension (Salimans and Kingma 2016). */
export function lengthened(length: Tensor, direction: Tensor, dim: number): Tensor {
  return direction.mul(length.div(normExcept(direction, dim)));
}

/** Options of spectralNorm. */
export interface SpectralOptions {
  /** The name of the weight; default "weight". */
  readonly name?: string;
  /** Number of power iterations for each call while training; default 1. */
  readonly nPowerIterations?: number;
  /** The least length that vectors are divided by; default 1e-12. */
  readonly eps?: number;
  /** The dimension of outputs; default 0, 1 of transposed convolutions. */
  readonly dim?: number | null;
}

/** Settings for the estimate of the largest singular value of a weight. */
export interface PowerIteration {
  readonly nPowerIterations: number;
  readonly eps: number;
  readonly dim: number;
  /** The vector that is improved first; default "u". */
  readonly begins?: "u" | "v";
}

/** The options with their defaults. Throws DynError for a number of iterations that is not positive. */
export function powerIteration({ nPowerIterations = 1, eps = 1e-12, dim }: SpectralOptions): PowerIteration {
  checkAtLeast("nPowerIterations", nPowerIterations, 1);
  return { nPowerIterations, eps, dim: dim ?? 0 };
}

/** The dimension of a weight that outputs are in. */
export function outputDimension(module: Module): number {
  const isTransposed = module instanceof ConvTranspose1d || module instanceof ConvTranspose2d ||
    module instanceof ConvTranspose3d;
  return isTransposed ? 1 : 0;
}

/** Estimates of the singular vectors of a weight that belong to its greatest singular value. */
export interface SingularVectors {
  readonly u: Tensor;
  readonly v: Tensor;
}

/** A weight with outputs as rows. */
function matrixOf(weight: Tensor, dim: number): Tensor {
  const others = weight.shape.map((_, d) => d).filter((d) => d !== dim);
  return weight.permute([dim, ...others]).reshape(weight.shape[dim] ?? 1, -1);
}

function improve(matrix: Tensor, { u, v }: SingularVectors, { eps, begins = "u" }: PowerIteration): void {
  const left = () => u.copy_(normalize(matrix.mv(v), { dim: 0, eps }));
  const right = () => v.copy_(normalize(matrix.transpose(0, 1).mv(u), { dim: 0, eps }));
  if (begins === "v") right();
  left();
  if (begins === "u") right();
}

/** Random vectors, improved a few times. */
export function firstVectors(weight: Tensor, power: PowerIteration): SingularVectors {
  const { eps, dim } = power;
  return noGrad(() => {
    const matrix = matrixOf(weight, dim), place = { dtype: weight.dtype, device: weight.device };
    const [rows = 1, columns = 1] = matrix.shape;
    const vectors = {
      u: normalize(randn([rows], place), { dim: 0, eps }),
      v: normalize(randn([columns], place), { dim: 0, eps }),
    };
    for (let i = 0; i < 15; i++) improve(matrix, vectors, power);
    return vectors;
  });
}

/** A weight divided by its greatest singular value (Miyato et al. 2018), of which the estimate may be improved before. */
export function dividedByNorm(
  weight: Tensor,
  vectors: SingularVectors,
  { improves, ...power }: PowerIteration & { readonly improves: boolean },
): Tensor {
  const matrix = matrixOf(weight, power.dim);
  if (improves) {
    noGrad(() => {
      for (let i = 0; i < power.nPowerIterations; i++) improve(matrix.detach(), vectors, power);
    });
  }
  // The next call writes to the vectors
  const u = vectors.u.clone(), v = vectors.v.clone();
  return weight.div(u.dot(matrix.mv(v)));
}
