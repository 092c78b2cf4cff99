/**
 * Buffers of the device, and the pool of memory over them. Invariant: a buffer for which the device had no room is
 * never used: large ones are checked when they are created; for others the runtime reports it between jobs, or the next
 * read detects it.
 */
import { DynError } from "../../lib/base/errors.ts";
import { type Memory, OutOfMemory } from "../../lib/loops/device.ts";
import {
  Block,
  type BlockMemory,
  type BlockPool,
  type BlockSource,
  sizeClass,
} from "../memory/block_pool.ts";
import { Findable, type Visible } from "../memory/live_set.ts";

/** A storage buffer. */
class BufferBlock extends Block {
  constructor(readonly buffer: GPUBuffer, readonly bufferId: number) {
    super();
  }
}

/** The beginning of a buffer. `bufferId` identifies the buffer, which may have backed other memories before. */
export class WebGpuMemory extends Findable implements BlockMemory<BufferBlock> {
  readonly device = "webgpu";
  readonly buffer: GPUBuffer;
  readonly bufferId: number;

  constructor(readonly block: BufferBlock, readonly byteLength: number) {
    super();
    this.buffer = block.buffer;
    this.bufferId = block.bufferId;
  }
}

/** The services of the device that buffers need. */
interface BufferOwner {
  /** Returns whether a new buffer is valid: queries the device and waits. Undefined if waiting is not possible. */
  readonly isValid: (buffer: GPUBuffer) => boolean | undefined;
  /** Submits all work that refers to buffers. */
  readonly flush: () => void;
  /** Called later, between jobs, for a buffer that did not fit. */
  readonly failed: (bytes: number) => void;
  /** Frees buffers that only save time. */
  readonly giveUp: () => void;
}

/** New buffers from this size on are created only if room is known to exist, or checked before they are used. */
const LARGE_BYTES = 1 << 20;
/** Amount of room that one check looks for: each check waits until the device is idle. */
const AHEAD_BYTES = 1 << 27;

/**
 * Bytes and blocks of young memory at which dropped results are searched for: a search takes as long as several
 * kernels.
 */
const YOUNG_BYTES = 2 ** 28, YOUNG_BLOCKS = 16;

/** Bytes that a program may hold before all objects are searched. */
const OLD_BYTES = 2 ** 30;

/** Creates buffers and records which of them the device failed to create. */
export class Buffers implements BlockSource<BufferBlock, WebGpuMemory> {
  readonly device = "webgpu";
  readonly oldBytes = OLD_BYTES;
  /** The amount of memory of a device is unknown. */
  readonly manyBytes = Infinity;
  /** A memory stores how much of its buffer was requested, so it cannot serve another call. */
  readonly smallBytes = 0;
  readonly #device: GPUDevice;
  readonly #owner: BufferOwner;
  /** Maximum bytes of a buffer. */
  readonly #most: number;
  readonly #invalid = new WeakSet<GPUBuffer>();
  #nextId = 0;
  /** Bytes of room found by the last check, minus those of buffers created since. */
  #room = 0;
  /** Buffers created since the device was last known to be idle. */
  #recent: GPUBuffer[] = [];

  constructor(device: GPUDevice, owner: BufferOwner) {
    this.#device = device;
    this.#owner = owner;
    const { maxBufferSize, maxStorageBufferBindingSize } = device.limits;
    this.#most = Math.min(maxBufferSize, maxStorageBufferBindingSize);
  }

  /** A size class, in whole vectors and within the reach of one binding. Throws DynError if that is too little. */
  sizeFor(bytes: number): number {
    const most = this.#most;
    if (bytes > most) {
      throw new DynError(`Expected at most ${most} bytes in one tensor on webgpu but found ${bytes}`);
    }
    return Math.min(sizeClass(Math.max(256, bytes)), most - most % 16);
  }

  make(size: number): BufferBlock | undefined {
    const isRoomy = size < LARGE_BYTES || this.#hasRoom(size), { buffer, told } = this.#create(size);
    if (!isRoomy && this.#owner.isValid(buffer) === false) {
      this.#invalid.add(buffer);
      return undefined;
    }
    this.#room -= size;
    this.#recent.push(buffer);
    void told.then((error) => {
      if (error && this.#exclude(buffer)) this.#owner.failed(size);
    });
    return new BufferBlock(buffer, this.#nextId++);
  }

  #create(size: number): { readonly buffer: GPUBuffer; readonly told: Promise<GPUError | null> } {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    this.#device.pushErrorScope("out-of-memory");
    const buffer = this.#device.createBuffer({ label: `${size} bytes`, size, usage });
    return { buffer, told: this.#device.popErrorScope() };
  }

  /** Returns whether room is known to exist; a check looks for as much as several buffers need. */
  #hasRoom(size: number): boolean {
    if (size > this.#room && size < AHEAD_BYTES) {
      const { buffer } = this.#create(this.sizeFor(AHEAD_BYTES));
      this.#room = this.#owner.isValid(buffer) ? buffer.size : 0;
      buffer.destroy();
      // Destroyed buffers are released with the next submission
      this.#device.queue.submit([]);
    }
    return size <= this.#room;
  }

  over(block: BufferBlock, bytes: number): WebGpuMemory {
    return new WebGpuMemory(block, bytes);
  }

  isMemory(found: Visible): found is WebGpuMemory {
    return found instanceof WebGpuMemory;
  }

  isGood({ buffer }: BufferBlock): boolean {
    return !this.#invalid.has(buffer);
  }

  discard(blocks: readonly BufferBlock[]): void {
    this.#owner.flush();
    for (const { buffer } of blocks) buffer.destroy();
  }

  giveUp(): void {
    this.#owner.giveUp();
  }

  /** New memory is not cleared by the calling thread. */
  readonly freshBytes = Infinity;

  youngBytes(size: number): number {
    return Math.max(YOUNG_BYTES, YOUNG_BLOCKS * size);
  }

  /** Records that the device is idle: all buffers so far are valid. */
  settle(): void {
    this.#recent = [];
  }

  /**
   * Looks for the reason why the device refused work: the bytes of a recent invalid buffer, or undefined. If the device
   * cannot be queried, no recent buffer is used again.
   */
  findFault(): number | undefined {
    let fault: number | undefined;
    for (const buffer of this.#recent) {
      const valid = !this.#invalid.has(buffer) ? this.#owner.isValid(buffer) : false;
      if (valid === true) continue;
      this.#exclude(buffer);
      if (valid === false) fault ??= buffer.size;
    }
    this.settle();
    return fault;
  }

  /** Excludes a buffer from use; returns whether that is new. */
  #exclude(buffer: GPUBuffer): boolean {
    if (this.#invalid.has(buffer)) return false;
    this.#invalid.add(buffer);
    return true;
  }
}

/** The device's memory. */
export type BufferPool = BlockPool<BufferBlock, WebGpuMemory>;

/** Narrows memory to the device's own. Throws DynError for another device's, OutOfMemory if its buffer is invalid. */
export function own(memory: Memory, { buffers, pool }: { buffers: Buffers; pool: BufferPool }): WebGpuMemory {
  const found = onWebGpu(memory);
  if (buffers.isGood(found.block)) return found;
  throw new OutOfMemory("webgpu", found.byteLength, { held: pool.reserved });
}

/** Narrows memory to the device's own. Throws DynError for another device's. */
export function onWebGpu(memory: Memory): WebGpuMemory {
  if (memory instanceof WebGpuMemory) return memory;
  throw new DynError(`Expected memory on webgpu but found some on ${memory.device}`);
}
