/**
 * Finds a product of scores and the later kernels that work on the same rows, up to products with these rows, and
 * decides whether the kernels in between run before or after the chain. Invariant: kernels are reordered only if
 * neither reads or writes what the other writes.
 */
import { hintOf } from "../sym/decide.ts";
import { type Dim, mul, product } from "../sym/expr.ts";
import type { BufferId, ExternKernel, Kernel, Program } from "../loops/ir.ts";
import { Mentions, type Uses, usesOf } from "../loops/uses.ts";
import {
  type ByRows,
  isSame,
  productByRows,
  productOverRows,
  rowKernel,
  type RowSpace,
  type Widths,
} from "./row_form.ts";

/**
 * With deeper products, memory traffic between them hardly matters, and their operands are packed once for all rows.
 */
const MOST_DEPTH = 256;
/** Smaller results stay in the caches anyway. */
const LEAST_ELEMENTS = 1 << 14;
/** Number of kernels after a product that are searched for the rest of its chain. */
export const REACH = 16;

/** The scores of a product, by rows. */
export interface Scores {
  readonly buffer: BufferId;
  readonly space: RowSpace;
  readonly columns: Dim;
  /** Multiplications. */
  readonly work: Dim;
}

/** A product whose result is large compared to the depth of its sums. */
function scoresOf({ call, inputs: [a], outputs: [out] }: ExternKernel): Scores | undefined {
  if (call.op !== "matmul" || call.accumulate || !a || !out) return undefined;
  const [columns = 1, rows = 1, batch = 1] = out.shape.toReversed(), depth = a.shape.at(-1) ?? 1;
  const elements = product(out.shape);
  if (hintOf(depth) > Math.min(MOST_DEPTH, hintOf(columns)) || hintOf(elements) < LEAST_ELEMENTS) {
    return undefined;
  }
  return { buffer: out.buffer, space: { batch, rows }, columns, work: mul(elements, depth) };
}

/** Kernels of a program that form a chain. */
export interface Found {
  readonly chain: Chain;
  readonly scores: Scores;
  /** The first kernel, and the one after the last. */
  readonly at: number;
  readonly end: number;
  /** Returns whether only the chain needs a buffer of rows. */
  readonly isLocal: (buffer: BufferId) => boolean;
  /** Of the kernels of the program. */
  readonly mentions: Mentions;
}

/** Where to search for a chain. */
export interface Search {
  readonly at: number;
  /** Whether to fuse everything as large as the scores. */
  readonly whole: boolean;
  /** Of the program's kernels. */
  readonly mentions: Mentions;
}

/**
 * Returns the chain that starts at a product: with `whole`, as in a backward, it includes everything as large as the
 * scores; otherwise it ends at the first product of rows. Undefined if there is none.
 */
export function chainFrom(program: Program, { at, whole, mentions }: Search): Found | undefined {
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
    closed = joins && end > at && kernel.kind === "extern" &&
      (!whole || isFinished(chain, { scores, at: end, mentions }));
  }
  if (!closed) return undefined;
  const own = new Set(kernels.slice(at, end)), beside = [...chain.before, ...chain.after];
  const isLocal = (id: BufferId) =>
    program.buffers[id]?.role.kind === "temporary" && chain.widths.has(id) &&
    mentions.of(id).isSubsetOf(own) && !beside.some((kernel) => usesOf(kernel).all.has(id));
  return { chain, scores, at, end, isLocal, mentions };
}

/** The program with the kernels of a chain, and those in between, replaced; `mentions` are updated. */
export function withChain(
  program: Program,
  { at, end, mentions }: Found,
  instead: readonly Kernel[],
): Program {
  const { kernels, guard } = program;
  mentions.replace(kernels.slice(at, end), instead);
  return {
    ...program,
    kernels: [...kernels.slice(0, at), ...instead, ...kernels.slice(end)],
    guard: guard &&
      { ...guard, after: guard.after > at ? guard.after + instead.length - (end - at) : guard.after },
  };
}

