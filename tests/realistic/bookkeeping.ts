/** Bookkeeping around tensors: counting, configuring, printing, checking. */
import { arange, manualSeed, nn, ones, randn, stack, type Tensor, tensor, zeros } from "../../mod.ts";
import type { Program } from "../../cli/fuzz/language/observation.ts";

export const programs: Readonly<Record<string, Program>> = {
  "a confusion matrix"({ compile, see }) {
    const confusion = compile((predicted: Tensor, labels: Tensor, classes: number) => {
      const place = labels.mul(classes).add(predicted);
      return place.bincount({ minlength: classes * classes }).reshape(classes, classes);
    });
    see(confusion(tensor([0, 1, 2, 1]), tensor([0, 2, 2, 1]), 3));
  },
  "metrics by name"({ compile, see }) {
    const metrics = compile((logits: Tensor, labels: Tensor) => {
      const right = logits.argmax(-1).eq(labels).to("float32");
      const found: Record<string, Tensor> = { accuracy: right.mean() };
      for (const k of [1, 2]) {
        const [, best] = logits.topk(k, -1);
        found[`top${k}`] = best.eq(labels.unsqueeze(1)).any(1).to("float32").mean();
      }
      return Object.fromEntries(Object.entries(found).sort(([a], [b]) => a < b ? -1 : 1));
    });
    manualSeed(1);
    see(metrics(randn([4, 3]), tensor([0, 1, 2, 0])));
  },
  "defaults and what was configured are merged"({ compile, see }) {
    const defaults = { scale: 1, shift: 0, activation: "relu" as "relu" | "tanh" };
    const f = compile((x: Tensor, options: Partial<typeof defaults> = {}) => {
      const { scale, shift, activation } = { ...defaults, ...options };
      return x.mul(scale).add(shift)[activation]();
    });
    see(f(ones([2])), f(ones([2]), { scale: -2 }), f(ones([2]), { activation: "tanh" }));
  },
  "progress is printed"({ compile, see }) {
    const f = compile((xs: readonly Tensor[]) => {
      let total = zeros([2]);
      for (const [k, x] of xs.entries()) {
        total = total.add(x.mul(k));
        if (k % 2 === 1) console.log(`item ${k} of ${xs.length}`);
      }
      return total;
    });
    see(f([1, 2, 3, 4].map((k) => ones([2]).mul(k))));
  },
  "values that are not finite are found"({ compile, see }) {
    const check = compile((x: Tensor) => {
      const bad = x.isfinite().logicalNot();
      if (bad.any().item()) return { x: x.nanToNum(0), bad: bad.sum() };
      return { x, bad: null };
    });
    see(check(tensor([1, 2])), check(tensor([1, NaN])));
  },
  "dimensions are checked with a message"({ compile, see, attempt }) {
    const checked = compile((x: Tensor, w: Tensor) => {
      const [, inner] = x.shape, [outer] = w.shape;
      if (inner !== outer) throw new RangeError(`expected ${inner} rows but found ${outer}`);
      return x.matmul(w);
    });
    attempt(() => checked(ones([2, 3]), ones([3, 1])));
    attempt(() => checked(ones([2, 3]), ones([2, 1])));
    see("done");
  },
  "a table of statistics"({ compile, see }) {
    const table = compile((columns: Readonly<Record<string, Tensor>>) =>
      Object.entries(columns).map(([name, x]) => ({
        name: name.toUpperCase().padEnd(4, "."),
        mean: x.mean(),
        spread: x.amax().sub(x.amin()),
      }))
    );
    see(table({ a: tensor([1, 2, 4], { dtype: "float32" }), bc: ones([2]) }));
  },
  "parameters are counted and grouped"({ compile, see }) {
    manualSeed(2);
    const net = new nn.Sequential(new nn.Linear(2, 3), new nn.LayerNorm(3), new nn.Linear(3, 1));
    const penalty = compile((decay: number) => {
      let sum = zeros([]), count = 0;
      for (const [name, p] of net.namedParameters()) {
        if (name.endsWith("bias") || p.ndim < 2) continue;
        sum = sum.add(p.square().sum());
        count += p.numel();
      }
      return { penalty: sum.mul(decay), count };
    });
    see(penalty(0.1), penalty(0.2));
  },
  "early stopping"({ compile, see }) {
    class Patience {
      best = Infinity;
      bad = 0;
      constructor(readonly most: number) {}
      stop(loss: number): boolean {
        if (loss < this.best) [this.best, this.bad] = [loss, 0];
        else this.bad++;
        return this.bad >= this.most;
      }
    }
    const patience = new Patience(2), loss = compile((x: Tensor, k: number) => x.sub(k).square().mean());
    const seen: number[] = [];
    for (const k of [3, 2, 1, 2, 3, 4]) {
      const value = Number(loss(ones([2]), k).item());
      seen.push(value);
      if (patience.stop(value)) break;
    }
    see(seen, patience.best);
  },
  "labels are smoothed and drawn as text"({ compile, see }) {
    const smooth = compile((labels: Tensor, classes: number, by: number) => {
      const hot = nn.functional.oneHot(labels, classes).to("float32");
      const rows = hot.mul(1 - by).add(by / classes);
      return { rows, names: [...Array(classes).keys()].map((k) => `class ${k}`).join(", ") };
    });
    see(smooth(tensor([0, 2]), 3, 0.1), stack([arange(2)]));
  },
};
