/**
 * How the invocations of a workgroup share grid points out: all take part in one, or several points run side by side,
 * each by an equal share of the invocations. Invariant: points that run side by side are all there, and do the same.
 */
import { type Dim, product } from "../sym/expr.ts";
import type { Loop, LoopKernel, Statement } from "../loops/ir.ts";
import type { Grid } from "./target.ts";

/** The invocations of a workgroup, and the points that they run. */
export type Workgroup = Pick<LoopKernel, "workgroup" | "points">;

/** The least and the most invocations that share a row where several are run side by side: a row is read as they lie. */
const SHARES = { least: 8, most: 32 } as const;
/** Iterations of a row for each of its invocations. */
const EACH = 4;

/** Returns the workgroup for rows, whose statements are `body`. */
export function workgroupOfRows(loops: readonly Loop[], body: readonly Statement[], grid: Grid): Workgroup {
  const lengths = sharedLengths(body), rows = product(loops.map(({ axis }) => axis.size));
  const { invocations } = grid;
  if (!lengths.every((size) => typeof size === "number")) return { workgroup: invocations };
  const longest = Math.max(1, ...lengths), wanted = 2 ** Math.ceil(Math.log2(longest / EACH));
  const share = Math.min(SHARES.most, Math.max(SHARES.least, wanted));
  if (typeof rows === "number" && wanted <= 2 * share && body.every(isInStep)) {
    const count = mostPoints(invocations / share, rows, busy(grid));
    if (count > 1) return { workgroup: count * share, points: { count, interleaved: false } };
  }
  return { workgroup: Math.min(invocations, Math.max(64, wanted)) };
}

/**
 * Returns the workgroup for results side by side, each of which is reduced by `body`: neighbouring invocations read what lies
 * side by side, and others reduce other parts of it. Undefined where there are enough results for an invocation each.
 */
export function workgroupOfColumns(
  loops: readonly Loop[],
  body: readonly Statement[],
  grid: Grid,
): Workgroup | undefined {
  const results = product(loops.map(({ axis }) => axis.size)), lengths = sharedLengths(body);
  if (typeof results !== "number" || results >= grid.groups * grid.invocations || !body.every(isInStep)) {
    return undefined;
  }
  if (lengths.length === 0 || !lengths.every((size) => typeof size === "number" && size >= SHARES.most)) {
    return undefined;
  }
  // Few where there would be few workgroups
  const count = Math.max(mostPoints(SHARES.most, results, busy(grid)), mostPoints(SHARES.least, results, 0));
  return { workgroup: grid.invocations, points: { count, interleaved: true } };
}

/** Workgroups that each have something to do on a large device. */
const busy = ({ groups }: Grid): number => groups / 8;

/** The most points, a power of two, that divide all and leave so many workgroups. */
function mostPoints(most: number, all: number, workgroups: number): number {
  let count = most;
  while (count > 1 && (all % count !== 0 || all / count < workgroups)) count /= 2;
  return count;
}

/** Returns whether all points meet at the same barriers: no loop depends on them, and none is masked. */
function isInStep(s: Statement): boolean {
  if (s.kind === "loop") return s.order !== "sequential" && s.carried.length === 0;
  return s.kind !== "masked" || s.body.every((each) => each.kind !== "loop");
}

/** Lengths of the loops that a workgroup shares. */
export function sharedLengths(body: readonly Statement[]): readonly Dim[] {
  return body.flatMap((s) => {
    if (s.kind === "loop" && s.order !== "sequential") return [s.axis.size];
    return s.kind === "loop" || s.kind === "masked" ? sharedLengths(s.body) : [];
  });
}
