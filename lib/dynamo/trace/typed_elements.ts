/**
 * Elements of typed arrays that are made during tracing: known numbers, held by a private array of the trace.
 * Invariant: own properties are always elements; any other access ends the graph.
 */
import { breakGraph } from "../break_reasons.ts";
import { constant, type NumberArray, ObjectValue, type Value } from "../variables/value.ts";
import { builtinPrototype } from "./contents.ts";
import type { Interpreter } from "./interpreter.ts";

/** The classes of typed arrays of numbers. */
export const NUMBER_ARRAYS = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
] as const;

/** Elements that generated code may have to write down. */
const MOST_WRITTEN = 4096;

/** A typed array of the trace, which owns the elements that it is given. */
export function newTyped(m: Interpreter, elements: NumberArray): ObjectValue {
  if (elements.length > MOST_WRITTEN) return breakGraph("builtin", "a typed array of so many elements");
  const prototype: object = Object.getPrototypeOf(elements);
  const value = builtinPrototype(m, prototype, elements.constructor.name);
  return new ObjectValue({ kind: "typed", elements }, value, null, null);
}

/** The elements of a typed array of the trace; null for other values. */
export function typedElements(value: Value | undefined): NumberArray | null {
  return value?.kind === "object" && value.exotic.kind === "typed" ? value.exotic.elements : null;
}

/** The place that a key names; null for names that are not numbers. */
function indexOf(key: string | symbol): number | null {
  if (typeof key === "symbol" || (key !== "-0" && String(Number(key)) !== key)) return null;
  const index = Number(key);
  return Number.isInteger(index) && index >= 0 ? index : breakGraph("opaqueObject", "such an element");
}

/** An element; undefined if the array has neither it nor such a property, null if the key is not an index. */
export function typedElement(elements: NumberArray, key: string | symbol): Value | undefined | null {
  const index = indexOf(key);
  if (index === null) return null;
  const element = elements[index];
  return element === undefined ? undefined : constant(element);
}

/** Writes an element. */
export function writeTyped(elements: NumberArray, key: string | symbol, value: Value): void {
  const index = indexOf(key);
  if (index === null) return breakGraph("opaqueObject", "a property of a typed array");
  if (value.kind === "object" || value.kind === "tensor") {
    return breakGraph("coercion", "a number in a typed array");
  }
  if (value.kind !== "constant") return breakGraph("symbolicNumber", "a number in a typed array");
  if (typeof value.value === "bigint" || typeof value.value === "symbol") {
    return breakGraph("throws", "no number in a typed array");
  }
  elements[index] = Number(value.value);
}
