/**
 * Device memory: buffers in a pool by size class. Invariants: a buffer is either held by one WebGpuMemory or in the
 * pool; memory that the program drops comes back when the collector finds it; a buffer that the device had no room
 * for never comes back.
 */
import { DynError } from "../../lib/base/errors.ts";
import { type Memory, OutOfMemory } from "../../lib/loops/device.ts";

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

/** What a pool needs of its device. */
export interface PoolOwner {
  /** Whether a new buffer is one: asks the device and waits. Undefined where it cannot be waited for. */
  readonly isValid: (buffer: GPUBuffer) => boolean | undefined;
  /** Hands all work over that refers to buffers of the pool. */
  readonly flush: () => void;
  /** Told later, between jobs, of a buffer that there was no room for. */
  readonly failed: (error: OutOfMemory) => void;
}

/** New buffers from this size on are looked at before they are used. */
const LARGE_BYTES = 16 << 20;

export class MemoryPool {
  readonly #device: GPUDevice;
  readonly #owner: PoolOwner;
  readonly #invalid = new WeakSet<GPUBuffer>();
  /** Buffers made since the device was last known to have done everything. */
  #recent: GPUBuffer[] = [];
  #held = 0;
  readonly #free = new Map<number, GPUBuffer[]>();
  readonly #collected = new FinalizationRegistry<GPUBuffer>((buffer) => this.#recycle(buffer));
  readonly #released = new WeakSet<WebGpuMemory>();
  readonly #ids = new WeakMap<GPUBuffer, number>();
  #nextId = 0;

  constructor(device: GPUDevice, owner: PoolOwner) {
    this.#device = device;
    this.#owner = owner;
  }

  /** Bytes of all buffers, those in the pool included. */
  get held(): number {
    return this.#held;
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

  /** Puts no buffer to use again that was made since the last time: one of them may be none. */
  distrustRecent(): void {
    for (const buffer of this.#recent) this.#drop(buffer);
    this.settle();
  }

  /** The device has done everything so far: all buffers are good. */
  settle(): void {
    this.#recent = [];
  }

  /** A new buffer. Where a large one finds no room, the pool gives up what it keeps and asks once more. */
  #make(size: number): GPUBuffer {
    const buffer = this.#create(size);
    if (size < LARGE_BYTES || this.#owner.isValid(buffer) !== false) return buffer;
    this.#drop(buffer);
    this.#trim();
    const again = this.#create(size);
    if (this.#owner.isValid(again) !== false) return again;
    this.#drop(again);
    throw new OutOfMemory("webgpu", size, this.#held);
  }

  #create(size: number): GPUBuffer {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    this.#device.pushErrorScope("out-of-memory");
    const buffer = this.#device.createBuffer({ label: `${size} bytes`, size, usage });
    this.#held += size;
    this.#recent.push(buffer);
    this.#ids.set(buffer, this.#nextId++);
    this.#device.popErrorScope().then((error) => {
      if (error) this.#fail(buffer);
    });
    return buffer;
  }

  #fail(buffer: GPUBuffer): void {
    if (this.#invalid.has(buffer)) return;
    this.#drop(buffer);
    this.#owner.failed(new OutOfMemory("webgpu", buffer.size, this.#held));
  }

  /** Counts a buffer out that is none, or may be none. */
  #drop(buffer: GPUBuffer): void {
    if (this.#invalid.has(buffer)) return;
    this.#invalid.add(buffer);
    this.#held -= buffer.size;
    const list = this.#free.get(buffer.size);
    if (list?.includes(buffer)) this.#free.set(buffer.size, list.filter((each) => each !== buffer));
  }

  /** Gives everything back that nobody uses. */
  #trim(): void {
    this.#owner.flush();
    for (const list of this.#free.values()) {
      for (const buffer of list) {
        this.#held -= buffer.size;
        buffer.destroy();
      }
    }
    this.#free.clear();
  }

  #recycle(buffer: GPUBuffer): void {
    if (this.#invalid.has(buffer)) return;
    const list = this.#free.get(buffer.size) ?? [];
    list.push(buffer);
    this.#free.set(buffer.size, list);
  }
}
