/**
 * Schedules that cycle the learning rate, and momentum in the opposite direction (Smith 2017; Smith and Topin 2018):
 * they set `lr` of an optimizer's groups, and `momentum` or the first of `betas`. Invariant: both are functions of
 * the number of steps.
 */
import { checkAtLeast, checkFinite, checkPositive, checkShare } from "../base/checked_numbers.ts";
import { checkFlag, checkFunction, checkKind, checkOneOf } from "../base/checked_input.ts";
import { type Arguments, argumentsOf } from "../base/arguments.ts";
import { DynError, invariant } from "../base/errors.ts";
import type { AnyOptimizer } from "./optimizer.ts";
import { initialRates, LRScheduler } from "./schedule.ts";

/** One number for all groups, or one per group. */
type PerGroup = number | readonly number[];

/** Expands a number to one per group. Throws DynError for another count. */
function eachGroup(given: PerGroup, optimizer: AnyOptimizer, what: string): readonly number[] {
  const groups = optimizer.paramGroups.length;
  const list = typeof given === "number" ? new Array<number>(groups).fill(given) : given;
  checkKind(list, "a list", `the ${what} of a schedule`);
  if (list.length !== groups) {
    throw new DynError(`Expected ${groups} ${what}, one per group, but found ${list.length}`);
  }
  for (const each of list) checkFinite("a schedule", { [`each of the ${what}`]: each });
  return list;
}

/** The range of momenta, and whether they cycle. */
interface MomentumOptions {
  readonly cycleMomentum?: boolean;
  readonly baseMomentum?: PerGroup;
  readonly maxMomentum?: PerGroup;
}

/** A schedule that also sets momenta. */
abstract class Cycle extends LRScheduler {
  /** Whether momenta cycle, in the opposite direction to rates. */
  cycleMomentum = true;
  /** The lower momenta, one per group. */
  baseMomentums: readonly number[] = [];
  /** The upper momenta, one per group. */
  maxMomentums: readonly number[] = [];

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

  /** Takes the range of momenta. Throws DynError if they cycle but groups have none. */
  protected setMomenta(given: MomentumOptions, [low, high]: readonly [low: number, high: number]): void {
    this.cycleMomentum = given.cycleMomentum ?? true;
    checkFlag("cycleMomentum of a schedule", this.cycleMomentum);
    this.baseMomentums = eachGroup(given.baseMomentum ?? low, this.optimizer, "base momenta");
    this.maxMomentums = eachGroup(given.maxMomentum ?? high, this.optimizer, "greatest momenta");
    if (!this.cycleMomentum) return;
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
  flags: { cycleMomentum: true },
} as const;

/** Linearly up from baseLr to maxLr and down again, repeatedly, like torch.optim.lr_scheduler.CyclicLR. */
export class CyclicLR extends Cycle {
  /** The upper rates, one per group. */
  maxLrs: readonly number[];
  /** Steps of the rising half. */
  stepSizeUp: number;
  /** Steps of the falling half; null: as many. */
  stepSizeDown: number | null;
  /** Whether the amplitude of cycles is constant, is halved each time, or decays as gammaᵗ. */
  mode: "triangular" | "triangular2" | "exp_range";
  /** Base of mode "exp_range". */
  gamma: number;
  /** Scales the amplitude, instead of a mode. */
  scaleFn: ((x: number) => number) | null;
  /** The argument of scaleFn: the number of the cycle from 1, or of steps. */
  scaleMode: "cycle" | "iterations";

  /** Takes the optimizer, then PyTorch's arguments; trailing ones also by name. */
  constructor(optimizer: AnyOptimizer, ...given: Arguments<CyclicRates, CyclicOptions, typeof CYCLIC>) {
    const begun = initialRates(optimizer);
    super(optimizer);
    const { baseLr, maxLr, ...options } = argumentsOf<CyclicRates, CyclicOptions>("CyclicLR", CYCLIC, given);
    const lows = eachGroup(baseLr, optimizer, "base rates");
    this.maxLrs = eachGroup(maxLr, optimizer, "greatest rates");
    this.stepSizeUp = options.stepSizeUp ?? 2000;
    this.stepSizeDown = options.stepSizeDown ?? null;
    this.mode = options.mode ?? "triangular";
    this.gamma = options.gamma ?? 1;
    this.scaleFn = options.scaleFn ?? null;
    this.scaleMode = options.scaleMode ?? "cycle";
    checkPositive("stepSizeUp of CyclicLR", this.stepSizeUp);
    if (this.stepSizeDown !== null) checkAtLeast("stepSizeDown of CyclicLR", this.stepSizeDown, 0);
    checkFinite("CyclicLR", { gamma: this.gamma });
    if (this.scaleFn !== null) checkFunction(this.scaleFn, "for scaleFn of CyclicLR");
    checkOneOf("scaleMode of CyclicLR", this.scaleMode, ["cycle", "iterations"]);
    this.setMomenta(options, [0.8, 0.9]);
    this.beginWith(lows.map((low, i) => begun[i] ?? low));
    this.baseLrs = lows;
  }

