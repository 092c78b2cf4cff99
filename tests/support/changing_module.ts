/**
 * A module that keeps state in all possible ways, with named changes of every kind. Invariant: two fresh modules
 * compute the same.
 */
import { manualSeed, nn, noGrad, ones, Tensor, tensor } from "../../mod.ts";

const MODE: unique symbol = Symbol("mode");

class Scale extends nn.Module {
  constructor(public by: number) {
    super();
  }
  override forward(x: Tensor): Tensor {
    return x.mul(this.by);
  }
}

class OtherScale extends Scale {
  override forward(x: Tensor): Tensor {
    return x.mul(this.by).neg();
  }
}

class OtherParameter extends nn.Parameter {
  override mul(): Tensor {
    return ones([2, 2]).mul(41);
  }
}

export class Net extends nn.Module {
  static factor = 1.5;
  #gain = 2;
  fc = new nn.Linear(2, 2);
  tied = new nn.Linear(2, 2);
  norm = new nn.BatchNorm1d(2);
  act: nn.Module = new Scale(3);
  list = new nn.ModuleList<nn.Module>([new Scale(1.25), new nn.Linear(2, 2)]);
  named = new nn.ModuleDict({ one: new Scale(1.5) });
  weights = new nn.ParameterList([new nn.Parameter(ones([2]))]);
  row = new nn.Sequential(new nn.Linear(2, 2), new nn.ReLU());
  blocks: nn.Module[] = [new Scale(0.5), new nn.Linear(2, 2)];
  config: { scale?: number; nested: { mode: string }; late?: number } = {
    scale: 0.75,
    nested: { mode: "add" },
  };
  table: Map<string, nn.Module | number> = new Map<string, nn.Module | number>([["gate", new Scale(2)], [
    "by",
    4,
  ]]);
  flags: Set<string> = new Set(["shift"]);
  scales: number[] = [1.5, 2.5];
  activation = (x: Tensor): Tensor => x.add(0.25);
  [MODE] = "plus";
  declare shift: Tensor;
  declare extra?: number | undefined;
  declare offset: Tensor;

  constructor() {
    super();
    this.tied.weight = this.fc.weight;
    this.registerBuffer("shift", tensor([0.5, -0.5]));
    this.offset = tensor([[1.5, 2], [3, 4]]);
  }
  get gain(): number {
    return this.#gain;
  }
  setGain(gain: number): void {
    this.#gain = gain;
  }

