/**
 * Flattens nested loops that a workgroup shares: a reduction over several dimensions with few results (statistics of
 * images by channel) is then divided among all invocations, whichever dimension is long. Invariant: the order of
 * iterations is kept.
 */
import { type Dim, floorDiv, mod, mul } from "../sym/expr.ts";
import { substituteIndices } from "../loops/nest.ts";
import type { Program, Reduction, Statement } from "../loops/ir.ts";
import { isPosition } from "../loops/ir.ts";
import { axisOf, isFixed } from "./strip_mining.ts";
import { sharesColumns, sharesRows } from "./grid.ts";
import { replaceKernels } from "./kernels.ts";
import { inLoops, isPure, nestOf } from "./nests.ts";
import type { Target } from "./target.ts";

/** Flattens the loops of a program that workgroups share. */
export function flatLoops(program: Program, { grid }: Target): Program {
  if (!grid) return program;
  return replaceKernels(program, (kernel) => {
    if (kernel.kind !== "loops") return [kernel];
    const nest = nestOf(kernel.body), body = nest.body.map(flat);
    const made = { ...nest, body },
      isShared = sharesRows(made, grid) || sharesColumns(made, grid) !== undefined;
    const changed = isShared && body.some((s, i) => s !== nest.body[i]);
    return [changed ? { ...kernel, body: inLoops(nest.loops, body) } : kernel];
  });
}

function flat(s: Statement): Statement {
  if (s.kind !== "loop" || s.order === "sequential") return s;
  const body = s.body.map(flat), loop = body.some((each, i) => each !== s.body[i]) ? { ...s, body } : s;
  const inner = body.at(-1), before = body.slice(0, -1);
  if (inner?.kind !== "loop" || inner.order !== s.order || !before.every(isPure)) return loop;
  const { axis: { symbol: slow, size: count } } = s, { axis: { symbol: fast, size: length } } = inner;
  const reductions = joined(s.reductions, inner.reductions);
  if (!reductions || inner.carried.length > 0 || !isFixed(count) || !isFixed(length)) return loop;
  const axis = axisOf("f", mul(count, length));
  const place = new Map<Dim, Dim>([[slow, floorDiv(axis.symbol, length)], [fast, mod(axis.symbol, length)]]);
  return {
    ...s,
    axis,
    vector: s.vector || inner.vector,
    body: substituteIndices([...before, ...inner.body], (each) => place.get(each) ?? each),
    reductions,
  };
}

/** Combines the reductions of two nested loops: each outer one combines the results of an inner one. */
function joined(outer: readonly Reduction[], inner: readonly Reduction[]): readonly Reduction[] | undefined {
  const left = outer.map((r) => {
    // A position goes with the extreme found at the same time
    const extreme = inner.find(({ id }) => id === r.value);
    const value = isPosition(r.op) ? inner.find(({ id }) => id === r.index) : extreme;
    const same = value?.op === r.op && value.dtype === r.dtype && value.value === extreme?.value;
    return same ? { ...value, id: r.id } : undefined;
  });
  return left.every((r) => r !== undefined) ? left : undefined;
}
