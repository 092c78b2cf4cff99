/**
 * Learning-rate schedules, as torch.optim.lr_scheduler: each sets `lr` of every group when it is made and after
 * `step()`. Invariant: a rate is a function of the number of steps and of the group's first rate.
 */
import { type Trailing, trailing } from "../base/arguments.ts";
import { DynError } from "../base/errors.ts";
import type { Optimizer } from "./optimizer.ts";

interface WithRate {
  lr: number;
}

/** Optimizers of every kind whose groups have a rate. */
export type RatedOptimizer = Optimizer<WithRate>;

/** The rates that groups had before any schedule changed them, so that several schedules share them. */
const firstRates = new WeakMap<WithRate, number>();

function firstRateOf(group: WithRate): number {
  const known = firstRates.get(group);
  if (known !== undefined) return known;
  firstRates.set(group, group.lr);
  return group.lr;
}

/** Base: counts steps and applies `rateAt` to the first rate of each group. */
export abstract class LRScheduler {
  lastEpoch = 0;
  readonly baseRates: readonly number[];

  constructor(readonly optimizer: RatedOptimizer) {
    this.baseRates = optimizer.paramGroups.map(firstRateOf);
  }

  /** The rate after `epoch` steps for a group that started with `base`. */
  abstract rateAt(epoch: number, base: number): number;

  /** To be called once an epoch, after `optimizer.step()`. */
  step(): void {
    this.lastEpoch++;
    this.apply();
  }

  protected apply(): void {
    this.optimizer.paramGroups.forEach((group, i) => {
      group.lr = this.rateAt(this.lastEpoch, this.baseRates[i] ?? group.lr);
    });
  }

  getLastLr(): number[] {
    return this.optimizer.paramGroups.map((group) => group.lr);
  }

  /** What a schedule resumes from. */
  stateDict(): { lastEpoch: number } {
    return { lastEpoch: this.lastEpoch };
  }

  loadStateDict(state: { readonly lastEpoch: number }): void {
    this.lastEpoch = state.lastEpoch;
    this.apply();
  }
}

/** Throws where a required argument was left out. */
function needed<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new DynError(`Expected ${name} but found nothing`);
  return value;
}

interface StepOptions {
  readonly stepSize?: number;
  readonly gamma?: number;
}

/** lr·gammaᵏ, k = whole stepSizes gone by. */
export class StepLR extends LRScheduler {
  readonly stepSize: number;
  readonly gamma: number;

  constructor(optimizer: RatedOptimizer, ...given: Trailing<StepOptions, ["stepSize", "gamma"]>) {
    super(optimizer);
    const options = trailing<StepOptions>("StepLR", ["stepSize", "gamma"], given);
    this.stepSize = needed(options.stepSize, "stepSize");
    this.gamma = options.gamma ?? 0.1;
  }

  override rateAt(epoch: number, base: number): number {
    return base * this.gamma ** Math.floor(epoch / this.stepSize);
  }
}

interface MultiStepOptions {
  readonly milestones?: readonly number[];
  readonly gamma?: number;
}

/** lr·gammaᵏ, k = milestones passed. */
export class MultiStepLR extends LRScheduler {
  readonly milestones: readonly number[];
  readonly gamma: number;

  constructor(optimizer: RatedOptimizer, ...given: Trailing<MultiStepOptions, ["milestones", "gamma"]>) {
    super(optimizer);
    const options = trailing<MultiStepOptions>("MultiStepLR", ["milestones", "gamma"], given);
    this.milestones = needed(options.milestones, "milestones");
    this.gamma = options.gamma ?? 0.1;
  }

  override rateAt(epoch: number, base: number): number {
    return base * this.gamma ** this.milestones.filter((m) => m <= epoch).length;
  }
}

/** lr·gammaᵗ */
export class ExponentialLR extends LRScheduler {
  readonly gamma: number;

  constructor(optimizer: RatedOptimizer, ...given: Trailing<{ readonly gamma?: number }, ["gamma"]>) {
    super(optimizer);
    this.gamma = needed(
      trailing<{ readonly gamma?: number }>("ExponentialLR", ["gamma"], given).gamma,
      "gamma",
    );
  }

