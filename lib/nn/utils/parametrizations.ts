/**
 * Named parametrizations: the namespace `nn.utils.parametrizations`, like torch.nn.utils.parametrizations. They
 * normalise the weight of a module or make it orthogonal.
 */
import { type Trailing, trailing } from "../../base/arguments.ts";
import { checkOneOf } from "../../base/checked_input.ts";
import { DynError } from "../../base/errors.ts";
import { cat, diagEmbed, eye, geqrf, randn, zeros } from "../../tensor/generated_functions.ts";
import { householderProduct, matrixExp, qr, solve } from "../../tensor/generated_linalg.ts";
import { normalize } from "../../tensor/generated_functional.ts";
import { isTensor, type Tensor } from "../../tensor/tensor.ts";
import { checkModule, Module, type StateDict } from "../module.ts";
import { registerParametrization } from "./parametrize.ts";
import {
  dividedByNorm,
  firstVectors,
  normExcept,
  outputDimension,
  type PowerIteration,
  powerIteration,
  rescaled,
  type SpectralOptions,
} from "./weight_norms.ts";

import type { WeightNormOptions } from "./former_norms.ts";

export type { WeightNormOptions } from "./former_norms.ts";
export type { SpectralOptions } from "./weight_norms.ts";

/** Length times direction. */
class WeightNorm extends Module {
  constructor(readonly dim: number) {
    super();
  }

  override forward(length: Tensor, direction: Tensor): Tensor {
    return rescaled(length, direction, this.dim);
  }

  rightInverse(weight: Tensor): Tensor[] {
    return [normExcept(weight, this.dim), weight];
  }
}

const WEIGHT_NORM = ["name", "dim"] as const;

/**
 * Reparametrizes a weight as its length (`original0`, per slice of dimension `dim`; one number for null) times its
 * direction (`original1`), as torch.nn.utils.parametrizations.weight_norm.
 */
export function weightNorm<M extends Module>(
  module: M,
  ...given: Trailing<WeightNormOptions, typeof WEIGHT_NORM>
): M {
  const { name = "weight", dim = 0 } = trailing<WeightNormOptions>("weightNorm", WEIGHT_NORM, given);
  registerParametrization(module, name, new WeightNorm(dim ?? -1), { unsafe: true });
  // The module of the parametrizations is never called, so that the hook costs nothing
  module.getSubmodule("parametrizations").registerLoadStateDictPreHook((_module, state, prefix) =>
    readFormerNames(state, prefix, name)
  );
  return module;
}

/** Renames the length and direction of a weight in a state of the former weight norm: `weight_g`, `weight_v`. */
function readFormerNames(state: StateDict, prefix: string, name: string): void {
  const owner = prefix.replace(/parametrizations\.$/, "");
  for (const [k, letter] of ["g", "v"].entries()) {
    const former = `${owner}${name}_${letter}`, value = state[former];
    if (value === undefined) continue;
    state[`${prefix}${name}.original${k}`] = value;
    Reflect.deleteProperty(state, former);
  }
}

const SPECTRAL_NORM = ["name", "nPowerIterations", "eps", "dim"] as const;

/** A weight divided by its largest singular value, which power iterations estimate. */
class SpectralNorm extends Module {
  readonly power: PowerIteration;

  constructor(weight: Tensor, options: SpectralOptions) {
    super();
    this.power = powerIteration(options);
    if (weight.ndim < 2) return;
    const { u, v } = firstVectors(weight, this.power);
    this.registerBuffer("_u", u);
    this.registerBuffer("_v", v);
  }

  override forward(weight: Tensor): Tensor {
    const u: unknown = Reflect.get(this, "_u"), v: unknown = Reflect.get(this, "_v");
    if (!isTensor(u) || !isTensor(v)) return normalize(weight, { dim: 0, eps: this.power.eps });
    return dividedByNorm(weight, { u, v }, { ...this.power, improves: this.training });
  }

