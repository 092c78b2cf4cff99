/**
 * Tensors that only the tape can create as the program would see them: it refuses writes to some views, and gradients may
 * have gaps between their rows. Invariant: none of them leaves the graph, and nothing that differs is read.
 */
import { aliasesArgument } from "../../autograd/aliases_argument.ts";
import type { Node } from "../../graph/node.ts";
import { type OpDefinition, viewsMemory } from "../../ops/definition.ts";
import type { Interpreter } from "./interpreter.ts";
import type { OfTape } from "./output_graph.ts";

/** Restarts the trace for such a tensor or a view of it, to leave its creation to the tape; `use`: what happens to it. */
export function leaveToTape(m: Interpreter, node: Node, use: string): void {
  const known = ofTapeBehind(m, node);
  if (known) m.restartAt(known.step, { kind: "gradientState", detail: `${known.what} ${use}` });
}

/** The tensor that only the tape can create which a node is, or is a view of; null if there is none. */
export function ofTapeBehind(m: Interpreter, node: Node): OfTape | null {
  const { ofTape } = m.output;
  if (ofTape.size === 0) return null;
  const known = ofTape.get(node);
  // A part of a list may show any of the tensors that the list was made of
  if (known || (node.target !== "getitem" && !aliasesArgument(node))) return known ?? null;
  return node.inputs().values().map((input) => ofTapeBehind(m, input)).find((found) => found !== null) ??
    null;
}

/** The same for a question about the layout of a tensor. */
export function leaveLayoutToTape(m: Interpreter, node: Node | null): void {
  if (node) leaveToTape(m, node, "is asked for its layout");
}

/** The ops that refuse tensors of some strides. */
const OF_STRIDES: ReadonlySet<string> = new Set(["bitView", "view", "viewAs", "viewAsComplex", "viewCopy"]);

/** Returns whether the strides of its operand decide what an op shows, or whether it throws. */
export const dependsOnLayout = (definition: OpDefinition): boolean =>
  viewsMemory(definition) || OF_STRIDES.has(definition.name);
