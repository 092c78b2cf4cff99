/**
 * Monte Carlo arithmetic: eager kernels whose floating results are perturbed at random by about as much as rounding
 * changed them. Results on which such runs agree do not depend on rounding. Invariant: exact results are not
 * perturbed (where float32 can be compared with float64), so that equal numbers stay equal; without an active seed,
 * kernels compute as usual.
 */
import { isFloat, type ValueType } from "../../../lib/base/dtype.ts";
import type { CompiledProgram, ProgramCall } from "../../../lib/loops/device.ts";
import type { Program, Statement } from "../../../lib/loops/ir.ts";
import { type Conversion, convertedProgram, runConverted } from "./converted_program.ts";
import { isSubnormal, spacing } from "./facts.ts";
import { sizesOfSums } from "./sums.ts";
import { type Floats, resultsOf, varied } from "./variations.ts";

/** Maximum perturbation of a rounded result in units in the last place, ... */
const UNITS = 3;

/** ... and relative to its error. */
const ERRORS = 2;

/** Without rounding, as seen from float32. */
const WIDER: Conversion = { from: "float32", to: "float64" };

/** With half of the digits of float64, ... */
const NARROWER: Conversion = { from: "float64", to: "float32" };

/** ... and the factor by which rounding errors are larger there. */
const COARSENESS = 2 ** (53 - 24);

let state: number | null = null;

/** Whether subnormal results may be flushed to 0, as on GPUs. */
let flushes = false;

/** A number of (−1, 1). */
function draw(): number {
  state = (Math.imul((state ?? 0) ^ 0x9E3779B9, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 31 - 1;
}

/** Settings of the noise. */
export interface Noise {
  readonly seed: number;
  /** Whether subnormal results may be flushed to 0, too. */
  readonly flushes: boolean;
}

/** Runs `body` with noise. */
export function withNoise<R>(noise: Noise, body: () => R): R {
  const former = [state, flushes] as const;
  state = Math.imul(noise.seed + 1, 2654435761) >>> 0;
  flushes = noise.flushes;
  try {
    return body();
  } finally {
    [state, flushes] = former;
  }
}

/** Returns whether a kernel computes anything that rounds, rather than only moving elements. */
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

/** Returns whether a program uses a type: in memory, or for intermediate sums and products. */
function computesIn({ buffers, kernels }: Program, type: ValueType): boolean {
  const inList = (list: readonly Statement[]): boolean =>
    list.some((s) =>
      s.kind === "loop"
        ? [...s.reductions, ...s.carried].some(({ dtype }) => dtype === type) || inList(s.body)
        : (s.kind !== "store" && s.dtype === type) || (s.kind === "masked" && inList(s.body))
    );
  return buffers.some(({ dtype }) => dtype === type) ||
    kernels.some((kernel) => kernel.kind !== "extern" && inList(kernel.body));
}

/** Number of perturbations of operands to estimate their effect. */
const SHAKES = 3;

/** Intermediate results for one output of a call. */
interface Rounded {
  readonly before: Floats;
  /** The elements without rounding; null if unknown. */
  readonly exact: Floats | null;
  /** The elements with fewer digits; null if there is no such type. */
  readonly coarse: Floats | null;
  /** The elements with perturbed operands, which reveal cancellation in the kernel. */
  readonly shaken: readonly Floats[];
  /** Magnitudes of the summands, by element; null: nothing is summed. */
  readonly sizes: Floats | null;
  /** Sums up to this size are exact in any order. */
  readonly orderless: number;
}

const dtypeOf = (array: Floats): "float32" | "float64" =>
  array instanceof Float32Array ? "float32" : "float64";

const finite = (x: number): number => Number.isFinite(x) ? x : 0;

/** Perturbs the elements of one output that a run has rounded. */
function move(array: Floats, { before, exact, coarse, shaken, sizes, orderless }: Rounded): void {
  const dtype = dtypeOf(array);
  for (let i = 0; i < array.length; i++) {
    const x = array[i] ?? 0, overflown = coarse?.[i];
    // Kernels that add or multiply in float32 where others use float64 may overflow on the way
    if (overflown !== undefined && !Number.isFinite(overflown) && Number.isFinite(x) && draw() > 0) {
      array[i] = overflown;
      continue;
    }
    if (flushes && isSubnormal(x, dtype) && draw() > 0) {
      array[i] = 0;
      continue;
    }
    // Unchanged elements are the results of other kernels
    if (!Number.isFinite(x) || (exact === null && Object.is(x, before[i]))) continue;
    const within = sizes?.[i] ?? NaN, size = Number.isFinite(within) ? within : x;
    const wide = exact?.[i], narrow = coarse?.[i];
    // Results on which two types agree may be rounded in both, or exact by luck in one order
    const isKnown = exact !== null || coarse !== null;
    if (isKnown && x === (wide ?? x) && x === (narrow ?? x) && Math.abs(size) <= orderless) continue;
    const error = Math.max(
      finite(Math.abs(x - (wide ?? x))),
      finite(Math.abs(x - (narrow ?? x))) / COARSENESS,
    );
    const shift = Math.max(0, ...shaken.map((run) => finite(Math.abs(x - (run[i] ?? x)))));
    array[i] = x + draw() * (UNITS * spacing(dtype, size) + ERRORS * (error + shift));
  }
}

/** A floating-point neighbour of a number. */
const neighbour = (x: number, among: Floats): number =>
  x + draw() * UNITS * finite(spacing(dtypeOf(among), x));

/** The program, with noise while it is active. */
export function noisy(program: Program, compiled: CompiledProgram): CompiledProgram {
  const dtypes = program.outputs.map((id) => program.buffers[id]?.dtype ?? "bool");
  if (!dtypes.some(isFloat) || !rounds(program)) return compiled;
  const converted = [WIDER, NARROWER].map((conversion) => {
    let made: CompiledProgram | null | undefined;
    return (call: ProgramCall) => {
      if (made === undefined) {
        made = computesIn(program, conversion.from) ? convertedProgram(program, conversion) : null;
      }
      return made ? runConverted(program, made, { call, conversion }) : [];
    };
  });
  return {
    source: compiled.source,
    language: compiled.language,
    kernelCount: compiled.kernelCount,
    run(call) {
      if (state === null) return compiled.run(call);
      // First, since the run may write into its own operands
      const [exact = [], coarse = []] = converted.map((run) => run(call));
      const { sizes, orderless } = sizesOfSums(program, compiled, call);
      const shaken = Array.from(
        { length: SHAKES },
        () => varied(program, compiled, { call, change: neighbour }),
      );
      const arrays = resultsOf(program, call, call.outputs);
      const before = arrays.map((array) => array?.slice());
      const done = compiled.run(call);
      arrays.forEach((array, k) => {
        const former = before[k];
        if (!array || !former) return;
        move(array, {
          before: former,
          exact: exact[k] ?? null,
          coarse: coarse[k] ?? null,
          shaken: shaken.flatMap((run) => run[k] ?? []),
          sizes: sizes[k] ?? null,
          orderless,
        });
      });
      return done;
    },
  };
}
