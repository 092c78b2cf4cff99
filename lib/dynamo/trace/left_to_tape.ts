/**
 * Tensors that only the tape can create as the program would see them: it refuses writes to some views, and gradients may
 * have gaps between their rows. Invariant: none of them leaves the graph, and nothing that differs is read.
 */
import { aliasesArgument } from "../../autograd/aliases_argument.ts";
import type { Node } from "../../graph/node.ts";
import { type OpDefinition, viewsMemory } from "../../ops/definition.ts";
import type { Interpreter } from "./interpreter.ts";

/** Restarts the trace for such a tensor or a view of it, to leave its creation to the tape; `use`: what happens to it. */
export function leaveToTape(m: Interpreter, node: Node, use: string): void {
  if (m.output.ofTape.size === 0) return;
  const known = m.output.ofTape.get(node);
  if (known) m.restartAt(known.step, { kind: "gradientState", detail: `${known.what} ${use}` });
  // A part of a list may show any of the tensors that the list was made of
  if (node.target === "getitem" || aliasesArgument(node)) {
    for (const input of node.inputs()) leaveToTape(m, input, use);
  }
}

/** The same for a question about the layout of a tensor. */
export function leaveLayoutToTape(m: Interpreter, node: Node | null): void {
  if (node) leaveToTape(m, node, "is asked for its layout");
}

/** The ops that refuse tensors of some strides. */
const OF_STRIDES: ReadonlySet<string> = new Set(["view", "viewAs", "viewAsComplex", "viewCopy"]);

/** Returns whether the strides of its operand decide what an op shows, or whether it throws. */
export const dependsOnLayout = (definition: OpDefinition): boolean =>
  viewsMemory(definition) || OF_STRIDES.has(definition.name);
