/**
 * The placement of a program's operands in the WebAssembly memory. Invariant: a placement depends only on the sizes, so
 * that calls with the same sizes share it. Operands that do not live in the memory are copied there and back; others
 * are used in place.
 */
import { sameList } from "../../lib/base/lists.ts";
import { itemSize } from "../../lib/base/dtype.ts";
import { type Dim, evaluate, type Sym } from "../../lib/sym/expr.ts";
import type { ProgramFrame } from "../../lib/loops/stored/program.ts";
import type { WasmMemory } from "./memory.ts";
import { aligned } from "./operands.ts";
import type { Memory, ProgramCall } from "../../lib/loops/device.ts";
import { hostOf } from "../cpu/host_memory.ts";

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
function placeWindows({ buffers }: ProgramFrame, addresses: number[]): void {
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
    const { buffer } = this.memory.memory;
    if (this.#bytes?.buffer !== buffer) this.#bytes = new Uint8Array(buffer);
    return this.#bytes;
  }

  /** The same as words. */
  get words(): Uint32Array {
    const { buffer } = this.memory.memory;
    if (this.#words?.buffer !== buffer) this.#words = new Uint32Array(buffer);
    return this.#words;
  }
}

/** A call of a program. */
export interface Running {
  readonly program: ProgramFrame;
  readonly call: ProgramCall;
  readonly placed: Placement;
}

/** Visits the inputs of a call, then its outputs. */
function visitOperands(
  { program: { inputs, outputs }, call }: Running,
  visit: (id: number, operand: Memory | undefined, byteOffset: number) => void,
): void {
  for (let i = 0; i < inputs.length; i++) visit(inputs[i] ?? 0, call.inputs[i], call.byteOffsets?.[i] ?? 0);
  for (let i = 0; i < outputs.length; i++) {
    visit(outputs[i] ?? 0, call.outputs[i], call.byteOffsets?.[inputs.length + i] ?? 0);
  }
}

/** The addresses of a call's buffers: operands that live in the memory keep theirs. */
export function addressesIn(memory: WasmMemory, running: Running): readonly number[] {
  const { placed } = running;
  let addresses: number[] | undefined;
  visitOperands(running, (id, operand, offset) => {
    const { place } = hostOf(operand).block;
    if (place?.memory !== memory) return;
    addresses ??= [...placed.addresses];
    addresses[id] = place.address + offset;
  });
  if (!addresses) return placed.addresses;
  placeWindows(running.program, addresses);
  return addresses;
}

/** Copies into the memory what a program reads, and the gaps between elements that it writes. */
export function enter(bytes: Uint8Array, addresses: readonly number[], running: Running): void {
  const { program: { buffers }, placed } = running;
  visitOperands(running, (id, operand, from) => {
    const address = addresses[id] ?? 0, length = placed.byteLengths[id] ?? 0, role = buffers[id]?.role;
    // A tensor without elements may begin after the end of its memory
    if (length === 0 || address !== placed.addresses[id] || (role?.kind === "output" && !role.partly)) return;
    const { uint8, byteLength } = hostOf(operand);
    const whole = from === 0 && byteLength <= aligned(length);
    bytes.set(whole ? uint8 : uint8.subarray(from, from + length), address);
  });
}

/** Copies out of the memory what a program has written. */
export function leave(bytes: Uint8Array, addresses: readonly number[], running: Running): void {
  const { program: { buffers }, placed } = running;
  visitOperands(running, (id, operand, to) => {
    const address = addresses[id] ?? 0, length = placed.byteLengths[id] ?? 0, role = buffers[id]?.role;
    if (length === 0 || address !== placed.addresses[id] || (role?.kind === "input" && !role.written)) return;
    hostOf(operand).uint8.set(bytes.subarray(address, address + length), to);
  });
}
