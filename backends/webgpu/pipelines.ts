/**
 * Compute pipelines by the text of their shaders, each created once. If a program has many new ones and the machine
 * has spare cores, threads compile some while this one compiles others: drivers cache compiled shaders, so that the
 * device then gets those quickly. Invariant: nothing depends on the threads; what they do not compile is compiled
 * here.
 */
import { DynError } from "../../lib/base/errors.ts";
import { logs } from "../../lib/base/logs.ts";
import type { Shader } from "./print/entry.ts";
import { CompileThreads } from "./compile_threads.ts";
import {
  type CompileJob,
  type DeviceLimits,
  pipelineDescriptor,
  type ShaderSource,
  sourceOf,
  WORD,
} from "./pipeline_worker.ts";

/** New pipelines from which threads are worth their start, which takes as long as several, and those of one thread. */
const MANY = 12, EACH = 4;
/** Threads at most: each has a device of its own. */
const MOST_THREADS = 8;
/** Milliseconds without a finished shader after which threads are not waited for any more. */
const PATIENCE = 10_000;
/** A pipeline that a thread has compiled takes less than this part of the time of one that is compiled here. */
const WORTH_IT = 0.5;

/** How pipelines are created. */
export interface PipelineOptions {
  readonly device: GPUDevice;
  /** Limits requested from the device. */
  readonly limits: DeviceLimits;
  /** Cores that threads may use. */
  readonly cores: number;
}

/** The pipelines of a device. */
export class Pipelines {
  readonly #made = new Map<string, GPUComputePipeline>();
  /** Whether the driver hands over what other devices have compiled, as far as is known. */
  #shares = true;
  readonly #threads: CompileThreads;

  constructor(readonly options: PipelineOptions) {
    this.#threads = new CompileThreads(options.limits);
  }

  /** The pipeline of a shader. Throws DynError for more tensors than the adapter binds. */
  of(shader: Shader): GPUComputePipeline {
    return this.#made.get(shader.code) ?? this.ofSource(sourceOf(shader), shader.name);
  }

  /** The pipeline of a text that binds storage buffers in the given order. Throws as `of` does. */
  ofSource(source: ShaderSource, label: string): GPUComputePipeline {
    const known = this.#made.get(source.code);
    if (known) return known;
    const made = this.#make(source, label);
    this.#made.set(source.code, made);
    return made;
  }

  /** Makes the pipelines of shaders where threads are worth it; gives how many of them threads have compiled. */
  prepare(shaders: readonly Shader[]): number {
    const missing = new Map<string, Shader>();
    for (const shader of shaders) if (!this.#made.has(shader.code)) missing.set(shader.code, shader);
    const list = [...missing.values()];
    const threads = Math.min(MOST_THREADS, this.options.cores >> 1, Math.floor(list.length / EACH));
    if (list.length < MANY || threads < 2 || !this.#shares) return 0;
    const { theirs, ownTime } = this.#compileTogether(list, threads), start = performance.now();
    for (const shader of theirs) this.of(shader);
    const each = (performance.now() - start) / Math.max(1, theirs.length);
    if (ownTime > 0 && each > WORTH_IT * ownTime) {
      this.#shares = false;
      logs.emit("perf_hints", "The driver compiles anew what threads have compiled: there will be none");
    }
    return theirs.length;
  }

  /** Compiles shaders here and on threads: those of the threads, and milliseconds for one of the others. */
  #compileTogether(
    list: readonly Shader[],
    threads: number,
  ): { readonly theirs: readonly Shader[]; readonly ownTime: number } {
    const words = new SharedArrayBuffer(8), counts = new Int32Array(words);
    const job: CompileJob = { sources: list.map(sourceOf), words };
    this.#threads.start(job, threads);
    const own = new Set<number>(), start = performance.now();
    for (
      let at = Atomics.add(counts, WORD.next, 1);
      at < list.length;
      at = Atomics.add(counts, WORD.next, 1)
    ) {
      const shader = list[at];
      if (shader) this.of(shader);
      own.add(at);
    }
    const ownTime = own.size > 0 ? (performance.now() - start) / own.size : 0;
    const awaited = list.length - own.size;
    for (let done = Atomics.load(counts, WORD.done); done < awaited; done = Atomics.load(counts, WORD.done)) {
      if (Atomics.wait(counts, WORD.done, done, PATIENCE) === "timed-out") break;
    }
    return { theirs: list.filter((_, at) => !own.has(at)), ownTime };
  }

  #make(source: ShaderSource, label: string): GPUComputePipeline {
    const { device } = this.options,
      { access } = source,
      most = device.limits.maxStorageBuffersPerShaderStage;
    if (access.length > most) {
      throw new DynError(
        `Expected at most ${most - 1} tensors in one kernel on this adapter but found ${access.length - 1}`,
      );
    }
    return device.createComputePipeline(pipelineDescriptor(device, source, label));
  }
}
