/**
 * Work that other processes have a part in, which goes on beside the program. Input: work that has begun and how to wait
 * for it; output: it is waited for at once, or by whoever gathers it. Invariants: nobody reads results before they were
 * waited for; work that has begun cannot be taken back or begun again, since the others have done their part.
 */

/** Waits for work. Throws where it failed. */
export type Wait = () => void;

let gathered: Wait[] | null = null;
let count = 0;

/** Whether work that begins now may go on until its results are needed. */
export function isGathering(): boolean {
  return gathered !== null;
}

/** How much work has begun so far. */
export function begunCount(): number {
  return count;
}

/** Says that work has begun; waits for it unless somebody gathers it. */
export function noteBegun(wait: Wait): void {
  count++;
  if (gathered) gathered.push(wait);
  else wait();
}

/** Runs a body and gives the work that it began, which is to be waited for before its result is read. */
export function gatherWork<R>(body: () => R): { readonly result: R; readonly waits: readonly Wait[] } {
  const former = gathered, waits: Wait[] = [];
  gathered = waits;
  try {
    return { result: body(), waits };
  } finally {
    gathered = former;
  }
}

/** One call of a graph that other processes have a part in. */
export interface SharedCall {
  readonly name: string;
  readonly constants: readonly unknown[];
  /** Types and sizes of its results. */
  readonly results: string;
}

/** What happens before a graph runs that has such calls; null: nothing. Only who sets it takes it away. */
export const agreement: { reach: ((calls: readonly SharedCall[]) => void) | null } = { reach: null };
