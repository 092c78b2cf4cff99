/**
 * The attention layer (Vaswani et al. 2017), for sequences [L, N, E] ([N, L, E] with batchFirst, [L, E] without a
 * batch). Invariant: parameters have PyTorch's names and layouts.
 */
import { checkTensor } from "../tensor/checked.ts";
import { DynError, invariant } from "../base/errors.ts";
import { empty, zeros } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Arguments, type Trailing, trailing } from "../base/arguments.ts";
import { layerArguments } from "./layer_arguments.ts";
import { attend, checkAttention } from "./attention_forward.ts";
import { xavierNormal_, xavierUniform_, zeros_ } from "./init.ts";
import { type Linear, NonDynamicallyQuantizableLinear } from "./linear.ts";
import { Module } from "./module.ts";
import { aliasFields } from "./module_tree.ts";
import { Parameter } from "./parameter.ts";
import type { Placement } from "./placement.ts";

/** Options of multi-head attention. */
export interface MultiheadAttentionOptions extends Placement {
  /** Dropout probability of attention weights during training. */
  readonly dropout?: number;
  /** Whether there are biases; default true. */
  readonly bias?: boolean;
  /** Whether one more key and value are learnt. */
  readonly addBiasKv?: boolean;
  /** Whether a key and a value of zeros are added. */
  readonly addZeroAttn?: boolean;
  /** Features of keys and of values; default embedDim. */
  readonly kdim?: number | null;
  /** Features of values. */
  readonly vdim?: number | null;
  /** Whether the batch is the first dimension of sequences. */
  readonly batchFirst?: boolean;
}

/** Sizes of multi-head attention. */
export interface AttentionSizes {
  /** Features of queries and results. */
  readonly embedDim: number;
  /** Number of heads, which share the features. */
  readonly numHeads: number;
}

const ATTENTION = {
  required: ["embedDim", "numHeads"],
  counts: ["embedDim", "numHeads"],
  positional: [
    "dropout",
    "bias",
    "addBiasKv",
    "addZeroAttn",
    "kdim",
    "vdim",
    "batchFirst",
    "device",
    "dtype",
  ],
  flags: { addBiasKv: true, addZeroAttn: true, batchFirst: true, bias: true },
} as const;

/** Options of a call of multi-head attention. */
export interface AttentionCall {
  /** [N, S], true (or −∞) for keys to ignore. */
  readonly keyPaddingMask?: Tensor | null;
  /** Whether to return the weights too. */
  readonly needWeights?: boolean;
  /** [L, S] or [N · heads, L, S]: true where a query may not attend to a key, or numbers to add to scores. */
  readonly attnMask?: Tensor | null;
  /** Whether returned weights are averaged over heads. */
  readonly averageAttnWeights?: boolean;
  /** A hint that attnMask is causal. */
  readonly isCausal?: boolean;
}

const CALL = ["keyPaddingMask", "needWeights", "attnMask", "averageAttnWeights", "isCausal"] as const;

const KEYS: Readonly<Record<string, string>> = {
  inProjWeight: "in_proj_weight",
  qProjWeight: "q_proj_weight",
  kProjWeight: "k_proj_weight",
  vProjWeight: "v_proj_weight",
  inProjBias: "in_proj_bias",
  outProj: "out_proj",
  biasK: "bias_k",
  biasV: "bias_v",
};

