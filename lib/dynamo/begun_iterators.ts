/**
 * Where iterators of arrays stand that generated code has made for loops: code of the program has no way to them, so that
 * nobody else takes them on. Input: an iterator and how far compiled code has taken it; output: the items that it would give
 * next, as long as they are plain elements. Invariant: what plain code takes on is forgotten first; nothing here runs code of
 * the program.
 */
import { types } from "node:util";
import { apply } from "../base/own_builtins.ts";

interface Position {
  readonly list: readonly unknown[];
  readonly what: ListingOf;
  index: number;
}

/** What an iterator of a list gives. */
export type ListingOf = "keys" | "values" | "entries";

const positions = new WeakMap<object, Position>();
const positionOf = positions.get.bind(positions), note = positions.set.bind(positions);
const forget = positions.delete.bind(positions);
const { getOwnPropertyDescriptor } = Reflect, { isArray } = Array, { isProxy } = types;
const next: unknown = Reflect.get(Object.getPrototypeOf([][Symbol.iterator]()), "next");

/** The method by which iterators of arrays give their items. */
export const NEXT_OF_ARRAYS = next;

/** Notes an iterator that a loop has, at its beginning or behind some items. */
export function noteBegun(iterator: object, list: unknown, { what, index }: Omit<Position, "list">): void {
  if (isArray(list) && !isProxy(list) && index <= list.length) note(iterator, { list, what, index });
}

/** Plain code is going to take an iterator on. */
export function forgetBegun(iterator: object): void {
  forget(iterator);
}

/** Takes an iterator some items on, or past its end. */
export function takeBegun(iterator: object, count: number, isOver: boolean): void {
  const known = positionOf(iterator);
  if (typeof next !== "function") return;
  for (let i = 0; i < count; i++) apply(next, iterator, []);
  if (known) known.index += count;
  if (isOver) {
    forget(iterator);
    apply(next, iterator, []);
  }
}

/** The list of an iterator whose place is known, what it gives of it, and where it stands. */
export const begunAt: (iterator: object) => Readonly<Position> | undefined = positionOf;

/**
 * What the iterator gives of the element that lies so many steps on; false: there is none; undefined: nobody knows without
 * asking the iterator.
 */
export function nextKind(iterator: object, steps: number): ListingOf | false | undefined {
  const known = positionOf(iterator);
  if (!known) return undefined;
  const at = known.index + steps, { list } = known;
  if (at >= list.length) return false;
  const found = getOwnPropertyDescriptor(list, at);
  return found && "value" in found ? known.what : undefined;
}

/** The element that lies so many steps on. */
export function itemAt(iterator: object, steps: number): unknown {
  const known = positionOf(iterator);
  return known && getOwnPropertyDescriptor(known.list, known.index + steps)?.value;
}

/** Its position. */
export function placeAt(iterator: object, steps: number): number | undefined {
  const known = positionOf(iterator);
  return known && known.index + steps;
}
