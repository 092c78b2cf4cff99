/** Names that PyTorch's programs use besides ops and layers: their results are PyTorch's. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import * as dyn from "../mod.ts";
import { compile, distributions, nn, noGrad, ones, optim, sin, type Tensor, tensor } from "../mod.ts";
import { DynError } from "../lib/base/errors.ts";
import "./support/turns/models.ts";
import data from "./data/pytorch_names.json" with { type: "json" };

const { constraints, transforms } = distributions;

type Nested = number | readonly Nested[];

const double = (value: Nested): Tensor => tensor(value, { dtype: "float64" });

/** Numbers that differ, as the ones that PyTorch was asked with. */
const fixed = (shape: readonly number[], factor = 0.1): Tensor => {
  const count = shape.reduce((a, b) => a * b, 1);
  const steps = dyn.arange(count, null, 1, { dtype: "float64" });
  return sin(steps.mul(0.7).add(1)).reshape([...shape]).mul(factor).add(0.05);
};

function near(
  found: Tensor | null | undefined,
  expected: readonly (number | boolean)[],
  where: string,
): void {
  assert(found, where);
  const values = Array.from<number | bigint, number>(found.detach().reshape([-1]).toTypedArray(), Number);
  assertEquals(values.length, expected.length, where);
  values.forEach((value, k) => {
    const want = Number(expected[k]);
    assert(
      Math.abs(value - want) <= 1e-10 * (1 + Math.abs(want)),
      `${where}: [${k}] is ${value}, not ${want}`,
    );
  });
}

Deno.test("transforms of vectors and matrices, and of parts, are PyTorch's", () => {
  const x = double([0.3, -0.7, 1.2]), matrix = double([[0.3, -0.5, 0.2], [0.1, 0.4, -0.3], [0.6, 0.2, -0.1]]);
  const { ExpTransform, AffineTransform, StickBreakingTransform } = transforms;
  const made: Readonly<Record<keyof typeof data.transforms, [distributions.Transform, Tensor]>> = {
    softplus: [new transforms.SoftplusTransform(), x],
    softmax: [new transforms.SoftmaxTransform(), x],
    stick: [new StickBreakingTransform(), x],
    lower: [new transforms.LowerCholeskyTransform(), matrix],
    positiveDefinite: [new transforms.PositiveDefiniteTransform(), matrix],
    corr: [new transforms.CorrCholeskyTransform(), x],
    abs: [new transforms.AbsTransform(), x],
    cumulative: [new transforms.CumulativeDistributionTransform(new distributions.Normal(double(0.5), 2)), x],
    reshape: [new transforms.ReshapeTransform([3], [3, 1]), x],
    independent: [new transforms.IndependentTransform(new ExpTransform(), 1), matrix],
    stack: [
      new transforms.StackTransform([
        new ExpTransform(),
        new transforms.TanhTransform(),
        new AffineTransform(1, 2),
      ]),
      matrix,
    ],
    cat: [
      new transforms.CatTransform([new ExpTransform(), new transforms.SigmoidTransform()], -1, {
        lengths: [1, 2],
      }),
      matrix,
    ],
    compose: [
      new transforms.ComposeTransform([
        new AffineTransform(double([0, 0, 0]), 2),
        new StickBreakingTransform(),
      ]),
      x,
    ],
    affineEvent: [new AffineTransform(1, double([1, -2, 3]), { eventDim: 1 }), x],
  };
  for (const [name, [transform, value]] of Object.entries(made)) {
    const wanted: { y: number[]; x: number[]; shape: number[]; growth?: number[] } =
      data.transforms[name as keyof typeof made];
    const image = transform.call(value);
    near(image, wanted.y, name);
    assertEquals(image.shape, wanted.shape, name);
    assertEquals(transform.forwardShape(value.shape), wanted.shape, name);
    near(transform.inv(image), wanted.x, `${name} back`);
    if (wanted.growth) near(transform.logAbsDetJacobian(value, image), wanted.growth, `${name} growth`);
    else if (name === "softmax") {
      assertThrows(() => transform.logAbsDetJacobian(value, image), DynError, "SoftmaxTransform");
    }
  }
  // A value that rounds to 1 has a preimage only in the cache
  const far = tensor([20.5]), kept = new transforms.TanhTransform({ cacheSize: 1 });
  assertEquals(kept.inv(kept.call(far)).item(), 20.5);
  assertEquals(new transforms.TanhTransform().inv(far.tanh()).item(), Infinity);
});

Deno.test("densities, shapes and quantiles of transformed variables are PyTorch's", () => {
  const { LogisticNormal, Normal, TransformedDistribution } = distributions;
  const { AffineTransform, CorrCholeskyTransform, SigmoidTransform } = transforms;
  const logistic = new LogisticNormal(double([0.1, -0.2]), double([0.5, 1.5]));
  const at = double([0.2, 0.7]);
  const falling = new TransformedDistribution(new Normal(double(0.2), 1.5), [
    new AffineTransform(0.5, -2),
    new SigmoidTransform(),
  ]);
  const corr = new TransformedDistribution(new Normal(double([0, 0, 0]), 1), new CorrCholeskyTransform());
  const { logProbs } = data;
  near(logistic.logProb(double([0.2, 0.3, 0.5])), logProbs.logistic, "logistic");
  near(falling.logProb(at), logProbs.falling, "falling");
  near(falling.cdf(at), logProbs.fallingCdf, "falling cdf");
  near(falling.icdf(at), logProbs.fallingIcdf, "falling icdf");
  near(corr.logProb(new CorrCholeskyTransform().call(double([0.3, -0.7, 1.2]))), logProbs.corr, "corr");
  assertEquals([
    logistic.batchShape,
    logistic.eventShape,
    corr.batchShape,
    corr.eventShape,
    logistic.expand([4]).sample([2]).shape,
  ], logProbs.shapes);
});

