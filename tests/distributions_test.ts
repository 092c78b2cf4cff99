/** Distributions: PyTorch's numbers, moments of samples, gradients of samples, transforms; limits of types. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  canCast,
  compile,
  distributions,
  DTYPES,
  eye,
  finfo,
  iinfo,
  isTensor,
  manualSeed,
  maxMemoryAllocated,
  resetPeakMemoryStats,
  type Tensor,
  tensor,
} from "../mod.ts";
import { DynError } from "../lib/base/errors.ts";
import { slopeAt } from "../lib/distributions/standard_gamma.ts";
import "./support/turns/gradients.ts";
import data from "./data/distributions.json" with { type: "json" };

const {
  AffineTransform,
  ExpTransform,
  Independent,
  klDivergence,
  MultivariateNormal,
  Normal,
  PowerTransform,
  SigmoidTransform,
  TanhTransform,
  TransformedDistribution,
} = distributions;

type Nested = number | readonly Nested[];

const double = (value: Nested): Tensor => tensor(value, { dtype: "float64" });

function near(found: Tensor, expected: readonly number[], where: string): void {
  const values = Array.from<number | bigint, number>(found.detach().reshape([-1]).toTypedArray(), Number);
  assertEquals(values.length, expected.length, where);
  values.forEach((value, k) => {
    const want = expected[k] ?? NaN;
    assert(
      value === want || Math.abs(value - want) <= 1e-9 * (1 + Math.abs(want)),
      `${where}: [${k}] is ${value}, PyTorch says ${want}`,
    );
  });
}

/** The distribution of a name, made of numbers as PyTorch's was. */
function made(name: string, params: readonly Nested[]): distributions.Distribution {
  const given = params.map((each) => Array.isArray(each) ? double(each) : each);
  if (name === "MultivariateNormal") {
    const [loc, scaleTril] = given;
    assert(isTensor(loc) && isTensor(scaleTril));
    return new MultivariateNormal(loc, { scaleTril });
  }
  const found: unknown = Reflect.get(distributions, name);
  assert(typeof found === "function", name);
  const distribution: unknown = Reflect.construct(found, given);
  assert(distribution instanceof distributions.Distribution, name);
  return distribution;
}

Deno.test("densities, entropies, moments and cdfs are PyTorch's", () => {
  for (const { name, params, value, logProb, ...others } of data.cases) {
    const distribution = made(name, params), at = double(value);
    near(distribution.logProb(at), logProb, `${name}, logProb`);
    const { entropy, mean, variance, cdf }: { [name: string]: readonly number[] | undefined } = others;
    if (entropy) near(distribution.entropy(), entropy, `${name}, entropy`);
    if (mean) near(distribution.mean, mean, `${name}, mean`);
    if (variance) near(distribution.variance, variance, `${name}, variance`);
    if (!cdf || name === "RelaxedBernoulli") continue;
    near(distribution.cdf(at), cdf, `${name}, cdf`);
    if (!["Uniform", "Gamma", "Chi2", "InverseGamma"].includes(name)) {
      near(distribution.icdf(distribution.cdf(at)), value.flat(2), `${name}, icdf`);
    }
  }
});

Deno.test("mixtures, and normal vectors by their covariance or its inverse, are PyTorch's", () => {
  const { mixture, normal } = data, { Categorical, MixtureSameFamily } = distributions;
  const parts = made("Normal", [[0.4, -1, 0.7], [0.7, 1.5, 2.2]]);
  const both = new MixtureSameFamily(new Categorical(double([0.2, 0.5, 0.3])), parts);
  near(both.logProb(double(mixture.value)), mixture.logProb, "density");
  near(both.cdf(double(mixture.value)), mixture.cdf, "cdf");
  near(both.mean, mixture.mean, "mean");
  near(both.variance, mixture.variance, "variance");
  const [loc, matrix, value] = [double([0.5, -1]), double(normal.matrix), double(normal.value)];
  near(new MultivariateNormal(loc, matrix).logProb(value), normal.covariance, "covariance");
  const precise = new MultivariateNormal(loc, { precisionMatrix: matrix });
  near(precise.logProb(value), normal.precision, "precision");
  assertThrows(
    () => new MixtureSameFamily(new Categorical(double([1, 1])), parts),
    DynError,
    "a batch of [3]",
  );
});

