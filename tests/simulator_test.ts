/**
 * Predictions of training steps on many ranks: the arithmetic of links, layouts and memory, and steps as compilers see
 * them, from hand-written workloads and small compiled steps.
 */
import { assert, assertAlmostEquals, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { fileURLToPath } from "node:url";
import {
  allGatherSeconds,
  allReduceSeconds,
  type Cluster,
  fittedLink,
  linkOf,
  sendSeconds,
} from "../lib/debug/simulator/links.ts";
import { type Layout, predict, type Terms } from "../lib/debug/simulator/predictions.ts";
import { StepRecorder } from "../lib/debug/simulator/recorder.ts";
import { choices, fastest, layoutsOf, rateOf } from "../lib/debug/simulator/strategies.ts";
import { type Layer, stagesOf, type Workload } from "../lib/debug/simulator/workload.ts";
import { compile, nn, optim, randn, type Tensor } from "../mod.ts";
import { runProgram, withFolder } from "./support/process.ts";

const CLUSTER: Cluster = {
  ranksPerNode: 8,
  within: { latency: 1e-6, bandwidth: 1e9 },
  between: { latency: 1e-5, bandwidth: 1e8 },
  topology: "ring",
};

/** A link without latency, or without bytes that count. */
const free = (latency: number, bandwidth: number): Cluster => ({
  ...CLUSTER,
  within: { latency, bandwidth },
});

Deno.test("collectives take the time that rings and trees need", () => {
  const four = { ranks: 4, stride: 1 };
  assertAlmostEquals(allReduceSeconds(free(0, 1e9), four, 1e9), 2 * 3 / 4);
  assertAlmostEquals(allReduceSeconds(free(1, Infinity), four, 1e9), 2 * 3);
  assertAlmostEquals(allGatherSeconds(free(1, 1e9), four, 1e9), 3 + 3 / 4);
  const tree = (latency: number, bandwidth: number): Cluster => ({
    ...free(latency, bandwidth),
    topology: "tree",
  });
  assertAlmostEquals(allReduceSeconds(tree(0, 1e9), four, 1e9), 2);
  assertAlmostEquals(allReduceSeconds(tree(1, Infinity), { ranks: 5, stride: 1 }, 1e9), 2 * 3);
  assertAlmostEquals(allGatherSeconds(tree(1, 1e9), four, 1e9), 2 + 3 / 4);
  assertEquals(
    [allReduceSeconds, allGatherSeconds, sendSeconds].map((f) => f(CLUSTER, { ranks: 1, stride: 1 }, 9)),
    [0, 0, 0],
  );
  assertAlmostEquals(sendSeconds(CLUSTER, { ranks: 2, stride: 8 }, 1e6), 1e-5 + 8e6 / 1e8);
});

Deno.test("groups that span nodes share the node's link", () => {
  assertEquals(linkOf(CLUSTER, { ranks: 8, stride: 1 }), CLUSTER.within);
  assertEquals(linkOf(CLUSTER, { ranks: 16, stride: 1 }), CLUSTER.between);
  assertEquals(linkOf(CLUSTER, { ranks: 4, stride: 4 }), { latency: 1e-5, bandwidth: 25e6 });
  assertEquals(linkOf(CLUSTER, { ranks: 4, stride: 64 }).bandwidth, 1e8 / 8);
});

Deno.test("more ranks, bytes or latency never take less time", () => {
  for (const topology of ["ring", "tree", "best"] as const) {
    for (const seconds of [allReduceSeconds, allGatherSeconds]) {
      let before = 0;
      for (let ranks = 1; ranks <= 65536; ranks *= 2) {
        const at = (bytes: number, more = 1) =>
          seconds(
            {
              ...CLUSTER,
              topology,
              between: { ...CLUSTER.between, latency: more * CLUSTER.between.latency },
            },
            { ranks, stride: 1 },
            bytes,
          );
        assert(
          at(1e6) >= before && at(2e6) >= at(1e6) && at(1e6, 2) >= at(1e6),
          `${topology}, ${ranks} ranks`,
        );
        before = at(1e6);
      }
    }
  }
});

Deno.test("a link model is fitted to measured all-reduces", () => {
  const measured = [2, 4].flatMap((ranks) =>
    [8, 1e4, 1e8].map((bytes) => ({
      ranks,
      bytes,
      seconds: allReduceSeconds(free(2e-6, 3e9), { ranks, stride: 1 }, bytes),
    }))
  );
  const { latency, bandwidth } = fittedLink(measured);
  assertAlmostEquals(latency, 2e-6, 1e-12);
  assertAlmostEquals(bandwidth / 3e9, 1, 1e-6);
  assertThrows(() => fittedLink(measured.slice(0, 1)), Error, "Expected all-reduces of two sizes at least");
});

const layer = (
  given: Partial<Record<"parameters" | "seconds" | "saved" | "output" | "sum", number>>,
): Layer => ({
  parameters: { whole: 0, divided: given.parameters ?? 0 },
  seconds: { whole: 0, divided: given.seconds ?? 0 },
  saved: { whole: given.saved ?? 0, divided: 0 },
  output: given.output ?? 0,
  sums: given.sum === undefined ? [] : [given.sum],
});

/** Four layers; Adam. */
const WORKLOAD: Workload = {
  layers: [100, 400, 200, 100].map((parameters, k) =>
    layer({ parameters, seconds: 1 + k, saved: 10, output: 7, sum: 5 })
  ),
  backwardRatio: 2,
  update: 0.5,
  stateRatio: 2,
  constants: 3,
};

const TERMS: Terms = { cluster: CLUSTER, microbatches: 8, overlaps: false, schedule: "1f1b", speed: 1 };

const at = (layout: Partial<Layout>, terms: Partial<Terms> = {}) => {
  const found = predict(WORKLOAD, { data: 1, tensor: 1, stages: 1, sharded: false, ...layout }, {
    ...TERMS,
    ...terms,
  });
  assert(found);
  return found;
};

Deno.test("one rank takes the recorded time, and copies additionally wait for their gradients", () => {
  assertAlmostEquals(at({}).seconds, 10 * 3 + 0.5);
  assertAlmostEquals(at({}, { speed: 10 }).seconds, 3.05);
  assertAlmostEquals(at({ data: 4 }).seconds, 30.5 + allReduceSeconds(CLUSTER, { ranks: 4, stride: 1 }, 800));
  assertEquals([at({ data: 4 }).batches, at({ data: 4, stages: 2 }).batches], [4, 32]);
  // Transfers during the backward pass are not awaited, except for the last bucket
  const slow = free(0, 8e-3), far = { ...slow, within: { latency: 0, bandwidth: 800 / 35 } };
  assertAlmostEquals(at({ data: 2 }, { cluster: far, overlaps: true }).seconds - 30.5, 35);
  assert(at({ data: 2 }, { cluster: slow }).seconds > 1e5);
});

Deno.test("memory is that of parameters, gradients, optimizer state and saved activations of ranks", () => {
  const held = 4 * 800, saved = 40;
  assertEquals(at({}).bytes, held + saved + 3);
  assertEquals(at({ data: 8 }).bytes, held + saved + 3);
  // A part of everything, and the largest layer whole with its gradients
  assertEquals(at({ data: 8, sharded: true }).bytes, held / 8 + 2 * 400 + saved + 3);
  assertEquals(at({ tensor: 4 }).bytes, held / 4 + saved + 3);
  // Two stages: the first has layers of 100 and 400 and 200 bytes, and keeps two micro-batches
  assertEquals(at({ stages: 2 }).bytes, 4 * 700 + 2 * 30 + 3);
  assertEquals(at({ stages: 2 }, { schedule: "gpipe" }).bytes, 4 * 700 + 8 * 30 + 3);
});

Deno.test("stages of a pipeline are as equal as layers allow, and wait for each other", () => {
  const sizes = (stages: number) => stagesOf(WORKLOAD.layers, stages, 1)?.map(({ length }) => length);
  assertEquals([sizes(1), sizes(2), sizes(3), sizes(4), sizes(5)], [
    [4],
    [3, 1],
    [2, 1, 1],
    [1, 1, 1, 1],
    undefined,
  ]);
  const message = sendSeconds(CLUSTER, { ranks: 2, stride: 1 }, 7);
  // Eight micro-batches, and one more turn for the second stage; its part of the update is the first one's
  assertAlmostEquals(at({ stages: 2 }).seconds, 9 * (6 * 3 + 2 * message) + 0.5 * 700 / 800);
  assertEquals(predict(WORKLOAD, { data: 1, tensor: 1, stages: 8, sharded: false }, TERMS), null);
});

Deno.test("ranks that divide layers divide their time, and sum their partial results", () => {
  const sums = 4 * allReduceSeconds(CLUSTER, { ranks: 4, stride: 1 }, 5);
  const { seconds, communication } = at({ tensor: 4 });
  assertAlmostEquals(seconds, 30 / 4 + sums + 0.5 / 4);
  assertAlmostEquals(communication, sums);
});

Deno.test("the fastest layout is one that fits", () => {
  assertEquals(
    layoutsOf(8, 2).filter(({ sharded }) => !sharded).map((
      { data, tensor, stages },
    ) => [data, tensor, stages]),
    [
      [8, 1, 1],
      [4, 1, 2],
      [2, 1, 4],
      [1, 1, 8],
      [4, 2, 1],
      [2, 2, 2],
      [1, 2, 4],
    ],
  );
  const of = (memory: number) => choices(WORKLOAD, TERMS, { ranks: 8, memory });
  assertEquals(of(1e9).map(({ strategy }) => strategy), ["data", "sharded", "tensor", "pipeline", "mixed"]);
  const best = fastest(of(1e9));
  assert(best && of(1e9).every(({ prediction }) => rateOf(prediction) <= rateOf(best.prediction)));
  const small = of(1300), data = small.find(({ strategy }) => strategy === "data"), chosen = fastest(small);
  assertEquals(data?.fits, false);
  assert(chosen && chosen.prediction.bytes <= 1300);
  assertEquals(fastest(of(10)), undefined);
});

/** The workload of the step of a model. */
function recorded(net: nn.Sequential, x: Tensor) {
  const recorder = new StepRecorder(), optimizer = new optim.AdamW(net.parameters());
  const step = compile((x: Tensor) => {
    optimizer.zeroGrad();
    const loss = net.call(x).square().mean();
    loss.backward();
    optimizer.step();
    return loss.detach();
  }, { backend: "aot_eager" });
  step(x);
  const before = net.parameters()[0]?.sum().item();
  step(x);
  const found = recorder.finish();
  // The program's own step has happened as it would have
  assert(net.parameters()[0]?.sum().item() !== before);
  return found;
}

Deno.test("a compiled step reports its layers, what they save and what dividing ranks sum", () => {
  const net = new nn.Sequential(new nn.Linear(4, 8), new nn.Tanh(), new nn.Linear(8, 2));
  const { workload, calls, seconds } = recorded(net, randn([3, 4]));
  assertEquals([calls, workload.layers.length], [2, 2]);
  assertEquals(workload.layers.map(({ parameters }) => parameters), [
    { whole: 0, divided: 4 * (32 + 8) },
    { whole: 4 * 2, divided: 4 * 16 },
  ]);
  const [first, second] = workload.layers;
  // tanh's results are read by its own backward pass and by the second layer's; they are in parts
  assertEquals(first?.saved, { whole: 0, divided: 4 * 24 });
  assertEquals([first?.output, second?.output], [4 * 24, 0]);
  assertEquals([first?.sums, second?.sums], [[], [4 * 6]]);
  // Two averages for each parameter, and four counts of steps
  assertEquals([workload.stateRatio, workload.constants], [2, 4 * 4]);
  const one = predict(workload, { data: 1, tensor: 1, stages: 1, sharded: false }, TERMS);
  assertAlmostEquals(one?.seconds ?? NaN, seconds, seconds / 1e3);
});

Deno.test("equal layers, which the graph holds once, are counted as often as they run", () => {
  const layers = Array.from(
    { length: 4 },
    () => new nn.Sequential(new nn.Linear(8, 8), new nn.GELU(), new nn.Linear(8, 8), new nn.GELU()),
  );
  const { workload } = recorded(new nn.Sequential(...layers), randn([3, 8]));
  assertEquals(workload.layers.length, 8);
  assertEquals(
    workload.layers.map(({ parameters: { whole, divided } }) => whole + divided),
    Array(8).fill(4 * 72),
  );
});

Deno.test("dyn simulate prints a table for the step of a script", async () => {
  await withFolder(async (folder) => {
    const script = `${folder}/step.ts`;
    await Deno.writeTextFile(
      script,
      `import { compile, nn, optim, randn } from ${
        JSON.stringify(new URL("../mod.ts", import.meta.url).href)
      };
const net = new nn.Linear(64, 64), optimizer = new optim.SGD(net.parameters(), { lr: 0.1 });
const step = compile((x) => {
  optimizer.zeroGrad();
  net.call(x).square().mean().backward();
  if (Deno.args[0] !== "whole") console.log("A break");
  optimizer.step();
});
// In a later task, which the report waits for
setTimeout(() => {
  for (let k = 0; k < 2; k++) step(randn([8, 64]));
}, 1);
`,
    );
    const cli = fileURLToPath(new URL("../cli.ts", import.meta.url));
    const words = [
      "run",
      "-A",
      "--no-check",
      cli,
      "--backend=aot_eager",
      "simulate",
      "--ranks=8,64",
      "--memory=1",
      script,
    ];
    const whole = await runProgram(Deno.execPath(), [...words, "whole"]);
    assertEquals(whole.code, 0, whole.stderr);
    assertStringIncludes(whole.stdout, "Ranks hold 1.0 GiB");
    assertEquals(whole.stdout.match(/^(?:8|64) +(?:data|sharded|tensor|mixed) /gm)?.length, 8);
    assertEquals(whole.stdout.match(/fastest$/gm)?.length, 2);
    const broken = await runProgram(Deno.execPath(), [...words, "broken"]);
    assertEquals(broken.code, 1);
    assertStringIncludes(
      broken.stderr,
      "error: Expected a compiled function whose graph is a whole training step",
    );
  });
});
