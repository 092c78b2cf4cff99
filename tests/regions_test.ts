/**
 * Repeated stretches of a graph, such as layers, are differentiated, lowered and compiled once: results, gradients and
 * random numbers are unchanged, on every tier, and what differs from layer to layer stays separate.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { autograd, compile, compiler, config, DynError, manualSeed, nn, noGrad, optim } from "../mod.ts";
import { clone, randn, type Tensor, tensor } from "../mod.ts";
import { aotAutograd, interpretGraph } from "../lib/aot/backend.ts";
import { counters } from "../lib/base/logs.ts";
import "./support/turns/gradients.ts";
import { sampleBySeed } from "./support/sampling.ts";
import { onTiers, TIERS } from "./support/tiers.ts";

const WIDTH = 16, HEADS = 2, LAYERS = 6;

type Layer = nn.Module & { forward(x: Tensor): Tensor };

/** A transformer's layer. */
class Block extends nn.Module {
  readonly before = new nn.LayerNorm(WIDTH);
  readonly between = new nn.LayerNorm(WIDTH);
  readonly joined = new nn.Linear(WIDTH, 3 * WIDTH);
  readonly out = new nn.Linear(WIDTH, WIDTH);
  readonly up = new nn.Linear(WIDTH, 2 * WIDTH);
  down: nn.Linear;
  readonly dropout: number;

  constructor({ dropout = 0, down = new nn.Linear(2 * WIDTH, WIDTH) } = {}) {
    super();
    this.dropout = dropout;
    this.down = down;
  }

  override forward(x: Tensor): Tensor {
    const [b = 1, t = 1] = x.shape;
    const parts = this.joined.forward(this.before.forward(x))
      .reshape([b, t, 3, HEADS, WIDTH / HEADS]).permute([2, 0, 3, 1, 4]).unbind(0);
    const [q = x, k = x, v = x] = parts;
    const mixed = nn.functional.scaledDotProductAttention(q, k, v, { isCausal: true });
    const attended = this.out.forward(mixed.transpose(1, 2).reshape([b, t, WIDTH]));
    const y = x.add(nn.functional.dropout(attended, this.dropout, this.training));
    const wide = nn.functional.gelu(this.up.forward(this.between.forward(y)));
    return y.add(nn.functional.dropout(this.down.forward(wide), this.dropout, this.training));
  }
}

/** Layers one behind the other. */
class Stack extends nn.Module {
  readonly layers: nn.ModuleList<Layer>;

  constructor(make: (at: number) => Layer) {
    super();
    this.layers = new nn.ModuleList(Array.from({ length: LAYERS }, (_, at) => make(at)));
  }

  override forward(x: Tensor): Tensor {
    let y = x;
    for (const layer of this.layers) y = layer.call(y);
    return y;
  }
}

/** Returns the numbers of regions differentiated and lowered. */
const counts = () => [counters.get("aot", "regions"), counters.get("inductor", "regions")];

function counted<R>(body: () => R): { readonly result: R; readonly made: readonly number[] } {
  const before = counts(), result = body();
  return { result, made: counts().map((count, at) => count - (before[at] ?? 0)) };
}

function assertNear(found: readonly (Tensor | null)[], expected: readonly (Tensor | null)[]): void {
  assertEquals(found.map((each) => each?.shape ?? null), expected.map((each) => each?.shape ?? null));
  found.forEach((each, at) => {
    const other = expected[at];
    if (!each || !other) return;
    const error = each.detach().sub(other.detach()).abs().max().item();
    const size = other.detach().abs().max().item();
    assert(Number(error) <= 1e-5 * (1 + Number(size)), `result ${at} is off by ${error} of ${size}`);
  });
}

/** Returns the result of a program, then gradients. */
function outcome(
  run: (x: Tensor) => Tensor,
  { module, x, seed = 3 }: { readonly module: nn.Module; readonly x: Tensor; readonly seed?: number },
): (Tensor | null)[] {
  module.zeroGrad();
  if (x.grad) x.grad = null;
  manualSeed(seed);
  const result = run(x);
  if (result.requiresGrad) result.pow(2).mean().backward();
  return [result, x.grad, ...[...module.parameters()].map(({ grad }) => grad && clone(grad))];
}

interface Case {
  readonly make: () => Layer;
  readonly input?: () => Tensor;
  /** Regions differentiated; regions lowered by a code generator. */
  readonly made: readonly [number, number];
}

const input = () => randn([2, 4, WIDTH]);

class InPlace extends nn.Module {
  readonly first = new nn.Linear(WIDTH, WIDTH);
  readonly second = new nn.Linear(WIDTH, WIDTH);

