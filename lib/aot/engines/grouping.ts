/**
 * Which nodes run together. Input: nodes in order, the engine of each, and what each has to come behind; output: groups
 * of one engine each, in an order in which they can run. Invariants: no group needs another that needs it, by any way
 * around; no two groups of one engine could be one.
 */
import { InternalError } from "../../base/errors.ts";
import type { Node } from "../../graph/node.ts";

/** The engine of a node; null: none wants it. */
export type EngineName = string | null;

/** Nodes that run together, in their order. */
export interface Group {
  readonly engine: EngineName;
  readonly nodes: readonly Node[];
}

interface OpenGroup {
  readonly engine: EngineName;
  nodes: Node[];
  /** Groups that have to run before. */
  readonly needs: Set<OpenGroup>;
}

/** Puts nodes together; `order` are the nodes in order, `before` what each has to come behind. */
export function groupNodes(
  order: readonly Node[],
  { engineOf, before }: {
    readonly engineOf: (node: Node) => EngineName;
    readonly before: ReadonlyMap<Node, ReadonlySet<Node>>;
  },
): Group[] {
  const place = new Map(order.map((node, at) => [node, at]));
  const earlier = (node: Node) => [...before.get(node) ?? []].filter((each) => place.has(each));
  const open = byLevel(order, engineOf, earlier);
  for (let k = 0; k < open.length; k++) {
    for (let j = k + 1; j < open.length; j++) {
      const one = open[k], other = open[j];
      if (!one || !other || one.engine !== other.engine || isBetween(one, other)) continue;
      join(one, other, open);
      open.splice(j--, 1);
    }
  }
  for (const group of open) group.nodes.sort((a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0));
  return inOrder(open);
}

/**
 * A node's level counts the changes of engine on the way to it, so that nodes of one engine and one level need each other
 * only among themselves.
 */
function byLevel(
  order: readonly Node[],
  engineOf: (node: Node) => EngineName,
  earlier: (node: Node) => readonly Node[],
): OpenGroup[] {
  const levels = new Map<Node, number>(),
    groups = new Map<string, OpenGroup>(),
    home = new Map<Node, OpenGroup>();
  for (const node of order) {
    const engine = engineOf(node), needed = earlier(node);
    const level = Math.max(
      0,
      ...needed.map((each) => (levels.get(each) ?? 0) + (engineOf(each) === engine ? 0 : 1)),
    );
    levels.set(node, level);
    const key = `${level} ${engine ?? ""}`;
    const group = groups.get(key) ?? { engine, nodes: [], needs: new Set() };
    groups.set(key, group);
    group.nodes.push(node);
    home.set(node, group);
    for (const each of needed) {
      const from = home.get(each);
      if (from && from !== group) group.needs.add(from);
    }
  }
  return [...groups.values()];
}

/** Whether a third group has to run between two, whichever of them comes first. */
function isBetween(one: OpenGroup, other: OpenGroup): boolean {
  return reaches(one, other) || reaches(other, one);
}

/** Whether `to` needs `from` by way of another group. */
function reaches(from: OpenGroup, to: OpenGroup): boolean {
  const seen = new Set<OpenGroup>(), left = [...to.needs].filter((each) => each !== from);
  for (let group = left.pop(); group; group = left.pop()) {
    if (group === from) return true;
    if (seen.has(group)) continue;
    seen.add(group);
    left.push(...group.needs);
  }
  return false;
}

function join(one: OpenGroup, other: OpenGroup, all: readonly OpenGroup[]): void {
  one.nodes = [...one.nodes, ...other.nodes];
  for (const each of other.needs) one.needs.add(each);
  for (const { needs } of all) if (needs.delete(other)) needs.add(one);
  one.needs.delete(one);
  one.needs.delete(other);
}

/** Groups behind those that they need. */
function inOrder(groups: readonly OpenGroup[]): Group[] {
  const done = new Set<OpenGroup>(), left = new Set(groups);
  while (left.size > 0) {
    const ready = [...left].filter(({ needs }) => [...needs].every((each) => done.has(each)));
    if (ready.length === 0) throw new InternalError("Expected groups that can run one after the other");
    for (const group of ready) {
      done.add(group);
      left.delete(group);
    }
  }
  return [...done].map(({ engine, nodes }) => ({ engine, nodes }));
}
