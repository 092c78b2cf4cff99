/** Optimizers that scale by running squares of gradients: RMSprop and Adagrad, as torch.optim's. */
import { noGrad } from "../tensor/modes.ts";
import { fullLike, zerosLike } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import {
  type Hyperparameters,
  hyperparameters,
  Optimizer,
  type ParamsOrGroups,
  type ParamState,
  zeroStep,
} from "./optimizer.ts";

export interface RMSpropOptions {
  lr: number;
  alpha: number;
  eps: number;
  weightDecay: number;
  momentum: number;
  centered: boolean;
  /** Whether to climb instead of to descend. */
  maximize: boolean;
}

const RMSPROP: RMSpropOptions = {
  lr: 0.01,
  alpha: 0.99,
  eps: 1e-8,
  weightDecay: 0,
  momentum: 0,
  centered: false,
  maximize: false,
};

/** Hinton's lecture 6e: gradients divided by a running root mean square. */
export class RMSprop extends Optimizer<RMSpropOptions> {
  constructor(params: ParamsOrGroups<RMSpropOptions>, ...given: Hyperparameters<RMSpropOptions>) {
    super(params, hyperparameters("RMSprop", RMSPROP, given));
  }

  override step(): void {
    noGrad(() => {
      for (const group of this.paramGroups) {
        for (const param of group.params) {
          if (param.grad) this.update(param, param.grad, group);
        }
      }
    });
  }

  private update(param: Tensor, gradient: Tensor, group: RMSpropOptions): void {
    const { square_avg: square, grad_avg: mean, momentum_buffer: buffer, step } = this.stateOf(param, group);
    if (!square || !step) return;
    step.add_(1);
    const downhill = group.maximize ? gradient.neg() : gradient;
    const grad = group.weightDecay !== 0 ? downhill.add(param, { alpha: group.weightDecay }) : downhill;
    square.mul_(group.alpha).addcmul_(grad, grad, { value: 1 - group.alpha });
    if (mean) mean.lerp_(grad, 1 - group.alpha);
    const variance = mean ? square.sub(mean.mul(mean)) : square;
    const update = grad.div(variance.sqrt().add(group.eps));
    if (buffer) {
      buffer.mul_(group.momentum).add_(update);
      param.sub_(buffer.mul(group.lr));
    } else {
      param.sub_(update.mul(group.lr));
    }
  }

  private stateOf(param: Tensor, group: RMSpropOptions): ParamState {
    const known = this.state.get(param);
    if (known) return known;
    const state: ParamState = { step: zeroStep(param), square_avg: zerosLike(param) };
    if (group.momentum > 0) state["momentum_buffer"] = zerosLike(param);
    if (group.centered) state["grad_avg"] = zerosLike(param);
    this.state.set(param, state);
    return state;
  }
}

export interface AdagradOptions {
  lr: number;
  lrDecay: number;
  weightDecay: number;
  initialAccumulatorValue: number;
  eps: number;
  /** Whether to climb instead of to descend. */
  maximize: boolean;
}

const ADAGRAD: AdagradOptions = {
  lr: 0.01,
  lrDecay: 0,
  weightDecay: 0,
  initialAccumulatorValue: 0,
  eps: 1e-10,
  maximize: false,
};

/** Duchi et al. 2011: gradients divided by the root of their sum of squares. */
export class Adagrad extends Optimizer<AdagradOptions> {
  constructor(params: ParamsOrGroups<AdagradOptions>, ...given: Hyperparameters<AdagradOptions>) {
    super(params, hyperparameters("Adagrad", ADAGRAD, given));
  }

  override step(): void {
    noGrad(() => {
      for (const group of this.paramGroups) {
        for (const param of group.params) {
          if (param.grad) this.update(param, param.grad, group);
        }
      }
    });
  }

  private update(param: Tensor, gradient: Tensor, group: AdagradOptions): void {
    let state = this.state.get(param);
    if (!state) {
      state = { step: zeroStep(param), sum: fullLike(param, group.initialAccumulatorValue) };
      this.state.set(param, state);
    }
    const { step, sum } = state;
    if (!step || !sum) return;
    const downhill = group.maximize ? gradient.neg() : gradient;
    const grad = group.weightDecay !== 0 ? downhill.add(param, { alpha: group.weightDecay }) : downhill;
    // lr / (1 + (t − 1)·decay), t counted from 1
    const rate = step.mul(group.lrDecay).add(1).reciprocal().mul(group.lr);
    step.add_(1);
    sum.addcmul_(grad, grad, { value: 1 });
    param.sub_(grad.div(sum.sqrt().add(group.eps)).mul(rate));
  }
}
