/**
 * Learning-rate schedules, as torch.optim.lr_scheduler: each sets `lr` of every group on construction and at `step()`.
 */
import { checkAtLeast, checkFinite, checkPositive, checkShare } from "../base/checked_numbers.ts";
import { type Arguments, argumentsOf, type Trailing, trailing } from "../base/arguments.ts";
import { checkFunction, checkKind } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import type { AnyOptimizer } from "./optimizer.ts";
import { LRScheduler, ScalingSchedule } from "./schedule.ts";

export { LRScheduler, type ScheduleState } from "./schedule.ts";
export { type PlateauOptions, type PlateauState, ReduceLROnPlateau } from "./plateau.ts";
export { CyclicLR, type CyclicOptions, type CyclicRates, OneCycleLR } from "./cycles.ts";
export { ChainedScheduler, SequentialLR } from "./combined_schedules.ts";

interface Decay {
  readonly gamma?: number;
}

interface StepSize {
  readonly stepSize: number;
}

const STEP = { required: ["stepSize"], positional: ["gamma"] } as const;

/** lr·gammaᵏ, where k is the number of complete stepSizes. */
export class StepLR extends ScalingSchedule {
  /** Steps between changes. */
  readonly stepSize: number;
  /** The factor of each change. */
  readonly gamma: number;

  /** Takes the optimizer, then PyTorch's arguments; trailing ones also by name. */
  constructor(optimizer: AnyOptimizer, ...given: Arguments<StepSize, Decay, typeof STEP>) {
    super(optimizer);
    const options = argumentsOf<StepSize, Decay>("StepLR", STEP, given);
    checkPositive("stepSize of StepLR", options.stepSize);
    this.stepSize = options.stepSize;
    this.gamma = options.gamma ?? 0.1;
    checkFinite("StepLR", { gamma: this.gamma });
  }

  /** The share of the initial rate after `epoch` steps. */
  override factorAt(epoch: number): number {
    return this.gamma ** Math.floor(epoch / this.stepSize);
  }
}

interface Milestones {
  readonly milestones: readonly number[];
}

const MULTI_STEP = { required: ["milestones"], positional: ["gamma"] } as const;

/** lr·gammaᵏ, where k is the number of milestones passed. */
export class MultiStepLR extends ScalingSchedule {
  /** The steps at which it changes. */
  readonly milestones: readonly number[];
  /** The factor of each change. */
  readonly gamma: number;

  /** Takes the optimizer, then PyTorch's arguments; trailing ones also by name. */
  constructor(optimizer: AnyOptimizer, ...given: Arguments<Milestones, Decay, typeof MULTI_STEP>) {
    super(optimizer);
    const options = argumentsOf<Milestones, Decay>("MultiStepLR", MULTI_STEP, given);
    checkKind(options.milestones, "a list", "milestones of MultiStepLR");
    for (const milestone of options.milestones) checkFinite("MultiStepLR", { milestone });
    this.milestones = options.milestones;
    this.gamma = options.gamma ?? 0.1;
    checkFinite("MultiStepLR", { gamma: this.gamma });
    this.begin();
  }

  /** The share of the initial rate after `epoch` steps. */
  override factorAt(epoch: number): number {
    return this.gamma ** this.milestones.filter((m) => m <= epoch).length;
  }
}

const EXPONENTIAL = { required: ["gamma"], positional: [] } as const;

/** lr·gammaᵗ */
export class ExponentialLR extends ScalingSchedule {
  /** The factor of each change. */
  readonly gamma: number;

  /** Takes the optimizer, then PyTorch's arguments; trailing ones also by name. */
  constructor(
    optimizer: AnyOptimizer,
    ...given: Arguments<Required<Decay>, object, typeof EXPONENTIAL>
  ) {
    super(optimizer);
    this.gamma = argumentsOf<Required<Decay>, object>("ExponentialLR", EXPONENTIAL, given).gamma;
    checkFinite("ExponentialLR", { gamma: this.gamma });
  }

  /** The share of the initial rate after `epoch` steps. */
  override factorAt(epoch: number): number {
    return this.gamma ** epoch;
  }
}

interface CosineLength {
  readonly tMax: number;
}

/** An alternative spelling of tMax. */
interface CosineLengthByRule {
  readonly TMax: number;
}

interface CosineOptions {
  readonly etaMin?: number;
}

const COSINE = { required: ["tMax"], positional: ["etaMin"] } as const;

/** Half a cosine from lr to etaMin over tMax steps. */
export class CosineAnnealingLR extends ScalingSchedule {
  /** Steps from the maximum rate to the minimum. */
  readonly tMax: number;
  /** The least rate. */
  readonly etaMin: number;

  /** Takes the optimizer, then PyTorch's arguments; trailing ones also by name. */
  constructor(
    optimizer: AnyOptimizer,
    ...given:
      | Arguments<CosineLength, CosineOptions, typeof COSINE>
      | [named: CosineLengthByRule & CosineOptions]
  ) {
    super(optimizer);
    const options = argumentsOf<CosineLength, CosineOptions>("CosineAnnealingLR", COSINE, given);
    this.tMax = options.tMax;
    this.etaMin = options.etaMin ?? 0;
    checkPositive("tMax of CosineAnnealingLR", this.tMax);
    checkFinite("CosineAnnealingLR", { etaMin: this.etaMin });
  }

