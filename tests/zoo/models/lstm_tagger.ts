/**
 * A sequence tagger as tutorials write it: embeddings with padding, a bidirectional LSTM of two layers, dropout, tags
 * scored at every position, padding ignored by the loss; SGD with momentum and gradients clipped by value. And a GRU
 * classifier that starts from a learnt state and reads its last one; Adam with AMSGrad.
 */
import { cat, nn, optim, type Tensor, zeros } from "../../../mod.ts";
import { FIRST_AND_REST, ONE, type Specimen } from "../specimen.ts";

class LSTMTagger extends nn.Module {
  readonly word_embeddings: nn.Embedding;
  readonly lstm: nn.LSTM;
  readonly dropout: nn.Dropout;
  readonly hidden2tag: nn.Linear;

  constructor(vocabSize: number, tagsetSize: number, options: {
    readonly embeddingDim: number;
    readonly hiddenDim: number;
    readonly dropout: number;
  }) {
    super();
    this.word_embeddings = new nn.Embedding(vocabSize, options.embeddingDim, { paddingIdx: 0 });
    this.lstm = new nn.LSTM(options.embeddingDim, options.hiddenDim, {
      numLayers: 2,
      bidirectional: true,
      dropout: options.dropout,
      batchFirst: true,
    });
    this.dropout = new nn.Dropout(options.dropout);
    this.hidden2tag = new nn.Linear(2 * options.hiddenDim, tagsetSize);
    for (const [name, param] of this.lstm.namedParameters()) {
      if (name.includes("weight_hh")) nn.init.orthogonal_(param);
      else if (name.includes("weight_ih")) nn.init.xavierUniform_(param);
      else nn.init.zeros_(param);
    }
  }

  override forward(sentence: Tensor): Tensor {
    const embeds = this.dropout.call(this.word_embeddings.call(sentence));
    const [lstmOut] = this.lstm.call(embeds);
    return this.hidden2tag.call(this.dropout.call(lstmOut));
  }
}

export const lstmTagger: Specimen = {
  name: "lstm_tagger",
  make({ dropout }) {
    const model = new LSTMTagger(12, 4, { embeddingDim: 5, hiddenDim: 4, dropout });
    const lossFunction = new nn.CrossEntropyLoss({ ignoreIndex: -1 });
    const lossOf = (sentence: Tensor, tags: Tensor) =>
      lossFunction.call(model.call(sentence).flatten(0, 1), tags.flatten());
    const train = () => {
      const optimizer = new optim.SGD(model.parameters(), { lr: 0.5, momentum: 0.9 });
      const scheduler = new optim.lrScheduler.MultiStepLR(optimizer, { milestones: [4, 7], gamma: 0.3 });
      const step = (sentence: Tensor, tags: Tensor) => {
        model.zeroGrad();
        const loss = lossOf(sentence, tags);
        loss.backward();
        nn.utils.clipGradValue_(model.parameters(), { clipValue: 0.05 });
        optimizer.step();
        return loss.detach();
      };
      return { step, after: () => scheduler.step() };
    };
    return { model, forward: (sentence) => model.call(sentence), loss: lossOf, train };
  },
  random: true,
  counts: { forward: ONE, loss: ONE, step: FIRST_AND_REST },
};

class GRUClassifier extends nn.Module {
  readonly h0: nn.Parameter;
  readonly gru: nn.GRU;
  readonly cell: nn.GRUCell;
  readonly fc: nn.Sequential;

  constructor(inputSize: number, readonly hiddenSize: number, numClasses: number) {
    super();
    this.h0 = new nn.Parameter(zeros([2, 1, hiddenSize]));
    this.gru = new nn.GRU({ inputSize, hiddenSize, numLayers: 2 });
    this.cell = new nn.GRUCell(hiddenSize, hiddenSize);
    this.fc = new nn.Sequential(
      new nn.Linear(2 * hiddenSize, hiddenSize),
      new nn.Tanh(),
      new nn.Linear(hiddenSize, numClasses),
    );
  }

  override forward(x: Tensor): Tensor {
    const batchSize = x.size(1);
    const [output, hn] = this.gru.call(x, this.h0.expand(-1, batchSize, -1).contiguous());
    let state = hn.at(-1);
    for (let t = 0; t < 3; t++) state = this.cell.call(output.at(t), state);
    return this.fc.call(cat([state, output.mean(0)], 1));
  }
}

export const gruClassifier: Specimen = {
  name: "gru_classifier",
  make() {
    const model = new GRUClassifier(3, 4, 3);
    const lossOf = (x: Tensor, target: Tensor) =>
      nn.functional.nllLoss(nn.functional.logSoftmax(model.call(x), 1), target);
    const train = () => {
      const optimizer = new optim.Adam(model.parameters(), { lr: 0.02, amsgrad: true });
      const step = (x: Tensor, target: Tensor) => {
        optimizer.zeroGrad();
        const loss = lossOf(x, target);
        loss.backward();
        nn.utils.clipGradNorm_(model.gru.parameters(), 0.25);
        optimizer.step();
        return loss.detach();
      };
      return { step };
    };
    return { model, forward: (x) => model.call(x), loss: lossOf, train };
  },
  counts: { forward: ONE, loss: ONE, step: ONE },
};
