/**
 * Layers against PyTorch: tests/data/layers holds arguments, states, inputs, outputs, gradients and the states
 * afterwards of each, as PyTorch computed them; they are replayed eagerly, and some compiled. Also the forms of layers'
 * arguments.
 */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import * as dyn from "../mod.ts";
import { arange, compile, compiler, DynError, nn, optim, randn, type Tensor, tensor } from "../mod.ts";
import { isDType, isFloat } from "../lib/base/dtype.ts";
import { logs } from "../lib/base/logs.ts";
import { isPlainObject } from "../lib/base/tree.ts";
import "./support/turns/models.ts";
import { sampleBySeed } from "./support/sampling.ts";

interface Encoded {
  readonly t: string;
  readonly s: readonly number[];
  readonly d: readonly number[];
}

interface Sample {
  readonly layer: string;
  readonly args: readonly unknown[];
  readonly state: Readonly<Record<string, Encoded>>;
  readonly inputs: readonly Encoded[];
  readonly training: boolean;
  readonly steps: number;
  readonly outputs: readonly Encoded[];
  /** Of the parameters, then of the inputs. */
  readonly gradients: readonly (Encoded | null)[];
  readonly after: Readonly<Record<string, Encoded>>;
}

type Call = (inputs: readonly Tensor[]) => unknown;

async function readSamples(): Promise<readonly Sample[]> {
  const lists = await Promise.all(["layers", "further"].map(async (name) => {
    const packed = new Blob([await Deno.readFile(new URL(`data/layers/${name}.jsonl.gz`, import.meta.url))]);
    const text = await new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).text();
    return text.split("\n").filter((line) => line !== "").map((line): Sample => JSON.parse(line));
  }));
  return lists.flat();
}

function decode({ t, s, d }: Encoded): Tensor {
  const dtype = isDType(t) ? t : "float32";
  return tensor(dtype === "bool" ? d.map(Boolean) : [...d], { dtype }).reshape([...s]);
}

function construct(layer: string, args: readonly unknown[]): nn.Module {
  const made: unknown = Reflect.get(nn, layer);
  assert(typeof made === "function", `Expected a layer ${layer}`);
  const module: unknown = Reflect.construct(made, args);
  assert(module instanceof nn.Module);
  return module;
}

function* tensorsIn(value: unknown): Generator<Tensor> {
  if (dyn.isTensor(value)) yield value;
  else if (Array.isArray(value)) { for (const each of value) yield* tensorsIn(each); }
}

/** |got − want| ≤ 1e-5·|want| + 2e-6·max|want| + 5e-7 */
function agree(got: Tensor | null | undefined, want: Encoded, where: string): void {
  assert(got, `${where} is missing`);
  assertEquals([got.dtype, [...got.shape]], [want.t, [...want.s]], where);
  const found = Array.from(got.detach().toTypedArray(), Number);
  const scale = want.d.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  want.d.forEach((x, k) => {
    const y = found[k] ?? NaN, allowed = 1e-5 * Math.abs(x) + 2e-6 * scale + 5e-7;
    assert(x === y || Math.abs(x - y) <= allowed, `${where}[${k}]: expected ${x} but found ${y}`);
  });
}

/** The number whose gradients were recorded: Σ over outputs of Σₖ output[k]·w[k]. */
function weightedSum(outputs: readonly Tensor[]): Tensor {
  const sums = outputs.filter((each) => each.requiresGrad).map((each) => {
    const weights = Array.from({ length: each.numel() }, (_, k) => k * 37 % 101 / 101 - 0.5);
    return each.mul(tensor(weights).reshape([...each.shape])).sum();
  });
  return sums.reduce((a, b) => a.add(b));
}