Deno.test("parameters may be integers, are validated, and expand with a batch", () => {
  const { Bernoulli, Categorical, Gamma } = distributions;
  const standard = new Normal(tensor([0]), tensor([1]));
  assertEquals([standard.loc.dtype, standard.sample([2]).shape, `${standard}`], [
    "float32",
    [2, 1],
    "Normal(loc: 0, scale: 1)",
  ]);
  assertThrows(() => new Normal(0, tensor([1, -2])), DynError, "scale of Normal to be positive but found -2");
  assertThrows(
    () => new Normal(NaN, 1),
    DynError,
    "loc of Normal to be a number other than NaN but found NaN",
  );
  assertThrows(() => new Bernoulli(1.5), DynError, "probs of Bernoulli to be in [0, 1] but found 1.5");
  const both = { probs: tensor([0.5]), logits: tensor([0.5]) };
  assertThrows(
    () => new Bernoulli(both),
    DynError,
    "probs or logits of Bernoulli but found probs and logits",
  );
  assertThrows(() => new Categorical(both), DynError, "found probs and logits");
  assertThrows(() => new Categorical(tensor(0.5)), DynError, "probs of at least 1 dimension");
  assertThrows(() => new distributions.Dirichlet(tensor(1.5)), DynError, "at least 1 dimension");
  assertThrows(
    () => new distributions.Geometric(0),
    DynError,
    "probs of Geometric to be in (0, 1] but found 0",
  );
  assertThrows(() => new distributions.Uniform(2, tensor([3, 2])), DynError, "above low but found 2");
  assertEquals(new Bernoulli(tensor([0.2, 0.5])).enumerateSupport({ expand: false }).shape, [2, 1]);
  const step = compile((scale: Tensor) => new Normal(0, scale).logProb(tensor([1.5])), {
    fullgraph: true,
    backend: "eager",
  });
  near(step(double([2])), new Normal(0, double([2])).logProb(tensor([1.5])).tolist() as number[], "compiled");
  const wide = new Gamma(tensor([1, 2]), 3).expand([4, 2]);
  assertEquals([wide.sample([5]).shape, wide.mean.shape, wide instanceof Gamma], [[5, 4, 2], [4, 2], true]);
  const one = new Independent(new Bernoulli(tensor([0.2, 0.5])), 1).expand([3]);
  assertEquals([one.batchShape, one.eventShape, one.sample().shape], [[3], [2], [3, 2]]);
  const normal = new Normal(0, double([2])), exp = new ExpTransform();
  const moved = new TransformedDistribution(normal, [exp, new AffineTransform(1, 2)]);
  assert(moved.baseDist === normal && moved.transforms[0] === exp && moved.transforms.length === 2);
  assertEquals([one.baseDist.batchShape, moved.expand([3, 1]).baseDist.batchShape], [[3, 2], [3, 1]]);
  assert(new distributions.transforms.IndependentTransform(exp, 1).baseTransform === exp);
  assertEquals(new Categorical(tensor([1, 1, 2])).expand([2]).logProb(tensor([0, 2])).shape, [2]);
  assertThrows(() => wide.expand([2]), DynError, "a shape that [4,2] expands to");
});

