/**
 * The frame that a program's native code is called with, a table of doubles: number of threads, addresses of library
 * routines and of parts, inputs, outputs, the arena, the values of the sizes, then the address of the times (before the
 * first call and after each, in seconds) or 0; then a bit for each of the first outputs, whether the caches have lost it.
 */

/** Number of entries of each kind in a program's frame. */
interface FrameCounts {
  readonly inputs: number;
  readonly outputs: number;
  readonly sizes: number;
}

/** Offsets in the frame. */
export interface FrameLayout {
  readonly routines: number;
  readonly inputs: number;
  readonly outputs: number;
  readonly arena: number;
  readonly sizes: number;
  readonly times: number;
  readonly far: number;
  readonly length: number;
}

/** Number of outputs with a bit in the frame, whether they are far from the caches. */
export const FAR_OUTPUTS = 32;

/** The layout of the frame of a program that calls these routines and parts. */
export function frameLayout(counts: FrameCounts, routineCount: number): FrameLayout {
  const routines = 1, inputs = routines + routineCount, outputs = inputs + counts.inputs;
  const arena = outputs + counts.outputs, sizes = arena + 1, times = sizes + counts.sizes;
  const far = times + 1;
  return { routines, inputs, outputs, arena, sizes, times, far, length: far + 1 };
}

/** Number of doubles of the record of a kept operand, an input of the frame. */
export const RECORD = 3;
