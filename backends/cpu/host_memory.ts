/**
 * Memory of the host: an array buffer with one typed view per element type. Invariant: every buffer's length is a
 * multiple of 64, so that every typed view covers it.
 */
import { InternalError } from "../../lib/base/errors.ts";
import type { DeviceName, ProgramCall } from "../../lib/loops/device.ts";
import type { Program } from "../../lib/loops/ir.ts";
import { Block, type BlockMemory } from "../memory/block_pool.ts";
import { Findable } from "../memory/live_set.ts";

/** A place in a memory besides the host's own addresses, as WebAssembly has them. */
export interface MemoryPlace {
  readonly memory: object;
  readonly address: number;
}

/** Bytes of an array buffer and what is made of them, once. One block serves one memory after another. */
export class HostBlock extends Block {
  #int8: Int8Array | undefined;
  #int16: Int16Array | undefined;
  #uint16: Uint16Array | undefined;
  #int32: Int32Array | undefined;
  #int64: BigInt64Array | undefined;
  #float32: Float32Array | undefined;
  #float64: Float64Array | undefined;
  #address: number | undefined;

  /** `place`: where other code reaches the bytes, too, if they lie in a memory of its own. */
  constructor(readonly uint8: Uint8Array, readonly place?: MemoryPlace) {
    super();
  }

  get int8(): Int8Array {
    return this.#int8 ??= this.#view(Int8Array, 1);
  }
  get int16(): Int16Array {
    return this.#int16 ??= this.#view(Int16Array, 2);
  }
  get uint16(): Uint16Array {
    return this.#uint16 ??= this.#view(Uint16Array, 2);
  }
  get int32(): Int32Array {
    return this.#int32 ??= this.#view(Int32Array, 4);
  }
  get int64(): BigInt64Array {
    return this.#int64 ??= this.#view(BigInt64Array, 8);
  }
  get float32(): Float32Array {
    return this.#float32 ??= this.#view(Float32Array, 4);
  }
  get float64(): Float64Array {
    return this.#float64 ??= this.#view(Float64Array, 8);
  }

  #view<T>(make: new (buffer: ArrayBufferLike, byteOffset: number, length: number) => T, size: number): T {
    const { buffer, byteOffset, byteLength } = this.uint8;
    return new make(buffer, byteOffset, byteLength / size);
  }

  /** Of its first byte, 0 where there is none. Costs 400 ns the first time, hence kept. */
  get address(): number {
    return this.#address ??= this.uint8.byteLength === 0
      ? 0
      : Number(Deno.UnsafePointer.value(Deno.UnsafePointer.of(this.uint8)));
  }
}

/**
 * A piece of host memory. Generated code reads the views by name. Whoever uses a view or the address holds the memory,
 * or allocates nothing meanwhile: a dropped memory's block is used again.
 */
export class HostMemory extends Findable implements BlockMemory<HostBlock> {
  readonly byteLength: number;
  readonly block: HostBlock;

  constructor(
    readonly device: DeviceName,
    bytes: ArrayBuffer | HostBlock,
  ) {
    super();
    this.block = bytes instanceof HostBlock ? bytes : new HostBlock(new Uint8Array(bytes));
    this.byteLength = this.block.uint8.byteLength;
  }

  get uint8(): Uint8Array {
    return this.block.uint8;
  }
  get int8(): Int8Array {
    return this.block.int8;
  }
  get int16(): Int16Array {
    return this.block.int16;
  }
  get uint16(): Uint16Array {
    return this.block.uint16;
  }
  get int32(): Int32Array {
    return this.block.int32;
  }
  get int64(): BigInt64Array {
    return this.block.int64;
  }
  get float32(): Float32Array {
    return this.block.float32;
  }
  get float64(): Float64Array {
    return this.block.float64;
  }
  get address(): number {
    return this.block.address;
  }
}

/** Where the answer of a program's guard is: the position of an output; null where nothing stops it. */
export function flagOf({ guard, outputs }: Pick<Program, "guard" | "outputs">): number | null {
  return guard ? outputs.indexOf(guard.flag) : null;
}

/** Whether a call over host memory went past its program's guard, whose answer is at an output. */
export function passedGuard(flag: number | null, { inputs, outputs, byteOffsets }: ProgramCall): boolean {
  if (flag === null) return true;
  const memory = outputs[flag];
  if (!(memory instanceof HostMemory)) throw new InternalError("Expected host memory for the program's flag");
  return memory.uint8[byteOffsets?.[inputs.length + flag] ?? 0] === 0;
}
