/**
 * Numbers of PyTorch from which user programs once differed: whole runs of optimizers, divergences of distributions,
 * projected recurrences, filtered images, weighted losses; and calls with trailing arguments by name.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import * as dyn from "../mod.ts";
import {
  autograd,
  compile,
  distributions as D,
  nn,
  noGrad,
  optim,
  type Tensor,
  tensor,
  vmap,
} from "../mod.ts";
import data from "./data/library_numbers.json" with { type: "json" };
import "./support/devices.ts";
import "./support/turns/ops.ts";

const F = nn.functional;

type Numbers = readonly (number | string | null)[];

/** Numbers that differ, as PyTorch was asked with. */
const fixed = (shape: readonly number[], seed: number): Tensor => {
  const count = shape.reduce((a, b) => a * b, 1);
  return dyn.arange(count, { dtype: "float64" }).mul(0.7).add(seed).sin().reshape([...shape]);
};

const double = (values: readonly number[]): Tensor =>
  tensor([...values], { dtype: "float64", requiresGrad: true });

/** Within 1e-9: PyTorch's trigamma is right to 4e-10. */
function near(found: Tensor | null, wanted: Numbers | null, where: string): void {
  if (wanted === null) return assertEquals(found, null, where);
  assert(found, `${where}: no tensor`);
  const values = Array.from<number | bigint, number>(found.detach().reshape([-1]).toTypedArray(), Number);
  assertEquals(values.length, wanted.length, where);
  wanted.forEach((want, k) => {
    const value = values[k] ?? NaN, says = `${where}: [${k}] is ${value}, not ${want}`;
    if (want === null) return assert(Number.isNaN(value), says);
    if (want === "inf") return assertEquals(value, Infinity, says);
    assert(Math.abs(value - Number(want)) <= 1e-9 * (1 + Math.abs(Number(want))), says);
  });
}

const OPTIMIZERS: Readonly<Record<string, (w: Tensor) => optim.Optimizer>> = {
  Adam: (w) => new optim.Adam([w], { lr: 0.1, amsgrad: true, weightDecay: 0.1 }),
  AdamW: (w) => new optim.AdamW([w], { lr: 0.1 }),
  Adamax: (w) => new optim.Adamax([w], { lr: 0.1 }),
  NAdam: (w) => new optim.NAdam([w], { lr: 0.1, momentumDecay: 0.01, weightDecay: 0.1 }),
  RAdam: (w) => new optim.RAdam([w], { lr: 0.1, betas: [0.5, 0.7] }),
  Adagrad: (w) => new optim.Adagrad([w], { lr: 0.1, lrDecay: 0.3 }),
  ASGD: (w) => new optim.ASGD([w], { lr: 0.1, lambd: 0.1, t0: 2 }),
  Adafactor: (w) => new optim.Adafactor([w], { lr: 0.1, weightDecay: 0.1 }),
};

for (const [run, wanted] of Object.entries(data.optimizers)) {
  Deno.test(`steps of float64 parameters are computed in float64: ${run} as default`, () => {
    const [name = "", dtype] = run.split(" "), former = dyn.getDefaultDtype();
    try {
      dyn.setDefaultDtype(dtype === "float64" ? "float64" : "float32");
      const w = fixed([3, 2], 1).requiresGrad_(), optimizer = OPTIMIZERS[name]?.(w);
      for (let k = 0; k < 5; k++) {
        optimizer?.zeroGrad();
        w.sub(fixed([3, 2], k + 2)).square().sum().backward();
        optimizer?.step();
      }
      near(w, wanted, run);
    } finally {
      dyn.setDefaultDtype(former);
    }
  });
}

Deno.test("restarts go to a fractional epoch, and continue from there", () => {
  const optimizer = new optim.SGD([tensor([0], { requiresGrad: true })], { lr: 1 });
  const schedule = new optim.lrScheduler.CosineAnnealingWarmRestarts(optimizer, 3, { tMult: 2 });
  const rates = [0, 0.5, 1.25, 2.5, 3.5, 7, 9.75, 20, null, null, null].map((epoch) => {
    schedule.step(epoch);
    return optimizer.paramGroups[0]?.lr ?? NaN;
  });
  near(tensor(rates, { dtype: "float64" }), data.restarts, "restarts");
  assertThrows(() => schedule.step(-1), dyn.DynError, "at least 0 but found -1");
  assertThrows(
    () => new optim.Adafactor([fixed([2], 1)], { d: 0.5 }),
    dyn.DynError,
    "at least 1 but found 0.5",
  );
});

