/**
 * The threads that compile shaders in the background. Nothing waits for them: the words of a job show its progress.
 * Invariant: a started thread keeps its device, and lives as long as the process, which does not end while one is
 * opening its device, and then ends without the runtime stopping threads first. Drivers require this: in NVIDIA's
 * (580.159), a thread that destroys its device may hang or crash if another one creates, uses or destroys its own or
 * the process ends meanwhile.
 */
import process from "node:process";
import { Worker } from "node:worker_threads";
import { logs } from "../../lib/base/logs.ts";
import { isGranted } from "../../lib/base/permissions.ts";
import { type DeviceLimits, OPENED, type ThreadRequest, workerSource } from "./pipeline_worker.ts";

/**
 * Returns whether threads may be started: not for tests and benchmarks, since each of their files ends with its
 * threads, in the same process. Only `deno test` and `deno bench` look at what is registered, and refuse what has no
 * name.
 */
export function mayStartThreads(): boolean {
  try {
    Deno.test(() => {});
    Deno.bench(() => {});
    return true;
  } catch {
    return false;
  }
}

let exitsDirectly = false;

/**
 * Makes the program end directly after all of its listeners: the runtime would stop the threads, each of which would
 * then destroy its device. `deno test` ends its files without the event `exit`.
 */
function exitDirectly(): void {
  if (exitsDirectly) return;
  exitsDirectly = true;
  globalThis.addEventListener("unload", () => process.on("exit", () => Deno.exit()));
}

/** Threads with equal devices. */
export class CompileThreads {
  /** The first thread, which starts the others; null: not started. */
  #first: Worker | null = null;

  constructor(readonly limits: DeviceLimits) {}

  /** Starts threads, and passes the job, if any, to as many of them. */
  request(request: ThreadRequest): void {
    this.#first ??= startWorker(this.limits);
    // Until the threads have opened their devices
    if (request.isIdle) this.#first?.unref();
    else this.#first?.ref();
    this.#first?.postMessage(request);
  }
}

/** The variable that names the interfaces through which Deno looks for adapters: by default all of them. */
const BACKENDS = "DENO_WEBGPU_BACKEND";

/**
 * Leaves out OpenGL, unless someone asks for it: what threads hold of it is destroyed by another one when the process
 * ends, where libEGL crashes, and NVIDIA's driver may wait forever.
 */
function avoidOpenGl(): void {
  if (isGranted({ name: "env", variable: BACKENDS }) && Deno.env.get(BACKENDS) === undefined) {
    Deno.env.set(BACKENDS, "vulkan,metal,dx12");
  }
}

function startWorker(limits: DeviceLimits): Worker | null {
  avoidOpenGl();
  exitDirectly();
  try {
    const worker = new Worker(workerSource(limits), { eval: true });
    const stopped = (because: unknown) =>
      logs.emit("perf_hints", `A thread that compiles shaders stopped: ${because}`);
    worker.on("error", (error) => {
      stopped(error);
      worker.unref();
    });
    worker.on("message", (message: unknown) => {
      if (message === OPENED) worker.unref();
      else stopped(message);
    });
    return worker;
  } catch (error) {
    logs.emit("perf_hints", `No thread that compiles shaders can be started: ${error}`);
    return null;
  }
}