  /** The current height in the cycle, from 0 to 1. */
  private heightAt(epoch: number): number {
    const { stepSizeUp, mode, gamma, scaleFn } = this;
    if (scaleFn === null) checkOneOf("mode of CyclicLR", mode, ["triangular", "triangular2", "exp_range"]);
    const whole = stepSizeUp + (this.stepSizeDown ?? stepSizeUp), top = stepSizeUp / whole;
    const cycle = Math.floor(1 + epoch / whole), into = 1 + epoch / whole - cycle;
    const share = into <= top ? into / top : (into - 1) / (top - 1);
    if (scaleFn) return share * scaleFn(this.scaleMode === "iterations" ? epoch : cycle);
    return share * (mode === "triangular" ? 1 : mode === "triangular2" ? 2 ** (1 - cycle) : gamma ** epoch);
  }

  /** Returns the rate of a group after `epoch` steps. */
  override rateAt(epoch: number, low: number, group: number): number {
    return low + ((this.maxLrs[group] ?? low) - low) * this.heightAt(epoch);
  }

  /** Returns the momentum of a group after `epoch` steps. */
  override momentumAt(epoch: number, group: number): number | null {
    if (!this.cycleMomentum) return null;
    const { [group]: low = 0 } = this.baseMomentums, { [group]: high = low } = this.maxMomentums;
    return high - (high - low) * this.heightAt(epoch);
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
  flags: { cycleMomentum: true, threePhase: true },
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
  /** Steps of the whole cycle. */
  totalSteps: number;
  /** The highest rates, one per group. */
  maxLr: readonly number[];
  /** The share of steps with rising rates. */
  pctStart: number;
  /** The shape of each phase. */
  annealStrategy: "cos" | "linear";
  /** maxLr divided by the first rate. */
  divFactor: number;
  /** The first rate divided by the last. */
  finalDivFactor: number;
  /** Whether rates fall back to the first before the last phase. */
  threePhase: boolean;

  /** Takes the optimizer, then PyTorch's arguments; trailing ones also by name. */
  constructor(
    optimizer: AnyOptimizer,
    ...given: Arguments<LargestRate, OneCycleOptions, typeof ONE_CYCLE>
  ) {
    super(optimizer);
    const { maxLr, ...options } = argumentsOf<LargestRate, OneCycleOptions>("OneCycleLR", ONE_CYCLE, given);
    this.maxLr = eachGroup(maxLr, optimizer, "rates");
    this.totalSteps = options.totalSteps ?? (options.epochs ?? 0) * (options.stepsPerEpoch ?? 0);
    if (typeof this.totalSteps !== "number" || !(this.totalSteps > 0)) {
      throw new DynError(
        `Expected totalSteps, or epochs and stepsPerEpoch, but found ${this.totalSteps} steps`,
      );
    }
    this.pctStart = options.pctStart ?? 0.3;
    this.annealStrategy = options.annealStrategy ?? "cos";
    this.divFactor = options.divFactor ?? 25;
    this.finalDivFactor = options.finalDivFactor ?? 1e4;
    this.threePhase = options.threePhase ?? false;
    checkShare("pctStart of OneCycleLR", this.pctStart);
    checkPositive("divFactor of OneCycleLR", this.divFactor);
    checkPositive("finalDivFactor of OneCycleLR", this.finalDivFactor);
    checkFlag("threePhase of OneCycleLR", this.threePhase);
    this.setMomenta(options, [0.85, 0.95]);
    this.beginWith(this.maxLr.map((most) => most / this.divFactor));
  }

  /** The phases of a group. */
  private phases(group: number): readonly Phase[] {
    const { pctStart, divFactor, finalDivFactor, threePhase } = this, { [group]: most = 0 } = this.maxLr;
    const start = most / divFactor, least = start / finalDivFactor, top = pctStart * this.totalSteps - 1;
    const { [group]: low = 0 } = this.baseMomentums, { [group]: high = low } = this.maxMomentums;
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
    checkOneOf("annealStrategy of OneCycleLR", this.annealStrategy, ["cos", "linear"]);
    const phases = this.phases(group), found = phases.findIndex(({ end }) => epoch <= end);
    const at = found < 0 ? phases.length - 1 : found, phase = phases[at], begin = phases[at - 1]?.end ?? 0;
    invariant(phase, "Expected phases but found none");
    const [from, to] = of(phase), share = (epoch - begin) / (phase.end - begin);
    return this.annealStrategy === "linear"
      ? from + (to - from) * share
      : to + (from - to) / 2 * (Math.cos(Math.PI * share) + 1);
  }

  /** Returns the rate of a group after `epoch` steps. */
  override rateAt(epoch: number, _base: number, group: number): number {
    return this.numberAt(epoch, group, ({ rate }) => rate);
  }

  /** Returns the momentum of a group after `epoch` steps. */
  override momentumAt(epoch: number, group: number): number | null {
    return this.cycleMomentum ? this.numberAt(epoch, group, ({ momentum }) => momentum) : null;
  }
}
