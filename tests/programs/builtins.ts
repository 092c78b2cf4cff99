/** Programs with rare uses of builtins. */
import { type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });

/** The name of the error that each function throws. */
function errors(...runs: readonly (() => unknown)[]): unknown[] {
  return runs.map((run) => {
    try {
      return ["no error", run()];
    } catch (error) {
      return error instanceof Error ? error.name : error;
    }
  });
}

/** Values that the types of builtins do not allow. */
const loose = (value: unknown): never => value as never;

/** Programs that may break the graph, but do what they do uncompiled. */
export const builtins: Corpus = {
  "stacks that are captured for other objects, own methods of sets, and iterators without a method"(
    { compile, see },
  ) {
    class Everything extends Set<number> {
      override has(): boolean {
        return true;
      }
    }
    const f = compile((x: Tensor, counter: { i: number; next(): IteratorResult<number> }) => {
      const holder: { stack?: string } = {}, error = new Error("a"), all = new Everything([2]);
      Error.captureStackTrace(holder);
      Error.captureStackTrace(error, Error);
      let sum = 0;
      Iterator.from(counter).forEach((n) => sum += n);
      const sets = [new Set([5]).isSubsetOf(all), new Set([1]).intersection(all).size];
      return [x.mul(sum), typeof holder.stack, error.message, sets];
    });
    const counter = () => ({
      i: 0,
      next(): IteratorResult<number> {
        return { value: this.i, done: this.i++ > 2 };
      },
    });
    see(f(v(1), counter()), f(v(2), counter()));
  },
  "symbols where texts are wanted"({ compile, see }) {
    const f = compile((x: Tensor) => [
      x.add(1),
      errors(
        () => Reflect.apply(String.prototype.replace, Symbol(), ["a", "b"]),
        () => ["a", "b"].join(loose(Symbol())),
        () => /a/.exec(loose(Symbol())),
        () => new RegExp(loose(Symbol())),
        () => JSON.parse(loose(Symbol())),
        () => "abc".replace(loose(Symbol()), () => ""),
        () => Error.prototype.toString.call({ name: "a", message: loose(Symbol()) }),
      ),
    ]);
    see(f(v(1)), f(v(2)));
  },
  "the texts of objects that are like errors"({ compile, see }) {
    const text = (error: object) => Error.prototype.toString.call(loose(error));
    const f = compile((x: Tensor) => [
      x.add(1),
      text({}),
      text({ name: "", message: "only this" }),
      text({ name: null, message: 5 }),
      text({ message: { toString: () => "made" } }),
      Object.prototype.toString.call(TypeError.prototype),
    ]);
    see(f(v(1)), f(v(2)));
  },
  "argument lists that are missing or changed"({ compile, see }) {
    function changed(..._: unknown[]): unknown {
      const given = arguments;
      Object.defineProperty(given, "0", { get: () => "got" });
      return Reflect.apply((...all: unknown[]) => all, null, given);
    }
    const f = compile((x: Tensor) => [
      x.add(1),
      errors(
        () => Reflect.apply(Math.max, null, loose(null)),
        () => Reflect.construct(Array, loose(undefined)),
        () => Reflect.apply(Math.max, null, loose(1)),
      ),
      Math.max.apply(null, loose(undefined)),
      changed(1, 2),
    ]);
    see(f(v(1)), f(v(2)));
  },
  "prototypes of what constructors make for others"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const other = function () {};
      other.prototype = null;
      const date: Date = Reflect.construct(Date, [64], other);
      return [
        x.add(1),
        date.getTime(),
        Object.getPrototypeOf(Reflect.construct(Map, [], other)) === Map.prototype,
      ];
    });
    see(f(v(1)), f(v(2)));
  },
  "conversions of dates, lengths of bound functions, order of a function's keys"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const date = new Date(0), convert = (hint: unknown): unknown => date[Symbol.toPrimitive](loose(hint));
      function inherits() {}
      Object.setPrototypeOf(inherits, { length: 42 });
      Reflect.deleteProperty(inherits, "length");
      const listed = Object.assign(() => {}, { a: 1 });
      Object.defineProperty(listed, "length", { enumerable: true });
      return [
        x.add(1),
        convert("number"),
        errors(() => convert(undefined), () => convert("numbers")),
        Function.prototype.bind.call(inherits, null, 1).length,
        Object.keys(listed),
        errors(() => Object.setPrototypeOf(Object.prototype, Object.create(null))),
      ];
    });
    see(f(v(1)), f(v(2)));
  },
  "a method of regular expressions that the function replaces"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const original = RegExp.prototype[Symbol.match];
      RegExp.prototype[Symbol.match] = loose(function (this: RegExp) {
        return [this.source];
      });
      try {
        return [x.add(1), "target".match("string source")];
      } finally {
        RegExp.prototype[Symbol.match] = original;
      }
    });
    see(f(v(1)), f(v(2)));
  },
  "positions, lengths and callbacks that are none, and objects with numbers for keys"({ compile, see }) {
    const f = compile((x: Tensor) => [
      x.add(1),
      errors(
        () => [1, 2].at(loose(Symbol())),
        () => [1, 2].includes(1, loose(Symbol())),
        () => [1, 2].copyWithin(loose(1n), 0),
        () => [1, 2].flat(loose(Symbol())),
        () => new Map().forEach(loose({})),
        () => new Set().forEach(loose(1)),
        () => Array.from({ length: 2 ** 53 }),
      ),
      Reflect.apply(Array.prototype.toSpliced, { length: { valueOf: () => 2 }, 0: 0, 1: 1 }, [0, 0]),
    ]);
    see(f(v(1)), f(v(2)));
  },
  async "results of promises while lists have a method then"({ compile, see }) {
    const f = compile(async (x: Tensor) => {
      const y = x.add(1);
      Object.defineProperty(Array.prototype, "then", {
        value: (done: (value: unknown) => void) => done("then"),
        configurable: true,
      });
      let all: unknown;
      try {
        const made = Promise.allSettled([1]);
        all = made;
      } finally {
        await null;
        await null;
        await null;
        Reflect.deleteProperty(Array.prototype, "then");
      }
      return [y, await all];
    });
    see(await f(v(1)), await f(v(2)));
  },
  "raw numbers in JSON"({ compile, see }) {
    const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
    const f = compile((x: Tensor, raw: unknown) => [
      x.add(1),
      JSON.stringify({ raw }),
      JSON.stringify(
        { n: 9007199254740993n },
        (_, value) => typeof value === "bigint" ? rawJSON(`${value}`) : value,
      ),
    ]);
    see(f(v(1), rawJSON("9007199254740993")), f(v(2), rawJSON("1e400")));
  },
  "what Object.prototype.toString says of objects of the engine's classes"({ compile, see }) {
    const { toString } = Object.prototype;
    function given(..._: number[]): object {
      return arguments;
    }
    const kinds =
      () => [new Number(1), new String("a"), new Boolean(false), given(1), /a/, new Date(0), () => 1];
    const outside = kinds();
    const f = compile((x: Tensor) => [x.add(1), [...outside, ...kinds()].map((each) => toString.call(each))]);
    see(f(v(1)), f(v(2)));
  },
  async "arguments that iterators get, and classes made where they may not be ready"({ compile, see }) {
    class Refusal {
      constructor(readonly of: number) {}
    }
    const counted = { counts: [] as number[] };
    const given = {
      [Symbol.iterator]() {
        return {
          next(...all: unknown[]) {
            counted.counts.push(all.length);
            return { done: true as const, value: undefined };
          },
        };
      },
    };
    const f = compile(async (x: Tensor) => {
      const y = x.add(1);
      for await (const _ of given);
      function* refused() {
        yield Promise.reject(new Later(2));
      }
      async function* outer() {
        yield* refused();
      }
      class Later extends Refusal {}
      const first = outer().next();
      try {
        await first;
      } catch (error) {
        return [y, (error as Refusal).of, error instanceof Later];
      }
      return y;
    });
    see(await f(v(1)), await f(v(2)), counted.counts);
  },
  "classes of iterators that builtins return"({ compile, see }) {
    const tag = (value: unknown): unknown => Object.prototype.toString.call(value);
    const f = compile((x: Tensor, text: string) => [
      x.add(1),
      tag(text.matchAll(/./g)),
      tag(new URLSearchParams(text).entries()),
      tag(new Intl.Segmenter().segment(text)[Symbol.iterator]()),
      Object.getPrototypeOf(text.matchAll(/./g)) === Object.getPrototypeOf([].values()),
      Object.getPrototypeOf(new URLSearchParams(text).keys()) === Object.getPrototypeOf([].values()),
      [...`${text.matchAll(/./g)}`].length,
      [text.matchAll(/./g).next().value?.[0], new URLSearchParams(text).values().next().value],
    ]);
    see(f(v(1), "a=1"), f(v(2), "b=2"));
  },
  "methods of iterators that are called with iterators of other classes"({ compile, see }) {
    const uses: readonly (() => unknown)[] = [
      () => Reflect.apply([1].values().next, "ab".matchAll(/./g), []),
      () => Reflect.apply("ab".matchAll(/./g).next, [1].values(), []),
      () => Reflect.apply([1].values().next, new Map([[1, 2]]).keys(), []),
      () => Reflect.apply(new Set([1]).values().next, new Map([[1, 2]]).keys(), []),
      () => Reflect.apply("ab"[Symbol.iterator]().next, ["a"].values(), []),
      () => Reflect.apply(new URLSearchParams("a").keys().next, ["a"].values(), []),
      () => Reflect.apply(doubled().next, [1].values().map((e) => e), []),
      () => Reflect.apply(doubled().return, [1].values().take(1), [3]),
      () => Reflect.apply([1].values().drop(0).next, doubled(), []),
      () => Reflect.apply([1].values().map((e) => e).next, [1].values().filter(() => true), []),
    ];
    function* doubled() {
      yield 2;
    }
    for (const use of uses) {
      const f = compile((x: Tensor) => [x.add(1), errors(use)]);
      see(f(v(1)), f(v(2)));
    }
  },
  "parameters of a URL that change while they are iterated"({ compile, see }) {
    const f = compile((x: Tensor, more: string) => {
      const given = new URLSearchParams("a=1&b=2&c=3"), keys: string[] = [];
      for (const key of given.keys()) {
        keys.push(key);
        given.delete(key);
      }
      const values = given.values(), first = values.next().value;
      given.append(more, "4");
      return [x.add(1), keys, first, [...values], [...given], String(given)];
    });
    see(f(v(1), "d"), f(v(2), "e"));
  },
  "writes to functions, classes and tensors that cannot be extended"({ compile, see }) {
    class Fixed {
      static count = 1;
    }
    const fixed: readonly object[] = [
      Object.freeze(() => 1),
      Object.preventExtensions(Fixed),
      Object.preventExtensions(v(1)),
      Object.defineProperty(v(1), "note", { value: 1, configurable: true }),
    ];
    const uses: readonly ((target: Record<PropertyKey, number>) => unknown)[] = [
      (target) => target["note"] = 2 as never,
      (target) => target[Symbol.for("note")] = 2 as never,
      (target) => (target["count"] as unknown as number)++,
    ];
    for (const target of fixed) {
      for (const use of uses) {
        const f = compile((
          x: Tensor,
          target: Record<PropertyKey, number>,
        ) => [x.mul(2), errors(() => use(target)), Fixed.count]);
        see(f(v(1), loose(target)), f(v(2), loose(target)));
      }
      const f = compile((x: Tensor, target: Record<PropertyKey, number>) => [
        x.mul(2),
        errors(() => Object.setPrototypeOf(target, null) === target),
        errors(() => Reflect.defineProperty(target, "late", { value: 1 })),
      ]);
      if (typeof target === "function") see(f(v(1), target as never), f(v(2), target as never));
    }
    const note = compile((
      x: Tensor,
      target: Record<PropertyKey, number>,
    ) => [x.mul(2), errors(() => target["note"] = 2 as never)]);
    const open: Record<PropertyKey, number> = loose(v(1));
    see(note(v(1), open), note(v(2), open));
    Object.defineProperty(open, "note", { writable: false });
    see(note(v(3), open), note(v(4), loose(Object.preventExtensions(v(1)))));
  },
  "errors of the engine that depend on what changes between calls"({ compile, see }) {
    const caught = (run: () => unknown): unknown => {
      try {
        return run();
      } catch {
        return "caught";
      }
    };
    type Given = { readonly text: string; readonly big: bigint; readonly n: number; readonly list: number[] };
    const uses: readonly ((x: Tensor, y: Tensor, given: Given) => unknown)[] = [
      (x, y) => x.add(y),
      (x, y) => x.unsqueeze(0).matmul(y.unsqueeze(1)),
      (x, _, { n }) => x.narrow(0, n, 1),
      (x, _, { n }) => x.sum(n - 2),
      (_x, _y, { text }) => JSON.parse(text),
      (_x, _y, { text }) => BigInt(text),
      (_x, _y, { big }) => 10n / big,
      (_x, _y, { n }) => "a".repeat(n),
      (_x, _y, { list }) => list.push(1),
      (_x, _y, { list }) => list.length = 1,
    ];
    const calls = [[3, 3, 1, 1, "1"], [3, 4, 2, 0, "2"], [4, 5, 7, 0, "{"], [5, 5, 3, 3, "3"], [
      6,
      7,
      -1,
      4,
      "[",
    ], [
      4,
      4,
      2,
      5,
      "4",
    ]] as const;
    for (const use of uses) {
      const f = compile((x: Tensor, y: Tensor, given: Given) => [x.mul(2), caught(() => use(x, y, given))]);
      for (const [i, [p, q, n, big, text]] of calls.entries()) {
        const list = i % 2 === 1 ? Object.freeze([1, 2]) : [1, 2];
        see(
          f(v(...Array(p).keys()), v(...Array(q).keys()), { text, big: BigInt(big), n, list: loose(list) }),
        );
      }
    }
  },
  "lists of values that have no iterator"({ compile, see }) {
    const made = (source: unknown, callback: (each: unknown, at: number) => unknown) =>
      errors(() => Array.from(loose(source), callback), () => Array.from(loose(source)));
    const values: unknown[] = [5, true, 1n, Symbol("s"), null, undefined, "ab", () => 1, (a: unknown) => a];
    values.push({ length: 1 }, new Date(0), /a/, new WeakMap(), new Set([2]));
    for (const value of values) {
      const f = compile((x: Tensor, n: number) => [x.mul(n), made(value, (each, at) => [each, at])]);
      see(f(v(1), 2));
      see(f(v(1), 3));
    }
  },
  "operations of sets, and groups, with what is none"({ compile, see }) {
    const others: unknown[] = [undefined, "ab", { size: 1 }, new Set([1, 3])];
    const run = (mine: readonly number[], other: unknown) => {
      const set = new Set(mine), to = loose(other);
      return errors(
        () => [...set.union(to)],
        () => [...set.intersection(to)],
        () => [...set.difference(to)],
        () => [...set.symmetricDifference(to)],
        () => set.isSubsetOf(to),
        () => set.isSupersetOf(to),
        () => set.isDisjointFrom(to),
      );
    };
    for (const mine of [[], [1, 2]]) {
      for (const other of others) {
        const f = compile((x: Tensor, n: number) => [x.mul(n), run(mine, other)]);
        see(f(v(1), 2));
      }
    }
    const message = (group: () => unknown): unknown => {
      try {
        return group();
      } catch (error) {
        return String(error);
      }
    };
    for (const items of [undefined, null, 5]) {
      const f = compile((x: Tensor) => [
        x.mul(2),
        message(() => Object.groupBy(loose(items), () => 1)),
        message(() => Map.groupBy(loose(items), () => 1)),
      ]);
      see(f(v(1)));
    }
  },
};
