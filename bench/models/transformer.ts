/** Transformers in three forms: BERT's encoder, GPT-2 with its cache of keys and values, and the vision transformer. */
import { arange, cat, nn, type Tensor, zeros } from "../../mod.ts";

const F = nn.functional;

export interface Sizes {
  readonly layers: number;
  readonly width: number;
  readonly heads: number;
}

/** BERT-base, GPT-2 with 124 million parameters, and ViT-B. */
export const BASE: Sizes = { layers: 12, width: 768, heads: 12 };

/** Keys and values of one layer [batch, heads, length, width of a head]. */
export type Past = readonly [Tensor, Tensor];

interface Form {
  /**
   * Whether layer norms precede attention and linear layers, as in GPT-2, or follow their residual sums, as in BERT.
   */
  readonly preNorm: boolean;
  /** Whether a position attends only to itself and earlier ones. */
  readonly causal: boolean;
}

class Block extends nn.Module {
  readonly norm1: nn.LayerNorm;
  readonly projections: nn.Linear;
  readonly out: nn.Linear;
  readonly norm2: nn.LayerNorm;
  readonly wide: nn.Linear;
  readonly narrow: nn.Linear;

  constructor(readonly sizes: Sizes, readonly form: Form) {
    super();
    const { width } = sizes;
    this.norm1 = new nn.LayerNorm(width);
    this.projections = new nn.Linear(width, 3 * width);
    this.out = new nn.Linear(width, width);
    this.norm2 = new nn.LayerNorm(width);
    this.wide = new nn.Linear(width, 4 * width);
    this.narrow = new nn.Linear(4 * width, width);
  }

  attend(x: Tensor, past: Past | null): [Tensor, Past] {
    const [batch = 1, length = 1, width = 1] = x.shape, { heads } = this.sizes;
    const split = (part: Tensor) => part.view(batch, length, heads, width / heads).transpose(1, 2);
    const [query = x, key = x, value = x] = this.projections.call(x).chunk(3, -1).map(split);
    const keys = past ? cat([past[0], key], 2) : key, values = past ? cat([past[1], value], 2) : value;
    const isCausal = this.form.causal && past === null;
    const mixed = F.scaledDotProductAttention(query, keys, values, { isCausal });
    return [this.out.call(mixed.transpose(1, 2).reshape(batch, length, width)), [keys, values]];
  }

  widen(x: Tensor): Tensor {
    return this.narrow.call(F.gelu(this.wide.call(x)));
  }

  override forward(x: Tensor, past: Past | null = null): [Tensor, Past] {
    if (this.form.preNorm) {
      const [attended, present] = this.attend(this.norm1.call(x), past);
      const sum = x.add(attended);
      return [sum.add(this.widen(this.norm2.call(sum))), present];
    }
    const [attended, present] = this.attend(x, past), sum = this.norm1.call(x.add(attended));
    return [this.norm2.call(sum.add(this.widen(sum))), present];
  }
}

const blocks = (sizes: Sizes, form: Form) =>
  new nn.ModuleList(Array.from({ length: sizes.layers }, () => new Block(sizes, form)));

/** BERT (Devlin et al. 2018) as a classifier by its first position: token ids [batch, length] to scores [batch, 2]. */
export class BertClassifier extends nn.Module {
  readonly words: nn.Embedding;
  readonly places: nn.Embedding;
  readonly norm: nn.LayerNorm;
  readonly blocks: nn.ModuleList<Block>;
  readonly head: nn.Linear;

  constructor(sizes: Sizes) {
    super();
    this.words = new nn.Embedding(30522, sizes.width);
    this.places = new nn.Embedding(512, sizes.width);
    this.norm = new nn.LayerNorm(sizes.width);
    this.blocks = blocks(sizes, { preNorm: false, causal: false });
    this.head = new nn.Linear(sizes.width, 2);
  }

  override forward(words: Tensor): Tensor {
    let x = this.norm.call(this.words.call(words).add(this.places.call(arange(words.size(1)))));
    for (const block of this.blocks) [x] = block.call(x);
    return this.head.call(x.select(1, 0));
  }
}

/** GPT-2 (Radford et al. 2019): token ids [batch, length] to scores of the next ones [batch, length, 50257]. */
export class Gpt2 extends nn.Module {
  readonly words: nn.Embedding;
  readonly places: nn.Embedding;
  readonly blocks: nn.ModuleList<Block>;
  readonly norm: nn.LayerNorm;

  constructor(sizes: Sizes, vocabulary = 50257) {
    super();
    this.words = new nn.Embedding(vocabulary, sizes.width);
    this.places = new nn.Embedding(1024, sizes.width);
    this.blocks = blocks(sizes, { preNorm: true, causal: true });
    this.norm = new nn.LayerNorm(sizes.width);
    for (const { weight } of [this.words, this.places]) nn.init.normal_(weight, 0, 0.02);
  }

  scores(x: Tensor): Tensor {
    return F.linear(this.norm.call(x), this.words.weight);
  }

  override forward(words: Tensor): Tensor {
    let x = this.words.call(words).add(this.places.call(arange(words.size(1))));
    for (const block of this.blocks) [x] = block.call(x);
    return this.scores(x);
  }

  /** The likeliest token after the given ones [batch, 1], and the extended cache. */
  next(words: Tensor, past: readonly Past[] | null): [Tensor, Past[]] {
    const before = past?.[0]?.[0].size(2) ?? 0, presents: Past[] = [];
    let x = this.words.call(words).add(this.places.call(arange(before, before + words.size(1))));
    for (const [layer, block] of [...this.blocks].entries()) {
      const [out, present] = block.call(x, past?.[layer] ?? null);
      x = out;
      presents.push(present);
    }
    return [this.scores(x.at(":", "-1:")).argmax(-1), presents];
  }
}

/** ViT with patches of 16² (Dosovitskiy et al. 2020): images [batch, 3, 224, 224] to scores [batch, 1000]. */
export class VisionTransformer extends nn.Module {
  readonly patches: nn.Conv2d;
  readonly first: nn.Parameter;
  readonly places: nn.Parameter;
  readonly blocks: nn.ModuleList<Block>;
  readonly norm: nn.LayerNorm;
  readonly head: nn.Linear;

  constructor(sizes: Sizes) {
    super();
    const { width } = sizes;
    this.patches = new nn.Conv2d(3, width, 16, { stride: 16 });
    this.first = new nn.Parameter(zeros([1, 1, width]));
    this.places = new nn.Parameter(zeros([1, 197, width]));
    this.blocks = blocks(sizes, { preNorm: true, causal: false });
    this.norm = new nn.LayerNorm(width);
    this.head = new nn.Linear(width, 1000);
  }

  override forward(images: Tensor): Tensor {
    const patches = this.patches.call(images).flatten(2).transpose(1, 2);
    let x = cat([this.first.expand(images.size(0), -1, -1), patches], 1).add(this.places);
    for (const block of this.blocks) [x] = block.call(x);
    return this.head.call(this.norm.call(x).select(1, 0));
  }
}
