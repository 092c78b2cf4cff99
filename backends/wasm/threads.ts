/**
 * Jobs on several threads: functions of WebAssembly modules over ranges of units, in memory that all threads share. The
 * calling thread works, too, and blocks until the last unit is done. Invariants: threads are created only after enough
 * work and never keep the process alive; a thread joins a job by taking a chunk of its units from the ticket, so one
 * that wakes late finds none and delays nothing.
 */
import { Worker } from "node:worker_threads";
import { InternalError } from "../../lib/base/errors.ts";
import { logs } from "../../lib/base/logs.ts";
import { requestedThreads } from "../../lib/base/threads.ts";
import "./cached_library.ts";
import { WasmMemory } from "./memory.ts";
import { type Code, functionsOf, type Job, type JobPool } from "./pool.ts";
import { WORD, workerSource } from "./worker.ts";

/** Work below which waking other threads costs more than it gains: about 20 µs. */
const LEAST_WORK = 100_000;
/**
 * Number of jobs of the least work after which a thread is created: while the program waits, as most do between calls,
 * or within a call. Creating one takes as long as 1500 of them; on one thread, code that is not optimised yet takes
 * three times the estimate, half of which would be saved.
 */
const LEAST_JOBS = { waiting: 250, calling: 750 };
/** Chunks of a job per thread: enough to even out disturbances of single threads. */
const CHUNKS = 4;
/**
 * Number of calls into which a job is divided on one thread. The engine compiles a function without optimisation at
 * first, and switches to optimised code only between calls: this halves the time of first calls.
 */
const PARTS = 32;

/** Options of a pool. */
export interface PoolOptions {
  /** Minimum work for which other threads are woken. */
  readonly leastWork?: number;
  /** Maximum size of the memory. */
  readonly maxPages?: number;
  /** Whether the memory is shared, so that it never moves; required for several threads. */
  readonly shared?: boolean;
}

/** Threads over one memory. */
export class ThreadPool implements JobPool {
  readonly memory: WasmMemory;
  readonly leastWork: number;
  readonly #words: Int32Array | undefined;
  readonly #workers: Worker[] = [];
  /** Maximum number of threads, including this one. */
  #most: number;
  #generation = 0;
  /** Work done so far although more threads would have helped. */
  #undivided = 0;
  #isAsked = false;

  /** `threads`: number of threads that work at once, including this one. */
  constructor(readonly threads: number, options: PoolOptions = {}) {
    const { leastWork = LEAST_WORK, maxPages, shared = threads > 1 } = options;
    this.#most = threads;
    this.leastWork = leastWork;
    this.memory = new WasmMemory(shared, maxPages);
    if (threads > 1) this.#words = new Int32Array(this.memory.buffer, 0, 64);
  }

  /** Number of threads created, including this one. */
  get created(): number {
    return this.#workers.length + 1;
  }

  /** Compiles a module of functions over the memory. */
  load(bytes: Uint8Array<ArrayBuffer>, library?: () => Code): Code {
    const { functions, imported } = functionsOf(bytes, this.memory, library), at = imported?.at;
    if (at && this.#words) {
      this.#words[WORD.library] = at.address;
      this.#words[WORD.libraryLength] = at.length;
    }
    const address = imported && !at ? undefined : this.memory.keepCode(bytes);
    return {
      functions,
      order: Object.keys(functions),
      at: address === undefined ? undefined : { address, length: bytes.length },
    };
  }

