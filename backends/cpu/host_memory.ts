/**
 * Memory of the host: an array buffer with one typed view per element type. Invariant: every buffer's length is a
 * multiple of 64, so that every typed view covers it.
 */
import { InternalError } from "../../lib/base/errors.ts";
import type { DeviceName, ProgramCall } from "../../lib/loops/device.ts";
import type { Program } from "../../lib/loops/ir.ts";
import { Block, type BlockMemory } from "../memory/block_pool.ts";
import { Findable } from "../memory/live_set.ts";

/** An array buffer and what is made of it, once. One block serves one memory after another. */
export class HostBlock extends Block {
  #uint8: Uint8Array<ArrayBuffer> | undefined;
  #int8: Int8Array | undefined;
  #int16: Int16Array | undefined;
  #uint16: Uint16Array | undefined;
  #int32: Int32Array | undefined;
  #int64: BigInt64Array | undefined;
  #float32: Float32Array | undefined;
  #float64: Float64Array | undefined;
  #address: number | undefined;

  constructor(readonly buffer: ArrayBuffer) {
    super();
  }

  get uint8(): Uint8Array<ArrayBuffer> {
    return this.#uint8 ??= new Uint8Array(this.buffer);
  }
  get int8(): Int8Array {
    return this.#int8 ??= new Int8Array(this.buffer);
  }
  get int16(): Int16Array {
    return this.#int16 ??= new Int16Array(this.buffer);
  }
  get uint16(): Uint16Array {
    return this.#uint16 ??= new Uint16Array(this.buffer);
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

  /** Of its first byte, 0 for an empty buffer. Costs 400 ns the first time, hence kept. */
  get address(): number {
    return this.#address ??= this.buffer.byteLength === 0
      ? 0
      : Number(Deno.UnsafePointer.value(Deno.UnsafePointer.of(this.buffer)));
  }
}

/**
 * A piece of host memory. Generated code reads the views by name. Whoever uses a view or the address holds the memory,
 * or allocates nothing meanwhile: a dropped memory's block is used again.
 */
export class HostMemory extends Findable implements BlockMemory<HostBlock> {
  readonly byteLength: number;

  constructor(
    readonly device: DeviceName,
    readonly buffer: ArrayBuffer,
    readonly block: HostBlock = new HostBlock(buffer),
  ) {
    super();
    this.byteLength = buffer.byteLength;
  }

  get uint8(): Uint8Array<ArrayBuffer> {
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

/** Whether a call over host memory went past its program's guard. */
export function passedGuard({ guard, inputs, outputs }: Program, call: ProgramCall): boolean {
  if (!guard) return true;
  const at = outputs.indexOf(guard.flag), memory = call.outputs[at];
  if (!(memory instanceof HostMemory)) throw new InternalError("Expected host memory for the program's flag");
  return memory.uint8[call.byteOffsets?.[inputs.length + at] ?? 0] === 0;
}
