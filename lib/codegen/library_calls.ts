/**
 * Library calls that a target's library does not have, as loops; epilogues that it does not run, as kernels of their own.
 * Input: a program; output: one whose library calls the target runs as they stand.
 */
import type { DType } from "../base/dtype.ts";
import type { BufferId, ExternKernel, Kernel, Program } from "../loops/ir.ts";
import { externAsLoops } from "./extern_loops.ts";
import { replaceKernels } from "./kernels.ts";
import type { Target } from "./target.ts";

/** The program with the library calls of a target. */
export function libraryCalls(program: Program, target: Target): Program {
  const typeOf = (id: BufferId): DType => program.buffers[id]?.dtype ?? "float32";
  return replaceKernels(
    program,
    (kernel) => kernel.kind === "loops" ? [kernel] : expanded(kernel, target, typeOf),
  );
}

function expanded(kernel: ExternKernel, target: Target, typeOf: (id: BufferId) => DType): readonly Kernel[] {
  const dtypes = new Set([...kernel.inputs, ...kernel.outputs].map(({ buffer }) => typeOf(buffer)));
  const support = target.supports(kernel, dtypes), { epilogue, ...call } = kernel;
  if (support === "fused" || (support === "alone" && !epilogue)) return [kernel];
  return [support === "none" ? externAsLoops(kernel, typeOf) : call, ...(epilogue ? [epilogue] : [])];
}