function replay(sample: Sample, wrap: (call: Call) => Call): void {
  const { layer, state, training, steps, outputs, gradients, after } = sample;
  const module = construct(layer, sample.args);
  module.loadStateDict(Object.fromEntries(Object.entries(state).map(([key, each]) => [key, decode(each)])));
  module.train(training);
  const inputs = sample.inputs.map((each, k) => {
    const made = decode(each);
    return isFloat(made.dtype) && (k === 0 || !layer.includes("Loss")) ? made.requiresGrad_() : made;
  });
  const forward: unknown = Reflect.get(module, "call");
  assert(typeof forward === "function");
  const call = wrap((given) => Reflect.apply(forward, module, given));
  let result: unknown;
  for (let step = 0; step < steps; step++) result = call(inputs);
  const found = [...tensorsIn(result)];
  assertEquals(found.length, outputs.length, layer);
  outputs.forEach((want, k) => agree(found[k], want, `${layer} output ${k}`));
  const leaves = [...module.parameters(), ...inputs.filter((each) => each.requiresGrad)];
  const grads = dyn.autograd.grad([weightedSum(found)], leaves, undefined, { allowUnused: true });
  gradients.forEach((want, k) => want && agree(grads[k], want, `${layer} gradient ${k}`));
  const kept = module.stateDict();
  assertEquals(Object.keys(kept), Object.keys(after), layer);
  for (const [key, want] of Object.entries(after)) agree(kept[key], want, `${layer} ${key}`);
}

Deno.test("layers compute what PyTorch's do", async () => {
  for (const sample of await readSamples()) replay(sample, (call) => call);
});

/** Number of layers that one run compiles. */
const COMPILED_AT_ONCE = 8;

Deno.test("compiled layers compute what PyTorch's do", async () => {
  for (const sample of sampleBySeed(await readSamples(), COMPILED_AT_ONCE)) {
    replay(sample, (call) => {
      compiler.reset();
      return compile(call);
    });
  }
});

/** The arguments of a layer with further options in its last object. */
const withOptions = (args: readonly unknown[], options: object): readonly unknown[] =>
  isPlainObject(args.at(-1))
    ? [...args.slice(0, -1), { ...Object(args.at(-1)), ...options }]
    : [...args, options];

/** Layers of several parts, which pass their place on to each. */
const COMPOSED: readonly (readonly [string, readonly unknown[]])[] = [
  ["Transformer", [{ dModel: 4, nhead: 2, numEncoderLayers: 2, numDecoderLayers: 2, dimFeedforward: 3 }]],
  ["TransformerEncoderLayer", [4, 2, 3]],
  ["TransformerDecoderLayer", [4, 2, 3]],
  ["AdaptiveLogSoftmaxWithLoss", [4, 6, [2, 4], { headBias: true }]],
  ["MultiheadAttention", [4, 2, { addBiasKv: true, kdim: 3, vdim: 5 }]],
  ["LSTM", [3, 4, 2, { projSize: 2, bidirectional: true }]],
  ["LinearCrossEntropyLoss", [3, 4]],
];

Deno.test("every parameter and buffer of a layer has the device and the type that the layer was given", async () => {
  const samples = await readSamples(), seen = new Set<string>();
  for (const [layer, args] of [...samples.map((each) => [each.layer, each.args] as const), ...COMPOSED]) {
    const made = construct(layer, args), usual = Object.values(made.stateDict());
    // Buffers of losses are the tensors that they were given
    if (usual.length === 0 || layer.endsWith("Loss") && [...made.parameters()].length === 0) continue;
    seen.add(layer);
    const given = construct(layer, withOptions(args, { device: "meta", dtype: "float64" })).stateDict();
    const found = Object.values(given).map((each) => [each.device, each.dtype]);
    const want = usual.map((each) => ["meta", isFloat(each.dtype) ? "float64" : each.dtype]);
    assertEquals(found, want, `${layer} ${JSON.stringify(args)}`);
  }
  for (const [layer] of COMPOSED) assert(seen.has(layer), layer);
  assert(seen.has("PReLU") && seen.has("BatchNorm2d") && seen.size > 20, [...seen].join());
});

