/**
 * Entries found by what distinguishes them: none that serves a call is ruled out, few remain, and the lookup runs no
 * code of the program.
 */
import { assert, assertEquals } from "@std/assert";
import { EntryIndex, FEW_ENTRIES } from "../lib/dynamo/guards/entry_index.ts";
import type { Fact } from "../lib/dynamo/guards/guard.ts";
import { statusOf } from "../lib/dynamo/mod.ts";
import {
  argumentSource,
  cellSource,
  propertySource,
  type Source,
  THIS_SOURCE,
} from "../lib/dynamo/source.ts";
import { compile, config, noGrad, ones, type Tensor, tensor } from "../mod.ts";

/** Compiles a function for which many versions are wanted, and calls it in turns, against the function itself. */
function agree<F extends (...args: never[]) => unknown>(fn: F, calls: readonly Parameters<F>[]): void {
  config.patch({ cacheSizeLimit: 100, accumulatedCacheSizeLimit: 1000 }, () => {
    const compiled = compile(fn, {
      backend: "eager",
      dynamic: false,
    });
    const shown = (run: F, args: Parameters<F>) => {
      try {
        return Deno.inspect(Reflect.apply(run, undefined, args), { depth: 6 });
      } catch (error) {
        return `${error}`;
      }
    };
    const counts = [calls, calls.toReversed(), calls].map((order) => {
      for (const args of order) assertEquals(shown(compiled, args), shown(fn, args));
      return statusOf(compiled)?.entries ?? 0;
    });
    const [entries = 0] = counts;
    assert(entries > FEW_ENTRIES, `${entries} entries`);
    assertEquals(counts, [entries, entries, entries]);
  });
}

const x = tensor([1.5, -2]);

Deno.test("versions by numbers, texts and other constants", () => {
  const values = [
    0,
    -0,
    1,
    2,
    3,
    NaN,
    Infinity,
    "a",
    "b",
    "",
    true,
    false,
    null,
    undefined,
    5n,
    Symbol.iterator,
  ];
  const calls = values.map((value): [Tensor, unknown] => [x, value]);
  agree(
    (
      x: Tensor,
      value: unknown,
    ) => [typeof value, Object.is(value, -0), x.mul(value === 2 ? 2 : 3), String(value)],
    calls,
  );
  agree(
    (x: Tensor, o: { value: unknown }) => [o.value, x.mul(2)],
    values.map((value): [Tensor, { value: unknown }] => [x, { value }]),
  );
});

Deno.test("versions by sizes, types, and how many arguments there are", () => {
  const tensors = [1, 2, 3, 4, 5, 6].map((n) => ones([n]));
  const others = [ones([2, 3]), ones([3, 2]).T, ones([2], { dtype: "int64" }), ones([2]).requiresGrad_()];
  agree((x: Tensor) => x.mul(2), [...tensors, ...others].map((t): [Tensor] => [t]));
  const calls: Tensor[][] = tensors.map((_, i) => tensors.slice(0, i + 1));
  agree((...given: Tensor[]) => given.reduce((sum, t) => sum.add(t.sum()), ones([1])), calls);
});

Deno.test("versions by functions, methods and modes", () => {
  const functions: ((x: Tensor) => Tensor)[] = [
    (x) => x.mul(2),
    (x) => x.add(3),
    (x) => x.sub(4),
    (x) => x.neg(),
    (x) => x.abs(),
    (x) => x.exp(),
  ];
  agree((f: (x: Tensor) => Tensor) => f(x), functions.map((f): [typeof f] => [f]));
  agree(
    (mode: string, off: boolean) => off ? noGrad(() => x.mul(mode.length)) : x.add(mode.length),
    ["a", "bb", "ccc", "dddd"].flatMap((mode): [string, boolean][] => [[mode, true], [mode, false]]),
  );
});

