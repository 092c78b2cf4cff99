/**
 * Normalised weights under the names of older checkpoints: `weight_g` and `weight_v`, `weight_orig`, `weight_u` and
 * `weight_v`, like torch.nn.utils.weight_norm and spectral_norm; `parametrizations` has the newer forms. The weight of
 * a module is computed when it is read.
 */
import { checkModule } from "../module.ts";
import { type Trailing, trailing } from "../../base/arguments.ts";
import { DynError } from "../../base/errors.ts";
import { noGrad } from "../../tensor/modes.ts";
import { isTensor, type Tensor } from "../../tensor/tensor.ts";
import type { Module } from "../module.ts";
import { Parameter } from "../parameter.ts";
import {
  dividedByNorm,
  firstVectors,
  normExcept,
  outputDimension,
  powerIteration,
  rescaled,
  type SpectralOptions,
} from "./weight_norms.ts";

/** Options of weightNorm. */
export interface WeightNormOptions {
  /** The name of the weight; default "weight". */
  readonly name?: string;
  /** The dimension whose slices have separate lengths; default 0, null for one length. */
  readonly dim?: number | null;
}

const WEIGHT_NORM = ["name", "dim"] as const;
const SPECTRAL_NORM = ["name", "nPowerIterations", "eps", "dim"] as const;

/** The parameter or buffer with a name. */
function partOf(module: Module, name: string): Tensor {
  checkModule(module, "a norm of its weight");
  const found: unknown = Reflect.get(module, name);
  if (isTensor(found)) return found;
  throw new DynError(
    `Expected a parameter or buffer ${name} of ${module.constructor.name} but found none`,
  );
}

/** Replaces a parameter by parts from which it is computed when it is read. */
function replaceWeight(
  module: Module,
  name: string,
  { parameters, compute }: {
    readonly parameters: Readonly<Record<string, Tensor>>;
    readonly compute: (module: Module) => Tensor;
  },
): void {
  Reflect.deleteProperty(module, name);
  for (const [field, value] of Object.entries(parameters)) {
    module.registerParameter(field, new Parameter(value.detach()));
  }
  Object.defineProperty(module, name, {
    get(this: Module): Tensor {
      return compute(this);
    },
    configurable: true,
    enumerable: false,
  });
}

/** Turns a computed weight into a parameter with its current value. */
function restoreWeight<M extends Module>(module: M, name: string, parts: readonly string[]): M {
  checkModule(module, "its weight");
  if (!isTensor(Reflect.get(module, parts[0] ?? ""))) {
    throw new DynError(`Expected a normalised ${name} of ${module.constructor.name} but found none`);
  }
  const value = noGrad(() => partOf(module, name).detach().clone());
  for (const field of [name, ...parts]) {
    const at = module.bufferEntries.findIndex((entry) => entry.field === field);
    if (at >= 0) module.bufferEntries.splice(at, 1);
    Reflect.deleteProperty(module, field);
  }
  module.registerParameter(name, new Parameter(value));
  return module;
}

/**
 * Reparametrizes a weight as its length (`weight_g`) times its direction (`weight_v`), as torch.nn.utils.weight_norm.
 */
export function weightNorm<M extends Module>(
  module: M,
  ...given: Trailing<WeightNormOptions, typeof WEIGHT_NORM>
): M {
  const { name = "weight", dim = 0 } = trailing<WeightNormOptions>("weightNorm", WEIGHT_NORM, given);
  const weight = partOf(module, name).detach(), along = dim ?? -1;
  replaceWeight(module, name, {
    parameters: { [`${name}_g`]: normExcept(weight, along), [`${name}_v`]: weight },
    compute: (each) => rescaled(partOf(each, `${name}_g`), partOf(each, `${name}_v`), along),
  });
  return module;
}

/** The name of the weight, by position or by name; default "weight". */
export type WeightName = Trailing<{ readonly name?: string | undefined }, ["name"]>;

/** Reverts weightNorm, like torch.nn.utils.remove_weight_norm. Throws DynError if there is none. */
export function removeWeightNorm<M extends Module>(module: M, ...given: WeightName): M {
  const { name = "weight" } = trailing<{ readonly name?: string }>("removeWeightNorm", ["name"], given);
  return restoreWeight(module, name, [`${name}_g`, `${name}_v`]);
}

/**
 * Divides a weight (`weight_orig`) by its largest singular value, whose vectors `weight_u` and `weight_v` are estimates
 * that each use refines during training, as torch.nn.utils.spectral_norm.
 */
export function spectralNorm<M extends Module>(
  module: M,
  ...given: Trailing<SpectralOptions, typeof SPECTRAL_NORM>
): M {
  const { name = "weight", ...options } = trailing<SpectralOptions>("spectralNorm", SPECTRAL_NORM, given);
  const weight = partOf(module, name).detach();
  const power = {
    ...powerIteration({ ...options, dim: options.dim ?? outputDimension(module) }),
    begins: "v",
  } as const;
  const { u, v } = firstVectors(weight, power);
  replaceWeight(module, name, {
    parameters: { [`${name}_orig`]: weight },
    compute: (each) =>
      dividedByNorm(
        partOf(each, `${name}_orig`),
        { u: partOf(each, `${name}_u`), v: partOf(each, `${name}_v`) },
        { ...power, improves: each.training },
      ),
  });
  module.registerBuffer(`${name}_u`, u);
  module.registerBuffer(`${name}_v`, v);
  return module;
}

/** Reverts spectralNorm, like torch.nn.utils.remove_spectral_norm. Throws DynError if there is none. */
export function removeSpectralNorm<M extends Module>(module: M, ...given: WeightName): M {
  const { name = "weight" } = trailing<{ readonly name?: string }>("removeSpectralNorm", ["name"], given);
  return restoreWeight(module, name, [`${name}_orig`, `${name}_u`, `${name}_v`]);
}