Deno.test("compiled steps need no version for each restart", () => {
  const weight = tensor([1], { dtype: "float32", requiresGrad: true }),
    optimizer = new optim.SGD([weight], { lr: 1 });
  const schedule = new optim.lrScheduler.CosineAnnealingWarmRestarts(optimizer, 2);
  const step = dyn.compile(() => {
    weight.square().sum().backward();
    optimizer.step();
    optimizer.zeroGrad();
    schedule.step();
  }, { backend: "eager" });
  for (let k = 0; k < 20; k++) step();
  const { graphs, graphBreaks } = dyn.compiler.status(step);
  assertEquals([graphs, graphBreaks, optimizer.paramGroups[0]?.lr], [2, 0, 1]);
});

type Made = (a: Tensor, b: Tensor, r: Tensor) => D.Distribution;

const FIRST: Readonly<Record<string, Made>> = {
  Normal: (a, _b, r) => new D.Normal(r, a),
  Gamma: (a, b) => new D.Gamma(a, b),
  Beta: (a, b) => new D.Beta(a, b),
  Exponential: (a) => new D.Exponential(a),
  Gumbel: (a, _b, r) => new D.Gumbel(r, a),
  Laplace: (a, _b, r) => new D.Laplace(r, a),
  Uniform: (a, b) => new D.Uniform(a.mul(0.1), a.mul(0.1).add(b.mul(0.2))),
  Pareto: (a, b) => new D.Pareto(a, b),
  ContinuousBernoulli: (_a, _b, r) => new D.ContinuousBernoulli({ logits: r }),
  Poisson: (a) => new D.Poisson(a),
  Bernoulli: (_a, _b, r) => new D.Bernoulli({ logits: r }),
  Binomial: (_a, _b, r) => new D.Binomial(5, { logits: r }),
  Cauchy: (a, _b, r) => new D.Cauchy(r, a),
  HalfNormal: (a) => new D.HalfNormal(a),
  HalfCauchy: (a) => new D.HalfCauchy(a),
  OneHotCategorical: (_a, _b, r) => new D.OneHotCategorical({ logits: r }),
};

const SECOND: Readonly<Record<string, Made>> = {
  Normal: (a, b) => new D.Normal(a, b),
  Gamma: (a, b) => new D.Gamma(b, a),
  Beta: (a, b) => new D.Beta(b, a),
  Exponential: (_a, b) => new D.Exponential(b),
  Gumbel: (a, b) => new D.Gumbel(a, b),
  Laplace: (a, b) => new D.Laplace(a, b),
  Uniform: (_a, _b, r) => new D.Uniform(r.sub(2), r.add(3)),
  Pareto: (a, b) => new D.Pareto(a.mul(0.5), b),
  ContinuousBernoulli: (a) => new D.ContinuousBernoulli({ logits: a }),
  Poisson: (_a, b) => new D.Poisson(b),
  Bernoulli: (a) => new D.Bernoulli({ probs: a.div(3) }),
  Binomial: (a) => new D.Binomial(5, { probs: a.div(3) }),
  Cauchy: (a, b) => new D.Cauchy(a, b),
  HalfNormal: (_a, b) => new D.HalfNormal(b),
  HalfCauchy: (_a, b) => new D.HalfCauchy(b),
  OneHotCategorical: (a) => new D.OneHotCategorical({ logits: a }),
};

const A = [0.6, 1.7, 2.4], B = [1.3, 0.8, 2.9], R = [-0.4, 0.3, 1.1];

Deno.test("divergences of all pairs that PyTorch knows have its values and gradients", () => {
  for (const [pair, [value, ...gradients]] of Object.entries(data.divergences)) {
    const [p = "", q = ""] = pair.split(" "), inputs = [double(A), double(B), double(R)] as const;
    const first = FIRST[p]?.(...inputs), second = SECOND[q]?.(...inputs);
    assert(first && second, pair);
    const found = D.klDivergence(first, second);
    near(found, value ?? null, pair);
    // An infinite one depends on nothing here, and by zeros or NaN there
    if (value?.some((each) => typeof each !== "number")) continue;
    const by = autograd.grad(found.sum(), inputs, { allowUnused: true });
    by.forEach((grad, k) => {
      const wanted = gradients[k] ?? null;
      near(grad ?? (wanted && dyn.zerosLike(inputs[0])), wanted ?? (grad && [0, 0, 0]), `${pair} by ${k}`);
    });
  }
});

