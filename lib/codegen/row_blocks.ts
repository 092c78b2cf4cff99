/**
 * Products that are finished row by row, as attention and its gradients are (Dao et al. 2022): products of matrices, the
 * kernels that reduce and change their rows, and the products with these rows that follow run one after the other on blocks
 * of rows; what sums over rows, as gradients of keys and values do, is added up from block to block. What lies between them
 * is local to a thread, so that a large matrix of scores is never in memory as a whole. Input: a program whose loops are as
 * a target prints them; output: one with such kernels in blocks. Invariant: every element is computed as before, but that
 * sums over rows are cut at blocks, whose order no number of threads changes; kernels change places only where neither
 * reads or writes what the other writes.
 */
import { itemSize } from "../base/dtype.ts";
import { hintOf } from "../sym/decide.ts";
import { add, type Dim, floorDiv, min, mul, product, sub } from "../sym/expr.ts";
import type { Blocks, BufferDecl, BufferId, ExternKernel, Kernel, Program } from "../loops/ir.ts";
import { usesOf } from "../loops/uses.ts";
import { laidOut } from "./arena.ts";
import { axisOf } from "./cut_loop.ts";
import { withoutHidden } from "./hidden_columns.ts";
import type { MakeTemporary } from "./kernels.ts";
import {
  type ByRows,
  isSame,
  matrixOf,
  productByRows,
  productOverRows,
  type RowBlock,
  rowKernel,
  type RowSpace,
  type Widths,
} from "./row_form.ts";
import { groupsOf, sumsOf } from "./row_sums.ts";
import type { Target } from "./target.ts";

/** Deeper products take so long that memory between them does not matter, and their operands are packed once for all rows. */
const MOST_DEPTH = 256;
/** Smaller results stay in the caches anyway. */
const LEAST_ELEMENTS = 1 << 14;
/** Rows that are worth a product, that make blocks for many threads, and that are enough where sizes are the call's. */
const LEAST_ROWS = 8, FEW_ROWS = 32, MANY_ROWS = 64;
/** Blocks that keep threads busy. */
const BUSY = 32;
/** How many kernels behind a product are looked at for those that finish it. */
const REACH = 16;

/** The program with products finished row by row. */
export function blocksOfRows(program: Program, { blockBytes }: Target): Program {
  let found = program;
  for (let at = 0; at < found.kernels.length; at++) {
    found = blocksFrom(found, { at, blockBytes, whole: true }) ??
      blocksFrom(found, { at, blockBytes, whole: false }) ?? found;
  }
  return found === program ? program : laidOut(found);
}

/** A product and the kernels behind it. */
class Chain {
  readonly steps: ByRows[] = [];
  /** Of the buffers that steps hand to each other. */
  widths: Widths = new Map();
  /** Kernels in between that have to do with others only, and those that have to wait. */
  readonly before: Kernel[] = [];
  readonly after: Kernel[] = [];
  readonly #own = new Uses();
  readonly #waiting = new Uses();

  constructor(readonly program: Program, readonly space: RowSpace, readonly beside: boolean) {}

