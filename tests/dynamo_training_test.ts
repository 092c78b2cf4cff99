/** Training steps: forward, backward and update as one graph. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { Linear } from "../lib/nn/linear.ts";
import { ReLU } from "../lib/nn/activation.ts";
import { Sequential } from "../lib/nn/container.ts";
import { Adam } from "../lib/optim/adam.ts";
import { SGD } from "../lib/optim/sgd.ts";
import { noGrad } from "../lib/tensor/modes.ts";
import { ops } from "../lib/tensor/eager.ts";
import { compile, compiler, getRngState, manualSeed, nn, ones, rand, randn, Tensor, tensor } from "../mod.ts";
import { capture, list, vector } from "./support/dynamo.ts";

function wave(shape: readonly number[], seed: number): Tensor {
  const count = shape.reduce((a, b) => a * b, 1);
  return vector(...Array.from({ length: count }, (_, i) => Math.sin(1.3 * i + seed))).reshape(shape);
}

type Optimizer = (params: Iterable<Tensor>) => { step(): void; zeroGrad(): void };

function training(optimizer: Optimizer) {
  const model = new Sequential(new Linear(3, 4), new ReLU(), new Linear(4, 2));
  let seed = 1;
  noGrad(() => {
    for (const p of model.parameters()) p.copy_(wave(p.shape, seed++));
  });
  const optim = optimizer(model.parameters());
  const step = (x: Tensor, y: Tensor): Tensor => {
    optim.zeroGrad();
    const loss = model.forward(x).sub(y).pow(2).mean();
    loss.backward();
    optim.step();
    return loss;
  };
  return { model, step };
}

const OPTIMIZERS: readonly (readonly [name: string, make: Optimizer])[] = [
  ["SGD", (p) => new SGD(p, { lr: 0.1 })],
  ["SGD with momentum", (p) => new SGD(p, { lr: 0.1, momentum: 0.9 })],
  ["Adam", (p) => new Adam(p, { lr: 0.01 })],
];

for (const [name, make] of OPTIMIZERS) {
  Deno.test(`a step of ${name} is one graph, and trains as it does uncompiled`, () => {
    const plain = training(make), traced = training(make);
    const c = capture(traced.step, { fullgraph: true });
    for (let i = 0; i < 4; i++) {
      const x = wave([5, 3], 10 + i), y = wave([5, 2], 20 + i);
      assertEquals(list(c.run(x, y).detach()), list(plain.step(x, y).detach()));
    }
    const weights = (m: typeof plain.model) => m.parameters().map((p) => list(p.detach()));
    const grads = (m: typeof plain.model) => m.parameters().map((p) => list(p.grad));
    assertEquals(weights(traced.model), weights(plain.model));
    assertEquals(grads(traced.model), grads(plain.model));
    // The step that begins the optimizer's state is the graph of all others
    assertEquals(c.graphs.length, 1);
  });
}

/** Updates of an optimizer around its own `run`; `call` counts those of one parameter. */
type Update = (own: () => void, about: { param: Tensor; grad: Tensor; call: number }) => void;

const UPDATES: Readonly<Record<string, Update>> = {
  "a break before them": (own) => {
    compiler.graphBreak("before");
    own();
  },
  "a break after them": (own) => {
    own();
    compiler.graphBreak("after");
  },
  "an element that is read": (own, { grad }) => {
    if (grad.abs().max().item() < 1e9) own();
  },
  "a break in a try block": (own) => {
    try {
      compiler.graphBreak("inside");
      throw new Error("expected");
    } catch {
      own();
    }
  },
  "a parameter that is left out": (own, { param }) => {
    if (param.ndim === 2) own();
  },
  "a parameter that is left out after a break": (own, { param }) => {
    compiler.graphBreak("before");
    if (param.ndim === 2) own();
  },
  "an exception": (own, { param, call }) => {
    if (param.ndim === 1 && call === 0) throw new Error("first");
    own();
  },
  "an exception after a break": (own, { param, call }) => {
    compiler.graphBreak("before");
    if (param.ndim === 1 && call === 0) throw new Error("first");
    own();
  },
};