Deno.test("divergences unknown to PyTorch follow from what families have in common", () => {
  const p = new D.Gumbel(double(R), double(A)), q = new D.Gumbel(double(R), double(A));
  near(D.klDivergence(p, q), [0, 0, 0], "of one distribution");
  const inside = D.klDivergence(new D.Uniform(0, 1), new D.ContinuousBernoulli({ logits: tensor([0]) }));
  assert(Math.abs(inside.item()) < 1e-6);
  assertThrows(
    () => D.klDivergence(new D.Laplace(0, 1), new D.Laplace(0, 1).expand([2]) && new D.Gumbel(0, 1)),
    dyn.DynError,
    "whose divergence is known but found Laplace and Gumbel",
  );
});

const MODES: Readonly<Record<string, Made>> = {
  ...FIRST,
  LogNormal: (a, _b, r) => new D.LogNormal(r, a),
  Chi2: (_a, b) => new D.Chi2(b),
  StudentT: (a, b, r) => new D.StudentT(a, r, b),
  FisherSnedecor: (a, b) => new D.FisherSnedecor(a.add(1), b),
  Geometric: (_a, _b, r) => new D.Geometric({ logits: r }),
  NegativeBinomial: (_a, _b, r) => new D.NegativeBinomial(4, { logits: r }),
  Categorical: (_a, _b, r) => new D.Categorical({ logits: r }),
  Dirichlet: (a) => new D.Dirichlet(a),
  MultivariateNormal: (a, _b, r) => new D.MultivariateNormal(r, dyn.diag(a)),
};

Deno.test("the most likely values of distributions are PyTorch's", () => {
  for (const [name, wanted] of Object.entries(data.modes)) {
    const made = MODES[name]?.(double(A), double(B), double(R));
    near(made?.mode ?? null, wanted, name);
  }
  // Where PyTorch takes the logarithm of a negative number
  const shares = new D.Kumaraswamy(double([2, 0.5]), double([3, 3])).mode;
  near(shares, [Math.sqrt(1 / 5), null], "Kumaraswamy");
});

Deno.test("LSTMs project their outputs, also of packed sequences and in both directions", () => {
  const lstm = new nn.LSTM(3, 4, 2, { bidirectional: true, projSize: 2, dtype: "float64" });
  assertEquals([...lstm.namedParameters()].map(([name]) => name), data.names);
  assertEquals(lstm.allWeights.map((layer) => layer.length), [5, 5, 5, 5]);
  noGrad(() => [...lstm.parameters()].forEach((p, k) => p.copy_(fixed(p.shape, k).mul(0.5))));
  const x = fixed([5, 3, 3], 4).requiresGrad_();
  const [output, [h, c]] = lstm.forward(nn.utils.rnn.packPaddedSequence(x, [5, 3, 2]));
  [output.data, h, c].forEach((found, k) => near(found, data.lstm[k] ?? null, `result ${k}`));
  const loss = output.data.square().sum().add(h.mul(2).sin().sum()).add(c.cos().sum());
  const weight = [...lstm.namedParameters()].find(([name]) => name === "weight_hr_l0_reverse")?.[1];
  assert(weight);
  autograd.grad(loss, [x, weight]).forEach((grad, k) =>
    near(grad, data.lstm[3 + k] ?? null, `gradient ${k}`)
  );
  assertThrows(() => new nn.LSTM(3, 4, { projSize: 4 }), dyn.DynError, "[0, 4), less than hiddenSize");
  assertThrows(
    () => lstm.call(x, [fixed([4, 3, 4], 1), fixed([4, 3, 4], 1)]),
    dyn.DynError,
    "a state of shape [4,3,2] but found [4,3,4]",
  );
});

