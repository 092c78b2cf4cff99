/** Embedding tables: looked up rows, and their sums, means and maxima in bags. */
import { refuseSurplus } from "../base/checked_input.ts";
import { settings, unlessDefault } from "../base/console_text.ts";
import { DynError } from "../base/errors.ts";
import { embedding, embeddingBag, empty, where, zeros } from "../tensor/generated_functions.ts";
import { vectorNorm } from "../tensor/generated_linalg.ts";
import { noGrad } from "../tensor/modes.ts";
import { checkTensor } from "../tensor/checked.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { layerArguments } from "./layer_arguments.ts";
import { normal_ } from "./init.ts";
import { type Arguments, type Trailing, trailing } from "../base/arguments.ts";
import { Module } from "./module.ts";
import { Parameter } from "./parameter.ts";
import type { Placement } from "./placement.ts";

/** Common options of embedding tables. */
interface TableOptions {
  /** The row that is not trained, or ignored in bags. */
  readonly paddingIdx?: number | null;
  /** Maximum norm of rows: larger ones are first scaled in place. */
  readonly maxNorm?: number | null;
  /** The order of the norms. */
  readonly normType?: number;
  /** Whether each row's gradient is divided by the number of its look-ups. */
  readonly scaleGradByFreq?: boolean;
  /** Sparse gradients are not supported. */
  readonly sparse?: false;
}

/** Options of an embedding. */
export interface EmbeddingOptions extends TableOptions, Placement {
}

/** Sizes of an embedding. */
interface EmbeddingSizes {
  readonly numEmbeddings: number;
  readonly embeddingDim: number;
}

/** Scales the looked up rows in place to norms of at most `maxNorm`. */
function renormalize(
  weight: Tensor,
  indices: Tensor,
  { maxNorm, normType }: { maxNorm: number; normType: number },
): void {
  noGrad(() => {
    const read = zeros([weight.shape[0] ?? 0], { dtype: "bool", device: weight.device });
    const used = read.indexFill(0, indices.reshape(-1).to("int64"), true);
    const norms = vectorNorm(weight, normType, 1), large = used.logicalAnd(norms.gt(maxNorm));
    weight.mul_(where(large, norms.add(1e-7).reciprocal().mul(maxNorm), 1).to(weight.dtype).unsqueeze(1));
  });
}

/** A table of trained rows. */
abstract class Table extends Module {
  readonly numEmbeddings: number;
  readonly embeddingDim: number;
  readonly paddingIdx: number | null;
  readonly maxNorm: number | null;
  readonly normType: number;
  readonly scaleGradByFreq: boolean;
  /** [numEmbeddings, embeddingDim] */
  weight: Parameter;

  constructor(options: EmbeddingSizes & EmbeddingOptions) {
    super();
    const { numEmbeddings, embeddingDim, paddingIdx = null } = options;
    this.numEmbeddings = numEmbeddings;
    this.embeddingDim = embeddingDim;
    if (paddingIdx !== null && (paddingIdx >= numEmbeddings || paddingIdx < -numEmbeddings)) {
      throw new DynError(
        `Expected paddingIdx in [${-numEmbeddings}, ${numEmbeddings - 1}] but found ${paddingIdx}`,
      );
    }
    this.paddingIdx = paddingIdx !== null && paddingIdx < 0 ? paddingIdx + numEmbeddings : paddingIdx;
    const sparse: unknown = options.sparse;
    if (sparse === true) {
      throw new DynError(
        `Expected sparse of ${new.target.name} to be false but found true: gradients are dense`,
      );
    }
    this.maxNorm = options.maxNorm ?? null;
    this.normType = options.normType ?? 2;
    this.scaleGradByFreq = options.scaleGradByFreq ?? false;
    const place = { dtype: options.dtype, device: options.device };
    this.weight = new Parameter(empty([numEmbeddings, embeddingDim], place));
    this.resetParameters();
  }

  resetParameters(): void {
    normal_(this.weight);
    const padding = this.paddingIdx;
    if (padding !== null) noGrad(() => this.weight.select(0, padding).zero_());
  }

  /** The table, with rows scaled if `maxNorm` is set. */
  protected table(indices: Tensor): Tensor {
    const { weight, maxNorm, normType } = this;
    checkTensor(indices, "indices of an embedding");
    if (maxNorm !== null) renormalize(weight, indices, { maxNorm, normType });
    return weight;
  }

  /** Takes existing rows, which are trained unless frozen. */
  protected adopt(rows: Tensor, freeze: boolean): this {
    this.weight = new Parameter(rows.detach(), !freeze);
    return this;
  }

  override extraRepr(): string {
    return settings([this.numEmbeddings, this.embeddingDim], {
      paddingIdx: this.paddingIdx ?? undefined,
      ...this.scaling(),
    });
  }

  /** The settings of norms and gradients that differ from the defaults. */
  protected scaling(): Readonly<Record<string, unknown>> {
    return {
      maxNorm: this.maxNorm ?? undefined,
      normType: unlessDefault(2, this.normType),
      scaleGradByFreq: unlessDefault(false, this.scaleGradByFreq),
    };
  }
}

