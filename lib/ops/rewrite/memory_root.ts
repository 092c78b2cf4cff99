/**
 * Finds the node whose memory a value of a functional graph aliases when the graph runs op by op. Invariant: two
 * results with different roots never share memory.
 */
import type { Node } from "../../graph/node.ts";
import { argumentsOfNode, isGraphValue, mapArguments, valueOfNode } from "../graph_builder.ts";
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

/** Returns the node that a node is a view of, or undefined when it has memory of its own. */
function viewedBy(node: Node): Node | undefined {
  const definition = node.op === "call_function" ? findTarget(node.target)?.definition : undefined;
  if (!definition || node.target === "getitem") return undefined;
  const { implementation } = definition;
  if (implementation.kind !== "view") return undefined;
  const [viewed] = node.inputs();
  if (!implementation.copies) return viewed;
  const args = argumentsOfNode(node, definition, valueOfNode, isGraphValue);
  return implementation.copies(mapArguments(args, ({ meta }) => meta)) ? undefined : viewed;
}
