/**
 * The graph passes of the inductor, by name and in order. Input: a functional graph; output: the same graph,
 * changed in place. Invariant: a pass keeps the number, order and metadata of inputs and outputs.
 */
import type { Graph } from "../../graph/node.ts";
import { printGraph } from "../../graph/print.ts";

/** One pass; tells whether it changed anything. */
export interface Pass {
  readonly name: string;
  readonly run: (graph: Graph) => boolean;
}

const PASSES: readonly Pass[] = [];

/** Runs all passes; `observe` sees the graph after each that changed it. */
export function runPasses(graph: Graph, observe: (stage: string, text: () => string) => void): void {
  for (const pass of PASSES) {
    if (pass.run(graph)) observe(`graph_after_${pass.name}`, () => printGraph(graph));
  }
}
