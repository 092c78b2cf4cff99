/**
 * Measures one graph: each result, changed argument and gradient of a call, computed by the compiled graph, op by op,
 * and op by op in double precision; which settings change the compiled results; and which ops' rounding moves them.
 * Invariant: the runs are invisible to the program, as those of shadow mode.
 */
import { config, type InductorPatch } from "../../base/config.ts";
import { type DType, isFloat, partType } from "../../base/dtype.ts";
import { logs } from "../../base/logs.ts";
import type { CompiledFunction } from "../../graph/backend.ts";
import type { GraphModule } from "../../graph/graph_module.ts";
import type { GraphCompiler } from "../../graph/interpose.ts";
import { readElements } from "../../tensor/host.ts";
import { isTensor, type Tensor } from "../../tensor/tensor.ts";
import { snapshotOf } from "../checked_graph.ts";
import { caseOf, runTrial, type Trial, type TrialCase } from "../check/trial.ts";
import { type Distance, distanceOf } from "./distance.ts";
import { type Effect, largestRoundings, type Rounding } from "./roundings.ts";

/** One tensor that a call computes. */
export interface ValueNumerics {
  /** "result 0", or the name of an input and what is compared of it. */
  readonly name: string;
  /** The type of its elements. */
  readonly dtype: DType;
  /** Its sizes. */
  readonly shape: readonly number[];
  /** Number of elements; of complex ones, of their parts. */
  readonly numel: number;
  /** How far the compiled elements are from the plain ones. */
  readonly drift: Distance;
  /** How far the compiled elements are from those in double precision; null if ops have none. */
  readonly compiledError: Distance | null;
  /** How far the plain elements are from those in double precision. */
  readonly plainError: Distance | null;
}

/** The drift of the results with another setting. */
export interface DriftWithout {
  /** The setting as an option of `compile`: "emulatePrecisionCasts: true". */
  readonly setting: string;
  /** The largest drift of any value, in units in the last place. */
  readonly ulps: number;
}

/** The numbers of a graph. */
export interface GraphNumerics {
  /** The function whose graph it is. */
  readonly title: string;
  /** The results, the arguments after the call, and the gradients. */
  readonly values: readonly ValueNumerics[];
  /** Settings with which compiled results drift less from plain ones; empty if they do not drift. */
  readonly settings: readonly DriftWithout[];
  /** The value that `roundings` are about: the one that rounding moves most. */
  readonly worst: ValueNumerics | null;
  /**
   * The ops whose rounding moves that value the most; null if the graph makes other calls in float64, so that they
   * cannot be told apart.
   */
  readonly roundings: readonly Rounding[] | null;
  /** Why nothing was measured, or null. */
  readonly skipped: string | null;
}

/** Settings that bring compiled results closer to plain ones. */
const SETTINGS: readonly InductorPatch[] = [
  { emulatePrecisionCasts: true },
  { patternMatcher: false },
  { epilogueFusion: false },
  { fusion: false },
];

/** Number of ops that are named. */
const NAMED_OPS = 3;

/** The graph, and the ways to compile it. */
export interface Measured {
  readonly gm: GraphModule;
  readonly compiled: CompiledFunction;
  readonly compile: GraphCompiler;
  readonly title: string;
}

/** Measures a call of a graph with these arguments. */
export function measure({ gm, compiled, compile, title }: Measured, args: readonly unknown[]): GraphNumerics {
  const of = caseOf(gm, args);
  const plain: CompiledFunction = (...given) => gm.forward(...given);
  const got = runTrial(compiled, of), want = runTrial(plain, of);
  if (got.kind === "threw" || want.kind === "threw") {
    return { title, values: [], settings: [], worst: null, roundings: [], skipped: "the call throws" };
  }
  const exact = attempted(plain, of);
  const names = namesOf(gm, want),
    values = valuesOf(want).flatMap((w, k): ValueNumerics[] => {
      const g = valuesOf(got)[k], name = names[k] ?? "";
      return isTensor(g) && isTensor(w) && `${g.shape}` === `${w.shape}`
        ? [numbersOf(name, { got: g, want: w, exact: exact && valuesOf(exact)[k] })]
        : [];
    });
  const worst = values.reduce<ValueNumerics | null>((a, b) => a && badness(a) >= badness(b) ? a : b, null);
  const at = worst ? names.indexOf(worst.name) : -1;
  const roundings = exact && worst && isFloat(partType(worst.dtype))
    ? largestRoundings(gm, of, { effect: effectAt({ exact, want }, at), most: NAMED_OPS })
    : [];
  const hasDrift = values.some(({ drift }) => drift.count > 0);
  return {
    title,
    values,
    settings: hasDrift ? remedies({ gm, compile, of, want }) : [],
    worst,
    roundings,
    skipped: null,
  };
}

