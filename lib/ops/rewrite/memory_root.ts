/**
 * Finds the node whose memory a value of a functional graph aliases when the graph runs op by op. Invariant: two
 * results with different roots never share memory.
 */
import type { Node } from "../../graph/node.ts";
import {
  argumentsOfNode,
  type GraphValue,
  isGraphValue,
  mapArguments,
  type OpCall,
  valueOfNode,
} from "../graph_builder.ts";
import { findTarget } from "../table.ts";

/** The nodes from a value down to the one that allocates its memory, the latter last. */
export function viewChain(node: Node): Node[] {
  const chain = [node];
  for (let viewed = viewedBy(node); viewed; viewed = viewedBy(viewed)) chain.push(viewed);
  return chain;
}

/** The node that allocates a value's memory; an input for views of inputs. */
export function memoryRoot(node: Node): Node {
  return viewChain(node).at(-1) ?? node;
}

/** Returns whether a call returns a view of its first argument; `reshape`, say, copies where strides allow none. */
export function isViewCall({ definition: { implementation }, args }: OpCall<GraphValue>): boolean {
  if (implementation.kind !== "view") return false;
  return !implementation.copies?.(mapArguments(args, ({ meta }) => meta));
}

/** Returns whether a node is a call that returns a view of its first argument. */
export function isViewNode(node: Node): boolean {
  const definition = node.op === "call_function" ? findTarget(node.target)?.definition : undefined;
  if (definition?.implementation.kind !== "view") return false;
  return isViewCall({ definition, args: argumentsOfNode(node, definition, valueOfNode, isGraphValue) });
}

/** Returns the node that a node is a view of, or undefined when it has memory of its own. */
function viewedBy(node: Node): Node | undefined {
  return isViewNode(node) ? [...node.inputs()][0] : undefined;
}
