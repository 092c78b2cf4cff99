/** Adafactor, like torch.optim.Adafactor: factors mean squares of gradients into those of rows and columns. */
import { checkAtLeast } from "../base/checked_numbers.ts";
import { EPSILON } from "../base/dtype.ts";
import { refuseValue } from "../base/checked_input.ts";
import { zeros, zerosLike } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import {
  type Hyperparameters,
  hyperparameters,
  numberFor,
  type ParamsOrGroups,
  type ParamState,
  realOnly,
  zeroStep,
} from "./optimizer.ts";
import { PerParameter, stateWith, type UpdateContext } from "./per_parameter.ts";

export interface AdafactorOptions {
  lr: number;
  /** The weight of a new square is the step number to this power. */
  beta2Decay: number;
  /** The minimum root mean square of a gradient, and of a parameter; null: the machine epsilon of the type. */
  eps: readonly [number | null, number];
  /** The maximum root mean square of an update. */
  d: number;
  weightDecay: number;
  /** Whether to maximise. */
  maximize: boolean;
}

const ADAFACTOR: AdafactorOptions = {
  lr: 0.01,
  beta2Decay: -0.8,
  eps: [null, 1e-3],
  d: 1,
  weightDecay: 0,
  maximize: false,
};

/** Shazeer and Stern 2018, without momentum. */
export class Adafactor extends PerParameter<AdafactorOptions> {
  constructor(
    params: ParamsOrGroups<AdafactorOptions>,
    ...given: Hyperparameters<AdafactorOptions, "foreach">
  ) {
    const options = hyperparameters("Adafactor", ADAFACTOR, given, { choices: ["foreach"] });
    const { eps: [first, second], beta2Decay } = options;
    if ((first !== null && first < 0) || second < 0) {
      refuseValue("eps of Adafactor to be non-negative", options.eps);
    }
    if (beta2Decay > 0) refuseValue("beta2Decay of Adafactor to be at most 0", beta2Decay);
    checkAtLeast("d of Adafactor", options.d, 1);
    super(params, options);
  }

  protected override asReal(tensor: Tensor): Tensor {
    return realOnly("Adafactor", tensor);
  }

  protected override begin(param: Tensor): ParamState {
    const { shape, dtype, device } = param, step = zeroStep(param);
    if (shape.length < 2) return { step, variance: zerosLike(param) };
    return {
      step,
      row_var: zeros([...shape.slice(0, -1), 1], { dtype, device }),
      col_var: zeros([...shape.slice(0, -2), 1, ...shape.slice(-1)], { dtype, device }),
    };
  }

  protected override update(
    param: Tensor,
    gradient: Tensor,
    { group, state }: UpdateContext<AdafactorOptions>,
  ): void {
    const { lr, beta2Decay, d, weightDecay } = group, [given, leastSize] = group.eps;
    const least = given ?? EPSILON[param.dtype] ?? 0;
    const grad = group.maximize ? gradient.neg() : gradient;
    const { step } = stateWith(state, ["step"]);
    step.add_(1);
    const time = numberFor(param, step), share = time.pow(beta2Decay);
    const rate = rootMeanSquare(param).clamp(leastSize).mul(time.rsqrt().clamp({ max: lr }));
    if (weightDecay !== 0) param.mul_(1 - lr * weightDecay);
    const update = meanSquares(grad, { state, share, least }).clamp(least * least).rsqrt().mul(grad);
    const clipped = rootMeanSquare(update).div(d).clamp(1);
    param.sub_(update.mul(rate.div(clipped)));
  }
}

function rootMeanSquare(x: Tensor): Tensor {
  return x.norm().div(Math.sqrt(x.numel()));
}

/** Updates the running mean squares of a gradient; those of a matrix are the product of its rows' and columns'. */
function meanSquares(
  grad: Tensor,
  { state, share, least }: { readonly state: ParamState; readonly share: Tensor; readonly least: number },
): Tensor {
  const squares = grad.square();
  if (grad.ndim < 2) {
    const { variance } = stateWith(state, ["variance"]);
    return variance.lerp_(squares, share);
  }
  const { row_var: rows, col_var: columns } = stateWith(state, ["row_var", "col_var"]);
  rows.lerp_(squares.mean(-1, { keepdim: true }), share);
  columns.lerp_(squares.mean(-2, { keepdim: true }), share);
  return rows.matmul(columns).div(rows.mean(-2, { keepdim: true }).clamp(least));
}