Deno.test("constraints hold where PyTorch's do, and lead to transforms", () => {
  const eye = [[1, 0], [0, 1]], negative = [[-1, 0], [0, -1]], half = [[1, 0], [0.5, 0.5]];
  const { constraints: held } = data,
    check = (each: distributions.constraints.Constraint, value: Nested) => each.check(double(value));
  near(check(constraints.simplex, [[0.2, 0.8], [0.5, 0.6], [-0.1, 1.1]]), held.simplex, "simplex");
  near(check(constraints.lowerCholesky, [eye, negative, [[1, 1], [1, 1]]]), held.lower_cholesky, "lower");
  near(check(constraints.positiveDefinite, [eye, negative]), held.positive_definite, "positive definite");
  near(check(constraints.corrCholesky, [eye, half]), held.corr_cholesky, "corr");
  near(check(constraints.oneHot, [[0, 1], [1, 1]]), held.one_hot, "one hot");
  near(check(constraints.nonnegativeInteger, [0, 1.5, -1, 2]), held.nonnegative_integer, "integers");
  near(check(constraints.boolean, [0, 1, 0.5]), held.boolean, "boolean");
  near(check(constraints.symmetric, [eye, half]), held.symmetric, "symmetric");
  near(check(constraints.unitInterval, [0, 1, 1.5]), held.unit_interval, "unit interval");
  const x = double([0.3, -0.7, 1.2]), { bijectTo, transformTo } = distributions;
  near(bijectTo(constraints.interval(-1, 3)).call(x), data.bijections.interval, "interval");
  near(bijectTo(constraints.greaterThan(2)).call(x), data.bijections.greaterThan, "greater");
  near(bijectTo(constraints.lessThan(2)).call(x), data.bijections.lessThan, "less");
  near(bijectTo(new distributions.LogNormal(0, 1).support).call(x), data.bijections.positive, "support");
  assert(transformTo(constraints.simplex) instanceof transforms.SoftmaxTransform);
  assertThrows(() => bijectTo(constraints.boolean), DynError, "found Constraint(0 or 1)");
});

Deno.test("constraints of parts hold by part, and lead to transforms of parts", () => {
  const { cat, independent, positive, real, stack } = constraints, { bijectTo, transformTo } = distributions;
  const rows = double([[1, -1, 2], [-1, 2, 3]]);
  const columns = cat([positive, real], -1, { lengths: [1, 2] }), perRow = stack([positive, real], 0);
  near(columns.check(rows), [1, 1, 1, 0, 1, 1], "cat");
  near(perRow.check(rows), [1, 0, 1, 1, 1, 1], "stack");
  near(stack([independent(positive, 1), constraints.simplex]).check(rows), [0, 0], "stack of events");
  const e = Math.E;
  near(bijectTo(columns).call(rows), [e, -1, 2, 1 / e, 2, 3], "onto cat");
  near(transformTo(perRow).call(rows), [e, 1 / e, e ** 2, -1, 2, 3], "onto stack");
  assertThrows(() => cat([positive, real], 0, { lengths: [1] }), DynError, "2, but found 1");
  assertThrows(() => perRow.check(double([1, 2, 3])), DynError, "size 2");
  assertThrows(() => bijectTo(cat([positive, constraints.boolean])), DynError, "a constraint that");
});

Deno.test("distributions report constraints of parameters, and optimizers get unconstrained ones", () => {
  const D = distributions, said = (each: distributions.Distribution) => Object.keys(each.argConstraints);
  assertEquals(said(new D.Normal(0, 1)), ["loc", "scale"]);
  assertEquals(said(new D.Chi2(3)), ["df"]);
  assertEquals(said(new D.Categorical(ones(2))), ["probs", "logits"]);
  const vectors = new D.MultivariateNormal(double([0, 1]), double([[2, 1], [1, 2]]));
  assertEquals(said(vectors), ["loc", "covarianceMatrix", "precisionMatrix", "scaleTril"]);
  const made = [
    vectors,
    new D.Wishart(double(3), double([[2, 1], [1, 2]])),
    new D.Dirichlet(double([1, 2])),
    new D.Gamma(double(1), 2),
    new D.NegativeBinomial(3, double(0.5)),
    new D.LogisticNormal(double([0, 1]), 1),
    new D.LowRankMultivariateNormal(double([0, 1]), double([[1], [2]]), double([1, 2])),
  ];
  for (const each of made) {
    for (const [name, constraint] of Object.entries(each.argConstraints)) {
      const value: Tensor = Reflect.get(each, name);
      assert(constraint.check(value).all().item<boolean>(), `${name} of ${each}`);
    }
  }
  near(vectors.precisionMatrix, [2 / 3, -1 / 3, -1 / 3, 2 / 3], "precision");
  near(
    D.bijectTo(new D.Dirichlet(ones(2)).argConstraints["concentration"] ?? constraints.real).call(
      double([0, 1]),
    ),
    [1, Math.E],
    "concentration",
  );
  assertEquals(vectors.sampleN(3).shape, [3, 2]);
});

Deno.test("a generator continues from an offset", () => {
  const generator = new dyn.Generator(5), draw = () => dyn.rand(3, { generator });
  const [, second] = [draw(), draw()];
  assertEquals(generator.getOffset(), 2);
  generator.setOffset(1);
  assert(second?.equal(draw()));
  assertThrows(() => generator.setOffset(-1), DynError, "found -1");
});

Deno.test("generators refuse seeds and states that are none", () => {
  for (const seed of ["cpu", { device: "cpu" }, 0.5, null]) {
    assertThrows(() => new dyn.Generator(seed as never), DynError, "Expected an integer as a seed");
  }
  assertThrows(() => new dyn.Generator().setState({ seed: 1, offset: NaN }), DynError, "found NaN");
});

Deno.test("a module's type applies to its integers too", () => {
  const { weight, numBatchesTracked } = new nn.BatchNorm1d(2).type("float64");
  assertEquals([weight?.dtype, numBatchesTracked?.dtype], ["float64", "float64"]);
});

Deno.test("distributions with few values list them", () => {
  const { Bernoulli, Binomial, Categorical, OneHotCategorical } = distributions, { enumerated } = data;
  near(new Bernoulli(tensor([0.2, 0.3])).enumerateSupport(), enumerated.bernoulli, "bernoulli");
  near(new Categorical(ones([2, 3])).enumerateSupport(false), enumerated.categorical, "categorical");
  near(new OneHotCategorical(ones([3])).enumerateSupport(), enumerated.onehot, "one hot");
  near(new Binomial(2, tensor([0.2])).enumerateSupport(), enumerated.binomial, "binomial");
  assertThrows(() => new distributions.Normal(0, 1).enumerateSupport(), DynError, "Normal");
});

/** A layer with known numbers in float64. */
function known<M extends nn.Linear | nn.Conv1d>(layer: M): M {
  layer.to("float64");
  noGrad(() => {
    layer.weight.copy_(fixed(layer.weight.shape));
    layer.bias?.copy_(fixed(layer.bias.shape));
  });
  return layer;
}

