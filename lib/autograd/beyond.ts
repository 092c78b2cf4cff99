/**
 * Finds what a computation depends on besides its arguments, from the histories of its results: whether gradients
 * reach other leaves, and which.
 */
import { AccumulateGrad, type Edge, gradientEdge, type Node } from "./node.ts";
import type { Tensor } from "../tensor/tensor.ts";

/** Leaves that transforms made and that nobody else can ask gradients of any more. */
const ended = new WeakSet<Tensor>();

/** Ends a transform: gradients that reach the leaves it made do not count as flowing beyond an outer one. */
export function endTransform(leaves: readonly Tensor[]): void {
  for (const leaf of leaves) ended.add(leaf);
}

/** The leaves that gradients of outputs reach, but not through nodes that made `except`. */
function* leavesBehind(outputs: readonly Tensor[], except: readonly Tensor[] = []): Generator<Tensor> {
  const edgesOf = (list: readonly Tensor[]): Edge[] => list.flatMap((tensor) => gradientEdge(tensor) ?? []);
  const excluded = new Set(edgesOf(except).map(({ node }) => node)), met = new Map<Node, Set<number>>();
  const open = edgesOf(outputs);
  for (let at = open.pop(); at; at = open.pop()) {
    const { node, output } = at, places = met.get(node) ?? new Set();
    if (excluded.has(node) || places.has(output)) continue;
    met.set(node, places.add(output));
    if (node instanceof AccumulateGrad) yield node.variable;
    for (const [k, edge] of node.edges.entries()) if (edge && node.reaches(output, k)) open.push(edge);
  }
}

/** Returns whether gradients of outputs reach anything besides these tensors and the leaves of ended transforms. */
export function flowsBeyond(outputs: readonly Tensor[], tensors: readonly Tensor[]): boolean {
  for (const leaf of leavesBehind(outputs, tensors)) if (!ended.has(leaf)) return true;
  return false;
}

/** Returns all leaves that a backward pass from outputs reaches. */
export function reachableLeaves(outputs: readonly Tensor[]): Set<Tensor> {
  return new Set(leavesBehind(outputs));
}
