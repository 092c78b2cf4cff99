/** Leaves that a program switches with `requiresGrad_()` between forward and backward passes, as loops of GANs do. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  compile,
  compiler,
  DynError,
  enableGrad,
  inferenceMode,
  manualSeed,
  nn,
  noGrad,
  ones,
  optim,
  randn,
  setGradEnabled,
  type Tensor,
  tensor,
} from "../mod.ts";
import { randomNumbers, testSeed } from "./support/sampling.ts";

const F = nn.functional;

/** Everything that a program may see of a tensor. */
const seen = (
  t: Tensor,
) => [t.requiresGrad, t.isLeaf, t.detach().tolist(), t.grad?.detach().tolist() ?? null];

Deno.test("a leaf that no longer requires grad takes no gradient of what was computed before", () => {
  for (const compiled of [false, true]) {
    for (const again of [false, true]) {
      const w = tensor([1, 2], { requiresGrad: true });
      const run = () => {
        const loss = w.mul(3).sum();
        w.requiresGrad_(false);
        if (again) w.requiresGrad = true;
        loss.backward();
      };
      const fn = compiled ? compile(run, { backend: "eager" }) : run;
      fn();
      // As PyTorch 2.11
      assertEquals(seen(w), [again, true, [1, 2], again ? [3, 3] : null]);
      if (compiled) assertEquals(compiler.status(fn).graphBreaks, 0);
    }
  }
});

Deno.test("methods that noGrad, enableGrad or inferenceMode decorates run in it, plainly and compiled", async () => {
  class Model extends nn.Module {
    weight = new nn.Parameter(tensor([1, 2], { dtype: "float32" }));
    @noGrad
    predict(x: Tensor, by = 1): Tensor {
      return this.weight.mul(x).mul(by);
    }
    @noGrad
    async later(x: Tensor): Promise<Tensor> {
      await null;
      return this.weight.mul(x);
    }
    @enableGrad
    recorded(x: Tensor): Tensor {
      return this.weight.mul(x);
    }
    @inferenceMode
    infer(x: Tensor): Tensor {
      return this.weight.mul(x);
    }
    override forward(x: Tensor): Tensor {
      return this.predict(x, 3).add(this.weight);
    }
  }
  const model = new Model(), x = tensor([3, 4], { dtype: "float32" });
  const recorded = [model.predict(x), await model.later(x), noGrad(() => model.recorded(x)), model.infer(x)];
  assertEquals(recorded.map(({ requiresGrad }) => requiresGrad), [false, false, true, false]);
  for (
    const run of [
      (x: Tensor) => model.call(x),
      compile((x: Tensor) => model.call(x), { fullgraph: true }),
    ]
  ) {
    model.zeroGrad();
    const y = run(x);
    y.sum().backward();
    assertEquals([y.tolist(), model.weight.grad?.tolist()], [[10, 26], [1, 1]]);
  }
  const decorate = (member: unknown, kind: string) => () =>
    Reflect.apply(noGrad, undefined, [member, { kind, addInitializer() {} }]);
  assertThrows(decorate(class {}, "class"), DynError, 'Expected a method after @noGrad but found "class"');
  assertThrows(decorate(function* () {}, "method"), DynError, "after @noGrad that is no generator but found");
});

type Switch = (model: nn.Module, wanted: boolean) => void;

const SWITCHES: Readonly<Record<string, Switch>> = {
  "of the module": (model, wanted) => void model.requiresGrad_(wanted),
  "of each parameter": (model, wanted) => {
    for (const each of model.parameters()) each.requiresGrad_(wanted);
  },
  "by assignments": (model, wanted) => {
    for (const each of model.parameters()) each.requiresGrad = wanted;
  },
};