Deno.test("versions by the content of an outside variable", () => {
  let scale = 1;
  const run = config.patch({ cacheSizeLimit: 100 }, () => {
    const compiled = compile((x: Tensor) => x.mul(scale), { backend: "eager", dynamic: false });
    for (let turn = 0; turn < 3; turn++) {
      for (scale = 1; scale < 12; scale++) assertEquals(compiled(x).tolist(), x.mul(scale).tolist());
    }
    return compiled;
  });
  assertEquals(statusOf(run)?.entries, 11);
});

const guarded = (...facts: readonly Fact[]) => ({ guards: facts.map((fact) => ({ fact, user: null })) });
const argument = argumentSource("o", 0);

Deno.test("of 64 entries one remains, also of 8 by 8; if none expects the found value, those that do not depend on it", () => {
  const constant = (index: number, value: number): Fact => ({
    kind: "constant",
    source: argumentSource(`p${index}`, index),
    value,
  });
  const single = new EntryIndex(Array.from({ length: 64 }, (_, i) => guarded(constant(0, i))));
  for (let i = 0; i < 64; i++) assertEquals(single.candidates(null, [i]), single.entries.slice(i, i + 1));
  assertEquals(single.candidates(null, [64]), []);
  const pairs = Array.from({ length: 64 }, (_, i) => guarded(constant(0, i >> 3), constant(1, i % 8)));
  const double = new EntryIndex(pairs);
  for (let i = 0; i < 64; i++) assertEquals(double.candidates(null, [i >> 3, i % 8]), pairs.slice(i, i + 1));
  const any = guarded(), mixed = new EntryIndex([...pairs.slice(0, 6), any]);
  assertEquals(mixed.candidates(null, [0, 5]), [...pairs.slice(5, 6), any]);
  assertEquals(mixed.candidates(null, [9, 9]), [any]);
});

Deno.test("inspecting a call runs no code of the program", () => {
  const runs: string[] = [];
  const ran = (name: string) => () => {
    runs.push(name);
    return undefined;
  };
  const trapped = new Proxy({ value: 1 }, {
    get: ran("get"),
    getPrototypeOf: () => (runs.push("getPrototypeOf"), null),
    getOwnPropertyDescriptor: ran("getOwnPropertyDescriptor"),
  });
  const objects: unknown[] = [
    {
      get value() {
        return ran("getter")();
      },
    },
    trapped,
    Object.create(trapped),
    { value: trapped },
    undefined,
    5,
    null,
  ];
  const cell = {
    get: (): unknown => {
      throw new ReferenceError("a variable that has no value yet");
    },
    set: () => {},
  };
  const { layout } = x;
  const expected = { prototype: null, layout, className: "Tensor", dtype: x.dtype, device: x.device };
  const tensorFact = (source: Source): Fact => ({
    kind: "tensor",
    source,
    expected: { ...expected, requiresGrad: false, shape: [2], strides: [1], methods: new Map(), marked: [] },
  });
  const facts: readonly ((i: number) => Fact)[] = [
    (value) => ({ kind: "constant", source: propertySource(argument, "value"), value }),
    (value) => ({ kind: "constant", source: propertySource(THIS_SOURCE, "value"), value }),
    (value) => ({ kind: "constant", source: cellSource("late", cell), value }),
    (length) => ({ kind: "array", source: argument, length }),
    (value) => value % 2 ? tensorFact(argument) : ({ kind: "constant", source: argument, value }),
  ];
  for (const fact of facts) {
    const index = new EntryIndex(Array.from({ length: 8 }, (_, i) => guarded(fact(i))));
    for (const object of objects) index.candidates(object, [object]);
  }
  assertEquals(runs, []);
  const late = new EntryIndex(Array.from({ length: 8 }, (_, i) => guarded(facts[2]?.(i) ?? raise())));
  assertEquals(late.candidates(null, []).length, 8);
});

function raise(): never {
  throw new Error("Expected a fact");
}
