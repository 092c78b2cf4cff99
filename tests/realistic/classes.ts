/** Programs of classes: listeners, mixins, buffers, caches, recursive modules, proxies. */
import { arange, manualSeed, nn, noGrad, ones, randn, stack, type Tensor, tensor, zeros } from "../../mod.ts";
import type { Program } from "../../cli/fuzz/language/observation.ts";

type Listener = (k: number, loss: Tensor | null) => void;

class Emitter {
  readonly #listeners = new Map<string, Set<Listener>>();
  on(name: string, listener: Listener): () => void {
    const all = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, all.add(listener));
    return () => void all.delete(listener);
  }
  once(name: string, listener: Listener): void {
    const off = this.on(name, (...args) => {
      off();
      listener(...args);
    });
  }
  emit(name: string, ...args: Parameters<Listener>): number {
    const all = [...this.#listeners.get(name) ?? []];
    for (const listener of all) listener(...args);
    return all.length;
  }
}

class Affine {
  calls = 0;
  scale = 2;
  constructor(readonly w: Tensor, readonly b: Tensor) {}
  forward(x: Tensor): Tensor {
    return x.mul(this.w).add(this.b);
  }
}

const timed = (Base: typeof Affine) =>
  class Timed extends Base {
    override forward(x: Tensor): Tensor {
      this.calls++;
      return super.forward(x);
    }
  };

const scaled = (Base: typeof Affine) =>
  class extends Base {
    override forward(x: Tensor): Tensor {
      return super.forward(x).mul(this.scale);
    }
  };

interface Transition {
  readonly s: Tensor;
  readonly a: number;
  readonly r: number;
  readonly next: Tensor;
  readonly done: boolean;
}

