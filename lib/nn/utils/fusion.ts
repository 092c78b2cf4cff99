/**
 * Folds batch norms into the preceding layer, like `torch.nn.utils.fusion`: a new layer computes the same as both in
 * evaluation mode. Invariant: the given layers are unchanged.
 */
import { checkFlag, refuseSurplus } from "../../base/checked_input.ts";
import { checkTensor } from "../../tensor/checked.ts";
import { checkModule } from "../module.ts";
import { DynError } from "../../base/errors.ts";
import { zerosLike } from "../../tensor/generated_functions.ts";
import { noGrad } from "../../tensor/modes.ts";
import type { Tensor } from "../../tensor/tensor.ts";
import { Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d } from "../conv.ts";
import { deepCopy } from "../deep_copy.ts";
import type { Linear } from "../linear.ts";
import type { BatchNorm1d, BatchNorm2d, BatchNorm3d } from "../normalization.ts";
import { Parameter } from "../parameter.ts";

/** A convolution. */
export type Convolution = Conv1d | Conv2d | Conv3d | ConvTranspose1d | ConvTranspose2d | ConvTranspose3d;

/** A batch norm. */
export type BatchNorm = BatchNorm1d | BatchNorm2d | BatchNorm3d;

/** A convolution equivalent to `conv` followed by `bn` in evaluation mode, as `torch.nn.utils.fuse_conv_bn_eval`. */
export function fuseConvBnEval<C extends Convolution>(conv: C, bn: BatchNorm): C {
  if (arguments.length > 2) refuseSurplus("fuseConvBnEval", 2, arguments);
  checkModule(conv, "fuseConvBnEval");
  const { weight, groups } = conv;
  if (!isTransposed(conv)) return fused(conv, bn, (factor) => ofOutputs(factor, weight));
  const [first = 1, second = 1] = weight.shape, behind = weight.shape.slice(2).map(() => 1);
  // The second dimension holds the output channels of one group, repeated for each of its inputs
  return fused(conv, bn, (factor) => {
    const ofGroups = factor.reshape([groups, 1, second]).expand([groups, first / groups, second]);
    return ofGroups.reshape([first, second, ...behind]);
  });
}

/**
 * A linear layer equivalent to `linear` followed by `bn` in evaluation mode, as `torch.nn.utils.fuse_linear_bn_eval`.
 */
export function fuseLinearBnEval(linear: Linear, bn: BatchNorm): Linear {
  if (arguments.length > 2) refuseSurplus("fuseLinearBnEval", 2, arguments);
  return fused(linear, bn, (factor) => factor.unsqueeze(-1));
}

/** The parameters and statistics of a batch norm in evaluation mode. */
export interface Running {
  readonly mean: Tensor;
  readonly variance: Tensor;
  readonly eps: number;
  /** Null for ones. */
  readonly weight: Tensor | null;
  /** Null for zeros. */
  readonly bias: Tensor | null;
}

/** Reshapes factors of outputs to broadcast along the first dimension of a weight. */
const ofOutputs = (factor: Tensor, weight: Tensor): Tensor =>
  factor.reshape([-1, ...weight.shape.slice(1).map(() => 1)]);

/** Folds a batch norm into a weight and a bias; `shaped` reshapes factors of outputs to broadcast with the weight. */
function folded(
  weight: Tensor,
  bias: Tensor | null,
  { running, shaped }: { readonly running: Running; readonly shaped: (factor: Tensor) => Tensor },
): [weight: Tensor, bias: Tensor] {
  for (const each of [weight, running.mean, running.variance]) checkTensor(each, "a fused layer");
  const deviation = running.variance.add(running.eps).rsqrt();
  const factor = running.weight ? deviation.mul(running.weight) : deviation;
  const moved = (bias ?? zerosLike(running.mean)).sub(running.mean).mul(factor);
  return [weight.mul(shaped(factor)), running.bias ? moved.add(running.bias) : moved];
}

function parametersOf(
  [weight, bias]: readonly [Tensor, Tensor],
  requiresGrad: readonly [boolean, boolean],
): [Parameter, Parameter] {
  return [new Parameter(weight.detach(), requiresGrad[0]), new Parameter(bias.detach(), requiresGrad[1])];
}

/**
 * The weight and bias of a convolution fused with the batch norm after it, like
 * `torch.nn.utils.fuse_conv_bn_weights`.
 */
export function fuseConvBnWeights(
  convW: Tensor,
  convB: Tensor | null,
  bnRm: Tensor,
  bnRv: Tensor,
  bnEps: number,
  bnW: Tensor | null,
  bnB: Tensor | null,
  transpose: boolean = false,
): [Parameter, Parameter] {
  if (arguments.length > 8) refuseSurplus("fuseConvBnWeights", 8, arguments);
  checkFlag("transpose of fuseConvBnWeights", transpose);
  const running = { mean: bnRm, variance: bnRv, eps: bnEps, weight: bnW, bias: bnB };
  const shaped = (factor: Tensor) =>
    transpose ? ofOutputs(factor, convW).transpose(0, 1) : ofOutputs(factor, convW);
  const made = noGrad(() => folded(convW, convB, { running, shaped }));
  return parametersOf(made, [convW.requiresGrad, convB?.requiresGrad ?? convW.requiresGrad]);
}

/** The same for a linear layer, as `torch.nn.utils.fuse_linear_bn_weights`. */
export function fuseLinearBnWeights(
  linearW: Tensor,
  linearB: Tensor | null,
  bnRm: Tensor,
  bnRv: Tensor,
  bnEps: number,
  bnW: Tensor | null,
  bnB: Tensor | null,
): [Parameter, Parameter] {
  if (arguments.length > 7) refuseSurplus("fuseLinearBnWeights", 7, arguments);
  return fuseConvBnWeights(linearW, linearB, bnRm, bnRv, bnEps, bnW, bnB);
}

const isTransposed = (conv: Convolution): boolean =>
  [ConvTranspose1d, ConvTranspose2d, ConvTranspose3d].some((layer) => conv instanceof layer);

/** Copies the layer with a batch norm folded into its weight and bias. */
function fused<L extends Convolution | Linear>(
  layer: L,
  bn: BatchNorm,
  shaped: (factor: Tensor) => Tensor,
): L {
  for (const each of [layer, bn]) checkModule(each, "a fused layer");
  const { runningMean, runningVar, eps } = bn, { weight } = layer;
  if (layer.training || bn.training) {
    throw new DynError(
      "Expected layers in evaluation mode to fuse but found one that trains; call eval() first",
    );
  }
  if (!runningMean || !runningVar) {
    throw new DynError("Expected a batch norm with running statistics to fuse but found none");
  }
  const channels = "outChannels" in layer ? layer.outChannels : layer.outFeatures;
  if (channels !== bn.numFeatures) {
    throw new DynError(`Expected a batch norm of ${channels} features to fuse but found ${bn.numFeatures}`);
  }
  const made = deepCopy(layer);
  noGrad(() => {
    const running = { mean: runningMean, variance: runningVar, eps, weight: bn.weight, bias: bn.bias };
    const parts = folded(weight, layer.bias ?? null, { running, shaped });
    [made.weight, made.bias] = parametersOf(parts, [
      weight.requiresGrad,
      layer.bias?.requiresGrad ?? weight.requiresGrad,
    ]);
  });
  return made;
}
