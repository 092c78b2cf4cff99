/**
 * Reports of numbers: how far compiled results are from plain ones and both from double precision, what brings them
 * closer, and which op's rounding is to blame. The measured call has its effects once.
 */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  compile,
  config,
  DynError,
  manualSeed,
  nn,
  numerics,
  ones,
  optim,
  randn,
  type Tensor,
  tensor,
} from "../mod.ts";
import { distanceOf, ulpAt } from "../lib/debug/numerics/distance.ts";
import "./support/faulty_backends.ts";

const wasm = <R>(body: () => R): R => config.patch({ inductor: { tier: "wasm" } }, body);

Deno.test("distances count units in the last place of each type", () => {
  assertEquals([1, 1.5, 2, 0.75, 0, -4].map((x) => ulpAt(x, "float32") / 2 ** -23), [
    1,
    1,
    2,
    0.5,
    2 ** -126,
    4,
  ]);
  assertEquals([ulpAt(1, "bfloat16"), ulpAt(1, "float16"), ulpAt(1e-7, "float16"), ulpAt(7, "int32")], [
    2 ** -7,
    2 ** -10,
    2 ** -24,
    1,
  ]);
  for (let k = -1074; k < 1024; k++) {
    const at = 2 ** k, below = at * (1 - 2 ** -53);
    assertEquals(ulpAt(at, "float64"), 2 ** Math.max(-1074, k - 52));
    if (k > -1022) assertEquals(ulpAt(below, "float64"), 2 ** Math.max(-1074, k - 53));
  }
  const between = (got: number[], want: number[]) =>
    distanceOf(new Float32Array(got), new Float64Array(want), "float32");
  assertEquals(between([1, NaN, Infinity, -0], [1, NaN, Infinity, 0]), {
    ulps: 0,
    absolute: 0,
    relative: 0,
    at: 0,
    count: 0,
  });
  assertEquals(between([4, 1], [4, 1 + 2 ** -22]), {
    ulps: 2,
    absolute: 2 ** -22,
    relative: 2 ** -24,
    at: 1,
    count: 1,
  });
  assertEquals(between([0, NaN], [0, 1]).ulps, Infinity);
  // An element that vanishes on one side is as far off as a number has bits
  assertEquals(between([0], [1e-9]).ulps <= 2 ** 24, true);
});

Deno.test("a report names the drift in low precision, the option against it, and the op that rounds", () => {
  manualSeed(1);
  const calls: string[] = [];
  const act = (x: Tensor, y: Tensor): Tensor => {
    calls.push("act");
    const grown = x.mul(y).add(x).exp();
    return grown.sub(1).tanh();
  };
  const x = randn([8, 16]).to("bfloat16"), y = randn([8, 16]).to("bfloat16");
  const report = wasm(() => numerics(act)(x, y));
  assertEquals(calls, ["act"]);
  const [graph] = report.graphs, [value] = graph?.values ?? [];
  assert(graph && value?.compiledError && value.plainError);
  assert(value.drift.count > 10 && value.drift.ulps >= 1);
  // One rounding at the end
  assert(value.compiledError.ulps <= 0.51, `${value.compiledError.ulps}`);
  assert(value.plainError.ulps > 1);
  assertEquals(graph.settings[0], { setting: "emulatePrecisionCasts: true", ulps: 0 });
  assertMatch(graph.roundings?.[0]?.op ?? "", /^(exp|mul), at act \(.*numerics_test\.ts:\d+\)$/);
  assertMatch(
    `${report}`,
    /^1 graph, compiled by inductor;.*\nGraph 1 of act\n.*\n {2}result 0 +bfloat16\[8, 16\] +[\d.]+ ulps, [\d.]+, \d+ of 128 differ, most at \[\d, \d+\] .*\n {2}with options \{ emulatePrecisionCasts: true \}: the plain bits\n/,
  );
  assertMatch(
    `${report}`,
    /\n {4}[\d.]+ by (exp|mul), at act .*\n {8}const grown = x\.mul\(y\)\.add\(x\)\.exp\(\);/,
  );
  const strict = wasm(() => numerics(act, { options: { emulatePrecisionCasts: true } })(x, y));
  assertMatch(`${strict}`, / same bits /);
  assertEquals(strict.graphs[0]?.settings, []);
});