  override rateAt(epoch: number, base: number): number {
    return base * this.gamma ** epoch;
  }
}

interface CosineOptions {
  readonly tMax?: number;
  readonly etaMin?: number;
}

/** Half a cosine from lr to etaMin over tMax steps. */
export class CosineAnnealingLR extends LRScheduler {
  readonly tMax: number;
  readonly etaMin: number;

  constructor(optimizer: RatedOptimizer, ...given: Trailing<CosineOptions, ["tMax", "etaMin"]>) {
    super(optimizer);
    const options = trailing<CosineOptions>("CosineAnnealingLR", ["tMax", "etaMin"], given);
    this.tMax = needed(options.tMax, "tMax");
    this.etaMin = options.etaMin ?? 0;
  }

  override rateAt(epoch: number, base: number): number {
    return this.etaMin + (base - this.etaMin) * (1 + Math.cos(Math.PI * epoch / this.tMax)) / 2;
  }
}

interface RestartOptions {
  readonly t0?: number;
  readonly tMult?: number;
  readonly etaMin?: number;
}

/** Cosines from lr to etaMin that start again, each tMult times as long as the one before; the first takes t0. */
export class CosineAnnealingWarmRestarts extends LRScheduler {
  readonly t0: number;
  readonly tMult: number;
  readonly etaMin: number;

  constructor(optimizer: RatedOptimizer, ...given: Trailing<RestartOptions, ["t0", "tMult", "etaMin"]>) {
    super(optimizer);
    const names = ["t0", "tMult", "etaMin"] as const;
    const options = trailing<RestartOptions>("CosineAnnealingWarmRestarts", names, given);
    this.t0 = needed(options.t0, "t0");
    this.tMult = options.tMult ?? 1;
    this.etaMin = options.etaMin ?? 0;
    if (this.t0 <= 0 || this.tMult < 1) {
      throw new DynError(
        `Expected t0 above 0 and tMult of at least 1 but found ${this.t0} and ${this.tMult}`,
      );
    }
  }

  override rateAt(epoch: number, base: number): number {
    let length = this.t0, into = epoch;
    while (into >= length) {
      into -= length;
      length *= this.tMult;
    }
    return this.etaMin + (base - this.etaMin) * (1 + Math.cos(Math.PI * into / length)) / 2;
  }
}

/** lr·factor(t) with the user's function. */
export class LambdaLR extends LRScheduler {
  constructor(optimizer: RatedOptimizer, readonly factor: (epoch: number) => number) {
    super(optimizer);
    this.apply();
  }

  override rateAt(epoch: number, base: number): number {
    return base * this.factor(epoch);
  }
}

/** lr·factor(1)·…·factor(t) with the user's function. */
export class MultiplicativeLR extends LRScheduler {
  constructor(optimizer: RatedOptimizer, readonly factor: (epoch: number) => number) {
    super(optimizer);
  }

  override rateAt(epoch: number, base: number): number {
    let rate = base;
    for (let t = 1; t <= epoch; t++) rate *= this.factor(t);
    return rate;
  }
}

interface ConstantOptions {
  readonly factor?: number;
  readonly totalIters?: number;
}

/** lr·factor for totalIters steps, then lr. */
export class ConstantLR extends LRScheduler {
  readonly factor: number;
  readonly totalIters: number;

  constructor(optimizer: RatedOptimizer, ...given: Trailing<ConstantOptions, ["factor", "totalIters"]>) {
    super(optimizer);
    const options = trailing<ConstantOptions>("ConstantLR", ["factor", "totalIters"], given);
    this.factor = options.factor ?? 1 / 3;
    this.totalIters = options.totalIters ?? 5;
    this.apply();
  }

  override rateAt(epoch: number, base: number): number {
    return epoch < this.totalIters ? base * this.factor : base;
  }
}

interface LinearOptions {
  readonly startFactor?: number;
  readonly endFactor?: number;
  readonly totalIters?: number;
}

