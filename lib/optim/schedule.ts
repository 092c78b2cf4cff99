/**
 * The base of learning-rate schedules, which set the rates of an optimizer's groups. Invariant: a rate is a function
 * of the number of steps and of the group's initial rate.
 */
import { checkAtLeast } from "../base/checked_numbers.ts";
import { checkKind, refuseValue } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { oneLine, showAsText, withSettings } from "../base/shown.ts";
import { isPlainObject } from "../base/tree.ts";
import type { Optimizer, WithRate } from "./optimizer.ts";

/** The rates that groups had before any schedule changed them, so that several schedules share them. */
const firstRates = new WeakMap<WithRate, number>();

function firstRateOf(group: WithRate): number {
  const known = firstRates.get(group);
  if (known !== undefined) return known;
  firstRates.set(group, group.lr);
  return group.lr;
}

/** The state of a schedule: how far it is, and its settings, but for functions of the program. */
export interface ScheduleState {
  /** Steps so far. */
  readonly lastEpoch: number;
  /** The rates that groups began with; those of the optimizer where there are none. */
  readonly baseRates?: readonly number[];
  /** Its settings by name; those that the schedule was made with where there are none. */
  readonly [setting: string]: unknown;
}

/** A setting without the program's functions, which belong to no state: undefined where nothing is left. */
function asData(setting: unknown): unknown {
  if (typeof setting === "function") return undefined;
  if (Array.isArray(setting)) return setting.some(isFunction) ? undefined : setting.map(asData);
  return isPlainObject(setting) ? withoutFunctions(setting) : setting;
}

const isFunction = (value: unknown): boolean => typeof value === "function";

function withoutFunctions(settings: object): Record<string, unknown> {
  const kept = Object.entries(settings).map(([name, value]) => [name, asData(value)] as const);
  return Object.fromEntries(kept.filter(([, value]) => value !== undefined));
}

/** The kind of a setting; none where it may be left out. */
const kindOf = (value: unknown): string | null =>
  value === null || value === undefined ? null : Array.isArray(value) ? "a list" : typeof value;

/**
 * Gives a schedule the settings of a state; functions of the program stay what they are. Throws DynError, before it changes
 * any, for one that the schedule does not have, and for one of another kind.
 */
function restoreSettings(schedule: object, settings: object): void {
  const owner = schedule.constructor.name;
  const restored = Object.entries(settings).map(([name, saved]) => {
    const own: unknown = Reflect.get(schedule, name), kind = kindOf(own);
    if (!Object.hasOwn(schedule, name)) {
      throw new DynError(`Expected the state of a ${owner} but found ${name} in it`);
    }
    if (kind !== null && saved !== null && kindOf(saved) !== kind) {
      refuseValue(`${name} of ${owner} to be like ${oneLine(own)}`, saved);
    }
    const functions = isPlainObject(own) ? Object.entries(own).filter(([, each]) => isFunction(each)) : [];
    const value = asData(saved);
    return [name, isPlainObject(value) ? { ...Object.fromEntries(functions), ...value } : value] as const;
  });
  for (const [name, value] of restored) Reflect.set(schedule, name, value);
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
    const { optimizer: _optimizer, lastEpoch, ...settings } = this;
    return { lastEpoch, ...withoutFunctions(settings) };
  }

  /**
   * Resumes from a state, also where the optimizer was made with other rates and the schedule with other settings. Throws
   * DynError for one that does not fit.
   */
  loadStateDict(state: ScheduleState): void {
    checkKind(state?.lastEpoch, "a number", "lastEpoch of loadStateDict");
    const { lastEpoch, baseRates = this.baseRates, ...settings } = state;
    checkKind(baseRates, "a list", "baseRates of loadStateDict");
    const { paramGroups } = this.optimizer;
    if (baseRates.length !== this.baseRates.length) {
      throw new DynError(
        `Expected the rates of ${this.baseRates.length} groups but found ${baseRates.length}`,
      );
    }
    restoreSettings(this, settings);
    paramGroups.slice(0, baseRates.length).forEach((group, i) =>
      firstRates.set(group, baseRates[i] ?? group.lr)
    );
    this.baseRates = [...baseRates];
    this.lastEpoch = lastEpoch;
    this.apply();
  }
}

showAsText(LRScheduler.prototype);
