/**
 * Whole values and norms of parameters that are divided over processes. Invariant: a part may be divided again, over
 * another group; the last division is undone first.
 */
import { checkPositive } from "../base/checked_numbers.ts";
import { type Division, registerDivision } from "../nn/divided.ts";
import { cat } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { gatherShards } from "./collective_ops.ts";
import { allReduce } from "./functional.ts";
import type { ProcessGroup } from "./group.ts";

/** Part `rank` of the parts with `sizes` along a dimension of the whole. */
export interface Part {
  readonly group: ProcessGroup;
  readonly dim: number;
  readonly sizes: readonly number[];
}

const parts = new WeakMap<Tensor, Part>();

/** Groups over which a parameter is divided, the last one first. */
const groupsOf = new WeakMap<Tensor, readonly ProcessGroup[]>();

/** Divisions by the names of their groups. */
const divisions = new Map<
  string,
  { readonly groups: readonly ProcessGroup[]; readonly division: Division }
>();

/** Returns the norm over groups, one after the other. */
function divisionOver(groups: readonly ProcessGroup[]): Division {
  const names = groups.map(({ name }) => name).join(" "), known = divisions.get(names);
  if (known && known.groups.every((group, k) => group === groups[k])) return known.division;
  const division: Division = {
    normOfAll(own, p) {
      checkPositive("the order of a norm of divided parameters", p);
      if (p === Infinity) return groups.reduce((norm, group) => allReduce(norm, { op: "max", group }), own);
      return groups.reduce((sum, group) => allReduce(sum, { group }), own.pow(p)).pow(1 / p);
    },
  };
  divisions.set(names, { groups, division });
  return division;
}

/** Records that a parameter is a part of another, over a group. */
export function recordShard(part: Tensor, whole: Tensor, group: ProcessGroup): void {
  const groups = [group, ...groupsOf.get(whole) ?? []];
  groupsOf.set(part, groups);
  registerDivision(part, divisionOver(groups));
  const outer = parts.get(whole);
  if (outer) parts.set(part, outer);
}

/** Records how a parameter was divided by layers. */
export function notePart(parameter: Tensor, part: Part): void {
  parts.set(parameter, part);
}

/** Returns how a parameter was divided by layers; undefined if it was not. */
export function partOf(parameter: Tensor): Part | undefined {
  return parts.get(parameter);
}

/** Returns the whole of a part, on all ranks of its group, which all must call it. */
export function gatherWhole(own: Tensor, { group, dim, sizes }: Part): Tensor {
  const pieces = gatherShards(own.contiguous().reshape([1, -1]), group).split(1, 0);
  const byRank = pieces.map((piece) =>
    piece.view(own.shape).split(sizes.map((size) => size / group.size), dim)
  );
  return cat(sizes.flatMap((_, k) => byRank.flatMap((blocks) => blocks[k] ?? [])), dim);
}
