/** Contents of maps and sets. Invariant: nothing with which a program replaces a builtin is called. */
import { types } from "node:util";
import { invariant } from "./errors.ts";

const { apply } = Reflect;
const { keys, values } = Map.prototype, { values: members } = Set.prototype;
const { next: nextOfMap } = new Map().keys(), { next: nextOfSet } = new Set().values();

/** The keys of a map, in order. */
export function keysOf<K>(map: ReadonlyMap<K, unknown>): K[] {
  return drained(apply(keys, map, []), nextOfMap);
}

/** The values of a map, in order. */
export function valuesOf<V>(map: ReadonlyMap<unknown, V>): V[] {
  return drained(apply(values, map, []), nextOfMap);
}

/** The members of a set, in order. */
export function membersOf<T>(set: ReadonlySet<T>): T[] {
  return drained(apply(members, set, []), nextOfSet);
}

const { get: getValue, has: hasEntry } = Map.prototype, { has: hasMember } = Set.prototype;

function sizeGetter<C>(of: object): (collection: C) => number {
  const getter = Reflect.getOwnPropertyDescriptor(of, "size")?.get;
  invariant(getter, "Expected a getter");
  return Function.prototype.call.bind(getter);
}

/** The number of entries of a map, whatever it has under the name `size`. */
export const sizeOfMap: (map: ReadonlyMap<unknown, unknown>) => number = sizeGetter(Map.prototype);
/** The number of members of a set, whatever it has under the name `size`. */
export const sizeOfSet: (set: ReadonlySet<unknown>) => number = sizeGetter(Set.prototype);
const { isMap, isSet } = types;

/** The value of a key of a map. */
export function valueFor<K, V>(map: ReadonlyMap<K, V>, key: K): V | undefined {
  return apply(getValue, map, [key]);
}

/** The value of a key; undefined if there is none, or if the value is not a Map. */
export function valueAtKey(map: unknown, key: unknown): unknown {
  return isMap(map) ? apply(getValue, map, [key]) : undefined;
}

/** Returns whether a Map or Set has a key; undefined for other values. */
export function hasKey(collection: unknown, key: unknown): boolean | undefined {
  if (isMap(collection)) return apply(hasEntry, collection, [key]);
  return isSet(collection) ? apply(hasMember, collection, [key]) : undefined;
}

/** The number of entries of a Map or Set; undefined for other values. */
export function sizeOf(collection: unknown): number | undefined {
  if (isMap(collection)) return sizeOfMap(collection);
  return isSet(collection) ? sizeOfSet(collection) : undefined;
}

function drained<T>(iterator: Iterator<T>, next: Iterator<T>["next"]): T[] {
  const found: T[] = [];
  for (;;) {
    const { done, value } = apply(next, iterator, []);
    if (done) return found;
    found[found.length] = value;
  }
}

/** Descriptors of methods, which are defined: assigning to a name that the program has frozen in a prototype throws. */
function methods(of: object, names: readonly string[]): PropertyDescriptorMap {
  const found: PropertyDescriptorMap = {};
  for (const name of names) {
    found[name] = { value: Reflect.get(of, name), writable: true, configurable: true };
  }
  return found;
}

const { defineProperties } = Object;
const ofWeakMaps = methods(WeakMap.prototype, ["get", "set", "has", "delete"]);

/** Creates a WeakMap with methods of its own. */
export function ownWeakMap<K extends WeakKey, V>(): WeakMap<K, V> {
  return defineProperties(new WeakMap<K, V>(), ofWeakMaps);
}

const ofMaps = methods(Map.prototype, ["get", "set", "has", "delete"]);

/** Creates a Map with methods of its own for single entries. */
export function ownMap<K, V>(): Map<K, V> {
  return defineProperties(new Map<K, V>(), ofMaps);
}

const ofSets = methods(Set.prototype, ["add", "has"]);

/** Creates a Set that members are added to and looked for by methods of its own. */
export function ownSet<T>(): Pick<Set<T>, "add" | "has"> {
  return defineProperties(new Set<T>(), ofSets);
}

const ofWeakSets = methods(WeakSet.prototype, ["add", "has", "delete"]);

/** Creates a WeakSet with methods of its own. */
export function ownWeakSet<T extends WeakKey>(): WeakSet<T> {
  return defineProperties(new WeakSet<T>(), ofWeakSets);
}
