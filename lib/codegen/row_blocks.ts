/**
 * Fuses chains of products by blocks of rows, as in attention and its gradients (Dao et al. 2022): matrix products, the
 * kernels that reduce and change their rows, and the following products with these rows run in sequence on each block;
 * sums over rows, such as gradients of keys and values, accumulate from block to block. Intermediate rows are local to
 * a thread, so that a large matrix of scores is never in memory as a whole. The pass runs on loops in their final form.
 * Invariant: every element is computed as before, except that sums over rows are cut at blocks, in an order that does
 * not depend on the number of threads; kernels are reordered only if neither reads or writes what the other writes.
 * Products that sum over rows add up in groups of blocks, each of which has a sum of its own.
 */
import { type DType, itemSize } from "../base/dtype.ts";
import { hintOf } from "../sym/decide.ts";
import { add, ceilDiv, type Dim, floorDiv, max, min, mul, product, sub } from "../sym/expr.ts";
import type { Axis, Blocks, BufferDecl, BufferId, BufferView, Kernel, Program } from "../loops/ir.ts";
import { Mentions } from "../loops/uses.ts";
import { laidOut } from "../loops/arena.ts";
import { axisOf } from "./strip_mining.ts";
import { masksColumns, withoutMaskedColumns } from "./masked_columns.ts";
import { type MakeTemporary, rowMajor } from "./kernels.ts";
import {
  type Chain,
  chainFrom,
  type Found,
  REACH,
  type Scores,
  type Search,
  withChain,
} from "./row_chain.ts";
import { matrixOf, type RowBlock } from "./row_form.ts";
import type { Target } from "./target.ts";
import { transposedColumns } from "./transposed_operands.ts";
import { pointwise } from "./vectorise.ts";

/**
 * Minimum number of rows that are worth fusing; of rows that make blocks for many threads; of rows of a block if sizes
 * are symbolic.
 */
const LEAST_ROWS = 8, FEW_ROWS = 32, MANY_ROWS = 64;
/** Number of blocks that keeps threads busy. */
const BUSY = 32;
/**
 * Blocks of a matrix that are worth a transposed copy of operands read by columns, and blocks that waste little of a
 * causal mask's corners.
 */
const MANY_BLOCKS = 4, CAUSAL_BLOCKS = 16;

/** Fuses chains of products by blocks of rows. */
export function blocksOfRows(program: Program, target: Target): Program {
  let found = program;
  const mentions = new Mentions(program.kernels);
  for (let at = 0; at < found.kernels.length; at++) {
    if (!diesSoon(found, at, mentions)) continue;
    // First try to fuse everything as large as the scores, as in a backward; otherwise the scores alone
    found = blocksFrom(found, { at, whole: true, mentions }, target) ??
      blocksFrom(found, { at, whole: false, mentions }, target) ?? found;
  }
  return found === program ? program : laidOut(found);
}

/**
 * Returns whether only kernels within a chain's reach use the result of a product, unlike results saved for a backward.
 */
function diesSoon({ kernels, buffers }: Program, at: number, mentions: Mentions): boolean {
  const product = kernels[at], [out] = product?.kind === "extern" ? product.outputs : [];
  if (!out || buffers[out.buffer]?.role.kind !== "temporary") return false;
  const near = kernels.slice(at, at + REACH + 1);
  return [...mentions.of(out.buffer)].every((each) => near.includes(each));
}

/**
 * The program with the chain of the product at a position in blocks; undefined if the chain does not run row by row.
 */
function blocksFrom(
  program: Program,
  search: Search,
  { blockBytes, rowsInPlace }: Target,
): Program | undefined {
  const found = chainFrom(program, search);
  if (!found) return undefined;
  const { chain, scores, isLocal } = found;
  const rows = isLocal(scores.buffer) ? rowsOfBlock(found, blockBytes) : 0;
  const transposes = rows <= rowsInPlace && Math.ceil(hintOf(chain.space.rows) / rows) >= MANY_BLOCKS;
  const made = rows < LEAST_ROWS ? undefined : inBlocks(chain, { rows, transposes, scores, isLocal });
  if (!made) return undefined;
  const buffers = [...program.buffers, ...made.partial];
  for (const [id, width] of chain.widths) {
    const buffer = buffers[id];
    if (buffer && isLocal(id)) buffers[id] = { ...buffer, length: mul(rows, width), role: { kind: "local" } };
  }
  return { ...withChain(program, found, [...chain.before, ...made.kernels, ...chain.after]), buffers };
}

