/**
 * The Transformer (Vaswani et al. 2017): stacks of encoder and decoder layers, and the complete model, for sequences
 * [L, N, E] ([N, L, E] with batchFirst, [L, E] without a batch). Invariant: parameters have PyTorch's names and layouts.
 */
import { refuseSurplus } from "../base/checked_input.ts";
import { checkTensor } from "../tensor/checked.ts";
import { DynError } from "../base/errors.ts";
import type { DType } from "../base/dtype.ts";
import { full, triu } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Arguments, type Trailing, trailing } from "../base/arguments.ts";
import { layerArguments } from "./layer_arguments.ts";
import { ModuleList } from "./container.ts";
import { xavierUniform_ } from "./init.ts";
import { checkModule, Module } from "./module.ts";
import { LayerNorm } from "./normalization.ts";
import { placementOf } from "./placement.ts";
import {
  DECODER_ARGUMENTS,
  type DecoderArguments,
  type DecoderCall,
  TransformerDecoderLayer,
  TransformerEncoderLayer,
  type TransformerLayerOptions,
} from "./transformer_layer.ts";

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

interface EncoderOptions extends StackOptions {
  /** PyTorch's fast path for inference without padding. Accepted without effect: there are no nested tensors. */
  readonly enableNestedTensor?: boolean;
  /** Whether that fast path checks the mask. Accepted without effect. */
  readonly maskCheck?: boolean;
}

const ENCODER = {
  required: ["encoderLayer", "numLayers"],
  positional: ["norm", "enableNestedTensor", "maskCheck"],
  counts: ["numLayers"],
  flags: { enableNestedTensor: true, maskCheck: true },
} as const;
const DECODER = {
  required: ["decoderLayer", "numLayers"],
  positional: ["norm"],
  counts: ["numLayers"],
} as const;

/** Options of a call of an encoder. */
export interface EncoderCall {
  /** [S, S] or [N · heads, S, S]: true where a position may not attend to another, or numbers to add to scores. */
  readonly mask?: Tensor | null;
  /** [N, S], true for positions to ignore. */
  readonly srcKeyPaddingMask?: Tensor | null;
  /** A hint that the mask is causal. */
  readonly isCausal?: boolean | null;
}

const ENCODER_CALL = ["mask", "srcKeyPaddingMask", "isCausal"] as const;

/** A stack of encoder layers, as torch.nn.TransformerEncoder: copies of the given one. */
export class TransformerEncoder extends Module {
  /** The layers, in order. */
  readonly layers: ModuleList<TransformerEncoderLayer>;
  /** Number of layers. */
  readonly numLayers: number;
  /** The final normalisation. */
  readonly norm: LayerNorm | null;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<EncoderStack, EncoderOptions, typeof ENCODER>) {
    super();
    const options = layerArguments<EncoderStack, EncoderOptions>("TransformerEncoder", ENCODER, given);
    const { encoderLayer, numLayers, norm = null } = options;
    checkModule(encoderLayer, "TransformerEncoder");
    this.numLayers = numLayers;
    this.layers = new ModuleList(Array.from({ length: numLayers }, () => encoderLayer.clone()));
    this.norm = norm;
  }

  /** The output of the layer. */
  override forward(src: Tensor, ...given: Trailing<EncoderCall, typeof ENCODER_CALL>): Tensor {
    const call = trailing<EncoderCall>("TransformerEncoder", {
      positional: ENCODER_CALL,
      flags: { isCausal: true },
    }, given);
    const { mask = null, srcKeyPaddingMask = null } = call;
    let x = src;
    for (const layer of this.layers) x = layer.call(x, mask, srcKeyPaddingMask, call.isCausal ?? false);
    return this.norm ? this.norm.call(x) : x;
  }
}

/** A stack of decoder layers, as torch.nn.TransformerDecoder: copies of the given one. */
export class TransformerDecoder extends Module {
  /** The layers, in order. */
  readonly layers: ModuleList<TransformerDecoderLayer>;
  /** Number of layers. */
  readonly numLayers: number;
  /** The final normalisation. */
  readonly norm: LayerNorm | null;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<DecoderStack, StackOptions, typeof DECODER>) {
    super();
    const options = layerArguments<DecoderStack, StackOptions>("TransformerDecoder", DECODER, given);
    const { decoderLayer, numLayers, norm = null } = options;
    checkModule(decoderLayer, "TransformerDecoder");
    this.numLayers = numLayers;
    this.layers = new ModuleList(Array.from({ length: numLayers }, () => decoderLayer.clone()));
    this.norm = norm;
  }

  /** The output of the layer. */
  override forward(tgt: Tensor, memory: Tensor, ...given: DecoderArguments): Tensor {
    const call = trailing<DecoderCall>("TransformerDecoder", DECODER_ARGUMENTS, given);
    let x = tgt;
    for (const layer of this.layers) x = layer.call(x, memory, call);
    return this.norm ? this.norm.call(x) : x;
  }
}

/** Options of the whole Transformer. */
export interface TransformerOptions extends TransformerLayerOptions {
  /** Features of each element of a sequence. */
  readonly dModel?: number;
  /** Number of attention heads. */
  readonly nhead?: number;
  /** Number of encoder layers; default 6. */
  readonly numEncoderLayers?: number;
  /** Number of decoder layers; default 6. */
  readonly numDecoderLayers?: number;
  /** An encoder to use instead of the default one. */
  readonly customEncoder?: TransformerEncoder | null;
  /** A decoder to use instead of the default one. */
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
  /** [S, S] or [N · heads, S, S]: true where a position may not attend to another, or numbers to add to scores. */
  readonly srcMask?: Tensor | null;
  /** [N, S], true for positions to ignore. */
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
  /** The encoder, which computes the memory from the source. */
  readonly encoder: TransformerEncoder;
  /** The decoder, which computes the result from the target and the memory. */
  readonly decoder: TransformerDecoder;
  /** Features of each element of a sequence. */
  readonly dModel: number;
  /** Number of attention heads. */
  readonly nhead: number;
  /** Whether the batch is the first dimension of sequences. */
  readonly batchFirst: boolean;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Trailing<TransformerOptions, typeof WHOLE>) {
    super();
    const options = trailing<TransformerOptions>("Transformer", {
      positional: WHOLE,
      flags: { batchFirst: true, bias: true, normFirst: true },
    }, given);
    const { dModel = 512, nhead = 8, numEncoderLayers = 6, numDecoderLayers = 6, ...rest } = options;
    const { customEncoder = null, customDecoder = null, ...layer } = rest, eps = layer.layerNormEps ?? 1e-5;
    const norm = () => new LayerNorm(dModel, { eps, bias: layer.bias ?? true, ...placementOf(layer) });
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
    const call = trailing<TransformerCall>("Transformer", {
      positional: WHOLE_CALL,
      flags: { memoryIsCausal: true, srcIsCausal: true, tgtIsCausal: true },
    }, given);
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

  /** A causal mask [size, size]: −∞ above the diagonal, else 0. */
  static generateSquareSubsequentMask(
    size: number,
    place: { readonly device?: string; readonly dtype?: DType } = {},
  ): Tensor {
    if (arguments.length > 2) refuseSurplus("generateSquareSubsequentMask", 2, arguments);
    return triu(full([size, size], -Infinity, place), 1);
  }
}
