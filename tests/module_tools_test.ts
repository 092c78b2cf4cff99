/**
 * Tools around layers: copies of modules, initialisation, gradient clipping, in-place functions and layers, named
 * arguments. Numbers are PyTorch's or follow from the definition.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  compile,
  compiler,
  data,
  distributions,
  DynError,
  empty,
  isTensor,
  manualSeed,
  nn,
  noGrad,
  ones,
  optim,
  randn,
  type Tensor,
  tensor,
  zeros,
} from "../mod.ts";
import "./support/turns/programs.ts";

const F = nn.functional;

class Tied extends nn.Module {
  readonly embedding = new nn.Embedding(4, 3);
  readonly head = new nn.Linear(3, 4, { bias: false });
  readonly sizes = { widths: [3, 4], since: new Date(5) };
  constructor() {
    super();
    this.head.weight = this.embedding.weight;
    this.registerBuffer("table", randn([2, 3]));
    this.registerBuffer("row", this.table.select(0, 1));
  }
  declare table: Tensor;
  declare row: Tensor;
  override forward(x: Tensor): Tensor {
    return this.head.call(this.embedding.call(x).add(this.row));
  }
}

Deno.test("members of modules are listed according to arguments by position or by name, each once by default", () => {
  const tied = new Tied(), list = new nn.ModuleList([tied, tied]);
  const names = (entries: readonly (readonly [string, unknown])[]) => entries.map(([name]) => name);
  assertEquals(names(list.namedParameters("m")), ["m.0.embedding.weight"]);
  assertEquals(names(list.namedParameters({ prefix: "m", recurse: true })), ["m.0.embedding.weight"]);
  assertEquals(names(tied.head.namedParameters({ prefix: "h", recurse: false })), ["h.weight"]);
  assertEquals(
    names(list.namedParameters("", true, false)),
    [0, 1].flatMap((k) => ["embedding", "head"].map((part) => `${k}.${part}.weight`)),
  );
  assertEquals(names(list.namedBuffers({ prefix: "m" })), ["m.0.table", "m.0.row"]);
  assertEquals(names(list.namedBuffers({ removeDuplicate: false })).length, 4);
  const below = ["embedding", "head"];
  assertEquals(names(tied.namedModules({ prefix: "t" })), ["t", ...below.map((name) => `t.${name}`)]);
  assertEquals(names(list.namedModules({ removeDuplicate: false })).length, 7);
  assertEquals(Object.keys(tied.head.stateDict({ prefix: "head." })), ["head.weight"]);
  assertEquals([tied.parameters({ recurse: false }), tied.buffers({ recurse: false }).length], [[], 2]);
  assertThrows(() => tied.namedParameters({ prefx: "m" } as object), DynError, "found prefx");
  assertThrows(() => tied.parameters({ recursive: false } as object), DynError, "found recursive");
});

Deno.test("flags of modules, tensors and optimizers may be named", () => {
  const layer = new nn.Linear(2, 1), optimizer = new optim.SGD(layer.parameters(), { lr: 0.1 });
  for (
    const zero of [
      (keep: boolean) => layer.zeroGrad(keep),
      (keep: boolean) => optimizer.zeroGrad({ setToNone: keep }),
    ]
  ) {
    layer.call(ones([1, 2])).sum().backward();
    zero(false);
    assertEquals(layer.weight.grad?.tolist(), [[0, 0]]);
    zero(true);
    assertEquals(layer.weight.grad, null);
  }
  assertEquals(layer.train({ mode: false }).training, false);
  assertEquals(layer.requiresGrad_({ requiresGrad: false }).weight.requiresGrad, false);
  const f = compile((x: Tensor) => x.mul(2).detach().requiresGrad_({ requiresGrad: true }), {
    backend: "eager",
  });
  assertEquals(f(ones([2])).requiresGrad, true);
});

Deno.test("values that would break a module are rejected: names of methods and with dots, and types without gradients", () => {
  const layer = new nn.Linear(2, 1), { weight } = layer;
  for (const name of ["forward", "a.b", "", "weight"]) {
    assertThrows(() => layer.registerBuffer(name, ones([1])), DynError, "for a buffer but found");
  }
  assertThrows(() => layer.addModule("weight", new nn.ReLU()), DynError, "found weight, a Parameter");
  assertThrows(() => new nn.ModuleDict({ "a.b": layer }), DynError, "without dots");
  assertThrows(() => layer.registerParameter("train", weight), DynError, "found train, a function");
  assertThrows(() => layer.to("int64"), DynError, "Expected a floating or complex type");
  assertEquals(weight.dtype, "float32");
  assertEquals([new nn.ModuleDict({ a: layer }).length, new nn.ParameterDict({ a: weight }).length], [1, 1]);
});

Deno.test("modules and parameters by name come as an object, a Map or pairs", () => {
  const layer = new nn.Linear(2, 1), weight = ones([1]);
  for (const given of [{ a: layer }, new Map([["a", layer]]), [["a", layer] as const]]) {
    assertEquals(new nn.ModuleDict(given).get("a"), layer);
    assertEquals(Object.keys(new nn.ModuleDict(given).stateDict()), ["a.weight", "a.bias"]);
  }
  for (const given of [{ a: weight }, new Map([["a", weight]]), [["a", weight] as const]]) {
    assertEquals(Object.keys(new nn.ParameterDict(given).stateDict()), ["a"]);
  }
  const wrong = () => Reflect.construct(nn.ModuleDict, [[layer]]);
  assertThrows(wrong, DynError, "Expected a list for a name and a value in ModuleDict but found Linear(");
});

Deno.test("a cloned module shares nothing with the original, and preserves sharing within", () => {
  const model = new Tied(), calls: string[] = [];
  model.registerForwardHook(() => void calls.push("hook"));
  model.embedding.weight.grad = randn([4, 3]);
  const copy = model.clone();
  assert(copy instanceof Tied && copy !== model);
  assert(copy.head.weight === copy.embedding.weight && copy.head.weight !== model.head.weight);
  assert(copy.head.weight instanceof nn.Parameter && copy.head.weight.requiresGrad);
  assertEquals(copy.head.weight.grad?.tolist(), model.head.weight.grad?.tolist());
  assert(copy.sizes !== model.sizes && copy.sizes.since instanceof Date);
  assertEquals(copy.sizes, model.sizes);
  assertEquals(Object.keys(copy.stateDict()), Object.keys(model.stateDict()));
  const x = tensor([0, 3], { dtype: "int64" }), before = model.call(x).tolist();
  assertEquals(copy.call(x).tolist(), before);
  assertEquals(calls, ["hook", "hook"]);
  // A view of a buffer is one of the copy's
  noGrad(() => copy.table.fill_(9));
  assertEquals(copy.row.tolist(), [9, 9, 9]);
  noGrad(() => copy.embedding.weight.zero_());
  assertEquals(model.call(x).tolist(), before);
});

Deno.test("clones of compiled modules are not compiled, of optimizers in modules follow their parameters", () => {
  class Trainer extends nn.Module {
    readonly net = new nn.Linear(2, 1);
    readonly optimizer = new optim.Adam(this.net.parameters(), { lr: 0.1 });
    override forward(x: Tensor): Tensor {
      return this.net.call(x);
    }
  }
  const trainer = new Trainer().compile({ backend: "eager" });
  trainer.call(randn([2, 2])).sum().backward();
  trainer.optimizer.step();
  const copy = trainer.clone();
  assertEquals(copy.compiledForward, null);
  const [parameter] = copy.optimizer.paramGroups[0]?.params ?? [];
  assert(parameter === copy.net.weight && copy.optimizer.state.has(copy.net.weight));
});

Deno.test("objects that cannot be cloned are rejected with a reason", () => {
  class Private extends nn.Module {
    readonly #scale = 2;
    override forward(x: Tensor): Tensor {
      return x.mul(this.#scale);
    }
  }
  assertThrows(() => new Private().clone(), DynError, "Private, which has private members");
  const model = new nn.Linear(2, 2);
  Reflect.set(model, "last", model.call(randn([1, 2])));
  assertThrows(() => model.clone(), DynError, "detach() it first");
  assertThrows(() => structuredClone(model), DOMException, "module.clone() copies");
  assertThrows(() => structuredClone(randn([2])), DOMException, "tensor.clone() copies");
});

Deno.test("every layer can be cloned", () => {
  for (const layer of [new nn.LSTM(2, 3), new nn.BatchNorm2d(2), new nn.MultiheadAttention(4, 2)]) {
    const copy = layer.clone();
    assertEquals(copy.toString(), layer.toString());
    assertEquals(Object.keys(copy.stateDict()), Object.keys(layer.stateDict()));
  }
});

Deno.test("attention's output projection is a submodule with PyTorch's keys", () => {
  const attention = new nn.MultiheadAttention({ embedDim: 4, numHeads: 2 });
  assert(attention.outProj instanceof nn.Linear);
  assertEquals(Object.keys(attention.stateDict()), [
    "in_proj_weight",
    "in_proj_bias",
    "out_proj.weight",
    "out_proj.bias",
  ]);
  assertEquals(attention.namedModules().map(([name]) => name), ["", "out_proj"]);
  const seen: unknown[] = [];
  attention.outProj.registerForwardHook((_, __, output) => void seen.push(output));
  const x = randn([3, 1, 4]);
  const [output] = attention.call(x, x, x);
  const [hooked] = seen;
  assert(isTensor(hooked));
  assertEquals(output.flatten().tolist(), hooked.flatten().tolist());
});

Deno.test("arguments of layers may be named, required ones too", () => {
  const patches = new nn.Conv2d(3, 8, { kernelSize: 4, stride: 4 });
  assertEquals([patches.kernelSize, patches.stride, patches.weight.shape], [[4, 4], [4, 4], [8, 3, 4, 4]]);
  assertEquals(new nn.Linear({ inFeatures: 2, outFeatures: 3, bias: false }).weight.shape, [3, 2]);
  assertEquals(new nn.MaxPool2d({ kernelSize: 3, stride: 2, padding: 1 }).stride, 2);
  assertEquals(new nn.LSTM({ inputSize: 2, hiddenSize: 3 }).hiddenSize, 3);
  assertThrows(() => Reflect.construct(nn.Conv2d, [3, 8, { stride: 4 }]), DynError, "kernelSize of Conv2d");
  assertThrows(() => Reflect.construct(nn.Linear, [3]), DynError, "outFeatures of Linear");
});

Deno.test("layers and functions in place write into their input and record the same gradients", () => {
  const layers: readonly [nn.Layer, nn.Layer][] = [
    [new nn.ReLU(), new nn.ReLU({ inplace: true })],
    [new nn.ReLU6(), new nn.ReLU6(true)],
    [new nn.LeakyReLU(0.2), new nn.LeakyReLU(0.2, true)],
    [new nn.ELU(), new nn.ELU({ inplace: true })],
    [new nn.CELU(2), new nn.CELU(2, { inplace: true })],
    [new nn.SELU(), new nn.SELU(true)],
    [new nn.SiLU(), new nn.SiLU({ inplace: true })],
    [new nn.Mish(), new nn.Mish({ inplace: true })],
    [new nn.Hardswish(), new nn.Hardswish(true)],
    [new nn.Hardsigmoid(), new nn.Hardsigmoid(true)],
    [new nn.Hardtanh(-0.5, 0.5), new nn.Hardtanh(-0.5, 0.5, true)],
    [new nn.Threshold(0.1, 5), new nn.Threshold(0.1, 5, { inplace: true })],
    [new nn.Dropout(0.4), new nn.Dropout(0.4, true)],
    [new nn.Dropout2d({ p: 0.4 }), new nn.Dropout2d({ p: 0.4, inplace: true })],
  ];
  const x = randn([2, 3, 4, 4]), weights = randn([2, 3, 4, 4]);
  for (const [apart, within] of layers) {
    const run = (layer: nn.Layer) => {
      manualSeed(1);
      const leaf = x.clone().requiresGrad_(), inner = leaf.mul(2), result = layer.call(inner);
      result.mul(weights).sum().backward();
      // Only the sign of a gradient that is 0 may differ
      return { result, inner, grad: leaf.grad?.add(0).tolist() };
    };
    const want = run(apart), got = run(within), name = within.toString();
    assert(want.result !== want.inner && got.result === got.inner, name);
    assertEquals(got.result.tolist(), want.result.tolist(), name);
    assertEquals(got.grad, want.grad, name);
  }
});

Deno.test("functional forms take inplace by position and by name", () => {
  const forms: readonly ((x: Tensor) => Tensor)[] = [
    (x) => F.relu(x, { inplace: true }),
    (x) => F.silu(x, true),
    (x) => F.leakyRelu(x, 0.1, true),
    (x) => F.elu(x, { alpha: 2, inplace: true }),
    (x) => F.hardtanh(x, -1, 1, true),
    (x) => F.threshold(x, 0, 1, { inplace: true }),
    (x) => F.dropout(x, { p: 0.5, training: true, inplace: true }),
    (x) => F.dropout(x, 0.5, false),
    (x) => F.relu_(x),
    (x) => F.hardtanh_(x, -2, 2),
  ];
  for (const form of forms) {
    const x = randn([5]);
    assert(form(x) === x, form.toString());
  }
  assertThrows(() => Reflect.apply(F.relu, undefined, [randn([2]), { inplac: true }]), DynError, "inplac");
});

Deno.test("weights are initialised as their names say", () => {
  manualSeed(0);
  const size = (t: Tensor) => Number(t.std().item());
  const cut = nn.init.truncNormal_(empty([20000]), { std: 1, a: -1, b: 0.5 });
  assert(Number(cut.min().item()) >= -1 && Number(cut.max().item()) <= 0.5);
  // (φ(−1) − φ(0.5)) / (Φ(0.5) − Φ(−1))
  assert(Math.abs(Number(cut.mean().item()) + 0.2067) < 0.02);
  assert(Math.abs(size(nn.init.truncNormal_(empty([5000]), { std: 0.02 })) - 0.02) < 0.001);
  for (const [rows, columns] of [[3, 5], [6, 4]] as const) {
    const q = nn.init.orthogonal_(empty([rows, columns]), { gain: 2 });
    const product = rows < columns ? q.matmul(q.t()) : q.t().matmul(q);
    const count = Math.min(rows, columns);
    const wanted = nn.init.eye_(empty([count, count])).mul(4);
    const { breakReasons } = compiler.explain((x: Tensor) => nn.init.orthogonal_(x))(empty([rows, columns]));
    assertEquals(breakReasons, []);
    assert(Number(product.sub(wanted).abs().max().item()) < 1e-6);
  }
  const conv = nn.init.dirac_(empty([4, 2, 3, 3]), { groups: 2 }), x = randn([1, 4, 5, 5]);
  assertEquals(F.conv2d(x, conv, null, 1, 1, 1, 2).tolist(), x.tolist());
  const sparse = nn.init.sparse_(empty([10, 6]), 0.25);
  assertEquals(sparse.eq(0).sum(0).tolist(), [3, 3, 3, 3, 3, 3]);
  assert(Math.abs(size(nn.init.kaimingNormal_(empty([50, 400]), { mode: "fan_out" })) - 0.2) < 0.01);
  assertThrows(
    () => Reflect.apply(nn.init.kaimingNormal_, null, [conv, { mode: "out" }]),
    DynError,
    "fanOut",
  );
});

Deno.test("gradients are clipped by norm and by value as PyTorch does", () => {
  const make = () => {
    const a = new nn.Parameter(tensor([1.5, 2])), b = new nn.Parameter(tensor([[3.5]]));
    a.grad = tensor([3, -4], { dtype: "float32" });
    b.grad = tensor([[12]], { dtype: "float32" });
    return [a, b, new nn.Parameter(tensor([1.5]))];
  };
  const grads = (ps: nn.Parameter[]) => ps.map((p) => p.grad?.flatten().tolist());
  const near = (got: unknown, want: readonly number[]) => {
    const flat = [got].flat(9).map(Number);
    assert(
      flat.length === want.length && flat.every((x, i) => Math.abs(x - (want[i] ?? 0)) < 1e-5),
      `${flat}`,
    );
  };
  const byNorm = make();
  near(nn.utils.clipGradNorm_(byNorm, 6.5).item(), [13]);
  near(grads(byNorm).slice(0, 2), [1.5, -2, 6]);
  assertEquals(byNorm[2]?.grad, null);
  const small = make();
  near(nn.utils.clipGradNorm_(small, { maxNorm: 100 }).item(), [13]);
  near(grads(small).slice(0, 2), [3, -4, 12]);
  const largest = make();
  near(nn.utils.clipGradNorm_(largest, 6, { normType: Infinity }).item(), [12]);
  near(grads(largest).slice(0, 2), [1.5, -2, 6]);
  const byValue = make();
  nn.utils.clipGradValue_(byValue, 3.5);
  near(grads(byValue).slice(0, 2), [3, -3.5, 3.5]);
  const [only] = make();
  assert(only);
  near(nn.utils.clipGradNorm_(only, 1, 1).item(), [7]);
  const { dtype, shape } = nn.utils.getTotalNorm([]);
  assertEquals([dtype, shape, nn.utils.getTotalNorm([]).item()], ["float32", [], 0]);
  only.grad = tensor([NaN, 1]);
  assertThrows(() => nn.utils.clipGradNorm_(only, 1, { errorIfNonfinite: true }), DynError, "finite");
});

Deno.test("a step that clips is one graph", () => {
  const model = new nn.Linear(3, 2), x = randn([4, 3]);
  for (
    const clip of [
      () => nn.utils.clipGradNorm_(model.parameters(), 0.1),
      () => nn.utils.clipGradValue_(model.parameters(), 0.1),
    ]
  ) {
    const step = compile(() => {
      model.zeroGrad();
      model.call(x).square().sum().backward();
      clip();
    }, { backend: "eager", fullgraph: true });
    step();
    const compiled = model.parameters().map((p) => p.grad?.tolist());
    model.zeroGrad();
    model.call(x).square().sum().backward();
    clip();
    assertEquals(compiled, model.parameters().map((p) => p.grad?.tolist()));
    assertEquals(compiler.status(step).graphs, 1);
  }
});

Deno.test("weights of losses are buffers: part of the state, moved with the module", () => {
  const criterion = new nn.BCEWithLogitsLoss({ posWeight: tensor([2, 3], { dtype: "float32" }) });
  assertEquals(Object.keys(criterion.stateDict()), ["pos_weight"]);
  assertEquals(criterion.double().posWeight?.dtype, "float64");
  const weighted = new nn.CrossEntropyLoss(tensor([0.5, 1]));
  assertEquals(Object.keys(weighted.stateDict()), ["weight"]);
  assertEquals(Object.keys(new nn.NLLLoss().stateDict()), []);
});

Deno.test("a recurrent layer multiplies all inputs at once, once a layer and direction", () => {
  const products: number[] = [];
  const lstm = new nn.LSTM(3, 4, { numLayers: 2, bidirectional: true });
  const run = compile((x: Tensor) => lstm.call(x)[0], {
    fullgraph: true,
    backend: (gm) => {
      products.push(gm.graph.nodes.filter((node) => node.target === "linear").length);
      return (...inputs) => gm.forward(...inputs);
    },
  });
  const x = randn([5, 2, 3]);
  assertEquals(run(x).tolist(), lstm.call(x)[0].tolist());
  assertEquals(products, [4 * (1 + 5)]);
});

Deno.test("layers taken from lists keep their types, and packed sequences too, for the type checker", () => {
  const model = new nn.Sequential(new nn.Linear(2, 3), new nn.ReLU()), held: nn.Sequential = model;
  const { weight }: nn.Linear = model.at(0);
  assertEquals([weight.shape, held.at(-1) instanceof nn.ReLU], [[3, 2], true]);
  const packed = nn.utils.rnn.packPaddedSequence(randn([2, 1, 3]), tensor([2]));
  const [{ data }] = new nn.GRU(3, 4).call(packed);
  assertEquals(data.shape, [2, 4]);
});

Deno.test("tensors in lists of parameters become parameters, and are rejected by registerParameter", () => {
  const list = new nn.ParameterList([ones([2])]).append(zeros([1])), own = new nn.Parameter(ones([1]));
  const byName = new nn.ParameterDict({ own, made: ones([3]) });
  assertEquals([list, byName].map((each) => each.parameters().length), [2, 2]);
  assert(byName.get("own") === own && byName.get("made") instanceof nn.Parameter);
  assertEquals(byName.update({ own: ones([2]), last: own }).keys(), ["own", "made", "last"]);
  assert(byName.pop("last") === own && byName.get("own") !== own);
  assertThrows(() => byName.pop("last"), DynError, "a key of ParameterDict");
  byName.clear();
  assertEquals([byName.length, byName.parameters().length], [0, 0]);
  assertThrows(() => list.append(Object("a")), DynError, "Expected a parameter or a tensor but found");
  assertThrows(() => list.registerParameter("w", Object(ones([2]))), DynError, "wrap it in nn.Parameter");
});

/** Calls as a program without types makes them: what is passed is not there, or of another kind. */
const OF_A_WRONG_KIND: Readonly<Record<string, () => unknown>> = {
  "an nn.Module for AveragedModel": () => new optim.swaUtils.AveragedModel(Object(5)),
  "an nn.Module for ModuleList.0": () => new nn.ModuleList(Object([1])),
  "the state of Linear, tensors by name, but found undefined": () =>
    new nn.Linear(1, 1).loadStateDict(JSON.parse("{}").model),
  "a function as a hook": () => new nn.Linear(1, 1).registerForwardHook(Object("a")),
  "a tensor for the buffer scale": () => new nn.Linear(1, 1).registerBuffer("scale", Object(5)),
  "a tensor for nn.init but found undefined": () => nn.init.zeros_(JSON.parse("{}").weight),
  "tensors for gradients but found Linear": () => nn.utils.clipGradNorm_(Object(new nn.Linear(1, 1)), 1),
  "2 states but found 1": () => new nn.LSTM(3, 4).call(randn([5, 2, 3]), Object([zeros([1, 2, 4])])),
  "tensors for the states of a recurrent cell but found 3": () =>
    new nn.LSTMCell(3, 4).call(randn([2, 3]), JSON.parse("3")),
  'a function as activation, or "relu" or "gelu",': () =>
    new nn.TransformerEncoderLayer(8, 2, { activation: JSON.parse('"swish"') }),
  "a function to run, () => …, but found undefined": () => noGrad(JSON.parse("{}").body),
  "an integer as a seed": () => manualSeed(Object("a")),
  "the number to watch in step(metric)": () =>
    new optim.lrScheduler.ReduceLROnPlateau(new optim.SGD(new nn.Linear(1, 1).parameters(), { lr: 1 }))
      .step(JSON.parse("{}").loss),
  "a distribution for Independent": () => new distributions.Independent(Object(5), 1),
  "tensors for an optimizer": () => new optim.SGD(Object([5]), { lr: 1 }),
  "a list for lengths of randomSplit": () => data.randomSplit([1, 2], Object(1)),
  "a PackedSequence to pad": () => nn.utils.rnn.padPackedSequence(Object(zeros([1]))),
};

