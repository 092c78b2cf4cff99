/** Programs about objects: classes, accessors, private members, proxies, collections, symbols, integrity. */
import { Generator, nn, type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });

export const objects: Corpus = {
  "whether objects of one prototype have a private member"({ compile, see }) {
    class Held {
      #held = 1;
      static isHeld(value: object): boolean {
        return #held in value;
      }
      static of(value: Held): number {
        return value.#held;
      }
    }
    const asked = compile((x: Tensor, value: object) => x.mul(Held.isHeld(value) ? 2 : 3));
    const read = compile((x: Tensor, value: Held) => {
      try {
        return x.mul(Held.of(value) + 1);
      } catch {
        return x.mul(7);
      }
    });
    for (const value of [new Held(), Object.create(Held.prototype) as Held, new Held()]) {
      see(asked(v(1.5), value), read(v(1.5), value));
    }
  },
  "whether objects have private members of one name, asked more than once"({ compile, see }) {
    class Base {
      #v = 2;
      static isBase(value: object): boolean {
        return #v in value;
      }
      static isAlso(value: object): boolean {
        return #v in value;
      }
    }
    class Derived extends Base {
      #v = 3;
      static isDerived(value: object): boolean {
        return #v in value;
      }
    }
    const f = compile((x: Tensor, value: object) => {
      const is = [Base.isBase, Base.isBase, Base.isAlso, Derived.isDerived].map((each) => each(value));
      return is.map((yes, k) => x.mul(yes ? k + 2 : -k));
    });
    for (const value of [new Derived(), new Base(), {}, new Derived()]) see(f(v(1.5), value));
  },
  "what functions of one code have captured, behind a break in them"({ compile, see }) {
    const classes = (k: number) => () => {
      class Local {
        m() {
          return k;
        }
      }
      return new Local().m();
    };
    const generators = (a: number, b: number) =>
      function* () {
        yield a;
        yield b;
      };
    const f = compile((x: Tensor, run: () => number) => [x.add(1), run()]);
    for (const k of [1, 2, 3]) see(f(v(1), classes(k)));
    const g = compile((x: Tensor, run: () => Iterator<number>) => {
      const it = run(), first = it.next().value;
      console.log(x);
      return [x.add(1), first, it.next().value];
    });
    for (const [a, b] of [[1, 2], [1, 3], [2, 3]] as const) see(g(v(1), generators(a, b)));
    const h = compile((x: Tensor, k: number, list: number[]) => {
      const use = (...rest: unknown[]) => {
        class Local {
          m() {
            return k + rest.length;
          }
        }
        return new Local().m();
      };
      return [x.add(1), use(...list.toSorted((a, b) => a - b), x)];
    });
    for (const k of [1, 0, 2]) see(h(v(1), k, []));
  },
  "super of methods that have moved, and of methods that are called behind a break"({ compile, see }) {
    class A {
      v(): string {
        return "A";
      }
      static s(): string {
        return "static A";
      }
    }
    class B extends A {
      override v(): string {
        return `B${super.v()}`;
      }
      static override s(): string {
        return `B${super.s()}`;
      }
    }
    const { v: moved } = B.prototype, { s } = B;
    const borrowed = { v: moved, __proto__: { v: () => "wrong" } };
    const holder = { s, __proto__: { s: () => "wrong" } };
    const copied = {
      ...{ w: 1, m: () => 0 },
      ...{
        m() {
          return typeof Reflect.get(super.constructor, "name");
        },
      },
    };
    const uses: ((x: Tensor) => unknown)[] = [
      () => [borrowed.v(), new B().v(), moved.call(new A() as B)],
      () => [holder.s(), B.s(), s.call(A as typeof B)],
      () => copied.m(),
      (x) => {
        const o = {
          m() {
            return super.toString === undefined ? 1 : this.v;
          },
          v: 3,
        };
        console.log(x);
        return [o.m(), o];
      },
    ];
    for (const use of uses) {
      const f = compile((x: Tensor) => [x.add(1), use(x)]);
      for (const x of [v(1), v(2)]) see(f(x));
    }
    const g = compile(moved);
    see(g.call(new B()), g.call(new A() as B));
  },
  "classes with inheritance, super, statics and accessors"({ compile, see }) {
    class Base {
      static made = 0;
      static create(k: number) {
        return new this(k);
      }
      constructor(protected k: number) {
        Base.made++;
      }
      get scale() {
        return this.k;
      }
      set scale(n: number) {
        this.k = n;
        console.log("set", n);
      }
      run(x: Tensor): Tensor {
        return x.mul(this.scale);
      }
      toString() {
        return `Base(${this.k})`;
      }
    }
    class Derived extends Base {
      extra = this.k + 1;
      override run(x: Tensor) {
        return super.run(x).add(this.extra);
      }
      override get scale() {
        return super.scale * 2;
      }
      override set scale(n: number) {
        super.scale = n + 1;
      }
      static override create(k: number) {
        return super.create(k + 100);
      }
    }
    const f = compile((x: Tensor, b: Base, k: number) => {
      const made = k > 1 ? Derived.create(k) : new Base(k);
      b.scale = b.scale + k;
      return [b.run(x), made.run(x), made, `${made}`, made instanceof Derived, b instanceof Base, Base.made];
    });
    const b = new Base(3), d = new Derived(4);
    for (const [o, k] of [[b, 1], [d, 1], [d, 2], [b, 2], [d, 2]] as const) see(f(v(1, 2), o, k), o);
  },
  "private members"({ compile, see, attempt }) {
    class Counter {
      #n = 0;
      static #total = 0;
      readonly #tag: string;
      constructor(tag: string) {
        this.#tag = tag;
      }
      #bump(k: number) {
        this.#n += k;
        Counter.#total += k;
        return this.#n;
      }
      get n() {
        return this.#n;
      }
      set #secret(k: number) {
        this.#n = k * 100;
      }
      run(x: Tensor, k: number, other: object) {
        if (k > 5) this.#secret = k;
        return [x.add(this.#bump(k)), this.#tag, #n in other, Counter.#total];
      }
      static peek(c: Counter) {
        return c.#n;
      }
    }
    const c = new Counter("c");
    const f = compile((x: Tensor, o: Counter, k: number) => o.run(x, k, k % 2 ? o : {}));
    for (const k of [1, 2, 3, 7]) see(f(v(1), c, k), c.n);
    const g = compile((x: Tensor, o: never) => x.add(Counter.peek(o)));
    attempt(() => g(v(1), c as never));
    attempt(() => g(v(1), {} as never));
    class Named extends Counter {
      #n = -5;
      both(x: Tensor, k: number) {
        this.#n += k % 2;
        return [x.mul(this.n).add(this.#n), this.n, this.#n];
      }
    }
    const named = new Named("named");
    const both = compile((x: Tensor, o: Named, k: number) => [o.both(x, k), o.run(x, k, o)]);
    for (const k of [0, 0, 5, 1, 2]) see(both(v(1), named, k), named.n);
    const h = compile((x: Tensor) => {
      const made = new Counter("new");
      return [made.run(x, 2, made), made.n];
    });
    see(h(v(1)), h(v(2)));
  },
  "a method of a class compiled through its prototype"({ compile, see }) {
    class Model {
      w = v(2);
      calls = 0;
      step(x: Tensor) {
        this.calls++;
        return x.mul(this.w).add(this.calls);
      }
    }
    Model.prototype.step = compile(Model.prototype.step);
    const a = new Model(), b = new Model();
    b.w = v(5);
    see(a.step(v(1)), a.step(v(1)), b.step(v(1)), a.step(v(1)), a.calls, b.calls);
    b.w = v(7);
    see(b.step(v(1)));
  },
  "methods replaced on instances and prototypes between calls"({ compile, see }) {
    class Act {
      go(x: Tensor) {
        return x.add(1);
      }
    }
    const f = compile((x: Tensor, a: Act) => a.go(x).mul(2));
    const a = new Act(), b = new Act();
    see(f(v(1), a), f(v(1), b));
    a.go = (x) => x.sub(5);
    see(f(v(1), a), f(v(1), b));
    Act.prototype.go = (x) => x.neg();
    see(f(v(1), a), f(v(1), b));
    delete (a as Partial<Act>).go;
    see(f(v(1), a), f(v(1), b));
    Object.setPrototypeOf(b, { go: (x: Tensor) => x.mul(100) });
    see(f(v(1), a), f(v(1), b));
  },
  "Symbol.hasInstance and Symbol.species"({ compile, see }) {
    let asked = 0;
    class Even {
      static [Symbol.hasInstance](n: unknown) {
        asked++;
        return typeof n === "number" && n % 2 === 0;
      }
    }
    class Own extends Array<number> {
      total() {
        return this.reduce((a, b) => a + b, 0);
      }
    }
    const f = compile((x: Tensor, n: unknown, o: Own) => {
      const m = o.map((k) => k * 2);
      return [x.add(n instanceof Even ? 1 : 2), m instanceof Own, m, o.total(), m.length];
    });
    see(f(v(1), 2, Own.from([1, 2]) as Own), f(v(1), 3, Own.from([4]) as Own), asked);
  },
  "proxies in every position"({ compile, see }) {
    const log: string[] = [];
    const watch = <T extends object>(target: T, name: string): T =>
      new Proxy(target, {
        get(t, k, r) {
          log.push(`${name} get ${String(k)}`);
          return Reflect.get(t, k, r);
        },
        set(t, k, val, r) {
          log.push(`${name} set ${String(k)}`);
          return Reflect.set(t, k, val, r);
        },
        has(t, k) {
          log.push(`${name} has ${String(k)}`);
          return Reflect.has(t, k);
        },
        deleteProperty(t, k) {
          log.push(`${name} delete ${String(k)}`);
          return Reflect.deleteProperty(t, k);
        },
        ownKeys(t) {
          log.push(`${name} keys`);
          return Reflect.ownKeys(t);
        },
        getOwnPropertyDescriptor(t, k) {
          log.push(`${name} descriptor ${String(k)}`);
          return Reflect.getOwnPropertyDescriptor(t, k);
        },
        getPrototypeOf(t) {
          log.push(`${name} prototype`);
          return Reflect.getPrototypeOf(t);
        },
      });
    const f = compile((x: Tensor, o: Record<string, number>, fn: (n: number) => number, list: number[]) => {
      x = x.add(o["a"] ?? 0);
      o["b"] = (o["b"] ?? 0) + 1;
      const has = "a" in o, keys = Object.keys(o), copy = { ...o };
      delete o["a"];
      return [x.mul(fn(2)), has, keys, copy, list.map((n) => n + 1), [...list], o instanceof Object];
    });
    for (let i = 0; i < 2; i++) {
      const o = watch<Record<string, number>>({ a: 1 }, "o");
      see(f(v(1), o, watch((n: number) => n * 3, "fn"), watch([1, 2], "list")));
      see(log);
    }
    const child = Object.create(watch<Record<string, number>>({ a: 5 }, "parent"));
    see(f(v(1), child, (n) => n, [1]), log, child);
  },
  "frozen, sealed and non-extensible objects"({ compile, attempt, see }) {
    const f = compile((x: Tensor, o: Record<string, number>) => {
      o["a"] = (o["a"] ?? 0) + 1;
      return x.add(o["a"]);
    });
    const g = compile((x: Tensor, o: Record<string, number>) => {
      o["new"] = 1;
      return x.add(o["new"]);
    });
    const all = [
      { a: 1 },
      Object.freeze({ a: 1 }),
      Object.seal({ a: 1 }),
      Object.preventExtensions({ a: 1 }),
      Object.preventExtensions({}),
    ];
    for (const o of all) {
      attempt(() => f(v(1), o as never));
      attempt(() => g(v(1), o as never));
      see(o);
    }
    const h = compile((x: Tensor, list: number[]) => {
      list.push(1);
      return x.add(list.length);
    });
    attempt(() => h(v(1), [1]));
    attempt(() => h(v(1), Object.freeze([1]) as never));
    const k = compile((x: Tensor, o: { a: number }) => {
      Object.freeze(o);
      const made = Object.freeze({ x });
      return [x.add(1), Object.isFrozen(o), Object.isFrozen(made), made];
    });
    const o = { a: 1 };
    see(k(v(1), o), o, k(v(1), o));
  },
  "property descriptors"({ compile, see, attempt }) {
    const f = compile((x: Tensor, o: Record<string, unknown>) => {
      Object.defineProperty(o, "hidden", { value: 3, enumerable: false, configurable: true });
      Object.defineProperty(o, "twice", { get: () => 8, configurable: true, enumerable: true });
      const d = Object.getOwnPropertyDescriptor(o, "a");
      return [
        x.add(o["hidden"] as number).add(o["twice"] as number),
        d,
        Object.keys(o),
        Object.getOwnPropertyNames(o),
        JSON.stringify(o),
      ];
    });
    const o = { a: 1 };
    see(f(v(1), o), o, f(v(1), o), o);
    const g = compile((x: Tensor, o: { r: number }) => {
      o.r = 5;
      return x.add(o.r);
    });
    attempt(() => g(v(1), { r: 1 }));
    attempt(() => g(v(1), Object.defineProperty({}, "r", { value: 2 }) as never));
    attempt(() => g(v(1), Object.create(Object.defineProperty({}, "r", { value: 2 })) as never));
    attempt(() =>
      g(v(1), {
        get r() {
          return 4;
        },
      } as never)
    );
    attempt(() =>
      g(v(1), {
        get r() {
          return 4;
        },
        set r(n: number) {
          console.log(n);
        },
      })
    );
    attempt(() =>
      g(
        v(1),
        Object.create({
          set r(n: number) {
            console.log("inherited", n);
          },
        }),
      )
    );
  },
  "tensors as keys and members"({ compile, see }) {
    const names = new Map<Tensor, string>(), seen = new Set<Tensor>();
    const f = compile((x: Tensor, y: Tensor) => {
      names.set(x, "x");
      names.set(y, "y");
      const z = x.add(y);
      seen.add(x).add(z).add(y);
      const own = new Map([[z, 1], [x, 2]]);
      return [z, names.get(x), names.size, seen.has(z), seen.has(y), own.get(z), [...own.keys()].indexOf(x)];
    });
    const a = v(1), b = v(2);
    see(f(a, b), names, seen);
    see(f(a, a), names, seen);
    see(f(b, a), names.size, seen.size, names);
  },
  "weak collections"({ compile, see }) {
    const cache = new WeakMap<object, Tensor>(), marked = new WeakSet<object>();
    const f = compile((x: Tensor, key: object) => {
      let y = cache.get(key);
      if (!y) {
        y = x.mul(2);
        cache.set(key, y);
      }
      const had = marked.has(key);
      marked.add(key);
      const own = new WeakMap([[key, 3]]);
      return [y.add(x), had, cache.has(key), own.get(key), cache.delete({})];
    });
    const k = {}, t = v(9);
    see(f(v(1), k), f(v(2), k), f(v(1), t), f(v(2), t), cache.get(k), marked.has(t));
    const one = new WeakMap<object, number>(), other = new WeakMap<object, number>();
    const g = compile((x: Tensor, key: object) => [x.add(one.get(key) ?? 0), one.get(key), other.get(key)]);
    for (const [a, b] of [[1, 1], [1, 2], [3, 3], [4, 5]] as const) {
      one.set(k, a);
      other.set(k, b);
      see(g(v(1), k));
    }
  },
  "maps and sets: order, deletion, groups, set algebra"({ compile, see }) {
    const m = new Map<string, unknown>([["a", 1], ["b", 2]]);
    const f = compile((x: Tensor, k: string) => {
      m.set(k, x);
      m.delete("a");
      m.set("a", (m.get("a") as number | undefined ?? 0) as number + 1);
      const entries = [...m].map(([key]) => key);
      const s = new Set(["a", "q"]);
      const groups = Object.groupBy([1, 2, 3], (n) => n % 2 ? "odd" : "even");
      const mg = Map.groupBy([1, 2, 3], (n) => n % 2);
      return [
        x.add(m.size),
        entries,
        [...s.union(new Set(m.keys()))],
        [...s.intersection(m as never)],
        groups,
        mg,
        new Map(m).size,
        new Set(m.values()).size,
      ];
    });
    see(f(v(1), "z"), m, f(v(1), "b"), m, f(v(1), "c"), m);
    m.clear();
    see(f(v(1), "z"), m);
  },
  "tensors in nested structures"({ compile, see }) {
    interface State {
      h: Tensor[];
      meta: { step: number; name?: string };
      table: Record<string, { w: Tensor }>;
    }
    const f = compile((s: State): State => {
      s.meta.step++;
      for (const [k, e] of Object.entries(s.table)) e.w = e.w.add(k.length);
      s.h.unshift(s.h[0]!.add(s.h.at(-1)!));
      if (s.h.length > 3) s.h.pop();
      return { ...s, h: s.h.map((t) => t.mul(2)), meta: { ...s.meta, name: "copy" } };
    });
    const s: State = { h: [v(1), v(2)], meta: { step: 0 }, table: { ab: { w: v(1) }, c: { w: v(2) } } };
    for (let i = 0; i < 4; i++) see(f(s), s);
    s.h[1] = s.h[0]!;
    see(f(s), s);
  },
  "identity of results"({ compile, see }) {
    const f = compile((x: Tensor, o: { x: Tensor; self?: unknown }) => {
      const y = x.add(1), box = { y, o };
      o.self = o;
      const pair = [y, y, box, box, o, x, o.x];
      return { pair, again: pair, same: o.x === x, other: y === x };
    });
    const a = v(1), o = { x: a };
    see(f(a, o), o, f(v(3), o), f(a, { x: a }));
  },
  "global variables"({ compile, see }) {
    const g = globalThis as unknown as Record<string, unknown>;
    g["__scale"] = 3;
    const f = compile((x: Tensor) => {
      const s = (globalThis as unknown as { __scale: number }).__scale;
      (globalThis as unknown as { __count: number }).__count = s + 1;
      return [x.mul(s), typeof (globalThis as { nothing?: 1 }).nothing, "__scale" in globalThis];
    });
    see(f(v(1)), g["__count"]);
    g["__scale"] = 4;
    see(f(v(1)), g["__count"]);
    delete g["__scale"];
    delete g["__count"];
  },
  "objects made by Object.create, spread and assign"({ compile, see }) {
    const proto = {
      greet() {
        return `hi ${(this as unknown as { n: string }).n}`;
      },
    };
    const f = compile((x: Tensor, n: string) => {
      const o = Object.assign(Object.create(proto) as { n: string; greet(): string }, { n, x });
      const bare = Object.create(null) as Record<string, unknown>;
      bare["k"] = n;
      const copy = {
        ...o,
        get late() {
          return n;
        },
        [`c_${n}`]: 1,
        "lit eral": 2,
        3: 4,
        __proto__: proto,
      };
      return [
        o.greet(),
        o,
        bare,
        copy,
        Object.getPrototypeOf(copy) === proto,
        copy.greet(),
        Object.fromEntries([["p", x]]),
        x.add(1),
      ];
    });
    see(f(v(1), "a"), f(v(1), "b"));
  },
  "functions as values: bind, call, apply, name, length"({ compile, see }) {
    function scale(this: { k: number }, x: Tensor, n = 1) {
      return x.mul(this.k * n);
    }
    const bound = scale.bind({ k: 4 });
    const f = compile((x: Tensor, g: (x: Tensor, n?: number) => Tensor) => {
      const made = (a: number, b: number) => a + b;
      const b2 = made.bind(null, 5);
      return [
        g(x),
        bound(x, 2),
        scale.call({ k: 2 }, x),
        scale.apply({ k: 3 }, [x, 2]),
        b2(1),
        b2.name,
        b2.length,
        made.name,
        made.length,
        scale.name,
        Reflect.apply(made, null, [1, 2]),
        typeof made,
        made === made,
      ];
    });
    see(f(v(1), (x) => x.neg()), f(v(1), bound), f(v(1), scale.bind({ k: 9 })));
  },
  "new.target, constructors that return objects, instanceof of made functions"({ compile, see }) {
    class A {
      kind: string;
      constructor() {
        this.kind = new.target.name;
      }
    }
    class B extends A {
      constructor(readonly o?: object) {
        super();
        if (o) return o as B;
      }
    }
    const f = compile((x: Tensor, o?: object) => {
      const b = new B(o), r = Reflect.construct(A, [], B) as A;
      return [x.add(1), b, b instanceof B, r, r instanceof B, r.kind, b.constructor === B];
    });
    see(f(v(1)), f(v(1), { q: 1 }));
  },
  "class defined inside"({ compile, see }) {
    const f = compile((x: Tensor, k: number) => {
      class Local {
        static n = k;
        constructor(public t: Tensor) {}
        get p() {
          return k * 2;
        }
        run() {
          return this.t.mul(Local.n + this.p);
        }
      }
      const o = new Local(x);
      return [o.run(), o.p, Local.name, o instanceof Local];
    });
    see(f(v(1), 1), f(v(1), 2));
  },
  "symbols and iterator protocols of users"({ compile, see }) {
    const log: string[] = [];
    class Range {
      constructor(readonly n: number) {}
      [Symbol.iterator]() {
        let i = 0;
        return {
          next: () => ({ done: i >= this.n, value: i++ }),
          return: () => (log.push("return"), { done: true, value: undefined }),
        };
      }
      get [Symbol.toStringTag]() {
        return "Range";
      }
    }
    const f = compile((x: Tensor, r: Range) => {
      for (const i of r) {
        if (i === 2) break;
        x = x.add(i ?? 0);
      }
      const [a] = r as Iterable<number>;
      const all = [...r as Iterable<number>];
      return [
        x,
        a,
        all,
        `${r}`,
        Array.from(r as Iterable<number>, (n) => n * 2),
        Math.max(...r as Iterable<number>),
        new Set(r as Iterable<number>).size,
      ];
    });
    for (const n of [0, 1, 3]) see(f(v(1), new Range(n)), log);
  },
  "iterator helpers"({ compile, see }) {
    const f = compile((x: Tensor, list: number[]) => {
      const it = list.values().map((n) => n * 2).filter((n) => n > 2).take(2);
      const all = [...it];
      return [
        x.add(all.length),
        all,
        list.values().toArray(),
        list.keys().reduce((a, b) => a + b, 0),
        list.values().some((n) => n > 2),
      ];
    });
    see(f(v(1), [1, 2, 3, 4]), f(v(1), []));
  },
  "array methods that change or copy"({ compile, see }) {
    const f = compile((x: Tensor, a: number[]) => {
      const out: unknown[] = [];
      out.push(a.splice(1, 1, 7, 8), [...a]);
      out.push(a.reverse() === a, a.fill(5, 1, 2), a.copyWithin(0, 2), a.unshift(1, 2), a.pop(), a.shift());
      out.push(
        a.slice(-2),
        a.concat([9], [[8]] as never),
        a.flat(),
        a.with(0, 4),
        a.toSpliced(0, 1),
        a.lastIndexOf(7),
        a.at(-1),
      );
      out.push(
        Array.from({ length: 3 }, (_, i) => i * i),
        Array.of(7),
        new Array(2).fill(0),
        Array.isArray(a),
        [[1, [2]], [3]].flat(2),
        a.join(),
      );
      return [x.add(a.length), out];
    });
    const a = [1, 2, 3];
    see(f(v(1), a), a, f(v(1), a), a, f(v(1), []));
  },
  "an object passed twice, and arguments that share parts"({ compile, see }) {
    interface O {
      n: number;
      t: Tensor;
    }
    const f = compile((x: Tensor, a: O, b: O, list: number[], again: number[]) => {
      a.n += 1;
      b.n *= 10;
      a.t = x;
      list.push(again.length);
      again.push(list.length);
      return [b.t.add(b.n), a === b, list === again];
    });
    const o = () => ({ n: 1, t: v(5) });
    const p = o(), q = o(), l = [1], m = [2];
    see(f(v(1), p, q, l, m), p, q, l, m);
    see(f(v(1), p, p, l, m), p, q, l, m);
    see(f(v(1), p, q, l, l), p, q, l, m);
    see(f(v(1), q, p, m, l), p, q, l, m);
  },
  "a property that holds an object, a function, a tensor, a number or nothing"({ compile, see }) {
    interface O {
      opt?: unknown;
      list: unknown[];
    }
    const makers: ((o: O) => unknown)[] = [
      compile((o: O) => o.opt ? 1 : 2),
      compile((o: O) => typeof o.opt),
      compile((o: O) => o.opt ?? 3),
      compile((o: O) => [o.opt === undefined, o.opt === 3, typeof o.opt === "function"]),
      compile((o: O) => [Array.isArray(o.opt), o.opt instanceof Map, Object.prototype.toString.call(o.opt)]),
      compile((o: O) => [o.list[0] ? 1 : 2, 0 in o.list, typeof o.list.at(-1), o.list.indexOf(undefined)]),
      compile((o: O) => JSON.stringify({ o: typeof o.opt === "function" ? 1 : o.opt })),
    ];
    const values = [{}, undefined, () => 1, 3, [], new Map(), null, "", Object.create(null)];
    for (const run of makers) {
      for (const opt of values) see(run({ opt, list: [opt] }), run({ list: [, opt] }));
    }
  },
  "arrays that are cut and grow again"({ compile, see }) {
    const f = compile((x: Tensor, o: { list: unknown[] }) => {
      o.list.pop();
      o.list.length = 2;
      return [x.add(o.list.length), 0 in o.list, 1 in o.list];
    });
    for (const list of [[1, 2], [], [, 2], [undefined, 3], [, , 4], [5, 6, 7], [undefined]]) {
      const o = { list: [...list] };
      // Spreading fills holes; deleting makes them again.
      list.forEach((_, i) => i in list || delete o.list[i]);
      if (!(0 in list)) delete o.list[0];
      see(f(v(1), o), o);
    }
  },
  "fields that are defined over inherited accessors"({ compile, see }) {
    class Base {
      get x(): number {
        return 1;
      }
      set x(n: number) {
        console.log("set", n);
      }
    }
    class Derived extends Base {
      constructor(n: number) {
        super();
        Object.defineProperty(this, "x", { value: n, writable: true, enumerable: true, configurable: true });
      }
    }
    const f = compile((t: Tensor, n: number, o: object) => {
      const d = new Derived(n);
      Object.defineProperty(o, "x", { value: n, writable: true, enumerable: true, configurable: true });
      return [t.mul(d.x), d, Object.hasOwn(d, "x")];
    });
    for (const n of [2, 3, 4]) {
      const o = new Base();
      see(f(v(1), n, o), o);
    }
  },
  "a class that shares variables with the function around it"({ compile, see }) {
    let outside = 0;
    const f = compile((x: Tensor, k: number) => {
      let n = k;
      class Local {
        bump(): number {
          outside++;
          return ++n;
        }
      }
      const o = new Local();
      n += 10;
      outside *= 2;
      const a = o.bump();
      n *= 2;
      return [x.add(n), a, o.bump(), n, outside];
    });
    see(f(v(1), 1), outside, f(v(1), 2), outside, f(v(1), 3), outside);
  },
  "deleting and clearing while iterators of every kind are under way"({ compile, see }) {
    const f = compile((x: Tensor, m: Map<string, number>, s: Set<number>) => {
      const seen: unknown[] = [];
      for (const [k, n] of m.entries()) {
        seen.push(k, n);
        m.delete(k);
        if (k === "b") m.set("z", 9);
      }
      for (const n of s.values()) {
        seen.push(n);
        if (n === 2) s.clear();
        if (n < 5) s.add(n + 3);
      }
      return [x.add(seen.length), seen];
    });
    for (let i = 0; i < 2; i++) {
      const m = new Map([["a", 1], ["b", 2], ["c", 3]]), s = new Set([1, 2, 3]);
      see(f(v(1), m, s), m, s);
    }
  },
  "subclasses of builtins"({ compile, see }) {
    class Bag extends Map<string, number> {
      override set(k: string, n: number): this {
        return super.set(k, n * 2);
      }
    }
    class Row extends Array<number> {
      sum(): number {
        return this.reduce((a, b) => a + b, 0);
      }
    }
    const f = compile((x: Tensor, n: number) => {
      const bag = new Bag([["a", n]]);
      bag.set("b", n);
      const row = Row.from([n, 2]) as Row, of = Row.of(1, 2);
      return [x.add(row.sum()), bag, row instanceof Row, of instanceof Row, row.map((k) => k + 1)];
    });
    see(f(v(1), 1), f(v(1), 5), f(v(1), 6));
  },
  "modules: lists, dicts, replaced and shared parts"({ compile, see }) {
    class Net extends nn.Module {
      layers = new nn.ModuleList([new nn.Linear(2, 2), new nn.ReLU(), new nn.Linear(2, 2)]);
      heads = new nn.ModuleDict({ a: new nn.Linear(2, 1), b: new nn.Linear(2, 3) });
      scale = 2;
      override forward(x: Tensor, head: string): Tensor {
        for (const layer of this.layers) x = (layer as nn.Linear).call(x);
        return (this.heads.get(head) as nn.Linear).call(x).mul(this.scale);
      }
    }
    const net = new Net();
    const run = compile((x: Tensor, head: string) => net.call(x, head));
    see(run(v(1, 2), "a"), run(v(1, 2), "b"));
    net.scale = 3;
    see(run(v(1, 2), "a"));
  },
  "builtin objects and generators of random numbers among other values"({ compile, see }) {
    const uses: ((each: unknown) => unknown)[] = [
      (each) => typeof each,
      (each) => [each === null, each ? 1 : 2],
      (each) => [each instanceof Map, each instanceof Error],
      (each) => Object(each) === each && Object.getPrototypeOf(each) === Object.prototype,
      (each) => Array.isArray(each),
    ];
    const values = [5, null, "s", new Map(), [1], { a: 1 }, JSON, Map.prototype, () => 1, Math];
    for (const [use, first] of uses.flatMap((use) => [[use, Math], [use, new Generator()]] as const)) {
      const holder: { each: unknown } = { each: null };
      const f = compile((x: Tensor, each: unknown) => [x.neg(), use(each)]);
      const g = compile((x: Tensor) => [x.neg(), use(holder.each)]);
      for (const each of [first, ...values]) {
        see(f(v(1), each));
        holder.each = each;
        see(g(v(1)));
      }
    }
  },
};
