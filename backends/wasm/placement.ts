/**
 * The placement of a program's operands in the WebAssembly memory. Invariant: a placement depends only on the sizes,
 * so that calls with the same sizes share it.
 */
import { bufferOf } from "../../lib/base/memory_getters.ts";
import { sameList } from "../../lib/base/lists.ts";
import { itemSize } from "../../lib/base/dtype.ts";
import { type Dim, evaluate, type Sym } from "../../lib/sym/expr.ts";
import type { ProgramFrame } from "../../lib/loops/stored/program.ts";
import type { WasmMemory } from "./memory.ts";
import { aligned } from "./operands.ts";

/** Addresses of operands, for calls with the same sizes. */
export interface Placement {
  readonly sizes: readonly number[];
  readonly value: (d: Dim) => number;
  /** The value of a size symbol. */
  readonly symbol: (s: Sym) => number;
  /** Addresses by buffer. */
  readonly addresses: readonly number[];
  readonly byteLengths: readonly number[];
  /** Includes all operands and the arena. */
  readonly bytes: number;
}

/** Places the arena first, then one operand after another. */
export function place(program: ProgramFrame, sizes: readonly number[], base: number): Placement {
  const known = new Map<Sym, number>(program.sizes.map((s, i) => [s, sizes[i] ?? 0]));
  const symbol = (s: Sym) => known.get(s) ?? 0;
  const value = (d: Dim) => typeof d === "number" ? d : evaluate(d, symbol);
  let bytes = aligned(value(program.arenaBytes));
  const byteLengths = program.buffers.map(({ dtype, length }) => value(length) * itemSize(dtype));
  const addresses = program.buffers.map(({ role }, id) => {
    if (role.kind === "temporary") return base + value(role.offset);
    // At its base, or in each thread's own memory
    if (role.kind === "window" || role.kind === "local") return 0;
    const address = base + bytes;
    bytes += aligned(byteLengths[id] ?? 0);
    return address;
  });
  placeWindows(program, addresses);
  return { sizes, value, symbol, addresses, byteLengths, bytes };
}

/** Sets where windows begin, once their bases have been placed. */
export function placeWindows({ buffers }: ProgramFrame, addresses: number[]): void {
  for (const [id, { role, dtype }] of buffers.entries()) {
    if (role.kind === "window") addresses[id] = (addresses[role.of] ?? 0) + role.from * itemSize(dtype);
  }
}

/** Caches data by the sizes of earlier calls: callers with classes of shapes pass identical lists. */
export class BySizes<T> {
  readonly #made = new WeakMap<readonly number[], T>();
  #last: { readonly sizes: readonly number[]; readonly made: T } | undefined;

  get(sizes: readonly number[], make: () => T): T {
    const known = this.#made.get(sizes);
    if (known !== undefined) return known;
    const last = this.#last;
    if (last && sameList(last.sizes, sizes)) return last.made;
    const made = make();
    this.#made.set(sizes, made);
    this.#last = { sizes: [...sizes], made };
    return made;
  }
}

/** A view of all bytes of a memory that may grow, recreated when they have moved. */
export class WholeMemory {
  #bytes: Uint8Array | undefined;
  #words: Uint32Array | undefined;

  constructor(readonly memory: WasmMemory) {}

  get bytes(): Uint8Array {
    const { buffer } = this.memory;
    if (!this.#bytes || bufferOf(this.#bytes) !== buffer) this.#bytes = new Uint8Array(buffer);
    return this.#bytes;
  }

  /** The same as words. */
  get words(): Uint32Array {
    const { buffer } = this.memory;
    if (!this.#words || bufferOf(this.#words) !== buffer) this.#words = new Uint32Array(buffer);
    return this.#words;
  }
}