/** Trains with such updates; returns each loss or error and what the optimizers hold after each step. */
function trainedWith(update: Update, isApart: boolean, backend: string | null): unknown[] {
  class Changed extends Adam {
    calls = 0;
    override update(...given: Parameters<Adam["update"]>): void {
      const [param, grad] = given, call = this.calls;
      if (param.ndim === 1) this.calls++;
      update(super.update.bind(this, ...given), { param, grad, call });
    }
  }
  const model = new Linear(3, 2), parameters = model.parameters();
  noGrad(() => parameters.forEach((p, seed) => p.copy_(wave(p.shape, seed))));
  const optimizers = isApart
    ? parameters.map((p) => new Changed([p], { lr: 0.1 }))
    : [new Changed(parameters.map((p, k) => ({ params: [p], lr: 0.1 + k })))];
  const step = (x: Tensor) => {
    for (const each of optimizers) each.zeroGrad();
    const loss = model.forward(x).square().mean();
    loss.backward();
    for (const each of optimizers) each.step();
    return loss.detach();
  };
  const run = backend === null ? step : compile(step, { backend });
  return [1, 2, 3].map((seed) => {
    let outcome: unknown;
    try {
      outcome = list(run(wave([4, 3], seed)));
    } catch (thrown) {
      outcome = String(thrown);
    }
    const held = optimizers.map(({ state }) =>
      parameters.map((p) => Object.entries(state.get(p) ?? {}).map(([name, value]) => [name, list(value)]))
    );
    return [outcome, held, parameters.map((p) => list(p.detach()))];
  });
}

for (const [name, update] of Object.entries(UPDATES)) {
  Deno.test(`states of optimizers are those of uncompiled steps: updates with ${name}`, () => {
    for (const isApart of [false, true]) {
      const plain = trainedWith(update, isApart, null);
      for (const backend of ["eager", "aot_eager"]) {
        assertEquals(trainedWith(update, isApart, backend), plain);
      }
    }
  });
}

Deno.test("a gradient of another shape is rejected in compiled programs too", () => {
  const x = vector(1, 2).requiresGrad_();
  const f = (x: Tensor) => x.mul(2).backward(ones([1]));
  const hooked = (x: Tensor) => {
    const y = x.mul(2);
    y.registerHook(() => ones([3]));
    y.sum().backward();
  };
  for (const backend of ["eager", "aot_eager", "inductor"]) {
    assertThrows(() => compile(f, { backend })(x), Error, "shape [2]");
    assertThrows(() => compile(hooked, { backend })(x), Error, "shape [2]");
  }
  assertEquals(x.grad, null);
});

Deno.test("gradients accumulate into existing ones, which stay the same tensors", () => {
  const fn = (x: Tensor) => x.mul(x).sum().backward();
  const c = capture(fn, { fullgraph: true });
  const x = vector(1, 2).requiresGrad_();
  c.run(x);
  const first = x.grad;
  c.run(x);
  assertEquals(list(x.grad), [4, 8]);
  assert(x.grad === first);
});

Deno.test("a result of the graph passes gradients out of it, also through breaks", () => {
  const fn = (x: Tensor, w: Tensor) => {
    const h = x.matmul(w).tanh();
    const s = h.sum().item() as number;
    return h.mul(s > 0 ? 2 : 3).sum();
  };
  const c = capture(fn);
  const leaves = () =>
    [wave([2, 3], 1).detach().requiresGrad_(), wave([3, 2], 2).detach().requiresGrad_()] as const;
  const [x, w] = leaves(), [u, v] = leaves();
  c.run(x, w).backward();
  fn(u, v).backward();
  assertEquals([list(x.grad), list(w.grad)], [list(u.grad), list(v.grad)]);
});

Deno.test("a leaf with a hook leaves the backward pass to the tape", () => {
  let fired = 0;
  const c = capture((x: Tensor) => {
    ops.sum(x.mul(3)).backward();
  });
  const x = vector(1).requiresGrad_();
  x.registerHook((g) => {
    fired++;
    return g.mul(10);
  });
  c.run(x);
  assertEquals([list(x.grad), fired], [[30], 1]);
});

