/**
 * Loss scaling, so that small float16 gradients do not underflow to 0, like `torch.amp.GradScaler`. Steps with
 * infinite gradients are skipped. Invariant: between two calls of `update` each optimizer is unscaled and stepped at
 * most once.
 */
import { type Trailing, trailing } from "../base/arguments.ts";
import { checkInteger } from "../base/checked_numbers.ts";
import {
  checkKind,
  checkOptions,
  refuseSurplus,
  refuseValue,
  type ValueType,
} from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { showAsText, withSettings } from "../base/console_text.ts";
import { noGrad } from "../tensor/modes.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";

/** The part of an optimizer that a scaler reads and changes. */
export interface Scaled {
  /** The parameters. */
  readonly paramGroups: readonly { readonly params: readonly Tensor[] }[];
  /** Updates them. */
  step(closure?: () => unknown): unknown;
}

/** Settings, as in PyTorch. */
export interface GradScalerOptions {
  /** PyTorch's first argument; gradients may be on any device. */
  readonly device?: string;
  /** The initial scale; default 65536. */
  readonly initScale?: number;
  /** The factor of the scale after `growthInterval` steps without infinite gradients. */
  readonly growthFactor?: number;
  /** The factor of the scale after a step with infinite gradients. */
  readonly backoffFactor?: number;
  /** Number of consecutive steps without infinities before the scale grows; default 2000. */
  readonly growthInterval?: number;
  /** Whether scaling is enabled; default true. */
  readonly enabled?: boolean;
}

const SETTINGS: Readonly<Record<keyof GradScalerOptions, readonly ValueType[]>> = {
  device: ["string"],
  initScale: ["number"],
  growthFactor: ["number"],
  backoffFactor: ["number"],
  growthInterval: ["number"],
  enabled: ["boolean"],
};

/** The state of a scaler, by PyTorch's names; empty if it is disabled. */
export interface GradScalerState {
  /** The scale. */
  readonly scale?: number;
  /** Factor by which the scale grows. */
  readonly growth_factor?: number;
  /** Factor by which the scale shrinks after infinite gradients. */
  readonly backoff_factor?: number;
  /** Number of consecutive steps without infinities before the scale grows. */
  readonly growth_interval?: number;
  /** Number of consecutive steps without infinities. */
  readonly _growth_tracker?: number;
}

/** The argument of `update`. */
export interface ScaleUpdate {
  /** The scale from now on; by default it follows from the gradients. */
  readonly newScale?: number | Tensor | null | undefined;
}

/** Progress of an optimizer since the last update, and whether its gradients are infinite. */
interface Progress {
  stage: "unscaled" | "stepped";
  readonly foundInf: boolean;
}

/** A loss, or nested lists of losses. */
export type Losses = Tensor | readonly Losses[];

/**
 * Scales losses, and steps optimizers whose gradients are finite. Its fields are not private names, which compiled
 * steps could not reach.
 */
export class GradScaler {
  private currentScale: number;
  private growthFactor: number;
  private backoffFactor: number;
  private growthInterval: number;
  private growthTracker = 0;
  private readonly enabled: boolean;
  private readonly progress = new Map<Scaled, Progress>();

  /** Takes a device, as PyTorch does, and settings. */
  constructor(device: string | GradScalerOptions = {}, options: GradScalerOptions = {}) {
    const given = typeof device === "string" ? options : device;
    checkOptions("GradScaler", SETTINGS, given);
    const { initScale = 2 ** 16, growthFactor = 2, backoffFactor = 0.5, growthInterval = 2000 } = given;
    if (!(growthFactor > 1)) throw new DynError(`Expected a growthFactor above 1 but found ${growthFactor}`);
    if (!(backoffFactor < 1)) {
      throw new DynError(`Expected a backoffFactor below 1 but found ${backoffFactor}`);
    }
    this.currentScale = Math.fround(initScale);
    this.growthFactor = growthFactor;
    this.backoffFactor = backoffFactor;
    this.growthInterval = growthInterval;
    this.enabled = given.enabled ?? true;
  }