Deno.test("images are downsampled by filters that cover all pixels", () => {
  const options: Readonly<Record<keyof typeof data.antialias, object>> = {
    bilinear: { size: [3, 4], mode: "bilinear" },
    bicubic: { scaleFactor: 0.45, mode: "bicubic" },
    corners: { size: [4, 3], mode: "bilinear", alignCorners: true },
    wider: { size: [3, 11], mode: "bicubic" },
  };
  for (const [name, [wanted, slope]] of Object.entries(data.antialias)) {
    const x = fixed([1, 2, 9, 8], 2).requiresGrad_(), given = Reflect.get(options, name);
    const shrink = (image: Tensor) => F.interpolate(image, { ...given, antialias: true });
    for (const f of [shrink, compile(shrink)]) {
      const y = f(x);
      near(y, wanted ?? null, name);
      near(autograd.grad(y.square().sum(), x)[0] ?? null, slope ?? null, `gradient of ${name}`);
    }
  }
  assertThrows(
    () => F.interpolate(fixed([1, 2, 4], 1), 2, { antialias: true }),
    dyn.DynError,
    "found nearest",
  );
});

Deno.test("losses of pairs weigh their elements", () => {
  const losses = { mse_loss: F.mseLoss, l1_loss: F.l1Loss, huber_loss: F.huberLoss };
  for (const [run, [wanted, slope]] of Object.entries(data.weighted)) {
    const [name = "", given] = run.split(" "),
      reduction = given === "none" || given === "sum" ? given : "mean";
    const x = fixed([2, 3], 1).mul(2).detach().requiresGrad_(), weight = fixed([2, 3], 3).square();
    const loss = Object.entries(losses).find(([known]) => known === name)?.[1];
    const y = loss?.(x, fixed([2, 3], 5), { reduction, weight }) ?? null;
    near(y, wanted ?? null, run);
    near(y && (autograd.grad(y.sum(), x)[0] ?? null), slope ?? null, `gradient of ${run}`);
  }
  assertThrows(
    () => F.mseLoss(fixed([3], 1), fixed([3], 2), { weight: fixed([1], 1) }),
    dyn.DynError,
    "[3] but found [1]",
  );
});

Deno.test("layers accept the last arguments of a call by name", () => {
  const x = fixed([1, 2, 3, 3], 1).to("float32"),
    larger = new nn.ConvTranspose2d(2, 1, 3, { stride: 2, padding: 1 });
  assertEquals(larger.call(x, { outputSize: [6, 6] }).shape, [1, 1, 6, 6]);
  assertEquals(larger.call(x, [6, 6]).tolist(), larger.call(x, { outputSize: [6, 6] }).tolist());
  const [most, at] = F.maxPool1d(dyn.arange(7).to("float32").reshape([1, 1, 7]), 2, { returnIndices: true });
  assert(most && at);
  assertEquals(new nn.MaxUnpool1d(2).call(most, at, { outputSize: [7] }).tolist(), [[[0, 1, 0, 3, 0, 5, 0]]]);
  const bags = new nn.EmbeddingBag(4, 2, { mode: "sum" }),
    indices = tensor([0, 1, 2]),
    offsets = tensor([0, 2]);
  const halves = bags.call(indices, { offsets, perSampleWeights: dyn.full([3], 0.5) });
  assert(dyn.allclose(halves, bags.call(indices, offsets).mul(0.5)));
  const gru = new nn.GRU(3, 4), cell = new nn.LSTMCell(3, 4), steps = dyn.randn([2, 1, 3]);
  const h = dyn.randn([1, 1, 4]), c = dyn.randn([1, 4]);
  assertEquals(gru.call(steps, { hx: h })[1].tolist(), gru.call(steps, h)[1].tolist());
  const [next] = cell.call(steps.at(0), { hx: [c, c] });
  assertEquals(next.tolist(), cell.call(steps.at(0), [c, c])[0].tolist());
  const { hist } = dyn.histogramdd(tensor([[0.5, 1.5], [1, 1]]), { bins: [2, 2], range: [0, 2, 0, 2] });
  assertEquals(hist.tolist(), [[0, 1], [0, 1]]);
});

