/** Stochastic gradient descent with momentum, as torch.optim.SGD. */
import { DynError } from "../base/errors.ts";
import { noGrad } from "../tensor/modes.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Hyperparameters, hyperparameters, Optimizer, type ParamsOrGroups } from "./optimizer.ts";

export interface SGDOptions {
  lr: number;
  momentum: number;
  dampening: number;
  weightDecay: number;
  nesterov: boolean;
  /** Whether to climb instead of to descend. */
  maximize: boolean;
}

const DEFAULTS: SGDOptions = {
  lr: 1e-3,
  momentum: 0,
  dampening: 0,
  weightDecay: 0,
  nesterov: false,
  maximize: false,
};

/** p ← p − lr·v, v ← momentum·v + (1 − dampening)·(g + weightDecay·p). */
export class SGD extends Optimizer<SGDOptions> {
  constructor(params: ParamsOrGroups<SGDOptions>, ...given: Hyperparameters<SGDOptions>) {
    const options = hyperparameters("SGD", DEFAULTS, given);
    if (options.nesterov && (options.momentum <= 0 || options.dampening !== 0)) {
      throw new DynError("Expected momentum without dampening for nesterov but found none, or dampening");
    }
    super(params, options);
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

  private update(param: Tensor, grad: Tensor, group: SGDOptions): void {
    let direction = group.maximize ? grad.neg() : grad;
    if (group.weightDecay !== 0) direction = direction.add(param, { alpha: group.weightDecay });
    if (group.momentum !== 0) {
      let state = this.state.get(param);
      if (!state) {
        state = { momentum_buffer: direction.clone().detach() };
        this.state.set(param, state);
      } else {
        state["momentum_buffer"]?.mul_(group.momentum).add_(direction, { alpha: 1 - group.dampening });
      }
      const velocity = state["momentum_buffer"] ?? direction;
      direction = group.nesterov ? direction.add(velocity, { alpha: group.momentum }) : velocity;
    }
    param.sub_(direction.mul(group.lr));
  }
}
