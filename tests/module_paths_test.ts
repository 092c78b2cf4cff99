/** Parts of modules by their dotted paths and names, and those that are exchanged or added later. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { compile, DynError, nn, ones, quantization, type Tensor, tensor, zeros } from "../mod.ts";

class Net extends nn.Module {
  readonly body: nn.Sequential = new nn.Sequential(new nn.Linear(2, 3), new nn.BatchNorm1d(3));
  head: nn.Linear | null = new nn.Linear(3, 1);
  constructor() {
    super();
    this.registerBuffer("scale", tensor([2]));
  }
  override forward(x: Tensor): Tensor {
    const hidden = this.getSubmodule("body.0") as nn.Linear;
    return hidden.forward(x).mul(this.getBuffer("scale"));
  }
}

Deno.test("modules, parameters and buffers are found by their paths", () => {
  const net = new Net();
  assert(net.getSubmodule("") === net);
  assert(net.getSubmodule("body.1") instanceof nn.BatchNorm1d);
  for (const [path, each] of net.namedModules()) assert(net.getSubmodule(path) === each, path);
  for (const [path, each] of net.namedParameters()) assert(net.getParameter(path) === each, path);
  for (const [path, each] of net.namedBuffers()) assert(net.getBuffer(path) === each, path);
});

Deno.test("a path that leads nowhere is an error that names the place", () => {
  const net = new Net();
  assertThrows(() => net.getSubmodule("body.7"), DynError, "a module named 7 in Sequential");
  assertThrows(() => net.getParameter("body.0.scale"), DynError, "a parameter at body.0.scale");
  assertThrows(() => net.getBuffer("body.weight"), DynError, "a buffer at body.weight");
});

Deno.test("a module replaces another, and graphs follow", () => {
  const net = new Net(),
    f = compile((x: Tensor) => net.forward(x), { backend: "aot_eager", fullgraph: true });
  const x = zeros([2, 2]);
  f(x);
  const other = new nn.Linear(2, 3, { bias: false });
  net.setSubmodule("body.0", other);
  net.setSubmodule("head", new nn.Linear(3, 5));
  assert(net.getSubmodule("body.0") === other);
  assertEquals(net.getParameter("head.weight").shape, [5, 3]);
  assertEquals(f(x).tolist(), zeros([2, 3]).tolist());
});

Deno.test("a layer of a sequence that is replaced by its name, its index or its path is the one that runs", () => {
  const x = ones([1, 2]);
  const replacements: Readonly<Record<string, (net: nn.Sequential, layer: nn.Layer) => unknown>> = {
    "its name": (net, layer) => Reflect.set(net, "act", layer),
    "its index": (net, layer) => net[1] = layer,
    "its path": (net, layer) => net.setSubmodule("act", layer),
    "addModule": (net, layer) => net.addModule("act", layer),
    "quantization": (net, layer) => {
      net.addModule("act", layer);
      quantization.quantize_(net, quantization.int8WeightOnly(), (_, path) => path === "act");
    },
  };
  for (const [name, replace] of Object.entries(replacements)) {
    const net = new nn.Sequential({ body: new nn.Linear(2, 3), act: new nn.ReLU() });
    const f = compile((x: Tensor) => net.call(x), { backend: "eager", fullgraph: true });
    assertEquals(f(x).shape, [1, 3], name);
    replace(net, new nn.Linear(3, 4));
    const held: readonly unknown[] = [net.at(1), net[1], Reflect.get(net, "act"), net.getSubmodule("act")];
    assertEquals(held.map((each) => each === held[0]), [true, true, true, true], name);
    assertEquals([net.call(x).shape, f(x).shape, net.namedChildren().map(([key]) => key)], [
      [1, 4],
      [1, 4],
      ["body", "act"],
    ], name);
    assertEquals(held[0] instanceof nn.Linear, name !== "quantization", name);
  }
});

Deno.test("layers that are added to a sequence run, and are named in order", () => {
  const made = () => new nn.Sequential({ body: new nn.Linear(2, 3), act: new nn.ReLU() });
  const names = (net: nn.Module) => net.namedChildren().map(([name]) => name), x = ones([1, 2]);
  const net = made();
  net.addModule("out", new nn.Linear(3, 4));
  net.append(new nn.Linear(4, 5));
  net.setSubmodule("last", new nn.Linear(5, 6));
  assertEquals([net.call(x).shape, names(net)], [[1, 6], ["body", "act", "out", "3", "last"]]);
  assertEquals(Object.keys(net.stateDict()).slice(-6, -2), ["out.weight", "out.bias", "3.weight", "3.bias"]);
  assertEquals(names(net.slice(1, 4)), ["act", "out", "2"]);
  net.pop();
  assertEquals([net.call(x).shape, names(net), net.length], [[1, 5], ["0", "1", "2", "3"], 4]);
  assertEquals(Object.hasOwn(net, "out"), false);
  const indexed = new nn.Sequential(new nn.Linear(2, 3)), list = new nn.ModuleList<nn.Layer>([new nn.ReLU()]);
  indexed.addModule("1", new nn.Linear(3, 4));
  list.addModule("1", new nn.Tanh());
  list.addModule("0", new nn.Tanh());
  assertEquals([indexed.call(x).shape, `${list.at(0)}`, list.length], [[1, 4], "Tanh()", 2]);
});

Deno.test("members of lists that would be listed but never run are errors", () => {
  const layer = new nn.Linear(2, 2), named = () => new nn.Sequential({ body: new nn.Linear(2, 2) });
  const assigned = (list: nn.Module, name: string | number, value: unknown) => {
    Reflect.set(list, name, value);
    return list;
  };
  const wrong: readonly (readonly [nn.Module, string])[] = [
    [assigned(named(), "extra", layer), "Expected extra to be a member of Sequential"],
    [assigned(new nn.Sequential(layer), 1, layer), "Expected 1 to be a member of Sequential"],
    [assigned(new nn.ModuleList([layer]), 1, layer), "Expected 1 to be a member of ModuleList"],
    [assigned(new nn.ParameterList([layer.weight]), 1, layer.weight), "a member of ParameterList"],
  ];
  for (const [list, text] of wrong) assertThrows(() => list.parameters(), DynError, text);
  const shortened = named();
  Reflect.deleteProperty(shortened, "body");
  assertThrows(() => shortened.parameters(), DynError, "the layer body in Sequential but it was deleted");
  assertThrows(() => named().insert(0, layer), DynError, "without names for insert but found body");
  assertThrows(() => named().addModule("7", layer), DynError, "Expected 1, the next index");
  assertThrows(() => new nn.ModuleList([layer]).addModule("last", layer), DynError, "Expected 1, the next");
  class Own extends nn.Sequential {
    readonly other = new nn.Linear(2, 3);
    override forward(x: Tensor): Tensor {
      return this.other.call(super.forward(x));
    }
  }
  const own = new Own(new nn.Linear(2, 2));
  assertEquals([own.parameters().length, own.call(ones([1, 2])).shape], [4, [1, 3]]);
});

Deno.test("what is assigned to a member by the name that its module lists is what runs, or an error", () => {
  const modules: readonly nn.Module[] = [
    new nn.MultiheadAttention(4, 2),
    new nn.MultiheadAttention(4, 2, { kdim: 3, vdim: 5, addBiasKv: true }),
    new nn.TransformerEncoderLayer(4, 2, { dimFeedforward: 8 }),
    new nn.BatchNorm2d(3),
    new nn.InstanceNorm1d(3, { affine: true, trackRunningStats: true }),
    new nn.TripletMarginWithDistanceLoss({ distanceFunction: new nn.PairwiseDistance() }),
    new nn.LSTM(2, 3, { bidirectional: true }),
    nn.utils.prune.l1Unstructured(new nn.Linear(2, 3), "weight", 1),
  ];
  const refused: string[] = [];
  for (const root of modules) {
    for (const [path, module] of root.namedModules()) {
      const lists =
        () => [module.namedChildren(), module.namedParameters("", false), module.namedBuffers("", false)];
      const before = lists();
      for (const [k, list] of before.entries()) {
        for (const [name, member] of list) {
          const other = member instanceof nn.Module ? new nn.Identity() : member.detach().clone();
          const isParameter = member instanceof nn.Parameter;
          Reflect.set(module, name, isParameter ? new nn.Parameter(other as Tensor) : other);
          const where = `${root.constructor.name}.${path}.${name}`;
          try {
            const after = lists();
            assertEquals(
              after.map((each) => each.map(([key]) => key)),
              before.map((each) => each.map(([key]) => key)),
            );
            const held = after[k]?.find(([key]) => key === name)?.[1];
            assert(held !== undefined && held !== member && Object.values(module).includes(held), where);
          } catch (thrown) {
            if (!(thrown instanceof DynError)) throw thrown;
            refused.push(thrown.message.split(":")[0] ?? "");
            Reflect.deleteProperty(module, name);
          }
        }
      }
    }
  }
  assertEquals(
    refused,
    ["orig", "mask"].map((each) => `Expected one member named weight_${each} but found two`),
  );
  const norm = new nn.BatchNorm1d(2);
  norm.registerBuffer("running_mean", tensor([1, 2]).to("float32"));
  assertEquals([norm.runningMean?.tolist(), Object.keys(norm.stateDict()).length], [[1, 2], 5]);
});

Deno.test("hooks may say of which types the arguments and results of a layer are", () => {
  const layer = new nn.Linear(2, 3), seen: (readonly number[])[] = [];
  const handle = layer.registerForwardHook((module: nn.Linear, [x]: readonly [Tensor], y: Tensor) => {
    seen.push([module.outFeatures], x.shape, y.shape);
  });
  layer.registerForwardPreHook((_module, [x]: readonly [Tensor]) => [x.mul(2)]);
  for (const each of new nn.Sequential(layer).modules()) {
    each.registerForwardHook((_module, _given, y: Tensor) => void seen.push(y.shape));
  }
  layer.call(ones(4, 2));
  handle.remove();
  assertEquals(seen, [[3], [4, 2], [4, 3], [4, 3]]);
});

Deno.test("a shared module is listed once among children, and under each of its names in states and printed forms", () => {
  const shared = new nn.Linear(2, 2), net = new nn.Sequential(shared, new nn.ReLU(), shared);
  assertEquals(net.namedChildren().map(([name]) => name), ["0", "1"]);
  assertEquals(net.children().length, 2);
  assertEquals(Object.keys(net.stateDict()), ["0.weight", "0.bias", "2.weight", "2.bias"]);
  assertEquals(String(net).match(/Linear/g)?.length, 2);
  assertEquals(net.namedParameters().length, 2);
});

Deno.test("lists of modules and parameters have the methods of arrays, in compiled functions too", () => {
  const list = new nn.ModuleList([new nn.Linear(2, 3), new nn.Linear(3, 4)]);
  assertEquals(list.push(new nn.Linear(4, 5)), 3);
  assertEquals(list.map((each, k) => [k, ...each.weight.shape]), [[0, 3, 2], [1, 4, 3], [2, 5, 4]]);
  assertEquals(list.flatMap((each) => each.weight.shape), [3, 2, 4, 3, 5, 4]);
  const wide = (each: nn.Linear) => each.weight.shape[0] === 4;
  assertEquals([list.filter(wide), list.find(wide), list.findIndex(wide)], [[list.at(1)], list.at(1), 1]);
  assertEquals([list.some(wide), list.every(wide), list.includes(list.at(2))], [true, false, true]);
  assertEquals(list.indexOf(new nn.Linear(1, 1)), -1);
  const seen: number[] = [];
  list.forEach((each, k) => seen.push(k, each.weight.numel()));
  assertEquals(seen, [0, 6, 1, 12, 2, 20]);
  const run = (x: Tensor): Tensor => list.reduce((value, each) => each.call(value), x);
  assertEquals(
    compile(run, { backend: "eager", fullgraph: true })(ones([1, 2])).tolist(),
    run(ones([1, 2])).tolist(),
  );
  const parameters = new nn.ParameterList([zeros([2]), ones([3])]);
  assertEquals([parameters.push(zeros([4])), parameters.map((each) => each.shape)], [3, [[2], [3], [4]]]);
  assertThrows(() => Reflect.apply(list.find, list, [3]), DynError, "Expected a function of members");
  assertThrows(
    () => Reflect.apply(list.reduce, list, [run]),
    DynError,
    "Expected an initial value for reduce",
  );
});
