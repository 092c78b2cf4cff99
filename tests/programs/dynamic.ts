/** Programs in which something changes between calls: sizes, numbers, settings, limits, marks. */
import { arange, cat, compiler, config, nn, ones, stack, type Tensor, tensor, zeros } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const F = nn.functional;
const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });
const line = (n: number): Tensor => arange(n, { dtype: "float32" });
const grid = (n: number, m: number): Tensor => line(n * m).reshape([n, m]);
const size = (x: Tensor, d: number): number => x.shape[d] ?? 0;

export const dynamic: Corpus = {
  "sizes 0, 1, 2 and others in every order"({ compile, see }) {
    const make = () =>
      compile((
        x: Tensor,
      ) => [x.add(1).sum(), x.shape, x.numel(), x.reshape([-1]).shape, x.mean(0), x.unsqueeze(0).shape]);
    for (const order of [[0, 1, 2, 3], [3, 2, 1, 0], [2, 5, 0, 7, 1, 9], [1, 1, 4, 1, 4, 0]]) {
      const f = make();
      for (const n of order) see(f(grid(n, 2)));
    }
  },
  "two dimensions that are equal, then differ"({ compile, see }) {
    const f = compile((x: Tensor, y: Tensor) => [
      size(x, 0) === size(y, 0) ? x.add(y) : cat([x, y]),
      size(x, 0) === size(x, 0),
      [...x.shape, ...y.shape],
    ]);
    for (const [a, b] of [[2, 2], [3, 3], [4, 4], [4, 5], [5, 4], [2, 3], [1, 2], [2, 1]] as const) {
      see(f(line(a), line(b)));
    }
  },
  "arithmetic on shapes becomes new shapes"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const n = size(x, 0), half = Math.floor(n / 2), m = n * 2 - 1;
      return [
        zeros([half, 2]),
        ones([m]),
        x.narrow(0, 0, half),
        x.repeat([2]).shape[0],
        arange(n),
        x.narrow(0, n - half, half).sum(),
        x.expand([3, n]).shape,
      ];
    });
    for (const n of [2, 3, 4, 5, 8, 1, 0]) see(f(line(n)));
  },
  "slices by bounds that change"({ compile, see, attempt }) {
    const f = compile((x: Tensor, a: number, b: number) => [x.slice(0, a, b), x.at(`${a}:${b}`), x.at(a)]);
    for (const [a, b] of [[0, 2], [1, 3], [2, 4], [-3, -1], [1, 100], [3, 1], [0, 0]] as const) {
      attempt(() => f(line(5), a, b));
    }
    const g = compile((x: Tensor, k: number) => {
      const n = size(x, 0);
      return [x.slice(0, k), x.slice(0, 0, n - k), x.slice(0, -k), x.slice(0, 0, n, k)];
    });
    for (const [n, k] of [[5, 1], [5, 2], [6, 3], [7, 2], [4, 4], [3, 5]] as const) see(g(line(n), k));
  },
  "windows over a sequence"({ compile, see }) {
    const f = compile((x: Tensor, width: number, step: number) => {
      const out: Tensor[] = [];
      for (let i = 0; i + width <= size(x, 0); i += step) out.push(x.slice(0, i, i + width).mean());
      return out.length > 0 ? stack(out) : zeros([0]);
    });
    for (const [n, w, s] of [[6, 2, 1], [7, 2, 1], [8, 3, 2], [8, 3, 3], [2, 3, 1], [9, 4, 2]] as const) {
      see(f(line(n), w, s));
    }
  },
  "padding to a multiple and cutting back"({ compile, see }) {
    const f = compile((x: Tensor, k: number) => {
      const n = size(x, 0), rest = (k - n % k) % k;
      const padded = rest > 0 ? cat([x, zeros([rest])]) : x;
      return [padded.reshape([-1, k]).sum(1), padded.slice(0, 0, n), rest];
    });
    for (const [n, k] of [[4, 2], [5, 2], [7, 3], [9, 4], [8, 4], [1, 4], [3, 1]] as const) {
      see(f(line(n), k));
    }
  },
  "numbers that change: integers, halves, signs, special values"({ compile, see }) {
    const f = compile((
      x: Tensor,
      k: number,
    ) => [x.mul(k), x.add(k).sub(k), x.pow(2).mul(-k), k * 2, k > 1 ? "big" : "small", Math.abs(k), -k]);
    for (const k of [1, 2, 3, 0, -1, -2, 0.5, 1.5, -0, NaN, Infinity, 1e20, 2 ** 31, 5, 0.1]) {
      see(f(v(1, 2), k));
    }
  },
  "a step counter in an object"({ compile, see }) {
    const state = { step: 0, lr: 0.1, decay: 0.9, name: "a" };
    const f = compile((x: Tensor) => {
      state.step++;
      state.lr *= state.decay;
      const warm = Math.min(1, state.step / 4), bias = 1 - state.decay ** state.step;
      return [x.mul(state.lr * warm).div(bias), state.step % 2 === 0];
    });
    for (let i = 0; i < 7; i++) see(f(v(1, 2)), state);
    state.decay = 0.5;
    see(f(v(1, 2)), state);
  },
  "an index into a list of layers"({ compile, see }) {
    const layers = [(x: Tensor) => x.add(1), (x: Tensor) => x.mul(2), (x: Tensor) => x.neg()];
    const f = compile((x: Tensor, i: number) => layers[i]!(x).add(i));
    for (const i of [0, 1, 2, 1, 0]) see(f(v(1), i));
    layers.push((x) => x.sub(7));
    see(f(v(1), 3), f(v(1), 0));
  },
  "lists of tensors whose lengths change"({ compile, see }) {
    const f = compile((xs: Tensor[], ws: Record<string, Tensor>) => {
      let total = zeros([1]);
      for (const x of xs) total = total.add(x.sum());
      for (const [k, w] of Object.entries(ws)) total = total.add(w.mul(k.length));
      return [total, xs.length, Object.keys(ws)];
    });
    see(
      f([v(1)], { a: v(1) }),
      f([v(1), v(2, 3)], { a: v(1) }),
      f([], { bb: v(2) }),
      f([v(4)], { a: v(1), bb: v(2) }),
    );
  },
  "marked dimensions"({ compile, see }) {
    const f = compile((x: Tensor) => [x.sum(1), size(x, 0) * 2]);
    const x = grid(4, 2);
    compiler.markDynamic(x, 0);
    see(f(x), f(grid(5, 2)), f(grid(9, 2)), f(grid(1, 2)), f(grid(0, 2)));
    const y = grid(3, 3);
    compiler.markStatic(y, 0);
    see(f(y), f(grid(7, 3)), f(grid(8, 3)));
  },
  "a cache limit that is reached"({ compile, see }) {
    config.patch({ cacheSizeLimit: 2 }, () => {
      const f = compile((x: Tensor, s: string) => [x.add(s.length), s + s]);
      for (const s of ["a", "b", "c", "d", "a", "c"]) see(f(v(1), s));
      const g = compile((x: Tensor, s: string) => {
        const y = x.mul(2);
        console.log(s);
        return y.add(s.length);
      });
      for (const s of ["a", "bb", "ccc", "dddd", "a"]) see(g(v(1), s));
    });
  },
  "stances"({ compile, see }) {
    const f = compile((x: Tensor, k: string) => [x.add(1), k]);
    see(f(v(1), "a"));
    for (const stance of ["force_eager", "run_only", "eager_on_recompile"] as const) {
      using _ = compiler.setStance(stance);
      see(f(v(1), "a"), f(v(1), `${stance}`));
    }
    see(f(v(2), "a"));
  },
  "element types and ranks that change"({ compile, see }) {
    const f = compile((x: Tensor) => [x.add(1), x.sum(), x.dtype, x.ndim, x.ndim > 1 ? x.t() : x]);
    see(
      f(v(1, 2)),
      f(tensor([1, 2])),
      f(tensor([true, false])),
      f(grid(2, 2)),
      f(tensor(3)),
      f(tensor([[1.5]], { dtype: "float64" })),
    );
  },
  "optional and missing arguments"({ compile, see }) {
    const f = compile(
      (x: Tensor, mask?: Tensor | null, { scale = 1, bias }: { scale?: number; bias?: Tensor } = {}) => {
        let y = x.mul(scale);
        if (mask) y = y.maskedFill(mask, 0);
        if (bias !== undefined) y = y.add(bias);
        return y;
      },
    );
    see(
      f(v(1, 2)),
      f(v(1, 2), null),
      f(v(1, 2), tensor([true, false])),
      f(v(1, 2), undefined, { scale: 3 }),
      f(v(1, 2), null, { bias: v(5, 5) }),
      f(v(1, 2), undefined, { scale: undefined } as never),
    );
    const g = compile((...xs: Tensor[]) => [xs.length, xs.reduce((a, b) => a.add(b), zeros([1]))]);
    see(g(), g(v(1)), g(v(1), v(2)), g(v(1), v(2), v(3)));
  },
  "functions as arguments, with captured numbers"({ compile, see }) {
    const f = compile((x: Tensor, fn: (t: Tensor) => Tensor) => fn(fn(x)));
    for (const k of [1, 2, 3, 4, 5]) see(f(v(1), (t) => t.mul(k)));
    const makeAdder = (n: number) => (t: Tensor) => t.add(n);
    see(f(v(1), makeAdder(1)), f(v(1), makeAdder(2)), f(v(1), F.relu as never), f(v(1), (t) => t.neg()));
    const counters = [1, 2].map((n) => {
      let c = n;
      return (t: Tensor) => t.add(c++);
    });
    see(f(v(1), counters[0]!), f(v(1), counters[1]!), f(v(1), counters[0]!));
  },
  "batches of several sizes through a model"({ compile, see }) {
    const model = new nn.Sequential(new nn.Linear(3, 4), new nn.ReLU(), new nn.Linear(4, 2));
    const f = compile((x: Tensor) => F.softmax(model.call(x), -1));
    for (const n of [4, 2, 7, 1, 0, 3]) {
      const y = f(grid(n, 3));
      if (n > 0) {
        model.zeroGrad();
        y.pow(2).sum().backward();
      }
      see(y.detach(), model.parameters().map((p) => p.grad));
    }
  },
  "matrices with several dynamic sizes"({ compile, see }) {
    const f = compile((
      a: Tensor,
      b: Tensor,
    ) => [
      a.matmul(b),
      a.matmul(b).sum(0),
      a.t().matmul(a).shape,
      a.unsqueeze(0).expand([2, size(a, 0), size(a, 1)]).reshape([-1, size(a, 1)]),
    ]);
    for (
      const [n, k, m] of [[2, 3, 4], [3, 3, 4], [3, 5, 4], [4, 5, 6], [5, 5, 5], [1, 2, 3], [
        2,
        1,
        2,
      ]] as const
    ) see(f(grid(n, k), grid(k, m)));
  },
  "a mask made of sizes"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const n = size(x, 0), i = arange(n).unsqueeze(1), j = arange(n).unsqueeze(0);
      const causal = j.le(i);
      return [x.unsqueeze(0).expand([n, n]).maskedFill(causal.logicalNot(), -1), causal.sum()];
    });
    for (const n of [2, 3, 5, 1]) see(f(line(n)));
  },
  "beam search with host bookkeeping"({ compile, see }) {
    interface Beam {
      tokens: number[];
      score: number;
    }
    const table = tensor([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2], [0.3, 0.3, 0.4]]).log();
    const step = compile((beams: Beam[], width: number): Beam[] => {
      const all: Beam[] = [];
      for (const b of beams) {
        const row = table.at(b.tokens.at(-1) ?? 0).tolist() as number[];
        row.forEach((s, t) => all.push({ tokens: [...b.tokens, t], score: b.score + s }));
      }
      return all.sort((a, b) => b.score - a.score).slice(0, width);
    });
    let beams: Beam[] = [{ tokens: [0], score: 0 }];
    for (let i = 0; i < 3; i++) {
      beams = step(beams, 2);
      see(beams.map((b) => b.tokens));
    }
  },
  "greedy decoding until a stop token"({ compile, see }) {
    const emb = grid(4, 4).sin(), out = grid(4, 4).cos();
    const decode = compile((start: number, most: number) => {
      const tokens = [start];
      while (tokens.length < most) {
        const logits = emb.at(tokens.at(-1) ?? 0).matmul(out);
        const next = logits.argmax().item() as number;
        tokens.push(next);
        if (next === 3) break;
      }
      return tokens;
    });
    for (const [s, n] of [[0, 5], [1, 4], [2, 6], [3, 3]] as const) see(decode(s, n));
  },
  "a power iteration that converges"({ compile, see }) {
    const f = compile((a: Tensor, tolerance: number) => {
      let x = ones([size(a, 0)]), last = 0, rounds = 0;
      for (;;) {
        const y = a.matmul(x), norm = Number(y.pow(2).sum().sqrt());
        x = y.div(norm);
        rounds++;
        if (Math.abs(norm - last) < tolerance || rounds > 30) break;
        last = norm;
      }
      return [x, rounds];
    });
    see(
      f(tensor([[2, 1], [1, 3]], { dtype: "float32" }), 0.01),
      f(tensor([[2, 0, 1], [0, 1, 0], [1, 0, 4]], { dtype: "float32" }), 0.1),
    );
  },
  "cached keys and values"({ compile, see }) {
    class Cache {
      keys: Tensor[] = [];
      length = 0;
      append(k: Tensor): Tensor {
        this.keys.push(k);
        this.length += size(k, 0);
        return cat(this.keys, 0);
      }
    }
    const cache = new Cache();
    const f = compile((x: Tensor) => {
      const keys = cache.append(x);
      return [keys.matmul(x.t()).softmax(0).sum(), cache.length];
    });
    for (const n of [2, 1, 1, 3]) see(f(grid(n, 2)), cache.keys.length, cache.length);
  },
  "a preallocated buffer written at a moving position"({ compile, see }) {
    const buffer = zeros([6, 2]);
    let at = 0;
    const f = compile((x: Tensor) => {
      const n = size(x, 0);
      buffer.slice(0, at, at + n).copy_(x);
      at += n;
      return buffer.slice(0, 0, at).sum(0);
    });
    for (const n of [1, 2, 1, 2]) see(f(grid(n, 2).add(1)), at, buffer);
  },
};
