/**
 * Where the operands of a program lie in the WebAssembly memory, and the way in and out of those that do not live there.
 * Input: a program, the sizes of a call, host memories; output: addresses, and elements where they belong. Invariant: a
 * placement depends on the sizes alone, so that calls with the sizes of a former one have it again.
 */
import { itemSize } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import type { Memory, ProgramCall } from "../../lib/loops/device.ts";
import { type Dim, evaluate, type Sym } from "../../lib/sym/expr.ts";
import { HostMemory } from "../cpu/host_memory.ts";
import type { ProgramFrame } from "../../lib/loops/stored/program.ts";
import type { WasmMemory } from "./memory.ts";

/** Places for the operands of calls with the same sizes. */
export interface Placement {
  readonly sizes: readonly number[];
  readonly value: (d: Dim) => number;
  /** The value of a size symbol. */
  readonly symbol: (s: Sym) => number;
  /** By buffer. */
  readonly addresses: readonly number[];
  readonly byteLengths: readonly number[];
  /** All operands and the arena. */
  readonly bytes: number;
}

const aligned = (bytes: number): number => Math.ceil(bytes / 64) * 64;

/** Places the arena first, then operands one after another. */
export function place(program: ProgramFrame, sizes: readonly number[], base: number): Placement {
  const known = new Map<Sym, number>(program.sizes.map((s, i) => [s, sizes[i] ?? 0]));
  const symbol = (s: Sym) => known.get(s) ?? 0;
  const value = (d: Dim) => typeof d === "number" ? d : evaluate(d, symbol);
  let bytes = aligned(value(program.arenaBytes));
  const byteLengths = program.buffers.map(({ dtype, length }) => value(length) * itemSize(dtype));
  const addresses = program.buffers.map(({ role }, id) => {
    if (role.kind === "temporary") return base + value(role.offset);
    // Behind what it shows, or each thread's own
    if (role.kind === "window" || role.kind === "local") return 0;
    const address = base + bytes;
    bytes += aligned(byteLengths[id] ?? 0);
    return address;
  });
  placeWindows(program, addresses);
  return { sizes, value, symbol, addresses, byteLengths, bytes };
}

/** Sets where windows begin, once what they show has its place. */
function placeWindows({ buffers }: ProgramFrame, addresses: number[]): void {
  for (const [id, { role, dtype }] of buffers.entries()) {
    if (role.kind === "window") addresses[id] = (addresses[role.of] ?? 0) + role.from * itemSize(dtype);
  }
}

/** Remembers what was made for the sizes of former calls: callers with classes of shapes hand in the same lists. */
export class BySizes<T> {
  readonly #made = new WeakMap<readonly number[], T>();
  #last: { readonly sizes: readonly number[]; readonly made: T } | undefined;

  get(sizes: readonly number[], make: () => T): T {
    const known = this.#made.get(sizes);
    if (known !== undefined) return known;
    const last = this.#last;
    if (last && last.sizes.length === sizes.length && last.sizes.every((size, i) => size === sizes[i])) {
      return last.made;
    }
    const made = make();
    this.#made.set(sizes, made);
    this.#last = { sizes: [...sizes], made };
    return made;
  }
}

/** The bytes of a memory that may grow: a view of all of them, made again when they have moved. */
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

function hostOf(memory: Memory | undefined): HostMemory {
  if (memory instanceof HostMemory) return memory;
  throw new InternalError(`Expected host memory but found ${memory?.device}`);
}

/** A call of a program. */
export interface Running {
  readonly program: ProgramFrame;
  readonly call: ProgramCall;
  readonly placed: Placement;
}

/** The addresses of a call's buffers: the operands that live in the memory are used where they are. */
export function addressesIn(memory: WasmMemory, { program, call, placed }: Running): readonly number[] {
  const { inputs, outputs } = program;
  let addresses: number[] | undefined;
  const find = (id: number, operand: Memory | undefined, offset: number): void => {
    const { place } = hostOf(operand).block;
    if (place?.memory !== memory) return;
    addresses ??= [...placed.addresses];
    addresses[id] = place.address + offset;
  };
  for (let i = 0; i < inputs.length; i++) find(inputs[i] ?? 0, call.inputs[i], call.byteOffsets?.[i] ?? 0);
  for (let i = 0; i < outputs.length; i++) {
    find(outputs[i] ?? 0, call.outputs[i], call.byteOffsets?.[inputs.length + i] ?? 0);
  }
  if (!addresses) return placed.addresses;
  placeWindows(program, addresses);
  return addresses;
}

/** Copies what a program reads, and what it leaves between what it writes, into the memory. */
export function enter(
  bytes: Uint8Array,
  addresses: readonly number[],
  { program, call, placed }: Running,
): void {
  const { inputs, outputs, buffers } = program;
  const copy = (id: number, memory: Memory | undefined, from: number): void => {
    const address = addresses[id] ?? 0, length = placed.byteLengths[id] ?? 0;
    // A tensor without elements may begin behind the end of its memory
    if (length === 0 || address !== placed.addresses[id]) return;
    const { uint8, byteLength } = hostOf(memory);
    const whole = from === 0 && byteLength <= aligned(length);
    bytes.set(whole ? uint8 : uint8.subarray(from, from + length), address);
  };
  for (let i = 0; i < inputs.length; i++) copy(inputs[i] ?? 0, call.inputs[i], call.byteOffsets?.[i] ?? 0);
  for (let i = 0; i < outputs.length; i++) {
    const id = outputs[i] ?? 0, role = buffers[id]?.role;
    if (role?.kind === "output" && role.partly) {
      copy(id, call.outputs[i], call.byteOffsets?.[inputs.length + i] ?? 0);
    }
  }
}

/** Copies what a program has written out of the memory. */
export function leave(
  bytes: Uint8Array,
  addresses: readonly number[],
  { program, call, placed }: Running,
): void {
  const { inputs, outputs, buffers } = program;
  const copy = (id: number, memory: Memory | undefined, to: number): void => {
    const address = addresses[id] ?? 0, length = placed.byteLengths[id] ?? 0;
    const isCopy = length > 0 && address === placed.addresses[id];
    if (isCopy) hostOf(memory).uint8.set(bytes.subarray(address, address + length), to);
  };
  for (let i = 0; i < inputs.length; i++) {
    const id = inputs[i] ?? 0, role = buffers[id]?.role;
    if (role?.kind === "input" && role.written) copy(id, call.inputs[i], call.byteOffsets?.[i] ?? 0);
  }
  for (let i = 0; i < outputs.length; i++) {
    copy(outputs[i] ?? 0, call.outputs[i], call.byteOffsets?.[inputs.length + i] ?? 0);
  }
}