Deno.test("normalised weights have the parts that older checkpoints have, with PyTorch's numbers", () => {
  const { utils } = nn;
  for (const key of ["linear", "conv"] as const) {
    const layer = utils.weightNorm(known(key === "linear" ? new nn.Linear(3, 2) : new nn.Conv1d(2, 3, 2)));
    const length = layer.getParameter("weight_g"), wanted = data.weightNorm[key];
    noGrad(() => length.mul_(2));
    const y = layer.call(fixed(key === "linear" ? [2, 3] : [1, 2, 4], 1));
    y.square().sum().backward();
    near(y, wanted.y, key);
    near(length.grad, wanted.g, `${key} length`);
    near(layer.getParameter("weight_v").grad, wanted.v, `${key} direction`);
    assertEquals(Object.keys(layer.stateDict()).sort(), wanted.keys);
    // A copy reads its own parts
    layer.zeroGrad();
    const copy = layer.clone(), before = layer.weight.detach().clone();
    noGrad(() => copy.getParameter("weight_g").zero_());
    assert(layer.weight.equal(before) && copy.weight.eq(0).all().item<boolean>());
    utils.removeWeightNorm(layer);
    assertEquals(Object.keys(layer.stateDict()).sort(), ["bias", "weight"]);
    assert(layer.weight.equal(before));
  }
  const layer = utils.spectralNorm(known(new nn.Linear(3, 2))), { spectralNorm } = data;
  noGrad(() => {
    layer.getBuffer("weight_u").copy_(double([0.6, 0.8]));
    layer.getBuffer("weight_v").copy_(double([0, 0.6, 0.8]));
  });
  const y = compile(layer, { fullgraph: true, backend: "aot_eager" }).call(fixed([2, 3], 1));
  y.square().sum().backward();
  near(y, spectralNorm.y, "spectral");
  near(layer.getBuffer("weight_u"), spectralNorm.u, "spectral u");
  near(layer.getParameter("weight_orig").grad, spectralNorm.grad, "spectral gradient");
  assertEquals(Object.keys(layer.stateDict()).sort(), spectralNorm.keys);
  near(layer.eval().call(fixed([2, 3], 1)), spectralNorm.eval, "spectral, not training");
  utils.removeSpectralNorm(layer);
  assertEquals(Object.keys(layer.stateDict()).sort(), ["bias", "weight"]);
  assertThrows(() => utils.removeSpectralNorm(layer), DynError, "a normalised weight of Linear");
  const newer = utils.parametrizations.weightNorm(new nn.Linear(2, 2)), copy = newer.clone();
  noGrad(() => copy.parameters().forEach((each) => each.zero_()));
  assert(!newer.weight.eq(0).all().item<boolean>());
});

Deno.test("parameters of two layers fold into one, and gradients are scaled by a norm that is known", () => {
  const stats = [
    double([0.1, 0.2]),
    double([0.5, 1.5]),
    1e-3,
    double([2, 0.3]),
    double([0.1, -0.2]),
  ] as const;
  const found = [
    ...nn.utils.fuseConvBnWeights(fixed([2, 3, 2]), null, ...stats),
    ...nn.utils.fuseConvBnWeights(fixed([3, 2, 2]), double([0.3, 0.4]), ...stats, true),
  ];
  found.forEach((each, k) => near(each, data.fused[k] ?? [], `part ${k}`));
  const parameters = [[3, 0], [0, 4]].map((gradient) => {
    const made = new nn.Parameter(double([1, 1]));
    made.grad = double(gradient);
    return made;
  });
  nn.utils.clipGradsWithNorm_(parameters, 1, double(5));
  near(dyn.stack(parameters.map((each) => each.grad ?? each)), data.clipped, "clipped");
});

Deno.test("hooks of optimizers see steps and states, in graphs too", () => {
  for (const compiled of [false, true]) {
    const weight = new nn.Parameter(double([1, 2])),
      optimizer = new optim.SGD([weight], 0.5),
      seen: string[] = [];
    const halved = optimizer.registerStepPreHook((each) => {
      seen.push("before");
      for (const { params } of each.paramGroups) for (const p of params) p.grad?.mul_(0.5);
    });
    optimizer.registerStepPostHook(() => void seen.push("after"));
    const body = () => {
      optimizer.zeroGrad();
      weight.square().sum().backward();
      optimizer.step();
    };
    const step = compiled ? compile(body, { fullgraph: true, backend: "aot_eager" }) : body;
    step();
    near(weight, [0.5, 1], "half a step");
    halved.remove();
    halved.remove();
    step();
    near(weight, [0, 0], "a whole step");
    assertEquals(seen, ["before", "after", "after"]);
    optimizer.registerStateDictPreHook(() => void seen.push("writing"));
    optimizer.registerStateDictPostHook((_, state) => ({ ...state, epoch: 3 }));
    optimizer.registerLoadStateDictPreHook((_, state) => void seen.push(`reading ${Object.keys(state)}`));
    optimizer.registerLoadStateDictPostHook(() => void seen.push("read"));
    optimizer.loadStateDict(optimizer.stateDict());
    assertEquals(seen.slice(3), ["writing", "reading state,paramGroups,epoch", "read"]);
  }
});

Deno.test("hooks of optimizers that remove themselves hide no other one", () => {
  for (const compiled of [false, true]) {
    const optimizer = new optim.SGD([new nn.Parameter(double([1, 2]))], 0.5), seen: string[] = [];
    for (const name of ["first", "second", "third"]) {
      const handle = optimizer.registerStepPreHook(() => {
        seen.push(name);
        if (name !== "third") handle.remove();
      });
    }
    const body = () => optimizer.step(), step = compiled ? compile(body, { backend: "aot_eager" }) : body;
    step();
    step();
    assertEquals(seen, ["first", "second", "third", "third"]);
  }
});

