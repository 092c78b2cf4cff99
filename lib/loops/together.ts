/** Kernels by what runs together. Input: kernels in order; output: those that run by the same blocks as one, the others alone. */
import type { Kernel } from "./ir.ts";

/** The kernels in groups. */
export function runTogether<K extends Pick<Kernel, "blocks">>(kernels: readonly K[]): K[][] {
  const groups: K[][] = [];
  for (const [at, kernel] of kernels.entries()) {
    const { blocks } = kernel;
    if (blocks !== undefined && kernels[at - 1]?.blocks === blocks) groups.at(-1)?.push(kernel);
    else groups.push([kernel]);
  }
  return groups;
}
