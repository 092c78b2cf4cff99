/**
 * The base of learning-rate schedules, which set the rates of an optimizer's groups. Invariant: as in PyTorch, a step
 * starts from the current rates, so that schedules that scale rates can be combined with each other and with programs
 * that set rates.
 */
import { checkAtLeast } from "../base/checked_numbers.ts";
import { checkKind, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { oneLine, showAsText, withSettings } from "../base/console_text.ts";
import { namedNumbers, namingNumbers } from "../base/json_numbers.ts";
import { isPlainObject } from "../base/tree.ts";
import { warnOfUse } from "../base/usage.ts";
import { canReadElements, Tensor } from "../tensor/tensor.ts";
import type { AnyOptimizer, WithRate } from "./optimizer.ts";
import { scheduleState, type TorchScheduleState } from "./torch_state.ts";

/** A group with its initial rate, from before any schedule changed it. */
interface Scheduled extends WithRate {
  initialLr?: number;
}

/** The initial rates of groups, from before any schedule changed them; undefined for groups without schedule. */
export function initialRates(optimizer: AnyOptimizer): readonly (number | undefined)[] {
  return optimizer?.paramGroups?.map?.((group: Scheduled) => group.initialLr) ?? [];
}

/** Sets the rate of a group, in place if it is a tensor. */
export function setRate(group: WithRate, rate: number): void {
  const held: unknown = group.lr;
  if (held instanceof Tensor) held.fill_(rate);
  else group.lr = rate;
}

/** The state of a schedule: its progress, and its settings except functions of the program. */
export interface ScheduleState {
  /** Number of steps so far. */
  readonly lastEpoch: number;
  /** The initial rates of groups; default: those of the optimizer. */
  readonly baseLrs?: readonly number[];
  /** The rates of groups when the state was saved; default: the current ones. */
  readonly lastLr?: readonly number[];
  /** The states of the schedules that it combines. */
  readonly schedulers?: readonly ScheduleState[];
  /** Its settings by name; default: those of the schedule. */
  readonly [setting: string]: unknown;
}

/** Removes functions of the program, which are not part of states, from a setting; undefined if nothing remains. */
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

/** The kind of a setting; null if it is optional. */
const kindOf = (value: unknown): string | null =>
  value === null || value === undefined ? null : Array.isArray(value) ? "a list" : typeof value;

/**
 * Restores the settings of a state, except functions of the program. Throws DynError, before any changes, for unknown
 * settings and for values of another kind.
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

/** The numbers of writes to parameters when schedules were made. */
const writes = new WeakMap<object, number>();

/** The number of writes to the parameters of an optimizer. */
function writesTo({ paramGroups }: AnyOptimizer): number {
  return paramGroups.reduce((sum, { params }) => params.reduce((all, { version }) => all + version, sum), 0);
}

/** Warns once of a first step that no update precedes: the schedule would skip its first rates. */
function warnOfOrder(schedule: LRScheduler): void {
  if (writes.get(schedule) !== writesTo(schedule.optimizer)) return;
  warnOfUse(
    `${schedule.constructor.name} before its optimizer`,
    () =>
      `step() of ${schedule.constructor.name} before the first optimizer.step(): the first rates are not used. Call ` +
      "optimizer.step() first",
  );
}

/** The base class: counts steps and sets the rate of each group. */
export abstract class LRScheduler {
  lastEpoch = 0;
  baseLrs: readonly number[];
  private lastLr: readonly number[];

  constructor(readonly optimizer: AnyOptimizer) {
    if (!Array.isArray(optimizer?.paramGroups)) {
      refuseValue(`an optimizer in ${new.target.name}`, optimizer);
    }
    this.baseLrs = optimizer.paramGroups.map((group: Scheduled) => group.initialLr ??= Number(group.lr));
    this.lastLr = this.rates();
    if (canReadElements()) writes.set(this, writesTo(optimizer));
  }

  /** The rate of a group after `epoch` steps, given its initial rate, if nothing else sets it. */
  abstract rateAt(epoch: number, base: number, group: number): number;

  /** The rate of a group after step number `lastEpoch`, given its current rate. */
  protected nextRate(_rate: number, base: number, group: number): number {
    return this.rateAt(this.lastEpoch, base, group);
  }

  /** The rate that the schedule sets first, given the current one. */
  protected firstRate(_rate: number, base: number, group: number): number {
    return this.rateAt(0, base, group);
  }

  /** Sets the first rates; the last call of every constructor. */
  begin(): void {
    this.lastEpoch = 0;
    this.setRates((rate, base, group) => this.firstRate(rate, base, group));
  }

  /** Starts from the given rates instead of the current ones. */
  protected beginWith(rates: readonly number[]): void {
    this.setInitial(rates);
    this.begin();
  }

  private setInitial(rates: readonly number[]): void {
    this.optimizer.paramGroups.forEach((group: Scheduled, i) =>
      group.initialLr = rates[i] ?? Number(group.lr)
    );
    this.baseLrs = [...rates];
  }

  /** Starts where another schedule ends. */
  restart(): void {
    this.lastEpoch = 0;
    this.setRates((_rate, base, group) => this.rateOfEpoch(0, base, group));
  }

  /** The rate of a group that is set for an epoch by its number, whatever the steps before it were. */
  protected rateOfEpoch(epoch: number, base: number, group: number): number {
    return this.rateAt(epoch, base, group);
  }

  /**
   * Advances by one epoch, or to an epoch, which may be fractional (`step(epoch + i / batches)`); call it after
   * `optimizer.step()`. Throws DynError for a negative epoch.
   */
  step(epoch?: number | null): void {
    if (arguments.length > 1) refuseSurplus("step", 1, arguments);
    if (epoch === undefined || epoch === null) {
      if (this.lastEpoch === 0 && canReadElements()) warnOfOrder(this);
      this.lastEpoch++;
      this.setRates((rate, base, group) => this.nextRate(rate, base, group));
    } else {
      checkAtLeast("the epoch", epoch, 0);
      this.lastEpoch = epoch;
      this.setRates((_rate, base, group) => this.rateOfEpoch(epoch, base, group));
    }
  }

  protected setRates(rateOf: (rate: number, base: number, group: number) => number): void {
    // All are computed before the first is set: groups may share a rate that is a tensor
    this.setEach(this.rates().map((rate, i) => rateOf(rate, this.baseLrs[i] ?? rate, i)));
  }

  private setEach(rates: readonly number[]): void {
    this.optimizer.paramGroups.forEach((group, i) => setRate(group, rates[i] ?? group.lr));
    this.lastLr = [...rates];
  }

  private rates(): number[] {
    return this.optimizer.paramGroups.map(({ lr }) => Number(lr));
  }

  /** Returns the settings, the number of steps, and the current rates. */
  toString(): string {
    const { optimizer: _optimizer, baseLrs: _baseLrs, lastLr: _lastLr, ...settings } = this;
    return withSettings(this.constructor.name, { ...settings, rates: this.rates() });
  }

  /** The rates after the steps so far, if nothing else sets them. */
  getLr(): number[] {
    if (arguments.length > 0) refuseSurplus("getLr", 0, arguments);
    return this.baseLrs.map((base, i) => this.rateAt(this.lastEpoch, base, i));
  }

  /** The rates after the last step. */
  getLastLr(): number[] {
    return [...this.lastLr];
  }

  /** Returns the state of the schedule. */
  stateDict(): ScheduleState {
    if (arguments.length > 0) refuseSurplus("stateDict", 0, arguments);
    const { optimizer: _optimizer, lastEpoch, ...settings } = this;
    return namingNumbers({ lastEpoch, ...withoutFunctions(settings), lastLr: this.rates() });
  }

  /**
   * Restores a state, also of PyTorch's schedule, and its rates, even if the optimizer has other rates and the schedule other settings. Throws
   * DynError if it does not match.
   */
  loadStateDict(given: ScheduleState | TorchScheduleState): void {
    if (arguments.length > 1) refuseSurplus("loadStateDict", 1, arguments);
    const state = scheduleState(given, this.stateDict());
    checkKind(state?.lastEpoch, "a number", "lastEpoch of loadStateDict");
    const { lastEpoch, baseLrs = this.baseLrs, lastLr = this.rates(), ...settings } = namedNumbers(state);
    for (const [name, rates] of Object.entries({ baseLrs, lastLr })) {
      checkKind(rates, "a list", `${name} of loadStateDict`);
      if (rates.length === this.baseLrs.length) continue;
      throw new DynError(`Expected the rates of ${this.baseLrs.length} groups but found ${rates.length}`);
    }
    restoreSettings(this, settings);
    this.setInitial(baseLrs);
    this.lastEpoch = lastEpoch;
    this.setEach(lastLr);
  }
}

showAsText(LRScheduler.prototype);

/** A schedule that scales the distance of a rate from its floor: floor + (rate − floor) · factorAt(t). */
export abstract class ScalingSchedule extends LRScheduler {
  /** The remaining share of the initial distance after `epoch` steps. */
  abstract factorAt(epoch: number): number;

  /** The final rate of a group. */
  protected floorOf(_group: number): number {
    return 0;
  }

  /** The rate of a group after `epoch` steps, given its initial rate. */
  override rateAt(epoch: number, base: number, group: number): number {
    const floor = this.floorOf(group);
    return floor + (base - floor) * this.factorAt(epoch);
  }

  protected override firstRate(rate: number, _base: number, group: number): number {
    return this.rateAt(0, rate, group);
  }

  protected override nextRate(rate: number, base: number, group: number): number {
    const before = this.factorAt(this.lastEpoch - 1), now = this.factorAt(this.lastEpoch);
    // No shortcut for equal factors: each side of a branch would be captured separately, and a factor of 1 changes
    // nothing
    const floor = this.floorOf(group);
    // From the floor the rate restarts at the share of the initial distance
    return before === 0 ? rate + (base - floor) * now : floor + (rate - floor) * (now / before);
  }
}
