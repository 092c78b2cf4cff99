/**
 * Finds the calls that run on the host, wholly or in part, because an op of their composition is computed in host
 * memory. Invariant: nothing is computed.
 */
import { DynError } from "../base/errors.ts";
import type { GraphValue, OpCall } from "./graph_builder.ts";
import { expandComposition } from "./expand_composition.ts";

/**
 * Returns whether a part of a call runs on the host. A composition is expanded only if its definition says that it
 * may.
 */
export function runsOnHost(call: OpCall<GraphValue>): boolean {
  const { implementation, hostParts } = call.definition;
  if (implementation.kind === "host") return true;
  if (implementation.kind !== "composite" || !hostParts) return false;
  let found = false;
  try {
    expandComposition(call, (part) => found ||= part.implementation.kind === "host");
  } catch (thrown) {
    // The run of the call throws the error, which may depend on elements
    if (!(thrown instanceof DynError)) throw thrown;
    return true;
  }
  return found;
}