/** lr times a factor that goes evenly from startFactor to endFactor over totalIters steps. */
export class LinearLR extends LRScheduler {
  readonly startFactor: number;
  readonly endFactor: number;
  readonly totalIters: number;

  constructor(
    optimizer: RatedOptimizer,
    ...given: Trailing<LinearOptions, ["startFactor", "endFactor", "totalIters"]>
  ) {
    super(optimizer);
    const names = ["startFactor", "endFactor", "totalIters"] as const;
    const options = trailing<LinearOptions>("LinearLR", names, given);
    this.startFactor = options.startFactor ?? 1 / 3;
    this.endFactor = options.endFactor ?? 1;
    this.totalIters = options.totalIters ?? 5;
    this.apply();
  }

  override rateAt(epoch: number, base: number): number {
    const done = Math.min(epoch, this.totalIters) / this.totalIters;
    return base * (this.startFactor + (this.endFactor - this.startFactor) * done);
  }
}

interface PolynomialOptions {
  readonly totalIters?: number;
  readonly power?: number;
}

/** lr·(1 − t/totalIters)^power, 0 at the end. */
export class PolynomialLR extends LRScheduler {
  readonly totalIters: number;
  readonly power: number;

  constructor(optimizer: RatedOptimizer, ...given: Trailing<PolynomialOptions, ["totalIters", "power"]>) {
    super(optimizer);
    const options = trailing<PolynomialOptions>("PolynomialLR", ["totalIters", "power"], given);
    this.totalIters = options.totalIters ?? 5;
    this.power = options.power ?? 1;
  }

  override rateAt(epoch: number, base: number): number {
    return base * (1 - Math.min(epoch, this.totalIters) / this.totalIters) ** this.power;
  }
}

interface CycleOptions {
  readonly totalSteps?: number;
  readonly epochs?: number;
  readonly stepsPerEpoch?: number;
  readonly pctStart?: number;
  readonly annealStrategy?: "cos" | "linear";
  readonly divFactor?: number;
  readonly finalDivFactor?: number;
  /** Momenta are not cycled: must be false. */
  readonly cycleMomentum?: boolean;
}

/**
 * From maxLr / divFactor up to maxLr and down to a finalDivFactor-th of the start, as torch's OneCycleLR in two
 * phases. Momenta are not cycled, which has to be said: `cycleMomentum: false`.
 */
export class OneCycleLR extends LRScheduler {
  readonly options: CycleOptions;
  readonly totalSteps: number;

  constructor(
    optimizer: RatedOptimizer,
    readonly maxLr: number,
    ...given: Trailing<CycleOptions, ["totalSteps", "epochs", "stepsPerEpoch", "pctStart", "annealStrategy"]>
  ) {
    super(optimizer);
    const names = ["totalSteps", "epochs", "stepsPerEpoch", "pctStart", "annealStrategy"] as const;
    const more = ["divFactor", "finalDivFactor", "cycleMomentum"] as const;
    this.options = trailing<CycleOptions>("OneCycleLR", { positional: names, named: more }, given);
    const { totalSteps, epochs = 0, stepsPerEpoch = 0, cycleMomentum = true } = this.options;
    this.totalSteps = totalSteps ?? epochs * stepsPerEpoch;
    if (!(this.totalSteps > 0)) {
      throw new DynError(
        `Expected totalSteps, or epochs and stepsPerEpoch, but found ${this.totalSteps} steps`,
      );
    }
    if (cycleMomentum) throw new DynError("Expected cycleMomentum: false, for momenta are not cycled");
    this.apply();
  }

  override rateAt(epoch: number): number {
    const { pctStart = 0.3, annealStrategy = "cos", divFactor = 25, finalDivFactor = 1e4 } = this.options;
    if (epoch > this.totalSteps) {
      throw new DynError(`Expected at most ${this.totalSteps} steps but found ${epoch}`);
    }
    const start = this.maxLr / divFactor, least = start / finalDivFactor;
    const top = pctStart * this.totalSteps - 1, last = this.totalSteps - 1;
    const between = (from: number, to: number, share: number) =>
      annealStrategy === "cos"
        ? to + (from - to) / 2 * (Math.cos(Math.PI * share) + 1)
        : from + (to - from) * share;
    return epoch <= top
      ? between(start, this.maxLr, epoch / top)
      : between(this.maxLr, least, (epoch - top) / (last - top));
  }
}

