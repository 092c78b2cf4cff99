/**
 * Runs passes over a functional graph, in order, and enforces the contract of such graphs. Invariant: after every pass,
 * results to which separate memory was promised have it; the contract is verified before the graph is used.
 */
import { VERIFIES_EACH_PASS } from "../../base/config.ts";
import { bisection, type BisectPart } from "../../base/bisect.ts";
import { type Graph, hasEffect, type Node } from "../../graph/node.ts";
import { eliminateCommonSubexpressions } from "../../graph/passes.ts";
import { GraphContract, type Promises } from "./contract.ts";
import { findTarget } from "../table.ts";
import { rewrite, type RewriteOptions } from "./rewrite.ts";

/** A pass; returns whether it changed anything. */
export interface GraphPass {
  readonly name: string;
  readonly run: (graph: Graph) => boolean;
}

/** Returns whether a call stays although nothing reads it. */
type KeepsCall = (node: Node) => boolean;

/**
 * Keeps calls with effects outside the graph: checks that may fail although nothing reads their results, and
 * collectives that other processes wait for.
 */
export const keepsEffects: KeepsCall = (node) =>
  hasEffect(node) || mayFail(node) || node.meta.begins === true;

/** Returns whether a call of the forward part may fail depending on the elements it receives. */
export function mayFail({ op, target, meta }: Node): boolean {
  if (op !== "call_function" || meta.partition === "backward") return false;
  return meta.region?.graph.nodes.some(mayFail) ?? findTarget(target)?.definition.ranges !== undefined;
}

/** Removes calls that nothing reads. */
export function deadCode(kept?: KeepsCall): GraphPass {
  return { name: "eliminate_dead_code", run: (graph) => graph.eliminateDeadCode(kept) };
}

/** Merges equal calls with equal arguments. */
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
  /** Called with the graph after each pass that changed it. */
  readonly observe?: (pass: string, graph: Graph) => void;
  /** The name of one pass in a bisection. */
  readonly part: BisectPart;
}

/**
 * Runs passes in order. Throws InternalError if one breaks the contract: the final graph is verified, in dyn's own tests
 * and bisections also the result of each pass, so that the error names the pass.
 */
export function runPasses(
  graph: Graph,
  passes: readonly GraphPass[],
  { rounds = 1, observe, part, ...promises }: PassOptions,
): void {
  const contract = new GraphContract(graph, promises);
  const verifiesEach = VERIFIES_EACH_PASS || bisection.active;
  if (verifiesEach) contract.verify("earlier steps");
  /** Passes that find nothing to change in the current graph. */
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
