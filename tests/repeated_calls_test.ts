/**
 * Equal layers of a model, and updates of its parameters, are traced once: the others reuse what the first has
 * appended. Layers and updates that differ in anything observable give their plain results, whether they differ when
 * they are compiled or later.
 */
import { assertEquals } from "@std/assert";
import { autograd, compile, manualSeed, nn, noGrad, ones, optim, randn, type Tensor } from "../mod.ts";
import { counters } from "../lib/base/logs.ts";
import { randomNumbers, sampleBySeed, testSeed } from "./support/sampling.ts";

const WIDTH = 4, LAYERS = 5;

/** State that layers look up themselves. */
const favourites = new Map<object, number>(), weak = new WeakMap<object, number>();
const TAG = Symbol("tag"), OTHER = Symbol("tag");
const chosen: { layer: Layer | null } = { layer: null };
let calls = 0;

/** A layer with more to see than most have. */
class Layer extends nn.Module {
  readonly norm = new nn.LayerNorm(WIDTH);
  up = new nn.Linear(WIDTH, WIDTH);
  down = new nn.Linear(WIDTH, WIDTH);
  readonly dropout = new nn.Dropout(0.5);
  scale = 2;
  offset: number | undefined = 1;
  readonly list = [0.5, 1];
  options: { power: number } = { power: 2 };
  act: (x: Tensor) => Tensor = half;
  #secret = 1;
  /** Additional behaviour. */
  habit: "tag" | "none" | "private" | "map" | "weak" | "chosen" | "counts" | "keeps" | "parent" | "pair" =
    "none";
  kept: unknown = null;
  tag: symbol = TAG;
  /** Never read. */
  index: unknown = null;
  parent: readonly Layer[] = [];

  override forward(x: Tensor): Tensor {
    let y = this.up.call(this.norm.call(x));
    // Lists may have holes
    for (const each of this.list) y = y.add(each ?? 0.25);
    y = this.dropout.call(this.act(y)).pow(this.options.power);
    if (this.offset !== undefined) y = y.sub(this.offset);
    return this.after(x.add(this.down.call(y).mul(this.scale)));
  }

  after(y: Tensor): Tensor {
    switch (this.habit) {
      case "none":
        return y;
      case "tag":
        return this.tag === TAG ? y : y.neg();
      case "private":
        return y.mul(this.#secret);
      case "map":
        return y.mul(favourites.get(this) ?? 3);
      case "weak":
        return y.mul(weak.get(this) ?? 3);
      case "chosen":
        return chosen.layer === this ? y.neg() : y;
      case "counts":
        calls++;
        return y.add(calls);
      case "keeps":
        this.kept = (typeof this.kept === "number" ? this.kept : 0) + 1;
        return y.add(Number(this.kept));
      case "parent":
        return y.add(this.parent[0]?.up.weight.sum() ?? 0);
      case "pair": {
        const [first = y, second = y] = this.up.weight.chunk(2, 0).map((part) => part.sum());
        return y.add(first).sub(second);
      }
    }
  }

  set secret(value: number) {
    this.#secret = value;
  }
}

const half = (x: Tensor): Tensor => x.mul(0.5);

class Derived extends Layer {
  override after(y: Tensor): Tensor {
    return super.after(y).sin();
  }
}

/** Layers one behind the other. */
class Stack extends nn.Module {
  /** Gives the first layer an input with a history, like the others. */
  readonly gain = new nn.Parameter(ones([WIDTH]));
  readonly layers: nn.ModuleList<Layer>;
  constructor(make: (at: number) => Layer = () => new Layer()) {
    super();
    this.layers = new nn.ModuleList(Array.from({ length: LAYERS }, (_, at) => make(at)));
    this.eval();
  }

