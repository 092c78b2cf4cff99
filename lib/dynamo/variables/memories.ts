/** The memory that one trace knows. Invariant: views of one buffer share what was written to it. */
import type { Memory } from "./value.ts";

/** The memory of one trace. */
export class Memories {
  readonly #outside = new Map<ArrayBuffer, Memory>();
  /** How often numbers of the program's memory were read. */
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

/** Memory of which nothing was written yet. */
export function newMemory(from: Memory["from"]): Memory {
  return { cells: new Map(), from };
}
