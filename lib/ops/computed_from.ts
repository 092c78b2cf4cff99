/**
 * The memory that each value of a captured graph aliases, while the graph may still write in place. Invariant: two
 * values may share memory only if they have the same root, or both are inputs, since inputs may alias each other.
 */
import { type Graph, hasEffect, type Node } from "../graph/node.ts";
import { findTarget } from "./table.ts";

/** The value that a node may be a view of; undefined if it has memory of its own. */
export function viewedValue(node: Node): Node | undefined {
  const kind = findTarget(node.target)?.definition.implementation.kind;
  const shows = hasEffect(node) || node.target === "getitem" || kind === "view" || kind === "composite";
  return node.op !== "placeholder" && shows ? [...node.inputs()][0] : undefined;
}

/** The value that owns the memory that a node may alias. */
export function rootOf(node: Node): Node {
  let root = node;
  for (let shown = viewedValue(root); shown; shown = viewedValue(root)) root = shown;
  return root;
}

/** Returns whether any of the nodes may alias memory of these roots. Inputs may alias each other. */
export function shares(nodes: readonly Node[], roots: ReadonlySet<Node>): boolean {
  const hasInput = [...roots].some(({ op }) => op === "placeholder");
  return nodes.map(rootOf).some((root) => roots.has(root) || (hasInput && root.op === "placeholder"));
}

/**
 * The nodes that a node is computed from: its inputs, and earlier calls that wrote into their memory. Data edges
 * alone do not lead from `c.sum()` to `c.copy_(z)`.
 */
export class ComputedFrom {
  /** Calls that write, by the root of the written value; all inputs count as one root. */
  readonly #writes = new Map<Node | "inputs", Node[]>();
  readonly #places: ReadonlyMap<Node, number>;

  constructor({ nodes }: Graph) {
    this.#places = new Map(nodes.map((node, place) => [node, place]));
    for (const node of nodes) {
      if (!hasEffect(node)) continue;
      const memory = memoryOf(node), known = this.#writes.get(memory);
      if (known) known.push(node);
      else this.#writes.set(memory, [node]);
    }
  }

  /** The calls that write into the memory of a node. */
  writtenInto(node: Node): readonly Node[] {
    return this.#writes.get(memoryOf(node)) ?? [];
  }

  /** Returns the nodes that a node is computed from. */
  of(node: Node): readonly Node[] {
    const inputs = [...node.inputs()];
    if (this.#writes.size === 0) return inputs;
    const place = this.#places.get(node) ?? Infinity;
    const writes = [...new Set(inputs.map(memoryOf))].flatMap((memory) => this.#writes.get(memory) ?? []);
    return [...inputs, ...writes.filter((write) => (this.#places.get(write) ?? Infinity) < place)];
  }
}

const memoryOf = (node: Node): Node | "inputs" => {
  const root = rootOf(node);
  return root.op === "placeholder" ? "inputs" : root;
};