Deno.test("parameters are accepted by name, all of them or the last ones, and misspelt ones are rejected", () => {
  const D = distributions;
  const named: Readonly<Record<string, readonly string[]>> = {
    Beta: ["concentration1", "concentration0"],
    Cauchy: ["loc", "scale"],
    Chi2: ["df"],
    Exponential: ["rate"],
    FisherSnedecor: ["df1", "df2"],
    Gamma: ["concentration", "rate"],
    GeneralizedPareto: ["loc", "scale", "concentration"],
    Gumbel: ["loc", "scale"],
    HalfCauchy: ["scale"],
    HalfNormal: ["scale"],
    InverseGamma: ["concentration", "rate"],
    Kumaraswamy: ["concentration1", "concentration0"],
    Laplace: ["loc", "scale"],
    LogisticNormal: ["loc", "scale"],
    LogNormal: ["loc", "scale"],
    Normal: ["loc", "scale"],
    Pareto: ["scale", "alpha"],
    Poisson: ["rate"],
    StudentT: ["df", "loc", "scale"],
    Uniform: ["low", "high"],
    VonMises: ["loc", "concentration"],
    Weibull: ["scale", "concentration"],
  };
  for (const [key, names] of Object.entries(named)) {
    const Class = Object.entries(D).find(([name]) => name === key)?.[1];
    assert(typeof Class === "function");
    const make = (...given: readonly unknown[]) => `${Reflect.construct(Class, given)}`;
    const values = names.map((_, k) => k + 1), first = values.slice(0, -1);
    const [last = ""] = names.slice(-1), byName = Object.fromEntries(names.map((name, k) => [name, k + 1]));
    assertEquals(make(...first, { [last]: values.length }), make(...values), key);
    assertEquals(make({ ...byName, validateArgs: true }), make(...values), key);
    assertThrows(() => make(), DynError, `Expected ${key === "StudentT" ? "df" : names.join(" and ")} of`);
    assertThrows(() => make(...values, { zzz: 1 }), DynError, "found zzz");
  }
  const half = tensor([0.25, 0.75]), square = eye(2), normals = new D.Normal(tensor([0, 1]), 1);
  const lower = tensor([[1, 0], [0.5, 2]]), matrix = lower.matmul(lower.mT), choice = new D.Categorical(half);
  const forms: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    Bernoulli: { probs: half },
    Binomial: { totalCount: 3, probs: half },
    Categorical: { probs: half },
    ContinuousBernoulli: { probs: half },
    Geometric: { probs: half },
    Independent: { baseDistribution: normals, reinterpretedBatchNdims: 1 },
    LKJCholesky: { dim: 3, concentration: 2 },
    LogitRelaxedBernoulli: { temperature: 2, probs: half },
    LowRankMultivariateNormal: { loc: half, covFactor: square, covDiag: half },
    MixtureSameFamily: { mixtureDistribution: choice, componentDistribution: normals },
    Multinomial: { totalCount: 3, probs: half },
    MultivariateNormal: { loc: half, covarianceMatrix: matrix },
    NegativeBinomial: { totalCount: 3, probs: half },
    OneHotCategorical: { probs: half },
    OneHotCategoricalStraightThrough: { probs: half },
    RelaxedBernoulli: { temperature: 2, probs: half },
    RelaxedOneHotCategorical: { temperature: 2, probs: half },
    TransformedDistribution: { baseDistribution: normals, transforms: [new D.ExpTransform()] },
    Wishart: { df: 3, covarianceMatrix: matrix },
  };
  for (const [key, values] of Object.entries(forms)) {
    const Class = Object.entries(D).find(([name]) => name === key)?.[1];
    assert(typeof Class === "function");
    const make = (...given: readonly unknown[]): distributions.Distribution =>
      Reflect.construct(Class, given);
    const args = Object.values(values), wanted = `${make(...args)}`, last = Object.keys(values).slice(-1);
    for (const validateArgs of [undefined, true]) {
      assertEquals(`${make({ ...values, validateArgs })}`, wanted, key);
      const named = Object.fromEntries(last.map((name) => [name, values[name]]));
      assertEquals(`${make(...args.slice(0, -1), { ...named, validateArgs })}`, wanted, key);
    }
    assertThrows(() => make(...args, { zzz: 1 }), DynError, "found zzz");
    assertThrows(() => make({ ...values, zzz: 1 }), DynError, "found zzz");
    assertThrows(() => make(...args, null, null, null, 1), DynError, `optional arguments of ${key}`);
    // The other forms, with null and undefined for those that are absent, by position and by name
    const others = "probs" in values
      ? { probs: half, logits: half.log().sub(half.neg().log1p()) }
      : "covarianceMatrix" in values
      ? { covarianceMatrix: matrix, precisionMatrix: matrix.inverse(), scaleTril: lower }
      : {};
    const names = Object.keys(others), first = args.slice(0, -1);
    for (const [k, [name, value]] of Object.entries(others).entries()) {
      const each = make(...first, ...names.slice(0, k).map(() => null), value);
      assertEquals(`${make(...first, { [name]: value })}`, `${each}`);
      // What is printed are the parameters, in the form that was given
      const printed = [...`${each}`.matchAll(/(\w+): /g)].map(([, word]) => word).sort();
      assertEquals(printed, [...Object.keys(values).slice(0, -1), name].sort(), `${each}`);
      for (const absent of [null, undefined]) {
        const rest = Object.fromEntries(
          names.filter((other) => other !== name).map((other) => [other, absent]),
        );
        assertEquals(`${make(...first, { ...rest, [name]: value })}`, `${each}`, key);
      }
      const noMean = /Categorical|Multinomial|Relaxed/.test(key);
      if (!noMean && !each.mean.isnan().any().item()) {
        assert(each.mean.allclose(make(...args).mean, { rtol: 1e-4, atol: 1e-5 }), `${key} by ${name}`);
      }
    }
    if (names.length > 0) {
      assertThrows(() => make(...first, others), DynError, `of ${key} but found ${names.join(" and ")}`);
      assertThrows(() => make(...first, { [names[0] ?? ""]: null }), DynError, `of ${key} but found nothing`);
    }
  }
  assertEquals(
    [new D.Chi2(3), new D.LKJCholesky(3, 2), new D.LowRankMultivariateNormal(half, square, half)].map(String),
    [
      "Chi2(df: 3)",
      "LKJCholesky(dim: 3, concentration: 2)",
      "LowRankMultivariateNormal(loc: [2], covFactor: [2, 2], covDiag: [2])",
    ],
  );
  const skewed = tensor([[2, 1], [0, 2]]);
  for (const name of ["covarianceMatrix", "precisionMatrix", "scaleTril"]) {
    const wrong = { [name]: name === "scaleTril" ? skewed.mT.neg() : skewed };
    assertThrows(
      () => new D.MultivariateNormal(half, wrong),
      DynError,
      `${name} of MultivariateNormal to be`,
    );
    assertThrows(() => new D.Wishart(3, wrong), DynError, `${name} of Wishart to be`);
  }
  assertEquals(new D.MultivariateNormal(half, { scaleTril: skewed, validateArgs: false }).mean.shape, [2]);
  assertEquals(new D.Bernoulli({ probs: 1.5, validateArgs: false }).probs.item(), 1.5);
  assertThrows(() => new D.Multinomial(1.5, half), DynError, "totalCount of Multinomial");
  assertEquals(`${new D.LKJCholesky(3, { concentration: 2 })}`, `${new D.LKJCholesky(3, 2)}`);
  const counts = tensor([1, 2]);
  assertEquals(`${new D.Dirichlet({ concentration: counts })}`, `${new D.Dirichlet(counts)}`);
  assertEquals(`${new D.StudentT(3, { scale: 2 })}`, `${new D.StudentT(3, 0, 2)}`);
  assertThrows(() => new Normal(0, { scale: -1 }), DynError, "scale of Normal to be positive but found -1");
  assertEquals(new Normal(0, { scale: -1, validateArgs: false }).scale.item(), -1);
  const step = compile((x: Tensor) => new Normal(x, { scale: 2 }).logProb(x), {
    fullgraph: true,
    backend: "eager",
  });
  near(step(double([2])), new Normal(2, double([2])).logProb(double([2])).tolist() as number[], "compiled");
});

