/** The options of `compile`, and errors for anything else. */
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import {
  BackendCompilerFailed,
  compile,
  type CompileOptions,
  compiler,
  config,
  DynError,
  fx,
  nn,
  randn,
  type Tensor,
  tensor,
} from "../mod.ts";
import { logs } from "../lib/base/logs.ts";
import { FasterWay } from "../lib/dynamo/cache/faster_way.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { SKIP_NATIVE } from "./support/native.ts";

/** Options as a program without types may give them. */
const untyped = (options: Readonly<Record<string, unknown>>): CompileOptions => ({ ...options });

Deno.test("an option that does not exist, or has another type, is an error that lists the options", () => {
  const fn = (): number => 1;
  const message = (options: Readonly<Record<string, unknown>>): string =>
    assertThrows(() => compile(fn, untyped(options)), DynError).message;
  assertEquals(
    message({ fullGraph: true }),
    "Expected an option of compile to be one of backend, fullgraph, dynamic, shapesSpec, mode, options, disable, name but found fullGraph; write fullgraph",
  );
  assertEquals(message({ fullgraph: 1 }), "Expected fullgraph to be a boolean but found 1");
  assertEquals(message({ backend: 3 }), "Expected backend to be a string or a function but found 3");
  assert(message({ backend: "nope" }).startsWith("Expected the backend to be one of "));
  assertEquals(
    message({ mode: "fast" }),
    'Expected mode of compile to be one of default, reduce-overhead, max-autotune, max-autotune-no-cudagraphs but found "fast"',
  );
  assertThrows(() => compile(untyped({ fullGraph: true })), DynError, "but found fullGraph; write fullgraph");
  const module = new nn.Linear(2, 2);
  assertThrows(
    () => module.compile(untyped({ fullGraph: true })),
    DynError,
    "but found fullGraph; write fullgraph",
  );
});

Deno.test("undefined options count as absent", () => {
  const double = compile((n: number) => tensor([n]).mul(2), { backend: undefined, dynamic: undefined });
  assertEquals(double(4).tolist(), [8]);
});

Deno.test("an op that rejects its operands has the same error compiled", () => {
  const fn = (x: Tensor): Tensor => nn.functional.dropout(x, 0.5);
  const message = assertThrows(() => fn(tensor([1, 2])), DynError).message;
  assertEquals(assertThrows(() => compile(fn)(tensor([1, 2])), DynError).message, message);
});

Deno.test("a failing backend is named", () => {
  const broken: fx.GraphBackend = () => {
    throw new RangeError("No room");
  };
  const fn = compile((x: Tensor) => x.add(1), { backend: broken });
  assertThrows(() => fn(tensor([1])), BackendCompilerFailed, 'Backend "broken" failed: No room');
});

Deno.test("a backend whose graph does not return a list of all results is named", () => {
  const wrong: readonly (readonly [(...inputs: readonly unknown[]) => unknown, string])[] = [
    [(x) => x, "tensor([1])"],
    [(x) => [x], "[ tensor([1]) ]"],
  ];
  for (const [graph, found] of wrong) {
    const fn = compile((x: Tensor) => [x.add(1), x.mul(2)], { backend: () => graph });
    for (let call = 0; call < 2; call++) {
      assertThrows(
        () => fn(tensor([1])),
        BackendCompilerFailed,
        `Expected a list of 2 results but found ${found}`,
      );
    }
  }
});

