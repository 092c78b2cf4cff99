/** Programs about properties: their flags, refused changes, literals that a break interrupts. */
import { type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });

/** A class whose arrays say that they are shorter. */
class Short extends Float32Array {
  override get length(): 1 {
    return 1;
  }
}

export const properties: Corpus = {
  "typed arrays whose length, iterator or prototype is replaced"({ compile, attempt }) {
    const uses: ((list: Float32Array) => unknown)[] = [
      (list) => [list.map((n) => n + 1), list.find((n) => n > 42), list.reduce((a, b) => a + b)],
      (list) => [Float32Array.from(list), Array.prototype.map.call(list, (n) => n), tensor(list)],
    ];
    const own = { get: () => 0, configurable: true },
      changes: ((list: Float32Array) => void)[] = [
        (list) => Object.defineProperty(list, "length", own),
        (list) => Object.defineProperty(list, "length", { value: 1 }),
        (list) => Object.defineProperty(list, Symbol.iterator, { value: [7].values.bind([7]) }),
        (list) => Object.setPrototypeOf(list, Short.prototype),
        (list) => Object.setPrototypeOf(list, Array.prototype),
        (list) => Object.setPrototypeOf(list, null),
      ];
    for (const use of uses) {
      for (const change of changes) {
        const inside = compile((x: Tensor) => {
          const list = new Float32Array([42, 43]);
          change(list);
          return [x.add(1), use(list)];
        });
        const outside = compile((x: Tensor, list: Float32Array) => [x.add(1), use(list)]);
        const list = new Float32Array([42, 43]);
        attempt(() => inside(v(1)));
        attempt(() => outside(v(1), list));
        change(list);
        attempt(() => outside(v(1), list));
      }
    }
  },
  "Reflect.set says whether a write is refused"({ compile, see, attempt }) {
    const got: unknown[] = [];
    const f = compile((x: Tensor, o: object) => [
      x.add(1),
      Reflect.set(o, "a", 2),
      Reflect.set(o, "b", 2),
      Reflect.set(
        {
          set c(value: unknown) {
            got.push(value);
          },
        },
        "c",
        4,
      ),
      Reflect.set(
        {
          get d() {
            return 1;
          },
        },
        "d",
        4,
      ),
      Reflect.set([1, 2], "length", 1),
    ]);
    for (const o of [{}, { a: 1 }, Object.freeze({ a: 1 }), Object.preventExtensions({ a: 1 })]) {
      attempt(() => f(v(1), o));
      see(o);
    }
    see(got);
  },
  "what is read where the program has deleted it"({ compile, see }) {
    class Base {
      get kind() {
        return "base";
      }
      name() {
        return "name";
      }
    }
    const own = (): Base => {
      const made = new Base();
      Object.defineProperty(made, "kind", { value: "own", configurable: true });
      return Object.assign(made, { name: () => "own" });
    };
    const f = compile((x: Tensor, list: number[], o: Base) => {
      const former = [list[0], o.kind, o.name()];
      delete list[0];
      Reflect.deleteProperty(o, "kind");
      Reflect.deleteProperty(o, "name");
      return [x.add(1), former, list[0], list.map((e) => e + 1), o.kind, o.name()];
    });
    see(f(v(1), [5, 6], own()), f(v(2), [5, 6], own()), f(v(2), [], new Base()), f(v(2), [1, 2], own()));
    const g = compile((list: number[]) => {
      delete list[0];
      return [list[0], list.length];
    });
    see(g([5, 6]), g([7]), g([]));
  },
  "properties and elements whose flags differ from call to call"({ compile, see, attempt }) {
    type Any = Record<string, unknown>;
    const flagged = (flags: PropertyDescriptor) => Object.defineProperty<Any>({ a: 1 }, "a", flags);
    const objects: (() => Any)[] = [
      () => ({ a: 1 }),
      () => flagged({ writable: false }),
      () => flagged({ configurable: false }),
      () => flagged({ enumerable: false }),
      () =>
        flagged({
          get: () => 4,
          set(this: Any, value) {
            this["got"] = value;
          },
        }),
      () => Object.freeze({ a: 1 }),
      () => ({}),
      () => Object.create(Object.freeze({ a: 3 })),
    ];
    const element = (flags: PropertyDescriptor) => Object.defineProperty([1, 2], "0", flags);
    const lists: (() => number[])[] = [
      () => [1, 2],
      () => element({ writable: false }),
      () => element({ configurable: false }),
      () => Object.freeze([1, 2]) as number[],
      () => Object.defineProperty([1, 2], "length", { writable: false }),
      () => Object.seal([1, 2]),
      () => [],
      () => [1, 2],
    ];
    const uses: ((o: Any, list: number[]) => unknown)[] = [
      (o) => Object.keys(Object.defineProperty(o, "a", { value: o["a"], enumerable: false })),
      (o) => Object.defineProperty(Object.defineProperty(o, "z", { value: 1 }), "z", { value: 1 }),
      (o) => Object.getOwnPropertyDescriptor(Object.defineProperty(o, "a", { get: () => 5 }), "a"),
      (o) => [Reflect.defineProperty(o, "a", { value: 2 }), o["a"]],
      (o) => (delete o["a"], o["a"] = 3, Object.keys(o)),
      (o) => [Reflect.ownKeys(o), Object.getOwnPropertyNames(o)],
      (o, list) => [Object.getOwnPropertyDescriptor(o, "a"), Object.getOwnPropertyDescriptor(list, "0")],
      (o, list) => [Object.isFrozen(Object.freeze(list)), Object.isSealed(o)],
      (_o, list) => Object.getOwnPropertyDescriptor(Object.defineProperty(list, "0", { value: 5 }), "0"),
      (_o, list) => (list[0] = 9, list.push(1)),
    ];
    for (const use of uses) {
      const f = compile((x: Tensor, o: Any, list: number[]) => [x.add(1), use(o, list)]);
      objects.forEach((object, i) => {
        const o = object(), list = lists[i]?.() ?? [];
        // V8 shows objects in these messages by the names of their classes
        attempt(() => {
          try {
            return f(v(1), o, list);
          } catch (error) {
            return (error as Error).constructor.name;
          }
        });
        see(o, list);
      });
    }
  },
  "literals that are interrupted"({ compile, see }) {
    const log: unknown[] = [];
    const f = compile((x: Tensor, n: number, base: object) => {
      const o = {
        // A method with a home makes the literal member by member
        m() {
          return typeof super.toString;
        },
        v: n,
        set u(e: number) {
          log.push(e);
          this.v = e;
        },
        y: (console.log(x), 2),
        get u() {
          return this.v;
        },
        z: (console.log(x), 2),
        __proto__: base,
        get [`k${x.sum().item()}`](): number {
          return n + 1;
        },
        ...{ w: 1 },
      };
      o.u = n + 1;
      return [x.add(o.u), o, o.m(), Object.getPrototypeOf(o) === base, Object.entries(o)];
    });
    see(f(v(1), 1, { a: 1 }), f(v(2), 5, Array.prototype), log);
  },
  "properties that get the flags of new ones, where they have others"({ compile, see, attempt }) {
    const f = compile((x: Tensor, o: object, value: unknown) => {
      Object.defineProperty(o, "a", { value, writable: true, enumerable: true, configurable: true });
      return x.add(1);
    });
    const hidden = () => Object.defineProperty({}, "a", { value: 1, enumerable: false, configurable: true });
    const read = () =>
      Object.defineProperty({}, "a", { get: () => 1, set: () => see("set"), configurable: true });
    for (const make of [hidden, read, () => ({ a: 1 }), () => ({}), hidden, read]) {
      for (const value of [1, 2]) {
        const o = make();
        attempt(() => f(v(1), o, value));
        see(Object.getOwnPropertyDescriptor(o, "a"));
      }
    }
  },
  "integrity only grows, and empty objects that cannot be extended are frozen"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const a = Object.seal(Object.freeze({ v: 1 })), b = Object.preventExtensions<object>({});
      const c = Object.seal({ v: 1 }),
        d = Object.freeze({
          get v() {
            return 1;
          },
        });
      const objects: object[] = [a, b, c, d];
      return [
        x.add(1),
        a,
        b,
        objects.map((o) => [Object.isFrozen(o), Object.isSealed(o), Object.getOwnPropertyDescriptor(o, "v")]),
      ];
    });
    see(f(v(1)), f(v(1)));
  },
  "what the language makes objects of, and what it refuses"({ compile, attempt }) {
    const uses: (() => unknown)[] = [
      () => [Object.keys(5), Object.values("ab"), Object.entries(true), Object.assign(3, { a: 1 })],
      () => [
        Object.hasOwn("ab" as never, 0),
        Object.getOwnPropertyNames("ab"),
        Object.setPrototypeOf(3, null),
      ],
      () => [Object.getPrototypeOf(3) === Number.prototype, Object.getOwnPropertyDescriptor("ab", "length")],
      () => Object.keys(null as never),
      () => Reflect.getPrototypeOf(3 as never),
      () => Reflect.isExtensible("a" as never),
      () => Reflect.construct(Object, [], undefined as never),
      () => Object.defineProperty({}, "a", { get: () => 1, value: 2 } as never),
      () => Object.defineProperty({}, "a", { get: 1 } as never),
      () => (3 as unknown as object) instanceof Object.assign(() => 1),
      () => ({}) instanceof ({ [Symbol.hasInstance]: () => true } as never),
      () => ({}) instanceof ({} as never),
      () => ((5 as unknown as Record<string, unknown>)["__proto__"] = {}),
      () => ((5 as unknown as Record<string, unknown>)["a"] = {}),
      () => new Array(2_000_000).length,
    ];
    for (const use of uses) {
      const f = compile((x: Tensor) => [x.add(1), use()]);
      attempt(() => f(v(1)));
      attempt(() => f(v(2)));
    }
  },
  "what getters delete and hide is passed over by what lists properties"({ compile, see }) {
    const listed = (x: Tensor, fields: () => Fields) => {
      const { z, ...rest } = fields();
      return [x.add(1), z, rest, { ...fields() }, Object.values(fields()), Object.assign({}, fields())];
    };
    const deleting = (): Fields => ({
      z: 0,
      get a() {
        delete this.b;
        return 1;
      },
      b: 2,
      c: 3,
    });
    const hiding = (): Fields => ({
      z: 0,
      get a() {
        Object.defineProperty(this, "b", { enumerable: false });
        return 1;
      },
      b: 2,
      c: 3,
    });
    for (const fields of [deleting, hiding]) {
      const made = compile((x: Tensor) => listed(x, fields));
      const given = compile((
        x: Tensor,
        one: Fields,
        two: Fields,
      ) => [x.mul(2), Object.entries(one), { ...two }]);
      for (let i = 0; i < 2; i++) see(made(v(i)), given(v(i), fields(), fields()));
    }
  },
  "properties that change between calls"({ compile, see }) {
    const flags = { writable: true, enumerable: true, configurable: true };
    const hidden = { ...flags, enumerable: false }, key = Symbol("key");
    const changes: Readonly<
      Record<
        string,
        readonly [make: () => Fields, use: (o: Fields) => unknown, change: (o: Fields) => unknown]
      >
    > = {
      "a value that becomes writable": [
        () => Object.defineProperty({}, "a", { ...flags, writable: false, value: 1 }),
        (o) => [Reflect.set(o, "a", 5), o.a],
        (o) => Object.defineProperty(o, "a", flags),
      ],
      "an inherited value that becomes writable": [
        () => Object.create(Object.defineProperty({}, "a", { ...flags, writable: false, value: 1 })),
        (o) => [Reflect.set(o, "a", 5), o.a],
        (o) => Object.defineProperty(Object.getPrototypeOf(o), "a", flags),
      ],
      "a setter that a nearer prototype overrides": [
        () => Object.create(new Kept()),
        (o) => [o.v = 4, o.k],
        (o) => {
          Object.defineProperty(Object.getPrototypeOf(o), "v", {
            set(to) {
              this.k = to * 10;
            },
          });
        },
      ],
      "a setter that the object overrides": [
        () => new Kept() as unknown as Fields,
        (o) => [o.v = 4, o.k],
        (o) => Object.defineProperty(o, "v", { ...flags, value: 1 }),
      ],
      "an accessor without a setter": [
        () =>
          Object.create(Object.create({
            get a() {
              return 1;
            },
          })),
        (o) => [Reflect.set(o, "a", 5), o.a],
        (o) => Object.defineProperty(Object.getPrototypeOf(o), "a", { ...flags, value: 1 }),
      ],
      "a field that becomes an accessor": [
        () => ({}),
        (o) => [o.a = 5, o.a],
        (o) => delete o.a && Object.defineProperty(o, "a", { get: () => 9, set() {} }),
      ],
      "a field that is hidden": [
        () => ({ a: 1 }),
        (o) => Object.prototype.propertyIsEnumerable.call(o, "a"),
        (o) => Object.defineProperty(o, "a", hidden),
      ],
      "a field that appears": [
        () => ({ a: 1 }),
        (o) => Object.prototype.propertyIsEnumerable.call(o, "b"),
        (o) => o.b = 1,
      ],
      "a symbol that is hidden": [
        () => ({ a: 1, [key]: 2 }),
        (o) => Reflect.ownKeys({ ...o }).length,
        (o) => Object.defineProperty(o, key, hidden),
      ],
      "another prototype": [
        () => ({ a: 1 }),
        (o) => {
          const keys: string[] = [];
          for (const each in o) keys.push(each);
          return keys;
        },
        (o) => Object.setPrototypeOf(o, { q: 1 }),
      ],
    };
    for (const [make, use, change] of Object.values(changes)) {
      const held = make(), given = make();
      const f = compile((x: Tensor) => [x.add(1), use(held)]);
      const g = compile((x: Tensor, o: Fields) => [x.add(1), use(o)]);
      see(f(v(1)), g(v(1), given));
      for (const o of [held, given]) change(o);
      see(f(v(1)), g(v(1), given), held, given);
    }
  },
  "prototypes that the function itself changes after it has read from them"({ compile, attempt }) {
    for (
      const change of [
        (o: object) => Reflect.set(o, "name", () => "set"),
        (o: object) => Reflect.deleteProperty(o, "name"),
        (o: object) => Reflect.setPrototypeOf(o, { name: () => "given", none: () => "given" }),
        (o: object) => Reflect.defineProperty(o, "none", { get: () => () => "got", configurable: true }),
      ]
    ) {
      class Base {
        declare none?: () => string;
        name() {
          return "base";
        }
      }
      class Middle extends Base {}
      class Sub extends Middle {}
      const f = compile((x: Tensor, o: Sub, changed: object) => {
        const former = [o.name(), o.none?.()];
        change(changed);
        return [x.add(1), former, o.name?.(), o.none?.(), new Sub().name?.(), Reflect.has(o, "none")];
      });
      for (const changed of [Middle.prototype, Base.prototype]) {
        for (let i = 0; i < 2; i++) attempt(() => f(v(1), new Sub(), changed));
      }
    }
  },
  "what new objects and changed ones inherit is hidden between calls"({ compile, see }) {
    class Base {
      get kind() {
        return "base";
      }
      name() {
        return "name";
      }
    }
    class Sub extends Base {}
    const f = compile((x: Tensor, o: Base) => {
      const made: Base = Object.create(o), fresh = new Sub();
      return [x.add(1), made.kind, made.name(), fresh.kind, fresh.name()];
    });
    const g = compile((x: Tensor, o: { none?: number; neither?: number }) => {
      Object.setPrototypeOf(o, { none: 1 });
      return [x.add(1), o.none, o.neither];
    });
    const o = new Sub(), given = {};
    const hide = (on: object, key: string, value: unknown) => {
      Object.defineProperty(on, key, { value, configurable: true });
      see(f(v(1), o), g(v(1), given));
    };
    see(f(v(1), o), g(v(1), given));
    hide(o, "kind", "own");
    hide(o, "name", () => "own");
    hide(Sub.prototype, "kind", "sub");
    hide(Sub.prototype, "name", () => "sub");
    hide(given, "none", 2);
    hide(given, "neither", 3);
  },
  "accessors in literals that begin with a spread come after other members"({ compile, see }) {
    const f = compile((x: Tensor, o: Record<string, number>, key: string, one: () => number) => {
      const y = x.add(1);
      return [
        y,
        {
          ...o,
          get k() {
            return 1;
          },
          v: one(),
          get l() {
            return 2;
          },
          w: y,
        },
        {
          ...o,
          get k() {
            return 1;
          },
          v: 1,
          [key]: 3,
          get l() {
            return 2;
          },
          w: 4,
        },
        {
          ...o,
          set k(given: number) {
            void given;
          },
          v: 1,
          get k() {
            return 1;
          },
          ...o,
          get l() {
            return 2;
          },
          w: 4,
        },
        {
          a: 1,
          get k() {
            return 1;
          },
          v: one(),
          ...o,
          get l() {
            return 2;
          },
          w: 4,
        },
        {
          ...o,
          get k() {
            return super.toString();
          },
          v: 1,
        },
      ];
    });
    for (let i = 0; i < 2; i++) see(f(v(i), { b: 2 }, "key", () => 5));
  },
  "properties that are named like parts of a collection or a function"({ compile, see }) {
    class Table extends Map<string, number> {
      override keys = Object.assign(() => super.keys(), { 0: 5 });
      override values = Object.assign(() => super.values(), { 0: 7 });
    }
    const f = compile((x: Tensor, table: Table) => {
      let sum = 0;
      for (const [, value] of table) sum += value;
      return [x.add(table.keys[0] + sum), table.values[0], Reflect.get(table, "size")];
    });
    for (const first of [5, 9]) {
      for (const value of [1, 50]) {
        const table = new Table([["a", value], ["b", 2]]);
        table.keys[0] = table.values[0] = first;
        see(f(v(1), table), f(v(2), table));
      }
    }
    const shifting = (é: number) => Object.assign((x: Tensor) => x.add(é), { closure: { é: é * 100 } });
    const g = compile((x: Tensor, shift: ReturnType<typeof shifting>) => [shift(x), shift.closure.é]);
    for (const by of [1, 2, 3]) see(g(v(1), shifting(by)));
  },
  "collections with a size of their own"({ compile, see }) {
    const log: string[] = [];
    class Counted<K, T> extends Map<K, T> {
      override get size() {
        log.push("size");
        return super.size;
      }
    }
    const sized = <T extends object>(o: T) => Object.defineProperty(o, "size", { value: 70 });
    const f = compile((x: Tensor, map: Map<string, number>, set: Set<number>) => [
      x.add(1),
      [...map.keys()],
      map.get("a"),
      [...set],
    ]);
    for (const map of [new Map([["a", 1]]), new Counted([["a", 1]]), sized(new Map([["a", 1]]))]) {
      for (const set of [new Set([1, 2]), sized(new Set([1, 2]))]) {
        see(f(v(1), map, set), f(v(2), map, set), log);
      }
    }
  },
};

/** Numbers, some of which accessors give. */
type Fields = Record<PropertyKey, number | undefined>;

class Kept {
  k = 0;
  set v(to: number) {
    this.k = to;
  }
}
