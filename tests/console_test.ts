/** Console output of modules, optimizers, schedules and loaders: their settings, never their elements. */
import { assertEquals } from "@std/assert";
import {
  compile,
  compiler,
  config,
  data,
  distributions,
  Generator,
  GradScaler,
  nn,
  optim,
  randn,
  type Tensor,
  tensor,
  zeros,
} from "../mod.ts";

const model = () => new nn.Sequential(new nn.Linear(4, 8), new nn.ReLU(), new nn.Linear(8, 2));

Deno.test("modules show their tree", () => {
  assertEquals(
    Deno.inspect(model()),
    `Sequential(
  (0): Linear(inFeatures=4, outFeatures=8, bias=true)
  (1): ReLU()
  (2): Linear(inFeatures=8, outFeatures=2, bias=true)
)`,
  );
});

Deno.test("optimizers show their groups, schedules their rates, loaders their batches", () => {
  const optimizer = new optim.SGD(model().parameters(), { lr: 0.1, momentum: 0.9 });
  const schedule = new optim.lrScheduler.StepLR(optimizer, { stepSize: 2 });
  assertEquals(
    Deno.inspect(optimizer),
    `SGD (
Parameter Group 0
    dampening: 0
    initialLr: 0.1
    lr: 0.1
    maximize: false
    momentum: 0.9
    nesterov: false
    weightDecay: 0
)`,
  );
  schedule.step();
  assertEquals(Deno.inspect(schedule), "StepLR(lastEpoch=1, stepSize=2, gamma=0.1, rates=[ 0.1 ])");
  const loader = new data.DataLoader([tensor([1]), tensor([2]), tensor([3])], { batchSize: 2 });
  assertEquals(Deno.inspect(loader), "DataLoader(3 samples, batchSize=2, shuffle=false, dropLast=false)");
});

Deno.test("several results print each once, and have names, in graphs too", () => {
  const x = tensor([[1, 5, 2]]), run = (x: Tensor) => x.max(1);
  for (const found of [run(x), compile(run, { backend: "eager", fullgraph: true })(x)]) {
    assertEquals(Deno.inspect(found), "[ tensor([5]), tensor([1]) ]");
    const { values, indices } = found;
    assertEquals([values, indices], [...found]);
    assertEquals(Object.keys(found), ["0", "1"]);
  }
});

type Printed = string | number | boolean | null | readonly Printed[] | { readonly [name: string]: Printed };

/** A value of the table: an object of one member whose name is that of a layer is that layer with those arguments. */
function built(value: Printed): unknown {
  if (Array.isArray(value)) return value.map(built);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, built(each)] as const),
    [first] = entries;
  const Layer: unknown = Reflect.get(nn, first?.[0] ?? "");
  if (typeof Layer !== "function" || !Array.isArray(first?.[1])) return Object.fromEntries(entries);
  return Reflect.construct(Layer, first[1]);
}

/**
 * Each line of the table is a layer and what PyTorch 2.15 prints for it, with names in camelCase and the constants and
 * whole numbers of JavaScript.
 */
Deno.test("layers print as PyTorch's do", () => {
  const table = Deno.readTextFileSync(new URL("data/printed_modules.txt", import.meta.url));
  const seen = new Set<string>(), differing: string[] = [];
  for (const line of table.trimEnd().split("\n")) {
    const [written = "", printed = ""] = line.split("\t"), layer = built(JSON.parse(written));
    const found = String(layer), wanted = printed.replaceAll("\\n", "\n");
    if (found !== wanted) differing.push(`${written} prints ${found}, not ${wanted}`);
    if (layer instanceof nn.Module) seen.add(layer.constructor.name);
  }
  assertEquals(differing, []);
  const bases = new Set([
    "Module",
    "Buffer",
    "Parameter",
    "UninitializedParameter",
    "UninitializedBuffer",
    "RNNBase",
    "RNNCellBase",
  ]);
  const others = new Set([...bases, "ParameterList", "ParameterDict"]);
  assertEquals(
    Object.keys(nn).filter((name) => /^[A-Z]/.test(name) && !seen.has(name) && !others.has(name)),
    [],
  );
  assertEquals(
    Deno.inspect(new nn.ParameterList([new nn.Parameter(zeros(2))])),
    "ParameterList(\n  (0): Parameter of float32[2]\n)",
  );
});

