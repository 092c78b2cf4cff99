/**
 * Tensors that only the tape can create as the program would see them: it refuses writes to some views, and gradients may
 * have gaps between their rows. Invariant: none of them leaves the graph, and nothing that differs is read.
 */
import { aliasesArgument } from "../../autograd/aliases_argument.ts";
import type { Node } from "../../graph/node.ts";
import type { Interpreter } from "./interpreter.ts";

/** Restarts the trace for such a tensor or a view of it, to leave its creation to the tape; `use`: what happens to it. */
export function leaveToTape(m: Interpreter, node: Node, use: string): void {
  if (m.output.ofTape.size === 0) return;
  for (let at: Node | undefined = node; at; at = aliasesArgument(at) ? [...at.inputs()][0] : undefined) {
    const known = m.output.ofTape.get(at);
    if (known) m.restartAt(known.step, { kind: "gradientState", detail: `${known.what} ${use}` });
  }
}

/** The same for a question about the layout of a tensor. */
export function leaveLayoutToTape(m: Interpreter, node: Node | null): void {
  if (node) leaveToTape(m, node, "is asked for its layout");
}