/** Attention with several parallel heads, as torch.nn.MultiheadAttention. */
export class MultiheadAttention extends Module {
  /** Features of queries and results. */
  readonly embedDim: number;
  /** Number of heads, which share the features. */
  readonly numHeads: number;
  /** Features of keys. */
  readonly kdim: number;
  /** Features of values. */
  readonly vdim: number;
  /** Dropout probability during training. */
  readonly dropout: number;
  /** Whether the batch is the first dimension of sequences. */
  readonly batchFirst: boolean;
  /** Whether a key and a value of zeros are added. */
  readonly addZeroAttn: boolean;
  /** Features of each head. */
  readonly headDim: number;
  /** [3 · embedDim, embedDim]: of queries, keys and values; null if those differ in size. */
  inProjWeight: Parameter | null = null;
  /** [embedDim, embedDim]; set if keys or values have other sizes, as are the two below. */
  qProjWeight: Parameter | null = null;
  /** [embedDim, kdim] */
  kProjWeight: Parameter | null = null;
  /** [embedDim, vdim] */
  vProjWeight: Parameter | null = null;
  /** [3 · embedDim] */
  inProjBias: Parameter | null;
  /** The output projection of the concatenated heads. */
  readonly outProj: Linear;
  /** [1, 1, embedDim] */
  biasK: Parameter | null = null;
  /** [1, 1, embedDim]: one more value. */
  biasV: Parameter | null = null;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<AttentionSizes, MultiheadAttentionOptions, typeof ATTENTION>) {
    super();
    const options = layerArguments<AttentionSizes, MultiheadAttentionOptions>(
      "MultiheadAttention",
      ATTENTION,
      given,
    );
    const { embedDim, numHeads, bias = true } = options;
    this.embedDim = embedDim;
    this.numHeads = numHeads;
    this.kdim = options.kdim ?? embedDim;
    this.vdim = options.vdim ?? embedDim;
    if (embedDim % numHeads !== 0) {
      throw new DynError(`Expected embedDim divisible by ${numHeads} heads but found ${embedDim}`);
    }
    this.headDim = embedDim / numHeads;
    this.dropout = options.dropout ?? 0;
    this.batchFirst = options.batchFirst ?? false;
    this.addZeroAttn = options.addZeroAttn ?? false;
    const place = { dtype: options.dtype, device: options.device };
    const weight = (rows: number, columns: number) => new Parameter(empty([rows, columns], place));
    if (this.kdim === embedDim && this.vdim === embedDim) this.inProjWeight = weight(3 * embedDim, embedDim);
    else {
      this.qProjWeight = weight(embedDim, embedDim);
      this.kProjWeight = weight(embedDim, this.kdim);
      this.vProjWeight = weight(embedDim, this.vdim);
    }
    this.inProjBias = bias ? new Parameter(zeros([3 * embedDim], place)) : null;
    this.outProj = new NonDynamicallyQuantizableLinear(embedDim, embedDim, { bias, ...place });
    if (options.addBiasKv) {
      this.biasK = new Parameter(empty([1, 1, embedDim], place));
      this.biasV = new Parameter(empty([1, 1, embedDim], place));
    }
    Object.assign(this.stateKeys, KEYS);
    this.resetParameters();
  }

  /** Reinitialises the parameters. */
  resetParameters(): void {
    for (const weight of [this.inProjWeight, this.qProjWeight, this.kProjWeight, this.vProjWeight]) {
      if (weight) xavierUniform_(weight);
    }
    if (this.inProjBias) zeros_(this.inProjBias);
    if (this.outProj.bias) zeros_(this.outProj.bias);
    if (this.biasK) xavierNormal_(this.biasK);
    if (this.biasV) xavierNormal_(this.biasV);
  }

  /** The weights of the three projections. */
  private weights(): [Tensor, Tensor, Tensor] {
    const { inProjWeight, qProjWeight, kProjWeight, vProjWeight } = this;
    if (qProjWeight && kProjWeight && vProjWeight) return [qProjWeight, kProjWeight, vProjWeight];
    invariant(inProjWeight, "Expected projection weights but found none");
    const width = inProjWeight.size(0) / 3, part = (k: number) => inProjWeight.narrow(0, k * width, width);
    return [part(0), part(1), part(2)];
  }

  /** The output of the layer. */
  override forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    ...given: Trailing<AttentionCall, typeof CALL>
  ): [Tensor, Tensor | null] {
    return this.attendTo(
      query,
      key,
      value,
      trailing<AttentionCall>("MultiheadAttention", {
        positional: CALL,
        flags: { averageAttnWeights: true, isCausal: true, needWeights: true },
      }, given),
    );
  }

  /**
   * The output of the heads in this process: all of them unless the layer is distributed.
   *
   * @internal
   */
  attendTo(query: Tensor, key: Tensor, value: Tensor, call: AttentionCall): [Tensor, Tensor | null] {
    for (const each of [query, key, value]) checkTensor(each, "MultiheadAttention");
    const { attnMask = null, keyPaddingMask = null, isCausal = false } = call, single = query.ndim === 2;
    checkAttention(query, this.embedDim, { attnMask, isCausal });
    const batched = (x: Tensor) => single ? x.unsqueeze(0) : this.batchFirst ? x : x.transpose(0, 1);
    const projections = this.weights();
    const [joined, weights] = attend({
      weights: projections,
      bias: this.inProjBias,
      biasK: this.biasK,
      biasV: this.biasV,
    }, {
      inputs: [batched(query), batched(key), batched(value)],
      numHeads: projections[0].size(0) / this.headDim,
      addZero: this.addZeroAttn,
      rate: this.training ? this.dropout : 0,
      keyPaddingMask: keyPaddingMask && single ? keyPaddingMask.unsqueeze(0) : keyPaddingMask,
      attnMask,
      needWeights: call.needWeights ?? true,
      averageWeights: call.averageAttnWeights ?? true,
    });
    const mixed = this.outProj.call(joined);
    if (single) return [mixed.squeeze(0), weights && weights.squeeze(0)];
    return [this.batchFirst ? mixed : mixed.transpose(0, 1), weights];
  }
}

aliasFields(MultiheadAttention.prototype, KEYS);