Deno.test("values of a wrong kind are rejected by their recipient, at the program's line", () => {
  for (const [words, call] of Object.entries(OF_A_WRONG_KIND)) {
    const error = assertThrows(call, DynError, words), [place] = error.stack?.match(/^\s+at .*$/m) ?? [];
    assert(place?.includes("module_tools_test.ts"), `${words}: ${place}`);
  }
});

Deno.test("modules on the device meta have shapes only, until they get memory or a state", () => {
  const meta = { device: "meta" } as const;
  class Net extends nn.Module {
    readonly body: nn.Conv2d;
    readonly norm: nn.BatchNorm2d;
    readonly head: nn.Linear;
    constructor(options: { device?: string }) {
      super();
      this.body = new nn.Conv2d(3, 4, 3, options);
      this.norm = new nn.BatchNorm2d(4, options);
      this.head = new nn.Linear(16, 2, options);
    }
    override forward(x: Tensor): Tensor {
      return this.head.call(this.norm.call(this.body.call(x)).flatten(1));
    }
  }
  class TiedPair extends nn.Module {
    readonly a: nn.Linear;
    readonly b: nn.Linear;
    constructor(options: { device?: string }) {
      super();
      this.a = new nn.Linear(2, 2, options);
      this.b = new nn.Linear(2, 2, options);
      this.b.weight = this.a.weight;
    }
  }
  const make = (options: { device?: string }) => new Net(options);
  const model = make(meta), x = randn([2, 3, 4, 4]), large = new nn.Linear(1e6, 1e6, meta);
  assertEquals([large.weight.shape, large.weight.device, large.weight.requiresGrad], [
    [1e6, 1e6],
    "meta",
    true,
  ]);
  // Shapes go through forward and backward passes, steps and graphs
  const optimizer = new optim.Adam(model.parameters());
  const out = model.call(empty([2, 3, 4, 4], meta));
  out.square().sum().backward();
  optimizer.step();
  assertEquals([out.shape, out.device, model.body.weight.grad?.shape], [[2, 2], "meta", [4, 3, 3, 3]]);
  assertEquals(compile((x: Tensor) => x.sin().sum(0))(empty([3, 5], meta)).shape, [5]);
  assertEquals(
    String(empty([2], { ...meta, dtype: "int64" })),
    "tensor(..., device='meta', size=(2,), dtype=int64)",
  );
  for (const read of [() => out.sum().item(), () => out.tolist(), () => model.to("cpu"), () => out.cpu()]) {
    assertThrows(read, DynError, 'one of the device "meta", which has shapes only');
  }
  assertThrows(() => out.add(randn([2])), DynError, "Expected all tensors on one device");
  // The state's tensors are the model's, ties stay
  const trained = make({}), { weight } = trained.head;
  noGrad(() => void weight.fill_(0.5));
  model.loadStateDict(trained.stateDict(), { assign: true });
  assert(model.head.weight !== weight && model.head.weight.storage === weight.storage);
  assertEquals(model.eval().call(x).tolist(), trained.eval().call(x).tolist());
  const tied = new TiedPair(meta);
  tied.loadStateDict(new TiedPair({}).stateDict(), { assign: true });
  assert(tied.a.weight === tied.b.weight && tied.a.weight.device === "cpu");
  // Memory with any elements
  const made = make(meta).toEmpty({ device: "cpu" });
  made.loadStateDict(trained.stateDict());
  assertEquals(made.eval().call(x).tolist(), trained.call(x).tolist());
});

