/**
 * Mixtral (Jiang et al. 2024) as transformers writes it: root mean square norms, rotary positions, keys and values
 * shared by groups of heads, a sliding window, and a feed-forward part of which a router chooses two experts for each
 * token; a loop over experts gathers their tokens and adds their outputs back. Embedding and head share their weight;
 * AdamW, clipped gradients, a loss that balances the experts.
 */
import { arange, cat, full, nn, ones, optim, outer, type Tensor, tensor, zeros } from "../../../mod.ts";
import type { Specimen } from "../specimen.ts";

const F = nn.functional;

class RMSNorm extends nn.Module {
  readonly weight: nn.Parameter;

  constructor(dim: number, readonly eps = 1e-5) {
    super();
    this.weight = new nn.Parameter(ones([dim]));
  }

  override forward(x: Tensor): Tensor {
    const variance = x.pow(2).mean(-1, { keepdim: true });
    return this.weight.mul(x.mul(variance.add(this.eps).rsqrt()));
  }
}

function rotateHalf(x: Tensor): Tensor {
  const half = Math.floor(x.size(-1) / 2);
  return cat([x.at("...", { start: half }).neg(), x.at("...", { stop: half })], { dim: -1 });
}

/** Repeats heads of keys or values for the queries that share them: [B, kv, T, D] → [B, kv · n, T, D]. */
function repeatKv(hidden: Tensor, n: number): Tensor {
  const [B = 1, kv = 1, T = 1, D = 1] = hidden.shape;
  if (n === 1) return hidden;
  return hidden.at(":", ":", null, ":", ":").expand(B, kv, n, T, D).reshape(B, kv * n, T, D);
}

class Attention extends nn.Module {
  readonly headDim: number;
  readonly q_proj: nn.Linear;
  readonly k_proj: nn.Linear;
  readonly v_proj: nn.Linear;
  readonly o_proj: nn.Linear;

  constructor(dim: number, readonly heads: number, readonly kvHeads: number) {
    super();
    const headDim = this.headDim = dim / heads;
    this.q_proj = new nn.Linear(dim, heads * headDim, { bias: false });
    this.k_proj = new nn.Linear(dim, kvHeads * headDim, { bias: false });
    this.v_proj = new nn.Linear(dim, kvHeads * headDim, { bias: false });
    this.o_proj = new nn.Linear(heads * headDim, dim, { bias: false });
  }

  override forward(x: Tensor, [cos, sin]: readonly [Tensor, Tensor], mask: Tensor): Tensor {
    const [B = 1, T = 1] = x.shape;
    let q = this.q_proj.call(x).view(B, T, -1, this.headDim).transpose(1, 2);
    let k = this.k_proj.call(x).view(B, T, -1, this.headDim).transpose(1, 2);
    let v = this.v_proj.call(x).view(B, T, -1, this.headDim).transpose(1, 2);
    [q, k] = [q, k].map((x) => x.mul(cos).add(rotateHalf(x).mul(sin))) as [Tensor, Tensor];
    k = repeatKv(k, this.heads / this.kvHeads);
    v = repeatKv(v, this.heads / this.kvHeads);
    const weights = F.softmax(q.matmul(k.transpose(2, 3)).div(Math.sqrt(this.headDim)).add(mask), {
      dim: -1,
    });
    return this.o_proj.call(weights.matmul(v).transpose(1, 2).reshape(B, T, -1));
  }
}

class Expert extends nn.Module {
  readonly w1: nn.Linear;
  readonly w2: nn.Linear;
  readonly w3: nn.Linear;

  constructor(dim: number, hidden: number) {
    super();
    this.w1 = new nn.Linear(dim, hidden, { bias: false });
    this.w2 = new nn.Linear(hidden, dim, { bias: false });
    this.w3 = new nn.Linear(dim, hidden, { bias: false });
  }

  override forward(x: Tensor): Tensor {
    return this.w2.call(F.silu(this.w1.call(x)).mul(this.w3.call(x)));
  }
}

class SparseMoe extends nn.Module {
  readonly gate: nn.Linear;
  readonly experts: nn.ModuleList<Expert>;

  constructor(dim: number, readonly count: number) {
    super();
    this.gate = new nn.Linear(dim, count, { bias: false });
    this.experts = new nn.ModuleList(Array.from({ length: count }, () => new Expert(dim, 2 * dim)));
  }

