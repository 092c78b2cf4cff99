/**
 * Continues iterators of loops that an earlier graph has started. Invariant: the iterator itself is advanced after the
 * graph, by as many items as the trace has taken, before the trace's changes are applied; if that would yield other
 * items, the graph ends instead.
 */
import {
  begunAt,
  itemAt,
  keysLeft,
  kindsLeft,
  type ListingOf,
  nextKind,
  placeAt,
  valuesLeft,
} from "../functions/iterator_positions.ts";
import { types } from "node:util";
import { breakGraph } from "../break_reasons.ts";
import { isChanged } from "../codegen/effects.ts";
import { type EntryPart, entrySource, type Source } from "../source.ts";
import { ObjectValue, type Value } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";
import { keyIdentity, newArray } from "./contents.ts";

/** An iterator that an earlier graph has started, with its progress in the trace. */
interface Begun {
  readonly real: object;
  readonly source: Source;
  readonly state: { taken: number; isOver: boolean };
}

/**
 * The next item of a loop's iterator that an earlier graph has started; null at the end, undefined for other values.
 */
export function nextOfResumed(m: Interpreter, iterator: Value, method: Value): Value | null | undefined {
  if (iterator.kind !== "object" || iterator.exotic.kind !== "opaque") return undefined;
  const { exotic: { begun: state }, real, source } = iterator;
  const position = state && real ? begunAt(real) : undefined;
  const isNext = method.kind === "object" && method.real !== null && method.real === position?.next;
  if (!state || !real || !source || !position || !isNext) return undefined;
  if (state.isOver) return null;
  const { over, what } = position, begun = { real, source, state };
  const iterated = typeof over === "object" ? m.wrapper.find(over) : undefined;
  const changed = iterated instanceof ObjectValue && isChanged(iterated) ? iterated : null;
  if (typeof over === "object" && nextKind(real, state.taken) !== undefined) {
    const isShown = types.isTypedArray(over) && m.output.memories.areWritten;
    return changed || isShown ? breakGraph("begunIterator") : nextOfList(m, begun);
  }
  return nextOfEntries(m, begun, { what, changed });
}

function nextOfList(m: Interpreter, { real, source, state }: Begun): Value | null {
  const { taken } = state, kind = nextKind(real, taken);
  m.output.guard({ kind: "constant", source: entrySource(source, "kind", taken), value: kind });
  if (!kind) {
    state.isOver = true;
    return null;
  }
  const place = () => m.wrapper.wrap(placeAt(real, taken), entrySource(source, "place", taken));
  const item = () => m.wrapper.wrap(itemAt(real, taken), entrySource(source, "item", taken));
  const value = kind === "keys" ? place() : kind === "values" ? item() : newArray(m, [place(), item()]);
  state.taken++;
  return value;
}

/** The next entry of a Map or a Set, or the next character of a string. */
function nextOfEntries(
  m: Interpreter,
  { real, source, state }: Begun,
  { what, changed }: { readonly what: ListingOf; readonly changed: ObjectValue | null },
): Value | null {
  for (;; state.taken++) {
    const { taken } = state, kind = kindsLeft(real)[taken];
    if (kind === undefined) return breakGraph("begunIterator");
    m.output.guard({ kind: "constant", source: entrySource(source, "kindLeft", taken), value: kind });
    if (kind === false) {
      if (changed && hasAdded(changed)) return breakGraph("begunIterator");
      state.isOver = true;
      return null;
    }
    const part = (list: readonly unknown[], name: EntryPart) =>
      m.wrapper.wrap(list[taken], entrySource(source, name, taken));
    const isMap = kind.endsWith("map");
    const key = isMap && what === "values" && !changed ? null : part(keysLeft(real), "keyLeft");
    const standing = key && changed ? entryIn(changed, key) : null;
    if (standing === "deleted") continue;
    const value = () => !isMap && key ? key : standing?.value ?? part(valuesLeft(real), "valueLeft");
    const item = what === "entries" && key
      ? newArray(m, [key, value()])
      : what === "values" || !key
      ? value()
      : key;
    state.taken++;
    return item;
  }
}

/** Returns whether the trace has added entries. */
function hasAdded({ exotic }: ObjectValue): boolean {
  if (exotic.kind !== "map" && exotic.kind !== "set") return true;
  return [...exotic.entries.keys()].some((key) => !exotic.originals.has(key) || exotic.deleted.has(key));
}

/** Returns the state of an original entry of a collection that the trace has changed. */
function entryIn({ exotic }: ObjectValue, key: Value): { readonly value: Value } | "deleted" {
  if (exotic.kind !== "map" && exotic.kind !== "set") return breakGraph("begunIterator");
  const identity = keyIdentity(key), entry = exotic.entries.get(identity);
  if (!exotic.deleted.has(identity)) return entry ?? breakGraph("begunIterator");
  // An entry that was deleted and added again has moved to the end
  return entry ? breakGraph("begunIterator") : "deleted";
}

/** Returns whether a value is an iterator that plain code must not advance unnoticed. */
export function isOfLoop(value: Value): boolean {
  if (value.kind !== "object") return false;
  const { exotic } = value;
  return exotic.kind === "listIterator"
    ? exotic.isOfLoop
    : exotic.kind === "opaque" && exotic.begun !== undefined;
}
