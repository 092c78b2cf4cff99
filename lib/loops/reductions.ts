/** Neutral elements and combining operations of reductions, as scalar operations. */
import { highest, lowest, type ValueType } from "../base/dtype.ts";
import { type PlainOp, type ReductionOp } from "./ir.ts";
import type { ScalarOpName } from "./scalar.ts";

/** Partial results of a reduction in lanes: element i is added to number i mod LANES, for every vector width. */
export const LANES = 16;

/** Returns the neutral element of a reduction; for extremes, the worst value. */
export function neutralOf(op: ReductionOp, dtype: ValueType): number | bigint | boolean {
  switch (op) {
    case "sum":
    case "any":
      return ofType(0, dtype);
    case "prod":
    case "all":
      return ofType(1, dtype);
    case "max":
    case "argmax":
      return lowest(dtype);
    case "min":
    case "argmin":
      return highest(dtype);
    default:
      return op satisfies never;
  }
}

/** A number as a constant of a type. */
const ofType = (value: 0 | 1, dtype: ValueType): number | bigint | boolean =>
  dtype === "bool" ? value === 1 : dtype === "int64" ? BigInt(value) : value;

const COMBINE: Readonly<Record<PlainOp, ScalarOpName>> = {
  sum: "add",
  prod: "mul",
  max: "maximum",
  min: "minimum",
  any: "or",
  all: "and",
};

/** The operation that combines the accumulated value with the next one. */
export function combinationOf(op: PlainOp, dtype: ValueType): ScalarOpName {
  if (dtype === "bool" && op === "sum") return "or";
  return dtype === "bool" && op === "prod" ? "and" : COMBINE[op];
}
