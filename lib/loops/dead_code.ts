/**
 * Removes statements whose values nobody uses. Input: statements; output: those that stores need. Invariant:
 * stores and their order are kept; a loop stays while it stores or its results are used.
 */
import type { Loop, Statement, ValueId } from "./ir.ts";
import { type Dim, freeSymbols } from "../sym/expr.ts";

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

function useIndex(index: Dim, used: Set<ValueId>): void {
  for (const s of freeSymbols(index)) {
    if (s.node.kind === "symbol" && s.node.role.kind === "value") used.add(s.node.role.id);
  }
}

function visit(s: Statement, used: Set<ValueId>): Statement | undefined {
  switch (s.kind) {
    case "store":
      used.add(s.value);
      useIndex(s.index, used);
      return s;
    case "loop":
      return loop(s, used);
    case "masked": {
      if (!used.has(s.id)) return undefined;
      used.add(s.condition).add(s.otherwise).add(s.value);
      return { ...s, body: sweep(s.body, used) };
    }
    case "constant":
      return used.has(s.id) ? s : undefined;
    case "index":
    case "load":
      if (!used.has(s.id)) return undefined;
      useIndex(s.index, used);
      return s;
    case "scalar":
      if (!used.has(s.id)) return undefined;
      for (const arg of s.args) used.add(arg);
      return s;
    case "cast":
      if (!used.has(s.id)) return undefined;
      used.add(s.value);
      return s;
    case "select":
      if (!used.has(s.id)) return undefined;
      used.add(s.condition).add(s.then).add(s.otherwise);
      return s;
    default:
      return s satisfies never;
  }
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
  useIndex(s.axis.size, used);
  const order = s.order === "reduction" && reductions.length === 0 ? "parallel" : s.order;
  return { ...s, order, reductions, body };
}

function hasStore(statements: readonly Statement[]): boolean {
  return statements.some((s) =>
    s.kind === "store" || ((s.kind === "loop" || s.kind === "masked") && hasStore(s.body))
  );
}