/**
 * Returns the number of rows that fit the local buffers while there are blocks for all threads, and while the columns
 * that a causal mask hides from each block are a good part of all.
 */
function rowsOfBlock(found: Found, blockBytes: number): number {
  const { chain, isLocal } = found, { widths, space, program } = chain;
  let bytes: Dim = 0;
  for (const [id, width] of widths) {
    if (isLocal(id)) bytes = add(bytes, mul(width, itemSize(program.buffers[id]?.dtype ?? "float64")));
  }
  if (typeof bytes !== "number") return MANY_ROWS;
  let rows = 2 ** Math.floor(Math.log2(blockBytes / bytes));
  const all = hintOf(space.rows), batch = hintOf(space.batch);
  while (rows > FEW_ROWS && batch * Math.ceil(all / rows) < BUSY) rows /= 2;
  const hides = masksColumns(found, { steps: chain.steps.length, rows: FEW_ROWS });
  while (hides && rows > FEW_ROWS && all < CAUSAL_BLOCKS * rows) rows /= 2;
  return typeof space.rows === "number" ? Math.min(rows, space.rows) : rows;
}

interface InBlocks {
  readonly kernels: readonly Kernel[];
  /** Buffers numbered after those of the program. */
  readonly partial: readonly BufferDecl[];
}

/** The steps on blocks of this many rows; undefined if there is only one block. */
function inBlocks(
  chain: Chain,
  { rows, transposes, scores: { columns, work }, isLocal }: {
    readonly rows: number;
    /** Whether operands that blocks read by columns are copied. */
    readonly transposes: boolean;
    readonly scores: Scores;
    readonly isLocal: (buffer: BufferId) => boolean;
  },
): InBlocks | undefined {
  const { steps, space, program } = chain;
  const matrix = axisOf("b", space.batch), count = floorDiv(add(space.rows, rows - 1), rows);
  const adds = steps.some((step) => step.adds), groups = groupsOf(space.batch, count);
  const part = axisOf("p", count), number = adds ? groups.block : part.symbol;
  const axes = [matrix, adds ? groups.axis : part].filter(({ size }) => size !== 1);
  if (axes.length === 0) return undefined;
  const first = count === 1 ? 0 : mul(number, rows), left = sub(space.rows, first);
  const even = typeof space.rows === "number" && space.rows % rows === 0;
  const block: RowBlock = {
    ...space,
    matrix: matrix.size === 1 ? 0 : matrix.symbol,
    first,
    count: even ? rows : min(rows, left),
  };
  const partial: BufferDecl[] = [];
  const temporary: MakeTemporary = (dtype, length) =>
    program.buffers.length +
    partial.push({
      name: `partial${partial.length}`,
      dtype,
      length,
      role: { kind: "temporary", offset: 0 },
    }) - 1;
  const sums = steps.map(({ adds }) => {
    const dtype = program.buffers[adds?.buffer ?? -1]?.dtype;
    return adds && dtype && sumsOf(adds, groups.count, { dtype, temporary });
  });
  const copies: Kernel[] = [];
  const kernels = steps.map(({ forBlock }, at): Kernel => {
    const kernel = forBlock(block, isLocal), sum = sums[at], given = chain.kernels[at];
    if (kernel.kind !== "extern" || given?.kind !== "extern") return kernel;
    if (sum) return { ...kernel, outputs: [matrixOf(sum.viewOf(groups.axis.symbol), block)] };
    const [, columns] = given.inputs, dtype = program.buffers[columns?.buffer ?? -1]?.dtype;
    const transposed = transposes && columns && dtype && transposedColumns(columns, { dtype, temporary });
    if (!transposed) return kernel;
    copies.push(transposed.copy);
    return { ...kernel, inputs: kernel.inputs.with(1, matrixOf(transposed.view, block)) };
  });
  const end = add(first, rows), seen = withoutMaskedColumns(kernels, { end, columns, isLocal });
  const order = adds ? { inOrder: groups.inOrder } : seen === kernels ? {} : { uneven: true };
  const blocks: Blocks = { axes, work, ...order };
  return {
    partial,
    kernels: [
      ...copies,
      ...sums.flatMap((sum) => sum?.clear ?? []),
      ...seen.map((kernel) => ({ ...kernel, blocks })),
      ...sums.flatMap((sum) => sum?.finish ?? []),
    ],
  };
}

/** Number of matrices, or of groups of their rows, that keeps threads busy. */
const BUSY_GROUPS = 8;

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
  const count = Math.max(1, Math.min(hintOf(blocks), Math.floor(BUSY_GROUPS / Math.max(1, hintOf(batch)))));
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
