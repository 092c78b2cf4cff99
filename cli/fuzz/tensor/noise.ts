/**
 * Monte Carlo arithmetic: eager kernels whose floating results are moved at random by about as much as rounding
 * moved them. What such runs agree on does not hang on rounding. Input: a seed; output: the same program's other
 * possible results. Invariant: exact results stay (where float32 can be held against float64), so that equal
 * numbers stay equal; without a seed in force, kernels compute what they always do.
 */
import { isFloat } from "../../../lib/base/dtype.ts";
import type { CompiledProgram, Memory } from "../../../lib/loops/device.ts";
import type { Program, Statement } from "../../../lib/loops/ir.ts";
import { spacing } from "./facts.ts";
import { floats, sizesOfSums } from "./sums.ts";
import { widenedProgram, withoutRounding } from "./wide_program.ts";

/** By how many units in the last place a result that was rounded moves at most, ... */
const UNITS = 3;

/** ... and by how many times the error that it has. */
const ERRORS = 2;

let state: number | null = null;

/** A number of (−1, 1). */
function draw(): number {
  state = (Math.imul((state ?? 0) ^ 0x9E3779B9, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 31 - 1;
}

/** Runs `body` with noise. */
export function withNoise<R>(seed: number, body: () => R): R {
  const former = state;
  state = Math.imul(seed + 1, 2654435761) >>> 0;
  try {
    return body();
  } finally {
    state = former;
  }
}

/** Whether a kernel computes anything that rounds: more than moving elements about. */
function rounds({ kernels }: Program): boolean {
  const inList = (list: readonly Statement[]): boolean =>
    list.some((s) => {
      if (s.kind === "loop" || s.kind === "masked") {
        const sums = s.kind === "loop" && s.reductions.some(({ op }) => op === "sum" || op === "prod");
        return sums || inList(s.body);
      }
      return s.kind === "scalar" || (s.kind === "cast" && isFloat(s.dtype));
    });
  return kernels.some((kernel) => kernel.kind === "extern" || inList(kernel.body));
}

/**
 * Ops that subtract from their operand what has been rounded at about its size: how near a result comes to the truth is
 * chance then, whatever computes it.
 */
const CANCELLING = /tanhshrink/;

interface Rounded {
  readonly before: Float32Array | Float64Array;
  readonly exact: Float64Array | null;
  /** Sizes that intermediate results were rounded at, by element; null: those of the results. */
  readonly scale: Float32Array | Float64Array | null;
  /** Sums up to this size are exact whatever their order. */
  readonly orderless: number;
}

/** Moves the elements of one output that a run has rounded. */
function move(array: Float32Array | Float64Array, { before, exact, scale, orderless }: Rounded): void {
  const dtype = array instanceof Float32Array ? "float32" : "float64";
  for (let i = 0; i < array.length; i++) {
    const x = array[i] ?? 0;
    if (!Number.isFinite(x)) continue;
    const within = scale?.[i] ?? NaN, size = Number.isFinite(within) ? within : x;
    // What float64 agrees on may be rounded in both, or exact by the luck of one order
    const isSettled = !(Math.abs(size) > orderless);
    if (exact === null) {
      // Elements that are as they were belong to nobody here
      if (!Object.is(x, before[i])) array[i] = x + draw() * UNITS * spacing(dtype, size);
      continue;
    }
    const truth = exact[i] ?? 0;
    if (x === truth && isSettled) continue;
    const error = Number.isFinite(truth) ? Math.abs(x - truth) : 0;
    array[i] = x + draw() * (UNITS * spacing(dtype, size) + ERRORS * error);
  }
}

/** The program, with noise while it is in force. */
export function noisy(program: Program, compiled: CompiledProgram): CompiledProgram {
  const dtypes = program.outputs.map((id) => program.buffers[id]?.dtype ?? "bool");
  if (!dtypes.some(isFloat) || !rounds(program)) return compiled;
  let widened: CompiledProgram | null | undefined;
  const isCancelling = program.kernels.some(({ name }) => CANCELLING.test(name)) ||
    CANCELLING.test(program.name);
  return {
    source: compiled.source,
    language: compiled.language,
    kernelCount: compiled.kernelCount,
    run(call) {
      if (state === null) return compiled.run(call);
      if (widened === undefined) widened = dtypes.includes("float32") ? widenedProgram(program) : null;
      // First, since the run may write into its own operands
      const exact = widened ? withoutRounding(program, widened, call) : [];
      const { sizes, orderless } = sizesOfSums(program, compiled, call);
      const placed = (memory: Memory | null | undefined, k: number) =>
        memory ? floats(memory, dtypes[k] ?? "bool", call.byteOffsets?.[call.inputs.length + k] ?? 0) : null;
      const arrays = call.outputs.map(placed);
      const before = arrays.map((array) => array?.slice());
      const [operand] = call.inputs, place = call.byteOffsets?.[0] ?? 0;
      const type = program.buffers[program.inputs[0] ?? 0]?.dtype ?? "bool";
      const cancelled = isCancelling && operand ? floats(operand, type, place)?.slice() ?? null : null;
      const done = compiled.run(call);
      arrays.forEach((array, k) => {
        const former = before[k];
        if (!array || !former) return;
        const scale = cancelled ?? placed(sizes[k], k);
        move(array, { before: former, exact: exact[k] ?? null, scale, orderless });
      });
      return done;
    },
  };
}
