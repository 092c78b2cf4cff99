/** Programs in the idioms of widespread JavaScript libraries. */
import { type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });

/** A map by derived keys, as libraries define it: by methods of its own, and by properties that are not listed. */
class KeyedMap extends Map<unknown, unknown> {
  declare readonly names: Map<unknown, unknown>;
  declare readonly keyOf: (key: unknown) => unknown;
  constructor(entries: Iterable<readonly [unknown, unknown]>, keyOf = (key: unknown) => `${key}`) {
    super();
    Object.defineProperties(this, { names: { value: new Map() }, keyOf: { value: keyOf, writable: true } });
    for (const [key, value] of entries) this.set(key, value);
  }
  override get(key: unknown): unknown {
    return super.get(this.names.get(this.keyOf(key)));
  }
  override set(key: unknown, value: unknown): this {
    const name = this.keyOf(key);
    if (!this.names.has(name)) this.names.set(name, key);
    return super.set(this.names.get(name), value);
  }
}

/** Collections whose constructors call methods of the program. */
class Doubling extends Set<number> {
  seen?: number[];
  override add(n: number): this {
    (this.seen ??= []).push(n);
    return super.add(n * 2);
  }
}
class Numbering extends Map<unknown, unknown> {
  override set(key: unknown, value: unknown): this {
    return super.set(key, [this.size, value]);
  }
}

/** A default that the module changes, which constructors can read only in their own calls. */
let defaults = { lr: 1 };
const setDefaults = (lr: number): unknown => defaults = { lr };

/** Constructors that share `this` with arrow functions, before and after it is initialised. */
class Emitter {
  readonly heard: number[] = [];
}
class Store extends Emitter {
  readonly lr: number;
  readonly next: () => number;
  constructor(n: number) {
    super();
    const settings = { ...defaults };
    this.lr = settings.lr * n;
    this.next = () => this.heard.push(this.lr);
  }
}
class LateStore extends Emitter {
  readonly lr: number;
  readonly shown: () => number;
  constructor(n: number) {
    const { lr } = defaults;
    super();
    this.lr = lr + n;
    this.shown = () => this.lr;
  }
}
class GivenStore extends Store {
  readonly later = () => this.lr + 1;
  constructor(n: number) {
    super(defaults.lr + n);
  }
}

