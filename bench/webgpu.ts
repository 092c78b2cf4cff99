/**
 * The WebGPU device: memory bandwidth, fused kernels, matrix products, attention with its gradients (and the difference
 * from running op by op) and the latency of small ops, on any adapter (smaller sizes on a software one).
 *
 *   deno run -A bench/webgpu.ts
 */
import { compile, nn, noGrad, randn, type Tensor, webgpu } from "../mod.ts";
import { findDevice } from "../lib/loops/device.ts";
import { medianOf } from "./support/measure.ts";

const adapter = await webgpu.init();
const device = findDevice("webgpu");
if (!device) throw new Error("Expected the device webgpu but found none");
const software = /llvmpipe|lavapipe|swiftshader/i.test(adapter.description);
console.log(`${adapter.description}${software ? " (software: small sizes)" : ""}`);

const MEBI = 2 ** 20;
const elements = software ? 4 * MEBI : 256 * MEBI;
const rows = software ? 256 : 4096, columns = 1024;
const sizes = software ? [128, 256] : [1024, 4096];

/** Batch, heads, length, width. */
const attentions = software ? [[1, 2, 128, 16]] : [
  [4, 8, 1024, 64],
  [4, 8, 1024, 128],
  [8, 4, 128, 64],
  [1, 16, 2048, 64],
];

interface Row {
  readonly work: string;
  readonly "ms": string;
  readonly result: string;
}

const table: Row[] = [];

/** Median milliseconds of one call, over rounds of calls that are awaited together. */
function time(call: () => Disposable): number {
  const rounds = (calls: number, count: number) =>
    Array.from({ length: count }, () => {
      const start = performance.now();
      for (let i = 0; i < calls; i++) call()[Symbol.dispose]();
      device?.synchronize();
      return (performance.now() - start) / calls;
    });
  const once = medianOf(rounds(1, 3).slice(1));
  const calls = Math.max(1, Math.min(500, Math.round(300 / once)));
  return medianOf(rounds(calls, 5));
}

function row(work: string, call: () => Disposable, judge: (ms: number) => string): void {
  const ms = time(call);
  table.push({ work, ms: ms.toFixed(ms < 1 ? 4 : 2), result: judge(ms) });
}

const bandwidth = (bytes: number) => (ms: number) => `${(bytes / ms / 1e6).toFixed(1)} GB/s`;
const flops = (count: number) => (ms: number) => `${(count / ms / 1e9).toFixed(2)} TFLOP/s`;

noGrad(() => {
  {
    using x = randn([elements], { device: "webgpu" });
    using y = randn([elements], { device: "webgpu" });
    row(`add of ${elements / MEBI} Mi float32`, () => x.add(y), bandwidth(12 * elements));
    const chain = compile((x: Tensor, y: Tensor) => x.mul(1.5).add(y).tanh().mul(x.sigmoid()));
    row("tanh(1.5x + y)·sigmoid(x), fused", () => chain(x, y), bandwidth(12 * elements));
    row("the same, op by op", () => x.mul(1.5).add(y).tanh().mul(x.sigmoid()), bandwidth(12 * elements));
    row("sum of all, compiled", compiledOn(x, (x) => x.sum()), bandwidth(4 * elements));
  }
  using m = randn([rows, columns], { device: "webgpu" });
  const moved = bandwidth(8 * rows * columns);
  row(`softmax ${rows}×${columns}, eager`, () => m.softmax(-1), moved);
  row(`softmax ${rows}×${columns}, compiled`, compiledOn(m, (x) => x.softmax(-1)), moved);
  row(`row sums ${rows}×${columns}`, () => m.sum(1), bandwidth(4 * rows * columns));
  for (const n of sizes) {
    using a = randn([n, n], { device: "webgpu" });
    using b = randn([n, n], { device: "webgpu" });
    row(`matmul ${n}³ float32`, () => a.matmul(b), flops(2 * n ** 3));
    row(`matmul ${n}³, operand transposed`, () => a.matmul(b.t()), flops(2 * n ** 3));
  }
  using small = randn([8], { device: "webgpu" });
  const perCall = (ms: number) => `${(ms * 1000).toFixed(1)} µs a call`;
  row("eager add of 8 elements, 500 in a row", () => small.add(small), perCall);
  const fused = compile((x: Tensor) => x.sin().add(x.cos()));
  row("compiled sin + cos of 8 elements", () => fused(small), perCall);
  row("add of 8 elements and item()", () => {
    const sum = small.add(small);
    sum.at(0).item();
    return sum;
  }, perCall);
});

for (const sizes of attentions) for (const causal of [false, true]) attention(sizes, causal);

console.table(table);

/** Attention and its gradients: counts the operations of its products, half of them if it is causal. */
function attention(sizes: readonly number[], causal: boolean): void {
  const [batch = 1, heads = 1, length = 1, width = 1] = sizes;
  const [q, k, v] = [0, 1, 2].map(() => randn([...sizes], { device: "webgpu" }));
  if (!q || !k || !v) throw new Error("Expected three operands");
  const attend = (q: Tensor, k: Tensor, v: Tensor) =>
    nn.functional.scaledDotProductAttention(q, k, v, null, 0, causal);
  const compiled = compile(attend), count = 4 * batch * heads * length ** 2 * width * (causal ? 0.5 : 1);
  const name = `${causal ? "causal " : ""}attention ${sizes.join("×")}`;
  const off = noGrad(() => compiled(q, k, v).sub(attend(q, k, v)).abs().max().item());
  row(
    name,
    () => noGrad(() => compiled(q, k, v)),
    (ms) => `${flops(count)(ms)}, off by ${off.toExponential(1)}`,
  );
  const leaves = [q, k, v].map((x) => x.requiresGrad_());
  const grads = (attend: (q: Tensor, k: Tensor, v: Tensor) => Tensor) => {
    for (const leaf of leaves) leaf.grad = null;
    attend(q, k, v).sum().backward();
    return leaves.map((leaf) => leaf.grad?.clone());
  };
  const [found, wanted] = [compiled, attend].map(grads);
  const far = Math.max(...(found ?? []).map((x, i) => {
    const y = wanted?.[i];
    return x && y ? x.sub(y).abs().max().item() : NaN;
  }));
  row(`${name}, with gradients`, () => {
    for (const leaf of leaves) leaf.grad = null;
    const out = compiled(q, k, v);
    out.backward(q);
    return out;
  }, (ms) => `${flops(3.5 * count)(ms)}, off by ${far.toExponential(1)}`);
}

function compiledOn(x: Tensor, f: (x: Tensor) => Tensor): () => Tensor {
  const compiled = compile(f);
  return () => compiled(x);
}
