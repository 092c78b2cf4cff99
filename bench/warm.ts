/**
 * The first compiled call of a fresh process, with an empty cache and with one filled by a process whose calls became
 * native: a small function, training steps of an MLP, of resnet18 and of a small BERT. Milliseconds from the call to
 * its result, and CPU time on all threads meanwhile, without imports and construction of models.
 *
 *   DYN_NUM_THREADS=2 deno run -A cli.ts bench warm [hello mlp resnet18 bert] [--phases]
 */
import process from "node:process";
import { counters } from "../lib/base/logs.ts";
import { compile, compiler, manualSeed, nn, optim, randint, randn, type Tensor } from "../mod.ts";
import { describeMachine, medianOf } from "./support/measure.ts";
import { Bert } from "./models/bert.ts";
import { ResNet18 } from "./models/resnet.ts";

/** Number of measurements with a full cache. */
const TURNS = 3;

/** Maximum milliseconds of the C++ compiler. */
const PATIENCE = 300_000;

interface Work {
  readonly run: () => Tensor;
}

/** Maps numbers [batch, …] to scores [batch, classes]. */
type Classifier = nn.Module & { call(x: Tensor): Tensor };

/** A training step of a classifier with Adam. */
function training(model: Classifier, x: Tensor, y: Tensor): Work {
  const optimizer = new optim.Adam(model.parameters());
  const step = compile((x: Tensor, y: Tensor) => {
    optimizer.zeroGrad();
    const loss = nn.functional.crossEntropy(model.call(x), y);
    loss.backward();
    optimizer.step();
    return loss.detach();
  }, { name: "step" });
  return { run: () => step(x, y) };
}

const WORKS: Readonly<Record<string, () => Work>> = {
  hello() {
    const hello = compile((x: Tensor, y: Tensor) => x.add(y).sin(), { name: "hello" });
    const x = randn([64, 64]), y = randn([64, 64]);
    return { run: () => hello(x, y) };
  },
  mlp() {
    const model = new nn.Sequential(
      new nn.Linear(784, 512),
      new nn.ReLU(),
      new nn.Linear(512, 512),
      new nn.ReLU(),
      new nn.Linear(512, 10),
    );
    return training(model, randn([128, 784]), randint(0, 10, [128]));
  },
  resnet18: () => training(new ResNet18(), randn([4, 3, 64, 64]), randint(0, 1000, [4])),
  bert: () =>
    training(
      new Bert({ layers: 4, width: 256, heads: 4 }),
      randint(0, 8192, [8, 128]),
      randint(0, 8192, [8]),
    ),
};

/** The measurements of one process. */
interface Told {
  readonly imports: number;
  readonly first: number;
  /** CPU milliseconds of the first call. */
  readonly cpu: number;
  readonly result: string;
  readonly phases: string;
}

/** Calls until native code from the background compiler is in use. */
async function becomeNative(run: () => unknown): Promise<void> {
  const of = (...names: string[]) => names.reduce((sum, name) => sum + counters.get("tiers", name), 0);
  const until = performance.now() + PATIENCE;
  while (of("switched", "native_at_once") < of("wasm_first")) {
    if (performance.now() > until) throw new Error("Expected the C++ compiler to be done but it is not");
    run();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const [wanted, ...rest] = Deno.args;
if (wanted === "work") {
  const imports = performance.now(), work = WORKS[rest[0] ?? ""];
  if (!work) throw new Error(`Expected a work out of ${Object.keys(WORKS).join(", ")} but found ${rest[0]}`);
  manualSeed(0);
  const { run } = work(), usage = process.cpuUsage(), start = performance.now(), result = run();
  const first = performance.now() - start, { user, system } = process.cpuUsage(usage);
  const told: Told = {
    imports,
    first,
    cpu: (user + system) / 1000,
    result: `${result}`,
    phases: `${compiler.compileTimes()}`,
  };
  if (rest.includes("fill")) await becomeNative(run);
  console.log(JSON.stringify(told));
  Deno.exit(0);
}

function measured(name: string, cache: string, ...more: string[]): Told {
  const { success, stdout, stderr } = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", import.meta.filename ?? "", "work", name, ...more],
    env: { DYN_CACHE_DIR: cache },
  }).outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

const names = Deno.args.filter((each) => !each.startsWith("--"));
console.log(describeMachine());
for (const name of names.length > 0 ? names : Object.keys(WORKS)) {
  const cache = Deno.makeTempDirSync();
  try {
    const cold = measured(name, cache, "fill");
    const warm = Array.from({ length: TURNS }, () => measured(name, cache));
    if (warm.some(({ result }) => result !== cold.result)) {
      throw new Error(`Expected ${cold.result} again but found ${warm.map(({ result }) => result)}`);
    }
    const shown = (told: readonly Told[]): string =>
      `${medianOf(told.map(({ first }) => first)).toFixed(0).padStart(6)} ms (CPU ${
        medianOf(told.map(({ cpu }) => cpu)).toFixed(0).padStart(5)
      })`;
    const imports = medianOf(warm.map(({ imports }) => imports)).toFixed(0);
    console.log(
      `${name.padEnd(9)} empty cache ${shown([cold])}   full cache ${shown(warm)}   imports ${imports} ms`,
    );
    if (Deno.args.includes("--phases")) console.log(`${cold.phases}\n${warm.at(-1)?.phases}`);
  } finally {
    Deno.removeSync(cache, { recursive: true });
  }
}
