/** The element type of each value that statements define, nested ones included. */
import type { ValueType } from "../base/dtype.ts";
import type { Statement, ValueId } from "./ir.ts";

/** Types of all values under some statements. */
export function valueTypes(
  body: readonly Statement[],
  into: Map<ValueId, ValueType> = new Map(),
): Map<ValueId, ValueType> {
  for (const s of body) {
    if (s.kind === "loop") {
      for (const r of s.reductions) into.set(r.id, r.dtype);
      for (const c of s.carried) into.set(c.id, c.dtype);
      for (const f of s.folds ?? []) into.set(f.id, f.dtype);
    } else if (s.kind !== "store") into.set(s.id, s.dtype);
    if (s.kind === "loop" || s.kind === "masked") valueTypes(s.body, into);
  }
  return into;
}

/** One past the greatest id of the statements. */
export function nextId(body: readonly Statement[]): ValueId {
  let next = 0;
  const see = (id: ValueId): void => {
    next = Math.max(next, id + 1);
  };
  for (const s of body) {
    if (s.kind === "loop") {
      for (const each of [...s.reductions, ...s.carried, ...s.folds ?? []]) see(each.id);
    } else if (s.kind !== "store") see(s.id);
    if (s.kind === "loop" || s.kind === "masked") see(nextId(s.body) - 1);
  }
  return next;
}
