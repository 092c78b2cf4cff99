/**
 * Chooses the values that the backward part receives from the forward part, by a minimum cut on the bytes that saving
 * moves. Invariant: everything the backward reads can be computed from saved values, without running a node twice that
 * must not.
 */
import { checkInstance } from "../base/checked_input.ts";
import { type Argument, Graph, mapNodes, type Node } from "../graph/node.ts";
import { mayFail } from "../ops/rewrite/passes.ts";
import type { JointGraph } from "./joint.ts";
import { FlowNetwork } from "./max_flow.ts";
import { bytesOf, Classifier, type ForwardNodes, isRecomputed, metasOf } from "./recompute.ts";

/** The nodes that depend on no tangent, in order. */
export function independentNodes(joint: JointGraph): Set<Node> {
  checkInstance(joint?.graph, Graph, "a joint graph to cut");
  const { graph, tangents, arrivals } = joint;
  const dependent = new Set<Node>([...tangents, ...arrivals]);
  const independent = new Set<Node>();
  for (const node of graph.nodes) {
    if (node.op === "output" || dependent.has(node)) continue;
    if ([...node.inputs()].some((input) => dependent.has(input))) dependent.add(node);
    else independent.add(node);
  }
  return independent;
}

/** Some nodes and all that they depend on, in graph order. */
export function ancestors(graph: Graph, of: readonly Argument[]): Set<Node> {
  const needed = new Set<Node>();
  mapNodes(of, (node) => (needed.add(node), node));
  const ordered = new Set<Node>();
  for (const node of graph.nodes.toReversed()) {
    if (needed.has(node)) { for (const input of node.inputs()) needed.add(input); }
  }
  for (const node of graph.nodes) if (needed.has(node)) ordered.add(node);
  return ordered;
}

/**
 * Returns the roots of the forward part: its results, and calls that may throw although nothing reads their results.
 */
export function forwardEnds({ graph, results }: JointGraph): readonly Argument[] {
  return [...results, ...graph.nodes.filter(mayFail)];
}

/** A graph with a forward and a backward part. */
export interface Cuttable {
  readonly graph: Graph;
  readonly forward: ForwardNodes;
  /** Values that exist besides the inputs, whatever is saved. */
  readonly results: ReadonlySet<Argument>;
  /** Inputs that are overwritten before the backward runs. */
  readonly overwritten: ReadonlySet<Node | undefined>;
  /** Nodes of the forward part that the backward returns unchanged. */
  readonly gradients: ReadonlySet<Node | null>;
}

/** A joint graph in the form that is cut. */
export function cuttableJoint(joint: JointGraph): Cuttable {
  checkInstance(joint?.graph, Graph, "a joint graph to cut");
  const { graph, plan, results, gradients } = joint;
  return {
    graph,
    forward: {
      required: ancestors(graph, forwardEnds(joint)),
      independent: independentNodes(joint),
      classifier: new Classifier(),
    },
    results: new Set(results),
    overwritten: new Set(plan.mutations.map(({ input }) => graph.placeholders[input])),
    gradients: new Set(gradients),
  };
}

/** The values to save: a minimum cut between the values that exist in the forward and those that the backward reads. */
export function minimumCut(
  { graph, forward: { required, independent, classifier }, results, overwritten, gradients }: Cuttable,
  banned: ReadonlySet<Node>,
): Set<Node> {
  const distance = distancesFromBackward(graph, independent);
  const ids = new Map([...independent].map((node, at) => [node, at]));
  const source = 2 * ids.size, sink = source + 1;
  const network = new FlowNetwork(sink + 1);
  for (const [node, id] of ids) {
    const entry = 2 * id, exit = entry + 1;
    if (node.op === "placeholder" || banned.has(node)) network.edge(source, entry, Infinity);
    const exists = (node.op === "placeholder" && !overwritten.has(node)) || results.has(node);
    const cost = isRecomputed(node, required) && !exists
      ? Infinity
      : savingCost(node, { classifier, exists, distance: distance.get(node) ?? 0 });
    network.edge(entry, exit, cost);
    const users = [...node.users.keys()].filter((user) => user.op !== "output");
    for (const user of users) {
      const other = ids.get(user);
      network.edge(exit, other === undefined ? sink : 2 * other, Infinity);
    }
    if (gradients.has(node)) network.edge(exit, sink, Infinity);
  }
  const reachable = network.minimumCut(source, sink);
  const saved = new Set<Node>();
  for (const [node, id] of ids) if (reachable[2 * id] && !reachable[2 * id + 1]) saved.add(node);
  return saved;
}

/** Bytes moved by saving a node: written and read, or only read if it exists anyway. */
function savingCost(
  node: Node,
  { classifier, exists, distance }: {
    readonly classifier: Classifier;
    readonly exists: boolean;
    readonly distance: number;
  },
): number {
  if (metasOf(node).length !== 1 || node.meta.value.kind !== "tensor") {
    // Numbers cost nothing; multiple results are saved individually.
    return node.meta.value.kind === "size" || node.meta.value.kind === "number" ? 0 : Infinity;
  }
  let moves = exists ? 1 : 2;
  if (classifier.kindOf(node) === "view") {
    // Repeating a view is free, unless it keeps a much larger tensor alive; then it is copied.
    const [viewed] = node.inputs();
    if (!viewed || bytesOf(node) >= bytesOf(viewed)) return Infinity;
    moves++;
  }
  // Of equal sizes, values nearer to the backward are preferred.
  return bytesOf(node) * moves * 1.1 ** Math.min(100, Math.max(1, distance)) + 1e-3;
}

/** Returns the distance of each forward value from its first use in the backward, in steps. */
function distancesFromBackward(graph: Graph, independent: ReadonlySet<Node>): Map<Node, number> {
  const distances = new Map<Node, number>();
  for (const node of graph.nodes.toReversed()) {
    if (!independent.has(node)) {
      distances.set(node, 0);
      continue;
    }
    let nearest = 1e9;
    for (const user of node.users.keys()) {
      if (user.op !== "output") nearest = Math.min(nearest, (distances.get(user) ?? 1e9) + 1);
    }
    distances.set(node, nearest);
  }
  return distances;
}