  override forward(x: Tensor): Tensor {
    let y = x.mul(this.gain);
    for (const layer of this.layers) y = layer.call(y).tanh();
    return y;
  }
}

/** Returns the number of calls of layers that were not traced during `body`. */
function repeatedIn(name: string, body: () => void): number {
  const before = counters.get("repeated_calls", name);
  body();
  return counters.get("repeated_calls", name) - before;
}

/** The result and the gradients of a call. */
function outcome(net: Stack, run: (x: Tensor) => Tensor, x: Tensor): unknown {
  net.zeroGrad();
  calls = 0;
  manualSeed(5);
  const y = run(x);
  if (y.requiresGrad) y.sum().backward();
  return [y.tolist(), [...net.parameters()].map(({ grad }) => grad?.tolist() ?? null)];
}

/** Changes that distinguish one layer, or all, and the number of layers still reused. */
const DIFFERENCES: Readonly<Record<string, readonly [change: (layers: Layer[]) => void, repeated: number]>> =
  {
    "a number of a layer in it": [([, , layer]) => Object.assign(layer?.norm ?? {}, { eps: 0.5 }), 3],
    "its own number": [([, , layer]) => layer && (layer.scale = 3), 3],
    "the sign of zero": [([, , layer]) => layer && (layer.scale = -0), 3],
    "the mode": [([, , layer]) => layer?.train(), 3],
    "the mode of all": [(layers) => layers.forEach((layer) => layer.train()), 4],
    "a property that is not there": [([, , layer]) => layer && Reflect.deleteProperty(layer, "offset"), 3],
    "a property that is undefined": [([, , layer]) => layer && (layer.offset = undefined), 3],
    "a number that nobody reads": [(layers) => layers.forEach((layer, at) => layer.index = at), 4],
    "an object that nobody reads": [([, , layer]) => layer && (layer.index = {}), 3],
    "a list of another length": [([, , layer]) => layer && (layer.list.length = 3), 3],
    "a symbol": [(layers) => {
      for (const layer of layers) layer.habit = "tag";
      if (layers[2]) layers[2].tag = OTHER;
    }, 3],
    "a property more": [([, , layer]) => layer && Object.assign(layer, { more: 1 }), 3],
    "an accessor": [
      ([, , layer]) => layer && Object.defineProperty(layer, "scale", { get: () => 5, configurable: true }),
      3,
    ],
    "a method": [([, , layer]) => layer && (layer.forward = (x) => x.sub(1)), 3],
    "a method of a layer in it": [([, , layer]) => layer && (layer.down.forward = (x) => x.cos()), 3],
    "a class": [([, , layer]) => layer && Object.setPrototypeOf(layer, Derived.prototype), 3],
    "a function": [([, , layer]) => layer && (layer.act = (x) => x.cos()), 3],
    "a list": [([, , layer]) => layer?.list.push(0.25), 3],
    "an object": [([, , layer]) => layer && (layer.options = { power: 3 }), 3],
    "an object that others have": [
      ([first, , layer]) => layer && first && (layer.options = first.options),
      4,
    ],
    "an object that all have": [(layers) => {
      const options = { power: 3 };
      for (const layer of layers) layer.options = options;
    }, 4],
    "a hook": [([, , layer]) => layer?.registerForwardHook((_module, _args, y) => (y as Tensor).mul(2)), 3],
    "a hook before": [([, , layer]) => layer?.up.registerForwardPreHook(() => [ones([2, WIDTH])]), 3],
    "a hook of all": [(layers) => {
      const twice = (_module: unknown, _args: unknown, y: unknown) => (y as Tensor).mul(2);
      for (const layer of layers) layer.registerForwardHook(twice);
    }, 0],
    "a frozen parameter": [([, , layer]) => layer?.up.weight.requiresGrad_(false), 3],
    "a frozen layer": [([, , layer]) => layer?.requiresGrad_(false), 3],
    "a layer without bias": [
      ([, , layer]) => layer && (layer.up = new nn.Linear(WIDTH, WIDTH, { bias: false })),
      3,
    ],
    "a weight twice": [([, , layer]) => layer && (layer.down.weight = layer.up.weight), 3],
    "a weight twice in all": [(layers) => {
      for (const layer of layers) layer.down.weight = layer.up.weight;
    }, 4],
    "a layer twice": [([, , layer]) => layer && (layer.down = layer.up), 3],
    "a weight of another layer": [
      ([first, , layer]) => layer && first && (layer.up.weight = first.up.weight),
      4,
    ],
    "a weight of all": [([first, ...others]) => {
      for (const layer of others) if (first) layer.up.weight = first.up.weight;
    }, 4],
    "a view of another's memory": [
      ([first, , layer]) =>
        layer && first && (layer.up.weight = new nn.Parameter(first.up.weight.detach().view([4, 4]))),
      4,
    ],
    "a private member": [([, , layer, ...others]) => {
      for (const each of [layer, ...others]) if (each) each.habit = "private";
      if (layer) layer.secret = 7;
    }, 1],
    "a map": [([, ...layers]) => {
      for (const layer of layers) layer.habit = "map";
      if (layers[2]) favourites.set(layers[2], 11);
    }, 2],
    "a weak map": [([, ...layers]) => {
      for (const layer of layers) layer.habit = "weak";
      if (layers[2]) weak.set(layers[2], 11);
    }, 0],
    "a variable that holds one": [([, ...layers]) => {
      for (const layer of layers) layer.habit = "chosen";
      chosen.layer = layers[2] ?? null;
    }, 2],
    "a variable that counts": [(layers) => {
      for (const layer of layers) layer.habit = "counts";
    }, 0],
    "a property that counts": [(layers) => {
      for (const layer of layers) layer.habit = "keeps";
    }, 0],
    "a way to another": [(layers) => {
      for (const layer of layers) {
        layer.habit = "parent";
        layer.parent = layers;
      }
    }, 0],
    "parts of a weight": [(layers) => {
      for (const layer of layers) layer.habit = "pair";
    }, 4],
  };

/** The same change for any layers. */
type Change = (layers: Layer[]) => void;

/** Holds a compiled model against the plain one before and after a change. */
function compare(before: Change, after: Change, seed: number): number {
  manualSeed(seed);
  const net = new Stack(), x = randn([2, WIDTH]);
  before([...net.layers]);
  const compiled = compile((x: Tensor) => net.call(x), { backend: "eager" });
  const count = repeatedIn("callTraced", () => assertSame(net, compiled, x));
  after([...net.layers]);
  assertSame(net, compiled, x);
  return count;
}

/** Holds a function that is given models against the plain one, with two of them in turn. */
function compareGiven(before: Change, after: Change, seed: number): void {
  manualSeed(seed);
  const nets = [new Stack(), new Stack()] as const, x = randn([2, WIDTH]);
  const compiled = compile((net: Stack, x: Tensor) => net.call(x), { backend: "eager" });
  before([...nets[0].layers]);
  after([...nets[1].layers]);
  for (const net of [...nets, ...nets]) assertSame(net, (x) => compiled(net, x), x);
}

function assertSame(net: Stack, compiled: (x: Tensor) => Tensor, x: Tensor): void {
  const found = outcome(net, compiled, x);
  for (const layer of net.layers) layer.kept = null;
  assertEquals(found, outcome(net, (x) => net.call(x), x));
  for (const layer of net.layers) layer.kept = null;
}

Deno.test("equal layers are traced once", () => {
  assertEquals(compare(() => {}, () => {}, 2), LAYERS - 1);
});

for (const [name, [change, repeated]] of sampleBySeed(Object.entries(DIFFERENCES), 12)) {
  Deno.test(`layers that differ by ${name}, now or later`, () => {
    assertEquals(compare(change, () => {}, 3), repeated);
    compare(() => {}, change, 4);
  });
}

Deno.test("layers that differ in two things, one of them later", () => {
  const random = randomNumbers(testSeed()), changes = Object.entries(DIFFERENCES);
  for (let k = 0; k < 4; k++) {
    const draw = (): [string, Change] => {
      const at = Math.floor(random() * LAYERS),
        [name, [change]] = changes[Math.floor(random() * changes.length)] ??
          ["nothing", [() => {}]];
      return [`${name} from ${at}`, (layers) => change([...layers.slice(at), ...layers.slice(0, at)])];
    };
    const [first, before] = draw(), [second, after] = draw();
    try {
      compare(before, after, k);
      compareGiven(before, after, k);
    } catch (error) {
      throw new Error(`${first}, later ${second}, seed ${k}`, { cause: error });
    }
  }
});

Deno.test("a text of a layer that differs between models is looked at in each layer", () => {
  // What the first two calls bring makes the text of the last layer one that changes
  const last: Change = (layers) => void (layers.at(-1)!.habit = "map");
  compareGiven(last, () => {}, 6);
});

/** Gradients that a program takes itself, of a model whose layers stand for each other. */
const PASSES: Readonly<Record<string, (net: Stack, x: Tensor) => Tensor>> = {
  "one pass": (net, x) => {
    const y = net.call(x);
    y.sum().backward();
    return y;
  },
  "a pass from a layer's own result": (net, x) => {
    const y = net.layers.at(3).call(net.layers.at(2).call(x.mul(net.gain)));
    y.backward(x);
    return y;
  },
  "two passes": (net, x) => {
    const y = net.call(x).sum();
    y.backward(null, { retainGraph: true });
    y.mul(2).backward();
    return y;
  },
  "a write between two passes": (net, x) => {
    const y = net.call(x).sum();
    y.backward(null, { retainGraph: true });
    noGrad(() => net.layers.at(2).down.bias?.add_(1));
    y.mul(2).backward();
    return y;
  },
  "gradients with a history": (net, x) => {
    const [grad = x] = grads(net.call(x).sum(), [net.layers.at(3).up.weight], { createGraph: true });
    grad.pow(2).sum().backward();
    return grad.detach();
  },
  "gradients of two layers": (net, x) => {
    const wanted = [net.layers.at(1).up.weight, net.layers.at(4).up.weight];
    return grads(net.call(x).sum(), wanted).reduce((sum, each) => sum.add(each));
  },
  "a write before the pass": (net, x) => {
    const y = net.call(x);
    const z = y.mul(2);
    z.add_(1).pow(2).sum().backward();
    return y;
  },
  "a layer without gradients": (net, x) => {
    const y = noGrad(() => net.layers.at(1).call(x)), z = net.layers.at(2).call(y.mul(net.gain));
    net.layers.at(3).call(z).sum().backward();
    return z;
  },
  "a part without gradients": (net, x) => {
    const y = net.layers.at(1).call(x.mul(net.gain));
    net.layers.at(3).call(net.layers.at(2).call(y).detach()).sum().backward();
    return y;
  },
  "steps in which layers add up": (net, x) => {
    const y = x.mul(net.gain);
    net.layers.at(1).call(y).add(net.layers.at(2).call(y)).mul(net.layers.at(2).call(y)).sum().backward();
    return y;
  },
};

function grads(y: Tensor, inputs: readonly Tensor[], options: { readonly createGraph?: boolean } = {}) {
  return autograd.grad(y, [...inputs], options).map((grad) => grad ?? ones([]));
}

/** The result of a program that takes gradients, and the gradients that it leaves. */
function passed(run: (net: Stack, x: Tensor) => Tensor, habit: Layer["habit"], isTraining: boolean) {
  manualSeed(8);
  const net = new Stack(), x = randn([2, WIDTH]);
  for (const layer of net.layers) layer.habit = habit;
  net.train(isTraining);
  const before = net.layers.at(2).down.bias?.tolist();
  return [1, 2].map((seed) => {
    manualSeed(seed);
    net.zeroGrad();
    const y = run(net, x);
    return [y.tolist(), [...net.parameters()].map(({ grad }) => grad?.tolist() ?? null), before];
  });
}

for (const [name, program] of sampleBySeed(Object.entries(PASSES), 5)) {
  Deno.test(`gradients that a program takes of equal layers: ${name}`, () => {
    for (const [habit, isTraining] of [["none", false], ["pair", false], ["none", true]] as const) {
      const compiled = compile(program, { backend: "aot_eager" });
      assertEquals(passed(compiled, habit, isTraining), passed(program, habit, isTraining), habit);
    }
  });
}

Deno.test("of equal layers one is differentiated to plan a pass", () => {
  const count = () => counters.get("repeated_calls", "in histories"), before = count();
  passed(
    compile((net: Stack, x: Tensor) => {
      const y = net.call(x);
      y.sum().backward();
      return y;
    }, { backend: "aot_eager", fullgraph: true }),
    "none",
    false,
  );
  assertEquals(count() - before, LAYERS - 1);
});

type Params = readonly nn.Parameter[];

/** An optimizer of the parameters of four layers, and how many of its eight updates stand for others. */
const OPTIMIZERS: readonly (readonly [(params: Params) => optim.Optimizer<object>, number])[] = [
  [(p) => new optim.SGD(p, { lr: 0.1 }), 0],
  [(p) => new optim.SGD(p, { lr: 0.1, momentum: 0.9, nesterov: true, weightDecay: 0.1 }), 6],
  // Its first updates begin the states, those of the second version stand for others
  [(p) => new optim.SGD(p, { lr: 0.1, momentum: 0.9, dampening: 0.1 }), 6],
  [(p) => new optim.Adam(p), 6],
  [(p) => new optim.AdamW(p, { amsgrad: true, maximize: true }), 6],
  [(p) => new optim.NAdam(p), 6],
  [(p) => new optim.RAdam(p), 6],
  [(p) => new optim.Adamax(p), 6],
  [(p) => new optim.RMSprop(p, { centered: true, momentum: 0.5 }), 6],
  [(p) => new optim.Adagrad(p), 6],
  [(p) => new optim.Adadelta(p), 6],
  [(p) => new optim.Adafactor(p), 6],
  [(p) => new optim.ASGD(p), 6],
  [(p) => new optim.Rprop(p), 6],
  // Two groups, whose numbers differ
  [(p) => new optim.AdamW([{ params: p.slice(0, 4) }, { params: p.slice(4), lr: 0.5 }]), 4],
  [(p) => new optim.AdamW(p.map((each) => ({ params: [each] }))), 0],
  [(p) => new Counting(p), 0],
  [decoupling, 0],
];

/** Its own updates are functions of the program. */
class Counting extends optim.Adam {
  count = 0;

