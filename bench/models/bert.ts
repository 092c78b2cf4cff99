/**
 * A small BERT classifier: embeddings, layers of attention and two linear layers, and the class by the first position.
 */
import { arange, nn, type Tensor } from "../../mod.ts";

const VOCABULARY = 8192, POSITIONS = 512;

interface Sizes {
  readonly layers: number;
  readonly width: number;
  readonly heads: number;
}

class Attention extends nn.Module {
  readonly query: nn.Linear;
  readonly key: nn.Linear;
  readonly value: nn.Linear;
  readonly output: nn.Linear;

  constructor(readonly width: number, readonly heads: number) {
    super();
    this.query = new nn.Linear(width, width);
    this.key = new nn.Linear(width, width);
    this.value = new nn.Linear(width, width);
    this.output = new nn.Linear(width, width);
  }

  split(x: Tensor): Tensor {
    const [batch = 1, length = 1] = x.shape;
    return x.view([batch, length, this.heads, this.width / this.heads]).permute(0, 2, 1, 3);
  }

  override forward(x: Tensor): Tensor {
    const query = this.split(this.query.call(x)), key = this.split(this.key.call(x));
    const value = this.split(this.value.call(x));
    const scores = query.matmul(key.transpose(-1, -2)).div(Math.sqrt(this.width / this.heads));
    const mixed = scores.softmax(-1).matmul(value).permute(0, 2, 1, 3);
    return this.output.call(mixed.reshape([...x.shape]));
  }
}

class Layer extends nn.Module {
  readonly attention: Attention;
  readonly attentionNorm: nn.LayerNorm;
  readonly wide: nn.Linear;
  readonly narrow: nn.Linear;
  readonly norm: nn.LayerNorm;

  constructor({ width, heads }: Sizes) {
    super();
    this.attention = new Attention(width, heads);
    this.attentionNorm = new nn.LayerNorm(width);
    this.wide = new nn.Linear(width, 4 * width);
    this.narrow = new nn.Linear(4 * width, width);
    this.norm = new nn.LayerNorm(width);
  }

  override forward(x: Tensor): Tensor {
    const attended = this.attentionNorm.call(x.add(this.attention.call(x)));
    const wide = nn.functional.gelu(this.wide.call(attended));
    return this.norm.call(attended.add(this.narrow.call(wide)));
  }
}

/** Maps token ids [batch, length] to scores [batch, vocabulary]. */
export class Bert extends nn.Module {
  readonly words: nn.Embedding;
  readonly positions: nn.Embedding;
  readonly norm: nn.LayerNorm;
  readonly layers: nn.ModuleList<Layer>;
  readonly decoder: nn.Linear;

  constructor(sizes: Sizes) {
    super();
    this.words = new nn.Embedding(VOCABULARY, sizes.width);
    this.positions = new nn.Embedding(POSITIONS, sizes.width);
    this.norm = new nn.LayerNorm(sizes.width);
    this.layers = new nn.ModuleList(Array.from({ length: sizes.layers }, () => new Layer(sizes)));
    this.decoder = new nn.Linear(sizes.width, VOCABULARY);
  }

  override forward(words: Tensor): Tensor {
    const positions = this.positions.call(arange(words.size(1)));
    let x = this.norm.call(this.words.call(words).add(positions));
    for (const layer of this.layers) x = layer.call(x);
    return this.decoder.call(x.select(1, 0));
  }
}
