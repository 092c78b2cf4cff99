/**
 * Which buffers a kernel touches, and how. Input: a kernel; output: the buffers it mentions, and those it writes. Invariant: a
 * library call's epilogue counts as part of it.
 */
import type { BufferId, Kernel, Statement } from "./ir.ts";

/** The buffers that a kernel mentions. */
export function usesOf(kernel: Kernel): { all: Set<BufferId>; written: Set<BufferId> } {
  const all = new Set<BufferId>(), written = new Set<BufferId>();
  const visit = (body: readonly Statement[]) => {
    for (const s of body) {
      if (s.kind === "loop" || s.kind === "masked") visit(s.body);
      else if (s.kind === "load" || s.kind === "store") all.add(s.buffer);
      if (s.kind === "store") written.add(s.buffer);
    }
  };
  if (kernel.kind === "loops") visit(kernel.body);
  else {
    for (const view of [...kernel.inputs, ...kernel.outputs]) all.add(view.buffer);
    for (const view of kernel.outputs) written.add(view.buffer);
    visit(kernel.epilogue?.body ?? []);
  }
  return { all, written };
}

/** Whether something is added in place, which iterations may do to one element: such loops run in order, on one thread. */
export function collides(body: readonly Statement[]): boolean {
  return body.some((s) =>
    s.kind === "store" ? s.mode === "add" : (s.kind === "loop" || s.kind === "masked") && collides(s.body)
  );
}
