/**
 * Handles of calls. Input: a call in progress and what is left to do when it is over; output: ways to wait. Invariant:
 * what is left is done once, by whoever waits first, in the thread of the program.
 */
import { observed } from "../base/observation.ts";
import type { Pending } from "./transport.ts";

/** A call of a group, as torch.distributed.Work: over already unless `asyncOp` was given. */
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

  /** Waits until the results are there. Throws DistributedError where ranks did not do the same or came too late. */
  wait(): void {
    if (observed.by === null) this.#pending.wait();
    else observed.by.span("wait", `wait for ${this.#name}`, () => this.#pending.wait());
    this.#finish();
  }

  /** Whether the call is over. The results are there once `wait` or the future has returned. */
  isCompleted(): boolean {
    return this.#pending.poll();
  }

  /** Settles when the results are there; other code runs meanwhile. Rejects as `wait` throws. */
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
