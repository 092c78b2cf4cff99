/**
 * Batch norms that are folded into the layer before them, as `torch.nn.utils.fusion`. Input: two layers in evaluation mode;
 * output: one new layer that gives what both give. Invariant: neither is changed.
 */
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

/** A convolution that does what `conv` and then `bn` do in evaluation mode, as `torch.nn.utils.fuse_conv_bn_eval`. */
export function fuseConvBnEval<C extends Convolution>(conv: C, bn: BatchNorm): C {
  const { weight, groups } = conv,
    [first = 1, second = 1] = weight.shape,
    behind = weight.shape.slice(2).map(() => 1);
  if (!isTransposed(conv)) return fused(conv, bn, (factor) => factor.reshape([first, 1, ...behind]));
  // Channels of results are in the second dimension, those of one group for each of its inputs
  return fused(conv, bn, (factor) => {
    const ofGroups = factor.reshape([groups, 1, second]).expand([groups, first / groups, second]);
    return ofGroups.reshape([first, second, ...behind]);
  });
}

/** A linear layer that does what `linear` and then `bn` do in evaluation mode, as `torch.nn.utils.fuse_linear_bn_eval`. */
export function fuseLinearBnEval(linear: Linear, bn: BatchNorm): Linear {
  return fused(linear, bn, (factor) => factor.unsqueeze(-1));
}

const isTransposed = (conv: Convolution): boolean =>
  [ConvTranspose1d, ConvTranspose2d, ConvTranspose3d].some((layer) => conv instanceof layer);

/** The layer with weights scaled by `shaped` factors of the channels, and with a bias. */
function fused<L extends Convolution | Linear>(
  layer: L,
  bn: BatchNorm,
  shaped: (factor: Tensor) => Tensor,
): L {
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
    const deviation = runningVar.add(eps).rsqrt(), factor = bn.weight ? deviation.mul(bn.weight) : deviation;
    const bias = (layer.bias ?? zerosLike(runningMean)).sub(runningMean).mul(factor);
    made.weight = new Parameter(weight.mul(shaped(factor)), weight.requiresGrad);
    made.bias = new Parameter(
      bn.bias ? bias.add(bn.bias) : bias,
      layer.bias?.requiresGrad ?? weight.requiresGrad,
    );
  });
  return made;
}