  /** Multiplies a loss by the scale. */
  scale(outputs: Tensor): Tensor;
  /** Multiplies losses by the scale. */
  scale(outputs: readonly Losses[]): readonly Losses[];
  scale(outputs: Losses): Losses {
    if (arguments.length > 1) refuseSurplus("scale", 1, arguments);
    return this.enabled ? this.scaled(outputs) : outputs;
  }

  /** Multiplies what a list of losses contains. */
  private scaled(outputs: Losses): Losses {
    if (isTensor(outputs)) return outputs.mul(this.currentScale);
    checkKind(outputs, "a list", "losses to scale that are not a tensor");
    return outputs.map((each) => this.scaled(each));
  }

  /**
   * Divides an optimizer's gradients by the scale, for clipping before `step`. Throws DynError if they were already
   * unscaled since the last update, and for float16 gradients, which would underflow.
   */
  unscale_(optimizer: Scaled): void {
    if (arguments.length > 1) refuseSurplus("unscale_", 1, arguments);
    if (!this.enabled) return;
    const { stage } = this.progress.get(optimizer) ?? {};
    if (stage === "unscaled") {
      throw new DynError("Expected one unscale_() of this optimizer since the last update() but found two");
    }
    if (stage === "stepped") throw new DynError("Expected unscale_() before step() but found it after");
    this.progress.set(optimizer, { stage: "unscaled", foundInf: this.unscale(optimizer) });
  }

  /** Unscales gradients; returns whether some are not finite. */
  private unscale(optimizer: Scaled): boolean {
    checkKind(optimizer?.paramGroups, "a list", "paramGroups of an optimizer");
    const { paramGroups } = optimizer;
    const inverse = Math.fround(1 / this.currentScale);
    const grads = paramGroups.flatMap(({ params }) => params.flatMap(({ grad }) => grad ? [grad] : []));
    if (grads.some(({ dtype }) => dtype === "float16")) {
      throw new DynError("Expected float32 gradients to unscale but found float16");
    }
    if (grads.length === 0) {
      throw new DynError("Expected gradients to unscale but found none");
    }
    return noGrad(() => {
      let finite: Tensor | undefined;
      for (const grad of grads) {
        const here = grad.isfinite().all();
        finite = finite?.logicalAnd(here) ?? here;
        grad.mul_(inverse);
      }
      return finite?.item<boolean>() === false;
    });
  }

  /**
   * Runs the optimizer's step, unless its gradients are infinite; then returns undefined. Unscales them first if
   * necessary. Throws DynError if it has stepped since the last update.
   */
  step(optimizer: Scaled, ...args: readonly (() => unknown)[]): unknown {
    if (!this.enabled) return optimizer.step(...args);
    if (args.length > 0) throw new DynError("Expected no closure for a scaled step but found one");
    if (this.progress.get(optimizer)?.stage === "stepped") {
      throw new DynError("Expected one step() of this optimizer since the last update() but found two");
    }
    if (!this.progress.has(optimizer)) this.unscale_(optimizer);
    const foundInf = this.progress.get(optimizer)?.foundInf ?? false;
    this.progress.set(optimizer, { stage: "stepped", foundInf });
    return foundInf ? undefined : optimizer.step();
  }

  /** Updates the scale according to the gradients since the last update, or sets it to `newScale`. */
  update(...given: Trailing<ScaleUpdate, ["newScale"]>): void {
    const { newScale = null } = trailing<ScaleUpdate>("update", ["newScale"], given);
    if (!this.enabled) return;
    if (newScale !== null) {
      const scale = isTensor(newScale) ? newScale.item() : newScale;
      if (typeof scale !== "number") refuseValue("a number as the new scale", scale);
      this.currentScale = Math.fround(scale);
    } else {
      if (this.progress.size === 0) {
        throw new DynError("Expected a step before update() but found no checked gradients");
      }
      if ([...this.progress.values()].some(({ foundInf }) => foundInf)) {
        this.currentScale = Math.fround(this.currentScale * this.backoffFactor);
        this.growthTracker = 0;
      } else if (++this.growthTracker === this.growthInterval) {
        const grown = Math.fround(this.currentScale * this.growthFactor);
        if (grown < Infinity) this.currentScale = grown;
        this.growthTracker = 0;
      }
    }
    this.progress.clear();
  }

