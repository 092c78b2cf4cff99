/**
 * Mamba (Gu and Dao 2023) as in John Ma's minimal port: a causal depthwise convolution, step sizes and matrices that
 * depend on the input, a scan written as a loop over positions, a gate; embedding and head share their weight; AdamW.
 */
import { arange, einsum, exp, log, nn, ones, optim, stack, type Tensor, zeros } from "../../../mod.ts";
import { ONE, type Specimen } from "../specimen.ts";

const F = nn.functional;

class RMSNorm extends nn.Module {
  readonly weight: nn.Parameter;

  constructor(dim: number) {
    super();
    this.weight = new nn.Parameter(ones(dim));
  }

  override forward(x: Tensor): Tensor {
    return x.mul(x.pow(2).mean(-1, { keepdim: true }).add(1e-5).rsqrt()).mul(this.weight);
  }
}

class MambaBlock extends nn.Module {
  readonly inner: number;
  readonly in_proj: nn.Linear;
  readonly conv1d: nn.Conv1d;
  readonly x_proj: nn.Linear;
  readonly dt_proj: nn.Linear;
  readonly A_log: nn.Parameter;
  readonly D: nn.Parameter;
  readonly out_proj: nn.Linear;

  constructor(dim: number, readonly state: number, readonly rank: number, conv: number) {
    super();
    const inner = this.inner = 2 * dim;
    this.in_proj = new nn.Linear(dim, 2 * inner, { bias: false });
    this.conv1d = new nn.Conv1d(inner, inner, conv, { groups: inner, padding: conv - 1 });
    this.x_proj = new nn.Linear(inner, rank + 2 * state, { bias: false });
    this.dt_proj = new nn.Linear(rank, inner);
    this.A_log = new nn.Parameter(log(arange(1, state + 1, { dtype: "float32" }).repeat(inner, 1)));
    this.D = new nn.Parameter(ones(inner));
    this.out_proj = new nn.Linear(inner, dim, { bias: false });
  }

  override forward(input: Tensor): Tensor {
    const L = input.size(1);
    let [x, res] = this.in_proj.call(input).split([this.inner, this.inner], { dim: -1 }) as [Tensor, Tensor];
    x = this.conv1d.call(x.transpose(1, 2)).at(":", ":", { stop: L }).transpose(1, 2);
    x = F.silu(x);
    const y = this.ssm(x).mul(F.silu(res));
    return this.out_proj.call(y);
  }

  private ssm(x: Tensor): Tensor {
    const A = exp(this.A_log).neg();
    const sizes = [this.rank, this.state, this.state];
    let [delta, B, C] = this.x_proj.call(x).split(sizes, -1) as [Tensor, Tensor, Tensor];
    delta = F.softplus(this.dt_proj.call(delta));
    return this.selectiveScan(x, delta, A, [B, C]).add(x.mul(this.D));
  }

  private selectiveScan(u: Tensor, delta: Tensor, A: Tensor, [B, C]: readonly [Tensor, Tensor]): Tensor {
    const [batch = 1, L = 1, inner = 1] = u.shape;
    const deltaA = exp(einsum("bld,dn->bldn", delta, A));
    const deltaBu = einsum("bld,bln,bld->bldn", delta, B, u);
    let x = zeros([batch, inner, this.state], { dtype: u.dtype, device: u.device });
    const ys: Tensor[] = [];
    for (let i = 0; i < L; i++) {
      x = deltaA.at(":", i).mul(x).add(deltaBu.at(":", i));
      ys.push(einsum("bdn,bn->bd", x, C.at(":", i, ":")));
    }
    return stack(ys, 1);
  }
}

class ResidualBlock extends nn.Module {
  readonly mixer: MambaBlock;
  readonly norm: RMSNorm;

  constructor(dim: number) {
    super();
    this.mixer = new MambaBlock(dim, 4, 2, 4);
    this.norm = new RMSNorm(dim);
  }

  override forward(x: Tensor): Tensor {
    return this.mixer.call(this.norm.call(x)).add(x);
  }
}

class Mamba extends nn.Module {
  readonly embedding: nn.Embedding;
  readonly layers: nn.ModuleList<ResidualBlock>;
  readonly norm_f: RMSNorm;
  readonly lm_head: nn.Linear;

  constructor(vocabulary: number, dim: number) {
    super();
    this.embedding = new nn.Embedding(vocabulary, dim);
    this.layers = new nn.ModuleList([new ResidualBlock(dim), new ResidualBlock(dim)]);
    this.norm_f = new RMSNorm(dim);
    this.lm_head = new nn.Linear(dim, vocabulary, { bias: false });
    this.lm_head.weight = this.embedding.weight;
  }

  override forward(tokens: Tensor): Tensor {
    let x = this.embedding.call(tokens);
    for (const layer of this.layers) x = layer.call(x);
    return this.lm_head.call(this.norm_f.call(x));
  }
}

export const mamba: Specimen = {
  name: "mamba",
  make() {
    const model = new Mamba(16, 6);
    const lossOf = (tokens: Tensor) =>
      F.crossEntropy(model.call(tokens).at(":", ":-1").reshape(-1, 16), tokens.at(":", "1:").reshape(-1));
    const train = () => {
      const optimizer = new optim.AdamW(model.parameters(), {
        lr: 0.01,
        weightDecay: 0.1,
        betas: [0.9, 0.95],
      });
      const step = (tokens: Tensor) => {
        optimizer.zeroGrad();
        const loss = lossOf(tokens);
        loss.backward();
        nn.utils.clipGradNorm_(model.parameters(), 1.0);
        optimizer.step();
        return loss.detach();
      };
      return { step };
    };
    return { model, forward: (tokens) => model.call(tokens), loss: lossOf, train };
  },
  counts: { forward: ONE, loss: ONE, step: ONE },
};
