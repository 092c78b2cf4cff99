/**
 * Numbers that JSON lacks, in states that programs write as JSON: infinities and NaN are written as their names.
 * Invariant: a state that was written and read holds the same numbers.
 */
import { isPlainObject } from "./tree.ts";

const NUMBERS: ReadonlyMap<unknown, number> = new Map(
  [Infinity, -Infinity, NaN].map((value) => [String(value), value]),
);

/** Returns the state, which JSON writes with the names of numbers that it would write as null. */
export function namingNumbers<T extends object>(state: T): T {
  const toJSON = () => changed(state, (value) => NUMBERS.has(String(value)) ? String(value) : value);
  return Object.defineProperty(state, "toJSON", { value: toJSON, enumerable: false, configurable: true });
}

/** Returns a state of JSON with numbers for their names. */
export function namedNumbers<T extends object>(state: T): T {
  return { ...state, ...changed(state, (value) => NUMBERS.get(value) ?? value) };
}

/** Returns a copy of a record with its numbers and strings changed, in lists and records too. */
function changed(state: object, change: (value: unknown) => unknown): Record<string, unknown> {
  const each = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(each)
      : isPlainObject(value)
      ? changed(value, change)
      : typeof value === "number" || typeof value === "string"
      ? change(value)
      : value;
  return Object.fromEntries(Object.entries(state).map(([name, value]) => [name, each(value)]));
}
