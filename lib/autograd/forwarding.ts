/**
 * Redirects gradients from results to the ones they replace, where the hooks are. Invariant: a replacement is made
 * after the original, so that edges still lead to nodes made earlier.
 */
import { AccumulateGrad, type Edge, forwarded, type Node } from "./node.ts";

/** A result, and the one that it replaces. */
interface StandInResult {
  readonly of: Edge;
  readonly is: Edge;
}

/**
 * Redirects gradients to the replaced results: along the edges of all reachable nodes with at least the sequence number
 * `since`, and from tensors that are used later.
 */
export function forwardGradients(
  results: readonly StandInResult[],
  { from, since }: { readonly from: Iterable<Node>; readonly since: number },
): void {
  for (const { of, is } of results) {
    is.node.forwarding = new Map([...is.node.forwarding ?? [], [is.output, of]]);
  }
  const seen = new Set(from);
  for (const node of seen) {
    if (node instanceof AccumulateGrad || node.sequence < since) continue;
    for (const edge of node.edges) if (edge) seen.add(edge.node);
    if (node.edges.some((edge) => edge && forwarded(edge) !== edge)) {
      node.edges = node.edges.map((edge) => edge && forwarded(edge));
    }
  }
}