Deno.test("tensors have PyTorch's further properties, in graphs too", () => {
  const x = tensor([[0, 1.5, 0], [2, 0, -3]]);
  assertEquals([x.nelement(), x.ndimension(), x.itemsize, x.nbytes, x.getDevice()], [6, 2, 4, 24, -1]);
  assertEquals([x.isSigned(), tensor([true]).isSigned(), tensor([2]).isNonzero()], [true, false, true]);
  assertThrows(() => x.isNonzero(), DynError, "found 6");
  assertEquals(x.nonzeroStatic({ size: 2 }).tolist(), [[0, 1], [1, 0]]);
  assertEquals(x.nonzeroStatic({ size: 4, fillValue: -7 }).tolist(), [[0, 1], [1, 0], [1, 2], [-7, -7]]);
  assertEquals(x.newTensor([1, 2]).dtype, "float32");
  assertEquals(x.typeAs(tensor([1])).tolist(), [[0, 1, 0], [2, 0, -3]]);
  assertEquals(x.clone().apply_((v) => Number(v) * 2).tolist(), x.mul(2).tolist());
  assertEquals(x.clone().map_(x, (a, b) => Number(a) + Number(b)).tolist(), x.mul(2).tolist());
  assertEquals(dyn.emptyPermuted([2, 3, 4], [2, 0, 1]).stride(), [3, 1, 6]);
  assertEquals(dyn.emptyStrided([2, 3], [1, 2]).stride(), [1, 2]);
  assertEquals(dyn.vander(tensor([1, 2, 3])).tolist(), [[1, 1, 1], [4, 2, 1], [9, 3, 1]]);
  assertThrows(() => x.cuda(), DynError, "GPUs of every make are reached as webgpu");
  const described = (given: Tensor) => {
    const y = dyn.relu_(given.clone());
    dyn.clamp_(y, { max: 1.75 });
    return y.adjoint().add(y.nelement() + y.nbytes + (y.isCuda ? 1 : 0)).add(
      y.nonzeroStatic({ size: 3 }).sum(),
    );
  };
  const run = compile(described, { fullgraph: true, backend: "aot_eager" });
  assertEquals(run(x).tolist(), described(x).tolist());
  const shared = compile((a: Tensor) => a.set_(x.mul(2)).sum(), { backend: "eager" });
  assertEquals([shared(tensor([1.5])).item(), dyn.pi, dyn.float64], [1, Math.PI, "float64"]);
});

Deno.test("a field that holds a Buffer is part of the state", () => {
  class Counting extends nn.Module {
    readonly layer = new nn.Linear(2, 2);
    readonly mask = new nn.Buffer(tensor([1, 0]), { persistent: false });
    readonly count = new nn.Buffer(tensor([0]));
    override forward(x: Tensor): Tensor {
      this.count.add_(1);
      return this.layer.call(x).mul(this.mask).add(this.count);
    }
  }
  const model = new Counting(), copy = model.clone();
  assertEquals(Object.keys(model.stateDict()), ["count", "layer.weight", "layer.bias"]);
  assertEquals(copy.namedBuffers().map(([name]) => name), ["mask", "count"]);
  assert(model.mask instanceof nn.Buffer && !(model.layer.weight instanceof nn.Buffer));
  compile(model, { fullgraph: true, backend: "aot_eager" }).call(ones([1, 2]));
  assertEquals([model.count.item(), copy.count.item()], [1, 0]);
});

Deno.test("threads and the device of new tensors are chosen by name", () => {
  const before = dyn.getNumThreads();
  try {
    dyn.setNumThreads(1);
    assertEquals(dyn.getNumThreads(), 1);
  } finally {
    dyn.setNumThreads(before);
  }
  assertThrows(
    () => dyn.setNumThreads(0),
    DynError,
    "the number of threads to be an integer of at least 1 but found 0",
  );
  assertThrows(() => dyn.setDefaultDevice("cuda"), DynError, 'found "cuda"');
  dyn.setDefaultDevice("meta");
  try {
    assertEquals([dyn.getDefaultDevice(), dyn.zeros([2]).device], ["meta", "meta"]);
  } finally {
    dyn.setDefaultDevice(null);
  }
});

Deno.test("graphs are changed by the names that passes of PyTorch's use", () => {
  const seen: string[] = [];
  const run = compile((x: Tensor) => x.relu().add(1), {
    fullgraph: true,
    backend: (gm: dyn.fx.GraphModule) => {
      const { graph } = gm, [found] = graph.findNodes({ op: "call_method", target: "relu" });
      assert(found);
      const made = graph.insertingAfter(found, () => graph.callMethod("sigmoid", [found]));
      const doubled = graph.insertingBefore(graph.output, () => graph.callMethod("mul", [made, 2]));
      graph.output.args = [[doubled]];
      seen.push(...graph.nodes.map(({ target }) => target));
      for (const node of graph.nodes.toReversed()) {
        if (node.op === "call_method" && node.users.size === 0) graph.eraseNode(node);
      }
      assertEquals([made.prev?.target, doubled.allInputNodes, made.next?.target], ["relu", [made], "mul"]);
      graph.lint();
      gm.recompile();
      return gm.forward;
    },
  });
  assertEquals(run(tensor([0.5, -1])).tolist(), tensor([0.5, -1]).relu().sigmoid().mul(2).tolist());
  assertEquals(seen.slice(1, 5), ["relu", "sigmoid", "add", "mul"]);
});

Deno.test("modules grow and shrink, and a program may end a graph", () => {
  const model = new nn.Sequential({ first: new nn.Linear(2, 3), act: new nn.ReLU() });
  assertEquals(Object.keys(model.stateDict()), ["first.weight", "first.bias"]);
  assertEquals(model.call(ones([1, 2])).tolist(), model.at(0).call(ones([1, 2])).relu().tolist());
  const list = new nn.Sequential(new nn.ReLU(), new nn.Tanh()).insert(1, new nn.Sigmoid());
  assertEquals([...list].map((each) => each.constructor.name), ["ReLU", "Sigmoid", "Tanh"]);
  assertEquals([list.pop(0) instanceof nn.ReLU, list.length, list.at(-1) instanceof nn.Tanh], [
    true,
    2,
    true,
  ]);
  assertEquals([...list.slice(1)].map((each) => each.constructor.name), ["Tanh"]);
  const named = new nn.ModuleDict({ a: new nn.ReLU() }).update({ b: new nn.Tanh() });
  // Typed as the layer that it is
  assertEquals(named.get("a").call(tensor([-1, 2])).tolist(), [0, 2]);
  assertEquals([named.pop("a") instanceof nn.ReLU, named.keys()], [true, ["b"]]);
  named.clear();
  assertEquals(named.keys(), []);
  const cut = compile((x: Tensor) => {
    const y = x.mul(2);
    dyn.compiler.graphBreak();
    return y.add(1);
  }, { backend: "eager" });
  const { graphCount, breakReasons } = dyn.compiler.explain(cut)(ones([2]));
  assertEquals([graphCount, breakReasons.map(({ id }) => id)], [2, ["GB0044"]]);
  assertEquals(cut(ones([2])).tolist(), [3, 3]);
  const norms = new nn.Sequential(new nn.BatchNorm1d(2)), batch = double([[1, 2], [3, 4]]).float();
  dyn.func.replaceAllBatchNormModules_(norms).eval();
  assert(norms.call(batch).allclose(nn.functional.batchNorm(batch, null, null, { training: true })));
});

