/** Sets of values: of transforms, of transformed distributions and of parameters, with PyTorch's numbers. */
import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import {
  compile,
  compiler,
  distributions,
  eye,
  full,
  manualSeed,
  poisson,
  stack,
  type Tensor,
  tensor,
  type TensorData,
} from "../mod.ts";
import { DynError } from "../lib/base/errors.ts";
import { sampleBySeed } from "./support/sampling.ts";

const FLOAT64 = { dtype: "float64" } as const;

Deno.test("transforms name the sets between which they map, and so do images of distributions", () => {
  const { constraints: sets, transforms: maps } = distributions;
  const values = tensor([-1.5, -0.5, 0.5, 1.5, NaN], FLOAT64);
  const exp = new maps.ExpTransform(), tanh = new maps.TanhTransform(), power = new maps.PowerTransform(2);
  const in01 = [false, false, true, false, false], above0 = [false, false, true, true, false];
  const known:
    readonly (readonly [set: distributions.constraints.Constraint, contains: readonly boolean[]])[] = [
      [exp.domain, [true, true, true, true, false]],
      [exp.codomain, above0],
      [new maps.SigmoidTransform().codomain, in01],
      [tanh.codomain, [false, true, true, false, false]],
      [power.domain, above0],
      [new maps.CumulativeDistributionTransform(new distributions.Exponential(1)).domain, above0],
      [new maps.ComposeTransform([power, tanh]).domain, above0],
      [new maps.ComposeTransform([tanh, exp]).codomain, above0],
      [new distributions.TransformedDistribution(new distributions.Normal(0, 1), exp).support, above0],
      [new distributions.TransformedDistribution(new distributions.Exponential(1), []).support, above0],
      [new distributions.GeneralizedPareto(-1, 1, -1).support, [false, true, false, false, false]],
    ];
  known.forEach(([set, contains], k) =>
    assertEquals(set.check(values).tolist(), [...contains], `${k}: ${set}`)
  );
  const pair = tensor([[0.25, 0.75], [0.5, 0.75]], FLOAT64);
  const logistic = new distributions.LogisticNormal(0, 1).support;
  assertEquals([logistic.eventDim, logistic.check(pair).tolist()], [1, [true, false]]);
  const each = new maps.IndependentTransform(exp, 1).codomain;
  assertEquals([each.eventDim, each.check(tensor([[1, 2], [1, -1]])).tolist()], [1, [true, false]]);
  const parts = new maps.CatTransform([exp, tanh], -1, { lengths: [1, 1] }).codomain;
  assertEquals(parts.check(pair.sub(0.5)).tolist(), [[false, true], [false, true]]);
  // The halves of matrices that they ignore have no image
  assertThrows(() => distributions.bijectTo(sets.lowerCholesky), DynError, "that a transform is known for");
  assert(!distributions.transformTo(sets.positiveDefinite).bijective);
  const rows = distributions.bijectTo(sets.realVector);
  assertEquals(rows.logAbsDetJacobian(pair, rows.call(pair)).shape, [2]);
});

Deno.test("probabilities that round to 0 and 1 have finite inverses, as PyTorch's", () => {
  const { SigmoidTransform, StickBreakingTransform } = distributions.transforms,
    far = tensor([-800, 800], FLOAT64);
  for (const map of [new SigmoidTransform(), new StickBreakingTransform()]) {
    const y = map.call(far);
    assert(map.inv(y).isfinite().all().item(), `${map}`);
    assert(map.logAbsDetJacobian(far, y).isfinite().all().item(), `${map}`);
  }
  const ends = new SigmoidTransform().inv(tensor([0, 1], FLOAT64)).tolist();
  assertEquals(ends, [-708.3964185322641, 36.04365338911715]);
});

