/**
 * Matrix products and convolutions over batches of some or all operands. Invariant: a batch of one operand alone
 * becomes rows or samples, one of both a batch of matrices or groups of channels.
 */
import { type Dim, mul } from "../../sym/expr.ts";
import { convolutions } from "../nn/convolution.ts";
import type { TensorLike } from "../definition.ts";
import { matrix } from "../linalg/matrix.ts";
import type { Params } from "../params.ts";
import { type BatchCall, over, type RuleOf } from "./call.ts";

/** Merges the batch and the first dimension. */
function folded<P extends Params, T extends TensorLike>(call: BatchCall<P, T>, x: T): T {
  const [first = 1, ...rest] = call.shapeOf(x);
  return call.o.reshape(call.front(x), [mul(call.size, first), ...rest]);
}

/** Splits the batch and the first dimension again. */
function unfolded<P extends Params, T extends TensorLike>(call: BatchCall<P, T>, x: T): T {
  return call.o.reshape(x, call.sizes(call.out[0]?.shape ?? []));
}

/** Samples whose channels are those of all elements of the batch. */
function inChannels<P extends Params, T extends TensorLike>(call: BatchCall<P, T>, x: T): T {
  const [samples = 1, channels = 1, ...spatial] = call.shapeOf(x);
  const moved = call.o.transpose(call.front(x), 0, 1);
  return call.o.reshape(moved, [samples, mul(call.size, channels), ...spatial]);
}

/** A result whose channels are those of all elements of the batch, with the batch first. */
function fromChannels<P extends Params, T extends TensorLike>(call: BatchCall<P, T>, x: T): T {
  const [samples = 1, channels = 1, ...spatial] = call.out[0]?.shape ?? [];
  return call.o.transpose(call.o.reshape(x, [samples, call.size, channels, ...spatial]), 0, 1);
}

/** Sizes of samples whose channels are those of all elements of the batch. */
function channelSizes<P extends Params, T extends TensorLike>(
  call: BatchCall<P, T>,
  [samples = 1, channels = 1, ...spatial]: readonly Dim[],
): readonly Dim[] {
  return [samples, mul(call.size, channels), ...spatial];
}

/** Returns the number of groups when each element of the batch has its own; null when the batch size is not known. */
function groupsOf<P extends Params, T extends TensorLike>(
  call: BatchCall<P, T>,
  groups: number,
): number | null {
  return typeof call.size === "number" ? groups * call.size : null;
}

export const matrixRules: readonly RuleOf[] = [
  over(matrix.mm, {
    apply: (call) => {
      const { self, mat2 } = call.args, { o } = call;
      if (!call.isBatched(mat2)) return unfolded(call, o.mm(folded(call, self), mat2));
      return o.bmm(call.front(self), mat2);
    },
  }),
  over(matrix.bmm, {
    apply: (call) => {
      const { self, mat2 } = call.args;
      return unfolded(call, call.o.bmm(folded(call, self), folded(call, mat2)));
    },
  }),
  over(convolutions.convolution, {
    apply: (call) => {
      const { input, weight, bias, stride, padding, dilation, groups } = call.args, { o } = call;
      const geometry = [stride, padding, dilation] as const;
      if (!call.isBatched(weight) && !(bias && call.isBatched(bias))) {
        return unfolded(call, o.convolution(folded(call, input), weight, bias, ...geometry, groups));
      }
      const own = groupsOf(call, groups);
      if (own === null) return null;
      const filters = folded(call, weight), shifts = bias && folded(call, bias);
      return fromChannels(call, o.convolution(inChannels(call, input), filters, shifts, ...geometry, own));
    },
  }),
  over(convolutions.convolutionBackwardInput, {
    apply: (call) => {
      const { grad, weight, inputSizes, stride, padding, dilation, groups } = call.args, { o } = call;
      const geometry = [stride, padding, dilation] as const;
      if (!call.isBatched(weight)) {
        const [samples = 1, ...rest] = inputSizes, sizes = [mul(call.size, samples), ...rest];
        const found = o.convolutionBackwardInput(folded(call, grad), weight, sizes, ...geometry, groups);
        return unfolded(call, found);
      }
      const own = groupsOf(call, groups), sizes = channelSizes(call, inputSizes);
      if (own === null) return null;
      const along = inChannels(call, grad), filters = folded(call, weight);
      return fromChannels(call, o.convolutionBackwardInput(along, filters, sizes, ...geometry, own));
    },
  }),
  over(convolutions.convolutionBackwardWeight, {
    apply: (call) => {
      const { grad, input, weightSizes, stride, padding, dilation, groups } = call.args, { o } = call;
      const own = groupsOf(call, groups), [features = 1, ...rest] = weightSizes;
      if (own === null) return null;
      const along = inChannels(call, grad), from = inChannels(call, input);
      const sizes = [mul(call.size, features), ...rest];
      return unfolded(
        call,
        o.convolutionBackwardWeight(along, from, sizes, stride, padding, dilation, own),
      );
    },
  }),
];
