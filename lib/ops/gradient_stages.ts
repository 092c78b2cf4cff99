/**
 * Gradients behind what the host computes: a graph runs in stages then, and a gradient is taken in one of them. Input:
 * the nodes that are differentiated; output: the nodes that the gradient passes through, which its own stage computes
 * again where an earlier one has. Invariant: computing them again gives the same: no random numbers, nothing written
 * before.
 */
import { takesGradients } from "../graph/gradient_call.ts";
import { type Graph, hasEffect, type Node } from "../graph/node.ts";

/** What a gradient passes through on its way from some nodes, in the order of the graph. */
export function gradientPath(graph: Graph, from: Iterable<Node>): readonly Node[] {
  const path = new Set<Node>();
  const add = (node: Node) => {
    if (node.op !== "placeholder" && carriesGradient(node)) path.add(node);
  };
  for (const node of from) add(node);
  for (const node of path) for (const input of node.inputs()) add(input);
  return graph.nodes.filter((node) => path.has(node));
}

/** What is asked about a path. */
export interface Repetition {
  /** In front of which node it is to be computed a second time; null: at the end of the graph. */
  readonly before: Node | null;
  /** Whether a node draws random numbers, be it in what it is composed of. */
  readonly draws: (node: Node) => boolean;
}

/** Why the nodes of a path cannot be computed a second time; null: they can. */
export function whyNotRepeated(
  graph: Graph,
  path: readonly Node[],
  { before, draws }: Repetition,
): string | null {
  const host = path.find(({ meta }) => meta.onHost);
  if (host) return `${host.name}, which the host computes, lies on its way`;
  const taken = path.find(takesGradients);
  if (taken) return `${taken.name} takes gradients before the host has computed`;
  const random = path.find(draws);
  if (random) return `${random.name} draws random numbers before the host has computed`;
  for (const node of graph.nodes) {
    if (node === before) break;
    if (hasEffect(node)) return `${node.name} writes before the host has computed`;
  }
  return null;
}

function carriesGradient({ meta: { value } }: Node): boolean {
  return (value.kind === "tensor" || value.kind === "tensors") && value.requiresGrad;
}
