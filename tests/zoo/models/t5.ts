/**
 * T5 (Raffel et al. 2020) in transformers' style: an encoder and a decoder that share embeddings, root mean square
 * norms without bias, buckets of relative positions, cross attention, labels shifted by writing into slices, greedy
 * decoding of a growing prefix.
 */
import {
  arange,
  empty,
  fullLike,
  log,
  minimum,
  nn,
  noGrad,
  ones,
  optim,
  rsqrt,
  type Tensor,
  tensor,
  where,
  zerosLike,
} from "../../../mod.ts";
import { FIRST_AND_REST, ONE, type Specimen } from "../specimen.ts";

const F = nn.functional;

interface T5Config {
  readonly vocabSize: number;
  readonly dModel: number;
  readonly dKv: number;
  readonly dFf: number;
  readonly numLayers: number;
  readonly numHeads: number;
  readonly numBuckets: number;
  readonly maxDistance: number;
  readonly dropoutRate: number;
}

class T5LayerNorm extends nn.Module {
  readonly weight: nn.Parameter;

  constructor(hiddenSize: number, readonly varianceEpsilon = 1e-6) {
    super();
    this.weight = new nn.Parameter(ones([hiddenSize]));
  }

  override forward(hiddenStates: Tensor): Tensor {
    const variance = hiddenStates.pow(2).mean(-1, { keepdim: true });
    hiddenStates = hiddenStates.mul(rsqrt(variance.add(this.varianceEpsilon)));
    return this.weight.mul(hiddenStates);
  }
}

class T5Attention extends nn.Module {
  readonly innerDim: number;
  readonly q: nn.Linear;
  readonly k: nn.Linear;
  readonly v: nn.Linear;
  readonly o: nn.Linear;
  readonly relative_attention_bias: nn.Embedding | null;

  constructor(readonly config: T5Config, readonly isDecoder: boolean, hasRelativeAttentionBias: boolean) {
    super();
    const { dModel, dKv, numHeads } = config;
    this.innerDim = numHeads * dKv;
    this.q = new nn.Linear(dModel, this.innerDim, { bias: false });
    this.k = new nn.Linear(dModel, this.innerDim, { bias: false });
    this.v = new nn.Linear(dModel, this.innerDim, { bias: false });
    this.o = new nn.Linear(this.innerDim, dModel, { bias: false });
    this.relative_attention_bias = hasRelativeAttentionBias
      ? new nn.Embedding(config.numBuckets, numHeads)
      : null;
  }

  static relativePositionBucket(relativePosition: Tensor, options: {
    readonly bidirectional: boolean;
    readonly numBuckets: number;
    readonly maxDistance: number;
  }): Tensor {
    let { numBuckets } = options;
    let relativeBuckets: Tensor | number = 0;
    if (options.bidirectional) {
      numBuckets = Math.floor(numBuckets / 2);
      relativeBuckets = relativePosition.gt(0).to("int64").mul(numBuckets);
      relativePosition = relativePosition.abs();
    } else {
      relativePosition = minimum(relativePosition, zerosLike(relativePosition)).neg();
    }
    const maxExact = Math.floor(numBuckets / 2);
    const isSmall = relativePosition.lt(maxExact);
    let relativePositionIfLarge = log(relativePosition.to("float32").div(maxExact))
      .div(Math.log(options.maxDistance / maxExact))
      .mul(numBuckets - maxExact)
      .to("int64")
      .add(maxExact);
    relativePositionIfLarge = minimum(
      relativePositionIfLarge,
      fullLike(relativePositionIfLarge, numBuckets - 1),
    );
    return where(isSmall, relativePosition, relativePositionIfLarge).add(relativeBuckets);
  }

