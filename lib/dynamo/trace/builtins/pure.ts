/**
 * Converts plain data between traced values and values for builtins that run on it. Invariant: values that are not
 * known during tracing are not plain data.
 */
import { breakGraph } from "../../break_reasons.ts";
import { settledNumber, textOf } from "../texts.ts";
import { readsElements } from "../../variables/host_number.ts";
import { isPassed, type Primitive, primitive, type Value } from "../../variables/value.ts";
import { newArray } from "../contents.ts";
import type { Interpreter } from "../interpreter.ts";

/** A primitive or an array of them as a traced value; null for anything else. */
export function fromPure(m: Interpreter, value: unknown): Value | null {
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    const items = list.map((each) => fromPure(m, each));
    return items.every((v) => v !== null) && Object.keys(value).length === list.length
      ? newArray(m, items)
      : null;
  }
  if ((typeof value === "object" && value !== null) || typeof value === "function") return null;
  return primitive(value);
}

/** A value as plain data, for builtins that only read it; breaks the graph if it is not. */
export function primitiveOf(m: Interpreter, value: Value, what: string): Primitive {
  if (value.kind === "constant") return value.value;
  if (value.kind === "number") return settledNumber(m, value).value;
  if (value.kind === "item") return breakGraph("tensorItem", what);
  return breakGraph("coercion", `an object is an argument of ${what}`);
}

/** The text of a primitive, for builtins that convert their arguments; breaks the graph for other values. */
export function textArgument(m: Interpreter, value: Value, what: string): string {
  return value.kind === "constant" || value.kind === "number"
    ? textOf(m, value)
    : String(primitiveOf(m, value, what));
}

/** A primitive as the integer that it represents as a position; null if it cannot be converted to a number. */
export function wholeNumberOf(value: Primitive): number | null {
  if (typeof value === "symbol" || typeof value === "bigint") return null;
  return Math.trunc(Number(value)) || 0;
}

/** An argument that is an integer, truncated as the language does; `length` bounds infinite values. */
export function positionOf(
  m: Interpreter,
  value: Value | undefined,
  { length, fallback }: { readonly length: number; readonly fallback: number },
): number {
  if (value === undefined || (value.kind === "constant" && value.value === undefined)) return fallback;
  if (value.kind === "number") {
    if (readsElements(value.expression)) return breakGraph("symbolicNumber", "a position in memory");
    const known = settledNumber(m, value);
    return positionOf(m, known, { length, fallback });
  }
  const number = value.kind === "constant" && !isPassed(value) ? wholeNumberOf(value.value) : null;
  return number === null ? breakGraph("coercion", "a position in memory") : Math.min(number, length);
}
