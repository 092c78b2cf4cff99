/**
 * Which nodes of a captured graph draw random numbers: they keep their order, whatever else moves. Input: a captured
 * graph; output: a question about its nodes. Invariant: a node that may draw is said to.
 */
import { orNull } from "../base/errors.ts";
import { drawingNodes } from "../autograd/graph_replay.ts";
import { NotFunctional } from "../autograd/functional.ts";
import type { GraphModule } from "../graph/graph_module.ts";
import type { Node } from "../graph/node.ts";
import { findTarget } from "../ops/table.ts";

/** Whether nodes draw, be it in what they are composed of, which is found out when it is first asked for. */
export function drawingIn(captured: GraphModule): (node: Node) => boolean {
  let found: ReadonlySet<Node> | null | undefined;
  return (node) => {
    const kind = findTarget(node.target)?.definition.implementation.kind;
    if (kind === "random") return true;
    if (kind !== "composite") return false;
    // What it is composed of is known where the host runs it
    if (node.meta.onHost) return true;
    if (found === undefined) found = orNull(NotFunctional, () => drawingNodes(captured));
    return found === null || found.has(node);
  };
}
