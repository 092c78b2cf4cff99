/** The memory known to one trace. Invariant: views of one buffer share what was written to it. */
import type { Memory } from "./value.ts";

/** The memory of one trace. */
export class Memories {
  readonly #outside = new Map<ArrayBuffer, Memory>();
  /** Number of reads from the program's memory. */
  reads = 0;

  /** The memory of a buffer of the program. */
  of(buffer: ArrayBuffer): Memory {
    let found = this.#outside.get(buffer);
    if (!found) this.#outside.set(buffer, found = newMemory(null));
    return found;
  }

  /** Whether anything was written. */
  get areWritten(): boolean {
    return [...this.#outside.values()].some(({ cells }) => cells.size > 0);
  }
}

/** Memory to which nothing has been written yet. */
export function newMemory(from: Memory["from"]): Memory {
  return { cells: new Map(), from };
}
