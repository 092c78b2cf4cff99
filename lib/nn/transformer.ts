/**
 * The Transformer (Vaswani et al. 2017): encoder and decoder layers, stacks of them, and the complete model, for
 * sequences [L, N, E] ([N, L, E] with batchFirst, [L, E] without a batch). Invariant: parameters have PyTorch's names
 * and layouts.
 */
import { checkTensor } from "../tensor/checked.ts";
import { checkFunction } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import type { DType } from "../base/dtype.ts";
import { full, triu } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Arguments, argumentsOf, type Trailing, trailing } from "../base/arguments.ts";
import { MultiheadAttention } from "./attention.ts";
import { ModuleList } from "./container.ts";
import { Dropout } from "./dropout.ts";
import { gelu, relu } from "./functional.ts";
import { xavierUniform_ } from "./init.ts";
import { Linear } from "./linear.ts";
import { checkModule, Module } from "./module.ts";
import type { Placement } from "./placement.ts";
import { LayerNorm } from "./normalization.ts";

/** Options of a layer. */
export interface TransformerLayerOptions extends Placement {
  /** Features between the two linear layers; default 2048. */
  readonly dimFeedforward?: number;
  /** The share that training drops. */
  readonly dropout?: number;
  /** Between the two linear layers. */
  readonly activation?: "relu" | "gelu" | ((x: Tensor) => Tensor);
  /** The number that normalisations add to variances; default 1e-5. */
  readonly layerNormEps?: number;
  /** Whether the batch is the first dimension of sequences. */
  readonly batchFirst?: boolean;
  /** Whether each part starts with its normalisation instead of ending with it. */
  readonly normFirst?: boolean;
  /** Whether there are biases; default true. */
  readonly bias?: boolean;
}

/** Sizes of a layer. */
export interface TransformerSizes {
  /** Features of each element of a sequence. */
  readonly dModel: number;
  /** Heads of the attention. */
  readonly nhead: number;
}

const LAYER = {
  required: ["dModel", "nhead"],
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
} as const;

type LayerArguments = Arguments<TransformerSizes, TransformerLayerOptions, typeof LAYER>;

/** Options of a layer with all its defaults. */
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
  const options = argumentsOf<TransformerSizes, TransformerLayerOptions>(owner, LAYER, given);
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

/** The activation of a name, or one that is given. Throws DynError for another name. */
function activationOf(given: "relu" | "gelu" | ((x: Tensor) => Tensor)): (x: Tensor) => Tensor {
  if (given === "relu") return relu;
  if (given === "gelu") return gelu;
  checkFunction(given, 'as activation, or "relu" or "gelu",');
  return given;
}

/** Masks of one attention. */
interface Masks {
  readonly attnMask: Tensor | null;
  readonly keyPaddingMask: Tensor | null;
  readonly isCausal: boolean;
}

/** The parts of layers of both kinds. */
interface Layer {
  readonly self_attn: MultiheadAttention;
  readonly dropout1: Dropout;
  readonly linear1: Linear;
  readonly activation: (x: Tensor) => Tensor;
  readonly dropout: Dropout;
  readonly linear2: Linear;
}

/** The attention of a sequence to itself. */
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
  /** [L, L] or [N · heads, L, L]: true where a place may not look, or numbers to add. */
  readonly srcMask?: Tensor | null;
  /** [N, L], true (or −∞) for places to ignore. */
  readonly srcKeyPaddingMask?: Tensor | null;
  /** A hint that srcMask is causal. */
  readonly isCausal?: boolean;
}

const ENCODER_LAYER_CALL = ["srcMask", "srcKeyPaddingMask", "isCausal"] as const;

/** Self-attention and a feed-forward part, each added to its input, as torch.nn.TransformerEncoderLayer. */
export class TransformerEncoderLayer extends Module {
  /** Whether each part starts with its normalisation instead of ending with it. */
  readonly normFirst: boolean;
  /** Between the two linear layers. */
  readonly activation: (x: Tensor) => Tensor;
  /** The attention of a sequence to itself. */
  readonly self_attn: MultiheadAttention;
  /** The first linear layer of the feed-forward part. */
  readonly linear1: Linear;
  /** The share that training drops. */
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
    const call = trailing<EncoderLayerCall>("TransformerEncoderLayer", ENCODER_LAYER_CALL, given);
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

/** Options of a call of a decoder or its layer: masks as those of the encoder. */
export interface DecoderCall {
  /** [T, T] or [N · heads, T, T]: true where a place of the target may not look, or numbers to add. */
  readonly tgtMask?: Tensor | null;
  /** [T, S]: where the target may not look in the memory. */
  readonly memoryMask?: Tensor | null;
  /** [N, T], true for places of the target to ignore. */
  readonly tgtKeyPaddingMask?: Tensor | null;
  /** [N, S], true for places of the memory to ignore. */
  readonly memoryKeyPaddingMask?: Tensor | null;
  /** A hint that tgtMask is causal. */
  readonly tgtIsCausal?: boolean;
  /** A hint that memoryMask is causal. */
  readonly memoryIsCausal?: boolean;
}

const DECODER_CALL = [
  "tgtMask",
  "memoryMask",
  "tgtKeyPaddingMask",
  "memoryKeyPaddingMask",
  "tgtIsCausal",
  "memoryIsCausal",
] as const;

type DecoderArguments = Trailing<DecoderCall, typeof DECODER_CALL>;

/**
 * Self-attention, attention to the encoder's memory and a feed-forward part, each added to its input, as
 * torch.nn.TransformerDecoderLayer.
 */
export class TransformerDecoderLayer extends Module {
  /** Whether each part starts with its normalisation instead of ending with it. */
  readonly normFirst: boolean;
  /** Between the two linear layers. */
  readonly activation: (x: Tensor) => Tensor;
  /** The attention of a sequence to itself. */
  readonly self_attn: MultiheadAttention;
  /** The attention to the memory of the encoder. */
  readonly multihead_attn: MultiheadAttention;
  /** The first linear layer of the feed-forward part. */
  readonly linear1: Linear;
  /** The share that training drops. */
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