Deno.test("gradients are measured, and the rounding that a subtraction reveals is found", () => {
  manualSeed(2);
  const spread = (x: Tensor): Tensor => {
    const big = x.add(1000);
    return big.sub(big.mean()).pow(2).mean().sqrt();
  };
  const x = randn([40]).requiresGrad_();
  const [graph] = wasm(() => numerics(spread)(x)).graphs;
  assert(graph);
  assertEquals(graph.values.map(({ name, drift }) => [name, drift.count]), [
    ["result 0", 0],
    ['L["x"] after the call', 0],
    ['gradient of L["x"]', 0],
  ]);
  assertEquals([graph.worst?.name, x.grad], ['gradient of L["x"]', null]);
  const [first, second] = graph.roundings ?? [];
  assertMatch(first?.op ?? "", /^add, at spread/);
  // Alone it explains the error of the plain run; the next one is much smaller
  const share = (first?.relative ?? 0) / (graph.worst?.plainError?.relative ?? 1);
  assert(share > 0.8 && share < 1.2, `${share}`);
  assert((second?.relative ?? 0) < 0.1 * (first?.relative ?? 0));
});

Deno.test("conversions of low precision count, and a gradient that is zero is all rounding", () => {
  manualSeed(3);
  const layer = new nn.Linear(16, 8).to("float16");
  const [graph] = numerics((x: Tensor): Tensor => layer.call(x).tanh(), { backend: "aot_eager" })(
    randn([4, 16]).to("float16"),
  ).graphs;
  assertEquals(graph?.roundings?.length, 3);
  for (const { relative } of graph?.roundings ?? []) {
    assert(relative > 2 ** -14 && relative < 2 ** -9, `${relative}`);
  }
  // Whatever is added to all samples alike, their normalisation removes
  const shift = ones([3]).requiresGrad_(), x = randn([8, 3]);
  const normalised = (): Tensor => nn.functional.batchNorm(x.add(shift), null, null, null, null, true);
  const [other] = numerics(normalised, { backend: "aot_eager" })().graphs;
  assertMatch(other?.worst?.name ?? "", /^gradient of .*shift/);
  const { relative = 0 } = other?.worst?.plainError ?? {}, [first] = other?.roundings ?? [];
  assert(relative > 0.9 && relative <= 1, `${relative}`);
  assert(first && first.relative > 0.1 && first.relative < 10, `${first?.relative}`);
});

Deno.test("a wrong result is a drift that no option removes", () => {
  const [graph] =
    numerics((x: Tensor) => x.add(1).tanh().mul(2), { backend: "wrong_tanh" })(randn([5])).graphs;
  assert((graph?.values[0]?.drift.relative ?? 0) > 1e-4);
  assertEquals(graph?.settings, []);
});

Deno.test("a measured training step is one step, of modules, with random numbers, compiled or async", async () => {
  const losses = [false, true].map((measured) => {
    manualSeed(7);
    const model = new nn.Sequential(new nn.Linear(3, 4), new nn.Dropout(0.5), new nn.Linear(4, 1));
    const optimizer = new optim.SGD(model.parameters(), { lr: 0.1, momentum: 0.9 });
    const step = (x: Tensor): Tensor => {
      optimizer.zeroGrad();
      const loss = model.call(x).pow(2).mean();
      loss.backward();
      optimizer.step();
      return loss.detach();
    };
    const x = randn([6, 3]);
    if (measured) {
      const report = numerics(compile(step), { backend: "aot_eager" })(x);
      assertEquals(report.graphs.length, 1);
      assert((report.graphs[0]?.values.length ?? 0) > 8);
      assert(
        report.graphs[0]?.values.every(({ plainError }) => plainError !== null && plainError.relative < 1e-5),
      );
    } else step(x);
    return step(x).item();
  });
  assertEquals(losses[0], losses[1]);
  const layer = new nn.Linear(2, 2);
  assertEquals(numerics(layer, { backend: "eager" })(randn([1, 2])).graphs[0]?.title, "Linear");
  const later = async (x: Tensor): Promise<Tensor> => {
    await Promise.resolve();
    return x.sin();
  };
  assertEquals((await numerics(later, { backend: "eager" })(tensor([1]))).graphs.length, 1);
  let count = 0;
  const counting = (x: Tensor): Tensor => x.add(++count);
  assertMatch(
    `${numerics(counting, { backend: "eager" })(tensor([1]))}`,
    /^0 graphs,.*\ncounting ran uncompiled: .*count/,
  );
  assertThrows(() => Reflect.apply(numerics, null, [3]), DynError, "Expected a function");
});