/** The sizes of existing rows. Throws DynError unless they are a matrix. */
function sizesOf(rows: Tensor): EmbeddingSizes {
  const [numEmbeddings, embeddingDim] = rows.shape;
  if (numEmbeddings === undefined || embeddingDim === undefined || rows.ndim !== 2) {
    throw new DynError(`Expected a table of 2 dimensions but found shape [${rows.shape}]`);
  }
  return { numEmbeddings, embeddingDim };
}

const EMBEDDING = {
  required: ["numEmbeddings", "embeddingDim"],
  counts: ["numEmbeddings", "embeddingDim"],
  positional: ["paddingIdx", "maxNorm", "normType", "scaleGradByFreq"],
  named: ["sparse", "device", "dtype"],
  flags: { scaleGradByFreq: true, sparse: true },
} as const;

/** Options of tables with existing rows. */
interface PretrainedOptions extends TableOptions {
  /** Whether the rows are frozen; default true. */
  readonly freeze?: boolean;
}

/** Looks up rows for integer indices [...] → [..., embeddingDim], as torch.nn.Embedding. */
export class Embedding extends Table {
  constructor(...given: Arguments<EmbeddingSizes, EmbeddingOptions, typeof EMBEDDING>) {
    super(layerArguments<EmbeddingSizes, EmbeddingOptions>("Embedding", EMBEDDING, given));
  }

  /** Creates a layer over rows [numEmbeddings, embeddingDim], sharing their memory. */
  static fromPretrained(rows: Tensor, { freeze = true, ...options }: PretrainedOptions = {}): Embedding {
    if (arguments.length > 2) refuseSurplus("fromPretrained", 2, arguments);
    return new Embedding({ ...sizesOf(rows), ...options }).adopt(rows, freeze);
  }

  override forward(indices: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return embedding(indices, this.table(indices), this.paddingIdx, null, 2, this.scaleGradByFreq);
  }
}

/** Options of bags of embeddings. */
export interface EmbeddingBagOptions extends EmbeddingOptions {
  /** Reduction of the rows in a bag; default "mean". */
  readonly mode?: "sum" | "mean" | "max";
  /** Whether offsets include the end of the last bag. */
  readonly includeLastOffset?: boolean;
}

const BAG = {
  required: ["numEmbeddings", "embeddingDim"],
  counts: ["numEmbeddings", "embeddingDim"],
  positional: ["maxNorm", "normType", "scaleGradByFreq", "mode"],
  named: ["includeLastOffset", "paddingIdx", "sparse", "device", "dtype"],
  flags: { includeLastOffset: true, scaleGradByFreq: true, sparse: true },
} as const;

/** Arguments of a call besides the indices. */
interface BagCall {
  /** Offsets of bags in a vector of indices. */
  readonly offsets?: Tensor | null;
  /** A factor for each index. */
  readonly perSampleWeights?: Tensor | null;
}

const BAG_CALL = ["offsets", "perSampleWeights"] as const;

/**
 * Sums, means or maxima of rows in bags: indices [bags, length], or a vector with the offsets of bags → [bags,
 * embeddingDim].
 */
export class EmbeddingBag extends Table {
  readonly mode: "sum" | "mean" | "max";
  readonly includeLastOffset: boolean;

  constructor(...given: Arguments<EmbeddingSizes, EmbeddingBagOptions, typeof BAG>) {
    const options = layerArguments<EmbeddingSizes, EmbeddingBagOptions>("EmbeddingBag", BAG, given);
    super(options);
    this.mode = options.mode ?? "mean";
    this.includeLastOffset = options.includeLastOffset ?? false;
  }

  /** Creates a layer over rows [numEmbeddings, embeddingDim], sharing their memory. */
  static fromPretrained(
    rows: Tensor,
    { freeze = true, ...options }:
      & PretrainedOptions
      & Pick<EmbeddingBagOptions, "mode" | "includeLastOffset"> = {},
  ): EmbeddingBag {
    if (arguments.length > 2) refuseSurplus("fromPretrained", 2, arguments);
    return new EmbeddingBag({ ...sizesOf(rows), ...options }).adopt(rows, freeze);
  }

  override forward(indices: Tensor, ...given: Trailing<BagCall, typeof BAG_CALL>): Tensor {
    const { offsets = null, perSampleWeights = null } = trailing<BagCall>("EmbeddingBag", BAG_CALL, given);
    return embeddingBag(indices, this.table(indices), offsets, {
      scaleGradByFreq: this.scaleGradByFreq,
      mode: this.mode,
      perSampleWeights,
      includeLastOffset: this.includeLastOffset,
      paddingIdx: this.paddingIdx,
    });
  }

  override extraRepr(): string {
    const { numEmbeddings, embeddingDim, mode, paddingIdx } = this;
    const bag = { mode: `'${mode}'`, paddingIdx: paddingIdx ?? undefined };
    return settings([numEmbeddings, embeddingDim], { ...this.scaling(), ...bag });
  }
}
