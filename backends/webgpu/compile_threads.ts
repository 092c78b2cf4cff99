/**
 * The threads that compile shaders in the background. Nothing waits for them: the words of a job show its progress.
 * Invariant: a started thread lives as long as the process, and keeps its device. Drivers require this: in NVIDIA's
 * (580.159), a thread that destroys its device while another one creates or uses its own may hang, and so may the
 * other.
 */
import { Worker } from "node:worker_threads";
import { logs } from "../../lib/base/logs.ts";
import { type CompileJob, type DeviceLimits, workerSource } from "./pipeline_worker.ts";

/** Threads with equal devices. */
export class CompileThreads {
  /** The first thread, which starts the others; null: not started. */
  #first: Worker | null = null;

  constructor(readonly limits: DeviceLimits) {}

  /** Passes a job to this many threads, or to as many as can be started. */
  start(job: Omit<CompileJob, "threads">, threads: number): void {
    this.#first ??= startWorker(this.limits);
    this.#first?.postMessage({ ...job, threads });
  }
}

function startWorker(limits: DeviceLimits): Worker | null {
  try {
    const worker = new Worker(workerSource, { eval: true, workerData: { script: workerSource, limits } });
    const stopped = (because: unknown) =>
      logs.emit("perf_hints", `A thread that compiles shaders stopped: ${because}`);
    worker.on("error", stopped);
    worker.on("message", stopped);
    worker.unref();
    return worker;
  } catch (error) {
    logs.emit("perf_hints", `No thread that compiles shaders can be started: ${error}`);
    return null;
  }
}
