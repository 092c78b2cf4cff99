/**
 * Warns about loops that a trace has unrolled into a very large graph with iterations that differ, so that compilers
 * see them all. Equal iterations, which are calls of one region, do not count. The warning appears once for each line.
 * Invariant: graphs are not changed.
 */
import { isOwnFile } from "../base/errors.ts";
import { logs } from "../base/logs.ts";
import type { Graph, Node, SourcePosition } from "../graph/node.ts";
import { positionText } from "../graph/place.ts";

/** Number of operations from which on the loops of a graph are examined. */
const MANY = 5000;

/** Number of passes over a line that counts as a loop. */
const OFTEN = 100;

/** Lines that have been warned about. */
const told = new Set<string>();

/** Reports which line has been passed how often, if that makes a graph very large. */
export function noticeUnrolling(captured: Graph, seen: Graph): void {
  const operations = captured.nodes.filter(isOperation);
  if (operations.length < MANY || countSeen(seen) < MANY) return;
  const lines = new Map<string, { readonly place: SourcePosition; count: number }>();
  for (const { meta: { stack } } of operations) {
    const place = stack.at(-1);
    // Layers and optimizers of the library pass through the same lines for many modules and parameters.
    if (!place || isOwnFile(place.file)) continue;
    const key = `${positionText(place)}:${place.column}`, known = lines.get(key);
    if (known) known.count++;
    else lines.set(key, { place, count: 1 });
  }
  const [most] = [...lines].toSorted(([, a], [, b]) => b.count - a.count);
  if (!most || most[1].count < OFTEN || told.has(most[0])) return;
  const [key, { place: { functionName, code, file, line }, count }] = most;
  told.add(key);
  logs.emit(
    "perf_hints",
    () =>
      [
        `${
          functionName || "a function"
        } is a graph of ${operations.length} operations, since a loop is unrolled ` +
        `whose rounds differ: ${count} times`,
        `  ${code} (${file}:${line})`,
        "Its compilation takes long. Rounds that differ in tensors and in numbers that are operands are compiled once: " +
        "write the loop with higherOrderOps.scan or whileLoop, or compile its body alone",
      ].join("\n"),
    "warning",
  );
}

const isOperation = ({ op }: Node): boolean => op.startsWith("call_");

/** Returns the number of operations that compilers see: those of a region count once, and calls of it not at all. */
function countSeen(graph: Graph): number {
  const graphs = new Set([graph]);
  for (const { meta: { region } } of graph.nodes) if (region) graphs.add(region.graph);
  const isSeen = (node: Node) => isOperation(node) && !node.meta.region && node.target !== "getitem";
  return [...graphs].reduce((count, { nodes }) => count + nodes.filter(isSeen).length, 0);
}
