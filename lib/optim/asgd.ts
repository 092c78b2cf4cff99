/** Averaged stochastic gradient descent, like torch.optim.ASGD. */
import { fullLike, onesLike, zerosLike } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import {
  type Hyperparameters,
  hyperparameters,
  numberFor,
  type ParamsOrGroups,
  type ParamState,
  zeroStep,
} from "./optimizer.ts";
import { descent, PerParameter, stateWith, type UpdateContext } from "./per_parameter.ts";

export interface ASGDOptions {
  lr: number;
  /** Decay rate of parameters, and of the learning rate. */
  lambd: number;
  /** The power of the step by which the rate decays. */
  alpha: number;
  /** The step at which averaging begins. */
  t0: number;
  weightDecay: number;
  /** Whether to maximise. */
  maximize: boolean;
}

const ASGD_DEFAULTS: ASGDOptions = {
  lr: 0.01,
  lambd: 1e-4,
  alpha: 0.75,
  t0: 1e6,
  weightDecay: 0,
  maximize: false,
};

/** Polyak and Juditsky 1992; `state.get(param).ax` is the average. */
export class ASGD extends PerParameter<ASGDOptions> {
  constructor(params: ParamsOrGroups<ASGDOptions>, ...given: Hyperparameters<ASGDOptions>) {
    super(params, hyperparameters("ASGD", ASGD_DEFAULTS, given));
  }

  protected override begin(param: Tensor, { lr }: ASGDOptions): ParamState {
    const step = zeroStep(param);
    return { step, eta: fullLike(step, lr), mu: onesLike(step), ax: zerosLike(param) };
  }

  protected override update(
    param: Tensor,
    gradient: Tensor,
    { group, state }: UpdateContext<ASGDOptions>,
  ): void {
    const { step, eta, mu, ax } = stateWith(state, ["step", "eta", "mu", "ax"]);
    const { lr, lambd, alpha, t0 } = group, grad = descent(param, gradient, group);
    step.add_(1);
    const rate = numberFor(param, eta);
    param.mul_(rate.mul(-lambd).add(1));
    param.sub_(grad.mul(rate));
    ax.add_(param.sub(ax).mul_(mu));
    eta.copy_(numberFor(param, step).mul(lambd * lr).add(1).pow(-alpha).mul(lr));
    mu.copy_(step.sub(t0).clamp(1).reciprocal());
  }
}
