/**
 * How large the numbers are that a kernel adds up, whatever is left of them in the end: rounding is as large as they
 * are, and depends on their order. Input: a program of eager kernels and a call of it; output: sizes by element of the
 * results. Invariant: neither the memory of the call nor what lies in it is changed.
 */
import { HostMemory } from "../../../backends/cpu/host_memory.ts";
import { type DType, type HostArray, hostArray, isFloat, itemSize } from "../../../lib/base/dtype.ts";
import type { CompiledProgram, Memory, ProgramCall } from "../../../lib/loops/device.ts";
import type { Loop, Program, Statement } from "../../../lib/loops/ir.ts";
import { spacing } from "./facts.ts";

/** Sizes of sums. */
export interface SumSizes {
  /** By output: what its elements would be, were every operand positive; null: nothing is added up. */
  readonly sizes: readonly (Memory | null)[];
  /** Sums up to this size are exact in any order. */
  readonly orderless: number;
}

/** Bits of a floating type that count. */
const PRECISION = { float32: 24, float64: 53 } as const;

/** The floating elements of memory from an offset on; null for other types. */
export function floats(memory: Memory, dtype: DType, byteOffset: number): Float32Array | Float64Array | null {
  if (!(memory instanceof HostMemory) || !isFloat(dtype)) return null;
  const start = Math.min(byteOffset, memory.byteLength);
  const length = Math.floor((memory.byteLength - start) / itemSize(dtype));
  const array: HostArray = hostArray(dtype, memory.buffer, { byteOffset: start, length });
  return array instanceof Float32Array || array instanceof Float64Array ? array : null;
}

/** The sizes of what a call adds up. */
export function sizesOfSums(program: Program, compiled: CompiledProgram, call: ProgramCall): SumSizes {
  const sums = sumsOf(program);
  if (sums === "none") return { sizes: call.outputs.map(() => null), orderless: Infinity };
  const dtypeOf = (id: number | undefined) => program.buffers[id ?? 0]?.dtype ?? "bool";
  const grains: number[] = [];
  const inputs = call.inputs.map((memory, k) => {
    const copy = copyOf(memory), array = floats(copy, dtypeOf(program.inputs[k]), call.byteOffsets?.[k] ?? 0);
    if (!array) return copy;
    array.forEach((x, i) => array[i] = Math.abs(x));
    grains.push(grainOf(array));
    return copy;
  });
  const sizes = call.outputs.map(copyOf);
  compiled.run({ ...call, inputs, outputs: sizes });
  const grain = sums === "products" ? grains.reduce((a, b) => a * b, 1) : Math.min(...grains);
  return {
    sizes,
    orderless: grain * 2 ** PRECISION[dtypeOf(program.outputs[0]) === "float64" ? "float64" : "float32"],
  };
}

/** What a program adds up: nothing, elements of its operands, or products of such. */
function sumsOf({ kernels }: Program): "none" | "elements" | "products" {
  const inList = (list: readonly Statement[]): readonly Statement[] =>
    list.flatMap((s) => s.kind === "loop" || s.kind === "masked" ? [s, ...inList(s.body)] : [s]);
  const statements = kernels.flatMap((kernel) => kernel.kind === "loops" ? inList(kernel.body) : []);
  if (kernels.some((kernel) => kernel.kind === "extern" && kernel.call.op !== "sort")) return "products";
  const adds = statements.some((s) =>
    (s.kind === "store" && s.mode === "add") || (s.kind === "loop" && loopAdds(s))
  );
  if (!adds) return "none";
  const multiplies = statements.some((s) => s.kind === "scalar" && (s.op === "mul" || s.op === "fma"));
  return multiplies ? "products" : "elements";
}

/** Whether a loop adds something up. */
function loopAdds({ reductions, carried, body }: Loop): boolean {
  return reductions.some(({ op }) => op === "sum") ||
    carried.some(({ next }) => body.some((s) => s.kind === "scalar" && s.op === "add" && s.id === next));
}

/** The lowest bit that any finite element has. */
function grainOf(array: Float32Array | Float64Array): number {
  let least = Infinity;
  for (const x of array) {
    if (x === 0 || !Number.isFinite(x)) continue;
    let bit = spacing(array instanceof Float32Array ? "float32" : "float64", x);
    while (x % (2 * bit) === 0) bit *= 2;
    least = Math.min(least, bit);
  }
  return least;
}

function copyOf(memory: Memory): Memory {
  return memory instanceof HostMemory ? new HostMemory("cpu", memory.buffer.slice(0)) : memory;
}
