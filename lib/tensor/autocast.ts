/**
 * Autocast regions, in which the types of matrix products, convolutions and losses are chosen automatically, like
 * `torch.autocast`. Invariant: lib/ops/autocast.ts alone decides which calls are converted; conversions are ordinary
 * ops, so the tape and every mode see them.
 */
import { optionsOf, refuseSurplus } from "../base/checked_input.ts";
import type { DType } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { scoped } from "../base/scoped.ts";
import { type Autocast, autocastOf, type AutocastType, isEligible } from "../ops/autocast.ts";
import type { OpDefinition } from "../ops/definition.ts";
import { ambient } from "./modes.ts";
import { entryOf, mapTensors, type TensorArgs, tensorsOf } from "./plan.ts";
import { type Storage, unwatched } from "./storage.ts";
import type { Tensor } from "./tensor.ts";

/** Options of a region, as PyTorch's. */
export interface AutocastOptions {
  /** The device whose ops are affected; default "cpu". All devices have the same lists. */
  readonly deviceType?: string;
  /** The type to compute in; default bfloat16. */
  readonly dtype?: AutocastType;
  /** Whether it has an effect; default true. */
  readonly enabled?: boolean;
  /** Whether parameters are converted once in a region rather than at each use. */
  readonly cacheEnabled?: boolean;
}

/** The converted parameters of the outermost region, by whether gradients were recorded. */
const cache = {
  depth: 0,
  recorded: new WeakMap<Tensor, Converted>(),
  plain: new WeakMap<Tensor, Converted>(),
};

/** A conversion, and the memory and contents of the parameter that it was made of. */
interface Converted {
  readonly storage: Storage;
  readonly contents: number;
  readonly tensor: Tensor;
}

/** Options of a region whose device was given before them. */
export type AutocastSettings = Omit<AutocastOptions, "deviceType">;

/** The options of a region, checked. Throws DynError for a type that has not 16 bits. */
export function autocastSettings(options: AutocastOptions | string): Required<AutocastOptions> {
  const { deviceType = "cpu", dtype = "bfloat16", enabled = true, cacheEnabled = true } =
    typeof options === "string"
      ? { deviceType: options }
      : optionsOf("autocast", options, ["deviceType", "dtype", "enabled", "cacheEnabled"]);
  if (dtype !== "bfloat16" && dtype !== "float16") {
    throw new DynError(`Expected autocast to bfloat16 or float16 but found ${String(dtype)}`);
  }
  return { deviceType, dtype, enabled, cacheEnabled };
}

/** Runs `body` with types chosen automatically (or not, with `enabled: false`), as `torch.autocast`. */
export function autocast<R>(options: AutocastOptions | string, body: () => R): R;
/** The same with the device before the other options, as in PyTorch. */
export function autocast<R>(deviceType: string, options: AutocastSettings, body: () => R): R;
export function autocast<R>(
  device: AutocastOptions | string,
  settings: AutocastSettings | (() => R),
  body?: () => R,
): R {
  if (arguments.length > 3) refuseSurplus("autocast", 3, arguments);
  if (typeof settings !== "function" && body && typeof device === "string") {
    return autocast({ ...settings, deviceType: device }, body);
  }
  if (typeof settings !== "function" || body !== undefined) {
    throw new DynError("Expected autocast of options and a function, or of a device, options and a function");
  }
  const { dtype, enabled, cacheEnabled } = autocastSettings(device);
  const former = { region: ambient.autocast, caches: ambient.autocastCaches };
  ambient.autocast = enabled ? dtype : null;
  ambient.autocastCaches = cacheEnabled;
  cache.depth++;
  return scoped(settings, () => {
    ambient.autocast = former.region;
    ambient.autocastCaches = former.caches;
    if (--cache.depth === 0) {
      cache.recorded = new WeakMap();
      cache.plain = new WeakMap();
    }
  });
}

/** Returns whether autocast is on. */
export function isAutocastEnabled(_deviceType = "cpu"): boolean {
  if (arguments.length > 1) refuseSurplus("isAutocastEnabled", 1, arguments);
  return ambient.autocast !== null;
}

/** The type of the region, or the default type. */
export function getAutocastDtype(_deviceType = "cpu"): DType {
  if (arguments.length > 1) refuseSurplus("getAutocastDtype", 1, arguments);
  return ambient.autocast ?? "bfloat16";
}

/** Runs `body`, whose ops have explicit types, outside of regions. */
export function withoutAutocast<R>(body: () => R): R {
  const { autocast: former } = ambient;
  if (former === null) return body();
  ambient.autocast = null;
  return scoped(body, () => ambient.autocast = former);
}

/** The types to which the region casts a call. */
export function autocastCall(definition: OpDefinition, args: TensorArgs, region: AutocastType): Autocast {
  const entry = entryOf(definition);
  return autocastOf(definition.name, region, {
    operands: tensorsOf(entry, args).map(({ dtype }) => dtype),
    args,
  });
}

/** The arguments with floating operands converted. */
export function convertedArgs(
  definition: OpDefinition,
  args: TensorArgs,
  { dtype, convert }: { readonly dtype: DType; readonly convert: (tensor: Tensor, dtype: DType) => Tensor },
): TensorArgs {
  return mapTensors<Tensor>(entryOf(definition), args, (tensor) => {
    if (tensor.dtype === dtype || !isEligible(tensor.dtype)) return tensor;
    return isCachedParameter(tensor, dtype)
      ? keptConversion(tensor, dtype, () => convert(tensor, dtype))
      : convert(tensor, dtype);
  });
}

/** Parameters are converted once in a region, as PyTorch does: float32 leaves that require gradients. */
function isCachedParameter(tensor: Tensor, dtype: DType): boolean {
  return ambient.autocastCaches && dtype === ambient.autocast && tensor.dtype === "float32" &&
    tensor.requiresGrad && tensor.isLeaf && tensor.viewState === null;
}

function keptConversion(parameter: Tensor, dtype: DType, convert: () => Tensor): Tensor {
  const kept = ambient.gradEnabled ? cache.recorded : cache.plain, known = kept.get(parameter);
  const { storage } = parameter, { contents } = storage;
  // Regions of other types may be inside of this one, and parameters may be written or moved in it
  if (known?.storage === storage && known.contents === contents && known.tensor.dtype === dtype) {
    return known.tensor;
  }
  // The composition that needs it first does not own its memory
  const tensor = unwatched(convert);
  kept.set(parameter, { storage, contents, tensor });
  return tensor;
}
