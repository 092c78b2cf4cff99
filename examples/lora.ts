/**
 * Fine-tuning with low-rank adapters: a network that has learnt one task learns a second one with a few parameters
 * added to its frozen weights (Hu et al., "LoRA", 2021).
 *
 *   deno run -A examples/lora.ts [--steps=300] [--rank=4]
 */
import { parseArgs } from "@std/cli";
import { compile, manualSeed, nn, noGrad, optim, randn, type Tensor, zeros } from "../mod.ts";

const flags = parseArgs(Deno.args, { string: ["steps", "rank"] });
const steps = Number(flags.steps ?? 300), rank = Number(flags.rank ?? 4);
manualSeed(0);

/** A linear layer with a frozen weight, and a product of two narrow matrices that is added to it. */
class Adapted extends nn.Module {
  a: nn.Parameter;
  b: nn.Parameter;

  constructor(readonly base: nn.Linear, rank: number) {
    super();
    base.weight.requiresGrad_(false);
    base.bias?.requiresGrad_(false);
    const [outputs = 0, inputs = 0] = base.weight.shape;
    this.a = new nn.Parameter(randn(rank, inputs).mul(0.1));
    // Zeros, so that it initially equals the layer that it adapts.
    this.b = new nn.Parameter(zeros(outputs, rank));
  }

  override forward(x: Tensor): Tensor {
    return this.base.call(x).add(x.matmul(this.a.t()).matmul(this.b.t()));
  }
}

/** Trains the parameters that require gradients, and returns the last loss. */
function train(model: nn.Module & { call(x: Tensor): Tensor }, wanted: (x: Tensor) => Tensor): number {
  const parameters = model.parameters().filter((parameter) => parameter.requiresGrad);
  const optimizer = new optim.Adam(parameters, { lr: 1e-2 });
  const step = compile((x: Tensor, y: Tensor) => {
    optimizer.zeroGrad();
    const loss = nn.functional.mseLoss(model.call(x), y);
    loss.backward();
    optimizer.step();
    return loss.detach();
  });
  let loss = NaN;
  for (let k = 0; k < steps; k++) {
    const x = randn(64, 4);
    loss = step(x, wanted(x)).item();
  }
  return loss;
}

const first = (x: Tensor) => x.sin().sum(1, { keepdim: true });
const second = (x: Tensor) => first(x).add(x.at(":", "0:1").mul(x.at(":", "1:2")).mul(0.5));

const hidden = new nn.Linear(4, 64), middle = new nn.Linear(64, 64), out = new nn.Linear(64, 1);
const model = new nn.Sequential(hidden, new nn.Tanh(), middle, new nn.Tanh(), out);
console.log(`first task: loss ${train(model, first).toFixed(4)}`);

const adapted = new nn.Sequential(
  new Adapted(hidden, rank),
  new nn.Tanh(),
  new Adapted(middle, rank),
  new nn.Tanh(),
  out,
);
out.weight.requiresGrad_(false);
const probe = randn(512, 4);
const lossOn = (wanted: (x: Tensor) => Tensor) =>
  noGrad(() => nn.functional.mseLoss(adapted.call(probe), wanted(probe)).item());
const before = lossOn(second);
train(adapted, second);
const count = (list: readonly Tensor[]) => list.reduce((sum, each) => sum + each.numel(), 0);
const trained = adapted.parameters().filter((parameter) => parameter.requiresGrad);
console.log(`second task: loss ${before.toFixed(4)} before, ${lossOn(second).toFixed(4)} after`);
console.log(`trained ${count(trained)} of ${count(adapted.parameters())} numbers`);
