/**
 * Ctrl-C while a line of the REPL runs: ends the run, not the REPL.
 *
 * Invariant: an interrupted run starts no more kernels, whether it is in progress or waiting; one Ctrl-C interrupts one
 * run, however late it is noticed; a second one in a run ends the process.
 *
 * Signals are delivered between jobs only, so a separate thread waits for them and notes the run in progress, which is
 * checked whenever a kernel starts. Only that thread listens: another listener may be told after the run has ended, and
 * would interrupt the next one. Code that starts no kernel, such as an endless loop over numbers, can only be ended with
 * the process.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { DynError } from "../lib/base/errors.ts";
import { launches } from "../lib/loops/launch.ts";

/** Thrown if Ctrl-C has ended a run. */
export class Interrupted extends DynError {
  override readonly name: string = "Interrupted";

  constructor() {
    super("The run was ended by Ctrl-C");
  }
}

/**
 * Words of the memory shared with the thread: the number of the run in progress, or 0, and of the last one that Ctrl-C
 * has interrupted.
 */
const RUN = 0, INTERRUPTED = 1;

/** Milliseconds after which a run that Ctrl-C has not ended is reported. */
const PATIENCE = 1500;

/** Posts null once it listens, then the number of each run when Ctrl-C interrupts it. */
const THREAD = `
self.onmessage = ({ data: shared }) => {
  Deno.addSignalListener("SIGINT", () => {
    const run = Atomics.load(shared, ${RUN});
    if (run === 0) return;
    if (Atomics.exchange(shared, ${INTERRUPTED}, run) === run) return Deno.kill(Deno.pid, "SIGTERM");
    self.postMessage(run);
    setTimeout(() => {
      if (Atomics.load(shared, ${RUN}) !== run) return;
      console.error("\\n(what runs starts no kernel; Ctrl-C again ends it, and the REPL)");
    }, ${PATIENCE});
  });
  self.postMessage(null);
};`;

interface Run {
  /** Counted from 1. */
  readonly number: number;
  readonly reject: (error: Interrupted) => void;
  isInterrupted: boolean;
}

/** Runs of a session, which Ctrl-C ends. */
export class Interrupts {
  readonly #shared: Int32Array;
  readonly #setSignals: (sent: boolean) => void;
  readonly #runs = new AsyncLocalStorage<Run>();
  #count = 0;
  #current: Run | null = null;

  private constructor(shared: Int32Array, thread: Worker, setSignals: (sent: boolean) => void) {
    this.#shared = shared;
    this.#setSignals = setSignals;
    const former = launches.watcher;
    launches.watcher = (launch, call) => {
      const run = this.#runs.getStore();
      if (run && this.#isInterrupted(run)) throw new Interrupted();
      return former ? former(launch, call) : launch.program.run(call);
    };
    thread.onmessage = ({ data }) => {
      if (this.#current?.number === data) this.#current?.reject(new Interrupted());
    };
  }

  /** Starts to wait for Ctrl-C. `setSignals`: makes the terminal send signals for it, or no longer. */
  static async watch(setSignals: (sent: boolean) => void): Promise<Interrupts> {
    const shared = new Int32Array(new SharedArrayBuffer(8));
    const url = URL.createObjectURL(new Blob([THREAD], { type: "text/javascript" }));
    const thread = new Worker(url, { type: "module" });
    await new Promise((ready, failed) => {
      thread.onmessage = ready;
      thread.onerror = failed;
      thread.postMessage(shared);
    });
    return new Interrupts(shared, thread, setSignals);
  }

  /** Returns whether Ctrl-C has interrupted a run. */
  #isInterrupted(run: Run): boolean {
    return run.isInterrupted ||= Atomics.load(this.#shared, INTERRUPTED) === run.number;
  }

  /** Runs `body` until Ctrl-C is pressed: rejects with `Interrupted` if that comes first. */
  async while<T>(body: () => Promise<T>): Promise<T> {
    const { promise: interrupted, reject } = Promise.withResolvers<never>();
    const run: Run = this.#current = { number: ++this.#count, reject, isInterrupted: false };
    Atomics.store(this.#shared, RUN, run.number);
    this.#setSignals(true);
    try {
      const finished = this.#runs.run(run, body);
      // After an interruption nothing may handle failures
      finished.catch(() => {});
      return await Promise.race([finished, interrupted]);
    } finally {
      this.#setSignals(false);
      Atomics.store(this.#shared, RUN, 0);
      this.#current = null;
      // Noted, since a later run may be interrupted as well
      this.#isInterrupted(run);
    }
  }
}
