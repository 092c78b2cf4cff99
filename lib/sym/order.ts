/**
 * The order of terms and factors: structural, not by age, so that equal programs have equal texts in any process.
 * Invariant: symbols come before expressions over them; only symbols with equal text are ordered by age.
 */
import type { Dim, Sym, SymbolRole, SymNode } from "./node.ts";

const KINDS: Readonly<Record<SymNode["kind"], number>> = {
  symbol: 0,
  product: 1,
  floorDiv: 2,
  mod: 3,
  min: 4,
  max: 5,
  sum: 6,
};

const ROLES: Readonly<Record<SymbolRole["kind"], number>> = { size: 0, unbacked: 1, axis: 2, value: 3 };

/** Negative if `a` precedes `b`, positive if it follows, 0 if they are the same. */
export function compare(a: Dim, b: Dim): number {
  if (a === b) return 0;
  if (typeof a === "number") return typeof b === "number" ? a - b : -1;
  if (typeof b === "number") return 1;
  const x = a.node, y = b.node;
  if (x.kind === "symbol" && y.kind === "symbol") {
    return ROLES[x.role.kind] - ROLES[y.role.kind] || compareNames(x.name, y.name) ||
      compareBounds(a, b) || a.id - b.id;
  }
  if (x.kind === "sum" && y.kind === "sum") return compareSums(x, y);
  if (x.kind === "product" && y.kind === "product") return compareLists(x.factors, y.factors);
  if ("left" in x && "left" in y && x.kind === y.kind) {
    return compare(x.left, y.left) || compare(x.right, y.right);
  }
  return KINDS[x.kind] - KINDS[y.kind];
}

/** i2 before i10. */
function compareNames(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

function compareBounds(a: Sym, b: Sym): number {
  // The difference of equal infinities is NaN
  return (a.lower === b.lower ? 0 : a.lower - b.lower) || (a.upper === b.upper ? 0 : a.upper - b.upper);
}

function compareLists(a: readonly Dim[], b: readonly Dim[]): number {
  for (const [at, each] of a.entries()) {
    const other = b[at];
    if (other === undefined) return 1;
    const order = compare(each, other);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

type Sum = Extract<SymNode, { readonly kind: "sum" }>;

function compareSums(a: Sum, b: Sum): number {
  const terms = compareLists(a.terms.map(({ term }) => term), b.terms.map(({ term }) => term));
  return terms || compareLists(
    [a.constant, ...a.terms.map(({ coefficient }) => coefficient)],
    [b.constant, ...b.terms.map(({ coefficient }) => coefficient)],
  );
}
