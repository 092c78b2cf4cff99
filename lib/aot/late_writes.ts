/**
 * Writes that may come later than they stand: those of layers to what they keep from call to call and do not read, as
 * running statistics. Input: a call of a captured graph; output: whether it is one. Invariant: nothing else in the graph
 * reads or writes what such a call writes to, nor what it reads, so that its place behind what it reads is its own
 * matter; that inputs which are written to share no memory with others is guarded.
 */
import { Node } from "../graph/node.ts";
import { findTarget } from "../ops/table.ts";

/** Whether a call is such a write. */
export function isLateWrite(node: Node): boolean {
  const { args: [written], users, meta: { value, onHost } } = node;
  const isWrite = node.op !== "placeholder" && findTarget(node.target)?.inplace === true;
  if (!isWrite || users.size > 0 || onHost || value.kind !== "tensor" || value.requiresGrad) return false;
  if (!(written instanceof Node) || written.op !== "placeholder" || !written.meta.held) return false;
  return [...node.inputs()].every((input) => input.users.size === 1 && (input === written || isOwn(input)));
}

/** Whether a value has memory of its own: it is computed, and no view. */
function isOwn({ op, target, args: [source] }: Node): boolean {
  if (op !== "call_function" && op !== "call_method") return false;
  if (target === "getitem") return source instanceof Node && isOwn(source);
  const call = findTarget(target);
  if (!call || call.inplace) return false;
  const { implementation: { kind }, auxiliary } = call.definition;
  // Statistics that are kept for a backward are computed for it
  return kind === "lower" || auxiliary !== undefined;
}
