/** Turns scatters into pointwise computations where possible. */
import { valueType } from "../base/dtype.ts";
import type { Element, Lowered } from "../loops/body.ts";
import { type Loader, Recorder } from "../loops/record.ts";
import type { Dim } from "../sym/expr.ts";
import { newAxis } from "./computation.ts";

/**
 * A scatter that writes one element of each row, as a selection for each element: result[i, j] = (j is row i's index) ?
 * value : base. It can be fused with its neighbours, whereas a scatter is a kernel of its own.
 */
export function scatterAsChoice(lowered: Lowered & { kind: "scatter" }): Element | undefined {
  const { shape, over, base, target, value, mode } = lowered;
  if (over.length !== shape.length) return undefined;
  const axes = over.map((size, d): Dim => newAxis(size, `i${d}`).symbol);
  // Only the form of the target matters, so loads may return anything
  const opaque: Loader = (o, operand, index) => {
    const dtype = valueType(operand.dtype);
    return o.emit(`any ${index}`, dtype, (id) => ({ kind: "load", id, buffer: 0, index: 0, dtype }));
  };
  const recorder = new Recorder(opaque);
  const to = target(recorder, axes);
  const chosen = to.flatMap((d, k) => d === axes[k] ? [] : [k]);
  const [at] = chosen;
  if (at === undefined || chosen.length !== 1 || over[at] !== 1) return undefined;
  if (over.some((size, k) => k !== at && size !== shape[k])) return undefined;
  return (o, index) => {
    const position = index.map((d, k) => k === at ? 0 : d);
    const here = o.eq(o.index(index[at] ?? 0, "int64"), o.index(target(o, position)[at] ?? 0, "int64"));
    const before = base(o, index), written = o.cast(value(o, position), o.dtypeOf(before));
    const sum = () => o.dtypeOf(before) === "bool" ? o.or(before, written) : o.add(before, written);
    return o.select(here, mode === "add" ? sum() : written, before);
  };
}
