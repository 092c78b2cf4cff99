/**
 * BERT (Devlin et al. 2019) for masked language modelling in transformers' style: names and nesting of its modules,
 * embeddings with a padding index, an additive attention mask, a decoder that shares the word embeddings' weight and a
 * bias registered apart, labels of −100; AdamW in two groups with a linear warm-up, clipped by norm.
 */
import { arange, nn, onesLike, optim, type Tensor, zeros, zerosLike } from "../../../mod.ts";
import { FIRST_AND_REST, ONE, type Specimen } from "../specimen.ts";

interface BertConfig {
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly numHiddenLayers: number;
  readonly numAttentionHeads: number;
  readonly intermediateSize: number;
  readonly dropout: number;
  readonly maxPositionEmbeddings: number;
  readonly padTokenId: number;
}

class BertEmbeddings extends nn.Module {
  readonly word_embeddings: nn.Embedding;
  readonly position_embeddings: nn.Embedding;
  readonly token_type_embeddings: nn.Embedding;
  readonly LayerNorm: nn.LayerNorm;
  readonly dropout: nn.Dropout;
  declare position_ids: Tensor;

  constructor(config: BertConfig) {
    super();
    this.word_embeddings = new nn.Embedding(config.vocabSize, config.hiddenSize, {
      paddingIdx: config.padTokenId,
    });
    this.position_embeddings = new nn.Embedding(config.maxPositionEmbeddings, config.hiddenSize);
    this.token_type_embeddings = new nn.Embedding(2, config.hiddenSize);
    this.LayerNorm = new nn.LayerNorm(config.hiddenSize, { eps: 1e-12 });
    this.dropout = new nn.Dropout(config.dropout);
    this.registerBuffer("position_ids", arange(config.maxPositionEmbeddings).expand(1, -1), {
      persistent: false,
    });
  }

  override forward(inputIds: Tensor, tokenTypeIds: Tensor): Tensor {
    const seqLength = inputIds.size(1);
    const positionIds = this.position_ids.at(":", `:${seqLength}`);
    const inputsEmbeds = this.word_embeddings.call(inputIds);
    let embeddings = inputsEmbeds.add(this.token_type_embeddings.call(tokenTypeIds));
    embeddings = embeddings.add(this.position_embeddings.call(positionIds));
    return this.dropout.call(this.LayerNorm.call(embeddings));
  }
}

class BertSelfAttention extends nn.Module {
  readonly numAttentionHeads: number;
  readonly attentionHeadSize: number;
  readonly query: nn.Linear;
  readonly key: nn.Linear;
  readonly value: nn.Linear;
  readonly dropout: nn.Dropout;

  constructor(config: BertConfig) {
    super();
    this.numAttentionHeads = config.numAttentionHeads;
    this.attentionHeadSize = config.hiddenSize / config.numAttentionHeads;
    this.query = new nn.Linear(config.hiddenSize, config.hiddenSize);
    this.key = new nn.Linear(config.hiddenSize, config.hiddenSize);
    this.value = new nn.Linear(config.hiddenSize, config.hiddenSize);
    this.dropout = new nn.Dropout(config.dropout);
  }

  private transposeForScores(x: Tensor): Tensor {
    const newShape = [...x.shape.slice(0, -1), this.numAttentionHeads, this.attentionHeadSize];
    return x.view(newShape).permute(0, 2, 1, 3);
  }

  override forward(hiddenStates: Tensor, attentionMask: Tensor): Tensor {
    const keyLayer = this.transposeForScores(this.key.call(hiddenStates));
    const valueLayer = this.transposeForScores(this.value.call(hiddenStates));
    const queryLayer = this.transposeForScores(this.query.call(hiddenStates));
    let attentionScores = queryLayer.matmul(keyLayer.transpose(-1, -2));
    attentionScores = attentionScores.div(Math.sqrt(this.attentionHeadSize));
    attentionScores = attentionScores.add(attentionMask);
    let attentionProbs = nn.functional.softmax(attentionScores, -1);
    attentionProbs = this.dropout.call(attentionProbs);
    let contextLayer = attentionProbs.matmul(valueLayer);
    contextLayer = contextLayer.permute(0, 2, 1, 3).contiguous();
    return contextLayer.view([...contextLayer.shape.slice(0, -2), -1]);
  }
}

/** A dense layer, dropout, and the norm of the sum with what was there before. */
class BertOutput extends nn.Module {
  readonly dense: nn.Linear;
  readonly LayerNorm: nn.LayerNorm;
  readonly dropout: nn.Dropout;

