/**
 * Memory of typed arrays, DataViews and buffers: the program's is read when the call begins; writes of the trace are
 * recorded here, by bytes, and applied after the graph has run. Invariant: the trace knows only the place of a number of
 * the program, never its value, and views of one buffer see each other's writes; bytes that were written in another form
 * must be known, or the graph ends.
 */
import { breakGraph } from "../break_reasons.ts";
import {
  asElement,
  BYTES_CLASSES,
  bytesPart,
  NUMBER_CLASSES,
  numberAt,
  type NumberForm,
  type NumberType,
  putNumber,
} from "../guards/bytes.ts";
import { bytesSource } from "../source.ts";
import { callIn, type HostElement, type HostExpression, readsElements } from "../variables/host_number.ts";
import { binaryNumbers, mathNumbers, specializeNumber } from "../variables/numbers.ts";
import {
  type BytesExotic,
  type BytesObject,
  constant,
  isPassed,
  type Memory,
  type ObjectValue,
  type Value,
  type WrittenNumber,
} from "../variables/value.ts";
import { NumberValue } from "../variables/number_value.ts";
import type { Wrapper } from "../variables/wrap.ts";
import type { Interpreter } from "./interpreter.ts";

/** Maximum number of numbers that a trace reads from memory: each is a variable of generated code. */
const MOST_READ = 2048;

/** A typed array whose elements are numbers. */
export interface NumbersObject extends ObjectValue {
  readonly exotic: BytesExotic & { readonly type: NumberType };
}

/** A value as an object that accesses memory; null for all others. */
export function bytesObject(value: Value | null | undefined): BytesObject | null {
  return value?.kind === "object" && isBytes(value) ? value : null;
}

function isBytes(object: ObjectValue): object is BytesObject {
  return object.exotic.kind === "bytes";
}

/** A value as a typed array of numbers; null for all others. */
export function numbersObject(value: Value | null | undefined): NumbersObject | null {
  return value?.kind === "object" && isNumbers(value) ? value : null;
}

function isNumbers(object: ObjectValue): object is NumbersObject {
  return object.exotic.kind === "bytes" && object.exotic.type in NUMBER_CLASSES;
}

/** The representation of a typed array's elements. */
export const formOf = (type: NumberType): NumberForm => FORMS[type].little;

/** One object for each form, by which generated code refers to it. */
export const FORMS: Readonly<Record<NumberType, { readonly little: NumberForm; readonly big: NumberForm }>> =
  {
    Int8Array: forms("Int8Array"),
    Uint8Array: forms("Uint8Array"),
    Uint8ClampedArray: forms("Uint8ClampedArray"),
    Int16Array: forms("Int16Array"),
    Uint16Array: forms("Uint16Array"),
    Int32Array: forms("Int32Array"),
    Uint32Array: forms("Uint32Array"),
    Float16Array: forms("Float16Array"),
    Float32Array: forms("Float32Array"),
    Float64Array: forms("Float64Array"),
  };

function forms(type: NumberType) {
  return { little: { type, little: true }, big: { type, little: false } } as const;
}

/** The number of elements, or bytes, of an object, which may differ in other calls. */
export function sizeOf(m: Interpreter, { exotic, real, source }: BytesObject): Value {
  if (exotic.size === null) {
    if (!real || !source) return breakGraph("opaqueObject", "memory");
    exotic.size = m.wrapper.wrap(bytesPart(real, "length"), bytesSource(source, "length"));
  }
  return exotic.size;
}

/** The same, if the trace depends on it. */
export function knownSize(m: Interpreter, object: BytesObject): number {
  const size = sizeOf(m, object);
  return Number(
    size.kind === "number" ? specializeNumber(m.output, size).value : size.kind === "constant" && size.value,
  );
}

/** Returns whether an object has an element, or a byte, at an index. */
export function isWithin(m: Interpreter, object: BytesObject, index: number): boolean {
  if (index < 0) return false;
  const size = sizeOf(m, object);
  if (size.kind !== "number") return index < knownSize(m, object);
  const isLess = binaryNumbers(m.output, "<", [constant(index), size]);
  return isLess.kind === "constant" && isLess.value === true;
}

/** The origin of an object's bytes that the trace has not written; null: they are 0. */
export function originOf(object: BytesObject): Memory["from"] {
  const root = rootOf(object);
  return object.exotic.memory.from ?? (root && { root, first: root.exotic.start });
}

/** The object of the program through which an object's memory is accessed: itself, or one from which it was created. */
export function rootOf(object: BytesObject): BytesObject | null {
  const root = object.exotic.root ?? object;
  return root.real ? root : null;
}

/** Reads a number at a byte offset of an object. */
export function readNumber(m: Interpreter, object: BytesObject, at: number, ...[form]: [NumberForm]): Value {
  const written = writtenNumber(object, at, form), origin = originOf(object);
  if (written === null) return breakGraph("tensorItem", "an element is written and read as another type");
  if (written) return written;
  if (!origin) return constant(0);
  return numberFrom(m, origin.root, { at: object.exotic.start + at - origin.first, form });
}

