/** Programs that take gradients inside: of tensors that they create, and through hooks of leaves. */
import {
  autograd,
  broadcastTensors,
  cat,
  enableGrad,
  full,
  manualSeed,
  nn,
  noGrad,
  ones,
  randn,
  type Tensor,
  tensor,
  zeros,
} from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const f64 = (values: readonly number[], requiresGrad = false) =>
  tensor(values, { dtype: "float64", requiresGrad });

/** Programs of one graph, each. */
export const whole: Corpus = {
  "the residual of a differential equation, of parts that are joined"({ compile, see }) {
    const net = new nn.Sequential(new nn.Linear(2, 4), new nn.Tanh(), new nn.Linear(4, 1));
    const slope = (y: Tensor, x: Tensor) => autograd.grad(y.sum(), x, null, { createGraph: true })[0]!;
    const step = compile((given: Tensor, time: Tensor) => {
      const x = given.clone().requiresGrad_(), t = time.clone().requiresGrad_();
      const u = net.call(cat([x, t], 1)), ux = slope(u, x);
      const residual = slope(u, t).add(u.mul(ux)).sub(slope(ux, x).mul(0.01));
      const loss = residual.square().mean();
      loss.backward();
      return loss.detach();
    });
    see(step(randn([5, 1]), randn([5, 1])), ...[...net.parameters()].map((each) => each.grad));
    see(step(randn([5, 1]), randn([5, 1])), ...[...net.parameters()].map((each) => each.grad));
  },
  "a gradient with gaps between its rows, read in many ways"({ compile, see }) {
    const f = compile((x: Tensor, y: Tensor) => {
      const [found] = autograd.grad(cat([x, y], 1).pow(3).sum(), x);
      return [found!.mul(2), found!.t().clone(), found!.sum(), found!.select(1, 0).add(1), found!.size(0)];
    });
    see(f(f64([1, -2]).reshape(2, 1).requiresGrad_(), f64([3, 4]).reshape(2, 1)), 0, 0);
  },
  "autograd.grad of a tensor made inside"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const y = x.detach().requiresGrad_();
      const [slope] = autograd.grad(y.pow(3).sum(), [y]);
      return [slope!, y.isLeaf, y.requiresGrad];
    });
    see(f(f64([1, -2])), f(f64([3, 0.5])));
  },
  "a leaf made of data"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const w = tensor([0.5, 2], { dtype: "float64", requiresGrad: true });
      return autograd.grad(x.mul(w).exp().sum(), w);
    });
    see(f(f64([1, -2])), f(f64([3, 0.5])));
  },
  "leaves of every kind"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const w = zeros([2], { dtype: "float64", requiresGrad: true });
      const b = full([], 0.5, { dtype: "float64", requiresGrad: true });
      const loss = w.mul(x).add(b).exp().sum();
      return [...autograd.grad(loss, [w, b]), w.requiresGrad, b.isLeaf];
    });
    see(f(f64([1, -2])), f(f64([3, 0.5])));
  },
  "gradients of results and of inputs, some of which do not contribute"({ compile, see }) {
    const f = compile((x: Tensor, w: Tensor, unused: Tensor) => {
      const hidden = x.mul(w), loss = hidden.sin().sum();
      return autograd.grad([loss, hidden.mul(2)], [hidden, w, unused], [null, hidden.detach()], {
        allowUnused: true,
      });
    });
    const x = f64([1, -2]);
    see(f(x, f64([0.5, 1], true), f64([1], true)), x);
  },
  "a pass that keeps what a second one reads"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const y = x.clone().requiresGrad_(), loss = y.pow(3).sum();
      const [first] = autograd.grad(loss, [y], { retainGraph: true });
      const [second] = autograd.grad(loss, [y]);
      return first!.sub(second!.mul(2));
    });
    see(f(f64([1, -2])));
  },
  "a backward pass that is differentiated"({ compile, see }) {
    const w = f64([0.5, 2], true), b = f64([1], true);
    const f = compile((x: Tensor) => {
      w.grad = b.grad = null;
      const loss = w.mul(x).add(b).pow(3).sum();
      loss.backward({ createGraph: true });
      const before = [w.grad!.requiresGrad, b.grad!.isLeaf, w.grad!.detach().clone()], kept = w.grad!;
      w.grad!.square().sum().add(b.grad!.sum()).backward();
      return [...before, w.grad!.detach(), b.grad!.detach(), w.grad === kept];
    });
    see(f(f64([1, -2])), f(f64([3, 0.5])), w.grad!.tolist(), b.grad!.tolist());
  },
  "gradients with histories add up to new ones"({ compile, see }) {
    const w = f64([0.5, 2], true);
    const f = compile((x: Tensor, first: boolean, second: boolean) => {
      w.mul(x).exp().sum().backward({ createGraph: first });
      const former = w.grad;
      w.mul(x).sin().sum().backward(null, undefined, second);
      return [former === w.grad, w.grad!.requiresGrad, w.grad!.detach().clone()];
    });
    for (const [first, second] of [[true, false], [true, true], [false, true], [false, false]] as const) {
      see(f(f64([1, -2]), first, second), f(f64([1, 0.5]), second, first), w.grad?.requiresGrad);
      w.grad = null;
    }
  },
  "a gradient with a history is differentiated outside"({ compile, see }) {
    const w = f64([0.5, 2], true);
    const f = compile((x: Tensor) => {
      w.mul(x).exp().sum().backward(null, true, true);
      return w.grad!.requiresGrad;
    });
    see(f(f64([1, -2])));
    const first = w.grad!;
    w.grad = null;
    first.square().sum().backward();
    see(first.detach(), w.grad);
  },
  "steps with a penalty on gradients"({ compile, see }) {
    manualSeed(7);
    const critic = new nn.Sequential(new nn.Linear(2, 3), new nn.Tanh(), new nn.Linear(3, 1));
    const step = compile((x: Tensor) => {
      critic.zeroGrad();
      const loss = critic.call(x).square().mean();
      loss.backward({ createGraph: true });
      const penalty = [...critic.parameters()].reduce((sum, { grad }) => sum.add(grad!.square().sum()), loss);
      penalty.backward();
      noGrad(() => {
        for (const each of critic.parameters()) each.sub_(each.grad!.mul(0.1));
      });
      return penalty.detach();
    });
    see(...Array.from({ length: 3 }, () => step(randn([4, 2]))), ...critic.parameters());
  },
  "backward to a tensor made inside"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const y = x.detach().requiresGrad_();
      y.pow(2).sum().backward();
      y.exp().sum().backward();
      const { grad } = y;
      y.grad = null;
      return [grad!, y.grad];
    });
    see(f(f64([1, -2])));
  },
  "an attack on a model"({ compile, see }) {
    manualSeed(2);
    const model = new nn.Linear(3, 2);
    const attacked = compile((x: Tensor) => {
      const given = x.detach().clone().requiresGrad_();
      const [slope] = autograd.grad(model.call(given).square().sum(), given);
      const moved = noGrad(() => given.add(slope!.sign().mul(0.1)));
      const loss = model.call(moved).square().mean();
      loss.backward();
      return loss.detach();
    });
    see(attacked(randn([2, 3])), attacked(randn([2, 3])), model.parameters().map(({ grad }) => grad));
  },
  "a history in a part without gradients"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const y = x.detach().requiresGrad_();
      const z = enableGrad(() => y.mul(y).sum());
      return [autograd.grad(z, [y])[0]!, y.mul(2).requiresGrad];
    });
    noGrad(() => see(f(f64([1, -2]))));
  },
  "a gradient of a gradient"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const y = x.detach().requiresGrad_();
      const [first] = autograd.grad(y.pow(3).sum(), [y], { createGraph: true });
      return autograd.grad(first!.sum(), [y]);
    });
    see(f(f64([1, -2])));
  },
  "a penalty on gradients"({ compile, see }) {
    manualSeed(4);
    const critic = new nn.Sequential(new nn.Linear(3, 4), new nn.Tanh(), new nn.Linear(4, 1));
    const step = compile((real: Tensor, fake: Tensor) => {
      critic.zeroGrad();
      const mixed = real.add(fake).div(2).detach().requiresGrad_();
      const [slope] = autograd.grad(critic.call(mixed).sum(), mixed, { createGraph: true });
      const penalty = slope!.square().sum(1).sqrt().sub(1).square().mean();
      critic.call(fake).mean().sub(critic.call(real).mean()).add(penalty).backward();
      return [penalty.detach(), slope!.requiresGrad, slope!.isLeaf];
    });
    for (let k = 0; k < 2; k++) {
      see(step(randn([2, 3]), randn([2, 3])), critic.parameters().map(({ grad }) => grad?.clone()));
    }
  },
  "gradients with a history, of inputs"({ compile, see }) {
    const f = compile((x: Tensor, w: Tensor) => {
      const [first] = autograd.grad(x.mul(w).sin().sum(), w, { createGraph: true });
      const [second] = autograd.grad(first!.mul(x).sum(), [w]);
      return second!;
    });
    see(f(f64([1, -2]), f64([0.5, 1], true)));
  },
  "hooks of parameters, in the order of the tape"({ compile, see }) {
    manualSeed(3);
    const model = new nn.Sequential(new nn.Linear(2, 3), new nn.Tanh(), new nn.Linear(3, 1));
    const seen: string[] = [];
    for (const [name, parameter] of model.namedParameters()) {
      parameter.registerHook((grad) => {
        seen.push(`${name} ${grad.shape} ${[...model.parameters()].filter((each) => each.grad).length}`);
        return name.endsWith("weight") ? grad.clamp(-0.1, 0.1) : undefined;
      });
    }
    const step = compile((x: Tensor) => {
      model.zeroGrad();
      model.call(x).square().sum().backward();
      return model.parameters().map(({ grad }) => grad!.clone());
    });
    see(step(randn([4, 2])), step(randn([4, 2])), seen);
  },
  "several hooks, one behind the other"({ compile, see }) {
    const w = f64([1, 2], true);
    const kept: Tensor[] = [];
    w.registerHook((grad) => grad.mul(3));
    w.registerHook((grad) => void kept.push(grad));
    w.registerHook((grad) => grad.add(0.5));
    const step = compile((x: Tensor) => {
      x.mul(w).sum().backward();
      return kept.length;
    });
    see(step(f64([1, -2])), step(f64([3, 1])), w.grad, kept, kept.includes(w.grad!));
  },
  "hooks that come and go"({ compile, see }) {
    const w = f64([1, 2], true);
    const step = compile((x: Tensor) => {
      w.grad = null;
      x.mul(w).exp().sum().backward();
      return w.grad!;
    });
    const x = f64([0.5, -1]);
    see(step(x));
    const double = w.registerHook((grad) => grad.mul(2));
    see(step(x), step(x));
    const halve = w.registerHook((grad) => grad.div(4));
    see(step(x));
    double.remove();
    see(step(x));
    halve.remove();
    see(step(x));
  },
};

