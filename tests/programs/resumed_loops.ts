/**
 * Loops over lists that breaks interrupt, and lists that change meanwhile: who advances the iterator, and its items.
 */
import { compiler, type Tensor, tensor } from "../../mod.ts";
import type { World } from "../../cli/fuzz/language/observation.ts";
import { sampleBySeed } from "../support/sampling.ts";
import type { Corpus } from "../support/programs.ts";

const one = (value: number): Tensor => tensor([value], { dtype: "float32" });

/** Observations of plain code between two graphs. */
const seen: unknown[] = [];
const look = compiler.disable((what: unknown) => seen.push(what));
const change = compiler.disable((list: Tensor[], how: (list: Tensor[]) => void) => how(list));

type Loop = (list: Tensor[], y: Tensor) => unknown;

/** Calls a function on lists of several lengths, one of them twice, and shows its results, the lists and what was seen. */
function show({ compile, see, attempt }: World, fn: Loop, lengths = [3, 5, 0, 4, 3]): void {
  const f = compile(fn);
  for (const length of lengths) {
    const list = Array.from({ length }, (_, i) => one(i + 1));
    attempt(() => f(list, one(0.5)));
    see(...list, ...seen.splice(0));
  }
}

/** Goes through a list, and changes it in one way on the way. */
const changing = (how: (list: Tensor[], x: Tensor) => void): Loop => (list, y) => {
  const own = [...list];
  for (const x of own) {
    y = y.mul(2).add(x);
    look(own.length);
    how(own, x);
  }
  return [y, own.length];
};

/** Runs plain code. */
const act = compiler.disable((what: () => void) => what());

/** Changes of a Map by position and tensor, each without end if nothing else ends them. */
const CHANGES: readonly ((map: Map<number, Tensor>, i: number) => void)[] = [
  (map, i) => void map.set(i, one(i + 7)),
  (map, i) => void (map.size < 6 && map.set(map.size, one(i))),
  (map, i) => void map.delete(i),
  (map, i) => void map.delete(i + 1),
  (map, i) => void (i < 9 && map.delete(i) && map.set(i + 10, one(i))),
  (map, i) => {
    const x = map.get(i);
    map.delete(i);
    if (x && +map.keys().next().value! !== i && map.size > 1) map.set(i, x);
    map.delete([...map.keys()][0] ?? 0);
  },
  (map, i) => {
    if (i < 2) map.clear();
    if (i === 0) map.set(5, one(5)).set(6, one(6));
  },
];

const SOME_CHANGES = sampleBySeed(CHANGES, 2);

/** Goes through a Map, and changes it in one way on the way. */
const changingMap = (how: (map: Map<number, Tensor>, i: number) => void): Loop => (list, y) => {
  const own = new Map(list.map((x, i) => [i, x]));
  for (const [i, x] of own) {
    y = y.mul(2).add(x);
    look(own.size);
    how(own, i);
  }
  return [y, ...own.keys(), ...own.values()];
};

