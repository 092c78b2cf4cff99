/** Variants of Adam: Adamax, NAdam and RAdam, like torch.optim's. */
import { onesLike, where, zerosLike } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { biasCorrection, followMoments } from "./adam.ts";
import {
  type Hyperparameters,
  hyperparameters,
  numberFor,
  type ParamsOrGroups,
  type ParamState,
  zeroStep,
} from "./optimizer.ts";
import { decayed, descent, PerParameter, stateWith, type UpdateContext } from "./per_parameter.ts";

export interface AdamaxOptions {
  lr: number;
  betas: readonly [number, number];
  eps: number;
  weightDecay: number;
  /** Whether to maximise. */
  maximize: boolean;
}

const ADAMAX: AdamaxOptions = { lr: 2e-3, betas: [0.9, 0.999], eps: 1e-8, weightDecay: 0, maximize: false };

/** Kingma and Ba 2015, section 7.1: the running maximum of gradients instead of the mean square. */
export class Adamax extends PerParameter<AdamaxOptions> {
  constructor(params: ParamsOrGroups<AdamaxOptions>, ...given: Hyperparameters<AdamaxOptions>) {
    super(params, hyperparameters("Adamax", ADAMAX, given));
  }

  protected override begin(param: Tensor): ParamState {
    return { step: zeroStep(param), exp_avg: zerosLike(param), exp_inf: zerosLike(param) };
  }

  protected override update(param: Tensor, gradient: Tensor, context: UpdateContext<AdamaxOptions>): void {
    const { group, state } = context, [beta1, beta2] = group.betas;
    const { step, exp_avg: mean, exp_inf: largest } = stateWith(state, ["step", "exp_avg", "exp_inf"]);
    const grad = descent(param, gradient, group);
    step.add_(1);
    mean.lerp_(grad, 1 - beta1);
    largest.copy_(largest.mul(beta2).maximum(grad.abs().add_(group.eps)));
    param.sub_(
      mean.div(largest).mul_(biasCorrection(beta1, numberFor(param, step)).reciprocal().mul(group.lr)),
    );
  }
}

export interface RAdamOptions extends AdamaxOptions {
  /** Whether decay shrinks the parameter directly instead of being added to the gradient. */
  decoupledWeightDecay: boolean;
}

export interface NAdamOptions extends RAdamOptions {
  momentumDecay: number;
}

const NADAM: NAdamOptions = {
  lr: 2e-3,
  betas: [0.9, 0.999],
  eps: 1e-8,
  weightDecay: 0,
  momentumDecay: 4e-3,
  decoupledWeightDecay: false,
  maximize: false,
};

/** Dozat 2016: Adam with Nesterov momentum, whose weight grows with the steps. */
export class NAdam extends PerParameter<NAdamOptions> {
  constructor(params: ParamsOrGroups<NAdamOptions>, ...given: Hyperparameters<NAdamOptions>) {
    super(params, hyperparameters("NAdam", NADAM, given));
  }

  protected override begin(param: Tensor): ParamState {
    const step = zeroStep(param);
    return { step, mu_product: onesLike(step), exp_avg: zerosLike(param), exp_avg_sq: zerosLike(param) };
  }

  protected override update(
    param: Tensor,
    gradient: Tensor,
    { group, state }: UpdateContext<NAdamOptions>,
  ): void {
    const { lr, eps, momentumDecay } = group, [beta1, beta2] = group.betas;
    const { step, mu_product: product, exp_avg: mean, exp_avg_sq: square } = stateWith(state, [
      "step",
      "mu_product",
      "exp_avg",
      "exp_avg_sq",
    ]);
    const grad = decayed(param, gradient, group);
    // µₜ = β₁·(1 − 0.96^(t·momentumDecay) / 2)
    const momentumAt = (time: Tensor) =>
      time.mul(momentumDecay * Math.log(0.96)).exp().mul(-0.5).add(1).mul(beta1);
    step.add_(1);
    const steps = numberFor(param, step), now = momentumAt(steps), next = momentumAt(steps.add(1));
    product.mul_(now.to(product.dtype));
    const passed = numberFor(param, product);
    followMoments({ mean, square }, grad, group.betas);
    const scale = square.div(biasCorrection(beta2, steps)).sqrt_().add_(eps);
    param.sub_(grad.div(scale).mul_(now.neg().add(1).div(passed.neg().add(1)).mul(lr)));
    param.sub_(mean.div(scale).mul_(next.div(passed.mul(next).neg().add(1)).mul(lr)));
  }
}

const RADAM: RAdamOptions = {
  lr: 1e-3,
  betas: [0.9, 0.999],
  eps: 1e-8,
  weightDecay: 0,
  decoupledWeightDecay: false,
  maximize: false,
};

/** Liu et al. 2020: no scaling by mean squares until their variance is low enough. */
export class RAdam extends PerParameter<RAdamOptions> {
  constructor(params: ParamsOrGroups<RAdamOptions>, ...given: Hyperparameters<RAdamOptions>) {
    super(params, hyperparameters("RAdam", RADAM, given));
  }

  protected override begin(param: Tensor): ParamState {
    return { step: zeroStep(param), exp_avg: zerosLike(param), exp_avg_sq: zerosLike(param) };
  }

  protected override update(
    param: Tensor,
    gradient: Tensor,
    { group, state }: UpdateContext<RAdamOptions>,
  ): void {
    const { lr, eps } = group, [beta1, beta2] = group.betas;
    const { step, exp_avg: mean, exp_avg_sq: square } = stateWith(state, ["step", "exp_avg", "exp_avg_sq"]);
    const grad = decayed(param, gradient, group);
    step.add_(1);
    followMoments({ mean, square }, grad, group.betas);
    const steps = numberFor(param, step), correction = biasCorrection(beta2, steps);
    // The length of a simple moving average with the same variance: ρₜ = ρ∞ − 2·t·β₂ᵗ / (1 − β₂ᵗ)
    const longest = 2 / (1 - beta2) - 1;
    const length = steps.mul(2).mul(correction.neg().add(1)).div(correction).neg().add(longest);
    const rectified = length.sub(4).mul(length.sub(2)).mul(longest)
      .div(length.mul((longest - 4) * (longest - 2))).sqrt();
    const scaled = correction.sqrt().mul(rectified).div(square.sqrt().add_(eps));
    const factor = where(length.gt(5), scaled, 1);
    param.sub_(mean.mul(biasCorrection(beta1, steps).reciprocal().mul(lr)).mul_(factor));
  }
}