Deno.test("further matrices: rows of correlations, whole covariances, ends of tails", () => {
  manualSeed(4);
  const { GeneralizedPareto, LKJCholesky, LowRankMultivariateNormal, Wishart } = distributions;
  const factors = new LKJCholesky(4, double([1.5, 3])).sample([3000]), both = factors.matmul(factors.mT);
  near(both.diagonal(0, -2, -1), new Array(3000 * 8).fill(1), "correlations of themselves");
  // Each correlation is 2 · Beta(a, a) − 1 with a = concentration + dim / 2 − 1, whose variance is 1 / (2a + 1)
  for (const [k, concentration] of [1.5, 3].entries()) {
    const spread = both.select(1, k).square().mean(0), expected = 1 / (2 * concentration + 3);
    for (const [i, j] of [[1, 0], [3, 0], [3, 2]] as const) {
      assert(Math.abs(Number(spread.at(i, j)) - expected) < 0.15 * expected, `${spread}, not ${expected}`);
    }
  }
  const [loc, W, D] = [double([0.4, -1]), double([[0.5], [-0.3]]), double([0.6, 1.3])];
  const low = new LowRankMultivariateNormal(loc, W, D),
    dense = new MultivariateNormal(loc, low.covarianceMatrix);
  const unit = low.covarianceMatrix.matmul(low.precisionMatrix);
  near(unit, [1, 0, 0, 1], "the inverse");
  near(klDivergence(low, dense).add(klDivergence(dense, low)), [0], "from itself");
  assertEquals(low.expand([3]).sample([2]).shape, [2, 3, 2]);
  W.requiresGrad_();
  new LowRankMultivariateNormal(loc, W, D).rsample([5]).sum().backward();
  assert(W.grad?.abs().gt(0).all().item<boolean>());
  const matrix = double([[1.2, 0.3], [0.3, 0.8]]), wide = new Wishart(double([2, 4.5]), matrix);
  assertEquals([wide.sample([5]).shape, wide.logProb(wide.sample()).shape], [[5, 2, 2, 2], [2]]);
  near(wide.mode.at(1), matrix.mul(1.5).reshape([-1]).tolist() as number[], "mode");
  assertThrows(
    () => new Wishart(0.5, matrix),
    DynError,
    "df − (n − 1) of Wishart to be positive but found -0.5",
  );
  assertThrows(
    () => new LKJCholesky(1),
    DynError,
    "dim of LKJCholesky to be an integer of at least 2 but found 1",
  );
  // A tail that ends at loc − scale / concentration
  const ends = new GeneralizedPareto(1, 2, double([-0.5]), { validateArgs: false });
  near(ends.logProb(double([0.5, 5.5])), [-Infinity, -Infinity], "outside");
  near(ends.cdf(double([0.5, 5.5])), [0, 1], "cdf outside");
});

