/** Programs whose kernels are replaced. Input: a program; output: the same with other kernels in their places. */
import type { Kernel, Program } from "../loops/ir.ts";

/**
 * The program with each kernel replaced by some. The decision of its guard stays in front of what stood behind it. Gives
 * the program itself where every kernel stays.
 */
export function replaceKernels(program: Program, replace: (kernel: Kernel) => readonly Kernel[]): Program {
  const parts = program.kernels.map(replace);
  if (parts.every((part, i) => part.length === 1 && part[0] === program.kernels[i])) return program;
  const { guard } = program;
  return {
    ...program,
    kernels: parts.flat(),
    guard: guard && { ...guard, after: parts.slice(0, guard.after).flat().length },
  };
}