Deno.test("an exponent of a wider type makes the result that type", () => {
  const found = tensor([1.5, -3]).ldexp(tensor([1, 200], { dtype: "float64" }));
  assertEquals([found.dtype, found.tolist()], ["float64", [3, -3 * 2 ** 200]]);
});

Deno.test("tensors are printed according to the options", () => {
  try {
    dyn.setPrintoptions({ precision: 2, sciMode: false });
    assertEquals(`${tensor([1.2345, 1e-6])}`, "tensor([1.23, 0.00])");
    dyn.setPrintoptions({ threshold: 4, edgeitems: 1 });
    assertEquals(`${dyn.arange(6)}`, "tensor([0,  ..., 5])");
    dyn.setPrintoptions({ precision: 4 });
    assertEquals(`${tensor([1e25], { dtype: "float32" }).mul(0.5)}`, "tensor([4999999781011763123716096.])");
    dyn.setPrintoptions({ sciMode: true });
    // Half-way between two texts: the even one, as C prints it
    assertEquals(`${tensor([2.03125, -0])}`, "tensor([2.0312e+00, -0.0000e+00])");
    assertEquals(`${tensor([-0, NaN])}`, "tensor([-0., nan])");
    dyn.setPrintoptions({ profile: "default" });
    dyn.setDefaultDtype("float64");
    assertEquals(`${tensor([1.5])}, ${tensor([{ re: 0, im: 1 }])}`, "tensor([1.5000]), tensor([0.+1.j])");
    assertEquals(`${tensor([1.5]).float()}`, "tensor([1.5000], dtype=float32)");
  } finally {
    dyn.setPrintoptions({ profile: "default" });
    dyn.setDefaultDtype("float32");
  }
  assertEquals(`${tensor([], { dtype: "complex64" })}`, "tensor([], dtype=complex64)");
  const rows = `${dyn.full([1, 30], Infinity)}`.split("\n").map((line) => line.split("inf").length - 1);
  assertEquals(rows, [24, 6]);
  assertEquals(`${tensor([1.2345])}`, "tensor([1.2345])");
  const misspelt = { precision: 2, digits: 3 };
  assertThrows(() => dyn.setPrintoptions(misspelt), DynError, "found digits");
  for (
    const [name, wrong] of [["precision", -1], ["precision", 1.5], ["precision", 101], ["threshold", NaN], [
      "edgeitems",
      "2",
    ], ["sciMode", 1]]
  ) {
    const call = () => Reflect.apply(dyn.setPrintoptions, null, [{ [String(name)]: wrong }]);
    assertThrows(call, DynError, `Expected ${name} of setPrintoptions`);
  }
  Reflect.apply(dyn.setPrintoptions, null, [{ precision: undefined }]);
  assertEquals(`${tensor([1.2345])}`, "tensor([1.2345])");
});

Deno.test("required arguments are accepted by name, and in PyTorch's spelling", () => {
  const x = tensor([[1, 2], [3, 4]]).float();
  assertEquals(nn.functional.softmax(x, { dim: 1 }).tolist(), x.softmax(1).tolist());
  assertEquals(x.gather({ dim: 1, index: tensor([[0], [1]]) }).tolist(), [[1], [4]]);
  assertEquals(nn.functional.maxPool2d(ones([1, 1, 4, 4]), { kernelSize: 2, stride: 1 }).shape, [1, 1, 3, 3]);
  const optimizer = new optim.SGD([new nn.Parameter(x)], { lr: 0.1 });
  const cosine = new optim.lrScheduler.CosineAnnealingLR(optimizer, { TMax: 2 });
  assertEquals([
    cosine.tMax,
    new optim.lrScheduler.CosineAnnealingWarmRestarts(optimizer, { T0: 3, TMult: 2 }).t0,
  ], [2, 3]);
  const sampler = new dyn.data.WeightedRandomSampler([1, 0], { numSamples: 3, replacement: true });
  assertEquals([...sampler], [0, 0, 0]);
  const loader = new dyn.data.DataLoader([1, 2, 3], { batchSize: 2, pinMemory: true });
  assertEquals(loader.dataset.length, 3);
  class Rows extends dyn.data.Dataset<Tensor> {
    readonly length = 2;
    get(index: number): Tensor {
      return x.at(index);
    }
  }
  assertEquals([...new dyn.data.DataLoader(new Rows(), { batchSize: 2 })].map((each) => each.shape), [[
    2,
    2,
  ]]);
  for (const name of ["fill_", "copy_", "clone", "stride"]) {
    const read = () => Reflect.get(x.data, name);
    assertThrows(read, DynError, `Expected x.detach().${name} but found x.data.${name}`);
  }
  assertThrows(() => Object.assign(x, { data: ones([1]) }), TypeError, "data");
});

Deno.test("these names reject invalid values with what was found", () => {
  const { Normal, TransformedDistribution } = distributions, weights = [new nn.Parameter(ones([1]))];
  const wrong: readonly (readonly [call: () => unknown, message: string])[] = [
    [() => Reflect.construct(nn.Sequential, [[new nn.ReLU()]]), "spread the list"],
    [
      () => Reflect.construct(nn.Sequential, [(x: Tensor) => x]),
      "Expected layers, or an object of layers by name",
    ],
    [() => Reflect.construct(nn.Sequential, [{ act: 3 }]), "Expected a module as a layer but found 3"],
    [
      () => Reflect.construct(optim.SGD, [weights, { lr: "0.1" }]),
      'Expected a number for lr of SGD but found "0.1"',
    ],
    [
      () => Reflect.construct(optim.Adam, [weights, { betas: 0.9 }]),
      "2 numbers for betas of Adam but found 0.9",
    ],
    [
      () => Reflect.construct(optim.SGD, [new nn.Linear(1, 1).namedParameters(), { lr: 1 }]),
      "Expected parameters without names to optimize but found [",
    ],
    [
      () => Reflect.apply(dyn.autograd.Function.apply, undefined, [1]),
      "as a value, write (...args) => Square.apply(...args)",
    ],
    [() => Reflect.construct(nn.Parameter, [[1, 2]]), "Expected a tensor for a parameter but found"],
    [() => Reflect.construct(nn.Buffer, [3]), "Expected a tensor for a buffer but found 3"],
    [() => Reflect.apply(dyn.relu_, undefined, [3]), "Expected a tensor for relu_ but found 3"],
    [() => Reflect.apply(dyn.vmap, undefined, [3]), "Expected a function to run over a batch but found 3"],
    [() => Reflect.apply(ones([2]).nonzeroStatic, ones([2]), []), "size of nonzeroStatic"],
    [
      () => Reflect.construct(TransformedDistribution, [new Normal(0, 1), [null]]),
      "Expected transforms but found null",
    ],
    [
      () => Reflect.apply(distributions.bijectTo, undefined, ["positive"]),
      "one of distributions.constraints",
    ],
    [
      () => Reflect.construct(dyn.data.DataLoader, [Promise.resolve([1])]),
      "samples with get() and length, or an iterable",
    ],
    [() => new nn.Linear(1, 1).cuda(), "GPUs of every make are reached as webgpu"],
  ];
  for (const [call, message] of wrong) assertThrows(call, DynError, message);
});

