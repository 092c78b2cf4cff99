/** Optimizers that programs write: their states hold what they like, and their steps are captured. */
import { assertEquals, assertNotStrictEquals } from "@std/assert";
import {
  compile,
  compiler,
  enableGrad,
  load,
  nn,
  noGrad,
  optim,
  save,
  type Tensor,
  tensor,
  zerosLike,
} from "../mod.ts";
import "./support/turns/models.ts";

interface LookBackState {
  step: number;
  mean: Tensor;
  recent: Tensor[];
}

/** Momentum with a correction by the number of steps, and the last two gradients. */
class LookBack extends optim.Optimizer<{ lr: number; beta: number }, LookBackState> {
  constructor(params: Iterable<Tensor>, { lr = 0.1, beta = 0.9 } = {}) {
    super(params, { lr, beta });
  }

  @noGrad
  override step<L>(closure?: () => L): L | undefined {
    const loss = closure && enableGrad(closure);
    for (const { params, lr, beta } of this.paramGroups) {
      for (const param of params) {
        if (!param.grad) continue;
        let state = this.state.get(param);
        if (!state) this.state.set(param, state = { step: 0, mean: zerosLike(param), recent: [] });
        state.step += 1;
        state.mean.lerp_(param.grad, 1 - beta);
        state.recent = [...state.recent, param.grad.clone()].slice(-2);
        const older = state.recent[0] ?? param.grad;
        param.sub_(state.mean.div(1 - beta ** state.step).add(older), { alpha: lr });
      }
    }
    return loss;
  }
}

/** Sharpness-aware minimization (Foret et al. 2021), which shares its groups with the optimizer that it guides. */
class SharpnessAware extends optim.Optimizer<{ lr: number; rho: number }, { old: Tensor }> {
  readonly base: optim.SGD;

  constructor(params: Iterable<Tensor>, { lr = 0.1, rho = 0.5 } = {}) {
    super(params, { lr, rho });
    this.base = new optim.SGD(this.paramGroups.map(({ params }) => ({ params })), { lr, momentum: 0.9 });
  }

  @noGrad
  climb(): void {
    const params = this.paramGroups.flatMap(({ params }) => params);
    const norm = nn.utils.getTotalNorm(params.flatMap(({ grad }) => grad ? [grad] : []));
    for (const param of params) {
      if (!param.grad) continue;
      this.state.set(param, { old: param.clone() });
      param.add_(param.grad.mul(0.5).div(norm));
    }
    this.zeroGrad();
  }

  @noGrad
  override step<L>(): L | undefined {
    for (const [param, { old }] of this.state) param.copy_(old);
    this.base.step();
    this.zeroGrad();
    return undefined;
  }
}

const layer = () => {
  const made = new nn.Linear(2, 1);
  noGrad(() => {
    made.weight.copy_(tensor([[0.5, -1]]));
    made.bias?.fill_(0.25);
  });
  return made;
};

const BATCH = tensor([[1, 2], [-1, 0.5], [3, 1]], { dtype: "float32" });

const lossOf = (model: nn.Linear) => model.call(BATCH).pow(2).mean();

Deno.test("counts and lists of an optimizer's state are saved, loaded and continued from", () => {
  const model = layer(), optimizer = new LookBack(model.parameters());
  const schedule = new optim.lrScheduler.ExponentialLR(optimizer, 0.9);
  const train = (model: nn.Linear, optimizer: LookBack) => {
    const loss = optimizer.step(() => {
      optimizer.zeroGrad();
      const loss = lossOf(model);
      loss.backward();
      return loss;
    });
    return [loss?.item(), model.weight.tolist()];
  };
  for (let i = 0; i < 3; i++) train(model, optimizer);
  schedule.step();
  const path = Deno.makeTempFileSync({ suffix: ".safetensors" });
  save(optimizer.stateDict(), path);
  const states = [optimizer.stateDict(), load<ReturnType<LookBack["stateDict"]>>(path)];
  Deno.removeSync(path);
  const others = states.map((state) => {
    const other = layer(), loaded = new LookBack(other.parameters());
    other.loadStateDict(model.stateDict());
    loaded.loadStateDict(state);
    const { step, mean, recent } = loaded.state.get(other.weight) ?? {};
    assertEquals([step, recent?.length, loaded.paramGroups[0]?.lr], [3, 2, 0.09000000000000001]);
    assertNotStrictEquals(mean, optimizer.state.get(model.weight)?.mean);
    return [train(other, loaded), train(other, loaded)];
  });
  const wanted = [train(model, optimizer), train(model, optimizer)];
  assertEquals(others, [wanted, wanted]);
});

Deno.test("a number that a program has saved in an optimizer's state is a tensor of it", () => {
  const model = layer(), { weight } = model, adam = new optim.Adam(model.parameters());
  const given = { ...adam.stateDict(), state: { 0: { step: 3, exp_avg: zerosLike(weight) } } };
  adam.loadStateDict(given as never);
  assertEquals(adam.state.get(weight)?.["step"]?.item(), 3);
});

Deno.test("two passes and two updates by own optimizers are one graph", () => {
  const run = (compiled: boolean) => {
    const model = layer(), optimizer = new SharpnessAware(model.parameters());
    const step = () => {
      const loss = lossOf(model);
      loss.backward();
      optimizer.climb();
      lossOf(model).backward();
      optimizer.step();
      return loss.detach();
    };
    const fn = compiled ? compile(step, { fullgraph: true, backend: "aot_eager" }) : step;
    const losses = Array.from({ length: 4 }, () => fn().item());
    return { losses, graphs: compiled ? compiler.status(fn).graphs : null };
  };
  const { losses, graphs } = run(true);
  assertEquals(losses.map((x) => x.toFixed(5)), run(false).losses.map((x) => x.toFixed(5)));
  assertEquals(graphs, 2);
});
