/**
 * The graph passes of the inductor, by name and in order; they return a cleaned copy. Invariant: that of all passes
 * over functional graphs.
 */
import { copyGraph } from "../graph/copy.ts";
import type { Graph } from "../graph/node.ts";
import { printGraph } from "../graph/print.ts";
import { JOINED_PARTS } from "../ops/rewrite/joined_parts.ts";
import { JOINED_PRODUCTS } from "../ops/rewrite/joined_products.ts";
import {
  COMMON_SUBEXPRESSIONS,
  deadCode,
  type GraphPass,
  patterns,
  runPasses,
} from "../ops/rewrite/passes.ts";
import { INDUCTOR_RULES } from "../ops/rewrite/rules.ts";

/** All passes in order. */
const INDUCTOR_PASSES: readonly GraphPass[] = [
  deadCode(),
  COMMON_SUBEXPRESSIONS,
  patterns("rewrite_patterns", { rules: INDUCTOR_RULES, part: "graph_rules" }),
  JOINED_PARTS,
  JOINED_PRODUCTS,
  COMMON_SUBEXPRESSIONS,
];

/** Options of the clean-up. */
interface CleanOptions {
  /** Outputs before this index have memory of their own; default: none. */
  readonly ownResults?: number | undefined;
  /** Called with the graph after each pass that changed it. */
  readonly observe?: (stage: string, text: () => string) => void;
}

/** Runs all passes on a copy. */
export function cleaned(graph: Graph, { ownResults = 0, observe }: CleanOptions = {}): Graph {
  const copy = copyGraph(graph);
  runPasses(copy, INDUCTOR_PASSES, {
    ownResults,
    part: "graph_passes",
    observe: (pass, now) => observe?.(`graph_after_${pass}`, () => printGraph(now)),
  });
  return copy;
}
