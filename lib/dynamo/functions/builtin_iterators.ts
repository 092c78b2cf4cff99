/**
 * Advances builtin iterators by the engine's own methods, even if the program has replaced them. Invariant: no code of
 * the program runs, and lists are traversed by index.
 */
import { types } from "node:util";
import { apply } from "../../base/own_builtins.ts";

/** The kinds of iterated objects: arrays, arguments and typed arrays alike are lists. */
type IteratedKind = "list" | "map" | "set" | "text";

/** An entry of a Map, or a member of a Set twice. */
export type EntryLeft = readonly [unknown, unknown];

const { getOwnPropertyDescriptor, getPrototypeOf } = Reflect, { isArray } = Array;
const { isArgumentsObject, isMap, isProxy, isSet, isTypedArray } = types;

/** The methods by which iterators return their items. */
export const NEXT: Readonly<Record<IteratedKind, unknown>> = {
  list: Reflect.get(getPrototypeOf([][Symbol.iterator]()) ?? {}, "next"),
  map: Reflect.get(getPrototypeOf(new Map()[Symbol.iterator]()) ?? {}, "next"),
  set: Reflect.get(getPrototypeOf(new Set()[Symbol.iterator]()) ?? {}, "next"),
  text: Reflect.get(getPrototypeOf(""[Symbol.iterator]()) ?? {}, "next"),
};
const entriesOf = { map: Map.prototype.entries, set: Set.prototype.entries };
const typedArrays = getPrototypeOf(Int8Array.prototype) ?? {};
const lengthOfTyped = getterOf(typedArrays, "length"), valuesOfTyped = Int8Array.prototype[Symbol.iterator];
const iteratorsOfLists = getPrototypeOf([][Symbol.iterator]());

function getterOf(prototype: object, name: string): (this: unknown) => unknown {
  const get = getOwnPropertyDescriptor(prototype, name)?.get;
  return get ?? (() => undefined);
}

/** Returns the kind of iterator over a value; null if it cannot be inspected. */
export function iteratedKind(over: unknown): IteratedKind | null {
  if (typeof over === "string") return "text";
  if (isProxy(over)) return null;
  if (isArray(over) || isArgumentsObject(over) || isTypedArray(over)) return "list";
  return isMap(over) ? "map" : isSet(over) ? "set" : null;
}

/** Returns whether an iterator is the one that the engine creates for a typed array of its own classes. */
export function isOfTypedArray(iterator: object, over: unknown): boolean {
  if (!isTypedArray(over) || getPrototypeOf(iterator) !== iteratorsOfLists) return false;
  const own = getPrototypeOf(over), shared = own && getPrototypeOf(own);
  const isPlain = ![over, own].some((each) => each && getOwnPropertyDescriptor(each, Symbol.iterator));
  return isPlain && shared === typedArrays &&
    getOwnPropertyDescriptor(typedArrays, Symbol.iterator)?.value === valuesOfTyped;
}

/** The next item of an iterator; null at its end. */
export function take(kind: IteratedKind, iterator: object): { readonly value: unknown } | null {
  const next = NEXT[kind];
  if (typeof next !== "function") return null;
  const { done, value } = apply(next, iterator, []);
  return done ? null : { value };
}

/**
 * Returns the length of a list; undefined if only its own code determines it. A typed array without elements may have a
 * detached buffer, and then its iterators throw.
 */
export function lengthOf(list: object): number | undefined {
  if (isTypedArray(list)) {
    const length = apply(lengthOfTyped, list, []);
    return typeof length === "number" && length > 0 ? length : undefined;
  }
  const length: unknown = getOwnPropertyDescriptor(list, "length")?.value;
  return typeof length === "number" ? length : undefined;
}

/** The element of a list that is neither an accessor nor a hole. */
export function elementOf(list: object, index: number): { readonly value: unknown } | undefined {
  const found = getOwnPropertyDescriptor(list, index);
  return found && "value" in found ? { value: found.value } : undefined;
}

/** An iterator over a collection's entries after this many of them. */
export function entriesBehind(kind: "map" | "set", collection: object, index: number): object {
  const iterator: object = apply(entriesOf[kind], collection, []);
  for (let at = 0; at < index; at++) take(kind, iterator);
  return iterator;
}

/** Consumes the remaining entries of an iterator: afterwards it is at its end. */
export function entriesLeft(kind: "map" | "set", iterator: object): EntryLeft[] {
  const left: EntryLeft[] = [];
  for (let item = take(kind, iterator); item; item = take(kind, iterator)) {
    const { value } = item;
    if (isArray(value)) left[left.length] = [value[0], value[1]];
  }
  return left;
}

/** The characters of a text from a UTF-16 unit on, as its iterators yield them. */
export function charactersFrom(text: string, index: number): string[] {
  const characters: string[] = [];
  for (let at = index; at < text.length; at++) {
    const first = text[at] ?? "", second = text[at + 1] ?? "";
    const isPair = first >= "\ud800" && first < "\udc00" && second >= "\udc00" && second < "\ue000";
    characters[characters.length] = isPair ? first + second : first;
    if (isPair) at++;
  }
  return characters;
}
