/**
 * GPT-2 (Radford et al. 2019) in transformers' style: Conv1D layers with transposed weights, a causal mask in a
 * buffer, the tanh GELU written out, a head tied to the token embeddings, a cache of keys and values for decoding;
 * AdamW with two accumulated micro batches a step, clipped by norm.
 */
import {
  addmm,
  arange,
  cat,
  empty,
  full,
  nn,
  noGrad,
  ones,
  optim,
  stack,
  type Tensor,
  where,
  zeros,
} from "../../../mod.ts";
import { ONE, type Specimen } from "../specimen.ts";

interface GPT2Config {
  readonly vocabSize: number;
  readonly nPositions: number;
  readonly nEmbd: number;
  readonly nLayer: number;
  readonly nHead: number;
  readonly dropout: number;
}

/** Keys and values of one layer so far. */
type Past = readonly [Tensor, Tensor];

class Conv1D extends nn.Module {
  readonly weight: nn.Parameter;
  readonly bias: nn.Parameter;

  constructor(readonly nf: number, nx: number) {
    super();
    this.weight = new nn.Parameter(empty([nx, nf]));
    this.bias = new nn.Parameter(zeros([nf]));
    nn.init.normal_(this.weight, { std: 0.02 });
  }

  override forward(x: Tensor): Tensor {
    const sizeOut = [...x.shape.slice(0, -1), this.nf];
    x = addmm(this.bias, x.view(-1, x.size(-1)), this.weight);
    return x.view(sizeOut);
  }
}

class NewGELUActivation extends nn.Module {
  override forward(input: Tensor): Tensor {
    const inner = input.add(input.pow(3.0).mul(0.044715)).mul(Math.sqrt(2.0 / Math.PI));
    return input.mul(0.5).mul(inner.tanh().add(1.0));
  }
}

class GPT2Attention extends nn.Module {
  readonly headDim: number;
  readonly c_attn: Conv1D;
  readonly c_proj: Conv1D;
  readonly attn_dropout: nn.Dropout;
  readonly resid_dropout: nn.Dropout;
  declare bias: Tensor;

  constructor(readonly config: GPT2Config) {
    super();
    const { nPositions, nEmbd, nHead } = config;
    this.registerBuffer(
      "bias",
      ones([nPositions, nPositions], { dtype: "bool" }).tril().view(1, 1, nPositions, nPositions),
      { persistent: false },
    );
    this.headDim = Math.floor(nEmbd / nHead);
    this.c_attn = new Conv1D(3 * nEmbd, nEmbd);
    this.c_proj = new Conv1D(nEmbd, nEmbd);
    this.attn_dropout = new nn.Dropout(config.dropout);
    this.resid_dropout = new nn.Dropout(config.dropout);
  }

  private attn(query: Tensor, key: Tensor, value: Tensor): Tensor {
    let attnWeights = query.matmul(key.transpose(-1, -2));
    attnWeights = attnWeights.div(value.size(-1) ** 0.5);
    const queryLength = query.size(-2), keyLength = key.size(-2);
    const causalMask = this.bias.at(":", ":", { start: keyLength - queryLength, stop: keyLength }, {
      stop: keyLength,
    });
    const maskValue = full([], -3.4e38, { dtype: attnWeights.dtype, device: attnWeights.device });
    attnWeights = where(causalMask, attnWeights, maskValue);
    attnWeights = nn.functional.softmax(attnWeights, -1);
    attnWeights = this.attn_dropout.call(attnWeights);
    return attnWeights.matmul(value);
  }

  private splitHeads(tensor: Tensor): Tensor {
    const newShape = [...tensor.shape.slice(0, -1), this.config.nHead, this.headDim];
    return tensor.view(newShape).permute(0, 2, 1, 3);
  }

  override forward(hiddenStates: Tensor, layerPast: Past | null): [Tensor, Past] {
    const [q, k, v] = this.c_attn.call(hiddenStates).split(this.config.nEmbd, 2);
    if (!q || !k || !v) throw new Error("Three parts");
    const query = this.splitHeads(q);
    let key = this.splitHeads(k), value = this.splitHeads(v);
    if (layerPast !== null) {
      const [pastKey, pastValue] = layerPast;
      key = cat([pastKey, key], -2);
      value = cat([pastValue, value], -2);
    }
    let attnOutput = this.attn(query, key, value);
    attnOutput = attnOutput.permute(0, 2, 1, 3).contiguous();
    attnOutput = attnOutput.view([...attnOutput.shape.slice(0, -2), this.config.nEmbd]);
    attnOutput = this.resid_dropout.call(this.c_proj.call(attnOutput));
    return [attnOutput, [key, value]];
  }
}

class GPT2MLP extends nn.Module {
  readonly c_fc: Conv1D;
  readonly c_proj: Conv1D;
  readonly act = new NewGELUActivation();
  readonly dropout: nn.Dropout;

  constructor(config: GPT2Config) {
    super();
    this.c_fc = new Conv1D(4 * config.nEmbd, config.nEmbd);
    this.c_proj = new Conv1D(config.nEmbd, 4 * config.nEmbd);
    this.dropout = new nn.Dropout(config.dropout);
  }

  override forward(hiddenStates: Tensor): Tensor {
    hiddenStates = this.act.call(this.c_fc.call(hiddenStates));
    return this.dropout.call(this.c_proj.call(hiddenStates));
  }
}

class GPT2Block extends nn.Module {
  readonly ln_1: nn.LayerNorm;
  readonly attn: GPT2Attention;
  readonly ln_2: nn.LayerNorm;
  readonly mlp: GPT2MLP;

