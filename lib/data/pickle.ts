/**
 * Python's pickles as plain data. A pickle is a program for a stack machine; its containers, numbers and texts are
 * read here, and calls are left to the caller by the name of what they call. Invariant: nothing that a file names runs.
 * https://github.com/python/cpython/blob/main/Lib/pickletools.py
 */
import { DynError } from "../base/errors.ts";

/** A function or class of Python, by its full name. */
export class PickledName {
  /** "torch.FloatStorage". */
  constructor(readonly name: string) {}
}

/** The parts of reading a pickle that are left to the caller. */
export interface PickleCalls {
  /** The value of a call, such as a new tensor. Throws DynError for what it does not know. */
  call(name: string, args: readonly unknown[]): unknown;
  /** The value that stands for what is stored outside of the pickle. */
  stored(id: unknown): unknown;
}

/** A value, and where the bytes behind it begin. */
export interface Unpickled {
  readonly value: unknown;
  readonly end: number;
}

/**
 * Reads the pickle that begins at a byte. Dicts are Maps, lists and tuples arrays, bytes a Uint8Array; integers beyond
 * the exact ones are bigints. Throws DynError for what is no pickle, or holds other objects.
 */
export function unpickle(bytes: Uint8Array, start: number, calls: PickleCalls): Unpickled {
  const machine = new Machine(bytes, start, calls);
  try {
    return { value: machine.run(), end: machine.at };
  } catch (cause) {
    if (cause instanceof RangeError) {
      throw new DynError("Expected a whole pickle but found a part", { cause });
    }
    throw cause;
  }
}

/** Begins the elements of the container that a later instruction makes. */
const MARK = Symbol("mark");

class Machine {
  readonly #view: DataView;
  readonly #stack: unknown[] = [];
  readonly #memo: unknown[] = [];

  constructor(readonly bytes: Uint8Array, public at: number, readonly calls: PickleCalls) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  run(): unknown {
    for (;;) {
      const code = this.uint(1);
      if (code === 0x2e) return this.pop();
      const act = INSTRUCTIONS.get(code);
      if (!act) {
        throw new DynError(`Expected an instruction of a pickle but found ${code} at byte ${this.at - 1}`);
      }
      act(this);
    }
  }

  push(value: unknown): void {
    this.#stack.push(value);
  }

  pop(): unknown {
    if (this.#stack.length === 0) {
      throw new DynError("Expected a value on the stack of a pickle but found none");
    }
    return this.#stack.pop();
  }

  /** The value on top, which stays. */
  top(): unknown {
    return this.#stack.at(-1);
  }

  /** Removes the values behind the last mark, and the mark. */
  popToMark(): unknown[] {
    const mark = this.#stack.lastIndexOf(MARK);
    if (mark < 0) throw new DynError("Expected a mark on the stack of a pickle but found none");
    const [, ...values] = this.#stack.splice(mark);
    return values;
  }

  /** The last values, in order. */
  popMany(count: number): unknown[] {
    return Array.from({ length: count }, () => this.pop()).reverse();
  }

  remember(index = this.#memo.length): void {
    this.#memo[index] = this.top();
  }

