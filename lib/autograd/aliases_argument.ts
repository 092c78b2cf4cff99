/**
 * Finds calls that return views of their first argument. Invariant: nothing is computed.
 */
import { DynError } from "../base/errors.ts";
import type { Node } from "../graph/node.ts";
import { formed } from "../ops/graph_api.ts";
import {
  argumentsOfNode,
  type GraphValue,
  isGraphValue,
  type OpCall,
  valueOfNode,
} from "../ops/graph_builder.ts";
import { findTarget } from "../ops/table.ts";
import { expandComposition } from "../ops/expand_composition.ts";
import { isViewCall, isViewNode } from "../ops/rewrite/memory_root.ts";
import { DataDependentSize } from "../sym/decide.ts";

/** Returns whether a node aliases its first argument: views do, and compositions that end in views of arguments. */
export function aliasesArgument(node: Node): boolean {
  const definition = findTarget(node.target)?.definition;
  if (!definition) return false;
  return showsItsArgument({ definition, args: argumentsOfNode(node, definition, valueOfNode, isGraphValue) });
}

function showsItsArgument(called: OpCall<GraphValue>): boolean {
  const call = formed(called), { implementation, gradient } = call.definition;
  if (implementation.kind === "view") return isViewCall(call);
  if (implementation.kind !== "composite" || gradient.kind === "rule") return false;
  return resultsOf(call).some(({ node }) => {
    let root: Node | undefined = node;
    while (root && root.op === "call_function" && (root.target === "getitem" || isViewNode(root))) {
      [root] = root.inputs();
    }
    return root?.op === "placeholder";
  });
}

/** A composition that rejects its arguments returns nothing: the run of the call throws its error. */
function resultsOf(call: OpCall<GraphValue>): readonly GraphValue[] {
  try {
    return expandComposition(call);
  } catch (thrown) {
    if (!(thrown instanceof DynError) || thrown instanceof DataDependentSize) throw thrown;
    return [];
  }
}
