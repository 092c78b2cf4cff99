/**
 * Gradient clipping: the namespace `nn.utils`. Gradients are changed in place. Invariant: nothing is read back from a
 * tensor unless `errorIfNonfinite` requires it, so that a step that clips is one graph.
 */
import { optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { checkedTensors, checkTensor } from "../tensor/checked.ts";
import { type Arguments, argumentsOf } from "../base/arguments.ts";
import { getDefaultDtype } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { tensor } from "../tensor/creation.ts";
import { stack } from "../tensor/generated_functions.ts";
import { vectorNorm } from "../tensor/generated_linalg.ts";
import { divisionOf, noted } from "./divided.ts";
import { noGrad } from "../tensor/modes.ts";
import { Tensor } from "../tensor/tensor.ts";

/** Options of norms over several tensors. */
export interface TotalNormOptions {
  /** The order of the norm; default 2, Infinity for the largest absolute value. */
  readonly normType?: number;
  /** Whether to throw for a norm that is NaN or infinite. */
  readonly errorIfNonfinite?: boolean;
  /** Implementation choice of PyTorch; accepted without effect. */
  readonly foreach?: boolean | null;
}

const NORM_OPTIONS = ["normType", "errorIfNonfinite", "foreach"] as const;

interface Tensors {
  readonly tensors: Tensor | Iterable<Tensor>;
}

const TOTAL = {
  required: ["tensors"],
  positional: NORM_OPTIONS,
  flags: { errorIfNonfinite: true, foreach: true },
} as const;

/** The norm of all elements of several tensors, as `torch.nn.utils.get_total_norm`; 0 if there are no tensors. */
export function getTotalNorm(...given: Arguments<Tensors, TotalNormOptions, typeof TOTAL>): Tensor {
  const options = argumentsOf<Tensors, TotalNormOptions>("getTotalNorm", TOTAL, given);
  const { normType = 2, errorIfNonfinite = false } = options;
  const norms = checkedTensors(options.tensors, "getTotalNorm").map((each) => vectorNorm(each, normType));
  const [first] = norms;
  if (!first) return tensor(0, { dtype: getDefaultDtype() });
  const total = vectorNorm(stack(norms.map((norm) => norm.to(first.device))), normType);
  if (errorIfNonfinite && !Number.isFinite(Number(total.item()))) {
    throw new DynError(`Expected a finite total norm of order ${normType} but found ${total.item()}`);
  }
  return total;
}

interface Clipped {
  readonly parameters: Tensor | Iterable<Tensor>;
  readonly maxNorm: number;
}

const NORM = {
  required: ["parameters", "maxNorm"],
  positional: NORM_OPTIONS,
  flags: { errorIfNonfinite: true, foreach: true },
} as const;

/**
 * Scales gradients in place so that their total norm is at most `maxNorm`, and returns the norm before, as
 * `torch.nn.utils.clip_grad_norm_`. If parameters are divided over processes, all processes must call it, and the norm
 * is that of the whole gradients.
 */
export function clipGradNorm_(...given: Arguments<Clipped, TotalNormOptions, typeof NORM>): Tensor {
  const options = argumentsOf<Clipped, TotalNormOptions>("clipGradNorm_", NORM, given);
  const { parameters, maxNorm, normType = 2, errorIfNonfinite = false } = options;
  const all = checkedTensors(parameters, "gradients"), gradients = gradientsOf(all);
  return noGrad(() => {
    const total = normOfParts(all, normType, errorIfNonfinite) ??
      getTotalNorm(gradients, normType, errorIfNonfinite);
    scale(gradients, maxNorm, total);
    return total;
  });
}

function scale(gradients: readonly Tensor[], maxNorm: number, total: Tensor): void {
  // As in PyTorch, 1e-6 keeps zero gradients zero
  const factor = total.add(1e-6).reciprocal().mul(maxNorm).clamp({ max: 1 });
  for (const gradient of gradients) gradient.mul_(factor.to(gradient.device));
}

/**
 * Scales gradients in place so that a given total norm becomes at most `maxNorm`, as
 * `torch.nn.utils.clip_grads_with_norm_`.
 */
export function clipGradsWithNorm_(
  parameters: Tensor | Iterable<Tensor>,
  maxNorm: number,
  totalNorm: Tensor,
  options: LimitedOptions = {},
): void {
  if (arguments.length > 4) refuseSurplus("clipGradsWithNorm_", 4, arguments);
  optionsOf("clipGradsWithNorm_", options, ["foreach"]);
  checkTensor(totalNorm, "clipGradsWithNorm_");
  noGrad(() => scale(gradientsOf(parameters), maxNorm, totalNorm));
}

/**
 * The norm of the gradients of divided parameters over all processes; null if there are none. Gradients that every
 * process has whole count once.
 */
function normOfParts(
  parameters: readonly Tensor[],
  normType: number,
  errorIfNonfinite: boolean,
): Tensor | null {
  if (!noted.any) return null;
  const divisions = new Set(parameters.map(divisionOf));
  if (divisions.size === (divisions.has(null) ? 1 : 0)) return null;
  const norms = [...divisions].map((division) => {
    const own = getTotalNorm(
      gradientsOf(parameters.filter((each) => divisionOf(each) === division)),
      normType,
    );
    return division ? division.normOfAll(own, normType) : own;
  });
  return getTotalNorm(norms, normType, errorIfNonfinite);
}

interface Limited {
  readonly parameters: Tensor | Iterable<Tensor>;
  readonly clipValue: number;
}

interface LimitedOptions {
  /** Implementation choice of PyTorch; accepted without effect. */
  readonly foreach?: boolean | null;
}

const VALUE = {
  required: ["parameters", "clipValue"],
  positional: ["foreach"],
  flags: { foreach: true },
} as const;

/** Limits each element of each gradient to [−clipValue, clipValue] in place, as `torch.nn.utils.clip_grad_value_`. */
export function clipGradValue_(...given: Arguments<Limited, LimitedOptions, typeof VALUE>): void {
  const options = argumentsOf<Limited, LimitedOptions>("clipGradValue_", VALUE, given);
  const { parameters, clipValue } = options;
  noGrad(() => {
    for (const gradient of gradientsOf(parameters)) gradient.clamp_({ min: -clipValue, max: clipValue });
  });
}

function gradientsOf(parameters: Tensor | Iterable<Tensor>): Tensor[] {
  const found: Tensor[] = [];
  for (const parameter of checkedTensors(parameters, "gradients")) {
    if (parameter.grad) found.push(parameter.grad);
  }
  return found;
}
