/**
 * Every kind of guard is needed: for each there is a function and calls of which the last differs from the others in
 * this respect alone. It is right, and wrong once guards of this kind are dropped; where they keep a call from a version
 * that would have been left half-way or just as right, it has no version of its own then. The first table is total, so
 * that a new kind needs such calls, too; the second one has the parts of guards that compare several things.
 */
import { assertEquals, assertNotEquals } from "@std/assert";
import {
  compile,
  type compiler,
  isGradEnabled,
  isTensor,
  nn,
  noGrad,
  ones,
  type Tensor,
  tensor,
} from "../mod.ts";
import type { Fact } from "../lib/dynamo/guards/guard.ts";

// Behind dyn, which prepares modules that are loaded after it
const { pair } = await import("./support/cell_pairs.ts");

/** Compiles a function. */
type Wrap = <A extends readonly unknown[]>(fn: Program<A>) => Program<A>;
type Program<A extends readonly unknown[]> = (x: Tensor, ...rest: A) => unknown;
/** Makes a world of its own, and calls in it; the last one is judged. */
type Scenario = (wrap: Wrap) => readonly (() => unknown)[];

const x = () => tensor([1, 2], { dtype: "float32" });
const leaf = () => tensor([1, 2], { dtype: "float32", requiresGrad: true });

/** Two ways to compute, so that a wrong branch is seen. */
const choose = (x: Tensor, first: boolean) => first ? x.add(1) : x.mul(3);

/** The same call for each argument. */
const each = <T>(f: Program<[T]>, ...values: readonly T[]) => values.map((value) => () => f(x(), value));

/** Returns whether a write is refused. */
function refused(write: () => void): boolean {
  try {
    write();
    return false;
  } catch {
    return true;
  }
}