  /** Takes a kernel into the chain; false where it has nothing to do with it, or does not work by rows. */
  join(kernel: Kernel): boolean {
    const { space, widths, steps } = this, { all, written } = usesOf(kernel);
    const follows = steps.length === 0 || [...all].some((buffer) => widths.has(buffer)) ||
      (this.beside && this.#isBeside(kernel));
    const others = [...all].some((buffer) => this.#own.written.has(buffer) && !widths.has(buffer));
    // Blocks read again what former ones have read
    const spoils = [...written].some((buffer) =>
      !widths.has(buffer) && (this.#own.all.has(buffer) || this.#isInput(buffer))
    );
    if (!follows || others || spoils || this.#meets(kernel, this.#waiting)) return false;
    if (kernel.kind === "loops") return this.#push(kernel, rowKernel(kernel, space, widths));
    const { epilogue, prologues = [], ...call } = kernel;
    const step = productByRows(call, space, widths) ?? productOverRows(call, space, widths);
    if (!step || !prologues.every(({ nest }) => this.#isApart(nest))) return false;
    for (const { nest } of prologues) this.before.push(nest);
    this.#push(call, step);
    if (epilogue && !this.join(epilogue)) this.pass(epilogue);
    return true;
  }

  /** Whether a product has as many scores of the same rows, which later kernels combine with those of the first. */
  #isBeside(kernel: Kernel): boolean {
    const scores = kernel.kind === "extern" ? scoresOf(kernel) : undefined, { batch, rows } = this.space;
    return scores !== undefined && isSame(scores.space.batch, batch) && isSame(scores.space.rows, rows);
  }

  #push(kernel: Kernel, step: ByRows | undefined): boolean {
    if (!step) return false;
    this.steps.push(step);
    this.widths = step.widths;
    this.#own.add(kernel);
    return true;
  }

  /** Puts a kernel in front of the chain where it has nothing to do with it, else behind. */
  pass(kernel: Kernel): void {
    if (this.#isApart(kernel)) this.before.push(kernel);
    else {
      this.after.push(kernel);
      this.#waiting.add(kernel);
    }
  }

  #isApart(kernel: Kernel): boolean {
    return !this.#meets(kernel, this.#waiting) && !this.#meets(kernel, this.#own);
  }

  /** Whether one writes what the other reads or writes. Inputs may share memory with each other. */
  #meets(kernel: Kernel, others: Uses): boolean {
    const { all, written } = usesOf(kernel);
    const isInput = (buffer: BufferId) => this.#isInput(buffer);
    const meets = (writes: ReadonlySet<BufferId>, uses: ReadonlySet<BufferId>) =>
      [...writes].some((buffer) => uses.has(buffer) || (isInput(buffer) && [...uses].some(isInput)));
    return meets(written, others.all) || meets(others.written, all);
  }

  #isInput(buffer: BufferId): boolean {
    return this.program.buffers[buffer]?.role.kind === "input";
  }
}

/** What several kernels touch. */
class Uses {
  readonly all: Set<BufferId> = new Set();
  readonly written: Set<BufferId> = new Set();

  add(kernel: Kernel): void {
    const { all, written } = usesOf(kernel);
    for (const buffer of all) this.all.add(buffer);
    for (const buffer of written) this.written.add(buffer);
  }
}

interface Place {
  readonly at: number;
  readonly blockBytes: number;
  /** Whether everything that is as large as the scores is finished, as in a backward; else the scores alone. */
  readonly whole: boolean;
}

/** The program with the product at a place in blocks; undefined where it is not finished row by row. */
function blocksFrom(program: Program, { at, blockBytes, whole }: Place): Program | undefined {
  const { kernels, guard } = program, start = kernels[at];
  const scores = start?.kind === "extern" && !start.blocks ? scoresOf(start) : undefined;
  if (!scores) return undefined;
  const chain = new Chain(program, scores.space, whole);
  let end = at, closed = false;
  for (; end < kernels.length && end <= at + REACH && !closed; end++) {
    const kernel = kernels[end];
    if (!kernel || kernel.blocks || (end > at && guard?.after === end)) return undefined;
    const joins = chain.join(kernel);
    if (!joins && end === at) return undefined;
    if (!joins) chain.pass(kernel);
    closed = joins && end > at && kernel.kind === "extern" && (!whole || isFinished(chain, scores, end));
  }
  if (!closed) return undefined;
  const others = [...kernels.slice(0, at), ...kernels.slice(end), ...chain.before, ...chain.after];
  const outside = new Set(others.flatMap((kernel) => [...usesOf(kernel).all]));
  const isLocal = (id: BufferId) =>
    program.buffers[id]?.role.kind === "temporary" && chain.widths.has(id) && !outside.has(id);
  const rows = isLocal(scores.buffer) ? rowsOfBlock(chain, isLocal, blockBytes) : 0;
  const made = rows < LEAST_ROWS ? undefined : inBlocks(chain, { rows, scores, isLocal });
  if (!made) return undefined;
  const replaced = [...chain.before, ...made.kernels, ...chain.after];
  const buffers = program.buffers.map((buffer, id): BufferDecl =>
    isLocal(id)
      ? { ...buffer, length: mul(rows, chain.widths.get(id) ?? 0), role: { kind: "local" } }
      : buffer
  );
  return {
    ...program,
    buffers: [...buffers, ...made.partial],
    kernels: [...kernels.slice(0, at), ...replaced, ...kernels.slice(end)],
    guard: guard &&
      { ...guard, after: guard.after > at ? guard.after + replaced.length - (end - at) : guard.after },
  };
}

/** Whether no later kernel needs what is as large as the scores. */
function isFinished({ program, widths, after }: Chain, { columns }: Scores, at: number): boolean {
  const later = new Set([...after, ...program.kernels.slice(at + 1)].flatMap((k) => [...usesOf(k).all]));
  return ![...widths].some(([id, width]) =>
    program.buffers[id]?.role.kind === "temporary" && isSame(width, columns) && later.has(id)
  );
}

interface Scores {
  readonly buffer: BufferId;
  readonly space: RowSpace;
  readonly columns: Dim;
  /** Multiplications. */
  readonly work: Dim;
}

/** A product whose result is large against the depth of its sums. */
function scoresOf({ call, inputs: [a], outputs: [out] }: ExternKernel): Scores | undefined {
  if (call.op !== "matmul" || call.accumulate || !a || !out) return undefined;
  const [columns = 1, rows = 1, batch = 1] = out.shape.toReversed(), depth = a.shape.at(-1) ?? 1;
  const elements = product(out.shape);
  if (hintOf(depth) > Math.min(MOST_DEPTH, hintOf(columns)) || hintOf(elements) < LEAST_ELEMENTS) {
    return undefined;
  }
  return { buffer: out.buffer, space: { batch, rows }, columns, work: mul(elements, depth) };
}

/** How many rows of the local buffers there is room for, as long as there are blocks for all threads. */
function rowsOfBlock(
  { widths, space, program }: Chain,
  isLocal: (buffer: BufferId) => boolean,
  blockBytes: number,
): number {
  let bytes: Dim = 0;
  for (const [id, width] of widths) {
    if (isLocal(id)) bytes = add(bytes, mul(width, itemSize(program.buffers[id]?.dtype ?? "float64")));
  }
  if (typeof bytes !== "number") return MANY_ROWS;
  let rows = 2 ** Math.floor(Math.log2(blockBytes / bytes));
  const all = hintOf(space.rows), batch = hintOf(space.batch);
  while (rows > FEW_ROWS && batch * Math.ceil(all / rows) < BUSY) rows /= 2;
  return typeof space.rows === "number" ? Math.min(rows, space.rows) : rows;
}

interface InBlocks {
  readonly kernels: readonly Kernel[];
  /** Buffers behind those of the program. */
  readonly partial: readonly BufferDecl[];
}

/** The steps on blocks of so many rows; undefined where there is but one. */
function inBlocks(
  { steps, space, program }: Chain,
  { rows, scores: { columns, work }, isLocal }: {
    readonly rows: number;
    readonly scores: Scores;
    readonly isLocal: (buffer: BufferId) => boolean;
  },
): InBlocks | undefined {
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
  const blocks: Blocks = { axes, work, ...adds ? { inOrder: groups.inOrder } : {} };
  const kernels = steps.map(({ forBlock }, at): Kernel => {
    const kernel = forBlock(block, isLocal), sum = sums[at];
    return kernel.kind === "extern" && sum
      ? { ...kernel, outputs: [matrixOf(sum.viewOf(groups.axis.symbol), block)] }
      : kernel;
  });
  const end = add(first, rows), seen = withoutHidden(kernels, { end, columns, isLocal });
  return {
    partial,
    kernels: [
      ...sums.flatMap((sum) => sum?.clear ?? []),
      ...seen.map((kernel) => ({ ...kernel, blocks })),
      ...sums.flatMap((sum) => sum?.finish ?? []),
    ],
  };
}
