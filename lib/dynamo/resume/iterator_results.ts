/**
 * Takes the results of iterators' methods apart in plain code, as the instructions that call these methods do.
 * Invariant: getters of a result run once, in the language's order, with the program's own builtins.
 */
import { asProgram } from "../../base/own_builtins.ts";
import { checkStep } from "../bytecode/iteration.ts";
import type { Completion } from "../trace/interpreter.ts";

/** Parts of a result that are read: none, `done`, or `done` and unless it is true `value`. */
type Reads = "nothing" | "done" | "item";

/** Returns what an instruction reads of the result for which it waits. */
export function readsOf(completion: Extract<Completion, { kind: "step" | "close" }>): Reads {
  if (completion.kind === "close") return "nothing";
  return completion.elided ? "done" : "item";
}

/** Returns `done` and `value` as far as they are read. Throws TypeError if the result is not an object. */
export function takeResult(result: unknown, reads: Reads): readonly [done: boolean, value: unknown] {
  const step = checkStep(result), read = (key: "done" | "value"): unknown => asProgram(() => step[key]);
  if (reads === "nothing") return [false, undefined];
  const done = Boolean(read("done"));
  return [done, done || reads === "done" ? undefined : read("value")];
}
