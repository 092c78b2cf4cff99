/** Adam and AdamW, like torch.optim's. Bias corrections are tensors, so that a captured step serves every step. */
import { zerosLike } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import {
  ALL_CHOICES,
  type ExecutionOptions,
  type Hyperparameters,
  hyperparameters,
  numberFor,
  type ParamsOrGroups,
  type ParamState,
  zeroStep,
} from "./optimizer.ts";
import { decayed, PerParameter, stateWith, type UpdateContext } from "./per_parameter.ts";

export interface AdamOptions {
  lr: number;
  betas: readonly [number, number];
  eps: number;
  weightDecay: number;
  amsgrad: boolean;
  /** Whether to maximise. */
  maximize: boolean;
  /** Whether decay shrinks the parameter directly instead of being added to the gradient. */
  decoupledWeightDecay: boolean;
}

const ADAM: AdamOptions = {
  lr: 1e-3,
  betas: [0.9, 0.999],
  eps: 1e-8,
  weightDecay: 0,
  amsgrad: false,
  maximize: false,
  decoupledWeightDecay: false,
};

const STATE = ["step", "exp_avg", "exp_avg_sq"] as const;

/** 1 − βᵗ = −expm1(t·ln β), for a tensor t. */
export function biasCorrection(beta: number, step: Tensor): Tensor {
  return step.mul(Math.log(beta)).expm1().neg();
}

/** Updates the running means of a gradient and of its square. */
export function followMoments(
  { mean, square }: { readonly mean: Tensor; readonly square: Tensor },
  grad: Tensor,
  [beta1, beta2]: readonly [number, number],
): void {
  mean.lerp_(grad, 1 - beta1);
  square.mul_(beta2).addcmul_(grad, grad, { value: 1 - beta2 });
}

abstract class AdamFamily extends PerParameter<AdamOptions> {
  protected override update(
    param: Tensor,
    gradient: Tensor,
    { group, state }: UpdateContext<AdamOptions>,
  ): void {
    const { lr, eps } = group, [beta1, beta2] = group.betas;
    const { step, exp_avg: mean, exp_avg_sq: square, max_exp_avg_sq: largest } = stateWith(state, STATE);
    step.add_(1);
    const time = numberFor(param, step);
    const grad = decayed(param, gradient, group);
    followMoments({ mean, square }, grad, group.betas);
    if (largest) largest.copy_(largest.maximum(square));
    // Overwrites fresh results: one buffer instead of three
    const scale = (largest ?? square).sqrt().div_(biasCorrection(beta2, time).sqrt()).add_(eps);
    param.sub_(mean.div(scale).mul_(biasCorrection(beta1, time).reciprocal().mul(lr)));
  }

  protected override begin(param: Tensor, { amsgrad }: AdamOptions): ParamState {
    return {
      step: zeroStep(param),
      exp_avg: zerosLike(param),
      exp_avg_sq: zerosLike(param),
      ...(amsgrad ? { max_exp_avg_sq: zerosLike(param) } : {}),
    };
  }
}

/** Kingma and Ba 2015; decay is added to the gradient unless it is decoupled. */
export class Adam extends AdamFamily {
  constructor(
    params: ParamsOrGroups<AdamOptions>,
    ...given: Hyperparameters<AdamOptions, keyof ExecutionOptions>
  ) {
    super(params, hyperparameters("Adam", ADAM, given, { choices: ALL_CHOICES }));
  }
}

/** Loshchilov and Hutter 2019; decay is decoupled from the gradient, default 0.01. */
export class AdamW extends AdamFamily {
  constructor(
    params: ParamsOrGroups<AdamOptions>,
    ...given: Hyperparameters<AdamOptions, keyof ExecutionOptions>
  ) {
    super(
      params,
      hyperparameters("AdamW", { ...ADAM, weightDecay: 0.01, decoupledWeightDecay: true }, given, {
        choices: ALL_CHOICES,
      }),
    );
  }
}
