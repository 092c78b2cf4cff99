/** Look-up tables. */
import { DynError } from "../base/errors.ts";
import { empty } from "../tensor/generated_functions.ts";
import { embedding } from "../tensor/generated_functions.ts";
import { noGrad } from "../tensor/modes.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { normal_ } from "./init.ts";
import { type Trailing, trailing } from "../base/arguments.ts";
import { Module } from "./module.ts";
import { Parameter } from "./parameter.ts";

/** Options of an embedding. */
export interface EmbeddingOptions {
  /** The row that is not trained. */
  readonly paddingIdx?: number | null;
  /** Whether a row's gradient is divided by how often it was read. */
  readonly scaleGradByFreq?: boolean;
}

/** Integer indices of any shape [...] → [..., embeddingDim], as torch.nn.Embedding. */
export class Embedding extends Module {
  readonly paddingIdx: number | null;
  readonly scaleGradByFreq: boolean;
  /** [numEmbeddings, embeddingDim] */
  weight: Parameter;

  constructor(
    readonly numEmbeddings: number,
    readonly embeddingDim: number,
    ...given: Trailing<EmbeddingOptions, ["paddingIdx"]>
  ) {
    super();
    const options = trailing<EmbeddingOptions>("Embedding", {
      positional: ["paddingIdx"],
      named: ["scaleGradByFreq"],
    }, given);
    const { paddingIdx = null } = options;
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
