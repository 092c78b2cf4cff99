/**
 * Folds rows of floats four at a time. Each addition to a lane depends on the previous one, so with one row in flight,
 * a processor waits longer for additions than for memory. Invariant: a row is folded in the same order as by itself.
 */
import { isFloat } from "../../../lib/base/dtype.ts";
import type { Dim } from "../../../lib/sym/expr.ts";
import type { Fold, Loop, PlainOp, Statement } from "../../../lib/loops/ir.ts";
import { coefficientOf } from "../../../lib/loops/nest.ts";
import { LANES } from "../../../lib/loops/reductions.ts";
import { foldName, stepOfVectors } from "./reductions.ts";
import { MEMORY_TYPE } from "./types.ts";

/** Number of rows that are folded together. */
export const ROWS = 4;

/** Number of statements after a fold beyond which the fold is a small part of a row's work. */
const MOST_REST = 16;

/** A loop whose iterations fold a row each, and use the result. */
interface FoldedRows {
  readonly fold: Fold & { readonly op: PlainOp };
  /** Elements from one row to the next. */
  readonly step: Dim;
  readonly rest: readonly Statement[];
}

/** Returns what a loop folds if rows can be folded together; null otherwise. */
export function foldedRows({ body, axis, carried, folds, scalar }: Loop): FoldedRows | null {
  const [first, ...rest] = body;
  if (scalar || folds || carried.length > 0 || axis.size === 1 || rest.length > MOST_REST) return null;
  if (first?.kind !== "loop" || first.body.length > 0 || first.axis.size !== 1) return null;
  const [fold, ...others] = first.folds ?? [];
  if (!fold || others.length > 0 || first.reductions.length + first.carried.length > 0) return null;
  const { op, dtype } = fold, step = coefficientOf(fold.values.index, axis.symbol);
  // Folds whose result does not depend on the order already run in several groups of lanes
  if ((op !== "sum" && op !== "prod") || !isFloat(dtype)) return null;
  if (step === undefined || step === 0 || coefficientOf(fold.count, axis.symbol) !== 0) return null;
  if (rest.some(({ kind }) => kind === "loop")) return null;
  return { fold: { ...fold, op }, step, rest };
}

/** Returns the name of the function that folds rows, each into lanes of its own. */
export const foldRowsName = ({ op, dtype }: FoldedRows["fold"]): string =>
  `${foldName(op, dtype, dtype)}_rows`;

/** The text of that function. */
export function foldRowsText(fold: FoldedRows["fold"]): string {
  const { op, dtype } = fold, type = MEMORY_TYPE[dtype], step = stepOfVectors(op, dtype);
  return `OUTL void ${foldRowsName(fold)}(${type} (*lanes)[${LANES}], const ${type}* v, long step, long n) {
  long b = 0;
  enum { BYTES = ${LANES} * sizeof(${type}) < VECTOR_BYTES ? ${LANES} * sizeof(${type}) : VECTOR_BYTES, W = BYTES / sizeof(${type}) };
  enum { PARTS = ${LANES} / W, ALL = ${ROWS} * PARTS };
  typedef ${type} V __attribute__((vector_size(BYTES)));
  typedef ${type} VU __attribute__((vector_size(BYTES), aligned(sizeof(${type})), may_alias));
  V s[ALL];
  UNROLL for (int k = 0; k < ALL; k++) s[k] = *(const VU*) (lanes[k / PARTS] + k % PARTS * W);
  for (; b + ${LANES} <= n; b += ${LANES}) UNROLL for (int k = 0; k < ALL; k++) {
    const V a = s[k], x = *(const VU*) (v + k / PARTS * step + b + k % PARTS * W);
    s[k] = ${step};
  }
  UNROLL for (int k = 0; k < ALL; k++) *(VU*) (lanes[k / PARTS] + k % PARTS * W) = s[k];
  for (int r = 0; r < ${ROWS}; r++) for (long l = 0; b + l < n; l++) {
    const ${type} a = lanes[r][l], x = v[r * step + b + l];
    lanes[r][l] = ${step};
  }
}`;
}
