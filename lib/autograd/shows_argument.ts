/**
 * Whether a call gives a view. Input: a resolved call; output: whether a result shares elements with an argument.
 * Invariant: nothing is computed; compositions are taken apart on metadata.
 */
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
  return listOf(implementation.compose(api, stand)).some(({ node }) => {
    let root: Node | undefined = node;
    while (root && root.op === "call_function" && (root.target === "getitem" || isView(root))) {
      [root] = root.inputs();
    }
    return root?.op === "placeholder";
  });
}
