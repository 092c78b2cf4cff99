/**
 * Detects integers of more than 32 bits in plain runs: WebGPU keeps only their low bits, so that results computed
 * from them differ there.
 */
import { HostMemory } from "../../../backends/cpu/host_memory.ts";
import type { CompiledProgram, Memory, ProgramCall } from "../../../lib/loops/device.ts";
import type { Program } from "../../../lib/loops/ir.ts";

/** Whether one occurred; null: not watched. */
let met: boolean | null = null;

/** Runs `body` and returns whether kernels returned integers of more than 32 bits. */
export function meetsWideIntegers(body: () => void): boolean {
  met = false;
  try {
    body();
    return met;
  } finally {
    met = null;
  }
}

/** The program; its results are inspected while watched. */
export function watched(program: Program, compiled: CompiledProgram): CompiledProgram {
  const wide = program.outputs.map((id) => program.buffers[id]?.dtype === "int64");
  if (!wide.includes(true)) return compiled;
  return {
    source: compiled.source,
    language: compiled.language,
    kernelCount: compiled.kernelCount,
    run(call: ProgramCall) {
      const done = compiled.run(call);
      if (met === false) met = call.outputs.some((memory, k) => wide[k] && isWide(memory));
      return done;
    },
  };
}

function isWide(memory: Memory): boolean {
  if (!(memory instanceof HostMemory)) return false;
  const { buffer, byteOffset, byteLength } = memory.uint8;
  return new BigInt64Array(buffer, byteOffset, byteLength / 8).some((x) => x !== BigInt.asIntN(32, x));
}
