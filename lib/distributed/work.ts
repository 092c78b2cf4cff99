/**
 * Handles of calls in progress, with a continuation for their completion. Invariant: the continuation runs once, at the
 * first wait, in the thread of the program.
 */
import { refuseSurplus } from "../base/checked_input.ts";
import { observed } from "../base/observation.ts";
import type { Pending } from "./transport.ts";

/** A call of a group, like torch.distributed.Work: already complete unless `asyncOp` was set. */
export class Work {
  readonly #name: string;
  readonly #pending: Pending;
  #after: (() => void) | null;

  /** @internal */
  constructor(name: string, pending: Pending, after: (() => void) | null) {
    this.#name = name;
    this.#pending = pending;
    this.#after = after;
  }

  /** Waits for the results. Throws DistributedError if ranks made different calls or timed out. */
  wait(): void {
    if (arguments.length > 0) refuseSurplus("wait", 0, arguments);
    if (observed.by === null) this.#pending.wait();
    else observed.by.span("wait", `wait for ${this.#name}`, () => this.#pending.wait());
    this.#finish();
  }

  /** Returns whether the call is complete. The results are available once `wait` or the future has returned. */
  isCompleted(): boolean {
    return this.#pending.poll();
  }

  /** Settles when the results are available; other code runs meanwhile. Rejects as `wait` throws. */
  async getFuture(): Promise<void> {
    await this.#pending.finished();
    this.#finish();
  }

  #finish(): void {
    const after = this.#after;
    this.#after = null;
    after?.();
  }
}
