/**
 * Notices loops that a trace has unrolled into a very large graph. Input: a captured graph; output: a warning, once a
 * function. Invariant: the graph stays as it is.
 */
import { isOwnFile } from "../base/errors.ts";
import { logs } from "../base/logs.ts";
import type { Graph, SourcePosition } from "../graph/node.ts";
import type { Program } from "./program.ts";

/** Operations of a graph from which on its loops are looked at. */
const MANY = 5000;

/** How often a line has to have been passed to count as a loop. */
const OFTEN = 100;

/** Says which line has been passed how often, where that makes a graph very large. */
export function noticeUnrolling(graph: Graph, program: Program, title: string): void {
  const operations = graph.nodes.filter(({ op }) => op.startsWith("call_"));
  if (operations.length < MANY || program.hasLongLoops) return;
  const lines = new Map<string, { readonly place: SourcePosition; count: number }>();
  for (const { meta: { stack } } of operations) {
    const place = stack.at(-1);
    // Layers and optimisers of the library go through many modules and parameters by the same lines.
    if (!place || isOwnFile(place.file)) continue;
    const key = `${place.file}:${place.line}:${place.column}`, known = lines.get(key);
    if (known) known.count++;
    else lines.set(key, { place, count: 1 });
  }
  const [most] = [...lines.values()].toSorted((a, b) => b.count - a.count);
  if (!most || most.count < OFTEN) return;
  program.hasLongLoops = true;
  const { place: { code, file, line }, count } = most;
  logs.emit(
    "perf_hints",
    () =>
      [
        `${title} is a graph of ${operations.length} operations, since a loop is unrolled: ${count} times`,
        `  ${code} (${file}:${line})`,
        "Its compilation takes long. Write the loop with higherOrderOps.scan or whileLoop, or compile its body alone",
      ].join("\n"),
    "warning",
  );
}