Deno.test("parameters that PyTorch refuses are refused, those of batches of vectors and matrices too", () => {
  const D = distributions, floats = (of: TensorData) => tensor(of, { dtype: "float32" });
  const wrong: readonly (readonly [make: () => unknown, message: string])[] = [
    [
      () => new D.MultivariateNormal(floats([NaN, 0]), eye(2)),
      "loc of MultivariateNormal to be a number other than NaN",
    ],
    [() => new D.MultivariateNormal(floats([[1, 1, 1], [1, NaN, 1]]), eye(3)), "loc of MultivariateNormal"],
    [() => {
      const covarianceMatrix = stack([eye(2), eye(2), floats([[1, 2], [2, 1]])]);
      return new D.MultivariateNormal(floats([0, 0]), { covarianceMatrix });
    }, "covarianceMatrix of MultivariateNormal to be a positive definite matrix but found 1"],
    [
      () => new D.LowRankMultivariateNormal(floats([0, 0]), floats([[NaN], [1]]), floats([1, 1])),
      "covFactor of LowRankMultivariateNormal to be a number other than NaN",
    ],
    [() => new D.NegativeBinomial(3, { probs: 1 }), "probs of NegativeBinomial to be in [0, 1) but found 1"],
    [() => new D.Binomial(2.5, { probs: 0.5 }), "totalCount of Binomial"],
    [() => new D.RelaxedBernoulli(1, { probs: 0.5 }).mean, "whose mean is known but found RelaxedBernoulli"],
  ];
  for (const [make, message] of wrong) assertThrows(make, DynError, message);
  const { mean } = new D.NegativeBinomial(2.5, { probs: 0.5 });
  assertEquals(mean.item(), 2.5);
  const outside = new D.Kumaraswamy(3, 2).cdf(floats([-2, 0.5, 3]));
  assertEquals(outside.mul(2 ** 12).round().tolist(), [0, 960, 2 ** 12]);
  // An undefined value is not outside
  const unchecked = { validateArgs: false }, undefinedValue = floats([NaN]);
  const each = [
    new D.Exponential(1, unchecked),
    new D.Pareto(1, 2, unchecked),
    new D.Weibull(1, 2, unchecked),
    new D.Kumaraswamy(3, 2, unchecked),
    new D.GeneralizedPareto(0, 1, -0.5, unchecked),
  ];
  for (const made of each) {
    const found = [made.logProb(undefinedValue).item(), made.cdf(undefinedValue).item()];
    assertEquals(found, [NaN, NaN], `${made}`);
  }
});

