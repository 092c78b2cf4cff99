/** For each kind of guard, calls of which the last differs from the others in this respect alone. */
import { isGradEnabled, isTensor, noGrad, ones, type Tensor, tensor } from "../../../mod.ts";
import type { Fact } from "../../../lib/dynamo/guards/guard.ts";
import { choose, each, leaf, refused, type Scenario, x } from "./scenario.ts";

// Behind dyn, which prepares modules that are loaded after it
const { pair } = await import("./cell_pairs.ts");

/** Scenarios by kind: total, so that a new kind needs one, too. */
export const KINDS: Readonly<Record<Fact["kind"], Scenario>> = {
  constant: (wrap) => each(wrap((x, first: boolean) => choose(x, first)), true, false),
  identity: (wrap) =>
    each(wrap((x, pick: (a: number, b: number) => number) => x.add(pick(1, 2))), Math.max, Math.min),
  prototype(wrap) {
    class A {}
    class B {}
    return each(wrap((x, o: object) => choose(x, o instanceof A)), new A(), new B());
  },
  object: (wrap) =>
    each(wrap((x, o: { a: unknown }) => choose(x, typeof o.a === "object")), { a: { b: 1 } }, { a: "b" }),
  // The seventh function that is passed is not told from others
  function: (wrap) =>
    each<unknown>(
      wrap((x, o: unknown) => choose(x, typeof o === "function")),
      ...[Math.max, Math.min, Math.abs, Math.sin, Math.cos, Math.tan, Math.exp, Math.log, 5],
    ),
  array: (wrap) => each(wrap((x, list: readonly number[]) => x.add(list.length)), [1], [1, 2]),
  list(wrap) {
    const f = wrap((x, o: { list: Readonly<Record<number, number>> }, i: number) => x.add(o.list[i] ?? 0));
    const list = [4, 5, 6, 7];
    return [0, 1, 2].map((i) => () => f(x(), { list }, i)).concat(() => f(x(), { list: { 3: 7 } }, 3));
  },
  elements: (wrap) =>
    each(
      wrap((x, list: number[]) => choose(x, refused(() => list.reverse()))),
      [1, 2],
      Object.defineProperty([1, 2], 0, { writable: false }),
    ),
  keys: (wrap) =>
    each(wrap((x, o: object) => Object.keys(o).reduce((y, key) => y.add(key.length), x)), { a: 1 }, {
      bc: 1,
    }),
  ownKey: (wrap) => each(wrap((x, o: object) => choose(x, Object.hasOwn(o, "k"))), { a: 1 }, { k: 1 }),
  writable: (wrap) =>
    each(
      wrap((x, o: { a: number }) => choose(x, refused(() => o.a = 5))),
      { a: 1 },
      Object.defineProperty({ a: 1 }, "a", { writable: false }),
    ),
  writableAt(wrap) {
    const f = wrap((x, list: number[], i: number) => choose(x, refused(() => list[i] = 5)));
    const list = () => [1, 2, 3, 4];
    return [0, 1, 2].map((i) => () => f(x(), list(), i)).concat(() =>
      f(x(), Object.defineProperty(list(), 3, { writable: false }), 3)
    );
  },
  flags(wrap) {
    const f = wrap((x, o: object) =>
      choose(x, Object.keys(o).length > 1 || Object.getOwnPropertyDescriptor(o, "a")?.writable === true)
    );
    return each(
      f,
      ...[true, false].map((writable) => Object.defineProperty({ b: 1 }, "a", { value: 1, writable })),
    );
  },
  accessor(wrap) {
    class A {
      get a() {
        return 1;
      }
    }
    const f = wrap((x, o: A) => x.add(o.a));
    return [() => f(x(), new A()), () => {
      Object.defineProperty(A.prototype, "a", { get: () => 2 });
      return f(x(), new A());
    }];
  },
  entries: (wrap) =>
    each(
      wrap((x, map: ReadonlyMap<string, number>) => [...map.keys()].reduce((y, key) => y.add(key.length), x)),
      new Map([["a", 1]]),
      new Map([["bc", 1]]),
    ),
  code: (wrap) =>
    each(wrap((x, f: (x: Tensor) => Tensor) => f(x)), (x: Tensor) => x.add(1), (x: Tensor) => x.mul(3)),
  same(wrap) {
    const f = wrap((x: Tensor, y: Tensor) => choose(x, x === y)), same = x();
    return [() => f(same, same), () => f(x(), x())];
  },
  distinct(wrap) {
    const f = wrap((x: Tensor, a: number[], b: readonly number[]) => {
      a[0] = 5;
      return x.add(b[0] ?? 0);
    });
    const list = [1];
    return [() => f(x(), [1], [1]), () => f(x(), list, list)];
  },
  apart(wrap) {
    const by = leaf(), written = x();
    const f = wrap((x: Tensor, y: Tensor) => {
      x.mul_(by);
      return choose(y, y.requiresGrad);
    });
    return [() => f(x(), x()), () => f(written, written.view([2]))];
  },
  elsewhere(wrap) {
    const f = wrap((x: Tensor, y: Tensor) => {
      y.add_(1);
      return x.mul(2);
    });
    // A write gives views of the memory a new history, without the hook
    const gradient = (written: (leaf: Tensor) => Tensor) => () => {
      const from = leaf(), view = from.view([2]);
      view.registerHook((grad) => grad.mul(10));
      const made = f(view, written(from));
      if (isTensor(made)) made.sum().backward();
      return from.grad;
    };
    return [gradient(x), gradient((leaf) => leaf.detach())];
  },
  tensor(wrap) {
    const f = wrap((x: Tensor) => choose(x, x.shape[0] === 2));
    return [() => f(x()), () => f(tensor([1, 2, 3]))];
  },
  leaf(wrap) {
    const f = wrap((x: Tensor) => {
      x.mul(2).sum().backward();
      return x.grad?.clone();
    });
    const hooked = leaf();
    hooked.registerHook((grad) => grad.mul(10));
    return [() => f(leaf()), () => f(hooked)];
  },
  made(wrap) {
    const f = wrap((x: Tensor) => choose(x, refused(() => x.add_(1))));
    return [() => f(leaf().mul(1)), () => f(leaf())];
  },
  integer: (wrap) => each(wrap((x, n: number) => x.add(Number.isInteger(n) ? n : -n)), 1, 2, 3, 3.5),
  type: (wrap) =>
    each<unknown>(wrap((x, n: unknown) => choose(x, typeof n === "number")), 1.5, 2.5, 3.5, "3"),
  proxy: (wrap) =>
    each<unknown>(
      wrap((x, o: unknown) => choose(x, typeof o === "object")),
      ...Array.from({ length: 4 }, () => new Proxy({ a: 1 }, {})),
      5,
    ),
  madeBy(wrap) {
    const made = () =>
      new (class A {
        by = 2;
      })();
    const other = new (class B {
      by = 2;
    })();
    return each(wrap((x, o: { by: number }) => x.mul(o.by)), made(), made(), made(), other);
  },
  generator(wrap) {
    function* generate() {}
    return each<unknown>(wrap((x, o: unknown) => choose(x, typeof o === "object")), generate(), 5);
  },
  engineState(wrap) {
    const f = wrap((x, o: object) => choose(x, Object.prototype.toString.call(o) === "[object Date]"));
    return each(f, { a: {} }, Object.setPrototypeOf(new Date(), Object.prototype));
  },
  cloneable: (wrap) =>
    each(
      wrap((x, o: object) => choose(x, refused(() => structuredClone(o)))),
      { a: {} },
      { a: Object.setPrototypeOf(new Intl.NumberFormat("en"), Object.prototype) },
    ),
  unboxed: (wrap) =>
    each(
      wrap((x, o: object) => x.add(JSON.stringify(o).length)),
      { a: {} },
      { a: Object.setPrototypeOf(new Number(12345), Object.prototype) },
    ),
  unrevoked(wrap) {
    const { proxy, revoke } = Proxy.revocable({ a: 2 }, {}), f = wrap((x: Tensor) => x.add(proxy.a));
    return [() => f(x()), () => {
      revoke();
      return f(x());
    }];
  },
  extensible: (wrap) =>
    each(
      wrap((x, o: Record<string, number>) => choose(x, refused(() => o["b"] = 2))),
      { a: 1 },
      Object.preventExtensions({ a: 1 }),
    ),
  integrity: (wrap) =>
    each(wrap((x, o: object) => choose(x, Object.isFrozen(o))), Object.freeze({ a: 1 }), { a: 1 }),
  bytes: (wrap) =>
    each(
      wrap((x, b: Float32Array) => {
        b[0] = 1.5;
        return x.add(b[0]);
      }),
      new Float32Array([1.5]),
      Object.setPrototypeOf(new Int32Array([7]), Float32Array.prototype),
    ),
  memory(wrap) {
    const f = wrap((x: Tensor, a: Float32Array, b: Float32Array) => {
      a[0] = 5;
      return x.add(b[0] ?? 0);
    });
    const floats = () => new Float32Array([1, 2]), shared = floats();
    return [() => f(x(), floats(), floats()), () => f(x(), shared, shared.subarray(0))];
  },
  expression: (wrap) => each(wrap((x, n: number) => choose(x, n % 3 === 2)), 2, 5, 8, 9),
  size(wrap) {
    const f = wrap((x: Tensor) => choose(x, (x.shape[0] ?? 0) > 3));
    return [5, 6, 7, 2].map((size) => () => f(ones([size])));
  },
  sameCell(wrap) {
    const f = wrap((x: Tensor, [change, read]: ReturnType<typeof pair>) => read(change(x)));
    return each(f, ...Array.from({ length: 3 }, pair), [pair()[0], pair()[1]]);
  },
  distinctCells(wrap) {
    const f = wrap((x: Tensor, [change, read]: ReturnType<typeof pair>) => read(change(x)));
    const apart = (): ReturnType<typeof pair> => [pair()[0], pair()[1]];
    return each(f, apart(), apart(), apart(), pair());
  },
  argumentCount(wrap) {
    const f = wrap((x: Tensor, ...rest: readonly unknown[]) => x.add(rest.length));
    return [() => f(x(), undefined), () => f(x())];
  },
  timeZone(wrap) {
    const f = wrap((x: Tensor) => x.add(new Date(0).getHours()));
    return ["UTC", "Asia/Tokyo"].map((zone) => () => inTimeZone(zone, () => f(x())));
  },
  globalState(wrap) {
    const f = wrap((x: Tensor) => choose(x, isGradEnabled()));
    return [() => f(x()), () => noGrad(() => f(x()))];
  },
};

function inTimeZone(zone: string, run: () => unknown): unknown {
  const before = Deno.env.get("TZ");
  Deno.env.set("TZ", zone);
  try {
    return run();
  } finally {
    if (before === undefined) Deno.env.delete("TZ");
    else Deno.env.set("TZ", before);
  }
}
