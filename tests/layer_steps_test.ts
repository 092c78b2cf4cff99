/**
 * Every layer of `nn` as part of a captured training step: forward, backward and an SGD step, twice, as one graph
 * (`fullgraph: true`), against the same steps run eagerly. The table below is compared with the exports, so that a
 * layer without an entry fails. With DYN_TEST_ALL=1 the steps run as kernels too.
 */
import { assert, assertEquals } from "@std/assert";
import { arange, compile, compiler, isTensor, manualSeed, nn, noGrad, optim, rand, randn } from "../mod.ts";
import { type Tensor, tensor } from "../mod.ts";
import "./support/turns/models.ts";
import { sampleBySeed, TAKES_ALL } from "./support/sampling.ts";

/** A layer and what it is called with. */
interface Entry {
  readonly make: () => nn.Module;
  readonly inputs: () => readonly unknown[];
}

const signal = (...shape: number[]) => (): readonly Tensor[] => [randn(shape)];
const image = signal(2, 4, 6, 6), sequence = signal(2, 4, 8), volume = signal(2, 4, 4, 4, 4);
const positive = (...shape: number[]) => (): readonly Tensor[] => [rand(shape).add(0.1)];
const table = signal(3, 4);
const POOLED = { returnIndices: true } as const;

/** Returns the maxima of a pooling layer, and their places. */
function maxima(
  pool: { call(x: Tensor): [Tensor, Tensor] },
  inputs: () => readonly Tensor[],
): readonly Tensor[] {
  return noGrad(() => inputs().flatMap((x) => pool.call(x)));
}
const classes = () => tensor([2, 0, 1], { dtype: "int64" });
const signs = () => tensor([1, -1, 1]);

const of = (make: () => nn.Module, inputs: () => readonly unknown[]): Entry => ({ make, inputs });

/** A layer that takes its sizes from a first call. */
const lazy = (make: () => nn.Module, inputs: () => readonly Tensor[]): Entry => ({
  make() {
    const layer = make();
    noGrad(() => Reflect.apply(layer.call, layer, inputs()));
    return layer;
  },
  inputs,
});

