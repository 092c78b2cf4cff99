/**
 * Breaks the graph where a program observes gradients of a tensor: hooks, `retainGrad`, and `autograd.grad` if only the
 * tape can run it. Invariant: the tensor is a result of its graph and everything computed from it belongs to a later
 * one, so that the gradient between them is on the tape, where it can be observed.
 */
import type { Node } from "../../graph/node.ts";
import type { TensorValue } from "../variables/value.ts";
import { breakGraph } from "../break_reasons.ts";
import type { Interpreter } from "./interpreter.ts";

/** Breaks the graph here, or, if one of the tensors has been read, where that first happened. */
export function tapGradient(m: Interpreter, tensors: readonly TensorValue[], what: string): never {
  const step = firstRead(m, tensors);
  if (step !== null) return m.restartAt(step, { kind: "gradientState", detail: what });
  return breakGraph("gradientState", what);
}

/** The number of the first instruction that reads one of the tensors in its present state; null: none does. */
export function firstRead(m: Interpreter, tensors: readonly TensorValue[]): number | null {
  const readers = tensors.flatMap((tensor) => firstReader(m, tensor) ?? []);
  return readers.length > 0 ? Math.min(...readers) : null;
}

/** The number of the first instruction that reads a tensor in its present state. */
function firstReader(m: Interpreter, tensor: TensorValue): number | undefined {
  const { node } = tensor;
  if (!node) return undefined;
  const { output } = m;
  const aliases: { has(node: Node): boolean } = output.history.aliases(node) ?? new Set([node]);
  const isRead = (each: Node) => each.inputs().values().some((input) => aliases.has(input));
  const { nodes } = output.graph;
  // A write without recording leaves the history unchanged
  const writes = (each: Node) => {
    const [first] = each.inputs();
    return !each.meta.noGrad && each.target.endsWith("_") && first !== undefined && aliases.has(first);
  };
  const last = nodes.findLastIndex(writes);
  // An input of the program stays on the tape as long as it is not written to
  if (last < 0 && node.op === "placeholder") return undefined;
  const reader = nodes.slice(Math.max(last, nodes.indexOf(node)) + 1).find(isRead);
  return reader && output.madeAt(reader);
}
