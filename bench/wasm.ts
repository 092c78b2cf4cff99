/**
 * Performance without a C++ compiler: matrix products and convolutions as WebAssembly in GFLOP/s on one thread and on
 * all, and the demo's training step with and without a compiler, alternately.
 *
 *   deno run -A cli.ts bench wasm
 */
import { contiguousStrides } from "../lib/graph/meta.ts";
import type { BufferDecl, BufferView, ExternOp, Program } from "../lib/loops/ir.ts";
import { engineFuses, SIZE_LIMIT } from "../backends/wasm/target.ts";
import { WholeMemory } from "../backends/wasm/placement.ts";
import { load, runOf, runSteps } from "../backends/wasm/run_form.ts";
import { ThreadPool } from "../backends/wasm/threads.ts";
import { writeForm } from "../backends/wasm/write_form.ts";
import { threadCount } from "../backends/cpu/toolchain.ts";
import { compile, manualSeed, nn, optim, randint, randn, type Tensor } from "../mod.ts";
import { ConvNet } from "../examples/mnist/model.ts";
import { describeMachine, medianOf } from "./support/measure.ts";

if (Deno.args[0] === "step") {
  console.log(JSON.stringify(trainingStep()));
  Deno.exit(0);
}

/** Milliseconds of the demo's compiled step in this process: the first, the second, the median of later ones. */
function trainingStep(): { first: number; second: number; median: number } {
  manualSeed(1);
  const model = new ConvNet(), optimizer = new optim.Adam(model.parameters(), { lr: 2e-3 });
  const step = compile((images: Tensor, labels: Tensor) => {
    optimizer.zeroGrad();
    const loss = nn.functional.crossEntropy(model.call(images), labels);
    loss.backward();
    optimizer.step();
    return loss.detach();
  });
  const x = randn([128, 1, 28, 28]), y = randint(0, 10, [128]);
  const [first = 0, second = 0, ...rest] = Array.from({ length: 60 }, () => {
    const start = performance.now();
    step(x, y).item();
    return performance.now() - start;
  });
  return { first, second, median: medianOf(rest.slice(8)) };
}

console.log(describeMachine());

/** A call on dense operands: the shapes of inputs and of the result, floating-point operations. */
interface Work {
  readonly title: string;
  readonly call: ExternOp;
  readonly inputs: readonly (readonly number[])[];
  readonly result: readonly number[];
  readonly flops: number;
}

const product = (m: number, n: number, k: number): Work => ({
  title: `product ${m}×${k} by ${k}×${n}`,
  call: { op: "matmul", accumulate: false },
  inputs: [[m, k], [k, n]],
  result: [m, n],
  flops: 2 * m * n * k,
});

/** A 3×3 convolution of stride 1 and its gradients. */
function convolution(batch: number, inside: number, outside: number, size: number): Work[] {
  const input = [batch, inside, size, size],
    weight = [outside, inside, 3, 3],
    out = [batch, outside, size, size];
  const flops = 18 * batch * inside * outside * size * size;
  const geometry = { stride: [1, 1], padding: [1, 1], dilation: [1, 1], groups: 1 } as const;
  const title = `${batch}×${inside}×${size}² to ${outside} channels`;
  return [
    { title: `convolution ${title}`, inputs: [input, weight], result: out, op: "convForward" as const },
    {
      title: "  its gradient by the input",
      inputs: [out, weight],
      result: input,
      op: "convBackwardInput" as const,
    },
    {
      title: "  its gradient by the weight",
      inputs: [out, input],
      result: weight,
      op: "convBackwardWeight" as const,
    },
  ].map(({ op, ...each }) => ({ ...each, call: { op, ...geometry }, flops }));
}

/** A program of one call. */
function programOf({ call, inputs, result }: Work): Program {
  const buffers: BufferDecl[] = [];
  const view = (shape: readonly number[], role: BufferDecl["role"]): BufferView => {
    const length = shape.reduce((x, y) => x * y, 1), name = `t${buffers.length}`;
    buffers.push({ name, dtype: "float32", length, role });
    return { buffer: buffers.length - 1, offset: 0, shape, strides: contiguousStrides(shape) };
  };
  const operands = inputs.map((shape) => view(shape, { kind: "input", written: false }));
  const out = view(result, { kind: "output" });
  return {
    name: "call",
    buffers,
    inputs: operands.map(({ buffer }) => buffer),
    outputs: [out.buffer],
    sizes: [],
    arenaBytes: 0,
    kernels: [{ kind: "extern", name: "call", call, inputs: operands, outputs: [out], origins: [] }],
  };
}

/** Median milliseconds of a call with operands in the pool's memory. */
function milliseconds(pool: ThreadPool, work: Work): number {
  const { memory } = pool, options = { limit: SIZE_LIMIT, fuses: engineFuses(), memory: memory.kind };
  const loaded = load(writeForm(programOf(work), options), pool), run = runOf(pool, loaded, []);
  memory.reserve(run.placed.bytes, run.scratch);
  const ready = { run, addresses: run.placed.addresses, whole: new WholeMemory(memory) };
  const values = new Float32Array(memory.memory.buffer, memory.base, run.placed.bytes / 4);
  for (let i = 0; i < values.length; i++) values[i] = Math.sin(i);
  const samples: number[] = [], stop = performance.now() + 500;
  while (samples.length < 5 || performance.now() < stop) {
    const start = performance.now();
    runSteps(pool, loaded, ready);
    samples.push(performance.now() - start);
  }
  return medianOf(samples.slice(2));
}

const pools = [new ThreadPool(1), new ThreadPool(threadCount())];
console.log(`\nGFLOP/s on 1 and ${threadCount()} threads`);
for (
  const work of [
    product(1024, 1024, 1024),
    product(32, 196, 144),
    product(128, 512, 784),
    ...convolution(128, 16, 32, 14),
    ...convolution(8, 64, 64, 56),
  ]
) {
  const rates = pools.map((pool) => (work.flops / milliseconds(pool, work) / 1e6).toFixed(1).padStart(7));
  console.log(`  ${work.title.padEnd(44)}${rates.join(" ")}`);
}

console.log("\nthe demo's training step: first, second, median (ms)");
const cache = Deno.makeTempDirSync();
for (const title of ["compiler", "no compiler", "compiler", "no compiler"]) {
  const { success, stdout, stderr } = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", import.meta.filename ?? "", "step"],
    env: { DYN_CACHE_DIR: cache, ...(title === "compiler" ? {} : { PATH: "/nonexistent", DYN_CXX: "" }) },
  }).outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  const { first, second, median } = JSON.parse(new TextDecoder().decode(stdout));
  console.log(`  ${title.padEnd(12)} ${first.toFixed(0)}, ${second.toFixed(0)}, ${median.toFixed(2)}`);
}
Deno.removeSync(cache, { recursive: true });
