/** Look-up tables. */
import { DynError } from "../base/errors.ts";
import { empty } from "../tensor/generated_functions.ts";
import { embedding } from "../tensor/generated_functions.ts";
import { noGrad } from "../tensor/modes.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { normal_ } from "./init.ts";
import { type Arguments, argumentsOf } from "../base/arguments.ts";
import { Module } from "./module.ts";
import { Parameter } from "./parameter.ts";

/** Options of an embedding. */
export interface EmbeddingOptions {
  /** The row that is not trained. */
  readonly paddingIdx?: number | null;
  /** Whether a row's gradient is divided by how often it was read. */
  readonly scaleGradByFreq?: boolean;
}

/** Sizes of an embedding. */
export interface EmbeddingSizes {
  readonly numEmbeddings: number;
  readonly embeddingDim: number;
}

const EMBEDDING = {
  required: ["numEmbeddings", "embeddingDim"],
  positional: ["paddingIdx"],
  named: ["scaleGradByFreq"],
} as const;

/** Integer indices of any shape [...] → [..., embeddingDim], as torch.nn.Embedding. */
export class Embedding extends Module {
  readonly numEmbeddings: number;
  readonly embeddingDim: number;
  readonly paddingIdx: number | null;
  readonly scaleGradByFreq: boolean;
  /** [numEmbeddings, embeddingDim] */
  weight: Parameter;

  constructor(...given: Arguments<EmbeddingSizes, EmbeddingOptions, typeof EMBEDDING>) {
    super();
    const options = argumentsOf<EmbeddingSizes, EmbeddingOptions>("Embedding", EMBEDDING, given);
    const { numEmbeddings, embeddingDim, paddingIdx = null } = options;
    this.numEmbeddings = numEmbeddings;
    this.embeddingDim = embeddingDim;
    if (paddingIdx !== null && (paddingIdx >= numEmbeddings || paddingIdx < -numEmbeddings)) {
      throw new DynError(
        `Expected paddingIdx in [${-numEmbeddings}, ${numEmbeddings - 1}] but found ${paddingIdx}`,
      );
    }
    this.paddingIdx = paddingIdx !== null && paddingIdx < 0 ? paddingIdx + numEmbeddings : paddingIdx;
    this.scaleGradByFreq = options.scaleGradByFreq ?? false;
    this.weight = new Parameter(empty([numEmbeddings, embeddingDim]));
    normal_(this.weight);
    const padding = this.paddingIdx;
    if (padding !== null) noGrad(() => this.weight.select(0, padding).zero_());
  }

  override forward(indices: Tensor): Tensor {
    return embedding(indices, this.weight, this.paddingIdx, null, 2, this.scaleGradByFreq);
  }

  override extraRepr(): string {
    return `${this.numEmbeddings}, ${this.embeddingDim}`;
  }
}
