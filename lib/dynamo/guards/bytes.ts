/**
 * Inspects typed arrays, DataViews and buffers by the engine's own getters, for guards and generated code. Invariant:
 * no code of the program runs. Memory that can be detached or resized, or that other threads write, is not inspected.
 */
import { types } from "node:util";
import { apply } from "../../base/own_builtins.ts";

/** The classes of typed arrays whose elements are numbers that the trace computes with. */
export const NUMBER_ARRAYS = {
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
} as const;

/** An element type, by the class of its arrays. */
export type NumberType = keyof typeof NUMBER_ARRAYS;

/** A class of objects that access memory. */
export type BytesClass =
  | NumberType
  | "Float16Array"
  | "BigInt64Array"
  | "BigUint64Array"
  | "DataView"
  | "ArrayBuffer";

interface BytesClassFacts {
  readonly of: { readonly prototype: object } & (new (...args: never[]) => object);
  /** Number of bytes of an element. */
  readonly step: number;
}

/** The classes. */
export const BYTES_CLASSES: Readonly<Record<BytesClass, BytesClassFacts>> = {
  Int8Array: { of: Int8Array, step: 1 },
  Uint8Array: { of: Uint8Array, step: 1 },
  Uint8ClampedArray: { of: Uint8ClampedArray, step: 1 },
  Int16Array: { of: Int16Array, step: 2 },
  Uint16Array: { of: Uint16Array, step: 2 },
  Int32Array: { of: Int32Array, step: 4 },
  Uint32Array: { of: Uint32Array, step: 4 },
  Float32Array: { of: Float32Array, step: 4 },
  Float64Array: { of: Float64Array, step: 8 },
  Float16Array: { of: Float16Array, step: 2 },
  BigInt64Array: { of: BigInt64Array, step: 8 },
  BigUint64Array: { of: BigUint64Array, step: 8 },
  DataView: { of: DataView, step: 1 },
  ArrayBuffer: { of: ArrayBuffer, step: 1 },
};