Deno.test("gradients go to the named inputs, and are passed for outputs by name", () => {
  const w = tensor([1, 2.5], { requiresGrad: true }), u = tensor([3, 4.5], { requiresGrad: true });
  const seen: string[] = [];
  w.registerPostAccumulateGradHook(() => void seen.push("w"));
  u.registerPostAccumulateGradHook(() => void seen.push("u"));
  w.mul(u).sum().backward({ inputs: [w] });
  w.mul(u).sum().backward({ inputs: w });
  assertEquals([w.grad?.tolist(), u.grad, seen], [[6, 9], null, ["w", "w"]]);
  const middle = w.mul(2);
  middle.mul(u).sum().backward({ inputs: [middle] });
  assertEquals([middle.grad?.tolist(), w.grad?.tolist()], [[3, 4.5], [6, 9]]);
  assertThrows(() => w.sum().backward({ inputs: [] }), dyn.DynError, "an empty list");
  const zeros = autograd.grad(w.mul(2), [w, u], { gradOutputs: tensor([1, 10]), materializeGrads: true });
  assertEquals(zeros.map((grad) => grad?.tolist()), [[2, 20], [0, 0]]);
  const contradictory = () =>
    autograd.grad(w.mul(2).sum(), [w], { materializeGrads: true, allowUnused: false });
  for (const ask of [contradictory, compile(contradictory)]) {
    assertThrows(ask, dyn.DynError, "but found false: unused inputs get zeros");
  }
  assertThrows(
    () => Reflect.apply(autograd.grad, autograd, [w.sum(), w, { allowUnsued: true }]),
    dyn.DynError,
    "but found allowUnsued",
  );
});

Deno.test("gradients of each element of a batch start from the gradients given for its outputs", () => {
  const x = tensor([[1, 2, 3], [4, 5, 6.5]]), by = tensor([1, 10, 100.5]);
  const asked: ((y: Tensor, q: Tensor) => Tensor | null | undefined)[] = [
    (y, q) => autograd.grad(y, q, by)[0],
    (y, q) => autograd.grad([y], [q], [by])[0],
    (y, q) => autograd.grad(y, q, { gradOutputs: by })[0],
    (y, q) => autograd.grad(y, q, null, { gradOutputs: [by] })[0],
  ];
  for (const ask of asked) {
    const slopes = (rows: Tensor) =>
      vmap((row: Tensor) => {
        const q = row.clone().requiresGrad_();
        return ask(q.mul(q), q) ?? q;
      })(rows);
    for (const f of [slopes, compile(slopes, { backend: "aot_eager" })]) {
      const found = f(x);
      assert(dyn.isTensor(found));
      assertEquals(found.tolist(), x.mul(2).mul(by).tolist());
    }
  }
});

Deno.test("products that run over many elements have the gradient of each factor, zeros included", () => {
  for (const zeros of [[], [100], [3, 40, 2500]]) {
    const size = 2600,
      x = Array.from({ length: size }, (_, k) => zeros.includes(k) ? 0 : 1 + Math.sin(k) / 4);
    const weights = x.map((_, k) => k % 7 - 2), wanted: number[] = [];
    // The sum from the end, and the product of the factors before
    for (let k = size - 1, sum = 0; k >= 0; k--) {
      sum = (weights[k] ?? 0) + (x[k + 1] ?? 0) * sum;
      wanted[k] = x.slice(0, k).reduce((a, b) => a * b, 1) * sum;
    }
    for (const run of [(f: (x: Tensor) => Tensor) => f, (f: (x: Tensor) => Tensor) => compile(f)]) {
      const factors = double(x);
      run((x) => x.cumprod(0).mul(double(weights).detach()).sum())(factors).backward();
      near(factors.grad, wanted, `zeros at ${zeros}`);
    }
  }
  const x = double([2, 0, 3, 0]), [first] = autograd.grad([x.cumprod(0).sum()], [x], { createGraph: true });
  near(autograd.grad([first!.mul(double([1, 2, 3, 4]).detach()).sum()], [x])[0]!, [8, 34, 4, 12], "second");
});

Deno.test("NaN has the gradient of the extreme of a whole tensor; along dimensions all of it is NaN", () => {
  const gradient = (f: (x: Tensor) => Tensor) => {
    const x = double([1, NaN, 3, NaN]);
    compile(f)(x).backward();
    return x.grad;
  };
  near(gradient((x) => x.max()), [0, 0.5, 0, 0.5], "max");
  near(gradient((x) => x.min()), [0, 0.5, 0, 0.5], "min");
  near(gradient((x) => x.amax(0)), [null, null, null, null], "amax");
});