/**
 * A number at a byte offset of an object that the trace has written: null if it cannot be known, undefined if it has not
 * been written.
 */
export function writtenNumber(
  object: BytesObject,
  at: number,
  form: NumberForm,
): Value | null | undefined {
  const { memory, start } = object.exotic, first = start + at, { step } = BYTES_CLASSES[form.type];
  const same = memory.cells.get(first);
  if (same && isSameForm(same.form, form)) return same.value;
  const cells = [...cellsIn(memory, first, step)];
  if (cells.length === 0) return undefined;
  const bytes = cells.flatMap(([from, cell]) => bytesOf(cell, from) ?? [null]);
  const known = new Map(bytes.flatMap((each) => each ? [each] : []));
  const range = Array.from({ length: step }, (_, k) => known.get(first + k) ?? (originOf(object) ? null : 0));
  if (bytes.includes(null) || range.includes(null)) {
    return breakGraph("opaqueObject", "memory that was written as numbers of another type");
  }
  return constant(numberAt(Uint8Array.from(range, Number), form, 0));
}

/** The bytes of a number that the trace has written, with their places; null if it is not known. */
function bytesOf({ form, value }: WrittenNumber, first: number): [place: number, byte: number][] | null {
  if (value?.kind !== "constant") return null;
  const bytes = new Uint8Array(BYTES_CLASSES[form.type].step);
  putNumber(bytes, { form, at: 0 }, Number(value.value));
  return Array.from(bytes, (byte, k) => [first + k, byte]);
}

const isSameForm = (a: NumberForm, b: NumberForm): boolean =>
  a.type === b.type && (a.little === b.little || BYTES_CLASSES[a.type].step === 1);

/** The numbers that were written to any of these bytes, by their first byte. */
function* cellsIn({ cells }: Memory, first: number, count: number): Generator<[number, WrittenNumber]> {
  for (let at = first - 7; at < first + count; at++) {
    const written = cells.get(at);
    if (written && at + BYTES_CLASSES[written.form.type].step > first) yield [at, written];
  }
}

/** Takes numbers away from bytes that are about to be written in another form: what is left of them is written as bytes. */
function makeRoom({ cells }: Memory, written: readonly (readonly [number, WrittenNumber])[]): void {
  const split = written.map(([at, cell]) => {
    const bytes = bytesOf(cell, at) ??
      breakGraph("opaqueObject", "memory that was written as numbers of another type");
    return { at, cell, bytes };
  });
  for (const { at, cell, bytes } of split) {
    cells.delete(at);
    for (const [place, byte] of bytes) {
      const value = constant(byte);
      cells.set(place, { form: FORMS.Uint8Array.little, given: value, value, root: cell.root });
    }
  }
}

/** A number in memory of the program at the beginning of the call. */
function numberFrom(
  m: Interpreter,
  root: BytesObject,
  { at, form }: { readonly at: number; readonly form: NumberForm },
): NumberValue {
  const { step } = BYTES_CLASSES[form.type];
  const isElement = root.exotic.type === form.type && form.little && at % step === 0;
  const place: HostExpression = { kind: "literal", value: isElement ? at / step : at };
  return elementValue(m, root, {
    at: place,
    form: isElement ? null : form,
    hint: numberAt(root.real, form, at),
  });
}

function elementValue(
  m: Interpreter,
  root: BytesObject,
  { at, form, hint }: Pick<HostElement, "at" | "form"> & { readonly hint: number },
): NumberValue {
  if (!root.source) return breakGraph("opaqueObject", "memory");
  if (m.output.memories.reads++ >= MOST_READ) {
    return breakGraph("opaqueObject", "too many elements of typed arrays");
  }
  root.exotic.touched = true;
  const isWhole = !(form?.type ?? root.exotic.type).startsWith("Float");
  return new NumberValue({ kind: "element", source: root.source, at, form, isWhole }, hint, null);
}

/** The element of a typed array at a number of the trace; null: the number must be known. */
export function elementAtNumber(m: Interpreter, list: Value, key: NumberValue): Value | null {
  const array = numbersObject(list), origin = array && originOf(array);
  if (!array) return null;
  if (!origin || array.exotic.memory.cells.size > 0 || callIn(key.expression)) {
    refuseNumber(m, list, key);
    return null;
  }
  const { type, start } = array.exotic, { step } = BYTES_CLASSES[type], { root } = origin;
  const size = sizeOf(m, array), length = size.kind === "number" ? size.hint : knownSize(m, array);
  const { hint, expression } = key, skipped = (start - origin.first) / step;
  if (root.exotic.type !== type || !Number.isInteger(skipped)) return null;
  if (!Number.isInteger(hint) || hint < 0 || hint >= length) return null;
  const end: HostExpression = size.kind === "number" ? size.expression : { kind: "literal", value: length };
  const index: HostExpression = {
    kind: "binary",
    operator: ">>>",
    left: expression,
    right: { kind: "literal", value: 0 },
  };
  const isThere = [
    { kind: "binary", operator: "===", left: index, right: expression },
    { kind: "binary", operator: "<", left: expression, right: end },
  ] as const;
  for (const each of isThere) m.output.guard({ kind: "expression", expression: each, expected: true });
  const at: HostExpression = skipped === 0
    ? expression
    : { kind: "binary", operator: "+", left: expression, right: { kind: "literal", value: skipped } };
  const found = numberAt(root.real, formOf(type), (hint + skipped) * step);
  return elementValue(m, root, { at, form: null, hint: found });
}