const HOOKS: Readonly<Record<string, (seen: unknown[]) => (grad: Tensor) => Tensor | undefined>> = {
  "that is disabled": (seen) =>
    compiler.disable((grad: Tensor) => {
      seen.push(grad.item());
      return grad.mul(0.5);
    }),
  "that calls a builtin": (seen) => {
    const push: (value: Tensor) => void = seen.push.bind(seen);
    return (grad) => void push(grad);
  },
  "with direct eval": (seen) => (grad) => {
    seen.push(eval("grad.item()"));
    return grad.neg();
  },
};
for (const [name, make] of Object.entries(HOOKS)) {
  Deno.test(`a hook ${name} leaves the backward pass to the tape before anything of it is recorded`, () => {
    const outcomes = [false, true].map((isCompiled) => {
      const weight = tensor(1.5, { requiresGrad: true }), seen: unknown[] = [];
      const pass = () => weight.mul(3).sum().backward();
      const run = isCompiled ? compile(pass, { backend: "aot_eager" }) : pass;
      run();
      weight.registerHook(make(seen));
      for (let k = 0; k < 2; k++) run();
      return [weight.grad?.item(), seen.map(String)];
    });
    assertEquals(outcomes[1], outcomes[0]);
  });
}

Deno.test("a second backward pass through one result fails as it does uncompiled", () => {
  const fn = (w: Tensor) => {
    const loss = w.sin().sum();
    loss.backward();
    try {
      loss.backward();
      return "passed";
    } catch (e) {
      return e instanceof Error ? e.message : "";
    }
  };
  const traced = vector(1, 2).requiresGrad_(), plain = vector(1, 2).requiresGrad_();
  assertEquals(capture(fn).run(traced), fn(plain));
  assertEquals(list(traced.grad), list(plain.grad));
});

Deno.test("outside the graph, too, a result whose backward pass has run cannot be differentiated again", () => {
  const c = capture((w: Tensor) => {
    const loss = w.sin().sum();
    loss.backward();
    return loss;
  });
  const w = vector(1, 2).requiresGrad_();
  const loss = c.run(w);
  const before = list(w.grad);
  assertThrows(() => loss.backward());
  assertEquals(list(w.grad), before);
});

Deno.test("two passes through one graph that is retained, with arguments in every form", () => {
  const fn = (w: Tensor) => {
    const h = w.sin();
    const first = h.sum(), second = h.pow(2);
    first.backward({ retainGraph: true });
    second.backward({ gradient: w.detach().mul(2), retainGraph: true });
    first.backward(null, true);
    first.backward(null, { retainGraph: false });
    return first.detach();
  };
  const traced = vector(1, 2).requiresGrad_(), plain = vector(1, 2).requiresGrad_();
  const c = capture(fn);
  assertEquals(list(c.run(traced)), list(fn(plain)));
  assertEquals(list(traced.grad), list(plain.grad));
});

class Model extends nn.Module {
  readonly first: nn.Linear;
  readonly rest: nn.Sequential;
  scale: nn.Parameter = new nn.Parameter(ones([2]));
  constructor(inputs: number) {
    super();
    this.first = new nn.Linear(inputs, 4);
    this.rest = new nn.Sequential(new nn.BatchNorm1d(4), new nn.Dropout(0.5), new nn.Linear(4, 2));
  }
  override forward(x: Tensor): Tensor {
    return this.rest.call(this.first.call(x).relu()).mul(this.scale);
  }
}

