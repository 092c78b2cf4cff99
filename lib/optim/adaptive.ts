/** Optimizers that scale by running squares of gradients: RMSprop, Adagrad and Adadelta, like torch.optim's. */
import { checkShare } from "../base/checked_numbers.ts";
import { fullLike, zerosLike } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import {
  FUSED_CHOICES,
  type FusedChoice,
  type Hyperparameters,
  hyperparameters,
  numberFor,
  type ParamsOrGroups,
  type ParamState,
  zeroStep,
} from "./optimizer.ts";
import { descent, PerParameter, stateWith, type UpdateContext } from "./per_parameter.ts";

export interface RMSpropOptions {
  lr: number;
  alpha: number;
  eps: number;
  weightDecay: number;
  momentum: number;
  centered: boolean;
  /** Whether to maximise. */
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
export class RMSprop extends PerParameter<RMSpropOptions> {
  constructor(params: ParamsOrGroups<RMSpropOptions>, ...given: Hyperparameters<RMSpropOptions>) {
    super(params, hyperparameters("RMSprop", RMSPROP, given));
  }

  protected override update(
    param: Tensor,
    gradient: Tensor,
    { group, state }: UpdateContext<RMSpropOptions>,
  ): void {
    const { square_avg: square, step, grad_avg: mean, momentum_buffer: buffer } = stateWith(state, [
      "square_avg",
      "step",
    ]);
    step.add_(1);
    const grad = descent(param, gradient, group);
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

  protected override begin(param: Tensor, { momentum, centered }: RMSpropOptions): ParamState {
    return {
      step: zeroStep(param),
      square_avg: zerosLike(param),
      ...(momentum > 0 ? { momentum_buffer: zerosLike(param) } : {}),
      ...(centered ? { grad_avg: zerosLike(param) } : {}),
    };
  }
}

export interface AdagradOptions {
  lr: number;
  lrDecay: number;
  weightDecay: number;
  initialAccumulatorValue: number;
  eps: number;
  /** Whether to maximise. */
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
export class Adagrad extends PerParameter<AdagradOptions> {
  constructor(
    params: ParamsOrGroups<AdagradOptions>,
    ...given: Hyperparameters<AdagradOptions, FusedChoice>
  ) {
    super(params, hyperparameters("Adagrad", ADAGRAD, given, { choices: FUSED_CHOICES }));
  }

  protected override begin(param: Tensor, { initialAccumulatorValue }: AdagradOptions): ParamState {
    return { step: zeroStep(param), sum: fullLike(param, initialAccumulatorValue) };
  }

  protected override update(
    param: Tensor,
    gradient: Tensor,
    { group, state }: UpdateContext<AdagradOptions>,
  ): void {
    const { step, sum } = stateWith(state, ["step", "sum"]);
    const grad = descent(param, gradient, group);
    // lr / (1 + (t − 1)·decay), t counted from 1
    const rate = numberFor(param, step).mul(group.lrDecay).add(1).reciprocal().mul(group.lr);
    step.add_(1);
    sum.addcmul_(grad, grad, { value: 1 });
    param.sub_(grad.div(sum.sqrt().add(group.eps)).mul(rate));
  }
}

export interface AdadeltaOptions {
  lr: number;
  rho: number;
  eps: number;
  weightDecay: number;
  /** Whether to maximise. */
  maximize: boolean;
}

const ADADELTA: AdadeltaOptions = { lr: 1, rho: 0.9, eps: 1e-6, weightDecay: 0, maximize: false };

/** Zeiler 2012: steps scaled by the root mean square of recent steps, divided by that of the gradients. */
export class Adadelta extends PerParameter<AdadeltaOptions> {
  constructor(params: ParamsOrGroups<AdadeltaOptions>, ...given: Hyperparameters<AdadeltaOptions>) {
    const options = hyperparameters("Adadelta", ADADELTA, given);
    checkShare("rho of Adadelta", options.rho);
    super(params, options);
  }

  protected override begin(param: Tensor): ParamState {
    return { step: zeroStep(param), square_avg: zerosLike(param), acc_delta: zerosLike(param) };
  }

  protected override update(
    param: Tensor,
    gradient: Tensor,
    { group, state }: UpdateContext<AdadeltaOptions>,
  ): void {
    const { step, square_avg: square, acc_delta: steps } = stateWith(state, [
      "step",
      "square_avg",
      "acc_delta",
    ]);
    const { lr, rho, eps } = group, grad = descent(param, gradient, group);
    step.add_(1);
    square.mul_(rho).addcmul_(grad, grad, { value: 1 - rho });
    const delta = steps.add(eps).sqrt_().div_(square.add(eps).sqrt_()).mul_(grad);
    steps.mul_(rho).addcmul_(delta, delta, { value: 1 - rho });
    param.sub_(delta.mul_(lr));
  }
}
