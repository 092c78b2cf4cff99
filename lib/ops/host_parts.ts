/**
 * Which calls the host has a part in. Input: a resolved call; output: whether it, or anything that it is composed of, is
 * computed from elements in host memory. Invariant: nothing is computed.
 */
import { DynError } from "../base/errors.ts";
import type { GraphValue, OpCall } from "./graph_builder.ts";
import { takenApart } from "./taken_apart.ts";

/** Whether the host computes a part of a call. Compositions are asked only where their definitions say that it may. */
export function runsOnHost(call: OpCall<GraphValue>): boolean {
  const { implementation, hostParts } = call.definition;
  if (implementation.kind === "host") return true;
  if (implementation.kind !== "composite" || !hostParts) return false;
  let found = false;
  try {
    takenApart(call, (part) => found ||= part.implementation.kind === "host");
  } catch (thrown) {
    // Whoever runs the call gets its error, which elements may decide
    if (!(thrown instanceof DynError)) throw thrown;
    return true;
  }
  return found;
}
