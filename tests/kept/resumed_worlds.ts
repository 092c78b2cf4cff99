/**
 * Worlds for tests of cached captures after graph breaks, waits and yields, in a module that is loaded after dyn, so
 * that its variables are accessible immediately.
 */
import {
  compile,
  compiler,
  type fx,
  isTensor,
  manualSeed,
  nn,
  ones,
  type Tensor,
  tensor,
} from "../../mod.ts";
import { lookupBackend } from "../../lib/graph/backends.ts";
import type { World } from "./telling.ts";

/** A tensor to compute with. */
const input = (): Tensor => tensor([[1.5, -2], [3, 4]]);

const seen: unknown[] = [];

/** Ends a graph. */
const look = compiler.disable((value: unknown) => {
  seen.push(value);
  return seen.length;
});

const adder = (by: number) => (x: Tensor) => x.add(by);

class Scaled {
  factor = 2;
  scale(x: Tensor): Tensor {
    look("scale");
    return x.mul(this.factor);
  }
}

class Shifted extends Scaled {
  override scale(x: Tensor): Tensor {
    look("shift");
    return x.add(this.factor);
  }
}

class Block extends nn.Module {
  readonly first = new nn.Linear(2, 2);
  second = new nn.Linear(2, 2);
  override forward(x: Tensor): Tensor {
    const y = this.first.call(x).relu();
    look(y.requiresGrad);
    return this.second.call(y);
  }
}

/** A block with the same weights in every process. */
function block(): Block {
  manualSeed(3);
  return new Block();
}

const ticks = async (n: number): Promise<number> => {
  for (let i = 0; i < n; i++) await null;
  return n;
};

/** Shows two tensors in one. */
const both = (a: unknown, b: unknown): Tensor => {
  if (!isTensor(a) || !isTensor(b)) throw new TypeError("Expected tensors");
  return a.mul(1000).add(b);
};

/** A backend that compiles a graph before and after rewriting it, and runs both. */
const rewriting: fx.GraphBackend = (gm, inputs) => {
  const inductor = lookupBackend("inductor"), added = inductor(gm, inputs);
  for (const node of gm.graph.nodes) {
    if (node.target === "mul") node.target = "sub";
    if (node.target === "add") node.target = "mul";
  }
  gm.recompile();
  const multiplied = inductor(gm, inputs);
  return (...args) => [both([added?.(...args)].flat()[0], [multiplied?.(...args)].flat()[0])];
};

