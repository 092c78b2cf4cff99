/**
 * Merges parts that compute next to nothing, since starting a part takes longer than running it. Invariant: nothing
 * runs before what it reads, and no collective waits for more than before, except for such parts.
 */
import type { Node } from "../graph/node.ts";
import type { Dim } from "../sym/expr.ts";
import type { Group } from "./groups.ts";
import { Classifier } from "./recompute.ts";

/** Number of elements below which running loops takes less time than starting a part, or resuming a concurrent call. */
const FEW = 2048;

/** Returns whether nodes compute next to nothing. */
function isSmall(nodes: readonly Node[]): boolean {
  const most = (node: Node) => Math.max(elementsOf(node), ...[...node.inputs()].map(elementsOf));
  if (nodes.reduce((sum, node) => sum + most(node), 0) > FEW) return false;
  const classifier = new Classifier();
  return nodes.every((node) => ["pointwise", "view", "reduction"].includes(classifier.kindOf(node)));
}

/** Returns the number of elements of a node; Infinity if it is not known. */
function elementsOf({ meta: { value } }: Node): number {
  const metas = value.kind === "tensor" ? [value.tensor] : value.kind === "tensors" ? value.tensors : [];
  const known = (d: Dim) => typeof d === "number" ? d : Infinity;
  // Infinity times 0 is NaN
  return metas.reduce((sum, { shape }) => sum + (shape.map(known).reduce((a, b) => a * b, 1) || 0), 0);
}

function reads({ nodes }: Group, results: ReadonlySet<Node>): boolean {
  return nodes.some((node) => [...node.inputs()].some((each) => results.has(each)));
}

/** Joins small parts with the part that directly follows, or else with the one before the calls that precede them. */
export function mergeSmallParts(groups: readonly Group[]): Group[] {
  const found: Group[] = [];
  let open: readonly Node[] = [];
  for (const [at, group] of groups.entries()) {
    if (group.kind !== "compiled") {
      found.push(group);
      continue;
    }
    const nodes = [...open, ...group.nodes], next = groups[at + 1];
    open = [];
    const before = found.findLastIndex(({ kind }) => kind === "compiled"), target = found[before];
    const between = new Set(found.slice(before + 1).flatMap((each) => each.nodes));
    if (!next || !isSmall(nodes)) found.push({ kind: "compiled", nodes });
    else if (next.kind === "compiled") open = nodes;
    else if (target && !reads({ kind: "compiled", nodes }, between)) {
      found[before] = { kind: "compiled", nodes: [...target.nodes, ...nodes] };
    } else found.push({ kind: "compiled", nodes });
  }
  return found;
}

/** Returns whether substantial work runs between the first of some groups and the readers of its results. */
export function hasTime([first, ...rest]: readonly Group[]): boolean {
  const results = new Set(first?.nodes), at = rest.findIndex((group) => reads(group, results));
  const between = at < 0 ? rest : rest.slice(0, at);
  return !isSmall(between.flatMap(({ kind, nodes }) => kind === "begins" ? [] : nodes));
}
