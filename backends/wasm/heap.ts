/**
 * Allocates pieces of the WebAssembly memory for the lifetime of tensors, so that programs use them in place.
 * Invariant: pieces overlap neither each other nor the memory of calls.
 */
import { LOAD_SLACK } from "./access.ts";
import type { WasmMemory } from "./memory.ts";

/** A free range of addresses. */
interface Gap {
  readonly address: number;
  readonly bytes: number;
}

/** Bytes by which the memory grows. */
const STEP = 2 ** 26;

/** The upper part of a memory. */
export class TensorHeap {
  /** Ordered by address; no two are adjacent. */
  #gaps: Gap[];
  /** End of the memory. */
  #end: number;
  /** End of the pieces allocated so far; bytes beyond were never written and are 0. */
  #used: number;
  readonly #grown: (part: Uint8Array) => void;

  /** `grown` is called with the bytes by which the memory has grown, before any of them is touched. */
  constructor(readonly memory: WasmMemory, grown: (part: Uint8Array) => void = () => {}) {
    const { from, to } = memory.tensors;
    this.#end = this.#used = from;
    this.#grown = grown;
    // Loads may read slightly beyond the last piece
    this.#gaps = to - LOAD_SLACK > from ? [{ address: from, bytes: to - LOAD_SLACK - from }] : [];
  }

  get used(): number {
    return this.#used;
  }

  /** Allocates this many bytes, a multiple of 64, and returns their address; undefined if there is no room. */
  allocate(bytes: number): number | undefined {
    const at = this.#gaps.findIndex((gap) => gap.bytes >= bytes), gap = this.#gaps[at];
    if (!gap || !this.#reach(gap.address + bytes + LOAD_SLACK)) return undefined;
    const rest = { address: gap.address + bytes, bytes: gap.bytes - bytes };
    this.#gaps.splice(at, 1, ...rest.bytes > 0 ? [rest] : []);
    this.#used = Math.max(this.#used, rest.address);
    return gap.address;
  }

  #reach(address: number): boolean {
    const { memory } = this, from = this.#end;
    if (address <= from) return true;
    const to = Math.min(memory.tensors.to, from + Math.ceil((address - from) / STEP) * STEP);
    if (!memory.reach(to)) return false;
    this.#end = to;
    this.#grown(new Uint8Array(memory.memory.buffer, from, to - from));
    return true;
  }

  /** Frees a piece. */
  free(address: number, bytes: number): void {
    const following = this.#gaps.findIndex((gap) => gap.address > address);
    const at = following < 0 ? this.#gaps.length : following;
    const before = this.#gaps[at - 1], after = this.#gaps[at];
    const joinsBefore = before !== undefined && before.address + before.bytes === address;
    const joinsAfter = after !== undefined && address + bytes === after.address;
    const from = joinsBefore ? before.address : address;
    const to = joinsAfter ? after.address + after.bytes : address + bytes;
    this.#gaps.splice(
      joinsBefore ? at - 1 : at,
      Number(joinsBefore) + Number(joinsAfter),
      { address: from, bytes: to - from },
    );
  }
}
