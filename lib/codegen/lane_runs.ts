/**
 * Cuts the body of a vector loop into runs: straight-line statements that one lane loop computes together. The result
 * is a tree of uniform statements, runs and inner loops, with the values that must be stored in arrays because
 * another run needs them. Invariant: running the items in order, each run for all lanes, is equivalent to running the
 * body for all lanes.
 */
import { type Dim, freeSymbols, type Sym } from "../sym/expr.ts";
import type { Carried, Loop, Reduction, Statement, ValueId } from "../loops/ir.ts";
import { deepUses, indirect, storedBuffers, valuesOf } from "../loops/uses.ts";

/** Ends an iteration of an inner loop: its reductions and carried values take their next value. */
export interface Advance {
  readonly kind: "advance";
  readonly reductions: readonly Reduction[];
  readonly carried: readonly Carried[];
}

export type Item =
  /** The same for all lanes: a statement or a whole loop. */
  | { readonly kind: "uniform"; readonly statement: Statement }
  | { readonly kind: "run"; readonly statements: (Statement | Advance)[] }
  | { readonly kind: "loop"; readonly loop: Loop; readonly items: readonly Item[] };

export interface LanePlan {
  readonly items: readonly Item[];
  /** Values defined in one run and used elsewhere. */
  readonly crossing: ReadonlySet<ValueId>;
}

/** The values under `body` that differ from lane to lane of a loop over `axis`. */
export function varyingValues(
  body: readonly Statement[],
  axis: Sym,
): { readonly varies: (s: Statement) => boolean } {
  const values = new Set<ValueId>(), statements = new Set<Statement>();
  const written = storedBuffers(body);
  const depends = (d: Dim): boolean =>
    typeof d !== "number" && (freeSymbols(d).has(axis) || indirect(d).some((id) => values.has(id)));
  const visit = (s: Statement): boolean => {
    let varies = s.kind !== "loop" && valuesOf(s).some((id) => values.has(id));
    switch (s.kind) {
      case "loop":
        for (const c of s.carried) if (values.has(c.initial)) values.add(c.id);
        // Twice: a loop that runs in lanes keeps carried values for each lane, even if all of them are equal
        for (let pass = 0; pass < 2; pass++) {
          // What a loop combines may be computed around it
          varies = s.body.map(visit).some(Boolean) || depends(s.axis.size) ||
            valuesOf(s).some((id) => values.has(id));
          for (const c of s.carried) if (varies || values.has(c.initial)) values.add(c.id);
        }
        if (varies) { for (const r of s.reductions) values.add(r.id); }
        break;
      case "masked":
        varies = s.body.map(visit).some(Boolean) || valuesOf(s).some((id) => values.has(id));
        break;
      case "store":
        varies = true;
        break;
      case "load":
        varies = depends(s.index) || written.has(s.buffer);
        break;
      case "index":
        varies = depends(s.index);
        break;
      case "constant":
      case "scalar":
      case "cast":
      case "select":
        break;
      default:
        s satisfies never;
    }
    if (varies && s.kind !== "loop" && s.kind !== "store") values.add(s.id);
    if (varies) statements.add(s);
    return varies;
  };
  body.forEach(visit);
  return { varies: (s) => statements.has(s) };
}

/** Splits the body of a vector loop. */
export function planLanes(loop: Loop): LanePlan {
  const { varies } = varyingValues(loop.body, loop.axis.symbol);
  const cut = (body: readonly Statement[], end: Advance | undefined): Item[] => {
    const items: Item[] = [];
    let run: (Statement | Advance)[] | undefined;
    const append = (s: Statement | Advance): void => {
      if (run === undefined) items.push({ kind: "run", statements: run = [] });
      run.push(s);
    };
    for (const s of body) {
      if (!varies(s)) {
        items.push({ kind: "uniform", statement: s });
        // Uniform items do not depend on the run, so they move in front of it
        if (run !== undefined) [items[items.length - 2], items[items.length - 1]] = swap(items);
      } else if (s.kind === "loop") {
        run = undefined;
        const advance: Advance = { kind: "advance", reductions: s.reductions, carried: s.carried };
        const ends = s.reductions.length + s.carried.length > 0;
        items.push({ kind: "loop", loop: s, items: cut(s.body, ends ? advance : undefined) });
      } else {
        append(s);
      }
    }
    if (end !== undefined) append(end);
    return items;
  };
  const items = cut(loop.body, undefined);
  return { items, crossing: crossingValues(items, loop.reductions) };
}

function swap(items: readonly Item[]): [Item, Item] {
  const [a, b] = items.slice(-2);
  if (a === undefined || b === undefined) throw new RangeError("Expected two items");
  return [b, a];
}

function crossingValues(items: readonly Item[], reductions: readonly Reduction[]): Set<ValueId> {
  const home = new Map<ValueId, Item>();
  const crossing = new Set<ValueId>();
  const define = (list: readonly Item[]): void => {
    for (const item of list) {
      if (item.kind === "loop") define(item.items);
      else if (item.kind === "run") {
        for (const s of item.statements) if (s.kind !== "advance" && "id" in s) home.set(s.id, item);
      }
    }
  };
  define(items);
  const use = (id: ValueId, where: Item | undefined): void => {
    const at = home.get(id);
    if (at !== undefined && at !== where) crossing.add(id);
  };
  const visit = (list: readonly Item[]): void => {
    for (const item of list) {
      if (item.kind === "uniform") deepUses(item.statement, (id) => use(id, item));
      else if (item.kind === "loop") {
        for (const c of item.loop.carried) use(c.initial, item);
        indirect(item.loop.axis.size).forEach((id) => use(id, item));
        visit(item.items);
      } else {
        for (const s of item.statements) {
          if (s.kind !== "advance") deepUses(s, (id) => use(id, item));
          else {
            for (const r of s.reductions) {
              for (const id of [r.value, r.index]) if (id !== undefined) use(id, item);
            }
            for (const c of s.carried) use(c.next, item);
          }
        }
      }
    }
  };
  visit(items);
  for (const r of reductions) for (const id of [r.value, r.index]) if (id !== undefined) use(id, undefined);
  return crossing;
}
