/**
 * A schedule that follows a metric, like torch.optim.lr_scheduler.ReduceLROnPlateau: the metric after each epoch
 * determines the rates of the optimizer's groups.
 */
import { type Trailing, trailing } from "../base/arguments.ts";
import { checkKind, checkOneOf, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { showAsText, withSettings } from "../base/console_text.ts";
import type { Optimizer } from "./optimizer.ts";
import { setRate } from "./schedule.ts";

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

/** The state of a schedule that follows a metric. */
export interface PlateauState {
  /** The best metric so far. */
  readonly best: number;
  /** Steps since the last improvement. */
  readonly badEpochs: number;
  /** Remaining steps of the cooldown. */
  readonly cooldownLeft: number;
  /** Number of steps. */
  readonly lastEpoch: number;
  /** Its settings; default: those of the schedule. */
  readonly options?: PlateauOptions;
}

/** Multiplies the rate by `factor` if a metric has not improved for more than `patience` steps. */
export class ReduceLROnPlateau {
  options: Required<PlateauOptions>;
  best: number;
  badEpochs = 0;
  cooldownLeft = 0;
  lastEpoch = 0;

  constructor(
    readonly optimizer: Optimizer,
    ...given: Trailing<
      PlateauOptions,
      ["mode", "factor", "patience", "threshold", "thresholdMode", "cooldown"]
    >
  ) {
    const names = ["mode", "factor", "patience", "threshold", "thresholdMode", "cooldown"] as const;
    checkKind(optimizer?.paramGroups, "a list", "paramGroups of the optimizer of ReduceLROnPlateau");
    this.options = this.checked(
      trailing<PlateauOptions>("ReduceLROnPlateau", { positional: names, named: ["minLr", "eps"] }, given),
    );
    this.best = this.options.mode === "min" ? Infinity : -Infinity;
  }

  /** Adds defaults to options. Throws DynError for invalid values. */
  private checked(given: PlateauOptions): Required<PlateauOptions> {
    const options = {
      mode: "min",
      factor: 0.1,
      patience: 10,
      threshold: 1e-4,
      thresholdMode: "rel",
      cooldown: 0,
      minLr: 0,
      eps: 1e-8,
      ...given,
    } as const;
    const { factor, mode, thresholdMode, minLr } = options, { paramGroups } = this.optimizer;
    if (typeof minLr !== "number" && minLr.length !== paramGroups.length) {
      throw new DynError(
        `Expected ${paramGroups.length} minimum rates, one per group, but found ${minLr.length}`,
      );
    }
    if (!(factor < 1)) throw new DynError(`Expected a factor below 1 but found ${factor}`);
    checkOneOf("mode of ReduceLROnPlateau", mode, ["min", "max"]);
    checkOneOf("thresholdMode of ReduceLROnPlateau", thresholdMode, ["rel", "abs"]);
    return options;
  }

  /** Takes the metric, which may be a 0-d tensor; call it once per epoch. */
  step(metric: number | { item(): number | bigint | boolean }): void {
    if (arguments.length > 1) refuseSurplus("step", 1, arguments);
    const isNumber = typeof metric === "number";
    if (!isNumber && typeof metric?.item !== "function") {
      refuseValue("the number to watch in step(metric)", metric);
    }
    const value = isNumber ? metric : Number(metric.item());
    const { factor, patience, cooldown, minLr, eps } = this.options;
    this.lastEpoch++;
    if (this.isBetter(value)) {
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
    // All are computed before the first is set: groups may share a rate that is a tensor
    const rates = this.getLastLr().map((rate, i) => {
      const next = Math.max(rate * factor, typeof minLr === "number" ? minLr : minLr[i] ?? 0);
      return rate - next > eps ? next : rate;
    });
    this.optimizer.paramGroups.forEach((group, i) => setRate(group, rates[i] ?? group.lr));
    this.cooldownLeft = cooldown;
    this.badEpochs = 0;
  }

  private isBetter(value: number): boolean {
    const { mode, threshold, thresholdMode } = this.options;
    if (mode === "min") {
      return value < (thresholdMode === "rel" ? this.best * (1 - threshold) : this.best - threshold);
    }
    return value > (thresholdMode === "rel" ? this.best * (1 + threshold) : this.best + threshold);
  }

  /** Returns whether bad steps are not counted because the rate has just changed. */
  get inCooldown(): boolean {
    return this.cooldownLeft > 0;
  }

  /** Returns the state, without the rates, which are part of the optimizer's state. */
  stateDict(): PlateauState {
    const { best, badEpochs, cooldownLeft, lastEpoch, options } = this;
    return { best, badEpochs, cooldownLeft, lastEpoch, options: { ...options } };
  }

  /** Restores a state, even one with other settings. Throws DynError if a number is missing. */
  loadStateDict(state: PlateauState): void {
    checkKind(state, "an object", "loadStateDict");
    const options = state.options ? this.checked(state.options) : this.options;
    for (const name of ["best", "badEpochs", "cooldownLeft", "lastEpoch"] as const) {
      checkKind(state?.[name], "a number", `${name} of loadStateDict`);
      this[name] = state[name];
    }
    this.options = options;
  }

  getLastLr(): number[] {
    return this.optimizer.paramGroups.map(({ lr }) => Number(lr));
  }

  /** Returns the settings, the state, and the current rates. */
  toString(): string {
    const { lastEpoch, best, badEpochs, options } = this;
    return withSettings("ReduceLROnPlateau", {
      lastEpoch,
      best,
      badEpochs,
      ...options,
      rates: this.getLastLr(),
    });
  }
}

showAsText(ReduceLROnPlateau.prototype);
