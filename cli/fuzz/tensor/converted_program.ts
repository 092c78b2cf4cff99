/**
 * Runs kernels in another floating type: float64 shows what float32 would compute without rounding, which tells rounded
 * results from exact ones; float32 shows how float64 would round with half of its digits. The program consists of eager
 * kernels, together with a call of it. Invariant: neither the program nor the memory of the call is changed.
 */
import { cpu } from "../../../backends/cpu/device.ts";
import { HostMemory } from "../../../backends/cpu/host_memory.ts";
import { isSmall, itemSize, type ValueType, valueType } from "../../../lib/base/dtype.ts";
import type { CompiledProgram, Memory, ProgramCall } from "../../../lib/loops/device.ts";
import type { Kernel, Loop, Program, Statement } from "../../../lib/loops/ir.ts";

type Float = "float32" | "float64";

/** Replacement of one type by another. */
export interface Conversion {
  readonly from: Float;
  readonly to: Float;
}

/** Operations on the bits of a float, which mean nothing in another type, and random bits. */
const OF_BITS: readonly string[] = [
  "bitsToFloat",
  "floatToBits",
  "halfToFloat",
  "floatToHalf",
  "bfloatToFloat",
  "floatToBfloat",
  "random",
];

/** Thrown if a program has no meaning in another type. */
class NotConverted extends Error {
  override readonly name: string = "NotConverted";
}

/** Replaces a type in a program. */
class Converter {
  constructor(readonly conversion: Conversion) {}

  type(dtype: ValueType): ValueType {
    return dtype === this.conversion.from ? this.conversion.to : dtype;
  }

  statement(s: Statement): Statement {
    switch (s.kind) {
      case "loop": {
        const loop: Loop = {
          ...s,
          body: s.body.map((each) => this.statement(each)),
          reductions: s.reductions.map((each) => ({ ...each, dtype: this.type(each.dtype) })),
          carried: s.carried.map((each) => ({ ...each, dtype: this.type(each.dtype) })),
        };
        return loop;
      }
      case "masked":
        return { ...s, body: s.body.map((each) => this.statement(each)), dtype: this.type(s.dtype) };
      case "constant": {
        // The kernel computes with the constant rounded to float32
        const value = s.dtype === "float32" && typeof s.value === "number" ? Math.fround(s.value) : s.value;
        return { ...s, value, dtype: this.type(s.dtype) };
      }
      case "scalar":
        if (OF_BITS.includes(s.op)) throw new NotConverted();
        return { ...s, dtype: this.type(s.dtype) };
      case "index":
      case "cast":
      case "select":
      case "load":
        return { ...s, dtype: this.type(s.dtype) };
      case "store":
        return s;
      default:
        return s satisfies never;
    }
  }

  program(program: Program): Program {
    if (program.buffers.some(({ role }) => role.kind === "temporary")) throw new NotConverted();
    return {
      ...program,
      buffers: program.buffers.map((buffer) =>
        isSmall(buffer.dtype) ? buffer : { ...buffer, dtype: this.type(valueType(buffer.dtype)) }
      ),
      kernels: program.kernels.map((kernel): Kernel =>
        kernel.kind === "extern"
          ? kernel
          : { ...kernel, body: kernel.body.map((each) => this.statement(each)) }
      ),
    };
  }
}

/** The program in the other type; null if it has no meaning there. */
export function convertedProgram(program: Program, conversion: Conversion): CompiledProgram | null {
  try {
    return cpu.compileEager(new Converter(conversion).program(program));
  } catch (thrown) {
    if (thrown instanceof NotConverted) return null;
    throw thrown;
  }
}

/** Memory with elements of the other type. */
function convertedMemory(memory: Memory | undefined, { to }: Conversion): HostMemory {
  if (!(memory instanceof HostMemory)) throw new NotConverted();
  const { buffer, byteOffset, byteLength } = memory.uint8;
  const elements = to === "float64"
    ? Float64Array.from(new Float32Array(buffer, byteOffset, byteLength / 4))
    : Float32Array.from(new Float64Array(buffer, byteOffset, byteLength / 8));
  const bytes = new Uint8Array(Math.ceil(elements.byteLength / 64) * 64);
  bytes.set(new Uint8Array(elements.buffer));
  return new HostMemory("cpu", bytes.buffer);
}

/** Returns the outputs of a call in the other type; null for those whose type it cannot improve. */
export function runConverted(
  program: Program,
  compiled: CompiledProgram,
  { call, conversion }: { readonly call: ProgramCall; readonly conversion: Conversion },
): readonly (Float32Array | Float64Array | null)[] {
  const { from, to } = conversion, step = itemSize(to) / itemSize(from);
  const dtypes = [...program.inputs, ...program.outputs].map((id) => program.buffers[id]?.dtype ?? "bool");
  const isConverted = (place: number) => dtypes[place] === from;
  const byteOffsets = dtypes.map((_, place) =>
    (call.byteOffsets?.[place] ?? 0) * (isConverted(place) ? step : 1)
  );
  const inputs = call.inputs.map((memory, i) =>
    isConverted(i) ? convertedMemory(memory, conversion) : memory
  );
  const outputs = call.outputs.map((memory, i) => {
    if (isConverted(call.inputs.length + i)) return convertedMemory(memory, conversion);
    return new HostMemory("cpu", new ArrayBuffer(memory.byteLength));
  });
  compiled.run({ inputs, outputs, byteOffsets, sizes: call.sizes });
  return outputs.map(({ uint8: { buffer, byteOffset } }, i) => {
    const place = call.inputs.length + i, at = byteOffset + (byteOffsets[place] ?? 0);
    // A float64 value may have been computed from smaller floats
    const held = isConverted(place) ? to : dtypes[place];
    return held === "float64"
      ? new Float64Array(buffer, at)
      : held === to
      ? new Float32Array(buffer, at)
      : null;
  });
}