/** Worlds whose functions break, wait or yield, or whose backend rewrites graphs. */
export const RESUMED_WORLDS: Readonly<Record<string, World>> = {
  "a backend that rewrites its graph"(other, wrap) {
    const by = other ? 2 : 3, x = input(), fn = (x: Tensor) => x.add(by);
    return wrap(fn) === fn ? both(x.add(by), x.mul(by)) : compile(fn, { backend: rewriting })(x);
  },
  "a captured number behind a break"(other, wrap) {
    const factor = other ? 3 : 2;
    return wrap((x: Tensor) => {
      const y = x.add(1);
      look("a");
      return y.mul(factor);
    })(input());
  },
  "a captured number before a break"(other, wrap) {
    const by = other ? 3 : 2;
    return wrap((x: Tensor) => {
      const y = x.add(by);
      look("a");
      return y.mul(2);
    })(input());
  },
  "which way elements lead"(other, wrap) {
    const x = other ? input().neg() : input();
    return wrap((x: Tensor) => x.sum().item() > 0 ? x.mul(2) : x.sub(1))(x);
  },
  "a number that is read out"(other, wrap) {
    const x = other ? input().mul(2.5) : input();
    return wrap((x: Tensor) => {
      const sum = x.sum().item();
      look(sum);
      return x.mul(sum * 2 + 0.5);
    })(x);
  },
  "a number that is read out and told apart"(other, wrap) {
    const x = other ? input().mul(-2.5) : input();
    return wrap((x: Tensor) => {
      const sum = x.sum().item();
      look(sum);
      return sum > 0 ? x.mul(sum) : x.sub(sum);
    })(x);
  },
  "what a disabled function gives"(other, wrap) {
    const give = compiler.disable(() => other ? "twice" : "thrice");
    return wrap((x: Tensor) => give() === "twice" ? x.mul(2) : x.mul(3))(input());
  },
  "a list that a disabled function gives"(other, wrap) {
    const give = compiler.disable(() => other ? [1, 2, 3] : [1, 2]);
    return wrap((x: Tensor) => x.mul(give().length).add(1))(input());
  },
  "a method that breaks"(other, wrap) {
    const state = other ? new Shifted() : new Scaled();
    return wrap((x: Tensor) => state.scale(x.neg()).add(state.factor))(input());
  },
  "a field behind a break"(other, wrap) {
    const state = new Scaled();
    if (other) state.factor = 7;
    return wrap((x: Tensor) => state.scale(x.neg()).add(1))(input());
  },
  "a field that a break changes"(other, wrap) {
    const state = new Scaled();
    const change = compiler.disable(() => {
      state.factor = other ? 5 : 4;
    });
    return wrap((x: Tensor) => {
      const y = x.mul(state.factor);
      change();
      return y.add(state.factor);
    })(input());
  },
  "an object made before a break"(other, wrap) {
    const by = other ? 3 : 2;
    return wrap((x: Tensor) => {
      const made = { by, list: [x, 1], map: new Map([["a", by]]) };
      look(made);
      return x.mul(made.by + made.list.length + (made.map.get("a") ?? 0));
    })(input());
  },
  "a closure made before a break"(other, wrap) {
    const by = other ? 3 : 2;
    return wrap((x: Tensor) => {
      const act = (y: Tensor) => y.mul(by);
      look(act);
      return act(x).add(1);
    })(input());
  },
  "a closure that another one captures"(other, wrap) {
    const by = other ? 3 : 2;
    return wrap((x: Tensor) => {
      const y = x.add(1), inner = (z: Tensor) => z.mul(by).add(y), outer = (z: Tensor) => inner(z).neg();
      look(outer);
      return outer(x);
    })(input());
  },
  "closures of the same code"(other, wrap) {
    return wrap((x: Tensor) => {
      const acts = [1, other ? 5 : 2].map((by) => (y: Tensor) => y.mul(by));
      look(acts);
      return acts.reduce((sum, act) => act(sum), x);
    })(input());
  },
  "which closure a branch has made"(other, wrap) {
    return wrap((x: Tensor, isTwice: boolean) => {
      const act = isTwice ? (y: Tensor) => y.mul(2) : (y: Tensor) => y.mul(3);
      look(act);
      return act(x);
    })(input(), other);
  },
  "a variable that closures share"(_other, wrap) {
    return wrap((x: Tensor) => {
      let calls = 0;
      const act = (y: Tensor) => y.mul(++calls);
      look(act);
      return [act(x), act(x), calls];
    })(input());
  },
  "a function that is handed in"(other, wrap) {
    return wrap((x: Tensor, act: (x: Tensor) => Tensor) => {
      const y = act(x);
      look(y);
      return act(y);
    })(input(), adder(other ? 2 : 1));
  },
  "a break in a function that is handed in"(other, wrap) {
    const by = other ? 2 : 1;
    return wrap((x: Tensor, act: (x: Tensor) => Tensor) => act(x).neg())(input(), (x: Tensor) => {
      look(x);
      return x.add(by);
    });
  },
  "a loop of breaks"(other, wrap) {
    const by = other ? 3 : 2;
    return wrap((x: Tensor) => {
      let y = x;
      for (let i = 0; i < 3; i++) {
        y = y.mul(by).add(i);
        look(i);
      }
      return y;
    })(input());
  },
  "a loop over a list with breaks"(other, wrap) {
    const list = other ? [1, 2, 4] : [1, 2, 3];
    return wrap((x: Tensor) => {
      let y = x;
      for (const each of list) {
        y = y.mul(each);
        look(each);
      }
      return y;
    })(input());
  },
  "a loop over layers with breaks"(other, wrap) {
    const layers = [new Scaled(), new Shifted(), new Scaled()];
    if (other) layers.splice(1, 1);
    return wrap((x: Tensor) => {
      let y = x;
      for (const [at, layer] of layers.entries()) {
        look(at);
        y = layer.scale(y).add(ones([1]));
      }
      return y;
    })(input());
  },
  "a loop over a map with breaks"(other, wrap) {
    const map = new Map([["a", 1], ["b", other ? 3 : 2]]);
    return wrap((x: Tensor) => {
      let y = x;
      for (const [key, each] of map) {
        y = y.mul(each);
        look(key);
      }
      return y;
    })(input());
  },
  "a variable that the program shares"(other, wrap) {
    let by = other ? 3 : 2;
    const next = () => ++by;
    return wrap((x: Tensor) => {
      const y = x.mul(next());
      look(y);
      return y.add(by);
    })(input());
  },
  "a function of a variable that the program shares"(other, wrap) {
    let by = 2, more = 3;
    const one = () => by++, two = () => more++;
    return [wrap((x: Tensor) => x.mul((other ? two : one)()).add(by).sub(more))(input()), by, more];
  },
  "a handler around a break"(other, wrap) {
    const act = compiler.disable(() => {
      if (other) throw new RangeError("other");
      return 2;
    });
    return wrap((x: Tensor) => {
      try {
        return x.mul(act());
      } catch (error) {
        return x.sub(error instanceof RangeError ? 1 : 2);
      } finally {
        look("finally");
      }
    })(input());
  },
  "an instance whose construction breaks"(other, wrap) {
    class Own {
      readonly by: number;
      constructor(readonly x: Tensor, by: number) {
        look("own");
        this.by = by;
      }
    }
    const by = other ? 3 : 2;
    return wrap((x: Tensor) => {
      const own = new Own(x.add(1), by);
      return own.x.mul(own.by);
    })(input());
  },
  "a module that breaks"(other, wrap) {
    const net = block();
    if (other) net.second = new nn.Linear(2, 2, { bias: false });
    const step = wrap((x: Tensor) => net.call(x).sum());
    const loss = step(input());
    loss.backward();
    return [loss, net.first.weight.grad, net.second.weight.grad];
  },
  "a module in another mode"(other, wrap) {
    const net = block();
    if (other) net.eval();
    return wrap((x: Tensor) => {
      const y = net.call(x);
      return net.training ? y.mul(2) : y;
    })(input());
  },
  "an argument with a history that is asked for"(other, wrap) {
    const leaf = input().requiresGrad_(), x = other ? leaf.mul(1) : leaf;
    const step = wrap((x: Tensor) => x.isLeaf ? x.mul(2).sum() : x.mul(3).sum());
    step(x).backward();
    return leaf.grad;
  },
  "an argument that is a view"(other, wrap) {
    const x = input(), y = other ? x.view([4]) : input().view([4]);
    return wrap((x: Tensor, y: Tensor) => {
      x.add_(1);
      return y.mul(2);
    })(x, y);
  },
  "a written view with a history"(other, wrap) {
    const weight = input().requiresGrad_(), base = weight.mul(2);
    const x = other ? base.view([4]) : weight.mul(2).view([4]).mul(1);
    const step = wrap((x: Tensor) => {
      x.mul_(3);
      return x.sum();
    });
    step(x).backward();
    return [weight.grad, base];
  },
  async "what is awaited"(other, wrap) {
    const by = other ? 3 : 2;
    return await wrap(async (x: Tensor) => {
      const y = x.mul(2);
      await ticks(2);
      return y.add(by);
    })(input());
  },
  async "a number that is awaited"(other, wrap) {
    return await wrap(async (x: Tensor, n: number) => {
      const got = await ticks(n);
      return x.mul(got);
    })(input(), other ? 4 : 3);
  },
  async "an async function that is called"(other, wrap) {
    const by = other ? 3 : 2;
    const inner = async (x: Tensor) => {
      const y = x.add(by);
      await null;
      return y.mul(by);
    };
    return await wrap(async (x: Tensor) => {
      const all = await Promise.all([inner(x), inner(x.neg())]);
      return all.map((each) => each.sum());
    })(input());
  },
  async "a rejection that is handled"(other, wrap) {
    const fail = compiler.disable(async () => {
      await null;
      if (other) throw new RangeError("other");
      return 2;
    });
    return await wrap(async (x: Tensor) => {
      try {
        return x.mul(await fail());
      } catch {
        return x.sub(1);
      }
    })(input());
  },
  "a generator that is compiled"(other, wrap) {
    const by = other ? 3 : 2;
    return [
      ...wrap(function* (x: Tensor) {
        let y = x;
        for (let i = 0; i < 3; i++) {
          y = y.mul(by);
          yield y.sum();
        }
      })(input()),
    ];
  },
  async "an async generator that is compiled"(other, wrap) {
    const by = other ? 3 : 2, sums: unknown[] = [];
    const list = wrap(async function* (x: Tensor) {
      for (let y = x.mul(by), i = 0; i < 2; i++, y = y.mul(by)) {
        await null;
        yield y.sum();
      }
    });
    for await (const sum of list(input())) sums.push(sum);
    return sums;
  },
  "a generator that stands behind a yield"(other, wrap) {
    const by = other ? 3 : 2;
    function* numbers(): Generator<number> {
      for (let i = 1;; i++) yield i * by;
    }
    return wrap((x: Tensor) => {
      const list = numbers(), first = list.next().value;
      look(first);
      return x.mul(list.next().value ?? 0).add(first ?? 0);
    })(input());
  },
  "a compiled function that is called"(other, wrap) {
    const inner = wrap(other ? (x: Tensor) => x.mul(2) : (x: Tensor) => x.mul(3));
    return wrap((x: Tensor) => {
      const y = inner(x);
      look(y);
      return inner(y);
    })(input());
  },
  "a function that is disabled or not"(other, wrap) {
    const act = other ? compiler.disable((x: Tensor) => x.mul(2)) : (x: Tensor) => x.mul(2);
    return wrap((x: Tensor) => act(x.add(1)).sub(1))(input());
  },
  "one object twice behind a break"(other, wrap) {
    const a = { factor: 1 }, b = other ? { factor: 1 } : a;
    return wrap((x: Tensor) => {
      look(x);
      a.factor += 1;
      return x.mul(b.factor);
    })(input());
  },
  "one tensor twice behind a break"(other, wrap) {
    return wrap((x: Tensor, y: Tensor) => {
      look(x);
      x.add_(1);
      return y.mul(2);
    })(...other ? [input(), input()] as const : same(input()));
  },
  "sizes of a mask"(other, wrap) {
    const x = other ? ones([2, 2]) : input();
    return wrap((x: Tensor) => {
      const rows = x.maskedSelect(x.gt(0));
      return rows.mul(2).sum();
    })(x);
  },
};

const same = (x: Tensor): readonly [Tensor, Tensor] => [x, x];
