/**
 * Types chosen automatically and scaled losses. tests/data/autocast.jsonl.gz holds calls of ops and the types that
 * PyTorch's results have under autocast to bfloat16 on the CPU; the numbers of GradScaler are PyTorch's too.
 */
import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import {
  autocast,
  type AutocastOptions,
  cat,
  compile,
  compiler,
  DynError,
  einsum,
  getAutocastDtype,
  GradScaler,
  isAutocastEnabled,
  isTensor,
  linalg,
  manualSeed,
  nn,
  noGrad,
  ones,
  optim,
  randn,
  type Tensor,
  tensor,
  tensordot,
  zeros,
} from "../mod.ts";
import { toolchainStatus } from "../backends/cpu/toolchain.ts";
import "./support/devices.ts";
import { callOf, findOp, type OpSample, readSamples, sampleName, variantOf } from "./support/replay.ts";
import { sampleBySeed } from "./support/sampling.ts";

function* dtypesIn(value: unknown): Generator<string> {
  if (isTensor(value)) yield value.dtype;
  else if (Array.isArray(value)) { for (const each of value) yield* dtypesIn(each); }
}

/** Known differences from PyTorch: both results, and why. */
const KNOWN: ReadonlyMap<string, string> = new Map([]);

Deno.test("results under autocast have PyTorch's types", async () => {
  const all: readonly (OpSample & { readonly types?: readonly string[] })[] = await readSamples(
    new URL("data/autocast.jsonl.gz", import.meta.url),
  );
  const surprises: string[] = [];
  let compared = 0;
  for (const sample of sampleBySeed(all, Math.ceil(all.length / 3))) {
    const op = findOp(sample.op), name = sampleName(sample);
    if (!op || !sample.types) continue;
    compared++;
    let found: string;
    try {
      found = [...dtypesIn(autocast("cpu", () => variantOf(sample, op)(...callOf(sample, "cpu"))))].join();
    } catch (error) {
      found = error instanceof Error ? error.message : String(error);
    }
    if ((found === sample.types.join()) === KNOWN.has(name)) {
      surprises.push(`${name}: ${found}, not ${sample.types.join()}`);
    }
  }
  assertEquals(surprises, []);
  assertEquals(compared > 330, true);
});

Deno.test("regions nest, are reported, and end", () => {
  const x = ones([2, 2]);
  const type = () => x.mm(x).dtype;
  assertEquals(type(), "float32");
  autocast({ deviceType: "cpu", dtype: "float16" }, () => {
    assertEquals([type(), isAutocastEnabled(), getAutocastDtype()], ["float16", true, "float16"]);
    autocast({ enabled: false }, () => assertEquals([type(), isAutocastEnabled()], ["float32", false]));
    autocast("cpu", () => assertEquals(type(), "bfloat16"));
    assertEquals(type(), "float16");
    // float64 and integers stay as they are
    assertEquals(x.double().mm(x.double()).dtype, "float64");
    assertEquals(x.long().mm(x.long()).dtype, "int64");
    assertThrows(() =>
      autocast("cpu", () => {
        throw new Error("inside");
      })
    );
    assertEquals(type(), "float16");
  });
  assertEquals([type(), isAutocastEnabled()], ["float32", false]);
  const wrong = { dtype: "float32" } as unknown as AutocastOptions;
  assertThrows(() => autocast(wrong, type), DynError, "bfloat16 or float16");
});

Deno.test("the device may stand before the options, plainly and compiled", () => {
  const x = ones([2, 2]), of = autocast as unknown as (...args: unknown[]) => Tensor;
  const product = (x: Tensor) => autocast("cpu", { dtype: "float16" }, () => x.mm(x));
  const compiled = compile(product, { backend: "eager", fullgraph: true });
  assertEquals([product(x).dtype, compiled(x).dtype], ["float16", "float16"]);
  for (
    const args of [["cpu", {}], ["cpu", "cpu", () => x], [{}, {}, () => x], [
      "cpu",
      { dtype: "int8" },
      () => x,
    ]]
  ) {
    const wrong = (x: Tensor) => of(...args).add(x);
    for (const run of [wrong, compile(wrong, { backend: "eager" })]) {
      assertThrows(() => run(x), DynError, "xpected");
    }
  }
});

