/**
 * Iterators of loops that a former graph has begun. Input: such an iterator; output: its next item, read from the list that
 * it iterates. Invariant: the iterator itself is taken on behind the graph, by as many items as the trace has taken; where
 * the trace has changed the list, the graph ends instead.
 */
import { begunAt, itemAt, NEXT_OF_ARRAYS, nextKind, placeAt } from "../begun_iterators.ts";
import { breakGraph } from "../break_reasons.ts";
import { isChanged } from "../codegen/effects.ts";
import { entrySource } from "../source.ts";
import { ObjectValue, type Value } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";
import { newArray } from "./objects.ts";

/** The next item of a loop's iterator that was begun before; null at the end, undefined for everything else. */
export function nextOfBegun(m: Interpreter, iterator: Value, method: Value): Value | null | undefined {
  if (iterator.kind !== "object" || iterator.exotic.kind !== "opaque") return undefined;
  const { exotic: { begun }, real, source } = iterator;
  const isNext = method.kind === "object" && method.real === NEXT_OF_ARRAYS;
  const position = begun && real && isNext ? begunAt(real) : undefined;
  if (!begun || !real || !source || !position) return undefined;
  if (begun.isOver) return null;
  const { taken } = begun, list = m.wrapper.find(position.list);
  const kind = list instanceof ObjectValue && isChanged(list) ? undefined : nextKind(real, taken);
  if (kind === undefined) return breakGraph("begunIterator");
  m.wrapper.wrap(kind, entrySource(source, "kind", taken));
  if (!kind) {
    begun.isOver = true;
    return null;
  }
  const place = () => m.wrapper.wrap(placeAt(real, taken), entrySource(source, "place", taken));
  const item = () => m.wrapper.wrap(itemAt(real, taken), entrySource(source, "item", taken));
  const value = kind === "keys" ? place() : kind === "values" ? item() : newArray(m, [place(), item()]);
  begun.taken++;
  return value;
}

/** Whether a value is an iterator that plain code must not take on unnoticed. */
export function isOfLoop(value: Value): boolean {
  if (value.kind !== "object") return false;
  const { exotic } = value;
  return exotic.kind === "listIterator"
    ? exotic.isOfLoop
    : exotic.kind === "opaque" && exotic.begun !== undefined;
}
