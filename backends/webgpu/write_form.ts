/**
 * Writes programs as WGSL that runs on every device. Invariant: no shader exceeds the limits that WebGPU guarantees.
 */
import { orNull } from "../../lib/base/errors.ts";
import { generate } from "../../lib/codegen/generate.ts";
import type { BufferId, Program } from "../../lib/loops/ir.ts";
import type { WebGpuForm } from "./form.ts";
import { apart } from "./print/bindings.ts";
import { LacksFloat64 } from "./print/scalar.ts";
import { inputsToPack, shaderOf } from "./shaders.ts";
import { type WebGpuLimits, webGpuTarget } from "./target.ts";

/** The guaranteed limits: buffers that a shader may bind besides its parameter words, and bytes of memory. */
export const COMMON_LIMITS: WebGpuLimits = { kernelBuffers: 7, workgroupBytes: 16384, bindingBytes: 1 << 27 };

/** Writes a program; null if it uses what WGSL lacks: float64, and sorting. */
export function writeWebGpuForm(given: Program): WebGpuForm | null {
  const isOther = given.buffers.some(({ dtype }) => dtype === "float64") ||
    given.kernels.some((kernel) => kernel.kind === "extern" && kernel.call.op === "sort");
  if (isOther) return null;
  return orNull(
    LacksFloat64,
    () => formOf(generate(given, webGpuTarget(COMMON_LIMITS, true))),
  );
}

function formOf(program: Program): WebGpuForm {
  const shadersFor = (packed: ReadonlySet<BufferId>) =>
    program.kernels.map((kernel) =>
      shaderOf(kernel, program, { ...apart(COMMON_LIMITS.workgroupBytes), packed })
    );
  const packed = inputsToPack(shadersFor(new Set()), program, COMMON_LIMITS.kernelBuffers);
  const { name, buffers, inputs, outputs, sizes, arenaBytes, guard } = program;
  return {
    frame: { name, buffers, inputs, outputs, sizes, arenaBytes, guard },
    shaders: shadersFor(packed),
    packed: [...packed],
  };
}