Deno.test("maxima of volumes are float32, and of their own type beside their indices, plainly and compiled", () => {
  const x = ones([1, 2, 2, 2], { dtype: "bfloat16" });
  const pooled = (x: Tensor) =>
    autocast("cpu", () => [
      nn.functional.maxPool3d(x, 2),
      nn.functional.maxPool3d(x, 2, { returnIndices: true }).values,
    ]);
  for (const run of [pooled, compile(pooled, { backend: "eager", fullgraph: true })]) {
    assertEquals(run(x).map(({ dtype }) => dtype), ["float32", "bfloat16"]);
  }
});

const gradOf = (x: Tensor): Tensor | null => x.grad;

Deno.test("a region converts a parameter once, also where gradients come and go", () => {
  const weight = randn([3, 3]).requiresGrad_(), x = randn([2, 3]);
  const grads = [true, false].map((cacheEnabled) => {
    weight.grad = null;
    const loss = autocast({ cacheEnabled }, () => {
      const quiet = noGrad(() => x.mm(weight).sum());
      assertEquals(quiet.requiresGrad, false);
      return x.mm(weight).add(x.mm(weight)).float().sum();
    });
    loss.backward();
    return gradOf(weight)?.tolist();
  });
  assertEquals(gradOf(weight)?.dtype, "float32");
  assertEquals(grads[0], grads[1]);
  // A written weight is converted again
  autocast("cpu", () => {
    const before = x.mm(weight).tolist();
    noGrad(() => weight.mul_(2));
    assertEquals(x.mm(weight).tolist(), tensor(before).mul(2).tolist());
    // and so is one that has other memory
    const moved = ones([3, 3]).requiresGrad_(), other = zeros([3, 3]);
    x.mm(moved);
    moved.set_(other);
    assertEquals(x.mm(moved).tolist(), x.mm(other).tolist());
  });
});

Deno.test("a region's conversion of a parameter outlives the composition that makes it", () => {
  const weight = randn([3, 3]).requiresGrad_();
  autocast("cpu", () => {
    noGrad(() => linalg.matrixPower(weight, 3));
    const [found, wanted] = noGrad(() => [weight.mm(weight), weight.bfloat16().mm(weight.bfloat16())]);
    assertEquals(found.tolist(), wanted.tolist());
  });
});

Deno.test("a region of another type converts parameters to its own type", () => {
  const weight = randn([3, 3]).requiresGrad_(), other = randn([3, 3]).requiresGrad_();
  const program = (weight: Tensor, other: Tensor) =>
    autocast("cpu", () => [
      weight.mm(other),
      autocast({ dtype: "float16" }, () => weight.mm(other)),
      weight.mm(other),
    ]);
  const types = (made: readonly Tensor[]) => made.map(({ dtype }) => dtype);
  assertEquals(types(program(weight, other)), ["bfloat16", "float16", "bfloat16"]);
  assertEquals(types(compile(program, { backend: "eager" })(weight, other)), [
    "bfloat16",
    "float16",
    "bfloat16",
  ]);
});

Deno.test("a backward pass has the types of its forward pass, whichever region it runs in", () => {
  const x = randn([5, 3]), start = randn([3, 4]);
  const train = (forward: boolean, backward: boolean, backend: string | null) => {
    const weight = start.clone().requiresGrad_();
    const step = (x: Tensor) => {
      const loss = autocast({ enabled: forward }, () => x.mm(weight).float().square().mean());
      autocast({ enabled: backward }, () => loss.backward());
      return loss.detach();
    };
    (backend === null ? step : compile(step, { backend }))(x);
    return gradOf(weight)?.tolist();
  };
  for (const forward of [false, true]) {
    const wanted = train(forward, false, null);
    for (const backend of [null, "eager", "aot_eager"]) {
      compiler.reset();
      assertEquals(train(forward, true, backend), wanted, `forward in a region: ${forward}, ${backend}`);
    }
  }
});