const LAYERS: Readonly<Record<string, Entry>> = {
  Sequential: of(() => new nn.Sequential(new nn.Linear(4, 3), new nn.ReLU({ inplace: true })), table),
  Linear: of(() => new nn.Linear(4, 3), table),
  Bilinear: of(() => new nn.Bilinear(4, 2, 3), () => [randn([3, 4]), randn([3, 2])]),
  Identity: of(() => new nn.Identity(), table),
  Flatten: of(() => new nn.Flatten(), image),
  Unflatten: of(() => new nn.Unflatten(1, [2, 2]), table),
  Embedding: of(() => new nn.Embedding(5, 3, { paddingIdx: 1 }), () => [tensor([[0, 1], [4, 0]])]),
  Conv1d: of(() => new nn.Conv1d(4, 2, 3, { padding: 1 }), sequence),
  Conv2d: of(() => new nn.Conv2d(4, 6, 3, { stride: 2, padding: 1, groups: 2 }), image),
  Conv3d: of(() => new nn.Conv3d(4, 2, 2), volume),
  ConvTranspose1d: of(() => new nn.ConvTranspose1d(4, 2, 3, { stride: 2 }), sequence),
  ConvTranspose2d: of(() => new nn.ConvTranspose2d(4, 2, 2, { stride: 2 }), image),
  ConvTranspose3d: of(() => new nn.ConvTranspose3d(4, 2, 2), volume),
  EmbeddingBag: of(
    () => new nn.EmbeddingBag(5, 3, { mode: "sum" }),
    () => [tensor([0, 1, 4, 0]), tensor([0, 1, 3])],
  ),
  LPPool1d: of(() => new nn.LPPool1d(2, 2), positive(2, 4, 8)),
  LPPool2d: of(() => new nn.LPPool2d(2, 2), positive(2, 4, 6, 6)),
  LPPool3d: of(() => new nn.LPPool3d(3, 2), positive(2, 4, 4, 4, 4)),
  FractionalMaxPool2d: of(() => new nn.FractionalMaxPool2d(2, 3), image),
  FractionalMaxPool3d: of(() => new nn.FractionalMaxPool3d(2, 2), volume),
  MaxUnpool1d: of(
    () => new nn.MaxUnpool1d(2),
    () => [...maxima(new nn.MaxPool1d<true>(2, POOLED), sequence)],
  ),
  MaxUnpool2d: of(() => new nn.MaxUnpool2d(2), () => [...maxima(new nn.MaxPool2d<true>(2, POOLED), image)]),
  MaxUnpool3d: of(() => new nn.MaxUnpool3d(2), () => [...maxima(new nn.MaxPool3d<true>(2, POOLED), volume)]),
  MaxPool1d: of(() => new nn.MaxPool1d(2), sequence),
  MaxPool2d: of(() => new nn.MaxPool2d(3, 2, 1), image),
  MaxPool3d: of(() => new nn.MaxPool3d(2), volume),
  AvgPool1d: of(() => new nn.AvgPool1d(2), sequence),
  AvgPool2d: of(() => new nn.AvgPool2d(3, { padding: 1, countIncludePad: false }), image),
  AvgPool3d: of(() => new nn.AvgPool3d(2), volume),
  AdaptiveAvgPool1d: of(() => new nn.AdaptiveAvgPool1d(3), sequence),
  AdaptiveAvgPool2d: of(() => new nn.AdaptiveAvgPool2d([1, null]), image),
  AdaptiveAvgPool3d: of(() => new nn.AdaptiveAvgPool3d(2), volume),
  AdaptiveMaxPool1d: of(() => new nn.AdaptiveMaxPool1d(3), sequence),
  AdaptiveMaxPool2d: of(() => new nn.AdaptiveMaxPool2d(2), image),
  AdaptiveMaxPool3d: of(() => new nn.AdaptiveMaxPool3d(2), volume),
  ConstantPad1d: of(() => new nn.ConstantPad1d(1, 2), sequence),
  ConstantPad2d: of(() => new nn.ConstantPad2d(1, 2), image),
  ConstantPad3d: of(() => new nn.ConstantPad3d(1, 2), volume),
  ZeroPad1d: of(() => new nn.ZeroPad1d(1), sequence),
  ZeroPad2d: of(() => new nn.ZeroPad2d([1, 0, 2, 1]), image),
  ZeroPad3d: of(() => new nn.ZeroPad3d(1), volume),
  ReflectionPad1d: of(() => new nn.ReflectionPad1d(2), sequence),
  ReflectionPad2d: of(() => new nn.ReflectionPad2d(2), image),
  ReflectionPad3d: of(() => new nn.ReflectionPad3d(1), volume),
  ReplicationPad1d: of(() => new nn.ReplicationPad1d(2), sequence),
  ReplicationPad2d: of(() => new nn.ReplicationPad2d(2), image),
  ReplicationPad3d: of(() => new nn.ReplicationPad3d(1), volume),
  CircularPad1d: of(() => new nn.CircularPad1d(2), sequence),
  CircularPad2d: of(() => new nn.CircularPad2d(2), image),
  CircularPad3d: of(() => new nn.CircularPad3d(1), volume),
  ReLU: of(() => new nn.ReLU(), table),
  ReLU6: of(() => new nn.ReLU6(), table),
  LeakyReLU: of(() => new nn.LeakyReLU(0.2), table),
  ELU: of(() => new nn.ELU(), table),
  SELU: of(() => new nn.SELU(), table),
  CELU: of(() => new nn.CELU(2), table),
  GELU: of(() => new nn.GELU({ approximate: "tanh" }), table),
  SiLU: of(() => new nn.SiLU(), table),
  Mish: of(() => new nn.Mish(), table),
  Hardswish: of(() => new nn.Hardswish(), table),
  Sigmoid: of(() => new nn.Sigmoid(), table),
  LogSigmoid: of(() => new nn.LogSigmoid(), table),
  Tanh: of(() => new nn.Tanh(), table),
  Softplus: of(() => new nn.Softplus(), table),
  Softmax: of(() => new nn.Softmax(1), table),
  LogSoftmax: of(() => new nn.LogSoftmax(1), table),
  Softmax2d: of(() => new nn.Softmax2d(), image),
  Softmin: of(() => new nn.Softmin(1), table),
  GLU: of(() => new nn.GLU(), table),
  Hardshrink: of(() => new nn.Hardshrink(), table),
  Softshrink: of(() => new nn.Softshrink(), table),
  Tanhshrink: of(() => new nn.Tanhshrink(), table),
  Hardsigmoid: of(() => new nn.Hardsigmoid(), table),
  Hardtanh: of(() => new nn.Hardtanh(), table),
  Softsign: of(() => new nn.Softsign(), table),
  Threshold: of(() => new nn.Threshold(0.1, -1), table),
  PReLU: of(() => new nn.PReLU({ numParameters: 4 }), table),
  LazyLinear: lazy(() => new nn.LazyLinear(3), table),
  LazyConv1d: lazy(() => new nn.LazyConv1d(2, 3), sequence),
  LazyConv2d: lazy(() => new nn.LazyConv2d(2, 3), image),
  LazyConv3d: lazy(() => new nn.LazyConv3d(2, 2), volume),
  LazyConvTranspose1d: lazy(() => new nn.LazyConvTranspose1d(2, 3), sequence),
  LazyConvTranspose2d: lazy(() => new nn.LazyConvTranspose2d(2, 2), image),
  LazyConvTranspose3d: lazy(() => new nn.LazyConvTranspose3d(2, 2), volume),
  LazyBatchNorm1d: lazy(() => new nn.LazyBatchNorm1d(), table),
  LazyBatchNorm2d: lazy(() => new nn.LazyBatchNorm2d(), image),
  LazyBatchNorm3d: lazy(() => new nn.LazyBatchNorm3d(), volume),
  LazyInstanceNorm1d: lazy(() => new nn.LazyInstanceNorm1d({ affine: true }), sequence),
  LazyInstanceNorm2d: lazy(() => new nn.LazyInstanceNorm2d({ affine: true }), image),
  LazyInstanceNorm3d: lazy(() => new nn.LazyInstanceNorm3d({ affine: true }), volume),
  BatchNorm1d: of(() => new nn.BatchNorm1d(4), table),
  BatchNorm2d: of(() => new nn.BatchNorm2d(4), image),
  BatchNorm3d: of(() => new nn.BatchNorm3d(4), volume),
  InstanceNorm1d: of(() => new nn.InstanceNorm1d(4), sequence),
  InstanceNorm2d: of(() => new nn.InstanceNorm2d(4, { affine: true, trackRunningStats: true }), image),
  InstanceNorm3d: of(() => new nn.InstanceNorm3d(4), volume),
  GroupNorm: of(() => new nn.GroupNorm(2, 4), image),
  LayerNorm: of(() => new nn.LayerNorm(4), table),
  LocalResponseNorm: of(() => new nn.LocalResponseNorm(2), image),
  RMSNorm: of(() => new nn.RMSNorm(4), table),
  Dropout: of(() => new nn.Dropout(0.3), table),
  Dropout1d: of(() => new nn.Dropout1d(0.3), sequence),
  Dropout2d: of(() => new nn.Dropout2d(0.3), image),
  Dropout3d: of(() => new nn.Dropout3d(0.3), volume),
  AlphaDropout: of(() => new nn.AlphaDropout(0.3), table),
  FeatureAlphaDropout: of(() => new nn.FeatureAlphaDropout(0.3), image),
  RReLU: of(() => new nn.RReLU(), table),
  PixelShuffle: of(() => new nn.PixelShuffle(2), image),
  PixelUnshuffle: of(() => new nn.PixelUnshuffle(2), image),
  ChannelShuffle: of(() => new nn.ChannelShuffle(2), image),
  Fold: of(() => new nn.Fold([4, 5], 2), signal(2, 8, 12)),
  UpsamplingNearest2d: of(() => new nn.UpsamplingNearest2d({ scaleFactor: 2 }), image),
  UpsamplingBilinear2d: of(() => new nn.UpsamplingBilinear2d([5, 4]), image),
  Unfold: of(() => new nn.Unfold(2), image),
  Upsample: of(() => new nn.Upsample({ scaleFactor: 2, mode: "bilinear" }), image),
  RNN: of(() => new nn.RNN(4, 3, { nonlinearity: "relu" }), signal(5, 2, 4)),
  GRU: of(() => new nn.GRU(4, 3, { numLayers: 2, dropout: 0.2 }), signal(5, 2, 4)),
  LSTM: of(() => new nn.LSTM(4, 3, { bidirectional: true, batchFirst: true }), signal(2, 5, 4)),
  RNNCell: of(() => new nn.RNNCell(4, 3), table),
  GRUCell: of(() => new nn.GRUCell(4, 3), table),
  LSTMCell: of(() => new nn.LSTMCell(4, 3), table),
  MultiheadAttention: of(() => new nn.MultiheadAttention(4, 2, { dropout: 0.1 }), () => {
    const x = randn([3, 2, 4]);
    return [x, x, x];
  }),
  TransformerEncoderLayer: of(() => new nn.TransformerEncoderLayer(4, 2, 8), signal(3, 2, 4)),
  TransformerEncoder: of(
    () => new nn.TransformerEncoder(new nn.TransformerEncoderLayer(4, 2, 8), 2, new nn.LayerNorm(4)),
    signal(3, 2, 4),
  ),
  TransformerDecoderLayer: of(
    () => new nn.TransformerDecoderLayer(4, 2, 8),
    () => [randn([3, 2, 4]), randn([2, 2, 4])],
  ),
  TransformerDecoder: of(
    () => new nn.TransformerDecoder(new nn.TransformerDecoderLayer(4, 2, 8), 2, new nn.LayerNorm(4)),
    () => [randn([3, 2, 4]), randn([2, 2, 4])],
  ),
  Transformer: of(
    () =>
      new nn.Transformer({
        dModel: 4,
        nhead: 2,
        numEncoderLayers: 1,
        numDecoderLayers: 1,
        dimFeedforward: 8,
      }),
    () => [randn([3, 2, 4]), randn([2, 2, 4])],
  ),
  AdaptiveLogSoftmaxWithLoss: of(
    () => new nn.AdaptiveLogSoftmaxWithLoss(8, 6, [2, 4], { divValue: 2 }),
    () => [randn([3, 8]), tensor([5, 0, 3])],
  ),
  LinearCrossEntropyLoss: of(() => new nn.LinearCrossEntropyLoss(4, 3), () => [randn([3, 4]), classes()]),
  CTCLoss: of(
    () => new nn.CTCLoss(),
    () => [randn([5, 2, 4]).logSoftmax(-1).detach(), tensor([[1, 2], [3, 3]]), [5, 4], [2, 2]],
  ),
  MultiLabelMarginLoss: of(
    () => new nn.MultiLabelMarginLoss(),
    () => [randn([2, 4]), tensor([[3, 0, -1, 1], [1, -1, 2, 0]])],
  ),
  TripletMarginWithDistanceLoss: of(
    () => new nn.TripletMarginWithDistanceLoss({ distanceFunction: (a, b) => a.sub(b).abs().sum(-1) }),
    () => [randn([3, 4]), randn([3, 4]), randn([3, 4])],
  ),
  CrossEntropyLoss: of(
    () => new nn.CrossEntropyLoss({ weight: rand([4]), labelSmoothing: 0.1 }),
    () => [randn([3, 4]), classes()],
  ),
  NLLLoss: of(() => new nn.NLLLoss(), () => [randn([3, 4]), classes()]),
  BCELoss: of(() => new nn.BCELoss(), () => [rand([3, 4]), rand([3, 4])]),
  BCEWithLogitsLoss: of(
    () => new nn.BCEWithLogitsLoss({ posWeight: rand([4]) }),
    () => [randn([3, 4]), rand([3, 4])],
  ),
  MSELoss: of(() => new nn.MSELoss(), () => [randn([3, 4]), randn([3, 4])]),
  L1Loss: of(() => new nn.L1Loss({ reduction: "sum" }), () => [randn([3, 4]), randn([3, 4])]),
  SmoothL1Loss: of(() => new nn.SmoothL1Loss(), () => [randn([3, 4]), randn([3, 4])]),
  HuberLoss: of(() => new nn.HuberLoss(), () => [randn([3, 4]), randn([3, 4])]),
  KLDivLoss: of(() => new nn.KLDivLoss({ reduction: "batchmean" }), () => [randn([3, 4]), rand([3, 4])]),
  CosineEmbeddingLoss: of(
    () => new nn.CosineEmbeddingLoss(0.1),
    () => [randn([3, 4]), randn([3, 4]), signs()],
  ),
  HingeEmbeddingLoss: of(() => new nn.HingeEmbeddingLoss(), () => [randn([3]), signs()]),
  MarginRankingLoss: of(() => new nn.MarginRankingLoss(0.5), () => [randn([3]), randn([3]), signs()]),
  TripletMarginLoss: of(
    () => new nn.TripletMarginLoss({ swap: true }),
    () => [randn([3, 4]), randn([3, 4]), randn([3, 4])],
  ),
  MultiMarginLoss: of(() => new nn.MultiMarginLoss(), () => [randn([3, 4]), classes()]),
  SoftMarginLoss: of(() => new nn.SoftMarginLoss(), () => [randn([3]), signs()]),
  MultiLabelSoftMarginLoss: of(
    () => new nn.MultiLabelSoftMarginLoss(),
    () => [randn([3, 4]), randn([3, 4]).gt(0).to("float32")],
  ),
  GaussianNLLLoss: of(
    () => new nn.GaussianNLLLoss(),
    () => [randn([3, 4]), randn([3, 4]), rand([3, 4]).add(0.1)],
  ),
  PoissonNLLLoss: of(() => new nn.PoissonNLLLoss(), () => [randn([3, 4]), rand([3, 4])]),
  CosineSimilarity: of(() => new nn.CosineSimilarity(), () => [randn([3, 4]), randn([3, 4])]),
  PairwiseDistance: of(() => new nn.PairwiseDistance(), () => [randn([3, 4]), randn([3, 4])]),
};