/** Two models that are trained in turn; `isRestored`: both require grad after a step. */
function adversaries(set: Switch, isRestored: boolean) {
  manualSeed(4);
  const netD = new nn.Sequential(new nn.Linear(3, 4), new nn.LeakyReLU(0.2), new nn.Linear(4, 1));
  const netG = new nn.Sequential(
    new nn.Linear(2, 4),
    new nn.BatchNorm1d(4),
    new nn.ReLU(),
    new nn.Linear(4, 3),
  );
  const optimD = new optim.Adam(netD.parameters(), { lr: 0.01 });
  const optimG = new optim.SGD(netG.parameters(), { lr: 0.05, momentum: 0.9 });
  const step = (real: Tensor, noise: Tensor) => {
    set(netG, false);
    set(netD, true);
    optimD.zeroGrad();
    const fake = netG.call(noise);
    const lossD = F.softplus(netD.call(fake)).mean().add(F.softplus(netD.call(real).neg()).mean());
    lossD.backward();
    optimD.step();
    set(netG, true);
    set(netD, false);
    optimG.zeroGrad();
    const lossG = F.softplus(netD.call(netG.call(noise)).neg()).mean();
    lossG.backward();
    optimG.step();
    if (isRestored) set(netD, true);
    return lossD.detach().add(lossG.detach());
  };
  const state = () => [netD, netG].map((net) => net.parameters().map(seen));
  return { step, state };
}

for (const [name, set] of Object.entries(SWITCHES)) {
  for (const isRestored of name === "of the module" ? [true, false] : [true]) {
    const left = isRestored ? "restored" : "left";
    Deno.test(`a step that switches what two models require, ${name} and ${left}, is one graph`, () => {
      const plain = adversaries(set, isRestored), traced = adversaries(set, isRestored);
      const step = compile(traced.step, { backend: "eager", fullgraph: true });
      for (let i = 0; i < 3; i++) {
        const real = randn(5, 3), noise = randn(5, 2);
        assertEquals(step(real, noise).item(), plain.step(real, noise).item());
        assertEquals(traced.state(), plain.state());
      }
      // Where the first step finds another state than it leaves, it is a version of its own
      const { graphs, recompiles } = compiler.status(step);
      assertEquals([graphs, recompiles], isRestored ? [1, 0] : [2, 1]);
    });
  }
}

Deno.test("a leaf that requires grad since within a graph passes gradients to what leaves the graph", () => {
  const w = tensor([1.5, 2]);
  const fn = compile((x: Tensor) => w.requiresGrad_().mul(x).sum(), { backend: "eager" });
  fn(tensor([3, 4])).backward();
  assertEquals(w.grad?.tolist(), [3, 4]);
});

Deno.test("a write that gives a leaf a history with another leaf, which requires grad since, remains recorded", () => {
  const see = (wrap: <F extends (...given: never[]) => unknown>(fn: F) => F) => {
    const fn = wrap((a: Tensor, c: Tensor) => {
      c.requiresGrad_(true);
      return a.mul_(c).requiresGrad;
    });
    const a = tensor([1.5, 2]), c = tensor([0.5, 3]), found = fn(a, c);
    return [found, seen(a), seen(c)];
  };
  assertEquals(see((fn) => compile(fn, { backend: "eager" })), see((fn) => fn));
});

/** An instruction of a random program: what it does to which tensors. */
type Instruction = readonly [kind: number, a: number, b: number, flag: boolean];

/** Runs a random program on tensors; results are what it has seen. */
function interpret(program: readonly Instruction[], leaves: readonly Tensor[], x: Tensor): unknown[] {
  const out: unknown[] = [], losses: Tensor[] = [], views: Tensor[] = [];
  for (const [kind, i, j, flag] of program) {
    const a = leaves[i] ?? x, b = leaves[j] ?? x, loss = losses.at(-1), view = views.at(-1);
    if (kind < 3) a.requiresGrad_(flag);
    else if (kind < 5) a.requiresGrad = flag;
    else if (kind < 8) losses.push(a.mul(b).add(x.mul(a).sin()).sum());
    else if (kind < 10) {
      if (loss?.requiresGrad) loss.backward(undefined, { retainGraph: flag });
    } else if (kind === 10) {
      const { grad } = a;
      if (grad) noGrad(() => a.sub_(grad.mul(0.1)));
    } else if (kind === 11) noGrad(() => (view ?? a).mul_(0.9));
    else if (kind === 12) out.push(a.requiresGrad, a.isLeaf, a.grad === null);
    else if (kind === 13) views.push(flag ? a.view(-1) : a.detach());
    else if (kind === 14 && view) losses.push(view.mul(b).sum());
    else a.grad = null;
  }
  return [...out, ...losses.map((loss) => loss.detach())];
}

