/**
 * Ctrl-C while a line of the REPL runs: ends the run, not the REPL.
 *
 * Invariant: an interrupted run starts no more kernels, whether it is in progress or waiting; a second Ctrl-C ends the
 * process if something still runs.
 *
 * Signals are delivered between jobs only, so a separate thread waits for them and sets a flag, which is checked
 * whenever a kernel starts. Code that starts none, such as an endless loop over numbers, can only be ended with the
 * process.
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
 * Words of the memory shared with the thread: whether something runs, and how often Ctrl-C was pressed since it began.
 */
const RUNS = 0, COUNT = 1;

/** Milliseconds after which a run that Ctrl-C has not ended is reported. */
const PATIENCE = 1500;

const THREAD = `
self.onmessage = ({ data: shared }) => {
  Deno.addSignalListener("SIGINT", () => {
    const isAgain = Atomics.add(shared, ${COUNT}, 1) > 0;
    if (isAgain && Atomics.load(shared, ${RUNS})) Deno.kill(Deno.pid, "SIGTERM");
    if (!isAgain) {
      setTimeout(() => {
        if (!Atomics.load(shared, ${RUNS}) || Atomics.load(shared, ${COUNT}) !== 1) return;
        console.error("\\n(what runs starts no kernel; Ctrl-C again ends it, and the REPL)");
      }, ${PATIENCE});
    }
  });
  self.postMessage(null);
};`;

interface Run {
  isInterrupted: boolean;
}

/** Runs of a session, which Ctrl-C ends. */
export class Interrupts {
  readonly #shared: Int32Array;
  readonly #runs = new AsyncLocalStorage<Run>();
  #reject: ((error: Interrupted) => void) | null = null;

  private constructor(shared: Int32Array) {
    this.#shared = shared;
    const former = launches.watcher;
    launches.watcher = (launch, call) => {
      const run = this.#runs.getStore();
      if (run && this.#reject !== null && Atomics.load(this.#shared, COUNT) > 0) run.isInterrupted = true;
      if (run?.isInterrupted) throw new Interrupted();
      return former ? former(launch, call) : launch.program.run(call);
    };
    Deno.addSignalListener("SIGINT", () => this.#reject?.(new Interrupted()));
  }

  /** Starts to wait for Ctrl-C. */
  static async watch(): Promise<Interrupts> {
    const shared = new Int32Array(new SharedArrayBuffer(8));
    const url = URL.createObjectURL(new Blob([THREAD], { type: "text/javascript" }));
    const thread = new Worker(url, { type: "module" });
    await new Promise((ready, failed) => {
      thread.onmessage = ready;
      thread.onerror = failed;
      thread.postMessage(shared);
    });
    return new Interrupts(shared);
  }

  /** Runs `body` until Ctrl-C is pressed: rejects with `Interrupted` if that comes first. */
  async while<T>(body: () => Promise<T>): Promise<T> {
    const run: Run = { isInterrupted: false };
    Atomics.store(this.#shared, COUNT, 0);
    Atomics.store(this.#shared, RUNS, 1);
    const interrupted = new Promise<never>((_, reject) => this.#reject = reject);
    const finished = this.#runs.run(run, body);
    // After an interruption nothing may handle failures
    finished.catch(() => {});
    try {
      return await Promise.race([finished, interrupted]);
    } catch (thrown) {
      if (thrown instanceof Interrupted) run.isInterrupted = true;
      throw thrown;
    } finally {
      this.#reject = null;
      Atomics.store(this.#shared, RUNS, 0);
    }
  }
}
