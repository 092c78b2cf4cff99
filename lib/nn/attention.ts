/**
 * Attention layers: multi-head attention and the encoder of the Transformer (Vaswani et al. 2017). Input:
 * sequences [L, N, E] ([N, L, E] with batchFirst, [L, E] without a batch); output: the same shapes. Invariant:
 * parameters have PyTorch's names and layouts.
 */
import { DynError } from "../base/errors.ts";
import {
  dropout,
  empty,
  linear,
  scaledDotProductAttention,
  softmax,
  where,
  zeros,
} from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Arguments, argumentsOf, type Trailing, trailing } from "../base/arguments.ts";
import { ModuleList } from "./container.ts";
import { Dropout } from "./dropout.ts";
import { gelu, relu } from "./functional.ts";
import { xavierUniform_, zeros_ } from "./init.ts";
import { Linear } from "./linear.ts";
import { Module } from "./module.ts";
import { LayerNorm } from "./normalization.ts";
import { Parameter } from "./parameter.ts";

/** Options of multi-head attention. */
export interface MultiheadAttentionOptions {
  /** Of attention weights, while training. */
  readonly dropout?: number;
  /** Whether there are biases; true unless given. */
  readonly bias?: boolean;
  /** Whether the batch is the first dimension of sequences; false unless given. */
  readonly batchFirst?: boolean;
}

/** Sizes of multi-head attention. */
export interface AttentionSizes {
  /** Features of queries and results. */
  readonly embedDim: number;
  /** How many heads share them. */
  readonly numHeads: number;
}

const ATTENTION = {
  required: ["embedDim", "numHeads"],
  positional: ["dropout", "bias"],
  named: ["batchFirst"],
} as const;

/** What a call of multi-head attention may be told. */
export interface AttentionCall {
  /** [N, S], true (or −∞) for keys to ignore. */
  readonly keyPaddingMask?: Tensor | null;
  /** Whether the weights are a result too. */
  readonly needWeights?: boolean;
  /** [L, S] or [N · heads, L, S]: true where a query may not look, or numbers to add. */
  readonly attnMask?: Tensor | null;
  /** Weights averaged over heads, or one set a head. */
  readonly averageAttnWeights?: boolean;
  /** A hint that attnMask is causal. */
  readonly isCausal?: boolean;
}

const CALL = ["keyPaddingMask", "needWeights", "attnMask", "averageAttnWeights", "isCausal"] as const;

/** A mask as numbers to add to scores. */
const additive = (mask: Tensor, like: Tensor): Tensor =>
  mask.dtype === "bool"
    ? where(mask, -Infinity, zeros([], { dtype: like.dtype, device: like.device }))
    : mask.to(like.dtype);

