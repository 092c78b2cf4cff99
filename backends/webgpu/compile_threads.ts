/**
 * The threads that compile shaders in the background. Nothing waits for them: the words of a job show its progress.
 * Invariant: a started thread lives as long as the process, and keeps its device. Drivers require this: in NVIDIA's
 * (580.159), a thread that destroys its device while another one creates or uses its own may hang, and so may the
 * other.
 */
import { Worker } from "node:worker_threads";
import { logs } from "../../lib/base/logs.ts";
import { environmentVariable, isGranted } from "../../lib/base/permissions.ts";
import { type DeviceLimits, type ThreadRequest, workerSource } from "./pipeline_worker.ts";

/** Threads with equal devices. */
export class CompileThreads {
  /** The first thread, which starts the others; null: it cannot be started; undefined: not started. */
  #first: Worker | null | undefined;

  constructor(readonly limits: DeviceLimits) {}

  /** Starts threads, and passes the job, if any, to as many of them. */
  request(request: ThreadRequest): void {
    this.#first ??= startWorker(this.limits);
    this.#first?.postMessage(request);
  }
}

/** The variable that names the interfaces through which Deno looks for adapters, all of them by default. */
const BACKEND = "DENO_WEBGPU_BACKEND";

/**
 * OpenGL's contexts belong to the threads that made them: when the process ends, Deno destroys those of other threads,
 * where NVIDIA's driver crashes or waits forever. Compiled shaders are shared through Vulkan alone.
 */
function avoidOpenGl(): void {
  if (Deno.build.os !== "linux" || !isGranted({ name: "env", variable: BACKEND })) return;
  if (environmentVariable(BACKEND) === undefined) Deno.env.set(BACKEND, "vulkan");
}

function startWorker(limits: DeviceLimits): Worker | null {
  avoidOpenGl();
  try {
    const worker = new Worker(workerSource, {
      eval: true,
      workerData: { script: workerSource, limits, opens: false },
    });
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
