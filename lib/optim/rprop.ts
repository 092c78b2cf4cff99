/** Rprop, like torch.optim's: step sizes per element that depend only on signs of gradients. */
import { refuseValue } from "../base/checked_input.ts";
import { fullLike, where, zerosLike } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import {
  type Hyperparameters,
  hyperparameters,
  type ParamsOrGroups,
  type ParamState,
  zeroStep,
} from "./optimizer.ts";
import { PerParameter, stateWith, type UpdateContext } from "./per_parameter.ts";

export interface RpropOptions {
  lr: number;
  /** The factors of a step after a change of the gradient's sign, and without one. */
  etas: readonly [number, number];
  /** The minimum and the maximum step. */
  stepSizes: readonly [number, number];
  /** Whether to maximise. */
  maximize: boolean;
}

const RPROP: RpropOptions = { lr: 0.01, etas: [0.5, 1.2], stepSizes: [1e-6, 50], maximize: false };

/** Riedmiller and Braun 1993, for full-batch gradients. */
export class Rprop extends PerParameter<RpropOptions> {
  constructor(params: ParamsOrGroups<RpropOptions>, ...given: Hyperparameters<RpropOptions>) {
    const options = hyperparameters("Rprop", RPROP, given), [shrink, grow] = options.etas;
    if (!(shrink > 0 && shrink < 1 && grow > 1)) {
      refuseValue("etas of Rprop to be in (0, 1) and above 1", options.etas);
    }
    super(params, options);
  }

  protected override begin(param: Tensor, { lr }: RpropOptions): ParamState {
    return { step: zeroStep(param), prev: zerosLike(param), step_size: fullLike(param, lr) };
  }

  protected override update(
    param: Tensor,
    gradient: Tensor,
    { group, state }: UpdateContext<RpropOptions>,
  ): void {
    const { step, prev, step_size: size } = stateWith(state, ["step", "prev", "step_size"]);
    const [shrink, grow] = group.etas, [smallest, largest] = group.stepSizes;
    const grad = group.maximize ? gradient.neg() : gradient;
    const agreement = grad.mul(prev), turned = agreement.lt(0);
    step.add_(1);
    const factor = where(agreement.gt(0), fullLike(size, grow), 1).maskedFill(turned, shrink);
    size.mul_(factor).clamp_(smallest, largest);
    // After a change of sign, the element keeps its value for one step
    const followed = grad.maskedFill(turned, 0);
    param.sub_(followed.sign().mul_(size));
    prev.copy_(followed);
  }
}
