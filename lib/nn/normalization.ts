/** Normalising layers. Batch norm keeps running statistics as buffers under PyTorch's key names. */
import { checkKind, refuseSurplus } from "../base/checked_input.ts";
import { settings } from "../base/console_text.ts";
import { checkTensor } from "../tensor/checked.ts";
import {
  groupNorm,
  layerNorm,
  localResponseNorm,
  ones,
  rmsNorm,
  zeros,
} from "../tensor/generated_functions.ts";
import { layerArguments } from "./layer_arguments.ts";
import { normalizeBatch, normalizeInstances } from "./running_statistics.ts";
import { noGrad } from "../tensor/modes.ts";
import { DynError } from "../base/errors.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Arguments } from "../base/arguments.ts";
import { ones_, zeros_ } from "./init.ts";
import { Module } from "./module.ts";
import { aliasFields } from "./module_tree.ts";
import { Parameter } from "./parameter.ts";
import { type Placement, placementOf } from "./placement.ts";

/** Options of batch and instance normalisation. */
export interface BatchNormOptions extends Placement {
  readonly eps?: number;
  /** The weight of the new batch in the running statistics; null: they are the mean over all batches. */
  readonly momentum?: number | null;
  readonly affine?: boolean;
  readonly trackRunningStats?: boolean;
  /** Whether an affine layer has a bias. */
  readonly bias?: boolean;
}

interface Features {
  readonly numFeatures: number;
}

/** Arguments of layers with statistics per channel. */
export const STATISTICS = {
  required: ["numFeatures"],
  counts: ["numFeatures"],
  positional: ["eps", "momentum", "affine", "trackRunningStats", "device", "dtype"],
  named: ["bias"],
  flags: { affine: true, bias: true, trackRunningStats: true },
} as const;
type StatisticsArguments = Arguments<Features, BatchNormOptions, typeof STATISTICS>;

/** Resets the affine part of a layer to the identity. */
function affineAgain(
  { weight, bias }: { readonly weight: Parameter | null; readonly bias?: Parameter | null },
): void {
  if (weight) ones_(weight);
  if (bias) zeros_(bias);
}

/** Defaults that batch and instance normalisation do not share. */
interface Defaults {
  readonly layer: string;
  readonly affine: boolean;
  readonly track: boolean;
}

/** A layer with an affine part and running statistics per channel. */
const KEYS = {
  runningMean: "running_mean",
  runningVar: "running_var",
  numBatchesTracked: "num_batches_tracked",
} as const;

abstract class StatisticsLayer extends Module {
  readonly numFeatures: number;
  readonly eps: number;
  readonly momentum: number | null;
  /** Whether the layer was made with a weight. */
  readonly affine: boolean;
  /** Whether training updates the running statistics; for layers without any it has no effect. */
  trackRunningStats: boolean;
  weight: Parameter | null;
  bias: Parameter | null;
  runningMean: Tensor | null = null;
  runningVar: Tensor | null = null;
  numBatchesTracked: Tensor | null = null;

  constructor(given: StatisticsArguments, defaults: Defaults) {
    super();
    const options = layerArguments<Features, BatchNormOptions>(defaults.layer, STATISTICS, given);
    const { numFeatures } = options;
    this.numFeatures = numFeatures;
    this.eps = options.eps ?? 1e-5;
    this.momentum = options.momentum === undefined ? 0.1 : options.momentum;
    const affine = this.affine = options.affine ?? defaults.affine, place = placementOf(options);
    this.weight = affine ? new Parameter(ones([numFeatures], place)) : null;
    this.bias = affine && (options.bias ?? true) ? new Parameter(zeros([numFeatures], place)) : null;
    this.trackRunningStats = options.trackRunningStats ?? defaults.track;
    if (this.trackRunningStats) {
      this.registerBuffer("runningMean", zeros([numFeatures], place), { key: KEYS.runningMean });
      this.registerBuffer("runningVar", ones([numFeatures], place), { key: KEYS.runningVar });
      const none = zeros([], { dtype: "int64", device: place.device });
      this.registerBuffer("numBatchesTracked", none, { key: KEYS.numBatchesTracked });
    }
  }

