/**
 * An MLP 784-512-512-10 at batch 128: one training step (forward, backward, Adam) compiled as a whole, compared with
 * dyn eager and PyTorch; the time of the first compiled step in a fresh process with an empty and with a full kernel
 * cache; resident memory over 1,000 steps without an await.
 *
 *   DYN_BENCH_PYTHON=python deno run -A cli.ts bench mlp
 */
import { compile, manualSeed, nn, optim, randint, randn, type Tensor } from "../mod.ts";
import { describeMachine, measure, report } from "./support/measure.ts";
import { pytorch } from "./support/pytorch.ts";
import "./support/native.ts";

/** A model, its optimizer and one step. */
function trainer() {
  manualSeed(0);
  const model = new nn.Sequential(
    new nn.Linear(784, 512),
    new nn.ReLU(),
    new nn.Linear(512, 512),
    new nn.ReLU(),
    new nn.Linear(512, 10),
  );
  const optimizer = new optim.Adam(model.parameters());
  return (x: Tensor, y: Tensor) => {
    optimizer.zeroGrad();
    const loss = nn.functional.crossEntropy(model.call(x), y);
    loss.backward();
    optimizer.step();
    return loss.detach();
  };
}

const x = randn([128, 784]);
const y = randint(0, 10, [128]);

if (Deno.args[0] === "first-step") {
  const step = compile(trainer());
  const start = performance.now();
  const loss = Number(step(x, y).item());
  console.log(JSON.stringify({ milliseconds: performance.now() - start, loss }));
  Deno.exit(0);
}

console.log(describeMachine());

const cache = Deno.makeTempDirSync();
const firstStep = () => {
  const { success, stdout, stderr } = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", import.meta.filename ?? "", "first-step"],
    env: { DYN_CACHE_DIR: cache },
  }).outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return Number(JSON.parse(new TextDecoder().decode(stdout)).milliseconds).toFixed(0);
};
console.log(
  `\nfirst compiled step in a fresh process: ${firstStep()} ms with an empty cache, ${firstStep()} ms with a full one`,
);
Deno.removeSync(cache, { recursive: true });

const eager = trainer(), compiled = compile(trainer());
const timings = await measure({ "dyn inductor": () => compiled(x, y), "dyn eager": () => eager(x, y) }, {
  milliseconds: 3000,
});
const peers = pytorch(`
from torch import nn
x, y = torch.randn(128, 784), torch.randint(0, 10, (128,))
model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
opt = torch.optim.Adam(model.parameters())
def step():
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
measure("PyTorch eager", step, 3)
`);
report("training step", [...timings, ...peers ?? []], peers ? "PyTorch eager" : "dyn inductor");

const resident = () => Math.round(Deno.memoryUsage().rss / 2 ** 20);
const readings: number[] = [];
for (let i = 0; i < 1000; i++) {
  compiled(x, y);
  if (i % 250 === 249) readings.push(resident());
}
console.log(`\nresident memory after 250, 500, 750, 1000 steps without an await: ${readings.join(", ")} MiB`);
