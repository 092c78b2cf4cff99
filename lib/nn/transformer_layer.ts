/**
 * Layers of the Transformer (Vaswani et al. 2017), for sequences [L, N, E] ([N, L, E] with batchFirst, [L, E] without a
 * batch). Invariant: parameters have PyTorch's names and layouts.
 */
import { checkFunction } from "../base/checked_input.ts";
import { checkTensor } from "../tensor/checked.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Arguments, type Trailing, trailing } from "../base/arguments.ts";
import { layerArguments } from "./layer_arguments.ts";
import { MultiheadAttention } from "./attention.ts";
import { Dropout } from "./dropout.ts";
import { gelu, relu } from "./functional.ts";
import { Linear } from "./linear.ts";
import { Module } from "./module.ts";
import type { Placement } from "./placement.ts";
import { LayerNorm } from "./normalization.ts";

/** Options of a layer. */
export interface TransformerLayerOptions extends Placement {
  /** Features between the two linear layers; default 2048. */
  readonly dimFeedforward?: number;
  /** Dropout probability during training. */
  readonly dropout?: number;
  /** The activation between the two linear layers. */
  readonly activation?: "relu" | "gelu" | ((x: Tensor) => Tensor);
  /** The term that normalisations add to variances; default 1e-5. */
  readonly layerNormEps?: number;
  /** Whether the batch is the first dimension of sequences. */
  readonly batchFirst?: boolean;
  /** Whether each part begins with its normalisation instead of ending with it. */
  readonly normFirst?: boolean;
  /** Whether there are biases; default true. */
  readonly bias?: boolean;
}

/** Sizes of a layer. */
export interface TransformerSizes {
  /** Features of each element of a sequence. */
  readonly dModel: number;
  /** Number of attention heads. */
  readonly nhead: number;
}

const LAYER = {
  required: ["dModel", "nhead"],
  counts: ["dModel", "nhead"],
  positional: [
    "dimFeedforward",
    "dropout",
    "activation",
    "layerNormEps",
    "batchFirst",
    "normFirst",
    "bias",
    "device",
    "dtype",
  ],
  flags: { batchFirst: true, bias: true, normFirst: true },
} as const;

type LayerArguments = Arguments<TransformerSizes, TransformerLayerOptions, typeof LAYER>;

/** Options of a layer, including defaults. */
interface LayerParts {
  readonly attention: () => MultiheadAttention;
  readonly wide: () => Linear;
  readonly narrow: () => Linear;
  readonly norm: () => LayerNorm;
  readonly dropout: () => Dropout;
  readonly normFirst: boolean;
  readonly activation: (x: Tensor) => Tensor;
}

function partsOf(owner: string, given: LayerArguments): LayerParts {
  const options = layerArguments<TransformerSizes, TransformerLayerOptions>(owner, LAYER, given);
  const { dModel, nhead, dimFeedforward = 2048, dropout = 0.1, layerNormEps: eps = 1e-5, bias = true } =
    options;
  const { batchFirst = false, activation = "relu", normFirst = false } = options;
  const place = { device: options.device, dtype: options.dtype };
  return {
    attention: () => new MultiheadAttention(dModel, nhead, { dropout, bias, batchFirst, ...place }),
    wide: () => new Linear(dModel, dimFeedforward, { bias, ...place }),
    narrow: () => new Linear(dimFeedforward, dModel, { bias, ...place }),
    norm: () => new LayerNorm(dModel, { eps, bias, ...place }),
    dropout: () => new Dropout(dropout),
    normFirst,
    activation: activationOf(activation),
  };
}

/** Returns the activation with a name, or the given function. Throws DynError for another name. */
function activationOf(given: "relu" | "gelu" | ((x: Tensor) => Tensor)): (x: Tensor) => Tensor {
  if (given === "relu") return relu;
  if (given === "gelu") return gelu;
  checkFunction(given, 'as activation, or "relu" or "gelu",');
  return given;
}

/** The masks of one attention. */
interface Masks {
  readonly attnMask: Tensor | null;
  readonly keyPaddingMask: Tensor | null;
  readonly isCausal: boolean;
}