  computeBias(queryLength: number, keyLength: number): Tensor {
    if (!this.relative_attention_bias) throw new Error("A table of biases");
    const { device } = this.relative_attention_bias.weight;
    const contextPosition = arange(queryLength, { dtype: "int64", device }).at(":", null);
    const memoryPosition = arange(keyLength, { dtype: "int64", device }).at(null, ":");
    const relativePosition = memoryPosition.sub(contextPosition);
    const buckets = T5Attention.relativePositionBucket(relativePosition, {
      bidirectional: !this.isDecoder,
      numBuckets: this.config.numBuckets,
      maxDistance: this.config.maxDistance,
    });
    const values = this.relative_attention_bias.call(buckets);
    return values.permute([2, 0, 1]).unsqueeze(0);
  }

  override forward(hiddenStates: Tensor, given: {
    readonly mask: Tensor;
    readonly keyValueStates?: Tensor;
    readonly positionBias?: Tensor | null;
  }): [Tensor, Tensor] {
    const [batchSize = 1, queryLength = 1] = hiddenStates.shape;
    const { numHeads, dKv } = this.config;
    const current = given.keyValueStates ?? hiddenStates;
    const shape = (states: Tensor) => states.view(batchSize, -1, numHeads, dKv).transpose(1, 2);
    const queryStates = shape(this.q.call(hiddenStates));
    const keyStates = shape(this.k.call(current)), valueStates = shape(this.v.call(current));
    const scores = queryStates.matmul(keyStates.transpose(3, 2));
    let positionBias = given.positionBias ?? null;
    if (positionBias === null) {
      positionBias = this.relative_attention_bias
        ? this.computeBias(queryLength, keyStates.size(2))
        : empty([1, numHeads, queryLength, keyStates.size(2)], {
          dtype: scores.dtype,
          device: scores.device,
        }).zero_();
      positionBias = positionBias.add(given.mask);
    }
    scores.add_(positionBias);
    let attnWeights = F.softmax(scores, -1);
    attnWeights = F.dropout(attnWeights, { p: this.config.dropoutRate, training: this.training });
    const attnOutput = attnWeights.matmul(valueStates).transpose(1, 2).contiguous().view(
      batchSize,
      -1,
      this.innerDim,
    );
    return [this.o.call(attnOutput), positionBias];
  }
}

class T5DenseActDense extends nn.Module {
  readonly wi: nn.Linear;
  readonly wo: nn.Linear;
  readonly dropout: nn.Dropout;

  constructor(config: T5Config) {
    super();
    this.wi = new nn.Linear(config.dModel, config.dFf, { bias: false });
    this.wo = new nn.Linear(config.dFf, config.dModel, { bias: false });
    this.dropout = new nn.Dropout(config.dropoutRate);
  }

  override forward(hiddenStates: Tensor): Tensor {
    return this.wo.call(this.dropout.call(this.wi.call(hiddenStates).relu()));
  }
}

class T5LayerFF extends nn.Module {
  readonly DenseReluDense: T5DenseActDense;
  readonly layer_norm: T5LayerNorm;
  readonly dropout: nn.Dropout;

  constructor(config: T5Config) {
    super();
    this.DenseReluDense = new T5DenseActDense(config);
    this.layer_norm = new T5LayerNorm(config.dModel);
    this.dropout = new nn.Dropout(config.dropoutRate);
  }

  override forward(hiddenStates: Tensor): Tensor {
    const forwarded = this.DenseReluDense.call(this.layer_norm.call(hiddenStates));
    return hiddenStates.add(this.dropout.call(forwarded));
  }
}

class T5LayerSelfAttention extends nn.Module {
  readonly SelfAttention: T5Attention;
  readonly layer_norm: T5LayerNorm;
  readonly dropout: nn.Dropout;

  constructor(config: T5Config, isDecoder: boolean, hasRelativeAttentionBias: boolean) {
    super();
    this.SelfAttention = new T5Attention(config, isDecoder, hasRelativeAttentionBias);
    this.layer_norm = new T5LayerNorm(config.dModel);
    this.dropout = new nn.Dropout(config.dropoutRate);
  }

  override forward(hiddenStates: Tensor, mask: Tensor, positionBias: Tensor | null): [Tensor, Tensor] {
    const normed = this.layer_norm.call(hiddenStates);
    const [output, bias] = this.SelfAttention.call(normed, { mask, positionBias });
    return [hiddenStates.add(this.dropout.call(output)), bias];
  }
}

