/**
 * Finds the nodes of a captured graph that draw random numbers, so that no reordering changes their order. Invariant: a
 * node that may draw is always included.
 */
import { orNull } from "../base/errors.ts";
import { drawingNodes } from "../autograd/graph_replay.ts";
import { NotFunctional } from "../autograd/functional.ts";
import type { GraphModule } from "../graph/graph_module.ts";
import type { Node } from "../graph/node.ts";
import { findTarget } from "../ops/table.ts";

/** Returns a predicate for nodes that draw, directly or in their composition; it is evaluated lazily. */
export function drawingIn(captured: GraphModule): (node: Node) => boolean {
  let found: ReadonlySet<Node> | null | undefined;
  return (node) => {
    const kind = findTarget(node.target)?.definition.implementation.kind;
    if (kind === "random") return true;
    if (kind !== "composite") return false;
    // A host op may draw
    if (node.meta.onHost) return true;
    if (found === undefined) found = orNull(NotFunctional, () => drawingNodes(captured));
    return found === null || found.has(node);
  };
}