const KINDS: Readonly<Record<Fact["kind"], Scenario>> = {
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

/** Calls with these tensors. */
const onEach = (f: Program<[]>, ...tensors: readonly Tensor[]) => tensors.map((x) => () => f(x));

const float = (shape: readonly number[], options: { readonly requiresGrad?: boolean } = {}) =>
  ones(shape, options);

/** A function that tells tensors apart by a property, called with tensors of several sizes first, so that sizes vary. */
const afterSizes = (wrap: Wrap, tell: (x: Tensor) => boolean, last: Tensor) =>
  onEach(wrap((x) => choose(x, tell(x))), ...[4, 5, 6].map((rows) => float([rows, 3])), last);

const many = (count: number, value: (i: number) => number) =>
  Array.from({ length: count }, (_, i) => value(i));

/** Calls that differ in one of the things which a guard compares. */
const PARTS: Readonly<Record<string, Scenario>> = {
  "the type of a tensor": (wrap) =>
    onEach(wrap((x) => choose(x, x.dtype === "float32")), float([2]), tensor([1, 2], { dtype: "float64" })),
  "the device of a tensor": (wrap) =>
    onEach(wrap((x) => x.device === "cpu" ? 1 : 2), float([2]), ones([2], { device: "meta" })),
  "the rank of a tensor": (wrap) => onEach(wrap((x) => choose(x, x.dim() === 1)), float([2]), float([2, 1])),
  "the strides of a tensor": (wrap) =>
    onEach(wrap((x) => choose(x, x.isContiguous())), float([2, 3]), float([3, 2]).t()),
  "whether a tensor requires grad": (wrap) =>
    onEach(wrap((x) => choose(x, x.requiresGrad)), float([2]), float([2], { requiresGrad: true })),
  "whether a tensor requires none": (wrap) =>
    onEach(wrap((x) => choose(x, x.requiresGrad)), float([2], { requiresGrad: true }), float([2])),
  "the class of a tensor": (wrap) =>
    onEach(
      wrap((x) => choose(x, x instanceof nn.Parameter)),
      float([2], { requiresGrad: true }),
      new nn.Parameter(float([2])),
    ),
  "a method of a tensor's own": (wrap) => {
    const own = (by: number) => Object.assign(float([2]), { mul: () => float([2]).add(by) });
    return onEach(wrap((x) => x.mul(2)), own(1), own(2));
  },
  "a method that only another tensor has": (wrap) =>
    onEach(wrap((x) => x.mul(2)), float([2]), Object.assign(float([2]), { mul: () => float([2]).add(5) })),
  "the type of a tensor of any size": (wrap) =>
    afterSizes(wrap, (x) => x.dtype === "float32", ones([7, 3], { dtype: "float64" })),
  "the device of a tensor of any size": (wrap) =>
    onEach(
      wrap((x) => x.device === "cpu" ? x.shape[0] : 0),
      ...[4, 5, 6].map((rows) => float([rows, 3])),
      ones([7, 3], { device: "meta" }),
    ),
  "the rank of a tensor of any size": (wrap) => afterSizes(wrap, (x) => x.dim() === 2, float([7])),
  "another size of a tensor of any size": (wrap) => afterSizes(wrap, (x) => x.shape[1] === 3, float([7, 4])),
  "the strides of a tensor of any size": (wrap) =>
    afterSizes(wrap, (x) => x.isContiguous(), float([3, 7]).t()),
  "a gradient of a tensor of any size": (wrap) =>
    afterSizes(wrap, (x) => x.requiresGrad, float([7, 3], { requiresGrad: true })),
  "equal sizes": (wrap) => {
    const f = wrap((x, y: Tensor) => choose(x, x.shape[0] === y.shape[0]));
    return [[4, 4], [5, 5], [6, 6], [6, 7]].map(([a = 0, b = 0]) => () => f(float([a]), float([b])));
  },
  "different sizes": (wrap) => {
    const f = wrap((x, y: Tensor) => choose(x, x.shape[0] === y.shape[0]));
    return [[4, 5], [5, 6], [6, 8], [9, 9]].map(([a = 0, b = 0]) => () => f(float([a]), float([b])));
  },
  "a size that is at least another": (wrap) => {
    const f = wrap((x, y: Tensor) => choose(x, (x.shape[0] ?? 0) >= (y.shape[0] ?? 0)));
    return [[5, 4], [6, 5], [8, 6], [6, 9]].map(([a = 0, b = 0]) => () => f(float([a]), float([b])));
  },
  "the upper end of sizes": (wrap) =>
    onEach(wrap((x) => choose(x, (x.shape[0] ?? 0) < 9)), ...[4, 5, 6, 9].map((size) => float([size]))),
  "the sign of zero": (wrap) => each(wrap((x, n: number) => x.mul(1 / n)), 0, -0),
  "a zero among integers": (wrap) => each(wrap((x, n: number) => x.mul(n)), 1, 2, 3, -0),
  NaN: (wrap) => each(wrap((x, n: number) => choose(x, n !== n)), NaN, 1),
  "a number instead of NaN": (wrap) => each(wrap((x, n: number) => choose(x, n !== n)), 1.5, NaN),
  "a symbol": (wrap) => {
    const one = Symbol("a"), other = Symbol("a");
    return each<symbol>(wrap((x, s: symbol) => choose(x, s === one)), one, other);
  },
  "null and undefined": (wrap) => each(wrap((x, o: unknown) => choose(x, o === null)), null, undefined),
  "a bigint": (wrap) => each(wrap((x, n: bigint) => x.add(Number(n))), 2n, 3n),
  "one of many constants": (wrap) =>
    each(
      wrap((x, list: readonly number[]) => x.add(list.reduce((sum, n, i) => sum + n * i, 0))),
      many(40, (i) => i / 4),
      many(40, (i) => i === 33 ? 100 : i / 4),
    ),
  "an array among objects with its prototype": (wrap) =>
    each<object>(
      wrap((x, o: object) => choose(x, Array.isArray(o))),
      [1],
      Object.setPrototypeOf({ 0: 1, length: 1 }, Array.prototype),
    ),
  "an object instead of an array": (wrap) =>
    each<object>(
      wrap((x, o: object) => choose(x, Array.isArray(o))),
      Object.setPrototypeOf({ 0: 1, length: 1 }, Array.prototype),
      [1],
    ),
  "the order of keys": (wrap) =>
    each(wrap((x, o: object) => choose(x, Object.keys(o)[0] === "a")), { a: 1, b: 1 }, { b: 1, a: 1 }),
  "a key that is a symbol": (wrap) => {
    const key = Symbol("key"), count = (o: object) => Object.getOwnPropertySymbols({ ...o }).length;
    return each<object>(wrap((x, o: object) => x.add(count(o))), { a: 1 }, { a: 1, [key]: 1 });
  },
  "a key that is not enumerable": (wrap) =>
    each<object>(
      wrap((x, o: object) => x.add(Reflect.ownKeys(o).length)),
      { a: 1 },
      Object.defineProperty({ a: 1 }, "b", { value: 1 }),
    ),
  "a property that is gone": (wrap) =>
    each<object>(wrap((x, o: object) => choose(x, Object.hasOwn(o, "k"))), { k: 1 }, {}),
  "the members of a set": (wrap) =>
    each(
      wrap((x, set: ReadonlySet<string>) => [...set].reduce((y, key) => y.add(key.length), x)),
      new Set(["a", "bc"]),
      new Set(["a", "def"]),
    ),
  "the order of a map": (wrap) =>
    each(
      wrap((x, map: ReadonlyMap<string, number>) => choose(x, [...map.keys()][0] === "a")),
      new Map([["a", 1], ["b", 1]]),
      new Map([["b", 1], ["a", 1]]),
    ),
  "a map with one more entry": (wrap) =>
    each(
      wrap((x, map: ReadonlyMap<string, number>) => x.add(map.size)),
      new Map([["a", 1]]),
      new Map([["a", 1], ["b", 1]]),
    ),
  ...Object.fromEntries([3, 7, 12].map((count) => [
    `two of ${count} objects that are one`,
    (wrap: Wrap) => {
      const f = wrap((x, lists: readonly number[][]) => {
        for (const [i, list] of lists.entries()) list[0] = (list[0] ?? 0) + i;
        return lists.reduce((y, [n = 0]) => y.add(n), x);
      });
      const lists = () => many(count, () => 1).map((n) => [n]), twice = lists();
      twice[count - 1] = twice[1] ?? [];
      return each(f, lists(), twice);
    },
  ])),
  ...Object.fromEntries([1, 4, 11].map((count) => [
    `one of ${count} changed objects that is read as another`,
    (wrap: Wrap) => {
      const f = wrap((x, lists: readonly number[][], other: readonly number[]) => {
        for (const list of lists) list[0] = 5;
        return x.add(other[0] ?? 0);
      });
      const lists = () => many(count, () => 1).map((n) => [n]), some = lists();
      return [() => f(x(), lists(), [1]), () => f(x(), some, some[count - 1] ?? [])];
    },
  ])),
  "a hook after accumulation": (wrap) => {
    const f = wrap((x) => {
      x.mul(2).sum().backward();
      return x.grad?.clone();
    });
    const hooked = leaf();
    hooked.registerPostAccumulateGradHook((x) => void x.grad?.mul_(10));
    return onEach(f, leaf(), hooked);
  },
  "another hook": (wrap) => {
    const f = wrap((x) => {
      x.mul(2).sum().backward();
      return x.grad?.clone();
    });
    const hooked = (by: number) => {
      const x = leaf();
      x.registerHook((grad) => grad.mul(by));
      return x;
    };
    return onEach(f, hooked(2), hooked(10));
  },
  "the history of a captured tensor": (wrap) => {
    const captured = x(), f = wrap((x) => choose(x, captured.requiresGrad));
    return [() => f(x()), () => {
      captured.mul_(leaf());
      return f(x());
    }];
  },
  "the history of the base of a captured view": (wrap) => {
    const base = x(), view = base.view([2]), f = wrap((x) => choose(x, view.requiresGrad));
    return [() => f(x()), () => {
      base.mul_(leaf());
      return f(x());
    }];
  },
  "a switch of a captured tensor": (wrap) => {
    const captured = x(), f = wrap((x) => choose(x, captured.requiresGrad));
    return [() => f(x()), () => {
      captured.requiresGrad_();
      return f(x());
    }];
  },
  "a hook on a captured tensor": (wrap) => {
    const captured = leaf();
    const f = wrap((x) => {
      captured.mul(x).sum().backward();
      const { grad } = captured;
      captured.grad = null;
      return grad;
    });
    return [() => f(x()), () => {
      captured.registerHook((grad) => grad.mul(10));
      return f(x());
    }];
  },
  "the class of one of two tensors": (wrap) => {
    const f = wrap((x, y: Tensor) => choose(x, y instanceof nn.Parameter));
    return [new nn.Parameter(x()), leaf()].map((y) => () => f(leaf(), y));
  },
  "a gradient of one of two tensors": (wrap) => {
    const f = wrap((x, y: Tensor) => choose(x, y.requiresGrad));
    return [leaf(), x()].map((y) => () => f(x(), y));
  },
  "a getter in the place of a property": (wrap) => {
    const f = wrap((x, o: { a: number }) => x.add(o.a));
    let reads = 0;
    const counting = {
      get a() {
        return 10 + ++reads;
      },
    };
    return each(f, { a: 1 }, { a: 2 }, counting, counting);
  },
  "a getter in the place of a property of a captured object": (wrap) => {
    const captured = { inner: { a: 1 } }, f = wrap((x) => x.add(captured.inner.a));
    let reads = 0;
    return [() => f(x()), () => {
      Object.defineProperty(captured.inner, "a", { get: () => 10 + ++reads });
      return f(x());
    }];
  },
  "a proxy in the place of a captured object": (wrap) => {
    const captured = { inner: { a: 1 } }, f = wrap((x) => x.add(captured.inner.a));
    let reads = 0;
    return [() => f(x()), () => {
      captured.inner = new Proxy({ a: 1 }, { get: () => 10 + ++reads });
      return f(x());
    }];
  },
  "the setter of an accessor": (wrap) => {
    class A {
      written = 0;
      get a() {
        return 1;
      }
      set a(to: number) {
        this.written = to;
      }
    }
    const f = wrap((x, o: A) => {
      o.a = 3;
      return x.add(o.written);
    });
    return [() => f(x(), new A()), () => {
      const set = function (this: A, to: number) {
        this.written = 2 * to;
      };
      Object.defineProperty(A.prototype, "a", { set });
      return f(x(), new A());
    }];
  },
  "a sealed object that is not frozen": (wrap) =>
    each<object>(
      wrap((x, o: object) => choose(x, Object.isSealed(o))),
      Object.seal({ a: 1 }),
      Object.preventExtensions({ a: 1 }),
    ),
  "an array of a resizable buffer": (wrap) => {
    const resizable = new ArrayBuffer(8, { maxByteLength: 16 }), bytes = new Float32Array(resizable);
    const f = wrap((x, b: Float32Array) => x.add(b.length));
    return [() => f(x(), new Float32Array(2)), () => f(x(), bytes), () => {
      resizable.resize(16);
      return f(x(), bytes);
    }];
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

/** The result or error of the last of some calls, and the number of versions then. */
interface Outcome {
  readonly told: string;
  readonly versions: number;
}

function outcome(scenario: Scenario, wrap: Wrap): string {
  let told = "";
  for (const call of scenario(wrap)) {
    try {
      const found = call();
      told = isTensor(found) ? `${found.dtype} ${Deno.inspect(found.tolist())}` : String(found);
    } catch (thrown) {
      told = `throws ${String(thrown)}`;
    }
  }
  return told;
}

/** The outcome of compiled calls without guards of a kind, if one is given. */
function compiled(scenario: Scenario, dropped: string | null): Outcome {
  let versions = 0;
  const guardFilterFn: compiler.GuardFilter = (guards) => {
    versions++;
    return guards.map(({ guardType }) => guardType !== dropped);
  };
  const told = outcome(scenario, (fn) => compile(fn, { backend: "eager", options: { guardFilterFn } }));
  return { told, versions };
}

for (const [kind, scenario] of Object.entries(KINDS)) {
  Deno.test(`guards of the kind ${kind} tell calls apart`, () => {
    const kept = compiled(scenario, null);
    assertEquals(kept.told, outcome(scenario, (fn) => fn));
    assertNotEquals(compiled(scenario, kind), kept);
  });
}

for (const [part, scenario] of Object.entries(PARTS)) {
  Deno.test(`guards tell calls apart by ${part}`, () => {
    assertEquals(compiled(scenario, null).told, outcome(scenario, (fn) => fn));
  });
}

/** Calls that change what they are given, so that the same call is another one then. */
const CHANGING = /^(sameCell|distinctCells|elements|extensible|two of .*|a hook after .*|another hook)$/;

for (const [name, scenario] of Object.entries({ ...KINDS, ...PARTS })) {
  if (CHANGING.test(name)) continue;
  Deno.test(`guards admit the call that they were made for: ${name}`, () => {
    const times = (count: number) => compiled((wrap) => Array(count).fill(scenario(wrap)[0]), null);
    assertEquals(times(2), times(1));
  });
}