/** A training step under autocast; gives what it should: losses, types, parameters. */
function training(backend: string | null, device: string) {
  compiler.reset();
  manualSeed(5);
  const model = new nn.Sequential(
    new nn.Linear(12, 24),
    new nn.GELU(),
    new nn.LayerNorm(24),
    new nn.Linear(24, 5),
  ).to(device);
  const optimizer = new optim.AdamW(model.parameters(), { lr: 0.01 });
  const x = randn([16, 12]).to(device), y = tensor(Array.from({ length: 16 }, (_, i) => i % 5)).to(device);
  const step = (x: Tensor, y: Tensor): [Tensor, Tensor] => {
    optimizer.zeroGrad();
    const [loss, logits] = autocast({ deviceType: "cpu", dtype: "bfloat16" }, (): [Tensor, Tensor] => {
      const logits = model.forward(x);
      return [nn.functional.crossEntropy(logits, y), logits];
    });
    loss.backward();
    optimizer.step();
    return [loss, logits];
  };
  const run = backend === null ? step : compile(step, { backend, fullgraph: true });
  const losses: number[] = [];
  for (let i = 0; i < 5; i++) {
    const [loss, logits] = run(x, y);
    losses.push(Number(loss.item()));
    assertEquals([loss.dtype, logits.dtype], ["float32", "bfloat16"]);
  }
  for (const p of model.parameters()) assertEquals([p.dtype, p.grad?.dtype], ["float32", "float32"]);
  return losses;
}

Deno.test("a training step under autocast is one graph, and the same on every tier", () => {
  const want = training(null, "cpu"), [first = 0, ...rest] = want;
  assertEquals((rest.at(-1) ?? first) < first, true);
  const tiers = [["aot_eager", "cpu"], ["inductor", "wasm"]];
  if (toolchainStatus().kind === "ready") tiers.push(["inductor", "cpu"]);
  for (const [backend = "", device = ""] of tiers) {
    // bfloat16 has three digits, and fused kernels round less often
    training(backend, device).forEach((loss, i) => assertAlmostEquals(loss, want[i] ?? NaN, 4e-3));
  }
});

Deno.test("compiled functions are guarded by the region, break in it, and leave it", () => {
  const product = (x: Tensor) => [x.mm(x).dtype, isAutocastEnabled(), getAutocastDtype()];
  compiler.reset();
  const run = compile(product), x = ones([2, 2]);
  const call = () => run(x);
  for (let i = 0; i < 2; i++) {
    assertEquals(call(), ["float32", false, "bfloat16"]);
    assertEquals(autocast("cpu", call), ["bfloat16", true, "bfloat16"]);
    assertEquals(autocast({ dtype: "float16" }, call), ["float16", true, "float16"]);
    assertEquals(autocast({ enabled: false }, call), ["float32", false, "bfloat16"]);
  }
  const broken = (x: Tensor) => {
    const inside = autocast("cpu", () => {
      const before = x.mm(x).dtype;
      compiler.graphBreak();
      return [before, x.mm(x).dtype, einsum("ij,jk->ik", [x, x]).dtype, cat([x, x.bfloat16()]).dtype];
    });
    return [...inside, x.mm(x).dtype];
  };
  const want = broken(x);
  assertEquals(want, ["bfloat16", "bfloat16", "bfloat16", "float32", "float32"]);
  assertEquals(compile(broken)(x), want);
  const off = (x: Tensor) => autocast({ enabled: false }, () => x.mm(x));
  for (const backend of ["eager", "aot_eager", "inductor"]) {
    compiler.reset();
    const plain = compile(off, { backend });
    assertEquals(autocast("cpu", () => plain(x)).dtype, "float32", backend);
  }
});

