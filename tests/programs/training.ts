/** Programs about training: modules, buffers, hooks, optimizers, schedulers, modes. */
import {
  autograd,
  manualSeed,
  nn,
  noGrad,
  optim,
  rand,
  randn,
  type Tensor,
  tensor,
  zeros,
} from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const F = nn.functional;
const net = (): nn.Sequential => new nn.Sequential(new nn.Linear(3, 4), new nn.Tanh(), new nn.Linear(4, 2));
const state = (m: nn.Module): unknown => m.stateDict();

export const training: Corpus = {
  "a training step with changing learning rate"({ compile, see }) {
    const model = net(), opt = new optim.SGD(model.parameters(), { lr: 0.1, momentum: 0.9 });
    const step = compile((x: Tensor, y: Tensor) => {
      opt.zeroGrad();
      const loss = F.mseLoss(model.call(x), y);
      loss.backward();
      opt.step();
      return loss.detach();
    });
    for (let i = 0; i < 5; i++) {
      opt.paramGroups[0]!.lr = 0.1 / (i + 1);
      see(step(randn([5, 3]), randn([5, 2])));
    }
    see(state(model), opt.state.size);
  },
  "every optimizer, with a scheduler"({ compile, see }) {
    const make: ((p: nn.Parameter[]) => optim.Optimizer<{ lr: number }>)[] = [
      (p) => new optim.SGD(p, { lr: 0.1 }),
      (p) => new optim.SGD(p, { lr: 0.1, momentum: 0.5, nesterov: true, weightDecay: 0.1 }),
      (p) => new optim.Adam(p, { lr: 0.01 }),
      (p) => new optim.AdamW(p, { lr: 0.01 }),
      (p) => new optim.RMSprop(p, { lr: 0.01 }),
      (p) => new optim.Adagrad(p, { lr: 0.01 }),
    ];
    for (const each of make) {
      const model = net(), opt = each(model.parameters());
      const sched = new optim.lrScheduler.StepLR(opt as never, 2, 0.5 as never);
      const step = compile((x: Tensor) => {
        opt.zeroGrad();
        const loss = model.call(x).pow(2).mean();
        loss.backward();
        opt.step();
        return loss;
      });
      for (let i = 0; i < 5; i++) {
        see(step(randn([2, 3])).detach());
        sched.step();
      }
      see(state(model));
    }
  },
  "only the forward pass compiled, gradients outside"({ compile, see }) {
    const model = net(), opt = new optim.Adam(model.parameters(), { lr: 0.05 });
    const fwd = compile((x: Tensor) => model.call(x));
    for (let i = 0; i < 4; i++) {
      opt.zeroGrad();
      const out = fwd(randn([i + 1, 3]));
      out.sum().backward();
      opt.step();
      see(out.detach());
    }
    see(state(model), model.parameters().map((p) => p.grad));
  },
  "gradient accumulation over micro batches"({ compile, see }) {
    const model = net(), opt = new optim.SGD(model.parameters(), { lr: 0.1 });
    const micro = compile((x: Tensor, n: number) => {
      const loss = model.call(x).pow(2).mean().div(n);
      loss.backward();
      return loss.item();
    });
    for (let i = 0; i < 3; i++) {
      for (let k = 0; k < 2; k++) see(micro(randn([2, 3]), 2));
      opt.step();
      opt.zeroGrad();
    }
    see(state(model));
  },
  "gradient clipping by norm"({ compile, see }) {
    const model = net(), opt = new optim.SGD(model.parameters(), { lr: 0.5 });
    const step = compile((x: Tensor, most: number) => {
      opt.zeroGrad();
      model.call(x).pow(2).sum().backward();
      const norm = model.parameters().map((p) => p.grad!.pow(2).sum()).reduce((a, b) => a.add(b)).sqrt();
      if (+norm > most) { for (const p of model.parameters()) p.grad!.mul_(most / +norm); }
      opt.step();
      return norm;
    });
    for (const most of [1, 100, 0.5]) see(step(randn([4, 3]), most).detach());
    see(state(model));
  },
  "batch norm counters and modes"({ compile, see }) {
    const bn = new nn.BatchNorm1d(3),
      model = new nn.Sequential(new nn.Linear(3, 3, { bias: false }), bn, new nn.ReLU());
    const f = compile((x: Tensor) => model.call(x));
    see(f(randn([4, 3])), bn.stateDict());
    see(f(randn([4, 3])), bn.stateDict());
    model.eval();
    see(f(randn([4, 3])), bn.stateDict());
    model.train();
    see(f(randn([5, 3])), bn.stateDict());
    f(randn([6, 3])).sum().backward();
    see(model.parameters().map((p) => p.grad));
  },
  "dropout that follows train and eval"({ compile, see }) {
    const model = new nn.Sequential(new nn.Linear(3, 8), new nn.Dropout(0.5), new nn.Linear(8, 1));
    const f = compile((x: Tensor) => model.call(x));
    const x = randn([2, 3]);
    see(f(x));
    model.eval();
    see(f(x), f(x));
    model.train();
    manualSeed(5);
    see(f(x));
    manualSeed(5);
    see(f(x), rand([1]));
  },
  "state changed in forward"({ compile, see }) {
    class Ema extends nn.Module {
      calls = 0;
      last: Tensor | null = null;
      history: number[] = [];
      declare avg: Tensor;
      constructor() {
        super();
        this.registerBuffer("avg", zeros([2]));
      }
      override forward(x: Tensor): Tensor {
        this.calls++;
        this.history.push(x.shape[0]!);
        this.avg.mul_(0.9).add_(x.mean(0).detach(), { alpha: 0.1 });
        const out = this.last && this.last.shape[0] === x.shape[0] ? x.add(this.last) : x;
        this.last = x.detach();
        return out.sub(this.avg);
      }
    }
    const m = new Ema();
    const f = compile((x: Tensor) => m.call(x));
    for (const n of [2, 2, 3, 3, 4, 2]) see(f(randn([n, 2])), m.calls, m.history, m.avg, m.last);
  },
  "a recurrent cell unrolled over time"({ compile, see }) {
    const cell = new nn.Linear(5, 3);
    const run = compile((xs: Tensor, h: Tensor) => {
      const outs: Tensor[] = [];
      for (let t = 0; t < xs.shape[0]!; t++) {
        h = cell.call(F.relu(xs.at(t).add(0))).tanh().add(h);
        outs.push(h);
      }
      return [outs.at(-1), outs.length, h] as const;
    });
    for (const n of [1, 2, 3, 4]) {
      const [last, k, h] = run(randn([n, 2, 5]), zeros([2, 3]));
      last!.sum().backward();
      see(last!.detach(), k, h === last, cell.weight.grad);
    }
  },
  "hooks of modules"({ compile, see }) {
    const log: string[] = [];
    const model = net();
    const h = model.at(0).registerForwardHook((_m, _args, out) => {
      log.push("hook");
      return (out as Tensor).mul(2);
    });
    const f = compile((x: Tensor) => model.call(x));
    const x = randn([2, 3]);
    see(f(x).detach(), log);
    h.remove();
    see(f(x).detach(), log);
    model.registerForwardPreHook((_m, args) => {
      log.push("pre");
      return [(args[0] as Tensor).neg()] as never;
    });
    see(f(x).detach(), log);
  },
  "shared parameters and parameters replaced"({ compile, see }) {
    class Tied extends nn.Module {
      emb = new nn.Embedding(4, 3);
      out = new nn.Linear(3, 4, { bias: false } as never);
      constructor() {
        super();
        this.out.weight = this.emb.weight;
      }
      override forward(i: Tensor) {
        return this.out.call(this.emb.call(i)).logSoftmax(-1);
      }
    }
    const m = new Tied(), f = compile((i: Tensor) => m.call(i).sum());
    f(tensor([0, 2])).backward();
    see(m.emb.weight.grad, m.parameters().length);
    m.out.weight = new nn.Parameter(randn([4, 3]));
    f(tensor([0, 2])).backward();
    see(m.emb.weight.grad, m.out.weight.grad);
    noGrad(() => m.emb.weight.mul_(0));
    see(f(tensor([1])).detach());
    m.emb.weight.requiresGrad_(false);
    see(f(tensor([1])).detach());
  },
  "modules replaced between calls"({ compile, see }) {
    class Box extends nn.Module {
      act: nn.Module = new nn.ReLU();
      lin = new nn.Linear(2, 2);
      override forward(x: Tensor): Tensor {
        return (this.act as nn.ReLU).call(this.lin.call(x));
      }
    }
    const m = new Box(), f = compile((x: Tensor) => m.call(x).detach());
    const x = randn([2, 2]);
    see(f(x));
    m.act = new nn.Tanh();
    see(f(x));
    m.lin = new nn.Linear(2, 2);
    see(f(x));
    m.act = new nn.Sequential(new nn.Tanh(), new nn.ReLU());
    see(f(x));
  },
  "freezing part of a model"({ compile, see }) {
    const model = net(), f = compile((x: Tensor) => model.call(x).pow(2).sum());
    const x = randn([2, 3]);
    f(x).backward();
    model.at(0).requiresGrad_(false);
    model.zeroGrad();
    f(x).backward();
    see(model.parameters().map((p) => [p.grad, p.requiresGrad]));
    model.requiresGrad_(false);
    const y = f(x);
    see(y);
    model.requiresGrad_(true);
    f(x).backward();
    see(model.parameters().map((p) => p.grad));
  },
  "a loop of epochs inside one compiled function"({ compile, see }) {
    const model = net(), opt = new optim.SGD(model.parameters(), { lr: 0.1 });
    const losses: number[] = [];
    const run = compile((xs: Tensor[], epochs: number) => {
      for (let e = 0; e < epochs; e++) {
        for (const [i, x] of xs.entries()) {
          opt.zeroGrad();
          const loss = model.call(x).pow(2).mean();
          loss.backward();
          opt.step();
          losses.push(loss.item() as number);
          if (i === 0) console.log(`epoch ${e}`);
        }
      }
      return losses.length;
    });
    const xs = [randn([2, 3]), randn([2, 3])];
    see(run(xs, 2), losses, run(xs, 1), losses, state(model));
  },
  "attention block"({ compile, see }) {
    class Block extends nn.Module {
      q = new nn.Linear(4, 4);
      k = new nn.Linear(4, 4);
      v = new nn.Linear(4, 4);
      norm = new nn.LayerNorm([4]);
      override forward(x: Tensor, causal = false): Tensor {
        const h = this.norm.call(x), [b, t] = x.shape as [number, number, number];
        const heads = (y: Tensor) => y.reshape([b, t, 2, 2]).transpose(1, 2);
        let s = heads(this.q.call(h)).matmul(heads(this.k.call(h)).transpose(-1, -2)).div(Math.sqrt(2));
        if (causal) {
          s = s.maskedFill(
            tensor(Array.from({ length: t * t }, (_, i) => i % t > Math.floor(i / t))).reshape([t, t]),
            -Infinity,
          );
        }
        return x.add(s.softmax(-1).matmul(heads(this.v.call(h))).transpose(1, 2).reshape([b, t, 4]));
      }
    }
    const m = new Block(), f = compile((x: Tensor, c: boolean) => m.call(x, c));
    for (
      const [b, t, c] of [[1, 3, false], [2, 3, true], [2, 5, true], [3, 4, false], [1, 1, true]] as const
    ) {
      const y = f(randn([b, t, 4]), c);
      m.zeroGrad();
      y.pow(2).sum().backward();
      see(y.detach(), m.q.weight.grad);
    }
  },
  "convolutional network"({ compile, see }) {
    const m = new nn.Sequential(
      new nn.Conv2d(1, 2, 3, { padding: 1 } as never),
      new nn.ReLU(),
      new nn.MaxPool2d(2),
      new nn.Flatten(),
      new nn.Linear(8, 3),
    );
    const f = compile((x: Tensor, y: Tensor) => F.crossEntropy(m.call(x), y));
    for (const n of [2, 2, 3]) {
      m.zeroGrad();
      const loss = f(randn([n, 1, 4, 4]), tensor(Array.from({ length: n }, (_, i) => i % 3)));
      loss.backward();
      see(loss.detach(), m.parameters().map((p) => p.grad));
    }
  },
  "a gan-like step with two optimizers"({ compile, see }) {
    const g = new nn.Linear(2, 3), d = new nn.Linear(3, 1);
    const og = new optim.Adam(g.parameters(), { lr: 0.01 }), od = new optim.SGD(d.parameters(), { lr: 0.1 });
    const step = compile((z: Tensor, real: Tensor) => {
      const fake = g.call(z);
      od.zeroGrad();
      const ld = d.call(real).sigmoid().log().mean().add(
        d.call(fake.detach()).sigmoid().neg().add(1).log().mean(),
      ).neg();
      ld.backward();
      od.step();
      og.zeroGrad();
      const lg = d.call(fake).sigmoid().log().mean().neg();
      lg.backward();
      og.step();
      return { ld: ld.detach(), lg: lg.detach() };
    });
    for (let i = 0; i < 3; i++) see(step(randn([4, 2]), randn([4, 3])));
    see(state(g), state(d), d.weight.grad);
  },
  "exponential moving average of weights"({ compile, see }) {
    const model = net(), ema = new Map<nn.Parameter, Tensor>();
    const update = compile((decay: number) => {
      noGrad(() => {
        for (const p of model.parameters()) {
          const e = ema.get(p);
          if (e) e.mul_(decay).add_(p, { alpha: 1 - decay });
          else ema.set(p, p.detach().clone());
        }
      });
      return ema.size;
    });
    for (const decay of [0.9, 0.9, 0.5]) {
      see(update(decay));
      noGrad(() => model.parameters().forEach((p) => p.add_(1)));
    }
    see([...ema.values()]);
  },
  "evaluation with metrics"({ compile, see }) {
    const model = net();
    const evaluate = compile((xs: Tensor[], ys: Tensor[]) =>
      noGrad(() => {
        let right = 0, total = 0;
        for (let i = 0; i < xs.length; i++) {
          const pred = model.call(xs[i]!).argmax(1);
          right += pred.eq(ys[i]!).sum().item() as number;
          total += ys[i]!.shape[0]!;
        }
        return { accuracy: right / total, right, total };
      })
    );
    see(evaluate([randn([3, 3]), randn([2, 3])], [tensor([0, 1, 0]), tensor([1, 1])]));
    see(evaluate([randn([4, 3])], [tensor([0, 1, 0, 1])]));
  },
  "a compiled module keeps its state and its modes"({ compile, see }) {
    const model = net(), f = compile((m: nn.Sequential, x: Tensor) => m.call(x));
    const other = net();
    const x = randn([2, 3]);
    see(f(model, x).detach(), f(other, x).detach());
    model.loadStateDict(other.stateDict());
    see(f(model, x).detach());
    model.double();
    see(f(model, x.to("float64")).detach());
  },
  "autograd.grad with respect to parameters (a meta step)"({ compile, see }) {
    const w = new nn.Parameter(randn([3, 1]));
    const meta = compile((x: Tensor, y: Tensor, lr: number) => {
      const inner = x.matmul(w).sub(y).pow(2).mean();
      const [g] = autograd.grad([inner], [w]);
      const fast = w.sub(g!.mul(lr));
      return x.matmul(fast).sub(y).pow(2).mean();
    });
    for (const lr of [0.1, 0.2]) {
      const loss = meta(randn([4, 3]), randn([4, 1]), lr);
      loss.backward();
      see(loss.detach(), w.grad);
    }
  },
};
