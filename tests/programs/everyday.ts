/** Everyday programs: classes in functions, private members of new objects, sorting, lists. */
import { type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });

export class Meter {
  #total: Tensor;
  #count = 0;
  #log: string[] = [];
  static made = 0;
  constructor(start: Tensor) {
    this.#total = start;
    Meter.made++;
  }
  static sum(a: Meter, b: Meter): Tensor {
    return a.#total.add(b.#total);
  }
  static is(value: object): boolean {
    return #total in value;
  }
  add(by: Tensor): this {
    this.#total = this.#total.add(by);
    this.#note("add");
    return this;
  }
  addAll(all: readonly Tensor[]): this {
    all.forEach((each) => {
      this.#total = this.#total.add(each);
      this.#count++;
    });
    return this;
  }
  #note(what: string): void {
    this.#count++;
    this.#log.push(`${what}${this.#count}`);
  }
  get #mean(): Tensor {
    return this.#total.div(Math.max(1, this.#count));
  }
  set #mean(value: Tensor) {
    this.#total = value.mul(this.#count);
  }
  scaleMean(by: number): this {
    this.#mean = this.#mean.mul(by);
    return this;
  }
  state(): unknown[] {
    return [this.#total, this.#count, this.#log, this.#mean];
  }
}

export class LoudMeter extends Meter {
  #volume = 3;
  readonly kind = "loud";
  constructor(start: Tensor) {
    super(start.mul(2));
    this.#volume++;
  }
  override state(): unknown[] {
    return [this.#volume, ...super.state()];
  }
}

export class PlainHeir extends Meter {
  readonly own = [1];
}

class Queue {
  #items: Tensor[] = [];
  #next: Queue | null = null;
  count = 0;
  constructor(readonly most = 2) {}
  push(x: Tensor): this {
    if (this.#items.length < this.most) this.#items.push(x);
    this.count++;
    return this;
  }
  link(next: Queue): this {
    this.#next = next;
    return this;
  }
  state(): unknown[] {
    return [this.#items, this.#next === this, this.#next?.count];
  }
}

class NamedQueue extends Queue {
  #name;
  constructor(name: string, most: number) {
    super(most);
    this.#name = name;
  }
  #text(): string {
    return `${this.#name} ${this.count}`;
  }
  override state(): unknown[] {
    return [this.#text(), ...super.state()];
  }
}

/** Instances whose making shows. */
const made: unknown[] = [];
class Noted {
  #n = made.push("begun");
  set size(n: number) {
    made.push(n);
    this.#n += n;
  }
  constructor(size: number) {
    this.size = size;
  }
  get n(): number {
    return this.#n;
  }
}

/** Each evaluation makes a class with private names of its own. */
const vaultOf = (base: number) =>
  class {
    #held = base;
    static read(other: object): unknown {
      return #held in other ? (other as { peek?: unknown }).peek : "foreign";
    }
    get peek(): number {
      return this.#held;
    }
  };

export const everyday: Corpus = {
  "private members of objects that stay inside"({ compile, attempt }) {
    const uses: ((x: Tensor) => unknown)[] = [
      (x) => new Meter(x).add(x.mul(2)).state(),
      (x) => Meter.sum(new Meter(x), new Meter(x.add(1)).add(x)),
      (x) => [x.add(1), Meter.is(new Meter(x)), Meter.is({}), Meter.is(new LoudMeter(x))],
      (x) => new Meter(x).addAll([x, x.mul(3)]).scaleMean(4).state(),
      (x) => new LoudMeter(x).add(x).state(),
      (x) => new PlainHeir(x).add(x).state(),
      (x) => [x.mul(2), new LoudMeter(x).kind, Object.keys(new PlainHeir(x)), new Meter(x) instanceof Meter],
    ];
    for (const use of uses) {
      const f = compile(use);
      for (let i = 0; i < 3; i++) attempt(() => f(v(i, 2)));
    }
  },
  "private members of objects that leave"({ compile, attempt, see }) {
    const kept: Meter[] = [];
    const uses: ((x: Tensor) => unknown)[] = [
      (x) => new Meter(x.add(1)),
      (x) => {
        const meter = new Meter(x.mul(2));
        kept.push(meter);
        return meter.add(x).state();
      },
      (x) => {
        const meter = new LoudMeter(x).add(x);
        console.log(meter.state().length);
        return meter.add(x.mul(2)).state();
      },
      (x) => {
        const meter = new Meter(x);
        return () => meter.add(x).state();
      },
      (x) => {
        const meters = [new Meter(x), new Meter(x.add(1))];
        return meters.map((each) => Number(x.sum().item()) > 1 ? each.add(x).state() : each.state());
      },
    ];
    for (const use of uses) {
      const f = compile(use);
      for (let i = 0; i < 3; i++) {
        attempt(() => {
          const result = f(v(i, 2));
          return result instanceof Meter
            ? result.add(v(1, 1)).state()
            : typeof result === "function"
            ? result()
            : result;
        });
      }
    }
    see(kept.map((meter) => meter.state()));
  },
  "a URL that is changed, shown and walked through"({ compile, see }) {
    const f = compile((x: Tensor, k: number) => {
      const url = new URL(`https://a.b/c?a=1&k=${k}`);
      url.searchParams.set("a", "é");
      console.log(url.href);
      url.port = "81";
      for (const [name, value] of new URLSearchParams("b=1&c=2")) {
        console.log(name, value);
        x = x.add(1);
      }
      return [x, url.href, Reflect.ownKeys(new URL("https://a.b")).length];
    });
    for (const k of [1, 2]) see(f(v(k), k));
  },
  "making objects with private members has effects"({ compile, see }) {
    made.length = 0;
    const f = compile((x: Tensor, k: number) => {
      const y = x.add(1), noted = new Noted(k);
      made.push("made");
      return [y, noted, noted.n];
    });
    for (let k = 1; k < 4; k++) see(f(v(k), k), made);
  },
  "private names of two evaluations of one class"({ compile, attempt }) {
    const One = vaultOf(1), Two = vaultOf(2);
    const peekOf = Object.getOwnPropertyDescriptor(One.prototype, "peek")?.get ?? (() => 0);
    const uses: ((x: Tensor) => unknown)[] = [
      (x) => [x.add(new One().peek), x.add(new Two().peek)],
      (x) => [x.add(1), One.read(new Two()), Two.read(new Two())],
      (x) => [x.add(1), Reflect.apply(peekOf, new Two(), [])],
      (x) => [x.add(1), Reflect.apply(peekOf, new One(), []), Reflect.apply(peekOf, {}, [])],
      (x) => {
        const Here = class {
          #n = 1;
          static of(other: object) {
            return #n in other;
          }
        };
        return [x.add(1), Here.of(new Here()), Here.of(new One()), Here.of(x.shape)];
      },
    ];
    for (const use of uses) {
      const f = compile(use);
      for (let i = 0; i < 2; i++) attempt(() => f(v(i, 2)));
    }
  },
  "classes that are defined in functions"({ compile, attempt }) {
    const order: string[] = [];
    const uses: ((x: Tensor, n: number) => unknown)[] = [
      (x, n) => {
        class Point {
          readonly scale = n;
          constructor(readonly at: Tensor) {}
          get twice() {
            return this.at.mul(2);
          }
          set twice(value: Tensor) {
            order.push(`set ${value.ndim}`);
          }
          move(by: Tensor) {
            return new Point(this.at.add(by));
          }
          static origin = x.mul(0);
          static count = order.push("static");
          static from(t: Tensor) {
            return new this(t);
          }
        }
        const point = Point.from(x).move(Point.origin.add(1));
        point.twice = x;
        return [point.twice, point.scale, Point.name, Point.length, typeof Point, point instanceof Point];
      },
      (x) => {
        class Base {
          name() {
            return `base ${this.suffix()}`;
          }
          suffix() {
            return "b";
          }
          static kind() {
            return "kind";
          }
        }
        class Heir extends Base {
          extra = order.push("field");
          constructor(readonly k: number) {
            super();
            order.push(new.target.name);
          }
          override suffix() {
            return `${super.suffix()}h${this.k}`;
          }
          static override kind() {
            return `${super.kind()} of heir`;
          }
        }
        const heir = new Heir(3);
        return [x.add(heir.k), heir.name(), Heir.kind(), Object.keys(heir), heir.constructor === Heir];
      },
      (x) => {
        class Failure extends Error {
          override name = "Failure";
          constructor(readonly at: number) {
            super(`at ${at}`);
          }
        }
        try {
          throw new Failure(4);
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          return [x.mul(error.at), error.message, String(error), error instanceof Error];
        }
      },
      (x, n) => {
        class Failure extends Error {}
        if (n > 1) throw new Failure("too large");
        return x.add(n);
      },
      (x) => {
        class Counter {
          #n = 0;
          #step: number;
          constructor(step: number) {
            this.#step = step;
          }
          next() {
            return this.#advance().#n;
          }
          #advance() {
            this.#n += this.#step;
            return this;
          }
          get #half() {
            return this.#n / 2;
          }
          half() {
            return [1, 2].map((k) => this.#half * k);
          }
        }
        const counter = new Counter(3);
        return [x.add(counter.next()), x.mul(counter.next()), counter.half()];
      },
      (x) => {
        class List extends Array<number> {
          sum() {
            return this.reduce((a, b) => a + b, 0);
          }
        }
        const list = new List();
        list.push(1, 2, 3);
        return [x.mul(list.sum()), list.length];
      },
      (x) => {
        const mixin = (Base: new () => object) =>
          class extends Base {
            #own = 2;
            own() {
              return this.#own;
            }
          };
        return [x.add(1), new (mixin(Object))().own(), mixin(Object).name];
      },
      (x) => {
        class Leaves {
          constructor(readonly t: Tensor) {}
        }
        return [Object.keys(new Leaves(x.add(1))), Leaves];
      },
      (x) => {
        class Noisy {
          say(t: Tensor) {
            console.log("said", t.sum().item());
            return t.mul(2);
          }
        }
        const noisy = new Noisy();
        return noisy.say(noisy.say(x.add(1)));
      },
      (x) => {
        class Callable {}
        return [x.add(1), Reflect.apply(Callable as unknown as () => unknown, undefined, [])];
      },
      (x) => {
        const key = "a" + x.ndim;
        class Computed {
          [key]() {
            return 5;
          }
          static {
            order.push("block");
          }
        }
        return [x.add(1), Reflect.get(new Computed(), "a1").call(null)];
      },
    ];
    for (const use of uses) {
      const f = compile(use);
      for (let i = 1; i < 3; i++) {
        attempt(() => {
          const result = f(v(i, 2), i);
          return Array.isArray(result)
            ? result.map((each) => typeof each === "function" ? each.name : each)
            : result;
        });
      }
      attempt(() => order.join());
    }
  },
  "sorting by a comparator"({ compile, attempt, see }) {
    const calls: string[] = [];
    const noted = (a: number, b: number): number => {
      calls.push(`${a} ${b}`);
      return a - b;
    };
    const uses: ((x: Tensor, list: number[]) => unknown)[] = [
      (x, list) => [x.add(1), list.sort(noted)],
      (x, list) => [x.add(1), list.toSorted((a, b) => b - a), list],
      (x, list) => [x.add(1), list.toSorted(() => NaN), list.toSorted((a) => a % 2 ? -1 : 1)],
      (x, list) => list.map((n) => ({ n, t: x.mul(n) })).sort((a, b) => a.n - b.n).map(({ t }) => t),
      (x, list) => list.map((n) => x.mul(n)).sort((a, b) => Number(a.sum().item()) - Number(b.sum().item())),
      (x, list) =>
        list.sort((a, b) => {
          if (a === 3) throw new RangeError(`${a} ${b}`);
          return a - b;
        }).map((n) => x.add(n)),
      (x, list) => {
        const gaps = [...list, , undefined, 4, ,];
        gaps.sort((a, b) => Number(a) - Number(b));
        return [
          x.add(1),
          gaps,
          gaps.length,
          7 in gaps,
          [...list, , 2].toSorted((a, b) => Number(a) - Number(b)),
        ];
      },
      (x, list) => [x.add(1), list.sort(((_a: number, _b: number) => 1n) as never)],
      (x, list) => [x.add(1), list.sort(3 as never)],
      (x, list) => [x.add(1), list.copyWithin(0, 2), list.copyWithin(-2, 0, 1), list.toSpliced(1, 1, 9, 8)],
      (x, list) => [x.add(1), list.toSpliced(0), list.toSpliced(2), list.toSpliced(-1, 1)],
    ];
    for (const use of uses) {
      const f = compile(use);
      for (const list of [[3, 1, 2], [5, 4, 3, 2, 1], [2], [], [1, 2, 2, 1, 7, 0, 6, 3]]) {
        attempt(() => f(v(1, 2), [...list]));
      }
    }
    see(calls);
  },
  "helpers of iterators"({ compile, attempt, see }) {
    const log: string[] = [];
    function* counting(to: number): Generator<number> {
      try {
        for (let i = 0; i < to; i++) yield i;
      } finally {
        log.push(`closed ${to}`);
      }
    }
    const uses: ((x: Tensor, n: number) => unknown)[] = [
      (
        x,
        n,
      ) => [x.add(1), [1, 2, 3, 4].values().filter((a) => a % 2 === 0).map((a, i) => a * n + i).toArray()],
      (x, n) => [x.add(1), counting(9).drop(n).take(2).toArray(), counting(3).take(0).toArray()],
      (x) => [x.mul(counting(5).reduce((a, b) => a + b)), counting(3).reduce((a, b) => a + b, 10)],
      (
        x,
      ) => [
        x.add(1),
        counting(5).some((a) => a > 2),
        counting(5).every((a) => a < 2),
        counting(4).find((a) => a > 1),
      ],
      (
        x,
      ) => [
        x.add(1),
        counting(3).flatMap((a) => [a, a * 10]).toArray(),
        new Set([1, 2]).values().map((a) => a).toArray(),
      ],
      (x) => counting(4).map((a) => x.mul(a)).filter((_, i) => i > 1).toArray(),
      (x) => {
        const out: number[] = [];
        for (const each of counting(8).map((a) => a * 2)) {
          if (each > 5) break;
          out.push(each);
        }
        new Map([[1, 2]]).entries().forEach(([key, value]) => out.push(key, value));
        return [x.add(out.length), out];
      },
      (x) => {
        const items = counting(4).map((a) => {
          log.push(`item ${a}`);
          return a;
        });
        const first = items.next().value;
        log.push("taken");
        return [x.add(first ?? 0), items.return?.(undefined).done, items.next().done];
      },
      (x) => counting(3).map((a) => Number(x.sum().item()) > a ? x.mul(a) : x).toArray(),
      (x) => counting(5).map((a) => x.add(a)),
      (x) => {
        const lazy = counting(5).filter((a) => a > 1);
        console.log(lazy.next().value);
        return [x.add(1), lazy.next().value];
      },
      (x) => [x.add(1), counting(0).reduce((a, b) => a + b)],
      (x) => [x.add(1), counting(3).flatMap((() => 5) as never).toArray()],
      (x) => [x.add(1), counting(3).map(3 as never)],
      (x) => [x.add(1), counting(3).take(-1)],
      (
        x,
      ) => [
        x.add(1),
        Iterator.from([1, 2]).map((a) => a + 1).toArray(),
        Iterator.from(counting(2)).toArray(),
      ],
      (x) =>
        counting(3).map((a) => {
          if (a === 1) throw new RangeError("one");
          return x.add(a);
        }).toArray(),
    ];
    for (const use of uses) {
      const f = compile(use);
      for (let i = 1; i < 3; i++) {
        attempt(() => {
          const result = f(v(i, 2), i);
          return result instanceof Iterator ? result.toArray() : result;
        });
      }
      see(log.splice(0));
    }
  },
  "typed arrays of known numbers"({ compile, attempt }) {
    const uses: ((x: Tensor, n: number) => unknown)[] = [
      (x, n) => {
        const a = new Float32Array([1, 2.5, 3]);
        a[0] = n + 0.1;
        a[7] = 4;
        return [x.mul(a[1] ?? 0), a.length, a[7], a.reduce((p, q) => p + q, 0), a];
      },
      (
        x,
      ) => [
        x.add(1),
        new Float32Array(4).fill(2).map((z, i) => z * i),
        Array.from(new Uint8Array([300, -1, 1.7])),
      ],
      (x) => x.add(tensor(new Float32Array([1, 2]))),
      (x) => [x.add(1), tensor(new Int32Array([1, 2])).dtype, tensor(new Float64Array([1])).dtype],
      (x) => [x.add(1), [...new Int16Array([3, 4])], 1 in new Int8Array(2), 2 in new Int8Array(2)],
      (x, n) => {
        const counts = new Int32Array(3);
        for (let i = 0; i < 7; i++) counts[i % 3]! += n;
        for (const [at, each] of counts.entries()) x = x.add(at * each);
        return [
          x,
          counts,
          counts.slice(1),
          counts.at(-1),
          counts.indexOf(2 * n),
          counts.join("/"),
          `${counts}`,
        ];
      },
      (x) => {
        const a = Float64Array.of(1, -0, NaN, Infinity);
        a.set([5, 6], 1);
        a.reverse();
        return [
          x.add(a.length),
          a,
          a.toReversed(),
          a.with(0, 9),
          a.includes(5),
          a.find((e) => e > 1),
          Object.keys(a),
        ];
      },
      (x) => {
        const a = new Float32Array(2);
        console.log(a);
        a[1] = 3;
        const b = a;
        console.log(b[1], x.sum().item());
        return [x.add(1), a === b, a.buffer.byteLength, a.subarray(1)];
      },
      (x) => {
        const a = new Float32Array(2);
        a[0] = Number(x.sum().item());
        return [x.add(1), a];
      },
      (x) => [x.add(1), new Float32Array(-1)],
      (x) => [x.add(1), new Float32Array([1n as never])],
      (x) => [x.add(1), new Int8Array(2).set([1, 2, 3])],
      (
        x,
      ) => [
        x.add(1),
        JSON.stringify(new Int8Array(2)),
        { ...new Int8Array(1) },
        new Int8Array(2) instanceof Int8Array,
      ],
      (x) => [x.add(1), Object.freeze(new Int8Array(2))],
      (x) => [x.add(1), [1, 2].toString(), String([3])],
    ];
    for (const use of uses) {
      const f = compile(use);
      for (let i = 1; i < 3; i++) attempt(() => f(v(1, 2), i));
    }
  },
  "weak collections"({ compile, attempt, see }) {
    const cache = new WeakMap<{ n?: number }, number>(), seen = new WeakSet<object>();
    const keys = [{ n: 1 }, { n: 2 }];
    const uses: ((x: Tensor, key: { n: number }) => unknown)[] = [
      (x, key) => {
        const local = new WeakMap<object, number>([[key, 3]]), other = {};
        local.set(other, 4).delete(other);
        return [
          x.mul(local.get(key) ?? 0),
          local.has(other),
          local.get(other),
          new WeakSet<object>([key]).has(key),
        ];
      },
      (x, key) => {
        if (!cache.has(key)) cache.set(key, key.n * 10);
        return x.add(cache.get(key) ?? 0);
      },
      (x, key) => {
        const isNew = !seen.has(key);
        seen.add(key);
        return [x.add(1), isNew, seen.has(key), seen.has({}), cache.get({})];
      },
      (x, key) => [x.add(1), cache.delete(key), cache.has(key)],
      (x) => [x.add(1), cache.get(3 as never), new WeakMap().set(3 as never, 1)],
      (x, key) => {
        const held = new WeakMap([[key, x]]);
        return [x.add(1), held, held.get(key)];
      },
      (x) => {
        cache.set({}, 1);
        return [x.add(1), WeakMap.prototype.get.call(new WeakSet(), {})];
      },
    ];
    for (const use of uses) {
      const f = compile(use);
      for (const key of [...keys, ...keys]) {
        attempt(() => f(v(1, 2), key));
        see(cache.get(key), seen.has(key));
      }
    }
  },
  "regular expressions"({ compile, attempt }) {
    const words = /(?<word>[a-z]+)(\d)?/, digits = /\d/g, own = Object.assign(/x/, { exec: () => null });
    const uses: ((x: Tensor, text: string) => unknown)[] = [
      (x, text) => {
        const match = /([a-z])(\d)?/.exec(text);
        return [x.add(match?.index ?? 7), match, match?.groups, match?.input];
      },
      (x, text) => [x.add(1), words.exec(text), words.exec(text)?.groups, words.test(text)],
      (x, text) => {
        const each = /[a-z]\d/g;
        const seen: unknown[] = [each.lastIndex];
        while (each.test(text)) seen.push(each.lastIndex);
        return [x.add(seen.length), seen, each.source, each.flags, each.global, String(each), each.sticky];
      },
      (
        x,
        text,
      ) => [x.add(1), text.replace(/\d/g, (d, at) => `<${d}@${at}>`), text.replaceAll("b", (b) => b + b)],
      (x, text) => text.replace(/[a-z]/, (a) => `${x.sum().item()}${a}`),
      (
        x,
        text,
      ) => [x.add(1), text.match(digits), text.replace(digits, "#"), text.split(digits), text.search(digits)],
      (x, text) => [x.add(1), digits.test(text), digits.lastIndex],
      (x, text) => [x.add(1), [...text.matchAll(/([a-z])(\d)/g)].map(([whole, a, b]) => [whole, a, b])],
      (x, text) => [x.add(1), own.test(text), text.match(own), text.match("b"), text.match(/\d/g)],
      (x, text) => {
        const found = new RegExp("(\\d)", "y");
        found.lastIndex = 1;
        return [x.add(1), found.exec(text), found.lastIndex, found];
      },
      (x) => [x.add(1), new RegExp("(".slice(0))],
      (x) => {
        const like = { source: "a.c", flags: "i", [Symbol.match]: true, constructor: RegExp };
        const made = new RegExp(like as never), same: unknown = RegExp(like as never);
        return [x.add(1), made.source, made.flags, same === like];
      },
      (x, text) => {
        class Like {
          source = text;
          get [Symbol.match]() {
            return 1;
          }
        }
        return [x.add(1), new RegExp(new Like() as never, "g").source];
      },
      (
        x,
      ) => [
        x.add(1),
        /a/.exec("b"),
        /a/ instanceof RegExp,
        Object.prototype.toString.call(/a/),
        /a/.lastIndex,
      ],
      (
        x,
        text,
      ) => [
        x.add(1),
        text.replace(/(?<n>\d)/, "[$<n>]"),
        text.replace(/(?<n>\d)/, (...all) => typeof all.at(-1)),
      ],
      (x, text) => [x.add(1), text.matchAll(/b/g).toArray().length, text.replaceAll(/b/ as never, "c")],
    ];
    for (const use of uses) {
      const f = compile(use);
      for (const text of ["a1b2", "a1b2", "zz", ""]) {
        digits.lastIndex = 0;
        attempt(() => f(v(1, 2), text));
      }
    }
  },
  "big integers of elements, where something comes finally"({ compile, see, attempt }) {
    let finals = 0;
    const f = compile((x: Tensor) => {
      try {
        return [BigInt(Number(x.sum().item())) + 1n, BigInt(x.sum().item() as number)];
      } finally {
        finals++;
      }
    });
    for (const given of [v(1, 2), v(3, 4), v(0.5)]) attempt(() => f(given));
    see(finals);
  },
  "the stack of an error that was made here"({ compile, attempt }) {
    const uses: ((x: Tensor) => unknown)[] = [
      (x) => [x.add(1), typeof new Error("a").stack],
      (x) => [x.add(1), Object.hasOwn(new TypeError("a"), "stack"), Object.keys(new Error("b"))],
      (x) => {
        const error = new Error("a");
        error.stack = "none";
        return [x.add(1), error.stack, Object.keys(error)];
      },
    ];
    for (const use of uses) {
      const f = compile(use);
      for (let i = 0; i < 2; i++) attempt(() => f(v(1)));
    }
  },
  "data that is cloned, groups by key and what objects are called"({ compile, attempt, see }) {
    class Range {
      #from = 1;
      readonly list: readonly unknown[] = [1, { c: 2 }];
      get [Symbol.toStringTag]() {
        return `Range${this.#from}`;
      }
    }
    const f = compile((x: Tensor, settings: { scale: number; tags: unknown[] }) => {
      settings.tags.push(x.shape[0]);
      const copy = structuredClone(settings), own = structuredClone(new Range());
      copy.scale *= 2;
      copy.tags.push("new");
      let asked = 0;
      const seen = structuredClone({
        get a() {
          return [++asked];
        },
        none: null,
        [Symbol("hidden")]: 1,
      });
      const sets = structuredClone(new Set([1, [2], new Date(5)]));
      const groups = Map.groupBy(new Set([x, x.neg()]), (_, i) => i ? settings : 0);
      const names = [new Range(), [], {}, x.shape, Range, 1].map((each) =>
        Object.prototype.toString.call(each)
      );
      return [x.mul(copy.scale), copy, own, seen, asked, sets, [...groups], names];
    });
    for (let i = 0; i < 2; i++) {
      const tags: unknown[] = ["a"], settings = { scale: 2, tags, same: tags, map: new Map([["a", tags]]) };
      see(f(v(1, 2), Object.assign(settings, { self: settings })), settings);
    }
    const refused: ((x: Tensor) => unknown)[] = [
      () => structuredClone(Symbol("s")),
      (x) => [x, structuredClone(new Array(2))],
      () => structuredClone(Object.assign([1], { more: 2 })),
      () => structuredClone(new RangeError("r")).message,
      () => Object.getPrototypeOf(structuredClone(Object.create({ a: 1 }))) === Object.prototype,
      function () {
        return structuredClone([arguments]);
      },
      () => structuredClone({ stack: new DisposableStack() }),
      // An error of a getter is a refusal, and no element or property is forgotten that a getter takes away
      () =>
        structuredClone({
          get a() {
            throw new TypeError("no a");
          },
        }),
      () => {
        const list: unknown[] = [{
          get a() {
            list.length = 1;
            return 1;
          },
        }, 2];
        return structuredClone(list);
      },
    ];
    for (const use of refused) {
      const g = compile(use);
      for (let i = 0; i < 2; i++) attempt(() => g(v(1)));
    }
    // Objects that look like plain ones
    const given = [
      { a: 1 },
      (function (..._: unknown[]) {
        return arguments;
      })(1, 2),
      Object.setPrototypeOf(new Error("e"), Object.prototype),
      Object.setPrototypeOf(/r/g, null),
      Object.setPrototypeOf(new WeakMap(), Object.prototype),
      String.prototype,
    ];
    const h = compile((x: Tensor, each: unknown) => {
      const copy = structuredClone(each);
      return [x.neg(), Object.prototype.toString.call(copy), copy];
    });
    for (const each of [...given, ...given.reverse()]) attempt(() => h(v(1), each));
    const tag = compile((x: Tensor, list: unknown[]) => [x.neg(), Object.prototype.toString.call(list[0])]);
    for (const each of given) see(tag(v(1), [each]));
    // … of whose class nothing else is read
    const k = compile((x: Tensor, list: unknown[]) => [x.neg(), structuredClone(list)]);
    for (const each of [{ a: 1 }, new Date(5), [], new Set([1]), /r/, Object(1)]) {
      attempt(() => k(v(1), [Object.assign(each, { a: 1 })]));
    }
  },
  "properties of tensors by Reflect"({ compile, see }) {
    const f = compile((x: Tensor, key: "shape" | "requiresGrad") => {
      const add: unknown = Reflect.get(x, "add");
      const y: unknown = typeof add === "function" ? Reflect.apply(add, x, [1]) : null;
      return [y, Reflect.get(x, key), Reflect.has(x, "sum"), Reflect.has(x, "none"), Reflect.get(x, "none")];
    });
    for (const key of ["shape", "requiresGrad", "shape"] as const) see(f(v(1, 2), key));
  },
  "an element far beyond the end of an array"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const list: number[] = [];
      list[2 ** 32 - 2] = 3;
      return [x.mul(list.length), list.lastIndexOf(3)];
    });
    see(f(v(1)));
  },
  "counts and depths below zero are none"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const list = [1, 2, 3, 4];
      return [
        x.mul(2),
        list.splice(1, -1, 9),
        list,
        list.toSpliced(0, -2),
        [[1, [2]]].flat(-1),
        [[3]].flat(NaN),
      ];
    });
    see(f(v(1)));
  },
  "lists of sizes that the program has kept, by identity"({ compile, see }) {
    const sizes = new Map<object, number>(),
      weak = new WeakMap<object, number>(),
      kept: object[] = [],
      x = v(1, 2);
    const read = compile((x: Tensor) => {
      const found = [sizes.get(x.shape), weak.has(x.shape), kept.includes(x.shape), kept[0] === x.shape];
      return [found, x.add(1)];
    });
    const write = compile((x: Tensor) => {
      sizes.set(x.shape, 5);
      weak.set(x.shape, 6);
      kept[0] = x.shape;
      return x.add(1);
    });
    for (const each of [x, x, v(3, 4)]) {
      see(read(each), write(each), read(each), sizes.size, weak.get(x.shape));
    }
  },
  "keys and reasons that the runtime gives its objects"({ compile, attempt }) {
    const uses: ((x: Tensor) => unknown)[] = [
      (
        x,
      ) => [
        x.add(1),
        ...[new AbortController(), new TextEncoder()].map((each) => Reflect.ownKeys(each).length),
      ],
      (x) => {
        const controller = new AbortController();
        controller.abort();
        return [
          x.add(1),
          controller.signal.aborted,
          `${controller.signal.reason}`,
          Object.keys({ ...controller }),
        ];
      },
    ];
    for (const use of uses) {
      const run = compile(use);
      for (const x of [v(1), v(2)]) attempt(() => run(x));
    }
  },
};

