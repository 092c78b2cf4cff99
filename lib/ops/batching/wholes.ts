/**
 * Compositions that are differentiated as a whole, over batches. Each becomes the same composition over the batch, so
 * that its gradient is still that of the whole. Invariant: calls that cannot be expressed as one such call are left
 * to their parts.
 */
import type { TensorLike } from "../definition.ts";
import { matrix } from "../linalg/matrix.ts";
import { normalizations } from "../nn/normalization.ts";
import type { ArgsOf, Params } from "../params.ts";
import { reducedDims } from "../shapes.ts";
import { softmaxes } from "../reductions/softmax.ts";
import { statistics } from "../reductions/statistics.ts";
import { type BatchCall, over, type RuleOf } from "./call.ts";

/** A statistic over dimensions of one element. */
function statistic<P extends Params, T extends TensorLike>(
  call: BatchCall<P, T>,
  args: ArgsOf<Params, T> & {
    readonly self: T;
    readonly dim: number | readonly number[] | null;
    readonly keepdim: boolean;
  },
): readonly T[] {
  const { self, dim, keepdim } = args, rank = call.rankOf(self);
  const dims = rank === 0 ? [1] : reducedDims(dim, rank).map((d) => d + 1);
  return call.shapedRun({ ...args, self: call.raised(self), dim: dims, keepdim: rank > 0 && keepdim });
}

export const wholeRules: readonly RuleOf[] = [
  ...[softmaxes.softmax, softmaxes.safeSoftmax, softmaxes.logSoftmax].map((definition) =>
    over(definition, {
      apply: (call) => {
        const { self, dim, dtype } = call.args;
        return call.shapedRun({ self: call.raised(self), dim: call.axis(dim, self), dtype });
      },
    })
  ),
  over(statistics.logsumexp, { apply: (call) => statistic(call, call.args) }),
  over(statistics.norm0, { apply: (call) => statistic(call, call.args) }),
  over(statistics.norm2, { apply: (call) => statistic(call, call.args) }),
  over(statistics.normP, { apply: (call) => statistic(call, call.args) }),
  over(matrix.linear, {
    apply: (call) => {
      const { input, weight, bias } = call.args, { o } = call;
      if (!call.isBatched(weight) && !(bias && call.isBatched(bias))) {
        return call.shapedRun({ input: call.front(input), weight, bias });
      }
      // A matrix for each element of the batch
      const rows = call.rankOf(input) === 1 ? o.unsqueeze(call.front(input), 1) : call.front(input);
      const [first = 1, ...rest] = rows.shape, width = rest.at(-1) ?? 1;
      const product = o.bmm(o.reshape(rows, [first, -1, width]), o.transpose(call.front(weight), 1, 2));
      const shaped = o.reshape(product, call.sizes(call.out[0]?.shape ?? []));
      return bias ? o.add(shaped, call.widened(bias, call.out[0]?.shape.length ?? 1)) : shaped;
    },
  }),
  over(normalizations.layerNorm, {
    apply: (call) => {
      const { self, normalizedShape, weight, bias, eps } = call.args, { o } = call, input = call.front(self);
      const isShared = [weight, bias].every((x) => x === null || !call.isBatched(x));
      if (isShared) return call.run({ self: input, normalizedShape, weight, bias, eps });
      const [normal = input] = call.run({ self: input, normalizedShape, weight: null, bias: null, eps });
      const rank = call.rankOf(self), scaled = weight ? o.mul(normal, call.widened(weight, rank)) : normal;
      return bias ? o.add(scaled, call.widened(bias, rank)) : scaled;
    },
  }),
];
