/**
 * Transposes once the operands that every block of rows reads by columns, such as the keys of attention: otherwise
 * each block packs them again. Invariant: rows of the copy are padded by a cache line, since at powers of two they
 * would compete for few cache sets.
 */
import type { DType } from "../base/dtype.ts";
import { type Dim, mul, product } from "../sym/expr.ts";
import type { BufferId, BufferView, Kernel } from "../loops/ir.ts";
import type { MakeTemporary } from "./kernels.ts";
import { pointwise } from "./vectorise.ts";

/** Elements of a line, and the minimum number of columns that is worth a copy. */
const LINE = 16, LEAST_COLUMNS = 64;

/** The transposed copy of an operand. */
interface Transposed {
  readonly view: BufferView;
  readonly copy: Kernel;
}

/** A new buffer as matrices whose rows are padded by a line, if their sizes are known. */
export function paddedRows(shape: readonly Dim[], make: (length: Dim) => BufferId): BufferView {
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