const HELD = { size: 3 }, REFERENCE = new WeakRef(HELD);

/** Programs without a break. */
export const unbroken: Corpus = {
  "fields with computed names of a class from outside"({ compile, see }) {
    class Tagged {
      [Symbol.toStringTag] = "Tagged";
      ["weight"] = v(2, 3);
      [7] = 1;
      [1.5] = this[7] + 1;
    }
    class Named extends Tagged {
      ["last"] = this[1.5] + 1;
    }
    const run = compile((x: Tensor, isNamed: boolean) => {
      const made = isNamed ? new Named() : new Tagged();
      return [x.mul(made.weight), `${made}`, Reflect.ownKeys(made), { ...made }];
    });
    for (const isNamed of [false, true, false]) see(run(v(1, 2), isNamed));
  },
  "objects with private members leave, those of heirs and in a circle"({ compile, see }) {
    const f = compile((x: Tensor, name: string) => {
      const plain = new Queue().push(x).push(x.mul(2)).push(x), heir = new NamedQueue(name, 5).push(x.neg());
      return {
        list: [plain, heir.link(plain)],
        circle: new Queue(1).link(plain.link(heir)),
        size: plain.count,
      };
    });
    for (const name of ["a", "b", "c"]) {
      const { list, circle, size } = f(v(name.length, 2), name);
      see(list, circle, size, [...list, circle].map((each) => each.push(v(3)).state()));
    }
  },
  "numbers of the call as keys, and texts as bytes"({ compile, see }) {
    const tables = new Map([[1, v(1)], [2, v(3)], [3, v(5)]]), encoder = new TextEncoder();
    const f = compile((x: Tensor, n: number, text: string) => {
      const seen = new Set([n, 2]), sums = new Map([[n + 1, x]]);
      seen.add(n * 2).delete(n);
      const bytes = encoder.encode(text);
      return [sums.get(n + 1)?.mul(tables.get(n) ?? 0), [...seen], bytes, x.add(bytes.length)];
    });
    for (const n of [1, 2, 3, 2, 1]) see(f(v(n, 2), n, "äb"));
  },
  "URLs and parameters that are made, read and changed"({ compile, see, attempt }) {
    const f = compile((x: Tensor, text: string) => {
      const url = new URL(text, "https://a.b/c/"),
        given = new URLSearchParams(url.search),
        { searchParams } = url;
      const names = [...searchParams].map(([name, value]) => `${name}=${value}`);
      searchParams.append("k", "é");
      url.pathname = `/p${given.size}`;
      const made = new URLSearchParams({ a: "1", b: text });
      for (const name of given.keys()) made.append(name, "2");
      made.sort();
      return {
        y: x.mul(Number(given.get("n") ?? 1)),
        url,
        searchParams,
        names,
        texts: [`${made}`, url.href, url.username],
      };
    });
    for (const text of ["d?n=2&a=1&a=2#h", "/e?n=3", "d?n=2&a=1&a=2#h"]) {
      const { url, searchParams, ...rest } = f(v(1, 2), text);
      see(rest, url.href, searchParams === url.searchParams, url instanceof URL);
      searchParams.delete("k");
      see(url.href);
    }
    const refused = compile((x: Tensor, text: string) => {
      const url = new URL(text);
      url.href = "nowhere";
      return [x.add(1), url];
    });
    for (const text of ["https://a.b", "http://["]) attempt(() => refused(v(1), text));
  },
  "lists as long as numbers of the call"({ compile, see }) {
    const f = compile((x: Tensor, n: number) => {
      const zeros = new Array<number>(n).fill(0), list = Array.from({ length: n }, () => x.add(n));
      return [tensor([...zeros, n]).add(x.shape[0] ?? 0), list, Array(n + 1).length];
    });
    for (const n of [1, 2, 3, 2, 0]) see(f(v(n, 2), n));
  },
  "signals, events and conversions of the runtime"({ compile, see, attempt }) {
    const f = compile((x: Tensor, signal: AbortSignal) => {
      const was = signal.aborted;
      signal.throwIfAborted();
      return [x.mul(signal.aborted ? 2 : 3), was];
    });
    const g = compile((x: Tensor, { signal }: AbortController, event: CustomEvent<{ by: Tensor }>) => {
      return signal.aborted ? [signal.reason, event.type] : x.mul(event.detail.by);
    });
    const h = compile((x: Tensor, text: string) => [x.mul(atob(btoa(text)).length), btoa(text)]);
    for (let k = 0; k < 2; k++) {
      const controller = new AbortController(), { signal } = controller;
      const event = () => new CustomEvent("go", { detail: { by: v(k) } });
      attempt(() => f(v(1), signal));
      attempt(() => g(v(2), controller, event()));
      controller.abort(`stop ${k}`);
      attempt(() => f(v(1), signal));
      attempt(() => g(v(2), controller, event()));
      attempt(() => f(v(1), AbortSignal.abort()));
      see(h(v(1), `text ${k}`));
    }
    const foreign = Object.create(AbortSignal.prototype);
    attempt(() => compile((x: Tensor) => [x.mul(2), foreign.reason])(v(1)));
    attempt(() => compile((x: Tensor) => [x.mul(2), atob("?")])(v(1)));
  },
  "long lists sorted by comparators, in the engine's order of comparisons"({ compile, see }) {
    const items = Array.from({ length: 150 }, (_, i) => ({ key: (i * i * 31) % 47, at: i }));
    const pairs: number[] = [];
    for (const [length, sense] of [[150, 1], [67, 1], [70, -1], [64, 1]] as const) {
      const some = items.slice(0, length);
      const f = compile((x: Tensor) => {
        const sorted = some.toSorted((a, b) => {
          pairs.push(a.at, b.at);
          return sense > 0 ? a.key - b.key : (a.at * 7 + b.at * 3) % 5 - 2;
        });
        return x.mul(sorted.sort((a, b) => b.at - a.at)[2]?.key ?? 0).add(sorted[1]?.at ?? 0);
      });
      see(f(v(1, 2)), f(v(2, 2)), pairs.splice(0));
    }
  },
  "tests of instances, arguments, and references that do not keep"({ compile, see }) {
    class Even {
      static [Symbol.hasInstance](value: unknown): boolean {
        return typeof value === "number" && value % 2 === 0;
      }
    }
    function given(..._values: unknown[]): unknown {
      const all = arguments;
      return [Array.prototype.slice.call(all, 1), Array.prototype.map.call(all, (each) => `${each}`)];
    }
    const f = compile((x: Tensor) => [
      x.mul(REFERENCE.deref()?.size ?? 0),
      [(2 as unknown) instanceof Even, (3 as unknown) instanceof Even, x instanceof Even],
      given(1, 2, 3),
      "a\ud800".toWellFormed(),
    ]);
    see(f(v(1)), f(v(2)));
  },
  "iterators among what is flattened"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const counted = { count: 0, next: () => ({ done: counted.count++ > 1, value: counted.count }) };
      const inner = [[1, 2], counted, new Set([7])] as unknown as Iterable<number>[];
      return [x.add(1), inner.values().flatMap((each) => each).toArray(), counted];
    });
    see(f(v(1)));
  },
  "private state of new objects in a WeakMap"({ compile, see }) {
    const state = new WeakMap<object, { readonly total: Tensor; readonly n: number }>(),
      marked = new WeakSet<object>();
    class Total {
      constructor(start: Tensor) {
        state.set(this, { total: start, n: 0 });
      }
      add(by: Tensor): this {
        const { total, n } = state.get(this) ?? { total: by, n: NaN };
        state.set(this, { total: total.add(by), n: n + 1 });
        return this;
      }
    }
    const run = compile((x: Tensor) => {
      const made = new Total(x).add(x), frozen = Object.freeze({ made }), list = [made], local = {};
      const own = () => list;
      for (const each of [frozen, list, own]) marked.add(each);
      state.set(local, { total: x, n: 3 });
      return { frozen, list, own, found: [marked.has(own), marked.has(made), state.get(local)?.n] };
    });
    for (const x of [v(1), v(2)]) {
      const { frozen, list, own, found } = run(x);
      see(found, state.get(frozen.made), own() === list, [frozen, list, own].map((each) => marked.has(each)));
    }
  },
  "a controller of the call, aborted or not"({ compile, see }) {
    const run = compile((xs: readonly Tensor[], stop: number) => {
      const controller = new AbortController(), { signal } = controller, made: Tensor[] = [];
      for (const [i, x] of xs.entries()) {
        if (signal.aborted) break;
        made.push(x.mul(2));
        if (i === stop) controller.abort(`after ${i}`);
      }
      controller.abort("late");
      try {
        signal.throwIfAborted();
      } catch (reason) {
        return {
          made,
          reason,
          signal,
          isSame: controller.signal === signal,
          is: signal instanceof AbortSignal,
        };
      }
      return { made, signal };
    });
    for (const stop of [1, 5]) {
      const { signal, ...rest } = run([v(1), v(2), v(3)], stop);
      see(rest, signal.aborted, signal.reason);
    }
    const handed = compile((x: Tensor) => [new AbortController(), x.add(1)] as const),
      [controller] = handed(v(1));
    controller.abort();
    see(controller.signal.aborted, handed(v(2))[0].signal.aborted);
  },
  "a constructor that assigns to a property of its super class"({ compile, see }) {
    class Shape {
      #area = 1;
      get area() {
        return this.#area;
      }
      set area(area: number) {
        this.#area = area;
      }
    }
    class Square extends Shape {
      constructor(size: number) {
        super();
        super.area = size ** 2;
      }
      override get area() {
        return super.area + 1;
      }
      override set area(area: number) {
        super.area = area;
      }
    }
    const run = compile((x: Tensor, size: number) => {
      const square = new Square(size), { area } = square;
      square.area = 3;
      return [x.mul(area), square.area];
    });
    for (const size of [2, 3, 2]) see(run(v(1), size));
  },
};