class ReplayBuffer {
  #items: Transition[] = [];
  #at = 0;
  constructor(readonly capacity: number) {}
  push(item: Transition) {
    if (this.#items.length < this.capacity) this.#items.push(item);
    else this.#items[this.#at] = item;
    this.#at = (this.#at + 1) % this.capacity;
  }
  sample(indices: readonly number[]) {
    const picked = indices.map((i) => this.#items[i % this.#items.length]!);
    return {
      s: stack(picked.map(({ s }) => s)),
      a: tensor(picked.map(({ a }) => a)),
      r: tensor(picked.map(({ r }) => r), { dtype: "float32" }),
      next: stack(picked.map(({ next }) => next)),
      done: tensor(picked.map(({ done }) => Number(done)), { dtype: "float32" }),
    };
  }
  get length() {
    return this.#items.length;
  }
}

class LRU<K, V> {
  readonly #map = new Map<K, V>();
  hits = 0;
  constructor(readonly most: number) {}
  get(key: K, make: () => V): V {
    const found = this.#map.get(key);
    if (found !== undefined) {
      this.hits++;
      this.#map.delete(key);
      this.#map.set(key, found);
      return found;
    }
    const made = make();
    this.#map.set(key, made);
    if (this.#map.size > this.most) this.#map.delete(this.#map.keys().next().value!);
    return made;
  }
  keys() {
    return [...this.#map.keys()];
  }
}

interface Tree {
  readonly word?: number;
  readonly children?: readonly Tree[];
}

class TreeLstm extends nn.Module {
  readonly embed: nn.Embedding;
  readonly iou: nn.Linear;
  readonly uiou: nn.Linear;
  readonly wf: nn.Linear;
  readonly uf: nn.Linear;
  constructor(words: number, readonly size: number) {
    super();
    this.embed = new nn.Embedding(words, size);
    this.iou = new nn.Linear(size, 3 * size);
    this.uiou = new nn.Linear(size, 3 * size, { bias: false });
    this.wf = new nn.Linear(size, size);
    this.uf = new nn.Linear(size, size, { bias: false });
  }
  node({ word, children = [] }: Tree): { h: Tensor; c: Tensor } {
    const x = word === undefined ? zeros([this.size]) : this.embed.call(tensor(word));
    const below = children.map((child) => this.node(child));
    const sum = below.reduce((a, { h }) => a.add(h), zeros([this.size]));
    const [i, o, u] = this.iou.call(x).add(this.uiou.call(sum)).chunk(3) as [Tensor, Tensor, Tensor];
    const c = below.reduce(
      (a, { h, c }) => a.add(this.wf.call(x).add(this.uf.call(h)).sigmoid().mul(c)),
      i.sigmoid().mul(u.tanh()),
    );
    return { h: o.sigmoid().mul(c.tanh()), c };
  }
  override forward(tree: Tree): Tensor {
    return this.node(tree).h;
  }
}

export const programs: Readonly<Record<string, Program>> = {
  "listeners come and go"({ compile, see }) {
    const bus = new Emitter();
    const log: unknown[] = [];
    const off = bus.on("batch", (k, loss) => log.push([k, loss?.shape.length]));
    bus.once("batch", (k) => log.push(`first ${k}`));
    bus.on("end", () => log.push("end"));
    let k = 0;
    const step = compile((x: Tensor) => {
      const loss = x.square().mean();
      const heard = bus.emit("batch", k++, loss);
      if (k % 2 === 0) bus.emit("end", k, null);
      return { loss, heard };
    });
    for (let i = 0; i < 4; i++) {
      see(step(ones([2]).mul(i)));
      if (i === 2) off();
    }
    see(log);
  },
  "mixins wrap a layer"({ compile, see }) {
    const Both = timed(scaled(Affine));
    const layer = new Both(ones([2]).mul(3), ones([2]));
    const run = compile((x: Tensor) => layer.forward(x));
    see(run(ones([2])), run(ones([2]).mul(2)));
    layer.scale = 5;
    see(run(ones([2])), layer.calls, Both.name, layer instanceof Affine);
  },
  "a buffer of transitions is replayed"({ compile, see }) {
    manualSeed(1);
    const buffer = new ReplayBuffer(3), q = new nn.Linear(2, 2), target = new nn.Linear(2, 2);
    const learn = compile((indices: readonly number[], gamma: number) => {
      const { s, a, r, next, done } = buffer.sample(indices);
      const best = noGrad(() => target.call(next).amax(1));
      const wanted = r.add(best.mul(gamma).mul(done.neg().add(1)));
      const got = q.call(s).gather(1, a.unsqueeze(1)).squeeze(1);
      return nn.functional.smoothL1Loss(got, wanted);
    });
    for (let t = 0; t < 5; t++) {
      buffer.push({ s: randn([2]), a: t % 2, r: t, next: randn([2]), done: t === 4 });
      if (t >= 1) see(learn([t, t + 1], 0.9));
    }
    see(buffer.length);
  },
  "a cache forgets what is oldest"({ compile, see }) {
    const cache = new LRU<string, Tensor>(2);
    const positional = compile((x: Tensor, kind: "sin" | "cos" | "linear") => {
      const n = x.shape[0]!;
      const table = cache.get(`${kind}:${n}`, () => {
        const t = arange(n, { dtype: "float32" });
        return kind === "linear" ? t.div(n) : t[kind]();
      });
      return x.add(table);
    });
    for (
      const [n, kind] of [[2, "sin"], [3, "cos"], [2, "sin"], [4, "linear"], [3, "cos"], [
        4,
        "linear",
      ]] as const
    ) {
      see(positional(ones([n]), kind));
    }
    see(cache.keys(), cache.hits);
  },
  "a tree is read by a recursive cell"({ compile, see }) {
    manualSeed(1);
    const net = new TreeLstm(5, 3), f = compile((tree: Tree) => net.call(tree));
    const leaf = (word: number): Tree => ({ word });
    const a: Tree = { children: [leaf(1), { children: [leaf(2), leaf(3)] }] },
      b: Tree = { word: 4, children: [leaf(0)] };
    const loss = f(a).sum();
    loss.backward();
    see(loss, f(b), f({ children: [leaf(3), { children: [leaf(2), leaf(1)] }] }), net.embed.weight.grad);
  },
  "a proxy names parameters by their path"({ compile, see }) {
    const reads: string[] = [];
    const params: Record<string, Tensor> = {
      "enc.w": ones([2]),
      "enc.b": zeros([2]),
      "dec.w": ones([2]).mul(2),
    };
    interface Scope {
      readonly w: Tensor;
      readonly b: Tensor;
      readonly enc: Scope;
      readonly dec: Scope;
    }
    const scope = (prefix: string): Scope =>
      new Proxy({} as Scope, {
        get(_, key: string) {
          const path = prefix ? `${prefix}.${key}` : key;
          reads.push(path);
          return params[path] ?? scope(path);
        },
        has: (_, key: string) =>
          Object.keys(params).some((p) => p.startsWith(prefix ? `${prefix}.${key}` : key)),
      });
    const p = scope("");
    const run = compile((x: Tensor) => {
      const { w, b } = p.enc;
      const h = x.mul(w).add(b).relu();
      return "dec" in p ? h.mul(p.dec.w) : h;
    });
    see(run(ones([2])), run(ones([2]).neg()), reads);
  },
  "a history grows from nothing"({ compile, see }) {
    const history: Tensor[] = [];
    const attend = compile((x: Tensor) => {
      history.push(x);
      const keys = stack(history);
      const w = keys.matmul(x).softmax(0);
      return w.matmul(keys);
    });
    manualSeed(1);
    for (let k = 0; k < 12; k++) see(attend(randn([2])));
  },
};
