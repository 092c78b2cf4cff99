/**
 * Places the kernels of a region on the buffers of a call. Invariant: they stay in order; unneeded kernels are
 * removed only from the whole program.
 */
import { InternalError } from "../base/errors.ts";
import type { BufferId, Kernel } from "../loops/ir.ts";
import { expectEquivalent } from "../loops/canonical_form.ts";
import { usesOf } from "../loops/uses.ts";
import type { RegionWork } from "./computation.ts";
import { movedKernel } from "./moved_kernel.ts";

/** The kernels of a call; `place` maps a buffer to where it lies. */
export function regionKernels(
  { program, places }: RegionWork,
  place: (buffer: BufferId) => BufferId,
): Kernel[] {
  return program.kernels.map((kernel) => {
    const nest = kernel.kind === "loops" ? kernel : kernel.epilogue;
    if (nest) expectEquivalent(nest.body);
    return movedKernel(kernel, (id) => {
      const found = places[id];
      if (!found) throw new InternalError(`Expected a buffer ${id} of ${program.name}`);
      return { buffer: place(found.buffer), offset: found.offset };
    });
  });
}

/** Kernels without dead ones: regions compute everything that any of their calls uses. */
export function neededKernels(kernels: readonly Kernel[], needed: ReadonlySet<BufferId>): Kernel[] {
  const read = new Set(needed);
  const live = kernels.toReversed().filter((kernel) => {
    const { all, written } = usesOf(kernel);
    if (written.isDisjointFrom(read)) return false;
    for (const buffer of all) read.add(buffer);
    return true;
  });
  return live.reverse();
}