/** Returns whether no later kernel needs anything as large as the scores. */
function isFinished(
  { program, widths, after }: Chain,
  { scores: { columns }, at, mentions }: {
    readonly scores: Scores;
    readonly at: number;
    readonly mentions: Mentions;
  },
): boolean {
  const isLater = (id: BufferId) =>
    after.some((kernel) => usesOf(kernel).all.has(id)) ||
    [...mentions.of(id)].some((kernel) => program.kernels.includes(kernel, at + 1));
  return ![...widths].some(([id, width]) =>
    program.buffers[id]?.role.kind === "temporary" && isSame(width, columns) && isLater(id)
  );
}

/** A product and the kernels that follow it. */
export class Chain {
  readonly steps: ByRows[] = [];
  /** The kernels of the chain; for calls, without prologues and epilogues. */
  readonly kernels: Kernel[] = [];
  /** The row widths of buffers that steps pass to each other. */
  widths: Widths = new Map();
  /** Unrelated kernels in between, and those that have to run after the chain. */
  readonly before: Kernel[] = [];
  readonly after: Kernel[] = [];
  readonly #own = new AllUses();
  readonly #waiting = new AllUses();

  constructor(readonly program: Program, readonly space: RowSpace, readonly beside: boolean) {}

  /** Takes a kernel into the chain; false if it is unrelated to it, or does not work by rows. */
  join(kernel: Kernel): boolean {
    const { space, widths, steps } = this;
    const follows = steps.length === 0 || [...usesOf(kernel).all].some((buffer) => widths.has(buffer)) ||
      (this.beside && this.#isBeside(kernel));
    if (!follows) return false;
    if (kernel.kind === "loops") {
      return this.#fits(kernel) && this.#push(kernel, rowKernel(kernel, space, widths));
    }
    // The epilogue of the last product need not join the chain: it may update operands of earlier products, and then
    // runs after all of them
    const { epilogue, prologues = [], ...call } = kernel;
    const step = productByRows(call, space, widths) ?? productOverRows(call, space, widths);
    if (!step || !this.#fits(call) || !prologues.every(({ nest }) => this.#isApart(nest))) return false;
    for (const { nest } of prologues) this.before.push(nest);
    this.#push(call, step);
    if (epilogue && !this.join(epilogue)) this.pass(epilogue);
    return true;
  }

  /** Returns whether a kernel may run in the chain: blocks read again what earlier blocks have read. */
  #fits(kernel: Kernel): boolean {
    const { all, written } = usesOf(kernel), isOther = (buffer: BufferId) => !this.widths.has(buffer);
    return ![...all].some((buffer) => isOther(buffer) && this.#own.written.has(buffer)) &&
      ![...written].some((buffer) => isOther(buffer) && this.#own.all.has(buffer)) &&
      !conflicts(kernel, this.#waiting);
  }

  /**
   * Returns whether a product computes scores of the same shape and rows, which later kernels combine with those of the
   * first.
   */
  #isBeside(kernel: Kernel): boolean {
    const scores = kernel.kind === "extern" ? scoresOf(kernel) : undefined, { batch, rows } = this.space;
    return scores !== undefined && isSame(scores.space.batch, batch) && isSame(scores.space.rows, rows);
  }

  #push(kernel: Kernel, step: ByRows | undefined): boolean {
    if (!step) return false;
    this.steps.push(step);
    this.kernels.push(kernel);
    this.widths = step.widths;
    this.#own.add(kernel);
    return true;
  }

  /** Moves a kernel before the chain if it is unrelated to it, else after it. */
  pass(kernel: Kernel): void {
    if (this.#isApart(kernel)) this.before.push(kernel);
    else {
      this.after.push(kernel);
      this.#waiting.add(kernel);
    }
  }

  #isApart(kernel: Kernel): boolean {
    return !conflicts(kernel, this.#waiting) && !conflicts(kernel, this.#own);
  }
}

/** Returns whether one writes what the other reads or writes. */
function conflicts(kernel: Kernel, others: Uses): boolean {
  const { all, written } = usesOf(kernel);
  return !written.isDisjointFrom(others.all) || !others.written.isDisjointFrom(all);
}

/** The combined uses of several kernels. */
class AllUses implements Uses {
  readonly all: Set<BufferId> = new Set();
  readonly written: Set<BufferId> = new Set();

  add(kernel: Kernel): void {
    const { all, written } = usesOf(kernel);
    for (const buffer of all) this.all.add(buffer);
    for (const buffer of written) this.written.add(buffer);
  }
}
