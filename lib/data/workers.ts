/**
 * The workers of a loader: threads that make its batches, which arrive in the order of their indices. Invariant: a
 * loop that ends early requests no more batches; the program can end without waiting for workers, and workers do not
 * outlive it.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { DynError } from "../base/errors.ts";
import { defineHidden } from "../base/isolated_objects.ts";
import { SampleError } from "./fetcher.ts";
import { received } from "./sent.ts";
import {
  type Answer,
  type Failure,
  type Request,
  SHARED,
  type WorkerStart,
  type WorkerTask,
} from "./worker_messages.ts";
import { workerModules } from "./worker_modules.ts";

/** The function that threads run; they load this module for it. */
export { serve } from "./worker_thread.ts";

/** An error thrown in a worker; its cause has the worker's stack. */
class WorkerError extends DynError {
  override readonly name: string = "WorkerError";
}

/** The settings of workers. */
interface WorkerOptions {
  readonly count: number;
  /** Number of batches that each worker prefetches. */
  readonly prefetch: number;
  /** Milliseconds to wait for a batch. */
  readonly timeout: number;
  /** The seed of the first worker's random numbers. */
  readonly seed: number;
}

/** The program of a thread: the modules that it needs, then its work. */
const PROGRAM = `
const { workerData } = require("node:worker_threads");
process.on("exit", () => {
  Atomics.store(workerData.shared, ${SHARED.ended}, 1);
  Atomics.notify(workerData.shared, ${SHARED.answers});
});
(async () => {
  for (const { module, call } of workerData.modules) {
    const loaded = await import(module);
    if (call) await loaded[call.name](...call.args);
  }
  (await import(workerData.thread)).serve(workerData);
})();`;

/** Ends the threads of loaders that were garbage-collected. */
const dropped = new FinalizationRegistry<readonly LoaderWorker[]>((workers) =>
  workers.forEach((each) => each.end())
);

/** All workers of a loader. */
export class LoaderWorkers {
  readonly #workers: readonly LoaderWorker[];
  readonly #prefetch: number;
  #epoch = 0;