Deno.test("samples of gamma distributions are differentiated as quantiles", () => {
  const { a, x, slope } = data.gamma, digamma = double(a).digamma().toTypedArray();
  a.forEach((each, k) => {
    const found = slopeAt(each, x[k] ?? 0, Number(digamma[k])), want = slope[k] ?? NaN;
    // Series to the last digits, the expansion around the saddle point as good as PyTorch's
    const error = each > 30 ? 1e-4 : 1e-8;
    assert(Math.abs(found - want) <= error * want, `a ${each}, x ${x[k]}: ${found} of ${want}`);
  });
  manualSeed(3);
  // The mean is a / b, and a / (a + b): their derivatives by a
  const shape = double([0.6, 3]).requiresGrad_();
  new distributions.Gamma(shape, 2).rsample([2000]).mean(0).sum().backward();
  const mean = shape.grad?.sub(0.5).abs().max().item() ?? NaN;
  assert(mean < 0.06, `${shape.grad}`);
  shape.grad = null;
  new distributions.Beta(shape, 2).rsample([2000]).mean(0).sum().backward();
  const exact = double([0.6, 3]).add(2).square().reciprocal().mul(2);
  assert(
    (shape.grad as Tensor | null)?.sub(exact).abs().lt(0.03).all().item<boolean>(),
    `${shape.grad} of ${exact}`,
  );
});