  /** Runs all units of a job. An error that a unit throws is rethrown when the others are done. */
  run(code: Code, name: string, job: Job): void {
    const { description, units, scratch } = job;
    const work = code.functions[name];
    if (!work) throw new InternalError(`Expected a function ${name} but found ${code.order.join(", ")}`);
    const words = this.#words;
    if (units < 2 || job.work < this.leastWork) return work(description, 0, units, scratch?.address ?? 0);
    const grain = job.grain ?? 1;
    const unitsIn = (parts: number) => Math.ceil(units / parts / grain) * grain;
    if (words && code.at) this.#grow(job.work);
    if (!words || !code.at || this.#workers.length === 0) {
      const per = unitsIn(PARTS);
      for (let from = 0; from < units; from += per) {
        work(description, from, Math.min(units, from + per), scratch?.address ?? 0);
      }
      return;
    }
    const per = unitsIn(this.threads * CHUNKS);
    const chunks = Math.ceil(units / per);
    const { address, length } = code.at, own = [scratch?.address ?? 0, scratch?.bytes ?? 0] as const;
    this.#publish(
      words,
      [address, length, code.order.indexOf(name), description, units, per, ...own],
      chunks,
    );
    let failure: unknown;
    for (let chunk = this.#take(words); chunk >= 0; chunk = this.#take(words)) {
      try {
        work(description, chunk * per, Math.min(units, (chunk + 1) * per), scratch?.address ?? 0);
      } catch (error) {
        failure ??= error;
      }
      Atomics.add(words, WORD.done, 1);
    }
    this.#join(words, chunks);
    if (failure !== undefined) throw failure;
    if (Atomics.load(words, WORD.failed) !== 0) {
      throw new InternalError(`Expected ${name} to finish on every thread but it failed on one`);
    }
  }

  /** Makes a job known, whose words are those from `WORD.address` on. */
  #publish(words: Int32Array, job: readonly number[], chunks: number): void {
    for (let n = 0; n < job.length; n++) words[WORD.address + n] = job[n] ?? 0;
    Atomics.store(words, WORD.failed, 0);
    Atomics.store(words, WORD.done, 0);
    this.#generation = (this.#generation + 1) & 0xffff;
    Atomics.store(words, WORD.ticket, (this.#generation << 16) | chunks);
    Atomics.notify(words, WORD.ticket);
  }

  /** Takes a chunk of the current job: its number, or −1 if none is left. */
  #take(words: Int32Array): number {
    for (;;) {
      const ticket = Atomics.load(words, WORD.ticket), left = ticket & 0xffff;
      if (left === 0) return -1;
      if (Atomics.compareExchange(words, WORD.ticket, ticket, ticket - 1) === ticket) return left - 1;
    }
  }

  #join(words: Int32Array, chunks: number): void {
    for (let spin = 0;; spin++) {
      const done = Atomics.load(words, WORD.done);
      if (done === chunks) return;
      if (spin > SPINS) Atomics.wait(words, WORD.done, done, 1000);
    }
  }

  /** Creates one more thread after enough work, as long as some are missing. */
  #grow(more: number): void {
    if (this.created >= this.#most) return;
    this.#undivided += more;
    if (this.#undivided >= LEAST_JOBS.calling * this.leastWork) return this.#make();
    if (this.#undivided < LEAST_JOBS.waiting * this.leastWork || this.#isAsked) return;
    this.#isAsked = true;
    queueMicrotask(() => {
      this.#isAsked = false;
      if (this.#undivided > 0) this.#make();
    });
  }

  /** Creates a thread, which takes this one about 30 ms. If a thread cannot start, or dies, the others do its share. */
  #make(): void {
    const place = this.created;
    this.#undivided = 0;
    try {
      const workerData = { memory: this.memory.memory, place };
      const worker = new Worker(workerSource, { eval: true, workerData });
      worker.on("error", (error) => logs.emit("perf_hints", `A thread stopped: ${error}`));
      worker.unref();
      this.#workers.push(worker);
    } catch (error) {
      this.#most = place;
      logs.emit("perf_hints", `No more threads can be started: ${error}`);
    }
  }
}

/** Number of polls of the count of finished chunks before this thread sleeps: about 50 µs. */
const SPINS = 20_000;

/** Default limit of threads: each has an engine of its own, which takes 12 MB and 30 ms. */
const MOST_THREADS = 16;

/** Number of threads requested: DYN_NUM_THREADS, else every core up to a limit. */
function threadCount(): number {
  const asked = requestedThreads();
  return asked === null ? Math.min(MOST_THREADS, navigator.hardwareConcurrency) : Math.min(64, asked);
}

let pool: ThreadPool | undefined;

/** The pool of this process. Its memory is reserved on first use. */
export function wasmPool(): ThreadPool {
  return pool ??= makePool(threadCount());
}

/**
 * Creates a pool with the requested threads over a memory in which tensors may live, or with this thread alone if
 * memory cannot be shared.
 */
function makePool(threads: number): ThreadPool {
  try {
    return new ThreadPool(threads, { shared: true });
  } catch (error) {
    logs.emit("perf_hints", `Graphs run on one thread, since no memory can be shared: ${error}`);
    return new ThreadPool(1);
  }
}