Deno.test("the last arguments of settings, averages and layers in place are accepted by name", () => {
  const F = nn.functional, normed = nn.utils.weightNorm(new nn.Linear(2, 2));
  assertEquals(
    new dyn.data.BatchSampler(new dyn.data.SequentialSampler([1, 2, 3]), 2, { dropLast: undefined }).length,
    2,
  );
  const average = [optim.swaUtils.getEmaAvgFn({ decay: 0.5 }), optim.swaUtils.getEmaAvgFn(0.5)]
    .map((each) => each(ones([1]), ones([1]).mul(3), ones([1])).item());
  assertEquals(average, [2, 2]);
  assertEquals(nn.init.calculateGain("leakyRelu", { param: 1 }), nn.init.calculateGain("leakyRelu", 1));
  const row = () => double([-3, 3]);
  assertEquals(F.hardtanh_(row(), { minVal: -2 }).tolist(), [-2, 1]);
  assertEquals(F.leakyRelu_(row(), { negativeSlope: 0.5 }).tolist(), [-1.5, 3]);
  assertEquals(F.elu_(row(), { alpha: 2 }).tolist(), F.elu(row(), 2).tolist());
  assertEquals(F.celu_(row(), { alpha: 2 }).tolist(), F.celu(row(), 2).tolist());
  assert(nn.utils.removeWeightNorm(normed, { name: "weight" }).weight instanceof nn.Parameter);
  dyn.autograd.setDetectAnomaly({ mode: false });
  dyn.useDeterministicAlgorithms({ mode: false });
  assert(!dyn.autograd.isAnomalyEnabled() && !dyn.areDeterministicAlgorithmsEnabled());
});

Deno.test("options in Python's spelling, and unknown ones, are rejected", () => {
  const params = () => [new nn.Parameter(ones([1]))], x = ones([2, 2]), layer = new nn.Linear(1, 1);
  const scaler = new dyn.GradScaler(), snake = { weight_decay: 0.1 }, unknown = { size_average: false };
  const wrong: readonly (readonly [call: () => unknown, found: string])[] = [
    [
      () => Reflect.construct(optim.SGD, [[{ params: params(), ...snake }]]),
      "weight_decay; write weightDecay",
    ],
    [() => Reflect.construct(optim.AdamW, [params(), snake]), "weight_decay; write weightDecay"],
    [() => Reflect.construct(dyn.GradScaler, [{ init_scale: 2 }]), "init_scale; write initScale"],
    [() => Reflect.apply(dyn.tensor, null, [1, { requires_grad: true }]), "write requiresGrad"],
    [() => Reflect.apply(dyn.asTensor, null, [x, { requires_grad: true }]), "write requiresGrad"],
    [
      () => Reflect.apply(dyn.autograd.functional.jacobian, null, [dyn.sin, x, { create_graph: true }]),
      "write createGraph",
    ],
    [() => Reflect.apply(dyn.autograd.gradcheck, null, [dyn.sin, x, { a_tol: 1 }]), "write atol"],
    [() => Reflect.construct(dyn.distributions.ExpTransform, [{ cache_size: 1 }]), "write cacheSize"],
    [
      () => Reflect.construct(dyn.distributions.AffineTransform, [0, 1, { event_dim: 1 }]),
      "write eventDim",
    ],
    [() => Reflect.construct(dyn.data.BatchSampler, [[1, 2, 3], 2, { drop_last: false }]), "write dropLast"],
    [() => Reflect.apply(dyn.autograd.setDetectAnomaly, null, [{ zzz: false }]), "found zzz"],
    [() => Reflect.apply(dyn.useDeterministicAlgorithms, null, [{ zzz: false }]), "found zzz"],
    [
      () => Reflect.apply(dyn.useDeterministicAlgorithms, null, [false, { warn_only: true }]),
      "write warnOnly",
    ],
    [() => Reflect.apply(dyn.distributions.setDefaultValidateArgs, null, [{ zzz: false }]), "found zzz"],
    [
      () =>
        Reflect.construct(dyn.distributions.Independent, [new dyn.distributions.Normal(ones([2]), 1), {}]),
      "reinterpretedBatchNdims",
    ],
    [() => Reflect.apply(scaler.setGrowthFactor, scaler, [{ zzz: 1 }]), "setGrowthFactor"],
    [() => Reflect.apply(scaler.setBackoffFactor, scaler, [{ zzz: 1 }]), "setBackoffFactor"],
    [() => Reflect.apply(scaler.setGrowthInterval, scaler, [{ zzz: 1 }]), "setGrowthInterval"],
    [() => Reflect.apply(dyn.distributed.allReduce, null, [x, { async_op: true }]), "write asyncOp"],
    [() => Reflect.apply(dyn.library.customOp, null, ["a::b", dyn.sin, { mutates_args: [] }]), "mutatesArgs"],
    [() => Reflect.apply(layer.toEmpty, layer, [{ device: "cpu", recursive: true }]), "found recursive"],
    [() => Reflect.apply(layer.registerForwardHook, layer, [() => {}, { always_call: true }]), "alwaysCall"],
    [() => Reflect.apply(dyn.gradient, null, [x, { edge_order: 2 }]), "edge_order; write edgeOrder"],
    [
      () => Reflect.construct(optim.swaUtils.AveragedModel, [layer, { use_buffers: true }]),
      "write useBuffers",
    ],
    ...[nn.MSELoss, nn.L1Loss, nn.SmoothL1Loss, nn.HuberLoss, nn.KLDivLoss, nn.SoftMarginLoss].map((Loss) =>
      [() => Reflect.construct(Loss, [unknown]), "found size_average"] as const
    ),
    [
      () => Reflect.construct(nn.TripletMarginWithDistanceLoss, [{ distance_function: null }]),
      "distanceFunction",
    ],
    ...[nn.Sigmoid, nn.Tanh, nn.Softsign, nn.LogSigmoid, nn.Softmax2d, nn.Tanhshrink].map((Layer) =>
      [() => Reflect.construct(Layer, [{ inplace: true }]), `no arguments for ${Layer.name}`] as const
    ),
    ...[nn.functional.relu_, nn.functional.selu_].map((fn) =>
      [() => Reflect.apply(fn, null, [ones([2]), unknown]), "found size_average"] as const
    ),
    [() => Reflect.apply(dyn.einsum, null, [ones([2, 2]), [0, 1], unknown]), "operands of einsum"],
    [() => Reflect.apply(dyn.einsum, null, [ones([2, 2]), [0, 1], [0], [1]]), "operands of einsum"],
    [() => Reflect.construct(dyn.data.SubsetRandomSampler, [unknown]), "indices of SubsetRandomSampler"],
    [
      () => Reflect.construct(dyn.data.WeightedRandomSampler, [[1, 2], { numSamples: 2, replacment: false }]),
      "replacment",
    ],
    [
      () => Reflect.apply(nn.utils.clipGradsWithNorm_, null, [layer.parameters(), 1, ones([]), unknown]),
      "found size_average",
    ],
    [() => Reflect.construct(dyn.distributions.AffineTransform, [1]), "Expected scale of AffineTransform"],
    [() => Reflect.construct(dyn.distributions.PowerTransform, [unknown]), "found size_average"],
    ...[dyn.autograd.setDetectAnomaly, dyn.useDeterministicAlgorithms].flatMap((set) =>
      [{}, { mode: undefined }, { mode: 1 }, 1].map((given) =>
        [() => Reflect.apply(set, null, [given]), "to be a boolean"] as const
      )
    ),
    [() => Reflect.apply(dyn.distributions.setDefaultValidateArgs, null, [{}]), "to be a boolean"],
    [() => Reflect.apply(dyn.autograd.setGradEnabled, null, [{}, () => 1]), "to be a boolean"],
    ...[nn.ModuleList, nn.Sequential].flatMap((List) =>
      [[0, {}], [0.5, layer], ["a", layer], [NaN, layer]].map((given) => {
        const list = Reflect.construct(List, List === nn.ModuleList ? [[layer]] : [layer]);
        return [() => Reflect.apply(list.insert, list, given), "Expected a"] as const;
      })
    ),
    [() => Reflect.apply(dyn.func.functionalCall, null, [layer, {}, [x], 5]), "kwargs of functionalCall"],
    [
      () => Reflect.apply(dyn.func.functionalCall, null, [layer, {}, [x], {}, {}]),
      "for functionalCall but found {}",
    ],
  ];
  for (const [call, found] of wrong) assertThrows(call, DynError, found);
});

