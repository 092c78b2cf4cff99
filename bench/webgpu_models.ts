/**
 * Models and their heaviest operations on the WebGPU device: resnet18 and a small BERT, inference and training steps
 * with Adam; convolutions with their gradients, matrix products and attention. A software adapter gets small sizes.
 *
 *   deno run -A cli.ts bench webgpu_models [models|operations]
 */
import { autograd, compile, nn, noGrad, optim, randint, randn, type Tensor, webgpu } from "../mod.ts";
import { findDevice } from "../lib/loops/device.ts";
import { medianOf } from "./support/measure.ts";
import { Bert } from "./warm/bert.ts";
import { ResNet18 } from "./warm/resnet.ts";

const adapter = await webgpu.init();
const device = findDevice("webgpu");
if (!device) throw new Error("Expected the device webgpu but found none");
const software = /llvmpipe|lavapipe|swiftshader/i.test(adapter.description);
console.log(`${adapter.description}${software ? " (software: small sizes)" : ""}`);
const ON = { device: "webgpu" } as const;

/** Milliseconds from the call until the device has done it. */
function timed(run: () => unknown): number {
  const start = performance.now();
  run();
  device?.synchronize();
  return performance.now() - start;
}

/** Median milliseconds of a call among calls that are waited for together. */
function steady(run: () => unknown): number {
  const once = Math.min(timed(run), timed(run)), calls = Math.max(1, Math.min(100, Math.round(200 / once)));
  const round = () =>
    timed(() => {
      for (let k = 0; k < calls; k++) run();
    }) / calls;
  return medianOf(Array.from({ length: 5 }, round));
}

const drop = (value: Tensor | readonly (Tensor | null)[]): void => {
  for (const each of [value].flat()) each?.[Symbol.dispose]();
};

interface Work {
  readonly infer: () => unknown;
  readonly train: () => unknown;
}

type Classifier = nn.Module & { call(x: Tensor): Tensor };

function works(model: Classifier, x: Tensor, y: Tensor): Work {
  const optimizer = new optim.Adam(model.parameters());
  const forward = compile((x: Tensor) => model.call(x), { name: "infer" });
  const step = compile((x: Tensor, y: Tensor) => {
    optimizer.zeroGrad();
    const loss = nn.functional.crossEntropy(model.call(x), y);
    loss.backward();
    optimizer.step();
    return loss.detach();
  }, { name: "step" });
  return {
    infer() {
      model.eval();
      noGrad(() => drop(forward(x)));
    },
    train() {
      model.train();
      drop(step(x, y));
    },
  };
}

const MODELS: Readonly<Record<string, () => Work>> = {
  resnet18: () => {
    const size = software ? 32 : 224;
    return works(
      new ResNet18().to(ON.device),
      randn([4, 3, size, size], ON),
      randint(0, 1000, [4]).to(ON.device),
    );
  },
  bert: () => {
    const length = software ? 16 : 128, model = new Bert({ layers: 4, width: 256, heads: 4 }).to(ON.device);
    return works(model, randint(0, 8192, [8, length]).to(ON.device), randint(0, 8192, [8]).to(ON.device));
  },
};

function models(): void {
  const table = Object.entries(MODELS).flatMap(([name, make]) => {
    const start = performance.now(), work = make();
    device?.synchronize();
    const built = performance.now() - start;
    return (["infer", "train"] as const).map((kind) => {
      const first = timed(work[kind]), second = timed(work[kind]);
      return {
        work: `${name}, ${kind}`,
        "built ms": built.toFixed(0),
        "first call ms": first.toFixed(0),
        "second ms": second.toFixed(0),
        "ms a call": steady(work[kind]).toFixed(3),
      };
    });
  });
  console.table(table);
}

interface Row {
  readonly operation: string;
  readonly "ms": string;
  readonly "TFLOP/s": string;
}

function operations(): void {
  const table: Row[] = [];
  const row = (operation: string, flops: number, run: () => Tensor | readonly (Tensor | null)[]): void => {
    const ms = steady(() => drop(run()));
    table.push({ operation, ms: ms.toFixed(4), "TFLOP/s": (flops / ms / 1e9).toFixed(2) });
  };
  const CONVOLUTIONS = [
    [64, 64, 56, 64, 3, 1],
    [4, 3, 224, 64, 7, 2],
    [4, 64, 56, 64, 3, 1],
    [4, 64, 56, 128, 3, 2],
    [4, 128, 28, 128, 3, 1],
    [4, 256, 14, 256, 3, 1],
    [4, 512, 7, 512, 3, 1],
    [4, 256, 14, 512, 1, 2],
  ] as const;
  for (
    const [batch, channels, size, filters, kernel, stride] of software ? CONVOLUTIONS.slice(-1) : CONVOLUTIONS
  ) {
    const padding = kernel >> 1, x = randn([batch, channels, size, size], ON).requiresGrad_();
    const w = randn([filters, channels, kernel, kernel], ON).requiresGrad_();
    const out = nn.functional.conv2d(x, w, null, stride, padding), g = randn([...out.shape], ON);
    const flops = 2 * out.numel() * channels * kernel * kernel;
    const name = `${batch}×${channels}×${size}², ${filters} of ${kernel}² by ${stride}`;
    row(`convolution ${name}`, flops, () => noGrad(() => nn.functional.conv2d(x, w, null, stride, padding)));
    row("  of the input", flops, () => autograd.grad([out], [x], [g], { retainGraph: true }));
    row("  of the weight", flops, () => autograd.grad([out], [w], [g], { retainGraph: true }));
  }
  for (
    const [m, n, k] of software
      ? [[64, 64, 64]] as const
      : [[4096, 4096, 4096], [1024, 256, 256], [1024, 1024, 256], [1024, 256, 1024], [
        256,
        256,
        1024,
      ]] as const
  ) {
    const a = randn([m, k], ON), b = randn([k, n], ON);
    row(`product ${m}×${n}×${k}`, 2 * m * n * k, () => a.matmul(b));
  }
  for (
    const [batch, heads, length, width] of software
      ? [[1, 2, 32, 16]] as const
      : [[4, 8, 1024, 64], [8, 4, 128, 64]] as const
  ) {
    const [q, k, v] = [0, 1, 2].map(() => randn([batch, heads, length, width], ON));
    if (!q || !k || !v) throw new Error("Expected three operands");
    const attend = compile(
      (q: Tensor, k: Tensor, v: Tensor) => nn.functional.scaledDotProductAttention(q, k, v, null, 0, true),
      { name: "attend" },
    );
    row(
      `causal attention ${batch}×${heads}×${length}×${width}`,
      4 * batch * heads * length * length * width,
      () => attend(q, k, v),
    );
  }
  console.table(table);
}

const wanted = Deno.args.length > 0 ? Deno.args : ["models", "operations"];
if (wanted.includes("models")) models();
if (wanted.includes("operations")) operations();
