/**
 * Reports graph breaks to hooks, counters, logs and recorders. Invariant: a place is reported once for each compiled
 * function, regardless of the number of entries that end there; recorders receive it in every compilation.
 */
import { type BreakReason, Unsupported } from "../base/errors.ts";
import { counters, logs } from "../base/logs.ts";
import { type Plain, recording } from "../base/recording.ts";
import type { Program } from "./cache/program.ts";

/** Throws Unsupported if the user requires whole graphs. */
export function refuseBreak(program: Program, reason: BreakReason): void {
  if (program.options.fullgraph) throw new Unsupported(reason);
}

/** Reports that the graph breaks here. */
export function reportBreak(program: Program, reason: BreakReason): void {
  const { id, category, explanation, hint, stack } = reason;
  const meta = { id, category, explanation, hint, stack: stack.map((frame): Plain => ({ ...frame })) };
  const text = () => new Unsupported(reason).message;
  const key = [id, explanation, ...stack.map(({ file, line, column }) => `${file}:${line}:${column}`)].join(
    "\n",
  );
  if (program.breaks.has(key)) return recording.artifact("graph_breaks", text, { meta });
  program.breaks.add(key);
  program.options.hooks.onBreak?.(reason);
  counters.add("graph_break", reason.category);
  logs.emit("graph_breaks", text, { meta });
}
