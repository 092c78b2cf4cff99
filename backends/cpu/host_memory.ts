/**
 * Memory of the host: an array buffer with one typed view per element type. Invariant: every buffer's length is a
 * multiple of 64, so that every typed view covers it.
 */
import { InternalError } from "../../lib/base/errors.ts";
import type { DeviceName, Memory, ProgramCall } from "../../lib/loops/device.ts";
import type { Program } from "../../lib/loops/ir.ts";

/** A piece of host memory. Views are made once; generated code reads them by name. */
export class HostMemory implements Memory {
  readonly byteLength: number;
  #uint8: Uint8Array<ArrayBuffer> | undefined;
  #int8: Int8Array | undefined;
  #int16: Int16Array | undefined;
  #uint16: Uint16Array | undefined;
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

/** Whether a call over host memory went past its program's guard. */
export function passedGuard({ guard, inputs, outputs }: Program, call: ProgramCall): boolean {
  if (!guard) return true;
  const at = outputs.indexOf(guard.flag), memory = call.outputs[at];
  if (!(memory instanceof HostMemory)) throw new InternalError("Expected host memory for the program's flag");
  return memory.uint8[call.byteOffsets?.[inputs.length + at] ?? 0] === 0;
}
