/**
 * Copies of graphs, in whole or in part: new nodes with the same names, arguments and metadata. Invariant: the
 * original is not changed.
 */
import { Graph, mapOperands, type Node } from "./node.ts";

/** Returns a new graph with copies of the nodes. */
export function copyGraph(graph: Graph): Graph {
  return copyNodes(graph).copy;
}

/**
 * Returns a new graph with copies of the nodes, and the map from each node to its copy; if `output` is false, the
 * output node is left out.
 */
export function copyNodes(
  graph: Graph,
  { output = true }: { readonly output?: boolean } = {},
): { readonly copy: Graph; readonly made: ReadonlyMap<Node, Node> } {
  const copy = new Graph();
  const made = new Map<Node, Node>();
  for (const node of graph.nodes) {
    if (node.op === "output" && !output) continue;
    made.set(
      node,
      copy.create(node.op, node.target, {
        ...mapOperands(node, (each) => made.get(each) ?? each),
        name: node.name,
        meta: { ...node.meta },
      }),
    );
  }
  return { copy, made };
}
