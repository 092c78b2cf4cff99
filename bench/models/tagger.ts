/** A tagger of two bidirectional LSTM layers: token ids [batch, length] to scores of tags [batch × length, 32]. */
import { nn, type Tensor } from "../../mod.ts";

export class Tagger extends nn.Module {
  readonly words: nn.Embedding = new nn.Embedding(10000, 256);
  readonly lstm: nn.LSTM = new nn.LSTM(256, 256, { numLayers: 2, batchFirst: true, bidirectional: true });
  readonly head: nn.Linear = new nn.Linear(512, 32);

  override forward(words: Tensor): Tensor {
    const [out] = this.lstm.call(this.words.call(words));
    return this.head.call(out).flatten(0, 1);
  }
}
