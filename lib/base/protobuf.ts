/**
 * Protocol buffers: the subset that event files and ONNX need. Invariant: reading returns what was written.
 * https://protobuf.dev/programming-guides/encoding
 */
import { concat } from "./bytes.ts";

const encoder = new TextEncoder();

const VARINT = 0, FIXED64 = 1, DELIMITED = 2, FIXED32 = 5;

function varint(value: bigint | number): Uint8Array {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, BigInt(value));
  do {
    const low = Number(left & 0x7fn);
    left >>= 7n;
    bytes.push(left > 0n ? low | 0x80 : low);
  } while (left > 0n);
  return Uint8Array.from(bytes);
}

const tag = (field: number, wire: number): Uint8Array => varint(field << 3 | wire);

/** An integer. */
export const intField = (field: number, value: number): Uint8Array =>
  concat(tag(field, VARINT), varint(value));

/** A number of 32 bits. */
export function floatField(field: number, value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setFloat32(0, value, true);
  return concat(tag(field, FIXED32), bytes);
}

/** A number of 64 bits. */
export const doubleField = (field: number, value: number): Uint8Array =>
  concat(tag(field, FIXED64), doubles([value]));

/** A message, text or bytes. */
export function bytesField(field: number, value: Uint8Array | string): Uint8Array {
  const bytes = typeof value === "string" ? encoder.encode(value) : value;
  return concat(tag(field, DELIMITED), varint(bytes.length), bytes);
}

/** Numbers of 64 bits, packed. */
export const doublesField = (field: number, values: readonly number[]): Uint8Array =>
  bytesField(field, doubles(values));

function doubles(values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(8 * values.length));
  values.forEach((value, at) => view.setFloat64(8 * at, value, true));
  return new Uint8Array(view.buffer);
}

/** The fields of a message, by field number in their order: numbers, or the bytes of delimited ones. */
export class Fields {
  readonly #found = new Map<number, (number | Uint8Array)[]>();

  /** Throws RangeError if the message is truncated. */
  constructor(message: Uint8Array) {
    const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
    let at = 0;
    const number = (): number => {
      let value = 0n;
      for (let shift = 0n;; shift += 7n) {
        const byte = view.getUint8(at++);
        value |= BigInt(byte & 0x7f) << shift;
        if (byte < 0x80) return Number(BigInt.asIntN(64, value));
      }
    };
    while (at < message.length) {
      const key = number(), field = key >> 3, wire = key & 7;
      const values = this.#found.get(field) ?? [];
      this.#found.set(field, values);
      if (wire === VARINT) values.push(number());
      else if (wire === DELIMITED) {
        const length = number();
        values.push(message.subarray(at, at += length));
      } else {
        values.push(wire === FIXED64 ? view.getFloat64(at, true) : view.getFloat32(at, true));
        at += wire === FIXED64 ? 8 : 4;
      }
    }
  }

  /** All values of a repeated message. */
  messages(field: number): Fields[] {
    return (this.#found.get(field) ?? []).flatMap((value) =>
      typeof value === "number" ? [] : [new Fields(value)]
    );
  }

  /** A message, or undefined. */
  message(field: number): Fields | undefined {
    return this.messages(field)[0];
  }

  /** A number; default 0, as in proto3. */
  number(field: number): number {
    const [value] = this.#found.get(field) ?? [];
    return typeof value === "number" ? value : 0;
  }

  /** Returns whether a field is present. */
  has(field: number): boolean {
    return this.#found.has(field);
  }

  /** Bytes; empty by default. */
  bytes(field: number): Uint8Array {
    const [value] = this.#found.get(field) ?? [];
    return value instanceof Uint8Array ? value : new Uint8Array(0);
  }

  /** Text; empty by default. */
  text(field: number): string {
    return new TextDecoder().decode(this.bytes(field));
  }

  /** Packed numbers of 64 bits. */
  doubles(field: number): number[] {
    const bytes = this.bytes(field), view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return Array.from({ length: bytes.length / 8 }, (_, at) => view.getFloat64(8 * at, true));
  }
}