  override forward(hidden: Tensor): readonly [Tensor, Tensor] {
    const [B = 1, T = 1, D = 1] = hidden.shape;
    hidden = hidden.view(-1, D);
    const logits = this.gate.call(hidden);
    let [weights, selected] = F.softmax(logits, { dim: 1 }).topk(2, { dim: -1 });
    weights = weights.div(weights.sum(-1, { keepdim: true }));
    const final = zeros([B * T, D], { dtype: hidden.dtype, device: hidden.device });
    const mask = F.oneHot(selected, this.count).permute(2, 1, 0);
    for (const [i, expert] of this.experts.entries()) {
      const [idx, top] = mask.at(i).nonzero({ asTuple: true });
      if (!idx || !top) throw new Error("Two dimensions");
      const state = hidden.at(null, top).reshape(-1, D);
      final.indexAdd_(0, top, expert.call(state).mul(weights.at(top, idx, null)));
    }
    return [final.reshape(B, T, D), logits];
  }
}

class Layer extends nn.Module {
  readonly self_attn: Attention;
  readonly block_sparse_moe: SparseMoe;
  readonly input_layernorm: RMSNorm;
  readonly post_attention_layernorm: RMSNorm;

  constructor(dim: number) {
    super();
    this.self_attn = new Attention(dim, 4, 2);
    this.block_sparse_moe = new SparseMoe(dim, 3);
    this.input_layernorm = new RMSNorm(dim);
    this.post_attention_layernorm = new RMSNorm(dim);
  }

  override forward(x: Tensor, positions: readonly [Tensor, Tensor], mask: Tensor): readonly [Tensor, Tensor] {
    x = x.add(this.self_attn.call(this.input_layernorm.call(x), positions, mask));
    const [hidden, logits] = this.block_sparse_moe.call(this.post_attention_layernorm.call(x));
    return [x.add(hidden), logits];
  }
}

class Mixtral extends nn.Module {
  readonly embed_tokens: nn.Embedding;
  readonly layers: nn.ModuleList<Layer>;
  readonly norm: RMSNorm;
  readonly lm_head: nn.Linear;
  declare inv_freq: Tensor;

  constructor(vocabulary: number, dim: number, readonly window: number) {
    super();
    this.embed_tokens = new nn.Embedding(vocabulary, dim);
    this.layers = new nn.ModuleList([new Layer(dim), new Layer(dim)]);
    this.norm = new RMSNorm(dim);
    this.lm_head = new nn.Linear(dim, vocabulary, { bias: false });
    this.lm_head.weight = this.embed_tokens.weight;
    const exponents = arange(0, dim / 4, 2, { dtype: "float32" }).div(dim / 4);
    this.registerBuffer("inv_freq", tensor(10000).pow(exponents).reciprocal(), { persistent: false });
  }

  override forward(tokens: Tensor): readonly [Tensor, Tensor] {
    const T = tokens.size(1);
    let x = this.embed_tokens.call(tokens);
    const freqs = outer(arange(T, { dtype: x.dtype, device: x.device }), this.inv_freq);
    const angles = cat([freqs, freqs], -1);
    const causal = full([T, T], -Infinity, { dtype: x.dtype, device: x.device }).triu(1);
    const before = ones([T, T], { dtype: "bool", device: x.device }).tril(-this.window);
    const mask = causal.maskedFill(before, -Infinity), routes: Tensor[] = [];
    for (const layer of this.layers) {
      const [hidden, logits] = layer.call(x, [angles.cos(), angles.sin()], mask);
      x = hidden;
      routes.push(logits);
    }
    return [this.lm_head.call(this.norm.call(x)), cat(routes)];
  }
}

/** Grows with the share of tokens that the router sends to its favourites. */
function balancingLoss(logits: Tensor, count: number): Tensor {
  const weights = F.softmax(logits, -1), [, selected] = weights.topk(2, -1);
  const perExpert = F.oneHot(selected, count).to(weights.dtype).mean(0);
  return perExpert.mul(weights.mean(0).unsqueeze(0)).sum().mul(count);
}

export const mixtral: Specimen = {
  name: "mixtral",
  make() {
    const model = new Mixtral(16, 8, 4);
    const lossOf = (tokens: Tensor) => {
      const [logits, routes] = model.call(tokens);
      const shifted = logits.at("...", ":-1", ":").reshape(-1, 16),
        labels = tokens.at("...", "1:").reshape(-1);
      return F.crossEntropy(shifted, labels).add(balancingLoss(routes, 3).mul(0.02));
    };
    const train = () => {
      const optimizer = new optim.AdamW(model.parameters(), { lr: 0.01, weightDecay: 0.1 });
      const step = (tokens: Tensor) => {
        const loss = lossOf(tokens);
        loss.backward();
        nn.utils.clipGradNorm_(model.parameters(), 1);
        optimizer.step();
        optimizer.zeroGrad();
        return loss.detach();
      };
      return { step };
    };
    return { model, forward: (tokens) => model.call(tokens)[0], loss: lossOf, train };
  },
  counts: {
    forward: { graphs: 6, breaks: 1, recompiles: 4 },
    loss: { graphs: 6, breaks: 1, recompiles: 4 },
    step: { graphs: 7, breaks: 2, recompiles: 4 },
  },
};
