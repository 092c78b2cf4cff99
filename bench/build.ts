/**
 * Builds BERT-base with random weights, 109 million numbers, compared with PyTorch: first in a fresh process, then with
 * memory that the previous model has released. Also copies, casts and prints one of its large weights.
 *
 *   DYN_NUM_THREADS=2 DYN_BENCH_PYTHON=python deno run -A cli.ts bench build
 */
import { nn, type Tensor } from "../mod.ts";
import { describeMachine, measure, report } from "./support/measure.ts";
import { pytorch } from "./support/pytorch.ts";

const LAYERS = 12, WIDTH = 768, VOCABULARY = 30522, POSITIONS = 512;

class Layer extends nn.Module {
  readonly query = new nn.Linear(WIDTH, WIDTH);
  readonly key = new nn.Linear(WIDTH, WIDTH);
  readonly value = new nn.Linear(WIDTH, WIDTH);
  readonly output = new nn.Linear(WIDTH, WIDTH);
  readonly attentionNorm = new nn.LayerNorm(WIDTH);
  readonly wide = new nn.Linear(WIDTH, 4 * WIDTH);
  readonly narrow = new nn.Linear(4 * WIDTH, WIDTH);
  readonly norm = new nn.LayerNorm(WIDTH);
}

/** The weights of BERT-base; the model is never called. */
class Bert extends nn.Module {
  readonly words = new nn.Embedding(VOCABULARY, WIDTH);
  readonly positions = new nn.Embedding(POSITIONS, WIDTH);
  readonly segments = new nn.Embedding(2, WIDTH);
  readonly norm = new nn.LayerNorm(WIDTH);
  readonly layers = new nn.ModuleList(Array.from({ length: LAYERS }, () => new Layer()));
  readonly pooler = new nn.Linear(WIDTH, WIDTH);
}

function build(): void {
  for (const weight of new Bert().parameters()) weight[Symbol.dispose]();
}

console.log(describeMachine());
const start = performance.now();
build();
console.log(`first build in the process: ${(performance.now() - start).toFixed(0)} ms`);

const { weight } = new nn.Embedding(VOCABULARY, WIDTH);
const dropped = (make: () => Tensor) => () => {
  using _made = make();
};
const timings = await measure({
  "build": build,
  "copy": dropped(() => weight.detach().clone()),
  "cast": dropped(() => weight.detach().to("float64")),
  "print": () => `${weight.detach()}`,
}, { milliseconds: 6000 });
const peers = pytorch(`
from torch import nn
W = ${WIDTH}
def layer():
    sizes = [(W, W)] * 4 + [(W, 4 * W), (4 * W, W)]
    return [nn.Linear(*each) for each in sizes] + [nn.LayerNorm(W), nn.LayerNorm(W)]
def build():
    return ([nn.Embedding(${VOCABULARY}, W), nn.Embedding(${POSITIONS}, W), nn.Embedding(2, W), nn.LayerNorm(W)],
            [layer() for _ in range(${LAYERS})], nn.Linear(W, W))
weight = nn.Embedding(${VOCABULARY}, W).weight.detach()
measure("build", build, 5)
measure("copy", lambda: weight.clone(), 2)
measure("cast", lambda: weight.to(torch.float64), 2)
measure("print", lambda: str(weight), 2)
`);
for (const timing of timings) {
  const peer = peers?.find(({ name }) => name === timing.name);
  const named = peer ? [{ ...peer, name: "PyTorch" }] : [];
  report(timing.name, [{ ...timing, name: "dyn" }, ...named], peer ? "PyTorch" : "dyn");
}
