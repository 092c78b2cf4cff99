/** Nests of parallel loops around the whole body of a kernel. */
import type { Loop, Statement } from "../loops/ir.ts";
import { isPure } from "./loop_fission.ts";

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