  rightInverse(weight: Tensor): Tensor {
    return weight;
  }
}

/**
 * Divides a weight by its largest singular value, as torch.nn.utils.parametrizations.spectral_norm (Miyato et al.
 * 2018).
 */
export function spectralNorm<M extends Module>(
  module: M,
  ...given: Trailing<SpectralOptions, typeof SPECTRAL_NORM>
): M {
  const { name = "weight", ...options } = trailing<SpectralOptions>("spectralNorm", SPECTRAL_NORM, given);
  checkModule(module, "a parametrization");
  const weight: unknown = Reflect.get(module, name);
  if (!isTensor(weight)) throw new DynError(`Expected a parameter or buffer ${name} but found none`);
  const dim = options.dim ?? outputDimension(module);
  return registerParametrization(module, name, new SpectralNorm(weight, { ...options, dim }));
}

/** Map from arbitrary to orthogonal matrices. */
export type OrthogonalMap = typeof ORTHOGONAL_MAPS[number];

const ORTHOGONAL_MAPS = ["matrixExp", "cayley", "householder"] as const;

/** Options of orthogonal. */
export interface OrthogonalOptions {
  /** The name of the weight; default "weight". */
  readonly name?: string;
  /** Default: "matrixExp" for square weights, else "householder". */
  readonly orthogonalMap?: OrthogonalMap | null;
  /** Whether the map parametrizes changes to the current weight; default true. */
  readonly useTrivialization?: boolean;
}

const ORTHOGONAL = ["name", "orthogonalMap", "useTrivialization"] as const;

/** An orthonormal basis of the columns of A, with the signs of A's diagonal. */
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
      // Every map sends the negated first columns of the identity matrix to those columns
      original = ones(n, tall).narrow(-1, 0, k).neg().expand(tall.shape).contiguous();
    } else {
      if (this.map !== "householder") {
        throw new DynError(
          `Expected useTrivialization for a map without right inverse but found it false for ${this.map}`,
        );
      }
      const [A, tau] = geqrf(tall), diagonal = A.diagonal(0, -2, -1), sign = diagonal.sign();
      const signs = sign.mul(tau.eq(0).to(sign.dtype).mul(-2).add(1));
      original = A.sub(embedded(diagonal, n)).add(embedded(signs, n));
    }
    return wide ? original.transpose(-2, -1).contiguous() : original;
  }
}

/** Embeds [..., k] as the diagonal of [..., n, k]. */
function embedded(diagonal: Tensor, n: number): Tensor {
  const square = diagEmbed(diagonal), k = diagonal.shape.at(-1) ?? 1;
  if (n === k) return square;
  const place = { dtype: square.dtype, device: square.device };
  return cat([square, zeros([...square.shape.slice(0, -2), n - k, k], place)], -2);
}

/**
 * Keeps the rows or columns of a weight, whichever are fewer, orthonormal during training, as
 * torch.nn.utils.parametrizations.orthogonal; it starts as the orthogonal factor of the current weight.
 */
export function orthogonal<M extends Module>(
  module: M,
  ...given: Trailing<OrthogonalOptions, typeof ORTHOGONAL>
): M {
  const { name = "weight", ...options } = trailing<OrthogonalOptions>("orthogonal", {
    positional: ORTHOGONAL,
    flags: { useTrivialization: true },
  }, given);
  checkModule(module, "a parametrization");
  const weight: unknown = Reflect.get(module, name);
  if (!isTensor(weight) || weight.ndim < 2) {
    throw new DynError(`Expected a weight ${name} of at least 2 dimensions but found none`);
  }
  const square = weight.shape.at(-1) === weight.shape.at(-2);
  const map = options.orthogonalMap ?? (square ? "matrixExp" : "householder");
  checkOneOf("orthogonalMap of orthogonal", map, ORTHOGONAL_MAPS);
  return registerParametrization(module, name, new Orthogonal(map, options.useTrivialization ?? true), {
    unsafe: true,
  });
}