  /** The remaining share of the distance to etaMin after `epoch` steps. */
  override factorAt(epoch: number): number {
    return (1 + Math.cos(Math.PI * epoch / this.tMax)) / 2;
  }

  /** The least rate. */
  protected override floorOf(): number {
    return this.etaMin;
  }
}

interface FirstLength {
  readonly t0: number;
}

/** An alternative spelling of t0. */
interface FirstLengthByRule {
  readonly T0: number;
}

interface RestartOptions {
  readonly tMult?: number;
  /** An alternative spelling of tMult. */
  readonly TMult?: number;
  readonly etaMin?: number;
}

const RESTARTS = { required: ["t0"], positional: ["tMult", "etaMin"] } as const;

/** Cosines from lr to etaMin that restart, each tMult times as long as the previous one; the first takes t0 steps. */
export class CosineAnnealingWarmRestarts extends LRScheduler {
  /** Steps until the first restart. */
  readonly t0: number;
  /** Factor by which the number of steps between restarts grows. */
  readonly tMult: number;
  /** The least rate. */
  readonly etaMin: number;

  /** Takes the optimizer, then PyTorch's arguments; trailing ones also by name. */
  constructor(
    optimizer: AnyOptimizer,
    ...given:
      | Arguments<FirstLength, RestartOptions, typeof RESTARTS>
      | [named: FirstLengthByRule & RestartOptions]
  ) {
    super(optimizer);
    const options = argumentsOf<FirstLength, RestartOptions>("CosineAnnealingWarmRestarts", RESTARTS, given);
    this.t0 = options.t0;
    this.tMult = options.tMult ?? 1;
    this.etaMin = options.etaMin ?? 0;
    checkFinite("CosineAnnealingWarmRestarts", { etaMin: this.etaMin });
    if (this.t0 <= 0 || this.tMult < 1 || !Number.isInteger(this.t0) || !Number.isInteger(this.tMult)) {
      throw new DynError(
        `Expected whole numbers, t0 above 0 and tMult of at least 1, but found ${this.t0} and ${this.tMult}`,
      );
    }
    this.begin();
  }

  /** The rate of a group after `epoch` steps, given its initial rate. */
  override rateAt(epoch: number, base: number): number {
    let length = this.t0, into = epoch;
    // A loop over restarts of equal length would make a version of a compiled step for each number of them
    if (this.tMult === 1) into %= length;
    while (into >= length) {
      into -= length;
      length *= this.tMult;
    }
    return this.etaMin + (base - this.etaMin) * (1 + Math.cos(Math.PI * into / length)) / 2;
  }
}

/** Returns the factor of a rate after a number of steps. */
export type RateFactor = (epoch: number) => number;

interface Factors {
  /** One function for all groups, or one per group. */
  readonly lrLambda: RateFactor | readonly RateFactor[];
}

const LAMBDA = { required: ["lrLambda"], positional: [] } as const;
type FactorArguments = Arguments<Factors, object, typeof LAMBDA>;

/** A schedule with user-defined functions, one per group. */
abstract class FactorSchedule extends LRScheduler {
  readonly factors: readonly RateFactor[];

  /** Takes the optimizer, then PyTorch's arguments; trailing ones also by name. */
  constructor(optimizer: AnyOptimizer, ...given: FactorArguments) {
    super(optimizer);
    const { lrLambda } = argumentsOf<Factors, object>(new.target.name, LAMBDA, given);
    const groups = optimizer.paramGroups.length;
    this.factors = typeof lrLambda === "function" ? new Array<RateFactor>(groups).fill(lrLambda) : lrLambda;
    checkKind(this.factors, "a list", `the functions of ${new.target.name}`);
    for (const factor of this.factors) checkFunction(factor, `for lrLambda of ${new.target.name}`);
    if (this.factors.length !== groups) {
      throw new DynError(`Expected ${groups} functions, one per group, but found ${this.factors.length}`);
    }
  }

  protected factorOf(group: number): RateFactor {
    const found = this.factors[group];
    if (!found) throw new DynError(`Expected a group below ${this.factors.length} but found ${group}`);
    return found;
  }
}

/** lr·factor(t) with the user's function. */
export class LambdaLR extends FactorSchedule {
  /** Takes the optimizer, then PyTorch's arguments; trailing ones also by name. */
  constructor(optimizer: AnyOptimizer, ...given: FactorArguments) {
    super(optimizer, ...given);
    this.begin();
  }

  /** The rate of a group after `epoch` steps, given its initial rate. */
  override rateAt(epoch: number, base: number, group: number): number {
    return base * this.factorOf(group)(epoch);
  }
}

/** lr·factor(1)·…·factor(t) with the user's function. */
export class MultiplicativeLR extends FactorSchedule {
  /** The rate of a group after `epoch` steps, given its initial rate. */
  override rateAt(epoch: number, base: number, group: number): number {
    let rate = base;
    for (let t = 1; t <= epoch; t++) rate *= this.factorOf(group)(t);
    return rate;
  }

