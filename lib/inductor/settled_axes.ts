/**
 * The inner axes of groups with sums of floats, whose order settled_sums.ts decides. Invariant: a loop that adds floats
 * is over a settled axis, as a whole: one over a part of it would add partial sums.
 */
import { isFloat } from "../base/dtype.ts";
import type { Axis } from "../loops/ir.ts";
import { coefficientOf } from "../loops/nest.ts";
import { type Dim, mul } from "../sym/expr.ts";
import { hintOf } from "../sym/decide.ts";
import { joinAxes, replaceIn, type Replacement } from "./axes.ts";
import type { Computation, Lanes } from "./computation.ts";

/** A computation, with its own axes in terms of the loops'. */
interface Member {
  readonly computation: Computation;
  readonly replacement: Replacement;
}

/** Returns whether the order of elements changes the bits of a member's result. */
export function addsFloats({ computation: { work } }: Pick<Member, "computation">): boolean {
  return work.kind === "reduction" && (work.op === "sum" || work.op === "prod") && isFloat(work.accumulator);
}

/** The lanes that the order of sums needs; undefined if there are none whose order is settled. */
export function settledLanes(members: readonly Member[]): Lanes | undefined {
  return members.find(addsFloats)?.computation.lanes;
}

/**
 * The inner axes as sums of floats need them, as many for each settled axis as it was cut into; undefined if sums need
 * them differently.
 */
export function settledRuns(
  { members, inner }: { readonly members: readonly Member[]; readonly inner: readonly Axis[] },
): readonly (readonly Axis[])[] | undefined {
  const lanes = settledLanes(members);
  let found: readonly (readonly Axis[])[] | undefined;
  for (const { computation, replacement } of members.filter(addsFloats)) {
    if (computation.lanes !== lanes) return undefined;
    const runs: (readonly Axis[])[] = [];
    for (const axis of computation.inner) {
      const run = partsOf(axis, inner, replacement);
      if (!run) return undefined;
      runs.push(run);
    }
    if (runs.flat().length !== inner.length || found && !areAlike(runs, found)) return undefined;
    found = runs;
  }
  return found;
}

/** The axes that an axis was cut into, from the outermost. */
function partsOf(axis: Axis, inner: readonly Axis[], replacement: Replacement): readonly Axis[] | undefined {
  const index = replaceIn(axis.symbol, replacement), steps = new Map<Axis, Dim>();
  for (const each of inner) {
    const step = coefficientOf(index, each.symbol);
    if (step === undefined) return undefined;
    if (step !== 0) steps.set(each, step);
  }
  const parts = [...steps.keys()].sort((p, q) => hintOf(steps.get(p) ?? 0) - hintOf(steps.get(q) ?? 0));
  let reach: Dim = 1;
  for (const part of parts) {
    if (steps.get(part) !== reach) return undefined;
    reach = mul(reach, part.size);
  }
  return reach === axis.size ? parts.reverse() : undefined;
}

const areAlike = (a: readonly (readonly Axis[])[], b: readonly (readonly Axis[])[]): boolean =>
  a.length === b.length &&
  a.every((run, k) => run.length === b[k]?.length && run.every((x, d) => x === b[k]?.[d]));

/** One axis for each run, and the axes of the runs in terms of these. */
export function joinRuns(
  runs: readonly (readonly Axis[])[],
): { readonly axes: readonly Axis[]; readonly replacement: Replacement } {
  // No index keeps the axes of a run apart
  const joined = runs.map((run) => joinAxes(run, new Set()));
  return {
    axes: joined.flatMap(({ axes }) => axes),
    replacement: new Map(joined.flatMap(({ replacement }) => [...replacement])),
  };
}
