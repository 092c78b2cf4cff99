/**
 * Writes that may be delayed: those of layers to state that they keep between calls and do not read, such as running
 * statistics. Invariant: nothing else in the graph reads or writes what such a call writes, nor writes what it reads,
 * so that it can run anywhere after its inputs; a guard ensures that written inputs share no memory with others.
 */
import { Node } from "../graph/node.ts";
import { findTarget } from "../ops/table.ts";

/** Returns whether a call is such a write. */
export function isLateWrite(node: Node): boolean {
  const { args: [written], users, meta: { value, onHost } } = node;
  const isWrite = node.op !== "placeholder" && findTarget(node.target)?.inplace === true;
  if (!isWrite || users.size > 0 || onHost || value.kind !== "tensor" || value.requiresGrad) return false;
  if (!(written instanceof Node) || written.op !== "placeholder" || !written.meta.held) return false;
  return [...node.inputs()].every((input) => input.users.size === 1 && (input === written || isOwn(input)));
}

/** Returns whether a value has memory of its own: it is computed, and not a view. */
function isOwn({ op, target, args: [source] }: Node): boolean {
  if (op !== "call_function" && op !== "call_method") return false;
  if (target === "getitem") return source instanceof Node && isOwn(source);
  const call = findTarget(target);
  if (!call || call.inplace) return false;
  const { implementation: { kind }, auxiliary } = call.definition;
  // Statistics that are saved for a backward are computed for it anyway
  return kind === "lower" || auxiliary !== undefined;
}
