/**
 * Transposes weights that products read along their depth, on devices that read them faster across, for programs whose
 * calls keep such copies: weights of layers are stored by output features. Invariant: the program writes none of them.
 */
import type { BufferId, ExternKernel, Kernel, Program } from "../loops/ir.ts";
import { replaceWithTemporaries } from "./kernels.ts";
import type { Target } from "./target.ts";
import { transposedColumns } from "./transposed_operands.ts";

/** Adds a transposed copy in front of each product for which the target wants one. */
export function transposedWeights(program: Program, { grid }: Target): Program {
  if (!grid) return program;
  return replaceWithTemporaries(program, (kernel, temporary): readonly Kernel[] => {
    const [first, second, ...others] = kernel.kind === "extern" ? kernel.inputs : [];
    if (kernel.kind !== "extern" || !first || !second || !isProductOfMatrices(kernel)) return [kernel];
    const { dtype } = program.buffers[second.buffer] ?? {};
    if (!isWeight(second.buffer, program) || dtype !== "float32" || !grid.transposes(kernel)) return [kernel];
    const made = transposedColumns(second, { dtype, temporary });
    return made ? [made.copy, { ...kernel, inputs: [first, made.view, ...others] }] : [kernel];
  }, "replaced");
}

const isProductOfMatrices = (
  { call, prologues, weights, computed, inputs: [, second] }: ExternKernel,
): boolean => call.op === "matmul" && !prologues && !weights && !computed && second?.shape.length === 2;

function isWeight(buffer: BufferId, { buffers }: Program): boolean {
  const role = buffers[buffer]?.role;
  return role?.kind === "input" && !role.written;
}