Deno.test("results of a backend that are not the graph's are named, in forward and backward passes", () => {
  const wrong = (graph: () => unknown): string =>
    assertThrows(() => compile((x: Tensor) => x.add(1), { backend: () => graph })(tensor([1.5])), Error)
      .message;
  assertStringIncludes(
    wrong(() => [1]),
    'Backend "backend" failed: Expected a tensor of float32 as result 0 but found 1',
  );
  assertStringIncludes(wrong(() => [tensor([1])]), "as result 0 but found a tensor of int64");
  const cubes = (x: Tensor): Tensor => x.pow(3).sum();
  const backward = (bwCompiler: () => unknown): string => {
    const options = { fwCompiler: (gm: fx.GraphModule) => gm.forward.bind(gm), bwCompiler };
    const backend = compiler.aotAutograd(options as unknown as compiler.AotOptions);
    const x = tensor([1.5, 2], { requiresGrad: true });
    return assertThrows(() => compile(cubes, { backend })(x).backward(), Error).message;
  };
  const where = ", where the function of bwCompiler ran the backward graph of cubes";
  assertEquals(
    backward(() => () => [tensor([1.5])]),
    `Expected a tensor of float32[2] as result 0 but found a tensor of float32[1]${where}`,
  );
  assertEquals(backward(() => () => 7), `Expected a list of 1 results but found 7${where}`);
  assertStringIncludes(
    backward(() => 7),
    'Backend "backend" failed: Expected a function from bwCompiler for the backward graph of cubes but found 7',
  );
});

/** The message of a call that a program without types may make. */
function refusal(fn: object, ...args: readonly unknown[]): string {
  return assertThrows(() => Reflect.apply(fn as () => unknown, undefined, args), DynError).message;
}

Deno.test("functions that control compilation report the expected and the found value", () => {
  assertEquals(
    [
      refusal(compile, () => 1, 3),
      refusal(compile, () => 1, { options: [] }),
      refusal(compiler.explain, 3),
      refusal(compiler.cacheEntries, "f"),
      refusal(compiler.disable, 3),
      refusal(compiler.disable, () => 1, { reasons: "none" }),
      refusal(compiler.allowInGraph, null),
      refusal(compiler.registerBackend, "x", 3),
      refusal(compiler.registerBackend, 3, () => null),
      refusal(compiler.setStance, "default", { forceBackend: 1 }),
      refusal(compiler.errorOnGraphBreak, "yes"),
      refusal(compiler.errorOnGraphBreak, true, 3),
      refusal(compiler.markDynamic, tensor([1, 2]), "0"),
      refusal(compiler.markDynamic, tensor([1, 2]), 0, { minimum: 3 }),
      refusal(compiler.markStatic, 3),
      refusal(compiler.makeFx, 3),
      refusal(compiler.aotAutograd, {}),
      refusal(config.patch, {}, 3),
    ],
    [
      "Expected options of compile but found 3",
      "Expected options to be an object but found []",
      "Expected a function or an nn.Module to explain but found 3",
      'Expected a function or an nn.Module but found "f"',
      "Expected a function to disable but found 3",
      "Expected an option of disable to be one of reason, recursive but found reasons",
      "Expected a function to allow in graphs but found null",
      'Expected a function from graphs to callables as backend "x" but found 3',
      "Expected a string for the name of a backend but found 3",
      "Expected forceBackend to be a string or a function but found 1",
      'Expected a boolean, whether breaks are errors, but found "yes"',
      "Expected a function to run but found 3",
      'Expected dimensions to mark but found "0"',
      "Expected an option of markDynamic to be one of min, max but found minimum",
      "Expected a tensor to mark but found 3",
      "Expected a function to trace but found 3",
      "Expected a function that compiles graphs as fwCompiler but found undefined",
      "Expected a function to run with changed settings but found 3",
    ],
  );
});

Deno.test("functions that control compilation end a graph when a compiled function calls them, once", () => {
  const programs: readonly ((x: Tensor) => Tensor)[] = [
    (x) => {
      compiler.markDynamic(x, 0);
      return x.add(1);
    },
    (x) => compile((y: Tensor) => y.add(1), { backend: "eager" })(x),
    (x) => config.patch({ cacheSizeLimit: 3 }, () => x.add(1)),
  ];
  for (const program of programs) {
    const { breakReasons } = compiler.explain(program)(tensor([1, 2]));
    assertEquals(breakReasons.map(({ id }) => id), ["GB0004"], `${program}`);
    assertEquals(compile(program, { backend: "eager" })(tensor([1, 2])).tolist(), [2, 3]);
  }
});