/** Containers, whose owner calls their modules or parameters, and base classes. */
const NO_LAYERS: ReadonlySet<string> = new Set([
  "Module",
  "ModuleList",
  "ModuleDict",
  "ParameterDict",
  "ParameterList",
  "RNNBase",
  "RNNCellBase",
]);

Deno.test("every layer has an entry in the table of steps", () => {
  const layers = Object.entries(nn).filter(([, value]) =>
    typeof value === "function" && value.prototype instanceof nn.Module
  ).map(([name]) => name);
  assertEquals(
    Object.keys(LAYERS).sort(),
    layers.filter((name) => !NO_LAYERS.has(name)).sort(),
  );
});

function* tensorsIn(value: unknown): Generator<Tensor> {
  if (isTensor(value)) yield value;
  else if (Array.isArray(value)) { for (const each of value) yield* tensorsIn(each); }
}

/** A sum without cancellation that depends on each element of each result in its own way. */
function weighted(results: readonly Tensor[]): Tensor {
  return results.map((each) => {
    const weights = arange(each.numel()).mul(37).remainder(101).div(101).add(0.5).reshape([...each.shape]);
    return each.mul(weights).square().sum();
  }).reduce((a, b) => a.add(b));
}

interface Outcome {
  readonly losses: readonly Tensor[];
  readonly state: readonly (readonly [string, Tensor])[];
}