  protected override update(...[param, grad, context]: Parameters<optim.Adam["update"]>): void {
    this.count++;
    super.update(param, grad.mul(this.count), context);
  }
}

/** A getter of the program runs in the midst of updates. */
function decoupling(params: Params): optim.Optimizer<object> {
  let count = 0;
  const optimizer = new optim.Adam(params, { weightDecay: 0.1 });
  Object.defineProperty(optimizer.paramGroups[0], "decoupledWeightDecay", { get: () => count++ % 2 === 0 });
  return optimizer;
}

/** A change between the gradients and the step. */
type Between = (params: Params, optimizer: optim.Optimizer<object>) => void;
const BETWEEN: readonly Between[] = [
  (params) => void nn.utils.clipGradNorm_(params, 0.5),
  (params) => void noGrad(() => params[5]?.mul_(2)),
  (params) => void (params[3] && (params[3].grad = null)),
  ([, , one, , other]) => void (one && other && (other.grad = one.grad)),
  (params, { state }) => void noGrad(() => state.get(params[4] ?? ones([1]))?.exp_avg?.add_(1)),
  (_, { paramGroups: [group] }) => void (group && Object.assign(group, { lr: 0.25 })),
];

/** The parameters after three steps, and how many updates stood for others. */
function stepped(
  make: (params: Params) => optim.Optimizer<object>,
  between: Between,
  run: (step: (x: Tensor) => void) => (x: Tensor) => void,
) {
  manualSeed(6);
  const layers = Array.from({ length: 4 }, () => new nn.Linear(WIDTH, WIDTH));
  const params = layers.flatMap((layer) => [...layer.parameters()]), optimizer = make(params);
  const step = run((x) => {
    optimizer.zeroGrad();
    layers.reduce((y, layer) => layer.call(y).tanh(), x).pow(2).sum().backward();
    between(params, optimizer);
    optimizer.step();
  });
  const repeated = repeatedIn("update", () => {
    for (let k = 0; k < 3; k++) step(ones([2, WIDTH]).mul(k + 1));
  });
  return { values: params.map((each) => each.tolist()), repeated };
}

Deno.test("equal updates of parameters are traced once, with plain results", () => {
  const check = (make: (params: Params) => optim.Optimizer<object>, between: Between): number => {
    const plain = stepped(make, between, (step) => step);
    const { values, repeated } = stepped(make, between, (step) => compile(step, { backend: "aot_eager" }));
    assertEquals(values, plain.values, `${make}, ${between}`);
    return repeated;
  };
  for (const [make, expected] of OPTIMIZERS) assertEquals(check(make, () => {}), expected, `${make}`);
  for (const between of BETWEEN) check((params) => new optim.AdamW(params), between);
});

/** The graph of a step whose parameters have these shapes: the ops that it calls, and its operations with their lines. */
function capturedStep(shapes: readonly number[][], rates: readonly number[]) {
  const groups = rates.map((lr) => ({ lr, params: shapes.map((shape) => new nn.Parameter(randn(shape))) }));
  const optimizer = new optim.AdamW(groups, { amsgrad: true }),
    params = groups.flatMap(({ params }) => params);
  const found: { called: string[]; code: string; lines: string[] }[] = [];
  const step = compile((x: Tensor) => {
    for (const each of params) each.grad = each.mul(x);
    optimizer.step();
    return x.add(1).add_(1);
  }, {
    backend: (gm) => {
      const called = gm.calling.nodes.map(({ target }) => target);
      const lines = gm.graph.nodes.map(({ target, meta }) => `${target}: ${JSON.stringify(meta.stack)}`);
      found.push({ called, code: gm.code, lines });
      return null;
    },
  });
  noGrad(() => step(ones([])));
  const [graph = { called: [], code: "", lines: [] }] = found;
  return graph;
}

Deno.test("equal updates of parameters are one call each, and inline in the traced one", () => {
  const equal = capturedStep(Array.from({ length: 6 }, () => [3]), [0.1]);
  const other = capturedStep(Array.from({ length: 6 }, (_, k) => [k + 2]), [0.1]);
  const count = (called: readonly string[], wanted: string) =>
    called.filter((each) => each === wanted).length;
  assertEquals([count(equal.called, "update_"), count(equal.called, "addcmul_")], [6, 0]);
  assertEquals([count(other.called, "update_"), count(other.called, "addcmul_")], [0, 6]);
  assertEquals([equal.code, equal.lines], [other.code, other.lines]);
  // Few of each are left to stretches that differ in numbers
  const rated = capturedStep(Array.from({ length: 2 }, () => [3]), [0.1, 0.2, 0.3, 0.4]);
  assertEquals([count(rated.called, "update_"), count(rated.called, "addcmul_")], [0, 8]);
});
