/**
 * Cuts a joint graph into a forward and a backward graph by a minimum cut on the bytes that saving moves. Invariant:
 * the backward reads only saved values, tangents and sizes; it repeats neither random ops nor expensive ones.
 */
import { InternalError } from "../base/errors.ts";
import { isContiguous, type TensorMeta } from "../graph/meta.ts";
import { type Argument, Graph, mapNodes, mapOperands, Node } from "../graph/node.ts";
import { sizeBindings, symbolsOf } from "../graph/sizes.ts";
import type { Sym } from "../sym/expr.ts";
import { GraphBuilder, valueOfNode } from "../ops/graph_builder.ts";
import { builtBy } from "../ops/graph_api.ts";
import type { JointGraph } from "./joint.ts";
import { memoryRoot } from "../ops/rewrite/memory_root.ts";
import { refreshMeta } from "../ops/rewrite/metadata.ts";
import { savedWithinBudget } from "./memory_budget.ts";
import { ancestors, cuttableJoint, forwardEnds, independentNodes } from "./min_cut.ts";
import { Classifier, metasOf } from "./recompute.ts";

/** Where the runtime finds a value that the backward needs. */
export type SavedValue =
  | { readonly kind: "input"; readonly input: number }
  | { readonly kind: "output"; readonly output: number };

/** The two halves. */
export interface Partition {
  /** Takes the joint graph's inputs without tangents; returns results, then the other saved values. */
  readonly forward: Graph;
  /** Takes saved tensors, sizes, tangents, then which of these have arrived; returns a gradient or null per input. */
  readonly backward: Graph;
  readonly saved: readonly SavedValue[];
  /** Sizes that the backward needs and cannot derive from its tensors. */
  readonly sizes: readonly Sym[];
  /** Forward outputs from this index on exist for the backward only. */
  readonly savedFrom: number;
}

/** A strategy for cutting joint graphs. */
export type Partitioner = (joint: JointGraph) => Partition;

/** Saves the values that cost least, within the memory budget, and recomputes the rest. */
export const minCutPartition: Partitioner = (joint) => split(joint, savedWithinBudget(cuttableJoint(joint)));

/** Saves everything that the backward reads, recomputing only views. */
export const savingPartition: Partitioner = (joint) => {
  const independent = independentNodes(joint);
  const classifier = new Classifier();
  const saved = new Set<Node>();
  const visit = (node: Node) => {
    if (classifier.kindOf(node) === "view" || metasOf(node).length !== 1) {
      if (node.op !== "placeholder") { for (const input of node.inputs()) visit(input); }
      return;
    }
    saved.add(node);
  };
  for (const node of independent) {
    if ([...node.users.keys()].some((user) => !independent.has(user) && user.op !== "output")) visit(node);
  }
  return split(joint, saved);
};

/** Builds the two graphs. */
function split(joint: JointGraph, chosen: ReadonlySet<Node>): Partition {
  const { graph, plan, results, tangents, arrivals, gradients } = joint;
  const inputs = graph.placeholders.slice(0, plan.inputCount);
  const inputPlaces = new Map(inputs.map((node, at) => [node, at])), resultPlaces = new Map<Node, number>();
  for (const [at, result] of results.entries()) {
    if (result instanceof Node && !resultPlaces.has(result)) resultPlaces.set(result, at);
  }
  const mutated = new Set(plan.mutations.map(({ input }) => inputs[input]));
  // Sizes are passed by symbol, so the cut of their nodes does not matter.
  const kept = [...graph.nodes].filter((node) => chosen.has(node) && node.meta.value.kind !== "size");
  const forward = new Graph();
  const copies = new Map<Node, Node>();
  for (const node of graph.nodes) {
    if (inputPlaces.has(node)) copies.set(node, copyNode(forward, node, copies));
  }
  for (const node of ancestors(graph, [...forwardEnds(joint), ...kept])) {
    if (node.op !== "placeholder") copies.set(node, copyNode(forward, node, copies));
  }
  const builder = new GraphBuilder(forward);
  builder.shared = { partition: "forward" };
  const outputs: Argument[] = results.map((result) => mapNodes(result, (node) => copyOf(copies, node)));
  const saved: SavedValue[] = [];
  const savedMetas: TensorMeta[] = [];
  for (const node of kept) {
    const input = inputPlaces.get(node);
    const meta = valueOfNode(node).meta;
    if (input !== undefined && !mutated.has(node)) {
      saved.push({ kind: "input", input });
      savedMetas.push(meta);
      continue;
    }
    const result = resultPlaces.get(node);
    if (result !== undefined) {
      saved.push({ kind: "output", output: result });
      savedMetas.push(meta);
      continue;
    }
    const value = builder.valueOf(copyOf(copies, node), meta);
    // A value that is overwritten later is copied; so is a part of a tensor, rather than keeping the whole alive.
    const overwritten = mutated.has(memoryRoot(node));
    const own = !overwritten && isContiguous(meta) ? value : builtBy(builder).clone(value);
    saved.push({ kind: "output", output: outputs.length });
    savedMetas.push(own.meta);
    outputs.push(own.node);
  }
  builder.output(outputs);
  const { backward, sizes } = backwardGraph({
    graph,
    kept,
    savedMetas,
    given: [...tangents, ...arrivals],
    gradients,
  });
  return { forward, backward, saved, sizes, savedFrom: results.length };
}

