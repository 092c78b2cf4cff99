/**
 * What a call of an op accepts, its composition included. Input: a definition and its arguments as metadata;
 * output: metadata of the results. Invariant: a call that this accepts is refused by elements alone, however
 * deep in a composition the op that refuses it is: rules of metadata say what results are, not everything that
 * the ops they are made of ask.
 */
import type { TensorMeta } from "../graph/meta.ts";
import { makeOpApi, nameResults } from "./api.ts";
import { parseCall } from "./call.ts";
import type { OpDefinition } from "./definition.ts";
import type { OpApi } from "./generated.ts";
import type { ArgsOf, Params } from "./params.ts";

/** Thrown where a composition asks for elements: what follows cannot be checked. */
class NeedsElements extends Error {
  override readonly name: string = "NeedsElements";
}

const isMeta = (value: unknown): value is TensorMeta =>
  typeof value === "object" && value !== null && "strides" in value && "dtype" in value;

function compose(
  definition: OpDefinition,
  args: ArgsOf<Params, TensorMeta>,
): TensorMeta | readonly TensorMeta[] {
  const { implementation } = definition;
  if (definition.dataDependent?.(args) || implementation.kind === "host") throw new NeedsElements();
  const inferred = definition.infer(args);
  if (implementation.kind === "composite") implementation.compose(api, args);
  return inferred;
}

const api: OpApi<TensorMeta> = makeOpApi<TensorMeta>((definition, given) => {
  const results = compose(definition, parseCall(definition, given, isMeta));
  return isMeta(results) ? results : nameResults(definition, results);
});

/** Metadata of a call's results. Throws DynError where the op, or one that it is composed of, refuses the call. */
export function inferChecked(
  definition: OpDefinition,
  args: ArgsOf<Params, TensorMeta>,
): TensorMeta | readonly TensorMeta[] {
  const inferred = definition.infer(args);
  if (definition.implementation.kind !== "composite") return inferred;
  try {
    definition.implementation.compose(api, args);
  } catch (thrown) {
    if (!(thrown instanceof NeedsElements)) throw thrown;
  }
  return inferred;
}
