/** Muon, like torch.optim.Muon: momentum whose matrices are orthogonalised before a step. */
import { checkInteger } from "../base/checked_numbers.ts";
import { checkOneOf, refuseSurplus } from "../base/checked_input.ts";
import { checkedTensors } from "../tensor/checked.ts";
import { DynError } from "../base/errors.ts";
import { zerosLike } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import {
  type Hyperparameters,
  hyperparameters,
  type ParamsOrGroups,
  type ParamState,
  realOnly,
} from "./optimizer.ts";
import { PerParameter, stateWith, type UpdateContext } from "./per_parameter.ts";

/** Adjustments of the learning rate to the size of a matrix. */
const ADJUSTMENTS = {
  original: (rows: number, columns: number) => Math.sqrt(Math.max(1, rows / columns)),
  match_rms_adamw: (rows: number, columns: number) => 0.2 * Math.sqrt(Math.max(rows, columns)),
  spectral_unclamped: (rows: number, columns: number) => Math.sqrt(rows / columns),
} as const;

export interface MuonOptions {
  lr: number;
  weightDecay: number;
  momentum: number;
  nesterov: boolean;
  /** Coefficients of the odd polynomial of degree five that moves singular values towards 1. */
  nsCoefficients: readonly [number, number, number];
  /** The minimum norm to divide by. */
  eps: number;
  /** Number of applications of the polynomial. */
  nsSteps: number;
  /** How the rate depends on the size of a matrix; null: "original". */
  adjustLrFn: keyof typeof ADJUSTMENTS | null;
}

const MUON: MuonOptions = {
  lr: 1e-3,
  weightDecay: 0.1,
  momentum: 0.95,
  nesterov: true,
  nsCoefficients: [3.4445, -4.775, 2.0315],
  eps: 1e-7,
  nsSteps: 5,
  adjustLrFn: "original",
};

/**
 * Jordan et al. 2024, for matrices; decay is decoupled from the gradient. Throws DynError for parameters of other
 * ranks.
 */
export class Muon extends PerParameter<MuonOptions> {
  constructor(params: ParamsOrGroups<MuonOptions>, ...given: Hyperparameters<MuonOptions, never>) {
    const options = hyperparameters("Muon", MUON, given, { choices: [] });
    checkInteger("nsSteps of Muon", options.nsSteps, 0);
    checkOneOf("adjustLrFn of Muon", options.adjustLrFn ?? "original", Object.keys(ADJUSTMENTS));
    super(params, options);
  }

  override addParamGroup(group: Partial<MuonOptions> & { params: Iterable<Tensor> }): void {
    if (arguments.length > 1) refuseSurplus("addParamGroup", 1, arguments);
    const params = checkedTensors(group?.params ?? group, "Muon"),
      other = params.find(({ ndim }) => ndim !== 2);
    if (other) {
      throw new DynError(`Expected matrices as parameters of Muon but found the shape [${other.shape}]`);
    }
    super.addParamGroup({ ...group, params });
  }

  protected override asReal(tensor: Tensor): Tensor {
    return realOnly("Muon", tensor);
  }

  protected override begin(param: Tensor): ParamState {
    return { momentum_buffer: zerosLike(param) };
  }

  protected override update(param: Tensor, grad: Tensor, { group, state }: UpdateContext<MuonOptions>): void {
    const { lr, weightDecay, momentum, nesterov, adjustLrFn } = group, [rows = 1, columns = 1] = param.shape;
    const { momentum_buffer: velocity } = stateWith(state, ["momentum_buffer"]);
    velocity.lerp_(grad, 1 - momentum);
    const update = orthogonal(nesterov ? grad.lerp(velocity, momentum) : velocity, group);
    param.mul_(1 - lr * weightDecay);
    param.sub_(update.mul(lr * ADJUSTMENTS[adjustLrFn ?? "original"](rows, columns)));
  }
}

/**
 * Returns a matrix with nearly the same singular vectors and singular values near 1, by a Newton–Schulz iteration in
 * bfloat16.
 */
function orthogonal(matrix: Tensor, { nsCoefficients: [a, b, c], nsSteps, eps }: MuonOptions): Tensor {
  const [rows = 1, columns = 1] = matrix.shape, tall = rows > columns, half = matrix.bfloat16();
  let x = tall ? half.t() : half;
  x = x.div(x.norm().clamp(eps));
  for (let k = 0; k < nsSteps; k++) {
    const gram = x.matmul(x.t());
    x = x.addmm(gram.addmm(gram, gram, { beta: b, alpha: c }), x, { beta: a });
  }
  return tall ? x.t() : x;
}