Deno.test("logits of 0 have the gradient of a probability of one half", () => {
  for (const posWeight of [null, double([3, 1, 2]).detach()]) {
    const loss = (x: Tensor) =>
      F.binaryCrossEntropyWithLogits(x, double([0, 1, 0.25]).detach(), { reduction: "sum", posWeight });
    // sigmoid(0) − target, where positive parts weigh more with posWeight
    const wanted = posWeight === null ? [0.5, -0.5, 0.25] : [0.5, -0.5, 0.125];
    for (const run of [loss, compile(loss)]) {
      const x = double([0, -0, 0]);
      run(x).backward();
      near(x.grad, wanted, `posWeight ${posWeight}`);
    }
  }
});

Deno.test("integrals of small integers do not wrap around", () => {
  const y = tensor([200, 200, 3], { dtype: "uint8" }), x = tensor([4, 2, 1], { dtype: "uint8" });
  near(dyn.trapezoid(y, { dx: 2 }), [603], "trapezoid");
  near(dyn.cumulativeTrapezoid(y, { dx: 2 }), [400, 603], "cumulativeTrapezoid");
  near(dyn.trapezoid(y, x), [-501.5], "trapezoid along falling coordinates");
  assertEquals(dyn.trapezoid(y.to("float16")).dtype, "float16");
});

Deno.test("incomplete gamma functions of small arguments have values", () => {
  const a = double([1e-30, 1e-5, 0.5, 3]), x = double([1e-30, 1e-30, 1e-100, 1e-30]);
  near(dyn.special.gammainc(a, x), [1, 0.9993152311078087, 1.1283791670955126e-50, 0], "gammainc");
  near(dyn.special.gammaincc(a, x), [0, 0.00068476889219134, 1, 1], "gammaincc");
});

Deno.test("the upper incomplete gamma function keeps its relative precision where the lower one is almost 1", () => {
  // Computed with 40 digits
  const values = [
    [1e-12, 0.19, 1.2648584244124736e-12],
    [2e-6, 1, 4.3876876669078916e-7],
    [1e-3, 1e-5, 0.010876955304217331],
    [0.3, 1.2, 0.063394719569259105],
    [0.5, 0.25, 0.47950012218695346],
  ] as const;
  for (const [a, x, wanted] of values) {
    const double = (value: number) => tensor(value, { dtype: "float64" });
    const found = Number(dyn.special.gammaincc(double(a), double(x)).item());
    assert(Math.abs(found / wanted - 1) < 1e-14, `${a}, ${x}: ${found}`);
  }
});

Deno.test("numbers that are read from tensors of floats make floats, as PyTorch's do", () => {
  const two = tensor(2, { dtype: "float64" }), whole = tensor(2);
  const makers: Readonly<Record<string, (n: Tensor) => Tensor>> = {
    arange: (n) => Reflect.apply(dyn.arange, null, [n]),
    full: (n) => Reflect.apply(dyn.full, null, [[2], n]),
    "full by name": (n) => Reflect.apply(dyn.full, null, [[2], { fillValue: n }]),
  };
  for (const [name, make] of Object.entries(makers)) {
    for (const run of [make, compile(make)]) {
      assertEquals([run(two).dtype, run(whole).dtype], ["float32", "int64"], name);
    }
  }
  assertEquals(Reflect.apply(dyn.full, null, [[2], two, { dtype: "int32" }]).dtype, "int32");
  assertEquals(Reflect.apply(dyn.fullLike, null, [whole, two]).dtype, "int64");
});

Deno.test("points of a grid that are infinite or no numbers leave gradients of images alone", () => {
  for (const mode of ["nearest", "bilinear"] as const) {
    const sampled = (image: Tensor, grid: Tensor) => F.gridSample(image, grid, { mode, alignCorners: false });
    for (const run of [sampled, compile(sampled)]) {
      const image = dyn.arange(9, { dtype: "float64" }).reshape([1, 1, 3, 3]).requiresGrad_();
      const grid = tensor([[[[NaN, 0], [Infinity, -Infinity], [0, 0]]]], { dtype: "float64" });
      const result = run(image, grid);
      near(result, [0, 0, 4], mode);
      result.sum().backward();
      near(image.grad, [0, 0, 0, 0, 1, 0, 0, 0, 0], mode);
    }
  }
  const border = F.gridSample(
    dyn.arange(9, { dtype: "float64" }).reshape([1, 1, 3, 3]),
    tensor([[[[NaN, 0]]]], { dtype: "float64" }),
    { mode: "nearest", paddingMode: "border", alignCorners: false },
  );
  near(border, [3], "NaN is the first element along its dimension");
});
