/**
 * Memory-bound kernels of 4096×1024 float32: a fused chain, softmax, layer norm. dyn compiled against hand-written
 * C++ with the same compiler, dyn eager, and PyTorch eager and compiled.
 *
 *   DYN_NUM_THREADS=1 DYN_BENCH_PYTHON=python deno run -A cli.ts bench fused
 */
import { compile, nn, randn, type Tensor, tensor } from "../mod.ts";
import { handwritten } from "./support/handwritten.ts";
import { describeMachine, measure, report } from "./support/measure.ts";
import { pytorch } from "./support/pytorch.ts";
import "./support/native.ts";

const ROWS = 4096, COLUMNS = 1024;

const x = randn([ROWS, COLUMNS]);
const weight = randn([COLUMNS]), bias = randn([COLUMNS]);
const scalar = tensor([0.5]);

const chain = (x: Tensor) => x.mul(1.5).add(scalar).tanh().mul(x.sigmoid());
const softmax = (x: Tensor) => x.softmax(-1);
const layerNorm = (x: Tensor) => nn.functional.layerNorm(x, [COLUMNS], weight, bias);

const host = (t: Tensor) => Float32Array.from(t.toTypedArray(), Number);
const operands = {
  x: host(x),
  weight: host(weight),
  y: new Float32Array(ROWS * COLUMNS),
  rows: ROWS,
  columns: COLUMNS,
};
const byHand = handwritten({ ...operands, bias: host(bias) });
const chainByHand = handwritten({ ...operands, bias: new Float32Array([0.5]) });

console.log(describeMachine());
const peers = pytorch(`
x, w, b, s = torch.randn(${ROWS}, ${COLUMNS}), torch.randn(${COLUMNS}), torch.randn(${COLUMNS}), torch.tensor([0.5])
fs = {
  "chain": lambda x: torch.tanh(x * 1.5 + s) * torch.sigmoid(x),
  "softmax": lambda x: torch.softmax(x, -1),
  "layerNorm": lambda x: torch.nn.functional.layer_norm(x, [${COLUMNS}], w, b),
}
with torch.no_grad():
  for name, f in fs.items():
    c = torch.compile(f)
    measure(name + " PyTorch eager", lambda: f(x))
    measure(name + " PyTorch inductor", lambda: c(x))
`);

for (
  const [name, fn, hand] of [
    ["chain", chain, chainByHand.chain],
    ["softmax", softmax, byHand.softmax],
    ["layerNorm", layerNorm, byHand.layer_norm],
  ] as const
) {
  const compiled = compile(fn);
  const timings = await measure({
    "hand-written C++": hand,
    // Released immediately, like by reference counting; without `using` the garbage collector must find it
    "dyn inductor": () => {
      using _result = compiled(x);
    },
    "dyn inductor, result dropped": () => compiled(x),
    "dyn eager": () => fn(x),
  });
  const others = (peers ?? []).filter((t) => t.name.startsWith(name))
    .map((t) => ({ ...t, name: t.name.slice(name.length + 1) }));
  report(`${name}, ${ROWS}×${COLUMNS}`, [...timings, ...others], "hand-written C++");
}
