/**
 * Averages of a model's parameters during training, equal (Izmailov et al. 2018) or exponential, and the matching
 * learning-rate schedule: the namespace `optim.swaUtils`.
 */
import { checkFinite, checkInteger, checkShare } from "../base/checked_numbers.ts";
import {
  checkFlag,
  checkKind,
  checkOneOf,
  optionsOf,
  refuseSurplus,
  refuseValue,
} from "../base/checked_input.ts";
import { type Arguments, argumentsOf, type Trailing, trailing } from "../base/arguments.ts";
import { DynError } from "../base/errors.ts";
import { BatchNorm1d, BatchNorm2d, BatchNorm3d } from "../nn/normalization.ts";
import { checkModule, Module } from "../nn/module.ts";
import { noGrad } from "../tensor/modes.ts";
import { tensor } from "../tensor/creation.ts";
import { where } from "../tensor/generated_functions.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import type { AnyOptimizer } from "./optimizer.ts";
import { ScalingSchedule } from "./schedule.ts";

/** Computes a new average from the old one, the next value, and the number of averaged values. */
export type AverageFunction = (average: Tensor, next: Tensor, count: Tensor) => Tensor;

/** Equal averages: average + (next − average) / (count + 1). */
export function getSwaAvgFn(): AverageFunction {
  if (arguments.length > 0) refuseSurplus("getSwaAvgFn", 0, arguments);
  return (average, next, count) => average.add(next.sub(average).div(count.add(1)));
}

/** Arguments of exponential averages by name. */
export interface Decay {
  /** The share of the former average; default 0.999. */
  readonly decay?: number | undefined;
}

/** The decay, by position or by name. */
export type DecayArguments = Trailing<Decay, ["decay"]>;

/** Exponential averages: decay · average + (1 − decay) · next. Throws DynError for a decay outside [0, 1]. */
export function getEmaAvgFn(...given: DecayArguments): AverageFunction {
  const { decay = 0.999 } = trailing<Decay>("getEmaAvgFn", ["decay"], given);
  checkShare("decay", decay);
  return (average, next) => average.mul(decay).add(next.mul(1 - decay));
}

/** Writes the new averages of several tensors into the averages. */
export type MultiAverageFunction = (
  averages: readonly Tensor[],
  next: readonly Tensor[],
  count: Tensor,
) => void;

const ofEach = (average: AverageFunction): MultiAverageFunction => (averages, next, count) =>
  averages.forEach((own, k) => own.copy_(average(own, next[k] ?? own, count)));

/** Equal averages of several tensors. */
export const getSwaMultiAvgFn = (): MultiAverageFunction => ofEach(getSwaAvgFn());

/** Exponential averages of several tensors. Throws DynError for a decay outside [0, 1]. */
export const getEmaMultiAvgFn = (...given: DecayArguments): MultiAverageFunction =>
  ofEach(getEmaAvgFn(...given));

/** Options of AveragedModel. */
export interface AveragedOptions {
  /** Default: equal averages. */
  readonly avgFn?: AverageFunction | null;
  /** Like avgFn, for all tensors at once; specify only one of the two. */
  readonly multiAvgFn?: MultiAverageFunction | null;
  /** Whether buffers are averaged too; otherwise they are the model's. */
  readonly useBuffers?: boolean;
}

const isFloating = (x: Tensor): boolean => x.isFloatingPoint();

/** A model whose parameters are averages of another's, like torch.optim.swa_utils.AveragedModel. */
export class AveragedModel<M extends Module = Module> extends Module {
  /** The averaged model, initially a copy. */
  readonly module: M;
  /** Number of averaged models. */
  nAveraged: Tensor = tensor(0, { dtype: "int64" });
  /** Whether buffers are averaged too. */
  readonly useBuffers: boolean;
  /** Computes the new averages. */
  private readonly average: MultiAverageFunction;

  /** Takes the model to average, and copies it. */
  constructor(model: M, options: AveragedOptions = {}) {
    super();
    checkModule(model, "AveragedModel");
    optionsOf("AveragedModel", options, ["avgFn", "multiAvgFn", "useBuffers"]);
    this.module = model.clone();
    this.registerBuffer("nAveraged", this.nAveraged, { key: "n_averaged" });
    const { useBuffers = false } = options;
    checkFlag("useBuffers of AveragedModel", useBuffers);
    this.useBuffers = useBuffers;
    if (options.avgFn && options.multiAvgFn) {
      throw new DynError("Expected one of avgFn and multiAvgFn but found both");
    }
    this.average = options.multiAvgFn ?? ofEach(options.avgFn ?? getSwaAvgFn());
  }

  /** Returns the output of the averaged model. */
  override forward(...args: Parameters<M["forward"]>): ReturnType<M["forward"]> {
    return this.module.call(...args);
  }

