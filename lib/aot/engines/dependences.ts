/**
 * Dependences between the nodes of a graph, captured or functional: for each node the earlier ones that it must
 * follow, and the memory that it may write. Invariant: any order of the nodes that respects them yields the same
 * values, memory contents and random numbers.
 */
import { NotFunctional } from "../../autograd/functional.ts";
import { drawingNodes } from "../../autograd/graph_replay.ts";
import { isHigherOrder } from "../../graph/higher_order.ts";
import type { GraphModule } from "../../graph/graph_module.ts";
import { hasEffect, type Node } from "../../graph/node.ts";
import { isNumberNode } from "../../graph/numbers.ts";
import { RANDOM_KEYS } from "../../graph/signature.ts";
import { findTarget } from "../../ops/table.ts";

/** A set of values that may share memory. */
type MemoryClass = Node;

/** The order that a graph requires. */
interface Dependences {
  /** The nodes that a node must follow: those it reads, and those that access memory in conflict with it. */
  readonly before: ReadonlyMap<Node, ReadonlySet<Node>>;
  /** Returns the memory that a value may alias. */
  readonly classOf: (node: Node) => MemoryClass;
  /** Returns the memories that a node may write. */
  readonly writes: (node: Node) => ReadonlySet<MemoryClass>;
}

/** How a node accesses memory, at least. */
type Conduct = "pure" | "shows" | "writes" | "anything";

function conductOf(node: Node): Conduct {
  if (node.op === "get_attr" || node.op === "placeholder" || node.op === "output") return "pure";
  if (node.op === "call_module" || isHigherOrder(node) || node.meta.gradient) return "anything";
  if (node.meta.region || isNumberNode(node)) return "pure";
  if (node.target === "getitem") return "shows";
  const definition = findTarget(node.target)?.definition;
  if (!definition) return "anything";
  if (hasEffect(node)) return "writes";
  switch (definition.implementation.kind) {
    case "lower":
    case "host":
    case "random":
      return "pure";
    case "view":
    case "composite":
      return "shows";
  }
}

/** The nodes that draw random numbers in order; where that is unknown, all that may. */
function drawingOf(gm: GraphModule): ReadonlySet<Node> {
  const might = gm.graph.nodes.filter((node) => {
    const kind = findTarget(node.target)?.definition.implementation.kind;
    return node.op !== "placeholder" &&
      (kind === "composite" || (kind === "random" && !(RANDOM_KEYS in node.kwargs)));
  });
  if (might.length === 0) return new Set();
  try {
    return drawingNodes(gm);
  } catch (error) {
    if (error instanceof NotFunctional) return new Set(might);
    throw error;
  }
}

/** Partitions values by the memory that they may share. */
class Classes {
  readonly #parents = new Map<Node, Node>();

  of(node: Node): Node {
    let root = node;
    for (let up = this.#parents.get(root); up; up = this.#parents.get(root)) root = up;
    if (root !== node) this.#parents.set(node, root);
    return root;
  }

  join(a: Node, b: Node): void {
    const from = this.of(a), to = this.of(b);
    if (from !== to) this.#parents.set(from, to);
  }
}

/** The last writer of a memory, and its readers since. */
interface Use {
  writer: Node | null;
  readers: Node[];
}

/** Returns the dependences that an order of the graph must respect. */
export function dependencesOf(gm: GraphModule): Dependences {
  const { graph } = gm, classes = new Classes(), drawing = drawingOf(gm), [first] = graph.placeholders;
  // Inputs may share memory with each other
  for (const node of graph.placeholders) if (first) classes.join(node, first);
  const conducts = new Map(graph.nodes.map((node) => [node, conductOf(node)]));
  for (const [node, conduct] of conducts) {
    if (conduct === "pure") continue;
    for (const input of node.inputs()) classes.join(node, input);
  }
  const writes = (node: Node): ReadonlySet<MemoryClass> => {
    const conduct = conducts.get(node);
    if (conduct === "anything") return new Set([node, ...node.inputs()].map((each) => classes.of(each)));
    return new Set(
      conduct === "writes" ? [...node.inputs()].slice(0, 1).map((each) => classes.of(each)) : [],
    );
  };
  const uses = new Map<Node | "generator", Use>(), before = new Map<Node, Set<Node>>();
  const touch = (node: Node, what: Node | "generator", isWritten: boolean) => {
    const use = uses.get(what) ?? { writer: null, readers: [] }, earlier = before.get(node);
    uses.set(what, use);
    if (use.writer && use.writer !== node) earlier?.add(use.writer);
    if (!isWritten) use.readers.push(node);
    else {
      for (const reader of use.readers) if (reader !== node) earlier?.add(reader);
      Object.assign(use, { writer: node, readers: [] });
    }
  };
  for (const node of graph.nodes) {
    const inputs = node.inputs(), written = writes(node), conduct = conducts.get(node);
    before.set(node, new Set(inputs));
    for (const input of inputs) if (!written.has(classes.of(input))) touch(node, classes.of(input), false);
    for (const each of written) touch(node, each, true);
    if (conduct === "anything" || drawing.has(node)) touch(node, "generator", true);
  }
  return { before, classOf: (node) => classes.of(node), writes };
}
