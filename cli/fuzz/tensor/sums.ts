/**
 * Magnitudes of the numbers that an eager kernel sums, even if they cancel: rounding errors are relative to these
 * magnitudes and depend on the order. Invariant: the memory of the call is unchanged.
 */
import type { CompiledProgram, ProgramCall } from "../../../lib/loops/device.ts";
import type { Loop, Program, Statement } from "../../../lib/loops/ir.ts";
import { spacing } from "./facts.ts";
import { type Floats, operandsOf, varied } from "./variations.ts";

/** Magnitudes of sums. */
export interface SumSizes {
  /** By output: its elements if every operand were positive; null: nothing is summed. */
  readonly sizes: readonly (Floats | null)[];
  /** Sums up to this size are exact in any order. */
  readonly orderless: number;
}

/** Number of significant bits of a floating type. */
const precisionOf = (array: Floats): number => array instanceof Float32Array ? 24 : 53;

/** The magnitudes of the sums of a call. */
export function sizesOfSums(program: Program, compiled: CompiledProgram, call: ProgramCall): SumSizes {
  const sums = sumsOf(program);
  if (sums === "none") return { sizes: [], orderless: Infinity };
  const grains = operandsOf(program, call).flatMap((operand) => operand ? [grainOf(operand)] : []);
  const grain = sums === "products" ? grains.reduce((a, b) => a * b, 1) : Math.min(...grains);
  const sizes = varied(program, compiled, { call, change: Math.abs });
  const bits = Math.min(...sizes.flatMap((each) => each ? [precisionOf(each)] : []));
  return { sizes, orderless: grain * 2 ** bits };
}

/** Returns what a program sums: nothing, elements of its operands, or products of these. */
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

/** Returns whether a loop sums anything. */
function loopAdds({ reductions, carried, body }: Loop): boolean {
  return reductions.some(({ op }) => op === "sum") ||
    carried.some(({ next }) => body.some((s) => s.kind === "scalar" && s.op === "add" && s.id === next));
}

/** The lowest bit that any finite element has. */
function grainOf(array: Floats): number {
  let least = Infinity;
  for (const x of array) {
    if (x === 0 || !Number.isFinite(x)) continue;
    let bit = spacing(array instanceof Float32Array ? "float32" : "float64", x);
    while (x % (2 * bit) === 0) bit *= 2;
    least = Math.min(least, bit);
  }
  return least;
}
