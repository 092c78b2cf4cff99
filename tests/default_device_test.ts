/**
 * Calls with tensors create others on their device, whatever the default device is. The default here is "meta", which
 * cannot be mixed with others, so that a tensor on a device that nobody chose is an error.
 */
import { assertEquals } from "@std/assert";
import {
  data,
  distributions as D,
  manualSeed,
  nn,
  ones,
  optim,
  rand,
  Tensor,
  tensor,
  zeros,
} from "../mod.ts";
import "./support/turns/ops.ts";
import { makeSample, resultsOf } from "./support/samples.ts";
import { sampleBySeed } from "./support/sampling.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import { callOp } from "../lib/tensor/eager.ts";
import { chooseDefaultDevice, defaultDevice } from "../lib/tensor/default_device.ts";

/** The devices and elements of tensors, also nested ones; other values as they are. */
const shown = (value: unknown): unknown =>
  value instanceof Tensor
    ? [value.device, value.dtype, value.detach().tolist()]
    : Array.isArray(value)
    ? value.map(shown)
    : value;

/** The result of a program with a default device. */
function outcome(device: "cpu" | "meta", program: () => unknown): unknown {
  const former = defaultDevice();
  manualSeed(3);
  chooseDefaultDevice(device);
  try {
    return shown(program());
  } finally {
    chooseDefaultDevice(former);
  }
}

function assertSame(name: string, program: () => unknown): void {
  assertEquals(outcome("meta", program), outcome("cpu", program), name);
}

Deno.test("ops of tensors, and their gradients, create none on the default device", () => {
  for (const definition of sampleBySeed(ALL_OPS, 30)) {
    for (const sample of definition.samples ?? []) {
      const { given, tensors } = makeSample(sample),
        leaves = tensors.filter((each) => each.isFloatingPoint());
      if (tensors.length === 0) continue;
      if (definition.gradient.kind !== "none") leaves.forEach((each) => each.requiresGrad_());
      assertSame(definition.name, () => {
        const results = resultsOf(callOp(definition, given));
        for (const each of results) {
          if (each.requiresGrad) each.backward(each.detach().mul(0).add(1), { retainGraph: true });
        }
        const grads = leaves.map(({ grad }) => grad);
        for (const each of leaves) each.grad = null;
        return [results, grads];
      });
    }
  }
});

const float = (list: number | number[] | number[][]) => tensor(list, { dtype: "float32", device: "cpu" });
const half = float([0.3, 0.6]), great = float([1.5, 2.5]), shares = float([0.2, 0.3, 0.5]);
const matrix = float([[2, 0.5], [0.5, 1]]);

const DISTRIBUTIONS: Readonly<Record<string, () => D.Distribution>> = {
  Bernoulli: () => new D.Bernoulli({ probs: half }),
  Beta: () => new D.Beta(great, 3),
  Binomial: () => new D.Binomial(5, { probs: half }),
  Categorical: () => new D.Categorical({ probs: shares }),
  ContinuousBernoulli: () => new D.ContinuousBernoulli({ probs: half }),
  Dirichlet: () => new D.Dirichlet(shares),
  Gamma: () => new D.Gamma(great, 3),
  LKJCholesky: () => new D.LKJCholesky(3, float(1)),
  LowRank: () => new D.LowRankMultivariateNormal(half, float([[1], [2]]), great),
  Multinomial: () => new D.Multinomial(5, { probs: shares }),
  MultivariateNormal: () => new D.MultivariateNormal(half, matrix),
  NegativeBinomial: () => new D.NegativeBinomial(3, { probs: half }),
  OneHot: () => new D.OneHotCategorical({ probs: shares }),
  Poisson: () => new D.Poisson(great),
  RelaxedBernoulli: () => new D.RelaxedBernoulli(float(1), { probs: half }),
  StudentT: () => new D.StudentT(great),
  Uniform: () => new D.Uniform(half, 1),
  VonMises: () => new D.VonMises(half, great),
  Wishart: () => new D.Wishart(float(4), matrix),
};

/** Those whose entropy has no closed form. */
const WITHOUT_ENTROPY: ReadonlySet<string> = new Set([
  "LKJCholesky",
  "NegativeBinomial",
  "Poisson",
  "RelaxedBernoulli",
  "VonMises",
]);

Deno.test("distributions create tensors on the device of their parameters, else on the default one", () => {
  for (const [name, make] of Object.entries(DISTRIBUTIONS)) {
    assertSame(`samples of ${name}`, () => make().sample([3]));
    const value = make().sample([3]);
    assertSame(`density of ${name}`, () => make().logProb(value));
    if (!WITHOUT_ENTROPY.has(name)) assertSame(`entropy of ${name}`, () => make().entropy());
  }
  assertSame("gradients of gamma distributions", () => {
    const shape = great.clone().requiresGrad_();
    new D.Gamma(shape, 1).rsample([2]).sum().backward();
    return shape.grad;
  });
  assertEquals(outcome("meta", () => new D.Exponential(2).rate.device), "meta");
});

Deno.test("modules, optimizers and transforms create tensors on the device of those they are given", () => {
  const weights = () => zeros([4, 3], { device: "cpu" });
  assertSame("orthogonal_", () => nn.init.orthogonal_(weights()));
  assertSame("sparse_", () => nn.init.sparse_(weights(), 0.5));
  assertSame("LBFGS", () => {
    const w = new nn.Parameter(ones([2], { device: "cpu" })), optimizer = new optim.LBFGS([w], { lr: 0.1 });
    optimizer.step(() => {
      optimizer.zeroGrad();
      const loss = w.pow(2).sum();
      loss.backward();
      return loss;
    });
    return [w, ...Object.values(optimizer.stateDict().state[0] ?? {})];
  });
  const steps = rand([3, 2, 2], { device: "cpu" }), lengths = tensor([2, 3], { device: "cpu" });
  assertSame("packed sequences", () => {
    const packed = nn.utils.rnn.packPaddedSequence(steps, lengths, { enforceSorted: false });
    return nn.utils.rnn.padPackedSequence(packed);
  });
  assertSame("pruning", () => {
    const layer = new nn.Linear(3, 4, { device: "cpu" });
    return nn.utils.prune.randomStructured(layer, "weight", 2, 0).weight;
  });
  const picture = rand([3, 8, 8], { device: "cpu" }), { transforms } = data;
  assertSame("resize", () => transforms.resize(5)(picture));
  assertSame("normalize", () => transforms.normalize([0.5, 0.5, 0.5], [1, 1, 2])(picture));
});
