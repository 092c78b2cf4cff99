/**
 * Builds lists of statements: new ones by operation, and copies of others under other names of values and symbols.
 */
import { isFloat, type ValueType } from "../base/dtype.ts";
import { isPosition, type ReductionOp, type Statement, type ValueId } from "../loops/ir.ts";
import { combinationOf } from "../loops/reductions.ts";
import type { ScalarOpName } from "../loops/scalar.ts";
import { InternalError } from "../base/errors.ts";
import { type Dim, substitute, type Sym, symbol } from "../sym/expr.ts";

/** The accumulated value of a reduction, or a contribution to it. */
export interface PartialResult {
  readonly value: ValueId;
  /** argmax, argmin: the position of `value`. */
  readonly index?: ValueId;
}

/** A reduction, and the type of the values that it compares or combines. */
interface Combining {
  readonly op: ReductionOp;
  readonly dtype: ValueType;
  readonly operand: ValueType;
}

/** Builds statements with fresh ids. */
export class StatementList {
  constructor(readonly out: Statement[], readonly fresh: (dtype: ValueType) => ValueId) {}

  constant(value: number | bigint | boolean, dtype: ValueType): ValueId {
    const id = this.fresh(dtype);
    this.out.push({ kind: "constant", id, value, dtype });
    return id;
  }

  scalar(op: ScalarOpName, args: readonly ValueId[], dtype: ValueType): ValueId {
    const id = this.fresh(dtype);
    this.out.push({ kind: "scalar", id, op, args, dtype });
    return id;
  }

  select(condition: ValueId, [then, otherwise]: readonly [ValueId, ValueId], dtype: ValueType): ValueId {
    const id = this.fresh(dtype);
    this.out.push({ kind: "select", id, condition, then, otherwise, dtype });
    return id;
  }

  /**
   * One step of a reduction. Of equal extremes the first one stays; NaN counts as extreme. `empty`: whether nothing has
   * been combined so far.
   */
  combined(
    r: Combining,
    [before, given]: readonly [PartialResult, PartialResult],
    empty?: ValueId,
  ): PartialResult {
    const { op, dtype, operand } = r;
    if (!isPosition(op)) {
      return { value: this.scalar(combinationOf(op, dtype), [before.value, given.value], dtype) };
    }
    let take = this.scalar(op === "argmax" ? "gt" : "lt", [given.value, before.value], "bool");
    if (isFloat(operand)) {
      const now = this.scalar("isNan", [given.value], "bool");
      const ever = this.scalar("isNan", [before.value], "bool");
      const first = this.scalar("and", [now, this.scalar("not", [ever], "bool")], "bool");
      take = this.scalar("or", [take, first], "bool");
    }
    if (empty !== undefined) take = this.scalar("or", [empty, take], "bool");
    const { index = given.value } = given, { index: known = before.value } = before;
    return {
      value: this.select(take, [given.value, before.value], operand),
      index: this.select(take, [index, known], dtype),
    };
  }
}

/** The names of a copy. */
export interface Renaming {
  /** Returns the new name of a value that is defined outside of the copy, or earlier in it. */
  readonly use: (id: ValueId) => ValueId;
  /** Returns the new name of a value that the copy defines. */
  readonly define: (id: ValueId, dtype: ValueType) => ValueId;
  /** Returns the replacement of an index symbol that is not a value. */
  readonly replace: (symbol: Sym) => Dim;
}

/** Gives the values that a copy defines new ids, which are put into `names`; other values keep theirs. */
export const renaming = (
  names: Map<ValueId, ValueId>,
  fresh: (dtype: ValueType) => ValueId,
  replace: Renaming["replace"],
): Renaming => ({
  use: (id) => names.get(id) ?? id,
  define: (id, dtype) => {
    const now = fresh(dtype);
    names.set(id, now);
    return now;
  },
  replace,
});

/** A copy of a statement that is not a loop. */
export function cloneStatement<S extends Statement>(s: S, names: Renaming): S;
export function cloneStatement(s: Statement, names: Renaming): Statement {
  const { use, define } = names, index = (d: Dim): Dim => cloneIndex(d, names);
  switch (s.kind) {
    case "constant":
      return { ...s, id: define(s.id, s.dtype) };
    case "index":
    case "load":
      return { ...s, index: index(s.index), id: define(s.id, s.dtype) };
    case "scalar":
      return { ...s, args: s.args.map(use), id: define(s.id, s.dtype) };
    case "cast":
      return { ...s, value: use(s.value), id: define(s.id, s.dtype) };
    case "select":
      return {
        ...s,
        condition: use(s.condition),
        then: use(s.then),
        otherwise: use(s.otherwise),
        id: define(s.id, s.dtype),
      };
    case "store":
      return { ...s, index: index(s.index), value: use(s.value) };
    case "masked": {
      const condition = use(s.condition), otherwise = use(s.otherwise);
      const body = s.body.map((inner) => cloneStatement(inner, names));
      return { ...s, condition, otherwise, body, value: use(s.value), id: define(s.id, s.dtype) };
    }
    case "loop":
      throw new InternalError("Expected a statement without loops to copy");
    default:
      return s satisfies never;
  }
}

/** An index expression with its symbols renamed. */
export function cloneIndex(d: Dim, { use, replace }: Renaming): Dim {
  return substitute(d, (sym) => {
    if (sym.node.kind !== "symbol" || sym.node.role.kind !== "value") return replace(sym);
    const { id } = sym.node.role, now = use(id);
    return now === id ? sym : symbol(`v${now}`, { kind: "value", id: now }, [sym.lower, sym.upper]);
  });
}
