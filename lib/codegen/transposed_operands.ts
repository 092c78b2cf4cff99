/**
 * Transposes once the operands that many products read by columns, such as the weight of a recurrent layer in each of
 * its steps. Invariant: nothing writes the operand between the first and the last of these products. Operands that
 * every block of rows reads by columns, such as the keys of attention, are transposed likewise; rows of copies are
 * padded by a cache line, since at powers of two they would compete for few cache sets.
 */
import { type DType, valueType } from "../base/dtype.ts";
import type { BufferId, BufferView, ExternKernel, Kernel, Program } from "../loops/ir.ts";
import { recordLowered } from "../loops/nest.ts";
import { isRegion, type RegionKernel } from "../loops/regions.ts";
import { usesOf } from "../loops/uses.ts";
import { type MakeTemporary, replaceWithTemporaries } from "./kernels.ts";
import type { Target } from "./target.ts";
import { type Dim, mul, product } from "../sym/expr.ts";
import { pointwise } from "./vectorise.ts";

/** Number of products that are worth a copy. */
const MANY = 8;
/** Products of fewer rows read whole columns at the speed of memory. */
const FEW = 4;

/** The products that read one view by columns, by position in the program. */
interface Shared {
  readonly view: BufferView;
  readonly places: number[];
}

/** Adds transposed copies of operands to a program. */
export function transposedOperands(program: Program, target: Target): Program {
  const found = shared(program, target), first = new Map(found.map((each) => [each.places[0] ?? 0, each]));
  if (found.length === 0) return program;
  const copies = new Map<number, BufferView>();
  let place = 0;
  return replaceWithTemporaries(program, (kernel, temporary) => {
    const own = first.get(place), made: Kernel[] = [];
    if (own) {
      const { view, places } = own, dtype = program.buffers[view.buffer]?.dtype ?? "float32";
      const copy = paddedRows(view.shape, (length) => temporary(dtype, length));
      const from = { ...view, dtype };
      made.push(
        recordLowered(
          { kind: "pointwise", shape: view.shape, dtype, element: (o, index) => o.load(from, index) },
          [{ ...copy, dtype }],
          { name: `rows_of_${program.buffers[view.buffer]?.name ?? "operand"}` },
        ),
      );
      for (const each of places) copies.set(each, copy);
    }
    const copy = copies.get(place++);
    made.push(copy && kernel.kind === "extern" ? { ...kernel, inputs: kernel.inputs.with(1, copy) } : kernel);
    return made;
  });
}

/** Returns whether a call of a region reads an operand that so many calls read. */
export function sharesOperands({ kernels }: Program): (kernel: RegionKernel) => boolean {
  const operandsOf = ({ call: { program }, inputs }: RegionKernel): BufferId[] =>
    program.kernels.flatMap((kernel) => {
      const at = kernel.kind === "extern" ? program.inputs.indexOf(kernel.inputs[1]?.buffer ?? -1) : -1;
      return inputs[at]?.buffer ?? [];
    });
  const counts = new Map<BufferId, number>();
  for (const operand of kernels.filter(isRegion).flatMap(operandsOf)) {
    counts.set(operand, (counts.get(operand) ?? 0) + 1);
  }
  return (kernel) => operandsOf(kernel).some((operand) => (counts.get(operand) ?? 0) >= MANY);
}

function shared({ kernels, buffers }: Program, target: Target): readonly Shared[] {
  const all = new Map<string, Shared>();
  kernels.forEach((kernel, place) => {
    const view = kernel.kind === "extern" ? readByColumns(kernel, target) : undefined;
    const dtype = view && buffers[view.buffer]?.dtype;
    if (!view || !dtype || valueType(dtype) !== dtype) return;
    const key = [view.buffer, view.offset, ...view.shape, ...view.strides].join(" ");
    const known = all.get(key);
    if (known) known.places.push(place);
    else all.set(key, { view, places: [place] });
  });
  const many = [...all.values()].filter(({ places }) => places.length >= MANY);
  if (many.length === 0) return many;
  const written = kernels.map((kernel) => usesOf(kernel).written);
  return many.filter(({ view, places }) =>
    !written.slice(places[0], places.at(-1)).some((buffers) => buffers.has(view.buffer))
  );
}

/** The second operand of a product, if its columns are contiguous and its rows would otherwise be read in place. */
function readByColumns(
  { call, inputs: [, b], outputs: [out], prologues, weights }: ExternKernel,
  target: Target,
): BufferView | undefined {
  if (call.op !== "matmul" || !b || !out || prologues || weights || b.shape.length !== 2) return undefined;
  const [rows] = out.shape, known = [b.offset, ...b.shape, ...b.strides];
  if (typeof rows !== "number" || rows < FEW || rows > target.rowsInPlace) return undefined;
  if (!known.every((each) => typeof each === "number") || out.strides[1] !== 1) return undefined;
  return b.strides[0] === 1 && b.strides[1] !== 1 && b.shape[0] !== 1 && b.shape[1] !== 1 ? b : undefined;
}

/** Elements of a line, and the minimum number of columns that is worth a copy. */
const LINE = 16, LEAST_COLUMNS = 64;

/** The transposed copy of an operand. */
interface Transposed {
  readonly view: BufferView;
  readonly copy: Kernel;
}

/** A new buffer as matrices whose rows are padded by a line, if their sizes are known. */
function paddedRows(shape: readonly Dim[], make: (length: Dim) => BufferId): BufferView {
  const [rows = 1, columns = 1] = shape.slice(-2);
  const width = typeof columns === "number" ? (Math.ceil(columns / LINE) + 1) * LINE : columns;
  const matrix = mul(rows, width), buffer = make(mul(product(shape.slice(0, -2)), matrix));
  return { buffer, offset: 0, shape, strides: [matrix, width, 1].slice(-shape.length) };
}

/** The transposed copy of an operand; undefined if it is not read by columns, or its sizes are symbolic. */
export function transposedColumns(
  view: BufferView,
  { dtype, temporary }: { readonly dtype: DType; readonly temporary: MakeTemporary },
): Transposed | undefined {
  const { shape, strides } = view, [rows = 1, columns = 1] = shape.slice(-2);
  if (strides.at(-2) !== 1 || strides.at(-1) === 1 || typeof rows !== "number") return undefined;
  if (typeof columns !== "number" || columns < LEAST_COLUMNS) return undefined;
  const transposed = paddedRows(shape, (length) => temporary(dtype, length));
  const from = { ...view, dtype }, to = { ...transposed, dtype };
  return { view: transposed, copy: pointwise("transposed_columns", to, (o, index) => o.load(from, index)) };
}
