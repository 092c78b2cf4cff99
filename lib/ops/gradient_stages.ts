/**
 * Gradients behind what the host computes: a graph runs in stages then, and a gradient passes through several of them.
 * Input: the nodes that are differentiated; output: the nodes that the gradient passes through, and who takes it: the last
 * stage, which computes again what earlier ones have, or the tape, on which all stages leave theirs. Invariant: what is
 * computed again gives the same: it draws no random numbers, has no gradient of its own, and nothing was written before.
 */
import { takesGradients } from "../graph/gradient_call.ts";
import { type Graph, hasEffect, type Node } from "../graph/node.ts";
import { ComputedFrom } from "./computed_from.ts";

/** What a gradient passes through on its way from some nodes, in the order of the graph. */
export function gradientPath(graph: Graph, from: Iterable<Node>): readonly Node[] {
  const path = new Set<Node>(), computed = new ComputedFrom(graph);
  const add = (node: Node) => {
    if (node.op !== "placeholder" && carriesGradient(node)) path.add(node);
  };
  for (const node of from) {
    add(node);
    // An input has no way behind it, but what was written into it has
    for (const write of computed.writtenInto(node)) add(write);
  }
  for (const node of path) for (const each of computed.of(node)) add(each);
  return graph.nodes.filter((node) => path.has(node));
}

/** What is asked about a path. */
export interface Crossing {
  /** What gradients are taken with respect to; none where these are leaves. */
  readonly inputs: readonly Node[];
  /** Whether the gradients have a history of their own. */
  readonly createGraph: boolean;
  /** In front of which node the path is to be computed a second time; null: at the end of the graph. */
  readonly before: Node | null;
  /** Whether a node draws random numbers, be it in what it is composed of. */
  readonly draws: (node: Node) => boolean;
}

/** Who takes a gradient that passes through several stages. */
export type LateGradient =
  /** The stage that asks for it, which computes the path again. */
  | { readonly kind: "repeated" }
  /** The tape, while the graph runs: each stage has left there what it has computed. */
  | { readonly kind: "taped" }
  | { readonly kind: "refused"; readonly because: string };

/** Who takes a gradient along a path. */
export function lateGradient(
  graph: Graph,
  path: readonly Node[],
  { inputs, createGraph, before, draws }: Crossing,
): LateGradient {
  const refused = (because: string) => ({ kind: "refused", because } as const);
  const host = path.find(({ meta }) => meta.onHost && !meta.taped);
  if (host) return refused(`${host.name}, which the host computes, lies on its way`);
  const taken = path.find(takesGradients);
  if (taken) return refused(`${taken.name} takes gradients before the host has computed`);
  const because = whyNotRepeated(graph, path, { before, draws });
  if (because === null) return { kind: "repeated" };
  // Stages are compiled: their tape knows what they are given and what they give, and nothing between
  const begun = path.find(({ meta }) => meta.leaf) ?? inputs.find(({ op }) => op.startsWith("call_"));
  if (begun) return refused(`${because}, and ${begun.name} is made in the graph`);
  return createGraph ? refused(`${because}, and a gradient has a history of its own`) : { kind: "taped" };
}

/** Why the nodes of a path cannot be computed a second time; null: they can. */
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