Deno.test("unknown arguments of layers are errors", () => {
  assertThrows(() => Reflect.construct(nn.Linear, [2, 3, { bais: false }]), DynError, "found bais");
  assertThrows(() => Reflect.construct(nn.MaxPool2d, [2, 2, 0, 1, false, false, 3]), DynError, "at most 5");
  assertThrows(() => Reflect.construct(nn.Conv2d, [1, 2, 3, 1, { stride: 2 }]), DynError, "found two");
  assertThrows(() => new nn.Conv2d(1, 2, [3, 3, 3]), DynError, "Expected 2 numbers");
  assertThrows(() => new nn.Embedding(3, 2, 3), DynError, "paddingIdx in [-3, 2]");
  assertThrows(() => Reflect.construct(nn.Softmax, []), DynError, "dim of Softmax");
  for (const Layer of [nn.Softmax, nn.LogSoftmax, nn.Softmin]) {
    assertThrows(() => Reflect.construct(Layer, [0, 1]), DynError, `arguments of ${Layer.name}`);
    assertThrows(() => Reflect.construct(Layer, [0, { axis: 1 }]), DynError, "found axis");
    assertThrows(() => Reflect.construct(Layer, ["0"]), DynError, `the dim of ${Layer.name}`);
  }
  assertThrows(
    () => Reflect.construct(nn.Embedding, [3, 2, { sparse: true }]),
    DynError,
    "gradients are dense",
  );
  assertThrows(() => Reflect.construct(optim.SGD, [[randn(2)], { differentiable: true }]), DynError, "SGD");
});

Deno.test("running statistics follow functions that normalise, by PyTorch's numbers", () => {
  const x = arange(24, { dtype: "float32" }).reshape([2, 3, 4]).pow(1.5);
  for (const backend of [null, "aot_eager"]) {
    const mean = tensor([1, 2, 3], { dtype: "float32" }), variance = mean.clone();
    const call = (x: Tensor): Tensor =>
      nn.functional.instanceNorm(x, mean, variance, { momentum: 0.5 })
        .add(nn.functional.instanceNorm(x, mean, variance, null, null, false));
    (backend === null ? call : compile(call, { backend, fullgraph: true }))(x);
    // torch.nn.functional.instance_norm(x, mean, variance, momentum=0.5)
    assert(mean.allclose(tensor([13.496495246887207, 22.604808807373047, 33.80644607543945])), `${mean}`);
    assert(
      variance.allclose(tensor([14.451111793518066, 22.535140991210938, 30.545246124267578])),
      `${variance}`,
    );
  }
  const misspelt = () => Reflect.apply(nn.functional.batchNorm, null, [x, null, null, { trainig: true }]);
  assertThrows(misspelt, DynError, "trainig");
  const text = () => Reflect.apply(nn.functional.batchNorm, null, [x, null, null, null, null, "yes"]);
  assertThrows(text, DynError, "training");
});

Deno.test("normalisation may only scale and add nothing", () => {
  const x = randn([4, 2, 3]),
    made = [
      new nn.BatchNorm1d(2, { bias: false }),
      new nn.InstanceNorm1d(2, { affine: true, bias: false }),
      new nn.GroupNorm(1, 2, { bias: false }),
    ];
  for (const layer of made) {
    const [, shown = ""] = `${layer}`.split("affine=true, ");
    assert(shown.startsWith("bias=false"), `${layer}`);
    assertEquals(layer.namedParameters().map(([name]) => name), ["weight"]);
    const plain = layer.clone().call(x), compiled = compile(layer, { backend: "aot_eager" }).call(x);
    assert(plain.sub(compiled).abs().max().item() < 1e-6 && plain.mean().abs().item() < 1e-6);
  }
});

Deno.test("a loss by distances calls the layer that it lists", () => {
  const [a, b, c] = [randn([3, 4]), randn([3, 4]), randn([3, 4])] as const;
  const usual = new nn.TripletMarginWithDistanceLoss();
  const given = new nn.TripletMarginWithDistanceLoss({ distanceFunction: new nn.PairwiseDistance() });
  assertEquals(usual.call(a, b, c).item(), new nn.TripletMarginLoss().call(a, b, c).item());
  assertEquals(given.call(a, b, c).item(), usual.call(a, b, c).item());
  let calls = 0;
  for (const layer of usual.children()) layer.registerForwardHook(() => void calls++);
  usual.call(a, b, c);
  assertEquals(calls, 2);
});

