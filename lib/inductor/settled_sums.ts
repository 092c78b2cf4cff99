/**
 * Settles the order in which sums and products of floats combine their terms, before anything is fused: the order of
 * the reduced loops and the axes that run in lanes. Invariant: the order follows from the op, the sizes and the layouts
 * of its operands in eager execution alone, so that compiled graphs add as eager calls do, whatever they fuse, and
 * wherever operands are recomputed instead of stored.
 */
import type { Operand } from "../loops/body.ts";
import { coefficientOf } from "../loops/nest.ts";
import { type BufferOperand, flatIndex, type Loader } from "../loops/record.ts";
import type { Dim } from "../sym/expr.ts";
import { type Computation, type Lanes, makeComputation, type Work } from "./computation.ts";
import { groupOf } from "./group.ts";
import { addsFloats } from "./settled_axes.ts";
import { isLazy, type Label, type LazyTensor, makeLoader } from "./tensors.ts";
import { orderIn, tracedOrder } from "./traced_order.ts";

export type ReductionWork = Work & { kind: "reduction" };

/** A reduction before its order is settled. */
interface Reduction {
  readonly work: ReductionWork;
  readonly target: BufferOperand;
  readonly over: readonly Dim[];
  readonly label: Label;
}

/** A sum whose reduced axes are its loops, from the outermost. */
interface SettledSum {
  readonly work: ReductionWork;
  readonly over: readonly Dim[];
  readonly lanes: Lanes;
  /** Operands that must be in memory, because their formulas could not be computed in lanes in this order. */
  readonly stored: readonly LazyTensor[];
}

/**
 * Settles the order of a sum, given the strides that its operands have in eager execution; undefined for reductions
 * whose order does not matter.
 */
export function settledSum(
  { work, target, over, label }: Reduction,
  layoutOf: (operand: Operand) => readonly Dim[] | undefined,
): SettledSum | undefined {
  const operands: Operand[] = [], inline = makeLoader();
  // As if each operand were a tensor in memory
  const loader: Loader = (recorder, operand, index) => {
    const strides = layoutOf(operand);
    if (strides === undefined) return inline(recorder, operand, index);
    if (!operands.includes(operand)) operands.push(operand);
    const buffer = -1 - operands.indexOf(operand);
    return recorder.loadBuffer(buffer, flatIndex({ strides, offset: 0 }, index), operand.dtype);
  };
  const common = { id: 0, order: 0, target, sizes: target.shape, label };
  const computation = makeComputation(work, { ...common, over, loader }), group = groupOf(computation);
  if (!group.members.some(addsFloats)) return undefined;
  const order = tracedOrder(computation) ?? orderIn(group);
  if (!order) return undefined;
  const ordered: ReductionWork = {
    ...work,
    element: (o, index, reduced) => work.element(o, index, order.whole(reduced)),
  };
  const found = makeComputation(ordered, { ...common, over: order.over }), { lanes } = order;
  const stored = lanes === "outer" || readsLinearly(found) ? [] : operands.filter(isLazy);
  return { work: ordered, over: order.over, lanes, stored };
}

/** Returns whether reads move at a constant stride along the innermost loop. */
function readsLinearly({ inner, reads }: Computation): boolean {
  const lane = inner.at(-1);
  return reads.every(({ index }) =>
    !lane || index === undefined || coefficientOf(index, lane.symbol) !== undefined
  );
}
