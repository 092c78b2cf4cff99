/**
 * Instructions that throw before they have had any effect, in a trace that raises their exceptions. Invariant: the trace
 * relies on everything that made them throw, and keeps nothing else of them.
 */
import { BreakSignal } from "../break_reasons.ts";
import type { Interpreter } from "./interpreter.ts";

/**
 * Executes an instruction that threw in the attempt before, whose guards are gone with that attempt: with other sizes
 * and numbers it may be valid.
 */
export function guardRefusal(m: Interpreter, execute: () => void): void {
  const { graph, tensors, operations } = m.output, before = new Set(graph.nodes);
  try {
    execute();
  } catch (signal) {
    if (!(signal instanceof BreakSignal && signal.reason.kind === "throws")) throw signal;
    for (const node of graph.nodes.toReversed()) {
      if (before.has(node) || node.op === "placeholder") continue;
      graph.erase(node);
      tensors.delete(node);
    }
    m.output.operations = operations;
    return;
  }
  m.restartAt(m.steps - 1, { kind: "throws", detail: "an instruction that does not throw again" });
}
