/**
 * Inspects typed arrays, DataViews and buffers by the engine's own getters, for guards and generated code. Invariant:
 * no code of the program runs. Memory that can be detached or resized, or that other threads write, is not inspected.
 */
import { types } from "node:util";
import { apply, programDescriptor } from "../../base/own_builtins.ts";

const view = DataView.prototype;

/** A class of typed arrays, and the methods of views that read and write its elements. */
function numbers<C extends { readonly BYTES_PER_ELEMENT: number }>(
  of: C,
  read: (at: number, little?: boolean) => number,
  write: (at: number, value: number, little?: boolean) => void,
) {
  return { of, step: of.BYTES_PER_ELEMENT, read, write };
}

/** The classes of typed arrays whose elements are numbers that the trace computes with. */
export const NUMBER_CLASSES = {
  Int8Array: numbers(Int8Array, view.getInt8, view.setInt8),
  Uint8Array: numbers(Uint8Array, view.getUint8, view.setUint8),
  Uint8ClampedArray: numbers(Uint8ClampedArray, view.getUint8, view.setUint8),
  Int16Array: numbers(Int16Array, view.getInt16, view.setInt16),
  Uint16Array: numbers(Uint16Array, view.getUint16, view.setUint16),
  Int32Array: numbers(Int32Array, view.getInt32, view.setInt32),
  Uint32Array: numbers(Uint32Array, view.getUint32, view.setUint32),
  Float16Array: numbers(Float16Array, view.getFloat16, view.setFloat16),
  Float32Array: numbers(Float32Array, view.getFloat32, view.setFloat32),
  Float64Array: numbers(Float64Array, view.getFloat64, view.setFloat64),
};

/** An element type, by the class of its arrays. */
export type NumberType = keyof typeof NUMBER_CLASSES;

interface BytesClassFacts {
  readonly of: { readonly prototype: object } & (new (...args: never[]) => object);
  /** Number of bytes of an element. */
  readonly step: number;
}

const OTHER_CLASSES = {
  BigInt64Array: { of: BigInt64Array, step: 8 },
  BigUint64Array: { of: BigUint64Array, step: 8 },
  DataView: { of: DataView, step: 1 },
  ArrayBuffer: { of: ArrayBuffer, step: 1 },
};

/** A class of objects that access memory. */
export type BytesClass = NumberType | keyof typeof OTHER_CLASSES;

/** The classes. */
export const BYTES_CLASSES: Readonly<Record<BytesClass, BytesClassFacts>> = {
  ...NUMBER_CLASSES,
  ...OTHER_CLASSES,
};

const { construct, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const { isArrayBuffer, isDataView, isProxy, isTypedArray } = types, ITERATOR = Symbol.iterator;
const OwnDataView = DataView, OwnBuffer = ArrayBuffer;
/** An array of numbers. */
export type NumberArray = InstanceType<typeof NUMBER_CLASSES[NumberType]["of"]>;

function getterOf(prototype: object, name: string | symbol): (this: unknown) => unknown {
  return getOwnPropertyDescriptor(prototype, name)?.get ?? (() => undefined);
}

const typed = getPrototypeOf(Int8Array.prototype) ?? {}, memory = ArrayBuffer.prototype;
const iterate: unknown = getOwnPropertyDescriptor(typed, ITERATOR)?.value;
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

/** A part of an object that accesses memory; `length` counts elements, or bytes if it has none. */
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

/**
 * Returns whether a typed array, or the prototype of such arrays, has the language's length and iterator, which are read
 * as its properties by methods of lists, constructors and tensors.
 */
export function isListed(value: object): boolean {
  let each: object | null = value;
  while (each !== typed) {
    if (each === null || isProxy(each)) return false;
    if (programDescriptor(each, "length") || programDescriptor(each, ITERATOR)) return false;
    each = getPrototypeOf(each);
  }
  return programDescriptor(typed, "length")?.get === GETTERS.typed.length &&
    programDescriptor(typed, ITERATOR)?.value === iterate;
}

/**
 * The class of an object that accesses memory of a fixed size which no other thread writes; null for all others, and
 * for typed arrays whose length or iterator the program has replaced.
 */
export function bytesClass(value: unknown): BytesClass | null {
  const getters = gettersOf(value);
  if (!getters || (isTypedArray(value) && !isListed(value))) return null;
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
interface BytesPlace {
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

/** The representation of a number in memory. */
export interface NumberForm {
  readonly type: NumberType;
  readonly little: boolean;
}

/** Reads a number at a byte offset of an object. */
export function numberAt(value: unknown, { type, little }: NumberForm, at: number): number {
  return apply(NUMBER_CLASSES[type].read, allBytes(value), [startOf(value) + at, little]);
}

/** Writes a number at a byte offset of an object, converted as an assignment to an element does. */
export function putNumber(
  target: unknown,
  { form: { type, little }, at }: { readonly form: NumberForm; readonly at: number },
  value: number,
): void {
  apply(NUMBER_CLASSES[type].write, allBytes(target), [startOf(target) + at, asElement(type, value), little]);
}

/** An array of each type, for conversions. */
const scratch = Object.fromEntries(
  Object.entries(NUMBER_CLASSES).map(([type, { of }]) => [type, new of(1)]),
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
