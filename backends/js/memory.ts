/**
 * Memory of the host: array buffers with one typed view per element type, and a pool of freed ones. Input: byte
 * counts; output: memories. Invariant: a pooled memory is referred to by nobody; every buffer's length is a
 * multiple of 64, so that every typed view covers it.
 */
import { InternalError } from "../../lib/base/errors.ts";
import { type DeviceName, type Memory, OutOfMemory, type ProgramCall } from "../../lib/loops/device.ts";
import type { Program } from "../../lib/loops/ir.ts";

/** A piece of host memory. Views are made once; generated code reads them by name. */
export class HostMemory implements Memory {
  readonly byteLength: number;
  #uint8: Uint8Array<ArrayBuffer> | undefined;
  #int32: Int32Array | undefined;
  #int64: BigInt64Array | undefined;
  #float32: Float32Array | undefined;
  #float64: Float64Array | undefined;
  #pointer: Deno.PointerObject | undefined;
  #address: number | undefined;

  constructor(readonly device: DeviceName, readonly buffer: ArrayBuffer) {
    this.byteLength = buffer.byteLength;
  }

  get uint8(): Uint8Array<ArrayBuffer> {
    return this.#uint8 ??= new Uint8Array(this.buffer);
  }
  get int32(): Int32Array {
    return this.#int32 ??= new Int32Array(this.buffer);
  }
  get int64(): BigInt64Array {
    return this.#int64 ??= new BigInt64Array(this.buffer);
  }
  get float32(): Float32Array {
    return this.#float32 ??= new Float32Array(this.buffer);
  }
  get float64(): Float64Array {
    return this.#float64 ??= new Float64Array(this.buffer);
  }

  /** The same as a number, 0 for an empty buffer. */
  get address(): number {
    return this.#address ??= this.byteLength === 0
      ? 0
      : Number(Deno.UnsafePointer.value(Deno.UnsafePointer.of(this.buffer)));
  }

  /** Its address for foreign functions. Costs 400 ns the first time, hence kept. */
  get pointer(): Deno.PointerObject {
    if (this.#pointer) return this.#pointer;
    const pointer = Deno.UnsafePointer.of(this.buffer);
    if (!pointer) throw new Error("Expected the address of a buffer but found null");
    return this.#pointer = pointer;
  }
}

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

/** Whether a call over host memory went past its program's guard. */
export function passedGuard({ guard, inputs, outputs }: Program, call: ProgramCall): boolean {
  if (!guard) return true;
  const at = outputs.indexOf(guard.flag), memory = call.outputs[at];
  if (!(memory instanceof HostMemory)) throw new InternalError("Expected host memory for the program's flag");
  return memory.uint8[call.byteOffsets?.[inputs.length + at] ?? 0] === 0;
}
