/** Programs about the language: statements, expressions, closures, generators, exceptions, coercion. */
import { compiler, type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });

export const language: Corpus = {
  "variables called as what is left of the arguments of a call"({ compile, see }) {
    const look = compiler.disable(() => {});
    const f = compile((x: Tensor, ...all: number[]) => {
      const rest = all.slice(1), arg1 = all.length;
      look();
      return [x.mul(arg1), rest, all[2]];
    });
    see(f(v(1), 1, 2, 3), f(v(1)), f(v(1), 4));
    const g = compile((x: Tensor, [first, ...rest]: number[], ...[n = rest.length, ...more]: unknown[]) => {
      look();
      return [x.mul(first ?? 0), rest, n, more[1], more.length];
    });
    see(g(v(1), [1, 2, 3]), g(v(1), [4, 5], 6, 7, 8), g(v(1), [9], undefined, 1));
  },
  "items that a pattern skips, whose values are not read"({ compile, see }) {
    const log: string[] = [];
    const item = (n: number, most: number) => ({
      get done() {
        log.push(`done ${n}`);
        return n >= most;
      },
      get value() {
        log.push(`value ${n}`);
        return n;
      },
    });
    const f = compile((x: Tensor, most: number) => {
      const steps = () => {
        let n = 0;
        return { next: () => item(n++, most), return: () => (log.push("return"), {}) };
      };
      const [a, , b] = { [Symbol.iterator]: steps } as unknown as number[];
      const o: { p?: number } = {};
      [, , o.p = 7] = { [Symbol.iterator]: steps } as unknown as number[];
      return [x.add(1), a, b, o];
    });
    for (const most of [9, 2, 1, 0]) see(f(v(1), most), log.splice(0));
  },
  "callbacks that change what is still to come"({ compile, attempt }) {
    const uses: ((list: number[]) => unknown)[] = [
      (list) => Object.groupBy(list, (e) => e > ++list[1]! ? "more" : "less"),
      (list) => Array.from(list, (e) => list.length < 5 ? list.push(e + 1) : e),
      (list) => Array.from({ length: list.length, 0: list[0], 1: 7 }, (e) => (list[0] = 9, e)),
      (list) => Array.from("ab", (e, k) => e + list[k]),
      (list) => {
        const like = { length: 3, 0: 1, 1: 2, 2: 3 };
        return [Array.from(like, (e) => like[1] += e), list.length];
      },
    ];
    for (const use of uses) {
      const f = compile((x: Tensor, list: number[]) => [x.add(1), use(list)]);
      for (const list of [[0], [1, 2], [3, -1, 2]]) attempt(() => f(v(1), list));
    }
  },
  "callbacks that share a variable with the function, behind a break"({ compile, attempt }) {
    let outer = 2;
    const log: unknown[] = [], opaque = (value: unknown) => (console.log(value), value);
    const f = compile((x: Tensor, list: number[], n: number, k: number) => {
      list.unshift(n, k);
      try {
        (null as unknown as { a: number }).a;
      } catch (error) {
        const { name, ...rest } = error as Error;
        log.push(name, Object.keys(rest));
        log.push(list.map((e) => opaque(e + outer)), list.flatMap((e) => [e, n]));
      }
      return [x.mul(outer), log.length];
    });
    for (const k of [1, 1, 3]) attempt(() => f(v(1), [], 1, k));
    outer = 3;
    attempt(() => f(v(1), [], 1, 1));
  },
  "nested functions whose lines end without semicolons"({ compile, see }) {
    // As text: the runtime writes semicolons where it takes types out
    const make = new Function(
      "see",
      `return (x) => {
        let count = 0, note = (text) => text.length
        const later = () => {
          const given = [count]
          given[0] = count
          note("bc").toString()
          count = count + 1
          if (count > 0)
            note("d")
          return given
        }
        see("here")
        note = (text) => count += text.length
        return [x.add(1), later]
      }`,
    );
    const [y, later] = compile(make(see))(v(1));
    see(y, later(), later());
  },
  "jumps on numbers that each call draws anew"({ compile, see }) {
    const f = compile((x: Tensor, k: number) => {
      const drawn = Math.random();
      const kept = drawn && k ? x.add(k) : x.sub(1);
      return !drawn || kept;
    });
    see(f(v(1), 2), f(v(1), 0), f(v(1), 5));
  },
  "closures in a circle with what is made from them"({ compile, see }) {
    const f = compile((x: Tensor) => {
      let bound: (() => number) | null = null, timer: ReturnType<typeof setTimeout> | undefined, calls = 0;
      const end = (): number => ++calls + (bound ? 10 : 0) + (timer ? 100 : 0);
      timer = setTimeout(end, 10_000);
      clearTimeout(timer);
      timer = setTimeout(end, 10_000);
      const stop = () => clearTimeout(timer);
      bound = end.bind(null);
      return [x.add(1), end, bound, stop];
    });
    const [y, end, bound, stop] = f(v(1)) as [Tensor, () => number, () => number, () => void];
    stop();
    see(y, end(), bound(), end());
  },
  "a generator that has not begun, before a way out through finally"({ compile, attempt, see }) {
    const log: unknown[] = [];
    function* numbers(n: number) {
      yield n;
      for (let i = 0; i < 2; i++) {
        try {
          if (n > 2) break;
        } finally {
          log.push(i);
        }
      }
      yield n + 1;
    }
    const f = compile((x: Tensor, n: number) => {
      const made = numbers(n);
      console.log("middle");
      return [x.add(1), [...made]];
    });
    for (const n of [1, 3]) attempt(() => f(v(1), n));
    see(log);
  },
  "arrays that contain themselves, and long ones"({ compile, see, attempt }) {
    const cyclic: unknown[] = [1, [2, [3]]];
    cyclic.push(cyclic);
    const uses: ((list: unknown[]) => unknown)[] = [
      (list) => `${list}`,
      (list) => list.join("-"),
      (list) => list.flat(1).length,
      (list) => list.flat(Infinity).length,
      (list) => Math.max(...(list as number[])),
      (list) => Object.keys({ ...list }).length,
      (list) => Object.values(Object.assign({}, list)).length,
    ];
    for (const use of uses) {
      const f = compile((x: Tensor, list: unknown[]) => [x.add(1), use(list)]);
      for (const list of [cyclic, Array.from({ length: 3000 }, (_, i) => i)]) attempt(() => f(v(1), list));
    }
    see(cyclic.length);
  },
  "a variable that closures share and that is not initialised has its name in the error"(
    { compile, attempt },
  ) {
    const f = compile((x: Tensor, n: number) => {
      for (const each of [1, 2]) {
        const late = () => value;
        if (n < each) {
          console.log(x.sum().item());
          console.log([late()]);
        }
        const value = [each];
        console.log(late());
      }
      return x.add(1);
    });
    attempt(() => f(v(1), 1));
    attempt(() => f(v(1), 2));
    attempt(() => f(v(1), 0));
  },
  "methods of primitives on what is no primitive, or not known"({ compile, attempt }) {
    const uses: ((x: Tensor) => unknown)[] = [
      (x) => Number(x.sum().item()).toString(2),
      (x) => (x.sum().item() as number).toFixed(1),
      () => [Number.isInteger(3), String.fromCharCode(65), parseInt("12px", 10), Number.parseFloat("1.5")],
      (x) => x.sum().gt(0).item().toString(),
      () => String.prototype.at.call({ toString: () => "ab" } as never, 1),
      () => Number.prototype.toFixed.call({} as never),
      () => String.prototype.trim.call(undefined as never),
    ];
    for (const use of uses) {
      const f = compile((x: Tensor) => [x.add(1), use(x)]);
      attempt(() => f(v(1)));
      attempt(() => f(v(2)));
    }
  },
  "Math of what is no number"({ compile, attempt }) {
    const f = compile((x: Tensor, n: unknown) => [x.add(1), Math.max(n as number, 1), Math.abs(n as number)]);
    for (const n of [2, "3", null, undefined, true, 1n, [4], { valueOf: () => 5 }]) attempt(() => f(v(1), n));
  },
  "destructuring with defaults that have side effects"({ compile, see }) {
    let count = 0;
    const next = (n: number) => (count += n, n);
    const f = compile((x: Tensor, o: { a?: number | undefined; b?: { c?: number }; d?: number[] }) => {
      const { a = next(1), b: { c = next(2) } = {}, d: [p = next(3), , q = next(4), ...rest] = [] } = o;
      return [x.mul(a + c + p + q), rest];
    });
    for (
      const o of [{}, { a: 5 }, { b: { c: 7 } }, { d: [1, 2] }, { d: [1, 2, 3, 4, 5] }, { a: undefined }]
    ) {
      see(f(v(1, 2), o), count);
    }
  },
  "destructuring swaps and nested assignment targets"({ compile, see }) {
    const o = { a: 1, list: [1, 2, 3] };
    const f = compile((x: Tensor, y: Tensor) => {
      [x, y] = [y, x];
      let i = 0;
      [o.list[i++], o.list[i++], o.a] = [o.list[1] ?? 0, o.list[0] ?? 0, i];
      ({ a: o.list[2] = 4, b: o.a = 6 } = { a: 9 } as { a?: number; b?: number });
      return [x.add(1), y.add(o.a)];
    });
    see(f(v(1), v(2)), o);
    see(f(v(1), v(2)), o);
  },
  "spread of iterators, strings, maps and sets"({ compile, see }) {
    const f = compile((x: Tensor, s: Set<number>, m: Map<string, number>, text: string) => {
      const all = [...s, ...m.values(), ...text, ...m];
      const most = Math.max(...s, ...[...m.values()]);
      return [x.mul(most), all];
    });
    see(f(v(1), new Set([3, 1]), new Map([["a", 4]]), "xy𝒳"));
    see(f(v(1), new Set([3, 1, 9]), new Map([["a", 4]]), "xy𝒳"));
    see(f(v(1), new Set([3, 1, 9]), new Map([["b", 14]]), ""));
  },
  "iterators that fail are not closed, those that are left are"({ compile, see, attempt }) {
    const failing = (after: number, how: "throw" | "primitive" | "end") => {
      const log: string[] = [];
      return {
        log,
        [Symbol.iterator]() {
          let n = 0;
          return {
            next(): IteratorResult<number> {
              log.push("next");
              if (n++ < after) return { done: false, value: n };
              if (how === "throw") throw new RangeError(`item ${n}`);
              return how === "primitive" ? 5 as never : { done: true, value: 0 };
            },
            return() {
              log.push("return");
              return {} as IteratorResult<number>;
            },
          };
        },
      };
    };
    const target = {
      set two(n: number) {
        if (n === 2) throw new Error("two");
      },
      other: 0,
    };
    const uses: ((it: Iterable<number>) => unknown)[] = [
      (it) => {
        const [a = 1, { length } = { length: 7 }] = it as Iterable<never>;
        return [a, length];
      },
      (it) => {
        let a = 0, b = 0;
        [a, , b] = it as unknown as [number, number, number];
        return [a, b];
      },
      (it) => {
        let a = 0, b: number[] = [];
        [a, ...b] = it as unknown as [number];
        return [a, b];
      },
      (it) => {
        [target.other, target.two, target.other] = it as unknown as [number, number, number];
        return target.other;
      },
      (it) => {
        for (const a of it) if (a > 1) return a;
        return 0;
      },
      (it) => [...it],
    ];
    for (const use of uses) {
      const f = compile((x: Tensor, it: Iterable<number>) => {
        let result: unknown;
        try {
          result = use(it);
        } catch (error) {
          result = (error as Error).name;
        }
        return [x.add(1), result];
      });
      const g = compile((_x: Tensor, it: Iterable<number>) => use(it));
      for (const how of ["throw", "primitive", "end"] as const) {
        for (const after of [0, 1, 2, 4]) {
          const one = failing(after, how), other = failing(after, how);
          attempt(() => f(v(1), one));
          attempt(() => g(v(1), other));
          see(one.log, other.log);
        }
      }
    }
  },
  "labelled break and continue"({ compile, see }) {
    const f = compile((x: Tensor, n: number) => {
      const log: string[] = [];
      outer: for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++) {
          if (j === 2) continue outer;
          if (i === 2) break outer;
          log.push(`${i}${j}`);
          x = x.add(i * 10 + j);
        }
        log.push("never");
      }
      block: {
        if (n > 2) break block;
        log.push("small");
      }
      return [x, log];
    });
    for (const n of [0, 1, 2, 3, 4]) see(f(v(0), n));
  },
  "nested try, rethrow and cause"({ compile, attempt }) {
    const log: string[] = [];
    const f = compile((x: Tensor, k: number) => {
      try {
        try {
          if (k === 1) throw new RangeError("inner");
          if (k === 2) x.reshape([7]);
          x = x.add(1);
        } catch (e) {
          log.push(`caught ${(e as Error).message}`);
          throw new Error("outer", { cause: e });
        } finally {
          log.push("f1");
        }
      } finally {
        log.push("f2");
      }
      return [x, [...log]];
    });
    for (const k of [0, 1, 2, 0]) attempt(() => f(v(1, 2), k));
    attempt(() => log);
  },
  "exceptions cross graph breaks"({ compile, attempt, see }) {
    const inner = (x: Tensor, k: number): Tensor => {
      console.log("inner", k);
      if (k > 1) throw new TypeError(`k is ${k}`);
      return x.add(k);
    };
    const f = compile((x: Tensor, k: number) => {
      let y = x.mul(2);
      try {
        y = inner(y, k).sin();
      } catch (e) {
        console.log((e as Error).message);
        y = y.cos();
        if (k > 2) throw e;
      } finally {
        console.log("done");
      }
      return y;
    });
    for (const k of [0, 1, 2, 3]) attempt(() => f(v(1, 2), k));
    see("end");
  },
  "closures capture one variable per iteration"({ compile, see }) {
    const f = compile((x: Tensor, n: number) => {
      const fs: ((y: Tensor) => Tensor)[] = [];
      for (let i = 0; i < n; i++) {
        fs.push((y) => y.add(i));
        if (i % 2) i++;
      }
      const gs: (() => number)[] = [];
      for (const k of [1, 2, 3]) gs.push(() => k * n);
      let sum = x;
      for (const g of fs) sum = g(sum);
      return [sum, gs.map((g) => g()), fs];
    });
    const [a, , fs] = f(v(0), 4) as unknown as [Tensor, number[], ((y: Tensor) => Tensor)[]];
    see(a, fs.map((g) => g(v(1))));
    see((f(v(0), 5) as unknown[]).slice(0, 2));
  },
  "counter closures that outlive the call"({ compile, see }) {
    const f = compile((x: Tensor) => {
      let count = 0;
      return {
        y: x.add(1),
        up: () => ++count,
        down: () => --count,
        get now() {
          return count;
        },
      };
    });
    const a = f(v(1)), b = f(v(2));
    see(a, a.up(), a.up(), b.down(), a.down(), a.now, b.now);
  },
  "captured variables change between calls and inside"({ compile, see }) {
    let scale = 1, calls = 0;
    let table: Record<string, number> = { a: 1 };
    const f = compile((x: Tensor) => {
      calls++;
      const before = scale;
      scale += 0.5;
      table["b"] = (table["b"] ?? 0) + before;
      return x.mul(scale).add(table["a"] ?? 0);
    });
    see(f(v(1)), scale, calls, table);
    scale = 10;
    see(f(v(1)), scale, calls, table);
    table = { a: 7, b: 1 };
    see(f(v(1)), f(v(1)), scale, calls, table);
  },
  "generators called inside"({ compile, see }) {
    function* layers(n: number) {
      let got: number | undefined = 0;
      try {
        for (let i = 1; i <= n; i++) got = (yield i + (got ?? 0)) as number | undefined;
        return "end";
      } finally {
        console.log("closed");
      }
    }
    const f = compile((x: Tensor, n: number) => {
      for (const k of layers(n)) {
        if (k > 3) break;
        x = x.mul(k);
      }
      const it = layers(3);
      const first = it.next(), second = it.next(10), thrown = it.return("early" as never);
      const [a, b = 5, ...c] = layers(n);
      return [x, first, second, thrown, it.next(), a, b, c];
    });
    for (const n of [0, 1, 2, 5]) see(f(v(1), n));
  },
  "yield star with results and two-way values"({ compile, see }) {
    function* inner(): Generator<number, string, number> {
      const a = yield 1;
      const b = yield a * 2;
      return `${a}${b}`;
    }
    function* outer(): Generator<number, string[], number> {
      const r = yield* inner();
      yield* [7, 8];
      return [r];
    }
    const f = compile((x: Tensor) => {
      const it = outer();
      const seen = [it.next(0), it.next(3), it.next(4), it.next(0), it.next(0), it.next(0)];
      return [x.add(seen.length), seen];
    });
    see(f(v(1)));
    see(f(v(1)));
  },
  "yield star that is sent values, closed and thrown into"({ compile, see, attempt }) {
    function* inner(log: string[]): Generator<number, string, string> {
      try {
        for (let i = 0;; i++) log.push(yield i);
      } catch (e) {
        log.push(`caught ${e}`);
        return "thrown";
      } finally {
        log.push("closed");
      }
    }
    function* outer(log: string[]): Generator<number | string, string, string> {
      log.push(yield* inner(log));
      yield* [7, 8, 9];
      return "end";
    }
    const f = compile((x: Tensor, how: number, stop: (n: number) => void) => {
      const log: string[] = [], it = outer(log), seen: unknown[] = [it.next("never"), it.next("one")];
      stop(how);
      if (how === 0) seen.push(it.return("early"));
      else if (how === 1) seen.push(it.throw("t"), it.next(), it.next(), it.next(), it.next());
      else seen.push(it.next("two"), it.next("three"));
      return [x.add(seen.length), seen, log];
    });
    const quiet = (_n: number): void => {}, loud = (n: number): void => console.log("stop", n);
    for (const how of [0, 1, 2]) for (const stop of [quiet, loud]) attempt(() => f(v(1), how, stop));
    see("end");
  },
  "a local generator that breaks off inside yield star"({ compile, see }) {
    const f = compile((x: Tensor) => {
      function* list(): Generator<Tensor | number, void> {
        yield* [1, 2, 3];
        yield x.add(1);
      }
      const it = list();
      const first = it.next().value;
      console.log("between");
      return [first, it.next().value, it];
    });
    const [a, b, it] = f(v(1)) as unknown as [number, number, Iterator<unknown>];
    see(a, b, it.next(), it.next(), it.next());
  },
  "Array.from interleaves its callback with the iterator"({ compile, see }) {
    const f = compile((x: Tensor, n: number) => {
      const log: string[] = [];
      function* items(): Generator<number> {
        for (let i = 0; i < n; i++) {
          log.push(`give ${i}`);
          yield i;
        }
      }
      const all = Array.from(items(), (k) => (log.push(`take ${k}`), k * 2));
      return [x.add(all.length), all, log];
    });
    for (const n of [0, 1, 3]) see(f(v(1), n));
  },
  "comparators see the pairs that the engine shows them"({ compile, see }) {
    const f = compile((x: Tensor, list: number[]) => {
      const upside = [...list].sort((a, b) => a > b ? 1 : 0), back = list.toSorted((a, b) => b - a);
      return [x.add(list.length), upside, back];
    });
    for (const list of [[3, 1, 2], [5, 4, 3, 2, 1, 0], [1], [2, 2, 1, 1]]) see(f(v(1), list));
  },
  "a generator is returned and goes on outside"({ compile, see }) {
    const f = compile((x: Tensor) => {
      function* g() {
        yield x.add(1);
        yield x.add(2);
      }
      const it = g();
      return [it.next().value, it] as const;
    });
    const [first, it] = f(v(1));
    see(first, it.next(), it.next());
  },
  async "async functions and await order"({ compile, see }) {
    const log: string[] = [];
    const f = compile(async (x: Tensor, wait: boolean) => {
      log.push("start");
      const y = x.add(1);
      if (wait) await Promise.resolve();
      log.push("middle");
      const z = y.mul(2);
      await null;
      log.push("end");
      return z.add(y);
    });
    const p = f(v(1), true);
    log.push("called");
    see(await p, log);
    see(await f(v(1), false), log);
    const g = compile(async (x: Tensor) => {
      const parts = await Promise.all([f(x, true), f(x.add(1), false)]);
      for await (const part of parts) x = x.add(part);
      return x;
    });
    see(await g(v(1)), await g(v(2)), log);
    const h = compile(async (x: Tensor, k: number) => {
      try {
        if (k) throw new RangeError("async");
        return x.add(k);
      } finally {
        await null;
        log.push("finally");
      }
    });
    see(await h(v(1), 0), await h(v(1), 1).catch((e: Error) => e.message), log);
  },
  "optional chaining and nullish assignment"({ compile, see, attempt }) {
    interface Node {
      v?: number;
      next?: Node | null;
      f?: (n: number) => number;
    }
    const f = compile((x: Tensor, o: Node | null) => {
      const a = o?.next?.v ?? 5;
      const b = o?.f?.(a) ?? -1;
      const c = o?.next?.["v"]?.toFixed(1);
      if (o) {
        o.v ??= 3;
        o.v &&= o.v + 1;
        o.next ||= { v: 0 };
      }
      delete o?.next?.v;
      return [x.add(a).mul(b), c];
    });
    const o: Node = { f: (n) => n * 2 };
    for (const each of [null, {}, o, o, { next: { v: 2 } }, { v: 0 }]) see(f(v(1), each), each);
    const g = compile((x: Tensor, o: Node) => x.add(o.next!.v!));
    attempt(() => g(v(1), { next: { v: 2 } }));
    attempt(() => g(v(1), {}));
    attempt(() => g(v(1), { next: null }));
  },
  "exponent, bitwise, shift and remainder"({ compile, see }) {
    const f = compile((x: Tensor, a: number, b: number) => {
      const all = [
        a ** b,
        a % b,
        a << b,
        a >> b,
        a >>> b,
        a & b,
        a | b,
        a ^ b,
        ~a,
        -a,
        a / b,
        Math.sign(a % b),
      ];
      return [x.add(a), all];
    });
    for (
      const [a, b] of [[7, 3], [-7, 3], [7, -3], [-7, -3], [2 ** 31, 1], [2 ** 33 + 5, 33], [0, 5], [-0, 5], [
        5,
        0,
      ]]
    ) {
      see(f(v(1), a!, b!));
    }
    for (const [a, b] of [[0.5, 2], [-1.5, 0.5], [NaN, 1], [Infinity, 1], [1, -Infinity]]) {
      see(f(v(1), a!, b!));
    }
  },
  "sizes in integer arithmetic"({ compile, see }) {
    const f = compile((x: Tensor, k: number) => {
      const n = x.shape[0]!;
      const all = [
        n % k,
        n >> 1,
        n << k,
        n & 3,
        n | 4,
        n ^ 1,
        ~n,
        n ** 2,
        -n % k,
        n / 4,
        Math.floor(n / 3),
        Math.ceil(n / 3),
        n >>> 1,
        Math.trunc(-n / 2),
        Math.max(n, k),
        Math.min(n, k, 3),
        Math.abs(-n),
        Math.sqrt(n),
        Math.round(n / 4),
        Math.log2(n),
        n === 4,
        n > k ? "big" : "small",
      ];
      return [x.sum(), all];
    });
    for (const n of [2, 3, 4, 5, 8, 9, 16, 31, 1, 0]) {
      see(f(tensor(Array.from({ length: n }, (_, i) => i), { dtype: "float32" }), 3));
    }
    for (const n of [5, 7]) see(f(tensor(Array.from({ length: n }, (_, i) => i), { dtype: "float32" }), 5));
    for (const n of [5, 7]) see(f(tensor(Array.from({ length: n }, (_, i) => i), { dtype: "float32" }), -2));
  },
  "negative zero and NaN as keys"({ compile, see }) {
    const f = compile((x: Tensor, k: number) => {
      const m = new Map<number, string>([[NaN, "nan"], [0, "zero"]]);
      m.set(-0, "minus");
      const s = new Set([NaN, NaN, 0, -0]);
      const o: Record<string, number> = {};
      o[-0] = 1;
      o[NaN] = 2;
      return [
        x.add(1),
        m.get(k),
        [...m.keys()],
        s.size,
        [...s],
        o,
        [NaN, -0].includes(k),
        [NaN, -0].indexOf(k),
        Object.is(k, -0),
        Object.is(k, NaN),
        k === 0,
        1 / k,
      ];
    });
    for (const k of [0, -0, NaN, 1, 0, -0]) see(f(v(1), k));
  },
  "arithmetic that makes negative zero"({ compile, see }) {
    const f = compile((
      x: Tensor,
      a: number,
      b: number,
    ) => [
      x.mul(a * b),
      a * b,
      Math.round(a * 0.1),
      -(a - a),
      a % 2,
      Math.min(a * 0, 0),
      Math.max(-0, a * 0),
      1 / (a * b),
    ]);
    for (const [a, b] of [[1, 0], [-1, 0], [2, 0], [-2, 0], [-3, 0], [-4, 5]]) see(f(v(1), a!, b!));
  },
  "coercion by Symbol.toPrimitive, valueOf and toString"({ compile, see, attempt }) {
    const log: string[] = [];
    const make = (name: string, n: number) => ({
      [Symbol.toPrimitive](hint: string) {
        log.push(`${name} ${hint}`);
        return hint === "string" ? name : n;
      },
    });
    const old = (n: number) => ({
      valueOf() {
        log.push("valueOf");
        return n;
      },
      toString() {
        log.push("toString");
        return `<${n}>`;
      },
    });
    const f = compile((x: Tensor, a: never, b: never) => {
      const all = [
        `${a} ${b}`,
        a + b,
        a - b,
        a < b,
        a == 3,
        [a] + "",
        a * 2,
        +a,
        -b,
        String(a),
        Number(b),
        [..."ab"].join(a),
        { [a]: 1 },
      ];
      return [x.add(1), all];
    });
    see(f(v(1), make("a", 3) as never, make("b", 4) as never), log);
    see(f(v(1), old(3) as never, old(4) as never), log);
    see(f(v(1), make("a", 3) as never, old(5) as never), log);
    attempt(() => f(v(1), { [Symbol.toPrimitive]: () => ({}) } as never, old(5) as never));
    attempt(() => f(v(1), Symbol("s") as never, old(5) as never));
    see(log);
  },
  "tagged templates keep their strings object"({ compile, see }) {
    const objects: unknown[] = [];
    const tag = (strings: TemplateStringsArray, ...values: number[]) => {
      objects.push(strings);
      return strings.raw.join("|") + values.join(",");
    };
    const f = compile((x: Tensor, n: number) => {
      const out: string[] = [];
      for (let i = 0; i < n; i++) out.push(tag`a${i}\n${n}b`);
      out.push(String.raw`\x${n}\n`);
      return [x.add(n), out];
    });
    see(f(v(1), 2), f(v(1), 1), new Set(objects).size, Object.isFrozen(objects[0]));
  },
  "recursion and mutual recursion"({ compile, see }) {
    interface Tree {
      value: Tensor;
      left?: Tree;
      right?: Tree;
    }
    const sum = (t: Tree | undefined): Tensor => t ? t.value.add(sum(t.left)).add(sum(t.right)) : v(0);
    const even = (x: Tensor, n: number): Tensor => n === 0 ? x : odd(x.add(1), n - 1);
    const odd = (x: Tensor, n: number): Tensor => n === 0 ? x.neg() : even(x.mul(2), n - 1);
    const f = compile((t: Tree, n: number) => [sum(t), even(t.value, n)]);
    const leaf = { value: v(3) };
    for (const n of [0, 1, 2, 5]) see(f({ value: v(1), left: leaf, right: { value: v(4), left: leaf } }, n));
    see(f(leaf, 3));
    const fact = compile((x: Tensor, n: number): Tensor => n <= 1 ? x : fact(x.mul(n), n - 1));
    for (const n of [1, 2, 3, 5, 4]) see(fact(v(1), n));
  },
  "callbacks with index, array and this"({ compile, see }) {
    const f = compile((x: Tensor, list: number[]) => {
      const ctx = { k: 2 };
      const a = list.map(function (this: { k: number }, n, i, all) {
        return n * this.k + i + all.length;
      }, ctx);
      const b = list.filter((n, i) => n > i).reduce((s, n, i) => s + n * i, 1);
      const c = list.reduceRight<string>((s, n) => s + n, "");
      list.forEach((n, i) => {
        x = x.add(n * i);
      });
      return [
        x,
        a,
        b,
        c,
        list.find((n) => n > 2),
        list.findLast((n) => n < 3),
        list.some((n) => n > 9),
        list.every(Boolean),
        list.findIndex((n) => n === 3),
        list.flatMap((n) => n % 2 ? [n, n] : []),
        list.entries().next(),
        [...list.keys()],
      ];
    });
    see(f(v(0), [1, 2, 3]), f(v(0), [3, 0, 12, 5]), f(v(0), []));
  },
  "array holes"({ compile, see }) {
    const f = compile((x: Tensor, list: (number | undefined)[]) => {
      const seen: unknown[] = [];
      list.forEach((n, i) => seen.push(i, n));
      for (const n of list) seen.push(n);
      for (const i in list) seen.push(i);
      const [a = 9, b = 8] = list;
      const copy = [...list];
      list.length = list.length + 1;
      return [
        x.add(a + b),
        seen,
        copy,
        list.map((n) => n),
        1 in list,
        Object.keys(list),
        list.indexOf(undefined),
        list.includes(undefined),
        list.join("-"),
        list.concat([, 1]),
        [, 2, ,].length,
      ];
    });
    see(f(v(0), [1, , 3]), f(v(0), [, , ,]), f(v(0), [1, undefined]), f(v(0), [1, 2]));
  },
  "sort calls its comparator in a defined order"({ compile, see }) {
    const f = compile((x: Tensor, list: number[]) => {
      const seen: string[] = [];
      const sorted = list.sort((a, b) => {
        seen.push(`${a}:${b}`);
        return a - b;
      });
      return [
        x.add(sorted[0] ?? 0),
        sorted === list,
        seen,
        [3, 1, 10].sort(),
        [..."cab"].sort().reverse(),
        [3, 1, 2].toSorted((a, b) => b - a),
      ];
    });
    see(f(v(0), [3, 1, 2]), f(v(0), [5, 4, 3, 2, 1]), f(v(0), [1, 2, 3, 4]), f(v(0), [2, 1, 2, 1, 3, 0, 5]));
  },
  "sort is stable, puts undefined last, and may throw"({ compile, see, attempt }) {
    const f = compile((x: Tensor, list: ({ k: number; n: string } | undefined)[]) => {
      list.sort((a, b) => a!.k - b!.k);
      return [x.add(1), list.map((o) => o?.n)];
    });
    see(f(v(0), [{ k: 2, n: "a" }, undefined, { k: 1, n: "b" }, { k: 2, n: "c" }, { k: 1, n: "d" }]));
    const g = compile((x: Tensor, list: number[]) => {
      list.sort((a, b) => {
        if (a === 3) throw new Error("three");
        return b - a;
      });
      return x.add(1);
    });
    const list = [1, 2, 3, 0];
    attempt(() => g(v(0), list));
    see(list);
  },
  "mutation during iteration"({ compile, see }) {
    const f = compile((x: Tensor, list: number[], s: Set<number>, m: Map<number, number>) => {
      const seen: unknown[] = [];
      for (const n of list) {
        seen.push(n);
        if (n < 4) list.push(n + 3);
        if (n === 2) list.shift();
      }
      for (const n of s) {
        seen.push(n);
        if (n < 4) s.add(n + 3);
        s.delete(n - 1);
        if (n === 5) {
          s.delete(1);
          s.add(1);
        }
      }
      for (const [k, n] of m) {
        seen.push(k, n);
        m.delete(k);
        if (k < 3) m.set(k + 1, n * 2);
      }
      const o: Record<string, number> = { a: 1, b: 2, c: 3 };
      for (const k in o) {
        seen.push(k);
        delete o["b"];
        o["d"] = 1;
      }
      return [x.add(seen.length), seen, o];
    });
    for (let i = 0; i < 2; i++) {
      const list = [1, 2, 3], s = new Set([1, 2]), m = new Map([[0, 1], [7, 2]]);
      see(f(v(0), list, s, m), list, s, m);
    }
  },
  "order of property keys"({ compile, see }) {
    const sym = Symbol("s");
    const f = compile((x: Tensor, o: Record<string | symbol, number>) => {
      o["z"] = 1;
      o["2"] = 2;
      o["1"] = 3;
      o[sym] = 4;
      o["01"] = 5;
      o["-1"] = 6;
      delete o["a"];
      o["a"] = 7;
      o["4294967295"] = 8;
      o["4294967294"] = 9;
      const seen: string[] = [];
      for (const k in o) seen.push(k);
      return [x.add(1), seen, Object.entries(o), Object.values(o), Reflect.ownKeys(o), JSON.stringify(o), {
        ...o,
      }, Object.assign({ q: 1 }, o)];
    });
    see(f(v(1), { a: 0, b: 0 }), f(v(1), { b: 0, 5: 5, a: 0 }));
  },
  "delete and in"({ compile, see, attempt }) {
    const f = compile((x: Tensor, o: Record<string, unknown>) => {
      const a = delete o["a"], b = "a" in o, c = "toString" in o, d = Object.hasOwn(o, "toString");
      o["a"] = 1;
      return [x.add(1), a, b, c, d, "a" in o, Object.keys(o), delete o["nothing"]];
    });
    const o = { a: 1, b: 2 };
    see(f(v(1), o), o, f(v(1), { b: 1 }), f(v(1), Object.create({ a: 5 })));
    const g = compile((x: Tensor, o: Record<string, unknown>) => {
      delete o["a"];
      return x.add(1);
    });
    attempt(() => g(v(1), { a: 1 }));
    attempt(() => g(v(1), Object.freeze({ a: 1 })));
    attempt(() => g(v(1), Object.defineProperty({}, "a", { value: 1 })));
    attempt(() => g(v(1), Object.seal({ a: 1 })));
  },
  "JSON"({ compile, see, attempt }) {
    const f = compile((x: Tensor, o: unknown) => {
      const text = JSON.stringify(o, null, 1);
      const back: unknown = text === undefined ? null : JSON.parse(text);
      return [
        x.add(text?.length ?? 0),
        text,
        back,
        JSON.stringify({ o, u: undefined, f: () => 1, n: NaN, d: -0 }),
      ];
    });
    see(f(v(1), { a: [1, null, { b: 'q"' }] }), f(v(1), [undefined, Symbol(), 1e21]), f(v(1), undefined));
    see(f(v(1), { toJSON: () => ({ hi: 1 }) }), f(v(1), new Date(0)), f(v(1), new Map([[1, 2]])));
    const loop: { me?: unknown } = {};
    loop.me = loop;
    attempt(() => f(v(1), loop));
    attempt(() => f(v(1), 1n));
    const g = compile((
      x: Tensor,
      text: string,
    ) => [x.add(1), JSON.parse(text, (k, val) => k === "a" ? val + 1 : val)]);
    attempt(() => g(v(1), '{"a":1,"b":[2]}'));
    attempt(() => g(v(1), "{"));
  },
  "dates"({ compile, see }) {
    const f = compile((x: Tensor, t: number) => {
      const d = new Date(t);
      d.setUTCFullYear(d.getUTCFullYear() + 1);
      return [x.add(d.getUTCMonth()), d.toISOString(), d, d.getTime(), +d, `${d > new Date(0)}`];
    });
    see(f(v(1), 0), f(v(1), 1e12), f(v(1), 1e12));
    const later = compile((x: Tensor, d: Date) => {
      d.setTime(d.getTime() + 5);
      return [x.add(1), d.getTime()];
    });
    const d = new Date(5);
    see(later(v(1), d), later(v(1), d), d);
  },
  "regular expressions with state"({ compile, see }) {
    const sticky = /(\d)(?<w>[a-z]*)/g;
    const f = compile((x: Tensor, text: string) => {
      const own = /b+/g;
      const seen: unknown[] = [own.test(text), own.lastIndex, own.test(text), own.lastIndex];
      const m = sticky.exec(text);
      seen.push(m?.[0], m?.index, m?.groups?.["w"], sticky.lastIndex);
      return [
        x.add(seen.length),
        seen,
        text.replace(/b/g, (b, i) => `${b}${i}`),
        text.split(/[,;]/),
        text.match(/b/g),
        [...text.matchAll(/b/g)].length,
        text.search(/c/),
      ];
    });
    for (const t of ["1abbc2x", "1abbc2x", "1abbc2x", "bb,b;c"]) see(f(v(1), t), sticky);
  },
  "typed arrays"({ compile, see }) {
    const f = compile((x: Tensor, a: Float32Array, b: Int32Array) => {
      let s = 0;
      for (let i = 0; i < a.length; i++) s += a[i]!;
      for (const k of b) s += k;
      a[0] = s;
      b.set([7.9], 0);
      const c = Float32Array.from(b, (n) => n * 2), d = new Uint8Array([257, -1, 3.7]);
      return [x.mul(s), c, d, a.subarray(1), [...a], b.byteLength, a.map((n) => n + 1), Math.max(...b)];
    });
    const a = new Float32Array([1.5, 2]), b = new Int32Array([3, 4]);
    see(f(v(1), a, b), a, b, f(v(1), a, b), a, b);
    a[1] = 9;
    see(f(v(1), a, b), f(v(1), new Float32Array(3), b));
  },
  "bigints"({ compile, see, attempt }) {
    const f = compile((x: Tensor, a: bigint, b: bigint) => [
      x.add(Number(a)),
      a + b,
      a * b,
      a ** 3n,
      a / b,
      a % b,
      -a,
      a << 70n,
      a > b,
      a == 3n as never,
      BigInt.asUintN(8, a),
      typeof a,
      `${a}`,
      a > 2.5,
      BigInt(7),
      a & b,
      ~a,
    ]);
    see(f(v(1), 3n, 2n), f(v(1), 300n, 7n), f(v(1), -3n, 2n));
    attempt(() => f(v(1), 3n, 0n));
    attempt(() => f(v(1), 3n, 2 as never));
  },
  "comma, void, sequence and chained assignment order"({ compile, see }) {
    const log: string[] = [];
    const t = <T>(name: string, value: T): T => (log.push(name), value);
    const f = compile((x: Tensor, o: Record<string, number>) => {
      const arr = [0, 0, 0];
      let i = 0;
      arr[i++] = arr[i++] = t("v", i);
      const place = t("o", o);
      place[t("k", "a")] = (place["a"] ?? 0) + t("w", 2);
      const z = (t("1", 1), t("2", 2));
      o["b"] = o["c"] = z + (i = i + 1) * i++ + i--;
      return [x.add(z), arr, i, t("f", Math.max)(t("p", 1), t("q", 2))];
    });
    const o = { a: 1 };
    see(f(v(1), o), o, log, f(v(1), o), o, log);
  },
  "errors thrown: types, messages, non-errors"({ compile, attempt }) {
    class Mine extends Error {
      override name = "Mine";
      constructor(readonly code: number) {
        super(`code ${code}`);
      }
    }
    const f = compile((x: Tensor, k: number) => {
      const y = x.add(1);
      if (k === 0) return y;
      if (k === 1) throw new Mine(7);
      if (k === 2) throw "text";
      if (k === 3) throw { y };
      if (k === 4) throw undefined;
      if (k === 5) return (null as never as { a: number }).a;
      if (k === 7) return (x as never as { nothing: () => 1 }).nothing();
      if (k === 8) return y.matmul(v(1, 2, 3, 4));
      if (k === 9) return new (5 as never as new () => object)();
      if (k === 10) return [...(5 as never as number[])];
      if (k === 11) return `${Symbol() as never}`;
      if (k === 12) return new Array(-1);
      if (k === 13) return "a".repeat(-1);
      if (k === 14) return (1).toFixed(200);
      if (k === 15) return decodeURIComponent("%");
      return x.at(7);
    });
    for (let k = 0; k < 17; k++) attempt(() => f(v(1, 2), k));
    const g = compile((x: Tensor, k: number) => {
      try {
        return f(x, k);
      } catch (e) {
        return [
          x,
          e instanceof Mine ? e.code : e instanceof Error ? `${e.constructor.name} ${e.message}` : e,
        ];
      }
    });
    for (let k = 0; k < 17; k++) attempt(() => g(v(1, 2), k));
  },
  "tensors as conditions of loops"({ compile, see }) {
    const f = compile((x: Tensor) => {
      let n = 0;
      while (+x.sum() < 50) {
        x = x.mul(2);
        n++;
      }
      do {
        x = x.sub(7);
      } while (x.sum().item() as number > 0 && n++ < 20);
      return [x, n];
    });
    see(f(v(1, 2)), f(v(30, 2)), f(v(0.1, 0.2, 0.3)), f(v(1, 2)));
  },
  "ternaries and logical operators on comparisons of tensors"({ compile, see }) {
    const f = compile((x: Tensor, y: Tensor) => {
      const big = Number(x.sum()) > Number(y.sum());
      const both = big && Number(x.max()) > 1 || Number(y.min()) === 0;
      const label = big ? both ? "bb" : "b" : both ? "o" : "n";
      return [big ? x.sub(y) : y.sub(x), label, !big];
    });
    see(f(v(1, 2), v(3)), f(v(3, 4), v(1)), f(v(1, 0), v(0)), f(v(0.5), v(0.2)));
  },
  "getter evaluation counts"({ compile, see }) {
    let reads = 0;
    const o = {
      get n() {
        return ++reads;
      },
      inner: {
        get m() {
          reads += 10;
          return 2;
        },
      },
    };
    const f = compile((x: Tensor, p: { n: number; inner: { m: number } }) => x.mul(p.n).add(p.inner.m + p.n));
    see(f(v(1), o), reads, f(v(1), o), reads, f(v(1), { n: 1, inner: { m: 2 } }), reads);
  },
  "using declarations"({ compile, see, attempt }) {
    const log: string[] = [];
    const open = (name: string, fail = false) => ({
      name,
      [Symbol.dispose]() {
        log.push(`close ${name}`);
        if (fail) throw new Error(`close ${name}`);
      },
    });
    const f = compile((x: Tensor, k: number) => {
      using a = open("a", k === 2);
      {
        using _b = open("b");
        x = x.add(1);
        if (k === 1) throw new Error("body");
      }
      log.push(a.name);
      return x.mul(2);
    });
    for (const k of [0, 1, 2, 0]) attempt(() => f(v(1), k));
    see(log);
  },
  "string methods"({ compile, see }) {
    const f = compile((x: Tensor, s: string, n: number) => [
      x.add(s.length),
      s.padStart(5, "ab"),
      s.at(-1),
      s.charCodeAt(1),
      s[n],
      s.slice(-2),
      s.substring(3, 1),
      s.toUpperCase(),
      s.split(""),
      s.includes("b"),
      s.replaceAll("b", "$&!"),
      s.trim(),
      s.codePointAt(0),
      s.localeCompare("b"),
      s.concat("x", String(n)),
      s.repeat(2),
      s.startsWith("a"),
      s.lastIndexOf("b"),
      s < "b",
      s.normalize(),
      [...s].length,
      n.toString(2),
      n.toFixed(2),
      parseInt(s + n, 36),
      Number.parseFloat(`${n}.5x`),
      `${[1, [2, 3]]} ${{}}`,
      s + null + undefined + true + [1],
    ]);
    see(f(v(1), "abcb", 1), f(v(1), "b", 2), f(v(1), "zé𝒳", 3), f(v(1), "", 0), f(v(1), "abcb", 255));
  },
  "math functions"({ compile, see }) {
    const f = compile((x: Tensor, a: number) => [
      x.mul(a),
      Math.hypot(a, 4),
      Math.cbrt(a),
      Math.fround(a),
      Math.clz32(a),
      Math.imul(a, 3),
      Math.atan2(a, 2),
      Math.expm1(a),
      Math.log1p(a),
      Math.trunc(a),
      Math.round(a),
      Math.floor(a),
      Math.ceil(a),
      Math.max(),
      Math.min(),
      Math.max(a, NaN),
      Number.isInteger(a),
      Number.isSafeInteger(a),
      isNaN(a),
      a.toPrecision(3),
      Math.pow(a, 0.5),
      Math.PI * a,
      Number.EPSILON,
    ]);
    for (const a of [1, 2.5, -2.5, 0.5, -0.5, 3, 1e10]) see(f(v(1), a));
  },
};

