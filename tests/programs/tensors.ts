/** Programs about tensors: views, in-place work, aliasing, gradients, random numbers, data-dependent values. */
import {
  arange,
  autograd,
  bernoulli,
  cat,
  compiler,
  enableGrad,
  full,
  isGradEnabled,
  linspace,
  logspace,
  manualSeed,
  nn,
  noGrad,
  ones,
  rand,
  randn,
  relu,
  stack,
  tanh,
  type Tensor,
  tensor,
  where,
  zeros,
} from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });
const leaf = (...values: number[]): Tensor => v(...values).requiresGrad_();
const grid = (n: number, m: number): Tensor => arange(n * m, { dtype: "float32" }).reshape([n, m]);

export const tensors: Corpus = {
  "functions of one code that mean different things"({ compile, see }) {
    const method = compile((x: Tensor, use: (this: Tensor) => Tensor) => use.call(x));
    const x = v(0.5, -1);
    see(method(x, x.relu), method(x, x.tanh), method(x, x.exp), method(x, x.tanh));
    const free = compile((x: Tensor, use: (x: Tensor) => Tensor) => use(x));
    see(free(x, relu), free(x, tanh));
    const times = (k: number) => (x: Tensor) => x.mul(k);
    const marked = compiler.substituteInGraph(times(2), (x: Tensor) => x.add(x));
    see(free(x, times(3)), free(x, marked), free(x, times(2)));
    const chosen = compile((x: Tensor, name: "relu" | "tanh") => {
      const use = x[name];
      console.log(name);
      return use.call(x);
    });
    see(chosen(x, "relu"), chosen(x, "tanh"));
  },
  "tensors that stand for numbers"({ compile, see, attempt }) {
    const uses: ((x: Tensor) => Tensor)[] = [
      (x) => logspace(x as never, 2, 3),
      (x) => linspace(0, x as never, 3),
      (x) => arange(x as never).add(x),
      (x) => full([2], x as never),
      (x) => x.mul(2).clamp(x as never, 3),
      (x) => x.add(1, { alpha: x as never }),
      (x) => linspace(0, x.reshape([1, 1]) as never, 3),
      (x) => full([2], x.expand([2]) as never),
    ];
    for (const use of uses) {
      const f = compile((x: Tensor) => use(x).add(1));
      for (const n of [2, 3]) attempt(() => f(tensor(n, { dtype: "float32" })));
    }
    see("end");
  },
  "the same tensor passed twice, then different ones"({ compile, see }) {
    const f = compile((a: Tensor, b: Tensor) => {
      a.add_(1);
      return [a.mul(b), b.sub(a), a === b];
    });
    const x = v(1, 2), y = v(3, 4);
    for (const [a, b] of [[x, y], [x, x], [y, x], [y, y], [x, y]] as const) see(f(a, b), x, y);
  },
  "integers that may be too large for a number"({ compile, attempt }) {
    const uses: ((x: Tensor) => unknown)[] = [
      (x) => {
        const value = x.sum().item();
        return typeof value === "bigint" ? value + 1n : Number(value) + 1;
      },
      (x) => Number(x.sum().item()) + 1,
      (x) => Number(x.sum()) / 3,
      (x) => [(x.sum().item() as number) > 5, x.sum().item() === 3],
      (x) => (x.sum().item() as unknown) === 2n ** 54n,
      (x) => (x.sum().item() as unknown) == 3n,
      (x) => `${x.sum().item()}`,
      (x) => {
        switch (x.sum().item() as unknown) {
          case 3:
            return "three";
          case 2n ** 54n:
            return "large";
          default:
            return "other";
        }
      },
      (x) => x.sum().item() ? [x.sum().item(), 1] : 0,
      (x) => [x.gt(1).any().item()].map((truth) => truth.toString()),
      (x) => {
        let truth = x.gt(1).any().item() as unknown as number;
        const before = truth++;
        return [before, typeof before, truth, +(x.gt(1).any() as unknown as number)];
      },
    ];
    for (const use of uses) {
      const f = compile(use);
      for (const values of [[1n, 2n], [2n ** 53n, 2n ** 53n], [5n], [-(2n ** 60n)], [0n]]) {
        attempt(() => f(tensor(values, { dtype: "int64" })));
      }
    }
  },
  "conversions to what a tensor is already give the tensor itself"({ compile, see }) {
    const f = compile((x: Tensor) => [
      [x.float(), x.double(), x.long(), x.int(), x.byte(), x.bool()].map((y) => y === x),
      [x.to(x.dtype), x.to(x), x.to("cpu"), x.cpu(), x.positive(), x.real(), x.conj()].map((y) => y === x),
      [x.contiguous(), x.reshape([3, 1]).contiguous(), x.sumToSize([3])].map((y) => y === x),
      nn.functional.dropout(x, 0.5, { training: false }) === x,
    ]);
    for (const dtype of ["float32", "float64", "int64", "int32", "uint8", "bool"] as const) {
      see(f(tensor([1, 0, 1], { dtype })));
    }
    const g = compile((
      x: Tensor,
    ) => [x.t().contiguous() === x.t(), x.contiguous() === x, x.t().contiguous()]);
    see(g(grid(2, 3)), g(grid(3, 2)), g(grid(3, 2).t()), g(grid(4, 1)));
  },
  "views of one storage passed together, one changed"({ compile, see }) {
    const f = compile((a: Tensor, b: Tensor) => {
      const before = b.mul(1);
      a.mul_(10);
      return [before, b.add(0), a.sum()];
    });
    const base = v(1, 2, 3, 4);
    see(f(base.slice(0, 0, 3), base.slice(0, 1, 4)), base);
    see(f(base.slice(0, 0, 2), base.slice(0, 2, 4)), base);
    see(f(base, base.slice(0, 2, 4)), base);
    see(f(base.slice(0, 1, 2), base), base);
    see(f(v(1, 2), v(3, 4)), base);
    see(f(base.reshape([2, 2]), base.reshape([2, 2]).t()), base);
  },
  "in-place on views of inputs and of intermediates"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const row = x.select(0, 1);
      row.add_(5);
      const y = x.mul(2), part = y.narrow(1, 0, 1);
      part.zero_();
      x.t().mul_(2);
      y.set([0, ":"], 7);
      return [row, y, part, x.at(0)];
    });
    const x = grid(2, 3);
    see(f(x), x);
    see(f(x), x);
    see(f(grid(3, 2)));
  },
  "results that are views of inputs"({ compile, see }) {
    const f = compile((x: Tensor, y: Tensor) => [x.t(), x.view([-1]), y.add(1).t(), x, x.detach()]);
    const x = grid(2, 3), y = grid(2, 2);
    const [t, flat, , same, d] = f(x, y) as [Tensor, Tensor, Tensor, Tensor, Tensor];
    t.add_(100);
    see(x, flat, same === x, d);
    const [t2] = f(x, y) as [Tensor];
    x.zero_();
    see(t2, t, t2.shape);
  },
  "results that alias one another"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const y = x.add(1);
      return [y, y.view([-1]), y.t(), y.slice(0, 0, 1), y.detach()];
    });
    const [y, a, b, c, d] = f(grid(2, 2)) as [Tensor, Tensor, Tensor, Tensor, Tensor];
    y.mul_(2);
    see(y, a, b, c, d);
    b.add_(1);
    see(y, a, b, c, d);
  },
  "captured tensors are read and changed"({ compile, see }) {
    const state = v(0, 0);
    let current = v(1, 1);
    const f = compile((x: Tensor) => {
      state.add_(x);
      current = current.mul(2).add(state);
      return current.sub(x);
    });
    see(f(v(1, 2)), state, current);
    see(f(v(1, 2)), state, current, state.version);
    current = v(9, 9);
    state.zero_();
    see(f(v(1, 2)), state, current);
  },
  "writes that fail leave what came before them"({ compile, attempt, see }) {
    const f = compile((x: Tensor, s: { t: Tensor; n: number }) => {
      s.t = x.detach();
      s.n++;
      return x.select(0, 0).add_(3);
    });
    for (const x of [grid(2, 2), grid(2, 2).requiresGrad_(), grid(3, 2)]) {
      const s = { t: v(0), n: 0 };
      attempt(() => f(x, s));
      see(s, x);
    }
    const g = compile((x: Tensor, s: { n: number }) => {
      s.n++;
      const wide = x.mul(2).expand([2, ...x.shape]);
      if (s.n > 1) wide.add_(1);
      return wide;
    });
    const s = { n: 0 };
    for (let i = 0; i < 3; i++) attempt(() => g(v(1, 2), s));
    see(s);
    const h = compile((x: Tensor) => x.select(0, 0).add_(1));
    const wide = v(1, 2).expand([2, 2]);
    attempt(() => h(wide));
    see(wide);
  },
  "copies, clones and detached views"({ compile, see }) {
    const f = compile((x: Tensor, out: Tensor) => {
      const c = x.clone(), d = x.detach();
      d.add_(1);
      out.copy_(x.mul(2));
      c.add_(d);
      return [c, d, out];
    });
    const x = leaf(1, 2), out = zeros([2]);
    see(f(x, out), x, out, f(x, out), x, out);
  },
  "in-place on a leaf that records is an error"({ compile, attempt, see }) {
    const f = compile((x: Tensor) => {
      const y = x.mul(2);
      x.add_(1);
      return y;
    });
    const x = leaf(1);
    attempt(() => f(x));
    see(x);
    attempt(() => f(v(1)));
    attempt(() => noGrad(() => f(x)));
    see(x, x.version);
  },
  "gradients of inputs, parameters and captured tensors"({ compile, see }) {
    const w = leaf(2, 3), fixed = v(5, 5);
    const f = compile((x: Tensor, k: number) => x.mul(w).add(fixed.mul(k)).sin().sum());
    for (const k of [1, 2, 3]) {
      const x = leaf(k, 1);
      f(x, k).backward();
      see(x, w, fixed);
    }
    const x = v(1, 1);
    f(x, 2).backward();
    see(x.grad, w);
    see(noGrad(() => f(x, 2)));
    fixed.requiresGrad_();
    f(x, 2).backward();
    see(x.grad, w, fixed);
  },
  "gradients flow through one of several results"({ compile, see, attempt }) {
    const f = compile((x: Tensor, y: Tensor) => {
      const a = x.mul(y), b = a.sin(), c = noGrad(() => b.mul(2)), d = b.detach();
      return { a, b, c, d, e: x.gt(1), k: x.add(1).detach().mul(3) };
    });
    for (const key of ["a", "b", "c", "d", "e", "k"] as const) {
      const x = leaf(1, 2), y = leaf(3, 4);
      const r = f(x, y);
      see(r);
      attempt(() => r[key].sum().backward());
      see(x, y);
    }
    const x = leaf(1, 2), y = leaf(3, 4), r = f(x, y);
    r.a.sum().add(r.b.sum()).backward();
    see(x, y);
    attempt(() => r.a.sum().backward());
  },
  "retainGraph and repeated backward"({ compile, see, attempt }) {
    const f = compile((x: Tensor) => x.sin().mul(x).sum());
    const x = leaf(1, 2), y = f(x);
    y.backward(null, { retainGraph: true });
    see(x);
    y.backward();
    see(x);
    attempt(() => y.backward());
    see(x);
  },
  "double backward"({ compile, see }) {
    const f = compile((x: Tensor) => x.pow(3).sin().sum());
    const x = leaf(0.5, 1.5);
    const [g] = autograd.grad([f(x)], [x], undefined, { createGraph: true });
    see(g);
    g!.pow(2).sum().backward();
    see(x);
    const penalty = compile((x: Tensor, w: Tensor) => {
      const y = x.mul(w).tanh().sum();
      const [g] = autograd.grad([y], [x], undefined, { createGraph: true });
      return y.add(g!.pow(2).sum());
    });
    const a = leaf(1, 2), w = leaf(0.5, -0.5);
    penalty(a, w).backward();
    see(a, w);
  },
  "gradients inside"({ compile, see }) {
    const f = compile((x: Tensor, w: Tensor) => {
      const loss = x.mul(w).tanh().sum();
      loss.backward();
      const g = w.grad;
      return [loss, g, g?.mul(2)];
    });
    const w = leaf(1, 2);
    see(f(v(1, 2), w), w, f(v(1, 2), w), w);
    w.grad = null;
    see(f(v(3, 2), w), w);
    const grads = compile((x: Tensor, w: Tensor) =>
      autograd.grad([x.mul(w).sum()], [w, x], undefined, { allowUnused: true })
    );
    see(grads(leaf(3, 4), w), w);
  },
  "hooks on tensors"({ compile, see }) {
    const log: unknown[] = [];
    const f = compile((x: Tensor, w: Tensor) => {
      const y = x.mul(w);
      y.registerHook((g) => {
        log.push("hook");
        return g.mul(10);
      });
      return y.sum();
    });
    const w = leaf(1, 2);
    f(v(3, 4), w).backward();
    see(w, log);
    const h = w.registerHook((g) => (log.push("leaf"), g.neg()));
    f(v(3, 4), w).backward();
    see(w, log);
    h.remove();
    f(v(3, 4), w).backward();
    see(w, log);
  },
  "retainGrad and gradients of intermediates"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const y = x.mul(2);
      y.retainGrad();
      return [y, y.sin().sum()];
    });
    const x = leaf(1, 2), [y, z] = f(x) as [Tensor, Tensor];
    z.backward();
    see(x, y.grad);
  },
  "custom functions"({ compile, see }) {
    class Clip extends autograd.Function {
      static override forward(ctx: autograd.FunctionContext, x: Tensor, k: number) {
        ctx.saveForwardX = x;
        ctx.saveForBackward(x);
        ctx["k"] = k;
        return x.clamp(-k, k);
      }
      static override backward(ctx: autograd.FunctionContext, g: Tensor) {
        const [x] = ctx.savedTensors;
        return [g.mul(x!.abs().lt(ctx["k"] as number)).mul(3), null];
      }
    }
    const f = compile((x: Tensor, k: number) => (Clip.apply(x.mul(2), k) as Tensor).sin().sum());
    for (const k of [1, 2, 1]) {
      const x = leaf(0.2, 0.9, -3);
      f(x, k).backward();
      see(x);
    }
  },
  "requiresGrad inside"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const y = x.detach().requiresGrad_();
      const z = y.mul(3).sum();
      z.backward();
      return [y, y.grad, x.requiresGrad, z.isLeaf, y.isLeaf, z.requiresGrad, z.gradFn !== null];
    });
    see(f(v(1, 2)), f(leaf(1, 2)));
    const g = compile((x: Tensor) => {
      const w = v(1, 2).requiresGrad_();
      return [x.mul(w).sum(), w];
    });
    const [s, w] = g(v(3, 4)) as [Tensor, Tensor];
    s.backward();
    see(s, w);
  },
  "gradient modes"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const a = x.mul(2),
        b = noGrad(() => {
          const inner = x.mul(3);
          return [inner, enableGrad(() => x.mul(4)), isGradEnabled()] as const;
        });
      return [a, ...b, isGradEnabled()];
    });
    see(f(leaf(1)), noGrad(() => f(leaf(1))), f(v(1)));
    const thrower = compile((x: Tensor, k: number) => {
      try {
        noGrad(() => {
          if (k > 1) throw new Error("inside");
        });
      } catch { /* seen below */ }
      return [x.mul(2), isGradEnabled()];
    });
    see(thrower(leaf(1), 1), thrower(leaf(1), 2), isGradEnabled());
  },
  "random numbers come in eager order"({ compile, see }) {
    const f = compile((x: Tensor, p: number) => {
      const a = rand([2]), b = randn([2]);
      const c = nn.functional.dropout(x, p, true), d = bernoulli(x.sigmoid());
      return [a, b, c, d, x.uniform_(0, 1)];
    });
    manualSeed(3);
    see(f(v(1, 2, 3), 0.5), f(v(1, 2, 3), 0.2), rand([2]));
    manualSeed(3);
    see(f(v(1, 2, 3), 0.5), rand([1]));
    const g = compile((x: Tensor) => {
      manualSeed(11);
      const a = randn([2]);
      console.log("between");
      return [a, rand([2]), x.add(Math.floor(0.5))];
    });
    see(g(v(1)), g(v(1)), rand([1]));
  },
  "dropout with gradients"({ compile, see }) {
    const f = compile((x: Tensor, train: boolean) => nn.functional.dropout(x.mul(2), 0.5, train).sum());
    for (const train of [true, false, true]) {
      const x = leaf(1, 2, 3, 4);
      const y = f(x, train);
      y.backward();
      see(x, y);
    }
  },
  "Math.random and Date.now are asked at every call"({ compile, see }) {
    const f = compile((x: Tensor) => [x.add(1), Math.random()]);
    const [, a] = f(v(1)) as [Tensor, number], [, b] = f(v(1)) as [Tensor, number];
    see(a === b);
    const g = compile((x: Tensor) => [x.mul(2), performance.now()] as const);
    const [, t0] = g(v(1)), [, t1] = g(v(1));
    see(t1 > t0);
  },
  "item, tolist and shape tests"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const s = x.sum().item() as number;
      const y = s > 3 ? x.mul(s) : x.sub(s);
      const l = y.tolist() as number[];
      return [y, l.map((n) => n + 1), s, x.numel() === l.length, y.at(0).item(), Math.round(+x.max())];
    });
    see(f(v(1, 2)), f(v(3, 4)), f(v(0.5)), f(v(1, 2, 3)), f(v(3, 4)));
  },
  "item used as an index, a size and a loop bound"({ compile, see }) {
    const f = compile((x: Tensor, k: Tensor) => {
      const n = k.item() as number;
      let y = x.narrow(0, 0, n);
      for (let i = 0; i < n; i++) y = y.add(x.at(i));
      return [y, zeros([n, 2]), [10, 20, 30][n], x.at(n - 1)];
    });
    for (const n of [1, 2, 1, 3]) see(f(v(1, 2, 3), tensor(n)));
  },
  "data-dependent shapes"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const m = x.gt(1), picked = x.maskedSelect(m);
      return [picked.mul(2), picked.shape[0], x.nonzero(), x.at(m)];
    });
    see(f(v(1, 2, 3)), f(v(0, 0)), f(v(5)));
  },
  "indexing in all its forms"({ compile, see }) {
    const f = compile((x: Tensor, i: number, idx: Tensor) => [
      x.at(i),
      x.at(-1),
      x.at(":", 0),
      x.at([1, 0]),
      x.at(":", [0, 0, 1]),
      x.at("::2"),
      x.at(null, 1),
      x.at("...", 1),
      x.at(idx),
      x.at(x.gt(2)),
      x.at([0, 1], [1, 0]),
      x.at("1:", ":1"),
      x.at(idx, 1),
      x.at(0, 1).item(),
    ]);
    see(
      f(grid(3, 2), 0, tensor([2, 0])),
      f(grid(3, 2), 1, tensor([1, 1])),
      f(grid(2, 3), 1, tensor([1])),
      f(grid(4, 3), 2, tensor([0, 3])),
    );
    const g = compile((x: Tensor, i: number, idx: Tensor) => {
      x.set(i, 9);
      x.set([":", 1], v(5).expand([x.shape[0]!]));
      x.set([idx], x.at(0));
      x.set(x.gt(8), -1);
      return x.mul(2);
    });
    const x = grid(3, 2);
    see(g(x, 0, tensor([2])), x, g(x, 1, tensor([1, 2])), x);
  },
  "lists of indices"({ compile, see, attempt }) {
    const f = compile((x: Tensor) => [
      x.at([[0, 2]]),
      x.at([0, 2, 1, 1]),
      x.at([0]),
      x.at(":", [1, 0, 0, 1]),
      x.at([[0, 1], [2, 2]]),
      x.at([[-1, -3]], 0),
      x.at([0, 2]),
      x.at(":", [0, 1]),
      x.at([0, 1, 2]),
    ]);
    for (const n of [3, 4, 5]) attempt(() => f(grid(n, 2)));
    const g = compile((x: Tensor) => x.at([0, 7, 1, 1]).mul(2));
    for (const n of [3, 8]) attempt(() => g(grid(n, 2)));
    const h = compile((x: Tensor) => {
      x.set([[0, 2, 1, 1]], 5);
      x.set([[[0, 2]], 1], 7);
      return x.at([true, false, true]).sum();
    });
    const x = grid(3, 2);
    see(h(x), x);
    const k = compile((x: Tensor) => x.at([2, 0, 0, 2]).mul(x.at([[1, 1]], 0)).sum());
    const leafs = grid(3, 2).requiresGrad_();
    k(leafs).backward();
    see(leafs);
  },
  "slices as objects"({ compile, see, attempt }) {
    const f = compile((x: Tensor, start: number, step: number) => {
      const y = x.mul(1);
      y.set([{ start, step }, 0], -1);
      return [x.at({ start }), x.at({ stop: start }), x.at(":", { start: 0, stop: -1, step }), y];
    });
    for (const start of [1, 0, -2]) see(f(grid(4, 3), start, 1), f(grid(5, 3), start, 2));
    const g = compile((x: Tensor, option: object) => x.at(option as { start: number }));
    attempt(() => g(grid(4, 3), { begin: 1 }));
    attempt(() => g(grid(4, 3), { start: 0.5 }));
  },
  "iteration and destructuring of tensors"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const [a, b] = x as unknown as Iterable<Tensor>;
      let s = zeros([x.shape[1]!]);
      for (const row of x as unknown as Iterable<Tensor>) s = s.add(row);
      const [p, q] = x.chunk(2, 1);
      const { values, indices } = x.max(1) as unknown as { values: Tensor; indices: Tensor };
      const [v2, i2] = x.sort(0) as unknown as [Tensor, Tensor];
      return [a, b, s, p, q, values, indices, v2, i2, x.length, x.split(1)];
    });
    see(f(grid(2, 2)), f(grid(3, 2)), f(grid(2, 4)));
  },
  "metadata of tensors"({ compile, see }) {
    const f = compile((
      x: Tensor,
    ) => [
      x.add(1),
      [...x.shape],
      x.dtype,
      x.ndim,
      x.dim(),
      x.numel(),
      x.ndim > 0 ? x.size(-1) : null,
      x.size(),
      x.stride(),
      x.isContiguous(),
      x.device,
      x.requiresGrad,
      x.isLeaf,
      x.elementSize(),
      x.storageOffset(),
      x.isFloatingPoint(),
      x.version,
      `${x.shape}`,
      x.shape.length,
      x.shape.includes(2),
      x.shape.at(-1),
    ]);
    see(f(grid(2, 3)), f(grid(3, 2).t()), f(leaf(1)), f(grid(4, 2).slice(0, 1)), f(tensor(3)));
  },
  "own properties on tensors"({ compile, see }) {
    type Named = Tensor & { myName?: string; myCount?: number };
    const f = compile((x: Named) => {
      x.myCount = (x.myCount ?? 0) + 1;
      const y: Named = x.add(x.myCount);
      y.myName = `${x.myName}!`;
      return y;
    });
    const x: Named = v(1);
    x.myName = "x";
    see(f(x), x, f(x), x, f(v(2)));
  },
  "element types and conversions"({ compile, see }) {
    const f = compile((
      x: Tensor,
      n: Tensor,
    ) => [
      x.add(n),
      n.add(1),
      n.div(2),
      n.add(1.5),
      x.to("int32"),
      n.to("float64"),
      x.gt(1).add(n),
      n.gt(1).logicalNot(),
      x.bool === undefined,
      x.mul(true as never),
      n.floorDivide(2),
      n.remainder(3),
    ]);
    see(f(v(1.5, -2.5), tensor([3, -4])), f(v(1.5), tensor([3], { dtype: "int32" })));
  },
  "broadcasting, scalars and empty tensors"({ compile, see }) {
    const f = compile((
      x: Tensor,
      y: Tensor,
      k: number,
    ) => [
      x.add(y),
      x.mul(k),
      x.sum(),
      x.mean(),
      cat([x, y]),
      stack([x, x]),
      x.maximum(y),
      where(x.gt(y), x, k),
    ]);
    see(
      f(v(1, 2), v(3, 4), 2),
      f(v(1), v(2), 2),
      f(v(1), v(2), 2.5),
      f(tensor([]), tensor([]), 1),
      f(v(1), v(), 1),
    );
  },
  "strings and logs of tensors"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const y = x.mul(2);
      console.log("y is", `${y}`, y.shape);
      console.warn(String(x), y.toString());
      return [y.add(1), `${x.dtype}`];
    });
    see(f(v(1, 2)), f(v(3)));
  },
  "functions that are disabled, allowed or constant"({ compile, see }) {
    let calls = 0;
    const off = compiler.disable((x: Tensor) => (calls++, x.mul(3)));
    const whole = compiler.allowInGraph((x: Tensor, k: number) => x.mul(k).add(1));
    const constant = compiler.assumeConstantResult(() => 5);
    const f = compile((
      x: Tensor,
    ) => [off(x.add(1)).sub(1), whole(x, 2), x.mul(constant()), compiler.isCompiling() ? 1 : 1]);
    see(f(v(1)), f(v(2)), calls, f(v(1, 2)), calls);
  },
  "memory formats, strides and non-contiguous inputs"({ compile, see }) {
    const f = compile((
      x: Tensor,
    ) => [
      x.mul(2),
      x.t().add(1),
      x.contiguous().view([-1]),
      x.reshape([-1]),
      x.mul(2).stride(),
      x.sum(0),
      x.flip(0),
      x.roll(1, 0),
      x.expand([2, ...x.shape]),
    ]);
    see(f(grid(2, 3)), f(grid(3, 2).t()), f(grid(4, 3).slice(0, 0, 4, 2)), f(grid(2, 6).slice(1, 0, 6, 2)));
  },
  "a result mutated by the caller does not change later calls"({ compile, see }) {
    const f = compile((x: Tensor) => [ones([2]), x.mul(2), v(7), tensor([1, 2])]);
    const first = f(v(1)) as Tensor[];
    for (const t of first) t.add_(100);
    see(first, f(v(1)));
  },
  "callbacks of users on elements"({ compile, see }) {
    const f = compile((xs: Tensor[], fn: (t: Tensor, i: number) => Tensor) => {
      const ys = xs.map(fn);
      return [ys.reduce((a, b) => a.add(b)), Object.fromEntries(ys.map((y, i) => [`y${i}`, y])), xs.length];
    });
    see(
      f([v(1), v(2)], (t, i) => t.mul(i)),
      f([v(1), v(2), v(3)], (t) => t.neg()),
      f([v(1)], (t, i) => t.add(i)),
    );
  },
};