class T5LayerCrossAttention extends nn.Module {
  readonly EncDecAttention: T5Attention;
  readonly layer_norm: T5LayerNorm;
  readonly dropout: nn.Dropout;

  constructor(config: T5Config) {
    super();
    this.EncDecAttention = new T5Attention(config, true, false);
    this.layer_norm = new T5LayerNorm(config.dModel);
    this.dropout = new nn.Dropout(config.dropoutRate);
  }

  override forward(hiddenStates: Tensor, keyValueStates: Tensor, mask: Tensor): Tensor {
    const normed = this.layer_norm.call(hiddenStates);
    const [output] = this.EncDecAttention.call(normed, { mask, keyValueStates });
    return hiddenStates.add(this.dropout.call(output));
  }
}

/** The layers of a block, under their numbers. */
class EncoderLayers extends nn.Module {
  readonly 0: T5LayerSelfAttention;
  readonly 1: T5LayerFF;

  constructor(config: T5Config, first: boolean) {
    super();
    this[0] = new T5LayerSelfAttention(config, false, first);
    this[1] = new T5LayerFF(config);
  }
}

class DecoderLayers extends nn.Module {
  readonly 0: T5LayerSelfAttention;
  readonly 1: T5LayerCrossAttention;
  readonly 2: T5LayerFF;

  constructor(config: T5Config, first: boolean) {
    super();
    this[0] = new T5LayerSelfAttention(config, true, first);
    this[1] = new T5LayerCrossAttention(config);
    this[2] = new T5LayerFF(config);
  }
}

/** The encoder's output for a decoder. */
interface Encoded {
  readonly states: Tensor;
  readonly mask: Tensor;
}

class T5Block extends nn.Module {
  readonly layer: EncoderLayers | DecoderLayers;

  constructor(config: T5Config, isDecoder: boolean, first: boolean) {
    super();
    this.layer = isDecoder ? new DecoderLayers(config, first) : new EncoderLayers(config, first);
  }

  override forward(hiddenStates: Tensor, given: {
    readonly mask: Tensor;
    readonly positionBias: Tensor | null;
    readonly encoded: Encoded | null;
  }): [Tensor, Tensor] {
    const [attended, bias] = this.layer[0].call(hiddenStates, given.mask, given.positionBias);
    if (this.layer instanceof EncoderLayers) return [this.layer[1].call(attended), bias];
    if (!given.encoded) throw new Error("Encoder states");
    const crossed = this.layer[1].call(attended, given.encoded.states, given.encoded.mask);
    return [this.layer[2].call(crossed), bias];
  }
}

class T5Stack extends nn.Module {
  readonly embed_tokens: nn.Embedding;
  readonly block: nn.ModuleList<T5Block>;
  readonly final_layer_norm: T5LayerNorm;
  readonly dropout: nn.Dropout;

  constructor(readonly config: T5Config, readonly isDecoder: boolean, embedTokens: nn.Embedding) {
    super();
    this.embed_tokens = embedTokens;
    this.block = new nn.ModuleList(
      Array.from({ length: config.numLayers }, (_, i) => new T5Block(config, isDecoder, i === 0)),
    );
    this.final_layer_norm = new T5LayerNorm(config.dModel);
    this.dropout = new nn.Dropout(config.dropoutRate);
  }

  private mask(inputIds: Tensor, like: Tensor): Tensor {
    const seqLength = inputIds.size(1);
    if (!this.isDecoder) return invert(inputIds.ne(0), like);
    const seqIds = arange(seqLength, { device: inputIds.device });
    const causal = seqIds.at(null, null, ":").le(seqIds.at(null, ":", null));
    return causal.unsqueeze(1).to(like.dtype).rsub(1).mul(-1e9);
  }

