/**
 * Trains a small ConvNet on handwritten digits through `compile`.
 *
 *   deno run -A examples/mnist.ts [--epochs=5] [--backend=inductor] [--device=cpu|webgpu] [--train=9000]
 */
import { parseArgs } from "@std/cli";
import { compile, compiler, data, init, manualSeed, nn, noGrad, optim, type Tensor } from "../mod.ts";
import { loadDigits } from "./mnist/digits.ts";
import { gallery, progress } from "./mnist/draw.ts";
import { ConvNet } from "./mnist/model.ts";

const flags = parseArgs(Deno.args, { string: ["epochs", "backend", "device", "train", "test", "batch"] });
const device = flags.device ?? "cpu";
const backend = flags.backend ?? "inductor";
const epochs = Number(flags.epochs ?? (device === "cpu" ? 5 : 1));
const trainCount = Number(flags.train ?? (device === "cpu" ? 9000 : 1024));
const batchSize = Number(flags.batch ?? 128);
if (device !== "cpu") await init({ device });

const start = performance.now();
const { train, test } = loadDigits(trainCount, Number(flags.test ?? 1000));
const batches = new data.DataLoader(train, { batchSize, shuffle: true, dropLast: true });
const testBatches = new data.DataLoader(test, { batchSize: 250 });
console.log(
  `${train.length} training and ${test.length} test digits, ${
    ((performance.now() - start) / 1000).toFixed(1)
  } s`,
);

/** A model with its optimizer and one training step. */
function trainer() {
  manualSeed(1);
  const model = new ConvNet().to(device);
  const optimizer = new optim.Adam(model.parameters(), { lr: 2e-3 });
  const step = (images: Tensor, labels: Tensor) => {
    optimizer.zeroGrad();
    const loss = nn.functional.crossEntropy(model.call(images), labels);
    loss.backward();
    optimizer.step();
    return loss.detach();
  };
  return { model, optimizer, step };
}

/** Milliseconds of one call. */
function time(run: () => void): number {
  const before = performance.now();
  run();
  return performance.now() - before;
}

const { model, optimizer, step } = trainer();
const schedule = new optim.lrScheduler.CosineAnnealingLR(optimizer, epochs, 1e-4);
const compiledStep = compile(step, { backend });
const predict = compile((images: Tensor) => model.call(images), { backend });

function accuracy(): number {
  model.eval();
  let right = 0;
  noGrad(() => {
    for (const [images, labels] of testBatches) {
      right += Number(predict(images.to(device)).argmax(1).cpu().eq(labels).sum().item());
    }
  });
  model.train();
  return right / test.length;
}

let coldMs = 0;
const stepMs: number[] = [];
for (let epoch = 1; epoch <= epochs; epoch++) {
  let done = 0, loss = 0;
  for (const [images, labels] of batches) {
    const x = images.to(device), y = labels.to(device);
    const ms = time(() => loss = Number(compiledStep(x, y).item()));
    if (epoch === 1 && done === 0) coldMs = ms;
    else stepMs.push(ms);
    progress(`epoch ${epoch}/${epochs}`, {
      done: ++done,
      total: batches.length,
      detail: `loss ${loss.toFixed(4)}`,
    });
  }
  schedule.step();
  console.log(`  test accuracy ${(100 * accuracy()).toFixed(2)} %`);
}
const trainingSeconds = (performance.now() - start) / 1000;

model.eval();
const shown = Array.from({ length: 4 }, (_, i) => test.get(i * 7));
const guesses = noGrad(() =>
  shown.map(([image]) => Number(model.call(image.unsqueeze(0).to(device)).argmax(1).item()))
);
console.log(gallery(
  shown.map(([image]) => image.select(0, 0)),
  shown.map(([, label], i) => `says ${guesses[i]}, is ${label.item()}`),
));

const status = compiler.status(compiledStep);
const [sample] = batches;
if (!sample) throw new Error("Expected at least one batch");
const [x, y] = [sample[0].to(device), sample[1].to(device)];
const plain = trainer();
const eagerMs = [0, 1, 2].map(() => time(() => void plain.step(x, y).item())).sort((a, b) => a - b)[1] ?? 0;
compiler.reset();
const again = trainer();
const warmStep = compile(again.step, { backend });
const warmMs = time(() => void warmStep(x, y).item());
stepMs.sort((a, b) => a - b);

console.log(`
graphs ${status.graphs}, graph breaks ${status.graphBreaks}, recompiles ${status.recompiles}, kernels ${status.kernels}
first step, nothing compiled before: ${coldMs.toFixed(0)} ms; with the kernel cache: ${warmMs.toFixed(0)} ms
step: compiled ${(stepMs[stepMs.length >> 1] ?? 0).toFixed(1)} ms, eager ${eagerMs.toFixed(1)} ms (medians)
peak memory ${peakMemoryMiB()} MiB
total ${trainingSeconds.toFixed(1)} s on ${device}, backend ${backend}`);

/** Peak resident memory of this process; the current one if the system does not report it. */
function peakMemoryMiB(): number {
  try {
    const kib = /VmHWM:\s+(\d+)/.exec(Deno.readTextFileSync("/proc/self/status"))?.[1];
    if (kib) return Math.round(Number(kib) / 1024);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return Math.round(Deno.memoryUsage().rss / 2 ** 20);
}
