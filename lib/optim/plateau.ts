/**
 * A schedule that follows a metric, like torch.optim.lr_scheduler.ReduceLROnPlateau: the metric after each epoch
 * determines the rates of the optimizer's groups.
 */
import { refuseValue } from "../base/checked_input.ts";
import { type Trailing, trailing } from "../base/arguments.ts";
import { checkOneOf } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { showAsText, withSettings } from "../base/shown.ts";
import type { Optimizer } from "./optimizer.ts";

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
    readonly optimizer: Optimizer,
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
    const { factor, mode, thresholdMode } = this.options;
    if (!(factor < 1)) throw new DynError(`Expected a factor below 1 but found ${factor}`);
    checkOneOf("mode of ReduceLROnPlateau", mode, ["min", "max"]);
    checkOneOf("thresholdMode of ReduceLROnPlateau", thresholdMode, ["rel", "abs"]);
    this.best = this.options.mode === "min" ? Infinity : -Infinity;
  }

  /** To be called once an epoch with the number to watch; a 0-d tensor may stand for it. */
  step(metric: number | { item(): number | bigint | boolean }): void {
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
    for (const group of this.optimizer.paramGroups) {
      const next = Math.max(group.lr * factor, minLr);
      if (group.lr - next > eps) group.lr = next;
    }
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

  getLastLr(): number[] {
    return this.optimizer.paramGroups.map((group) => group.lr);
  }

  /** Its settings, what it has seen, and the rates now. */
  toString(): string {
    const { lastEpoch, best, badEpochs, options } = this;
    const rates = this.optimizer.paramGroups.map(({ lr }) => lr);
    return withSettings("ReduceLROnPlateau", { lastEpoch, best, badEpochs, ...options, rates });
  }
}

showAsText(ReduceLROnPlateau.prototype);
