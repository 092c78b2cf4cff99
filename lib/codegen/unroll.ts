/**
 * Unrolls short loops inside vector loops (windows of pooling, small filters), so that the vector loop becomes one
 * straight run. Input: statements with vector loops chosen; output: the same computation with fresh value ids.
 * Invariant: reductions combine in the order of the loop, so results keep their bits.
 */
import { isFloat, type ValueType } from "../base/dtype.ts";
import { InternalError } from "../base/errors.ts";
import { type Dim, substitute, type Sym, symbol } from "../sym/expr.ts";
import { isPosition, type Loop, type Reduction, type Statement, type ValueId } from "../loops/ir.ts";
import type { ScalarOpName } from "../loops/scalar.ts";
import { combinationOf, neutralOf } from "../loops/reductions.ts";
import { valueTypes } from "../loops/value_types.ts";
import { masksLoops } from "./vectorise.ts";

/** Unrolls the short loops inside vector loops, where that takes at most `limit` statements. */
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

/** Statements after unrolling; infinite where some loop is long, empty or of unknown length. */
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

/** What a reduction has come to after some iterations. */
interface Sofar {
  readonly value: ValueId;
  /** argmax, argmin: the position of `value`. */
  readonly index?: ValueId;
}

class Unroller {
  constructor(readonly types: Map<ValueId, ValueType>, readonly fresh: () => ValueId) {}

  /** Statements with all their loops unrolled. */
  statements(body: readonly Statement[]): Statement[] {
    return body.flatMap((s) => s.kind === "loop" ? this.#loop(s) : [s]);
  }

  #loop(loop: Loop): Statement[] {
    const body = this.statements(loop.body), out: Statement[] = [];
    const reduced = new Map<Reduction, Sofar>();
    let carried = loop.carried.map((c) => c.initial);
    for (let k = 0; k < Number(loop.axis.size); k++) {
      const names: Names = new Map(loop.carried.map((c, i) => [c.id, carried[i] ?? c.initial]));
      for (const s of body) {
        out.push(this.#renamed(s, names, (symbol) => symbol === loop.axis.symbol ? k : symbol));
      }
      const at = (id: ValueId): ValueId => names.get(id) ?? id;
      for (const r of loop.reductions) {
        const value = at(r.value), before = reduced.get(r);
        const given: Sofar = r.index === undefined ? { value } : { value, index: at(r.index) };
        reduced.set(r, this.#combined(r, before ?? this.#neutral(r, out), { given, out }));
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

  /** Where sums and products start; extremes start with their first value. */
  #neutral(r: Reduction, out: Statement[]): Sofar | undefined {
    if (isPosition(r.op) || r.op === "max" || r.op === "min") return undefined;
    const id = this.fresh(), { dtype } = r;
    this.types.set(id, dtype);
    out.push({ kind: "constant", id, value: neutralOf(r.op, dtype), dtype });
    return { value: id };
  }

  #scalar(
    op: ScalarOpName,
    args: readonly ValueId[],
    { dtype, out }: { dtype: ValueType; out: Statement[] },
  ): ValueId {
    const id = this.fresh();
    this.types.set(id, dtype);
    out.push({ kind: "scalar", id, op, args, dtype });
    return id;
  }

  #combined(
    r: Reduction,
    before: Sofar | undefined,
    { given, out }: { given: Sofar; out: Statement[] },
  ): Sofar {
    if (before === undefined) return given;
    if (!isPosition(r.op)) {
      const op = combinationOf(r.op, r.dtype);
      return { value: this.#scalar(op, [before.value, given.value], { dtype: r.dtype, out }) };
    }
    const dtype = this.types.get(r.value) ?? "float32", truth = { dtype: "bool", out } as const;
    let take = this.#scalar(r.op === "argmax" ? "gt" : "lt", [given.value, before.value], truth);
    if (isFloat(dtype)) {
      const now = this.#scalar("isNan", [given.value], truth),
        ever = this.#scalar("isNan", [before.value], truth);
      const first = this.#scalar("and", [now, this.#scalar("not", [ever], truth)], truth);
      take = this.#scalar("or", [take, first], truth);
    }
    const pick = (then: ValueId, otherwise: ValueId, type: ValueType): ValueId => {
      const id = this.fresh();
      this.types.set(id, type);
      out.push({ kind: "select", id, condition: take, then, otherwise, dtype: type });
      return id;
    };
    return {
      value: pick(given.value, before.value, dtype),
      index: pick(given.index ?? given.value, before.index ?? before.value, r.dtype),
    };
  }

  /** A copy of a statement with a fresh id, under new names of values and symbols. */
  #renamed(s: Statement, names: Names, replace: (symbol: Sym) => Dim): Statement {
    const at = (id: ValueId): ValueId => names.get(id) ?? id;
    const index = (d: Dim): Dim =>
      substitute(d, (sym) => {
        if (sym.node.kind !== "symbol" || sym.node.role.kind !== "value") return replace(sym);
        const { id } = sym.node.role, now = at(id);
        return now === id ? sym : symbol(`v${now}`, { kind: "value", id: now }, [sym.lower, sym.upper]);
      });
    const define = (id: ValueId, dtype: ValueType): ValueId => {
      const now = this.fresh();
      this.types.set(now, dtype);
      names.set(id, now);
      return now;
    };
    switch (s.kind) {
      case "constant":
        return { ...s, id: define(s.id, s.dtype) };
      case "index":
      case "load":
        return { ...s, index: index(s.index), id: define(s.id, s.dtype) };
      case "scalar":
        return { ...s, args: s.args.map(at), id: define(s.id, s.dtype) };
      case "cast":
        return { ...s, value: at(s.value), id: define(s.id, s.dtype) };
      case "select":
        return {
          ...s,
          condition: at(s.condition),
          then: at(s.then),
          otherwise: at(s.otherwise),
          id: define(s.id, s.dtype),
        };
      case "store":
        return { ...s, index: index(s.index), value: at(s.value) };
      case "masked": {
        const condition = at(s.condition), otherwise = at(s.otherwise);
        const body = s.body.map((inner) => this.#renamed(inner, names, replace));
        return { ...s, condition, otherwise, body, value: at(s.value), id: define(s.id, s.dtype) };
      }
      case "loop":
        return s;
      default:
        return s satisfies never;
    }
  }
}
