/**
 * Gradients of graphs whose values are partly computed on the host: such a graph runs in stages, and a gradient passes
 * through several of them. Either the last stage takes the gradient and recomputes what earlier ones have computed, or
 * the tape takes it, on which every stage records its part. Invariant: recomputing yields the same values: recomputed
 * nodes draw no random numbers, have no gradient of their own, and were not written to before.
 */
import { takesGradients } from "../graph/gradient_call.ts";
import { type Graph, hasEffect, type Node } from "../graph/node.ts";
import { ComputedFrom } from "./computed_from.ts";

/** Returns the nodes that a gradient from some nodes passes through, in the order of the graph. */
export function gradientPath(graph: Graph, from: Iterable<Node>): readonly Node[] {
  const path = new Set<Node>(), computed = new ComputedFrom(graph);
  const add = (node: Node) => {
    if (node.op !== "placeholder" && carriesGradient(node)) path.add(node);
  };
  for (const node of from) {
    add(node);
    // An input has no predecessors, except writes into it
    for (const write of computed.writtenInto(node)) add(write);
  }
  for (const node of path) for (const each of computed.of(node)) add(each);
  return graph.nodes.filter((node) => path.has(node));
}

/** A question about a gradient path: its inputs and the nodes on it. */
interface Crossing {
  /** The tensors that gradients are taken with respect to; empty for leaves. */
  readonly inputs: readonly Node[];
  /** Whether the gradients have a history of their own. */
  readonly createGraph: boolean;
  /** The node before which the path would be recomputed; null: at the end of the graph. */
  readonly before: Node | null;
  /** Returns whether a node draws random numbers, itself or in its composition. */
  readonly draws: (node: Node) => boolean;
}

/** How a gradient that passes through several stages is computed. */
type LateGradient =
  /** By the stage that requests it, which recomputes the path. */
  | { readonly kind: "repeated" }
  /** By the tape, while the graph runs: each stage has recorded its part there. */
  | { readonly kind: "taped" }
  | { readonly kind: "refused"; readonly because: string };

/** Decides how a gradient along a path is computed. */
export function lateGradient(
  graph: Graph,
  path: readonly Node[],
  { inputs, createGraph, before, draws }: Crossing,
): LateGradient {
  const refused = (because: string) => ({ kind: "refused", because } as const);
  const host = path.find(({ meta }) => meta.onHost && !meta.taped);
  if (host) return refused(`${host.name}, which the host computes, is on its path`);
  const taken = path.find(takesGradients);
  if (taken) return refused(`${taken.name} takes gradients before the host has computed`);
  const because = whyNotRepeated(graph, path, { before, draws });
  if (because === null) return { kind: "repeated" };
  // Stages are compiled, so the tape knows their inputs and results, but nothing in between
  const begun = path.find(({ meta }) => meta.leaf) ?? inputs.find(({ op }) => op.startsWith("call_"));
  if (begun) return refused(`${because}, and ${begun.name} is made in the graph`);
  return createGraph ? refused(`${because}, and a gradient has a history of its own`) : { kind: "taped" };
}

/** Why the nodes of a path cannot be recomputed; null: they can. */
function whyNotRepeated(
  { nodes }: Graph,
  path: readonly Node[],
  { before, draws }: Pick<Crossing, "before" | "draws">,
): string | null {
  const own = path.find(({ meta }) => meta.taped);
  if (own) return `${own.name} has a gradient of its own`;
  const random = path.find(draws);
  if (random) return `${random.name} draws random numbers before the host has computed`;
  const end = before === null ? nodes.length : nodes.indexOf(before);
  const writing = nodes.slice(0, end).find(hasEffect);
  return writing ? `${writing.name} writes before the host has computed` : null;
}

function carriesGradient({ meta: { value } }: Node): boolean {
  return (value.kind === "tensor" || value.kind === "tensors") && value.requiresGrad;
}