/** The backward graph: from saved values, sizes and tangents to gradients. */
function backwardGraph(
  { graph, kept, savedMetas, given, gradients }: {
    readonly graph: Graph;
    readonly kept: readonly Node[];
    readonly savedMetas: readonly TensorMeta[];
    /** Tangents, and the flags of those that have arrived. */
    readonly given: readonly Node[];
    readonly gradients: readonly (Node | null)[];
  },
): { readonly backward: Graph; readonly sizes: Sym[] } {
  const backward = new Graph();
  const copies = new Map<Node, Node>();
  const builder = new GraphBuilder(backward);
  for (const [at, node] of kept.entries()) {
    const meta = savedMetas[at];
    if (!meta) throw new InternalError(`Expected metadata of ${node.name}`);
    copies.set(node, builder.tensor(node.name, meta, { stack: node.meta.stack }).node);
  }
  for (const node of given) copies.set(node, copyNode(backward, node, copies));
  const order = new Map(graph.nodes.map((node, at) => [node, at]));
  const orderOf = (node: Node) => order.get(node) ?? 0;
  // Nodes are recomputed right before their first use, so that they occupy memory only from then on.
  const make = (node: Node): void => {
    if (copies.has(node)) return;
    if (node.op === "placeholder" && node.meta.value.kind === "tensor") {
      throw new InternalError(`Expected ${node.name} to be saved for the backward`);
    }
    for (const input of [...node.inputs()].sort((a, b) => orderOf(a) - orderOf(b))) make(input);
    if (node.op === "placeholder") return;
    const copy = copyNode(backward, node, copies);
    copies.set(node, copy);
    // The saved value may be a row-major copy of a value in another layout.
    refreshMeta(copy);
  };
  const wanted = gradients.filter((node) => node !== null);
  const cone = ancestors(graph, wanted);
  const dependent = new Set<Node>(given);
  for (const node of cone) {
    if ([...node.inputs()].some((input) => dependent.has(input))) dependent.add(node);
  }
  for (const node of cone) if (dependent.has(node)) make(node);
  for (const node of wanted) make(node);
  builder.output(gradients.map((node) => node && copyOf(copies, node)));
  // Values that only metadata needed are dropped. Kernels choose the strides of values that stay inside
  const bound = new Set(
    sizeBindings(backward).flatMap(({ symbol, part }) =>
      part.kind === "stride" || part.kind === "offset" ? [] : [symbol]
    ),
  );
  const sizes = [...symbolsOf(backward.nodes)].filter((symbol) => !bound.has(symbol));
  const firstTangent = copies.get(given[0] ?? backward.output);
  for (const size of sizes) {
    backward.create("placeholder", `${size}`, {
      meta: { value: { kind: "size", size } },
      ...(firstTangent ? { before: firstTangent } : {}),
    });
  }
  return { backward, sizes };
}

function copyNode(into: Graph, node: Node, copies: ReadonlyMap<Node, Node>): Node {
  const operands = mapOperands(node, (each) => copyOf(copies, each));
  return into.create(node.op, node.target, { name: node.name, ...operands, meta: node.meta });
}

function copyOf(copies: ReadonlyMap<Node, Node>, node: Node): Node {
  const copy = copies.get(node);
  if (!copy) throw new InternalError(`Expected a copy of ${node.name}`);
  return copy;
}
