/**
 * Orders the nodes of a captured graph around its collectives: these start as early as possible, and nodes that do not
 * read their results run before those that do. Invariants: collectives keep their order, which all processes share;
 * nothing moves past writes, random draws or host ops.
 */
import { orNull } from "../base/errors.ts";
import type { SharedCall } from "../base/pending_collectives.ts";
import { drawingNodes } from "../autograd/graph_replay.ts";
import { NotFunctional } from "../autograd/functional.ts";
import type { GraphModule } from "../graph/graph_module.ts";
import { type Graph, hasEffect, Node } from "../graph/node.ts";

/** Returns whether a node is a collective, rather than one of its results. */
export function beginsWork({ meta: { begins, value } }: Node): boolean {
  return begins === true && value.kind === "tensors";
}

/** The nodes that unpack the results of a collective. */
export function resultsOf(call: Node): readonly Node[] {
  return [...call.users.keys()].filter(({ meta }) => meta.begins === true);
}

/** Returns the collectives of a graph, in order. */
export function sharedCallsOf(graph: Graph): SharedCall[] {
  return graph.nodes.filter(beginsWork).map(({ target, args, meta: { value } }) => ({
    name: target,
    constants: args.filter((each) => !(each instanceof Node)),
    results: value.kind === "tensors"
      ? value.tensors.map(({ dtype, shape }) => `${dtype} [${shape.join(", ")}]`).join(", ")
      : "",
  }));
}

/** The nodes between inputs and output, in an order that starts collectives early. */
export function beginningEarly(captured: GraphModule): readonly Node[] {
  const nodes = captured.graph.nodes.filter(({ op }) => op !== "placeholder" && op !== "output");
  if (!nodes.some(beginsWork)) return nodes;
  const stays = staying(captured);
  if (stays === null) return nodes;
  const ordered: Node[] = [];
  let stretch: Node[] = [];
  for (const node of nodes) {
    if (isTaken(node)) continue;
    if (!stays(node)) {
      stretch.push(node);
      continue;
    }
    ordered.push(...inStretch(stretch), node);
    stretch = [];
  }
  return [...ordered, ...inStretch(stretch)].flatMap((
    node,
  ) => [node, ...[...node.users.keys()].filter(isTaken)]);
}

/**
 * Returns whether a node is one of several results of another: it stays in the same part, since parts pass single
 * tensors to each other.
 */
function isTaken(node: Node): boolean {
  const [from] = node.inputs();
  return node.target === "getitem" && from?.meta.value.kind === "tensors";
}

/** Returns the inputs of a node; an input that is one of several results counts as the node that computes them. */
function inputsOf(node: Node): readonly Node[] {
  return [...node.inputs()].flatMap((input) => isTaken(input) ? [...input.inputs()] : [input]);
}

/** Returns the nodes that others must not pass; null if unknown. Functional graphs have none. */
function staying(captured: GraphModule): ((node: Node) => boolean) | null {
  if (captured.signature) return () => false;
  const drawing = orNull(NotFunctional, () => drawingNodes(captured));
  return drawing &&
    ((node) =>
      hasEffect(node) || drawing.has(node) || (node.meta.onHost === true && node.meta.begins !== true));
}

/** Reorders nodes that may run in any order that their inputs allow. */
function inStretch(nodes: readonly Node[]): readonly Node[] {
  const left = new Set(nodes), ordered: Node[] = [];
  /** Results of collectives that have not been awaited yet. */
  const pending = new Set<Node>();
  const take = (chosen: readonly Node[]) => {
    for (const node of chosen) if (left.delete(node)) ordered.push(node);
  };
  const free = () => [...left].filter((node) => !beginsWork(node) && !pending.has(node));
  for (const call of nodes.filter(beginsWork)) {
    const needed = ancestors(call, left);
    if ([...needed, ...inputsOf(call)].some((node) => pending.has(node))) {
      take(independent(free(), left));
      pending.clear();
    }
    take([...needed, call]);
    for (const node of reached(call, nodes)) pending.add(node);
  }
  take(independent(free(), left));
  take([...left]);
  return ordered;
}

/** Returns the nodes that do not depend on any remaining node. */
function independent(nodes: readonly Node[], left: ReadonlySet<Node>): readonly Node[] {
  const own = new Set<Node>();
  for (const node of nodes) {
    if (inputsOf(node).every((input) => !left.has(input) || own.has(input))) own.add(node);
  }
  return [...own];
}

/** Returns the remaining nodes that a call depends on, in order, without the call. */
function ancestors(call: Node, left: ReadonlySet<Node>): readonly Node[] {
  const found = new Set<Node>([call]);
  for (const node of found) for (const input of inputsOf(node)) if (left.has(input)) found.add(input);
  found.delete(call);
  return [...left].filter((node) => found.has(node));
}

/** Returns the nodes computed from a call, itself included. */
function reached(call: Node, nodes: readonly Node[]): ReadonlySet<Node> {
  const found = new Set<Node>([call]);
  for (const node of nodes) if (inputsOf(node).some((input) => found.has(input))) found.add(node);
  return found;
}
