/**
 * Whole models, compared with PyTorch, eager and compiled: inference, training steps with Adam, and GPT-2 decoding
 * token by token with a cache. Each workload runs in a separate process; --together runs all of ours in one.
 *
 *   DYN_NUM_THREADS=2 DYN_BENCH_PYTHON=python deno run -A cli.ts bench models [resnet18 …] [--eager] [--together]
 *     [--webgpu] [--seconds=6]
 *
 * --eager omits PyTorch's compiler, which takes minutes; --webgpu runs on the WebGPU device, beside CUDA in float32
 * without TF32; --seconds is the duration of each measurement.
 */
import {
  compile,
  compiler,
  init,
  manualSeed,
  nn,
  noGrad,
  optim,
  randint,
  randn,
  setDefaultDevice,
  type Tensor,
} from "../mod.ts";
import { findDevice } from "../lib/loops/device.ts";
import { ConvNeXt } from "./models/convnext.ts";
import { pythonModels } from "./models/pytorch.ts";
import { ResNet18 } from "./models/resnet.ts";
import { Tagger } from "./models/tagger.ts";
import { BASE, BertClassifier, Gpt2, type Past, VisionTransformer } from "./models/transformer.ts";
import { describeMachine, medianOf } from "./support/measure.ts";
import { pytorch } from "./support/pytorch.ts";
import "./support/native.ts";

const TOKENS = 64, PROMPT = 16;
/** Minimum number of samples of slow workloads. */
const LEAST_SAMPLES = 3;
const flags = Deno.args.filter((each) => each.startsWith("--"));
const given = Deno.args.filter((each) => !each.startsWith("--"));
const SECONDS = Number(flags.find((each) => each.startsWith("--seconds="))?.split("=")[1] ?? 6);
const ON_GPU = flags.includes("--webgpu");

/** Maps inputs [batch, …] to scores […, classes]. */
type Scorer = nn.Module & { call(x: Tensor): Tensor };

interface Model {
  readonly make: () => Scorer;
  readonly input: () => Tensor;
  readonly labels: () => Tensor;
}

const image = (batch: number) => () => randn([batch, 3, 224, 224]);
const numbers = (count: number, ...size: number[]) => () => randint(0, count, size);

const MODELS: Readonly<Record<string, Model>> = {
  "resnet18 4×224²": { make: () => new ResNet18(), input: image(4), labels: numbers(1000, 4) },
  "BERT-base 4×256": {
    make: () => new BertClassifier(BASE),
    input: numbers(30522, 4, 256),
    labels: numbers(2, 4),
  },
  "GPT-2 124M 4×256": {
    make: () => new Gpt2(BASE),
    input: numbers(50257, 4, 256),
    labels: numbers(50257, 4, 256),
  },
  "ViT-B/16 2×224²": {
    make: () => new VisionTransformer(BASE),
    input: image(2),
    labels: numbers(1000, 2),
  },
  "ConvNeXt-T 2×224²": { make: () => new ConvNeXt(), input: image(2), labels: numbers(1000, 2) },
  "LSTM tagger 32×64": {
    make: () => new Tagger(),
    input: numbers(10000, 32, 64),
    labels: numbers(32, 32 * 64),
  },
};
const DECODING = "GPT-2 decoding";
const NAMES = [...Object.keys(MODELS), DECODING];

/** Milliseconds by measurement. */
type Times = Record<string, number>;

function timed(run: () => unknown, calls = 1): number {
  const start = performance.now();
  for (let k = 0; k < calls; k++) run();
  if (ON_GPU) findDevice("webgpu")?.synchronize();
  return (performance.now() - start) / calls;
}

/** Number of rounds of calls that are awaited together. */
const ROUNDS = 5;

/**
 * Milliseconds of the first call and the median of later ones, whose results are dropped; on a GPU they are disposed of,
 * and calls are awaited together.
 */
function measured(name: string, run: () => unknown, times: Times): void {
  times[`${name}, first`] = timed(run);
  if (ON_GPU) {
    const once = Math.min(timed(run), timed(run), timed(run));
    const calls = Math.max(1, Math.min(10_000, Math.round(1000 * SECONDS / ROUNDS / once)));
    times[name] = medianOf(Array.from({ length: ROUNDS }, () => timed(run, calls)));
    return;
  }
  run();
  const samples: number[] = [], until = performance.now() + 1000 * SECONDS;
  while (performance.now() < until || samples.length < LEAST_SAMPLES) samples.push(timed(run));
  times[name] = medianOf(samples);
}

