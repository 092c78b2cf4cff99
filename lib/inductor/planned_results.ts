/**
 * The results of ops that compute their elements. Invariant: pointwise results stay formulas; folds, scans and scatters
 * are jobs that write memory.
 */
import { InternalError } from "../base/errors.ts";
import type { TensorMeta } from "../graph/meta.ts";
import type { Node } from "../graph/node.ts";
import type { Lowered, Operand } from "../loops/body.ts";
import type { BufferOperand } from "../loops/record.ts";
import type { Dim } from "../sym/expr.ts";
import { denseStrides, linearView } from "./layouts.ts";
import { scatterAsChoice } from "./scatter_choice.ts";
import { type ReductionWork, settledSum } from "./settled_sums.ts";
import { type Label, storedForm } from "./tensors.ts";
import { isEmpty, type WorkPlan } from "./work_plan.ts";

/** The call that results belong to. */
export interface ResultOrigin {
  readonly node: Node;
  readonly label: Label;
  /** The tensor of which they are a view. */
  readonly viewOf: Operand | undefined;
  /** Returns an argument's strides in eager execution. */
  readonly layoutOf: (argument: Operand) => readonly Dim[] | undefined;
}

/** Returns one result of an op that computes its elements, and plans the work that its elements need. */
export function planResult(
  plan: WorkPlan,
  lowered: Lowered,
  { meta, label, viewOf, layoutOf }: ResultOrigin & { readonly meta: TensorMeta | undefined },
): Operand {
  if (lowered.kind === "extern") {
    throw new InternalError(`Expected library calls of ${label.target} to come alone`);
  }
  const { shape, dtype } = lowered;
  if (isEmpty(lowered)) return plan.nothing(lowered, label);
  if (lowered.kind === "pointwise") {
    const { element } = lowered;
    const base = viewOf && storedForm(viewOf);
    const strided = base && linearView(element, { shape, dtype });
    if (strided) return strided;
    return plan.lazy(element, {
      shape,
      dtype,
      label,
      viewOf,
      strides: denseStrides(shape, meta?.strides),
    });
  }
  switch (lowered.kind) {
    case "reduction": {
      const target = plan.fresh(shape, dtype, meta?.strides);
      const work: ReductionWork = {
        kind: "reduction",
        op: lowered.op,
        accumulator: lowered.accumulator,
        element: lowered.element,
        ...(lowered.position ? { position: lowered.position } : {}),
      };
      const sum = settledSum({ work, target, over: lowered.over, label }, layoutOf);
      if (sum === undefined) plan.job(work, target, { over: lowered.over, label });
      else {
        for (const operand of sum.stored) plan.materialize(operand);
        plan.job(sum.work, target, { over: sum.over, lanes: sum.lanes, label });
      }
      return target;
    }
    case "scan": {
      const target = plan.fresh(shape, dtype, meta?.strides);
      const { dim, element, initial, combine } = lowered;
      const size = shape[dim] ?? 1;
      const without = <T>(list: readonly T[]) => list.filter((_, d) => d !== dim);
      // The scanned dimension goes last, as the inner loop
      const moved: BufferOperand = {
        ...target,
        shape: [...without(target.shape), size],
        strides: [...without(target.strides), target.strides[dim] ?? 0],
      };
      plan.job(
        {
          kind: "scan",
          initial,
          combine,
          element: (o, index, reduced) =>
            element(o, [...index.slice(0, dim), ...reduced, ...index.slice(dim)]),
        },
        moved,
        { sizes: without(shape), over: [size], label },
      );
      return target;
    }
    case "scatter": {
      const chosen = scatterAsChoice(lowered);
      if (chosen) {
        return plan.lazy(chosen, {
          shape,
          dtype,
          label,
          viewOf: undefined,
          strides: denseStrides(shape, meta?.strides),
        });
      }
      const target = plan.fresh(shape, dtype, meta?.strides);
      plan.job({ kind: "pointwise", element: lowered.base }, target, { over: [], label });
      plan.order += 0.5;
      plan.job(
        { kind: "scatter", mode: lowered.mode, target: lowered.target, value: lowered.value },
        target,
        { sizes: lowered.over, over: [], label },
      );
      plan.order -= 0.5;
      return target;
    }
    default:
      return lowered satisfies never;
  }
}
