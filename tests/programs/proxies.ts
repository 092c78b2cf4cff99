/** Programs that create and use proxies. */
import { type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });

/** Numbers that every program has, and whatever else it makes. */
interface Fields extends Record<string, number> {
  a: number;
}

const fields = (given: Fields): Fields => given;

/** A proxy that notes each trap, and does what would be done without. */
function noting(target: Fields, log: string[]): Fields {
  return new Proxy(target, {
    get(of, key, receiver) {
      log.push(`get ${String(key)}`);
      return Reflect.get(of, key, receiver);
    },
    set(of, key, value, receiver) {
      log.push(`set ${String(key)}`);
      return Reflect.set(of, key, value, receiver);
    },
    has(of, key) {
      log.push(`has ${String(key)}`);
      return Reflect.has(of, key);
    },
    deleteProperty(of, key) {
      log.push(`delete ${String(key)}`);
      return Reflect.deleteProperty(of, key);
    },
    ownKeys(of) {
      log.push("keys");
      return Reflect.ownKeys(of);
    },
  });
}

class Scaled {
  constructor(public by: number) {}
  run(x: Tensor): Tensor {
    return x.mul(this.by);
  }
}

/** Programs without a break. */
export const proxies: Corpus = {
  "traps, in their order"({ compile, see }) {
    const log: string[] = [];
    const state = noting(
      fields({
        a: 3,
        twice: 0,
      }),
      log,
    );
    Object.defineProperty(state, "twice", {
      get(this: Fields) {
        return this.a * 2;
      },
      set(this: Fields, to: number) {
        this.a = to;
      },
    });
    const f = compile((x: Tensor) => {
      state.b = 2;
      state.twice = 9;
      state.a += 1;
      const had = "b" in state, gone = delete state.b;
      return [x.mul(state.twice ?? 0), had, gone, "b" in state, Object.keys(state), { ...state }];
    });
    for (let i = 0; i < 3; i++) see(f(v(i)), log.splice(0));
  },
  "a proxy without traps"({ compile, see }) {
    const target = fields({ a: 3 }), same = new Proxy(target, {});
    const f = compile((x: Tensor) => {
      same.b = (same.b ?? 0) + 1;
      const keys: string[] = [];
      for (const key in same) keys.push(key);
      return [x.mul(same.a), keys, Object.entries(same), Object.getPrototypeOf(same) === Object.prototype];
    });
    for (let i = 0; i < 3; i++) see(f(v(i)), target);
  },
  "proxies that are made in the function, and leave it"({ compile, see }) {
    const f = compile((x: Tensor, a: number) => {
      let reads = 0;
      const target = fields({ a });
      const doubled = new Proxy(target, {
        get(of, key) {
          reads++;
          return key === "a" ? of.a * 2 : undefined;
        },
      });
      const y = x.mul(doubled.a);
      return { y, doubled, target, reads: () => reads };
    });
    for (const by of [2, 3, 3]) {
      const { y, doubled, target, reads } = f(v(1, 2), by);
      see(y, doubled.a, target.a, reads());
      target.a = 7;
      see(doubled.a, reads());
    }
  },
  "functions and classes behind proxies"({ compile, see }) {
    let calls = 0;
    const act = new Proxy((x: Tensor, by: number) => x.mul(by), {
      apply(fn, self, [x, by]) {
        calls++;
        return Reflect.apply(fn, self, [x, by + 1]);
      },
    });
    const Made = new Proxy(Scaled, {
      construct(of, [by], newTarget) {
        return Reflect.construct(of, [by * 10], newTarget);
      },
    });
    const plainly = new Proxy((x: Tensor) => x.neg(), {}), Plain = new Proxy(Scaled, {});
    const f = compile((x: Tensor) => {
      const made = new Made(2), plain = new Plain(3);
      return [
        act(x, 1),
        act.call(null, x, 2),
        plainly(x),
        made.run(x),
        plain.run(x),
        [typeof act, made instanceof Scaled, made instanceof Made, plain instanceof Plain],
      ];
    });
    for (let i = 0; i < 3; i++) see(f(v(i, 1)), calls);
  },
  "an object whose methods are bound by a trap"({ compile, see }) {
    const bound = new Proxy(new Scaled(2), {
      get(of, key, receiver) {
        const value = Reflect.get(of, key, receiver);
        return typeof value === "function" ? value.bind(of) : value;
      },
    });
    const f = compile((x: Tensor) => bound.run(x).add(bound.by));
    see(f(v(1)), f(v(2)));
    bound.by = 5;
    see(f(v(1)), bound instanceof Scaled);
  },
  "a proxy of a proxy"({ compile, see }) {
    const inner = new Proxy(fields({ a: 3 }), { get: (of, key) => (of[String(key)] ?? 0) * 2 });
    const outer = new Proxy(inner, {
      get: (of, key, receiver) => Number(Reflect.get(of, key, receiver)) + 1,
    });
    const f = compile((x: Tensor) => x.mul(outer.a));
    see(f(v(1)));
    inner.a = 4;
    see(f(v(1)));
  },
  "traps that come and go"({ compile, see }) {
    const handler: ProxyHandler<Fields> = {}, proxy = new Proxy(fields({ a: 2 }), handler);
    const f = compile((x: Tensor) => x.mul(proxy.a));
    see(f(v(1)));
    handler.get = () => 9;
    see(f(v(1)));
    handler.get = () => 4;
    see(f(v(1)));
    delete handler.get;
    see(f(v(1)));
  },
};

