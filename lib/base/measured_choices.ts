/**
 * Choices between ways to run a kernel that were made by timing them, as the details of log messages about them.
 * Invariant: details that describe a choice are read as the same choice, others as none.
 */
import type { LogDetails } from "./logs.ts";

/** A choice that was made by timing. */
export interface MeasuredChoice {
  /** The kernel, or the ops. */
  readonly of: string;
  /** The chosen way; null: the usual one. */
  readonly kept: string | null;
  /** Microseconds of the chosen way; null if it was not timed by itself. */
  readonly microseconds: number | null;
  /** The time of the usual way divided by that of the chosen one. */
  readonly gain: number;
  /** Whether it was known from an earlier process. */
  readonly known: boolean;
  /** Whether other programs disturbed the measurement, which is repeated next time. */
  readonly disturbed: boolean;
}

/** Returns the details of a message about a choice. */
export const choiceDetails = (choice: MeasuredChoice): LogDetails => ({ meta: { choice: { ...choice } } });

/** Returns the choice that a message is about, or null. */
export function choiceIn({ meta }: LogDetails): MeasuredChoice | null {
  const choice = meta?.["choice"];
  if (typeof choice !== "object" || choice === null || !("of" in choice)) return null;
  const { of, kept = null, microseconds = null, gain, known, disturbed } = choice;
  const isChoice = typeof of === "string" && (kept === null || typeof kept === "string") &&
    (microseconds === null || typeof microseconds === "number") && typeof gain === "number" &&
    typeof known === "boolean" && typeof disturbed === "boolean";
  return isChoice ? { of, kept, microseconds, gain, known, disturbed } : null;
}