  override forward(inputIds: Tensor, encoded: Encoded | null = null): Tensor {
    let hiddenStates = this.dropout.call(this.embed_tokens.call(inputIds));
    const mask = this.mask(inputIds, hiddenStates);
    let positionBias: Tensor | null = null;
    for (const layerModule of this.block) {
      [hiddenStates, positionBias] = layerModule.call(hiddenStates, { mask, positionBias, encoded });
    }
    return this.dropout.call(this.final_layer_norm.call(hiddenStates));
  }
}

/** Returns what to add to scores: 0 where the mask holds, a very negative number elsewhere. */
function invert(mask: Tensor, like: Tensor): Tensor {
  return mask.at(":", null, null, ":").to(like.dtype).rsub(1).mul(-1e9);
}

class T5ForConditionalGeneration extends nn.Module {
  readonly shared: nn.Embedding;
  readonly encoder: T5Stack;
  readonly decoder: T5Stack;
  readonly lm_head: nn.Linear;

  constructor(readonly config: T5Config) {
    super();
    this.shared = new nn.Embedding(config.vocabSize, config.dModel);
    this.encoder = new T5Stack(config, false, this.shared);
    this.decoder = new T5Stack(config, true, this.shared);
    this.lm_head = new nn.Linear(config.dModel, config.vocabSize, { bias: false });
    this.lm_head.weight = this.shared.weight;
  }

  private shiftRight(inputIds: Tensor): Tensor {
    const shifted = zerosLike(inputIds);
    shifted.set(["...", "1:"], inputIds.at("...", ":-1").clone());
    shifted.set(["...", 0], 0);
    shifted.maskedFill_(shifted.eq(-100), 0);
    return shifted;
  }

  encode(inputIds: Tensor): Encoded {
    const states = this.encoder.call(inputIds);
    return { states, mask: invert(inputIds.ne(0), states) };
  }

  override forward(encoded: Encoded, decoderInputIds: Tensor): Tensor {
    const sequenceOutput = this.decoder.call(decoderInputIds, encoded);
    return this.lm_head.call(sequenceOutput.mul(this.config.dModel ** -0.5));
  }

  loss(inputIds: Tensor, labels: Tensor): Tensor {
    const lmLogits = this.forward(this.encode(inputIds), this.shiftRight(labels));
    return F.crossEntropy(lmLogits.view(-1, lmLogits.size(-1)), labels.view(-1), { ignoreIndex: -100 });
  }
}

export const t5: Specimen = {
  name: "t5",
  make({ dropout }) {
    const model = new T5ForConditionalGeneration({
      vocabSize: 20,
      dModel: 8,
      dKv: 4,
      dFf: 12,
      numLayers: 2,
      numHeads: 2,
      numBuckets: 8,
      maxDistance: 20,
      dropoutRate: dropout,
    });
    const lossOf = (inputIds: Tensor, labels: Tensor) => model.loss(inputIds, labels);
    const train = () => {
      const optimizer = new optim.Adagrad(model.parameters(), { lr: 0.1, initialAccumulatorValue: 0.1 });
      const step = (inputIds: Tensor, labels: Tensor) => {
        const loss = lossOf(inputIds, labels);
        loss.backward();
        nn.utils.clipGradNorm_(model.parameters(), { maxNorm: 0.5, normType: Infinity });
        optimizer.step();
        optimizer.zeroGrad();
        return loss.detach();
      };
      return { step };
    };
    return {
      model,
      forward: (inputIds: Tensor, labels: Tensor) =>
        model.call(model.encode(inputIds), labels.maskedFill(labels.lt(0), 0)),
      loss: lossOf,
      train,
      decode(wrap, [inputIds]) {
        if (!inputIds) throw new Error("Token ids");
        const encoded = noGrad(() => model.encode(inputIds.at(":1")));
        const next = wrap((ids: Tensor) => noGrad(() => model.call(encoded, ids).at(0, -1).argmax()));
        const tokens = [0];
        for (let i = 0; i < 6; i++) {
          tokens.push(Number(next(tensor([tokens], { device: inputIds.device })).item()));
        }
        return tokens.slice(1);
      },
    };
  },
  random: true,
  counts: { forward: ONE, loss: ONE, step: ONE, decode: FIRST_AND_REST },
};