/** Programs whose graphs need no break. */
export const idioms: Corpus = {
  "collections with a method that adds items, which their constructor calls"({ compile, see }) {
    const f = compile((x: Tensor, a: number) => {
      const map = new KeyedMap([[a, x], ["1", 2], [{}, 3]]), set = new Doubling([a, 2]);
      const numbers = new Numbering([[a, "a"], { 0: "b", 1: a }] as Iterable<[unknown, unknown]>);
      return [map.get(1), map, Object.keys(map), set, new Doubling().size, numbers];
    });
    for (const a of [1, 2, 1]) see(f(v(a), a));
  },
  "several properties defined at once, and copied with their descriptors"({ compile, see }) {
    const order: string[] = [];
    const f = compile((x: Tensor, n: number) => {
      const made = Object.defineProperties({ n }, {
        twice: {
          get(this: { n: number }) {
            return this.n * 2;
          },
          enumerable: true,
        },
        [Symbol.for("hidden")]: { value: x },
        get late() {
          order.push("late");
          return { value: n, writable: true };
        },
      });
      const copy: typeof made = Object.create(
        Object.getPrototypeOf(made),
        Object.getOwnPropertyDescriptors(made),
      );
      return [x.add(1), made, copy, Reflect.ownKeys(copy), Object.getOwnPropertyDescriptors([n])];
    });
    for (const n of [1, 2, 1]) see(f(v(n), n), order);
  },
  "objects where builtins want texts or numbers"({ compile, see }) {
    const loose = (value: unknown): never => value as never, number = /(\d)/g;
    const f = compile((x: Tensor, digits: number) => {
      const log: string[] = [], a = loose(new Format("a", digits, log)), b = loose(new Format("b", 2, log));
      const known = [isNaN(loose({})), isNaN(loose(new Date(NaN))), isFinite(a), parseFloat(loose(["5", 6]))];
      const tests = [1, "2", {}, a].map(Number.isInteger), parsed = ["1.5", "2"].map(parseFloat);
      const cut = ["a.12".slice(b), "a.2".indexOf(a, loose([0])), "-".padEnd(b, a), "x".repeat(b)];
      const borrowed = [String.prototype.trim.call([" a", "b "]), String.prototype.slice.call(a, 1)];
      return [x.add(digits), known, tests, parsed, cut, borrowed, encodeURIComponent(a), number.exec(a), log];
    });
    for (const digits of [1, 2, 1]) {
      number.lastIndex = 0;
      see(f(v(digits), digits), number.lastIndex);
    }
  },
  "arguments from objects with a length"({ compile, see }) {
    const kept = (function (..._given: number[]) {
      return arguments;
    })(1, 2, 3);
    const list = (...given: unknown[]): unknown[] => given, loose = (value: unknown): never => value as never;
    const f = compile((x: Tensor, bytes: Uint8Array, like: object) => [
      x.add(Math.max.apply(null, loose(bytes))),
      String.fromCharCode.apply(null, loose(bytes)),
      list.apply(null, loose(like)),
      Reflect.apply(list, null, kept),
      Reflect.construct(Map, loose({ length: 1, 0: [[1, 2]] })),
      list.apply(null, loose(new Float32Array([0.5, 2]))),
    ]);
    for (
      const like of [{ length: 2, 0: "a", 2: "c" }, { length: "1" }, {}, { length: -1 }, {
        length: 1.5,
        0: 1,
      }]
    ) {
      for (const bytes of [Uint8Array.of(65, 66), Uint8Array.of(67)]) see(f(v(1), bytes, like));
    }
  },
  "methods of arrays on other objects with a length, and arguments that were kept"({ compile, see }) {
    const { at, every, filter, forEach, includes, join, map, reduce, slice } = Array.prototype;
    const f = compile((x: Tensor, like: object) => {
      const seen: unknown[] = [], loose = like as never;
      Reflect.apply(forEach, loose, [(value: unknown, index: number, whole: unknown) => {
        seen.push(value, index, whole === like);
      }]);
      return [
        x.add(seen.length),
        seen,
        map.call(loose, (value) => [value]),
        filter.call(loose, (value) => value !== "a"),
        every.call(loose, (value) => value === "a"),
        reduce.call(loose, (sum, value) => `${sum}${value}`, ""),
        slice.call(loose, 1),
        [join.call(loose, "-"), includes.call(loose, "b"), at.call(loose, -1)],
      ];
    });
    const keep = function (..._: unknown[]): object {
      return arguments;
    };
    const likes = [{ length: 2, 0: "a", 1: "b" }, Object.freeze({ length: 1, 0: "a" }), keep("a", "b", "c")];
    for (const like of likes) for (let call = 0; call < 2; call++) see(f(v(1), like));
    const g = compile((x: Tensor, list: Iterable<unknown>) => [x.add(1), [...list], new Set(list)]);
    const { values } = Array.prototype;
    for (const first of ["a", "b"]) {
      see(g(v(1), keep(first, 2) as Iterable<unknown>));
      see(g(v(1), { length: 2, 0: first, [Symbol.iterator]: values } as Iterable<unknown>));
    }
  },
  "regular expressions made of others, with and without new"({ compile, see }) {
    const kept = /a(b)/gi;
    const f = compile((x: Tensor, word: string) => {
      const text = { toString: () => word }, list: string[] = [];
      const made = [
        RegExp(word),
        RegExp(kept, "y"),
        new RegExp(kept),
        new RegExp(kept, undefined),
        new RegExp(text as never),
      ];
      for (const each of made) list.push(`${each} ${each.lastIndex} ${each.test("xab")}`);
      return [x.add(1), list, made, RegExp(kept) === kept, RegExp("") instanceof RegExp];
    });
    for (const word of ["x", "b", "x"]) see(f(v(1), word));
  },
};

/** A format as libraries keep it: an object that is written as text where one is wanted. */
class Format {
  constructor(readonly type: string, readonly digits: number, readonly log: string[]) {}
  toString(): string {
    this.log.push(`text of ${this.type}`);
    return `${this.type}.${this.digits}`;
  }
  valueOf(): number {
    this.log.push(`value of ${this.type}`);
    return this.digits;
  }
}

