/** Programs whose arrays inherit elements: from their class, from an object, or from Object.prototype. */
import { type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });

type Use = (list: number[], of: ListClass) => unknown;

const USES: Readonly<Record<string, Use>> = {
  push: (list) => list.push(7, 8, 9),
  "write by index": (list) => list[4] = 7,
  "Reflect.set": (list) => Reflect.set(list, "4", 7),
  unshift: (list) => list.unshift(0, 1),
  splice: (list) => list.splice(1, 1, 5, 6, 7),
  fill: (list) => list.fill(4, 1),
  "methods that give lists": (list) => [list.map((e) => e + 1), list.concat([7, 8]), list.slice(1)],
  "static methods": (_, of) => [of.from([1, 2, 3, 4, 5, 6]), of.of(1, 2, 3, 4, 5, 6)],
  reads: (list) => [list[4], list.at(4), 4 in list, list.includes(70), [...list], list.join()],
  "a hole": (list) => (delete list[2], list[2]),
  longer: (list) => (list.length = 6, list.reduce((sum, each) => sum + each, 0)),
};

const ways = (log: unknown[]): Readonly<Record<string, PropertyDescriptor>> => ({
  "read-only": { value: 70 },
  accessor: { get: () => 70, set: (value) => void log.push(value) },
});

/** Array, or a class of arrays. */
interface ListClass {
  from(items: readonly number[]): number[];
  of(...items: readonly number[]): number[];
}

interface Instance {
  readonly list: number[];
  readonly of: ListClass;
  /** The object from which the list inherits. */
  readonly from: object;
}

const kinds: Readonly<Record<string, () => Instance>> = {
  "a class": () => {
    class List extends Array<number> {}
    return { list: List.of(1, 2, 3), of: List, from: List.prototype };
  },
  "an object": () => {
    const from: object = Object.create(Array.prototype);
    return { list: Object.setPrototypeOf([1, 2, 3], from), of: Array, from };
  },
  "Object.prototype": () => ({ list: [1, 2, 3], of: Array, from: Object.prototype }),
};

/** Each use in calls before, with and after an inherited element, and in calls that began with one. */
function program(use: Use): Corpus[string] {
  return ({ compile, see }) => {
    const results: unknown[] = [];
    for (const make of Object.values(kinds)) {
      for (const begin of [0, 1]) {
        const log: unknown[] = [];
        for (const [way, descriptor] of Object.entries(ways(log))) {
          const f = compile((x: Tensor, { list, of }: Instance) => {
            const y = x.add(1);
            log.push(way);
            return [y.mul(2), use(list, of), y];
          });
          for (let i = begin; i < 3; i++) {
            const instance = make(), { from } = instance;
            if (i === 1) {
              Object.defineProperty(from, "4", { ...descriptor, configurable: true, enumerable: true });
            }
            let got: unknown;
            try {
              got = f(v(i), instance);
            } catch (error) {
              got = error;
            } finally {
              Reflect.deleteProperty(from, "4");
            }
            results.push([got, instance.list, log.splice(0)]);
          }
        }
      }
    }
    see(results);
  };
}

export const inheritedElements: Corpus = Object.fromEntries(
  Object.entries(USES).map(([name, use]) => [`arrays that inherit an element: ${name}`, program(use)]),
);
