/**
 * Restricts a loop kernel to some rows of a product, if each iteration of its outer loops touches one row of the
 * buffers. Rows are numbered through the whole batch.
 */
import { provablyEqual } from "../sym/decide.ts";
import {
  add,
  boundsOf,
  type Dim,
  floorDiv,
  freeSymbols,
  mod,
  mul,
  product,
  provablyLess,
  sub,
} from "../sym/expr.ts";
import type { Axis, BufferId, BufferView, ExternKernel, Kernel, LoopKernel, Statement } from "../loops/ir.ts";
import { mapStatements } from "../loops/map_statements.ts";
import { coefficientOf, loopOver, substituteIndices } from "../loops/nest.ts";
import { accessesOf } from "../loops/uses.ts";
import { axisOf } from "./strip_mining.ts";
import { isPure } from "./nests.ts";

/** The rows of a batch of matrices. */
export interface RowSpace {
  readonly batch: Dim;
  /** Of one matrix. */
  readonly rows: Dim;
}

/** Some rows of one matrix. */
export interface RowBlock extends RowSpace {
  /** Index of the matrix. */
  readonly matrix: Dim;
  readonly first: Dim;
  readonly count: Dim;
}

/** Elements of a row, by buffer. */
export type Widths = ReadonlyMap<BufferId, Dim>;

/** A kernel that works row by row. */
export interface ByRows {
  /** Includes those of the buffers that it is the first to write. */
  readonly widths: Widths;
  /** The kernel for a block, where local buffers hold only the rows of that block. */
  readonly forBlock: (block: RowBlock, isLocal: (buffer: BufferId) => boolean) => Kernel;
  /** A view to which the kernel of each block adds, instead of storing rows of it. Absent: none. */
  readonly adds?: BufferView;
}

/** Returns whether two sizes are known to be equal. */
export const isSame = (a: Dim, b: Dim): boolean => a === b || provablyEqual(a, b) === true;

/** Loops by rows; undefined if the statements do not have that form. */
export function rowKernel(kernel: LoopKernel, space: RowSpace, known: Widths): ByRows | undefined {
  const nest = outerLoops(kernel.body, space);
  if (!nest) return undefined;
  const { axes, before, body } = nest, last = axes.at(-1), widths = new Map(known);
  if (!last) return undefined;
  const walksRows = accessesOf(body).every(({ kind, buffer, index }) => {
    const own = coefficientOf(index, last.symbol);
    if (!widths.has(buffer)) {
      if (kind === "load") return true;
      if (own === undefined || boundsOf(own)[0] < 1) return false;
      widths.set(buffer, own);
    }
    const width = widths.get(buffer) ?? 0, rest = columnOf(index, axes, width);
    return boundsOf(rest)[0] >= 0 && provablyLess(rest, width) &&
      !axes.some(({ symbol }) => freeSymbols(rest).has(symbol));
  });
  if (!walksRows) return undefined;
  const forBlock: ByRows["forBlock"] = (block, isLocal) => {
    const row = axisOf("r", block.count), places = placesOf(axes, block, row.symbol);
    const inner = substituteIndices(
      localized(body, (buffer, index) => {
        const width = widths.get(buffer);
        if (width === undefined || !isLocal(buffer)) return index;
        return add(mul(row.symbol, width), columnOf(index, axes, width));
      }),
      (symbol) => {
        const at = axes.findIndex((axis) => axis.symbol === symbol);
        return at < 0 ? symbol : places[at] ?? symbol;
      },
    );
    return { ...kernel, body: [...before, loopOver(row, inner)] };
  };
  return { widths, forBlock };
}

/** A product of rows with whole matrices; undefined if the first operand or the result has different rows. */
export function productByRows(kernel: ExternKernel, space: RowSpace, known: Widths): ByRows | undefined {
  const { call, inputs: [a, b], outputs: [out] } = kernel;
  if (call.op !== "matmul" || call.accumulate || !a || !b || !out) return undefined;
  const [columns, rows = 1, batch = 1] = out.shape.toReversed();
  if (out.shape.length > 3 || !isSame(rows, space.rows) || !isSame(batch, space.batch)) return undefined;
  const width = known.get(a.buffer);
  if (known.has(b.buffer) || known.has(out.buffer) || (width !== undefined && !isDense(a, width))) {
    return undefined;
  }
  const widths = columns !== undefined && isDense(out, columns)
    ? new Map([...known, [out.buffer, columns]])
    : known;
  return {
    widths,
    forBlock(block, isLocal) {
      const inputs = [rowsIn(a, block, isLocal), matrixOf(b, block)];
      return { ...kernel, inputs, outputs: [rowsIn(out, block, isLocal)] };
    },
  };
}

/**
 * A product that sums over rows, as gradients of operands shared by all rows do: each block adds its own part.
 * Undefined if operands that hold rows are not whole matrices.
 */