  constructor(task: WorkerTask, options: WorkerOptions) {
    this.#prefetch = options.prefetch;
    this.#workers = Array.from({ length: options.count }, (_, id) => new LoaderWorker(task, id, options));
    dropped.register(this, this.#workers);
  }

  /** Ends the threads. */
  end(): void {
    for (const each of this.#workers) each.end();
  }

  /** Yields the batches of an epoch, of indices or, for null, of streams; waits for each. */
  *batches(indices: Iterator<readonly number[]> | null): Generator<unknown> {
    const epoch = this.#begin(indices);
    try {
      for (let worker = epoch.next(); worker !== null; worker = epoch.next()) {
        const found = epoch.take(worker, worker.wait());
        if (found) yield found.batch;
      }
    } finally {
      this.#leave(indices);
    }
  }

  /** Like `batches`, but lets other work of this thread run while it waits. */
  async *batchesLater(indices: Iterator<readonly number[]> | null): AsyncGenerator<unknown> {
    const epoch = this.#begin(indices);
    try {
      for (let worker = epoch.next(); worker !== null; worker = epoch.next()) {
        const found = epoch.take(worker, await worker.waitLater());
        if (found) yield found.batch;
      }
    } finally {
      this.#leave(indices);
    }
  }

  #begin(indices: Iterator<readonly number[]> | null): Epoch {
    this.#epoch++;
    for (const each of this.#workers) each.begin(this.#epoch);
    return new Epoch(this.#workers, indices, this.#prefetch);
  }

  #leave(indices: Iterator<readonly number[]> | null): void {
    for (const each of this.#workers) each.begin(++this.#epoch);
    indices?.return?.();
  }
}

/** Assigns the batches of an epoch to workers, in rotation. */
class Epoch {
  readonly #workers: readonly LoaderWorker[];
  readonly #indices: Iterator<readonly number[]> | null;
  /** Maximum number of answers to await. */
  readonly #most: number;
  /** The workers whose answers come next, in order. */
  readonly #awaited: LoaderWorker[] = [];
  /** Workers whose stream has ended. */
  readonly #ended = new Set<LoaderWorker>();
  #asked = 0;
  #isDone = false;

  constructor(
    workers: readonly LoaderWorker[],
    indices: Iterator<readonly number[]> | null,
    prefetch: number,
  ) {
    this.#workers = workers;
    this.#indices = indices;
    this.#most = workers.length * prefetch;
  }

  /** Sends the requests that are possible; returns the worker with the next batch, null at the end. */
  next(): LoaderWorker | null {
    while (!this.#isDone && this.#awaited.length < this.#most) this.#ask();
    return this.#awaited.shift() ?? null;
  }

  /** Returns the batch of an answer; null at the end of a worker's stream. Throws the worker's error. */
  take(worker: LoaderWorker, answer: Answer): { readonly batch: unknown } | null {
    switch (answer.kind) {
      case "batch":
        return { batch: received(answer.value) };
      case "failed":
        throw errorOf(answer.failure, worker.id);
      case "end": {
        this.#ended.add(worker);
        // Drops requests beyond the end of the stream
        const others = this.#awaited.filter((each) => each !== worker);
        this.#awaited.splice(0, this.#awaited.length, ...others);
        this.#isDone ||= this.#ended.size === this.#workers.length;
        return null;
      }
      default:
        return answer satisfies never;
    }
  }

  #ask(): void {
    const worker = this.#workers[this.#asked++ % this.#workers.length];
    if (!worker || this.#ended.has(worker)) return;
    let indices: readonly number[] | null = null;
    if (this.#indices) {
      const { done, value } = this.#indices.next();
      if (done) return void (this.#isDone = true);
      indices = value;
    }
    worker.ask(indices);
    this.#awaited.push(worker);
  }
}

/** One thread, as seen by the loader. */
class LoaderWorker {
  readonly #thread: Worker;
  readonly #port: MessagePort;
  readonly #shared = new Int32Array(new SharedArrayBuffer(4 * Object.keys(SHARED).length));
  readonly #timeout: number;
  #epoch = 0;

  constructor(task: WorkerTask, readonly id: number, { count, timeout, seed }: WorkerOptions) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#timeout = timeout;
    const start: WorkerStart = {
      task,
      id,
      numWorkers: count,
      seed: seed + id,
      port: port2,
      shared: this.#shared,
      modules: workerModules(),
      thread: import.meta.url,
    };
    this.#thread = new Worker(PROGRAM, { eval: true, workerData: start, transferList: [port2] });
    // An error that ends a thread is printed to standard error, and its end is signalled in shared memory
    this.#thread.on("error", () => {});
    this.#thread.unref();
  }

  /** Begins an epoch; requests of earlier epochs are dropped. */
  begin(epoch: number): void {
    this.#epoch = epoch;
    Atomics.store(this.#shared, SHARED.epoch, epoch);
  }

  /** Requests a batch. */
  ask(indices: readonly number[] | null): void {
    const request: Request = { epoch: this.#epoch, indices };
    this.#port.postMessage(request);
  }

  /** Waits for the next answer. Throws WorkerError if there is none. */
  wait(): Answer {
    for (const deadline = performance.now() + this.#timeout;;) {
      const { answer, seen, left } = this.#look(deadline);
      if (answer) return answer;
      Atomics.wait(this.#shared, SHARED.answers, seen, left);
    }
  }

  /** Like `wait`, asynchronously. */
  async waitLater(): Promise<Answer> {
    // Keeps the process alive: a wait for shared memory does not
    const held = setInterval(() => {}, LOOK);
    try {
      for (const deadline = performance.now() + this.#timeout;;) {
        const { answer, seen, left } = this.#look(deadline);
        if (answer) return answer;
        await Atomics.waitAsync(this.#shared, SHARED.answers, seen, left).value;
      }
    } finally {
      clearInterval(held);
    }
  }

  /** Ends the thread. */
  end(): void {
    this.#port.close();
    void this.#thread.terminate();
  }

  /** Returns the first available answer of this epoch. */
  #received(): Answer | null {
    for (;;) {
      const found: { readonly message: Answer } | undefined = receiveMessageOnPort(this.#port);
      if (!found) return null;
      if (found.message.epoch === this.#epoch) return found.message;
    }
  }

  /** Looks for an answer; without one, returns for how long to wait, and for which counter of answers to change. */
  #look(deadline: number): { readonly answer: Answer | null; readonly seen: number; readonly left: number } {
    // Read before the answers: one that came in time is found, even if it is looked for too late
    const left = deadline - performance.now(), hasEnded = Atomics.load(this.#shared, SHARED.ended) !== 0;
    const seen = Atomics.load(this.#shared, SHARED.answers), answer = this.#received();
    if (!answer && hasEnded) {
      throw new WorkerError(`Expected a batch from worker ${this.id} but its thread has ended`);
    }
    if (!answer && left <= 0) {
      throw new WorkerError(
        `Expected a batch from worker ${this.id} within ${this.#timeout / 1000} s but found none`,
      );
    }
    return { answer, seen, left: Math.min(LOOK, left) };
  }
}

/** Milliseconds between two checks whether a worker is still alive. */
const LOOK = 1000;

/** Returns a worker's error as an error of this thread; its cause has the worker's stack. */
function errorOf({ name, message, stack, sample }: Failure, worker: number): DynError {
  const cause = new Error(message);
  // Assigning to it throws if the program has frozen Error.prototype
  defineHidden(cause, "name", name);
  cause.stack = stack;
  if (sample !== null) return new SampleError(sample, `its dataset threw in worker ${worker}`, cause);
  return new WorkerError(`Expected a batch from worker ${worker} but it threw: ${message}`, { cause });
}
