/**
 * Clean-up passes on functional graphs that need no knowledge of particular ops. Each pass changes the graph and
 * returns whether it changed anything. Invariant: values are unchanged; if equal results were promised separate
 * memory, the caller restores that afterwards.
 */
import { formatArgument, type Graph, type Node, type NodeMeta } from "./node.ts";

/** Number of arguments by which most calls differ from others. */
const FIRST = 2;

/** Calls that begin alike. */
interface Alike {
  readonly first: Node;
  /** All of them by their arguments; null while there is one. */
  byText: Map<string, Node> | null;
}

const textOf = ({ args, kwargs }: Node): string => `${formatArgument(args)}, ${formatArgument(kwargs)}`;

/**
 * Merges equal calls with equal arguments into one node. Ops are pure here, and random ones depend on their keys, so
 * the same call has the same result. Deliberate recomputation and collectives are not merged.
 */
export function eliminateCommonSubexpressions(graph: Graph): boolean {
  const seen = new Map<string, Alike>(), repeated = new Set<Node>();
  for (const node of graph.nodes) {
    if ((node.op !== "call_function" && node.op !== "get_attr") || node.meta.begins) continue;
    const { op, target, args, meta: { turn = "" } } = node;
    const begin = `${turn} ${op} ${target}(${formatArgument(args.slice(0, FIRST))}`, alike = seen.get(begin);
    if (!alike) {
      seen.set(begin, { first: node, byText: null });
      continue;
    }
    // The whole text, which is long for calls of layers, is needed only where its beginning is that of another call
    const { first } = alike, byText = alike.byText ??= new Map([[textOf(first), first]]);
    const text = textOf(node), earlier = byText.get(text);
    if (!earlier) {
      byText.set(text, node);
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
