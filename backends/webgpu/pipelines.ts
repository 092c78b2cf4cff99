/**
 * Compute pipelines by the text of their shaders, each created once. If a program has many new ones and the machine has
 * spare cores, threads compile some while this one compiles others: drivers cache compiled shaders, so that the device
 * then obtains those quickly. Invariant: nothing depends on the threads; whatever they do not compile is compiled here.
 */
import { DynError } from "../../lib/base/errors.ts";
import { logs } from "../../lib/base/logs.ts";
import type { Shader } from "./print/entry.ts";
import { CompileThreads } from "./compile_threads.ts";
import {
  compileJob,
  type DeviceLimits,
  pipelineDescriptor,
  type ShaderSource,
  sourceOf,
  STATE,
  takes,
  WORD,
} from "./pipeline_worker.ts";

/**
 * Minimum number of new pipelines for which starting threads pays, which takes as long as several pipelines, and number
 * of pipelines per thread.
 */
const MANY = 12, EACH = 4;
/** Maximum number of threads: each has a device of its own. */
const MOST_THREADS = 8;
/** Milliseconds without a finished shader after which this thread stops waiting for others. */
const PATIENCE = 10_000;
/** A thread is useful if, for equal text, its shaders take less than this part of the time that others take here. */
const WORTH_IT = 0.5;

/** Shaders, the total length of their texts, and the milliseconds that creating their pipelines took here. */
interface Share {
  count: number;
  length: number;
  time: number;
}

/** How pipelines are created. */
interface PipelineOptions {
  readonly device: GPUDevice;
  /** Limits requested from the device. */
  readonly limits: DeviceLimits;
  /** Cores that threads may use. */
  readonly cores: number;
}

/** The pipelines of a device. */
export class Pipelines {
  readonly #made = new Map<string, GPUComputePipeline>();
  /** Whether the driver shares what other devices have compiled, as far as is known. */
  #shares = true;
  readonly #threads: CompileThreads;

  constructor(readonly options: PipelineOptions) {
    this.#threads = new CompileThreads(options.limits);
  }

  /** The pipeline of a shader. Throws DynError if it binds more tensors than the adapter allows. */
  of(shader: Shader): GPUComputePipeline {
    return this.#made.get(shader.code) ?? this.ofSource(sourceOf(shader), shader.name);
  }

  /** The pipeline of a text that binds storage buffers in the given order. Throws as `of` does. */
  ofSource(source: ShaderSource, label: string): GPUComputePipeline {
    const known = this.#made.get(source.code);
    if (known) return known;
    const made = this.options.device.createComputePipeline(this.#describe(source, label));
    this.#made.set(source.code, made);
    return made;
  }

  get #mostThreads(): number {
    return Math.min(MOST_THREADS, this.options.cores >> 1);
  }

  /**
   * Starts threads without devices. Workers of Deno's that others start, or that start after an inspector is connected,
   * with which functions are captured, do so half a second late, and get their first message another half later.
   */
  expectCompilation(): void {
    const threads = this.#mostThreads;
    if (threads >= 2) this.#threads.request({ threads, isIdle: true });
  }

  /** Starts threads for many pipelines to come: drivers take a second to open the devices of these. */
  expectMany(): void {
    const threads = this.#mostThreads;
    if (threads >= 2 && this.#shares) this.#threads.request({ threads });
  }

  /** Creates the pipelines of shaders, with threads if they pay; returns how many of them threads have compiled. */
  prepare(shaders: readonly Shader[]): number {
    const missing = new Map<string, Shader>();
    for (const shader of shaders) if (!this.#made.has(shader.code)) missing.set(shader.code, shader);
    const threads = Math.min(this.#mostThreads, Math.floor(missing.size / EACH));
    if (missing.size < MANY || threads < 2 || !this.#shares) return 0;
    // Threads begin with those that take longest
    const list = [...missing.values()].toSorted((a, b) => b.code.length - a.code.length);
    const { own, theirs } = this.#makeTogether(list, threads);
    if (own.length > 0 && theirs.time / theirs.length > WORTH_IT * own.time / own.length) {
      this.#shares = false;
      logs.emit("perf_hints", "The driver compiles anew what threads have compiled: there will be none");
    }
    return theirs.count;
  }

  /** Creates the pipelines of shaders: those compiled by threads as soon as they are ready, others meanwhile. */
  #makeTogether(list: readonly Shader[], threads: number): { readonly own: Share; readonly theirs: Share } {
    const job = compileJob(list.map(sourceOf)), words = new Int32Array(job.words);
    this.#threads.request({ threads, job });
    const own = { count: 0, length: 0, time: 0 }, theirs = { ...own };
    const described = new Map<Shader, GPUComputePipelineDescriptor>();
    const describe = (shader: Shader) => {
      const made = described.get(shader) ?? this.#describe(sourceOf(shader), shader.name);
      described.set(shader, made);
      return made;
    };
    const make = (at: number, share: Share) => {
      const shader = list[at];
      if (!shader) return;
      const descriptor = describe(shader), start = performance.now();
      this.#made.set(shader.code, this.options.device.createComputePipeline(descriptor));
      share.count++;
      share.length += shader.code.length;
      share.time += performance.now() - start;
    };
    const missing = new Set(list.keys());
    for (let seen = 0, next = 0, end = list.length;;) {
      const done = Atomics.load(words, WORD.done);
      if (done !== seen) {
        for (const at of missing) {
          if (Atomics.load(words, WORD.each + at) === STATE.done && missing.delete(at)) make(at, theirs);
        }
        seen = done;
      }
      if (missing.size === 0) break;
      // All shaders have to be parsed here: that comes before compiling some
      const parsed = list[next++];
      if (parsed) {
        describe(parsed);
        continue;
      }
      // From the end: a short one does not keep this thread from those that others have finished meanwhile
      while (end > 0 && !takes(words, end - 1)) end--;
      if (end > 0 && missing.delete(end - 1)) make(--end, own);
      else if (Atomics.wait(words, WORD.done, done, PATIENCE) === "timed-out") break;
    }
    return { own, theirs };
  }

  #describe(source: ShaderSource, label: string): GPUComputePipelineDescriptor {
    const { device } = this.options,
      { access } = source,
      most = device.limits.maxStorageBuffersPerShaderStage;
    if (access.length > most) {
      throw new DynError(
        `Expected at most ${most - 1} tensors in one kernel on this adapter but found ${access.length - 1}`,
      );
    }
    return pipelineDescriptor(device, source, label);
  }
}
