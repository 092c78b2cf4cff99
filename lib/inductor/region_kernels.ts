/**
 * Places a region on the buffers of a call: as one kernel, or as its kernels, which stay in order. Invariant: what no
 * call needs is removed from the whole program.
 */
import { InternalError } from "../base/errors.ts";
import type { BufferDecl, BufferId, Kernel, Program } from "../loops/ir.ts";
import type { Place } from "../loops/moved_buffers.ts";
import { copiedKernel } from "../loops/moved_kernel.ts";
import { isRegion, type RegionKernel, regionKernel, rowsKernel } from "../loops/regions.ts";
import { usesOf } from "../loops/uses.ts";
import type { RegionWork, RowsWork } from "./computation.ts";

/** The kernels of a call; `place` maps a buffer to where it lies. */
export function regionKernels(
  { program, places, arena }: RegionWork,
  place: (buffer: BufferId) => BufferId,
): Kernel[] {
  const placeOf = (id: BufferId): Place => {
    const found = places[id];
    if (!found) throw new InternalError(`Expected a buffer ${id} of ${program.name}`);
    return { buffer: place(found.buffer), offset: found.offset };
  };
  if (arena !== undefined) {
    return [regionKernel(program, (id) => placeOf(id).buffer, arena === null ? undefined : place(arena))];
  }
  return program.kernels.map((kernel) => copiedKernel(kernel, placeOf));
}

/** The kernel of runs on rows. */
export function kernelOfRows(
  { program, rows, arena }: RowsWork,
  place: (buffer: BufferId) => BufferId,
): Kernel {
  return rowsKernel(program, rows.map((row) => row.map(place)), arena === null ? undefined : place(arena));
}

/** Kernels without dead ones: regions compute everything that any of their calls uses. */
export function neededKernels(kernels: readonly Kernel[], needed: ReadonlySet<BufferId>): Kernel[] {
  const read = new Set(needed);
  const live = kernels.toReversed().flatMap((kernel) => {
    if (usesOf(kernel).written.isDisjointFrom(read)) return [];
    const kept = isRegion(kernel) ? withoutDead(kernel, read) : kernel;
    for (const buffer of usesOf(kept).all) read.add(buffer);
    return [kept];
  });
  return live.reverse();
}

/** Regions without what some of their calls do not need, by the places of the outputs that these need. */
const reduced = new WeakMap<Program, Map<string, Program>>();

/** The call without kernels whose results nobody reads. */
function withoutDead(kernel: RegionKernel, read: ReadonlySet<BufferId>): RegionKernel {
  const { call: { program }, inputs, outputs } = kernel, arena = outputs[program.outputs.length]?.buffer;
  const needed = program.outputs.filter((_, at) => read.has(outputs[at]?.buffer ?? -1));
  if (needed.length === program.outputs.length) return kernel;
  const known = reduced.get(program) ?? new Map<string, Program>(), key = needed.join();
  reduced.set(program, known);
  const made = known.get(key) ?? reducedTo(program, new Set(needed));
  known.set(key, made);
  const places = new Map([
    ...program.inputs.map((id, at) => [id, inputs[at]?.buffer] as const),
    ...program.outputs.map((id, at) => [id, outputs[at]?.buffer] as const),
  ]);
  const placeOf = (id: BufferId): BufferId => {
    const found = places.get(id);
    if (found === undefined) throw new InternalError(`Expected a buffer ${id} of ${program.name}`);
    return found;
  };
  return regionKernel(made, placeOf, arena);
}

/** The program with the kernels that some outputs need; other buffers are no inputs and outputs any more. */
function reducedTo(program: Program, needed: ReadonlySet<BufferId>): Program {
  const kernels = neededKernels(program.kernels, needed);
  const used = new Set(kernels.flatMap((kernel) => [...usesOf(kernel).all]));
  const isKept = (id: BufferId) => used.has(id);
  return {
    ...program,
    kernels,
    inputs: program.inputs.filter(isKept),
    outputs: program.outputs.filter(isKept),
    buffers: program.buffers.map((buffer, id): BufferDecl =>
      isKept(id) ? buffer : { ...buffer, role: { kind: "temporary", offset: 0 } }
    ),
  };
}
