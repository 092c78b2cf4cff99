/**
 * Groups the nodes of a graph that read elements, so that a device is waited for once. Invariant: every tensor of a group
 * has its elements before the first node of the group, and nothing is written before the last one.
 */
import { type Graph, hasEffect, type Node } from "./node.ts";
import { NUMBER } from "./numbers.ts";

/** The group of each node that reads an element, in order. */
export function readsTogether(graph: Graph): Map<Node, readonly Node[]> {
  const found = new Map<Node, Node[]>();
  let group: Node[] = [], computed = new Set<Node>();
  const end = () => [group, computed] = [[], new Set()];
  for (const node of graph.nodes) {
    if (hasEffect(node)) end();
    if (!isRead(node)) {
      computed.add(node);
      continue;
    }
    if ([...node.inputs()].some((input) => computed.has(input))) end();
    group.push(node);
    found.set(node, group);
  }
  return found;
}

function isRead({ op, target }: Node): boolean {
  return op === "call_function" && target === NUMBER.item;
}
