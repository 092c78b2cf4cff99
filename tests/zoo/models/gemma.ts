/**
 * Gemma 2 (Gemma Team 2024) as in Hugging Face's code: norms before and after each part, grouped queries with rotary
 * positions, scores and logits capped by a tanh, every other layer sees a window; beams decoded with a cache that is a
 * class and is reordered with them; AdamW.
 */
import {
  arange,
  cat,
  cos,
  finfo,
  full,
  nn,
  noGrad,
  optim,
  sin,
  tanh,
  type Tensor,
  topk,
  where,
  zeros,
} from "../../../mod.ts";
import { ONE, type Specimen, type Wrap } from "../specimen.ts";

const F = nn.functional;

const CONFIG = {
  vocabSize: 14,
  hiddenSize: 8,
  intermediateSize: 12,
  numHeads: 4,
  numKeyValueHeads: 2,
  headDim: 4,
  slidingWindow: 3,
  attnLogitSoftcapping: 5,
  finalLogitSoftcapping: 3,
};

class GemmaRMSNorm extends nn.Module {
  readonly weight: nn.Parameter;

  constructor(dim: number, readonly eps = 1e-6) {
    super();
    this.weight = new nn.Parameter(zeros(dim));
  }

  override forward(x: Tensor): Tensor {
    const normed = x.mul(x.pow(2).mean(-1, { keepdim: true }).add(this.eps).rsqrt());
    return normed.mul(this.weight.add(1)).typeAs(x);
  }
}

/** Keys and values of the tokens so far, by layer. */
class DynamicCache {
  readonly keyCache: Tensor[] = [];
  readonly valueCache: Tensor[] = [];

  update(keys: Tensor, values: Tensor, layer: number): readonly [Tensor, Tensor] {
    const [k, v] = [this.keyCache[layer], this.valueCache[layer]];
    this.keyCache[layer] = k ? cat([k, keys], { dim: -2 }) : keys;
    this.valueCache[layer] = v ? cat([v, values], { dim: -2 }) : values;
    return [this.keyCache[layer], this.valueCache[layer]];
  }

  getSeqLength(layer = 0): number {
    return this.keyCache[layer]?.size(-2) ?? 0;
  }

  reorderCache(beams: Tensor): void {
    for (const i of this.keyCache.keys()) {
      this.keyCache[i] = this.keyCache[i]!.indexSelect(0, beams);
      this.valueCache[i] = this.valueCache[i]!.indexSelect(0, beams);
    }
  }
}

function rotateHalf(x: Tensor): Tensor {
  const half = x.size(-1) / 2;
  return cat([x.at("...", { start: half }).neg(), x.at("...", { stop: half })], -1);
}

function repeatKv(x: Tensor, nRep: number): Tensor {
  const [batch = 1, heads = 1, length = 1, dim = 1] = x.shape;
  return x.at(":", ":", null).expand(batch, heads, nRep, length, dim).reshape(
    batch,
    heads * nRep,
    length,
    dim,
  );
}

class GemmaAttention extends nn.Module {
  readonly q_proj: nn.Linear;
  readonly k_proj: nn.Linear;
  readonly v_proj: nn.Linear;
  readonly o_proj: nn.Linear;
  readonly isSliding: boolean;

  constructor(readonly config: typeof CONFIG, readonly layer: number) {
    super();
    const { hiddenSize, numHeads, numKeyValueHeads, headDim } = config;
    this.isSliding = layer % 2 === 0;
    this.q_proj = new nn.Linear(hiddenSize, numHeads * headDim, { bias: false });
    this.k_proj = new nn.Linear(hiddenSize, numKeyValueHeads * headDim, { bias: false });
    this.v_proj = new nn.Linear(hiddenSize, numKeyValueHeads * headDim, { bias: false });
    this.o_proj = new nn.Linear(numHeads * headDim, hiddenSize, { bias: false });
  }