  /** The attention to the memory. */
  private remember(x: Tensor, memory: Tensor, masks: Masks): Tensor {
    const [mixed] = this.multihead_attn.call(x, memory, memory, { ...masks, needWeights: false });
    return this.dropout2.call(mixed);
  }

  /** The output of the layer. */
  override forward(tgt: Tensor, memory: Tensor, ...given: DecoderArguments): Tensor {
    const call = trailing<DecoderCall>("TransformerDecoderLayer", DECODER_CALL, given);
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

interface EncoderStack {
  readonly encoderLayer: TransformerEncoderLayer;
  readonly numLayers: number;
}

interface DecoderStack {
  readonly decoderLayer: TransformerDecoderLayer;
  readonly numLayers: number;
}

interface StackOptions {
  readonly norm?: LayerNorm | null;
}

const ENCODER = { required: ["encoderLayer", "numLayers"], positional: ["norm"] } as const;
const DECODER = { required: ["decoderLayer", "numLayers"], positional: ["norm"] } as const;

/** Options of a call of an encoder. */
export interface EncoderCall {
  /** [S, S] or [N · heads, S, S]: true where a place may not look, or numbers to add. */
  readonly mask?: Tensor | null;
  /** [N, S], true for places to ignore. */
  readonly srcKeyPaddingMask?: Tensor | null;
  /** A hint that the mask is causal. */
  readonly isCausal?: boolean | null;
}

const ENCODER_CALL = ["mask", "srcKeyPaddingMask", "isCausal"] as const;

/** Layers of an encoder one after the other, as torch.nn.TransformerEncoder: copies of the one given. */
export class TransformerEncoder extends Module {
  /** The layers, in order. */
  readonly layers: ModuleList<TransformerEncoderLayer>;
  /** Number of layers. */
  readonly numLayers: number;
  /** The normalisation at the end. */
  readonly norm: LayerNorm | null;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<EncoderStack, StackOptions, typeof ENCODER>) {
    super();
    const options = argumentsOf<EncoderStack, StackOptions>("TransformerEncoder", ENCODER, given);
    const { encoderLayer, numLayers, norm = null } = options;
    checkModule(encoderLayer, "TransformerEncoder");
    this.numLayers = numLayers;
    this.layers = new ModuleList(Array.from({ length: numLayers }, () => encoderLayer.clone()));
    this.norm = norm;
  }

  /** The output of the layer. */
  override forward(src: Tensor, ...given: Trailing<EncoderCall, typeof ENCODER_CALL>): Tensor {
    const call = trailing<EncoderCall>("TransformerEncoder", ENCODER_CALL, given);
    const { mask = null, srcKeyPaddingMask = null } = call;
    let x = src;
    for (const layer of this.layers) x = layer.call(x, mask, srcKeyPaddingMask, call.isCausal ?? false);
    return this.norm ? this.norm.call(x) : x;
  }
}

/** Layers of a decoder one after the other, as torch.nn.TransformerDecoder: copies of the one given. */
export class TransformerDecoder extends Module {
  /** The layers, in order. */
  readonly layers: ModuleList<TransformerDecoderLayer>;
  /** Number of layers. */
  readonly numLayers: number;
  /** The normalisation at the end. */
  readonly norm: LayerNorm | null;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<DecoderStack, StackOptions, typeof DECODER>) {
    super();
    const options = argumentsOf<DecoderStack, StackOptions>("TransformerDecoder", DECODER, given);
    const { decoderLayer, numLayers, norm = null } = options;
    checkModule(decoderLayer, "TransformerDecoder");
    this.numLayers = numLayers;
    this.layers = new ModuleList(Array.from({ length: numLayers }, () => decoderLayer.clone()));
    this.norm = norm;
  }

