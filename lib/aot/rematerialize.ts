/**
 * Recomputation in graphs that contain their own backward pass, such as whole training steps: checkpoints, values
 * beyond the memory budget, and attention scores are computed a second time where the pass needs them. Invariant:
 * elements are the same, as are random numbers, which repeat by their keys; repeated nodes are placed before their
 * first use.
 */
import { config } from "../base/config.ts";
import { type Graph, mapOperands, type Node } from "../graph/node.ts";
import { isUpdate } from "../graph/updates.ts";
import { keepsEffects, runPasses } from "../ops/rewrite/passes.ts";
import { outputsOf } from "../ops/rewrite/contract.ts";
import type { JointGraph } from "./joint.ts";
import { savedWithinBudget } from "./memory_budget.ts";
import type { Cuttable } from "./min_cut.ts";
import { Classifier, spreadNodes } from "./recompute.ts";

/** Makes a graph's own backward pass recompute the values that should not be saved. */
export function rematerialize(
  { graph, results, ownResults }: Pick<JointGraph, "graph" | "results" | "ownResults">,
): void {
  if (!graph.nodes.some(({ meta }) => meta.ofPass)) return;
  const cuttable = cuttableStep(graph), saved = savedFor(cuttable);
  if (!saved) return;
  runPasses(graph, [{ name: "rematerialize", run: () => repeat(cuttable, saved) }], {
    ownResults,
    laidOut: results.length,
    part: "joint_passes",
  });
}

/** Returns the values to save; null: all of them. */
function savedFor(cuttable: Cuttable): ReadonlySet<Node> | null {
  const { graph, forward } = cuttable;
  if (config.activationMemoryBudget < 1 || graph.nodes.some(({ meta }) => meta.recomputed !== undefined)) {
    return savedWithinBudget(cuttable);
  }
  const spread = spreadNodes(forward);
  return spread.size > 0 ? forward.required.difference(spread) : null;
}

/**
 * A graph with its own backward passes, prepared for cutting: the passes, and everything that depends on them, are the
 * backward part.
 */
function cuttableStep(graph: Graph): Cuttable {
  const dependent = new Set<Node>(), independent = new Set<Node>();
  for (const node of graph.nodes) {
    if (node.op === "output") continue;
    const isBehind = node.meta.ofPass || [...node.inputs()].some((input) => dependent.has(input));
    (isBehind ? dependent : independent).add(node);
  }
  const required = new Set([...independent].filter((node) => node.op !== "placeholder"));
  return {
    graph,
    forward: { required, independent, classifier: new Classifier() },
    results: new Set(outputsOf(graph)),
    overwritten: new Set(),
    gradients: new Set(),
  };
}

/** Makes the backward part read recomputed copies of values that are not saved; returns whether there are any. */
function repeat({ graph, forward: { independent, required } }: Cuttable, saved: ReadonlySet<Node>): boolean {
  const again = new Map<Node, Node>();
  /** Returns the copy of a value to read from `reader` on. */
  const copyOf = (node: Node, reader: Node): Node => {
    if (!required.has(node) || saved.has(node) || node.op !== "call_function") return node;
    const known = again.get(node);
    if (known) return known;
    const operands = mapOperands(node, (each) => copyOf(each, reader));
    // Checks run only once
    const meta = { ...node.meta, turn: "again", partition: "backward" } as const;
    const copy = graph.create(node.op, node.target, { name: node.name, ...operands, meta, before: reader });
    again.set(node, copy);
    return copy;
  };
  for (const node of [...graph.nodes]) {
    if (node.op === "output" || isUpdate(node) || independent.has(node)) continue;
    const { args, kwargs } = mapOperands(node, (each) => copyOf(each, node));
    node.args = args;
    node.kwargs = kwargs;
  }
  if (again.size === 0) return false;
  for (const node of required) node.meta.turn = "first";
  graph.eliminateDeadCode(keepsEffects);
  return true;
}