Deno.test("values outside the support have no density, compiled either, and probabilities of 0 or 1 up to them", () => {
  const D = distributions, floats = (of: TensorData) => tensor(of, { dtype: "float64" });
  const row = floats([0.2, 0.3, 0.5]), third = floats([1, 1, 1]).div(3);
  const wrong: readonly (readonly [make: (x: Tensor) => Tensor, value: Tensor, message: string])[] = [
    [(x) => new D.Bernoulli(0.3).logProb(x), floats(0.5), "a value of Bernoulli to be 0 or 1 but found 0.5"],
    [(x) => new D.Binomial(5, { probs: 0.3 }).logProb(x), floats(6), "a whole number in [0, 5] but found 6"],
    [(x) => new D.Exponential(2).logProb(x), floats([1, -1]), "Exponential to be non-negative but found -1"],
    [(x) => new D.Beta(2, 3).logProb(x), floats(1.5), "a value of Beta to be in [0, 1] but found 1.5"],
    [
      (x) => new D.Uniform(floats([0, 1]), 2).logProb(x),
      floats(0.5),
      "a value of Uniform to be in [tensor([",
    ],
    [(x) => new D.Categorical(row).logProb(x), floats(3), "a whole number in [0, 2] but found 3"],
    [
      (x) => new D.Dirichlet(row).logProb(x),
      floats([1, 1, 1]),
      "Dirichlet to be probabilities that sum to 1",
    ],
    [
      (x) => new D.OneHotCategorical(row).logProb(x),
      row,
      "a value of OneHotCategorical to be a one-hot vector",
    ],
    [(x) => new D.Normal(0, 1).logProb(x), floats(NaN), "a value of Normal to be a number other than NaN"],
    [(x) => new D.LogNormal(0, 1).logProb(x), floats(0), "a value of LogNormal to be positive but found 0"],
    [
      (x) => new D.TransformedDistribution(new D.Normal(0, 1), new D.SigmoidTransform()).logProb(x),
      floats(2),
      "a value of TransformedDistribution to be in [0, 1] but found 2",
    ],
    [
      (x) => new D.Independent(new D.Poisson(row), 1).logProb(x),
      floats([1, 2, 0.5]),
      "a value of Poisson to be a non-negative integer but found 0.5",
    ],
    [
      (x) => new D.MixtureSameFamily(new D.Categorical(row), new D.Gamma(row, row)).logProb(x),
      floats(-1),
      "a value of Gamma to be non-negative but found -1",
    ],
    [
      (x) => new D.MultivariateNormal(row, eye(3, null, { dtype: "float64" })).logProb(x),
      floats([1]),
      "values of MultivariateNormal whose last dimensions are [3] but found shape [1]",
    ],
    [(x) => new D.Multinomial(3, third).logProb(x), floats([[2, 1]]), "are [3] but found shape [1,2]"],
  ];
  for (const [make, value, message] of wrong) assertThrows(() => make(value), DynError, message);
  // A compiled function throws the same, and has no check if none is wanted
  for (const [make, value, message] of sampleBySeed(wrong, 3)) {
    assertThrows(() => compile(make, { backend: "aot_eager" })(value), DynError, message);
  }
  assertEquals(new D.Exponential(2, { validateArgs: false }).logProb(floats(-1)).item(), -Infinity);
  const up: readonly (readonly [of: distributions.Distribution, value: readonly number[]])[] = [
    [new D.Exponential(2), [-1, 0]],
    [new D.HalfNormal(1), [-1, 0]],
    [new D.HalfCauchy(1), [-1, 0]],
    [new D.Gamma(2, 3), [-1, 0]],
    [new D.Weibull(2, 3), [-1, 0]],
    [new D.LogNormal(0, 1), [-1, 0]],
    [new D.InverseGamma(2, 3), [-1, 0]],
    [new D.Pareto(2, 3), [-1, 0]],
    [new D.Uniform(1, 3), [0, 0, 4, 1]],
    [new D.Kumaraswamy(2, 3), [-1, 0, 4, 1]],
    [new D.ContinuousBernoulli(0.7), [-1, 0, 2, 1]],
    [new D.GeneralizedPareto(0, 1, -0.5), [-1, 0, 3, 1]],
  ];
  for (const [of, [at = NaN, want = NaN, above = Infinity, one = 1]] of up) {
    assertEquals(of.cdf(floats([at, above])).tolist(), [want, one], `${of}`);
  }
});

Deno.test("masked outcomes have an entropy with a gradient, and relaxed bits of large logits a finite density", () => {
  const D = distributions;
  const logits = tensor([2, -Infinity, -5], { dtype: "float64", requiresGrad: true });
  new D.Categorical({ logits }).entropy().backward();
  const [first = NaN, none, last = NaN] = logits.grad?.tolist() as number[];
  assertEquals(none, 0);
  assert(Math.abs(first + 0.006371548260852844) < 1e-12 && Math.abs(last - 0.006371548260852787) < 1e-12);
  // The probability rounds to 1, its logit does not: mean 1 − 1/40, and density 40·e^(40·(x − 1)) but for e^−40
  const far = new D.ContinuousBernoulli({ logits: tensor([40, -40], { dtype: "float64" }) });
  const close = (found: Tensor, want: number[]): void =>
    assert(found.allclose(tensor(want, { dtype: "float64" }), { rtol: 1e-9 }), `${found} ${want}`);
  close(far.mean, [0.975, 0.025]);
  close(far.variance, [1 / 1600, 1 / 1600]);
  close(far.logProb(tensor(0.25, { dtype: "float64" })), [Math.log(40) - 30, Math.log(40) - 10]);
  close(far.cdf(tensor(0.5, { dtype: "float64" })), [2.0611536181902037e-9, 1 - 2.0611536181902037e-9]);
  close(far.icdf(tensor(0.5, { dtype: "float64" })), [1 - Math.LN2 / 40, Math.LN2 / 40]);
  close(far.entropy(), [1 - Math.log(40), 1 - Math.log(40)]);
});

