/**
 * Softmax over many classes with clusters of rare ones (Grave et al. 2017). Invariant: every row is computed for every
 * cluster and masked by its class, so that a call is one graph of known sizes.
 */
import { checkKind, refuseSurplus } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { cat, logSoftmax, where, zerosLike } from "../tensor/generated_functions.ts";
import { checkTensor } from "../tensor/checked.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Arguments } from "../base/arguments.ts";
import { layerArguments } from "./layer_arguments.ts";
import { ModuleList, Sequential } from "./container.ts";
import { Linear } from "./linear.ts";
import { Module } from "./module.ts";
import type { Placement } from "./placement.ts";

/** Sizes of AdaptiveLogSoftmaxWithLoss. */
export interface AdaptiveSoftmaxSizes {
  /** Features of the input. */
  readonly inFeatures: number;
  /** Number of classes. */
  readonly nClasses: number;
  /** The first class of each cluster of rare ones, ascending. */
  readonly cutoffs: readonly number[];
}

/** Options of AdaptiveLogSoftmaxWithLoss. */
export interface AdaptiveSoftmaxOptions extends Placement {
  /** Factor by which each cluster's projection is narrower than the previous cluster's. */
  readonly divValue?: number;
  /** Whether the head has a bias; default false. */
  readonly headBias?: boolean;
}

const ADAPTIVE = {
  required: ["inFeatures", "nClasses", "cutoffs"],
  counts: ["inFeatures", "nClasses"],
  positional: ["divValue", "headBias", "device", "dtype"],
  flags: { headBias: true },
} as const;

/** Log-probabilities of the target classes [N], and their negative mean. */
export type AdaptiveResult = [output: Tensor, loss: Tensor] & {
  readonly output: Tensor;
  readonly loss: Tensor;
};

/** Like torch.nn.AdaptiveLogSoftmaxWithLoss. */
export class AdaptiveLogSoftmaxWithLoss extends Module {
  /** Features of the input. */
  readonly inFeatures: number;
  /** Number of classes. */
  readonly nClasses: number;
  /** The cutoffs, followed by the number of classes. */
  readonly cutoffs: readonly number[];
  /** Number of classes that the head computes itself. */
  readonly shortlistSize: number;
  /** Number of clusters of rare classes. */
  readonly nClusters: number;
  /** Scores of frequent classes and of clusters. */
  readonly head: Linear;
  /** Scores within each cluster. */
  readonly tail: ModuleList<Sequential>;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<AdaptiveSoftmaxSizes, AdaptiveSoftmaxOptions, typeof ADAPTIVE>) {
    super();
    const options = layerArguments<AdaptiveSoftmaxSizes, AdaptiveSoftmaxOptions>(
      "AdaptiveLogSoftmaxWithLoss",
      ADAPTIVE,
      given,
    );
    const { inFeatures, nClasses, cutoffs, divValue = 4, headBias = false, device, dtype } = options;
    checkKind(cutoffs, "a list", "cutoffs of AdaptiveLogSoftmaxWithLoss");
    const rises = cutoffs.every((cut, i) =>
      Number.isInteger(cut) && cut > (cutoffs[i - 1] ?? 0) && cut < nClasses
    );
    if (cutoffs.length === 0 || !rises) {
      throw new DynError(`Expected ascending cutoffs between 1 and ${nClasses - 1} but found [${cutoffs}]`);
    }
    const place = { device, dtype };
    this.inFeatures = inFeatures;
    this.nClasses = nClasses;
    this.cutoffs = [...cutoffs, nClasses];
    this.shortlistSize = cutoffs[0] ?? 0;
    this.nClusters = cutoffs.length;
    this.head = new Linear(inFeatures, this.shortlistSize + this.nClusters, { bias: headBias, ...place });
    this.tail = new ModuleList(cutoffs.map((low, i) => {
      const narrow = Math.floor(inFeatures / divValue ** (i + 1)),
        classes = (this.cutoffs[i + 1] ?? low) - low;
      return new Sequential(
        new Linear(inFeatures, narrow, { bias: false, ...place }),
        new Linear(narrow, classes, { bias: false, ...place }),
      );
    }));
  }

  /** Reinitialises the parameters. */
  resetParameters(): void {
    for (const layer of this.modules()) if (layer instanceof Linear) layer.resetParameters();
  }

  /** The output of the layer. */
  override forward(input: Tensor, target: Tensor): AdaptiveResult {
    if (arguments.length > 2) refuseSurplus("forward", 2, arguments);
    for (const each of [input, target]) checkTensor(each, "AdaptiveLogSoftmaxWithLoss");
    const batched = input.ndim === 2, rows = batched ? input : input.unsqueeze(0);
    const wanted = batched ? target : target.unsqueeze(0);
    if (wanted.ndim !== 1 || wanted.shape[0] !== rows.shape[0]) {
      throw new DynError(
        `Expected a class for each row but found shapes [${input.shape}] and [${target.shape}]`,
      );
    }
    let chosen = wanted, local: Tensor | null = null;
    for (let i = 0; i < this.nClusters; i++) {
      const low = this.cutoffs[i] ?? 0,
        high = this.cutoffs[i + 1] ?? low,
        inside = wanted.ge(low).logicalAnd(wanted.lt(high));
      const scores = logSoftmax(this.tail.at(i).call(rows), 1), own = where(inside, wanted.sub(low), 0);
      const found = scores.gather(1, own.unsqueeze(1)).squeeze(1),
        share = where(inside, found, zerosLike(found));
      chosen = where(inside, this.shortlistSize + i, chosen);
      local = local ? local.add(share) : share;
    }
    const head = logSoftmax(this.head.call(rows), 1).gather(1, chosen.unsqueeze(1)).squeeze(1);
    const whole = local ? head.add(local) : head, loss = whole.neg().mean();
    const output = batched ? whole : whole.squeeze(0), result: [Tensor, Tensor] = [output, loss];
    return Object.assign(result, { output, loss });
  }

  /** Log-probabilities of all classes: [N, nClasses]. */
  logProb(input: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("logProb", 1, arguments);
    const head = logSoftmax(this.head.call(input), 1), parts = [head.narrow(1, 0, this.shortlistSize)];
    for (let i = 0; i < this.nClusters; i++) {
      const own = logSoftmax(this.tail.at(i).call(input), 1);
      parts.push(own.add(head.narrow(1, this.shortlistSize + i, 1)));
    }
    return cat(parts, 1);
  }

  /** The most probable class of each row: [N]. */
  predict(input: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("predict", 1, arguments);
    return this.logProb(input).argmax(1);
  }
}