/** Breaks the graph if there would be a version for each index. */
export function refuseNumber(m: Interpreter, list: Value, key: Value): void {
  if (key.kind !== "number" || !bytesObject(list)) return;
  if (readsElements(key.expression) || m.wrapper.changes.hasMany(key)) {
    breakGraph("symbolicNumber", "an index that changes between calls");
  }
}

/** Writes a number at a byte offset of an object, as an assignment to an element does. */
export function writeNumber(
  m: Interpreter,
  object: BytesObject,
  { at, form, value }: { readonly at: number; readonly form: NumberForm; readonly value: Value },
): void {
  const { memory, start } = object.exotic, first = start + at, { step } = BYTES_CLASSES[form.type];
  const converted = asNumber(m, form.type, value);
  const former = [...cellsIn(memory, first, step)];
  makeRoom(
    memory,
    former.filter(([at, { form: { type } }]) => at < first || at + BYTES_CLASSES[type].step > first + step),
  );
  for (let k = 0; k < step; k++) memory.cells.delete(first + k);
  // Values that are not numbers are converted here: generated code writes numbers
  const given = value.kind === "constant" ? constant(Number(value.value)) : value;
  memory.cells.set(first, { form, given, value: converted, root: rootOf(object) });
}

/** A value after a round trip through an element of this type; null if only real memory determines it. */
function asNumber(m: Interpreter, type: NumberType, value: Value): Value | null {
  switch (value.kind) {
    case "constant":
      if (isPassed(value) && value.type !== "boolean") {
        return breakGraph("coercion", "a number in a typed array");
      }
      if (typeof value.value === "bigint" || typeof value.value === "symbol") {
        return breakGraph("throws", "a value in a typed array that is not a number");
      }
      return constant(asElement(type, Number(value.value)));
    case "number":
      return convertedNumber(m, type, value);
    case "item":
      if (value.type !== "number") return breakGraph("tensorItem", "a number in a typed array");
      return type === "Float64Array" ? value : null;
    default:
      return breakGraph("coercion", "a number in a typed array");
  }
}

const INTEGER_BITS = {
  Int8Array: [24, ">>"],
  Int16Array: [16, ">>"],
  Uint8Array: [24, ">>>"],
  Uint16Array: [16, ">>>"],
} as const;

function convertedNumber(m: Interpreter, type: NumberType, value: NumberValue): Value | null {
  const { output } = m,
    apply = (operator: "<<" | ">>" | ">>>", of: Value, by: number): Value =>
      of.kind === "number" ? binaryNumbers(output, operator, [of, constant(by)]) : of;
  switch (type) {
    case "Float64Array":
      return value;
    case "Float16Array":
      return mathNumbers(output, "f16round", [value]);
    case "Float32Array":
      return mathNumbers(output, "fround", [value]);
    case "Int32Array":
      return apply(">>", value, 0);
    case "Uint32Array":
      return apply(">>>", value, 0);
    case "Uint8ClampedArray":
      return null;
    default: {
      const [by, operator] = INTEGER_BITS[type];
      return apply(operator, apply("<<", value, by), by);
    }
  }
}

/**
 * Guards that the program's objects with access to written memory have the same offsets to each other as in the trace,
 * and that no other inspected object accesses any of it.
 */
export function guardMemory({ objects, output }: Wrapper): void {
  const roots = objects.filter(isBytes);
  for (const root of roots) {
    const { memory, start } = root.exotic;
    if (![...memory.cells.values()].some((written) => written.root === root)) continue;
    for (const other of roots) {
      const isLooked = other.exotic.touched || other.exotic.memory.cells.size > 0;
      if (other === root || !isLooked || !root.source || !other.source) continue;
      const isOne = other.exotic.memory === memory && overlaps(root, other);
      output.guard({
        kind: "memory",
        source: root.source,
        other: other.source,
        apart: isOne ? other.exotic.start - start : null,
      });
    }
  }
}

function overlaps(a: BytesObject, b: BytesObject): boolean {
  const end = ({ exotic, real }: BytesObject) =>
    exotic.start + Number(bytesPart(real, "length")) * BYTES_CLASSES[exotic.type].step;
  return a.exotic.start < end(b) && b.exotic.start < end(a);
}