  recall(index: number): void {
    this.push(this.#memo[index]);
  }

  uint(size: 1 | 2 | 4): number {
    const at = this.skip(size);
    if (size === 1) return this.#view.getUint8(at);
    return size === 2 ? this.#view.getUint16(at, true) : this.#view.getUint32(at, true);
  }

  int32(): number {
    return this.#view.getInt32(this.skip(4), true);
  }

  length64(): number {
    return Number(this.#view.getBigUint64(this.skip(8), true));
  }

  float64(): number {
    return this.#view.getFloat64(this.skip(8));
  }

  /** Little-endian two's complement of any length. */
  integer(size: number): number | bigint {
    let value = 0n;
    const taken = this.take(size);
    for (const [k, byte] of taken.entries()) value |= BigInt(byte) << BigInt(8 * k);
    if (((taken.at(-1) ?? 0) & 0x80) !== 0) value -= 1n << BigInt(8 * size);
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }

  take(size: number): Uint8Array<ArrayBuffer> {
    const at = this.skip(size);
    return new Uint8Array(this.bytes.subarray(at, at + size));
  }

  text(size: number): string {
    return new TextDecoder().decode(this.take(size));
  }

  line(): string {
    const end = this.bytes.indexOf(0x0a, this.at);
    if (end < 0) throw new RangeError("Expected the end of a line");
    const text = this.text(end - this.at);
    this.at++;
    return text;
  }

  /** Adds pairs to the dict on top. */
  setItems(items: readonly unknown[]): void {
    const dict = this.top();
    if (!(dict instanceof Map)) throw new DynError("Expected a dict for the items of a pickle");
    for (let k = 0; k + 1 < items.length; k += 2) dict.set(items[k], items[k + 1]);
  }

  /** Adds values to the list or set on top. */
  add(values: readonly unknown[]): void {
    const list = this.top();
    if (Array.isArray(list)) { for (const each of values) list.push(each); }
    else if (list instanceof Set) { for (const each of values) list.add(each); }
    else throw new DynError("Expected a list or a set for the items of a pickle");
  }

  call(): void {
    const [callee, args] = this.popMany(2);
    if (!(callee instanceof PickledName) || !Array.isArray(args)) {
      throw new DynError("Expected a name and arguments for a call of a pickle");
    }
    this.push(this.calls.call(callee.name, args));
  }

  /** Drops attributes that Python sets on an object of its own: a state dict keeps versions of modules there. */
  build(): void {
    this.pop();
    if (!(this.top() instanceof Map)) {
      throw new DynError("Expected attributes of a dict in a pickle but found those of another object");
    }
  }

  private skip(size: number): number {
    const { at } = this;
    if (at + size > this.bytes.length) throw new RangeError("Expected more bytes");
    this.at = at + size;
    return at;
  }
}

/** The instructions of protocols 2 to 5 that containers, numbers, texts and calls need, by their codes. */
const INSTRUCTIONS: ReadonlyMap<number, (m: Machine) => void> = new Map<number, (m: Machine) => void>([
  [0x80, (m) => void m.uint(1)],
  [0x95, (m) => void m.length64()],
  [0x28, (m) => m.push(MARK)],
  [0x30, (m) => void m.pop()],
  [0x31, (m) => void m.popToMark()],
  [0x32, (m) => m.push(m.top())],
  // None, booleans, numbers
  [0x4e, (m) => m.push(null)],
  [0x88, (m) => m.push(true)],
  [0x89, (m) => m.push(false)],
  [0x4a, (m) => m.push(m.int32())],
  [0x4b, (m) => m.push(m.uint(1))],
  [0x4d, (m) => m.push(m.uint(2))],
  [0x8a, (m) => m.push(m.integer(m.uint(1)))],
  [0x8b, (m) => m.push(m.integer(m.uint(4)))],
  [0x47, (m) => m.push(m.float64())],
  // Texts and bytes; those of Python 2 are texts
  [0x58, (m) => m.push(m.text(m.uint(4)))],
  [0x8c, (m) => m.push(m.text(m.uint(1)))],
  [0x8d, (m) => m.push(m.text(m.length64()))],
  [0x54, (m) => m.push(m.text(m.uint(4)))],
  [0x55, (m) => m.push(m.text(m.uint(1)))],
  [0x42, (m) => m.push(m.take(m.uint(4)))],
  [0x43, (m) => m.push(m.take(m.uint(1)))],
  [0x8e, (m) => m.push(m.take(m.length64()))],
  [0x96, (m) => m.push(m.take(m.length64()))],
  // Containers
  [0x29, (m) => m.push([])],
  [0x5d, (m) => m.push([])],
  [0x7d, (m) => m.push(new Map())],
  [0x8f, (m) => m.push(new Set())],
  [0x85, (m) => m.push(m.popMany(1))],
  [0x86, (m) => m.push(m.popMany(2))],
  [0x87, (m) => m.push(m.popMany(3))],
  [0x74, (m) => m.push(m.popToMark())],
  [0x6c, (m) => m.push(m.popToMark())],
  [0x91, (m) => m.push(new Set(m.popToMark()))],
  [0x61, (m) => m.add(m.popMany(1))],
  [0x65, (m) => m.add(m.popToMark())],
  [0x90, (m) => m.add(m.popToMark())],
  [0x73, (m) => m.setItems(m.popMany(2))],
  [0x75, (m) => m.setItems(m.popToMark())],
  // What was read before
  [0x71, (m) => m.remember(m.uint(1))],
  [0x72, (m) => m.remember(m.uint(4))],
  [0x94, (m) => m.remember()],
  [0x68, (m) => m.recall(m.uint(1))],
  [0x6a, (m) => m.recall(m.uint(4))],
  // Names, calls, and what is stored elsewhere
  [0x63, (m) => m.push(new PickledName(`${m.line()}.${m.line()}`))],
  [0x93, (m) => m.push(new PickledName(m.popMany(2).join(".")))],
  [0x52, (m) => m.call()],
  [0x81, (m) => m.call()],
  [0x62, (m) => m.build()],
  [0x51, (m) => m.push(m.calls.stored(m.pop()))],
]);
