/**
 * Nests of parallel loops around the whole body of a kernel, and loop fission, which splits independent loops of a
 * kernel into separate kernels, so that each is mapped to threads or to a grid separately. Invariant: statements before
 * the loops are repeated for each, and nothing that they read changes.
 */
import type { Loop, LoopKernel, Program, Statement } from "../loops/ir.ts";
import { usesOf } from "../loops/uses.ts";
import { replaceKernels } from "./kernels.ts";

/** The parallel loops around everything, and the body of each of their points. */
export interface Nest {
  readonly loops: readonly Loop[];
  readonly body: readonly Statement[];
}

/** The nest of a kernel. Each point recomputes the statements between its loops. */
export function nestOf(body: readonly Statement[]): Nest {
  const loops: Loop[] = [], values: Statement[] = [];
  let level = body;
  for (;;) {
    const last = level.at(-1), before = level.slice(0, -1);
    const next = last?.kind === "loop" && last.order === "parallel" ? last : undefined;
    if (!next || !before.every(isPure)) break;
    loops.push(next);
    values.push(...before);
    level = next.body;
  }
  return { loops, body: [...values, ...level] };
}

/** Wraps statements in loops, the first outermost. */
export const inLoops = (loops: readonly Loop[], body: readonly Statement[]): readonly Statement[] =>
  loops.reduceRight<readonly Statement[]>((inner, loop) => [{ ...loop, body: inner }], body);

/** Splits the independent loops of kernels. */
export const loopFission = (program: Program): Program =>
  replaceKernels(program, (kernel) => kernel.kind === "loops" ? separated(kernel) : [kernel]);

function separated(kernel: LoopKernel): readonly LoopKernel[] {
  const { body } = kernel, values = body.filter(isPure), loops = body.filter((s) => s.kind === "loop");
  if (loops.length < 2 || values.length + loops.length < body.length) return [kernel];
  if (loops.some((loop) => loop.reductions.length + loop.carried.length > 0)) return [kernel];
  const { written } = usesOf(kernel), { all: read } = usesOf({ ...kernel, body: values });
  if ([...read].some((buffer) => written.has(buffer))) return [kernel];
  return loops.map((loop, i) => ({ ...kernel, name: `${kernel.name}_${i}`, body: [...values, loop] }));
}

/** Returns whether a statement only computes values, without loops. */
export const isPure = (s: Statement): boolean =>
  s.kind !== "loop" && s.kind !== "store" && (s.kind !== "masked" || s.body.every(isPure));
