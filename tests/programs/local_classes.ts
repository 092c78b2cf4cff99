/** Programs whose functions define classes with code that runs immediately, and create symbols. */
import { compiler, type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });

/** Programs without a break. */
export const localClasses: Corpus = {
  "static blocks, in order with static fields"({ compile, see }) {
    const f = compile((x: Tensor) => {
      class Counter {
        static first: number;
        static {
          const one = 1;
          const two = 2;
          this.first = one + two;
        }
        static second = this.first * 2;
        static {
          Counter.first++;
          x = x.mul(Counter.second);
        }
      }
      return [x.add(Counter.first), Counter.second];
    });
    see(f(v(1)), f(v(2)));
  },
  "static private members"({ compile, see }) {
    const f = compile((x: Tensor) => {
      class Store {
        static #held = x;
        static #double() {
          return this.#held.mul(2);
        }
        static get #offset() {
          return 7;
        }
        static get() {
          return this.#double().add(Store.#offset);
        }
        static set(value: Tensor) {
          this.#held = value;
        }
        static has(value: object) {
          return #held in value;
        }
      }
      const before = Store.get();
      Store.set(x.neg());
      return [before, Store.get(), Store.has(Store), Store.has({}), Store.has(class extends Store {})];
    });
    see(f(v(1)), f(v(2)));
  },
  "super of static fields and blocks is the parent"({ compile, see }) {
    const f = compile((x: Tensor) => {
      class A {
        static scale = 4;
      }
      class B extends A {
        static own = super.scale + 1;
        static {
          x = x.add(super.scale);
        }
      }
      return [x, B.own];
    });
    see(f(v(1)));
  },
  "a static block that throws"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const noted: string[] = [];
      try {
        class Local {
          static {
            noted.push("begun");
            if (x.shape[0] === 1) throw new RangeError("too small");
          }
        }
        return [x, Local.name, noted];
      } catch (error) {
        return [x.mul(2), String(error), noted];
      }
    });
    see(f(v(1, 2)));
  },
  "members by symbols of the language"({ compile, see }) {
    const f = compile((x: Tensor) => {
      class Range {
        constructor(readonly count: number) {}
        *[Symbol.iterator]() {
          for (let k = 0; k < this.count; k++) yield x.add(k);
        }
        [Symbol.toPrimitive](hint: string) {
          return hint === "number" ? this.count : `range ${this.count}`;
        }
      }
      const range = new Range(3);
      const { [Symbol.iterator]: iterate } = Range.prototype;
      return [[...range], x.mul(+range), `${range}`, iterate.name];
    });
    see(f(v(1)));
  },
  "members whose keys are computed, in order"({ compile, see }) {
    const mark = Symbol("mark"), first = "a", second = "b";
    const f = compile((x: Tensor, names: readonly string[], n: number) => {
      const log: string[] = [], note = (text: string) => (log.push(text), text);
      class Base {
        [first] = n;
        base() {
          return 2;
        }
      }
      class Local {
        [first] = note("value of a");
        static [second] = note("value of b");
        static [note("c")]() {}
        [note("d")]() {}
        static {
          note("block");
        }
        get [`${names[0]}${n}`]() {
          return n + 1;
        }
        set [names[1]!](given: number) {
          this.given = given;
        }
        static [mark](t: Tensor) {
          return t.mul(n);
        }
        [n](k: number) {
          return k * 2;
        }
        *[Symbol.iterator]() {
          yield* [1, 2];
        }
        given = 0;
      }
      const key = names[1]!;
      const Heir = class extends Base {
        [key]() {
          return super.base() + 1;
        }
        [Symbol.toPrimitive]() {
          return 5;
        }
      };
      const local = new Local(),
        heir = new Heir(),
        read = (owner: object, name: PropertyKey) => Reflect.get(owner, name);
      Reflect.set(local, key, 7);
      const numbers = [
        read(local, `${names[0]}${n}`),
        local.given,
        read(local, n)(4),
        read(heir, key).call(heir),
      ];
      return [
        [read(Local, mark)(x), x.mul(+heir), numbers, [...local], log],
        [
          Object.getOwnPropertyNames(Local.prototype),
          Object.keys(local),
          Object.keys(heir),
          read(local, n).name,
        ],
      ];
    });
    see(f(v(1), ["p", "q"], 3), f(v(2), ["p", "q"], 3));
  },
  "symbols as keys and as kinds"({ compile, see }) {
    const f = compile((x: Tensor, which: number) => {
      const a: symbol = Symbol("a"), b: symbol = Symbol();
      const held: Record<symbol, number> = { [a]: 2, [b]: 3 };
      const run = (kind: symbol) => kind === a ? x.add(1) : x.mul(2);
      const names = new Map([[a, "first"], [b, "second"]]);
      return [
        run(which === 0 ? a : b).mul(held[a]!),
        [a.description, b.description, String(a), typeof b, a === b, a in held],
        [Object.getOwnPropertySymbols(held).length, Object.keys(held).length, names.get(b)],
      ];
    });
    see(f(v(1), 0), f(v(1), 1), f(v(1), 0));
  },
  "symbols that leave are others at each call"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const key: symbol = Symbol("key");
      const made: Record<symbol, unknown> = { [key]: x.add(1), [Symbol.iterator]: 1 };
      return { key, made, fn: { [key]() {} }[key] };
    });
    const [first, second] = [f(v(1)), f(v(2))];
    see(first.key === second.key, first.made[first.key], second.made[second.key], first.made[second.key]);
    see(first.fn?.name, first.key.toString(), Object.getOwnPropertySymbols(first.made).length);
  },
  "weak references within a call"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const held = { scale: 2 }, reference = new WeakRef(held), tensors = new WeakRef(x);
      held.scale = 3;
      return [x.mul(reference.deref()?.scale ?? 0), tensors.deref() === x, reference instanceof WeakRef];
    });
    see(f(v(1)), f(v(2)));
  },
  "symbols compared with other primitives"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const s: unknown = Symbol("s");
      return [x.add(1), 1n == s, s == 1n, s != 1, s == "s", s == true];
    });
    see(f(v(1)));
  },
};

