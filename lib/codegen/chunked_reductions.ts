/**
 * Reductions of everything in chunks, so that threads share them out. Input: a program with vector loops chosen;
 * output: one where such a reduction is two kernels, of which the first stores the results of the chunks and the second
 * combines them in order. Invariant: where to cut follows from the sizes alone, so that every printer that runs this
 * pass, on however many threads, combines in one order.
 */
import { boundsOf, type Dim, floorDiv, max, mul } from "../sym/expr.ts";
import { isPosition } from "../loops/ir.ts";
import type { Loop, Program, Reduction, Statement } from "../loops/ir.ts";
import { collides } from "../loops/uses.ts";
import { valueTypes } from "../loops/value_types.ts";
import { cutLoop, isFixed, lengthOf } from "./cut_loop.ts";
import { type MakeTemporary, replaceWithTemporaries } from "./kernels.ts";

/** Elements of a chunk. */
const CHUNK = 32768;

/** Cuts the reductions of a program. */
export function chunkedReductions(program: Program): Program {
  return replaceWithTemporaries(program, (kernel, temporary) => {
    if (kernel.kind !== "loops") return [kernel];
    const found = chunkedReduction(kernel.body, temporary);
    if (!found) return [kernel];
    return [{ ...kernel, name: `${kernel.name}_parts`, body: found.parts }, { ...kernel, body: found.end }];
  });
}

/** A reduction in chunks. */
interface ChunkedReduction {
  /** Stores the results of the chunks. */
  readonly parts: readonly Statement[];
  /** Combines them, and does what follows the reduction. */
  readonly end: readonly Statement[];
}

/**
 * The reduction of everything that statements are; undefined where they are something else, or little. `buffer` makes
 * a buffer for the results of so many chunks.
 */
function chunkedReduction(
  body: readonly Statement[],
  buffer: MakeTemporary,
): ChunkedReduction | undefined {
  const loops = body.filter((s): s is Loop => s.kind === "loop"), [loop] = loops;
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
  const { axis, part: chunk } = cutLoop(loop, max(1, floorDiv(CHUNK, max(1, elementsIn(loop)))));
  const kept = loop.reductions.map((r) => ({ r, buffer: buffer(r.dtype, axis.size) }));
  const stores = kept.map(({ r, buffer }): Statement => ({
    kind: "store",
    buffer,
    index: axis.symbol,
    value: r.id,
    mode: "set",
  }));
  const plain = { kind: "loop", axis, vector: false, carried: [] } as const;
  let next = Math.max(-1, ...valueTypes(body).keys()) + 1;
  const loads = kept.map(({ r, buffer }) =>
    ({ kind: "load", id: next++, buffer, index: axis.symbol, dtype: r.dtype }) as const
  );
  const combine: Loop = {
    ...plain,
    order: "reduction",
    body: loads,
    reductions: loop.reductions.map((r, n): Reduction => ({ ...r, value: loads[n]?.id ?? r.value })),
  };
  return {
    parts: [{ ...plain, order: "parallel", body: [...before, chunk, ...stores], reductions: [] }],
    end: [...before, combine, ...after],
  };
}

/** How many innermost iterations a nest has (of its deepest path). */
const elementsOf = (loop: Loop): Dim => mul(lengthOf(loop.axis.size), elementsIn(loop));

/** How many of them one iteration of its outermost loop has. */
function elementsIn({ body }: Loop): Dim {
  const inner = body.filter((s): s is Loop => s.kind === "loop").map(elementsOf);
  return inner.reduce<Dim>(
    (most, d) =>
      typeof most === "number" && typeof d === "number" ? Math.max(most, d) : most === 1 ? d : most,
    1,
  );
}
