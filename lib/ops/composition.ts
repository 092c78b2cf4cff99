/**
 * Metadata of a call's results, compositions included. Input: a definition and its arguments as metadata; output:
 * metadata of the results. Invariant: for a composition it is what its ops give, since that is what runs: its own
 * rule may say less of types and strides, and accept what one of its ops refuses. So a call that is accepted here
 * is refused by elements alone.
 */
import type { TensorMeta } from "../graph/meta.ts";
import { makeOpApi, nameResults } from "./api.ts";
import { parseCall } from "./call.ts";
import type { OpDefinition } from "./definition.ts";
import type { OpApi } from "./generated.ts";
import type { ArgsOf, Params } from "./params.ts";

/** Thrown where a composition asks for elements: what follows cannot be known. */
class NeedsElements extends Error {
  override readonly name: string = "NeedsElements";
}

type Metas = TensorMeta | readonly TensorMeta[];

const isMeta = (value: unknown): value is TensorMeta =>
  typeof value === "object" && value !== null && "strides" in value && "dtype" in value;

function compose(definition: OpDefinition, args: ArgsOf<Params, TensorMeta>): Metas {
  const { implementation } = definition;
  if (definition.dataDependent?.(args) || implementation.kind === "host") throw new NeedsElements();
  const inferred = definition.infer(args);
  return implementation.kind === "composite" ? implementation.compose(api, args) : inferred;
}

const api: OpApi<TensorMeta> = makeOpApi<TensorMeta>((definition, given) => {
  const results = compose(definition, parseCall(definition, given, isMeta));
  return isMeta(results) ? results : nameResults(definition, results);
});

/** Metadata of a call's results. Throws DynError where the op, or one that it is composed of, refuses the call. */
export function inferComposed(definition: OpDefinition, args: ArgsOf<Params, TensorMeta>): Metas {
  try {
    return compose(definition, args);
  } catch (thrown) {
    if (thrown instanceof NeedsElements) return definition.infer(args);
    throw thrown;
  }
}
