/**
 * Schedules that cycle the learning rate, and momentum in the opposite direction (Smith 2017; Smith and Topin 2018):
 * they set `lr` of an optimizer's groups, and `momentum` or the first of `betas`. Invariant: both are functions of
 * the number of steps.
 */
import { checkShare } from "../base/checked_numbers.ts";
import { checkOneOf } from "../base/checked_input.ts";
import { type Arguments, argumentsOf } from "../base/arguments.ts";
import { DynError, invariant } from "../base/errors.ts";
import type { Optimizer } from "./optimizer.ts";
import { initialRates, LRScheduler } from "./schedule.ts";

/** One number for all groups, or one per group. */
type PerGroup = number | readonly number[];

/** Expands a number to one per group. Throws DynError for another count. */
function eachGroup(given: PerGroup, optimizer: Optimizer, what: string): readonly number[] {
  const groups = optimizer.paramGroups.length;
  const list = typeof given === "number" ? new Array<number>(groups).fill(given) : given;
  if (list.length !== groups) {
    throw new DynError(`Expected ${groups} ${what}, one per group, but found ${list.length}`);
  }
  return list;
}

/** A schedule that also sets momenta. */
abstract class Cycle extends LRScheduler {
  /** Returns the momentum of a group after `epoch` steps; null: unchanged. */
  abstract momentumAt(epoch: number, group: number): number | null;

  /** Sets the rates, and the momenta. */
  protected override setRates(rateOf: (rate: number, base: number, group: number) => number): void {
    super.setRates(rateOf);
    this.optimizer.paramGroups.forEach((group, i) => {
      const momentum = this.momentumAt(this.lastEpoch, i), betas: unknown = Reflect.get(group, "betas");
      if (momentum === null) return;
      if (Array.isArray(betas)) Reflect.set(group, "betas", [momentum, ...betas.slice(1)]);
      else Reflect.set(group, "momentum", momentum);
    });
  }

  /** Throws DynError if groups have no momentum. */
  protected checkMomenta(): void {
    for (const group of this.optimizer.paramGroups) {
      if (!Reflect.has(group, "momentum") && !Reflect.has(group, "betas")) {
        throw new DynError(
          "Expected an optimizer with momentum or betas where cycleMomentum is true but found one with neither",
        );
      }
    }
  }
}

/** The range of CyclicLR's rates. */
export interface CyclicRates {
  /** The lower bound; one for all groups, or one per group. */
  readonly baseLr: PerGroup;
  /** The upper bound of the first cycle. */
  readonly maxLr: PerGroup;
}

/** Options of CyclicLR. */
export interface CyclicOptions {
  /** Steps of the rising half; default 2000. */
  readonly stepSizeUp?: number;
  /** Steps of the falling half; default stepSizeUp. */
  readonly stepSizeDown?: number | null;
  /** Whether the amplitude of cycles is constant, is halved each time, or decays as gammaᵗ; default "triangular". */
  readonly mode?: "triangular" | "triangular2" | "exp_range";
  /** Base of mode "exp_range". */
  readonly gamma?: number;
  /** Scales the amplitude, instead of a mode. */
  readonly scaleFn?: ((x: number) => number) | null;
  /** The argument of scaleFn: the number of the cycle from 1, or of steps. */
  readonly scaleMode?: "cycle" | "iterations";
  /** Whether momenta cycle in the opposite direction; default true. */
  readonly cycleMomentum?: boolean;
  /** The lower momentum; default 0.8. */
  readonly baseMomentum?: PerGroup;
  /** The upper momentum; default 0.9. */
  readonly maxMomentum?: PerGroup;
}

const CYCLIC = {
  required: ["baseLr", "maxLr"],
  positional: [
    "stepSizeUp",
    "stepSizeDown",
    "mode",
    "gamma",
    "scaleFn",
    "scaleMode",
    "cycleMomentum",
    "baseMomentum",
    "maxMomentum",
  ],
} as const;

