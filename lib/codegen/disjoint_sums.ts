/**
 * Finds accumulating loops that threads can divide, such as those of scatterAdd and of gradients of embeddings: loops
 * whose iterations add to different elements, possibly after reordering. Invariant: the order of additions to each
 * element is unchanged.
 */
import { boundsOf, type Dim, freeSymbols, type Sym } from "../sym/expr.ts";
import type { Axis, Loop, Statement, ValueId } from "../loops/ir.ts";
import { coefficientOf } from "../loops/nest.ts";
import { accessesOf, indirect } from "../loops/uses.ts";
import { stripMine } from "./strip_mining.ts";
import { varyingValues } from "./lane_runs.ts";

/** Adjacent elements that one thread adds to, and the fewest that are split. */
const PIECE = 128, LEAST = 2 * PIECE;

/** Returns whether no iteration of a loop touches an element that another iteration stores to. */
export function storesDisjointly({ axis, body }: Loop): boolean {
  const all = [...accessesOf(body)], stored = all.filter(({ kind }) => kind === "store");
  const changing = changingIn(body, axis);
  return stored.every((store) =>
    isApart(store.index, axis, changing) &&
    all.every((each) => each.buffer !== store.buffer || each.index === store.index)
  );
}

/** Returns whether a symbol of an index may differ between iterations of a loop, or within one. */
function changingIn(body: readonly Statement[], { symbol }: Axis): (other: Sym) => boolean {
  const { varies } = varyingValues(body, symbol),
    values = new Set<ValueId>(),
    counters = new Set<Sym>([symbol]);
  const visit = (list: readonly Statement[], isInner: boolean): void => {
    for (const s of list) {
      if (s.kind === "loop") {
        counters.add(s.axis.symbol);
        for (const { id } of [...s.reductions, ...s.carried]) values.add(id);
        visit(s.body, true);
      } else if (s.kind === "masked") visit(s.body, true);
      if (s.kind !== "store" && s.kind !== "loop" && (isInner || varies(s))) values.add(s.id);
    }
  };
  visit(body, false);
  return (other) =>
    counters.has(other) ||
    (other.node.kind === "symbol" ? indirect(other).some((id) => values.has(id)) : true);
}

/**
 * Returns whether an index differs for each value of a counter, whatever the other counters are: smaller terms stay
 * within one step, and larger ones move by multiples of all steps together.
 */
function isApart(index: Dim, { symbol: counter, size }: Axis, changes: (symbol: Sym) => boolean): boolean {
  const step = coefficientOf(index, counter), [, most] = boundsOf(size);
  if (typeof step !== "number" || step < 1) return false;
  let within = 0;
  for (const symbol of freeSymbols(index)) {
    if (symbol === counter || !changes(symbol)) continue;
    const own = coefficientOf(index, symbol), [low, high] = boundsOf(symbol);
    if (typeof own !== "number") return false;
    if (own % (step * most) !== 0) within += Math.abs(own) * (high - low);
  }
  return within < step;
}

/**
 * A loop whose accumulating iterations threads may divide: the given one, or one over pieces of its adjacent elements.
 */
export function disjointSums(loop: Loop): Loop | undefined {
  if (loop.order === "parallel") return storesDisjointly(loop) ? loop : undefined;
  const around: Loop[] = [];
  let inner: Statement | undefined = loop;
  while (inner?.kind === "loop" && inner.order === "sequential" && inner.body.length === 1) {
    around.push(inner);
    inner = inner.body[0];
  }
  if (
    inner?.kind !== "loop" || inner.order !== "parallel" || around.some(({ carried }) => carried.length > 0)
  ) {
    return undefined;
  }
  const { size } = inner.axis;
  if (typeof size !== "number" || size < LEAST || !storesDisjointly(inner)) return undefined;
  const { axis, part } = stripMine(inner, PIECE);
  const body = around.reduceRight<Statement>((nested, each) => ({ ...each, body: [nested] }), part);
  return { ...inner, axis, vector: false, body: [body] };
}
