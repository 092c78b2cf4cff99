/**
 * Orders the inner axes of groups that search for the first of equal extremes: argmax and similar ops count positions
 * in this order. Invariant: another order would find another extreme.
 */
import { type Axis, isPosition } from "../loops/ir.ts";
import { coefficientOf } from "../loops/nest.ts";
import { add, type Dim, mul } from "../sym/expr.ts";
import { hintOf } from "../sym/decide.ts";
import { replaceIn, type Replacement, rowMajor } from "./axes.ts";
import type { Computation } from "./computation.ts";
import { settledLanes, settledRuns } from "./settled_axes.ts";

/** A computation, with its own axes in terms of the loops'. */
interface Member {
  readonly computation: Computation;
  readonly replacement: Replacement;
}

/** Returns whether a member's result depends on the order of elements. */
export function findsFirst({ computation: { work } }: Member): boolean {
  return work.kind === "reduction" && isPosition(work.op);
}

/** The inner axes in the order that members need, or unchanged if none needs one; undefined if the needs conflict. */
export function orderedInner(
  { members, inner }: { readonly members: readonly Member[]; readonly inner: readonly Axis[] },
): readonly Axis[] | undefined {
  if (settledLanes(members) !== undefined) return settledRuns({ members, inner })?.flat();
  let order = inner;
  const ordered = members.filter(findsFirst);
  for (const [k, member] of ordered.entries()) {
    const own = orderOf(member, inner);
    if (own === undefined || (k > 0 && own.some((axis, d) => axis !== order[d]))) return undefined;
    order = own;
  }
  return order;
}

/** Axes in the order in which one member counts positions. */
function orderOf({ computation, replacement }: Member, inner: readonly Axis[]): readonly Axis[] | undefined {
  const position = rowMajor(computation.inner).reduce<Dim>(
    (sum, { axis, stride }) => add(sum, mul(stride, replaceIn(axis.symbol, replacement))),
    0,
  );
  const steps = new Map<Axis, number>();
  for (const axis of inner) {
    const step = coefficientOf(position, axis.symbol);
    if (step === undefined) return undefined;
    steps.set(axis, hintOf(step));
  }
  return inner.toSorted((a, b) => (steps.get(b) ?? 0) - (steps.get(a) ?? 0));
}
