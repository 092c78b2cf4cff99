/**
 * Cuts long float32 sums into blocks: a loop that adds up many elements becomes loops over blocks of them, so that
 * few terms are added to one accumulator and the error stays that of a few hundred additions. Invariant: the cuts
 * follow from the sizes of the loop alone, so that every printer that runs this pass adds in the same order. Printers
 * that accumulate in float64 do not need it.
 */
import { hintOf } from "../sym/decide.ts";
import type { Dim } from "../sym/expr.ts";
import type { Loop, Program, Reduction, Statement, ValueId } from "../loops/ir.ts";
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

/** Sums between two of these lengths are cut alike. */
export const CUT_LENGTHS: readonly number[] = [
  LONG,
  GROUP * BLOCK,
  ...[1, 2, 3].map((groups) => MANY * GROUP ** groups * BLOCK),
];

/** The statements with long sums cut. */
export function blockedSums(body: readonly Statement[]): readonly Statement[] {
  let next = nextId(body);
  return mapStatements(body, (s) => s.kind === "loop" && isLongSum(s) ? inBlocks(s, () => next++) : s);
}

/**
 * The sizes on whose lengths this pass depends. A program that serves several sizes has to keep those longer than
 * `LONG` apart from the others.
 */
export function sumLengths({ kernels }: Pick<Program, "kernels">): Dim[] {
  const found = new Set<Dim>();
  for (const s of allOf(kernels.flatMap((kernel) => kernel.kind === "loops" ? kernel.body : []))) {
    if (s.kind === "loop" && s.order === "reduction" && lengthOf(s.axis.size) > 0) found.add(s.axis.size);
  }
  return [...found].filter((size) => typeof size !== "number");
}

/** Returns the number of iterations of a loop in the traced call; 0 if it varies within a call. */
function lengthOf(size: Dim): number {
  if (typeof size === "number") return size;
  return isFixed(size) ? hintOf(size) : 0;
}

function isLongSum({ order, carried, reductions, axis }: Loop): boolean {
  if (order !== "reduction" || carried.length > 0 || lengthOf(axis.size) <= LONG) return false;
  if (reductions.some((r) => r.op === "argmax" || r.op === "argmin")) return false;
  return reductions.some((r) => r.op === "sum" && r.dtype === "float32");
}

/** A loop as loops over its blocks, and over groups of blocks if there are many. */
function inBlocks(loop: Loop, fresh: () => ValueId): Loop {
  const length = lengthOf(loop.axis.size), parts = [BLOCK];
  for (let part = BLOCK; length / part > (part === BLOCK ? GROUP : MANY);) parts.unshift(part *= GROUP);
  return split(loop, parts, fresh);
}

/** Nests loops over parts of decreasing length, and a loop over the elements of the smallest. */
function split(loop: Loop, [part, ...smaller]: readonly number[], fresh: () => ValueId): Loop {
  if (part === undefined) return loop;
  const { reductions } = loop, { axis, part: block } = stripMine(loop, part);
  const partial = reductions.map((r): Reduction => ({ ...r, id: fresh() }));
  return loopOver(axis, [split({ ...block, reductions: partial }, smaller, fresh)], {
    order: "reduction",
    reductions: reductions.map((r, k): Reduction => ({ ...r, value: partial[k]?.id ?? r.value })),
  });
}