type Script = (...args: unknown[]) => unknown;

/** Evaluated texts: each is one script for all runs, since the debugger tells of all scripts whenever one is new. */
const evaluated = new Map<string, (log: unknown[]) => Script[]>();

/** Functions from the texts of their bodies, for what the linter would have written differently. */
function scripts(parameters: string, bodies: readonly string[], strict = true): Script[] {
  const functions = bodies.map((body) => `function (${parameters}) { ${body} }`);
  const text = `${strict ? '"use strict";' : ""} return [${functions.join()}];`;
  const make = evaluated.get(text) ?? new Function("log", text) as (log: unknown[]) => Script[];
  evaluated.set(text, make);
  return make(script.log);
}

/** One such function. */
function script(parameters: string, body: string, strict = true): Script {
  const [made] = scripts(parameters, [body], strict);
  if (!made) throw new TypeError("Expected a function");
  return made;
}
script.log = [] as unknown[];

/** Programs in a style of their own: falling through, overriding results, sloppy mode. */
export const scriptPrograms: Corpus = {
  "callers, what async generators inherit, and names in the engine's errors"({ compile, attempt }) {
    const bodies = [
      "let told = false; function f(again) { if (!again) g(); else told = true; } function g() { arguments.callee.caller(true); } x = x.add(1); f(); return [told, x.add(2)];",
      "let told = 0; function f(n) { told += n; if (n < 2) g(); } function g() { const who = g.caller; who(2); } x = x.add(1); f(1); return [told, x.add(2)];",
      "const g = async function* () {}, P = Object.getPrototypeOf(g.prototype); x = x.add(1); g.prototype = null; return [P === Object.getPrototypeOf(g()), P[Symbol.toStringTag], Object.getPrototypeOf(g)[Symbol.toStringTag], x.add(1)];",
      "let list = { first: {} }; x = x.add(1); (0, eval)('1'); list.first.second(); return x;",
      "let list; x = x.add(1); (0, eval)('1'); x = x.add(1); list(); return x;",
      "const own = { configurable: true, set(v) { this.other = v; } }; Object.defineProperty(Number.prototype, 'own', own); try { (5).own = 3; } catch (e) { return [x.add(1), e.message]; } finally { delete Number.prototype.own; }",
      "{ let NaN = 3; x = x.add(NaN); } (0, eval)('1'); let undefined = 4, one = 0 / 0; { let one = 1; (0, eval)('1'); x = x.add(one); } return [one, typeof undefined, x.add(1)];",
    ];
    for (const body of scripts("x", bodies)) {
      const f = compile(body);
      for (let i = 0; i < 2; i++) attempt(() => f(v(1)));
    }
  },
  "__proto__ in literals and as a property"({ compile, attempt }) {
    const bodies = [
      "const o = { __proto__: function () {} }; return [x.add(1), Object.getPrototypeOf(o).name, Object.keys(o).length];",
      "const o = { __proto__: () => 3, n: 1 }; return [x.add(1), typeof o.__proto__, Object.getPrototypeOf(o).name];",
      "const o = { ['a']: () => 3, ['b']() {}, get ['c']() { return 1; } }; return [x.add(1), o.a.name, o.b.name, Object.getOwnPropertyDescriptor(o, 'c').get.name];",
      "const o = { ['__proto__']: () => 3 }; return [x.add(1), o.__proto__.name];",
      "const __proto__ = () => 3, o = { __proto__ }; return [x.add(1), Object.keys(o).join(), o.__proto__.name];",
    ];
    for (const body of scripts("x", bodies)) {
      const f = compile(body);
      for (let i = 0; i < 2; i++) attempt(() => f(v(1)));
    }
  },
  "what a constructor, a generator and a class are made by, at the very end"({ compile, attempt }) {
    const bodies = [
      "class C extends class {} { constructor() { super(); try { return 0; } catch (e) { return; } } } return [x.add(1), new C()];",
      "class A { v = x; } class C extends A { w = this.v.mul(2); constructor() { const begin = () => () => super(); begin()(); } } return new C().w;",
      "const noted = []; class A { constructor() { noted.push('A'); } } class C extends A { f = noted.push('f'); constructor() { super(); const again = () => super(); try { again(); } catch (e) { noted.push(String(e)); } } } return [x.add(new C().f), noted];",
      "function f() { return typeof arguments; var arguments = 1; } function g(a = 1) { var arguments; return arguments.length; } return [x.add(1), f(1), g(1, 2)];",
      "let reads = 0; const end = { done: true, get value() { reads++; return 4; } }, it = { next: () => ({ value: 1 }), return: () => end, [Symbol.iterator]() { return it; } }; const g = (function* () { try { yield* it; } finally { x = x.add(1); } })(); g.next(); return [x.add(1), g.return(3).value, reads, x];",
      "const one = { value: 1, done: undefined, extra: 5 }, it = { next: () => one, [Symbol.iterator]() { return it; } }; const g = (function* () { yield* it; })(); const r = g.next(); return [x.add(r.value), r === one, r.done, r.extra];",
      "class C { static { var k = 3; { let k = 4; x = x.mul(k); } this.k = k; } } return x.add(C.k);",
      "class C extends class {} { constructor() { try { return; } catch (e) { return {}; } } } return [x.add(1), new C()];",
      "class C extends class {} { constructor() { super(); try { return { n: 3 }; } finally { x = x.add(1); } } } return x.mul(new C().n);",
      "var g = function* (a = (g.prototype = null)) {}; var old = g.prototype; return [x.add(1), Object.getPrototypeOf(g()) === old];",
      "class C extends (function () { return arguments.callee; }) {} return [x.add(1), new C()];",
      "class C extends (() => function () { this.self = this === undefined; })() {} return [x.add(1), new C().self];",
    ];
    for (const body of scripts("x", bodies, false)) {
      const f = compile(body);
      for (let i = 0; i < 2; i++) attempt(() => f(v(1)));
    }
  },
  "strict code in sloppy functions"({ compile, attempt }) {
    const bodies = [
      "(0, eval)('1'); class C extends (function () { return arguments.callee; }) {} return [x.add(1), new C()];",
      "let f, g, h; (0, eval)('1'); class C extends (f = function (a = 1) { return [this, a]; }, g = function (a) { arguments[0] = 4; return [this, a]; }, h = () => (function () { return this; })(), Object) {} return [x.add(1), f(), g(1), h()];",
      "const o = Object.freeze({ a: 1 }); (0, eval)('1'); class C extends (o.a = 2, Object) {} return x.add(1);",
      "const o = Object.freeze({ a: 1 }); class C extends (delete o.a, Object) {} return x.add(1);",
      "const o = Object.freeze({ a: 1 }); (0, eval)('1'); class C extends ((0, eval)('1'), delete o.a, Object) {} return x.add(1);",
      "class C extends (undeclaredByAnyone = x.add(2), Object) {} return x;",
      "const f = function g() { x = x.add(1); class C extends (g = 1, Object) {} return x; }; return f();",
      "const f = function g() { (0, eval)('1'); const h = [() => { 'use strict'; g = 1; }, () => { g = 1; return g === f; }]; x = x.add(1); return (0, eval)('(h, x) => [x, h[1](), h[0]()]')(h, x); }; return f();",
    ];
    for (const body of scripts("x", bodies, false)) {
      const f = compile(body);
      for (let i = 0; i < 2; i++) attempt(() => f(v(1)));
    }
  },
  "arguments that change while they are iterated over"({ compile, attempt }) {
    const bodies = [
      "function own() { 'use strict'; let y = x, i = 0; for (const n of arguments) { y = y.mul(n); arguments[++i] *= 2; } return y; } return own(1, 2, 3);",
      "function own() { let y = x; for (const n of arguments) { y = y.add(n); if (n === 2) arguments.length = 3; } return y; } return own(1, 2, 3, 4);",
      "function own() { let y = x; for (const n of arguments) { console.log(y.sum().item()); y = y.add(n); arguments[2] = 7; } return y; } return own(1, 2, 3);",
    ];
    for (const body of scripts("x", bodies)) {
      const f = compile(body);
      for (let i = 0; i < 2; i++) attempt(() => f(v(1)));
    }
  },
  "using what cannot be disposed of"({ compile, attempt }) {
    const bodies = [
      "{ using a = true; } return x.add(1);",
      "try { using a = { [Symbol.dispose]: 3 }; } catch (e) { return [x.add(1), e.name, e.message]; }",
      "try { using a = 'text'; } catch (e) { return [x.add(1), e.name, e.message]; }",
      "{ using a = {}; } return x.add(1);",
      "{ using a = null, b = { [Symbol.dispose]() { x = x.add(2); } }; } return x.add(1);",
    ];
    for (const body of scripts("x", bodies)) {
      const f = compile(body);
      for (let i = 0; i < 2; i++) attempt(() => f(v(1)));
    }
  },
  "arguments that is assigned"({ compile, attempt }) {
    const bodies = [
      "arguments = 4; return [x.add(1), arguments];",
      "function own() { arguments = x.add(1); const get = () => arguments; arguments = x.add(2); return get(); } return own(1);",
      "function own() { [arguments] = [x]; (() => { arguments = x.add(7); })(); return arguments; } return own(1);",
      "function own() { return [x.add(1), arguments++, arguments]; } return own(1);",
      "function* own() { ({ arguments = 4 } = {}); yield [x.add(1), arguments]; } return own(1).next().value;",
    ];
    for (const body of scripts("x", bodies, false)) {
      const f = compile(body);
      for (let i = 0; i < 2; i++) attempt(() => f(v(1)));
    }
  },
  "classes with direct eval inside, and with their own names in what they extend"({ compile, attempt }) {
    const bodies = [
      "let n = 0; class A { y = eval('n = 3; 4'); } return [x.add(new A().y), n];",
      "let n = 0; class A { static { eval('n = 3'); } } return x.add(n);",
      "let k = class k extends k {}; return x.add(1);",
      "let k = class k extends (() => k, Object) { n = 2; }; return x.add(new k().n);",
    ];
    for (const body of scripts("x", bodies)) {
      const f = compile(body);
      for (let i = 0; i < 2; i++) attempt(() => f(v(1)));
    }
  },
  "iteration of arrays that is replaced in the middle"({ compile, attempt }) {
    const bodies = [
      "delete Array.prototype[Symbol.iterator]; const y = x.add(1); log.push(y.sum().item()); return y.mul(2);",
      "Array.prototype[Symbol.iterator] = function* () { yield 7; }; const [n] = [1]; log.push(n); return x.add(n);",
      "const y = x.add(1); delete Array.prototype[Symbol.iterator]; try { const [n] = [y]; } catch (e) { log.push(e.name); } return y.mul(2);",
    ];
    const { [Symbol.iterator]: iterate } = Array.prototype;
    for (const body of scripts("x, log", bodies)) {
      const f = compile(body);
      for (let i = 0; i < 2; i++) {
        const log: unknown[] = [];
        const run = () => {
          try {
            return f(v(1), log);
          } finally {
            Object.defineProperty(Array.prototype, Symbol.iterator, {
              value: iterate,
              writable: true,
              enumerable: false,
              configurable: true,
            });
          }
        };
        attempt(() => [run(), log]);
      }
    }
  },
  "switch with fallthrough, default in the middle and lexical bindings"({ compile, see }) {
    const f = compile(script(
      "x, k",
      `
      const log = [], mark = (n) => (log.push("t" + n), n);
      switch (k) {
        case mark(1): log.push("one");
        case mark(2): { const w = 3; x = x.mul(w); break; }
        default: log.push("default");
        case mark(4): x = x.add(1);
        case mark(5): x = x.add(2); break;
        case mark(6): return [x, log, "six"];
      }
      return [x, log];`,
    ));
    for (const k of [1, 2, 3, 4, 5, 6, "1", NaN, null]) see(f(v(1), k));
  },
  "finally that overrides results"({ compile, attempt }) {
    const f = compile(script(
      "x, k",
      `
      for (let i = 0; i < 3; i++) {
        try {
          if (k === 0) return x.add(1);
          if (k === 1) throw new Error("one");
          if (k === 2) continue;
          x = x.mul(2);
        } catch (e) {
          if (i === 1) return [x, e.message];
        } finally {
          x = x.add(10);
          if (k === 3 && i === 1) break;
          if (k === 4) return "four";
        }
      }
      return x;`,
    ));
    for (const k of [0, 1, 2, 3, 4, 5]) attempt(() => f(v(1), k));
  },
  "loose equality and typeof"({ compile, see }) {
    const f = compile(script(
      "x, a, b",
      `
      return [x.add(1), a == b, a != b, a === b, typeof a, typeof b, !a, !!b, a ?? b, a || b, a && b, void a];`,
    ));
    const values = [0, "", "0", null, undefined, false, NaN, "a", 1n, [], [0], {}];
    for (let i = 0; i < values.length; i++) see(f(v(1), values[i], values[(i * 5 + 1) % values.length]));
  },
  "arguments objects"({ compile, see }) {
    const f = compile(script(
      "x",
      `
      const all = arguments, list = Array.from(all).slice(1);
      return [x.add(all.length), list, Array.prototype.slice.call(all, 1).length, all[1], 5 in all, Object.keys(all)];`,
    ));
    see(f(v(1)), f(v(1), 2), f(v(1), 2, 3), f(v(1), undefined));
  },
  "default parameters see earlier ones and run in order"({ compile, see }) {
    script.log.length = 0;
    const f = compile(
      script(
        "x, a = log.push('a'), b = a * 2, { c = b + log.push('c'), d } = { d: a }, e = () => a + b",
        `
      a += 1;
      return [x.add(a + b + c), d, e()];`,
      ),
    );
    see(f(v(1)), f(v(1), 5), f(v(1), undefined, 5), f(v(1), 1, 2, { c: 3, d: 4 }), f.length, script.log);
  },
  "hoisting, shadowing and temporal dead zones"({ compile, attempt }) {
    const f = compile(script(
      "x, k",
      `
      const r = [typeof hoisted, hoisted(), typeof late];
      function hoisted() { return "h"; }
      var late = 3;
      { const x = 5; r.push(String(x)); }
      if (k === 1) { const use = () => tdz; use(); }
      const tdz = 1;
      return [x.add(tdz + late), r];`,
    ));
    for (const k of [0, 1, 0]) attempt(() => f(v(1), k));
  },
  "arrays, maps and sets with iterators of their own"({ compile, see }) {
    const log: string[] = [];
    const own = <T extends object>(object: T, name: string): T =>
      Object.assign(object, {
        *[Symbol.iterator]() {
          log.push(name);
          yield* [7, [8, 9]];
        },
      });
    const f = compile((x: Tensor, list: number[], map: Map<number, number>, set: Set<number>) => {
      const [a] = list, [, ...rest] = set;
      const found = [a, rest, [...list], Math.max(...list as [number]), Array.from(list), new Set(list)];
      for (const each of map) found.push(each);
      return [x.add(1), found];
    });
    for (let n = 0; n < 3; n++) {
      see(f(v(1, n), own([1], "array"), own(new Map([[1, n]]), "map"), own(new Set([n]), "set")), log);
    }
    see(f(v(1), [1], new Map([[1, 2]]), new Set([1])), log);
  },
  "what follows a break keeps conditions, constants and names"({ compile, see, attempt }) {
    const f = compile(script(
      "x, o, log",
      `
      const fixed = 1;
      const set = (k) => { fixed = k; };
      function again(k) { return k > 0 ? again(k - 1) + fixed : 0; }
      const named = (a = x) => { var x = a.add(1); return x; };
      log(1);
      try {
        if (delete o.b) { }
        try { set(o.k); } catch (error) { log(error.name); }
        const A = class { static name() { return "own"; } };
        return [named(), again(3), A.name(), fixed, o];
      } finally {
        log("end");
      }`,
    ));
    const log: unknown[] = [];
    for (const k of [1, 2, 3]) attempt(() => f(v(k), { k, b: 1 }, compiler.disable((n) => log.push(n))));
    see(log);
  },
  "functions with eval or with, reached in every way"({ compile, see, attempt }) {
    const texts = [
      "const h = function (y) { var z = 4; return eval('z + y'); }; return x.add(h(1));",
      "const h = function* (y) { var z = 4; yield eval('z + y'); }; return x.add([...h(1)][0]);",
      "const h = (y) => eval('y'); console.log(1); return [x.add(1), h(5), h.length];",
      "const make = () => (y) => eval('y + 1'); return x.add([1, 2].map(make()).length);",
      "class A { m() { return eval('5'); } } return x.add(new A().m());",
      "function F(y) { this.y = eval('y'); } return x.add(new F(3).y);",
      "const o = { m() { with ({ a: 5 }) { return a; } } }; return x.add(o.m());",
    ];
    for (const body of scripts("x", texts, false)) {
      const f = compile(body);
      attempt(() => f(v(1)));
      attempt(() => f(v(1, 2)));
    }
    see("end");
  },
  "super of an object without prototype, and constructors that never call it"({ compile, attempt }) {
    const o = {
      get(): unknown {
        return Reflect.get(super.constructor, "name");
      },
      put(): void {
        (super.constructor as unknown) = 1;
      },
    };
    Object.setPrototypeOf(o, null);
    const f = compile((x: Tensor, key: "get" | "put") => {
      try {
        return o[key]();
      } catch (error) {
        return [x.add(1), (error as Error).name, (error as Error).message];
      }
    });
    attempt(() => f(v(1), "get"));
    attempt(() => f(v(1), "put"));
    const g = compile(script(
      "x, k",
      `
      class A extends Object { constructor(k) { if (k) return { k }; } }
      return [x.add(1), new A(k)];`,
    ));
    for (const k of [1, 0, 2]) attempt(() => g(v(1), k));
    const B = new Function("return class extends Object { constructor(k) { if (k) return { k }; } }")();
    const h = compile((x: Tensor, k: number) => [x.add(1), new B(k)]);
    for (const k of [1, 0, 2]) attempt(() => h(v(1), k));
  },
  "sloppy functions: refused writes, receivers, globals"({ compile, see, attempt }) {
    const f = compile(script(
      "x, o",
      `
      o.a = 5; delete o.a; o.n = 1;
      log.push(this === globalThis || typeof this);
      const y = x.mul(2);
      console.log("middle");
      o.b = 7;
      const g = function () { return this === globalThis; };
      return [y, o.b, g(), typeof undeclared];`,
      false,
    ));
    const all = [
      {},
      Object.freeze({ a: 1 }),
      Object.freeze({}),
      Object.defineProperty({}, "a", { value: 3 }),
    ];
    for (const o of all) {
      attempt(() => f(v(1), o));
      see(o);
    }
    const g = compile(
      script("x", "console.log(1); return [x.add(1), typeof this, this === globalThis];", false),
    );
    for (const self of [undefined, 5, "s", {}, null]) attempt(() => Reflect.apply(g, self, [v(1)]));
    const h = compile(script("x", "leaked = x; with ({ z: 3 }) { x = x.mul(z); } return x;", false));
    attempt(() => h(v(1)));
    see(Reflect.get(globalThis, "leaked"), Reflect.deleteProperty(globalThis, "leaked"));
  },
};
