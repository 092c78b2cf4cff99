/**
 * A budget for what backward passes keep: below 1, `config.activationMemoryBudget` has more computed again, the cheapest
 * by byte first, as `activation_memory_budget` of PyTorch's functorch. Input: a joint graph and a share of what would be
 * saved without a budget; output: the values to save. Invariant: what is saved besides inputs and results takes no more
 * than the share, unless nothing that is left can be computed twice; elements are the same.
 */
import { config } from "../base/config.ts";
import { logs } from "../base/logs.ts";
import { elementCount } from "../graph/meta.ts";
import type { Argument, Node } from "../graph/node.ts";
import { hintOf } from "../sym/decide.ts";
import type { JointGraph } from "./joint.ts";
import { forwardNodesOf, minimumCut } from "./min_cut.ts";
import { bannedFromRecomputation, bytesOf, costlyNodes, type ForwardNodes, metasOf } from "./recompute.ts";

/** Scalar operations in the time that a byte takes between memory and processor, of matrix products. */
const OPERATIONS_PER_BYTE = 8;

/** The values to save, by cost and within the budget. */
export function savedWithinBudget(joint: JointGraph): ReadonlySet<Node> {
  const { activationMemoryBudget: share } = config;
  const forward = forwardNodesOf(joint), usual = minimumCut(joint, forward, bannedFromRecomputation(forward));
  if (share === 1) return usual;
  const held = heldBy(joint), wanted = bytesIn(held(usual)), most = share * wanted;
  // First everything that costs no more than its memory traffic, then products and the like, the cheapest first
  const once = costlyNodes(forward);
  let saved = minimumCut(joint, forward, once);
  for (let left = bytesIn(held(saved)); left > most; left = bytesIn(held(saved))) {
    const before = once.size;
    const choices = held(saved).flatMap((node) => {
      const again = costlyBehind(node, once);
      const cost = again.reduce((sum, each) => sum + recomputingCost(each), 0);
      return again.length > 0 && again.every((each) => isRepeatable(each, forward))
        ? [{ again, bytes: bytesOf(node), costByByte: cost / bytesOf(node) }]
        : [];
    });
    for (const { again, bytes } of choices.sort((a, b) => a.costByByte - b.costByByte)) {
      if (left <= most) break;
      for (const node of again) once.delete(node);
      left -= bytes;
    }
    if (once.size === before) break;
    saved = minimumCut(joint, forward, once);
  }
  const found = bytesIn(held(saved));
  logs.emit(
    "aot_joint_graph",
    () => `Saved for the backward: ${found} bytes, ${wanted} without the budget of ${share}`,
  );
  return found < wanted ? saved : usual;
}

/** Those of some saved values that the forward would not keep for others. */
function heldBy({ graph, results }: JointGraph): (saved: ReadonlySet<Node>) => readonly Node[] {
  const others = new Set<Argument>([...graph.placeholders, ...results]);
  return (saved) => [...saved].filter((node) => !others.has(node));
}

const bytesIn = (nodes: readonly Node[]): number => nodes.reduce((sum, node) => sum + bytesOf(node), 0);

/** What keeps a node from being computed again: the nearest nodes that may be computed once, itself maybe. */
function costlyBehind(node: Node, once: ReadonlySet<Node>): readonly Node[] {
  const seen = new Set([node]), found: Node[] = [];
  for (const each of seen) {
    if (once.has(each)) found.push(each);
    else for (const input of each.inputs()) seen.add(input);
  }
  return found;
}

/** Whether a node gives the same again: calls of regions have cut themselves, and what runs on the host may have effects. */
function isRepeatable(node: Node, { classifier }: ForwardNodes): boolean {
  return node.op === "call_function" && !node.meta.region && !node.meta.onHost &&
    classifier.kindOf(node) !== "other";
}

/** What computing a node once more takes, as bytes that would move in the same time. */
function recomputingCost(node: Node): number {
  const moved = [...node.inputs(), node].reduce((sum, each) => sum + bytesOf(each), 0);
  return Math.max(moved, 2 * multiplyAdds(node) / OPERATIONS_PER_BYTE);
}

/** Of matrix products and convolutions: elements of the result times what each is a sum of. */
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
