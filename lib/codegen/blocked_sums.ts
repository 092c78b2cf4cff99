/**
 * Cuts long sums and products of floats into blocks: a loop that adds up many elements becomes loops over blocks of
 * them, so that few terms are added to one accumulator and the error stays that of a few hundred additions, and so
 * that threads can divide the blocks. Invariant: the cuts follow from the sizes of the loops of the sum alone, so that
 * every printer that runs this pass adds in the same order, whatever else a kernel computes.
 */
import { isFloat } from "../base/dtype.ts";
import { hintOf } from "../sym/decide.ts";
import { type Dim, floorDiv, mul } from "../sym/expr.ts";
import {
  isPosition,
  type Loop,
  type Program,
  type Reduction,
  type Statement,
  type ValueId,
} from "../loops/ir.ts";
import { mapStatements } from "../loops/map_statements.ts";
import { loopOver } from "../loops/nest.ts";
import { allOf } from "../loops/uses.ts";
import { nextId } from "../loops/value_types.ts";
import { isFixed, stripMine } from "./strip_mining.ts";

/** Number of elements that are added without further loops: 256 in each of 16 lanes. */
const LONG = 4096;
/** Elements of a block of a longer sum. */
const BLOCK = 1024;
/** Number of blocks in a group, whose sums are added without further loops; likewise for groups of groups. */
const GROUP = 32;
/** Number of groups that are added directly; threads divide them. */
const MANY = 1024;

/** Elements of a part of a sum over several dimensions, which threads divide. */
export const CHUNK = GROUP * BLOCK;

/** Sums between two of these lengths are cut alike. */
const CUT_LENGTHS: readonly number[] = [
  LONG,
  GROUP * BLOCK,
  ...[1, 2, 3].map((groups) => MANY * GROUP ** groups * BLOCK),
];

/** The statements with long sums cut. */
export function blockedSums(body: readonly Statement[]): readonly Statement[] {
  let next = nextId(body);
  const fresh = () => next++;
  return mapStatements(body, (s) => {
    if (s.kind !== "loop" || !addsFloats(s)) return s;
    if (lengthOf(s.axis.size) > LONG) return inBlocks(s, fresh);
    const part = partOf(s);
    return part === undefined ? s : split(s, [part], fresh);
  });
}

/** A size that decides where this pass cuts, and the largest value for which it cuts as for smaller ones. */
interface CutLimit {
  readonly size: Dim;
  readonly limit: number;
}

/** The limits that a program for several sizes has to keep apart. */
export function cutLimits({ kernels }: Pick<Program, "kernels">): CutLimit[] {
  const lengths = new Set<Dim>(), totals = new Set<Dim>();
  for (const s of allOf(kernels.flatMap((kernel) => kernel.kind === "loops" ? kernel.body : []))) {
    if (s.kind !== "loop" || s.order !== "reduction" || lengthOf(s.axis.size) === 0) continue;
    lengths.add(s.axis.size);
    const within = elementsIn(s);
    if (within !== 1) totals.add(mul(s.axis.size, within));
  }
  const symbolic = (sizes: ReadonlySet<Dim>) => [...sizes].filter((size) => typeof size !== "number");
  return [
    ...symbolic(lengths).flatMap((size) => CUT_LENGTHS.map((limit) => ({ size, limit }))),
    ...symbolic(totals).map((size) => ({ size, limit: CHUNK })),
  ];
}

/** Iterations of a part of a loop around loops that add, if together they are long. */
function partOf(loop: Loop): Dim | undefined {
  const within = elementsIn(loop), { size } = loop.axis;
  if (within === 1 || lengthOf(mul(size, within)) <= CHUNK || lengthOf(within) > CHUNK / 2) return undefined;
  return floorDiv(CHUNK, within);
}

/** Elements that one iteration of a loop adds up; 1 if their number varies. */
function elementsIn({ body }: Loop): Dim {
  const [inner, ...others] = body.filter((s) => s.kind === "loop" && s.order === "reduction");
  if (inner?.kind !== "loop" || others.length > 0 || !isFixed(inner.axis.size)) return 1;
  return mul(inner.axis.size, elementsIn(inner));
}

/** Returns the number of iterations of a loop in the traced call; 0 if it varies within a call. */
function lengthOf(size: Dim): number {
  if (typeof size === "number") return size;
  return isFixed(size) ? hintOf(size) : 0;
}

function addsFloats({ order, carried, reductions }: Loop): boolean {
  if (order !== "reduction" || carried.length > 0) return false;
  if (reductions.some((r) => isPosition(r.op))) return false;
  return reductions.some((r) => (r.op === "sum" || r.op === "prod") && isFloat(r.dtype));
}

/** A loop as loops over its blocks, and over groups of blocks if there are many. */
function inBlocks(loop: Loop, fresh: () => ValueId): Loop {
  const length = lengthOf(loop.axis.size), parts = [BLOCK];
  for (let part = BLOCK; length / part > (part === BLOCK ? GROUP : MANY);) parts.unshift(part *= GROUP);
  return split(loop, parts, fresh);
}

/** Nests loops over parts of decreasing length, and a loop over the elements of the smallest. */
function split(loop: Loop, [part, ...smaller]: readonly Dim[], fresh: () => ValueId): Loop {
  if (part === undefined) return loop;
  const { reductions } = loop, { axis, part: block } = stripMine(loop, part);
  const partial = reductions.map((r): Reduction => ({ ...r, id: fresh() }));
  return loopOver(axis, [split({ ...block, reductions: partial }, smaller, fresh)], {
    order: "reduction",
    reductions: reductions.map((r, k): Reduction => ({ ...r, value: partial[k]?.id ?? r.value })),
  });
}