Deno.test("an encoder consists of copies of its layer", () => {
  const layer = new nn.TransformerEncoderLayer(8, 2, { dimFeedforward: 16, dropout: 0, batchFirst: true });
  const encoder = new nn.TransformerEncoder(layer, 2, new nn.LayerNorm(8), { enableNestedTensor: false });
  const x = randn([2, 3, 8]), twice = new nn.LayerNorm(8).call(layer.call(layer.call(x)));
  assertEquals(encoder.call(x).sub(twice).abs().max().item(), 0);
  assertEquals(encoder.layers.at(0).linear1.weight === encoder.layers.at(1).linear1.weight, false);
  assert("layers.1.self_attn.out_proj.weight" in encoder.stateDict());
});

Deno.test("attention computes only what masks allow", () => {
  const attention = new nn.MultiheadAttention(4, 2, { batchFirst: true });
  const x = randn([1, 3, 4]), causal = dyn.ones([3, 3], { dtype: "bool" }).triu(1);
  const [whole, weights] = attention.call(x, x, x, { attnMask: causal });
  const first = x.narrow(1, 0, 1), [alone] = attention.call(first, first, first);
  assert(Number(whole.narrow(1, 0, 1).sub(alone).abs().max().item()) < 1e-6);
  assertEquals(weights?.mul(causal).abs().max().item(), 0);
  const [fast] = attention.call(x, x, x, { attnMask: causal, needWeights: false });
  assert(Number(whole.sub(fast).abs().max().item()) < 1e-6);
  assertThrows(() => attention.call(x, x, x, { isCausal: true }), DynError, "attnMask");
});

Deno.test("layers refuse counts that are none by the name of the argument", () => {
  const wrong: readonly (readonly [() => unknown, string])[] = [
    [
      () => new nn.Linear("a" as never, 3),
      'inFeatures of Linear to be an integer of at least 0 but found "a"',
    ],
    [() => new nn.Linear(3, 1.5), "outFeatures of Linear to be an integer of at least 0 but found 1.5"],
    [
      () => new nn.Embedding({ numEmbeddings: 4, embeddingDim: -2 }),
      "embeddingDim of Embedding to be an integer",
    ],
    [() => new nn.Conv2d(1, "b" as never, 3), "outChannels of Conv2d to be an integer"],
    [() => new nn.BatchNorm1d(NaN), "numFeatures of BatchNorm to be an integer"],
    [() => new nn.LSTM(4, "b" as never), "hiddenSize of LSTM to be an integer"],
    [() => new nn.LSTM(0, 4), "inputSize of LSTM to be an integer of at least 1 but found 0"],
    [() => new nn.GRU(4, 2, 1.5), "numLayers of GRU to be an integer"],
    [() => new nn.RNN(4, 2, { numLayers: "2" as never }), "numLayers of RNN to be an integer"],
    [() => new nn.LSTM(4, 2, { dropout: "0.5" as never }), 'dropout of LSTM to be in [0, 1] but found "0.5"'],
    [() => new nn.MultiheadAttention(8, "b" as never), "numHeads of MultiheadAttention to be an integer"],
  ];
  for (const [make, message] of wrong) assertThrows(make, DynError, `Expected ${message}`);
  assertEquals(new nn.Linear(0, 3).weight.shape, [3, 0]);
});

