/**
 * Kernels of computations that are never fused: scans and scatters. Invariant: positions that may write the same
 * element run in order, so that results do not depend on the number of threads.
 */
import { InternalError } from "../base/errors.ts";
import type { Axis, Loop, Statement } from "../loops/ir.ts";
import { coefficientOf, loopOver, symbolsOf } from "../loops/nest.ts";
import { flatIndex, type Recorder, type Value } from "../loops/record.ts";
import type { Sym } from "../sym/expr.ts";
import type { Computation } from "./computation.ts";

type MakeRecorder = (statements: Statement[]) => Recorder;

/** result[…, k] = combine(result[…, k − 1], element[…, k]). */
export function scanKernel(
  { work, target, outer, inner }: Computation,
  make: MakeRecorder,
): readonly Statement[] {
  const [along] = inner;
  if (work.kind !== "scan" || !along) throw new InternalError("Expected a scan along one axis");
  const recorder = make([]);
  const index = symbolsOf(outer), at = flatIndex(target, [...index, along.symbol]);
  const { statements, result } = recorder.nested(() => {
    const value = work.element(recorder, index, [along.symbol]);
    const before: Value = { id: recorder.ids.next(), dtype: value.dtype };
    const next = work.combine(recorder, before, value);
    recorder.store(target, at, { value: recorder.cast(next, target.dtype) });
    return { before, next };
  });
  const { before, next } = result;
  const initial = recorder.constant(work.initial, before.dtype);
  recorder.push(loopOver(along, statements, {
    order: "sequential",
    carried: [{ id: before.id, initial: initial.id, next: next.id, dtype: before.dtype }],
  }));
  // Lanes run along another axis with adjacent elements, if there is one
  const lane = outer.find((axis) => axis.size !== 1 && coefficientOf(at, axis.symbol) === 1);
  const order = lane ? [...outer.filter((a) => a !== lane), lane] : outer;
  return order.reduceRight<readonly Statement[]>(
    (body, axis) => [loopOver(axis, body, { vector: axis === lane })],
    recorder.statements,
  );
}

/** target[at(position)] (set | add)= value(position). */
export function scatterKernel(
  { work, target, outer }: Computation,
  make: MakeRecorder,
): readonly Statement[] {
  if (work.kind !== "scatter") throw new InternalError("Expected a scatter");
  const recorder = make([]);
  const position = symbolsOf(outer);
  const to = work.target(recorder, position);
  const value = recorder.cast(work.value(recorder, position), target.dtype);
  recorder.store(target, flatIndex(target, to), { value, mode: work.mode });
  // An axis that is itself an index of the target maps different positions to different elements
  const free = new Set<Sym>(to.filter((d): d is Sym => typeof d !== "number"));
  const ordered = outer.filter((axis) => !free.has(axis.symbol) && axis.size !== 1);
  const parallel = outer.filter((axis) => free.has(axis.symbol) && axis.size !== 1);
  const ones = outer.filter((axis) => axis.size === 1);
  const at = flatIndex(target, to);
  const lane = parallel.find((axis) => coefficientOf(at, axis.symbol) === 1);
  // Independent axes go outermost, where threads divide them, and the contiguous axis innermost, vectorised
  const apart = parallel.filter((axis) => axis !== lane), inside = lane ? [lane] : [];
  const wrap = (axes: readonly Axis[], body: readonly Statement[], order: Loop["order"]) =>
    axes.reduceRight<readonly Statement[]>(
      (nested, axis) => [loopOver(axis, nested, { order, vector: axis === lane })],
      body,
    );
  const rows = wrap(ordered, wrap(inside, recorder.statements, "parallel"), "sequential");
  return wrap(ones, wrap(apart, rows, "parallel"), "sequential");
}
