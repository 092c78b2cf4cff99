/**
 * Device memory: buffers in a pool by size class. Invariant: a buffer is either held by one WebGpuMemory or in the
 * pool; memory that the program drops comes back when the collector finds it.
 */
import { DynError } from "../../lib/base/errors.ts";
import type { Memory } from "../../lib/loops/device.ts";

/** A storage buffer, at least as large as asked for. `id` names the buffer, also after it went through the pool. */
export class WebGpuMemory implements Memory {
  readonly device = "webgpu";
  constructor(readonly buffer: GPUBuffer, readonly byteLength: number, readonly id: number) {}
}

/** Sizes are rounded up to powers of two below 64 KiB and to steps of 1/8 of one above, so that few differ. */
function sizeClass(byteLength: number): number {
  const least = Math.max(256, byteLength);
  const power = 2 ** Math.ceil(Math.log2(least));
  if (power <= 65536) return power;
  const step = power / 16;
  return Math.ceil(least / step) * step;
}

export class MemoryPool {
  readonly #device: GPUDevice;
  readonly #free = new Map<number, GPUBuffer[]>();
  readonly #collected = new FinalizationRegistry<GPUBuffer>((buffer) => this.#recycle(buffer));
  readonly #released = new WeakSet<WebGpuMemory>();
  readonly #ids = new WeakMap<GPUBuffer, number>();
  #nextId = 0;

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  /** Uninitialised storage. */
  allocate(byteLength: number): WebGpuMemory {
    const { maxBufferSize, maxStorageBufferBindingSize } = this.#device.limits;
    const most = Math.min(maxBufferSize, maxStorageBufferBindingSize);
    if (byteLength > most) {
      throw new DynError(
        `Expected at most ${most} bytes in one tensor on webgpu but found ${byteLength}`,
      );
    }
    const size = Math.min(sizeClass(byteLength), most - most % 16);
    const buffer = this.#free.get(size)?.pop() ?? this.#make(size);
    const memory = new WebGpuMemory(buffer, byteLength, this.#ids.get(buffer) ?? -1);
    this.#collected.register(memory, buffer, memory);
    return memory;
  }

  /** Takes memory back at once. The caller promises that nothing uses it any more. */
  free(memory: WebGpuMemory): void {
    if (this.#released.has(memory)) return;
    this.#released.add(memory);
    this.#collected.unregister(memory);
    this.#recycle(memory.buffer);
  }

  #make(size: number): GPUBuffer {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const buffer = this.#device.createBuffer({ size, usage });
    this.#ids.set(buffer, this.#nextId++);
    return buffer;
  }

  #recycle(buffer: GPUBuffer): void {
    const list = this.#free.get(buffer.size) ?? [];
    list.push(buffer);
    this.#free.set(buffer.size, list);
  }
}
