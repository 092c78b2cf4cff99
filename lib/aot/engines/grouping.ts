/**
 * Groups the nodes of a graph by engine, in an order in which the groups can run. Invariants: groups have no cyclic
 * dependence, direct or indirect; no two groups of an engine could be merged.
 */
import { InternalError } from "../../base/errors.ts";
import type { Node } from "../../graph/node.ts";

/** The engine of a node; null: no engine supports it. */
export type EngineName = string | null;

/** Nodes that run together, in their order. */
export interface Group {
  readonly engine: EngineName;
  readonly nodes: readonly Node[];
}

interface OpenGroup {
  readonly engine: EngineName;
  nodes: Node[];
  /** Groups that must run before. */
  readonly needs: Set<OpenGroup>;
}

/** Groups nodes, given in order; `before`: the nodes that each must follow. */
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
  for (let k = 0, behind = ancestors(open); k < open.length; k++) {
    for (let j = k + 1; j < open.length; j++) {
      const one = open[k], other = open[j];
      if (!one || !other || one.engine !== other.engine) continue;
      if (isBetween(behind, one, other) || isBetween(behind, other, one)) continue;
      join(one, other, open);
      open.splice(j--, 1);
      behind = ancestors(open);
    }
  }
  for (const group of open) group.nodes.sort((a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0));
  return inOrder(open).map(({ engine, nodes }) => ({ engine, nodes }));
}

/**
 * A node's level counts the changes of engine on the paths to it, so that nodes of the same engine and level depend on
 * each other only through such nodes.
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

/** For each group the groups that must run before it, as bit sets of their numbers. */
interface Ancestors {
  readonly numbers: ReadonlyMap<OpenGroup, number>;
  readonly bits: ReadonlyMap<OpenGroup, Uint32Array>;
}

function ancestors(groups: readonly OpenGroup[]): Ancestors {
  const order = inOrder(groups), numbers = new Map(order.map((group, at) => [group, at]));
  const bits = new Map<OpenGroup, Uint32Array>();
  for (const group of order) {
    const own = new Uint32Array(Math.ceil(order.length / 32));
    for (const each of group.needs) {
      const at = numbers.get(each) ?? 0;
      own[at >> 5] = (own[at >> 5] ?? 0) | (1 << (at & 31));
      bits.get(each)?.forEach((word, k) => own[k] = (own[k] ?? 0) | word);
    }
    bits.set(group, own);
  }
  return { numbers, bits };
}

/** Returns whether a third group must run after one and before another. */
function isBetween({ numbers, bits }: Ancestors, from: OpenGroup, to: OpenGroup): boolean {
  const at = numbers.get(from) ?? 0;
  for (const each of to.needs) {
    if (each !== from && ((bits.get(each)?.[at >> 5] ?? 0) & (1 << (at & 31))) !== 0) return true;
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

/** Groups after those that they depend on, otherwise in their original order. */
function inOrder(groups: readonly OpenGroup[]): OpenGroup[] {
  const waits = new Map(groups.map((group) => [group, group.needs.size]));
  const users = new Map<OpenGroup, OpenGroup[]>(groups.map((group) => [group, []]));
  for (const group of groups) for (const each of group.needs) users.get(each)?.push(group);
  const order = groups.filter(({ needs }) => needs.size === 0);
  for (const group of order) {
    for (const user of users.get(group) ?? []) {
      const left = (waits.get(user) ?? 0) - 1;
      waits.set(user, left);
      if (left === 0) order.push(user);
    }
  }
  if (order.length < groups.length) {
    throw new InternalError("Expected groups that can run one after the other");
  }
  return order;
}
