/**
 * Which calls the host has a part in. Input: a resolved call; output: whether it, or anything that it is composed of, is
 * computed from elements in host memory. Invariant: nothing is computed; compositions are taken apart on metadata.
 */
import { DynError } from "../base/errors.ts";
import { Graph } from "../graph/node.ts";
import { graphApi } from "./graph_api.ts";
import { GraphBuilder, type GraphValue, mapArguments, type OpCall, type Results } from "./graph_builder.ts";

/** Whether the host computes a part of a call. Compositions are asked only where their definitions say that it may. */
export function runsOnHost({ definition, args }: OpCall<GraphValue>): boolean {
  const { implementation, hostParts } = definition;
  if (implementation.kind === "host") return true;
  if (implementation.kind !== "composite" || !hostParts) return false;
  const scratch = new GraphBuilder(new Graph());
  let found = false;
  const run = (call: OpCall<GraphValue>): Results => {
    const { implementation } = call.definition;
    if (implementation.kind === "host") found = true;
    return implementation.kind === "composite" ? implementation.compose(api, call.args) : scratch.call(call);
  };
  const api = graphApi(run);
  try {
    implementation.compose(api, mapArguments(args, ({ meta }) => scratch.tensor("argument", meta)));
  } catch (thrown) {
    // Whoever runs the call gets its error, which elements may decide
    if (!(thrown instanceof DynError)) throw thrown;
    return true;
  }
  return found;
}
