/**
 * Reports fallbacks to a slower tier after a failure: logged, counted and recorded.
 *
 * Each is a warning of the log artifact `fallback` and a count in the group of that name. Invariant: every fallback
 * is counted and recorded, even if the user has already been told.
 */
import { counters, logs } from "./logs.ts";
import { recording } from "./recording.ts";

/** Reports that something runs on a slower tier than requested; `silent` if the user already knows. */
export function reportFallback(kind: string, text: string, { silent = false } = {}): void {
  counters.add("fallback", kind);
  if (silent) recording.artifact("fallback", text);
  else logs.emit("fallback", text, "warning");
}
