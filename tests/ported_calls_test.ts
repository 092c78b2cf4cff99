/** Calls in the forms of programs ported from PyTorch: by position, by name, by PyTorch's own names. */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  abs,
  add,
  asTensor,
  autograd,
  compile,
  compiler,
  data,
  distributed,
  distributions,
  fromTypedArray,
  func,
  load,
  maximum,
  mul,
  nn,
  numel,
  ones,
  optim,
  randn,
  relu,
  safetensors,
  save,
  type Tensor,
  tensor,
  unsqueeze,
  utils,
} from "../mod.ts";
import * as dyn from "../mod.ts";
import { DynError, messageOf } from "../lib/base/errors.ts";

const near = (a: Tensor, b: Tensor) => a.sub(b).abs().max().item() < 1e-5;

Deno.test("several models run as one with stacked parameters", () => {
  const models = [0, 1, 2].map(() => new nn.Sequential(new nn.Linear(3, 4), new nn.BatchNorm1d(4)).eval());
  const [params, buffers] = func.stackModuleState(models), x = randn(5, 3), [first] = models;
  assert(first);
  const one = (p: typeof params, b: typeof buffers, x: Tensor) =>
    func.functionalCall(first, [p, b], [x]) as Tensor;
  const found = func.vmap(one, [0, 0, null])(params, buffers, x) as Tensor;
  assertEquals(found.shape, [3, 5, 4]);
  models.forEach((model, k) => assert(near(found.at(k), model.call(x)), `model ${k}`));
  assertEquals([params["0.weight"]?.isLeaf, params["0.weight"]?.requiresGrad], [true, true]);
  assertThrows(() => func.stackModuleState([new nn.ReLU(), new nn.Tanh()]), DynError, "ReLU and Tanh");
  assertThrows(() => func.stackModuleState([new nn.ReLU(), new nn.ReLU().eval()]), DynError, "found both");
});

Deno.test("averages of a model take functions of one tensor or of all", () => {
  const model = new nn.Linear(2, 2), { AveragedModel, getEmaAvgFn, getEmaMultiAvgFn } = optim.swaUtils;
  const one = new AveragedModel(model, { avgFn: getEmaAvgFn(0.9) });
  const all = new AveragedModel(model, { multiAvgFn: getEmaMultiAvgFn(0.9) });
  for (let step = 0; step < 3; step++) {
    for (const each of model.parameters()) each.detach().add_(1);
    one.updateParameters(model);
    all.updateParameters(model);
  }
  assert(near(one.module.weight, all.module.weight));
  const away = model.weight.sub(all.module.weight).mean().item();
  assert(Math.abs(away - (0.9 * 1.9)) < 1e-5, `${away}`);
  const both = { avgFn: getEmaAvgFn(), multiAvgFn: getEmaMultiAvgFn() };
  assertThrows(() => new AveragedModel(model, both), DynError, "one of avgFn and multiAvgFn");
});

Deno.test("named arguments are accepted where PyTorch has them", () => {
  const { weightNorm, spectralNorm, orthogonal } = nn.utils.parametrizations;
  assertEquals(Object.keys(weightNorm(new nn.Linear(2, 3), { name: "weight", dim: 1 }).stateDict()), [
    "bias",
    "parametrizations.weight.original0",
    "parametrizations.weight.original1",
  ]);
  const normed = spectralNorm(new nn.Linear(2, 3), { nPowerIterations: 3 });
  assertEquals(normed.weight.shape, [3, 2]);
  const square = orthogonal(new nn.Linear(3, 3), { orthogonalMap: "cayley" }).weight;
  assert(near(square.matmul(square.T), tensor([[1, 0, 0], [0, 1, 0], [0, 0, 1]])));
  const result = new nn.Linear(2, 2).loadStateDict({ weight: ones(2, 2) }, false);
  assertEquals(result, { missingKeys: ["bias"], unexpectedKeys: [] });
  const layers = new nn.Sequential(new nn.Linear(2, 2), new nn.Tanh(), new nn.Linear(2, 2));
  const x = randn([3, 2], { requiresGrad: true }), y = utils.checkpointSequential(layers, 2, x);
  y.sum().backward();
  const grad = x.grad;
  x.grad = null;
  layers.call(x).sum().backward();
  assert(grad && x.grad && near(grad, x.grad));
});

