/**
 * Chooses where to cut a forward graph whose backward pass the tape runs, so that gradients are passed on while the
 * rest of the pass runs, like torch._dynamo's DDPOptimizer. Returns the nodes before which a part ends. Invariant: a
 * graph that writes to tensors stays whole, since its parts could not save what they read.
 */
import { bucketPlaceOf } from "../autograd/gradient_buckets.ts";
import { takesGradients } from "../graph/gradient_call.ts";
import type { GraphModule } from "../graph/graph_module.ts";
import { hasEffect, type Node } from "../graph/node.ts";
import { ambient } from "../tensor/modes.ts";
import { isTensor } from "../tensor/tensor.ts";

/** The first node of each part except the first: it reads parameters of an earlier bucket than all nodes before it. */
export function bucketEnds({ calling: graph }: GraphModule, inputs: readonly unknown[]): ReadonlySet<Node> {
  const ends = new Set<Node>();
  if (!ambient.gradEnabled) return ends;
  const places = new Map<Node, number>();
  graph.placeholders.forEach((node, at) => {
    const input = inputs[at],
      place = isTensor(input) && input.requiresGrad ? bucketPlaceOf(input) : undefined;
    if (place !== undefined) places.set(node, place);
  });
  if (
    new Set(places.values()).size < 2 || graph.nodes.some((node) => hasEffect(node) || takesGradients(node))
  ) {
    return ends;
  }
  let current: number | undefined;
  for (const node of graph.nodes) {
    const read = [...node.inputs()].flatMap((input) => places.get(input) ?? []);
    if (node.op === "output" || read.length === 0) continue;
    const place = Math.min(...read);
    if (current !== undefined && place < current) ends.add(node);
    current = Math.min(current ?? place, place);
  }
  return ends;
}
