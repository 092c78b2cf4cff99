/**
 * The loops of a group: its axes cut, ordered, tiled and joined. Invariant: loops that add floats are those that were
 * settled, so that the order of their terms depends on nothing that they are fused with.
 */
import { InternalError } from "../base/errors.ts";
import { isSettledEqual } from "../sym/decide.ts";
import type { Dim } from "../sym/expr.ts";
import type { Axis } from "../loops/ir.ts";
import { cutAxes, joinAxes, replaceIn, type Replacement } from "./axes.ts";
import { type Group, type Member, rebased } from "./group.ts";
import { chooseOrder, type Tiling } from "./loop_order.ts";
import { addsFloats, joinRuns, settledLanes, settledRuns } from "./settled_axes.ts";

/** Inner loops, and all axes of the group in terms of the loops. */
export interface InnerLoops {
  readonly axes: readonly Axis[];
  readonly replacement: Replacement;
}

/** The loops of a group. */
interface Arrangement {
  readonly outer: readonly Axis[];
  readonly vector: "outer" | "inner" | "none";
  /** The axes of the outer loops in terms of the loops. */
  readonly replacement: Replacement;
  /** The inner loops of members that run together. */
  readonly innerOf: (members: readonly Member[]) => InnerLoops;
}

/** Cuts, orders, tiles and joins a group's axes. */
export function arrange(group: Group, tiling: Tiling): Arrangement {
  const cutOuter = cutAxes(group.outer, indicesOf(group.members, NONE));
  const cutInner = cutAxes(group.inner, indicesOf(group.members, cutOuter.replacement));
  const cut = then(cutOuter.replacement, cutInner.replacement);
  const rebase = (member: Member) => rebased(member, cut), members = group.members.map(rebase);
  const order = chooseOrder({ ...group, members, outer: cutOuter.axes, inner: cutInner.axes }, tiling);
  const outer = joinAxes(order.outer, indicesOf(members, order.tiles));
  const replacement = then(order.tiles, outer.replacement);
  const innerOf = (among: readonly Member[]): InnerLoops => {
    const inner = innerLoops(order.inner, { members, among: among.map(rebase), replacement });
    return { axes: inner.axes, replacement: then(cut, then(replacement, inner.replacement)) };
  };
  return { outer: outer.axes, vector: order.vector, replacement: then(cut, replacement), innerOf };
}

/** Joins inner axes for some members of a group. */
function innerLoops(
  axes: readonly Axis[],
  { members, among, replacement }: {
    readonly members: readonly Member[];
    readonly among: readonly Member[];
    readonly replacement: Replacement;
  },
): InnerLoops {
  const adds = among.some(addsFloats);
  if (adds && settledLanes(members) !== undefined) {
    const runs = settledRuns({ members, inner: axes });
    if (!runs) throw new InternalError("Expected inner axes in the order of sums");
    return joinRuns(runs);
  }
  // Sums over joined axes have no partial sums
  return joinAxes(axes, indicesOf(among, replacement), adds ? isSettledEqual : undefined);
}

/** No replacement. */
export const NONE: Replacement = new Map();

/** Composes two replacements. */
function then(first: Replacement, second: Replacement): Replacement {
  return new Map([...second, ...[...first].map(([symbol, d]) => [symbol, replaceIn(d, second)] as const)]);
}

/** The member's own index lists in terms of the emitted loops. */
export function indexOf(
  { computation, replacement }: Member,
  loops: Replacement,
): { index: Dim[]; reduced: Dim[] } {
  const at = (axis: Axis) => replaceIn(replacement.get(axis.symbol) ?? axis.symbol, loops);
  return { index: computation.outer.map(at), reduced: computation.inner.map(at) };
}

/** All index expressions of the members. */
function indicesOf(members: readonly Member[], replacement: Replacement): Set<Dim> {
  const found = new Set<Dim>();
  for (const member of members) {
    for (const { index } of [...member.reads, ...member.writes]) {
      if (index !== undefined) found.add(replaceIn(index, replacement));
    }
    for (const index of member.computation.indices) {
      found.add(replaceIn(replaceIn(index, member.replacement), replacement));
    }
  }
  return found;
}