/** Linearly up from baseLr to maxLr and down again, repeatedly, like torch.optim.lr_scheduler.CyclicLR. */
export class CyclicLR extends Cycle {
  /** The upper rates, one per group. */
  readonly maxLrs: readonly number[];
  /** The arguments by name. */
  readonly options: CyclicOptions;
  /** The range of momenta; null: unchanged. */
  private readonly momenta: readonly (readonly [low: number, high: number])[] | null;

  /** Takes the optimizer, then PyTorch's arguments; trailing ones also by name. */
  constructor(optimizer: Optimizer, ...given: Arguments<CyclicRates, CyclicOptions, typeof CYCLIC>) {
    const begun = initialRates(optimizer);
    super(optimizer);
    const { baseLr, maxLr, ...options } = argumentsOf<CyclicRates, CyclicOptions>("CyclicLR", CYCLIC, given);
    const lows = eachGroup(baseLr, optimizer, "base rates");
    this.maxLrs = eachGroup(maxLr, optimizer, "greatest rates");
    this.options = options;
    const { mode = "triangular", scaleFn = null } = options;
    if (scaleFn === null) checkOneOf("mode of CyclicLR", mode, ["triangular", "triangular2", "exp_range"]);
    if (options.cycleMomentum ?? true) {
      this.checkMomenta();
      const high = eachGroup(options.maxMomentum ?? 0.9, optimizer, "greatest momenta");
      const low = eachGroup(options.baseMomentum ?? 0.8, optimizer, "base momenta");
      this.momenta = low.map((each, i) => [each, high[i] ?? each] as const);
    } else this.momenta = null;
    this.beginWith(lows.map((low, i) => begun[i] ?? low));
    this.baseLrs = lows;
  }

  /** The current height in the cycle, from 0 to 1. */
  private heightAt(epoch: number): number {
    const { stepSizeUp = 2000, mode = "triangular", gamma = 1, scaleFn = null } = this.options;
    const whole = stepSizeUp + (this.options.stepSizeDown ?? stepSizeUp), top = stepSizeUp / whole;
    const cycle = Math.floor(1 + epoch / whole), into = 1 + epoch / whole - cycle;
    const share = into <= top ? into / top : (into - 1) / (top - 1);
    if (scaleFn) return share * scaleFn(this.options.scaleMode === "iterations" ? epoch : cycle);
    return share * (mode === "triangular" ? 1 : mode === "triangular2" ? 2 ** (1 - cycle) : gamma ** epoch);
  }

  /** Returns the rate of a group after `epoch` steps. */
  override rateAt(epoch: number, low: number, group: number): number {
    return low + ((this.maxLrs[group] ?? low) - low) * this.heightAt(epoch);
  }

  /** Returns the momentum of a group after `epoch` steps. */
  override momentumAt(epoch: number, group: number): number | null {
    const ends = this.momenta?.[group];
    return ends ? ends[1] - (ends[1] - ends[0]) * this.heightAt(epoch) : null;
  }
}

interface LargestRate {
  /** One for all groups, or one per group. */
  readonly maxLr: PerGroup;
}

interface OneCycleOptions {
  readonly totalSteps?: number | null;
  readonly epochs?: number | null;
  readonly stepsPerEpoch?: number | null;
  readonly pctStart?: number;
  readonly annealStrategy?: "cos" | "linear";
  readonly cycleMomentum?: boolean;
  readonly baseMomentum?: PerGroup;
  readonly maxMomentum?: PerGroup;
  readonly divFactor?: number;
  readonly finalDivFactor?: number;
  readonly threePhase?: boolean;
}

const ONE_CYCLE = {
  required: ["maxLr"],
  positional: [
    "totalSteps",
    "epochs",
    "stepsPerEpoch",
    "pctStart",
    "annealStrategy",
    "cycleMomentum",
    "baseMomentum",
    "maxMomentum",
    "divFactor",
    "finalDivFactor",
    "threePhase",
  ],
} as const;

/** A part of a cycle: its last step, and its first and last values. */
interface Phase {
  readonly end: number;
  readonly rate: readonly [from: number, to: number];
  readonly momentum: readonly [from: number, to: number];
}

/**
 * Rises from maxLr / divFactor to maxLr, falls back to the start in the three-phase form, and then to the start /
 * finalDivFactor, like torch.optim.lr_scheduler.OneCycleLR; momenta change in the opposite direction.
 */