Deno.test("joint graphs are cut by partitionFn", () => {
  for (const name of ["minCutRematerializationPartition", "defaultPartition"] as const) {
    const cuts: string[] = [];
    const backend = compiler.aotAutograd({
      fwCompiler: (gm) => gm.forward,
      partitionFn: (joint) => {
        cuts.push(name);
        return compiler[name](joint);
      },
    });
    const x = randn([3], { requiresGrad: true });
    compile((x: Tensor) => x.sin().cos(), { backend })(x).sum().backward();
    assertEquals(cuts, [name]);
    assert(x.grad && near(x.grad, x.detach().sin().sin().neg().mul(x.detach().cos())));
  }
  const twice = {
    fwCompiler: () => () => [],
    partition: compiler.defaultPartition,
    partitionFn: compiler.defaultPartition,
  };
  assertThrows(() => compiler.aotAutograd(twice), DynError, "one of partition and partitionFn");
});

Deno.test("missing files are errors at the program's line", () => {
  for (const read of [load, safetensors.load, data.readNpy, data.readJsonLines]) {
    const error = assertThrows(() => read("no_such_file"), Deno.errors.NotFound);
    assertMatch(error.stack?.split("\n")[1] ?? "", /ported_calls_test/);
  }
});

Deno.test("arguments that only PyTorch's functions take are errors that name the function", () => {
  const { transforms } = data, { swaUtils, lrScheduler } = optim;
  const layer = new nn.Linear(2, 2),
    x = ones([1, 2]),
    bn = new nn.BatchNorm2d(1),
    conv = new nn.Conv2d(1, 1, 1);
  const normal = new distributions.Normal(0, 1), wrong = { zzz: 1 }, file = "nowhere.safetensors";
  const plateau = new lrScheduler.ReduceLROnPlateau(new optim.SGD(layer.parameters(), { lr: 1 }));
  const calls: readonly (readonly [name: string, called: object, given: readonly unknown[], own?: object])[] =
    [
      ["load", load, [file, { mapLocation: "cpu" }]],
      ["save", save, [{}, file, { pickleProtocol: 2 }]],
      ["compose", transforms.compose, [[], []]],
      ["normalize", transforms.normalize, [[0], [1], true]],
      ["resize", transforms.resize, [4, "nearest"]],
      ["centerCrop", transforms.centerCrop, [4, 4]],
      ["createBlockMask", nn.attention.createBlockMask, [() => x, 1, 1, 2, 2, "cpu"]],
      ["fuseConvBnEval", nn.utils.fuseConvBnEval, [conv, bn, true]],
      ["updateBn", swaUtils.updateBn, [[x], layer, "cpu"]],
      ["makeDual", autograd.forwardAd.makeDual, [x, x, { level: 0 }]],
      ["unpackDual", autograd.forwardAd.unpackDual, [x, { level: 0 }]],
      ["destroyProcessGroup", distributed.destroyProcessGroup, [null]],
      ["sample", normal.sample, [[2], 3], normal],
      ["rsample", normal.rsample, [[2], 3], normal],
      ["expand", normal.expand, [[2], normal], normal],
      ["step", plateau.step, [1, 7], plateau],
      ["hvp", autograd.functional.hvp, [(v: Tensor) => v.sum(), x, x, wrong]],
      ["vhp", autograd.functional.vhp, [(v: Tensor) => v.sum(), x, x, wrong]],
      ["jvp", autograd.functional.jvp, [(v: Tensor) => v, x, x, wrong]],
      ["fromTypedArray", fromTypedArray, [new Float32Array(2), [2], wrong]],
      ["safetensors.parse", safetensors.parse, [safetensors.serialize({ x }), wrong]],
      ["SubsetRandomSampler", (given: unknown) => Reflect.construct(data.SubsetRandomSampler, [[0], given]), [
        wrong,
      ]],
      ["checkpointSequential", utils.checkpointSequential, [[layer], 1, x, wrong]],
      ["ModuleList", (...given: readonly unknown[]) => Reflect.construct(nn.ModuleList, given), [[], []]],
      ["ParameterDict", (...given: readonly unknown[]) => Reflect.construct(nn.ParameterDict, given), [
        {},
        {},
      ]],
    ];
  for (const [name, called, given, own] of calls) {
    assert(typeof called === "function");
    const expected = new RegExp(
      `^Expected (no arguments for|at most \\d arguments? for|an option of) ${name}\\b.* but found`,
    );
    const { message } = assertThrows(() => void Reflect.apply(called, own, given), DynError);
    assertMatch(message, expected, name);
  }
});