Deno.test("flags of layers, optimizers and loaders are booleans: another value counted as true", () => {
  const p = new nn.Parameter(dyn.zeros([2])), x = tensor([1, 2], { dtype: "float32" });
  const calls: Readonly<Record<string, (value: never) => unknown>> = {
    bias: (bias) => new nn.Linear(2, 3, bias),
    batchFirst: (batchFirst) => new nn.LSTM(2, 3, { batchFirst }),
    affine: (affine) => new nn.BatchNorm1d(2, { affine }),
    ceilMode: (ceilMode) => new nn.MaxPool2d(2, { ceilMode }),
    inplace: (inplace) => new nn.ReLU(inplace),
    normFirst: (normFirst) => new nn.TransformerEncoderLayer(2, 1, { normFirst }),
    nesterov: (nesterov) => new dyn.optim.SGD([p], { lr: 0.1, momentum: 0.9, nesterov }),
    shuffle: (shuffle) => new dyn.data.DataLoader([1, 2], { shuffle }),
    validateArgs: (validateArgs) => new dyn.distributions.Normal(x, x, { validateArgs }),
    useBuffers: (useBuffers) => new dyn.optim.swaUtils.AveragedModel(new nn.ReLU(), { useBuffers }),
    cycleMomentum: (cycleMomentum) =>
      new dyn.optim.lrScheduler.CyclicLR(new dyn.optim.SGD([p], { lr: 0.1 }), 0.1, 1, { cycleMomentum }),
    errorIfNonfinite: (errorIfNonfinite) => nn.utils.getTotalNorm([x], { errorIfNonfinite }),
    hasAux: (hasAux) => dyn.func.grad((x: Tensor) => x.sum(), { hasAux }),
    isCausal: (isCausal) => new nn.TransformerEncoderLayer(2, 1).call(x.reshape(1, 2), null, null, isCausal),
    strict: (strict) => new nn.ReLU().loadStateDict({}, strict),
    training: (training) => nn.functional.batchNorm(x.reshape(2, 1), tensor([0]), tensor([1]), { training }),
  };
  for (const [name, call] of Object.entries(calls)) {
    for (const value of ["false", 0, [], () => true]) {
      assertThrows(() => call(value as never), DynError, `Expected ${name} of `, name);
    }
    call(false as never);
  }
});

Deno.test("settings that are changed between calls hold from the next call on", () => {
  const x = arange(16, { dtype: "float32" }).reshape([1, 1, 4, 4]), rows = x.reshape([1, 4, 4]);
  const changed = <M extends nn.Layer>(layer: M, change: (layer: M) => void, input: Tensor) => {
    const f = compile((x: Tensor) => layer.call(x), { backend: "eager", fullgraph: true });
    f(input);
    change(layer);
    assertEquals(f(input).tolist(), layer.call(input).tolist());
    return layer.call(input);
  };
  const shapes = [
    changed(new nn.Upsample({ scaleFactor: 2 }), (up) => up.scaleFactor = 3, x),
    changed(new nn.Upsample(2), (up) => [up.size, up.mode] = [3, "bilinear"], x),
    changed(new nn.Unfold(2), (windows) => [windows.stride, windows.padding] = [2, 1], x),
  ].map(({ shape }) => shape);
  assertEquals(shapes, [[1, 1, 12, 12], [1, 1, 3, 3], [1, 4, 9]]);
  const cell = changed(new nn.RNNCell(4, 2), (cell) => cell.nonlinearity = "relu", rows.select(0, 0).neg());
  assertEquals(cell.tolist(), cell.relu().tolist());
  const batch = new nn.BatchNorm1d(4);
  changed(batch, (norm) => norm.trackRunningStats = false, rows);
  // One call before the change: a tenth of the means of the rows
  assert(batch.runningMean?.sub(tensor([0.15, 0.55, 0.95, 1.35])).abs().max().lt(1e-6).item());
  assertEquals(batch.numBatchesTracked?.item(), 1);
  const tracked = batch.eval().call(rows).tolist();
  batch.trackRunningStats = true;
  assertEquals(batch.call(rows).tolist(), tracked);
  const each = new nn.InstanceNorm1d(4, { trackRunningStats: true }).eval(), own = new nn.InstanceNorm1d(4);
  each.trackRunningStats = false;
  assertEquals(each.call(rows).tolist(), own.call(rows).tolist());
});

