/**
 * The device "webgpu", registered once `initWebGpu` has found an adapter. Invariant: work runs in the order in which it
 * was issued; the next read reports errors of the device.
 */
import { DynError } from "../../lib/base/errors.ts";
import {
  type CompileChoices,
  type CompiledProgram,
  type Device,
  type KernelCall,
  type KernelSource,
  type Memory,
  type MemoryPiece,
  type MemoryUse,
  OutOfMemory,
  registerDevice,
} from "../../lib/loops/device.ts";
import type { Program } from "../../lib/loops/ir.ts";
import { KeptForms } from "./kept_forms.ts";
import { BlockPool } from "../memory/block_pool.ts";
import { Buffers, onWebGpu, own } from "./memory.ts";
import { webGpuTarget } from "./target.ts";
import { type ProgramContext, WebGpuProgram } from "./program.ts";
import { Pipelines } from "./pipelines.ts";
import { mayStartThreads } from "./compile_threads.ts";
import { CommandQueue, DispatchTimer, TIMESTAMPS } from "./queue.ts";
import { Readback, Receipts, RefusedWork } from "./readback.ts";
import { compileSource } from "./source_kernel.ts";

/** Properties of the adapter in use. */
export interface AdapterDescription {
  readonly vendor: string;
  readonly description: string;
  readonly features: readonly string[];
  readonly synchronousReads: boolean;
}

class WebGpuDevice implements Device {
  readonly name = "webgpu";
  /** The parameter words need a binding, too. */
  readonly maxKernelBuffers: number;
  readonly synchronousReads: boolean;
  readonly lacksFloat64 = true;
  readonly costlyRowSums = true;
  readonly records = true;
  readonly #context: ProgramContext;
  readonly #readback: Readback;
  /** Memories with pending reads, which must not be reused. */
  readonly #reading = new Set<Memory>();
  /** A failure that has not been reported by a read yet. */
  #failure: DynError | undefined;

