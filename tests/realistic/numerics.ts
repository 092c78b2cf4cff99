/** Methods of numerical mathematics. */
import {
  arange,
  autograd,
  eye,
  linspace,
  manualSeed,
  noGrad,
  ones,
  randn,
  stack,
  type Tensor,
  tensor,
  where,
  zeros,
} from "../../mod.ts";
import type { Program } from "../../cli/fuzz/language/observation.ts";

const f64 = (values: number[] | number[][]): Tensor => tensor(values, { dtype: "float64" });

export const programs: Readonly<Record<string, Program>> = {
  "Newton's method, a fixed number of steps"({ compile, see }) {
    const root = compile((a: Tensor) => {
      let x = a.div(2).add(0.5);
      for (let k = 0; k < 6; k++) x = x.add(a.div(x)).div(2);
      return x;
    });
    see(root(f64([2, 9])), root(f64([5, 7])));
  },
  "steps until nothing changes"({ compile, see }) {
    const solve = compile((a: Tensor, limit: number) => {
      let x = zeros([2], { dtype: "float64" }), steps = 0;
      for (; steps < 20; steps++) {
        const next = a.sub(x.cos()).mul(0.5);
        const moved = Number(next.sub(x).abs().max().item());
        x = next;
        if (moved < limit) break;
      }
      return { x, steps };
    });
    see(solve(f64([1, 2]), 1e-3));
  },
  "Runge and Kutta"({ compile, see }) {
    const integrate = compile(
      (y0: Tensor, field: (t: number, y: Tensor) => Tensor, h: number, steps: number) => {
        let y = y0;
        for (let k = 0; k < steps; k++) {
          const t = k * h;
          const k1 = field(t, y), k2 = field(t + h / 2, y.add(k1.mul(h / 2)));
          const k3 = field(t + h / 2, y.add(k2.mul(h / 2))), k4 = field(t + h, y.add(k3.mul(h)));
          y = y.add(k1.add(k2.mul(2)).add(k3.mul(2)).add(k4).mul(h / 6));
        }
        return y;
      },
    );
    see(integrate(f64([1, 0]), (_, y) => stack([y.at(1), y.at(0).neg()]), 0.1, 4));
  },
  "the power method"({ compile, see }) {
    const dominant = compile((m: Tensor) => {
      let v = ones([m.shape[0]!], { dtype: "float64" });
      for (let k = 0; k < 8; k++) {
        v = m.matmul(v);
        v = v.div(v.square().sum().sqrt());
      }
      return { vector: v, value: v.matmul(m.matmul(v)) };
    });
    see(dominant(f64([[2, 1], [1, 3]])));
  },
  "conjugate gradients"({ compile, see }) {
    const solve = compile((a: Tensor, b: Tensor, steps: number) => {
      let x = zeros([...b.shape], { dtype: "float64" }), r = b, p = r;
      for (let k = 0; k < steps; k++) {
        const ap = a.matmul(p), rr = r.matmul(r), alpha = rr.div(p.matmul(ap).add(1e-30));
        x = x.add(p.mul(alpha));
        const next = r.sub(ap.mul(alpha));
        p = next.add(p.mul(next.matmul(next).div(rr.add(1e-30))));
        r = next;
      }
      return x;
    });
    see(solve(f64([[4, 1], [1, 3]]), f64([1, 2]), 2));
  },
  "Sinkhorn's balance"({ compile, see }) {
    const balance = compile((cost: Tensor, steps: number) => {
      let log = cost.neg();
      for (let k = 0; k < steps; k++) {
        log = log.sub(log.logsumexp(1, true));
        log = log.sub(log.logsumexp(0, true));
      }
      return log.exp();
    });
    manualSeed(1);
    see(balance(randn([3, 3]).abs(), 5));
  },
  "heat on a rod"({ compile, see }) {
    const step = compile((u: Tensor, k: number) => {
      const inner = u.at("1:-1"), left = u.at(":-2"), right = u.at("2:");
      const next = u.clone();
      next.at("1:-1").copy_(inner.add(left.add(right).sub(inner.mul(2)).mul(k)));
      return next;
    });
    let u = where(arange(8).eq(3), tensor(1, { dtype: "float32" }), tensor(0, { dtype: "float32" }));
    for (let t = 0; t < 3; t++) see(u = step(u, 0.2));
  },
  "a filter by recursion"({ compile, see }) {
    const smooth = compile((x: Tensor, a: number) => {
      const out: Tensor[] = [];
      let state = x.at(0);
      for (const each of x.unbind()) out.push(state = state.mul(1 - a).add(each.mul(a)));
      return stack(out);
    });
    see(smooth(linspace(0, 1, 5), 0.3), smooth(linspace(1, 0, 5), 0.3));
  },
  "a gradient inside of a step"({ compile, see }) {
    const descend = compile((x0: Tensor, rate: number) => {
      let x = x0;
      for (let k = 0; k < 3; k++) {
        const y = x.detach().requiresGrad_();
        const [slope] = autograd.grad(y.pow(4).sum(), [y]);
        x = noGrad(() => y.sub(slope!.mul(rate)));
      }
      return x;
    });
    see(descend(f64([1, -2]), 0.01));
  },
  "Gram and Schmidt"({ compile, see }) {
    const orthogonal = compile((m: Tensor) => {
      const basis: Tensor[] = [];
      for (const v of m.unbind()) {
        const rest = basis.reduce((w, b) => w.sub(b.mul(w.matmul(b))), v);
        basis.push(rest.div(rest.square().sum().sqrt()));
      }
      const q = stack(basis);
      return { q, error: q.matmul(q.t()).sub(eye(m.shape[0]!, { dtype: "float64" })).abs().max() };
    });
    see(orthogonal(f64([[1, 1, 0], [1, 0, 1], [0, 1, 1]])).q);
  },
};