  /** Adds the current parameters to the averages. Throws DynError for a model with other parameters. */
  updateParameters(model: M): void {
    if (arguments.length > 1) refuseSurplus("updateParameters", 1, arguments);
    const averages = this.module.parameters(), values = model.parameters();
    const buffers = this.module.buffers(), others = model.buffers();
    if (averages.length !== values.length || buffers.length !== others.length) {
      throw new DynError(`Expected a model of ${averages.length} parameters but found ${values.length}`);
    }
    const pairs = [
      ...averages.map((own, i) => [own, values[i], true] as const),
      ...buffers.map((own, i) => [own, others[i], this.useBuffers] as const),
    ];
    noGrad(() => {
      const taken: [Tensor, Tensor][] = [];
      for (const [own, next, isAveraged] of pairs) {
        if (next && isAveraged && isFloating(own)) {
          taken.push([own, next.detach().to(own.dtype).to(own.device)]);
        } else if (next) own.copy_(next);
      }
      const found = taken.map(([own]) => own.detach().clone());
      this.average(found, taken.map(([, next]) => next), this.nAveraged);
      taken.forEach(([own, next], k) => own.copy_(where(this.nAveraged.eq(0), next, found[k] ?? next)));
      this.nAveraged.add_(1);
    });
  }
}

/**
 * Recomputes the running statistics of a model's batch normalisation over all batches, like
 * torch.optim.swa_utils.update_bn: if a batch is an array, its first element is the input.
 */
export function updateBn(loader: Iterable<unknown>, model: Module): void {
  if (arguments.length > 2) refuseSurplus("updateBn", 2, arguments);
  checkModule(model, "updateBn");
  const layers = model.modules().filter((each) =>
    each instanceof BatchNorm1d || each instanceof BatchNorm2d || each instanceof BatchNorm3d
  );
  if (layers.length === 0) return;
  const { training } = model;
  const momenta = layers.map((layer) => layer.momentum);
  for (const layer of layers) {
    noGrad(() => {
      layer.runningMean?.zero_();
      layer.runningVar?.fill_(1);
      layer.numBatchesTracked?.zero_();
    });
    Reflect.set(layer, "momentum", null);
  }
  try {
    model.train();
    const call: unknown = Reflect.get(model, "call");
    for (const batch of loader) {
      const input: unknown = Array.isArray(batch) ? batch[0] : batch;
      if (!isTensor(input)) refuseValue("batches of tensors, or arrays that begin with one,", input);
      if (typeof call === "function") noGrad(() => void Reflect.apply(call, model, [input]));
    }
  } finally {
    model.train(training);
    layers.forEach((layer, i) => Reflect.set(layer, "momentum", momenta[i]));
  }
}

interface SwaRate {
  /** One for all groups, or one per group. */
  readonly swaLr: number | readonly number[];
}

interface SwaOptions {
  readonly annealEpochs?: number;
  readonly annealStrategy?: "cos" | "linear";
}

const SWALR_ARGUMENTS = { required: ["swaLr"], positional: ["annealEpochs", "annealStrategy"] } as const;

/**
 * Changes the rate from the current one to swaLr over annealEpochs steps and then keeps it, like
 * torch.optim.swa_utils.SWALR.
 */
export class SWALR extends ScalingSchedule {
  /** The final rates, one per group. */
  readonly swaLr: readonly number[];
  /** Steps until they are reached. */
  readonly annealEpochs: number;
  /** The interpolation. */
  readonly annealStrategy: "cos" | "linear";

  /** Takes the optimizer, then PyTorch's arguments; trailing ones also by name. */
  constructor(optimizer: AnyOptimizer, ...given: Arguments<SwaRate, SwaOptions, typeof SWALR_ARGUMENTS>) {
    super(optimizer);
    const options = argumentsOf<SwaRate, SwaOptions>("SWALR", SWALR_ARGUMENTS, given), { swaLr } = options;
    const groups = optimizer.paramGroups.length;
    this.swaLr = typeof swaLr === "number" ? new Array<number>(groups).fill(swaLr) : swaLr;
    checkKind(this.swaLr, "a list", "the rates of SWALR");
    if (this.swaLr.length !== groups) {
      throw new DynError(`Expected ${groups} rates, one per group, but found ${this.swaLr.length}`);
    }
    for (const each of this.swaLr) checkFinite("SWALR", { swaLr: each });
    this.annealEpochs = options.annealEpochs ?? 10;
    this.annealStrategy = options.annealStrategy ?? "cos";
    checkInteger("annealEpochs of SWALR", this.annealEpochs, 0);
    checkOneOf("annealStrategy of SWALR", this.annealStrategy, ["cos", "linear"]);
    this.begin();
  }

  /** The remaining share of the distance to swaLr after `epoch` steps. */
  override factorAt(epoch: number): number {
    const share = this.annealEpochs === 0 ? 1 : Math.min(1, epoch / this.annealEpochs);
    return this.annealStrategy === "linear" ? 1 - share : (1 + Math.cos(Math.PI * share)) / 2;
  }

  /** The final rate of a group. */
  protected override floorOf(group: number): number {
    return this.swaLr[group] ?? 0;
  }

  /** Once reached, swaLr is kept even if other schedules change the rate. */
  protected override nextRate(rate: number, base: number, group: number): number {
    return this.factorAt(this.lastEpoch) === 0 ? this.floorOf(group) : super.nextRate(rate, base, group);
  }
}
