/** Generators of random numbers: as arguments of ops, fills and samplers, their states, in compiled functions. */
import { assert, assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import * as dyn from "../mod.ts";
import { DynError } from "../lib/base/errors.ts";

const {
  Generator,
  compile,
  compiler,
  data,
  empty,
  full,
  getRngState,
  manualSeed,
  nn,
  normal,
  ones,
  poisson,
  randn,
  tensor,
} = dyn;
type Source = InstanceType<typeof Generator>;

/** Every call that takes a generator. */
const CALLS: readonly ((generator: Source | null) => dyn.Tensor)[] = [
  (generator) => dyn.rand([5], { generator }),
  (generator) => dyn.rand(2, 3, { generator, dtype: "float64" }),
  (generator) => dyn.randn([5], { generator, requiresGrad: true }).detach(),
  (generator) => dyn.randint(100, [5], { generator }),
  (generator) => dyn.randLike(ones(5), { generator }),
  (generator) => dyn.randnLike(ones(5), { generator }),
  (generator) => dyn.randintLike(ones(5), 100, { generator }),
  (generator) => dyn.randperm(20, { generator }),
  (generator) => dyn.bernoulli(ones(40).mul(.5), { generator }),
  (generator) => dyn.multinomial(ones(20), 5, { generator }),
  (generator) => dyn.normal(ones(5), 2, { generator }),
  (generator) => dyn.normal(0, 1, [5], { generator }),
  (generator) => dyn.poisson(ones(40), { generator }),
  (generator) => empty(5).uniform_(-1, 1, { generator }),
  (generator) => empty(5).normal_({ generator }),
  (generator) => empty(5).exponential_({ generator }),
  (generator) => empty(40).bernoulli_(.5, { generator }),
  (generator) => nn.init.uniform_(empty(5), -1, 1, generator),
  (generator) => nn.init.normal_(empty(5), { generator }),
  (generator) => nn.init.truncNormal_(empty(5), { generator }),
  (generator) => nn.init.kaimingUniform_(empty(3, 4), { generator }),
  (generator) => nn.init.kaimingNormal_(empty(3, 4), { generator }),
  (generator) => nn.init.xavierUniform_(empty(3, 4), 1, generator),
  (generator) => nn.init.xavierNormal_(empty(3, 4), { generator }),
  (generator) => nn.init.orthogonal_(empty(3, 4), { generator }),
  (generator) => nn.init.sparse_(empty(3, 4), .3, { generator }),
];

Deno.test("draws from a separate generator give the same numbers as the common one, which is unchanged", () => {
  for (const call of CALLS) {
    manualSeed(5);
    const expected = [call(null), call(null)].map(String), after = getRngState();
    assertNotEquals(expected[0], expected[1], `${call}`);
    const generator = new Generator().manualSeed(5);
    manualSeed(77);
    assertEquals([call(generator), call(generator)].map(String), expected, `${call}`);
    assertEquals(generator.getState(), after, `${call}`);
    assertEquals(getRngState(), { seed: 77, offset: 0 }, `${call}`);
  }
  const wrong = (call: unknown, options: object) => () =>
    Reflect.apply(typeof call === "function" ? call : () => {}, undefined, [[2], options]);
  assertThrows(wrong(dyn.rand, { generator: 5 }), dyn.DynError, "Expected a Generator for generator of rand");
  assertThrows(wrong(ones, { generator: new Generator() }), dyn.DynError, "but found generator");
});

Deno.test("states are restored, cloned and forked", async () => {
  const generator = new Generator(3);
  dyn.rand([2], { generator });
  const state = generator.getState(), clone = generator.cloneState();
  const first = String(dyn.rand([2], { generator }));
  assertEquals(String(dyn.rand([2], { generator: clone })), first);
  assertEquals(String(dyn.rand([2], { generator: generator.setState(state) })), first);
  assertEquals(generator.initialSeed(), 3);
  assertEquals(generator.seed(), generator.initialSeed());
  manualSeed(1);
  const inside = dyn.forkRng(() => String(manualSeed(9) && dyn.rand(2)));
  assertEquals(getRngState(), { seed: 1, offset: 0 });
  manualSeed(9);
  assertEquals(String(dyn.rand(2)), inside);
  const before = getRngState();
  await dyn.forkRng(async () => {
    await Promise.resolve();
    manualSeed(4);
  });
  assertEquals(getRngState(), before);
});

Deno.test("samplers and loaders take generators", () => {
  const orders = [1, 1, 2].map((seed) => {
    const loader = new data.DataLoader(Array.from({ length: 20 }, (_, k) => k), {
      shuffle: true,
      generator: new Generator(seed),
    });
    return [...loader].map(String).join();
  });
  assertEquals(orders[0], orders[1]);
  assertNotEquals(orders[0], orders[2]);
});

Deno.test("compiled functions draw from a generator outside of their graphs", () => {
  const generator = new Generator(3);
  const separate = (x: dyn.Tensor) => x.mul(2).add(dyn.rand([3], { generator })).sin();
  const common = (x: dyn.Tensor) => x.add(dyn.rand([3], { generator: null }));
  const f = compile(separate), g = compile(common);
  const x = ones(3), own = new Generator(3);
  for (let k = 0; k < 3; k++) {
    assertEquals(String(f(x)), String(x.mul(2).add(dyn.rand([3], { generator: own })).sin()));
  }
  manualSeed(2);
  const found = String(g(x));
  manualSeed(2);
  assertEquals(found, String(x.add(dyn.rand(3))));
  assertEquals(compiler.explain(common)(x).graphBreakCount, 0);
  const { breakReasons } = compiler.explain(separate)(x);
  assertEquals(breakReasons.map(({ id }) => id), ["GB0042"]);
});

Deno.test("normal draws the broadcast of mean and deviation, poisson draws counts, both by a generator", () => {
  const generator = () => new Generator().manualSeed(3);
  const mean = tensor([[10.5], [-10]]), std = tensor([0, 0.5, 2]);
  const drawn = normal(mean, std, { generator: generator() });
  assertEquals(drawn.tolist(), randn([2, 3], { generator: generator() }).mul(std).add(mean).tolist());
  assertEquals(drawn.at(":", 0).tolist(), [10.5, -10]);
  const few = [normal(mean), normal(1, std.to("float64")), normal(0, 2, [3, 2], { requiresGrad: true })];
  assertEquals(few.map(({ shape, dtype }) => [shape, dtype]), [
    [[2, 1], "float32"],
    [[3], "float64"],
    [[3, 2], "float32"],
  ]);
  manualSeed(2);
  const many = normal(full([4000], 3.5), 2);
  assert(Math.abs(many.mean().item() - 3.5) < 0.15 && Math.abs(many.std().item() - 2) < 0.1);
  const rates = full([2000, 2], 1).to("float64").mul(tensor([0.5, 6]));
  const counts = poisson(rates, { generator: generator() });
  assertEquals(counts.tolist(), poisson(rates, { generator: generator() }).tolist());
  assertEquals([counts.dtype, counts.eq(counts.round()).all().item()], ["float64", true]);
  assert(counts.mean(0).sub(tensor([0.5, 6])).abs().max().item() < 0.25);
  assert(counts.var(0).sub(tensor([0.5, 6])).abs().max().item() < 0.6);
  assertThrows(() => normal(mean, -1), DynError, "non-negative");
  assertThrows(
    () => normal(tensor([1, 2]), 1),
    DynError,
    "Expected floats as mean and std of normal but found int64",
  );
  assertThrows(() => poisson(tensor([-0.5])), DynError, "non-negative");
});

Deno.test("random bools are drawn in place, into any type, with probability 1/2 by default", () => {
  const toss = (x: dyn.Tensor) => x.bernoulli_();
  for (const run of [toss, compile(toss, { backend: "aot_eager", fullgraph: true })]) {
    manualSeed(3);
    const drawn = ["float32", "int64", "bool"] as const;
    const counts = drawn.map((dtype) => Number(run(dyn.zeros([400], { dtype })).sum().item()));
    counts.forEach((count, k) => assert(count > 150 && count < 250, `${drawn[k]}: ${count}`));
  }
  assertEquals(tensor([0, 1, 1]).to("float32").bernoulli().tolist(), [0, 1, 1]);
});