Deno.test("a module moves to a device and a type at once, its integers keep theirs", () => {
  const model = () => new nn.Sequential(new nn.Linear(2, 2), new nn.BatchNorm1d(2));
  const types = (module: nn.Module) =>
    [...module.parameters(), ...module.buffers()].map(({ dtype }) => dtype);
  const wide = types(model().to("float64"));
  assertEquals([wide[0], wide.at(-1)], ["float64", "int64"]);
  assertEquals(types(model().to("cpu", "float64")), wide);
  assertEquals(types(model().to({ device: "cpu", dtype: "float64" })), wide);
  assertEquals(types(model().to("cpu", { dtype: "float64", nonBlocking: true })), wide);
  assertEquals(types(model().to(ones([1], { dtype: "float64" }))), wide);
  assertThrows(
    () => model().to("cpu", "int32"),
    DynError,
    "floating or complex type for a module but found int32",
  );
  assertThrows(() => utils.checkpoint(model() as never, ones([1, 2])), DynError, "module.call(...given)");
});

/** Functions among the exports, by path: no classes, and none that take any number of arguments or tell them apart. */
function* exportedFunctions(space: object, path = ""): Generator<[string, (...args: unknown[]) => unknown]> {
  for (const [name, value] of Object.entries(space)) {
    if (Object.prototype.toString.call(value) === "[object Module]") {
      yield* exportedFunctions(value, `${path}${name}.`);
    }
    const text = typeof value === "function" ? Function.prototype.toString.call(value) : "";
    const isDeclared = /^(async )?function\*? \w+\(/.test(text);
    if (isDeclared && !/^[^{]*\.\.\./.test(text)) yield [`${path}${name}`, value];
  }
}

Deno.test("exported functions refuse arguments that they would drop", async () => {
  // These take whatever methods of arrays pass
  const any = new Set(["isTensor"]), dropped: string[] = [], zeros = new Array<number>(20).fill(0);
  let refused = 0;
  for (const [path, call] of exportedFunctions(dyn)) {
    const name = path.split(".").at(-1) ?? path;
    if (any.has(name)) continue;
    try {
      await call(...zeros);
      dropped.push(`${path}: accepted`);
    } catch (thrown) {
      const message = messageOf(thrown);
      if (/^Expected (no|at most \d+) arguments? for \w+ but found/.test(message)) refused++;
      else dropped.push(`${path}: ${message}`);
    }
  }
  assertEquals(dropped, []);
  assert(refused > 270, `Expected most functions but found ${refused}`);
});

/** Asserts that a method refuses a further argument. */
function assertRefusesMore(own: object, name: string, given: readonly unknown[]): void {
  const call = () => Reflect.apply(Reflect.get(own, name), own, [...given, 7]);
  assertThrows(call, DynError, `for ${name} but found 7`, `${own.constructor.name}.${name}`);
}

Deno.test("methods of modules, graphs and distributions refuse arguments that they would drop", () => {
  const layer = new nn.Linear(2, 2), graph = new dyn.fx.Graph(), node = graph.placeholder("x");
  for (const name of ["float", "double", "half", "bfloat16"]) assertRefusesMore(layer, name, []);
  for (const name of ["getSubmodule", "getParameter", "getBuffer"]) {
    assertRefusesMore(layer, name, ["weight"]);
  }
  assertRefusesMore(layer, "namedModules", ["", new Set()]);
  for (const each of ["StateDictPre", "StateDictPost", "LoadStateDictPre", "LoadStateDictPost"]) {
    assertRefusesMore(layer, `register${each}Hook`, [() => {}]);
  }
  assertRefusesMore(graph, "getAttr", ["a"]);
  assertRefusesMore(graph, "eraseNode", [node]);
  for (const name of ["insertingBefore", "insertingAfter"]) assertRefusesMore(graph, name, [node, () => {}]);
  const { Beta, Bernoulli, Categorical, Gamma, Independent, LogNormal, Normal, Pareto } = distributions;
  const { HalfNormal, MultivariateNormal, OneHotCategorical, Uniform } = distributions, half = ones(2).div(2);
  const discrete = [new Bernoulli(half), new Categorical(half), new OneHotCategorical(half)];
  const others = [
    new Beta(1, 2),
    new Gamma(1, 2),
    new HalfNormal(1),
    new Independent(new Normal(half, 1), 1),
    new LogNormal(0, 1),
    new MultivariateNormal(half, dyn.eye(2)),
    new Normal(0, 1),
    new Pareto(1, 2),
    new Uniform(0, 1),
  ];
  for (const each of discrete) assertRefusesMore(each, "enumerateSupport", [true]);
  for (const each of [...discrete, ...others]) assertRefusesMore(each, "entropy", []);
});

Deno.test("methods of tensors without arguments refuse those that they would drop, compiled too", () => {
  // These are called with arguments that they need not know
  const any = new Set(["toString", "toJSON", "numpy", "pinMemory", "isPinned", "cuda"]),
    zeros = new Array<number>(20).fill(0);
  const prototype = Object.getOwnPropertyDescriptors(dyn.Tensor.prototype),
    dropped: string[] = [],
    x = ones(2);
  let refused = 0;
  for (const [name, { value }] of Object.entries(prototype)) {
    if (typeof value !== "function" || value.length > 0 || any.has(name)) continue;
    const text = Function.prototype.toString.call(value);
    if (/^[^{]*(\.\.\.|=)/.test(text) || text.startsWith("class")) continue;
    const call = (given: Tensor) => Reflect.apply(value, given, zeros);
    try {
      call(x);
      dropped.push(`${name}: accepted`);
    } catch (thrown) {
      const message = messageOf(thrown);
      if (/^Expected (no|at most \d+) (positional )?arguments? for \w+ but found/.test(message)) refused++;
      else dropped.push(`${name}: ${message}`);
    }
  }
  assertEquals(dropped, []);
  assert(refused > 20, `Expected the plain methods but found ${refused}`);
  for (const name of ["dim", "numel", "isComplex", "nelement", "adjoint"] as const) {
    const call = compile((given: Tensor) => Reflect.apply(given[name], given, [x]));
    assertThrows(() => call(x), DynError, `for ${name}`);
  }
});

Deno.test("functions of one value and of two are callbacks of arrays, and undefined arguments are none", () => {
  assertEquals([tensor([1, 2]), tensor([3])].map(numel), [2, 1]);
  assertEquals(Reflect.apply(numel, undefined, [tensor([1, 2]), undefined, undefined]), 2);
  assertThrows(
    () => Reflect.apply(numel, undefined, [tensor([1, 2]), 0, [1]]),
    DynError,
    "at most 1 argument",
  );
  const norms = compile((list: readonly Tensor[]) => list.map(numel).map((each, k) => each * k));
  assertEquals(norms([ones(2), ones(3), ones(4)]), [0, 3, 8]);
  const list = [tensor([1, -2]), tensor([-3, 4])],
    first = ones(2),
    steps = compile(
      (all: readonly Tensor[]) => [...all.map(abs), all.reduce(maximum), all.reduceRight(mul, first)],
      { fullgraph: true },
    );
  assertEquals(steps(list).map((each) => each.tolist()), [[1, 2], [3, 4], [1, 4], [-3, -8]]);
  const wrong: readonly (() => unknown)[] = [
    () => list.map(unsqueeze),
    () => Reflect.apply([1, 2].map, [1, 2], [ones]),
    () => Reflect.apply(relu, null, [first, 0, list]),
    () => Reflect.apply(add, null, [first, first, 2]),
  ];
  for (const each of wrong) {
    for (const call of [each, compile(each)]) {
      assertMatch(
        assertThrows(call, DynError).message,
        /positional argument|found \[1, 2\] among \[1, 0, \[1, 2\]\]/,
      );
    }
  }
});

Deno.test("options of new tensors that are no objects are errors, in compiled functions too", () => {
  for (const make of [tensor, asTensor]) {
    for (const options of [0, null, true, "int32"]) {
      const call = () => Reflect.apply(make, null, [[1], options]);
      for (const each of [call, compile(call)]) assertThrows(each, DynError, "Expected an object");
    }
  }
});

Deno.test("arguments of new tensors that are absent are so in compiled functions, too", () => {
  const data = new Float32Array([1, 2]),
    made = compile(() => [
      ...[undefined, null].map((sizes) => Reflect.apply(fromTypedArray, null, [data, sizes, undefined])),
      Reflect.apply(tensor, null, [[1, 2], undefined, undefined]),
    ], { fullgraph: true });
  assertEquals(made().map((each) => each.tolist()), [[1, 2], [1, 2], [1, 2]]);
});

Deno.test("tensors of one integer are sizes in lists and spread, and ends of slices, compiled too", () => {
  const x = dyn.arange(6);
  const calls: readonly ((n: never) => Tensor)[] = [
    (n) => dyn.zeros([2, n]),
    (n) => x.reshape([n, -1]),
    (n) => dyn.arange(12).reshape(n, -1, 2),
    (n) => ones([1, 2]).expand(n, 2),
    (n) => nn.functional.pad(x, [n, 0]),
    (n) => x.at({ start: 0, stop: n }),
    (n) => x.clone().set([{ start: n }], 9),
  ];
  for (const call of calls) {
    const compiled = compile(call, { backend: "eager" }) as (n: unknown) => Tensor,
      eager = call as (n: unknown) => Tensor;
    for (const n of [3, 2]) {
      const expected = eager(n);
      for (const found of [eager, compiled].map((each) => each(tensor(n)))) {
        assertEquals([found.shape, found.tolist()], [expected.shape, expected.tolist()], `${call}`);
      }
    }
  }
  const refused: readonly (readonly [(n: never) => unknown, string])[] = [
    [(n) => x.at({ stop: n }), "Expected an integer for end of slice but found 1.5"],
    [(n) => x.reshape([n, 2]), "Expected a list of sizes for shape of reshape but found 1.5 among [1.5, 2]"],
  ];
  for (const [call, message] of refused) {
    assertThrows(() => (call as (n: unknown) => unknown)(tensor(1.5)), DynError, message);
  }
});

Deno.test("sizes, strides and draws take their arguments by name", () => {
  const layout = (x: Tensor) => [x.size({ dim: 1 }), x.stride({ dim: -2 })];
  assertEquals(layout(ones([2, 3])), [3, 3]);
  assertEquals(compile(layout, { backend: "eager" })(ones([2, 3])), [3, 3]);
  const misnamed = (x: Tensor) => x.size({ dims: 1 } as never);
  for (const call of [misnamed, compile(misnamed, { backend: "eager" })]) {
    assertThrows(
      () => call(ones([2])),
      DynError,
      "Expected an option of size to be one of dim but found dims",
    );
  }
  const mean = tensor([1.5, 2.5]);
  const draws = () => [
    dyn.normal({ mean, std: 0 }),
    dyn.normal(mean, { std: tensor([0, 0], { dtype: "float32" }) }),
    dyn.normal(mean, 0, {}),
  ];
  for (const drawn of [...draws(), ...compile(draws, { backend: "eager" })()]) {
    assertEquals(drawn.tolist(), mean.tolist());
  }
  assertEquals(dyn.normal(2, 0, { size: [1, 2] }).tolist(), [[2, 2]]);
  assertEquals(dyn.normal({ mean: 2, std: 0, size: [2], dtype: "float64" }).dtype, "float64");
  assertThrows(() => dyn.normal(mean, 1, { size: [2] }), DynError, "only for two numbers");
  assertThrows(() => dyn.normal({} as never), DynError, "Expected mean of normal but found nothing");
});

Deno.test("asTensor copies, cuts off histories and begins them as asked, compiled too", () => {
  const made = (w: Tensor) => {
    const x = w.mul(2), cut = dyn.asarray(x, { requiresGrad: false });
    const copy = dyn.asarray(x, { copy: true });
    return [
      dyn.asarray(x).requiresGrad,
      cut.requiresGrad,
      cut.isSetTo(x),
      copy.requiresGrad,
      copy.isSetTo(x),
    ];
  };
  const w = tensor([1.5], { requiresGrad: true }), expected = [true, false, true, true, false];
  assertEquals(made(w), expected);
  assertEquals(compile(made, { backend: "eager" })(w), expected);
  const begun = (x: Tensor) => dyn.asarray(x, { requiresGrad: true }).requiresGrad;
  for (const call of [begun, compile(begun, { backend: "eager" })]) assertEquals(call(tensor([1.5])), true);
  assertThrows(() => dyn.asarray(tensor([1]), { requiresGrad: true }), DynError);
});

Deno.test("required arguments by name have types, all of them and those after positional ones", () => {
  const x = dyn.arange({ start: 0, end: 6 }).reshape({ shape: [2, 3] }), index = tensor([[1], [2]]);
  const pairs: readonly (readonly [Tensor, Tensor])[] = [
    [dyn.zeros({ size: [2], dtype: "float64" }), dyn.zeros([2], { dtype: "float64" })],
    [dyn.full({ size: [2], fillValue: 3 }), dyn.full([2], { fillValue: 3 })],
    [dyn.linspace(0, 1, { steps: 3 }), dyn.linspace({ start: 0, end: 1, steps: 3 })],
    [dyn.eye({ n: 2 }), dyn.eye(2)],
    [x.newFull([2], { fillValue: 3 }), x.newFull([2], 3)],
    [x.view({ size: [6] }), x.view(6)],
    [x.permute({ dims: [1, 0] }), x.transpose(0, { dim1: 1 })],
    [x.tile({ dims: [2] }), x.repeat({ repeats: [1, 2] })],
    [x.narrow(1, { start: 1, length: 2 }), x.narrow(1, 1, 2)],
    [x.flip({ dims: [0] }), x.flip(0)],
    [x.clone().scatter_({ dim: 1, index, src: x }), x.clone().scatter_(1, index, x)],
  ];
  for (const [a, b] of pairs) assertEquals([a.dtype, a.tolist()], [b.dtype, b.tolist()]);
  const size = dyn.randint({ low: 0, high: 5, size: [3] }).shape;
  assertEquals([dyn.randn({ size: [3] }).shape, dyn.normal(0, 1, { size: [3] }).shape], [size, size]);
});