Deno.test("divergences and densities of transformed variables are PyTorch's", () => {
  for (const { name, p, q, divergence } of data.divergences) {
    near(klDivergence(made(name, p), made(name, q)), divergence, name);
    const both = [made(name, p), made(name, q)].map((each) =>
      each.batchShape.length > 0 ? new Independent(each, 1) : each
    );
    const [a, b] = both;
    assert(a && b);
    if (a instanceof Independent) {
      near(klDivergence(a, b), [divergence.reduce((s, x) => s + x, 0)], `${name}, one event`);
    }
  }
  const { Bernoulli, Categorical } = distributions,
    never = new Categorical({ logits: tensor([0.5, -Infinity]) });
  const fair = new Categorical(tensor([1, 1])), kl = [klDivergence(fair, never), klDivergence(never, fair)];
  assertEquals([...kl.map((each) => each.item()), never.entropy().item()], [
    Infinity,
    Math.fround(Math.log(2)),
    -0,
  ]);
  const [sometimes, sure] = [new Bernoulli(double([0.5])), new Bernoulli(double([0, 1]))];
  assertEquals(klDivergence(sometimes, sure).tolist(), [Infinity, Infinity]);
  near(klDivergence(sure, sometimes), [Math.log(2), Math.log(2)], "what is sure from what is not");
  const base = made("Normal", [[0.4, -1, 0.7], [0.7, 1.5, 2.2]]), unit = double([0.2, 0.5, 0.9]);
  const image = new TransformedDistribution(base, [new AffineTransform(0.5, 2), new SigmoidTransform()]);
  near(image.logProb(unit), data.transformed.sigmoid, "affine, sigmoid");
  near(new TransformedDistribution(base, new TanhTransform()).logProb(unit), data.transformed.tanh, "tanh");
  const root = new TransformedDistribution(base, [new ExpTransform(), new PowerTransform(0.5)]);
  near(root.logProb(double([0.3, 1.1, 2.4])), data.transformed.root, "root");
  assertThrows(() => klDivergence(base, made("Poisson", [[1, 2, 3]])), DynError, "found Normal and Poisson");
});

Deno.test("bijections change no divergence", () => {
  const { ReshapeTransform, StickBreakingTransform } = distributions.transforms;
  const p = new Normal(double([0, 0.5]), 1), q = new Normal(double([1, -0.5]), double([2, 0.5]));
  const image = (base: distributions.Distribution, ...transforms: distributions.Transform[]) =>
    new TransformedDistribution(base, transforms);
  const mapped = (scale: number) => [new AffineTransform(double([1, 2]), scale), new TanhTransform()];
  const each = klDivergence(p, q), sum = each.sum(), own = each.tolist();
  assertEquals(klDivergence(image(p, ...mapped(3)), image(q, ...mapped(3))).tolist(), own);
  for (const make of [() => new StickBreakingTransform(), () => new ReshapeTransform([2], [2, 1])]) {
    near(klDivergence(image(p, make()), image(q, make())), [sum.item()], make().constructor.name);
  }
  assertThrows(
    () => klDivergence(image(p, ...mapped(3)), image(q, ...mapped(4))),
    DynError,
    "Expected distributions of one transform",
  );
  // By Monte Carlo the same within four deviations
  const [a, b] = [[2, 3], [1.5, 2]].map(([shape = 1, rate = 1]) =>
    new distributions.InverseGamma(double([shape]), rate)
  );
  assert(a && b);
  manualSeed(0);
  const x = a.sample([4000]), logs = a.logProb(x).sub(b.logProb(x));
  const apart = klDivergence(a, b).sub(logs.mean()).abs().item();
  assert(apart < 4 * logs.std().div(Math.sqrt(4000)).item(), `${apart}`);
});