/** Programs in which the tape has to help. */
export const helped: Corpus = {
  "a gradient with gaps between its rows that leaves the graph, or whose layout matters"(
    { compile, see, attempt },
  ) {
    const found = (x: Tensor, y: Tensor) => autograd.grad(cat([x, y], 1).pow(3).sum(), x)[0]!;
    const uses: readonly ((grad: Tensor) => unknown)[] = [
      (grad) => [grad, grad.stride()],
      (grad) => [grad.t(), grad.t().stride()],
      (grad) => [grad.isContiguous(), grad.stride(), grad.stride(0)],
      (grad) => [...grad.strides, ...grad.t().strides],
      (grad) => [grad.contiguous().mul_(2), grad],
      (grad) => [grad.mul_(2), grad.sum()],
      (grad) => grad.asStrided([2, 1], [1, 1]).clone(),
      (grad) => {
        const [part] = grad.unbind(0);
        return [part, part!.storageOffset(), grad.chunk(1).map((each) => each.stride())];
      },
      (grad) => broadcastTensors([grad.select(0, 0), grad])[1]!.stride(),
      (grad) => grad.view([-1]).sum(),
      (grad) => grad.viewAs(grad.flatten()).sum(),
    ];
    for (const use of uses) {
      const f = compile((x: Tensor, y: Tensor) => use(found(x.mul(2), y)));
      const x = f64([1, -2, 3, 4], true).reshape(2, 2), y = f64([3, 4]).reshape(2, 1);
      attempt(() => f(x, y));
      see(0, 0);
    }
  },
  "a backward pass that is differentiated, with a hook"({ compile, see }) {
    const w = f64([0.5, 2], true), seen: boolean[] = [];
    w.registerHook((grad) => {
      seen.push(grad.requiresGrad);
      return grad.mul(2);
    });
    const f = compile((x: Tensor) => {
      w.grad = null;
      w.mul(x).exp().sum().backward({ createGraph: true });
      w.grad!.square().sum().backward();
      return w.grad!.detach();
    });
    see(f(f64([1, -2])), f(f64([3, 0.5])), seen);
  },
  "a backward pass that is differentiated, whose gradients are one tensor"({ compile, see }) {
    const a = f64([0.5, 2], true), b = f64([1, 3], true);
    const f = compile((x: Tensor) => {
      a.grad = b.grad = null;
      a.add(b).mul(x).sum().backward({ createGraph: true });
      return [a.grad === b.grad, a.grad!.detach(), b.grad!.detach()];
    });
    see(f(f64([1, -2])), f(f64([3, 0.5])));
  },
  "a tensor that requires grad is returned"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const y = x.detach().requiresGrad_(), z = y.mul(2);
      return [y, z, autograd.grad(z.sum(), [y], { retainGraph: true })[0]!];
    });
    const [y, z] = f(f64([1, -2])) as [Tensor, Tensor];
    see(y.isLeaf, y.requiresGrad, z.isLeaf);
    z.exp().sum().backward();
    see(y.grad);
  },
  "a second pass through what the first has used up"({ compile, attempt, see }) {
    const f = compile((x: Tensor) => {
      const y = x.detach().requiresGrad_(), loss = y.pow(3).sum();
      const first = autograd.grad(loss, [y]);
      see(first);
      return autograd.grad(loss, [y]);
    });
    attempt(() => f(f64([1, -2])));
  },
  "what does not contribute, and what cannot"({ compile, attempt }) {
    const f = compile((x: Tensor, which: string) => {
      const y = x.detach().requiresGrad_(), other = x.mul(2).requiresGrad_();
      if (which === "unused") return autograd.grad(y.sum(), [other]);
      if (which === "several") return autograd.grad(y.mul(2), [y]);
      if (which === "none") return autograd.grad(x.sum(), [y]);
      return autograd.grad(y.mul(2), [y], [ones([3], { dtype: "float64" })]);
    });
    for (const which of ["unused", "several", "none", "shape"]) attempt(() => f(f64([1, -2]), which));
  },
  "an input with a history of its own"({ compile, see }) {
    const f = compile((a: Tensor, b: Tensor) => autograd.grad(a.mul(b).sum(), [a]));
    const a = f64([1, -2], true);
    see(f(a, a.exp()), f(a, f64([1, 2])));
    const b = f64([1, -2], true);
    b.registerHook((grad) => grad.mul(10));
    see(f(b, f64([1, 2])));
  },
  "gradients that are one tensor, or a view"({ compile, see }) {
    const f = compile((a: Tensor, b: Tensor) => {
      const x = a.detach().requiresGrad_(), y = b.detach().requiresGrad_();
      const [gx, gy] = autograd.grad(x.add(y).exp().sum(), [x, y]);
      const [flat] = autograd.grad(x.sum(), [x]);
      return [gx === gy, gx!, flat!.stride()];
    });
    see(f(f64([1, -2]), f64([0, 1])));
  },
  "a write to a leaf, and to what shares its memory"({ compile, see }) {
    const f = compile((x: Tensor, how: string) => {
      const base = x.clone(), y = base.detach().requiresGrad_(), loss = y.pow(2).sum();
      if (how === "step") noGrad(() => y.sub_(0.5));
      if (how === "base") base.mul_(2);
      if (how === "leaf") y.mul_(2);
      return [autograd.grad(loss, [y])[0]!, y.detach()];
    });
    for (const how of ["no", "step", "base", "leaf"]) {
      try {
        see(f(f64([1, -2]), how));
      } catch (error) {
        // Which operation of the tape needed the written value depends on the graphs
        see(String(error).slice(0, 60));
      }
    }
  },
  "a view that is taken without a history, and a write to it and to another one"(
    { compile, attempt },
  ) {
    const f = compile((x: Tensor, how: string) => {
      const y = x.mul(2), [one, other] = noGrad(() => y.chunk(2));
      (how === "it" ? one! : other!).mul_(3);
      return [one!.requiresGrad, other!.requiresGrad, ...autograd.grad(y.pow(2).sum(), [x])];
    });
    for (const how of ["it", "other"]) attempt(() => f(f64([1, -2], true), how));
  },
  "a hook that throws, is caught, and one that writes"({ compile, see, attempt }) {
    const w = f64([1, 2], true), v = f64([3, 4], true);
    let mode = "throw";
    w.registerHook((grad) => {
      if (mode === "throw") throw new RangeError("too large");
      if (mode === "write") grad.mul_(2);
      if (mode === "print") console.log("seen", grad.shape);
      return mode === "shape" ? grad.sum() : undefined;
    });
    const step = compile((x: Tensor) => {
      w.grad = null;
      v.grad = null;
      try {
        x.add(w).add(v.mul(3)).mul(2).sum().backward();
      } catch (error) {
        return [String(error), w.grad, v.grad];
      }
      return [w.grad, v.grad, x.mul(w).requiresGrad];
    });
    for (mode of ["throw", "write", "print", "no"]) attempt(() => step(f64([1, -2])));
    see(mode);
  },
  "gradients beside a tensor over strides of its own"({ compile, see }) {
    const f = compile((p: Tensor, x: Tensor) => {
      const part = x.narrow(0, 1, 1), own = part.asStrided(part.shape, part.stride());
      return [own, ...autograd.grad(p.sin().sum(), [p])];
    });
    see(f(f64([1, -2], true), f64([3, 0.5])));
  },
};
