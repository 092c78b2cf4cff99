/**
 * Sums over rows that blocks of rows accumulate: the order of the blocks, and kernels that clear the sums before and
 * combine them after. Invariant: an element is summed in one order, whatever the number of threads.
 */
import type { DType } from "../base/dtype.ts";
import { hintOf } from "../sym/decide.ts";
import { add, ceilDiv, type Dim, max, min, mul, product, sub } from "../sym/expr.ts";
import type { Axis, BufferView, Kernel } from "../loops/ir.ts";
import { axisOf } from "./strip_mining.ts";
import { type MakeTemporary, rowMajor } from "./kernels.ts";
import { pointwise } from "./vectorise.ts";

/** Number of matrices, or of groups of their rows, that keeps threads busy. */
const BUSY = 8;

/** The blocks of each matrix in groups, each of which is accumulated in order. */
export interface Groups {
  readonly count: number;
  /** Counters of the groups, and of the blocks in one. */
  readonly axis: Axis;
  readonly inOrder: Axis;
  /** The index of a block in its matrix. */
  readonly block: Dim;
}

/** Returns the smallest number of groups that keeps threads busy. */
export function groupsOf(batch: Dim, blocks: Dim): Groups {
  const count = Math.max(1, Math.min(hintOf(blocks), Math.floor(BUSY / Math.max(1, hintOf(batch)))));
  const each = ceilDiv(blocks, count), axis = axisOf("g", count);
  const first = mul(axis.symbol, each);
  const inOrder = axisOf("p", count === 1 ? blocks : max(0, min(each, sub(blocks, first))));
  return { count, axis, inOrder, block: count === 1 ? inOrder.symbol : add(first, inOrder.symbol) };
}

/** Partial sums that blocks accumulate in place of the view. */
export interface Sums {
  /** The partial sum of a group. */
  readonly viewOf: (group: Dim) => BufferView;
  readonly clear: Kernel;
  /** Undefined if the sums are the result themselves. */
  readonly finish: Kernel | undefined;
}

/** The sums of this many groups, combined into a view of elements of a type. */
export function sumsOf(
  out: BufferView,
  count: number,
  { dtype, temporary }: { readonly dtype: DType; readonly temporary: MakeTemporary },
): Sums {
  const clear = (to: BufferView) => pointwise("clear_sums", { ...to, dtype }, (o) => o.constant(0, dtype));
  if (count === 1) return { viewOf: () => out, clear: clear(out), finish: undefined };
  const size = product(out.shape), buffer = temporary(dtype, mul(size, count));
  const viewOf = (group: Dim): BufferView => ({ ...rowMajor(buffer, out.shape), offset: mul(group, size) });
  const all = rowMajor(buffer, [mul(size, count)]);
  return {
    viewOf,
    clear: clear(all),
    finish: pointwise("sum_groups", { ...out, dtype }, (o, index) => {
      const terms = Array.from({ length: count }, (_, g) => o.load({ ...viewOf(g), dtype }, index));
      return terms.reduce((sum, term) => o.add(sum, term));
    }),
  };
}