/** Programs that may break: what traps say is not for them to say, or the proxy changes between calls. */
export const brokenProxies: Corpus = {
  "answers that are refused"({ compile, attempt }) {
    const fixed = new Proxy(Object.freeze(fields({ a: 3 })), { get: () => 7, has: () => false });
    const stubborn = new Proxy(fields({ a: 3 }), { set: () => false, deleteProperty: () => false });
    const uses: ((x: Tensor) => unknown)[] = [
      (x) => x.mul(fixed.a),
      (x) => [x.add(1), "a" in fixed],
      (x) => [x.add(1), stubborn.a = 1],
      (x) => [x.add(1), delete (stubborn as Partial<Fields>).a],
      (x) => [x.add(1), Reflect.set(stubborn, "a", 2), Reflect.deleteProperty(stubborn, "a"), stubborn.a],
    ];
    for (const use of uses) {
      const f = compile(use);
      for (let i = 0; i < 2; i++) attempt(() => f(v(i)));
    }
  },
  "functions behind proxies that cannot be constructed"({ compile, attempt }) {
    const arrow = new Proxy(() => 1, { construct: () => ({}) }) as unknown as new () => object;
    const uses: (() => unknown)[] = [
      () => new arrow(),
      () => new (new Proxy(() => 1, { construct: () => ({}) }) as unknown as new () => object)(),
      () => Reflect.construct(Object, [], () => 1),
      () => Reflect.construct(Object, [], arrow),
      () => Reflect.construct(Scaled, [3], new Proxy(Scaled, {})),
    ];
    for (const use of uses) {
      const f = compile((x: Tensor) => [x.add(1), use()]);
      for (let i = 0; i < 2; i++) attempt(() => f(v(i)));
    }
  },
  "properties that are fixed later"({ compile, attempt }) {
    const target = fields({ a: 3 }), proxy = new Proxy(target, { get: () => 7 });
    const f = compile((x: Tensor) => x.mul(proxy.a));
    attempt(() => f(v(1)));
    Object.freeze(target);
    attempt(() => f(v(1)));
  },
  "a proxy that is revoked"({ compile, attempt }) {
    const { proxy, revoke } = Proxy.revocable(fields({ a: 3 }), {});
    const f = compile((x: Tensor) => x.mul(proxy.a));
    attempt(() => f(v(1)));
    revoke();
    attempt(() => f(v(1)));
    attempt(() => f(v(1)));
  },
  "another proxy in each call"({ compile, see }) {
    const f = compile((x: Tensor, state: Fields) => x.mul(state.a));
    for (let i = 1; i < 5; i++) {
      see(f(v(1), new Proxy(fields({ a: i }), { get: (of, key) => of[String(key)] })));
    }
    for (let i = 1; i < 3; i++) see(f(v(1), fields({ a: i })));
  },
  "keys that a trap makes up"({ compile, see }) {
    const made = new Proxy(fields({ a: 0 }), {
      ownKeys: () => ["one", "two"],
      getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }),
      get: (_of, key) => String(key).length,
    });
    const some = new Proxy(fields({ a: 1, b: 2 }), { ownKeys: () => ["b", "c"] });
    const f = compile((x: Tensor) => [x.add(1), Object.keys(made), { ...made }, Reflect.ownKeys(made)]);
    const g = compile((x: Tensor) => [x.add(1), Object.keys(some), Reflect.ownKeys(some), { ...some }]);
    for (let i = 0; i < 2; i++) see(f(v(i)), g(v(i)));
  },
  "lists, iteration, conversion and inheritance"({ compile, attempt }) {
    const list = new Proxy([1, 2, 3], {}), heir: Fields = Object.create(new Proxy(fields({ a: 4 }), {}));
    const named = new Proxy({ toString: () => "name" }, {}), held = new WeakMap<object, number>([[list, 2]]);
    const uses: ((x: Tensor) => unknown)[] = [
      (x) => [x.mul(list[1] ?? 0), list.length, Array.isArray(list), list.map((each) => each + 1), [...list]],
      (x) => [x.mul(heir.a), "a" in heir, `${named}`, JSON.stringify(list)],
      (x) => [x.add(1), held.get(list), Object.isFrozen(list), Object.isExtensible(list)],
      (x) => [x.add(1), Object.freeze(named) === named, Object.isFrozen(named)],
    ];
    for (const use of uses) {
      const f = compile(use);
      for (let i = 0; i < 2; i++) attempt(() => f(v(i)));
    }
  },
  "a proxy behind the primitives of a type"({ compile, see }) {
    let writes = 0;
    const spy = new Proxy({}, { set: () => (writes++, true) });
    const f = compile((x: Tensor, n: number) => {
      (n as unknown as Fields).absent = 1;
      return x.add(writes);
    });
    Object.setPrototypeOf(Number.prototype, spy);
    try {
      see(f(v(1), 2), f(v(1), 3), writes);
    } finally {
      Object.setPrototypeOf(Number.prototype, Object.prototype);
    }
  },
  "a trap that reads elements"({ compile, see }) {
    const proxy = new Proxy(fields({ a: 3 }), {
      get: (of, key) => (limit.item<number>() > 2 ? of[String(key)] : 0),
    });
    const limit = v(3).sum();
    const f = compile((x: Tensor) => x.mul(proxy.a).add(1));
    see(f(v(1)), f(v(2)));
  },
};
