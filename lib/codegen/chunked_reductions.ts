/**
 * Splits full reductions into chunks, so that threads divide them: the first of two kernels stores the results of the
 * chunks, and the second combines them in order. It runs after vector loops are chosen. Invariant: the chunks follow
 * from the sizes alone, so that every printer that runs this pass, on any number of threads, combines in the same
 * order.
 */
import { boundsOf, type Dim, floorDiv, max, mul } from "../sym/expr.ts";
import { isPosition } from "../loops/ir.ts";
import type { Loop, LoopKernel, Program } from "../loops/ir.ts";
import { collides } from "../loops/uses.ts";
import { isFixed, lengthOf } from "./strip_mining.ts";
import { type CutReduction, inTwo } from "./grid_reductions.ts";
import { replaceWithTemporaries } from "./kernels.ts";

/** Elements of a chunk. */
const CHUNK = 32768;

/** Splits the full reductions of a program. */
export function chunkedReductions(program: Program): Program {
  return replaceWithTemporaries(program, (kernel, temporary) => {
    const found = kernel.kind === "loops" ? chunkedReduction(kernel) : undefined;
    return found ? inTwo(found, temporary) : [kernel];
  });
}

/** The full reduction that a kernel consists of; undefined if it is something else, or too small. */
function chunkedReduction(kernel: LoopKernel): CutReduction | undefined {
  const { body } = kernel, loops = body.filter((s): s is Loop => s.kind === "loop"), [loop] = loops;
  if (loops.length !== 1 || !loop || loop.order !== "reduction" || loop.reductions.length === 0) {
    return undefined;
  }
  if (loop.carried.length > 0 || loop.reductions.some((r) => isPosition(r.op)) || collides(body)) {
    return undefined;
  }
  const count = elementsOf(loop);
  if (boundsOf(count)[1] <= 2 * CHUNK || !isFixed(count)) return undefined;
  const before = body.slice(0, body.indexOf(loop)), after = body.slice(body.indexOf(loop) + 1);
  if (before.some((s) => s.kind === "store" || s.kind === "masked")) return undefined;
  const length = max(1, floorDiv(CHUNK, max(1, elementsIn(loop))));
  return { kernel, around: [], before, loop, after, length };
}

/** Returns the number of innermost iterations of a nest (on its deepest path). */
const elementsOf = (loop: Loop): Dim => mul(lengthOf(loop.axis.size), elementsIn(loop));

/** Returns the number of innermost iterations in one iteration of its outermost loop. */
function elementsIn({ body }: Loop): Dim {
  const inner = body.filter((s): s is Loop => s.kind === "loop").map(elementsOf);
  return inner.reduce<Dim>(
    (most, d) =>
      typeof most === "number" && typeof d === "number" ? Math.max(most, d) : most === 1 ? d : most,
    1,
  );
}