export function productOverRows(kernel: ExternKernel, space: RowSpace, widths: Widths): ByRows | undefined {
  const { call, inputs: [a, b], outputs: [out] } = kernel;
  if (call.op !== "matmul" || call.accumulate || !a || !b || !out || widths.has(out.buffer)) return undefined;
  const batch = out.shape.at(-3) ?? 1, left = flipped(a);
  if (out.shape.length > 3 || !isSame(b.shape.at(-2) ?? 1, space.rows) || !isSame(batch, space.batch)) {
    return undefined;
  }
  const fits = (view: BufferView): boolean => {
    const width = widths.get(view.buffer);
    return width === undefined || isDense(view, width);
  };
  if (!fits(left) || !fits(b)) return undefined;
  return {
    widths,
    adds: out,
    forBlock(block, isLocal) {
      const call = { op: "matmul", accumulate: true } as const;
      const inputs = [flipped(rowsIn(left, block, isLocal)), rowsIn(b, block, isLocal)];
      return { ...kernel, call, inputs, outputs: [matrixOf(out, block)] };
    },
  };
}

/** A view with its last two dimensions transposed. */
export function flipped(view: BufferView): BufferView {
  const swap = (dims: readonly Dim[]) => [...dims.slice(0, -2), ...dims.slice(-2).toReversed()];
  return { ...view, shape: swap(view.shape), strides: swap(view.strides) };
}

/** The rows of a block. */
function rowsIn(view: BufferView, block: RowBlock, isLocal: (buffer: BufferId) => boolean): BufferView {
  const [, columns = 1] = view.shape.slice(-2), [row = 0, column = 0] = view.strides.slice(-2);
  const offset = isLocal(view.buffer) ? 0 : add(startOf(view, block), mul(block.first, row));
  return { ...view, offset, shape: [block.count, columns], strides: [row, column] };
}

/** The matrix of a block. */
export const matrixOf = (view: BufferView, block: RowBlock): BufferView => ({
  ...view,
  offset: startOf(view, block),
  shape: view.shape.slice(-2),
  strides: view.strides.slice(-2),
});

/** Returns the offset of a block's matrix. */
const startOf = ({ offset, strides }: BufferView, { matrix }: RowBlock): Dim =>
  strides.length > 2 ? add(offset, mul(matrix, strides[0] ?? 0)) : offset;

/**
 * Returns whether all rows of all matrices, each of this many elements, are contiguous from the start of the buffer.
 */
function isDense({ offset, shape, strides }: BufferView, width: Dim): boolean {
  const [last, row, matrix] = strides.toReversed(), [columns, rows = 1, batch = 1] = shape.toReversed();
  return offset === 0 && last === 1 && columns !== undefined && row !== undefined && isSame(columns, width) &&
    isSame(row, width) &&
    (batch === 1 || matrix === undefined || isSame(matrix, mul(rows, width)));
}

/** The parallel loops around everything that walk all rows, and their body. */
function outerLoops(body: readonly Statement[], { batch, rows }: RowSpace): {
  readonly axes: readonly Axis[];
  readonly before: readonly Statement[];
  readonly body: readonly Statement[];
} | undefined {
  const before = body.slice(0, -1), axes: Axis[] = [];
  if (!before.every(isPure)) return undefined;
  for (let inner = body.slice(-1); inner.length === 1;) {
    const [loop] = inner;
    if (loop?.kind !== "loop" || loop.order !== "parallel" || loop.vector) return undefined;
    axes.push(loop.axis);
    inner = loop.body.slice();
    const walked = product(axes.map(({ size }) => size));
    if (!isSame(walked, mul(batch, rows))) continue;
    const merged = axes.length === 1;
    return merged || isSame(loop.axis.size, rows) ? { axes, before, body: inner } : undefined;
  }
  return undefined;
}

/** Returns an index relative to the start of its row. */
function columnOf(index: Dim, axes: readonly Axis[], width: Dim): Dim {
  return axes.reduce<Dim>((rest, axis, at) => {
    const step = mul(product(axes.slice(at + 1).map(({ size }) => size)), width);
    return sub(rest, mul(axis.symbol, step));
  }, index);
}

/** Returns the loop counters of a row of a block, in loops over all rows. */
function placesOf(axes: readonly Axis[], { matrix, first, rows }: RowBlock, row: Dim): readonly Dim[] {
  const place = add(first, row);
  if (axes.length === 1) return [add(mul(matrix, rows), place)];
  return axes.map(({ size }, at) => {
    if (at === axes.length - 1) return place;
    const digit = floorDiv(matrix, product(axes.slice(at + 1, -1).map((axis) => axis.size)));
    return at === 0 ? digit : mod(digit, size);
  });
}

const localized = (
  body: readonly Statement[],
  indexOf: (buffer: BufferId, index: Dim) => Dim,
): readonly Statement[] =>
  mapStatements(
    body,
    (s) => s.kind === "load" || s.kind === "store" ? { ...s, index: indexOf(s.buffer, s.index) } : s,
  );