/** The parts that both kinds of layers have. */
interface Layer {
  readonly self_attn: MultiheadAttention;
  readonly dropout1: Dropout;
  readonly linear1: Linear;
  readonly activation: (x: Tensor) => Tensor;
  readonly dropout: Dropout;
  readonly linear2: Linear;
}

/** Self-attention of a sequence, followed by dropout. */
function attended({ self_attn, dropout1 }: Layer, x: Tensor, masks: Masks): Tensor {
  const [mixed] = self_attn.call(x, x, x, { ...masks, needWeights: false });
  return dropout1.call(mixed);
}

/** The feed-forward part, followed by dropout. */
function fed({ linear1, activation, dropout, linear2 }: Layer, behind: Dropout, x: Tensor): Tensor {
  return behind.call(linear2.call(dropout.call(activation(linear1.call(x)))));
}

/** Options of a call of an encoder's layer. */
export interface EncoderLayerCall {
  /** [L, L] or [N · heads, L, L]: true where a position may not attend to another, or numbers to add to scores. */
  readonly srcMask?: Tensor | null;
  /** [N, L], true (or −∞) for positions to ignore. */
  readonly srcKeyPaddingMask?: Tensor | null;
  /** A hint that srcMask is causal. */
  readonly isCausal?: boolean;
}

const ENCODER_LAYER_CALL = ["srcMask", "srcKeyPaddingMask", "isCausal"] as const;

/** Self-attention and a feed-forward part, each added to its input, as torch.nn.TransformerEncoderLayer. */
export class TransformerEncoderLayer extends Module {
  /** Whether each part begins with its normalisation instead of ending with it. */
  readonly normFirst: boolean;
  /** The activation between the two linear layers. */
  readonly activation: (x: Tensor) => Tensor;
  /** The self-attention. */
  readonly self_attn: MultiheadAttention;
  /** The first linear layer of the feed-forward part. */
  readonly linear1: Linear;
  /** The dropout between the two linear layers. */
  readonly dropout: Dropout;
  /** The second linear layer of the feed-forward part. */
  readonly linear2: Linear;
  /** The normalisation of the first part. */
  readonly norm1: LayerNorm;
  /** The normalisation of the second part. */
  readonly norm2: LayerNorm;
  /** The dropout after the first part. */
  readonly dropout1: Dropout;
  /** The dropout after the second part. */
  readonly dropout2: Dropout;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: LayerArguments) {
    super();
    const parts = partsOf("TransformerEncoderLayer", given);
    this.normFirst = parts.normFirst;
    this.activation = parts.activation;
    this.self_attn = parts.attention();
    this.linear1 = parts.wide();
    this.dropout = parts.dropout();
    this.linear2 = parts.narrow();
    this.norm1 = parts.norm();
    this.norm2 = parts.norm();
    this.dropout1 = parts.dropout();
    this.dropout2 = parts.dropout();
  }

  /** The output of the layer. */
  override forward(src: Tensor, ...given: Trailing<EncoderLayerCall, typeof ENCODER_LAYER_CALL>): Tensor {
    const call = trailing<EncoderLayerCall>("TransformerEncoderLayer", {
      positional: ENCODER_LAYER_CALL,
      flags: { isCausal: true },
    }, given);
    checkTensor(src, "TransformerEncoderLayer");
    const { srcMask: attnMask = null, srcKeyPaddingMask: keyPaddingMask = null, isCausal = false } = call;
    const masks = { attnMask, keyPaddingMask, isCausal };
    if (this.normFirst) {
      const x = src.add(attended(this, this.norm1.call(src), masks));
      return x.add(fed(this, this.dropout2, this.norm2.call(x)));
    }
    const x = this.norm1.call(src.add(attended(this, src, masks)));
    return this.norm2.call(x.add(fed(this, this.dropout2, x)));
  }
}

/** Options of a call of a decoder or its layer; masks have the same form as the encoder's. */
export interface DecoderCall {
  /**
   * [T, T] or [N · heads, T, T]: true where a target position may not attend to another, or numbers to add to scores.
   */
  readonly tgtMask?: Tensor | null;
  /** [T, S]: true where a target position may not attend to a memory position, or numbers to add to scores. */
  readonly memoryMask?: Tensor | null;
  /** [N, T], true for target positions to ignore. */
  readonly tgtKeyPaddingMask?: Tensor | null;
  /** [N, S], true for memory positions to ignore. */
  readonly memoryKeyPaddingMask?: Tensor | null;
  /** A hint that tgtMask is causal. */
  readonly tgtIsCausal?: boolean;
  /** A hint that memoryMask is causal. */
  readonly memoryIsCausal?: boolean;
}

