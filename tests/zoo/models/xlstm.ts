/**
 * xLSTM (Beck et al. 2024) as in NX-AI's code: a memory of matrices computed in parallel from stabilised logarithms of
 * its gates, and a recurrent one of scalars with exponential gates and heads of their own; the decay of weights by
 * groups of parameters, clipped gradients.
 */
import {
  cat,
  cumsum,
  einsum,
  exp,
  linspace,
  max,
  maximum,
  nn,
  noGrad,
  ones,
  optim,
  randn,
  sigmoid,
  stack,
  tanh,
  type Tensor,
  tril,
  where,
  zeros,
} from "../../../mod.ts";
import { ONE, type Specimen } from "../specimen.ts";

const F = nn.functional;

/** Keys and values weighted by gates: [B, H, T, D] of queries, keys and values, [B, H, T, 1] of the gates. */
function parallelStabilized(
  { queries, keys, values }: Readonly<Record<"queries" | "keys" | "values", Tensor>>,
  igatePreact: Tensor,
  fgatePreact: Tensor,
): Tensor {
  const [B = 1, H = 1, T = 1, D = 1] = queries.shape, { dtype, device } = queries;
  const ltr = tril(ones([T, T], { dtype: "bool", device }));
  const logFgates = F.logsigmoid(fgatePreact);
  const sums = cat([zeros([B, H, 1, 1], { dtype, device }), cumsum(logFgates, { dim: -2 })], { dim: -2 });
  const repeated = sums.repeat(1, 1, 1, T + 1);
  const between = repeated.sub(repeated.transpose(-2, -1)).at(":", ":", "1:", "1:");
  const logD = where(ltr, between, -Infinity).add(igatePreact.transpose(-2, -1));
  const [maxLogD] = max(logD, { dim: -1, keepdim: true });
  const combined = queries.matmul(keys.div(Math.sqrt(D)).transpose(-2, -1)).mul(exp(logD.sub(maxLogD)));
  const normalizer = maximum(combined.sum(-1, { keepdim: true }).abs(), exp(maxLogD.neg()));
  return combined.div(normalizer.add(1e-6)).matmul(values);
}

class MLSTMCell extends nn.Module {
  readonly qkv: nn.Linear;
  readonly igate: nn.Linear;
  readonly fgate: nn.Linear;
  readonly ogate: nn.Linear;
  readonly outnorm: nn.GroupNorm;

  constructor(readonly dim: number, readonly heads: number) {
    super();
    this.qkv = new nn.Linear(dim, 3 * dim);
    this.igate = new nn.Linear(dim, heads);
    this.fgate = new nn.Linear(dim, heads);
    this.ogate = new nn.Linear(dim, dim);
    this.outnorm = new nn.GroupNorm(heads, dim);
    nn.init.zeros_(this.fgate.weight);
    const { bias } = this.fgate;
    if (bias) noGrad(() => bias.copy_(linspace(3, 6, heads)));
    nn.init.normal_(this.igate.weight, { mean: 0, std: 0.1 });
  }

  override forward(x: Tensor): Tensor {
    const [B = 1, T = 1] = x.shape;
    const [queries, keys, values] = this.qkv.call(x).view(B, T, 3, this.heads, -1).permute(2, 0, 3, 1, 4)
      .unbind(0);
    const gate = (linear: nn.Linear) => linear.call(x).transpose(-1, -2).unsqueeze(-1);
    if (!queries || !keys || !values) return x;
    const hidden = parallelStabilized({ queries, keys, values }, gate(this.igate), gate(this.fgate));
    const flat = hidden.transpose(1, 2).reshape(B * T, this.dim);
    return this.outnorm.call(flat).view(B, T, this.dim).mul(sigmoid(this.ogate.call(x)));
  }
}

class SLSTMCell extends nn.Module {
  readonly input: nn.Linear;
  readonly recurrent_kernel: nn.Parameter;

  constructor(readonly dim: number, readonly heads: number) {
    super();
    const size = dim / heads;
    this.input = new nn.Linear(dim, 4 * dim);
    this.recurrent_kernel = new nn.Parameter(randn(heads, size, 4 * size).mul(0.2));
  }