  override forward(x: Tensor): Tensor {
    const y = this.first.forward(x);
    y.mul_(0.5);
    y.add_(1);
    nn.functional.relu(y, { inplace: true });
    const z = this.second.forward(y).add(0.5);
    z.sub_(0.25);
    z.select(-1, 0).mul_(2);
    return x.sub(0.5).mul(0.25).add(z.sigmoid()).add(z.cos()).add(z.sin()).mul(0.5);
  }
}

class Buffered extends nn.Module {
  readonly linear = new nn.Linear(WIDTH, WIDTH);
  readonly norm = new nn.BatchNorm1d(WIDTH);

  override forward(x: Tensor): Tensor {
    const y = this.norm.forward(this.linear.forward(x.reshape([-1, WIDTH]))).reshape(x.shape);
    return y.sin().add(y.cos()).mul(0.5).add(x).sub(0.5).tanh().mul(2).exp().log().add(1).sigmoid().neg();
  }
}

/** Positions as layers look them up: each in a table of its own. */
const places = tensor([[0, 3], [1, 2], [3, 0], [2, 2]], { dtype: "int64" });

class Looking extends nn.Module {
  readonly table = new nn.Embedding(4, WIDTH);
  readonly linear = new nn.Linear(WIDTH, WIDTH);

  override forward(x: Tensor): Tensor {
    const y = this.linear.forward(x.add(this.table.forward(places).sum(1)));
    const z = y.gather(1, places.unsqueeze(0).expand([2, 4, 2])).sum(-1, { keepdim: true });
    return y.sin().add(y.cos()).mul(0.5).add(x).sub(0.5).tanh().mul(z).sigmoid().log().neg().exp().add(1).mul(
      0.5,
    );
  }
}

const shared = () => {
  const down = new nn.Linear(2 * WIDTH, WIDTH);
  return new Stack(() => new Block({ down }));
};

const CASES: Readonly<Record<string, Case>> = {
  "layers of a transformer": { make: () => new Stack(() => new Block()), made: [1, 2] },
  "an input that requires a gradient": {
    make: () => new Stack(() => new Block()),
    input: () => input().requiresGrad_(),
    made: [1, 2],
  },
  "dropout": { make: () => new Stack(() => new Block({ dropout: 0.3 })), made: [1, 2] },
  "weights that layers share": { make: shared, made: [1, 2] },
  "one layer again and again": {
    make() {
      const block = new Block();
      return new Stack(() => block);
    },
    made: [1, 2],
  },
  "values written in place": { make: () => new Stack(() => new InPlace()), made: [1, 2] },
  "two kinds of layers": {
    make: () => new Stack((at) => new Block({ dropout: at < 3 ? 0 : 0.1 })),
    made: [0, 0],
  },
  "frozen layers": {
    make: () =>
      new Stack((at) => {
        const block = new Block();
        if (at < 3) { for (const each of block.parameters()) each.requiresGrad = false; }
        return block;
      }),
    made: [2, 3],
  },
  "lookups": { make: () => new Stack(() => new Looking()), made: [1, 2] },
  "statistics that layers keep": { make: () => new Stack(() => new Buffered()), made: [1, 2] },
};

for (
  const [{ name: tier, backend, patch }, name, { make, input: given = input, made: [joint, lowered] }]
    of sampleBySeed(onTiers(CASES), 7)
) {
  Deno.test(`regions, ${tier}: ${name}`, () => {
    manualSeed(1);
    const module = make(), x = given();
    const state = module.stateDict();
    const kept = new Map(Object.entries(state).map(([key, value]) => [key, clone(value)]));
    const expected = outcome((x) => module.call(x), { module, x });
    module.loadStateDict(Object.fromEntries(kept));
    config.patch(patch, () => {
      const compiled = compile((x: Tensor) => module.call(x), { backend, fullgraph: true });
      const first = counted(() => outcome(compiled, { module, x }));
      assertNear(first.result, expected);
      const isEager = backend === "eager", isLowered = backend === "inductor";
      assertEquals(first.made, [isEager ? 0 : joint, isLowered ? lowered : 0]);
      module.loadStateDict(Object.fromEntries(kept));
      assertNear(outcome(compiled, { module, x }), expected);
    });
  });
}

/** A new stack with weights from the same seed. */
const stack = (): Stack => {
  manualSeed(1);
  return new Stack(() => new Block());
};

