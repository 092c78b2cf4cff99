/**
 * Clean-up passes on functional graphs that need no knowledge of particular ops. Input: a graph without in-place
 * ops; output: the same graph, changed; each pass says whether it changed anything. Invariant: nodes that the
 * caller protects stay, and stay distinct.
 */
import { formatArgument, type Graph, Node, type NodeMeta } from "./node.ts";

/** Whether the output names a node itself. */
export function isResult(node: Node): boolean {
  return [...node.users.keys()].some((user) => user.op === "output");
}

/**
 * Makes equal calls of equal arguments one node, unless the later one is protected. Ops are pure here, and random
 * ones repeat by their keys, so that the same call gives the same elements.
 */
export function eliminateCommonSubexpressions(
  graph: Graph,
  isProtected: (node: Node) => boolean = isResult,
): boolean {
  const seen = new Map<string, Node>();
  let changed = false;
  for (const node of graph.nodes) {
    if (node.op !== "call_function" && node.op !== "get_attr") continue;
    const key = `${node.op} ${node.target}(${formatArgument(node.args)}, ${formatArgument(node.kwargs)})`;
    const earlier = seen.get(key);
    if (!earlier) {
      seen.set(key, node);
      continue;
    }
    if (isProtected(node)) continue;
    node.replaceAllUsesWith(earlier);
    mergeMeta(earlier.meta, node.meta);
    changed = true;
  }
  return graph.eliminateDeadCode() || changed;
}

/** What the surviving node does, it does for both: a forward use makes it part of the forward. */
function mergeMeta(into: NodeMeta, from: NodeMeta): void {
  if (from.partition === "forward") into.partition = "forward";
}