Deno.test("random programs that switch leaves between passes and updates see what they see uncompiled", () => {
  const random = randomNumbers(testSeed()), below = (n: number) => Math.floor(random() * n);
  let unbroken = 0;
  for (let k = 0; k < 12; k++) {
    const program = Array.from(
      { length: 6 + below(6) },
      (): Instruction => [below(16), below(3), below(3), random() < 0.5],
    );
    const flags = [0, 1, 2].map(() => random() < 0.6), isSame = random() < 0.2;
    const observe = (fn: typeof interpret) => {
      const [a, b, c] = flags.map((requiresGrad, i) => tensor([0.5 * i + 0.5, -0.3 * i], { requiresGrad }));
      assert(a && b && c);
      const leaves = isSame ? [a, a, c] : [a, b, c], log: unknown[] = [];
      for (let call = 0; call < 3; call++) {
        try {
          const found = fn(program, leaves, tensor([0.3 + call, 0.7]));
          log.push(found.map((each) => typeof each === "boolean" ? each : `${each}`));
        } catch (error) {
          log.push(error instanceof Error ? error.message : error);
        }
        log.push(leaves.map(seen));
      }
      return log;
    };
    compiler.reset();
    const fn = compile(interpret, { backend: "eager" });
    assertEquals(observe(fn), observe(interpret), `${JSON.stringify({ program, flags, isSame })}`);
    if (compiler.status(fn).graphBreaks === 0) unbroken++;
  }
  assert(unbroken > 0);
});

/** Writes under recording through a view that was made without it. */
const WRITES: Readonly<Record<string, (x: Tensor, view: (of: Tensor) => Tensor) => Tensor>> = {
  "of a tensor with a history": (x, view) => {
    const y = x.mul(2), row = view(y);
    row.mul_(3);
    return y.sum();
  },
  "of a leaf": (x, view) => {
    view(x).mul_(3);
    return x.square().sum();
  },
  "of a tensor without a history": (x, view) => {
    const y = ones([2, 3]), row = view(y);
    row.mul_(x.at(0)).mul_(4);
    return y.sum();
  },
};

Deno.test("writes through views made without recording are part of the gradient, or refused, in every mode", () => {
  const modes: readonly (<R>(body: () => R) => R)[] = [
    noGrad,
    inferenceMode,
    (body) => setGradEnabled(false, body),
  ];
  for (const [name, write] of Object.entries(WRITES)) {
    for (const mode of modes) {
      const fn = (x: Tensor) => write(x, (of) => mode(() => of.at(0)));
      for (const run of [fn, compile(fn, { backend: "aot_eager" })]) {
        const x = ones([2, 3], { requiresGrad: true });
        if (name === "of a tensor without a history") {
          run(x).backward();
          assertEquals(x.grad?.tolist(), [[4, 4, 4], [0, 0, 0]]);
        } else {
          assertThrows(() => run(x), DynError, "is being used in an in-place operation", name);
          assertEquals(x.tolist(), [[1, 1, 1], [1, 1, 1]]);
        }
      }
    }
  }
});

Deno.test("running statistics that require grad are refused, since no gradient leads through them", () => {
  const leaf = ones([2, 3], { requiresGrad: true }), { batchNorm, instanceNorm } = nn.functional;
  const given = [ones([4, 3]), leaf.at(0), leaf.at(1), { training: true }] as const;
  assertThrows(() => batchNorm(...given), DynError, "runningMean of batchNorm that does not require grad");
  const images = ones([2, 3, 4]), statistics = { runningMean: leaf.at(0), runningVar: leaf.at(1).detach() };
  assertThrows(() => instanceNorm(images, statistics), DynError, "runningMean of instanceNorm");
  noGrad(() => batchNorm(...given));
  assertEquals(leaf.at(0).tolist(), [1, 1, 1]);
});