Deno.test("layers have the settings that they print", () => {
  const settings: readonly (readonly [nn.Module, Readonly<Record<string, unknown>>])[] = [
    [new nn.BatchNorm2d(2, { affine: false }), { affine: false, trackRunningStats: true }],
    [new nn.InstanceNorm1d(2), { affine: false, trackRunningStats: false }],
    [new nn.GroupNorm(1, 2), { affine: true }],
    [new nn.LayerNorm(2), { elementwiseAffine: true }],
    [new nn.RMSNorm(2, { elementwiseAffine: false }), { elementwiseAffine: false }],
    [new nn.GRUCell(2, 2, { bias: false }), { bias: false }],
    [new nn.Fold(2, 2, { padding: 1 }), { dilation: 1, padding: 1, stride: 1 }],
    [new nn.PReLU(3), { numParameters: 3 }],
    [new nn.UpsamplingBilinear2d({ size: 4 }), { size: 4, mode: "bilinear", alignCorners: true }],
  ];
  for (const [layer, wanted] of settings) {
    const found = Object.keys(wanted).map((name) => [name, Reflect.get(layer, name)]);
    assertEquals(Object.fromEntries(found), wanted, `${layer}`);
  }
});

Deno.test("norms over statistics refuse other ranks and channels", () => {
  for (
    const [BatchNorm, InstanceNorm, rank] of [
      [nn.BatchNorm1d, nn.InstanceNorm1d, 3],
      [nn.BatchNorm2d, nn.InstanceNorm2d, 4],
      [nn.BatchNorm3d, nn.InstanceNorm3d, 5],
    ] as const
  ) {
    const shape = new Array<number>(rank).fill(2);
    for (const norm of [new BatchNorm(2), new InstanceNorm(2, { affine: true })]) {
      assertEquals(norm.call(randn(shape)).shape, shape);
      assertThrows(
        () => norm.call(randn([...shape, 2])),
        DynError,
        `dimensions but found shape [${[...shape, 2]}]`,
      );
      const [, , ...size] = shape;
      assertThrows(
        () => norm.call(randn([2, 3, ...size])),
        DynError,
        "Expected 2 channels but found shape [2,3",
      );
    }
    const [, ...image] = shape, [, ...size] = image;
    assertEquals(new InstanceNorm(2, { affine: true }).call(randn(image)).shape, image);
    assertThrows(
      () => new InstanceNorm(2, { affine: true }).call(randn([3, ...size])),
      DynError,
      "Expected 2 channels but found shape [3",
    );
  }
});

Deno.test("masks of decoders hide what follows", () => {
  const mask = nn.Transformer.generateSquareSubsequentMask(3);
  assertEquals(mask.tolist(), [[0, -Infinity, -Infinity], [0, 0, -Infinity], [0, 0, 0]]);
  assertEquals(nn.Transformer.generateSquareSubsequentMask(2, { dtype: "float64" }).dtype, "float64");
});

Deno.test("similarities and distances take their eps", () => {
  const x = tensor([[0.5, 0]]);
  assertEquals(new nn.CosineSimilarity({ eps: 1 }).call(x, x).tolist(), [0.25]);
  assertEquals(new nn.CosineSimilarity().call(x, x).tolist(), [1]);
  assertEquals(new nn.PairwiseDistance(1, { eps: 0.25 }).call(x, x).tolist(), [0.5]);
});