/** Two steps from the same seed; the layer's first input is trained like a parameter where it is a float. */
function train({ make, inputs }: Entry, wrap: (step: () => Tensor) => () => Tensor): Outcome {
  manualSeed(11);
  const layer = make(), given = inputs();
  const [first] = given;
  const trained: Tensor[] = [...layer.parameters()];
  if (isTensor(first) && first.isFloatingPoint()) trained.push(first.requiresGrad_());
  const optimizer = new optim.SGD(trained, { lr: 0.05 });
  const forward: unknown = Reflect.get(layer, "call");
  assert(typeof forward === "function");
  const step = wrap(() => {
    optimizer.zeroGrad();
    const loss = weighted([...tensorsIn(Reflect.apply(forward, layer, given))]);
    loss.backward();
    optimizer.step();
    return loss.detach();
  });
  const losses = [step(), step()];
  const state: [string, Tensor][] = Object.entries(layer.stateDict());
  if (isTensor(first) && first.requiresGrad) state.push(["input", first.detach()]);
  return { losses, state };
}

/** The root mean square of a difference is at most 2⁻¹⁸ of the wanted values'. */
function agree(name: string, got: Tensor | undefined, want: Tensor): void {
  assert(got, `${name} is missing`);
  assertEquals([got.dtype, got.shape], [want.dtype, want.shape], name);
  const size = (t: Tensor) => noGrad(() => Number(t.to("float64").square().mean().sqrt().item()));
  const error = size(got.to("float64").sub(want.to("float64"))), scale = size(want);
  assert(error <= scale * 2 ** -18, `${name}: an error of ${error} where values are of size ${scale}`);
}

const BACKENDS = TAKES_ALL ? ["eager", "aot_eager", "inductor"] : ["aot_eager"];

for (const backend of BACKENDS) {
  Deno.test(`a training step of every layer is one graph, backend ${backend}`, () => {
    const failures: string[] = [];
    for (const [name, entry] of sampleBySeed(Object.entries(LAYERS), 20)) {
      try {
        compiler.reset();
        const want = train(entry, (step) => step);
        let compiled: (() => Tensor) | undefined;
        const got = train(entry, (step) => compiled = compile(step, { backend, fullgraph: true }));
        want.losses.forEach((loss, i) => agree(`loss ${i}`, got.losses[i], loss));
        want.state.forEach(([key, value], i) => agree(key, got.state[i]?.[1], value));
        assert(compiled);
        const { graphs, graphBreaks, recompiles } = compiler.status(compiled);
        assertEquals({ graphs, graphBreaks, recompiles }, { graphs: 1, graphBreaks: 0, recompiles: 0 });
      } catch (error) {
        failures.push(`${name}: ${error instanceof Error ? error.message : error}`);
      }
    }
    assertEquals(failures, []);
  });
}
