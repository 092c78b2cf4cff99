/**
 * Moves nodes to the last part of a step if they fuse better there than in an earlier one. Invariant: no collective
 * depends on them.
 */
import type { Node } from "../graph/node.ts";
import type { Group } from "./groups.ts";
import { Classifier } from "./recompute.ts";

/**
 * Moves pointwise nodes that only the last group reads: nodes computed from inputs alone, such as the decay of an
 * optimizer's moments, would otherwise be stored and read again; in the last group, new values of inputs are written in
 * place.
 */
export function computedLate(groups: readonly Group[], newValues: ReadonlySet<Node>): Group[] {
  const last = groups.at(-1);
  if (last?.kind !== "compiled") return [...groups];
  const earlier = groups.slice(0, -1), classifier = new Classifier();
  const isLoop = (node: Node) => ["pointwise", "view"].includes(classifier.kindOf(node));
  const ofInputs = new Set<Node>(), there = new Set(last.nodes), moved = new Set<Node>();
  const computing = earlier.flatMap(({ nodes, kind }) => kind === "compiled" ? nodes : []);
  for (const node of computing) {
    if (isLoop(node) && [...node.inputs()].every((each) => each.op === "placeholder" || ofInputs.has(each))) {
      ofInputs.add(node);
    }
  }
  for (const node of computing.toReversed()) {
    const isRead = [...node.users.keys()].every((user) => there.has(user) || user.op === "output");
    const isNew = newValues.has(node) && classifier.kindOf(node) === "pointwise";
    if (!isRead || !(ofInputs.has(node) || isNew)) continue;
    there.add(node);
    moved.add(node);
  }
  const kept = earlier.map(({ nodes, kind }) => ({ kind, nodes: nodes.filter((node) => !moved.has(node)) }));
  return [
    ...kept.filter(({ nodes }) => nodes.length > 0),
    { kind: "compiled", nodes: [...computing.filter((node) => moved.has(node)), ...last.nodes] },
  ];
}
