/**
 * Kernels in float64 in the place of float32: what they would compute without rounding, for telling results that
 * were rounded from exact ones. Input: a program of eager kernels and a call of it; output: the results in float64.
 * Invariant: neither the program nor the memory of the call is changed.
 */
import { cpu } from "../../../backends/cpu/device.ts";
import { HostMemory } from "../../../backends/cpu/host_memory.ts";
import { type DType, itemSize } from "../../../lib/base/dtype.ts";
import type { CompiledProgram, Memory, ProgramCall } from "../../../lib/loops/device.ts";
import type { Kernel, Loop, Program, Statement } from "../../../lib/loops/ir.ts";

const wide = (dtype: DType): DType => dtype === "float32" ? "float64" : dtype;

/** Operations on the bits of a float, which mean nothing in another type, and random bits. */
const OF_BITS: readonly string[] = ["bitsToFloat", "floatToBits", "random"];

/** Thrown where a program has no meaning in float64. */
class NotWidened extends Error {
  override readonly name: string = "NotWidened";
}

function widenStatement(s: Statement): Statement {
  switch (s.kind) {
    case "loop": {
      const loop: Loop = {
        ...s,
        body: s.body.map(widenStatement),
        reductions: s.reductions.map((each) => ({ ...each, dtype: wide(each.dtype) })),
        carried: s.carried.map((each) => ({ ...each, dtype: wide(each.dtype) })),
      };
      return loop;
    }
    case "masked":
      return { ...s, body: s.body.map(widenStatement), dtype: wide(s.dtype) };
    case "constant": {
      // The kernel computes with the constant as float32 has it
      const value = s.dtype === "float32" && typeof s.value === "number" ? Math.fround(s.value) : s.value;
      return { ...s, value, dtype: wide(s.dtype) };
    }
    case "scalar":
      if (OF_BITS.includes(s.op)) throw new NotWidened();
      return { ...s, dtype: wide(s.dtype) };
    case "index":
    case "cast":
    case "select":
    case "load":
      return { ...s, dtype: wide(s.dtype) };
    case "store":
      return s;
    default:
      return s satisfies never;
  }
}

function widen(program: Program): Program {
  if (program.buffers.some(({ role }) => role.kind === "temporary")) throw new NotWidened();
  return {
    ...program,
    buffers: program.buffers.map((buffer) => ({ ...buffer, dtype: wide(buffer.dtype) })),
    kernels: program.kernels.map((kernel): Kernel =>
      kernel.kind === "extern" ? kernel : { ...kernel, body: kernel.body.map(widenStatement) }
    ),
  };
}

/** The program in float64; null where it has no meaning there. */
export function widenedProgram(program: Program): CompiledProgram | null {
  try {
    return cpu.compileEager(widen(program));
  } catch (thrown) {
    if (thrown instanceof NotWidened) return null;
    throw thrown;
  }
}

/** Memory with float64 elements in the place of float32. */
function widenMemory(memory: Memory | undefined): HostMemory {
  if (!(memory instanceof HostMemory)) throw new NotWidened();
  return new HostMemory("cpu", Float64Array.from(memory.float32).buffer);
}

/** What the program's outputs would hold after a call, without rounding; those that are not float32 are left out. */
export function withoutRounding(
  program: Program,
  compiled: CompiledProgram,
  call: ProgramCall,
): readonly (Float64Array | null)[] {
  const dtypes = [...program.inputs, ...program.outputs].map((id) => program.buffers[id]?.dtype ?? "bool");
  const isWide = (place: number) => dtypes[place] === "float32";
  const offsets = dtypes.map((_, place) => (call.byteOffsets?.[place] ?? 0) * (isWide(place) ? 2 : 1));
  const inputs = call.inputs.map((memory, i) => isWide(i) ? widenMemory(memory) : memory);
  const outputs = call.outputs.map((memory, i) => {
    if (isWide(call.inputs.length + i)) return widenMemory(memory);
    return new HostMemory("cpu", new ArrayBuffer(memory.byteLength));
  });
  compiled.run({ inputs, outputs, byteOffsets: offsets, sizes: call.sizes });
  return outputs.map(({ buffer }, i) => {
    const place = call.inputs.length + i, at = offsets[place] ?? 0;
    return isWide(place)
      ? new Float64Array(buffer, at, (buffer.byteLength - at) / itemSize("float64"))
      : null;
  });
}
