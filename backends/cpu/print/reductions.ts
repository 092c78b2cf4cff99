/**
 * Reductions in C++: neutral elements, one step, and functions that fold arrays. Invariant: arrays are folded in 16
 * lanes, element i into lane i mod 16, and the lanes by halves at the end, so that a sum has the same bits at every
 * vector width and from every printer that follows this rule.
 *
 * Rows of floats are folded four at a time, each in the same order as by itself: each addition to a lane depends on the
 * previous one, so with one row in flight, a processor waits longer for additions than for memory.
 */
import { isFloat, type ValueType } from "../../../lib/base/dtype.ts";
import {
  type Fold,
  isPosition,
  type Loop,
  type PlainOp,
  type PositionOp,
  type ReductionOp,
  type Statement,
} from "../../../lib/loops/ir.ts";
import { combinationOf, LANES, neutralOf } from "../../../lib/loops/reductions.ts";
import { InternalError } from "../../../lib/base/errors.ts";
import { scalarExpression } from "./scalar.ts";
import { literal, MEMORY_TYPE, SUFFIX, VALUE_TYPE } from "./types.ts";
import type { Dim } from "../../../lib/sym/expr.ts";
import { coefficientOf } from "../../../lib/loops/nest.ts";

/** Returns the neutral element. */
export const neutral = (op: PlainOp, dtype: ValueType): string => literal(neutralOf(op, dtype), dtype);

/** One step: combines the result so far with a value, both by name. */
export function combine(op: PlainOp, dtype: ValueType, args: readonly [string, string]): string {
  const name = combinationOf(op, dtype);
  const need = (): never => {
    throw new InternalError(`Expected ${name} to be an operation of the language`);
  };
  return scalarExpression(name, dtype, { args, need, form: "inline" });
}

/** Returns the condition that a value replaces the extreme found so far (`index` < 0: none yet); NaN is extreme. */
export function takes(
  op: PositionOp,
  dtype: ValueType,
  { value, best, index }: { value: string; best: string; index: string },
): string {
  const better = `${value} ${op === "argmax" ? ">" : "<"} ${best}`;
  const nan = isFloat(dtype) ? ` || (${value} != ${value} && ${best} == ${best})` : "";
  return `${index} < 0 || ${better}${nan}`;
}

/** Name of the function that folds an array of values into a result, of lanes or a position; `_end` folds the lanes. */
export function foldName(op: ReductionOp, dtype: ValueType, result: ValueType): string {
  return `fold_${op}_${SUFFIX[dtype]}${isPosition(op) ? `_${SUFFIX[result]}` : ""}`;
}

/** One step over names of vectors, ignoring NaN in extremes. */
function stepOfVectors(op: PlainOp, dtype: ValueType): string {
  if (op === "max" || op === "min") return `x ${op === "max" ? ">" : "<"} a ? x : a`;
  if ((op === "sum" || op === "prod") && dtype !== "bool") return op === "sum" ? "a + x" : "a * x";
  return combine(op, dtype, ["a", "x"]);
}

/** Folds 16 lanes by halves: as vectors, because a branch on the greater of two cannot be predicted. */
function endText(op: PlainOp, dtype: ValueType): string {
  const type = MEMORY_TYPE[dtype], name = foldName(op, dtype, dtype);
  const nan = (op === "max" || op === "min") && isFloat(dtype);
  const step = nan ? `(x ${op === "max" ? ">" : "<"} a) | (x != x) ? x : a` : stepOfVectors(op, dtype);
  const halves = [8, 4, 2].map((h) =>
    `  { typedef ${type} V __attribute__((vector_size(${h} * sizeof(${type})), aligned(sizeof(${type})), may_alias));
    const V a = *(const V*) lanes, x = *(const V*) (lanes + ${h}); *(V*) lanes = ${step}; }`
  );
  return `INL ${type} ${name}_end(${type}* lanes) {
${halves.join("\n")}
  const ${type} a = lanes[0], x = lanes[1];
  return ${combine(op, dtype, ["a", "x"])};
}`;
}

/**
 * The loop over whole groups of lanes. Sums and products keep 16 lanes; reductions that do not depend on the order run
 * in four groups at once. Extremes of floats check for NaN separately, which makes the comparison a single instruction.
 */
