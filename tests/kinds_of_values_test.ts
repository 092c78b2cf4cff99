/**
 * Values of every kind in place of those of every other: compiled calls have the results of plain ones, and reports of
 * recompilations name the guard that has failed.
 */
import { assert, assertEquals } from "@std/assert";
import { difference, observe, type World } from "../cli/fuzz/language/observation.ts";
import { compile, compiler, nn, ones, Tensor, tensor } from "../mod.ts";
import { sampleBySeed } from "./support/sampling.ts";

class Counted {
  constructor(readonly n: number) {}
}
class Computed {
  get n(): number {
    return 4;
  }
}

/** A new value of each kind. */
const KINDS: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  integer: () => 2,
  fraction: () => 2.5,
  "not a number": () => NaN,
  "large number": () => 1e20,
  string: () => "ab",
  boolean: () => true,
  symbol: () => Symbol.iterator,
  bigint: () => 3n,
  closure: () => (k: number) => k + 1,
  "bound function": () => ((a: number, k: number) => a + k).bind(null, 2),
  builtin: () => Math.abs,
  class: () => Counted,
  list: () => [1, 2],
  "list of tensors": () => [ones([2])],
  "empty list": () => [],
  object: () => ({ n: 2 }),
  "object with a tensor": () => ({ n: ones([1]) }),
  Map: () => new Map([["n", 1]]),
  Set: () => new Set([1, 2, 3]),
  Date: () => new Date(5),
  pattern: () => /a/g,
  "typed array": () => new Float32Array([1, 2]),
  instance: () => new Counted(3),
  getter: () => new Computed(),
  "object without prototype": () => Object.assign(Object.create(null), { n: 9 }),
  proxy: () => new Proxy({ n: 7 }, {}),
  tensor: () => ones([2]),
  scalar: () => tensor(3),
  matrix: () => ones([2, 2]),
  integers: () => tensor([1, 2]),
  "tensor that requires grad": () => ones([2], { requiresGrad: true }),
  parameter: () => new nn.Parameter(ones([2])),
  module: () => new nn.ReLU(),
  error: () => new Error("x"),
  "object like a tensor": () => ({ layout: { shape: [2], strides: [1] }, n: 1 }),
  iterator: () => [1, 2].values(),
  promise: () => Promise.resolve(1),
};

/** The sum of a tensor and what a value says. */
function use(x: Tensor, v: unknown): Tensor {
  if (v instanceof Tensor) return x.add(v.sum());
  if (v === Counted) return x.add(new Counted(3).n);
  switch (typeof v) {
    case "number":
      return x.mul(v);
    case "string":
      return x.add(v.length);
    case "boolean":
      return v ? x.neg() : x;
    case "bigint":
      return x.add(Number(v));
    case "symbol":
      return x.add(v === Symbol.iterator ? 5 : 6);
    case "function":
      return x.add(v(1));
    case "undefined":
      return x.sin();
    default:
  }
  if (v === null) return x.cos();
  if (Array.isArray(v)) return v.length === 0 ? x.sub(1) : x.add(v[0]);
  if (v instanceof Map) return x.add(v.get("n"));
  if (v instanceof Set) return x.add(v.size);
  if (v instanceof Date) return x.add(v.getTime());
  if (v instanceof Float32Array) return x.add(v[1] ?? 0);
  if (v instanceof nn.ReLU) return v.call(x);
  if (v instanceof Error) return x.add(v.message.length);
  if (v instanceof RegExp) return x.add(v.source.length);
  const n = typeof v === "object" && "n" in v ? v.n : null;
  return n instanceof Tensor || typeof n === "number" ? x.add(n) : x.tanh();
}

type Use = (x: Tensor, v: unknown) => unknown;

/** The places in which the value is. */
const PLACES: Readonly<Record<string, (compile: World["compile"]) => Use>> = {
  argument: (compile) => compile(use),
  property: (compile) => {
    const f = compile((x: Tensor, o: { readonly v: unknown }) => use(x, o.v));
    return (x, v) => f(x, { v });
  },
  element: (compile) => {
    const f = compile((x: Tensor, list: readonly unknown[]) => use(x, list[0]));
    return (x, v) => f(x, [v]);
  },
  entry: (compile) => {
    const f = compile((x: Tensor, map: ReadonlyMap<string, unknown>) => use(x, map.get("k")));
    return (x, v) => f(x, new Map([["k", v]]));
  },
  "part of a known object": (compile) => {
    const held: { v: unknown } = { v: 0 }, f = compile((x: Tensor) => use(x, held.v));
    return (x, v) => {
      held.v = v;
      return f(x);
    };
  },
  "argument of a bound function": (compile) => {
    const f = compile((x: Tensor, g: (x: Tensor) => Tensor) => g(x));
    return (x, v) => f(x, ((part: unknown, y: Tensor) => use(y, part)).bind(null, v));
  },
  "after a break": (compile) =>
    compile((x: Tensor, v: unknown) => {
      const y = x.add(1);
      compiler.graphBreak();
      return use(y, v);
    }),
  "not used": (compile) => compile((x: Tensor, v: unknown) => [x.add(1), v]),
};

class Reporting extends compiler.CompileCounter {
  readonly reasons: string[] = [];
  override onRecompile(_title: string, reasons: readonly string[]): void {
    this.reasons.push(...reasons);
  }
}

const names = Object.keys(KINDS);
const pairs = names.flatMap((first) => names.map((second) => [first, second] as const));

for (const [salt, [place, make]] of Object.entries(PLACES).entries()) {
  Deno.test(`values of every kind in one place: ${place}`, async () => {
    for (const pair of sampleBySeed(pairs, 6, salt)) {
      const backend = new Reporting();
      const program = ({ compile, attempt }: World) => {
        const f = make(compile), x = ones([2]);
        for (const kind of [...pair, ...pair]) attempt(() => f(x, KINDS[kind]?.()));
      };
      const plain = await observe(program, (fn) => fn);
      const found = difference(plain, await observe(program, (fn) => compile(fn, { backend })));
      assert(found === null, `${pair.join(", ")}: ${found}`);
      assertEquals(
        backend.reasons.filter((reason) => reason.includes("could not be evaluated")),
        [],
        pair.join(),
      );
    }
  });
}