function leave(result: Tensor): void {
  if (ON_GPU) result[Symbol.dispose]();
}

function measureModel(name: string, { make, input, labels }: Model, times: Times): void {
  const model = make(), x = input(), y = labels();
  const optimizer = new optim.Adam(model.parameters());
  const forward = compile((x: Tensor) => model.call(x), { name: "infer" });
  const step = compile((x: Tensor, y: Tensor) => {
    optimizer.zeroGrad();
    const loss = nn.functional.crossEntropy(model.call(x).flatten(0, -2), y.flatten());
    loss.backward();
    optimizer.step();
    return loss.detach();
  }, { name: "step" });
  model.eval();
  measured(`${name}, infer`, () => noGrad(() => leave(forward(x))), times);
  model.train();
  measured(`${name}, step`, () => leave(step(x, y)), times);
}

/** Milliseconds per token after the prompt, in three texts after one that compiles. */
function measureDecoding(times: Times): void {
  const model = new Gpt2(BASE).eval();
  const next = compile(
    (words: Tensor, past: readonly Past[] | null) => noGrad(() => model.next(words, past)),
    {
      name: "next",
    },
  );
  const text = (): number => {
    let [words, past] = next(randint(0, 50257, [1, PROMPT]), null);
    return timed(() => {
      for (let k = 1; k < TOKENS; k++) [words, past] = next(words, past);
    }) / (TOKENS - 1);
  };
  times[`${DECODING}, first`] = timed(text);
  times[`${DECODING}, a token`] = medianOf([0, 1, 2].map(text));
  const { recompiles, graphBreaks } = compiler.status(next);
  console.error(`${DECODING}: ${recompiles} recompiles in ${4 * TOKENS} tokens, ${graphBreaks} graph breaks`);
}

function measureAll(names: readonly string[]): Times {
  const times: Times = {};
  manualSeed(0);
  for (const name of names) {
    const model = MODELS[name];
    if (model) measureModel(name, model, times);
    else measureDecoding(times);
  }
  return times;
}

/** The times of workloads in a separate process. */
function inProcess(names: readonly string[]): Times {
  const { success, stdout } = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", import.meta.url, "work", ...names, ...flags],
    stdout: "piped",
    stderr: "inherit",
  }).outputSync();
  if (!success) throw new Error(`Expected ${names.join(", ")} to run but the process failed`);
  return JSON.parse(new TextDecoder().decode(stdout).trim().split("\n").at(-1) ?? "{}");
}

function print(times: Times, peers: ReadonlyMap<string, number>): void {
  const table = Object.entries(times).filter(([name]) => !name.endsWith(", first")).map(([name, ms]) => {
    const eager = peers.get(name), compiled = peers.get(`${name}, compiled`);
    const least = Math.min(eager ?? Infinity, compiled ?? Infinity);
    return {
      work: name,
      ms: ms.toFixed(1),
      "first ms": times[`${name}, first`]?.toFixed(0) ?? "",
      "PyTorch": eager?.toFixed(1) ?? "",
      "PyTorch compiled": compiled?.toFixed(1) ?? "",
      "PyTorch's best / ours": Number.isFinite(least) ? (least / ms).toFixed(2) : "",
    };
  });
  console.table(table);
}

if (ON_GPU) {
  await init({ device: "webgpu" });
  setDefaultDevice("webgpu");
}
if (given[0] === "work") {
  console.log(JSON.stringify(measureAll(given.slice(1))));
} else {
  const wanted = NAMES.filter((name) => given.length === 0 || given.some((each) => name.startsWith(each)));
  if (wanted.length === 0) {
    throw new Error(`Expected works out of ${NAMES.join(", ")} but found ${given.join(", ")}`);
  }
  console.log(describeMachine());
  const together = flags.includes("--together");
  const times = together ? inProcess(wanted) : Object.assign({}, ...wanted.map((name) => inProcess([name])));
  const choices = { seconds: SECONDS, compiled: !flags.includes("--eager"), cuda: ON_GPU };
  const found = pytorch(pythonModels(wanted, choices));
  print(times, new Map(found?.map(({ name, median }) => [name, median])));
}