Deno.test("Poisson samples of any rate take few rounds, in both types", () => {
  manualSeed(5);
  for (const dtype of ["float32", "float64"] as const) {
    // Arrivals counted one by one in float32 no longer advance the time above 2^24
    for (const rate of [10, 1e4, 3e7]) {
      const count = 4000,
        x = poisson(full([count], rate, { dtype })).to("float64"),
        deviation = Math.sqrt(rate);
      assert(
        Math.abs(x.mean().item() - rate) < 5 * deviation / Math.sqrt(count),
        `mean of ${rate} in ${dtype}`,
      );
      assert(Math.abs(x.std().item() / deviation - 1) < 0.06, `deviation of ${rate} in ${dtype}`);
    }
  }
});

Deno.test("compiled functions refuse parameters in the words of uncompiled ones, by whole graphs", () => {
  const D = distributions, matrix = (...rows: number[][]) => tensor(rows, FLOAT64), one = tensor(1);
  const programs: Readonly<
    Record<string, readonly [program: (x: Tensor) => Tensor, good: Tensor, ...bad: Tensor[]]>
  > = {
    Normal: [(x) => new D.Normal(x, x).logProb(one), one, tensor(-1), tensor(NaN), tensor([1, 0])],
    Bernoulli: [(x) => new D.Bernoulli(x).logProb(one), tensor(0.5), tensor(1.25), tensor(-0.5)],
    Categorical: [(x) => new D.Categorical(x).logProb(one), tensor([1, 0]), tensor([-1, 2])],
    Uniform: [(x) => new D.Uniform(x, 2).logProb(one), tensor(0.5), tensor(3)],
    covariances: [
      (x) => new D.MultivariateNormal(x.at(0), x).logProb(x.at(0)),
      matrix([2, 1], [1, 2]),
      matrix([1, 2], [0, 1]),
      matrix([1, 2], [2, 1]),
    ],
    unchecked: [
      (x) => new D.Normal(x, x, { validateArgs: false }).logProb(one),
      one,
      tensor(-1),
      tensor([1, 0]),
    ],
  };
  for (const [name, [program, ...given]] of Object.entries(programs)) {
    const f = compile(program, { fullgraph: true, backend: "aot_eager" });
    for (const x of [...given, ...given.slice(0, 1)]) {
      const outcome = (run: typeof program): string => {
        try {
          return `${run(x)}`;
        } catch (thrown) {
          return `${thrown}`;
        }
      };
      assertEquals(outcome(f), outcome(program), `${name} of ${x}`);
    }
    assertEquals(compiler.status(f).graphBreaks, 0, name);
  }
});

