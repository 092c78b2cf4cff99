/** Functions with callbacks. */
import { manualSeed, nn, ones, randn, stack, type Tensor, tensor, zeros } from "../../mod.ts";
import type { Program } from "../../cli/fuzz/language/observation.ts";

type Layer = (x: Tensor) => Tensor;

export const programs: Readonly<Record<string, Program>> = {
  "layers are composed"({ compile, see }) {
    const compose = (...layers: readonly Layer[]): Layer => (x) => layers.reduce((y, layer) => layer(y), x);
    const f = compile(compose((x) => x.add(1), (x) => x.relu(), (x) => x.mul(3)));
    see(f(ones([2])), f(ones([2]).neg()));
  },
  "an activation is an argument"({ compile, see }) {
    const f = compile((x: Tensor, activation: Layer) => activation(x.mul(2)).sum());
    const relu: Layer = (x) => x.relu(), tanh: Layer = (x) => x.tanh();
    for (const each of [relu, tanh, relu]) see(f(tensor([-1, 2]), each));
  },
  "a fresh closure at each call"({ compile, see }) {
    const f = compile((x: Tensor, fn: Layer) => fn(x).add(1));
    for (const k of [1, 2, 3, 4]) see(f(ones([2]), (x) => x.mul(k)));
  },
  "observers are told of each layer"({ compile, see }) {
    const seen: string[] = [];
    const f = compile((x: Tensor, observe: (name: string, shape: readonly number[]) => void) => {
      let y = x;
      for (const name of ["first", "second"]) {
        y = y.mul(2).add(1);
        observe(name, y.shape);
      }
      return y;
    });
    for (const k of [1, 2]) see(f(ones([k + 1]), (name, shape) => seen.push(`${name} ${shape}`)));
    see(seen);
  },
  "a method is handed on, bound"({ compile, see }) {
    class Scaler {
      constructor(readonly by: number) {}
      scale(x: Tensor) {
        return x.mul(this.by);
      }
    }
    const f = compile((x: Tensor, fn: Layer) => fn(fn(x)));
    const two = new Scaler(2), three = new Scaler(3);
    see(f(ones([1]), two.scale.bind(two)), f(ones([1]), (x) => three.scale(x)));
  },
  "lists are mapped, filtered and folded"({ compile, see }) {
    const f = compile((xs: readonly Tensor[], keep: (k: number) => boolean) =>
      xs.map((x, k) => [k, x.square()] as const).filter(([k]) => keep(k)).reduce(
        (s, [k, x]) => s.add(x.mul(k)),
        zeros([2]),
      )
    );
    const xs = [1, 2, 3, 4].map((k) => ones([2]).mul(k));
    see(f(xs, (k) => k % 2 === 1), f(xs, (k) => k > 1));
  },
  "a loss is chosen by name"({ compile, see }) {
    const losses: Record<string, (a: Tensor, b: Tensor) => Tensor> = {
      l1: (a, b) => a.sub(b).abs().mean(),
      l2: (a, b) => a.sub(b).square().mean(),
    };
    const f = compile((a: Tensor, b: Tensor, name: string) => {
      const loss = losses[name];
      if (!loss) throw new TypeError(`no loss ${name}`);
      return loss(a, b);
    });
    for (const name of ["l1", "l2", "l1"]) {
      see(f(tensor([1, 2], { dtype: "float32" }), tensor([3, 5], { dtype: "float32" }), name));
    }
  },
  "a step is decorated"({ compile, see }) {
    const counted = <A extends unknown[], R>(fn: (...args: A) => R) => {
      let calls = 0;
      return { fn: (...args: A): R => (calls++, fn(...args)), calls: () => calls };
    };
    const { fn, calls } = counted((x: Tensor, y: Tensor) => x.matmul(y));
    const f = compile((x: Tensor) => fn(x, fn(x, x)));
    see(f(ones([2, 2])), f(ones([2, 2])), calls());
  },
  "a gradient is clipped by a hook"({ compile, see }) {
    manualSeed(1);
    const layer = new nn.Linear(2, 1);
    layer.weight.registerHook((g) => g.clamp(-0.1, 0.1));
    const step = compile((x: Tensor) => {
      layer.zeroGrad();
      const loss = layer.call(x).square().sum();
      loss.backward();
      return [loss.detach(), layer.weight.grad!.clone()];
    });
    see(step(randn([3, 2])), step(randn([3, 2])));
  },
  "a generator hands out what is computed"({ compile, see }) {
    const f = compile((x: Tensor, count: number) => {
      function* halves() {
        for (let y = x, k = 0; k < count; k++) yield y = y.div(2);
      }
      return stack([...halves()]);
    });
    see(f(ones([2]), 3), f(ones([2]).mul(8), 3));
  },
};