Deno.test("sizes that change share one region", () => {
  const module = stack(),
    compiled = compile((x: Tensor) => module.call(x), { dynamic: true, fullgraph: true });
  const { made } = counted(() => {
    for (const [b, t] of [[2, 4], [3, 5], [5, 7]] as const) {
      const x = randn([b, t, WIDTH]);
      assertNear(outcome(compiled, { module, x }), outcome((x) => module.call(x), { module, x }));
    }
  });
  assertEquals(made, [1, 2]);
});

Deno.test("without gradients a region has one half", () => {
  const module = stack().eval(), compiled = compile((x: Tensor) => noGrad(() => module.call(x)));
  const x = input(), { result, made } = counted(() => compiled(x));
  assertNear([result], [noGrad(() => module.call(x))]);
  assertEquals(made, [1, 1]);
});

Deno.test("gradients of gradients go through regions", () => {
  const module = stack(), x = input().requiresGrad_();
  const twice = (run: (x: Tensor) => Tensor) => {
    module.zeroGrad();
    const [grad] = autograd.grad([run(x).pow(2).sum()], [x], { createGraph: true });
    assert(grad);
    grad.pow(2).sum().backward();
    const found = [grad, ...[...module.parameters()].map(({ grad }) => grad && clone(grad))];
    module.zeroGrad();
    x.grad = null;
    return found;
  };
  for (const { backend, patch } of TIERS) {
    config.patch(patch, () => {
      assertNear(twice(compile((x: Tensor) => module.call(x), { backend })), twice((x) => module.call(x)));
    });
  }
});

Deno.test("a whole training step is made of regions", () => {
  const train = (compiled: boolean) => {
    const module = stack(), optimizer = new optim.SGD(module.parameters(), { lr: 0.01, momentum: 0.9 });
    const step = (x: Tensor) => {
      optimizer.zeroGrad();
      const loss = module.call(x).pow(2).mean();
      loss.backward();
      optimizer.step();
      return loss;
    };
    const run = compiled ? compile(step, { fullgraph: true }) : step;
    manualSeed(5);
    const losses = [1, 2, 3].map(() => run(input()));
    for (const loss of losses) assertThrows(() => loss.backward(), Error, "a second time");
    return [...losses, ...module.parameters()].map((each) => clone(each.detach()));
  };
  const { result, made } = counted(() => train(true));
  // A layer, lowered in two halves, and the update of a parameter of each shape
  const updates = new Set(stack().parameters().map(({ shape }) => String(shape))).size;
  assertEquals(updates, 7);
  assertEquals(made, [1 + updates, 2 + updates]);
  assertNear(result, train(false));
});

Deno.test("states that layers keep of each call are as without regions", () => {
  /** A round more: statistics that are read, that two layers share, or that are of another call as well. */
  class Watched extends Buffered {
    override forward(x: Tensor): Tensor {
      const y = super.forward(x);
      return y.add(this.norm.runningMean ?? y).mul(0.5);
    }
  }
  class Common extends Buffered {
    override readonly norm: nn.BatchNorm1d;
    constructor(norm: nn.BatchNorm1d) {
      super();
      this.norm = norm;
    }
  }
  const ways: Readonly<Record<string, readonly [make: (norm: nn.BatchNorm1d) => Layer, regions: number]>> = {
    kept: [() => new Buffered(), 1],
    read: [() => new Watched(), 0],
    shared: [(norm) => new Common(norm), 0],
  };
  for (const [way, [make, regions]] of Object.entries(ways)) {
    const train = (compiled: boolean) => {
      manualSeed(7);
      const norm = new nn.BatchNorm1d(WIDTH), module = new Stack(() => make(norm));
      const step = (x: Tensor) => {
        module.zeroGrad();
        const loss = module.call(x).pow(2).mean();
        loss.backward();
        return loss;
      };
      const backend = aotAutograd({ fwCompiler: interpretGraph, regions: true });
      const run = compiled ? compile(step, { backend, fullgraph: true }) : step;
      const losses = [1, 2].map(() => run(input()));
      const grads = [...module.parameters()].map(({ grad }) => grad && clone(grad));
      return [...losses, ...grads, ...[...module.buffers()].map((each) => clone(each))];
    };
    const { result, made } = counted(() => train(true));
    assertEquals(made[0], regions, way);
    assertNear(result, train(false));
  }
});

Deno.test("an index out of range is detected in every layer", () => {
  const outside = (at: number, index: number) => {
    const module = new Stack(() => new Looking());
    const step = (x: Tensor) => {
      let y = x;
      for (const layer of module.layers) y = layer.call(y);
      return y;
    };
    const run = compile(step, { fullgraph: true });
    const expected = run(x);
    const [row] = [places.select(0, at)];
    const former = clone(row);
    row.fill_(index);
    try {
      assertThrows(() => run(x), DynError, `Expected index in [0, 3] but found ${index}`);
    } finally {
      row.copy_(former);
    }
    assertNear([run(x)], [expected]);
  };
  const x = input();
  outside(1, 4);
  outside(3, -1);
});