  /** The rate after the next step: multiplied by the factor of that step. */
  protected override nextRate(rate: number, _base: number, group: number): number {
    return rate * this.factorOf(group)(this.lastEpoch);
  }

  /** Continues from the current rates, multiplied by factor(0). */
  override restart(): void {
    this.lastEpoch = 0;
    this.setRates((rate, _base, group) => rate * this.factorOf(group)(0));
  }
}

interface ConstantOptions {
  readonly factor?: number;
  readonly totalIters?: number;
}

/** lr·factor for totalIters steps, then lr; always lr·factor where totalIters is 0, as in PyTorch. */
export class ConstantLR extends ScalingSchedule {
  /** The factor of the rate during these steps. */
  readonly factor: number;
  /** Steps until it ends. */
  readonly totalIters: number;

  /** Takes the optimizer, then PyTorch's arguments; trailing ones also by name. */
  constructor(optimizer: AnyOptimizer, ...given: Trailing<ConstantOptions, ["factor", "totalIters"]>) {
    super(optimizer);
    const options = trailing<ConstantOptions>("ConstantLR", ["factor", "totalIters"], given);
    this.factor = options.factor ?? 1 / 3;
    this.totalIters = options.totalIters ?? 5;
    checkShare("factor of ConstantLR", this.factor);
    checkAtLeast("totalIters of ConstantLR", this.totalIters, 0);
    this.begin();
  }

  /** The share of the initial rate after `epoch` steps. */
  override factorAt(epoch: number): number {
    return epoch < this.totalIters || this.totalIters === 0 ? this.factor : 1;
  }

  /** Where there are no steps, the factor never ends, as in PyTorch, unless an epoch is set by its number. */
  protected override rateOfEpoch(epoch: number, base: number, group: number): number {
    return epoch >= this.totalIters ? base : this.rateAt(epoch, base, group);
  }
}

interface LinearOptions {
  readonly startFactor?: number;
  readonly endFactor?: number;
  readonly totalIters?: number;
}

/**
 * lr times a factor that changes linearly from startFactor to endFactor over totalIters steps; where these are 0 it stays
 * at startFactor, as in PyTorch.
 */
export class LinearLR extends ScalingSchedule {
  /** The first factor. */
  readonly startFactor: number;
  /** The last factor. */
  readonly endFactor: number;
  /** Steps until it ends. */
  readonly totalIters: number;

  /** Takes the optimizer, then PyTorch's arguments; trailing ones also by name. */
  constructor(
    optimizer: AnyOptimizer,
    ...given: Trailing<LinearOptions, ["startFactor", "endFactor", "totalIters"]>
  ) {
    super(optimizer);
    const names = ["startFactor", "endFactor", "totalIters"] as const;
    const options = trailing<LinearOptions>("LinearLR", names, given);
    this.startFactor = options.startFactor ?? 1 / 3;
    this.endFactor = options.endFactor ?? 1;
    this.totalIters = options.totalIters ?? 5;
    if (!(this.startFactor > 0 && this.startFactor <= 1)) {
      throw new DynError(`Expected a startFactor of LinearLR in (0, 1] but found ${this.startFactor}`);
    }
    checkShare("endFactor of LinearLR", this.endFactor);
    checkFinite("LinearLR", { startFactor: this.startFactor });
    checkAtLeast("totalIters of LinearLR", this.totalIters, 0);
    this.begin();
  }

  /** The share of the initial rate after `epoch` steps. */
  override factorAt(epoch: number): number {
    if (this.totalIters === 0) return this.startFactor;
    const done = Math.min(epoch, this.totalIters) / this.totalIters;
    return this.startFactor + (this.endFactor - this.startFactor) * done;
  }
}

interface PolynomialOptions {
  readonly totalIters?: number;
  readonly power?: number;
}

/** lr·(1 − t/totalIters)^power, 0 at the end; always lr where totalIters is 0, as in PyTorch. */
export class PolynomialLR extends ScalingSchedule {
  /** Steps until it ends. */
  readonly totalIters: number;
  /** The exponent of the polynomial. */
  readonly power: number;

  /** Takes the optimizer, then PyTorch's arguments; trailing ones also by name. */
  constructor(optimizer: AnyOptimizer, ...given: Trailing<PolynomialOptions, ["totalIters", "power"]>) {
    super(optimizer);
    const options = trailing<PolynomialOptions>("PolynomialLR", ["totalIters", "power"], given);
    this.totalIters = options.totalIters ?? 5;
    this.power = options.power ?? 1;
    checkAtLeast("totalIters of PolynomialLR", this.totalIters, 0);
    checkFinite("PolynomialLR", { power: this.power });
  }

  /** The share of the initial rate after `epoch` steps. */
  override factorAt(epoch: number): number {
    if (this.totalIters === 0) return 1;
    return (1 - Math.min(epoch, this.totalIters) / this.totalIters) ** this.power;
  }
}
