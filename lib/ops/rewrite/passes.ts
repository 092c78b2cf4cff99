/**
 * Runs passes over a functional graph, in order, and holds them to the contract of such graphs. Invariant: after every
 * pass the results that were promised memory of their own have it; the contract is verified before anybody uses the graph.
 */
import { config } from "../../base/config.ts";
import { bisection, type BisectPart } from "../../base/bisect.ts";
import { type Graph, hasEffect, type Node } from "../../graph/node.ts";
import { eliminateCommonSubexpressions } from "../../graph/passes.ts";
import { GraphContract, type Promises } from "./contract.ts";
import { findTarget } from "../table.ts";
import { rewrite, type RewriteOptions } from "./rewrite.ts";

/** One pass; tells whether it changed anything. */
export interface GraphPass {
  readonly name: string;
  readonly run: (graph: Graph) => boolean;
}

/** Decides which calls stay although nothing reads them. */
export type Kept = (node: Node) => boolean;

/**
 * Keeps what the graph as a whole would be another without: that a call fails is seen even where its result is not, and
 * other processes wait for their part in one.
 */
export const keepChecks: Kept = (node) => hasEffect(node) || mayFail(node) || node.meta.begins === true;

/** Returns whether a call of the forward part may fail depending on the elements it receives. */
export function mayFail({ op, target, meta }: Node): boolean {
  if (op !== "call_function" || meta.partition === "backward") return false;
  return meta.region?.graph.nodes.some(mayFail) ?? findTarget(target)?.definition.ranges !== undefined;
}

/** Drops calls that nothing reads. */
export function deadCode(kept?: Kept): GraphPass {
  return { name: "eliminate_dead_code", run: (graph) => graph.eliminateDeadCode(kept) };
}

/** Makes equal calls of equal arguments one. */
export const COMMON_SUBEXPRESSIONS: GraphPass = {
  name: "eliminate_common_subexpressions",
  run: eliminateCommonSubexpressions,
};

/** Applies rules until none fits. */
export function patterns(name: string, options: RewriteOptions): GraphPass {
  return { name, run: (graph) => rewrite(graph, options) };
}

/** Options of a run of passes. */
export interface PassOptions extends Promises {
  /** Maximum number of rounds over all passes, which end early when nothing changes; default 1. */
  readonly rounds?: number;
  /** Sees the graph after each pass that changed it. */
  readonly observe?: (pass: string, graph: Graph) => void;
  /** The name of one pass in a bisection. */
  readonly part: BisectPart;
}

/**
 * Runs passes in order. Throws InternalError where one breaks the contract: what comes out is verified, and when faults are
 * errors or looked for also the result of each pass, so that the error names the pass.
 */
export function runPasses(
  graph: Graph,
  passes: readonly GraphPass[],
  { rounds = 1, observe, part, ...promises }: PassOptions,
): void {
  const contract = new GraphContract(graph, promises);
  const verifiesEach = config.inductor.errorOnFallback || bisection.active;
  if (verifiesEach) contract.verify("whatever made it");
  /** Passes that find nothing in the graph as it is. */
  const idle = new Set<GraphPass>();
  for (let round = 0, again = true; again && round < rounds; round++) {
    again = false;
    for (const pass of passes) {
      if (idle.has(pass) || !bisection.allows(part, () => `the pass ${pass.name}`)) continue;
      if (!pass.run(graph)) {
        idle.add(pass);
        continue;
      }
      idle.clear();
      again = true;
      contract.separateResults();
      if (verifiesEach) contract.verify(pass.name);
      observe?.(pass.name, graph);
    }
  }
  if (!verifiesEach) contract.verify("the passes");
}