  override forward(
    x: Tensor,
    position: readonly [cos: Tensor, sin: Tensor],
    cache: DynamicCache | null,
  ): Tensor {
    const { numHeads, numKeyValueHeads, headDim, attnLogitSoftcapping, slidingWindow } = this.config;
    const B = x.size(0), T = x.size(1), [c, s] = position;
    const heads = (x: Tensor) => x.view(B, T, -1, headDim).transpose(1, 2);
    const rotated = (x: Tensor) => x.mul(c).add(rotateHalf(x).mul(s));
    const query = rotated(heads(this.q_proj.call(x)));
    let key = rotated(heads(this.k_proj.call(x))), value = heads(this.v_proj.call(x));
    if (cache !== null) [key, value] = cache.update(key, value, this.layer);
    const groups = numHeads / numKeyValueHeads, S = key.size(-2);
    key = repeatKv(key, groups);
    value = repeatKv(value, groups);
    let scores = query.matmul(key.transpose(2, 3)).mul(headDim ** -0.5);
    scores = tanh(scores.div(attnLogitSoftcapping)).mul(attnLogitSoftcapping);
    const from = arange(S - T, S, { device: x.device }).unsqueeze(1), to = arange(S, { device: x.device });
    let seen = to.le(from);
    if (this.isSliding) seen = seen.logicalAnd(to.gt(from.sub(slidingWindow)));
    scores = scores.maskedFill(seen.logicalNot(), finfo(scores.dtype).min);
    const weights = F.softmax(scores, { dim: -1 });
    return this.o_proj.call(weights.matmul(value).transpose(1, 2).reshape(B, T, -1));
  }
}

class GemmaMLP extends nn.Module {
  readonly gate_proj: nn.Linear;
  readonly up_proj: nn.Linear;
  readonly down_proj: nn.Linear;

  constructor({ hiddenSize, intermediateSize }: typeof CONFIG) {
    super();
    this.gate_proj = new nn.Linear(hiddenSize, intermediateSize, { bias: false });
    this.up_proj = new nn.Linear(hiddenSize, intermediateSize, { bias: false });
    this.down_proj = new nn.Linear(intermediateSize, hiddenSize, { bias: false });
  }

  override forward(x: Tensor): Tensor {
    const gate = F.gelu(this.gate_proj.call(x), { approximate: "tanh" });
    return this.down_proj.call(gate.mul(this.up_proj.call(x)));
  }
}

class GemmaLayer extends nn.Module {
  readonly self_attn: GemmaAttention;
  readonly mlp: GemmaMLP;
  readonly input_layernorm: GemmaRMSNorm;
  readonly post_attention_layernorm: GemmaRMSNorm;
  readonly pre_feedforward_layernorm: GemmaRMSNorm;
  readonly post_feedforward_layernorm: GemmaRMSNorm;

  constructor(config: typeof CONFIG, layer: number) {
    super();
    this.self_attn = new GemmaAttention(config, layer);
    this.mlp = new GemmaMLP(config);
    this.input_layernorm = new GemmaRMSNorm(config.hiddenSize);
    this.post_attention_layernorm = new GemmaRMSNorm(config.hiddenSize);
    this.pre_feedforward_layernorm = new GemmaRMSNorm(config.hiddenSize);
    this.post_feedforward_layernorm = new GemmaRMSNorm(config.hiddenSize);
  }

  override forward(x: Tensor, position: readonly [Tensor, Tensor], cache: DynamicCache | null): Tensor {
    const attended = this.self_attn.call(this.input_layernorm.call(x), position, cache);
    x = x.add(this.post_attention_layernorm.call(attended));
    return x.add(this.post_feedforward_layernorm.call(this.mlp.call(this.pre_feedforward_layernorm.call(x))));
  }
}

class Gemma extends nn.Module {
  readonly embed_tokens: nn.Embedding;
  readonly layers: nn.ModuleList<GemmaLayer>;
  readonly norm: GemmaRMSNorm;
  declare inv_freq: Tensor;