  /** Returns the scale; 1 if the scaler is disabled. */
  getScale(): number {
    if (arguments.length > 0) refuseSurplus("getScale", 0, arguments);
    return this.enabled ? this.currentScale : 1;
  }

  /** Factor by which the scale grows. */
  getGrowthFactor(): number {
    if (arguments.length > 0) refuseSurplus("getGrowthFactor", 0, arguments);
    return this.growthFactor;
  }

  /** Sets the factor by which the scale grows. */
  setGrowthFactor(factor: number): void {
    if (arguments.length > 1) refuseSurplus("setGrowthFactor", 1, arguments);
    checkKind(factor, "a number", "setGrowthFactor");
    this.growthFactor = factor;
  }

  /** Factor by which the scale shrinks after infinite gradients. */
  getBackoffFactor(): number {
    if (arguments.length > 0) refuseSurplus("getBackoffFactor", 0, arguments);
    return this.backoffFactor;
  }

  /** Sets the factor by which the scale shrinks after infinite gradients. */
  setBackoffFactor(factor: number): void {
    if (arguments.length > 1) refuseSurplus("setBackoffFactor", 1, arguments);
    checkKind(factor, "a number", "setBackoffFactor");
    this.backoffFactor = factor;
  }

  /** Number of consecutive steps without infinities before the scale grows. */
  getGrowthInterval(): number {
    if (arguments.length > 0) refuseSurplus("getGrowthInterval", 0, arguments);
    return this.growthInterval;
  }

  /** Sets the number of consecutive steps without infinities before the scale grows. */
  setGrowthInterval(interval: number): void {
    if (arguments.length > 1) refuseSurplus("setGrowthInterval", 1, arguments);
    checkInteger("interval of setGrowthInterval", interval, 1);
    this.growthInterval = interval;
  }

  /** Returns whether scaling is enabled. */
  isEnabled(): boolean {
    if (arguments.length > 0) refuseSurplus("isEnabled", 0, arguments);
    return this.enabled;
  }

  /** Returns the scale and its settings. */
  stateDict(): GradScalerState {
    if (arguments.length > 0) refuseSurplus("stateDict", 0, arguments);
    if (!this.enabled) return {};
    return {
      scale: this.currentScale,
      growth_factor: this.growthFactor,
      backoff_factor: this.backoffFactor,
      growth_interval: this.growthInterval,
      _growth_tracker: this.growthTracker,
    };
  }

  /** Restores a state of `stateDict`. Throws DynError for the state of a disabled scaler. */
  loadStateDict(state: GradScalerState): void {
    if (arguments.length > 1) refuseSurplus("loadStateDict", 1, arguments);
    if (!this.enabled) return;
    checkKind(state, "an object", "loadStateDict of GradScaler");
    const { scale, growth_factor, backoff_factor, growth_interval, _growth_tracker } = state;
    if (
      scale === undefined || growth_factor === undefined || backoff_factor === undefined ||
      growth_interval === undefined || _growth_tracker === undefined
    ) {
      throw new DynError("Expected the state of an enabled scaler but found that of a disabled one");
    }
    this.currentScale = scale;
    this.growthFactor = growth_factor;
    this.backoffFactor = backoff_factor;
    this.growthInterval = growth_interval;
    this.growthTracker = _growth_tracker;
  }

  /** Returns the settings and the current scale. */
  toString(): string {
    return withSettings("GradScaler", {
      scale: this.currentScale,
      growthFactor: this.growthFactor,
      backoffFactor: this.backoffFactor,
      growthInterval: this.growthInterval,
      enabled: this.enabled,
    });
  }
}

showAsText(GradScaler.prototype);
