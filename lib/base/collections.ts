/** Contents of maps and sets. Invariant: nothing with which a program replaces a builtin is called. */

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

function drained<T>(iterator: Iterator<T>, next: Iterator<T>["next"]): T[] {
  const found: T[] = [];
  for (;;) {
    const { done, value } = apply(next, iterator, []);
    if (done) return found;
    found[found.length] = value;
  }
}

const { get, set, has, delete: remove } = WeakMap.prototype;

/** Creates a WeakMap with methods of its own. */
export function ownWeakMap<K extends WeakKey, V>(): WeakMap<K, V> {
  return Object.assign(new WeakMap<K, V>(), { get, set, has, delete: remove });
}

const { add: addMember, has: hasMember } = Set.prototype;

/** Creates a Set that members are added to and looked for by methods of its own. */
export function ownSet<T>(): Pick<Set<T>, "add" | "has"> {
  return Object.assign(new Set<T>(), { add: addMember, has: hasMember });
}

const { add, has: contains, delete: drop } = WeakSet.prototype;

/** Creates a WeakSet with methods of its own. */
export function ownWeakSet<T extends WeakKey>(): WeakSet<T> {
  return Object.assign(new WeakSet<T>(), { add, has: contains, delete: drop });
}
