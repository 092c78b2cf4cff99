/** Layers as papers and libraries write them. */
import {
  cat,
  einsum,
  manualSeed,
  nn,
  ones,
  randn,
  stack,
  type Tensor,
  tensor,
  where,
  zerosLike,
} from "../../mod.ts";
import type { Program } from "../../cli/fuzz/language/observation.ts";

export const programs: Readonly<Record<string, Program>> = {
  "attention of several heads"({ compile, see }) {
    manualSeed(1);
    const qkv = new nn.Linear(4, 12), out = new nn.Linear(4, 4);
    const attend = compile((x: Tensor, heads: number, causal: boolean) => {
      const [b, t, c] = x.shape as [number, number, number];
      const split = (y: Tensor) => y.reshape(b, t, heads, c / heads).transpose(1, 2);
      const [q, k, v] = qkv.call(x).chunk(3, -1).map(split) as [Tensor, Tensor, Tensor];
      let scores = q.matmul(k.transpose(-2, -1)).div(Math.sqrt(c / heads));
      if (causal) scores = scores.maskedFill(ones([t, t]).triu(1).to("bool"), -Infinity);
      return out.call(scores.softmax(-1).matmul(v).transpose(1, 2).reshape(b, t, c));
    });
    see(attend(randn([1, 3, 4]), 2, true), attend(randn([1, 3, 4]), 2, false));
  },
  "a residual block with a shortcut"({ compile, see }) {
    manualSeed(2);
    const first = new nn.Conv2d(2, 4, 3, { stride: 2, padding: 1 }),
      short = new nn.Conv2d(2, 4, 1, { stride: 2 });
    const f = compile((x: Tensor) => {
      let out = first.call(x).relu();
      const identity = x.shape[1] === out.shape[1] ? x : short.call(x);
      out = out.add_(identity);
      return out.relu_();
    });
    see(f(randn([1, 2, 4, 4])));
  },
  "experts by the best scores"({ compile, see }) {
    manualSeed(3);
    const experts = [0, 1, 2].map(() => new nn.Linear(3, 3)), gate = new nn.Linear(3, 3);
    const f = compile((x: Tensor) => {
      const [weights, chosen] = gate.call(x).softmax(-1).topk(2, -1);
      let out = zerosLike(x);
      experts.forEach((expert, k) => {
        const share = where(chosen.eq(k), weights, 0).sum(-1, true);
        out = out.add(expert.call(x).mul(share));
      });
      return out;
    });
    see(f(randn([4, 3])));
  },
  "a mean over what is not padded"({ compile, see }) {
    const f = compile((x: Tensor, mask: Tensor) => {
      const m = mask.unsqueeze(-1).to(x.dtype);
      return x.mul(m).sum(1).div(m.sum(1).clamp({ min: 1e-6 }));
    });
    manualSeed(4);
    see(f(randn([2, 3, 2]), tensor([[1, 1, 0], [1, 0, 0]])));
  },
  "a linear layer of low rank beside a frozen one"({ compile, see }) {
    manualSeed(5);
    const base = new nn.Linear(3, 3),
      a = randn([3, 1], { requiresGrad: true }),
      b = randn([1, 3], { requiresGrad: true });
    base.requiresGrad_(false);
    const f = compile((x: Tensor, scale: number) => {
      const y = base.call(x).add(x.matmul(a).matmul(b).mul(scale));
      y.square().mean().backward();
      return y.detach();
    });
    see(f(randn([2, 3]), 0.5), a.grad, b.grad);
  },
  "a unit with a gate"({ compile, see }) {
    manualSeed(6);
    const up = new nn.Linear(3, 8), down = new nn.Linear(4, 3);
    const f = compile((x: Tensor) => {
      const [gate, value] = up.call(x).chunk(2, -1) as [Tensor, Tensor];
      return x.add(down.call(nn.functional.silu(gate).mul(value)));
    });
    see(f(randn([2, 3])));
  },
  "messages between nodes"({ compile, see }) {
    manualSeed(7);
    const linear = new nn.Linear(2, 2);
    const f = compile((x: Tensor, from: Tensor, to: Tensor) => {
      const messages = linear.call(x).indexSelect(0, from).relu();
      const degree = zerosLike(x.select(1, 0)).indexAdd(0, to, ones([to.shape[0]!])).clamp({ min: 1 });
      return zerosLike(x).indexAdd(0, to, messages).div(degree.unsqueeze(1));
    });
    see(f(randn([3, 2]), tensor([0, 1, 2, 0]), tensor([1, 2, 0, 2])));
  },
  "a stack whose depth is dropped"({ compile, see }) {
    manualSeed(8);
    const blocks = [0, 1, 2].map(() => new nn.Linear(2, 2));
    const f = compile((x: Tensor, kept: readonly boolean[]) =>
      blocks.reduce((y, block, k) => kept[k] ? y.add(block.call(y).tanh()) : y, x)
    );
    const x = randn([1, 2]);
    see(f(x, [true, true, true]), f(x, [true, false, true]));
  },
  "a capsule of einsum"({ compile, see }) {
    const f = compile((u: Tensor, w: Tensor) => {
      const votes = einsum("bic,ijcd->bijd", u, w);
      let logits = zerosLike(votes.select(-1, 0));
      let v = votes.mean(1);
      for (let k = 0; k < 2; k++) {
        v = einsum("bij,bijd->bjd", logits.softmax(2), votes);
        v = v.div(v.square().sum(-1, true).add(1).sqrt());
        logits = logits.add(einsum("bijd,bjd->bij", votes, v));
      }
      return v;
    });
    manualSeed(9);
    see(f(randn([1, 2, 3]), randn([2, 2, 3, 2])));
  },
  "features at several scales"({ compile, see }) {
    manualSeed(10);
    const conv = new nn.Conv2d(1, 2, 3, { padding: 1 });
    const f = compile((x: Tensor, scales: readonly number[]) =>
      cat(
        scales.map((s) => {
          const small = s === 1 ? x : nn.functional.avgPool2d(x, s);
          return conv.call(small).amax([2, 3]);
        }),
        1,
      )
    );
    see(f(randn([1, 1, 4, 4]), [1, 2, 4]), stack([ones([1])]));
  },
};
