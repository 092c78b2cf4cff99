/** Calls of which the last differs from the others in one of several things that a guard compares. */
import { nn, ones, type Tensor, tensor } from "../../../mod.ts";
import { choose, each, leaf, type Program, type Scenario, type Wrap, x } from "./scenario.ts";

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
export const PARTS: Readonly<Record<string, Scenario>> = {
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
    const isParameter = (x: Tensor) => x instanceof nn.Parameter;
    const f = wrap((x, y: Tensor, z: Tensor) => choose(choose(x, isParameter(y)), isParameter(z)));
    return [new nn.Parameter(x()), leaf()].map((y) => () => f(x(), y, leaf()));
  },
  "a gradient of one of two tensors": (wrap) => {
    const f = wrap((x, y: Tensor, z: Tensor) => choose(choose(x, y.requiresGrad), z.requiresGrad));
    return [leaf(), x()].map((y) => () => f(x(), y, x()));
  },
  "a method of one of two tensors": (wrap) => {
    const f = wrap((x, y: Tensor, z: Tensor) => x.add(y.mul(2)).add(z.mul(2)));
    return [x(), Object.assign(x(), { mul: () => x() })].map((z) => () => f(x(), x(), z));
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