  /** States from before PyTorch 0.4.1, such as those of its first published models, do not count batches. */
  get laterKeys(): readonly string[] {
    return [KEYS.numBatchesTracked];
  }

  /** Resets the running statistics. */
  resetRunningStats(): void {
    if (arguments.length > 0) refuseSurplus("resetRunningStats", 0, arguments);
    noGrad(() => {
      this.runningMean?.zero_();
      this.runningVar?.fill_(1);
      this.numBatchesTracked?.zero_();
    });
  }

  /** Reinitialises the parameters and the running statistics. */
  resetParameters(): void {
    this.resetRunningStats();
    affineAgain(this);
  }

  /** Allowed ranks of the input. */
  abstract readonly ranks: readonly number[];

  /** Throws DynError for another rank or number of channels. */
  protected check(x: Tensor, channelsAt: number): void {
    const channels = x.shape.at(channelsAt);
    if (!this.ranks.includes(x.ndim)) {
      throw new DynError(
        `Expected an input of ${this.ranks.join(" or ")} dimensions but found shape [${x.shape}]`,
      );
    }
    if (channels !== this.numFeatures && (this.weight || this.runningMean)) {
      throw new DynError(`Expected ${this.numFeatures} channels but found shape [${x.shape}]`);
    }
  }

  override extraRepr(): string {
    const { numFeatures, eps, momentum, affine, bias, trackRunningStats } = this;
    return settings([numFeatures], { eps, momentum, affine, bias: bias !== null, trackRunningStats });
  }
}

aliasFields(StatisticsLayer.prototype, KEYS);

abstract class BatchNorm extends StatisticsLayer {
  constructor(...given: StatisticsArguments) {
    super(given, { layer: "BatchNorm", affine: true, track: true });
  }

  /** Counts a training batch and returns its weight in the running statistics. */
  private shareOfBatch(): number {
    const counter = this.numBatchesTracked;
    if (!this.training || !counter || !this.trackRunningStats) return this.momentum ?? 0;
    noGrad(() => counter.add_(1));
    return this.momentum ?? 1 / Number(counter.item());
  }

  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    checkTensor(x, this.constructor.name);
    this.check(x, 1);
    const share = this.shareOfBatch();
    const training = this.training || this.runningMean === null;
    const { weight, bias, eps } = this, isUsed = !this.training || this.trackRunningStats;
    const runningMean = isUsed ? this.runningMean : null, runningVar = isUsed ? this.runningVar : null;
    return normalizeBatch(x, runningMean, runningVar, { weight, bias, training, momentum: share, eps });
  }
}

/** Over [N, C] or [N, C, L], as torch.nn.BatchNorm1d. */
export class BatchNorm1d extends BatchNorm {
  override readonly ranks: readonly number[] = [2, 3];
}

/** Over [N, C, H, W], as torch.nn.BatchNorm2d. */
export class BatchNorm2d extends BatchNorm {
  override readonly ranks: readonly number[] = [4];
}

/** Over [N, C, D, H, W], as torch.nn.BatchNorm3d. */
export class BatchNorm3d extends BatchNorm {
  override readonly ranks: readonly number[] = [5];
}

/** Over each image of each channel; running statistics only on request. */
abstract class InstanceNorm extends StatisticsLayer {
  constructor(...given: StatisticsArguments) {
    super(given, { layer: "InstanceNorm", affine: false, track: false });
  }

  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    checkTensor(x, this.constructor.name);
    const single = x.ndim === Math.min(...this.ranks);
    this.check(x, single ? 0 : 1);
    const batch = single ? x.unsqueeze(0) : x;
    const useInput = this.training || !this.trackRunningStats || this.runningMean === null;
    if (useInput && batch.shape.slice(2).every((size) => size === 1)) {
      throw new DynError(`Expected more than 1 spatial element but found shape [${x.shape}]`);
    }
    const { runningMean, runningVar, weight, bias, eps } = this, momentum = this.momentum ?? 0;
    const options = { runningMean, runningVar, weight, bias, useInputStats: useInput, momentum, eps };
    const result = normalizeInstances(batch, options);
    return single ? result.squeeze(0) : result;
  }
}