const { construct, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const { isArrayBuffer, isDataView, isTypedArray } = types;
const OwnDataView = DataView, OwnBuffer = ArrayBuffer;
/** An array of numbers. */
export type NumberArray = InstanceType<typeof NUMBER_ARRAYS[NumberType]>;

function getterOf(prototype: object, name: string | symbol): (this: unknown) => unknown {
  return getOwnPropertyDescriptor(prototype, name)?.get ?? (() => undefined);
}

const typed = getPrototypeOf(Int8Array.prototype) ?? {},
  view = DataView.prototype,
  memory = ArrayBuffer.prototype;
const setElements: (source: never) => void = Int8Array.prototype.set;
const classOf = getterOf(typed, Symbol.toStringTag);
const isDetached = getterOf(memory, "detached"), isResizable = getterOf(memory, "resizable");
const GETTERS = {
  typed: {
    buffer: getterOf(typed, "buffer"),
    byteOffset: getterOf(typed, "byteOffset"),
    length: getterOf(typed, "length"),
  },
  view: {
    buffer: getterOf(view, "buffer"),
    byteOffset: getterOf(view, "byteOffset"),
    length: getterOf(view, "byteLength"),
  },
  memory: {
    buffer(this: unknown): unknown {
      return this;
    },
    byteOffset: () => 0,
    length: getterOf(memory, "byteLength"),
  },
} as const;

/** A part of an object that accesses memory; `length`: elements, or bytes if it has none. */
export type BytesPart = keyof typeof GETTERS.typed;

function gettersOf(value: unknown) {
  if (isTypedArray(value)) return GETTERS.typed;
  if (isDataView(value)) return GETTERS.view;
  return isArrayBuffer(value) ? GETTERS.memory : null;
}

/** A part of an object that accesses memory; undefined for all others. */
export function bytesPart(value: unknown, part: BytesPart): unknown {
  const getters = gettersOf(value);
  return getters ? apply(getters[part], value, []) : undefined;
}

/** The class of an object that accesses memory of a fixed size which no other thread writes; null for all others. */
export function bytesClass(value: unknown): BytesClass | null {
  const getters = gettersOf(value);
  if (!getters) return null;
  const buffer = apply(getters.buffer, value, []);
  if (!isArrayBuffer(buffer) || apply(isDetached, buffer, []) || apply(isResizable, buffer, [])) return null;
  if (getters !== GETTERS.typed) return getters === GETTERS.view ? "DataView" : "ArrayBuffer";
  const found = apply(classOf, value, []);
  return typeof found === "string" && isBytesClass(found) ? found : null;
}

/** Returns whether a name is that of such a class. */
export function isBytesClass(name: string): name is BytesClass {
  return getOwnPropertyDescriptor(BYTES_CLASSES, name) !== undefined;
}

/** The memory that an object accesses: its buffer, and its first byte there. */
export interface BytesPlace {
  readonly buffer: ArrayBuffer;
  readonly start: number;
  readonly bytes: number;
}

/** A part that is a number: the program may have replaced what converts others. */
function numberOf(value: unknown, part: "byteOffset" | "length"): number {
  const found = bytesPart(value, part);
  return typeof found === "number" ? found : 0;
}

const startOf = (value: unknown): number => numberOf(value, "byteOffset");

/** The memory of an object of a class known to `bytesClass`. */
export function bytesPlace(value: unknown, type: BytesClass): BytesPlace | null {
  const buffer = bytesPart(value, "buffer"), length = numberOf(value, "length");
  if (!isArrayBuffer(buffer)) return null;
  return { buffer, start: startOf(value), bytes: length * BYTES_CLASSES[type].step };
}

function placeOf(value: unknown): BytesPlace | null {
  const type = bytesClass(value);
  return type && bytesPlace(value, type);
}

/** Returns whether two objects access different bytes (`apart`: null), or bytes of one buffer at this distance. */
export function showsApart(a: unknown, b: unknown, apart: number | null): boolean {
  const left = placeOf(a), right = placeOf(b);
  if (!left || !right) return false;
  if (apart !== null) return left.buffer === right.buffer && right.start - left.start === apart;
  return left.buffer !== right.buffer || left.start + left.bytes <= right.start ||
    right.start + right.bytes <= left.start;
}

/** The element of a typed array. */
export function typedElement(array: unknown, index: number): unknown {
  return isTypedArray(array) ? array[index] : undefined;
}

const dataViews = new WeakMap<object, DataView>();
const { get: viewOf, set: keepView } = WeakMap.prototype;

/** A view of all bytes that an object accesses. */
function allBytes(value: unknown): DataView {
  const buffer = bytesPart(value, "buffer");
  if (!isArrayBuffer(buffer)) throw new TypeError("Expected an object that shows memory");
  let found: DataView | undefined = apply(viewOf, dataViews, [buffer]);
  if (!found) apply(keepView, dataViews, [buffer, found = new OwnDataView(buffer)]);
  return found;
}

const { prototype } = DataView;
const READ: Readonly<Record<NumberType, (at: number, little?: boolean) => number>> = {
  Int8Array: prototype.getInt8,
  Uint8Array: prototype.getUint8,
  Uint8ClampedArray: prototype.getUint8,
  Int16Array: prototype.getInt16,
  Uint16Array: prototype.getUint16,
  Int32Array: prototype.getInt32,
  Uint32Array: prototype.getUint32,
  Float32Array: prototype.getFloat32,
  Float64Array: prototype.getFloat64,
};
const WRITE: Readonly<Record<NumberType, (at: number, value: number, little?: boolean) => void>> = {
  Int8Array: prototype.setInt8,
  Uint8Array: prototype.setUint8,
  Uint8ClampedArray: prototype.setUint8,
  Int16Array: prototype.setInt16,
  Uint16Array: prototype.setUint16,
  Int32Array: prototype.setInt32,
  Uint32Array: prototype.setUint32,
  Float32Array: prototype.setFloat32,
  Float64Array: prototype.setFloat64,
};

/** The representation of a number in memory. */
export interface NumberForm {
  readonly type: NumberType;
  readonly little: boolean;
}

/** Reads a number at a byte offset of an object. */
export function numberAt(value: unknown, { type, little }: NumberForm, at: number): number {
  return apply(READ[type], allBytes(value), [startOf(value) + at, little]);
}

/** Writes a number at a byte offset of an object, converted as an assignment to an element does. */
export function putNumber(
  target: unknown,
  { form: { type, little }, at }: { readonly form: NumberForm; readonly at: number },
  value: number,
): void {
  apply(WRITE[type], allBytes(target), [startOf(target) + at, asElement(type, value), little]);
}

/** An array of each type, for conversions. */
const scratch = Object.fromEntries(
  Object.entries(NUMBER_ARRAYS).map(([type, of]) => [type, new of(1)]),
) as Readonly<Record<NumberType, NumberArray>>;

/** A number after a round trip through an element of this type. */
export function asElement(type: NumberType, value: number): number {
  const place = scratch[type];
  place[0] = value;
  return place[0] ?? 0;
}

/** A view of the given class on an object's memory, from a byte on; without a length, to its end. */
export function viewFrom(
  value: unknown,
  type: BytesClass,
  { at, length }: { readonly at: number; readonly length?: number | undefined },
): object {
  return construct(BYTES_CLASSES[type].of, [bytesPart(value, "buffer"), startOf(value) + at, length]);
}

/** A copy of an object's elements, from a byte on, with some numbers replaced. */
export function copiedElements(
  value: unknown,
  type: NumberType,
  { at, length, written }: {
    readonly at: number;
    readonly length: number;
    readonly written: readonly number[];
  },
): NumberArray {
  const { of, step } = BYTES_CLASSES[type], made = construct(of, [length]);
  const from = viewFrom(value, "Uint8Array", { at, length: length * step });
  apply(setElements, viewFrom(made, "Uint8Array", { at: 0 }), [from]);
  return withNumbers(made, type, written);
}

/** New elements, some of which are set: index and number alternate. */
export function newElements(type: NumberType, length: number, written: readonly number[]): NumberArray {
  return withNumbers(construct(BYTES_CLASSES[type].of, [length]), type, written);
}

/** A new buffer, in which some numbers are set: place and number alternate. */
export function newBuffer(
  bytes: number,
  written: readonly (number | { readonly form: NumberForm; readonly at: number })[],
): ArrayBuffer {
  const made = new OwnBuffer(bytes);
  for (let k = 0; k < written.length; k += 2) {
    const place = written[k], value = written[k + 1];
    if (typeof place === "object" && typeof value === "number") putNumber(made, place, value);
  }
  return made;
}

function withNumbers(array: NumberArray, type: NumberType, written: readonly number[]): NumberArray {
  const form = { type, little: true }, { step } = BYTES_CLASSES[type];
  for (let k = 0; k < written.length; k += 2) {
    putNumber(array, { form, at: (written[k] ?? 0) * step }, written[k + 1] ?? 0);
  }
  return array;
}