/** Errors that only element values decide. */
export const elementErrors: Corpus = {
  "errors of operations: message and place"({ compile, attempt }) {
    const f = compile((x: Tensor, y: Tensor) => {
      const z = x.sin();
      return z.add(y).mul(2);
    });
    attempt(() => f(v(1, 2), v(3, 4)));
    attempt(() => f(v(1, 2), v(3, 4, 5)));
    attempt(() => f(v(1, 2, 3), v(3, 4)));
    const g = compile((x: Tensor, k: number) => [x.select(0, k), x.reshape([k, -1])]);
    attempt(() => g(v(1, 2, 3, 4), 2));
    attempt(() => g(v(1, 2, 3, 4), 3));
    attempt(() => g(v(1, 2, 3, 4), 5));
    attempt(() => g(v(1, 2, 3, 4), 1.5));
    const h = compile((x: Tensor, i: Tensor) => x.indexSelect(0, i).mul(2));
    attempt(() => h(v(1, 2), tensor([1])));
    attempt(() => h(v(1, 2), tensor([5])));
    attempt(() => h(v(1, 2), tensor([0])));
  },
  "out-of-range indices after effects"({ compile, attempt, see }) {
    const log: string[] = [];
    const f = compile((x: Tensor, i: Tensor, o: { n: number }) => {
      o.n++;
      log.push("before");
      const y = x.indexSelect(0, i);
      log.push("after");
      o.n++;
      return y;
    });
    const o = { n: 0 };
    attempt(() => f(v(1, 2), tensor([1]), o));
    attempt(() => f(v(1, 2), tensor([9]), o));
    see(o, log);
  },
};