/** Functions that make parameters and modules. */
const MAKING: Readonly<Record<string, (x: Tensor) => unknown>> = {
  "a layer whose result goes on": (x) => new nn.Linear(3, 4).call(x),
  "a model and its result": (x) => {
    const model = new Model(x.size(1));
    return [model, model.call(x)];
  },
  "random numbers before and behind": (x) => {
    const y = nn.functional.dropout(x, 0.5), layer = new nn.Linear(3, 2);
    return [nn.functional.dropout(layer.call(y), 0.3), layer, rand(2)];
  },
  "gradients": (x) => {
    const layer = new nn.Linear(3, 4);
    layer.call(x).square().sum().backward();
    return [layer, layer.weight.grad];
  },
  "several steps": (x) => {
    const model = new Model(3), optimizer = new SGD(model.parameters(), { lr: 0.01, momentum: 0.9 });
    const losses = Array.from({ length: 3 }, () => {
      const loss = model.call(x).square().sum();
      optimizer.zeroGrad();
      loss.backward();
      optimizer.step();
      return loss.detach();
    });
    return [model, ...losses];
  },
  "what a parameter is made from shows its memory": (x) => {
    const data = randn(2, 3), made = new nn.Parameter(data);
    noGrad(() => data.add_(1));
    return [made.mul(x), made, data, data.sum()];
  },
  "writes between uses": (x) => {
    const fixed = x.detach(), made = new nn.Parameter(fixed.mul(2)), before = made.mul(fixed).sum();
    noGrad(() => made.add_(1));
    return [before, made.mul(fixed).sum(), made];
  },
  "frozen parameters, and what they are": (x) => {
    const made = new nn.Parameter(tensor([1.5, 2, 3]), { requiresGrad: false });
    return [made.mul(x), made, made instanceof nn.Parameter, made.isLeaf, made.constructor === nn.Parameter];
  },
  "a shared parameter": (x) => {
    const a = new nn.Linear(3, 3), b = new nn.Linear(3, 3);
    b.weight = a.weight;
    return [b.call(a.call(x)), a.weight === b.weight, a, b];
  },
  "without gradients": (x) => noGrad(() => new nn.Linear(3, 2).call(x)),
  "fillings": () => {
    const layer = new nn.Linear(3, 2);
    nn.init.truncNormal_(layer.weight, { std: 0.02 });
    nn.init.zeros_(layer.bias ?? ones([]));
    return layer;
  },
  "a state dict that is loaded": (x) => {
    const a = new nn.Linear(3, 2), b = new nn.Linear(3, 2);
    a.loadStateDict(b.stateDict());
    return [a.call(x), a, b];
  },
  "attention, convolution, recurrence": (x) => {
    const attention = new nn.MultiheadAttention(4, 2), query = ones([2, 1, 4]);
    const recurrent = new nn.GRU(3, 4), convolution = new nn.Conv1d(1, 2, 2);
    const results = [attention.call(query, query, query), recurrent.call(x.unsqueeze(0))].map(([y]) => y);
    return [attention, recurrent, convolution, ...results, convolution.call(x.unsqueeze(1))];
  },
};

/** Returns the result of a function, and the effects of backward passes. */
function trained(fn: (x: Tensor) => unknown): unknown {
  manualSeed(5);
  const x = wave([2, 3], 1).detach().requiresGrad_(), results = [fn(x)].flat();
  for (const each of results) {
    if (each instanceof Tensor && each.requiresGrad && !each.isLeaf) {
      each.sum().backward({ retainGraph: true });
    }
  }
  const shown = (value: unknown): unknown => {
    if (value instanceof nn.Module) {
      return [value.constructor.name, ...value.namedParameters(), ...Object.entries(value.stateDict())].flat()
        .map(shown);
    }
    if (!(value instanceof Tensor)) return value;
    return [
      value.constructor.name,
      value.requiresGrad,
      value.isLeaf,
      value.tolist(),
      value.isLeaf && shown(value.grad),
    ];
  };
  return [shown(x), ...results.map(shown), getRngState()];
}

for (const [name, fn] of Object.entries(MAKING)) {
  Deno.test(`parameters created in a graph: ${name}`, () => {
    const compiled = compile(fn, { backend: "eager", fullgraph: true });
    for (let i = 0; i < 2; i++) assertEquals(trained(compiled), trained(fn));
  });
}

Deno.test("parameters created in a graph are trained by kernels", () => {
  const fn = (x: Tensor) => {
    const layer = new nn.Linear(3, 2), optimizer = new SGD(layer.parameters(), { lr: 0.1 });
    layer.call(x).square().sum().backward();
    optimizer.step();
    return [layer.weight, layer.bias, layer.call(x)];
  };
  const [found, expected] = [compile(fn, { fullgraph: true }), fn].map((each) => {
    manualSeed(3);
    return each(wave([2, 3], 1)).map((each) => each?.detach());
  });
  expected?.forEach((each, k) => assert(each && found?.[k]?.allclose(each)));
});

Deno.test("a parameter of an object from outside ends the graph", () => {
  const fn = (x: Tensor) => [new nn.Parameter(x), x.add(1)];
  assertEquals(compiler.explain(fn)(vector(1, 2)).breakReasons.map(({ id }) => id), ["GB0022"]);
  const x = vector(1, 2), [made] = compile(fn, { backend: "eager" })(x);
  noGrad(() => x.add_(1));
  assertEquals(list(made ?? x), [2, 3]);
});
