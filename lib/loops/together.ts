/**
 * Groups kernels that run together: those with the same blocks, or over one table, form a group, others stand alone.
 */
import type { Axis, Blocks, Kernel } from "./ir.ts";

/** All counters of blocks, the outermost first. */
export const countersOf = (blocks: Blocks | undefined): readonly Axis[] =>
  blocks ? [...blocks.axes, ...blocks.inOrder ? [blocks.inOrder] : []] : [];

/** The kernels in groups. */
export function runTogether<K extends Kernel>(kernels: readonly K[]): K[][] {
  const groups: K[][] = [];
  let last: object | undefined;
  for (const kernel of kernels) {
    const shared = kernel.blocks ?? (kernel.kind === "loops" ? kernel.table : undefined);
    if (shared !== undefined && shared === last) groups.at(-1)?.push(kernel);
    else groups.push([kernel]);
    last = shared;
  }
  return groups;
}

/**
 * For each group of generated kernels the kernels of the given program that they are parts of. What a pass has put beside
 * one belongs to it.
 */
export function givenKernels(groups: readonly (readonly Pick<Kernel, "given">[])[]): number[][] {
  let last: readonly number[] = [0];
  return groups.map((group) => [...new Set(group.flatMap(({ given = last }) => last = given))]);
}
