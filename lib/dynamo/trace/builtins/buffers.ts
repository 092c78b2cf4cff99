/**
 * Models of buffers, of DataViews, and of the memory of typed arrays. Invariant: operations that would throw, or move
 * memory, end the graph.
 */
import { breakGraph } from "../../break_reasons.ts";
import {
  BYTES_CLASSES,
  type BytesClass,
  bytesPart,
  type NumberForm,
  type NumberType,
} from "../../guards/bytes.ts";
import { bytesSource } from "../../source.ts";
import { newMemory } from "../../variables/memories.ts";
import { binaryNumbers } from "../../variables/numbers.ts";
import { type BytesObject, constant, isPassed, UNDEFINED, type Value } from "../../variables/value.ts";
import type { CallRequest, Interpreter } from "../interpreter.ts";
import {
  bytesObject,
  FORMS,
  isWithin,
  knownSize,
  readNumber,
  rootOf,
  sizeOf,
  writeNumber,
} from "../memory.ts";
import { memoryHolder, MOST_WRITTEN, newBytes } from "../typed_elements.ts";
import { positionOf } from "./pure.ts";
import type { ModelTable } from "./table.ts";

/** Numbers by their names in methods of DataViews. */
const NUMBERS: Readonly<Record<string, NumberType>> = {
  Int8: "Int8Array",
  Uint8: "Uint8Array",
  Int16: "Int16Array",
  Uint16: "Uint16Array",
  Int32: "Int32Array",
  Uint32: "Uint32Array",
  Float16: "Float16Array",
  Float32: "Float32Array",
  Float64: "Float64Array",
};

/** A view of a buffer, as `new` creates it; null if the first argument is not a buffer. */
export function viewOfBuffer(m: Interpreter, type: BytesClass, args: readonly Value[]): Value | null {
  const buffer = bytesObject(args[0]);
  if (buffer?.exotic.type !== "ArrayBuffer") return null;
  const { memory, start } = buffer.exotic, { step } = BYTES_CLASSES[type], bytes = knownSize(m, buffer);
  const at = positionOf(m, args[1], { length: Infinity, fallback: 0 }), left = (bytes - at) / step;
  const length = positionOf(m, args[2], { length: Infinity, fallback: left });
  if (at < 0 || at % step !== 0 || !Number.isInteger(length) || length < 0 || length > left) {
    return breakGraph("throws", "a view that does not fit its buffer");
  }
  return newBytes(m, { type, memory, start: start + at, size: constant(length), root: buffer });
}

/** Getters and methods of one kind of objects throw for the others. */
function receiverOf({ self }: CallRequest, kind: "array" | "DataView" | "ArrayBuffer"): BytesObject {
  const found = bytesObject(self), type = found?.exotic.type;
  const isIt = kind === "array" ? type?.endsWith("Array") : type === kind;
  return found && isIt ? found : breakGraph("builtin", `${kind} of another object`);
}

/** The position of a number that a DataView accesses, and its form. */
function placeOf(m: Interpreter, request: CallRequest, type: NumberType, little: Value | undefined): [
  BytesObject,
  { readonly at: number; readonly form: NumberForm },
] {
  const view = receiverOf(request, "DataView"), { step } = BYTES_CLASSES[type];
  const at = positionOf(m, request.args[0], { length: Infinity, fallback: 0 });
  if (little && (little.kind !== "constant" || isPassed(little))) {
    return breakGraph("coercion", "the order of bytes");
  }
  if (at < 0 || !isWithin(m, view, at + step - 1)) {
    return breakGraph("throws", "a place outside of a DataView");
  }
  return [view, { at, form: FORMS[type][little?.value ? "little" : "big"] }];
}

/** The two words of a 64-bit integer that a DataView accesses, the higher one first. */
function wordsOf(m: Interpreter, request: CallRequest, little: Value | undefined) {
  const [view, { at, form }] = placeOf(m, request, "Float64Array", little);
  const word = FORMS.Uint32Array[form.little ? "little" : "big"];
  const [high, low] = form.little ? [at + 4, at] : [at, at + 4];
  return { view, word, places: [high, low] };
}

