/**
 * A program for tests of what is kept between processes: `graphs.ts [setting]` compiles functions that use every part
 * of a compiled graph and prints one JSON line: the elements of all results, and what was counted. The setting
 * `unfused` compiles under other settings; `shifted` has other elements in a tensor that a graph holds.
 */
import { counters } from "../../lib/base/logs.ts";
import {
  autograd,
  compile,
  config,
  manualSeed,
  nn,
  noGrad,
  optim,
  randn,
  type Tensor,
  tensor,
} from "../../mod.ts";

const [setting] = Deno.args;
if (setting === "unfused") config.inductor.fusion = false;
manualSeed(7);
const results: Record<string, readonly (number | string)[]> = {};
const keep = (name: string, ...tensors: readonly Tensor[]) => {
  results[name] = tensors.flatMap((each) => Array.from(each.detach().contiguous().toTypedArray(), Number));
};

// Kernels without gradients, with a constant and a size among the results
const hello = compile((x: Tensor, y: Tensor) => ({ sum: x.add(y).sin(), rows: x.shape[0], name: "sum" }));
const told = noGrad(() => hello(randn([4, 5]), randn([4, 5])));
keep("hello", told.sum);
results.told = [told.rows ?? -1, told.name];

// A training step with dropout and an optimizer
const model = new nn.Sequential(new nn.Linear(6, 8), new nn.ReLU(), new nn.Dropout(0.5), new nn.Linear(8, 3));
const optimizer = new optim.Adam(model.parameters());
const step = compile((x: Tensor, y: Tensor) => {
  optimizer.zeroGrad();
  const loss = nn.functional.crossEntropy(model.call(x), y);
  loss.backward();
  optimizer.step();
  return loss.detach();
});
const losses = [0, 1, 2].map(() => step(randn([5, 6]), tensor([0, 1, 2, 0, 1], { dtype: "int64" })));
keep("step", ...losses, ...model.parameters());

// A forward and a backward graph, whose gradient is differentiated again
const cubed = compile((x: Tensor) => x.mul(x).mul(x).sum());
const leaf = tensor([1.5, -2, 3]).requiresGrad_();
const [first] = autograd.grad(cubed(leaf), [leaf], { createGraph: true });
if (!first) throw new Error("Expected a gradient");
const [second] = autograd.grad(first.sum(), [leaf]);
if (!second) throw new Error("Expected a gradient");
keep("cubed", first, second);

// Views of an input and of a result, an input that is written
const shown = compile((x: Tensor) => {
  x.mul_(2);
  const made = x.add(1);
  return [x.t(), made.narrow(0, 0, 1), made] as const;
});
const written = randn([3, 4]), views = noGrad(() => shown(written));
written.add_(1);
views[2].add_(10);
keep("views", ...views, written);

// Rounds of a loop that are one region, which is random and is given a number
const looped = compile((x: Tensor) => {
  let y = x;
  for (let i = 0; i < 30; i++) {
    y = nn.functional.dropout(y.matmul(x).tanh(), 0.5).add(x).mul(i === 7 ? -0 : 1 / (i + 2));
  }
  return y.sum();
});
const square = randn([4, 4]).requiresGrad_();
for (let call = 0; call < 2; call++) looped(square).backward();
if (!square.grad) throw new Error("Expected a gradient");
keep("looped", looped(square), square.grad);

// Sizes that are symbols
const dynamic = compile((x: Tensor) => x.mul(x.shape[0] ?? 1).reshape([-1]).sum(0, { keepdim: true }), {
  dynamic: true,
});
keep("dynamic", ...[4, 9].map((rows) => noGrad(() => dynamic(randn([rows, 3])))));

// Every kind of loop and library call, and a tensor that the graph holds
const into = setting === "shifted" ? 0 : 1;
const kinds = compile((x: Tensor, weight: Tensor) => {
  const image = nn.functional.conv2d(x, weight, { padding: 1 }).relu();
  const [sorted, order] = image.flatten(1).sort(-1);
  const [best, at] = nn.functional.pad(image, [1, 1, 1, 1], { value: -1 }).flatten(2).max(-1);
  const sums = image.sum([2, 3]).cumsum(1), spread = image.softmax(1).mean([0, 2]);
  const halves = weight.flatten(1).half().matmul(weight.flatten(1).sin().half().t()).float();
  return [
    sorted,
    order,
    best,
    at,
    sums,
    spread,
    halves,
    sums.indexAdd(0, tensor([into, 1]), sums.exp()),
  ] as const;
});
keep("kinds", ...noGrad(() => kinds(randn([2, 3, 6, 6]), randn([4, 3, 3, 3]))));

// Indices that are checked
const rows = compile((table: Tensor, at: Tensor) => nn.functional.embedding(at, table).sum(1));
keep("rows", rows(randn([5, 2]), tensor([4, 0], { dtype: "int64" })));
try {
  rows(randn([5, 2]), tensor([5, 0], { dtype: "int64" }));
} catch (error) {
  results.error = [error instanceof Error ? error.message : "none"];
}

const count = (group: string) => Object.fromEntries(counters.entries(group));
console.log(
  JSON.stringify({
    results,
    kept: count("cached_graphs"),
    aot: count("aot"),
    inductor: count("inductor"),
    tiers: count("tiers"),
  }),
);
