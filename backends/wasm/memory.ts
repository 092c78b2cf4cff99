/**
 * The one memory that all WebAssembly code of this device works in, since WebAssembly reaches only its own. Layout:
 * words of the thread pool, code that the pool's threads load, then the memory of one call, including copies of
 * operands, then tensors that live here, in pieces that do not overlap. Invariant: growing may detach earlier views of
 * a memory that is not shared, so a call reserves everything it needs before it makes views, and no tensor lives in
 * such a memory.
 */
import { byteLengthOf, wasmBufferOf } from "../../lib/base/memory_getters.ts";
import type { MemoryKind } from "./binary.ts";
import { LOAD_SLACK } from "./access.ts";

const PAGE = 65536;
const MAX_PAGES = 65536;
/** Bytes for the words of the thread pool. */
const CONTROL_BYTES = 4096;
/** Bytes reserved for code; untouched pages take no memory. */
const CODE_BYTES = 64 << 20;
/** Start of tensors in a memory that may be large enough for them. */
const TENSORS = 2 ** 31;

/** The WebAssembly memory, from address 0 upwards. */
export class WasmMemory {
  readonly memory: WebAssembly.Memory;
  readonly kind: MemoryKind;
  #code = CONTROL_BYTES;
  #top = 0;

  /** `shared`: whether other threads may access it, too; `maximum`: number of pages to which it may grow. */
  constructor(shared: boolean, maximum: number = MAX_PAGES) {
    this.kind = { shared, maximum };
    this.memory = new WebAssembly.Memory({
      initial: (shared ? CODE_BYTES : CONTROL_BYTES) / PAGE + 1 | 0,
      maximum,
      shared,
    });
  }

  /** All bytes; of a memory that is not shared, until it grows. */
  get buffer(): ArrayBufferLike {
    return wasmBufferOf(this.memory);
  }

  /** The first address of a call's own memory. */
  get base(): number {
    return this.kind.shared ? CODE_BYTES : CONTROL_BYTES;
  }

  /**
   * Makes room for `bytes` bytes of operands from `base` on, followed by scratch memory. Returns false if there is
   * none: the memory cannot grow further, or the machine has no more.
   */
  reserve(bytes: number, scratch: number): boolean {
    this.#top = this.base + Math.ceil(bytes / 64) * 64;
    const end = this.#top + scratch, { from, to } = this.tensors;
    return (from === to || end <= from) && this.reach(end);
  }

  /** The address range for tensors. */
  get tensors(): { readonly from: number; readonly to: number } {
    const end = this.kind.maximum * PAGE;
    return { from: this.kind.shared ? Math.min(TENSORS, end) : end, to: end };
  }

  /** Stores code permanently for the threads that share the memory; undefined if there is no room. */
  keepCode(bytes: Uint8Array): number | undefined {
    const address = this.#code, end = Math.ceil((address + bytes.length) / 64) * 64;
    if (!this.kind.shared || end > CODE_BYTES) return undefined;
    new Uint8Array(this.buffer, address, bytes.length).set(bytes);
    this.#code = end;
    return address;
  }

  /** Grows the memory up to an address. Returns false if it cannot. */
  reach(bytes: number): boolean {
    const pages = Math.ceil(bytes / PAGE), missing = pages - byteLengthOf(this.buffer) / PAGE;
    if (missing <= 0) return true;
    if (pages > this.kind.maximum) return false;
    try {
      this.memory.grow(missing);
      return true;
    } catch (thrown) {
      if (thrown instanceof RangeError) return false;
      throw thrown;
    }
  }
}

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
    this.#grown(new Uint8Array(memory.buffer, from, to - from));
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
