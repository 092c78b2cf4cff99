/**
 * Unrolls short loops inside vector loops (windows of pooling, small filters), so that the vector loop becomes one
 * straight run. Invariant: reductions combine in the order of the loop, so results are bitwise unchanged.
 */
import type { ValueType } from "../base/dtype.ts";
import { InternalError } from "../base/errors.ts";
import { isPosition, type Loop, type Reduction, type Statement, type ValueId } from "../loops/ir.ts";
import { neutralOf } from "../loops/reductions.ts";
import { valueTypes } from "../loops/value_types.ts";
import { cloneStatement, type PartialResult, renaming, StatementList } from "./statement_list.ts";
import { masksLoops } from "./vectorise.ts";

/** Unrolls the short loops inside vector loops, if that takes at most `limit` statements. */
export function unrollShort(body: readonly Statement[], limit: number): readonly Statement[] {
  const types = valueTypes(body);
  let next = Math.max(-1, ...types.keys()) + 1;
  const unroller = new Unroller(types, () => next++);
  const visit = (list: readonly Statement[]): readonly Statement[] =>
    list.map((s) => {
      if (s.kind !== "loop") return s;
      if (!s.vector) return { ...s, body: visit(s.body) };
      if (masksLoops(s.body) || grown(s.body) > limit) return s;
      return s.body.some((inner) => inner.kind === "loop") ? { ...s, body: unroller.statements(s.body) } : s;
    });
  return visit(body);
}

/** Number of statements after unrolling; infinite if some loop is long, empty or of unknown length. */
function grown(body: readonly Statement[]): number {
  let total = 0;
  for (const s of body) {
    if (s.kind === "loop") {
      if (typeof s.axis.size !== "number" || s.axis.size < 1 || s.axis.size > 16) return Infinity;
      total += s.axis.size * (grown(s.body) + s.reductions.length);
    } else total += s.kind === "masked" ? 2 + grown(s.body) : 1;
  }
  return total;
}

type Names = Map<ValueId, ValueId>;

class Unroller {
  constructor(readonly types: Map<ValueId, ValueType>, readonly next: () => ValueId) {}

  #fresh = (dtype: ValueType): ValueId => {
    const id = this.next();
    this.types.set(id, dtype);
    return id;
  };

  /** Statements with all their loops unrolled. */
  statements(body: readonly Statement[]): Statement[] {
    return body.flatMap((s) => s.kind === "loop" ? this.#loop(s) : [s]);
  }

  #loop(loop: Loop): Statement[] {
    const body = this.statements(loop.body),
      out: Statement[] = [],
      list = new StatementList(out, this.#fresh);
    const reduced = new Map<Reduction, PartialResult>();
    let carried = loop.carried.map((c) => c.initial);
    for (let k = 0; k < Number(loop.axis.size); k++) {
      const names: Names = new Map(loop.carried.map((c, i) => [c.id, carried[i] ?? c.initial]));
      const renamed = renaming(names, this.#fresh, (symbol) => symbol === loop.axis.symbol ? k : symbol);
      const at = renamed.use;
      for (const s of body) out.push(cloneStatement(s, renamed));
      for (const r of loop.reductions) {
        const value = at(r.value), before = reduced.get(r);
        const given: PartialResult = r.index === undefined ? { value } : { value, index: at(r.index) };
        const start = before ?? neutral(r, list), operand = this.types.get(r.value) ?? r.dtype;
        reduced.set(r, start ? list.combined({ ...r, operand }, [start, given]) : given);
      }
      carried = loop.carried.map((c) => at(c.next));
    }
    for (const r of loop.reductions) {
      const last = reduced.get(r);
      if (last === undefined) throw new InternalError("Expected a loop that runs at least once");
      const value = isPosition(r.op) ? last.index ?? last.value : last.value;
      out.push({ kind: "cast", id: r.id, value, dtype: r.dtype });
    }
    loop.carried.forEach((c, i) =>
      out.push({ kind: "cast", id: c.id, value: carried[i] ?? c.initial, dtype: c.dtype })
    );
    return out;
  }
}

/** Returns the initial value of sums and products; extremes start with their first value. */
function neutral({ op, dtype }: Reduction, list: StatementList): PartialResult | undefined {
  if (isPosition(op) || op === "max" || op === "min") return undefined;
  return { value: list.constant(neutralOf(op, dtype), dtype) };
}
