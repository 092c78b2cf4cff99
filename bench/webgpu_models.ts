/**
 * Models and their heaviest operations on the WebGPU device: resnet18, a small BERT and a small GPT-2, inference and
 * training steps with Adam; convolutions with their gradients, matrix products and attention. Small sizes on a software
 * adapter. Compared with PyTorch on CUDA in the same run, with float32 and without TF32.
 *
 *   DYN_BENCH_PYTHON=python deno run -A cli.ts bench webgpu_models [models|operations] [convolution|product|attention]
 */
import { autograd, compile, nn, noGrad, optim, randint, randn, type Tensor, webgpu } from "../mod.ts";
import { findDevice } from "../lib/loops/device.ts";
import { cudaProgram, type Operation } from "./support/cuda.ts";
import { medianOf } from "./support/measure.ts";
import { pytorch } from "./support/pytorch.ts";
import { Bert } from "./models/bert.ts";
import { ResNet18 } from "./models/resnet.ts";
import { Gpt2 } from "./models/transformer.ts";

const adapter = await webgpu.init();
const device = findDevice("webgpu");
if (!device) throw new Error("Expected the device webgpu but found none");
const software = /llvmpipe|lavapipe|swiftshader/i.test(adapter.description);
console.log(`${adapter.description}${software ? " (software: small sizes)" : ""}`);
const ON = { device: "webgpu" } as const;

/** Milliseconds until the device has finished a call. */
function timed(run: () => unknown): number {
  const start = performance.now();
  run();
  device?.synchronize();
  return performance.now() - start;
}

/**
 * Median milliseconds of a call among calls that are awaited together. Rounds take 0.2 s: on an H100 small kernels take
 * several times as long in the moments after their first call, which PyTorch's do not.
 */
function steady(run: () => unknown): number {
  const once = Math.min(timed(run), timed(run)),
    calls = Math.max(1, Math.min(10_000, Math.round(200 / once)));
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
    const scores = model.call(x);
    const loss = nn.functional.crossEntropy(scores.view(-1, scores.size(-1)), y);
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
  gpt2: () => {
    const length = software ? 16 : 256,
      model = new Gpt2({ layers: 4, width: 256, heads: 4 }, 8192).to(ON.device);
    return works(
      model,
      randint(0, 8192, [2, length]).to(ON.device),
      randint(0, 8192, [2 * length]).to(ON.device),
    );
  },
  bert: () => {
    const length = software ? 16 : 128, model = new Bert({ layers: 4, width: 256, heads: 4 }).to(ON.device);
    return works(model, randint(0, 8192, [8, length]).to(ON.device), randint(0, 8192, [8]).to(ON.device));
  },
};

/** PyTorch's milliseconds by name; empty without PyTorch or a comparable device. */
function cuda(operations: readonly Operation[] | null): ReadonlyMap<string, number> {
  const found = software ? undefined : pytorch(cudaProgram(operations));
  return new Map(found?.map(({ name, median }) => [name, median]));
}

/** Columns of the comparison: PyTorch's milliseconds, and its time divided by ours. */
function beside(theirs: number | undefined, ours: number): Readonly<Record<string, string>> {
  return theirs === undefined ? {} : { PyTorch: theirs.toFixed(4), ratio: (theirs / ours).toFixed(2) };
}

function models(): void {
  const peers = cuda(null);
  const table = Object.entries(MODELS).flatMap(([name, make]) => {
    const start = performance.now(), work = make();
    device?.synchronize();
    const built = performance.now() - start;
    return (["infer", "train"] as const).map((kind) => {
      const first = timed(work[kind]), second = timed(work[kind]), ms = steady(work[kind]);
      const theirFirst = peers.get(`${name}, ${kind}, first`);
      return {
        work: `${name}, ${kind}`,
        "built ms": built.toFixed(0),
        "first call ms": first.toFixed(0),
        ...theirFirst === undefined ? {} : { "PyTorch's first": theirFirst.toFixed(0) },
        "second ms": second.toFixed(0),
        "ms a call": ms.toFixed(3),
        ...beside(peers.get(`${name}, ${kind}`), ms),
      };
    });
  });
  console.table(table);
}