  override forward(x: Tensor): Tensor {
    let y = this.norm.call(this.tied.call(this.fc.call(x)));
    y = (this.act as Scale).call(y).mul(this.#gain).mul(this.gain).mul(Net.factor);
    for (const layer of this.list) y = (layer as Scale).call(y);
    for (const layer of this.named.values()) y = (layer as Scale).call(y);
    for (const weight of this.weights) y = y.mul(weight);
    y = this.row.call(y);
    for (const block of this.blocks) y = (block as Scale).call(y);
    y = y.mul(this.config.scale ?? 11).add(Object.keys(this.config).length);
    y = this.config.nested.mode === "add" ? y.add(1) : y.sub(7);
    if (this.config.late !== undefined) y = y.add(this.config.late);
    for (const [key, value] of this.table) {
      y = typeof value === "number" ? y.add(value + key.length) : (value as Scale).call(y);
    }
    if (this.flags.has("shift")) y = y.add(this.shift);
    for (const scale of this.scales) y = y.mul(scale);
    y = this.activation(y);
    y = this[MODE] === "plus" ? y.add(1) : y.sub(1);
    const { bias } = this.tied;
    if (bias) y = bias.requiresGrad ? y.mul(bias.shape[0] ?? 1) : y.sub(1);
    if (bias?.dtype === "float64") y = y.add(3);
    if (this.extra !== undefined) y = y.add(this.extra);
    if ("extra" in this) y = y.mul(2);
    y = y.add(this.fc.weight.mul(2).sum()).add(this.offset);
    return this.training ? y.add(100) : y;
  }
}

/** A new one; all compute the same. */
export function freshNet(): Net {
  manualSeed(3);
  const net = new Net();
  net.eval();
  return net;
}

/** Compiles a program of a module in one of the ways to do that. */
export type Way = (net: Net, compile: <F extends (this: never, ...args: never[]) => unknown>(fn: F) => F) => (
  x: Tensor,
) => Tensor;

/** The ways to compile a program of a module. */
export const WAYS: Readonly<Record<string, Way>> = {
  "a captured module": (net, compile) => compile((x: Tensor) => net.call(x)),
  "a module as an argument": (net, compile) => {
    const run = compile((net: Net, x: Tensor) => net.call(x));
    return (x) => run(net, x);
  },
  "a method of a module": (net, compile) => {
    const forward = compile(net.forward);
    return (x) => Reflect.apply(forward, net, [x]);
  },
  "a captured module that is assigned": (net, compile) => {
    let held = net;
    const run = compile((x: Tensor) => held.call(x));
    held = net;
    return run;
  },
  "a module in objects": (net, compile) => {
    const state = { nets: [net] };
    return compile((x: Tensor) => state.nets.reduce((y, net) => net.call(y), x));
  },
};

/** Makes a change; what it gives takes back what outlives the module. */
export type Change = (net: Net) => (() => void) | void;

/** Gives an object of everybody a property, until that is taken back. */
function patch(object: object, key: PropertyKey, value: unknown): () => void {
  const former = Reflect.getOwnPropertyDescriptor(object, key);
  Reflect.defineProperty(object, key, { value, writable: true, configurable: true, enumerable: false });
  return () => {
    if (former) Reflect.defineProperty(object, key, former);
    else Reflect.deleteProperty(object, key);
  };
}

/** Changes of the computation, and changes that must not matter. */
export const CHANGES: Readonly<Record<string, Change>> = {
  "nothing": () => {},
  "a number is set": (net) => void (net.config.scale = 3),
  "a number becomes -0": (net) => void (net.config.scale = -0),
  "a number becomes NaN": (net) => void (net.config.scale = NaN),
  "a field is deleted": (net) => void delete net.config.scale,
  "a field is deleted and set": (net) => {
    delete net.config.scale;
    net.config.scale = 0.75;
  },
  "a field is added": (net) => void (net.config.late = 2),
  "a field is added that nothing reads": (net) => void Object.assign(net.config, { unread: 2 }),
  "a field is defined": (net) =>
    void Object.defineProperty(net.config, "scale", { value: 4, enumerable: true, configurable: true }),
  "a field becomes a getter": (net) =>
    void Object.defineProperty(net.config, "scale", { get: () => 5, enumerable: true, configurable: true }),
  "a field is not enumerable": (net) =>
    void Object.defineProperty(net.config, "scale", { enumerable: false }),
  "a nested field is set": (net) => void (net.config.nested.mode = "sub"),
  "a nested object is replaced": (net) => void (net.config.nested = { mode: "sub" }),
  "a nested object is replaced by an equal one": (net) => void (net.config.nested = { mode: "add" }),
  "a field of the module is added": (net) => void (net.extra = 3),
  "a field of the module is added as undefined": (net) => void (net.extra = undefined),
  "a field under a symbol is set": (net) => void (net[MODE] = "minus"),
  "fields are assigned": (net) => void Object.assign(net, { scales: [2], flags: new Set() }),
  "objects are frozen": (net) => {
    Object.freeze(net.config);
    Object.freeze(net.scales);
    Object.freeze(net);
  },
  "objects are sealed": (net) => {
    Object.seal(net.config);
    Object.preventExtensions(net.blocks);
  },
  "the prototype of an object is replaced": (net) => {
    delete net.config.scale;
    Object.setPrototypeOf(net.config, { scale: 6 });
  },
  "evaluation becomes training": (net) => void net.train(),
  "training of one layer": (net) => void net.norm.train(),
  "training is a field": (net) => void (net.training = true),
  "a parameter is replaced": (net) => void (net.fc.weight = new nn.Parameter(ones([2, 2]))),
  "a parameter is removed": (net) => void (net.fc.bias = null),
  "a parameter is registered": (net) => net.fc.registerParameter("weight", new nn.Parameter(ones([2, 2]))),
  "a parameter of a list is replaced": (net) => void (net.weights[0] = new nn.Parameter(ones([2]).mul(3))),
  "a parameter wants no gradients": (net) => void net.requiresGrad_(false),
  "one parameter wants no gradients": (net) => void (net.fc.weight.requiresGrad = false),
  "a parameter has another type": (net) => void net.double(),
  "a parameter takes other data": (net) => net.fc.weight.replaceData(ones([2, 2])),
  "a parameter takes data of another layout": (net) => net.fc.weight.replaceData(ones([2, 4]).at(":", ":2")),
  "a parameter is written to": (net) => void noGrad(() => net.fc.weight.fill_(0.5)),
  "a bias wants no gradients": (net) => void net.tied.bias?.requiresGrad_(false),
  "a bias has another shape": (net) => net.tied.bias?.replaceData(ones([1])),
  "a bias has another type": (net) => net.tied.bias?.replaceData(ones([2], { dtype: "float64" })),
  "a bias has a hook": (net) => void net.tied.bias?.registerHook((grad) => grad.mul(10)),
  "a bias is detached": (net) => void net.tied.bias?.detach_(),
  "a parameter has a gradient": (net) => void (net.fc.weight.grad = ones([2, 2])),
  "a parameter has a hook": (net) => void net.fc.weight.registerHook((grad) => grad.mul(10)),
  "a parameter has a method of its own": (net) =>
    void Object.assign(net.fc.weight, { mul: () => ones([2, 2]) }),
  "a parameter has another class": (net) =>
    void Object.setPrototypeOf(net.fc.weight, OtherParameter.prototype),
  "parameters are no longer tied": (net) => void (net.tied.weight = new nn.Parameter(ones([2, 2]))),
  "parameters are tied": (net) => {
    const [layer] = net.row;
    if (layer instanceof nn.Linear) layer.weight = net.fc.weight;
  },
  "a state dict is loaded": (net) => {
    const state = net.stateDict();
    net.loadStateDict(Object.fromEntries(Object.entries(state).map(([k, v]) => [k, v.mul(2)])));
  },
  "a buffer is replaced": (net) => void net.registerBuffer("shift", tensor([3.5, 4])),
  "a buffer has another shape": (net) => void net.registerBuffer("shift", tensor([3.5])),
  "a buffer is written to": (net) => void net.shift.fill_(7),
  "a buffer wants gradients": (net) => void net.shift.requiresGrad_(),
  "a buffer is resized": (net) => void net.shift.resize_(1),
  "a buffer becomes null": (net) => void (net.norm.runningMean = null),
  "statistics are written to": (net) => void net.norm.runningMean?.fill_(2),
  "a tensor takes other data": (net) => net.offset.replaceData(ones([2, 1])),
  "a tensor is detached": (net) => void net.offset.detach_(),
  "a tensor has a history": (net) => void net.offset.add_(net.fc.weight),
  "a submodule is replaced": (net) => void (net.act = new Scale(9)),
  "a submodule is replaced by an equal one": (net) => void (net.act = new Scale(3)),
  "a submodule has another class": (net) => void Object.setPrototypeOf(net.act, OtherScale.prototype),
  "a submodule of a row is replaced": (net) => void (net.row[1] = new nn.GELU()),
  "a row grows": (net) => void net.row.append(new Scale(2)),
  "a row shrinks": (net) => void (net.row.length = 1),
  "a list of modules grows": (net) => void net.list.append(new Scale(4)),
  "a module of a list is replaced": (net) => void (net.list[0] = new Scale(4)),
  "a named module is added": (net) => net.named.addModule("two", new Scale(2)),
  "a named module is deleted": (net) => void Reflect.deleteProperty(net.named, "one"),
  "an array grows": (net) => void net.blocks.push(new Scale(2)),
  "an array shrinks": (net) => void (net.blocks.length = 1),
  "an array is reversed": (net) => void [net.scales.reverse(), net.blocks.reverse()],
  "an element is replaced": (net) => void (net.blocks[0] = new Scale(8)),
  "an element is set": (net) => void (net.scales[1] = 3.5),
  "an element becomes a hole": (net) => void delete net.scales[1],
  "an array is replaced": (net) => void (net.scales = [9]),
  "a method of an array is replaced": (net) =>
    void Object.assign(net.scales, {
      *[Symbol.iterator]() {
        yield 6;
      },
    }),
  "an entry of a map is set": (net) => void net.table.set("by", 5),
  "an entry of a map is added": (net) => void net.table.set("more", 5),
  "an entry of a map is deleted": (net) => void net.table.delete("gate"),
  "entries of a map change places": (net) => {
    const gate = net.table.get("gate") ?? 0;
    net.table.delete("gate");
    net.table.set("gate", gate);
  },
  "a map is replaced": (net) => void (net.table = new Map([["by", 6]])),
  "a member of a set is deleted": (net) => void net.flags.clear(),
  "a member of a set is added": (net) => void net.flags.add("other"),
  "a private field is set": (net) => net.setGain(5),
  "a static field is set": () => {
    Net.factor = 2.5;
    return () => void (Net.factor = 1.5);
  },
  "a function is replaced": (net) => void (net.activation = (x) => x.sub(3)),
  "an accessor is hidden": (net) => void Object.defineProperty(net, "gain", { value: 4 }),
  "a method is hidden": (net) => void Object.assign(net.fc, { forward: (x: Tensor) => x.mul(2) }),
  "a hook is registered": (net) => void net.fc.registerForwardHook((_m, _args, y) => (y as Tensor).add(1)),
  "a hook is registered before": (net) =>
    void net.fc.registerForwardPreHook((_m, [x]) => [(x as Tensor).add(1)]),
  "a hook is registered and removed": (net) => net.fc.registerForwardHook(() => ones([2, 2])).remove(),
  "a hook of the whole": (net) => void net.registerForwardHook((_m, _args, y) => (y as Tensor).mul(2)),
  "a forward method is patched": () => patch(Scale.prototype, "forward", (x: Tensor) => x.sub(5)),
  "a forward method of dyn is patched": () => patch(nn.Linear.prototype, "forward", (x: Tensor) => x.mul(5)),
  "the calling of modules is patched": () =>
    patch(nn.Module.prototype, "call", function (this: nn.Module, x: Tensor) {
      return Reflect.apply(this.forward, this, [x]) as Tensor;
    }),
  "a method of tensors is patched": () =>
    patch(Tensor.prototype, "mul", function (this: Tensor) {
      return this.add(1);
    }),
  "a method of parameters is patched": () =>
    patch(nn.Parameter.prototype, "mul", function (this: Tensor) {
      return this.add(1);
    }),
  "a getter is patched": () => {
    const former = Reflect.getOwnPropertyDescriptor(Net.prototype, "gain") ?? {};
    Object.defineProperty(Net.prototype, "gain", { get: () => 3, configurable: true });
    return () => Object.defineProperty(Net.prototype, "gain", former);
  },
  "a method of arrays is patched": () =>
    patch(Array.prototype, Symbol.iterator, function* (this: unknown[]) {
      for (let i = this.length - 1; i >= 0; i--) yield this[i];
    }),
  "a property of every object": () => patch(Object.prototype, "late", 3),
  "a class is inserted": () => {
    const former = Object.getPrototypeOf(Scale.prototype);
    Object.setPrototypeOf(Scale.prototype, { __proto__: former, call: (x: Tensor) => x.add(50) });
    return () => Object.setPrototypeOf(Scale.prototype, former);
  },
};