/** Over [N, C, L] or [C, L], as torch.nn.InstanceNorm1d. */
export class InstanceNorm1d extends InstanceNorm {
  override readonly ranks: readonly number[] = [2, 3];
}

/** Over [N, C, H, W] or [C, H, W], as torch.nn.InstanceNorm2d. */
export class InstanceNorm2d extends InstanceNorm {
  override readonly ranks: readonly number[] = [3, 4];
}

/** Over [N, C, D, H, W] or [C, D, H, W], as torch.nn.InstanceNorm3d. */
export class InstanceNorm3d extends InstanceNorm {
  override readonly ranks: readonly number[] = [4, 5];
}

interface NeighbouringChannels {
  readonly size: number;
}

/** Options of local response normalisation. */
interface LocalResponseOptions {
  readonly alpha?: number;
  readonly beta?: number;
  readonly k?: number;
}

const LOCAL_RESPONSE = { required: ["size"], positional: ["alpha", "beta", "k"], counts: [] } as const;

/** Divides by a power of the mean square over `size` neighbouring channels, as torch.nn.LocalResponseNorm. */
export class LocalResponseNorm extends Module {
  readonly size: number;
  readonly alpha: number;
  readonly beta: number;
  readonly k: number;

  constructor(...given: Arguments<NeighbouringChannels, LocalResponseOptions, typeof LOCAL_RESPONSE>) {
    super();
    const options = layerArguments<NeighbouringChannels, LocalResponseOptions>(
      "LocalResponseNorm",
      LOCAL_RESPONSE,
      given,
    );
    this.size = options.size;
    this.alpha = options.alpha ?? 1e-4;
    this.beta = options.beta ?? 0.75;
    this.k = options.k ?? 1;
  }

  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return localResponseNorm(x, this.size, this.alpha, this.beta, this.k);
  }

  override extraRepr(): string {
    return settings([this.size], { alpha: this.alpha, beta: this.beta, k: this.k });
  }
}

/** Options of layer normalisation. */
export interface LayerNormOptions extends Placement {
  readonly eps?: number;
  readonly elementwiseAffine?: boolean;
  readonly bias?: boolean;
}

interface NormalizedShape {
  readonly normalizedShape: number | readonly number[];
}

const LAYER_NORM = {
  required: ["normalizedShape"],
  counts: [],
  positional: ["eps", "elementwiseAffine", "bias", "device", "dtype"],
  flags: { bias: true, elementwiseAffine: true },
} as const;

function sizesOf(shape: number | readonly number[]): readonly number[] {
  if (typeof shape === "number") return [shape];
  checkKind(shape, "a list", "normalizedShape");
  return shape;
}

/** Over the last dimensions `normalizedShape`, as torch.nn.LayerNorm. */
export class LayerNorm extends Module {
  readonly normalizedShape: readonly number[];
  readonly eps: number;
  /** Whether the layer was made with a weight. */
  readonly elementwiseAffine: boolean;
  weight: Parameter | null;
  bias: Parameter | null;

  constructor(...given: Arguments<NormalizedShape, LayerNormOptions, typeof LAYER_NORM>) {
    super();
    const options = layerArguments<NormalizedShape, LayerNormOptions>("LayerNorm", LAYER_NORM, given);
    this.normalizedShape = sizesOf(options.normalizedShape);
    this.eps = options.eps ?? 1e-5;
    const affine = this.elementwiseAffine = options.elementwiseAffine ?? true;
    this.weight = affine ? new Parameter(ones([...this.normalizedShape], placementOf(options))) : null;
    this.bias = affine && (options.bias ?? true)
      ? new Parameter(zeros([...this.normalizedShape], placementOf(options)))
      : null;
  }