/** One schedule after the other: the next one from each milestone on. */
export class SequentialLR extends LRScheduler {
  constructor(
    optimizer: RatedOptimizer,
    readonly schedulers: readonly LRScheduler[],
    readonly milestones: readonly number[],
  ) {
    super(optimizer);
    if (schedulers.length !== milestones.length + 1) {
      throw new DynError(
        `Expected one milestone fewer than schedulers but found ${milestones.length} for ${schedulers.length}`,
      );
    }
    this.apply();
  }

  override rateAt(epoch: number, base: number): number {
    const passed = this.milestones.filter((m) => m <= epoch).length, scheduler = this.schedulers[passed];
    if (!scheduler) throw new DynError("Expected a schedule for every part but found none");
    return scheduler.rateAt(epoch - (this.milestones[passed - 1] ?? 0), base);
  }
}

/** Options of ReduceLROnPlateau. */
export interface PlateauOptions {
  readonly mode?: "min" | "max";
  readonly factor?: number;
  readonly patience?: number;
  readonly threshold?: number;
  readonly thresholdMode?: "rel" | "abs";
  readonly cooldown?: number;
  readonly minLr?: number;
  readonly eps?: number;
}

/** Multiplies the rate by `factor` once a number has not got better for more than `patience` steps. */
export class ReduceLROnPlateau {
  readonly options: Required<PlateauOptions>;
  best: number;
  badEpochs = 0;
  cooldownLeft = 0;
  lastEpoch = 0;

  constructor(
    readonly optimizer: RatedOptimizer,
    ...given: Trailing<
      PlateauOptions,
      ["mode", "factor", "patience", "threshold", "thresholdMode", "cooldown"]
    >
  ) {
    const names = ["mode", "factor", "patience", "threshold", "thresholdMode", "cooldown"] as const;
    this.options = {
      mode: "min",
      factor: 0.1,
      patience: 10,
      threshold: 1e-4,
      thresholdMode: "rel",
      cooldown: 0,
      minLr: 0,
      eps: 1e-8,
      ...trailing<PlateauOptions>("ReduceLROnPlateau", { positional: names, named: ["minLr", "eps"] }, given),
    };
    if (this.options.factor >= 1) {
      throw new DynError(`Expected a factor below 1 but found ${this.options.factor}`);
    }
    this.best = this.options.mode === "min" ? Infinity : -Infinity;
  }

  /** To be called once an epoch with the number to watch; a 0-d tensor may stand for it. */
  step(metric: number | { item(): number | bigint | boolean }): void {
    const value = typeof metric === "number" ? metric : Number(metric.item());
    const { factor, patience, cooldown, minLr, eps } = this.options;
    this.lastEpoch++;
    if (this.#isBetter(value)) {
      this.best = value;
      this.badEpochs = 0;
    } else {
      this.badEpochs++;
    }
    if (this.cooldownLeft > 0) {
      this.cooldownLeft--;
      this.badEpochs = 0;
    }
    if (this.badEpochs <= patience) return;
    for (const group of this.optimizer.paramGroups) {
      const next = Math.max(group.lr * factor, minLr);
      if (group.lr - next > eps) group.lr = next;
    }
    this.cooldownLeft = cooldown;
    this.badEpochs = 0;
  }

  #isBetter(value: number): boolean {
    const { mode, threshold, thresholdMode } = this.options;
    if (mode === "min") {
      return value < (thresholdMode === "rel" ? this.best * (1 - threshold) : this.best - threshold);
    }
    return value > (thresholdMode === "rel" ? this.best * (1 + threshold) : this.best + threshold);
  }

  getLastLr(): number[] {
    return this.optimizer.paramGroups.map((group) => group.lr);
  }
}
