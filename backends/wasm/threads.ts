/**
 * Jobs on several threads: functions of WebAssembly modules over ranges of units, in the memory that all threads
 * share. The calling thread works, too, and blocks until the last unit is done. Invariants: threads are created once
 * there has been enough work and never keep the process alive; a thread joins a job by taking a chunk of its units
 * from the ticket, so one that wakes late finds none and delays nobody.
 */
import { Worker } from "node:worker_threads";
import { InternalError } from "../../lib/base/errors.ts";
import { logs } from "../../lib/base/logs.ts";
import { threadsAsked } from "../../lib/base/threads.ts";
import "./kept_library.ts";
import { WasmMemory } from "./memory.ts";
import { type Code, functionsOf, type Job, type JobPool } from "./pool.ts";
import { WORD, workerSource } from "./worker.ts";

/** Work below which waking others costs more than it brings: about 20 µs. */
const LEAST_WORK = 100_000;
/**
 * Jobs of the least work after which a thread is made: when the program waits for something, as most do between calls, or
 * else within a call. Making one takes as long as 1500 of them; what one thread does without optimised code yet, as all do
 * at first, takes three times what is estimated, and half of that would be saved.
 */
const LEAST_JOBS = { waiting: 250, calling: 750 };
/** Chunks of a job per thread: enough to even out what disturbs one of them. */
const CHUNKS = 4;
/**
 * Calls that a job is on one thread. The engine compiles a function without optimising it when it is first called, and
 * goes over to what it has optimised meanwhile from one call to the next: first calls take half the time.
 */
const PARTS = 32;

/** Options of a pool. */
export interface PoolOptions {
  /** The work that is worth waking other threads. */
  readonly leastWork?: number;
  /** Maximum size of the memory. */
  readonly maxPages?: number;
  /** Whether the memory is shared, so that it never moves; it has to be where there are several threads. */
  readonly shared?: boolean;
}

/** Threads over one memory. */
export class ThreadPool implements JobPool {
  readonly memory: WasmMemory;
  readonly leastWork: number;
  readonly #words: Int32Array | undefined;
  readonly #workers: Worker[] = [];
  /** Threads that there can be, this one included. */
  #most: number;
  #generation = 0;
  /** Work that the threads there are have done in spite of there being too few. */
  #undivided = 0;
  #isAsked = false;

  /** `threads`: how many work at once, this one included. */
  constructor(readonly threads: number, options: PoolOptions = {}) {
    const { leastWork = LEAST_WORK, maxPages, shared = threads > 1 } = options;
    this.#most = threads;
    this.leastWork = leastWork;
    this.memory = new WasmMemory(shared, maxPages);
    if (threads > 1) this.#words = new Int32Array(this.memory.memory.buffer, 0, 64);
  }

  /** Threads that were made, this one included. */
  get made(): number {
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

  /** Does all units of a job. What a unit throws is thrown when the others are done. */
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
    this.#publish(words, {
      address: code.at.address,
      length: code.at.length,
      function: code.order.indexOf(name),
      description,
      units,
      per,
      scratch: scratch?.address ?? 0,
      scratchBytes: scratch?.bytes ?? 0,
    }, chunks);
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

  #publish(words: Int32Array, job: Readonly<Record<JobWord, number>>, chunks: number): void {
    for (const word of JOB_WORDS) words[WORD[word]] = job[word];
    Atomics.store(words, WORD.failed, 0);
    Atomics.store(words, WORD.done, 0);
    this.#generation = (this.#generation + 1) & 0xffff;
    Atomics.store(words, WORD.ticket, (this.#generation << 16) | chunks);
    Atomics.notify(words, WORD.ticket);
  }

  /** Takes a chunk of the present job: its number, or −1 where none is left. */
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

  /** Sees to one more thread after enough work, as long as some are missing. */
  #grow(more: number): void {
    if (this.made >= this.#most) return;
    this.#undivided += more;
    if (this.#undivided >= LEAST_JOBS.calling * this.leastWork) return this.#make();
    if (this.#undivided < LEAST_JOBS.waiting * this.leastWork || this.#isAsked) return;
    this.#isAsked = true;
    queueMicrotask(() => {
      this.#isAsked = false;
      if (this.#undivided > 0) this.#make();
    });
  }

  /** Makes a thread, which takes this one about 30 ms. Those that cannot start, or die, leave their share to the rest. */
  #make(): void {
    const place = this.made;
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

/** Looks at the count of finished chunks before this thread sleeps: about 50 µs. */
const SPINS = 20_000;

const JOB_WORDS = [
  "address",
  "length",
  "function",
  "description",
  "units",
  "per",
  "scratch",
  "scratchBytes",
] as const;
type JobWord = (typeof JOB_WORDS)[number];

/** Threads at most, where nobody says how many: each has an engine of its own, 12 MB and 30 ms. */
const MOST_THREADS = 16;

/** Threads that were asked for: DYN_NUM_THREADS, else every core up to a limit. */
function threadCount(): number {
  const asked = threadsAsked();
  return asked === null ? Math.min(MOST_THREADS, navigator.hardwareConcurrency) : Math.min(64, asked);
}

let pool: ThreadPool | undefined;

/** The pool of this process. Its memory is reserved when it is first asked for. */
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
