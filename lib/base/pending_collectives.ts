/**
 * Asynchronous collectives: each is awaited at once, or later by the code that gathers them. Invariants: results are
 * never read before they were awaited; a collective that has begun cannot be rolled back or restarted, since the other
 * processes have done their part.
 */

/** Waits for work. Throws if it failed. */
export type Wait = () => void;

let gathered: Wait[] | null = null;
let count = 0;

/** Returns whether work that begins now may continue until its results are needed. */
export function isGathering(): boolean {
  return gathered !== null;
}

/** Returns the number of collectives begun so far. */
export function startedCollectives(): number {
  return count;
}

/** Registers work that has begun, or waits for it if nobody gathers. */
export function addPending(wait: Wait): void {
  count++;
  if (gathered) gathered.push(wait);
  else wait();
}

/** Runs a body and returns its result with the work it began, which must be awaited before the result is read. */
export function gatherPending<R>(body: () => R): { readonly result: R; readonly waits: readonly Wait[] } {
  const former = gathered, waits: Wait[] = [];
  gathered = waits;
  try {
    return { result: body(), waits };
  } finally {
    gathered = former;
  }
}

/** One call of a graph with collectives. */
export interface SharedCall {
  readonly name: string;
  readonly constants: readonly unknown[];
  /** Types and sizes of its results. */
  readonly results: string;
}

/** A hook that runs before a graph with collectives; null: none. It is cleared by its owner only. */
export const agreement: { reach: ((calls: readonly SharedCall[]) => void) | null } = { reach: null };