Deno.test("modes, indices, amounts and arguments of substituted calls are accepted by name", () => {
  const seen = dyn.autograd.setGradEnabled({ mode: false }, () => dyn.autograd.isGradEnabled());
  assertEquals(seen, false);
  assertEquals(`${new nn.Identity(54, { any: true })}`, "Identity()");
  for (const given of [[0], [{ key: 0 }]]) {
    const list = new nn.ModuleList<nn.Module>([new nn.ReLU(), new nn.Tanh()]);
    assertEquals(`${Reflect.apply(list.pop, list, given)}`, "ReLU()");
    const layers = new nn.Sequential(new nn.ReLU(), new nn.Tanh());
    assertEquals(`${Reflect.apply(layers.pop, layers, given)}`, "ReLU()");
  }
  const { prune } = nn.utils, weight = double([[3, 1, 2], [0.5, 4, 2.5]]);
  const kept = (cut: (layer: nn.Linear) => nn.Linear): unknown => {
    const layer = new nn.Linear(3, 2, { bias: false });
    noGrad(() => layer.weight.copy_(weight));
    return cut(layer).weight.tolist();
  };
  const smallest = [[3, 0, 2], [0, 4, 2.5]], column = [[3, 1, 0], [0.5, 4, 0]];
  assertEquals(kept((m) => prune.l1Unstructured(m, { name: "weight", amount: 2 })), smallest);
  assertEquals(kept((m) => prune.l1Unstructured(m, "weight", { amount: 2 })), smallest);
  const importanceScores = double([[1, 1, 0], [1, 1, 0]]);
  assertEquals(
    kept((m) => prune.l1Unstructured(m, { name: "weight", amount: 2, importanceScores })),
    column,
  );
  assertEquals(
    kept((m) => prune.lnStructured(m, { name: "weight", amount: 1, n: 2, dim: 1 })),
    kept((m) => prune.lnStructured(m, "weight", 1, 2, 1)),
  );
  assertEquals(
    kept((m) => prune.remove(prune.identity(m, { name: "weight" }), { name: "weight" })),
    weight.tolist(),
  );
  assertEquals(kept((m) => prune.customFromMask(m, { name: "weight", mask: importanceScores })), column);
  class Scaled extends nn.Module {
    readonly weight = new nn.Parameter(ones([2]));
    override forward(x: Tensor, { by = 1, shift = 0 }: { by?: number; shift?: number } = {}): Tensor {
      return x.mul(this.weight).mul(by).add(shift);
    }
  }
  const scaled = new Scaled(),
    call = (x: Tensor, w: Tensor) => dyn.func.functionalCall(scaled, { weight: w }, [x], { by: 3, shift: 1 });
  for (const run of [call, dyn.compile(call, { fullgraph: true })]) {
    assertEquals(run(double([1, 2]), double([2, 5])).tolist(), [7, 31]);
  }
});

