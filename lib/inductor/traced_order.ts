/**
 * The loops of a sum of symbolic sizes, in the order that a program for exactly the sizes of the traced call has. Where
 * sizes of that call are equal by chance, or 1, such a program joins or leaves out loops that symbols keep apart.
 * Invariant: the loops enumerate the terms of every call, whatever its sizes.
 */
import type { Axis } from "../loops/ir.ts";
import { tracedValue } from "../sym/decide.ts";
import { type Dim, evaluate, floorDiv, freeSymbols, mod, product, substitute } from "../sym/expr.ts";
import { arrange, indexOf } from "./arrange.ts";
import { replaceIn } from "./axes.ts";
import { type Access, type Computation, type Lanes, newAxis } from "./computation.ts";
import { type Group, groupOf } from "./group.ts";
import { TILING } from "./loop_order.ts";

/** The loops of a reduction. */
export interface ReductionOrder {
  /** Sizes of its loops, outermost first. */
  readonly over: readonly Dim[];
  /** The axis that runs in lanes. */
  readonly lanes: Lanes;
  /** Returns the index of a term from the counters of the loops. */
  readonly whole: (counters: readonly Dim[]) => readonly Dim[];
}

/** The order of a reduction in its group; symbols stay symbols. */
export function orderIn(group: Group): ReductionOrder | undefined {
  const [member] = group.members;
  if (!member) return undefined;
  const { vector, innerOf } = arrange(group, TILING), { axes, replacement } = innerOf(group.members);
  const { reduced } = indexOf(member, replacement);
  return {
    over: axes.map(({ size }) => size),
    lanes: vector === "inner" ? "inner" : "outer",
    whole(counters) {
      const at = new Map(axes.map(({ symbol }, d) => [symbol, counters[d] ?? 0]));
      return reduced.map((index) => replaceIn(index, at));
    },
  };
}

/**
 * The order of a reduction as if its sizes were the numbers of the traced call. Undefined if they are known anyway, are
 * unknown before a call, or decide themselves which calls run alike, and for reductions with loops over parts of an
 * axis.
 */
export function tracedOrder(computation: Computation): ReductionOrder | undefined {
  const numbered = withNumbers(computation);
  if (!numbered) return undefined;
  const group = groupOf(numbered), order = orderIn(group);
  if (!order) return undefined;
  const sizes = computation.inner.map(({ size }) => size);
  const counters = order.over.map((size) => newAxis(size, "k")), found = order.whole(counters.map(symbolOf));
  const runs: (readonly number[])[] = [];
  for (const counter of counters) {
    const run = runOf(counter, found, numbered.inner);
    if (!run) return undefined;
    runs.push(run);
  }
  // Loops of one step in the traced call are in no run: outermost, they change no order
  const alone = [...sizes.keys()].filter((d) => sizes[d] !== 1 && numbered.inner[d]?.size === 1)
    .map((d) => [d]);
  const all = [...alone, ...runs];
  return {
    over: all.map((run) => product(run.map((d) => sizes[d] ?? 1))),
    lanes: order.lanes,
    whole(given) {
      const index = sizes.map((): Dim => 0);
      all.forEach((run, at) => {
        let rest = given[at] ?? 0;
        run.forEach((d, k) => {
          const within = product(run.slice(k + 1).map((inner) => sizes[inner] ?? 1));
          index[d] = floorDiv(rest, within);
          rest = mod(rest, within);
        });
      });
      return index;
    },
  };
}

const symbolOf = ({ symbol }: Axis): Dim => symbol;

/** The axes that a loop runs over, outermost first; undefined if it runs over a part of one. */
function runOf(counter: Axis, found: readonly Dim[], axes: readonly Axis[]): number[] | undefined {
  const run: number[] = [], left = new Set<number>();
  for (const [d, index] of found.entries()) {
    const symbols = freeSymbols(index);
    if (!symbols.has(counter.symbol)) continue;
    if (symbols.size > 1) return undefined;
    left.add(d);
  }
  const at = (index: Dim, value: number) => typeof index === "number" ? index : evaluate(index, () => value);
  let step = 1;
  while (left.size > 0) {
    // The innermost axis that is left is the one that has moved by one
    const next = [...left].find((d) => at(found[d] ?? 0, step) === 1);
    if (next === undefined) return undefined;
    left.delete(next);
    run.unshift(next);
    step *= Number(axes[next]?.size);
  }
  return step === counter.size ? run : undefined;
}

/** A computation with the numbers of the traced call in place of symbols; undefined if there are none to replace. */
function withNumbers(computation: Computation): Computation | undefined {
  const { outer, inner, reads, writes, indices } = computation;
  const sizes = [...outer, ...inner].map(({ size }) => size);
  const mentioned = [...sizes, ...[...reads, ...writes].flatMap(({ index }) => index ?? []), ...indices];
  const numbers = new Map<Dim, number>();
  for (const symbol of mentioned.flatMap((d) => [...freeSymbols(d)])) {
    const { node } = symbol;
    if (node.kind !== "symbol" || node.role.kind === "axis" || node.role.kind === "value") continue;
    const value = tracedValue(symbol);
    if (value === undefined) return undefined;
    numbers.set(symbol, value);
  }
  if (numbers.size === 0) return undefined;
  const renamed = new Map<Dim, Dim>(numbers);
  const known = (d: Dim): Dim => substitute(d, (s) => renamed.get(s) ?? s);
  const axes = (list: readonly Axis[]): Axis[] =>
    list.map(({ symbol, size }) => {
      const made = newAxis(known(size), symbol.node.kind === "symbol" ? symbol.node.name : "i");
      renamed.set(symbol, made.symbol);
      return made;
    });
  const numbered = { outer: axes(outer), inner: axes(inner) };
  const access = ({ buffer, index }: Access): Access => ({
    buffer,
    index: index === undefined ? undefined : known(index),
  });
  return {
    ...computation,
    ...numbered,
    reads: reads.map(access),
    writes: writes.map(access),
    indices: indices.map(known),
  };
}