Deno.test("lazy layers are completed by their first input, or by a state", () => {
  // torch.nn.LazyConv2d(4, 3, groups=2) and the other ranks, on inputs of 6 channels with sides of 5 elements
  const layers = [
    [new nn.LazyConv1d(4, 3, { groups: 2 }), new nn.LazyConv1d(4, 3, { groups: 2 }), nn.Conv1d],
    [new nn.LazyConv2d(4, 3), new nn.LazyConv2d({ outChannels: 4, kernelSize: 3 }), nn.Conv2d],
    [new nn.LazyConv3d(4, 3), new nn.LazyConv3d(4, 3), nn.Conv3d],
    [new nn.LazyConvTranspose1d(4, 3), new nn.LazyConvTranspose1d(4, 3), nn.ConvTranspose1d],
    [new nn.LazyConvTranspose2d(4, 3), new nn.LazyConvTranspose2d(4, 3), nn.ConvTranspose2d],
    [new nn.LazyConvTranspose3d(4, 3), new nn.LazyConvTranspose3d(4, 3), nn.ConvTranspose3d],
    [new nn.LazyBatchNorm1d(), new nn.LazyBatchNorm1d(), nn.BatchNorm1d],
    [new nn.LazyBatchNorm2d({ affine: false }), new nn.LazyBatchNorm2d({ affine: false }), nn.BatchNorm2d],
    [new nn.LazyBatchNorm3d(), new nn.LazyBatchNorm3d(), nn.BatchNorm3d],
    [
      new nn.LazyInstanceNorm1d({ affine: true }),
      new nn.LazyInstanceNorm1d({ affine: true }),
      nn.InstanceNorm1d,
    ],
    [
      new nn.LazyInstanceNorm2d({ affine: true }),
      new nn.LazyInstanceNorm2d({ affine: true }),
      nn.InstanceNorm2d,
    ],
    [
      new nn.LazyInstanceNorm3d({ affine: true }),
      new nn.LazyInstanceNorm3d({ affine: true }),
      nn.InstanceNorm3d,
    ],
  ] as const;
  for (const [lazy, other, Layer] of layers) {
    const rank = Number(Layer.name.match(/\d/)?.[0]),
      x = randn([2, 6, ...Array.from({ length: rank }, () => 5)]);
    const size = Layer.name.includes("Transpose") ? 7 : Layer.name.startsWith("Conv") ? 3 : 5;
    const y = lazy.call(x), channels = size === 5 ? 6 : 4;
    assertEquals(y.shape, [2, channels, ...Array.from({ length: rank }, () => size)], Layer.name);
    assert(lazy instanceof Layer && lazy.constructor === Layer && lazy.registeredHooks === null);
    other.loadStateDict(lazy.stateDict());
    assert(other instanceof Layer, Layer.name);
    assertEquals(other.eval().call(x).tolist(), lazy.eval().call(x).tolist(), Layer.name);
  }
  // Parameters that an optimizer has are those of the layer
  const model = new nn.Sequential(new nn.LazyLinear(4, { bias: false }), new nn.ReLU(), new nn.LazyLinear(1));
  assertEquals(String(model.at(0)), "LazyLinear(inFeatures=0, outFeatures=4, bias=false)");
  const optimizer = new optim.SGD(model.parameters(), { lr: 0.05 }), x = randn([8, 3]), losses: number[] = [];
  const copy = model.clone();
  for (let step = 0; step < 10; step++) {
    const loss = model.call(x).square().mean();
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    losses.push(loss.item());
  }
  assert((losses.at(-1) ?? 1) < (losses[0] ?? 0));
  assertEquals(String(model.at(0)), "Linear(inFeatures=3, outFeatures=4, bias=false)");
  // The first call of a compiled function also materialises lazy layers
  const compiled = compile((x: Tensor) => copy.call(x).sin());
  assert(compiled(x).allclose(copy.call(x).sin()) && compiled(x).allclose(copy.call(x).sin()));
  assertEquals(copy.at(0).constructor, nn.Linear);
  assertThrows(
    () => new nn.LazyConv2d(3, 2).call(x),
    DynError,
    "3 or 4 dimensions for LazyConv2d but found shape [8, 3]",
  );
  assertThrows(() => new nn.LazyConv1d({ outChannels: 4, kernelSize: 3, groups: 3 }), DynError, "groups=3");
});

