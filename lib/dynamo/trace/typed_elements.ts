/**
 * Elements of typed arrays, by the language's rules: an index out of range is not a property at all. Invariant: own
 * properties of arrays created in the trace are always elements; any other access ends the graph.
 */
import { breakGraph } from "../break_reasons.ts";
import {
  BYTES_CLASSES,
  type BytesClass,
  copiedElements,
  isListed,
  newElements,
  type NumberArray,
  type NumberType,
} from "../guards/bytes.ts";
import type { HostExpression } from "../variables/host_number.ts";
import { type BytesExotic, type BytesObject, constant, ObjectValue, type Value } from "../variables/value.ts";
import { newMemory } from "../variables/memories.ts";
import { builtinPrototype } from "./contents.ts";
import type { Interpreter } from "./interpreter.ts";
import {
  bytesObject,
  formOf,
  isWithin,
  knownSize,
  type NumbersObject,
  numbersObject,
  originOf,
  readNumber,
  writeNumber,
  writtenNumber,
} from "./memory.ts";

/** Maximum number of elements that generated code may have to write. */
export const MOST_WRITTEN = 4096;

const isList = (type: BytesClass): boolean => type.endsWith("Array");

/** An object of a builtin class that accesses memory. */
export function newBytes(m: Interpreter, exotic: Omit<BytesExotic, "kind" | "touched">): ObjectValue {
  const { prototype: shared } = BYTES_CLASSES[exotic.type].of;
  if (isList(exotic.type) && !isListed(shared)) {
    return breakGraph("builtin", "a typed array whose length or iterator is replaced");
  }
  const prototype = builtinPrototype(m, shared, exotic.type);
  return new ObjectValue({ ...exotic, kind: "bytes", touched: false }, prototype, null, null);
}

/** A typed array of the trace, with zeros. */
export function newTyped(m: Interpreter, type: NumberType, length: number): NumbersObject {
  if (length > MOST_WRITTEN * 16) return breakGraph("builtin", "a typed array with too many elements");
  const made = newBytes(m, { type, memory: newMemory(null), start: 0, size: constant(length), root: null });
  return numbersObject(made) ?? breakGraph("constructor", "a typed array");
}

/**
 * The object that has the memory of a view; for an array of the trace a buffer of its own, with which it is created from
 * now on.
 */
export function memoryHolder(m: Interpreter, object: BytesObject): BytesObject {
  const { exotic, real } = object, { memory, type } = exotic;
  if (exotic.root || real || type === "ArrayBuffer") return exotic.root ?? object;
  if (memory.from) return breakGraph("builtin", "the buffer of a copy of the program's memory");
  const size = constant(knownSize(m, object) * BYTES_CLASSES[type].step);
  const made = newBytes(m, { type: "ArrayBuffer", memory, start: 0, size, root: null });
  return exotic.root = bytesObject(made) ?? breakGraph("constructor", "a buffer");
}

/** A typed array with these elements, converted as the language does. */
export function typedOf(m: Interpreter, type: NumberType, items: readonly Value[]): NumbersObject {
  if (items.length > MOST_WRITTEN) return breakGraph("builtin", "a typed array with too many elements");
  const made = newTyped(m, type, items.length);
  items.forEach((item, i) => putElement(m, made, i, item));
  return made;
}

/**
 * A copy of the elements of a typed array from an index on, as another array of its class: they are read from the
 * original as long as the trace has not written them.
 */
export function copyOfElements(
  m: Interpreter,
  array: NumbersObject,
  from: number,
  size: Value,
): NumbersObject {
  const { type, memory, start } = array.exotic, { step } = BYTES_CLASSES[type];
  const origin = originOf(array), skipped = start + from * step;
  const copy = newMemory(origin && { root: origin.root, first: origin.first - skipped });
  if (origin) origin.root.exotic.touched = true;
  for (const [first, written] of memory.cells) {
    const at = first - skipped, end = at + BYTES_CLASSES[written.form.type].step;
    const isIn = end > 0 && (size.kind !== "constant" || at < Number(size.value) * step);
    if (!isIn) continue;
    if (written.form !== formOf(type) || at % step !== 0 || at < 0) {
      return breakGraph("opaqueObject", "memory that was written as numbers of another type");
    }
    copy.cells.set(at, { ...written, root: null });
  }
  const made = newBytes(m, { type, memory: copy, start: 0, size, root: null });
  return numbersObject(made) ?? breakGraph("constructor", "a typed array");
}

/**
 * The index that a key represents; null for names that are not numbers, undefined for numbers that are never an index.
 */
export function indexOf(key: string | symbol): number | null | undefined {
  if (typeof key === "symbol" || (key !== "-0" && String(Number(key)) !== key)) return null;
  const index = Number(key);
  return Number.isInteger(index) && index >= 0 && key !== "-0" ? index : undefined;
}