function mainLoop(op: PlainOp, dtype: ValueType): string {
  const type = MEMORY_TYPE[dtype];
  const groups = isFloat(dtype) && (op === "sum" || op === "prod") ? 1 : 4;
  const lines = [
    `enum { BYTES = ${LANES} * sizeof(${type}) < VECTOR_BYTES ? ${LANES} * sizeof(${type}) : VECTOR_BYTES, W = BYTES / sizeof(${type}) };`,
    `enum { PARTS = ${LANES} / W, ALL = ${groups} * PARTS, STEP = ${groups * LANES} };`,
    `typedef ${type} V __attribute__((vector_size(BYTES)));`,
    `typedef ${type} VU __attribute__((vector_size(BYTES), aligned(sizeof(${type})), may_alias));`,
  ];
  const vectorStep = stepOfVectors(op, dtype), extreme = op === "max" || op === "min";
  // As integers, bits without the sign exceed those of infinity only for NaN
  const watch = extreme && isFloat(dtype) ? (dtype === "float32" ? "int" : "long") : undefined;
  const neutralValue = neutral(op, dtype);
  const loops: readonly (readonly [string, string])[] = groups > 1
    ? [["STEP", "ALL"], [`${LANES}`, "PARTS"]]
    : [["STEP", "ALL"]];
  lines.push(
    "V s[ALL];",
    `UNROLL for (int k = 0; k < ALL; k++) s[k] = k < PARTS ? *(const VU*) (lanes + k * W) : (V){} + (${type}) ${neutralValue};`,
    ...(watch
      ? [
        `const ${watch} ABS = ${
          watch === "int" ? "0x7fffffff, INF = 0x7f800000" : "0x7fffffffffffffffL, INF = 0x7ff0000000000000L"
        };`,
        `typedef ${watch} B __attribute__((vector_size(BYTES)));`,
        "B size[ALL];",
        "UNROLL for (int k = 0; k < ALL; k++) size[k] = (B) s[k] & ABS;",
      ]
      : []),
    ...loops.flatMap(([step, parts]) => [
      `for (; b + ${step} <= n; b += ${step}) UNROLL for (int k = 0; k < ${parts}; k++) {`,
      `  const V a = s[k], x = *(const VU*) (v + b + k * W);`,
      `  s[k] = ${vectorStep};`,
      ...(watch ? ["  const B bits = (B) x & ABS;", "  size[k] = bits > size[k] ? bits : size[k];"] : []),
      "}",
    ]),
    ...(groups > 1
      ? [
        "UNROLL for (int k = PARTS; k < ALL; k++) {",
        "  const V a = s[k % PARTS], x = s[k];",
        `  s[k % PARTS] = ${vectorStep};`,
        ...(watch ? ["  size[k % PARTS] = size[k] > size[k % PARTS] ? size[k] : size[k % PARTS];"] : []),
        "}",
      ]
      : []),
    ...(watch
      ? [
        `UNROLL for (int k = 0; k < PARTS; k++) s[k] = size[k] > INF ? (V){} + (${type}) __builtin_nan("") : s[k];`,
      ]
      : []),
    "UNROLL for (int k = 0; k < PARTS; k++) *(VU*) (lanes + k * W) = s[k];",
  );
  return lines.map((line) => `  ${line}`).join("\n");
}

/** The text of the fold functions of one reduction. */
export function foldText(op: ReductionOp, dtype: ValueType, result: ValueType): string {
  const type = MEMORY_TYPE[dtype], name = foldName(op, dtype, result);
  if (isPosition(op)) {
    const place = VALUE_TYPE[result];
    return `OUTL void ${name}(${type}* best, ${place}* index, const ${type}* v, const ${place}* at, long n) {
  ${type} b = *best;
  ${place} found = *index;
  for (long k = 0; k < n; k += 64) {   // most pieces hold nothing better, which is seen in lanes
    const long end = k + 64 < n ? k + 64 : n;
    int better = found < 0;
    for (long l = k; l < end; l++) better |= ${
      isFloat(dtype)
        ? `(v[l] ${op === "argmax" ? ">" : "<"} b) | (v[l] != v[l])`
        : `v[l] ${op === "argmax" ? ">" : "<"} b`
    };
    if (!better) continue;
    for (long l = k; l < end; l++) if (${
      takes(op, dtype, { value: "v[l]", best: "b", index: "found" })
    }) b = v[l], found = at[l];
  }
  *best = b;
  *index = found;
}`;
  }
  const step = combine(op, dtype, ["a", "x"]);
  return `OUTL void ${name}(${type}* lanes, const ${type}* v, long n) {
  long b = 0;
${mainLoop(op, dtype)}
  for (long l = 0; b + l < n; l++) { const ${type} a = lanes[l], x = v[b + l]; lanes[l] = ${step}; }
}
${endText(op, dtype)}`;
}

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