  /** The output of the layer. */
  override forward(tgt: Tensor, memory: Tensor, ...given: DecoderArguments): Tensor {
    const call = trailing<DecoderCall>("TransformerDecoder", DECODER_CALL, given);
    let x = tgt;
    for (const layer of this.layers) x = layer.call(x, memory, call);
    return this.norm ? this.norm.call(x) : x;
  }
}

/** Options of the whole Transformer. */
export interface TransformerOptions extends TransformerLayerOptions {
  /** Features of each element of a sequence. */
  readonly dModel?: number;
  /** Heads of the attention. */
  readonly nhead?: number;
  /** Layers of the encoder; default 6. */
  readonly numEncoderLayers?: number;
  /** Layers of the decoder; default 6. */
  readonly numDecoderLayers?: number;
  /** An encoder in the place of one that is made. */
  readonly customEncoder?: TransformerEncoder | null;
  /** A decoder in the place of one that is made. */
  readonly customDecoder?: TransformerDecoder | null;
}

const WHOLE = [
  "dModel",
  "nhead",
  "numEncoderLayers",
  "numDecoderLayers",
  "dimFeedforward",
  "dropout",
  "activation",
  "customEncoder",
  "customDecoder",
  "layerNormEps",
  "batchFirst",
  "normFirst",
  "bias",
  "device",
  "dtype",
] as const;

/** Options of a call of the Transformer. */
export interface TransformerCall extends DecoderCall {
  /** [S, S] or [N · heads, S, S]: true where a place may not look, or numbers to add. */
  readonly srcMask?: Tensor | null;
  /** [N, S], true for places to ignore. */
  readonly srcKeyPaddingMask?: Tensor | null;
  /** A hint that srcMask is causal. */
  readonly srcIsCausal?: boolean | null;
}

const WHOLE_CALL = [
  "srcMask",
  "tgtMask",
  "memoryMask",
  "srcKeyPaddingMask",
  "tgtKeyPaddingMask",
  "memoryKeyPaddingMask",
  "srcIsCausal",
  "tgtIsCausal",
  "memoryIsCausal",
] as const;

/** An encoder and a decoder that attends to it, as torch.nn.Transformer. */
export class Transformer extends Module {
  /** The encoder, which makes a memory of the source. */
  readonly encoder: TransformerEncoder;
  /** The decoder, which makes the result from the target and the memory. */
  readonly decoder: TransformerDecoder;
  /** Features of each element of a sequence. */
  readonly dModel: number;
  /** Heads of the attention. */
  readonly nhead: number;
  /** Whether the batch is the first dimension of sequences. */
  readonly batchFirst: boolean;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Trailing<TransformerOptions, typeof WHOLE>) {
    super();
    const options = trailing<TransformerOptions>("Transformer", WHOLE, given);
    const { dModel = 512, nhead = 8, numEncoderLayers = 6, numDecoderLayers = 6, ...rest } = options;
    const { customEncoder = null, customDecoder = null, ...layer } = rest, eps = layer.layerNormEps ?? 1e-5;
    const norm = () => new LayerNorm(dModel, { eps, bias: layer.bias ?? true });
    const own = customEncoder ?? new TransformerEncoder(
      new TransformerEncoderLayer(dModel, nhead, layer),
      numEncoderLayers,
      norm(),
    );
    this.encoder = own;
    this.decoder = customDecoder ?? new TransformerDecoder(
      new TransformerDecoderLayer(dModel, nhead, layer),
      numDecoderLayers,
      norm(),
    );
    this.dModel = dModel;
    this.nhead = nhead;
    this.batchFirst = layer.batchFirst ?? false;
    for (const parameter of this.parameters()) if (parameter.ndim > 1) xavierUniform_(parameter);
  }

  /** The output of the layer. */
  override forward(src: Tensor, tgt: Tensor, ...given: Trailing<TransformerCall, typeof WHOLE_CALL>): Tensor {
    const call = trailing<TransformerCall>("Transformer", WHOLE_CALL, given);
    const { srcMask = null, srcKeyPaddingMask = null, srcIsCausal = null, ...decoded } = call;
    for (const each of [src, tgt]) checkTensor(each, "Transformer");
    if (src.ndim === 3) {
      const batch = this.batchFirst ? 0 : 1;
      if (src.shape[batch] !== tgt.shape[batch]) {
        throw new DynError(`Expected batches of one size but found shapes [${src.shape}] and [${tgt.shape}]`);
      }
    }
    if (src.shape.at(-1) !== this.dModel || tgt.shape.at(-1) !== this.dModel) {
      throw new DynError(
        `Expected ${this.dModel} features but found shapes [${src.shape}] and [${tgt.shape}]`,
      );
    }
    const memory = this.encoder.call(src, srcMask, srcKeyPaddingMask, srcIsCausal);
    return this.decoder.call(tgt, memory, decoded);
  }

  /** [size, size]: −∞ where a place would look ahead, else 0. */
  static generateSquareSubsequentMask(
    size: number,
    place: { readonly device?: string; readonly dtype?: DType } = {},
  ): Tensor {
    return triu(full([size, size], -Infinity, place), 1);
  }
}