export class OneCycleLR extends Cycle {
  /** The arguments by name. */
  readonly options: OneCycleOptions;
  /** Steps of the whole cycle. */
  readonly totalSteps: number;
  /** One per group. */
  readonly maxLr: readonly number[];
  /** The range of momenta; null: unchanged. */
  private readonly momenta: readonly (readonly [low: number, high: number])[] | null;

  /** Takes the optimizer, then PyTorch's arguments; trailing ones also by name. */
  constructor(
    optimizer: Optimizer,
    ...given: Arguments<LargestRate, OneCycleOptions, typeof ONE_CYCLE>
  ) {
    super(optimizer);
    const { maxLr, ...options } = argumentsOf<LargestRate, OneCycleOptions>("OneCycleLR", ONE_CYCLE, given);
    this.options = options;
    this.maxLr = eachGroup(maxLr, optimizer, "rates");
    this.totalSteps = options.totalSteps ?? (options.epochs ?? 0) * (options.stepsPerEpoch ?? 0);
    if (!(this.totalSteps > 0)) {
      throw new DynError(
        `Expected totalSteps, or epochs and stepsPerEpoch, but found ${this.totalSteps} steps`,
      );
    }
    const { pctStart = 0.3, annealStrategy = "cos" } = options;
    checkShare("pctStart of OneCycleLR", pctStart);
    checkOneOf("annealStrategy of OneCycleLR", annealStrategy, ["cos", "linear"]);
    if (options.cycleMomentum ?? true) {
      this.checkMomenta();
      const high = eachGroup(options.maxMomentum ?? 0.95, optimizer, "greatest momenta");
      const low = eachGroup(options.baseMomentum ?? 0.85, optimizer, "base momenta");
      this.momenta = low.map((each, i) => [each, high[i] ?? each] as const);
    } else this.momenta = null;
    this.beginWith(this.maxLr.map((most) => most / (options.divFactor ?? 25)));
  }

  /** The phases of a group. */
  private phases(group: number): readonly Phase[] {
    const { pctStart = 0.3, divFactor = 25, finalDivFactor = 1e4, threePhase = false } = this.options;
    const most = this.maxLr[group] ?? 0, start = most / divFactor, least = start / finalDivFactor;
    const [low, high] = this.momenta?.[group] ?? [0, 0], top = pctStart * this.totalSteps - 1;
    const last = this.totalSteps - 1, up: Phase = { end: top, rate: [start, most], momentum: [high, low] };
    if (!threePhase) return [up, { end: last, rate: [most, least], momentum: [low, high] }];
    return [
      up,
      { end: 2 * pctStart * this.totalSteps - 2, rate: [most, start], momentum: [low, high] },
      { end: last, rate: [start, least], momentum: [high, high] },
    ];
  }

  /** Interpolates a value of the phase that a step is in. Throws DynError after the last step. */
  private numberAt(epoch: number, group: number, of: (phase: Phase) => readonly [number, number]): number {
    if (epoch > this.totalSteps) {
      throw new DynError(`Expected at most ${this.totalSteps} steps but found ${epoch}`);
    }
    const phases = this.phases(group), found = phases.findIndex(({ end }) => epoch <= end);
    const at = found < 0 ? phases.length - 1 : found, phase = phases[at], begin = phases[at - 1]?.end ?? 0;
    invariant(phase, "Expected phases but found none");
    const [from, to] = of(phase), share = (epoch - begin) / (phase.end - begin);
    return this.options.annealStrategy === "linear"
      ? from + (to - from) * share
      : to + (from - to) / 2 * (Math.cos(Math.PI * share) + 1);
  }

  /** Returns the rate of a group after `epoch` steps. */
  override rateAt(epoch: number, _base: number, group: number): number {
    return this.numberAt(epoch, group, ({ rate }) => rate);
  }

  /** Returns the momentum of a group after `epoch` steps. */
  override momentumAt(epoch: number, group: number): number | null {
    return this.momenta ? this.numberAt(epoch, group, ({ momentum }) => momentum) : null;
  }
}
