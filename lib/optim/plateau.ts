/**
 * A schedule that follows a metric, like torch.optim.lr_scheduler.ReduceLROnPlateau: the metric after each epoch
 * determines the rates of the optimizer's groups.
 */
import { type Trailing, trailing } from "../base/arguments.ts";
import { checkAtLeast, checkFinite } from "../base/checked_numbers.ts";
import { checkKind, checkOneOf, optionsOf, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { showAsText, withSettings } from "../base/console_text.ts";
import { namedNumbers, namingNumbers } from "../base/json_numbers.ts";
import type { AnyOptimizer } from "./optimizer.ts";
import { setRate } from "./schedule.ts";
import { scheduleState, type TorchScheduleState } from "./torch_state.ts";

/** Options of ReduceLROnPlateau. */
export interface PlateauOptions {
  readonly mode?: "min" | "max";
  readonly factor?: number;
  readonly patience?: number;
  readonly threshold?: number;
  readonly thresholdMode?: "rel" | "abs";
  readonly cooldown?: number;
  /** The minimum rate, one for all groups or one per group; default 0. */
  readonly minLr?: number | readonly number[];
  readonly eps?: number;
}

/** The settings of a schedule that follows a metric. */
interface PlateauSettings extends Required<Omit<PlateauOptions, "minLr">> {
  /** The minimum rates, one per group. */
  readonly minLrs: readonly number[];
}

const SETTINGS = [
  "mode",
  "factor",
  "patience",
  "threshold",
  "thresholdMode",
  "cooldown",
  "minLrs",
  "eps",
] as const satisfies readonly (keyof PlateauSettings)[];

/** The state of a schedule that follows a metric; settings that it lacks are left as they are. */
export interface PlateauState extends Partial<PlateauSettings> {
  /** The best metric so far. */
  readonly best: number;
  /** Steps since the last improvement. */
  readonly numBadEpochs: number;
  /** Remaining steps of the cooldown. */
  readonly cooldownCounter: number;
  /** Number of steps. */
  readonly lastEpoch: number;
}

const NUMBERS = ["factor", "patience", "threshold", "cooldown", "eps"] as const;

const PROGRESS = ["best", "numBadEpochs", "cooldownCounter", "lastEpoch"] as const;

/** Multiplies the rate by `factor` if a metric has not improved for more than `patience` steps. */
export class ReduceLROnPlateau {
  /** Whether the least metric is the best, or the greatest. */
  mode: "min" | "max";
  /** The factor of each change. */
  factor: number;
  /** Steps without improvement after which the rate changes. */
  patience: number;
  /** The least improvement that counts. */
  threshold: number;
  /** Whether the threshold is a share of the best metric, or a difference. */
  thresholdMode: "rel" | "abs";
  /** Steps after a change that do not count. */
  cooldown: number;
  /** The minimum rates, one per group. */
  minLrs: readonly number[];
  /** The least change of a rate. */
  eps: number;
  best: number;
  numBadEpochs = 0;
  cooldownCounter = 0;
  lastEpoch = 0;

  constructor(
    readonly optimizer: AnyOptimizer,
    ...given: Trailing<
      PlateauOptions,
      ["mode", "factor", "patience", "threshold", "thresholdMode", "cooldown"]
    >
  ) {
    const names = ["mode", "factor", "patience", "threshold", "thresholdMode", "cooldown"] as const;
    checkKind(optimizer?.paramGroups, "a list", "paramGroups of the optimizer of ReduceLROnPlateau");
    const options = trailing<PlateauOptions>(
      "ReduceLROnPlateau",
      { positional: names, named: ["minLr", "eps"] },
      given,
    );
    const { minLr = 0 } = options;
    this.mode = options.mode ?? "min";
    this.factor = options.factor ?? 0.1;
    this.patience = options.patience ?? 10;
    this.threshold = options.threshold ?? 1e-4;
    this.thresholdMode = options.thresholdMode ?? "rel";
    this.cooldown = options.cooldown ?? 0;
    this.minLrs = typeof minLr === "number" ? optimizer.paramGroups.map(() => minLr) : minLr;
    this.eps = options.eps ?? 1e-8;
    this.check(this);
    this.best = this.mode === "min" ? Infinity : -Infinity;
  }

  /** Throws DynError for invalid settings. */
  private check(settings: PlateauSettings): void {
    const { factor, patience, threshold, cooldown, eps, mode, thresholdMode, minLrs } = settings;
    const { paramGroups } = this.optimizer;
    checkKind(minLrs, "a list", "the minimum rates of ReduceLROnPlateau");
    if (minLrs.length !== paramGroups.length) {
      throw new DynError(
        `Expected ${paramGroups.length} minimum rates, one per group, but found ${minLrs.length}`,
      );
    }
    for (const minLr of minLrs) checkFinite("ReduceLROnPlateau", { minLr });
    checkFinite("ReduceLROnPlateau", { factor, threshold });
    checkAtLeast("patience of ReduceLROnPlateau", patience, 0);
    checkAtLeast("cooldown of ReduceLROnPlateau", cooldown, 0);
    checkAtLeast("eps of ReduceLROnPlateau", eps, 0);
    if (!(factor < 1)) throw new DynError(`Expected a factor below 1 but found ${factor}`);
    checkOneOf("mode of ReduceLROnPlateau", mode, ["min", "max"]);
    checkOneOf("thresholdMode of ReduceLROnPlateau", thresholdMode, ["rel", "abs"]);
  }

  /** Takes the metric, which may be a 0-d tensor; call it once per epoch. */
  step(metric: number | { item(): number | bigint | boolean }): void {
    if (arguments.length > 1) refuseSurplus("step", 1, arguments);
    const isNumber = typeof metric === "number";
    if (!isNumber && typeof metric?.item !== "function") {
      refuseValue("the number to watch in step(metric)", metric);
    }
    const value = isNumber ? metric : Number(metric.item());
    this.check(this);
    const { factor, patience, cooldown, minLrs, eps } = this;
    this.lastEpoch++;
    if (this.isBetter(value)) {
      this.best = value;
      this.numBadEpochs = 0;
    } else {
      this.numBadEpochs++;
    }
    if (this.cooldownCounter > 0) {
      this.cooldownCounter--;
      this.numBadEpochs = 0;
    }
    if (this.numBadEpochs <= patience) return;
    // All are computed before the first is set: groups may share a rate that is a tensor
    const rates = this.getLastLr().map((rate, i) => {
      const next = Math.max(rate * factor, minLrs[i] ?? 0);
      return rate - next > eps ? next : rate;
    });
    this.optimizer.paramGroups.forEach((group, i) => setRate(group, rates[i] ?? group.lr));
    this.cooldownCounter = cooldown;
    this.numBadEpochs = 0;
  }

  private isBetter(value: number): boolean {
    const { mode, threshold, thresholdMode } = this;
    if (mode === "min") {
      return value < (thresholdMode === "rel" ? this.best * (1 - threshold) : this.best - threshold);
    }
    return value > (thresholdMode === "rel" ? this.best * (1 + threshold) : this.best + threshold);
  }

  /** Returns whether bad steps are not counted because the rate has just changed. */
  get inCooldown(): boolean {
    return this.cooldownCounter > 0;
  }

  /** Returns the state, without the rates, which are part of the optimizer's state. */
  stateDict(): PlateauState {
    if (arguments.length > 0) refuseSurplus("stateDict", 0, arguments);
    const { optimizer: _optimizer, ...state } = this;
    return namingNumbers(state);
  }

  /** Restores a state, even one with other settings. Throws DynError if a number is missing. */
  loadStateDict(given: PlateauState | TorchScheduleState): void {
    if (arguments.length > 1) refuseSurplus("loadStateDict", 1, arguments);
    checkKind(given, "an object", "loadStateDict");
    const own = scheduleState(given, this.stateDict());
    optionsOf("loadStateDict", own, [...PROGRESS, ...SETTINGS]);
    const state = namedNumbers(own);
    for (const name of [...PROGRESS, ...NUMBERS.filter((name) => state[name] !== undefined)]) {
      checkKind(state[name], "a number", `${name} of loadStateDict`);
    }
    this.check({ ...this, ...state });
    Object.assign(this, state);
  }

  getLastLr(): number[] {
    if (arguments.length > 0) refuseSurplus("getLastLr", 0, arguments);
    return this.optimizer.paramGroups.map(({ lr }) => Number(lr));
  }

  /** Returns the settings, the state, and the current rates. */
  toString(): string {
    const { optimizer: _optimizer, ...settings } = this;
    return withSettings("ReduceLROnPlateau", { ...settings, rates: this.getLastLr() });
  }
}

showAsText(ReduceLROnPlateau.prototype);