  constructor(pipelines: Pipelines, readback: Readback) {
    const { device } = pipelines.options;
    const queue = new CommandQueue(device, readback.receipts);
    const buffers = new Buffers(device, {
      isValid: (buffer) => readback.synchronous ? this.#isReadable(buffer) : undefined,
      flush: () => queue.flush(),
      failed: (bytes) => this.#failure ??= this.#outOfMemory(bytes),
      giveUp: () => forms.giveUp(),
    });
    const pool = new BlockPool(buffers), forms = new KeptForms(pool);
    const isRaised = readback.synchronous ? (flag: Memory) => this.readSync(flag, 0, 4)[0] !== 0 : null;
    const { maxStorageBuffersPerShaderStage, maxComputeWorkgroupStorageSize, maxStorageBufferBindingSize } =
      device.limits;
    const kernelBuffers = this.maxKernelBuffers = maxStorageBuffersPerShaderStage - 1;
    const limits = {
      kernelBuffers,
      workgroupBytes: maxComputeWorkgroupStorageSize,
      bindingBytes: maxStorageBufferBindingSize,
    };
    const target = (vectors: boolean, keepsForms: boolean) => webGpuTarget(limits, vectors, keepsForms);
    const timer = readback.synchronous ? new DispatchTimer(device, queue, readback) : null;
    this.#context = { device, target, buffers, pool, forms, queue, pipelines, isRaised, timer };
    this.#readback = readback;
    this.synchronousReads = readback.synchronous;
    device.pushErrorScope("validation");
    device.addEventListener("uncapturederror", (event) => {
      event.preventDefault();
      this.#failure ??= refusal(
        event instanceof GPUUncapturedErrorEvent ? event.error.message : "an unknown error",
      );
    });
  }

  get memoryUse(): MemoryUse {
    return this.#context.pool;
  }

  allocate(byteLength: number): Memory {
    return this.#context.pool.allocate(byteLength);
  }

  free(memory: Memory): void {
    this.#context.pool.free(onWebGpu(memory));
  }

  write(memory: Memory, byteOffset: number, bytes: Uint8Array): void {
    // Deno crashes on empty writes
    if (bytes.byteLength === 0) return;
    this.#context.queue.flush();
    const { buffer } = own(memory, this.#context);
    const start = byteOffset - byteOffset % 4, end = Math.ceil((byteOffset + bytes.byteLength) / 4) * 4;
    if (start === byteOffset && end === byteOffset + bytes.byteLength) {
      this.#context.device.queue.writeBuffer(buffer, start, bytes.slice());
      return;
    }
    // Writes cover whole words: merge with the old contents
    const words = this.#readback.readSync(buffer, start, end - start).slice();
    words.set(bytes, byteOffset - start);
    this.#context.device.queue.writeBuffer(buffer, start, words);
  }

  readSync(memory: Memory, byteOffset: number, byteLength: number): Uint8Array {
    return this.#waiting(() =>
      this.#readback.readSync(own(memory, this.#context).buffer, byteOffset, byteLength)
    );
  }

  readTogether(pieces: readonly MemoryPiece[]): readonly Uint8Array[] {
    return this.#waiting(() =>
      this.#readback.readTogether(pieces.map(({ memory, byteOffset, byteLength }) => ({
        buffer: own(memory, this.#context).buffer,
        offset: byteOffset,
        length: byteLength,
      })))
    );
  }

  /** Reads after all work so far. */
  #waiting<Read>(read: () => Read): Read {
    const { queue, buffers } = this.#context;
    queue.flush();
    try {
      const bytes = read();
      buffers.settle();
      // The runtime reports errors only between jobs, so those of refused work surface in a later job
      void this.#collectErrors();
      this.#raise();
      return bytes;
    } catch (thrown) {
      if (!(thrown instanceof RefusedWork)) throw thrown;
      void this.#takeErrors();
      throw this.#refused();
    }
  }

  async read(memory: Memory, byteOffset: number, byteLength: number): Promise<Uint8Array> {
    const { queue, buffers } = this.#context;
    queue.flush();
    this.#reading.add(memory);
    try {
      const bytes = await this.#readback.read(own(memory, this.#context).buffer, byteOffset, byteLength);
      buffers.settle();
      await this.#collectErrors();
      this.#raise();
      return bytes;
    } catch (thrown) {
      if (!(thrown instanceof RefusedWork)) throw thrown;
      await this.#collectErrors();
      throw this.#refused();
    } finally {
      this.#reading.delete(memory);
    }
  }

  /** Returns whether the device accepts work that reads a buffer. */
  #isReadable(buffer: GPUBuffer): boolean {
    const { device } = this.#context;
    // Errors of this test are not errors of the program
    device.pushErrorScope("validation");
    try {
      return this.#readback.canRead(buffer);
    } finally {
      void device.popErrorScope();
    }
  }

  /** The error of refused work; its cause if it can be found. */
  #refused(): DynError {
    const known = this.#failure;
    this.#failure = undefined;
    const bytes = this.#context.buffers.findFault();
    if (bytes !== undefined) return this.#outOfMemory(bytes);
    return known ?? refusal("that it refused some of it");
  }

  #outOfMemory(bytes: number): OutOfMemory {
    return new OutOfMemory("webgpu", bytes, { held: this.#context.pool.reserved });
  }

  /** Requests the first error so far and opens a new scope for later ones. */
  #takeErrors(): Promise<GPUError | null> {
    const { device } = this.#context;
    const found = device.popErrorScope();
    device.pushErrorScope("validation");
    return found;
  }

  async #collectErrors(): Promise<void> {
    const error = await this.#takeErrors();
    if (error) this.#failure ??= refusal(error.message);
  }

  expectLargeGraph(): void {
    this.#context.pipelines.expectMany();
  }

  compileEager(program: Program): CompiledProgram {
    return new WebGpuProgram(program, this.#context);
  }

  compile(program: Program, choices: CompileChoices = {}): CompiledProgram {
    return new WebGpuProgram(program, this.#context, choices);
  }

  compileSource(source: KernelSource): (call: KernelCall) => void {
    return compileSource(source, this.#context);
  }

  synchronize(): void {
    const probe = this.#context.pool.allocate(4);
    this.readSync(probe, 0, 4);
    this.#context.pool.free(probe);
  }

  #raise(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
  }
}

function refusal(found: string): DynError {
  return new DynError(`Expected the device to accept the work but found ${found}`);
}

const LIMITS = [
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupStorageSize",
  "maxStorageBuffersPerShaderStage",
] as const;

let initialised: Promise<AdapterDescription> | undefined;

/** Acquires the adapter, once. Throws with advice if there is none. */
export function initWebGpu(): Promise<AdapterDescription> {
  initialised ??= acquire().catch((error) => {
    initialised = undefined;
    throw error;
  });
  return initialised;
}

/** Returns the adapter, if any, without keeping it. */
export async function findAdapter(): Promise<GPUAdapter | null> {
  if (!("gpu" in navigator)) return null;
  return await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
}

async function acquire(): Promise<AdapterDescription> {
  const adapter = await findAdapter();
  if (!adapter) {
    throw new DynError(
      "Expected a WebGPU adapter but found none: install a Vulkan driver for your GPU, or Mesa's software one " +
        "(Debian: apt-get install mesa-vulkan-drivers libvulkan1)",
    );
  }
  const requiredLimits = Object.fromEntries(LIMITS.map((name) => [name, adapter.limits[name]]));
  const device = await adapter.requestDevice({
    requiredLimits,
    requiredFeatures: adapter.features.has(TIMESTAMPS) ? [TIMESTAMPS] : [],
  });
  const readback = await Readback.create(device, new Receipts(device));
  const cores = mayStartThreads() ? navigator.hardwareConcurrency : 1;
  const pipelines = new Pipelines({ device, limits: requiredLimits, cores });
  pipelines.expectCompilation();
  registerDevice(new WebGpuDevice(pipelines, readback));
  return {
    vendor: adapter.info.vendor,
    description: adapter.info.description,
    features: [...adapter.features],
    synchronousReads: readback.synchronous,
  };
}