/** Attention of several heads side by side, as torch.nn.MultiheadAttention with equal key and value sizes. */
export class MultiheadAttention extends Module {
  /** Features of queries and results. */
  readonly embedDim: number;
  /** How many heads share them. */
  readonly numHeads: number;
  /** The share of attention weights that training drops. */
  readonly dropout: number;
  /** Whether the batch is the first dimension. */
  readonly batchFirst: boolean;
  /** Features of each head. */
  readonly headDim: number;
  /** [3 · embedDim, embedDim]: of queries, keys and values. */
  inProjWeight: Parameter;
  /** [3 · embedDim] */
  inProjBias: Parameter | null;
  /** The projection of the joined heads. */
  readonly outProj: Linear;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<AttentionSizes, MultiheadAttentionOptions, typeof ATTENTION>) {
    super();
    const options = argumentsOf<AttentionSizes, MultiheadAttentionOptions>(
      "MultiheadAttention",
      ATTENTION,
      given,
    );
    const { embedDim, numHeads } = options;
    this.embedDim = embedDim;
    this.numHeads = numHeads;
    if (embedDim % numHeads !== 0) {
      throw new DynError(`Expected embedDim divisible by ${numHeads} heads but found ${embedDim}`);
    }
    this.headDim = embedDim / numHeads;
    this.dropout = options.dropout ?? 0;
    this.batchFirst = options.batchFirst ?? false;
    const bias = options.bias ?? true;
    this.inProjWeight = new Parameter(empty([3 * embedDim, embedDim]));
    this.inProjBias = bias ? new Parameter(zeros([3 * embedDim])) : null;
    this.outProj = new Linear(embedDim, embedDim, { bias });
    Object.assign(this.stateKeys, {
      inProjWeight: "in_proj_weight",
      inProjBias: "in_proj_bias",
      outProj: "out_proj",
    });
    xavierUniform_(this.inProjWeight);
    if (this.outProj.bias) zeros_(this.outProj.bias);
  }

  /** One of the three projections, split into heads: [N, heads, L, headDim]. */
  private heads(x: Tensor, part: number): Tensor {
    const { embedDim, numHeads, headDim } = this;
    const weight = this.inProjWeight.narrow(0, part * embedDim, embedDim);
    const bias = this.inProjBias ? this.inProjBias.narrow(0, part * embedDim, embedDim) : null;
    const [n = 1, l = 1] = x.shape;
    return linear(x, weight, bias).reshape(n, l, numHeads, headDim).transpose(1, 2);
  }

  /** The output of the layer. */
  override forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    ...given: Trailing<AttentionCall, typeof CALL>
  ): [Tensor, Tensor | null] {
    const call = trailing<AttentionCall>("MultiheadAttention", CALL, given);
    const single = query.ndim === 2, { attnMask = null, keyPaddingMask = null } = call;
    if (call.isCausal && !attnMask) {
      throw new DynError("Expected attnMask where isCausal is true but found none");
    }
    const batched = (x: Tensor) => single ? x.unsqueeze(0) : this.batchFirst ? x : x.transpose(0, 1);
    const q = this.heads(batched(query), 0);
    const k = this.heads(batched(key), 1);
    const v = this.heads(batched(value), 2);
    const [n = 1, , l = 1] = q.shape, s = k.shape[2] ?? 1;
    let mask: Tensor | null = null;
    if (attnMask) {
      const wide = attnMask.ndim === 3 ? attnMask.reshape(n, this.numHeads, l, s) : attnMask;
      mask = additive(wide, q);
    }
    if (keyPaddingMask) {
      const keys = additive(keyPaddingMask, q).reshape(n, 1, 1, s);
      mask = mask ? mask.add(keys) : keys;
    }
    const rate = this.training ? this.dropout : 0;
    let weights: Tensor | null = null, mixed: Tensor;
    if (call.needWeights ?? true) {
      const scores = q.mul(1 / Math.sqrt(this.headDim)).matmul(k.transpose(-2, -1));
      const shares = softmax(mask ? scores.add(mask) : scores, -1);
      const kept = rate > 0 ? dropout(shares, rate, true) : shares;
      mixed = kept.matmul(v);
      weights = call.averageAttnWeights ?? true ? kept.mean(1) : kept;
      if (single) weights = weights.squeeze(0);
    } else {
      mixed = scaledDotProductAttention(q, k, v, mask, rate);
    }
    const joined = this.outProj.call(mixed.transpose(1, 2).reshape(n, l, this.embedDim));
    return [single ? joined.squeeze(0) : this.batchFirst ? joined : joined.transpose(0, 1), weights];
  }

  /** What stands between the parentheses of its printed form. */
  override extraRepr(): string {
    return `${this.embedDim}, ${this.numHeads}`;
  }
}

/** Options of a layer of the encoder. */
export interface TransformerOptions {
  /** Features between the two linear layers; 2048 unless given. */
  readonly dimFeedforward?: number;
  /** The share that training drops; 0.1 unless given. */
  readonly dropout?: number;
  /** Between the two linear layers; "relu" unless given. */
  readonly activation?: "relu" | "gelu" | ((x: Tensor) => Tensor);
  /** What normalisations add to variances; 1e-5 unless given. */
  readonly layerNormEps?: number;
  /** Whether the batch is the first dimension of sequences; false unless given. */
  readonly batchFirst?: boolean;
  /** Whether each part starts with its normalisation instead of ending with it. */
  readonly normFirst?: boolean;
  /** Whether there are biases; true unless given. */
  readonly bias?: boolean;
}

/** Sizes of a layer of the encoder. */
export interface TransformerSizes {
  /** Features of each element of a sequence. */
  readonly dModel: number;
  /** Heads of the attention. */
  readonly nhead: number;
}

const ENCODER = {
  required: ["dModel", "nhead"],
  positional: [
    "dimFeedforward",
    "dropout",
    "activation",
    "layerNormEps",
    "batchFirst",
    "normFirst",
    "bias",
  ],
} as const;