Deno.test("layers are reinitialised, and a schedule that follows a metric resumes", () => {
  const norm = new nn.BatchNorm1d(2), batch = double([[1, 2], [3, 5]]).float();
  norm.call(batch);
  noGrad(() => norm.weight?.fill_(3));
  norm.resetRunningStats();
  assertEquals([norm.runningMean?.tolist(), norm.runningVar?.tolist()], [[0, 0], [1, 1]]);
  assertEquals([norm.numBatchesTracked?.item(), norm.weight?.tolist()], [0, [3, 3]]);
  norm.resetParameters();
  assertEquals(norm.weight?.tolist(), [1, 1]);
  for (
    const [make, Layer] of [[() => new nn.LSTM(2, 3), nn.LSTM], [
      () => new nn.GRUCell(2, 3),
      nn.GRUCell,
    ]] as const
  ) {
    dyn.manualSeed(3);
    const layer = make(), first = layer.parameters().map((each) => each.tolist());
    noGrad(() => layer.parameters().forEach((each) => each.zero_()));
    dyn.manualSeed(3);
    layer.resetParameters();
    assertEquals(layer.parameters().map((each) => each.tolist()), first, Layer.name);
  }
  const { ReduceLROnPlateau } = optim.lrScheduler, parameter = new nn.Parameter(ones([1]));
  const losses = [1, 0.9, 0.95, 0.93, 0.94, 0.5, 0.6, 0.6, 0.6];
  const made = () => new optim.SGD([parameter], { lr: 1 }),
    options = { patience: 1, cooldown: 1, minLr: [0.05] };
  const whole = made(), schedule = new ReduceLROnPlateau(whole, options), rates: number[] = [];
  for (const loss of losses) {
    schedule.step(loss);
    rates.push(whole.paramGroups[0]?.lr ?? 0);
  }
  // torch.optim.lr_scheduler.ReduceLROnPlateau of the same losses
  assertEquals(rates.map((rate) => Number(rate.toFixed(12))), [
    1.0,
    1.0,
    1.0,
    0.1,
    0.1,
    0.1,
    0.1,
    0.05,
    0.05,
  ]);
  const first = made(), before = new ReduceLROnPlateau(first, options);
  losses.slice(0, 3).forEach((loss) => before.step(loss));
  const second = made(), after = new ReduceLROnPlateau(second, options);
  second.loadStateDict(first.stateDict());
  after.loadStateDict(before.stateDict());
  losses.slice(3).forEach((loss) => after.step(loss));
  assertEquals([second.paramGroups[0]?.lr, after.stateDict()], [
    whole.paramGroups[0]?.lr,
    schedule.stateDict(),
  ]);
});

Deno.test("names under which PyTorch's programs look for features that are elsewhere", () => {
  assertEquals(nn.parallel.DistributedDataParallel, dyn.distributed.DistributedDataParallel);
  assert(new nn.GRU(2, 3) instanceof nn.RNNBase && new nn.GRUCell(2, 3) instanceof nn.RNNCellBase);
  new nn.LSTM(2, 3).flattenParameters();
  const x = double([0.5, 1.5]);
  near(dyn.special.softmax(x, 0), Array.from(x.softmax(0).toTypedArray(), Number), "softmax");
  near(dyn.special.logSoftmax(x, 0), Array.from(x.logSoftmax(0).toTypedArray(), Number), "logSoftmax");
  assertEquals(dyn.vander(x, { N: 3, increasing: true }).tolist(), [[1, 0.5, 0.25], [1, 1.5, 2.25]]);
  assertEquals(dyn.vander(x, 2).tolist(), [[0.5, 1], [1.5, 1]]);
  assertThrows(
    () => dyn.vander(double([[1]])),
    DynError,
    "Expected a vector for x of vander but found the shape [1,1]",
  );
  assertThrows(() => Reflect.apply(dyn.vander, null, [3]), DynError, "but found 3");
  for (const fail of [dyn.linalg.inv, dyn.linalg.cholesky]) {
    assertThrows(() => fail(double([[0, 0], [0, 0]])), dyn.linalg.LinAlgError);
  }
  const up = tensor([1, 2], { dtype: "float64" });
  assertEquals(up.nextafter_(double([2, 1])).tolist(), [1 + 2 ** -52, 2 - 2 ** -52]);
  const orders = tensor([1.5, 2], { dtype: "float64", requiresGrad: true }), moved = orders.mul(1);
  moved.polygamma_(1).sum().backward();
  near(
    orders.grad,
    Array.from(dyn.special.polygamma(2, orders.detach()).toTypedArray(), Number),
    "polygamma_",
  );
  const reflections = double([[0.3, 0.1], [0.2, -0.4], [0.5, 0.7]]), tau = double([0.5, 0.3]);
  assertEquals(reflections.orgqr(tau).tolist(), dyn.linalg.householderProduct(reflections, tau).tolist());
});

Deno.test("unsupported calls report what to write instead", () => {
  assertThrows(() => ones([2]).numpy(), DynError, "Expected toTypedArray(), tolist() or await data()");
  assertThrows(
    () => Reflect.apply(ones([2]).typeAs, ones([2]), ["float32"]),
    DynError,
    'but found "float32"',
  );
  assertThrows(() => dyn.zeros([2, NaN]), DynError, "for size of zeros but found NaN among [2, NaN]");
});

Deno.test("the precision that programs request is that of compiled convolutions", () => {
  const { inductor } = dyn.config;
  assertEquals([dyn.getFloat32MatmulPrecision(), inductor.convolutionPrecision], ["highest", "highest"]);
  try {
    dyn.setFloat32MatmulPrecision("medium");
    assertEquals([dyn.getFloat32MatmulPrecision(), inductor.convolutionPrecision], ["medium", "high"]);
  } finally {
    dyn.setFloat32MatmulPrecision("highest");
  }
  assertEquals(inductor.convolutionPrecision, "highest");
  assertThrows(
    () => Reflect.apply(dyn.setFloat32MatmulPrecision, null, ["low"]),
    DynError,
    'but found "low"',
  );
});

Deno.test("user-defined Functions choose types in backward as they did in forward", () => {
  const { amp } = dyn, seen: string[] = [];
  const record = (where: string, y: Tensor) => (seen.push(`${where} ${y.dtype}`), y);
  class Product extends dyn.autograd.Function {
    static override forward = amp.customFwd((ctx, a: Tensor, b: Tensor) => {
      ctx.saveForBackward(a, b);
      return record("forward", a.matmul(b));
    }, { deviceType: "cpu" });
    static override backward = amp.customBwd((ctx, grad: Tensor) => {
      const [a, b] = ctx.savedTensors;
      return a && b ? [record("backward", grad.matmul(b.t())), a.t().matmul(grad)] : [null, null];
    });
  }
  class Exact extends dyn.autograd.Function {
    static override forward = amp.customFwd((ctx, a: Tensor) => {
      ctx.saveForBackward(a);
      return record("exact", a.matmul(a.t()));
    }, { castInputs: "float32" });
    static override backward = amp.customBwd((ctx, grad: Tensor) => {
      const [a] = ctx.savedTensors;
      return a ? record("backward", grad.add(grad.t()).matmul(a)) : null;
    });
  }
  const a = ones([2, 2]).requiresGrad_(), b = ones([2, 2]).requiresGrad_();
  const y = amp.autocast({ dtype: "bfloat16" }, () => Product.apply(a, b));
  y.float().sum().backward();
  Product.apply(a, b).sum().backward();
  const exact = amp.autocast({ dtype: "bfloat16" }, () => Exact.apply(a.bfloat16()));
  exact.sum().backward();
  assertEquals(seen, [
    ...["forward bfloat16", "backward bfloat16", "forward float32", "backward float32"],
    ...["exact float32", "backward float32"],
  ]);
});