  constructor(config: BertConfig, inputSize: number) {
    super();
    this.dense = new nn.Linear(inputSize, config.hiddenSize);
    this.LayerNorm = new nn.LayerNorm(config.hiddenSize, { eps: 1e-12 });
    this.dropout = new nn.Dropout(config.dropout);
  }

  override forward(hiddenStates: Tensor, inputTensor: Tensor): Tensor {
    hiddenStates = this.dropout.call(this.dense.call(hiddenStates));
    return this.LayerNorm.call(hiddenStates.add(inputTensor));
  }
}

class BertAttention extends nn.Module {
  readonly self: BertSelfAttention;
  readonly output: BertOutput;

  constructor(config: BertConfig) {
    super();
    this.self = new BertSelfAttention(config);
    this.output = new BertOutput(config, config.hiddenSize);
  }

  override forward(hiddenStates: Tensor, attentionMask: Tensor): Tensor {
    return this.output.call(this.self.call(hiddenStates, attentionMask), hiddenStates);
  }
}

class BertIntermediate extends nn.Module {
  readonly dense: nn.Linear;

  constructor(config: BertConfig) {
    super();
    this.dense = new nn.Linear(config.hiddenSize, config.intermediateSize);
  }

  override forward(hiddenStates: Tensor): Tensor {
    return nn.functional.gelu(this.dense.call(hiddenStates));
  }
}

class BertLayer extends nn.Module {
  readonly attention: BertAttention;
  readonly intermediate: BertIntermediate;
  readonly output: BertOutput;

  constructor(config: BertConfig) {
    super();
    this.attention = new BertAttention(config);
    this.intermediate = new BertIntermediate(config);
    this.output = new BertOutput(config, config.intermediateSize);
  }

  override forward(hiddenStates: Tensor, attentionMask: Tensor): Tensor {
    const attentionOutput = this.attention.call(hiddenStates, attentionMask);
    return this.output.call(this.intermediate.call(attentionOutput), attentionOutput);
  }
}

class BertEncoder extends nn.Module {
  readonly layer: nn.ModuleList<BertLayer>;

  constructor(config: BertConfig) {
    super();
    this.layer = new nn.ModuleList(
      Array.from({ length: config.numHiddenLayers }, () => new BertLayer(config)),
    );
  }

  override forward(hiddenStates: Tensor, attentionMask: Tensor): {
    readonly lastHiddenState: Tensor;
    readonly hiddenStates: readonly Tensor[];
  } {
    const allHiddenStates: Tensor[] = [];
    for (const layerModule of this.layer) {
      allHiddenStates.push(hiddenStates);
      hiddenStates = layerModule.call(hiddenStates, attentionMask);
    }
    return { lastHiddenState: hiddenStates, hiddenStates: [...allHiddenStates, hiddenStates] };
  }
}

class BertModel extends nn.Module {
  readonly embeddings: BertEmbeddings;
  readonly encoder: BertEncoder;

  constructor(config: BertConfig) {
    super();
    this.embeddings = new BertEmbeddings(config);
    this.encoder = new BertEncoder(config);
  }

  private extendedAttentionMask(attentionMask: Tensor, like: Tensor): Tensor {
    const extended = attentionMask.at(":", null, null, ":").to(like.dtype);
    return extended.rsub(1).mul(-3.4028234663852886e38);
  }

  override forward(inputIds: Tensor, given: {
    readonly attentionMask?: Tensor;
    readonly tokenTypeIds?: Tensor;
  } = {}) {
    const attentionMask = given.attentionMask ?? onesLike(inputIds);
    const tokenTypeIds = given.tokenTypeIds ?? zerosLike(inputIds);
    const embeddingOutput = this.embeddings.call(inputIds, tokenTypeIds);
    return this.encoder.call(embeddingOutput, this.extendedAttentionMask(attentionMask, embeddingOutput));
  }
}

class BertPredictionHeadTransform extends nn.Module {
  readonly dense: nn.Linear;
  readonly LayerNorm: nn.LayerNorm;

  constructor(config: BertConfig) {
    super();
    this.dense = new nn.Linear(config.hiddenSize, config.hiddenSize);
    this.LayerNorm = new nn.LayerNorm(config.hiddenSize, { eps: 1e-12 });
  }

  override forward(hiddenStates: Tensor): Tensor {
    return this.LayerNorm.call(nn.functional.gelu(this.dense.call(hiddenStates)));
  }
}