/** Self-attention and a feed-forward part, each added to its input, as torch.nn.TransformerEncoderLayer. */
export class TransformerEncoderLayer extends Module {
  /** Whether normalisation comes before each part, not after it. */
  readonly normFirst: boolean;
  /** Between the two linear layers. */
  readonly activation: (x: Tensor) => Tensor;
  /** The attention of a sequence to itself. */
  readonly self_attn: MultiheadAttention;
  /** The first linear layer of the feed-forward part. */
  readonly linear1: Linear;
  /** The share of attention weights that training drops. */
  readonly dropout: Dropout;
  /** The second linear layer of the feed-forward part. */
  readonly linear2: Linear;
  /** The normalisation of the attention. */
  readonly norm1: LayerNorm;
  /** The normalisation of the feed-forward part. */
  readonly norm2: LayerNorm;
  /** The dropout behind the attention. */
  readonly dropout1: Dropout;
  /** The dropout behind the feed-forward part. */
  readonly dropout2: Dropout;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<TransformerSizes, TransformerOptions, typeof ENCODER>) {
    super();
    const options = argumentsOf<TransformerSizes, TransformerOptions>(
      "TransformerEncoderLayer",
      ENCODER,
      given,
    );
    const { dModel, nhead } = options;
    const { dimFeedforward = 2048, dropout: p = 0.1, layerNormEps: eps = 1e-5, bias = true } = options;
    const { batchFirst = false, activation = "relu" } = options;
    this.normFirst = options.normFirst ?? false;
    this.activation = activation === "relu" ? relu : activation === "gelu" ? gelu : activation;
    this.self_attn = new MultiheadAttention(dModel, nhead, { dropout: p, bias, batchFirst });
    this.linear1 = new Linear(dModel, dimFeedforward, { bias });
    this.dropout = new Dropout(p);
    this.linear2 = new Linear(dimFeedforward, dModel, { bias });
    this.norm1 = new LayerNorm(dModel, { eps, bias });
    this.norm2 = new LayerNorm(dModel, { eps, bias });
    this.dropout1 = new Dropout(p);
    this.dropout2 = new Dropout(p);
  }

  /** The attention part, with its dropout. */
  private attend(x: Tensor, attnMask: Tensor | null, keyPaddingMask: Tensor | null): Tensor {
    const [mixed] = this.self_attn.call(x, x, x, { attnMask, keyPaddingMask, needWeights: false });
    return this.dropout1.call(mixed);
  }

  /** The feed-forward part. */
  private feed(x: Tensor): Tensor {
    return this.dropout2.call(this.linear2.call(this.dropout.call(this.activation(this.linear1.call(x)))));
  }

  /** The output of the layer. */
  override forward(
    src: Tensor,
    srcMask: Tensor | null = null,
    srcKeyPaddingMask: Tensor | null = null,
  ): Tensor {
    if (this.normFirst) {
      const x = src.add(this.attend(this.norm1.call(src), srcMask, srcKeyPaddingMask));
      return x.add(this.feed(this.norm2.call(x)));
    }
    const x = this.norm1.call(src.add(this.attend(src, srcMask, srcKeyPaddingMask)));
    return this.norm2.call(x.add(this.feed(x)));
  }
}

interface Stack {
  readonly encoderLayer: TransformerEncoderLayer;
  readonly numLayers: number;
}

interface StackOptions {
  readonly norm?: LayerNorm | null;
}

const STACK = { required: ["encoderLayer", "numLayers"], positional: ["norm"] } as const;

/** Layers of an encoder one after the other, as torch.nn.TransformerEncoder: copies of the one given. */
export class TransformerEncoder extends Module {
  /** The layers, in order. */
  readonly layers: ModuleList<TransformerEncoderLayer>;
  /** How many layers there are. */
  readonly numLayers: number;
  /** A last normalisation, or null. */
  readonly norm: LayerNorm | null;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<Stack, StackOptions, typeof STACK>) {
    super();
    const options = argumentsOf<Stack, StackOptions>("TransformerEncoder", STACK, given);
    const { encoderLayer, numLayers, norm = null } = options;
    this.numLayers = numLayers;
    this.layers = new ModuleList(Array.from({ length: numLayers }, () => encoderLayer.clone()));
    this.norm = norm;
  }

  /** The output of the layer. */
  override forward(
    src: Tensor,
    mask: Tensor | null = null,
    srcKeyPaddingMask: Tensor | null = null,
  ): Tensor {
    let x = src;
    for (const layer of this.layers) x = layer.call(x, mask, srcKeyPaddingMask);
    return this.norm ? this.norm.call(x) : x;
  }
}