Deno.test("a region traces the parts of compositions in compiled functions as it does plainly, without a break", () => {
  const x = randn([3, 3]), y = x.bfloat16(), rows = randn([1, 2, 4]);
  const programs: readonly ((x: Tensor, y: Tensor) => Tensor)[] = [
    (x, y) => einsum("ij,jk->ik", [x, y]).exp(),
    (x, y) => tensordot(x, y, 1).mul(2),
    (x, y) => x.inner(y).mul(2),
    (x, y) => linalg.multiDot([x, y, x]).mul(2),
    (x) => x.cov().mul(2),
    (x) => x.corrcoef().mul(2),
    (x) => linalg.matrixPower(x, 3).mul(2),
    (x) => nn.functional.pad(rows, [1, 1], "reflect").mul(x.sum()),
  ];
  for (const [i, program] of programs.entries()) {
    const inRegion = (x: Tensor, y: Tensor) => autocast("cpu", () => program(x, y));
    compiler.reset();
    const wanted = inRegion(x, y), found = compile(inRegion, { fullgraph: true, backend: "eager" })(x, y);
    assertEquals([found.dtype, found.tolist()], [wanted.dtype, wanted.tolist()], `program ${i}`);
    const leaf = x.clone().requiresGrad_(), other = x.clone().requiresGrad_();
    inRegion(leaf, y).sum().backward();
    compile(inRegion, { fullgraph: true, backend: "aot_eager" })(other, y).sum().backward();
    // Plainly a leaf is converted once, so that its gradients are added in bfloat16, of eight bits
    const [gradient, expected] = [other.grad ?? x, leaf.grad ?? y];
    const gap = gradient.sub(expected).abs().max().item(), size = expected.abs().max().item();
    assertEquals(Number(gap) <= 2 ** -7 * Number(size), true, `gradient of program ${i}`);
  }
  const wrong = (x: Tensor, y: Tensor) => autocast("cpu", () => tensordot(x, y, 3));
  assertThrows(() => compile(wrong)(x, y), DynError);
});

Deno.test("GradScaler takes PyTorch's steps and skips infinite ones", () => {
  // PyTorch's losses, parameters and scales for the same program
  const want = [
    {
      p: [0.800000011920929, -1.600000023841858, 2.4000000953674316],
      q: 0.49000000953674316,
      scale: 8,
      tracker: 1,
    },
    {
      p: [0.5932738780975342, -1.1865477561950684, 1.779821753501892],
      q: 0.48000001907348633,
      scale: 16,
      tracker: 0,
    },
    {
      p: [0.5932738780975342, -1.1865477561950684, 1.779821753501892],
      q: 0.4700000286102295,
      scale: 8,
      tracker: 0,
    },
    {
      p: [0.38049426674842834, -0.7609885334968567, 1.141482949256897],
      q: 0.46000003814697266,
      scale: 8,
      tracker: 1,
    },
    {
      p: [0.11289375275373459, -0.22578750550746918, 0.3386814296245575],
      q: 0.4500000476837158,
      scale: 16,
      tracker: 0,
    },
    {
      p: [-0.15052545070648193, 0.30105090141296387, -0.45157623291015625],
      q: 0.440000057220459,
      scale: 16,
      tracker: 1,
    },
    {
      p: [-0.15052545070648193, 0.30105090141296387, -0.45157623291015625],
      q: 0.43000006675720215,
      scale: 8,
      tracker: 0,
    },
    {
      p: [-0.3608766496181488, 0.7217532992362976, -1.0826297998428345],
      q: 0.4200000762939453,
      scale: 8,
      tracker: 1,
    },
    {
      p: [-0.4780173599720001, 0.9560347199440002, -1.4340519905090332],
      q: 0.4100000858306885,
      scale: 16,
      tracker: 0,
    },
  ];
  const scaler = new GradScaler("cpu", { initScale: 8, growthInterval: 2 });
  const p = tensor([1, -2, 3], { requiresGrad: true }), q = tensor([0.5], { requiresGrad: true });
  const one = new optim.SGD([p], { lr: 0.1, momentum: 0.9 }), two = new optim.Adam([q], { lr: 0.01 });
  [1, 1, Infinity, 2, 1, 1, NaN, 1, 1].forEach((factor, i) => {
    one.zeroGrad();
    two.zeroGrad();
    scaler.scale(p.mul(p).sum().mul(factor).add(q.mul(3).sum())).backward();
    if (i % 2 === 1) {
      scaler.unscale_(one);
      nn.utils.clipGradNorm_([p], 1);
    }
    scaler.step(one);
    scaler.step(two);
    scaler.update();
    const expected = want[i];
    p.toTypedArray().forEach((x, k) => assertAlmostEquals(Number(x), expected?.p[k] ?? NaN, 1e-6));
    assertAlmostEquals(Number(q.item()), expected?.q ?? NaN, 1e-6);
    assertEquals(
      [scaler.getScale(), scaler.stateDict()._growth_tracker],
      [expected?.scale, expected?.tracker],
    );
  });
  const other = new GradScaler();
  other.loadStateDict(scaler.stateDict());
  assertEquals([other.getGrowthFactor(), other.getBackoffFactor(), other.getGrowthInterval()], [2, 0.5, 2]);
  assertEquals(other.stateDict(), scaler.stateDict());
});

