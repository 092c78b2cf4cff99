/**
 * Which statements of a kernel may run apart from the others. Input: a statement; output: whether it uses no values but
 * its own. Invariant: nested statements count.
 */
import type { Statement, ValueId } from "../../lib/loops/ir.ts";

/** Whether a statement is a loop that uses no values but its own. */
export function standsAlone(s: Statement): boolean {
  if (s.kind !== "loop") return false;
  const own = new Set<ValueId>();
  const known = (...ids: readonly ValueId[]) => ids.every((id) => own.has(id));
  const visit = (body: readonly Statement[]): boolean =>
    body.every((each) => {
      switch (each.kind) {
        case "loop": {
          if (!known(...each.carried.map((c) => c.initial))) return false;
          for (const c of each.carried) own.add(c.id);
          const fine = visit(each.body) && known(...each.carried.map((c) => c.next)) &&
            each.reductions.every((r) => known(r.value, ...(r.index === undefined ? [] : [r.index])));
          for (const r of each.reductions) own.add(r.id);
          return fine;
        }
        case "store":
          return known(each.value);
        case "masked": {
          const fine = known(each.condition, each.otherwise) && visit(each.body) && known(each.value);
          own.add(each.id);
          return fine;
        }
        case "scalar":
          return known(...each.args) && own.add(each.id) !== undefined;
        case "cast":
          return known(each.value) && own.add(each.id) !== undefined;
        case "select":
          return known(each.condition, each.then, each.otherwise) && own.add(each.id) !== undefined;
        case "constant":
        case "index":
        case "load":
          return own.add(each.id) !== undefined;
        default:
          return each satisfies never;
      }
    });
  return visit([s]);
}
