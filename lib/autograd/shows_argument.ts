/**
 * Whether a call gives a view. Input: a resolved call; output: whether a result shares elements with an argument.
 * Invariant: nothing is computed; compositions are taken apart on metadata.
 */
import { DynError } from "../base/errors.ts";
import { Graph, type Node } from "../graph/node.ts";
import {
  GraphBuilder,
  type GraphValue,
  listOf,
  mapArguments,
  type OpCall,
  type Results,
} from "../ops/graph_builder.ts";
import { graphApi } from "../ops/graph_api.ts";
import { findTarget } from "../ops/table.ts";
import { DataDependentSize } from "../sym/decide.ts";

/** Whether a result shares elements with an argument: views do, and compositions that end in views of arguments. */
export function showsArgument({ definition, args }: OpCall<GraphValue>): boolean {
  const { implementation } = definition;
  if (implementation.kind === "view") return true;
  if (implementation.kind !== "composite" || definition.gradient.kind === "rule") return false;
  const scratch = new GraphBuilder(new Graph());
  const run = (call: OpCall<GraphValue>): Results => {
    const { implementation } = call.definition;
    return implementation.kind === "composite" ? implementation.compose(api, call.args) : scratch.call(call);
  };
  const api = graphApi(run);
  const stand = mapArguments(args, ({ meta }) => scratch.tensor("argument", meta));
  const isView = (node: Node) => findTarget(node.target)?.definition.implementation.kind === "view";
  return resultsOf(() => implementation.compose(api, stand)).some(({ node }) => {
    let root: Node | undefined = node;
    while (root && root.op === "call_function" && (root.target === "getitem" || isView(root))) {
      [root] = root.inputs();
    }
    return root?.op === "placeholder";
  });
}

/** A composition that refuses its arguments gives nothing: whoever runs the call gets its error. */
function resultsOf(compose: () => Results): readonly GraphValue[] {
  try {
    return listOf(compose());
  } catch (thrown) {
    if (!(thrown instanceof DynError) || thrown instanceof DataDependentSize) throw thrown;
    return [];
  }
}