/** Batch, channels, size, filters, kernel, stride, groups. */
const CONVOLUTIONS = [
  [64, 64, 56, 64, 3, 1, 1],
  [32, 128, 28, 128, 3, 1, 1],
  [32, 256, 14, 256, 3, 1, 1],
  [4, 3, 224, 64, 7, 2, 1],
  [4, 64, 56, 64, 3, 1, 1],
  [4, 64, 56, 128, 3, 2, 1],
  [4, 128, 28, 128, 3, 1, 1],
  [4, 256, 14, 256, 3, 1, 1],
  [4, 512, 7, 512, 3, 1, 1],
  [4, 256, 14, 512, 1, 2, 1],
  [4, 96, 56, 96, 7, 1, 96],
  [4, 144, 56, 144, 3, 2, 144],
  [4, 128, 56, 128, 3, 1, 32],
] as const;
/** Rows, columns, depth. */
const PRODUCTS: readonly (readonly [number, number, number])[] = software ? [[64, 64, 64]] : [
  [4096, 4096, 4096],
  [1024, 256, 256],
  [1024, 1024, 256],
  [1024, 256, 1024],
  [256, 256, 1024],
];
/** Batch, heads, length, width, and 1 if it is causal. */
const ATTENTIONS: readonly (readonly [number, number, number, number, 0 | 1])[] =
  (software ? [[1, 2, 32, 16]] as const : [[4, 8, 1024, 64], [8, 4, 128, 64], [1, 16, 2048, 64]] as const)
    .flatMap((sizes) => [[...sizes, 1], [...sizes, 0]] as const);

function named(kind: Operation["kind"], sizes: readonly number[]): Operation {
  const [batch, channels, size, filters, kernel, stride, groups] = sizes;
  const text = kind === "convolution"
    ? `${batch}×${channels}×${size}², ${filters} of ${kernel}² by ${stride}, groups: ${groups}`
    : kind === "attention"
    ? `${sizes.slice(0, 4).join("×")}${sizes[4] ? ", causal" : ""}`
    : sizes.join("×");
  return { kind, name: `${kind} ${text}`, sizes };
}

function operations(kinds: readonly string[]): void {
  const of = <T>(kind: Operation["kind"], sizes: readonly T[]) =>
    kinds.length === 0 || kinds.includes(kind) ? sizes : [];
  const convolutions = of("convolution", software ? CONVOLUTIONS.slice(-1) : CONVOLUTIONS);
  const products = of("product", PRODUCTS), attentions = of("attention", ATTENTIONS);
  const peers = cuda([
    ...convolutions.map((sizes) => named("convolution", sizes)),
    ...products.map((sizes) => named("product", sizes)),
    ...attentions.map((sizes) => named("attention", sizes)),
  ]);
  const table: Readonly<Record<string, string>>[] = [];
  const row = (operation: string, flops: number, run: () => Tensor | readonly (Tensor | null)[]): void => {
    const ms = steady(() => drop(run()));
    table.push({
      operation,
      ms: ms.toFixed(4),
      "TFLOP/s": (flops / ms / 1e9).toFixed(2),
      ...beside(peers.get(operation), ms),
    });
  };
  for (const sizes of convolutions) {
    const [batch, channels, size, filters, kernel, stride, groups] = sizes;
    const { name } = named("convolution", sizes), perGroup = channels / groups;
    const padding = kernel >> 1, x = randn([batch, channels, size, size], ON).requiresGrad_();
    const w = randn([filters, perGroup, kernel, kernel], ON).requiresGrad_();
    const convolve = () => nn.functional.conv2d(x, w, null, stride, padding, 1, groups);
    const out = convolve(), g = randn([...out.shape], ON);
    const flops = 2 * out.numel() * perGroup * kernel * kernel;
    row(name, flops, () => noGrad(convolve));
    row(`${name} of the input`, flops, () => autograd.grad([out], [x], [g], { retainGraph: true }));
    row(`${name} of the weight`, flops, () => autograd.grad([out], [w], [g], { retainGraph: true }));
  }
  for (const sizes of products) {
    const [m, n, k] = sizes, a = randn([m, k], ON), b = randn([k, n], ON);
    row(named("product", sizes).name, 2 * m * n * k, () => a.matmul(b));
  }
  for (const sizes of attentions) {
    const [batch, heads, length, width, causal] = sizes;
    const [q, k, v, g] = [0, 1, 2, 3].map(() => randn([batch, heads, length, width], ON));
    if (!q || !k || !v || !g) throw new Error("Expected three operands and a gradient");
    const attend = compile(
      (q: Tensor, k: Tensor, v: Tensor) =>
        nn.functional.scaledDotProductAttention(q, k, v, null, 0, causal === 1),
      { name: "attend" },
    );
    const flops = 4 * batch * heads * length * length * width * (causal ? 0.5 : 1);
    const { name } = named("attention", sizes);
    row(name, flops, () => attend(q, k, v));
    const own = [q, k, v].map((x) => x.detach().requiresGrad_()), [a, b, c] = own;
    if (!a || !b || !c) throw new Error("Expected three leaves");
    const kept = attend(a, b, c);
    row(
      `${name}, its gradients`,
      2.5 * flops,
      () => autograd.grad([kept], own, [g], { retainGraph: true }),
    );
    row(`${name} with gradients`, 3.5 * flops, () => {
      using out = attend(a, b, c);
      return autograd.grad([out], own, [g]);
    });
  }
  console.table(table);
}

const TABLES = ["models", "operations"];
const wanted = Deno.args.length > 0 ? Deno.args : TABLES;
if (wanted.includes("models")) models();
if (wanted.includes("operations")) operations(wanted.filter((each) => !TABLES.includes(each)));
