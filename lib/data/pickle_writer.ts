/**
 * Plain data as Python's pickles, in protocol 2, which every reader understands. Invariant: `unpickle` reads what was
 * written; an object that is written again is the same object to the reader if it is a call.
 * https://github.com/python/cpython/blob/main/Lib/pickletools.py
 */
import { DynError } from "../base/errors.ts";
import { PickledName } from "./pickle.ts";

/** Values of a pickle that are not JavaScript's own. A Map is a dict, an array a list. */
export type Pickled =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly Pickled[]
  | ReadonlyMap<Pickled, Pickled>
  | PickledName
  | PickledTuple
  | PickledCall
  | PickledReference;

/** A tuple of Python. */
export class PickledTuple {
  constructor(readonly items: readonly Pickled[]) {}
}

/** The result of a function or class of Python for arguments. */
export class PickledCall {
  constructor(readonly callee: PickledName, readonly args: readonly Pickled[]) {}
}

/** Something stored outside of the pickle; its identifier is asked for when the pickle is written. */
export class PickledReference {
  constructor(readonly id: () => PickledTuple) {}
}

/** Bytes of an integer whose length is written as one. */
const LONGEST_INTEGER = 255;

/** Items that a reader takes from its stack at once. */
const BATCH = 1000;

const OPCODES = {
  mark: 0x28,
  stop: 0x2e,
  float: 0x47,
  int32: 0x4a,
  uint8: 0x4b,
  uint16: 0x4d,
  none: 0x4e,
  reference: 0x51,
  call: 0x52,
  text: 0x58,
  name: 0x63,
  appends: 0x65,
  recall: 0x6a,
  remember: 0x72,
  tuple: 0x74,
  setItems: 0x75,
  emptyList: 0x5d,
  emptyDict: 0x7d,
  protocol: 0x80,
  yes: 0x88,
  no: 0x89,
  integer: 0x8a,
} as const;

/** Returns a pickle of a value. */
export function pickle(value: Pickled): Uint8Array<ArrayBuffer> {
  const writer = new PickleWriter();
  writer.write(value);
  return writer.finished();
}

class PickleWriter {
  #bytes = new Uint8Array(1024);
  #length = 0;
  readonly #memo = new Map<PickledCall | string, number>();

  constructor() {
    this.#put(OPCODES.protocol, 2);
  }

  finished(): Uint8Array<ArrayBuffer> {
    this.#put(OPCODES.stop);
    return this.#bytes.slice(0, this.#length);
  }

  write(value: Pickled): void {
    if (value === null) return this.#put(OPCODES.none);
    if (typeof value === "boolean") return this.#put(value ? OPCODES.yes : OPCODES.no);
    if (typeof value === "number") return this.#number(value);
    if (typeof value === "bigint") return this.#integer(value);
    if (typeof value === "string") return this.#text(value);
    if (value instanceof PickledName) return this.#name(value.name);
    if (value instanceof PickledTuple) return this.#tuple(value.items);
    if (value instanceof PickledReference) {
      this.write(value.id());
      return this.#put(OPCODES.reference);
    }
    if (value instanceof PickledCall) return this.#call(value);
    if (value instanceof Map) return this.#dict(value);
    if (isItems(value)) this.#list(value);
  }

  #number(value: number): void {
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) {
      this.#put(OPCODES.float);
      this.#view(8).setFloat64(0, value);
    } else if (value >= 0 && value < 2 ** 8) this.#put(OPCODES.uint8, value);
    else if (value >= 0 && value < 2 ** 16) {
      this.#put(OPCODES.uint16);
      this.#view(2).setUint16(0, value, true);
    } else if (value === (value | 0)) {
      this.#put(OPCODES.int32);
      this.#view(4).setInt32(0, value, true);
    } else this.#integer(BigInt(value));
  }

  /** Little-endian two's complement, as short as it can be. */
  #integer(value: bigint): void {
    let count = 0;
    while (BigInt.asIntN(8 * count, value) !== value) count++;
    if (count > LONGEST_INTEGER) {
      throw new DynError(`Expected an integer of at most ${LONGEST_INTEGER} bytes but found one of ${count}`);
    }
    const bytes = Array.from({ length: count }, (_, k) => Number(value >> BigInt(8 * k) & 0xffn));
    this.#put(OPCODES.integer, count, ...bytes);
  }

  #text(value: string): void {
    const bytes = new TextEncoder().encode(value);
    this.#put(OPCODES.text);
    this.#view(4).setUint32(0, bytes.length, true);
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length - bytes.length);
  }

  #name(name: string): void {
    if (this.#recalls(name)) return;
    const cut = name.lastIndexOf(".");
    this.#put(
      OPCODES.name,
      ...new TextEncoder().encode(`${name.slice(0, cut)}\n${name.slice(cut + 1)}\n`),
    );
    this.#remember(name);
  }

  #tuple(items: readonly Pickled[]): void {
    this.#put(OPCODES.mark);
    for (const each of items) this.write(each);
    this.#put(OPCODES.tuple);
  }

  #call(value: PickledCall): void {
    if (this.#recalls(value)) return;
    this.write(value.callee);
    this.#tuple(value.args);
    this.#put(OPCODES.call);
    this.#remember(value);
  }

  #list(items: readonly Pickled[]): void {
    this.#put(OPCODES.emptyList);
    for (let k = 0; k < items.length; k += BATCH) {
      this.#put(OPCODES.mark);
      for (const each of items.slice(k, k + BATCH)) this.write(each);
      this.#put(OPCODES.appends);
    }
  }

  #dict(entries: ReadonlyMap<Pickled, Pickled>): void {
    const pairs = [...entries];
    this.#put(OPCODES.emptyDict);
    for (let k = 0; k < pairs.length; k += BATCH) {
      this.#put(OPCODES.mark);
      for (const [key, each] of pairs.slice(k, k + BATCH)) {
        this.write(key);
        this.write(each);
      }
      this.#put(OPCODES.setItems);
    }
  }

  /** Writes what was written before by its number, if it was. */
  #recalls(value: PickledCall | string): boolean {
    const known = this.#memo.get(value);
    if (known === undefined) return false;
    this.#put(OPCODES.recall);
    this.#view(4).setUint32(0, known, true);
    return true;
  }

  #remember(value: PickledCall | string): void {
    this.#put(OPCODES.remember);
    this.#view(4).setUint32(0, this.#memo.size, true);
    this.#memo.set(value, this.#memo.size);
  }

  #put(...bytes: readonly number[]): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length - bytes.length);
  }

  /** A view of the next bytes. */
  #view(size: number): DataView {
    this.#reserve(size);
    return new DataView(this.#bytes.buffer, this.#length - size, size);
  }

  #reserve(size: number): void {
    this.#length += size;
    if (this.#length <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * this.#length);
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

const isItems = (value: Pickled): value is readonly Pickled[] => Array.isArray(value);
