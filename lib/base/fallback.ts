/**
 * What runs on a slower tier than asked for because something failed: said, counted and recorded.
 *
 * Input: a kind and a text; output: a warning of the log artifact `fallback`, a count in the group of that name.
 * Invariant: every fallback is counted and recorded, also where the user was told before.
 */
import { counters, logs } from "./logs.ts";
import { recording } from "./recording.ts";

/** Reports that something runs on a slower tier than asked for; `silent` where the user knows already. */
export function reportFallback(kind: string, text: string, { silent = false } = {}): void {
  counters.add("fallback", kind);
  if (silent) recording.artifact("fallback", text);
  else logs.emit("fallback", text, "warning");
}
