/**
 * How the invocations of a workgroup divide grid points: all work on one point, or several points run side by side,
 * each on an equal share of the invocations. Invariant: points that run side by side all exist, and follow the same
 * control flow.
 */
import { type Dim, product } from "../sym/expr.ts";
import type { Loop, LoopKernel, Statement } from "../loops/ir.ts";
import { isShareable, scansOf } from "../loops/scans.ts";
import type { Grid } from "./target.ts";

/** The invocations of a workgroup, and the points that they run. */
export type Workgroup = Pick<LoopKernel, "workgroup" | "points">;

/**
 * Minimum and maximum number of invocations that share a row if several rows run side by side, so that reads of a row
 * stay adjacent.
 */
const SHARES = { least: 8, most: 32 } as const;
/** Iterations of a row per invocation; one in scans, where each iteration takes several barriers. */
const EACH = 4;

/** Returns the workgroup for rows that compute `body`. */
export function workgroupOfRows(loops: readonly Loop[], body: readonly Statement[], grid: Grid): Workgroup {
  const lengths = sharedLengths(body), rows = product(loops.map(({ axis }) => axis.size));
  const { invocations } = grid;
  if (!lengths.every((size) => typeof size === "number")) return { workgroup: invocations };
  const each = body.some((s) => s.kind === "loop" && scansOf(s)) ? 1 : EACH;
  const longest = Math.max(1, ...lengths), wanted = 2 ** Math.ceil(Math.log2(longest / each));
  const share = Math.min(SHARES.most, Math.max(SHARES.least, wanted));
  if (typeof rows === "number" && wanted <= 2 * share && body.every(isInStep)) {
    const count = mostPoints(invocations / share, rows, busy(grid));
    if (count > 1) return { workgroup: count * share, points: { count, interleaved: false } };
  }
  return { workgroup: Math.min(invocations, Math.max(64, wanted)) };
}

/**
 * Returns the workgroup for adjacent results, each of which `body` reduces: neighbouring invocations read adjacent
 * elements, others reduce other parts of the same results. Undefined if there are enough results for an invocation
 * each.
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
  // Few points, so that there are enough workgroups
  const count = Math.max(mostPoints(SHARES.most, results, busy(grid)), mostPoints(SHARES.least, results, 0));
  return { workgroup: grid.invocations, points: { count, interleaved: true } };
}

/** Number of workgroups that keeps a large device busy. */
const busy = ({ groups }: Grid): number => groups / 8;

/** The largest power of two of points that divides them all and leaves this many workgroups. */
function mostPoints(most: number, all: number, workgroups: number): number {
  let count = most;
  while (count > 1 && (all % count !== 0 || all / count < workgroups)) count /= 2;
  return count;
}

/** Returns whether all points reach the same barriers: no loop's length depends on them, and none is masked. */
function isInStep(s: Statement): boolean {
  if (s.kind === "loop") return s.share === "team" || (s.order !== "sequential" && s.carried.length === 0);
  return s.kind !== "masked" || s.body.every((each) => each.kind !== "loop");
}

/** Lengths of the loops that a workgroup shares. */
export function sharedLengths(body: readonly Statement[]): readonly Dim[] {
  return body.flatMap((s) => {
    if (s.kind === "loop" && isShareable(s)) return [s.axis.size];
    return s.kind === "loop" || s.kind === "masked" ? sharedLengths(s.body) : [];
  });
}
