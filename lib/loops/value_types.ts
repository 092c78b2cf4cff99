/** The element types of values. Input: statements; output: a type for each value that they define, nested ones too. */
import type { DType } from "../base/dtype.ts";
import type { Statement, ValueId } from "./ir.ts";

/** Types of all values under some statements. */
export function valueTypes(
  body: readonly Statement[],
  into: Map<ValueId, DType> = new Map(),
): Map<ValueId, DType> {
  for (const s of body) {
    if (s.kind === "loop") {
      for (const r of s.reductions) into.set(r.id, r.dtype);
      for (const c of s.carried) into.set(c.id, c.dtype);
    } else if (s.kind !== "store") into.set(s.id, s.dtype);
    if (s.kind === "loop" || s.kind === "masked") valueTypes(s.body, into);
  }
  return into;
}