testInTurn("precision of convolutions", {
  name: "convolutions err a little more where options let them, and then three times as much at most",
  ignore: SKIP_NATIVE,
  fn() {
    const x = randn([2, 32, 16, 16]), w = randn([32, 32, 3, 3]);
    const convolve = (x: Tensor, w: Tensor) => nn.functional.conv2d(x, w, null, 1, 1);
    const exact = convolve(x.to("float64"), w.to("float64"));
    const errors = (["highest", "high"] as const).map((convolutionPrecision) => {
      const found = compile(convolve, { options: { convolutionPrecision, tier: "wait" } })(x, w);
      return found.to("float64").sub(exact).norm().div(exact.norm()).item();
    });
    const [highest = NaN, high = NaN] = errors;
    assert(highest < 4e-7 && high > 1.5 * highest && high < 12e-7, `errors ${errors}`);
  },
});

/** The ways in which calls run that take so many milliseconds. */
function waysOf(
  costs: Readonly<Record<"compiled" | "plain", number>>,
  progress: Partial<FasterWay["progress"]> = {},
) {
  let time = 0;
  const ways: string[] = [];
  const call = (way: "compiled" | "plain") => () => {
    time += costs[way];
    ways.push(way);
    return ways.length;
  };
  const settled = { versions: () => 1, isNative: () => true, ...progress };
  const chosen = new FasterWay(() => "f", settled, () => time);
  const results = Array.from(
    { length: 40 },
    () => chosen.serve({ compiled: call("compiled"), plain: call("plain") }),
  );
  return { ways, results, chosen };
}

Deno.test("keepFaster times calls alternately and keeps the faster way", () => {
  for (const kept of ["compiled", "plain"] as const) {
    const { ways, results, chosen } = waysOf({ compiled: 2, plain: kept === "plain" ? 1 : 3 });
    assertEquals(results, ways.map((_, call) => call + 1), "each call runs once");
    assertEquals(chosen.times, { compiled: 2, plain: kept === "plain" ? 1 : 3, kept });
    assertEquals(ways.slice(4, 8), ["compiled", "plain", "compiled", "plain"]);
    assertEquals(new Set(ways.slice(24)), new Set([kept]));
  }
  const lines: string[] = [];
  logs.capture("perf_hints", (_, text) => lines.push(text), () => waysOf({ compiled: 1500, plain: 0.25 }));
  assertMatch(lines.join(), /f takes 1500 ms a call compiled and 0\.25 ms as written/);
  let version = 0;
  assertEquals(
    new Set(waysOf({ compiled: 2, plain: 1 }, { versions: () => version++ }).ways),
    new Set(["compiled"]),
  );
  assertEquals(
    new Set(waysOf({ compiled: 2, plain: 1 }, { isNative: () => false }).ways),
    new Set(["compiled"]),
  );
});

Deno.test("keepFaster changes no result and no effect; unfinished asynchronous results are rejected or stay compiled", () => {
  let calls = 0;
  const f = compile((x: Tensor) => {
    calls++;
    return x.mul(2).add(calls);
  }, { backend: "eager", options: { keepFaster: true } });
  assertEquals(compiler.status(f).times, null);
  // It waits for all graphs to be native, those of other tests too, but not for ever
  for (let call = 1; call <= 300; call++) assertEquals(f(tensor([1, 2])).tolist(), [2 + call, 4 + call]);
  const { kept } = compiler.status(f).times ?? {};
  assert(kept === "compiled" || kept === "plain", kept);
  const later = compile((x: Tensor) => Promise.resolve(x), {
    backend: "eager",
    options: { keepFaster: true },
  });
  for (let call = 0; call < 300; call++) later(tensor([1]));
  assertEquals(compiler.status(later).times, null);
  assertThrows(
    () => compile(async (x: Tensor) => await x, { options: { keepFaster: true } }),
    DynError,
    "Expected a function that is done when it returns for keepFaster",
  );
});
