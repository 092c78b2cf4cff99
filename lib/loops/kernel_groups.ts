/**
 * Groups kernels that run together: those with the same blocks, or with the same table, form a group, and so do
 * neighbouring regions over rows, whose kernels take turns; others run alone.
 */
import type { Axis, Blocks, Kernel } from "./ir.ts";

/** All counters of blocks, the outermost first. */
export const countersOf = (blocks: Blocks | undefined): readonly Axis[] =>
  blocks ? [...blocks.axes, ...blocks.inOrder ? [blocks.inOrder] : []] : [];

/** The group of neighbouring regions over rows. */
const ROWS = {};

/** Returns what a kernel has in common with the others of its group; undefined if it runs alone. */
function sharedBy(kernel: Kernel): object | undefined {
  if (kernel.blocks) return kernel.blocks;
  if (kernel.kind === "loops") return kernel.table;
  return kernel.call.op === "region" && kernel.call.rows !== undefined ? ROWS : undefined;
}

/** Groups kernels. */
export function kernelGroups<K extends Kernel>(kernels: readonly K[]): K[][] {
  const groups: K[][] = [];
  let last: object | undefined;
  for (const kernel of kernels) {
    const shared = sharedBy(kernel);
    if (shared !== undefined && shared === last) groups.at(-1)?.push(kernel);
    else groups.push([kernel]);
    last = shared;
  }
  return groups;
}

/**
 * Returns for each group of generated kernels the kernels of the original program that they are part of. Kernels that a
 * pass has added next to one belong to its group.
 */
export function originalKernels(groups: readonly (readonly Pick<Kernel, "originals">[])[]): number[][] {
  let last: readonly number[] = [0];
  return groups.map((group) => [...new Set(group.flatMap(({ originals = last }) => last = originals))]);
}
