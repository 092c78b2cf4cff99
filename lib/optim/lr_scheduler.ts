/** Learning-rate schedules, as torch.optim.lr_scheduler: each sets `lr` of every group after `step()`. */
import type { Optimizer } from "./optimizer.ts";

interface WithRate {
  lr: number;
}

/** Base: counts steps and applies `rateAt` to the initial rate of each group. */
export abstract class LRScheduler {
  lastEpoch = 0;
  readonly baseRates: readonly number[];

  constructor(readonly optimizer: Optimizer<WithRate>) {
    this.baseRates = optimizer.paramGroups.map((group) => group.lr);
  }

  /** The rate after `epoch` steps for a group that started with `base`. */
  protected abstract rateAt(epoch: number, base: number): number;

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
}

/** lr·gammaᵏ, k = whole stepSizes gone by. */
export class StepLR extends LRScheduler {
  constructor(optimizer: Optimizer<WithRate>, readonly stepSize: number, readonly gamma: number = 0.1) {
    super(optimizer);
  }

  protected override rateAt(epoch: number, base: number): number {
    return base * this.gamma ** Math.floor(epoch / this.stepSize);
  }
}

/** lr·gammaᵏ, k = milestones passed. */
export class MultiStepLR extends LRScheduler {
  constructor(
    optimizer: Optimizer<WithRate>,
    readonly milestones: readonly number[],
    readonly gamma: number = 0.1,
  ) {
    super(optimizer);
  }

  protected override rateAt(epoch: number, base: number): number {
    return base * this.gamma ** this.milestones.filter((m) => m <= epoch).length;
  }
}

/** lr·gammaᵗ */
export class ExponentialLR extends LRScheduler {
  constructor(optimizer: Optimizer<WithRate>, readonly gamma: number) {
    super(optimizer);
  }

  protected override rateAt(epoch: number, base: number): number {
    return base * this.gamma ** epoch;
  }
}

/** Half a cosine from lr to etaMin over tMax steps. */
export class CosineAnnealingLR extends LRScheduler {
  constructor(optimizer: Optimizer<WithRate>, readonly tMax: number, readonly etaMin: number = 0) {
    super(optimizer);
  }

  protected override rateAt(epoch: number, base: number): number {
    return this.etaMin + (base - this.etaMin) * (1 + Math.cos(Math.PI * epoch / this.tMax)) / 2;
  }
}

/** lr·factor(t) with the user's function; sets the rate of step 0 at once. */
export class LambdaLR extends LRScheduler {
  constructor(optimizer: Optimizer<WithRate>, readonly factor: (epoch: number) => number) {
    super(optimizer);
    this.apply();
  }

  protected override rateAt(epoch: number, base: number): number {
    return base * this.factor(epoch);
  }
}
