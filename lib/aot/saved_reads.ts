/** Which saved values the gradients of a compiled backward graph are computed from. */
import { Node } from "../graph/node.ts";
import { outputsOf } from "../ops/rewrite/contract.ts";
import type { CompiledBackward } from "./compiled_pair.ts";

/** The positions of the saved values from which some outputs of the backward graph are computed. */
export function savedReads(
  { functional: { graph }, saved }: CompiledBackward,
  outputs: ReadonlySet<number>,
): ReadonlySet<number> {
  const reached = new Set<Node>();
  for (const [at, output] of outputsOf(graph).entries()) {
    if (outputs.has(at) && output instanceof Node) reached.add(output);
  }
  for (const node of reached) for (const input of node.inputs()) reached.add(input);
  const places = graph.placeholders.slice(0, saved.length);
  return new Set(places.flatMap((place, at) => reached.has(place) ? [at] : []));
}