/** The arguments of a decoder after its sequences. */
export const DECODER_ARGUMENTS = {
  positional: [
    "tgtMask",
    "memoryMask",
    "tgtKeyPaddingMask",
    "memoryKeyPaddingMask",
    "tgtIsCausal",
    "memoryIsCausal",
  ],
  flags: { memoryIsCausal: true, tgtIsCausal: true },
} as const;

/** Their accepted forms. */
export type DecoderArguments = Trailing<DecoderCall, (typeof DECODER_ARGUMENTS)["positional"]>;

/**
 * Self-attention, attention to the encoder's memory and a feed-forward part, each added to its input, as
 * torch.nn.TransformerDecoderLayer.
 */
export class TransformerDecoderLayer extends Module {
  /** Whether each part begins with its normalisation instead of ending with it. */
  readonly normFirst: boolean;
  /** The activation between the two linear layers. */
  readonly activation: (x: Tensor) => Tensor;
  /** The self-attention of the target. */
  readonly self_attn: MultiheadAttention;
  /** The attention to the encoder's memory. */
  readonly multihead_attn: MultiheadAttention;
  /** The first linear layer of the feed-forward part. */
  readonly linear1: Linear;
  /** The dropout between the two linear layers. */
  readonly dropout: Dropout;
  /** The second linear layer of the feed-forward part. */
  readonly linear2: Linear;
  /** The normalisation of the first part. */
  readonly norm1: LayerNorm;
  /** The normalisation of the second part. */
  readonly norm2: LayerNorm;
  /** The normalisation of the third part. */
  readonly norm3: LayerNorm;
  /** The dropout after the first part. */
  readonly dropout1: Dropout;
  /** The dropout after the second part. */
  readonly dropout2: Dropout;
  /** The dropout after the third part. */
  readonly dropout3: Dropout;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: LayerArguments) {
    super();
    const parts = partsOf("TransformerDecoderLayer", given);
    this.normFirst = parts.normFirst;
    this.activation = parts.activation;
    this.self_attn = parts.attention();
    this.multihead_attn = parts.attention();
    this.linear1 = parts.wide();
    this.dropout = parts.dropout();
    this.linear2 = parts.narrow();
    this.norm1 = parts.norm();
    this.norm2 = parts.norm();
    this.norm3 = parts.norm();
    this.dropout1 = parts.dropout();
    this.dropout2 = parts.dropout();
    this.dropout3 = parts.dropout();
  }

  /** Attention to the memory, followed by dropout. */
  private remember(x: Tensor, memory: Tensor, masks: Masks): Tensor {
    const [mixed] = this.multihead_attn.call(x, memory, memory, { ...masks, needWeights: false });
    return this.dropout2.call(mixed);
  }

  /** The output of the layer. */
  override forward(tgt: Tensor, memory: Tensor, ...given: DecoderArguments): Tensor {
    const call = trailing<DecoderCall>("TransformerDecoderLayer", DECODER_ARGUMENTS, given);
    for (const each of [tgt, memory]) checkTensor(each, "TransformerDecoderLayer");
    const own = {
      attnMask: call.tgtMask ?? null,
      keyPaddingMask: call.tgtKeyPaddingMask ?? null,
      isCausal: call.tgtIsCausal ?? false,
    };
    const other = {
      attnMask: call.memoryMask ?? null,
      keyPaddingMask: call.memoryKeyPaddingMask ?? null,
      isCausal: call.memoryIsCausal ?? false,
    };
    if (this.normFirst) {
      const x = tgt.add(attended(this, this.norm1.call(tgt), own));
      const y = x.add(this.remember(this.norm2.call(x), memory, other));
      return y.add(fed(this, this.dropout3, this.norm3.call(y)));
    }
    const x = this.norm1.call(tgt.add(attended(this, tgt, own)));
    const y = this.norm2.call(x.add(this.remember(x, memory, other)));
    return this.norm3.call(y.add(fed(this, this.dropout3, y)));
  }
}
