/**
 * Computes normalised weights, independently of how a module stores their parts: from lengths and directions, or from a
 * weight and estimates of its singular vectors.
 */
import { checkAtLeast } from "../../base/checked_numbers.ts";
import { randn } from "../../tensor/generated_functions.ts";
import { normalize } from "../../tensor/generated_functional.ts";
import { vectorNorm } from "../../tensor/generated_linalg.ts";
import { noGrad } from "../../tensor/modes.ts";
import type { Tensor } from "../../tensor/tensor.ts";
import { ConvTranspose1d, ConvTranspose2d, ConvTranspose3d } from "../conv.ts";
import type { Module } from "../module.ts";

/** The norm over all dimensions except `dim`; over all for −1. */
export function normExcept(v: Tensor, dim: number): Tensor {
  if (dim === -1) return vectorNorm(v, 2);
  return vectorNorm(v, 2, v.shape.map((_, d) => d).filter((d) => d !== dim), true);
}

/** Scales the slices of a direction to given lengths (Salimans and Kingma 2016). */
export function rescaled(length: Tensor, direction: Tensor, dim: number): Tensor {
  return direction.mul(length.div(normExcept(direction, dim)));
}

/** Options of spectralNorm. */
export interface SpectralOptions {
  /** The name of the weight; default "weight". */
  readonly name?: string;
  /** Number of power iterations for each call while training; default 1. */
  readonly nPowerIterations?: number;
  /** The least divisor of vectors when they are normalised; default 1e-12. */
  readonly eps?: number;
  /** The output dimension; default 0, for transposed convolutions 1. */
  readonly dim?: number | null;
}

/** Settings for the estimate of the largest singular value of a weight. */
export interface PowerIteration {
  readonly nPowerIterations: number;
  readonly eps: number;
  readonly dim: number;
  /** The vector that is refined first; default "u". */
  readonly begins?: "u" | "v";
}

/** The options with defaults. Throws DynError for a number of iterations that is not positive. */
export function powerIteration({ nPowerIterations = 1, eps = 1e-12, dim }: SpectralOptions): PowerIteration {
  checkAtLeast("nPowerIterations", nPowerIterations, 1);
  return { nPowerIterations, eps, dim: dim ?? 0 };
}

/** The output dimension of a module's weight. */
export function outputDimension(module: Module): number {
  const isTransposed = module instanceof ConvTranspose1d || module instanceof ConvTranspose2d ||
    module instanceof ConvTranspose3d;
  return isTransposed ? 1 : 0;
}

/** Estimates of the singular vectors for the largest singular value of a weight. */
interface SingularVectors {
  readonly u: Tensor;
  readonly v: Tensor;
}

/** A weight as a matrix with a row per output. */
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

/** Random vectors after a few power iterations. */
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

/** Divides a weight by its largest singular value (Miyato et al. 2018), optionally refining the estimate first. */
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
  // Copies, because the next call writes to the vectors
  const u = vectors.u.clone(), v = vectors.v.clone();
  return weight.div(u.dot(matrix.mv(v)));
}