export const resumedLoops: Corpus = {
  "values, positions and both": (w) =>
    show(w, (list, y) => {
      for (const x of list) {
        y = y.add(x);
        if (+y.sum() > 3) y = y.neg();
      }
      for (const [i, x] of list.entries()) {
        look(i);
        y = y.add(x.mul(i + 1));
      }
      for (const i of list.keys()) look(i);
      return y;
    }),
  "one loop over positions or over values": ({ compile, see }) => {
    const f = compile((list: number[], how: boolean, y: Tensor) => {
      for (const x of how ? list.keys() : list.values()) {
        look(x);
        y = y.add(x);
      }
      return y;
    });
    for (const how of [true, false, true, false]) see(f([5, 6, 7], how, one(1)), ...seen.splice(0));
  },
  "lists that grow, shrink and turn in plain code": (w) => {
    show(w, changing((list) => change(list, (own) => own.length < 7 && own.push(one(own.length)))));
    show(w, changing((list) => change(list, (own) => own.length = 2)));
    show(w, changing((list) => change(list, (own) => void own.reverse())));
  },
  "lists that change in the graph": (w) => {
    show(w, changing((list, x) => void (list.length < 7 && list.push(x.mul(2)))));
    show(w, changing((list) => void list.pop()));
    show(w, changing((list, x) => void (list[(list.indexOf(x) + 1) % list.length] = x.mul(3))));
    show(w, changing((list) => void list.shift()));
  },
  "loops in loops, over one list and two": (w) =>
    show(w, (list, y) => {
      for (const x of list) {
        for (const z of list.slice(0, 2)) {
          y = y.add(z.mul(x));
          look("inner");
        }
        for (const z of list) if (z === x) look("same");
      }
      return y;
    }),
  "loops that are left": (w) =>
    show(w, (list, y) => {
      try {
        for (const x of list) {
          look("first");
          y = y.add(x);
          if (seen.length > 2) break;
        }
        for (const x of list) {
          try {
            look("second");
            if (seen.length % 2 === 0) continue;
            y = y.mul(x);
          } finally {
            look("finally");
          }
          if (seen.length > 9) throw new RangeError("enough");
        }
      } catch (error) {
        look(`${error}`);
      }
      for (const x of list) {
        look("third");
        return y.sub(x);
      }
      return y;
    }),
  "iterators that the program has": (w) =>
    show(w, (list, y) => {
      const values = list[Symbol.iterator](), held = { entries: list.entries() };
      for (const x of values) {
        y = y.add(x);
        look("values");
        const { value, done } = values.next();
        if (!done) y = y.mul(value);
      }
      let kept: IterableIterator<number>;
      for (const i of (kept = list.keys())) {
        look(i);
        kept.next();
      }
      for (const [i, x] of held.entries) {
        look(i);
        y = y.add(x);
        look(held.entries.next().done);
      }
      return y;
    }),
  "iterators that methods return, some of which keep them": (w) => {
    const kept: { by: ArrayIterator<Tensor> | null } = { by: null };
    const itself = <T extends ArrayIterator<Tensor>>(values: T): T => {
      kept.by = values;
      return values;
    };
    const cache = new Map<string, ArrayIterator<Tensor>>();
    const ways: readonly ((list: Tensor[]) => Iterable<Tensor>)[] = [
      (list) => list.values(),
      (list) => ({ [Symbol.iterator]: () => list.slice().values() }),
      (list) => ({ [Symbol.iterator]: () => itself(list.values()) }),
      (list) => ({ [Symbol.iterator]: () => kept.by = list.values() }),
      (list) => (kept.by = list.values(), kept.by),
      (list) => cache.getOrInsertComputed("values", () => list.values()),
      (list) => itself(list.values()),
      (list) => {
        const named = list.values();
        try {
          return named;
        } finally {
          kept.by = named;
        }
      },
    ];
    for (const way of ways) {
      show(w, (list, y) => {
        cache.clear();
        kept.by = null;
        for (const x of way(list)) {
          y = y.mul(0.5).add(x);
          act(() => look((kept.by ?? cache.get("values"))?.next().done));
        }
        return y;
      }, [5, 2]);
    }
  },
  "holes and getters": ({ compile, see }) => {
    const f = compile((y: Tensor) => {
      const list = [1, 2, 3, 4];
      delete list[1];
      Object.defineProperty(list, 2, { get: () => seen.push("get") });
      for (const x of list) {
        y = y.add(x ?? 7);
        look(x);
      }
      return y;
    });
    for (let i = 0; i < 2; i++) see(f(one(1)), ...seen.splice(0));
  },
  "only the first round breaks": (w) =>
    show(w, (list, y) => {
      let isFirst = true;
      for (const x of list) {
        if (isFirst) look("first");
        isFirst = false;
        y = y.add(x);
      }
      return y;
    }),
  "a generator and an async function that loop": async ({ compile, see }) => {
    const give = compile(function* (list: Tensor[]) {
      for (const [i, x] of list.entries()) {
        yield x.mul(i);
        look(i);
        if (list.length < 4) list.push(x.neg());
      }
    });
    const wait = compile(async (list: Tensor[], y: Tensor) => {
      for (const x of list) {
        look(await Promise.resolve("waited"));
        y = y.add(x);
      }
      return y;
    });
    for (let i = 0; i < 2; i++) {
      const list = [one(1), one(2)];
      see(...give(list), await wait(list, one(0.5)), ...seen.splice(0));
    }
  },
  "entries, keys and values of a Map, members of a Set": (w) =>
    show(w, (list, y) => {
      const map = new Map(list.map((x, i) => [i, x])), set = new Set(list);
      for (const [i, x] of map) {
        y = y.add(x.mul(i + 1));
        if (+y.sum() > 3) y = y.neg();
      }
      for (const x of map.values()) {
        look(map.size);
        y = y.mul(x);
      }
      for (const i of map.keys()) look(i);
      for (const [x, z] of set.entries()) {
        look(x === z);
        y = y.add(x).sub(z);
      }
      for (const x of set) if (+x.sum() !== 2) y = y.add(x);
      return y;
    }),
  "Maps that change in plain code": (w) => {
    for (const how of SOME_CHANGES) show(w, changingMap((map, i) => act(() => how(map, i))), [3]);
  },
  "Maps that change in the graph": (w) => {
    for (const how of SOME_CHANGES) show(w, changingMap(how), [3]);
  },
  "Sets that change in the graph and in plain code": (w) => {
    const changingSet = (run: (act: () => void) => void): Loop => (list, y) => {
      const own = new Set(list);
      let rounds = 0;
      for (const x of own) {
        y = y.mul(2).add(x);
        look(own.size);
        run(() => {
          own.delete(x);
          if (++rounds < 6) own.add(rounds % 2 === 0 ? x : x.neg());
        });
        if (own.size === 2) own.clear();
      }
      return [y, own.size];
    };
    show(w, changingSet((run) => run()), [3]);
    show(w, changingSet(act), [3]);
  },
  "characters of a text and what is handed in": ({ compile, see }) => {
    const f = compile(function (text: string, _y: Tensor) {
      let y = _y;
      for (const each of text) {
        y = y.mul(2).add(each.length);
        look(each);
      }
      for (const each of arguments) look(typeof each);
      for (const each of new Int8Array([1, 2, 3])) {
        look(each);
        y = y.sub(each);
      }
      return y;
    });
    for (const text of ["ab", "a\u{1f600}b\ud83dc", ""]) see(f(text, one(1)), ...seen.splice(0));
  },
  "typed arrays that are handed in": ({ compile, see }) => {
    const f = compile((list: Iterable<number | bigint>, y: Tensor) => {
      for (const each of list) y = y.mul(2).add(Number(each));
      const [first, ...others] = list;
      return [y, first, others, Array.from(list, (each) => y.add(Number(each)))];
    });
    const noted = new Int16Array([4, 5]), shown = [0.5, 1.5, 2.5];
    Object.defineProperty(noted, Symbol.iterator, { value: () => [7, 8, look("own")].values() });
    const heirs = new (class extends Float64Array {})([1, 2]);
    const lists = [
      new Uint8Array([3, 4, 5]),
      new Float32Array(shown),
      new Uint8Array([6, 7, 8]),
      noted,
      heirs,
    ];
    for (const list of [...lists, new BigInt64Array([1n]), new Int8Array(0)]) {
      see(f(list, one(1)), ...seen.splice(0));
    }
  },
  "a program that replaces how arrays give their items": ({ compile, see }) => {
    const kind: { next: () => unknown } = Object.getPrototypeOf([][Symbol.iterator]()), { next } = kind;
    const f = compile((list: Tensor[], y: Tensor) => {
      for (const x of list) {
        y = y.add(x);
        look("round");
      }
      return y;
    });
    const call = () => f([one(1), one(2), one(3)], one(0.5));
    see(call(), call(), ...seen.splice(0));
    kind.next = function (this: unknown) {
      seen.push("next");
      return Reflect.apply(next, this, []);
    };
    try {
      see(call());
    } finally {
      kind.next = next;
    }
    see(call(), ...seen.splice(0));
  },
  "a set that changes in its loop, known in one call and not in another": ({ compile, see }) => {
    const f = compile((y: Tensor, set: Set<number>) => {
      const passed: number[] = [];
      for (const n of set) {
        passed.push(n);
        if (n < 4) set.add(n + 3);
        set.delete(n - 1);
        look("round");
        if (n === 5) {
          set.delete(1);
          set.add(1);
        }
      }
      return [y.add(passed.length), passed];
    });
    for (const members of [[1, 2], [1, 2], [3, 4, 5], [1, 2]]) see(f(one(1), new Set(members)));
    see(...seen.splice(0));
  },
};