/** get and set of 64-bit integers, whose values must be known. */
function addIntegers(table: ModelTable, name: "BigInt64" | "BigUint64"): void {
  table.method(DataView.prototype, `get${name}`, (m, request) => {
    const { view, word, places } = wordsOf(m, request, request.args[1]);
    const [high, low] = places.map((place) => {
      const value = readNumber(m, view, place, word);
      return value.kind === "constant"
        ? BigInt(Number(value.value))
        : breakGraph("opaqueObject", "a 64-bit integer that changes between calls");
    });
    const integer = ((high ?? 0n) << 32n) | (low ?? 0n);
    return constant(name === "BigInt64" ? BigInt.asIntN(64, integer) : integer);
  });
  table.method(DataView.prototype, `set${name}`, (m, request) => {
    const [, value] = request.args;
    if (value?.kind !== "constant" || isPassed(value) || typeof value.value !== "bigint") {
      return breakGraph("coercion", "a 64-bit integer");
    }
    const { view, word, places } = wordsOf(m, request, request.args[2]);
    [value.value >> 32n, value.value].forEach((part, i) => {
      const number = Number(BigInt.asUintN(32, part));
      writeNumber(m, view, { at: places[i] ?? 0, form: word, value: constant(number) });
    });
    return UNDEFINED;
  });
}

/** The buffer of an object. */
function bufferOf(m: Interpreter, object: BytesObject): Value {
  const root = memoryHolder(m, object);
  if (root.exotic.type === "ArrayBuffer") return root;
  if (!root.source) return breakGraph("opaqueObject", "memory");
  return m.wrapper.wrap(bytesPart(root.real, "buffer"), bytesSource(root.source, "buffer"));
}

/** The offset of an object in its buffer. */
function offsetOf(m: Interpreter, object: BytesObject): Value {
  const root = rootOf(object), { start } = object.exotic;
  if (!root?.source || root.exotic.type === "ArrayBuffer") return constant(start);
  const first = m.wrapper.wrap(root.exotic.start, bytesSource(root.source, "byteOffset"));
  const more = start - root.exotic.start;
  return first.kind === "number" ? binaryNumbers(m.output, "+", [first, constant(more)]) : constant(start);
}

/** The number of bytes that an object accesses. */
function byteLengthOf(m: Interpreter, object: BytesObject): Value {
  const size = sizeOf(m, object), { step } = BYTES_CLASSES[object.exotic.type];
  return size.kind === "number"
    ? binaryNumbers(m.output, "*", [size, constant(step)])
    : constant(knownSize(m, object) * step);
}

/** Adds the models. */
export function addBuffers(table: ModelTable): void {
  const arrays: object = Object.getPrototypeOf(Int8Array.prototype);
  table.getter(arrays, "length", (m, request) => sizeOf(m, receiverOf(request, "array")));
  for (const [kind, prototype] of [["array", arrays], ["DataView", DataView.prototype]] as const) {
    table.getter(prototype, "byteLength", (m, request) => byteLengthOf(m, receiverOf(request, kind)));
    table.getter(prototype, "byteOffset", (m, request) => offsetOf(m, receiverOf(request, kind)));
    table.getter(prototype, "buffer", (m, request) => bufferOf(m, receiverOf(request, kind)));
  }
  table.getter(ArrayBuffer.prototype, "byteLength", (m, request) => {
    return byteLengthOf(m, receiverOf(request, "ArrayBuffer"));
  });
  table.method(ArrayBuffer, "isView", (_m, { args: [value = UNDEFINED] }) => {
    if (value.kind === "object" && value.exotic.kind === "opaque") {
      return breakGraph("opaqueObject", value.exotic.what);
    }
    const shown = bytesObject(value);
    return constant(shown !== null && shown.exotic.type !== "ArrayBuffer");
  });
  table.constructs(ArrayBuffer, (m, { args: [length, options] }, prototype) => {
    if (prototype?.real !== ArrayBuffer.prototype || options) return breakGraph("constructor", "a subclass");
    const count = positionOf(m, length, { length: Infinity, fallback: 0 });
    if (count < 0 || count > MOST_WRITTEN) return breakGraph("constructor", "a buffer with too many bytes");
    return newBytes(m, {
      type: "ArrayBuffer",
      memory: newMemory(null),
      start: 0,
      size: constant(count),
      root: null,
    });
  });
  table.constructs(DataView, (m, { args }, prototype) => {
    if (prototype?.real !== DataView.prototype) return breakGraph("constructor", "a subclass");
    return viewOfBuffer(m, "DataView", args) ??
      breakGraph("constructor", "a view of a value that is not a buffer");
  });
  addIntegers(table, "BigInt64");
  addIntegers(table, "BigUint64");
  for (const [name, type] of Object.entries(NUMBERS)) {
    table.method(DataView.prototype, `get${name}`, (m, request) => {
      const [view, { at, form }] = placeOf(m, request, type, request.args[1]);
      return readNumber(m, view, at, form);
    });
    table.method(DataView.prototype, `set${name}`, (m, request) => {
      const [view, place] = placeOf(m, request, type, request.args[2]);
      writeNumber(m, view, { ...place, value: request.args[1] ?? UNDEFINED });
      return UNDEFINED;
    });
  }
}
