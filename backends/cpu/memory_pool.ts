/**
 * Freed host memory, kept to be used again. Input: byte counts; output: memories. Invariant: a pooled memory is
 * referred to by nobody.
 */
import { type DeviceName, OutOfMemory } from "../../lib/loops/device.ts";
import { HostMemory } from "./host_memory.ts";

/** A buffer of host memory. Throws `OutOfMemory` where there is no room, which the runtime calls a wrong range. */
export function hostBuffer(
  device: DeviceName,
  bytes: number,
  make: (bytes: number) => ArrayBuffer = (n) => new ArrayBuffer(n),
): ArrayBuffer {
  try {
    return make(bytes);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new OutOfMemory(device, bytes, Deno.memoryUsage().rss, { cause });
  }
}

/** Rounds a byte count up to a size class: few enough classes that freed memory is found again. */
export function sizeClass(bytes: number): number {
  if (bytes <= 64) return 64;
  if (bytes <= 4096) return Math.ceil(bytes / 64) * 64;
  const step = 2 ** Math.max(6, Math.floor(Math.log2(bytes)) - 3);
  return Math.ceil(bytes / step) * step;
}

/** Freed memories by size class, up to a total; beyond it they are left to the collector. */
export class MemoryPool {
  readonly #free = new Map<number, HostMemory[]>();
  #pooled = 0;

  constructor(
    readonly device: DeviceName,
    readonly limit: number = 1 << 30,
    private readonly fresh: (bytes: number) => ArrayBuffer = (bytes) => new ArrayBuffer(bytes),
  ) {}

  allocate(byteLength: number): HostMemory {
    const size = sizeClass(byteLength);
    if (this.#pooled > 0) {
      const found = this.#free.get(size)?.pop();
      if (found) {
        this.#pooled -= size;
        return found;
      }
    }
    return new HostMemory(this.device, this.#make(size));
  }

  /** A new buffer; what the pool keeps makes room where there is none. */
  #make(size: number): ArrayBuffer {
    try {
      return this.fresh(size);
    } catch (thrown) {
      if (!(thrown instanceof RangeError)) throw thrown;
    }
    this.#free.clear();
    this.#pooled = 0;
    return hostBuffer(this.device, size, this.fresh);
  }

  free(memory: HostMemory): void {
    const size = memory.byteLength;
    if (this.#pooled + size > this.limit) return;
    const list = this.#free.get(size);
    if (list) list.push(memory);
    else this.#free.set(size, [memory]);
    this.#pooled += size;
  }
}
