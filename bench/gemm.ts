/**
 * Matrix products of the native library in GFLOP/s, compared with PyTorch in the same run: square products, the layers
 * of a 784-512-10 classifier at batch 128 in all three directions, and products with few rows.
 *
 *   DYN_NUM_THREADS=1 DYN_BENCH_PYTHON=python deno run -A bench/gemm.ts
 */
import { addressOf, callAt } from "../backends/cpu/ffi.ts";
import { routineAddresses } from "../backends/cpu/runtime_library.ts";
import { threadCount } from "../backends/cpu/toolchain.ts";
import { describeMachine, medianOf } from "./support/measure.ts";
import { pytorch } from "./support/pytorch.ts";
import "./support/native.ts";

/** m, k, n, and whether A and B are transposed (t) or not (n). */
const SHAPES: readonly (readonly [number, number, number, string])[] = [
  [256, 256, 256, "nn"],
  [1024, 1024, 1024, "nn"],
  [1024, 1024, 1024, "nt"],
  [1024, 1024, 1024, "tn"],
  [128, 784, 512, "nt"],
  [512, 128, 784, "tn"],
  [128, 512, 784, "nn"],
  [128, 512, 10, "nt"],
  [10, 128, 512, "tn"],
  [128, 10, 512, "nn"],
  [1, 1024, 4096, "nt"],
  [8, 1024, 4096, "nn"],
];

const name = (shape: (typeof SHAPES)[number]): string => `${shape.slice(0, 3).join("×")} ${shape[3]}`;

const random = (length: number): Float32Array<ArrayBuffer> =>
  new Float32Array(length).map(() => Math.random() - 0.5);

const kept: Float32Array[] = [];

/** Median milliseconds of one product. */
function milliseconds([m, k, n, layout]: (typeof SHAPES)[number]): number {
  const a = random(m * k), b = random(k * n), c = random(m * n);
  const as = layout[0] === "n" ? [k, 1, 0] : [1, m, 0], bs = layout[1] === "n" ? [n, 1, 0] : [1, k, 0];
  const words = [
    addressOf(a),
    addressOf(b),
    addressOf(c),
    m,
    n,
    k,
    1,
    ...as,
    ...bs,
    n,
    1,
    0,
    0,
    threadCount(),
    ...[0, 0, 0, 0, 0, 0],
  ];
  const call = BigInt64Array.from(words, (w) => BigInt(w));
  const gemm = routineAddresses(["gemm_f32"])[0] ?? 0;
  const samples: number[] = [], stop = performance.now() + 400;
  for (let i = 0; i < 5 || performance.now() < stop; i++) {
    const start = performance.now();
    callAt(gemm, call);
    samples.push(performance.now() - start);
  }
  // Numbers do not keep buffers alive: the collector might release them during the call
  kept.push(a, b, c);
  kept.length = 0;
  return medianOf(samples.slice(2));
}

console.log(`${describeMachine()}, ${threadCount()} used`);
const peers = pytorch(
  SHAPES.map((shape) => {
    const [m, k, n, layout] = shape;
    const a = layout[0] === "n" ? `torch.randn(${m}, ${k})` : `torch.randn(${k}, ${m}).t()`;
    const b = layout[1] === "n" ? `torch.randn(${k}, ${n})` : `torch.randn(${n}, ${k}).t()`;
    const run = `lambda a=${a}, b=${b}, c=torch.empty(${m}, ${n}): torch.mm(a, b, out=c)`;
    return `measure("${name(shape)}", ${run}, 0.4)`;
  }).join("\n"),
);
for (const shape of SHAPES) {
  const [m, k, n] = shape, work = 2 * m * k * n / 1e6;
  const own = work / milliseconds(shape), peer = peers?.find((t) => t.name === name(shape));
  const beside = peer
    ? `PyTorch ${(work / peer.median).toFixed(1).padStart(6)}   ${(own * peer.median / work).toFixed(2)}×`
    : "";
  console.log(`  ${name(shape).padEnd(20)} ${own.toFixed(1).padStart(6)} GFLOP/s   ${beside}`);
}
