/**
 * Runs a call of an eager kernel with replaced floating operands. Invariant: neither the memory of the call nor its
 * contents are changed.
 */
import { HostMemory } from "../../../backends/cpu/host_memory.ts";
import { type DType, type HostArray, hostArray, isFloat, itemSize } from "../../../lib/base/dtype.ts";
import type { CompiledProgram, Memory, ProgramCall } from "../../../lib/loops/device.ts";
import type { Program } from "../../../lib/loops/ir.ts";

/** Elements of a floating type. */
export type Floats = Float32Array | Float64Array;

/** The floating elements of memory from an offset on; null for other types. */
export function floats(memory: Memory, dtype: DType, byteOffset: number): Floats | null {
  if (!(memory instanceof HostMemory) || !isFloat(dtype)) return null;
  const start = Math.min(byteOffset, memory.byteLength);
  const length = Math.floor((memory.byteLength - start) / itemSize(dtype));
  const { buffer, byteOffset: from } = memory.uint8;
  const array: HostArray = hostArray(dtype, buffer, { byteOffset: from + start, length });
  return array instanceof Float32Array || array instanceof Float64Array ? array : null;
}

/** The floating operands of a call; null for others. */
export function operandsOf(
  program: Program,
  { inputs, byteOffsets }: ProgramCall,
): readonly (Floats | null)[] {
  return inputs.map((memory, k) =>
    floats(memory, dtypeOf(program, program.inputs[k]), byteOffsets?.[k] ?? 0)
  );
}

/** The floating results of a call, in the memory given for them; null for others. */
export function resultsOf(
  program: Program,
  { inputs, byteOffsets }: ProgramCall,
  outputs: readonly Memory[],
): readonly (Floats | null)[] {
  return outputs.map((memory, k) =>
    floats(memory, dtypeOf(program, program.outputs[k]), byteOffsets?.[inputs.length + k] ?? 0)
  );
}

/** The floating results of a call with other floating operands. */
export function varied(
  program: Program,
  compiled: CompiledProgram,
  { call, change }: { readonly call: ProgramCall; readonly change: (x: number, among: Floats) => number },
): readonly (Floats | null)[] {
  const inputs = call.inputs.map(copyOf), outputs = call.outputs.map(copyOf);
  for (const operand of operandsOf(program, { ...call, inputs })) {
    if (operand) { for (const [i, x] of operand.entries()) operand[i] = change(x, operand); }
  }
  compiled.run({ ...call, inputs, outputs });
  return resultsOf(program, call, outputs);
}

const dtypeOf = (program: Program, id: number | undefined): DType =>
  program.buffers[id ?? 0]?.dtype ?? "bool";

function copyOf(memory: Memory): Memory {
  return memory instanceof HostMemory ? new HostMemory("cpu", new Uint8Array(memory.uint8).buffer) : memory;
}
