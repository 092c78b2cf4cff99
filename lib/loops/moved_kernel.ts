/**
 * Moves kernels to other buffers. Invariant: parts that mention no buffer are shared with the original.
 */
import type { BufferId, BufferView, Kernel, LoopKernel, Statement } from "./ir.ts";
import { mapStatements } from "./map_statements.ts";
import { recordEquivalent } from "./canonical_form.ts";
import { add, type Dim } from "../sym/expr.ts";

/** Position of a buffer inside another one, in elements. */
export interface Place {
  readonly buffer: BufferId;
  readonly offset: Dim;
}

/**
 * A kernel with its buffers moved. Kernels known to be equivalent remain so if each buffer moves to the start of its place.
 */
export function movedKernel(kernel: Kernel, placeOf: (id: BufferId) => Place): Kernel {
  const statements = (body: readonly Statement[]) =>
    mapStatements(body, (s) => {
      if (s.kind !== "load" && s.kind !== "store") return s;
      const { buffer, offset } = placeOf(s.buffer);
      return { ...s, buffer, index: add(s.index, offset) };
    });
  const view = (v: BufferView): BufferView => {
    const { buffer, offset } = placeOf(v.buffer);
    return { ...v, buffer, offset: add(v.offset, offset) };
  };
  const loops = (k: LoopKernel): LoopKernel => {
    const body = statements(k.body);
    recordEquivalent(k.body, body, (id) => {
      const { buffer, offset } = placeOf(id);
      return offset === 0 ? buffer : null;
    });
    return { ...k, body };
  };
  if (kernel.kind === "loops") return loops(kernel);
  return {
    ...kernel,
    inputs: kernel.inputs.map(view),
    outputs: kernel.outputs.map(view),
    ...(kernel.epilogue ? { epilogue: loops(kernel.epilogue) } : {}),
  };
}