Deno.test("a loss whose reduction or other setting is changed computes the new one", () => {
  const x = tensor([[1.5, -2], [0.25, 3]]), y = tensor([[1, -1], [1, 1]], { dtype: "float32" });
  const pairs: readonly (readonly [nn.Module, nn.Module, readonly Tensor[]])[] = [
    ...[nn.MSELoss, nn.L1Loss, nn.SmoothL1Loss, nn.HuberLoss, nn.KLDivLoss, nn.SoftMarginLoss].map((Loss) =>
      [new Loss(), new Loss({ reduction: "none" }), [x, y]] as const
    ),
    [new nn.MultiLabelMarginLoss(), new nn.MultiLabelMarginLoss({ reduction: "none" }), [
      x,
      tensor([[1, -1], [0, 1]]),
    ]],
    [new nn.GaussianNLLLoss(), new nn.GaussianNLLLoss({ reduction: "none" }), [x, y, y.abs()]],
    [new nn.PoissonNLLLoss(), new nn.PoissonNLLLoss({ reduction: "none" }), [x, y]],
    [new nn.TripletMarginLoss(), new nn.TripletMarginLoss({ reduction: "none" }), [x, y, x.neg()]],
    [new nn.TripletMarginWithDistanceLoss(), new nn.TripletMarginWithDistanceLoss({ reduction: "none" }), [
      x,
      y,
      x.neg(),
    ]],
    [new nn.CTCLoss(), new nn.CTCLoss({ reduction: "none" }), [
      randn(3, 2, 4).logSoftmax(2),
      tensor([[1, 2], [3, 1]]),
      tensor([3, 3]),
      tensor([2, 1]),
    ]],
  ];
  const other: typeof pairs = [
    [new nn.HuberLoss(), new nn.HuberLoss({ delta: 0.5 }), [x, y]],
    [new nn.SmoothL1Loss(), new nn.SmoothL1Loss({ beta: 0.5 }), [x, y]],
    [new nn.CosineSimilarity(), new nn.CosineSimilarity(0), [x, y]],
    [new nn.PairwiseDistance(), new nn.PairwiseDistance(1, { keepdim: true }), [x, y]],
  ];
  const settings = ["reduction", "delta", "beta", "dim", "norm", "keepdim"];
  for (const [changed, made, inputs] of [...pairs, ...other]) {
    const run = (loss: nn.Module) => Reflect.apply(loss.call, loss, inputs).tolist(), former = run(changed);
    for (const name of settings) if (name in made) Reflect.set(changed, name, Reflect.get(made, name));
    assertEquals(run(changed), run(made), `${made}`);
    assert(JSON.stringify(run(changed)) !== JSON.stringify(former), `${made}`);
  }
});

Deno.test("losses of tensors that broadcast say so once, with the program's line", () => {
  const { functional: F } = nn, told: string[] = [];
  const losses = {
    mseLoss: F.mseLoss,
    l1Loss: F.l1Loss,
    smoothL1Loss: F.smoothL1Loss,
    huberLoss: F.huberLoss,
  };
  logs.capture("-usage", (_, text) => told.push(text), () => {
    for (const loss of Object.values(losses)) {
      loss(randn([2, 1, 1, 1, 1, 1]), randn([2, 1, 1, 1, 1, 1]));
      for (let i = 0; i < 2; i++) loss(randn([2, 1, 1, 1, 1, 1]), randn([3]));
      compile((x: Tensor) => loss(x, x.reshape(-1)))(randn([5, 1, 1, 1, 1, 1]));
    }
  });
  assertEquals(told, []);
  logs.capture("usage", (artifact, text, { level }) => told.push(`${artifact} ${level} ${text}`), () => {
    for (const loss of Object.values(losses)) {
      for (let i = 0; i < 2; i++) loss(randn([2, 1, 1, 1, 1]), randn([3]));
      compile((x: Tensor) => loss(x, x.reshape(-1)))(randn([5, 1, 1, 1, 1, 1, 1]));
    }
  });
  assertEquals(told.length, 8);
  for (const [k, name] of Object.keys(losses).entries()) {
    const [first = "", compiled = ""] = told.slice(2 * k);
    assertMatch(
      first,
      new RegExp(
        `^usage warning ${name} compares an input of shape \\[2, 1, 1, 1, 1\\] with a target of shape \\[3\\], ` +
          "both broadcast to \\[2, 1, 1, 1, 3\\]; reshape one of them .*\n +at .*layers_test\\.ts:\\d+",
      ),
    );
    assertMatch(compiled, new RegExp(`^usage warning ${name} .* \\[5, 1, 1, 1, 1, 1, 1\\] .* \\[5\\], both`));
  }
});

Deno.test("the mean cross entropy of probabilities of no classes is no number, as PyTorch's", () => {
  const { crossEntropy } = nn.functional, none = dyn.zeros([5, 0]);
  const mean = (x: Tensor) => crossEntropy(x, x);
  assertEquals([mean(none).item(), compile(mean, { backend: "aot_eager" })(none).item()], [NaN, NaN]);
  assertEquals(crossEntropy(none, none, { reduction: "sum" }).add(0).item(), 0);
});
