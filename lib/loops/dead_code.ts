/**
 * Removes statements whose values nobody uses. Invariant: stores and their order are kept; a loop stays while it
 * stores or its results are used.
 */
import type { Loop, Statement, ValueId } from "./ir.ts";
import { accessesOf, indirect, valuesOf } from "./uses.ts";

/** The live part of a statement list. */
export function removeDead(statements: readonly Statement[]): readonly Statement[] {
  return sweep(statements, new Set());
}

/** Walks backwards; `used` collects the ids that later statements need. */
function sweep(statements: readonly Statement[], used: Set<ValueId>): Statement[] {
  const kept: Statement[] = [];
  for (const s of statements.toReversed()) {
    const live = visit(s, used);
    if (live) kept.push(live);
  }
  return kept.reverse();
}

function visit(s: Statement, used: Set<ValueId>): Statement | undefined {
  if (s.kind === "loop") return loop(s, used);
  if (s.kind !== "store" && !used.has(s.id)) return undefined;
  for (const id of valuesOf(s)) used.add(id);
  return s.kind === "masked" ? { ...s, body: sweep(s.body, used) } : s;
}

function loop(s: Loop, used: Set<ValueId>): Loop | undefined {
  const reductions = s.reductions.filter((r) => used.has(r.id));
  const stores = hasStore(s.body);
  if (!stores && reductions.length === 0 && !s.carried.some((c) => used.has(c.id))) return undefined;
  for (const r of reductions) {
    used.add(r.value);
    if (r.index !== undefined) used.add(r.index);
  }
  for (const c of s.carried) used.add(c.next).add(c.initial);
  const body = sweep(s.body, used);
  for (const id of indirect(s.axis.size)) used.add(id);
  const order = s.order === "reduction" && reductions.length === 0 ? "parallel" : s.order;
  return { ...s, order, reductions, body };
}

const hasStore = (statements: readonly Statement[]): boolean =>
  accessesOf(statements).some(({ kind }) => kind === "store");
