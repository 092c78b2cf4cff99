/**
 * Metadata of a call's results, including compositions, and which results a gradient can reach. Invariant: the metadata
 * of a composition is that of the ops it runs: its own rule may be less precise about types and strides, and may accept
 * calls that one of its ops refuses. A call that is accepted here can be refused only because of its elements.
 */
import { isDifferentiable } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import type { TensorMeta } from "../graph/meta.ts";
import { formOf } from "./complex/form.ts";
import { makeOpApi, nameResults } from "./api.ts";
import { parseCall } from "./call.ts";
import type { OpDefinition } from "./definition.ts";
import type { OpApi } from "./generated.ts";
import { deviceOf } from "./pointwise.ts";
import type { ArgsOf, Params } from "./params.ts";

/** Thrown when a composition reads elements: the rest cannot be inferred. */
class NeedsElements extends Error {
  override readonly name: string = "NeedsElements";
}

/** Metadata of a tensor, and whether a gradient can reach it. */
export interface ComposedMeta extends TensorMeta {
  readonly requiresGrad: boolean;
}

type Metas = ComposedMeta | readonly ComposedMeta[];
type Args = ArgsOf<Params, ComposedMeta>;

const isMeta = (value: unknown): value is ComposedMeta =>
  typeof value === "object" && value !== null && "requiresGrad" in value && "dtype" in value;

/** Infers from the op's own rule, not from its composition. */
function inferAlone(definition: OpDefinition, args: Args): Metas {
  const inferred: TensorMeta | readonly TensorMeta[] = definition.infer(args);
  const reaches = definition.gradient.kind !== "none" &&
    Object.values(args).flat().some((value) => isMeta(value) && value.requiresGrad);
  const { results = [], auxiliary = [] } = definition;
  const reached = (meta: TensorMeta, k: number): ComposedMeta => ({
    ...meta,
    requiresGrad: reaches && isDifferentiable(meta.dtype) && !auxiliary.includes(results[k] ?? ""),
  });
  return "dtype" in inferred ? reached(inferred, 0) : inferred.map(reached);
}

/** Throws DynError if a number, or a bigint, is outside of an op's bounds; elements are checked when they are known. */
function checkNumbers(definition: OpDefinition, args: Args): void {
  for (const [operand, [low, high]] of Object.entries(definition.bounds?.(args) ?? {})) {
    const given = args[operand];
    if (typeof given !== "number" && typeof given !== "bigint") continue;
    // NaN violates an upper bound, but not a lower bound alone
    if (high === Infinity ? !(given < low) : given >= low && given <= high) continue;
    throw new DynError(`Expected ${operand} of ${definition.name} in [${low}, ${high}] but found ${given}`);
  }
}

function compose(called: OpDefinition, args: Args): Metas {
  const definition = formOf(called, args), { implementation, gradient } = definition;
  if (definition.dataDependent?.(args)) throw new NeedsElements();
  const inferred = inferAlone(definition, args);
  checkNumbers(definition, args);
  if (implementation.kind === "lower" && !definition.crossesDevices) {
    // Few rules compare devices: calls are refused where kernels read memory
    deviceOf(Object.values(args).flat().filter(isMeta));
  }
  if (implementation.kind !== "composite") return inferred;
  const composed = implementation.compose(api, args);
  if (gradient.kind === "composite") return composed;
  // The op is differentiated as a whole
  const alone = [inferred].flat();
  const whole = (meta: ComposedMeta, k: number) => ({
    ...meta,
    requiresGrad: alone[k]?.requiresGrad ?? false,
  });
  return isMeta(composed) ? whole(composed, 0) : composed.map(whole);
}

const api: OpApi<ComposedMeta> = makeOpApi<ComposedMeta>((definition, given) => {
  const results = compose(definition, parseCall(definition, given, isMeta));
  return isMeta(results) ? results : nameResults(definition, results);
});

/** Metadata of a call's results. Throws DynError if the op, or a part of its composition, refuses the call. */
export function inferComposed(definition: OpDefinition, args: Args): Metas {
  try {
    return compose(definition, args);
  } catch (thrown) {
    if (thrown instanceof NeedsElements) return inferAlone(definition, args);
    throw thrown;
  }
}