type Done = Extract<Trial, { readonly kind: "done" }>;

/** All that a call computes: results, arguments afterwards, gradients. */
const valuesOf = (run: Done): readonly unknown[] => [...run.results, ...run.state, ...run.gradients];

function namesOf({ graph }: GraphModule, { results, state, gradients }: Done): string[] {
  const input = (at: number) => {
    const node = graph.placeholders[at];
    return node ? node.meta.source ?? node.name : `argument ${at}`;
  };
  return [
    ...results.map((_, at) => `result ${at}`),
    ...state.map((_, at) => `${input(at)} after the call`),
    ...gradients.map((_, at) => `gradient of ${input(at)}`),
  ];
}

/** Puts drift before errors that compiled and plain results share. */
function badness({ drift, plainError, compiledError }: ValueNumerics): number {
  const error = Math.max(plainError?.relative ?? 0, compiledError?.relative ?? 0);
  return drift.relative > 0 ? 1e6 + drift.relative + error : error;
}

function numbersOf(
  name: string,
  { got, want, exact }: { readonly got: Tensor; readonly want: Tensor; readonly exact: unknown },
): ValueNumerics {
  const { dtype, shape } = want, [g, w] = [readElements(got), readElements(want)];
  const r = isTensor(exact) && `${exact.shape}` === `${shape}` ? readElements(exact) : null;
  return {
    name,
    dtype,
    shape: [...shape],
    numel: w.length,
    drift: distanceOf(g, w, dtype),
    compiledError: r && distanceOf(g, r, dtype),
    plainError: r && distanceOf(w, r, dtype),
  };
}

/**
 * Returns the measure of how far a value of a run is from the exact one, relative to the plain one: an exact value may
 * be zero.
 */
function effectAt({ exact, want }: { readonly exact: Done; readonly want: Done }, at: number): Effect {
  const of = valuesOf(exact)[at], plain = valuesOf(want)[at];
  if (!isTensor(of) || !isTensor(plain)) return () => 0;
  const elements = readElements(of);
  let scale = 0;
  for (const each of readElements(plain)) {
    const size = Math.abs(Number(each));
    if (size > scale && Number.isFinite(size)) scale = size;
  }
  return (run) => {
    const value = run.kind === "done" ? valuesOf(run)[at] : null;
    return isTensor(value) ? distanceOf(readElements(value), elements, of.dtype).absolute / (scale || 1) : 0;
  };
}

/** A run in double precision; null if ops have none. */
function attempted(run: CompiledFunction, of: TrialCase): Done | null {
  try {
    const found = runTrial(run, of, "double");
    return found.kind === "done" ? found : null;
  } catch {
    return null;
  }
}

/** The settings under which results are closer to the plain ones, the closest first. */
function remedies(
  { gm, compile, of, want }: Pick<Measured, "gm" | "compile"> & {
    readonly of: TrialCase;
    readonly want: Done;
  },
): DriftWithout[] {
  const driftOf = (inductor: InductorPatch): number => {
    const run = config.patch({ inductor }, () => runTrial(compile(snapshotOf(gm), of.args), of));
    if (run.kind === "threw") return Infinity;
    const [got, plain] = [valuesOf(run), valuesOf(want)];
    return Math.max(
      0,
      ...plain.map((w, k) => {
        const g = got[k];
        return isTensor(g) && isTensor(w) ? distanceOf(readElements(g), readElements(w), w.dtype).ulps : 0;
      }),
    );
  };
  const now = driftOf({});
  const found = logs.capture("", () => {}, () =>
    SETTINGS.map((setting) => ({
      setting: Object.entries(setting).map(([key, value]) => `${key}: ${value}`).join(", "),
      ulps: driftOf(setting),
    })));
  return found.filter(({ ulps }) => ulps < now).sort((a, b) => a.ulps - b.ulps);
}