/** Derived classes that end graphs before and after they call their parent's constructor. */
class Parsed extends Array<unknown> {
  constructor(text: string) {
    console.log("before");
    super();
    console.log("after", this.length);
    this.push(...text.split(","));
  }
}
class Named extends Parsed {
  name = "named";
  constructor(text: string) {
    super(text);
    console.log(this.name);
  }
}

/** Programs that may break the graph, but do what they do uncompiled. */
export const brokenIdioms: Corpus = {
  "constructors that share this with arrow functions, and read what their module changes"({ compile, see }) {
    for (const Made of [Store, LateStore, GivenStore]) {
      const f = compile((x: Tensor, n: number) => {
        const made = new Made(n);
        if (made instanceof Store) made.next();
        return [x.mul(made.lr), made.heard, made instanceof GivenStore && made.later()];
      });
      for (const n of [1, 2, 3]) see(f(v(1), n));
      setDefaults(2);
      for (const n of [1, 2, 3]) see(f(v(1), n));
      setDefaults(1);
    }
  },
  "constructors of derived classes that end the graph"({ compile, see }) {
    const f = compile((x: Tensor, text: string) => {
      const y = x.add(1), parsed = new Parsed(text), named = new Named(text);
      return [y.mul(parsed.length), parsed, named];
    });
    for (const text of ["a,b", "a", "a,b"]) see(f(v(1), text));
  },
  "definitions of several properties that are refused"({ compile, see, attempt }) {
    const fixed = Object.freeze({ a: 1 });
    const f = compile((x: Tensor, properties: PropertyDescriptorMap) => {
      const made: Record<string, unknown> = Object.defineProperty({}, "a", { value: 1 });
      let message = "";
      try {
        Object.defineProperties(made, properties);
      } catch (error) {
        message = `${error}`;
      }
      return [x.neg(), made, message];
    });
    const lists: unknown[] = [{ b: { value: 2 } }, { b: { value: 2 }, a: { value: 3 } }, {
      b: { value: 2 },
      c: 3,
    }];
    for (const list of lists) see(f(v(1), list as PropertyDescriptorMap));
    const g = compile((x: Tensor) => [x.neg(), Object.defineProperties(fixed, { b: { value: 2 } })]);
    attempt(() => g(v(1)));
  },
  "loops that end the graph over objects with the iterator of arrays"({ compile, see }) {
    const f = compile((x: Tensor, list: Iterable<unknown>) => {
      const seen: unknown[] = [];
      for (const each of list) {
        console.log(each);
        seen.push(each);
      }
      return [x.add(seen.length), seen];
    });
    const { values } = Array.prototype;
    for (const length of [2, 3]) {
      see(f(v(1), { length, 0: "a", 1: "b", [Symbol.iterator]: values } as Iterable<unknown>));
    }
  },
  "functions that leave keep their text, and strings that go on in the next line their value"(
    { compile, see },
  ) {
    const text = (between: string) =>
      `const join = (a) => "one \\
two" + a;
  ${between}
  function Empty() {
    }
  return [x.add(1), join, Empty, { method: (b) => {
          return join(b) + \`
  \`;
  }, get  plain () { return 1 }, set plain(to) { }, async * each() { }, 'a b' () { return super.c }, 1.50(){} }];`;
    for (const between of ["", "console.log('between');"]) {
      const f = compile(new Function("x", text(between)) as (x: Tensor) => unknown[]);
      for (let call = 0; call < 2; call++) {
        const [y, join, Empty, members] = f(v(call)) as [
          Tensor,
          (a: number) => string,
          object,
          Record<string, unknown>,
        ];
        const { method } = members;
        see(
          y,
          join(1),
          `${join}`,
          `${Empty}`,
          ...Object.values(Object.getOwnPropertyDescriptors(members)).flatMap((each) =>
            [each.value, each.get, each.set].map(String)
          ),
          Reflect.apply(method as typeof join, null, [call]),
        );
      }
    }
  },
};