Deno.test("a compiled step with a GradScaler breaks only where the gradients decide whether it is taken", () => {
  const run = (
    wrap: (step: (x: Tensor, factor: Tensor) => Tensor) => (x: Tensor, factor: Tensor) => Tensor,
  ) => {
    manualSeed(3);
    const model = new nn.Sequential(new nn.Linear(3, 4), new nn.GELU(), new nn.Linear(4, 2)), x = randn(5, 3);
    const optimizer = new optim.Adam(model.parameters(), { lr: 0.1 });
    const scaler = new GradScaler("cpu", { initScale: 16, growthInterval: 2 });
    const step = wrap((x, factor) => {
      optimizer.zeroGrad();
      const loss = model.call(x).pow(2).mean().mul(factor).sum();
      scaler.scale(loss).backward();
      scaler.unscale_(optimizer);
      nn.utils.clipGradNorm_(model.parameters(), 1);
      scaler.step(optimizer);
      scaler.update();
      return loss.detach();
    });
    const found = [1, 1, 1, Infinity, 1, 1, 1, 1, 1, 1].map((factor) => [
      step(x, tensor([factor], { dtype: "float32" })).tolist(),
      scaler.stateDict(),
    ]);
    return { step, found: [found, model.parameters().map((p) => p.tolist())] };
  };
  const plain = run((step) => step), compiled = run((step) => compile(step, { backend: "eager" }));
  assertEquals(compiled.found, plain.found);
  const { graphs, graphBreaks, recompiles } = compiler.status(compiled.step);
  assertEquals({ graphs, graphBreaks, recompiles }, { graphs: 6, graphBreaks: 1, recompiles: 3 });
});

Deno.test("GradScaler rejects steps out of order and float16 gradients, and does nothing if disabled", () => {
  const p = tensor([1, 2], { requiresGrad: true }), optimizer = new optim.SGD([p], { lr: 1 });
  const scaler = new GradScaler({ initScale: 4 });
  assertThrows(() => new GradScaler({ device: 5 as never }), DynError, "device to be a string but found 5");
  assertThrows(() => new GradScaler({ growthFactor: "2" as never }), DynError, "growthFactor to be a number");
  assertThrows(() => scaler.update(), DynError, "no checked gradients");
  scaler.update({ newScale: 8 });
  scaler.update({ newScale: tensor([4]) });
  assertEquals(scaler.getScale(), 4);
  assertThrows(() => scaler.update("a" as never), DynError, 'a number as the new scale but found "a"');
  assertThrows(() => scaler.step(optimizer), DynError, "none");
  scaler.scale(p.sum()).backward();
  scaler.unscale_(optimizer);
  assertThrows(() => scaler.unscale_(optimizer), DynError, "found two");
  scaler.step(optimizer);
  assertEquals(p.tolist(), [0, 1]);
  assertThrows(() => scaler.step(optimizer), DynError, "found two");
  assertThrows(() => scaler.unscale_(optimizer), DynError, "found it after");
  const half = zeros([2], { dtype: "float16", requiresGrad: true }),
    halves = new optim.SGD([half], { lr: 1 });
  scaler.scale(half.sum()).backward();
  assertThrows(() => scaler.step(halves), DynError, "float16");
  const off = new GradScaler({ enabled: false }), loss = p.sum();
  assertEquals([off.scale(loss) === loss, off.getScale(), off.stateDict()], [true, 1, {}]);
  // A scale that no float32 holds is not taken
  const great = new GradScaler({ device: "cpu", initScale: 2 ** 127, growthInterval: 1 });
  optimizer.zeroGrad();
  great.scale(p.mul(0).sum()).backward();
  great.step(optimizer);
  great.update();
  assertEquals(great.getScale(), 2 ** 127);
});