  constructor(readonly config: typeof CONFIG) {
    super();
    const { vocabSize, hiddenSize, headDim } = config;
    this.embed_tokens = new nn.Embedding(vocabSize, hiddenSize);
    this.layers = new nn.ModuleList([0, 1].map((layer) => new GemmaLayer(config, layer)));
    this.norm = new GemmaRMSNorm(hiddenSize);
    const powers = arange(0, headDim, 2, { dtype: "float32" }).div(headDim);
    this.registerBuffer("inv_freq", powers.mul(-Math.log(10000)).exp(), { persistent: false });
  }

  override forward(tokens: Tensor, cache: DynamicCache | null = null): Tensor {
    const past = cache?.getSeqLength() ?? 0;
    const positions = arange(past, past + tokens.size(1), { device: tokens.device }).unsqueeze(1);
    let x = this.embed_tokens.call(tokens).mul(Math.sqrt(this.config.hiddenSize));
    const freqs = positions.mul(this.inv_freq), emb = cat([freqs, freqs], -1);
    for (const layer of this.layers) x = layer.call(x, [cos(emb), sin(emb)], cache);
    const logits = this.norm.call(x).matmul(this.embed_tokens.weight.t()),
      cap = this.config.finalLogitSoftcapping;
    return tanh(logits.div(cap)).mul(cap);
  }
}

/** The best of `beams` continuations of each prompt. */
function beamSearch(
  model: Gemma,
  wrap: Wrap,
  prompt: Tensor,
  { beams, length }: Record<"beams" | "length", number>,
) {
  const [B = 1] = prompt.shape, cache = new DynamicCache(), { device } = prompt;
  const next = wrap((tokens: Tensor) => F.logSoftmax(model.call(tokens, cache).at(":", -1), { dim: -1 }));
  let found = prompt.repeatInterleave(beams, 0);
  let scores = where(arange(beams, { device }).eq(0), 0, -Infinity).repeat(B).unsqueeze(1);
  for (let i = 0; i < length; i++) {
    const logits = next(i === 0 ? found : found.at(":", { start: -1 })), V = logits.size(-1);
    const best = topk(logits.add(scores).view(B, -1), beams, { dim: 1 });
    const rows = arange(B, { device }).unsqueeze(1).mul(beams);
    const from = best.indices.div(V, { roundingMode: "floor" }).add(rows).view(-1);
    found = cat([found.indexSelect(0, from), best.indices.remainder(V).view(-1, 1)], { dim: 1 });
    scores = best.values.view(-1, 1);
    cache.reorderCache(from);
  }
  return found.view(B, beams, -1).at(":", 0);
}

export const gemma: Specimen = {
  name: "gemma",
  make() {
    const model = new Gemma(CONFIG);
    const lossOf = (tokens: Tensor) => {
      const logits = model.call(tokens).at(":", { stop: -1 });
      return F.crossEntropy(logits.reshape(-1, logits.size(-1)), tokens.at(":", "1:").reshape(-1));
    };
    const train = () => {
      const optimizer = new optim.AdamW(model.parameters(), {
        lr: 0.01,
        betas: [0.9, 0.95],
        weightDecay: 0.1,
      });
      const step = (tokens: Tensor) => {
        optimizer.zeroGrad();
        const loss = lossOf(tokens);
        loss.backward();
        optimizer.step();
        return loss.detach();
      };
      return { step };
    };
    return {
      model,
      forward: (tokens) => model.call(tokens),
      loss: lossOf,
      train,
      decode: (wrap, [tokens]) => {
        const prompt = tokens?.at(":", { stop: 4 }) ?? full([1, 1], 0, { dtype: "int64" });
        return noGrad(() =>
          Array.from(beamSearch(model, wrap, prompt, { beams: 3, length: 4 }).toTypedArray(), Number)
        );
      },
    };
  },
  counts: { forward: ONE, loss: ONE, step: ONE, decode: { graphs: 3, breaks: 0, recompiles: 2 } },
};
