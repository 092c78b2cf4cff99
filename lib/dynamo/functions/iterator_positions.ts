/**
 * Positions of builtin iterators that generated code has created for loops: the program cannot access them, so nothing
 * else advances them. Invariant: an iterator is forgotten before plain code advances it; nothing here runs code of the
 * program.
 */
import {
  charactersFrom,
  elementOf,
  entriesBehind,
  entriesLeft,
  type EntryLeft,
  isOfTypedArray,
  iteratedKind,
  lengthOf,
  NEXT,
  take,
} from "./builtin_iterators.ts";
import { sizeOf } from "../../base/collections.ts";

/** The items that an iterator of a list, a collection or a text returns. */
export type ListingOf = "keys" | "values" | "entries";

/** An iterator of a list, or of the UTF-16 units of a text: the index of the next item. */
interface ListPosition {
  readonly kind: "list" | "text";
  readonly over: object | string;
  readonly what: ListingOf;
  index: number;
}

/**
 * An iterator of a Map or a Set. Deleting and re-adding entries changes its position without a trace; an inaccessible
 * twin iterator moves in the same way, and is consumed to find the remaining entries.
 */
interface CollectionPosition {
  readonly kind: "map" | "set";
  readonly over: object;
  readonly what: ListingOf;
  twin: object;
}

type Position = ListPosition | CollectionPosition;

/** Finding the remaining entries of a collection takes a pass over the collection in each iteration. */
const MOST_ENTRIES = 1_000;

const positions = new WeakMap<object, Position>();
const positionOf = positions.get.bind(positions), note = positions.set.bind(positions);
const forget = positions.delete.bind(positions);

/** Records the iterator of a loop, at its start or after some items. */
export function noteBegun(
  iterator: object,
  over: unknown,
  { what, index }: { readonly what: ListingOf; readonly index: number },
): void {
  const kind = iteratedKind(over);
  if (kind === "text" && typeof over === "string") note(iterator, { kind, over, what, index });
  if (typeof over !== "object" || over === null) return;
  if (kind === "list" && index <= (lengthOf(over) ?? -1)) note(iterator, { kind, over, what, index });
  if ((kind === "map" || kind === "set") && (sizeOf(over) ?? 0) <= MOST_ENTRIES) {
    note(iterator, { kind, over, what, twin: entriesBehind(kind, over, index) });
  }
}

/**
 * Records an iterator that plain code has just created for a loop, if it is that of a typed array, which graphs cannot
 * inspect.
 */
export function noteIterated(iterator: object, over: unknown): void {
  if (isOfTypedArray(iterator, over)) noteBegun(iterator, over, { what: "values", index: 0 });
}

/** Forgets an iterator, which plain code is going to advance. */
export function forgetBegun(iterator: object): void {
  forget(iterator);
}

/** Advances an iterator by some items, or past its end. */
export function takeBegun(iterator: object, count: number, isOver: boolean): void {
  const known = positionOf(iterator);
  if (!known) return;
  for (let i = 0; i < count; i++) {
    const item = take(known.kind, iterator);
    if ("twin" in known) take(known.kind, known.twin);
    else known.index += known.kind === "text" ? String(item?.value ?? "").length : 1;
  }
  if (isOver) {
    forget(iterator);
    take(known.kind, iterator);
  }
}

/** Returns the iterated object of an iterator with a known position, and the method by which it returns items. */
export function begunAt(
  iterator: object,
): { readonly over: object | string; readonly what: ListingOf; readonly next: unknown } | undefined {
  const known = positionOf(iterator);
  return known && { over: known.over, what: known.what, next: NEXT[known.kind] };
}

/** Returns the number of elements, entries or UTF-16 units before its position. */
export function begunIndex(iterator: object): number | undefined {
  const known = positionOf(iterator);
  if (!known) return undefined;
  if (!("twin" in known)) return known.index;
  return (sizeOf(known.over) ?? 0) - leftOf(known).length;
}

function leftOf(known: CollectionPosition): EntryLeft[] {
  const { kind, over, twin } = known, left = entriesLeft(kind, twin);
  known.twin = entriesBehind(kind, over, (sizeOf(over) ?? 0) - left.length);
  return left;
}

/**
 * Returns what the iterator yields that many steps ahead: false past the end of the list, undefined if unknown
 * without calling the iterator.
 */
export function nextKind(iterator: object, steps: number): ListingOf | false | undefined {
  const known = positionOf(iterator);
  if (known?.kind !== "list" || typeof known.over !== "object") return undefined;
  const at = known.index + steps, length = lengthOf(known.over);
  if (length === undefined) return undefined;
  if (at >= length) return false;
  return elementOf(known.over, at) && known.what;
}

/** The element of a list that many steps ahead. */
export function itemAt(iterator: object, steps: number): unknown {
  const known = positionOf(iterator);
  if (known?.kind !== "list" || typeof known.over !== "object") return undefined;
  return elementOf(known.over, known.index + steps)?.value;
}

/** Its position. */
export function placeAt(iterator: object, steps: number): number | undefined {
  const known = positionOf(iterator);
  return known?.kind === "list" ? known.index + steps : undefined;
}

/**
 * Returns what the iterator of a collection or a text yields for each remaining entry, then false; empty if unknown.
 */
export function kindsLeft(iterator: object): readonly (string | false)[] {
  const known = positionOf(iterator);
  if (!known || known.kind === "list") return [];
  const kind = `${known.what} of a ${known.kind}`, kinds: (string | false)[] = [];
  for (let i = keysLeft(iterator).length; i > 0; i--) kinds[kinds.length] = kind;
  kinds[kinds.length] = false;
  return kinds;
}

/** The remaining keys or members, or the remaining characters. */
export function keysLeft(iterator: object): readonly unknown[] {
  const known = positionOf(iterator);
  if (known?.kind === "text") return charactersFrom(String(known.over), known.index);
  return entryPartsLeft(known, 0);
}

/** The remaining values. */
export function valuesLeft(iterator: object): readonly unknown[] {
  return entryPartsLeft(positionOf(iterator), 1);
}

function entryPartsLeft(known: Position | undefined, part: 0 | 1): readonly unknown[] {
  if (!known || !("twin" in known)) return [];
  const left = leftOf(known), parts: unknown[] = [];
  for (let i = 0; i < left.length; i++) parts[i] = left[i]?.[part];
  return parts;
}
