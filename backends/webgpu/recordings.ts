/**
 * Recorded commands of calls. WebGPU cannot submit a command buffer twice, so its parts are cached: copies, pipelines,
 * bind groups, workgroups, and the memory of intermediates. They are found by a key of all memory, sizes and offsets of
 * a call. Invariant: the memory of recorded commands is not shared.
 */
import type { BufferPool, WebGpuMemory } from "./memory.ts";
import type { Dispatch } from "./queue.ts";

/** A dispatch, and the numbers of the original program's kernels of which it is a part. */
export interface PlacedDispatch {
  readonly kernels: readonly number[];
  readonly dispatch: Dispatch;
}

/** All that a call submits to the device. */
export interface Commands {
  /** Copies of inputs that come first. */
  readonly copies: readonly {
    readonly from: GPUBuffer;
    readonly into: GPUBuffer;
    readonly to: number;
    readonly length: number;
  }[];
  /** The dispatches that decide whether the call passes, or all of it. */
  readonly first: readonly PlacedDispatch[];
  /** The dispatches that run if it passes. */
  readonly rest: readonly PlacedDispatch[];
  /** Memory that only these commands use. */
  readonly own: readonly WebGpuMemory[];
}

/** Number of recorded calls that differ in their memories; each holds memory. */
const KEPT = 4;

/** The recorded calls of one program, the latest last. */
export class Recordings {
  readonly #kept = new Map<string, Commands>();

  constructor(private readonly pool: BufferPool) {}

  /** The commands of a call; `record` creates them unless they are cached. */
  of(key: string, record: () => Commands): Commands {
    const known = this.#kept.get(key);
    this.#kept.delete(key);
    if (!known && this.#kept.size >= KEPT) {
      const [[oldest, { own }] = ["", { own: [] }]] = this.#kept;
      this.#kept.delete(oldest);
      // May be reused by later work, which the queue runs after this
      for (const each of own) this.pool.free(each);
    }
    const found = known ?? record();
    this.#kept.set(key, found);
    return found;
  }
}