Deno.test("samplers, generators and settings print without their fields", () => {
  const samples = new data.TensorDataset(zeros(4, 2), zeros([4], { dtype: "int64" }));
  const optimizer = new optim.SGD([zeros([1], { requiresGrad: true })], { lr: 0.5 });
  const shown = [
    samples,
    new data.Subset(samples, [0]),
    new data.RandomSampler(samples),
    new Generator(3),
    new GradScaler(),
    nn.utils.rnn.packSequence([tensor([1, 2]), tensor([3])]),
    zeros([1], { requiresGrad: true }).mul(2).gradFn,
  ].map((each) => Deno.inspect(each));
  assertEquals(shown, [
    "TensorDataset(4 of float32[2], int64[])",
    "Subset(1 of TensorDataset(4 of float32[2], int64[]))",
    "RandomSampler(length=4, replacement=false)",
    "Generator(seed=3, offset=0)",
    "GradScaler(scale=65536, growthFactor=2, backoffFactor=0.5, growthInterval=2000, enabled=true)",
    "PackedSequence(data=tensor([1, 3, 2]), batchSizes=[ 2, 1 ], sortedIndices=null, unsortedIndices=null)",
    "<MulBackward0>",
  ]);
  const plateau = Deno.inspect(new optim.lrScheduler.ReduceLROnPlateau(optimizer));
  assertEquals(plateau.startsWith('ReduceLROnPlateau(mode="min", factor=0.1, patience=10'), true, plateau);
  assertEquals(Deno.inspect(config).includes("cacheSizeLimit: 8"), true);
});

Deno.test("distributions print their parameters, constraints and transforms their kinds", () => {
  const { constraints, LogisticNormal } = distributions;
  assertEquals(
    Deno.inspect(new LogisticNormal(tensor([0, 1]), 1)),
    "LogisticNormal(Independent(Normal(loc: [2], scale: [2]), reinterpretedBatchNdims: 1), " +
      "transform: ComposeTransform(StickBreakingTransform()))",
  );
  assertEquals(Deno.inspect({ scale: constraints.positive }), "{ scale: Constraint(positive) }");
});

Deno.test("graphs show one node per line, graph modules their source, explanations their report", () => {
  const gm = compiler.makeFx((x: Tensor) => x.sin().add(1))(zeros(2));
  assertEquals(
    Deno.inspect(gm.graph),
    `graph():
    %arg_0 : [numUsers=1] = placeholder[target=arg_0]
    %sin : [numUsers=1] = call_function[target=sin](args = [arg_0], kwargs = {})
    %add : [numUsers=1] = call_function[target=add](args = [sin, 1], kwargs = {})
    return add`,
  );
  assertEquals(Deno.inspect(gm), `GraphModule()\n\n${gm.code}`);
  const report = compiler.explain((x: Tensor) => x.sin())(zeros(2));
  assertEquals(Deno.inspect(report), `${report}`);
});

Deno.test("tensors in other values are indented with them", () => {
  assertEquals(
    Deno.inspect({ state: { weight: zeros(2, 2) } }),
    `{
  state: {
    weight: tensor([[0., 0.],
            [0., 0.]])
  }
}`,
  );
});

Deno.test("a backend may return the graph's own function", () => {
  const f = compile((x: Tensor) => x.sin().add(1), { backend: (gm) => gm.forward });
  const x = randn([3]);
  assertEquals(f(x).tolist(), x.sin().add(1).tolist());
});

Deno.test("elements are numbers to the type checker", () => {
  let total = 0;
  total += tensor([1.5, 2]).sum().item();
  const isWhole: boolean = tensor([true]).all().item<boolean>();
  assertEquals([total, isWhole], [3.5, true]);
});

Deno.test("the state of a compiled function has a text", () => {
  const f = compile((x: Tensor) => {
    const y = x.add(1);
    Deno.inspect(y.tolist());
    return y.mul(2);
  }, { backend: "eager" });
  f(tensor([1, 2]));
  f(tensor([1, 2]));
  assertEquals(
    [() => 1, f].map((each) => `${compiler.status(each)}`),
    [
      "not compiled",
      "compiled: 2 graphs with 0 kernels, 1 graph break, 0 recompilations; 2 calls by 1 version",
    ],
  );
  assertEquals(Object.hasOwn({ ...compiler.status(f) }, "toString"), false);
});