/** Programs that break, or throw. */
export const brokenClasses: Corpus = {
  "functions of private members, made by a method after a break"({ compile, see }) {
    const f = compile((x: Tensor) => {
      class Total {
        #sum = x;
        set sum(value: Tensor) {
          compiler.graphBreak();
          this.#sum = value;
        }
        later(by: Tensor) {
          this.sum = this.#sum.add(by);
          const add = (more: Tensor) => this.#sum = this.#sum.add(more);
          return (more: Tensor) => #sum in this ? add(more).mul(2) : more;
        }
      }
      const total = new Total(), later = total.later(x.mul(3));
      return [later(x), later(x.neg())];
    });
    for (let i = 0; i < 3; i++) see(f(v(i, 2)));
  },
  "classes with computed keys that leave, and keys that the class itself has to evaluate"({ compile, see }) {
    const own = "own";
    const f = compile((x: Tensor, name: string) => {
      const log: string[] = [];
      const key = (text: string) => ({
        toString() {
          log.push(text);
          return text;
        },
      });
      class Local {
        [own] = x;
        get [name + "2"]() {
          return 2;
        }
        static [`${name}3`](n: number) {
          return n + name.length;
        }
      }
      class Named {
        [own] = () => 1;
        static [key("b") as unknown as string]() {}
        static [(log.push("between"), "c")]() {}
      }
      const named = new Named()[own];
      return { Local, log, named: named.name };
    });
    for (const name of ["p", "q"]) {
      const { Local, ...rest } = f(v(1), name), local = new Local();
      see(rest, local, Reflect.get(local, `${name}2`), Reflect.get(Local, `${name}3`)(4), Local.name);
    }
  },
  "symbols that are no operands"({ compile, attempt }) {
    const f = compile((x: Tensor, which: number) => {
      const s = Symbol("s") as unknown as number;
      try {
        if (which === 0) return [x, s + 1];
        if (which === 1) return [x, s < 1];
        if (which === 2) return [x, `${s}`];
        if (which === 3) return [x, Symbol(s)];
        return [x, Reflect.construct(Symbol, [])];
      } catch (error) {
        return [x.add(1), String(error)];
      }
    });
    for (const which of [0, 1, 2, 3, 4]) attempt(() => f(v(1), which));
  },
  "weak references that leave, and those from outside"({ compile, see, attempt }) {
    const outside = new WeakRef({ scale: 4 });
    const f = compile((x: Tensor, which: number) => {
      const held = { scale: 2 };
      if (which === 0) return { held, reference: new WeakRef(held), y: x.add(1) };
      return { held, reference: which === 1 ? outside : new WeakRef(1 as never), y: x.add(2) };
    });
    for (const which of [0, 1]) {
      const { held, reference, y } = f(v(1), which);
      see(reference.deref()?.scale, reference.deref() === held, y);
    }
    attempt(() => f(v(1), 2));
  },
  "objects that only inherit from weak references, and one that no longer does"({ compile, see, attempt }) {
    const heir = Object.assign(Object.create(WeakRef.prototype), { scale: 4 });
    const changed = Object.setPrototypeOf(new WeakRef({ scale: 3 }), { more: 2 });
    const f = compile((x: Tensor, of: { scale?: number; more?: number }) => {
      const target = WeakRef.prototype.deref.call(of as WeakRef<{ scale: number }>);
      return x.mul(target?.scale ?? 1).add(of.more ?? 0);
    });
    attempt(() => f(v(1), heir));
    see(f(v(1), changed), compile((x: Tensor) => x.mul(heir.scale))(v(2)));
  },
  "a block that prints"({ compile, see }) {
    const f = compile((x: Tensor) => {
      class Local {
        static scale = 2;
        static {
          console.log("made", Local.scale);
          x = x.mul(Local.scale);
        }
      }
      return [x.add(1), Local.name];
    });
    see(f(v(1)), f(v(2)));
  },
};
