/**
 * The shaders of a program that fits the target, and the inputs that they require to be packed into one memory.
 * Invariant: one shader for each kernel, in order.
 */
import { InternalError } from "../../lib/base/errors.ts";
import type { BufferId, Kernel, Program } from "../../lib/loops/ir.ts";
import { printAttention } from "./attention.ts";
import { isConvolution, printConvolution } from "./convolution.ts";
import { printComputedProducts } from "./computed_products.ts";
import { printMatmul } from "./matmul.ts";
import type { Placement } from "./print/bindings.ts";
import type { Shader } from "./print/entry.ts";
import { printKernel } from "./print/kernel.ts";

/** The shader of a kernel. */
export function shaderOf(kernel: Kernel, program: Program, placement: Placement): Shader {
  if (kernel.kind === "loops") return printKernel(kernel, program, placement);
  if (kernel.weights) return printAttention(kernel, kernel.weights, { program, placement });
  if (kernel.computed) return printComputedProducts(kernel, kernel.computed, { program, placement });
  if (kernel.call.op === "matmul") return printMatmul(kernel, program, { placement });
  if (isConvolution(kernel.call)) return printConvolution(kernel, kernel.call, { program, placement });
  throw new InternalError(`Expected a matrix product or a convolution but found ${kernel.call.op}`);
}

/** A minimal set of inputs that share one memory so that no shader has more than `limit` bindings. */
export function inputsToPack(
  shaders: readonly Shader[],
  program: Program,
  limit: number,
): ReadonlySet<BufferId> {
  const packed = new Set<BufferId>();
  for (const { memories } of shaders) {
    const readOnly = memories.flatMap((m) => {
      const id = m.kind === "input" ? program.inputs[m.position] : undefined;
      const role = id === undefined ? undefined : program.buffers[id]?.role;
      return id !== undefined && role?.kind === "input" && !role.written ? [id] : [];
    });
    const apart = readOnly.filter((id) => !packed.has(id));
    // The pack itself takes a binding
    const bound = memories.length - (readOnly.length - apart.length) +
      (readOnly.length > apart.length ? 1 : 0);
    if (bound <= limit) continue;
    const more = readOnly.length > apart.length ? bound - limit : bound - limit + 1;
    for (const id of apart.slice(0, more)) packed.add(id);
  }
  return packed;
}
