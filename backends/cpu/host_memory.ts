/**
 * Memory of the host: bytes of an array buffer. Invariant: every buffer's length is a multiple of 64, so that a view of
 * any element type covers it.
 */
import { DynError } from "../../lib/base/errors.ts";
import type { DeviceName, Memory, ProgramCall } from "../../lib/loops/device.ts";
import type { Program } from "../../lib/loops/ir.ts";
import { Block, type BlockMemory } from "../memory/block_pool.ts";
import { Findable } from "../memory/live_set.ts";

/** An address in another address space than the host's, such as WebAssembly's memory. */
interface MemoryPlace {
  readonly memory: object;
  readonly address: number;
}

/** Bytes of an array buffer, and their address. One block backs one memory after another. */
export class HostBlock extends Block {
  #address: number | undefined;

  /** `place`: where other code finds the bytes if they are in an address space of its own. */
  constructor(readonly uint8: Uint8Array, readonly place?: MemoryPlace) {
    super();
  }

  /** Address of its first byte, 0 if it is empty. Costs 400 ns the first time, so it is cached. */
  get address(): number {
    return this.#address ??= this.uint8.byteLength === 0
      ? 0
      : Number(Deno.UnsafePointer.value(Deno.UnsafePointer.of(this.uint8)));
  }
}

/**
 * A piece of host memory. Users of its bytes or its address must keep the memory alive, or allocate nothing meanwhile:
 * the block of a dropped memory is reused.
 */
export class HostMemory extends Findable implements BlockMemory<HostBlock> {
  readonly byteLength: number;
  readonly block: HostBlock;

  constructor(readonly device: DeviceName, bytes: ArrayBuffer | HostBlock) {
    super();
    this.block = bytes instanceof HostBlock ? bytes : new HostBlock(new Uint8Array(bytes));
    this.byteLength = this.block.uint8.byteLength;
  }

  get uint8(): Uint8Array {
    return this.block.uint8;
  }
  get address(): number {
    return this.block.address;
  }
}

/** Narrows a device's memory to the host's. Throws DynError for another device's. */
export function hostOf(memory: Memory | undefined): HostMemory {
  if (memory instanceof HostMemory) return memory;
  throw new DynError(`Expected memory of the device cpu but found ${memory?.device ?? "none"}`);
}

/** Returns the position of the output that holds the result of a program's guard; null without a guard. */
export function flagOf({ guard, outputs }: Pick<Program, "guard" | "outputs">): number | null {
  return guard ? outputs.indexOf(guard.flag) : null;
}

/** Returns whether a call over host memory passed its program's guard, whose result is an output. */
export function passedGuard(flag: number | null, { inputs, outputs, byteOffsets }: ProgramCall): boolean {
  if (flag === null) return true;
  return hostOf(outputs[flag]).uint8[byteOffsets?.[inputs.length + flag] ?? 0] === 0;
}
