/** Calls with values that are created anew for each call need only one or two versions, whatever the values are. */
import { assertEquals } from "@std/assert";
import { compile, compiler, ones, type Tensor } from "../mod.ts";

type Made = (x: Tensor, value: unknown) => unknown;

const scaled = (by: number) =>
  class Scaled {
    run(x: Tensor): Tensor {
      return x.mul(by);
    }
  };

/** Fresh objects: how they are made and used, and the number of versions. */
const FRESH: Readonly<Record<string, readonly [make: () => unknown, use: Made, versions: number]>> = {
  "a tensor": [() => ones([2]), (x, y) => x.add(y as Tensor), 1],
  "a function with a property that hides one of all functions": [
    () => null,
    (x) => [1, 2].map(Object.assign((by: number) => x.mul(by), { call: () => 7 })),
    1,
  ],
  "an object with a field that hides one of all objects": [
    () => ({ by: 2 }),
    (x, given) => {
      const options = given as { by: number; valueOf?: () => number };
      options.valueOf = () => 3;
      return x.mul(options.by);
    },
    1,
  ],
  "an object that inherits a field, which is written": [
    () => Object.create(BASE),
    (x, given) => {
      const options = given as { by: number };
      options.by += 1;
      return x.mul(options.by);
    },
    1,
  ],
  "a closure": [() => (x: Tensor) => x.neg(), (x, act) => (act as (x: Tensor) => Tensor)(x), 1],
  "a bound function": [
    () => ((x: Tensor) => x.neg()).bind(null),
    (x, act) => (act as (x: Tensor) => Tensor)(x.add(1)),
    1,
  ],
  "a class": [
    () => scaled(2),
    (x, Made) => new (Made as ReturnType<typeof scaled>)().run(x.add(1)),
    2,
  ],
  "a weak map": [
    () => new WeakMap([[KEY, 2]]),
    (x, held) => x.mul((held as WeakMap<object, number>).get(KEY) ?? 0),
    2,
  ],
  "a formatter": [
    () => new Intl.NumberFormat("en"),
    (x, format) => x.mul((format as Intl.NumberFormat).format(1234).length),
    2,
  ],
  "a function that a formatter gives out": [
    () => new Intl.Collator("en").compare,
    (x, compare) => x.mul((compare as Intl.Collator["compare"])("a", "b")),
    2,
  ],
  "a proxy": [() => new Proxy({ by: 2 }, {}), (x, given) => x.mul((given as { by: number }).by), 2],
  "a date": [() => new Date(0), (x, date) => x.mul((date as Date).getTime() + 1), 1],
  "a map of lists": [
    () => new Map([["a", [1, 2]]]),
    (x, map) => x.mul((map as Map<string, number[]>).get("a")?.length ?? 0),
    1,
  ],
};

const KEY = {}, BASE = { by: 2 };

for (const [name, [make, use, versions]] of Object.entries(FRESH)) {
  Deno.test(`${name} is created anew in each call`, () => {
    const compiled = compile(use, { backend: "eager" });
    const shown = (result: unknown) => [result].flat().map((each) => (each as Tensor).tolist());
    for (let i = 0; i < 5; i++) {
      const x = ones([2]);
      assertEquals(shown(compiled(x, make())), shown(use(x, make())));
    }
    assertEquals(compiler.cacheEntries(compiled).length, versions);
  });
}