Deno.test("moments have no gradient where they are infinite or undefined, also at the bound of that", () => {
  const { FisherSnedecor, GeneralizedPareto, InverseGamma, Kumaraswamy, Pareto, StudentT } = distributions;
  const at = (values: number[]): Tensor => tensor(values, { dtype: "float64", requiresGrad: true });
  // Below the bound, at it, and above it, where the gradient is the one of the last column
  const cases: readonly [string, (p: Tensor) => Tensor, number[], number][] = [
    ["variance of StudentT", (p) => new StudentT(p).variance, [1.5, 2, 4], -0.5],
    ["mean of Pareto", (p) => new Pareto(1, p).mean, [0.5, 1, 3], -0.25],
    ["variance of Pareto", (p) => new Pareto(1, p).variance, [1.5, 2, 3], -1.25],
    ["deviation of Pareto", (p) => new Pareto(1, p).stddev, [1.5, 2, 3], -0.625 / Math.sqrt(0.75)],
    ["mean of InverseGamma", (p) => new InverseGamma(p, 2).mean, [0.5, 1, 3], -0.5],
    ["variance of InverseGamma", (p) => new InverseGamma(p, 2).variance, [1, 2, 3], -2],
    ["mean of FisherSnedecor", (p) => new FisherSnedecor(3, p).mean, [1, 2, 4], -0.5],
    ["variance of FisherSnedecor", (p) => new FisherSnedecor(2, p).variance, [2, 4, 6], -3.375],
    ["mean of GeneralizedPareto", (p) => new GeneralizedPareto(0, 1, p).mean, [2, 1, 0.5], 4],
    ["variance of GeneralizedPareto", (p) => new GeneralizedPareto(0, 1, p).variance, [1, 0.5, 0], 4],
    ["mode of Kumaraswamy", (p) => new Kumaraswamy(p, 1).mode, [0.5, 1, 2], 0],
  ];
  for (const [name, moment, values, slope] of cases) {
    for (const run of [moment, compile(moment, { backend: "aot_eager" })]) {
      const p = at(values);
      run(p).sum().backward();
      const [below = NaN, bound = NaN, above] = p.grad?.tolist<number[]>() ?? [];
      assertEquals([Math.abs(below), Math.abs(bound)], [0, 0], name);
      assertAlmostEquals(above ?? NaN, slope, 1e-9, name);
    }
  }
  const sure = at([1, 0.5]), value = at([0, 0]);
  new distributions.Geometric(sure).logProb(value).sum().backward();
  assertEquals([sure.grad?.tolist(), value.grad?.at(1).item()], [[1, 2], -Math.LN2]);
});

Deno.test("divergences of narrow and far distributions, and of scatter matrices, are PyTorch's", () => {
  const { Gumbel, klDivergence, Uniform, Wishart } = distributions;
  const at = (value: number | readonly number[] | readonly (readonly number[])[]): Tensor =>
    tensor(value, { dtype: "float64" });
  // Factors of 0 and infinity whose product is none of both
  assertAlmostEquals(
    Number(klDivergence(new Uniform(at(-1), at(0)), new Gumbel(at(-2.5), at(0.001))).item()),
    1993.0922447210178,
    1e-9,
  );
  const [p, q] = [
    new Wishart(at(3.5), at([[2, 0.3], [0.3, 1]])),
    new Wishart(at(4), at([[1, 0.2], [0.2, 3]])),
  ];
  assertAlmostEquals(Number(klDivergence(p, q).item()), 1.5006256098868336, 1e-9);
});

Deno.test("transforms of parts and events take their settings by name and check counts: wrong ones summed all", () => {
  const { AffineTransform, CatTransform, ExpTransform, IndependentTransform, StackTransform } = distributions;
  const exp = new ExpTransform(), x = tensor([[0.5, 1], [2, 3]]), y = x.exp();
  const named = new IndependentTransform(exp, { reinterpretedBatchNdims: 1 });
  assertEquals(named.logAbsDetJacobian(x, y).tolist(), [1.5, 5]);
  for (const count of ["1", -1, 0.5, undefined]) {
    assertThrows(() => Reflect.construct(IndependentTransform, [exp, count]).domain, DynError, "Independent");
  }
  assertThrows(() => new AffineTransform(0, 1, "1" as never), DynError, "eventDim of AffineTransform");
  const affine = new AffineTransform(1, 2),
    columns = [[Math.fround(Math.exp(0.5)), 3], [y.at(1, 0).item(), 7]];
  assertEquals(new StackTransform([exp, affine], { dim: -1 }).call(x).tolist(), columns);
  assertEquals(new CatTransform([exp, affine], { dim: -1, lengths: [1, 1] }).call(x).tolist(), columns);
  assertEquals(new CatTransform([exp, affine], -1, [1, 1]).call(x).tolist(), columns);
  assertThrows(
    () => new CatTransform([exp, affine], { dims: -1 } as never),
    DynError,
    "an option of CatTransform to be one of dim, lengths, cacheSize",
  );
});