Deno.test("writes between the layers are preserved", () => {
  const module = stack();
  const run = (x: Tensor) => {
    let y = x;
    for (const layer of module.layers) {
      y = layer.call(y);
      y.mul_(0.5);
    }
    return y;
  };
  for (const backend of ["aot_eager", "inductor"]) {
    const compiled = compile(run, { backend, fullgraph: true }), x = input();
    assertNear(outcome(compiled, { module, x }), outcome(run, { module, x }));
    const failing = (x: Tensor) => {
      const y = module.call(x), z = y.exp();
      y.add_(1);
      z.add_(1);
      return z;
    };
    const messages = [failing, compile(failing, { backend })].map((each) => {
      try {
        each(x).sum().backward();
        return "nothing";
      } catch (error) {
        return error instanceof Error ? error.message : error;
      }
    });
    assert(messages[0] !== "nothing");
    assertEquals(messages[1], messages[0]);
  }
});

Deno.test("a hook of one layer is called, and the other layers share code", () => {
  const module = stack(), seen: number[] = [];
  module.layers.at(3).registerForwardHook((_module, _args, result) => {
    seen.push(1);
    return (result as Tensor).mul(2);
  });
  const compiled = compile((x: Tensor) => module.call(x)), x = input();
  assertNear(outcome(compiled, { module, x }), outcome((x) => module.call(x), { module, x }));
  assert(seen.length >= 2);
});

Deno.test("a change of one layer is detected", () => {
  const module = stack(), compiled = compile((x: Tensor) => module.call(x)), x = input();
  outcome(compiled, { module, x });
  const [, second, third] = module.layers;
  assert(second instanceof Block && third instanceof Block);
  noGrad(() => third.up.weight.mul_(-1));
  assertNear(outcome(compiled, { module, x }), outcome((x) => module.call(x), { module, x }));
  module.layers.at(4).train(false);
  second.down = new nn.Linear(2 * WIDTH, WIDTH);
  assertNear(outcome(compiled, { module, x }), outcome((x) => module.call(x), { module, x }));
});

Deno.test("the rounds of a loop are one region", () => {
  const run = (x: Tensor) => {
    let y = x;
    for (let i = 0; i < 40; i++) y = y.matmul(x).tanh().add(x).mul(0.5);
    return y;
  };
  for (const { backend, patch } of TIERS) {
    config.patch(patch, () => {
      const x = randn([8, 8]).requiresGrad_(), module = new nn.Linear(1, 1);
      const { result, made } = counted(() => outcome(compile(run, { backend }), { module, x }));
      assertNear(result, outcome(run, { module, x }));
      assertEquals(made, backend === "eager" ? [0, 0] : [1, backend === "inductor" ? 2 : 0]);
    });
  }
});

/** A small function over what it is given and a weight. */
const mixed = compiler.nestedCompileRegion((x: Tensor, w: Tensor) => x.matmul(w).tanh().add(x));

for (const { name: tier, backend, patch } of TIERS) {
  Deno.test(`a marked function, ${tier}: two calls are one region`, () => {
    const w = [0, 1].map(() => randn([8, 8]).requiresGrad_());
    const run = (x: Tensor) => w.reduce((y, each) => mixed(y, each).mul(2), x);
    config.patch(patch, () => {
      const module = new nn.Linear(1, 1), x = randn([4, 8]).requiresGrad_();
      const grads = () => {
        const found = w.map(({ grad }) => grad && clone(grad));
        for (const each of w) each.grad = null;
        return found;
      };
      const expected = [...outcome(run, { module, x }), ...grads()];
      const { result, made } = counted(() =>
        outcome(compile(run, { backend, fullgraph: true }), { module, x })
      );
      assertNear([...result, ...grads()], expected);
      assertEquals(made, backend === "eager" ? [0, 0] : [1, backend === "inductor" ? 2 : 0]);
    });
  });
}

Deno.test("a marked function draws anew in each call", () => {
  const noisy = compiler.nestedCompileRegion((x: Tensor) => nn.functional.dropout(x.mul(2), 0.5));
  const run = (x: Tensor) => noisy(noisy(x).add(1)).sub(noisy(x));
  const module = new nn.Linear(1, 1), x = randn([5, 6]).requiresGrad_();
  const { result, made } = counted(() => outcome(compile(run), { module, x }));
  assertNear(result, outcome(run, { module, x }));
  assertEquals(made, [1, 2]);
});