/** Two results where a mask is given. */
class Overloaded extends nn.Module {
  declare call: nn.CallOf<this["forward"]>;

  override forward(x: Tensor): Tensor;
  override forward(x: Tensor, mask: Tensor): [Tensor, Tensor];
  override forward(x: Tensor, mask?: Tensor): Tensor | [Tensor, Tensor] {
    return mask ? [x.mul(mask), mask] : x;
  }
}

/** Called as the module that it holds. */
class Holder<M extends nn.Module> extends nn.Module {
  constructor(readonly held: M) {
    super();
  }
  override forward(...args: Parameters<M["forward"]>): ReturnType<M["forward"]> {
    return this.held.call(...args);
  }
}

/** Called within its own class. */
class Again extends nn.Module {
  override forward(x: Tensor, times = 1): [Tensor, number] {
    return times > 1 ? [this.call(x, times - 1)[0].mul(2), times] : [x, times];
  }
}

class Twice extends Holder<nn.Linear> {
  fast(x: Tensor): Tensor {
    return compile(this, { backend: "eager" })(this.forward(x));
  }
}

Deno.test("a compiled module is called itself, and otherwise equals the module, also for the type checker", () => {
  const linear = new nn.Linear(2, 2), fast = compile(linear, { backend: "eager", fullgraph: true });
  const x = ones([3, 2]), expected: Tensor = linear.call(x), result: Tensor = fast(x);
  assert(result.equal(expected) && fast.call(x).equal(expected) && fast.forward(x).equal(expected));
  assert(fast instanceof nn.Linear && Deno.inspect(fast) === Deno.inspect(linear));
  assertEquals([Object.keys(fast), fast.inFeatures], [Object.keys(linear), 2]);
  fast.eval();
  assertEquals([linear.training, compile(linear, { disable: true })(x).equal(expected)], [false, true]);
  const within = compile((x: Tensor) => fast(x).add(1), { backend: "eager", fullgraph: true });
  assert(within(x).equal(expected.add(1)));
  const isTyped: number extends Parameters<typeof fast>[0] ? false : true = true;
  assert(isTyped);

  const two = new Overloaded(), both = compile(two, { backend: "eager" });
  const alone: Tensor = both(x), [product, mask]: [Tensor, Tensor] = both(x, x);
  assert(alone.equal(x) && product.equal(x) && mask.equal(x));
  const plain: [Tensor, Tensor] = two.call(x, x),
    called: [Tensor, Tensor] = both.call(x, x),
    one: Tensor = two.call(x);
  assert(plain[0].equal(x) && called[1].equal(x) && one.equal(x));
  const listed: Tensor = new nn.ModuleList().append(linear).at(0).call(x);
  assert(listed.equal(expected) && new Again().call(x, 3)[0].equal(x.mul(4)));
  const sum = (of: nn.Module & { call(x: Tensor): Tensor }): number => of.call(x).sum().item();
  assertEquals(sum(fast), sum(linear));
  const holder = new Holder(linear), held: Tensor = compile(holder, { backend: "eager" })(x);
  assert(held.equal(expected) && new Twice(linear).fast(x).equal(linear.call(expected)));
});

