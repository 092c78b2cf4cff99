/** Stochastic gradient descent with momentum, like torch.optim.SGD. */
import { DynError } from "../base/errors.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { zerosLike } from "../tensor/generated_functions.ts";
import {
  FUSED_CHOICES,
  type FusedChoice,
  type Hyperparameters,
  hyperparameters,
  type ParamsOrGroups,
  type ParamState,
} from "./optimizer.ts";
import { descent, PerParameter, type UpdateContext } from "./per_parameter.ts";

export interface SGDOptions {
  lr: number;
  momentum: number;
  dampening: number;
  weightDecay: number;
  nesterov: boolean;
  /** Whether to maximise. */
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
export class SGD extends PerParameter<SGDOptions> {
  constructor(params: ParamsOrGroups<SGDOptions>, ...given: Hyperparameters<SGDOptions, FusedChoice>) {
    const options = hyperparameters("SGD", DEFAULTS, given, { choices: FUSED_CHOICES });
    if (options.nesterov && (options.momentum <= 0 || options.dampening !== 0)) {
      throw new DynError(
        `Expected nesterov with momentum and without dampening but found momentum ${options.momentum} and ` +
          `dampening ${options.dampening}`,
      );
    }
    super(params, options);
  }

  /**
   * Momentum equals the first direction after the first step. The general formula computes that from zeros, unless
   * there is dampening: then the first update creates the momentum instead.
   */
  protected override begin(param: Tensor, { momentum, dampening }: SGDOptions): ParamState | null {
    return momentum !== 0 && dampening === 0 ? { momentum_buffer: zerosLike(param) } : null;
  }

  protected override update(param: Tensor, grad: Tensor, context: UpdateContext<SGDOptions>): void {
    const { group, owner } = context;
    let direction = descent(param, grad, group);
    if (group.momentum !== 0) {
      const known = context.state["momentum_buffer"];
      const velocity = known?.mul_(group.momentum).add_(direction, { alpha: 1 - group.dampening }) ??
        direction.clone().detach();
      if (!known) this.state.set(owner, { momentum_buffer: velocity });
      direction = group.nesterov ? direction.add(velocity.mul(group.momentum)) : velocity;
    }
    param.sub_(direction.mul(group.lr));
  }
}
