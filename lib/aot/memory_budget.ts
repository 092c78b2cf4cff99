/**
 * The memory budget of backward passes: below 1, `config.activationMemoryBudget` recomputes more values, those that
 * cost least per byte first, like `activation_memory_budget` of PyTorch's functorch. The budget is a share of what
 * would be saved without one. Invariant: saved values other than inputs and results never exceed the share, unless none
 * of them can be recomputed; results stay the same.
 */
import { config } from "../base/config.ts";
import { logs } from "../base/logs.ts";
import { elementCount } from "../graph/meta.ts";
import type { Argument, Node } from "../graph/node.ts";
import { hintOf } from "../sym/decide.ts";
import { type Cuttable, minimumCut } from "./min_cut.ts";
import { bannedFromRecomputation, bytesOf, costlyNodes, type ForwardNodes, metasOf } from "./recompute.ts";

/** Scalar operations of matrix products in the time in which memory transfers a byte. */
const OPERATIONS_PER_BYTE = 8;

/** The values to save, chosen by cost within the budget. */
export function savedWithinBudget(cuttable: Cuttable): ReadonlySet<Node> {
  const { activationMemoryBudget: share } = config, { forward } = cuttable;
  const usual = minimumCut(cuttable, bannedFromRecomputation(forward));
  if (share === 1) return usual;
  const lives = new Lives(cuttable), { bytes: wanted } = lives.peak(usual), most = share * wanted;
  // First everything that costs no more than its memory traffic, then products and other costly nodes, the cheapest
  // first
  const once = costlyNodes(forward);
  let saved = minimumCut(cuttable, once), peak = lives.peak(saved);
  while (peak.bytes > most) {
    const before = once.size;
    const choices = peak.alive.flatMap((node) => {
      const again = nearestCostly(node, once);
      const cost = again.reduce((sum, each) => sum + recomputingCost(each), 0);
      return again.length > 0 && again.every((each) => isRepeatable(each, forward))
        ? [{ again, bytes: bytesOf(node), costByByte: cost / bytesOf(node) }]
        : [];
    });
    let left = peak.bytes;
    for (const { again, bytes } of choices.sort((a, b) => a.costByByte - b.costByByte)) {
      if (left <= most) break;
      for (const node of again) once.delete(node);
      left -= bytes;
    }
    if (once.size === before) break;
    saved = minimumCut(cuttable, once);
    peak = lives.peak(saved);
  }
  const { bytes } = peak;
  logs.emit(
    "aot_joint_graph",
    () => `Saved for the backward: ${bytes} bytes at the most, ${wanted} without the budget of ${share}`,
  );
  return bytes < wanted ? saved : usual;
}

/** The live ranges of the forward part's values. */
class Lives {
  readonly #from: ReadonlyMap<Node, number>;
  readonly #to = new Map<Node, number>();
  readonly #others: ReadonlySet<Argument>;

  constructor({ graph, forward: { independent }, results }: Cuttable) {
    const from = new Map(graph.nodes.map((node, at) => [node, at]));
    // A value may also be needed through nodes that are recomputed
    for (const node of graph.nodes.toReversed()) {
      const uses = [...node.users.keys()].map((user) =>
        (independent.has(user) ? this.#to.get(user) : from.get(user)) ?? 0
      );
      this.#to.set(node, Math.max(0, ...uses));
    }
    this.#from = from;
    this.#others = new Set<Argument>([...graph.placeholders, ...results]);
  }

  /** The peak of saved values, not counting what is live anyway: its size in bytes, and the values in it. */
  peak(saved: ReadonlySet<Node>): { readonly bytes: number; readonly alive: readonly Node[] } {
    const held = [...saved].filter((node) => !this.#others.has(node)).map((node) => ({
      node,
      bytes: bytesOf(node),
      from: this.#from.get(node) ?? 0,
      to: this.#to.get(node) ?? 0,
    }));
    const changes = held.flatMap((
      { bytes, from, to },
    ) => [{ at: from, bytes }, { at: to + 1, bytes: -bytes }]);
    let now = 0, most = 0, when = 0;
    for (const { at, bytes } of changes.sort((a, b) => a.at - b.at || a.bytes - b.bytes)) {
      now += bytes;
      if (now > most) [most, when] = [now, at];
    }
    return {
      bytes: most,
      alive: held.flatMap((each) => each.from <= when && when <= each.to ? [each.node] : []),
    };
  }
}

/** Returns what prevents a node from being recomputed: the nearest nodes that must run once, possibly itself. */
function nearestCostly(node: Node, once: ReadonlySet<Node>): readonly Node[] {
  const seen = new Set([node]), found: Node[] = [];
  for (const each of seen) {
    if (once.has(each)) found.push(each);
    else for (const input of each.inputs()) seen.add(input);
  }
  return found;
}

/**
 * Returns whether a node can be computed again with the same result: calls of regions have made their own cut, and host
 * ops may have effects.
 */
function isRepeatable(node: Node, { classifier }: ForwardNodes): boolean {
  return node.op === "call_function" && !node.meta.region && !node.meta.onHost &&
    classifier.kindOf(node) !== "other";
}

/** Returns the cost of recomputing a node, as the number of bytes transferred in the same time. */
function recomputingCost(node: Node): number {
  const moved = [...node.inputs(), node].reduce((sum, each) => sum + bytesOf(each), 0);
  return Math.max(moved, 2 * multiplyAdds(node) / OPERATIONS_PER_BYTE);
}

/** Multiply-adds of matrix products and convolutions: elements of the result times terms of each. */
function multiplyAdds(node: Node): number {
  const [first, second] = [...node.inputs()].map((input) => metasOf(input)[0]), [result] = metasOf(node);
  if (!first || !second || !result) return 0;
  const elements = hintOf(elementCount(result));
  switch (node.target) {
    case "mm":
    case "bmm":
      return elements * hintOf(first.shape.at(-1) ?? 1);
    case "convolution":
      return elements * hintOf(elementCount(second)) / hintOf(second.shape[0] ?? 1);
    default:
      return 0;
  }
}