Deno.test("M16: marked modules and methods are regions, and otherwise unchanged", () => {
  class Marked extends nn.Module {
    readonly linear = new nn.Linear(WIDTH, WIDTH);

    @compiler.nestedCompileRegion
    override forward(x: Tensor): Tensor {
      return this.linear.forward(x).relu().add(x);
    }
  }
  manualSeed(1);
  for (
    const make of [
      () => new Marked(),
      () => compiler.nestedCompileRegion(new nn.Linear(WIDTH, WIDTH)),
    ]
  ) {
    const module = new Stack(make), x = input();
    const { result, made } = counted(() => outcome(compile((x: Tensor) => module.call(x)), { module, x }));
    assertNear(result, outcome((x) => module.call(x), { module, x }));
    assertEquals(made, [1, 2]);
    assertEquals([...module.layers][0]?.stateDict().constructor, Object);
  }
});

Deno.test("calls of a marked function that do more, or differ, are as if it were not marked", () => {
  const seen: number[] = [];
  const kinds: Readonly<Record<string, (x: Tensor, at: number) => Tensor>> = {
    "another constant": (x, at) => x.mul(at + 2),
    "a write to its argument": (x) => x.add_(1),
    "its argument": (x) => x,
    "a view": (x) => x.t(),
    "a side effect": (x, at) => (seen.push(at), x.sin()),
    "a branch on a number": (x, at) => at > 0 ? x.sin() : x.cos(),
    "an index": (x) => x.add(nn.functional.embedding(x.detach().abs().mul(0).to("int64"), x).sum(2)),
    "a graph break": (x) => x.mul(Number(x.sum().item()) > 0 ? 2 : 3),
  };
  for (const [name, kind] of Object.entries(kinds)) {
    const marked = compiler.nestedCompileRegion(kind);
    const run = (x: Tensor) => {
      const y = x.mul(1);
      return marked(marked(y, 0).mul(0.5), 1).add(y);
    };
    const module = new nn.Linear(1, 1), x = randn([3, 3]).requiresGrad_();
    seen.length = 0;
    const expected = outcome(run, { module, x }), effects = [...seen];
    seen.length = 0;
    const compiled = compile(run);
    assertNear(outcome(compiled, { module, x }), expected);
    assertEquals(seen, effects, name);
  }
});

Deno.test("changes after one call of a marked function are detected", () => {
  const weights = [randn([4]), randn([4])];
  const scaled = compiler.nestedCompileRegion((x: Tensor, at: number) => x.mul(weights[at] ?? x).sin());
  const run = (x: Tensor) => scaled(scaled(x, 0), 1), compiled = compile(run), x = randn([4]);
  const check = () => assertNear([compiled(x)], [run(x)]);
  check();
  weights[1] = randn([4]);
  check();
  weights[0] = randn([1]);
  check();
  weights[1]?.mul_(2);
  check();
});

Deno.test("marked generators that alternate keep their behaviour", () => {
  const counting = compiler.nestedCompileRegion(function* (x: Tensor) {
    yield x.sin().mul(2);
    yield x.cos().mul(3);
  });
  const run = (x: Tensor) => {
    const [a, b] = [counting(x), counting(x.add(1))];
    const parts = [a, b, a, b].map((each) => each.next().value ?? x);
    return parts.reduce((sum, each) => sum.mul(0.5).add(each));
  };
  const x = randn([4]).requiresGrad_(), module = new nn.Linear(1, 1);
  assertNear(outcome(compile(run), { module, x }), outcome(run, { module, x }));
});

Deno.test("without gradients, a region saves nothing for them", () => {
  const module = stack(), run = (x: Tensor) => module.call(x).detach();
  const before = counters.get("inductor", "kernels"), x = input();
  const { result, made } = counted(() => compile(run)(x));
  const recorded = counters.get("inductor", "kernels") - before;
  assertNear([result], [run(x)]);
  assertEquals(made[1], 1);
  noGrad(() => compile((x: Tensor) => module.call(x))(x));
  assertEquals(counters.get("inductor", "kernels") - before, 2 * recorded);
});

Deno.test("a gradient of a gradient inside the graph is that of the layers", () => {
  const module = stack();
  const run = (x: Tensor) => {
    const y = module.call(x);
    const [grad] = autograd.grad([y.pow(2).sum()], [x], { createGraph: true });
    return grad ? y.mean().add(grad.pow(2).sum()) : y;
  };
  const x = input().requiresGrad_();
  for (const backend of ["aot_eager", "inductor"]) {
    const compiled = compile(run, { backend });
    assertNear(outcome(compiled, { module, x }), outcome(run, { module, x }));
  }
});
