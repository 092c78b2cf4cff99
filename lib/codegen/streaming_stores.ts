/**
 * Marks loops whose results may be written past the caches. A store to a line that is not cached reads the line first
 * and evicts others: a simple op over a result that is not cached takes up to twice its time. Runs at the end of code
 * generation. Invariant: the computed values stay the same; each call decides by whether its results may still be
 * cached.
 */
import { itemSize } from "../base/dtype.ts";
import { boundsOf, type Dim, freeSymbols } from "../sym/expr.ts";
import type { BufferDecl, BufferId, Kernel, Loop, LoopKernel, Program, Statement } from "../loops/ir.ts";
import { coefficientOf } from "../loops/nest.ts";
import { SCALAR_OPS } from "../loops/scalar.ts";
import { allOf } from "../loops/uses.ts";
import { replaceKernels } from "./kernels.ts";

/** Smaller results are better kept in the caches. */
const LEAST_BYTES = 2 ** 18;

/** In programs with more kernels each result takes a small part of the time, and a short source matters more. */
const MOST_KERNELS = 8;

/** Weight of an element, loads and stores counted as 4, above which computing it takes as long as storing it. */
const MOST_WORK = 64;

/** Minimum number of iterations of a loop: several lines of each result besides those at its ends. */
const LEAST_LENGTH = 256;

/** Maximum number of statements of a loop, which is printed twice. */
const MOST_STATEMENTS = 40;

/** Marks such loops of a program. */
export function streamingStores(program: Program): Program {
  if (program.kernels.length > MOST_KERNELS) return program;
  return replaceKernels(program, (kernel) => [isAlone(kernel) ? marked(kernel, program.buffers) : kernel]);
}

const isAlone = (kernel: Kernel): kernel is LoopKernel =>
  kernel.kind === "loops" && !kernel.blocks && !kernel.table;

function marked(kernel: LoopKernel, buffers: readonly BufferDecl[]): LoopKernel {
  const all = [...allOf(kernel.body)],
    read = new Set(all.flatMap((s) => s.kind === "load" ? [s.buffer] : []));
  const isFit = (id: BufferId): boolean => !read.has(id) && isLargeResult(buffers[id]);
  // During parts of a row that store nothing, memory would be idle, and later parts would wait for it
  if (all.some(reduces) || !all.some((s) => s.kind === "loop" && streams(s, isFit))) return kernel;
  const visit = (body: readonly Statement[]): readonly Statement[] =>
    body.map((s) => {
      if (s.kind !== "loop") return s;
      return streams(s, isFit) ? { ...s, streams: true } : { ...s, body: visit(s.body) };
    });
  return { ...kernel, body: visit(kernel.body) };
}

const reduces = (s: Statement): boolean =>
  s.kind === "loop" && s.reductions.length + s.carried.length + (s.folds?.length ?? 0) > 0;

function isLargeResult(buffer: BufferDecl | undefined): boolean {
  if (buffer?.role.kind !== "output") return false;
  const [, most] = boundsOf(buffer.length);
  return most * itemSize(buffer.dtype) >= LEAST_BYTES;
}

/** Returns whether a loop's body is short, runs in lanes, reads from known places, and stores adjacent results. */
function streams({ vector, body, axis }: Loop, isFit: (id: BufferId) => boolean): boolean {
  if (!vector || boundsOf(axis.size)[1] < LEAST_LENGTH) return false;
  if (body.length > MOST_STATEMENTS || body.reduce((sum, s) => sum + workOf(s), 0) > MOST_WORK) return false;
  const stores = body.filter((s) => s.kind === "store");
  const isPlain = (s: Statement) =>
    s.kind === "load"
      ? coefficientOf(s.index, axis.symbol) !== undefined && !isIndirect(s.index)
      : s.kind !== "loop" && s.kind !== "masked";
  // Streamed lines are written more slowly than evicted ones, unless there are reads in between
  return stores.length > 0 && body.some((s) => s.kind === "load") && body.every(isPlain) &&
    stores.every(({ mode, buffer, index }) =>
      mode === "set" && isFit(buffer) && coefficientOf(index, axis.symbol) === 1 && !isIndirect(index)
    );
}

/** Whether an index is computed by the kernel. */
const isIndirect = (index: Dim): boolean =>
  typeof index !== "number" &&
  [...freeSymbols(index)].some(({ node }) => node.kind === "symbol" && node.role.kind === "value");

function workOf(s: Statement): number {
  if (s.kind === "load" || s.kind === "store") return 4;
  return s.kind === "scalar" ? SCALAR_OPS[s.op].weight : 0;
}