  /** Reinitialises the parameters. */
  resetParameters(): void {
    affineAgain(this);
  }

  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return layerNorm(x, this.normalizedShape, this.weight, this.bias, this.eps);
  }

  override extraRepr(): string {
    const { normalizedShape, eps, elementwiseAffine, bias } = this;
    return settings([normalizedShape], { eps, elementwiseAffine, bias: bias !== null });
  }
}

/** Options of root mean square normalisation. */
interface RMSNormOptions extends Placement {
  readonly eps?: number | null;
  readonly elementwiseAffine?: boolean;
}

const RMS_NORM = {
  required: ["normalizedShape"],
  counts: [],
  positional: ["eps", "elementwiseAffine", "device", "dtype"],
  flags: { elementwiseAffine: true },
} as const;

/** x / √(mean x² + eps) over the last dimensions, as torch.nn.RMSNorm. */
export class RMSNorm extends Module {
  readonly normalizedShape: readonly number[];
  readonly eps: number | null;
  /** Whether the layer was made with a weight. */
  readonly elementwiseAffine: boolean;
  weight: Parameter | null;

  constructor(...given: Arguments<NormalizedShape, RMSNormOptions, typeof RMS_NORM>) {
    super();
    const options = layerArguments<NormalizedShape, RMSNormOptions>("RMSNorm", RMS_NORM, given);
    this.normalizedShape = sizesOf(options.normalizedShape);
    this.eps = options.eps ?? null;
    this.elementwiseAffine = options.elementwiseAffine ?? true;
    this.weight = this.elementwiseAffine
      ? new Parameter(ones([...this.normalizedShape], placementOf(options)))
      : null;
  }

  /** Reinitialises the parameters. */
  resetParameters(): void {
    affineAgain(this);
  }

  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return rmsNorm(x, this.normalizedShape, this.weight, this.eps);
  }

  override extraRepr(): string {
    const { normalizedShape, eps, elementwiseAffine } = this;
    return settings([normalizedShape], { eps, elementwiseAffine });
  }
}

interface GroupedChannels {
  readonly numGroups: number;
  readonly numChannels: number;
}

/** Options of group normalisation. */
export interface GroupNormOptions extends Placement {
  readonly eps?: number;
  readonly affine?: boolean;
  /** Whether an affine layer has a bias. */
  readonly bias?: boolean;
}

const GROUP_NORM = {
  required: ["numGroups", "numChannels"],
  counts: ["numGroups", "numChannels"],
  positional: ["eps", "affine", "device", "dtype"],
  named: ["bias"],
  flags: { affine: true, bias: true },
} as const;

/** Over groups of channels, as torch.nn.GroupNorm. */
export class GroupNorm extends Module {
  readonly numGroups: number;
  readonly numChannels: number;
  readonly eps: number;
  /** Whether the layer was made with a weight. */
  readonly affine: boolean;
  weight: Parameter | null;
  bias: Parameter | null;

  constructor(...given: Arguments<GroupedChannels, GroupNormOptions, typeof GROUP_NORM>) {
    super();
    const options = layerArguments<GroupedChannels, GroupNormOptions>("GroupNorm", GROUP_NORM, given);
    const { numGroups, numChannels } = options;
    this.numGroups = numGroups;
    this.numChannels = numChannels;
    if (numChannels % numGroups !== 0) {
      throw new DynError(`Expected channels divisible by ${numGroups} groups but found ${numChannels}`);
    }
    this.eps = options.eps ?? 1e-5;
    const affine = this.affine = options.affine ?? true;
    this.weight = affine ? new Parameter(ones([numChannels], placementOf(options))) : null;
    this.bias = affine && (options.bias ?? true)
      ? new Parameter(zeros([numChannels], placementOf(options)))
      : null;
  }

  /** Reinitialises the parameters. */
  resetParameters(): void {
    affineAgain(this);
  }

  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return groupNorm(x, this.numGroups, this.weight, this.bias, this.eps);
  }

  override extraRepr(): string {
    const { numGroups, numChannels, eps, affine, bias } = this;
    return settings([numGroups, numChannels], { eps, affine, bias: bias !== null });
  }
}
