/**
 * Maps and Sets from outside with more entries than are listed: keys that are looked up, written, deleted and put
 * again, by draw, and then all of the entries.
 */
import { compiler, type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const one = tensor([1, 2], { dtype: "float32" });
const look = compiler.disable(() => {});

type Key = number | string | object | undefined;

/** Keys that are there, that are not, and some that are equal to others. */
const OBJECTS = [{}, {}];
const KEYS: readonly Key[] = [0, -0, 3, 90, 200, NaN, "3", "k5", "none", undefined, ...OBJECTS];

const entries = (): [Key, unknown][] => [
  ...Array.from({ length: 70 }, (_, i): [Key, unknown] => [i, i * 0.5]),
  ["k5", one.add(1)],
  [OBJECTS[0], "object"],
  [undefined, undefined],
];

type Step = (map: Map<Key, unknown>, set: Set<Key>, key: Key) => unknown;

const STEPS: readonly Step[] = [
  (map, set, key) => [map.get(key), set.has(key)],
  (map, set, key) => [map.has(key), map.has(key) === set.has(key)],
  (map, set, key) => [map.set(key, key).size, set.add(key).size],
  (map, set, key) => [map.delete(key), set.delete(key), map.has(key)],
  (map, set, key) => [map.delete(key) && map.set(key, 8).get(key), set.delete(key) && set.add(key).has(key)],
  (map, set) => [map.size, set.size],
  (_map, _set, key) => (look(), key === 3),
  (map) => [...map.keys()].indexOf(3),
  (map, set, key) => {
    let last: unknown;
    for (const [each, value] of map) {
      if (each === 2) map.delete(key);
      if (each === 3) map.set(key, value);
      last = [each, value];
    }
    return [last, [...set].at(-1), map.values().drop(60).toArray()];
  },
  (map, set) => (map.size < 80 ? null : (map.clear(), set.clear())),
];

/** The programs: each makes drawn steps over one Map and one Set, which later calls find changed. */
export const largeCollections: Corpus = Object.fromEntries(
  Array.from({ length: 6 }, (_, n) => [`large collections: steps by draw ${n}`, ({ compile, see }) => {
    let state = n * 7919 + 1;
    const draw = <T>(from: readonly T[]): T => {
      state = (state * 48271) % 2147483647;
      return from[state % from.length] as T;
    };
    // Steps that look at everything make the rest of a call ordinary
    const steps = Array.from(
      { length: 9 },
      (_, at) => [draw(at < 6 ? STEPS.slice(0, 7) : STEPS), draw(KEYS)] as const,
    );
    const f = compile((x: Tensor, map: Map<Key, unknown>, set: Set<Key>) => {
      const found = steps.map(([step, key]) => step(map, set, key));
      const value = map.get(3);
      return [x.mul(typeof value === "number" ? value : 2), found];
    });
    const map = new Map(entries()), set = new Set(map.keys());
    for (let i = 0; i < 3; i++) see(f(one, map, set), [...map], [...set]);
    map.set(3, 7.5);
    set.delete(90);
    see(f(one, map, set), [...map], [...set]);
  }]),
);