/** Distributions that have none, none that are finite, or whose mean is one of directions. */
const WITHOUT_MOMENTS: ReadonlySet<string> = new Set(
  ("Categorical RelaxedBernoulli LogitRelaxedBernoulli RelaxedOneHotCategorical Cauchy HalfCauchy Pareto " +
    "InverseGamma FisherSnedecor VonMises LKJCholesky").split(" "),
);

Deno.test("samples have the moments of their distributions, and gradients if declared", () => {
  manualSeed(11);
  const count = 6000;
  for (const { name, params } of data.cases) {
    const distribution = made(name, params), samples = distribution.sample([count]);
    assertEquals(samples.shape, [count, ...distribution.batchShape, ...distribution.eventShape], name);
    assertEquals(distribution.logProb(samples).isnan().any().item<boolean>(), false, name);
    if (WITHOUT_MOMENTS.has(name)) continue;
    const { mean, variance } = distribution;
    // Five standard errors of the mean; variances of heavy tails are known less well
    const error = variance.div(count).sqrt().mul(5).add(1e-6);
    assert(
      samples.mean(0).sub(mean).abs().le(error).all().item<boolean>(),
      `${name}: mean ${samples.mean(0)} of ${mean}`,
    );
    if (["LogNormal", "StudentT", "Chi2", "Weibull"].includes(name)) continue;
    assert(
      samples.variance(0).sub(variance).abs().le(variance.mul(0.2).add(1e-6)).all().item<boolean>(),
      `${name}: variance ${samples.variance(0)} of ${variance}`,
    );
  }
  const outcomes = new distributions.Categorical(double([0.2, 0.5, 0.3])).sample([count]);
  near(outcomes.eq(1).to("float64").mean().mul(0).add(0.5), [0.5], "shape");
  assert(Math.abs(Number(outcomes.eq(1).to("float64").mean().item()) - 0.5) < 0.02);
  const loc = double([0.1, 0.2]).requiresGrad_(), drawn = new Normal(loc, 1).rsample([3]);
  drawn.sum().backward();
  near(loc.grad ?? loc, [3, 3], "gradients of samples");
  assertEquals(new Normal(loc, 1).sample([2]).requiresGrad, false);
  assertThrows(
    () => new distributions.Poisson(1).rsample(),
    DynError,
    "a distribution that has rsample but found Poisson",
  );
});

Deno.test("limits of types are those of PyTorch", () => {
  assertEquals(finfo("float32"), {
    dtype: "float32",
    bits: 32,
    eps: 1.1920928955078125e-7,
    max: 3.4028234663852886e38,
    min: -3.4028234663852886e38,
    tiny: 1.1754943508222875e-38,
    smallestNormal: 1.1754943508222875e-38,
    resolution: 1e-6,
  });
  assertEquals([finfo("float16").max, finfo("bfloat16").eps, finfo("float64").max], [
    65504,
    0.0078125,
    Number.MAX_VALUE,
  ]);
  assertEquals([iinfo("int8").max, iinfo("uint8").max, iinfo("int64").min], [127, 255, -(2n ** 63n)]);
  assertEquals([canCast("int64", "float32"), canCast("float32", "int64"), canCast("bool", "uint8")], [
    true,
    false,
    true,
  ]);
  assert(DTYPES.every((dtype) => canCast(dtype, dtype)));
  assertThrows(() => finfo("int32"), DynError, "a floating type for finfo but found int32");
  assertThrows(() => iinfo("float32"), DynError, "an integer type for iinfo but found float32");
});

