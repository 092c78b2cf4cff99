/**
 * The threads that compile shaders in the background. Nobody waits for them: the words of a job show its progress.
 * Invariant: a started thread stays for the lifetime of the process, and keeps its device. Drivers require this: in
 * NVIDIA's (580.159), a thread that destroys its device while another one makes or uses its own may never come back,
 * nor may the other.
 */
import { Worker } from "node:worker_threads";
import { logs } from "../../lib/base/logs.ts";
import { type CompileJob, type DeviceLimits, workerSource } from "./pipeline_worker.ts";

/** Threads whose devices are alike. */
export class CompileThreads {
  readonly #workers: Worker[] = [];

  constructor(readonly limits: DeviceLimits) {}

  /** Hands a job to so many threads; where no more can be started, to those that there are. */
  start(job: CompileJob, count: number): void {
    while (this.#workers.length < count) {
      const worker = startWorker(this.limits);
      if (!worker) break;
      this.#workers.push(worker);
    }
    for (const worker of this.#workers.slice(0, count)) worker.postMessage(job);
  }
}

function startWorker(workerData: DeviceLimits): Worker | null {
  try {
    const worker = new Worker(workerSource, { eval: true, workerData });
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