Deno.test("lists of modules and parameters enumerate their members, in graphs too", () => {
  class Scaled extends nn.Module {
    readonly layers = new nn.ModuleList([new nn.Linear(2, 2), new nn.ReLU()]);
    readonly scales = new nn.ParameterList([tensor([2]), tensor([3])].map((each) => each.to("float32")));
    shift;
    constructor() {
      super();
      this.shift = this.registerBuffer("shift", tensor([0.5, 1]));
    }
    override forward(x: Tensor): Tensor {
      for (const [i, layer] of this.layers.entries()) x = layer.call(x).add(this.shift.mul(i));
      for (const [i, scale] of this.scales.entries()) x = x.mul(scale.add(i));
      return x;
    }
  }
  const net = new Scaled(), x = tensor([[1, -2]], { dtype: "float32" });
  const expected = net.layers.at(0).call(x).relu().add(net.shift).mul(8);
  assert(net.call(x).equal(expected));
  assert(compile(net, { backend: "eager", fullgraph: true })(x).equal(expected));
  assertEquals([...new nn.Sequential(new nn.ReLU()).entries()].map(([i, layer]) => `${i}: ${layer}`), [
    "0: ReLU()",
  ]);
  assertEquals(Object.keys(net.stateDict())[0], "shift");
});
