/**
 * Clean-up passes on functional graphs that need no knowledge of particular ops. Input: a graph without in-place
 * ops; output: the same graph, changed; each pass says whether it changed anything. Invariant: values stay as they
 * are; whoever promised memory of their own to equal results gives it to them afterwards.
 */
import { formatArgument, type Graph, type Node, type NodeMeta } from "./node.ts";

/**
 * Makes equal calls of equal arguments one node. Ops are pure here, and random ones repeat by their keys, so that the
 * same call gives the same elements. What is computed again on purpose stays, and so does what other processes have a
 * part in.
 */
export function eliminateCommonSubexpressions(graph: Graph): boolean {
  const seen = new Map<string, Node>(), repeated = new Set<Node>();
  for (const node of graph.nodes) {
    if ((node.op !== "call_function" && node.op !== "get_attr") || node.meta.begins) continue;
    const key = `${node.meta.turn ?? ""} ${node.op} ${node.target}(${formatArgument(node.args)}, ${
      formatArgument(node.kwargs)
    })`;
    const earlier = seen.get(key);
    if (!earlier) {
      seen.set(key, node);
      continue;
    }
    node.replaceAllUsesWith(earlier);
    mergeMeta(earlier.meta, node.meta);
    repeated.add(node);
  }
  return graph.eliminateDeadCode((node) => !repeated.has(node));
}

/** What the surviving node does, it does for both: a forward use makes it part of the forward. */
function mergeMeta(into: NodeMeta, from: NodeMeta): void {
  if (from.partition === "forward") into.partition = "forward";
}