class BertLMPredictionHead extends nn.Module {
  readonly transform: BertPredictionHeadTransform;
  readonly decoder: nn.Linear;
  readonly bias: nn.Parameter;

  constructor(config: BertConfig) {
    super();
    this.transform = new BertPredictionHeadTransform(config);
    this.decoder = new nn.Linear(config.hiddenSize, config.vocabSize, { bias: true });
    this.bias = new nn.Parameter(zeros([config.vocabSize]));
    this.decoder.bias = this.bias;
  }

  override forward(hiddenStates: Tensor): Tensor {
    return this.decoder.call(this.transform.call(hiddenStates));
  }
}

class BertForMaskedLM extends nn.Module {
  readonly bert: BertModel;
  readonly cls: BertLMPredictionHead;

  constructor(readonly config: BertConfig) {
    super();
    this.bert = new BertModel(config);
    this.cls = new BertLMPredictionHead(config);
    this.apply((module) => this.initWeights(module));
    this.cls.decoder.weight = this.bert.embeddings.word_embeddings.weight;
  }

  private initWeights(module: nn.Module): void {
    if (module instanceof nn.Linear) {
      nn.init.normal_(module.weight, { mean: 0, std: 0.02 });
      if (module.bias !== null) nn.init.zeros_(module.bias);
    } else if (module instanceof nn.Embedding) {
      nn.init.normal_(module.weight, { std: 0.02 });
    }
  }

  override forward(inputIds: Tensor, given: {
    readonly attentionMask?: Tensor;
    readonly tokenTypeIds?: Tensor;
    readonly labels?: Tensor;
  } = {}): { readonly loss: Tensor | null; readonly logits: Tensor } {
    const { lastHiddenState } = this.bert.call(inputIds, given);
    const logits = this.cls.call(lastHiddenState);
    let loss: Tensor | null = null;
    if (given.labels) {
      const lossFct = new nn.CrossEntropyLoss();
      loss = lossFct.call(logits.view(-1, this.config.vocabSize), given.labels.view(-1));
    }
    return { loss, logits };
  }
}

export const bert: Specimen = {
  name: "bert",
  make({ dropout }) {
    const model = new BertForMaskedLM({
      vocabSize: 24,
      hiddenSize: 8,
      numHiddenLayers: 2,
      numAttentionHeads: 2,
      intermediateSize: 16,
      dropout,
      maxPositionEmbeddings: 12,
      padTokenId: 0,
    });
    const lossOf = (inputIds: Tensor, attentionMask: Tensor, tokenTypeIds: Tensor, labels: Tensor) => {
      const { loss } = model.call(inputIds, { attentionMask, tokenTypeIds, labels });
      if (!loss) throw new Error("A loss");
      return loss;
    };
    const train = () => {
      const noDecay = ["bias", "LayerNorm.weight"];
      const named = model.namedParameters();
      const optimizer = new optim.AdamW([
        {
          params: named.filter(([n]) => !noDecay.some((nd) => n.includes(nd))).map(([, p]) => p),
          weightDecay: 0.01,
        },
        {
          params: named.filter(([n]) => noDecay.some((nd) => n.includes(nd))).map(([, p]) => p),
          weightDecay: 0,
        },
      ], { lr: 0.01, eps: 1e-6 });
      const warmup = 2, total = 12;
      const scheduler = new optim.lrScheduler.LambdaLR(optimizer, (currentStep: number) => {
        if (currentStep < warmup) return currentStep / Math.max(1, warmup);
        return Math.max(0, (total - currentStep) / Math.max(1, total - warmup));
      });
      const step = (inputIds: Tensor, attentionMask: Tensor, tokenTypeIds: Tensor, labels: Tensor) => {
        model.zeroGrad();
        const loss = lossOf(inputIds, attentionMask, tokenTypeIds, labels);
        loss.backward();
        nn.utils.clipGradNorm_(model.parameters(), 1.0);
        optimizer.step();
        return loss.detach();
      };
      return { step, after: () => scheduler.step() };
    };
    return {
      model,
      forward: (inputIds: Tensor, attentionMask: Tensor, tokenTypeIds: Tensor) =>
        model.call(inputIds, { attentionMask, tokenTypeIds }).logits,
      loss: lossOf,
      train,
    };
  },
  random: true,
  counts: { forward: ONE, loss: ONE, step: FIRST_AND_REST },
};
