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

const refused = new WeakSet<object>();

/** Throws a failure for which the settings allow no slower tier. */
export function refuseFallback(error: unknown): never {
  if (typeof error === "object" && error !== null) refused.add(error);
  throw error;
}

/** Returns whether the settings have made an error of a failure: nothing may be tried in its place. */
export const isFallbackRefused = (error: unknown): boolean =>
  typeof error === "object" && error !== null && refused.has(error);
