/**
 * Merges several programs without temporaries and sizes into one, for tests that would otherwise compile hundreds of
 * tiny ones: inputs, outputs and kernels are theirs in order.
 */
import type { BufferDecl, BufferView, Kernel, Program, Statement } from "../../lib/loops/ir.ts";

function shifted(body: readonly Statement[], by: number): readonly Statement[] {
  return body.map((s) => {
    if (s.kind === "loop" || s.kind === "masked") return { ...s, body: shifted(s.body, by) };
    return s.kind === "load" || s.kind === "store" ? { ...s, buffer: s.buffer + by } : s;
  });
}

function shiftedKernel(kernel: Kernel, by: number): Kernel {
  if (kernel.kind === "loops") return { ...kernel, body: shifted(kernel.body, by) };
  const view = (v: BufferView): BufferView => ({ ...v, buffer: v.buffer + by });
  const moved = { ...kernel, inputs: kernel.inputs.map(view), outputs: kernel.outputs.map(view) };
  if (kernel.epilogue === undefined) return moved;
  return { ...moved, epilogue: { ...kernel.epilogue, body: shifted(kernel.epilogue.body, by) } };
}

/** Joins programs. */
export function mergePrograms(programs: readonly Program[]): Program {
  const buffers: BufferDecl[] = [], inputs: number[] = [], outputs: number[] = [], kernels: Kernel[] = [];
  for (const p of programs) {
    const by = buffers.length;
    buffers.push(...p.buffers);
    inputs.push(...p.inputs.map((id) => id + by));
    outputs.push(...p.outputs.map((id) => id + by));
    kernels.push(...p.kernels.map((k) => shiftedKernel(k, by)));
  }
  return { name: "merged", buffers, inputs, outputs, sizes: [], arenaBytes: 0, kernels };
}
