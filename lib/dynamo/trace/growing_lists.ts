/**
 * Lists that are longer in each call, as the tokens that a loop has found so far. Input: arrays from outside whose length
 * has changed between calls; output: their length as a number of the trace, elements counted from the end, what is put
 * behind them. Invariant: whoever looks at anything else makes the length a constant, and the list an ordinary one.
 */
import { sub } from "../../sym/expr.ts";
import { entrySource, propertySource } from "../source.ts";
import { binaryNumbers } from "../variables/numbers.ts";
import { constant, type GrowingList, type ObjectValue, type Value } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";

/** What is known of a list of which only the end matters so far; null for all others. */
export function growingOf(m: Interpreter, array: ObjectValue): GrowingList | null {
  const { exotic, real, source } = array;
  if (exotic.kind !== "array" || exotic.loaded) return null;
  if (exotic.growing || !Array.isArray(real) || !source) return exotic.growing;
  if (!Object.isExtensible(real) || !Reflect.getOwnPropertyDescriptor(real, "length")?.writable) return null;
  const length = m.wrapper.changingLength(real.length, propertySource(source, "length"));
  if (!length) return null;
  m.output.guard({ kind: "list", source });
  return exotic.growing = { length, added: [] };
}

/** How long it is by now. */
export function lengthOfGrowing(m: Interpreter, { length, added }: GrowingList): Value {
  return added.length === 0 ? length : binaryNumbers(m.output, "+", [length, constant(added.length)]);
}

/** The element of a list that lies so far from its end; null: it has to be found by its index. */
export function elementFromEnd(m: Interpreter, array: ObjectValue, count: number): Value | null {
  const growing = growingOf(m, array), { real, source } = array;
  if (!growing || !Array.isArray(real) || !source || count < 1) return null;
  const { added } = growing, own = added.at(-count);
  if (own) return own;
  const before = count - added.length;
  // Lists that change have two elements at least
  if (before > 2) return null;
  const found: unknown = Reflect.getOwnPropertyDescriptor(real, real.length - before)?.value;
  return found === undefined ? null : m.wrapper.wrap(found, entrySource(source, "last", before));
}

/** What a key of a list means that is computed from its length, as in list[list.length - 1]; null for all others. */
export function elementAtNumber(m: Interpreter, list: Value, key: Value): Value | null {
  if (key.kind !== "number" || key.dim === null || list.kind !== "object") return null;
  const growing = growingOf(m, list);
  if (!growing || growing.length.dim === null) return null;
  const count = sub(growing.length.dim, key.dim);
  return typeof count === "number" ? elementFromEnd(m, list, count + growing.added.length) : null;
}
