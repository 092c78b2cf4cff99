/** Copies statements with renamed values and symbols. */
import { InternalError } from "../base/errors.ts";
import type { ValueType } from "../base/dtype.ts";
import { type Dim, substitute, type Sym, symbol } from "../sym/expr.ts";
import type { Statement, ValueId } from "../loops/ir.ts";

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
