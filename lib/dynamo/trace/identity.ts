/**
 * Recognises calls of ops that return one of their arguments itself: conversions to the type a tensor already has,
 * disabled dropout. Invariant: the composition that eager execution runs determines the result, and none of its calls
 * has an effect.
 */
import { formOf } from "../../ops/complex/form.ts";
import { makeOpApi } from "../../ops/api.ts";
import { parseCall } from "../../ops/call.ts";
import type { OpDefinition } from "../../ops/definition.ts";
import type { OpApi } from "../../ops/generated.ts";
import { GraphValue, isGraphValue, tensorArguments } from "../../ops/graph_builder.ts";
import type { Inferred, Resolved } from "./op_rule.ts";

/** Thrown if a composition calls an op that computes. */
class Computes extends Error {}

let compositions: OpApi<GraphValue> | null = null;

/** The ops, as far as they only return an argument. */
function handingOn(): OpApi<GraphValue> {
  return compositions ??= makeOpApi<GraphValue>((definition, given) =>
    handedOn(definition, parseCall(definition, given, isGraphValue))
  );
}

function handedOn(called: OpDefinition, args: Resolved): GraphValue {
  const { implementation } = formOf(called, args);
  if (implementation.kind !== "composite") throw new Computes();
  const result = implementation.compose(handingOn(), args);
  if (!isGraphValue(result)) throw new Computes();
  return result;
}

/** The argument that a call returns, null if it returns a new tensor. */
export function argumentItself(
  definition: OpDefinition,
  args: Resolved,
  result: Inferred,
): GraphValue | null {
  if (definition.implementation.kind !== "composite" || !("dtype" in result)) return null;
  const candidates = tensorArguments(args).map(({ value }) => value).filter(({ meta }) =>
    meta.dtype === result.dtype && meta.device === result.device && meta.shape.length === result.shape.length
  );
  if (candidates.length === 0) return null;
  try {
    const given = handedOn(definition, args);
    return candidates.includes(given) ? given : null;
  } catch {
    return null;
  }
}
