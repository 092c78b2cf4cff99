/**
 * Reductions over batches. Invariant: the batch is never reduced.
 */
import type { TensorLike } from "../definition.ts";
import { type Dim, product } from "../../sym/expr.ts";
import { reducedDims } from "../shapes.ts";
import { overNone, reductions } from "../reductions/reductions.ts";
import { type BatchCall, over, type RuleOf } from "./call.ts";
import type { ArgsOf, Params } from "../params.ts";

/** The arguments that reductions over several dimensions share. */
interface Reduction<T> {
  readonly self: T;
  readonly dim: number | readonly number[] | null;
  readonly keepdim: boolean;
}

/** Makes a reduction over the dimensions of one element. */
function reduced<P extends Params, T extends TensorLike>(
  call: BatchCall<P, T>,
  { self, dim, keepdim }: Reduction<T>,
  others: ArgsOf<Params, T> = {},
): readonly T[] {
  const rank = call.rankOf(self), raised = call.raised(self);
  // A 0-d tensor gets a dimension to reduce over, which the result lacks
  const dims = rank === 0 ? [1] : reducedDims(dim, rank).map((d) => d + 1);
  return call.shapedRun({ ...others, self: raised, dim: dims, keepdim: rank > 0 && keepdim });
}

/** Makes a reduction over one dimension, or over the flattened elements. */
function reducedOne<P extends Params, T extends TensorLike>(
  call: BatchCall<P, T>,
  { self, dim, keepdim }: { readonly self: T; readonly dim: number | null; readonly keepdim: boolean },
  others: ArgsOf<Params, T> = {},
): readonly T[] {
  const rank = call.rankOf(self), raised = call.raised(self);
  const rows = dim === null ? call.o.reshape(raised, call.sizes([elementsOf(call.shapeOf(self))])) : raised;
  const axis = dim === null || rank === 0 ? 1 : call.axis(dim, self);
  return call.shapedRun({ ...others, self: rows, dim: axis, keepdim: dim !== null && rank > 0 && keepdim });
}

/** Returns the number of elements of a shape. */
const elementsOf = (shape: readonly Dim[]): Dim => product(shape);

export const reductionRules: readonly RuleOf[] = [
  over(reductions.sum, { apply: (call) => reduced(call, call.args, { dtype: call.args.dtype }) }),
  over(reductions.amax, { apply: (call) => reduced(call, call.args) }),
  over(reductions.amin, { apply: (call) => reduced(call, call.args) }),
  ...[reductions.any, reductions.all].map((truth) =>
    over(truth, {
      apply: (call) =>
        overNone(call.args.dim)
          ? call.shapedRun({ ...call.args, self: call.raised(call.args.self) })
          : reduced(call, call.args),
    })
  ),
  over(reductions.prod, { apply: (call) => reducedOne(call, call.args, { dtype: call.args.dtype }) }),
  over(reductions.argmax, { apply: (call) => reducedOne(call, call.args) }),
  over(reductions.argmin, { apply: (call) => reducedOne(call, call.args) }),
];