/** Returns whether a key represents an index of a typed array, in range or not. */
export function namesElement({ exotic }: ObjectValue, key: string | symbol): boolean {
  return exotic.kind === "bytes" && isList(exotic.type) && indexOf(key) !== null;
}

/** The element at a key; undefined: there is none, and no property either. */
export function typedElement(m: Interpreter, object: ObjectValue, key: string | symbol): Value | undefined {
  const array = numbersObject(object) ?? breakGraph("opaqueObject", "elements that are not numbers"),
    index = indexOf(key);
  return typeof index === "number" ? elementOf(m, array, index) : undefined;
}

/** The element at an index; undefined: there is none. */
export function elementOf(m: Interpreter, array: NumbersObject, index: number): Value | undefined {
  if (!isWithin(m, array, index)) return undefined;
  const { type } = array.exotic;
  return readNumber(m, array, index * BYTES_CLASSES[type].step, formOf(type));
}

/** All elements. */
export function elementsOf(m: Interpreter, array: NumbersObject): Value[] {
  const length = knownSize(m, array);
  if (length > MOST_WRITTEN) return breakGraph("builtin", "a typed array with too many elements");
  return Array.from({ length }, (_, i) => elementOf(m, array, i) ?? constant(undefined));
}

/** Writes an element; does nothing if it does not exist. */
export function writeTyped(m: Interpreter, object: ObjectValue, key: string | symbol, value: Value): void {
  const array = numbersObject(object) ?? breakGraph("opaqueObject", "elements that are not numbers"),
    index = indexOf(key);
  if (typeof index === "number" && isWithin(m, array, index)) return putElement(m, array, index, value);
  // The value is converted nevertheless
  if (value.kind !== "number" && (value.kind !== "constant" || typeof value.value !== "number")) {
    breakGraph("coercion", "a number in a typed array");
  }
}

/** Writes an existing element. */
export function putElement(m: Interpreter, array: NumbersObject, index: number, value: Value): void {
  const { type } = array.exotic;
  writeNumber(m, array, { at: index * BYTES_CLASSES[type].step, form: formOf(type), value });
}

/** An array of the program's whose elements are known to the trace; null: they differ between calls. */
export function knownElements(array: NumbersObject): NumberArray | null {
  const { size, type } = array.exotic;
  if (originOf(array) || size?.kind !== "constant") return null;
  const written: number[] = [], { step } = BYTES_CLASSES[type], length = Number(size.value);
  for (const at of writtenIndices(array, length)) {
    const value = writtenNumber(array, at * step, formOf(type));
    if (value?.kind !== "constant") return null;
    written.push(at, Number(value.value));
  }
  return newElements(type, length, written);
}

/** Elements that the trace has replaced: their indices, and the values in each call. */
interface WrittenElements {
  readonly at: number;
  readonly expression: HostExpression;
  readonly hint: number;
}

/** Numbers that the trace has written to an array with this many elements; breaks if the graph has to run before. */
export function writtenElements(array: NumbersObject, length: number): WrittenElements[] {
  const { memory, start, type } = array.exotic, { step } = BYTES_CLASSES[type], form = formOf(type);
  return writtenIndices(array, length).map((at) => {
    const cell = memory.cells.get(start + at * step), isWhole = cell?.form === form;
    const value = isWhole ? cell.value : writtenNumber(array, at * step, form),
      given = isWhole ? cell.given : value;
    const hint = value?.kind === "number" ? value.hint : value?.kind === "constant" && value.value;
    if (given?.kind !== "number" && given?.kind !== "constant" || typeof hint !== "number") {
      return breakGraph("tensorItem", "an element of a typed array");
    }
    const expression = given.kind === "number" ? given.expression : { kind: "literal", value: hint } as const;
    return { at, expression, hint };
  });
}

/** The indices of elements of which the trace has written bytes. */
function writtenIndices({ exotic: { memory, start, type } }: NumbersObject, length: number): number[] {
  const { step } = BYTES_CLASSES[type], found = new Set<number>();
  for (const [first, { form }] of memory.cells) {
    const end = first + BYTES_CLASSES[form.type].step;
    const from = Math.max(0, Math.floor((first - start) / step));
    for (let at = from; at < length && start + at * step < end; at++) found.add(at);
  }
  return [...found];
}

/** An example of the contents of an array of the program's, or a copy of it, after the trace's writes. */
export function exampleOf(
  array: NumbersObject,
  length: number,
  written: readonly WrittenElements[],
): NumberArray {
  const { type, start } = array.exotic, origin = originOf(array);
  const numbers = written.flatMap(({ at, hint }) => [at, hint]);
  if (!origin) return newElements(type, length, numbers);
  return copiedElements(origin.root.real, type, { at: start - origin.first, length, written: numbers });
}
