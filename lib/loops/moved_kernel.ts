/**
 * Moves kernels to other buffers. Invariant: parts that mention no buffer are shared with the original.
 */
import type { BufferId, BufferView, Kernel, LoopKernel } from "./ir.ts";
import { expectEquivalent, recordEquivalent } from "./canonical_form.ts";
import { movedBuffers, type Place } from "./moved_buffers.ts";
import { add } from "../sym/expr.ts";

/**
 * A kernel with its buffers moved. Kernels known to be equivalent remain so if each buffer moves to the start of its place.
 */
export function movedKernel(kernel: Kernel, placeOf: (id: BufferId) => Place): Kernel {
  const view = (v: BufferView): BufferView => {
    const { buffer, offset } = placeOf(v.buffer);
    return { ...v, buffer, offset: add(v.offset, offset) };
  };
  const loops = (k: LoopKernel): LoopKernel => {
    const body = movedBuffers(k.body, placeOf);
    recordEquivalent(k.body, body, (id) => {
      const { buffer, offset } = placeOf(id);
      return offset === 0 ? buffer : null;
    });
    return { ...k, body };
  };
  if (kernel.kind === "loops") return loops(kernel);
  const { inputs, outputs, epilogue, prologues } = kernel;
  return {
    ...kernel,
    inputs: inputs.map(view),
    outputs: outputs.map(view),
    ...(epilogue ? { epilogue: loops(epilogue) } : {}),
    ...(prologues ? { prologues: prologues.map((each) => ({ ...each, nest: loops(each.nest) })) } : {}),
  };
}

/** The runs of a kernel on several rows as kernels. */
export function kernelsOfRows(kernel: LoopKernel): LoopKernel[] {
  const { rows, table: _, ...alone } = kernel, [first = []] = rows ?? [];
  if (!rows) return [kernel];
  expectEquivalent(kernel.body);
  return rows.map((row) => {
    const place = (id: BufferId): BufferId => row[first.indexOf(id)] ?? id;
    const body = movedBuffers(kernel.body, (id) => ({ buffer: place(id), offset: 0 }));
    recordEquivalent(kernel.body, body, place);
    return { ...alone, body };
  });
}

/** A kernel with its buffers moved, one of several that are equivalent. */
export function copiedKernel(kernel: Kernel, placeOf: (id: BufferId) => Place): Kernel {
  const nests = kernel.kind === "loops"
    ? [kernel]
    : [kernel.epilogue, ...(kernel.prologues ?? []).map(({ nest }) => nest)];
  for (const nest of nests) if (nest) expectEquivalent(nest.body);
  return movedKernel(kernel, placeOf);
}
