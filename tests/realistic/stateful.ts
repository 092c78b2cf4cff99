/** Classes that keep state between calls. */
import { manualSeed, nn, noGrad, ones, randn, type Tensor, tensor, zeros } from "../../mod.ts";
import type { Program } from "../../cli/fuzz/language/observation.ts";

export const programs: Readonly<Record<string, Program>> = {
  "a running mean"({ compile, see }) {
    class Mean {
      sum = zeros([2]);
      count = 0;
      add(x: Tensor) {
        this.sum = this.sum.add(x);
        this.count++;
        return this.sum.div(this.count);
      }
    }
    const mean = new Mean(), add = compile((x: Tensor) => mean.add(x));
    for (const k of [1, 2, 3, 4]) see(add(ones([2]).mul(k)));
    see(mean.count);
  },
  "a counter that is private"({ compile, see }) {
    class Warmup {
      #step = 0;
      static readonly #most = 3;
      factor(): number {
        this.#step = Math.min(this.#step + 1, Warmup.#most);
        return this.#step / Warmup.#most;
      }
    }
    const warmup = new Warmup(), f = compile((x: Tensor) => x.mul(warmup.factor()));
    for (let k = 0; k < 5; k++) see(f(ones([2])));
  },
  "an exponential average in place"({ compile, see }) {
    class Average extends nn.Module {
      readonly shadow = zeros([3]);
      override forward(x: Tensor) {
        noGrad(() => this.shadow.mul_(0.9).add_(x.mul(0.1)));
        return x.sub(this.shadow);
      }
    }
    const average = new Average(), f = compile((x: Tensor) => average.call(x));
    for (const k of [1, 2, 3]) see(f(ones([3]).mul(k)));
    see(average.shadow);
  },
  "a module with a mode"({ compile, see }) {
    manualSeed(2);
    const net = new nn.Sequential(
      new nn.Linear(3, 4),
      new nn.BatchNorm1d(4),
      new nn.ReLU(),
      new nn.Linear(4, 1),
    );
    const f = compile((x: Tensor) => net.call(x));
    const x = randn([5, 3]);
    see(f(x));
    net.eval();
    see(f(x));
    net.train();
    see(f(x));
  },
  "accessors compute what is asked"({ compile, see }) {
    class Box {
      constructor(public low: Tensor, public high: Tensor) {}
      get size() {
        return this.high.sub(this.low);
      }
      set centre(at: Tensor) {
        const half = this.size.div(2);
        [this.low, this.high] = [at.sub(half), at.add(half)];
      }
      get centre() {
        return this.low.add(this.high).div(2);
      }
    }
    const f = compile((box: Box, by: Tensor) => {
      box.centre = box.centre.add(by);
      return box.size.prod();
    });
    const box = new Box(zeros([2]), ones([2]));
    see(f(box, ones([2])), box.low, box.high);
  },
  "a subclass changes a step"({ compile, see }) {
    class Optimizer {
      constructor(readonly rate: number) {}
      direction(g: Tensor): Tensor {
        return g.neg();
      }
      step(x: Tensor, g: Tensor) {
        return x.add(this.direction(g).mul(this.rate));
      }
    }
    class Signed extends Optimizer {
      override direction(g: Tensor) {
        return super.direction(g).sign();
      }
    }
    const f = compile((o: Optimizer, x: Tensor) => o.step(x, x.mul(2)));
    see(f(new Optimizer(0.1), tensor([1, -2])), f(new Signed(0.1), tensor([1, -2])));
  },
  "a registry of objects"({ compile, see }) {
    class Registry {
      static readonly all = new Map<string, Registry>();
      constructor(readonly name: string, readonly weight: Tensor) {
        Registry.all.set(name, this);
      }
    }
    new Registry("a", ones([2]));
    new Registry("b", ones([2]).mul(2));
    const f = compile((x: Tensor, names: readonly string[]) =>
      names.reduce((y, name) => y.mul(Registry.all.get(name)?.weight ?? 1), x)
    );
    see(f(ones([2]), ["a", "b"]), f(ones([2]), ["a", "c"]));
  },
  "a ring buffer"({ compile, see }) {
    class Ring {
      readonly items: Tensor[] = [];
      at = 0;
      constructor(readonly size: number) {}
      push(x: Tensor) {
        this.items[this.at++ % this.size] = x;
      }
    }
    const ring = new Ring(3);
    const f = compile((x: Tensor) => {
      ring.push(x.mul(2));
      return ring.items.reduce((a, b) => a.add(b));
    });
    for (let k = 0; k < 5; k++) see(f(ones([1]).mul(k)));
  },
  "lazy weights"({ compile, see }) {
    class Lazy {
      weight?: Tensor;
      call(x: Tensor) {
        this.weight ??= ones([x.shape[1]!, 2]);
        return x.matmul(this.weight);
      }
    }
    const lazy = new Lazy(), f = compile((x: Tensor) => lazy.call(x));
    see(f(ones([2, 3])), f(ones([4, 3])), lazy.weight);
  },
  "objects of a call are its own"({ compile, see }) {
    class Accumulator {
      total: Tensor | null = null;
      add(x: Tensor) {
        this.total = this.total?.add(x) ?? x;
        return this;
      }
    }
    const f = compile((xs: readonly Tensor[]) => {
      const made = xs.reduce((a, x) => a.add(x.square()), new Accumulator());
      return { made, mean: made.total!.div(xs.length) };
    });
    see(f([ones([2]), ones([2]).mul(3)]), f([ones([2]).mul(2), ones([2])]));
  },
};
