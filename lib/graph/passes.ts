/**
 * Clean-up passes on functional graphs that need no knowledge of particular ops. Each pass changes the graph and
 * returns whether it changed anything. Invariant: values are unchanged; if equal results were promised separate
 * memory, the caller restores that afterwards.
 */
import { formatArgument, type Graph, type Node, type NodeMeta } from "./node.ts";

/**
 * Merges equal calls with equal arguments into one node. Ops are pure here, and random ones depend on their keys, so
 * the same call has the same result. Deliberate recomputation and collectives are not merged.
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

/** The surviving node acts for both: a forward use makes it part of the forward. */
function mergeMeta(into: NodeMeta, from: NodeMeta): void {
  if (from.partition === "forward") into.partition = "forward";
}
