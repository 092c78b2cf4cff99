/**
 * Finds what a computation depends on besides its arguments, from the histories of its results: whether gradients
 * reach other leaves, and which.
 */
import { AccumulateGrad, gradientEdge, type Node } from "./node.ts";
import type { Tensor } from "../tensor/tensor.ts";

/** Leaves that transforms made and that nobody else can ask gradients of any more. */
const ended = new WeakSet<Tensor>();

/** Ends a transform: gradients that reach the leaves it made do not count as flowing beyond an outer one. */
export function endTransform(leaves: readonly Tensor[]): void {
  for (const leaf of leaves) ended.add(leaf);
}

/** Returns whether gradients of outputs reach anything besides these tensors and the leaves of ended transforms. */
export function flowsBeyond(outputs: readonly Tensor[], tensors: readonly Tensor[]): boolean {
  const nodesOf = (list: readonly Tensor[]): Node[] =>
    list.flatMap((tensor) => gradientEdge(tensor)?.node ?? []);
  const met = new Set(nodesOf(tensors)), open = nodesOf(outputs);
  for (let node = open.pop(); node; node = open.pop()) {
    if (met.has(node)) continue;
    met.add(node);
    if (node instanceof AccumulateGrad && !ended.has(node.variable)) return true;
    for (const edge of node.edges) if (edge) open.push(edge.node);
  }
  return false;
}

/** Returns all leaves that a backward pass from outputs reaches. */
export function reachableLeaves(outputs: readonly Tensor[]): Set<Tensor> {
  const found = new Set<Tensor>(), met = new Set<Node>();
  const open = outputs.flatMap((tensor) => gradientEdge(tensor)?.node ?? []);
  for (let node = open.pop(); node; node = open.pop()) {
    if (met.has(node)) continue;
    met.add(node);
    if (node instanceof AccumulateGrad) found.add(node.variable);
    for (const edge of node.edges) if (edge) open.push(edge.node);
  }
  return found;
}