  override forward(x: Tensor): Tensor {
    const [B = 1, T = 1] = x.shape, size = this.dim / this.heads;
    const gates = this.input.call(x).view(B, T, this.heads, 4 * size);
    const start = () => zeros([B, this.heads, size], { dtype: x.dtype, device: x.device });
    let [h, c, n, m] = [start(), start(), start(), start()];
    const states: Tensor[] = [];
    for (let t = 0; t < T; t++) {
      const raw = gates.at(":", t).add(einsum("bhd,hde->bhe", h, this.recurrent_kernel));
      const [i, f, z, o] = raw.split(size, { dim: -1 });
      if (!i || !f || !z || !o) break;
      const logFplusM = F.logsigmoid(f).add(m);
      const mNew = t === 0 ? i : max(i, logFplusM);
      const igate = exp(i.sub(mNew)), fgate = exp(logFplusM.sub(mNew));
      c = fgate.mul(c).add(igate.mul(tanh(z)));
      n = fgate.mul(n).add(igate);
      h = sigmoid(o).mul(c).div(n);
      m = mNew;
      states.push(h.flatten(1));
    }
    return stack(states, { dim: 1 });
  }
}

class Block extends nn.Module {
  readonly xlstm_norm: nn.LayerNorm;
  readonly dropout: nn.Dropout;

  constructor(dim: number, readonly xlstm: MLSTMCell | SLSTMCell, drop: number) {
    super();
    this.xlstm_norm = new nn.LayerNorm(dim, { bias: false });
    this.dropout = new nn.Dropout(drop);
  }

  override forward(x: Tensor): Tensor {
    return x.add(this.dropout.call(this.xlstm.call(this.xlstm_norm.call(x))));
  }
}

class XLSTMLanguageModel extends nn.Module {
  readonly token_embedding: nn.Embedding;
  readonly blocks: nn.ModuleList<Block>;
  readonly post_blocks_norm: nn.LayerNorm;
  readonly lm_head: nn.Linear;

  constructor(vocabulary: number, dim: number, drop: number) {
    super();
    this.token_embedding = new nn.Embedding(vocabulary, dim);
    const slstmAt = [1];
    this.blocks = new nn.ModuleList(
      [0, 1, 2].map((i) =>
        new Block(dim, slstmAt.includes(i) ? new SLSTMCell(dim, 2) : new MLSTMCell(dim, 2), drop)
      ),
    );
    this.post_blocks_norm = new nn.LayerNorm(dim, { bias: false });
    this.lm_head = new nn.Linear(dim, vocabulary, { bias: false });
  }

  /** Parameters whose weights decay, and the others. */
  optimGroups(): readonly [Tensor[], Tensor[]] {
    const decay: Tensor[] = [], noDecay: Tensor[] = [];
    for (const [name, parameter] of this.namedParameters()) {
      const decays = parameter.ndim > 1 && !/embedding|gate/.test(name);
      (decays ? decay : noDecay).push(parameter);
    }
    return [decay, noDecay];
  }

  override forward(tokens: Tensor): Tensor {
    let x = this.token_embedding.call(tokens);
    for (const block of this.blocks) x = block.call(x);
    return this.lm_head.call(this.post_blocks_norm.call(x));
  }
}

export const xlstm: Specimen = {
  name: "xlstm",
  make({ dropout }) {
    const model = new XLSTMLanguageModel(12, 8, dropout);
    const lossOf = (tokens: Tensor) =>
      F.crossEntropy(model.call(tokens).at(":", { stop: -1 }).flatten(0, 1), tokens.at(":", "1:").flatten());
    const train = () => {
      const [decay, noDecay] = model.optimGroups();
      const optimizer = new optim.AdamW([
        { params: decay, weightDecay: 0.1 },
        { params: noDecay, weightDecay: 0 },
      ], { lr: 0.01, betas: [0.9, 0.95] });
      const step = (tokens: Tensor) => {
        optimizer.zeroGrad();
        const loss = lossOf(tokens);
        loss.backward();
        nn.utils.clipGradNorm_(model.parameters(), 1);
        optimizer.step();
        return loss.detach();
      };
      return { step };
    };
    return { model, forward: (tokens) => model.call(tokens), loss: lossOf, train };
  },
  random: true,
  counts: { forward: ONE, loss: ONE, step: ONE },
};
