/** Look-up tables. */
import { empty } from "../tensor/generated_functions.ts";
import { embedding } from "../tensor/generated_functions.ts";
import { noGrad } from "../tensor/modes.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { normal_ } from "./init.ts";
import { Module } from "./module.ts";
import { Parameter } from "./parameter.ts";

/** Integer indices of any shape [...] → [..., embeddingDim], as torch.nn.Embedding. */
export class Embedding extends Module {
  readonly paddingIdx: number | null;
  /** [numEmbeddings, embeddingDim] */
  weight: Parameter;

  constructor(
    readonly numEmbeddings: number,
    readonly embeddingDim: number,
    options: { paddingIdx?: number } = {},
  ) {
    super();
    this.paddingIdx = options.paddingIdx ?? null;
    this.weight = new Parameter(empty([numEmbeddings, embeddingDim]));
    normal_(this.weight);
    const padding = this.paddingIdx;
    if (padding !== null) noGrad(() => this.weight.select(0, padding).zero_());
  }

  override forward(indices: Tensor): Tensor {
    return embedding(indices, this.weight, this.paddingIdx);
  }

  override extraRepr(): string {
    return `${this.numEmbeddings}, ${this.embeddingDim}`;
  }
}