Deno.test("expanded distributions of every family are whole, and expand again", () => {
  const D = distributions,
    half = double([0.5, 0.25]),
    two = double([2, 3]),
    matrix = double([[2, 0.5], [0.5, 1]]);
  const families: readonly distributions.Distribution[] = [
    new D.ContinuousBernoulli(half),
    new D.GeneralizedPareto(half, two, half),
    new D.Kumaraswamy(two, two),
    new D.LowRankMultivariateNormal(two, double([[1], [2]]), two),
    new D.MixtureSameFamily(new D.Categorical(half), new Normal(half, two)),
    new MultivariateNormal(two, { covarianceMatrix: matrix }),
    new D.LogisticNormal(half, two),
    new D.RelaxedBernoulli(double([0.5]), half),
    new D.RelaxedOneHotCategorical(double([0.5]), half),
    new D.VonMises(half, two),
    new D.Weibull(two, two),
    new D.Wishart(double(3), { covarianceMatrix: matrix }),
    new Independent(new Normal(half, two), 1),
  ];
  for (const family of families) {
    const name = family.constructor.name, own = family.batchShape;
    const wide = family.expand([4, ...own]).expand([3, 4, ...own]);
    const value = family.sample(), density = family.logProb(value);
    assertEquals(wide.batchShape, [3, 4, ...own], name);
    assertEquals(wide.sample([2]).shape, [2, 3, 4, ...own, ...family.eventShape], name);
    assertEquals(wide.logProb(value).tolist(), density.expand([3, 4, ...own]).tolist(), name);
    if (!/LogisticNormal|Relaxed/.test(name)) {
      assertEquals(wide.mean.shape, [3, 4, ...own, ...family.eventShape], name);
    }
  }
});

Deno.test("gradients of densities and entropies pass probabilities of one half", () => {
  const { Bernoulli, Binomial, Geometric, Multinomial } = distributions;
  const one = double([1]);
  const cases: readonly [string, (x: Tensor) => Tensor, number, number][] = [
    ["logProb of 1 by logits", (x) => new Bernoulli({ logits: x }).logProb(one), 0, 0.5],
    ["logProb of 1 by probs", (x) => new Bernoulli({ probs: x }).logProb(one), 0.5, 2],
    ["entropy by logits", (x) => new Bernoulli({ logits: x }).entropy(), 0, 0],
    ["entropy by probs", (x) => new Bernoulli({ probs: x }).entropy(), 0.5, 0],
    ["entropy of counts", (x) => new Geometric({ logits: x }).entropy(), 0, -Math.LN2],
    ["3 of 10 by logits", (x) => new Binomial(10, { logits: x }).logProb(double([3])), 0, -2],
    ["3 of 10 by probs", (x) => new Binomial(10, { probs: x }).logProb(double([3])), 0.5, -8],
    ["entropy of 4 trials", (x) => new Binomial(4, { probs: x }).entropy(), 0.5, 0],
    [
      "entropy of 4 choices",
      (x) => new Multinomial(4, { logits: x.mul(double([1, 0])) }).entropy(),
      0,
      0,
    ],
  ];
  for (const [name, of, at, wanted] of cases) {
    // The number of trials is read while an entropy of counts is made
    for (const run of name.startsWith("entropy of 4") ? [of] : [of, compile(of)]) {
      const x = double([at]).requiresGrad_();
      run(x).sum().backward();
      near(x.grad ?? double([]), [wanted], name);
    }
  }
});

Deno.test("relaxed samples that were rounded to 0 or 1 have a density", () => {
  for (const value of [0, 1]) {
    const density = new distributions.RelaxedBernoulli(tensor(0.7), tensor([0.4])).logProb(
      tensor([value]).to("float32"),
    );
    assert(Number.isFinite(density.item()), `${value}: ${density}`);
  }
});

Deno.test("samples of many trials take bounded memory", () => {
  const some = new distributions.Binomial(2 ** 23, tensor([0.5]));
  resetPeakMemoryStats();
  const before = maxMemoryAllocated(), count = some.sample().item();
  assert(maxMemoryAllocated() - before < 2 ** 26, `${maxMemoryAllocated() - before}`);
  // Within 6 standard deviations
  assert(Math.abs(count - 2 ** 22) < 6 * 2 ** 10.5, `${count}`);
});
