/** Adam and AdamW, as torch.optim's. Bias corrections are tensors, so that a captured step serves every step. */
import { noGrad } from "../tensor/modes.ts";
import { zerosLike } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import {
  type Hyperparameters,
  hyperparameters,
  Optimizer,
  type ParamsOrGroups,
  type ParamState,
  zeroStep,
} from "./optimizer.ts";

export interface AdamOptions {
  lr: number;
  betas: readonly [number, number];
  eps: number;
  weightDecay: number;
  amsgrad: boolean;
  /** Whether to climb instead of to descend. */
  maximize: boolean;
}

const ADAM: AdamOptions = {
  lr: 1e-3,
  betas: [0.9, 0.999],
  eps: 1e-8,
  weightDecay: 0,
  amsgrad: false,
  maximize: false,
};

abstract class AdamFamily extends Optimizer<AdamOptions> {
  /** Whether decay shrinks the parameter itself instead of joining the gradient. */
  abstract readonly decoupled: boolean;

  override step(): void {
    noGrad(() => {
      for (const group of this.paramGroups) {
        for (const param of group.params) {
          if (param.grad) this.update(param, param.grad, group);
        }
      }
    });
  }

  private update(param: Tensor, gradient: Tensor, group: AdamOptions): void {
    const { lr, eps, weightDecay } = group;
    const [beta1, beta2] = group.betas;
    const state = this.stateOf(param, group.amsgrad);
    const { step, exp_avg: mean, exp_avg_sq: square, max_exp_avg_sq: largest } = state;
    if (!step || !mean || !square) return;
    step.add_(1);
    let grad = group.maximize ? gradient.neg() : gradient;
    if (weightDecay !== 0) {
      if (this.decoupled) param.mul_(1 - lr * weightDecay);
      else grad = grad.add(param, { alpha: weightDecay });
    }
    mean.lerp_(grad, 1 - beta1);
    square.mul_(beta2).addcmul_(grad, grad, { value: 1 - beta2 });
    // 1 − βᵗ = −expm1(t·ln β)
    const correction1 = step.mul(Math.log(beta1)).expm1().neg();
    const correction2 = step.mul(Math.log(beta2)).expm1().neg();
    if (largest) largest.copy_(largest.maximum(square));
    // What is fresh is written over: one buffer instead of three
    const scale = (largest ?? square).sqrt().div_(correction2.sqrt()).add_(eps);
    param.sub_(mean.div(scale).mul_(correction1.reciprocal().mul(lr)));
  }

  private stateOf(param: Tensor, amsgrad: boolean): ParamState {
    const known = this.state.get(param);
    if (known) return known;
    const state: ParamState = {
      step: zeroStep(param),
      exp_avg: zerosLike(param),
      exp_avg_sq: zerosLike(param),
    };
    if (amsgrad) state["max_exp_avg_sq"] = zerosLike(param);
    this.state.set(param, state);
    return state;
  }
}

/** Kingma and Ba 2015; decay is added to the gradient. */
export class Adam extends AdamFamily {
  override readonly decoupled: boolean = false;
  constructor(params: ParamsOrGroups<AdamOptions>, ...given: Hyperparameters<AdamOptions>) {
    super(params, hyperparameters("Adam", ADAM, given));
  }
}

/** Loshchilov and Hutter 2019; decay is apart from the gradient, default 0.01. */
export class AdamW extends AdamFamily {
  override readonly decoupled: boolean = true;
  constructor(params: ParamsOrGroups<AdamOptions>, ...given: Hyperparameters<AdamOptions>) {
    super(params, hyperparameters("AdamW", { ...ADAM, weightDecay: 0.01 }, given));
  }
}