  constructor(config: GPT2Config) {
    super();
    this.ln_1 = new nn.LayerNorm(config.nEmbd, { eps: 1e-5 });
    this.attn = new GPT2Attention(config);
    this.ln_2 = new nn.LayerNorm(config.nEmbd, { eps: 1e-5 });
    this.mlp = new GPT2MLP(config);
  }

  override forward(hiddenStates: Tensor, layerPast: Past | null): [Tensor, Past] {
    let residual = hiddenStates;
    const [attnOutput, present] = this.attn.call(this.ln_1.call(hiddenStates), layerPast);
    hiddenStates = attnOutput.add(residual);
    residual = hiddenStates;
    return [residual.add(this.mlp.call(this.ln_2.call(hiddenStates))), present];
  }
}

class GPT2Model extends nn.Module {
  readonly wte: nn.Embedding;
  readonly wpe: nn.Embedding;
  readonly drop: nn.Dropout;
  readonly h: nn.ModuleList<GPT2Block>;
  readonly ln_f: nn.LayerNorm;

  constructor(config: GPT2Config) {
    super();
    this.wte = new nn.Embedding(config.vocabSize, config.nEmbd);
    this.wpe = new nn.Embedding(config.nPositions, config.nEmbd);
    this.drop = new nn.Dropout(config.dropout);
    this.h = new nn.ModuleList(Array.from({ length: config.nLayer }, () => new GPT2Block(config)));
    this.ln_f = new nn.LayerNorm(config.nEmbd, { eps: 1e-5 });
  }

  override forward(inputIds: Tensor, pastKeyValues: readonly Past[] | null): [Tensor, Past[]] {
    const pastLength = pastKeyValues?.[0]?.[0].size(-2) ?? 0;
    const length = inputIds.size(-1);
    const positionIds = arange(pastLength, length + pastLength, { device: inputIds.device }).unsqueeze(0);
    let hiddenStates = this.wte.call(inputIds).add(this.wpe.call(positionIds));
    hiddenStates = this.drop.call(hiddenStates);
    const presents: Past[] = [];
    for (const [i, block] of [...this.h].entries()) {
      const [next, present] = block.call(hiddenStates, pastKeyValues?.[i] ?? null);
      hiddenStates = next;
      presents.push(present);
    }
    return [this.ln_f.call(hiddenStates), presents];
  }
}

class GPT2LMHeadModel extends nn.Module {
  readonly transformer: GPT2Model;
  readonly lm_head: nn.Linear;

  constructor(config: GPT2Config) {
    super();
    this.transformer = new GPT2Model(config);
    this.lm_head = new nn.Linear(config.nEmbd, config.vocabSize, { bias: false });
    this.lm_head.weight = this.transformer.wte.weight;
  }

  override forward(inputIds: Tensor, given: {
    readonly labels?: Tensor;
    readonly pastKeyValues?: readonly Past[];
  } = {}): { loss?: Tensor; logits: Tensor; pastKeyValues: Past[] } {
    const [hiddenStates, pastKeyValues] = this.transformer.call(inputIds, given.pastKeyValues ?? null);
    const logits = this.lm_head.call(hiddenStates);
    if (!given.labels) return { logits, pastKeyValues };
    const shiftLogits = logits.at("...", ":-1", ":").contiguous();
    const shiftLabels = given.labels.at("...", "1:").contiguous();
    const loss = nn.functional.crossEntropy(
      shiftLogits.view(-1, shiftLogits.size(-1)),
      shiftLabels.view(-1),
    );
    return { loss, logits, pastKeyValues };
  }
}

export const gpt2: Specimen = {
  name: "gpt2",
  make({ dropout }) {
    const model = new GPT2LMHeadModel({
      vocabSize: 24,
      nPositions: 16,
      nEmbd: 8,
      nLayer: 2,
      nHead: 2,
      dropout,
    });
    const lossOf = (inputIds: Tensor) => {
      const { loss } = model.call(inputIds, { labels: inputIds });
      if (!loss) throw new Error("A loss");
      return loss;
    };
    const train = () => {
      const optimizer = new optim.AdamW(model.parameters(), {
        lr: 0.01,
        betas: [0.9, 0.95],
        weightDecay: 0.1,
      });
      const step = (inputIds: Tensor) => {
        const losses: Tensor[] = [];
        const gradientAccumulationSteps = 2;
        optimizer.zeroGrad({ setToNone: true });
        for (const micro of inputIds.chunk(gradientAccumulationSteps)) {
          const loss = lossOf(micro).div(gradientAccumulationSteps);
          loss.backward();
          losses.push(loss.detach());
        }
        nn.utils.clipGradNorm_(model.parameters(), 1.0);
        optimizer.step();
        return stack(losses).sum();
      };
      return { step };
    };
    return {
      model,
      forward: (inputIds: Tensor) => model.call(inputIds).logits,
      loss: lossOf,
      train,
      decode(wrap, [inputIds]) {
        if (!inputIds) throw new Error("Token ids");
        const next = wrap((ids: Tensor, past: readonly Past[] | null) =>
          noGrad(() => {
            const { logits, pastKeyValues } = model.call(ids, past ? { pastKeyValues: past } : {});
            return { token: logits.at(":", -1, ":").argmax(-1, true), past: pastKeyValues };
          })
        );
        const tokens: number[] = [];
        let ids = inputIds.at(":1", ":4"), past: readonly Past[] | null = null;
        for (let i = 0; i < 10; i++) {
          const found: { readonly token: Tensor; readonly past: readonly Past[] } = next(ids, past);
          tokens.push(Number(found.token.item()));
          ids = found.token;
          past = found.past;
        }
        return tokens;
      },
    };
  },
  random: true,
  counts: { forward: ONE, loss: ONE, step: ONE, decode: { graphs: 3, breaks: 0, recompiles: 2 } },
};
