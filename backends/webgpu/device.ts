/**
 * The device "webgpu". Input: nothing; output: a registered Device once `initWebGpu` has found an adapter.
 * Invariant: work runs in the order in which it was issued; errors of the device surface at the next read.
 */
import { DynError } from "../../lib/base/errors.ts";
import { type CompiledProgram, type Device, type Memory, registerDevice } from "../../lib/loops/device.ts";
import type { Program } from "../../lib/loops/ir.ts";
import { MemoryPool, WebGpuMemory } from "./memory.ts";
import { webGpuTarget } from "./target.ts";
import { type ProgramContext, WebGpuProgram } from "./program.ts";
import { CommandQueue } from "./queue.ts";
import { Readback, RefusedWork } from "./readback.ts";
import { Receipts } from "./receipts.ts";

/** What is known of the adapter in use. */
export interface AdapterDescription {
  readonly vendor: string;
  readonly description: string;
  readonly features: readonly string[];
  readonly synchronousReads: boolean;
}

class WebGpuDevice implements Device {
  readonly name = "webgpu";
  /** The parameter words take a binding too. */
  readonly maxKernelBuffers: number;
  readonly synchronousReads: boolean;
  readonly lacksFloat64 = true;
  readonly #context: ProgramContext;
  readonly #readback: Readback;
  #failure: string | undefined;

  constructor(device: GPUDevice, readback: Readback) {
    const queue = new CommandQueue(device, readback.receipts);
    const pool = new MemoryPool(device, {
      isValid: (buffer) => readback.synchronous ? this.#isReadable(buffer) : undefined,
      flush: () => queue.flush(),
      failed: (error) => this.#failure ??= error.message,
    });
    const isRaised = readback.synchronous ? (flag: Memory) => this.readSync(flag, 0, 4)[0] !== 0 : null;
    this.maxKernelBuffers = device.limits.maxStorageBuffersPerShaderStage - 1;
    const target = webGpuTarget(this.maxKernelBuffers);
    this.#context = { device, target, pool, queue, pipelines: new Map(), isRaised };
    this.#readback = readback;
    this.synchronousReads = readback.synchronous;
    device.pushErrorScope("validation");
    device.addEventListener("uncapturederror", (event) => {
      event.preventDefault();
      this.#failure ??= event instanceof GPUUncapturedErrorEvent ? event.error.message : "an unknown error";
    });
  }

  allocate(byteLength: number): Memory {
    return this.#context.pool.allocate(byteLength);
  }

  free(memory: Memory): void {
    this.#context.pool.free(own(memory));
  }

  write(memory: Memory, byteOffset: number, bytes: Uint8Array): void {
    this.#context.queue.flush();
    const { buffer } = own(memory);
    const start = byteOffset - byteOffset % 4, end = Math.ceil((byteOffset + bytes.byteLength) / 4) * 4;
    if (start === byteOffset && end === byteOffset + bytes.byteLength) {
      this.#context.device.queue.writeBuffer(buffer, start, bytes.slice());
      return;
    }
    // Writes cover whole words: merge with what is there
    const words = this.#readback.readSync(buffer, start, end - start).slice();
    words.set(bytes, byteOffset - start);
    this.#context.device.queue.writeBuffer(buffer, start, words);
  }

  readSync(memory: Memory, byteOffset: number, byteLength: number): Uint8Array {
    const { queue, pool } = this.#context;
    queue.flush();
    try {
      const bytes = this.#readback.readSync(own(memory).buffer, byteOffset, byteLength);
      pool.settle();
      // The runtime tells of what is wrong between jobs only: what refused no work surfaces in a later one
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
    const { queue, pool } = this.#context;
    queue.flush();
    try {
      const bytes = await this.#readback.read(own(memory).buffer, byteOffset, byteLength);
      pool.settle();
      await this.#collectErrors();
      this.#raise();
      return bytes;
    } catch (thrown) {
      if (!(thrown instanceof RefusedWork)) throw thrown;
      await this.#collectErrors();
      throw this.#refused();
    }
  }

  /** Whether the device takes work that reads a buffer. */
  #isReadable(buffer: GPUBuffer): boolean {
    const { device } = this.#context;
    // What the runtime will say of the trial is no error of the program
    device.pushErrorScope("validation");
    try {
      return this.#readback.canRead(buffer);
    } finally {
      void device.popErrorScope();
    }
  }

  /** The error of work that was not done; the cause where it is known by now. */
  #refused(): DynError {
    const { pool } = this.#context, known = this.#failure;
    this.#failure = undefined;
    pool.distrustRecent();
    return new DynError(
      known === undefined
        ? "Expected the device to accept the work but found that it refused some of it, as it does where it has no " +
          `room for a tensor (${pool.held} bytes are held)`
        : `Expected the device to accept the work but found: ${known}`,
    );
  }

  /** Asks for the first error so far and opens a new scope for those to come. */
  #takeErrors(): Promise<GPUError | null> {
    const { device } = this.#context;
    const found = device.popErrorScope();
    device.pushErrorScope("validation");
    return found;
  }

  async #collectErrors(): Promise<void> {
    const error = await this.#takeErrors();
    if (error) this.#failure ??= error.message;
  }

  compileEager(program: Program): CompiledProgram {
    return new WebGpuProgram(program, this.#context);
  }

  compile(program: Program): CompiledProgram {
    return new WebGpuProgram(program, this.#context);
  }

  synchronize(): void {
    const probe = this.#context.pool.allocate(4);
    this.readSync(probe, 0, 4);
    this.#context.pool.free(probe);
  }

  #raise(): void {
    if (this.#failure === undefined) return;
    const message = this.#failure;
    this.#failure = undefined;
    throw new DynError(`Expected the device to accept the work but found: ${message}`);
  }
}

function own(memory: Memory): WebGpuMemory {
  if (memory instanceof WebGpuMemory) return memory;
  throw new DynError(`Expected memory on webgpu but found ${memory.device}`);
}

const LIMITS = [
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupStorageSize",
  "maxStorageBuffersPerShaderStage",
] as const;

let initialised: Promise<AdapterDescription> | undefined;

/** Acquires the adapter, once. Throws with advice where there is none. */
export function initWebGpu(): Promise<AdapterDescription> {
  initialised ??= acquire().catch((error) => {
    initialised = undefined;
    throw error;
  });
  return initialised;
}

/** Whether an adapter can be had, without keeping it. */
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
  const device = await adapter.requestDevice({ requiredLimits });
  const readback = await Readback.create(device, new Receipts(device));
  registerDevice(new WebGpuDevice(device, readback));
  return {
    vendor: adapter.info.vendor,
    description: adapter.info.description,
    features: [...adapter.features],
    synchronousReads: readback.synchronous,
  };
}
