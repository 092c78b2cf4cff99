/**
 * The base of learning-rate schedules, which set the rates of an optimizer's groups. Invariant: a rate is a function
 * of the number of steps and of the group's initial rate.
 */
import { checkAtLeast } from "../base/checked_numbers.ts";
import { checkKind, refuseValue } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { showAsText, withSettings } from "../base/shown.ts";
import type { Optimizer, WithRate } from "./optimizer.ts";

/** The rates that groups had before any schedule changed them, so that several schedules share them. */
const firstRates = new WeakMap<WithRate, number>();

function firstRateOf(group: WithRate): number {
  const known = firstRates.get(group);
  if (known !== undefined) return known;
  firstRates.set(group, group.lr);
  return group.lr;
}

/** The state of a schedule. */
export interface ScheduleState {
  /** Steps so far. */
  readonly lastEpoch: number;
  /** The rates that groups began with; those of the optimizer where there are none. */
  readonly baseRates?: readonly number[];
}

/** Base: counts steps and applies `rateAt` to the first rate of each group. */
export abstract class LRScheduler {
  lastEpoch = 0;
  baseRates: readonly number[];

  constructor(readonly optimizer: Optimizer) {
    if (!Array.isArray(optimizer?.paramGroups)) {
      refuseValue(`an optimizer in ${new.target.name}`, optimizer);
    }
    this.baseRates = optimizer.paramGroups.map(firstRateOf);
  }

  /** Returns whether the rate is the initial one times a factor, which other schedules may share. */
  get isFactor(): boolean {
    return true;
  }

  /** The rate after `epoch` steps for the group of this number, which started with `base`. */
  abstract rateAt(epoch: number, base: number, group: number): number;

  /**
   * To be called once an epoch, after `optimizer.step()`: advances by one, or to an epoch, which may be fractional
   * (`step(epoch + i / batches)`). Throws DynError for a negative one.
   */
  step(epoch?: number | null): void {
    if (epoch !== undefined && epoch !== null) checkAtLeast("the epoch", epoch, 0);
    this.lastEpoch = epoch ?? this.lastEpoch + 1;
    this.apply();
  }

  protected apply(): void {
    this.optimizer.paramGroups.forEach((group, i) => {
      group.lr = this.rateAt(this.lastEpoch, this.baseRates[i] ?? group.lr, i);
    });
  }

  /** Its settings, how many steps it has made, and the rates now. */
  toString(): string {
    const { optimizer: _optimizer, baseRates: _baseRates, ...settings } = this;
    return withSettings(this.constructor.name, { ...settings, rates: this.getLastLr() });
  }

  /** The rates that groups are to have after the steps so far. */
  getLr(): number[] {
    return this.optimizer.paramGroups.map((group, i) =>
      this.rateAt(this.lastEpoch, this.baseRates[i] ?? group.lr, i)
    );
  }

  /** The rates that groups have. */
  getLastLr(): number[] {
    return this.optimizer.paramGroups.map((group) => group.lr);
  }

  /** The state from which a schedule resumes. */
  stateDict(): ScheduleState {
    return { lastEpoch: this.lastEpoch, baseRates: [...this.baseRates] };
  }

  /** Resumes from a state, also where the optimizer was made with other rates. Throws DynError for one that does not fit. */
  loadStateDict(state: ScheduleState): void {
    checkKind(state?.lastEpoch, "a number", "lastEpoch of loadStateDict");
    const { lastEpoch, baseRates = this.baseRates } = state;
    checkKind(baseRates, "a list", "baseRates of loadStateDict");
    const { paramGroups } = this.optimizer;
    if (baseRates.length !== this.baseRates.length) {
      throw new DynError(
        `Expected the rates of ${this.baseRates.length} groups but found ${baseRates.length}`,
      );
    }
    paramGroups.slice(0, baseRates.length).forEach((group, i) =>
      firstRates.set(group, baseRates[i] ?? group.lr)
    );
    this.baseRates = [...baseRates];
    this.lastEpoch = lastEpoch;
    this.apply();
  }
}

showAsText(LRScheduler.prototype);
