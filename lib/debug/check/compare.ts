/**
 * Decides whether elements computed in two ways are equal up to rounding; `exact` values are computed only where the
 * two are not close. Invariant: a difference is reported only if rounding does not explain it.
 *
 * - Equal, both NaN, or |got − want| ≤ near·|want| + nearScale·max|want|: the same.
 * - Otherwise double precision decides. `exact` is the same graph in float64, `nudged` the graph with inputs that
 *   differ in the last place; `noise` is the largest distance of `want` and of `nudged` from `exact`, over the whole
 *   tensor. |got − exact| ≤ 64·noise + near·|exact| counts as equal: got is as good an answer as want. The factor is
 *   large because noise is estimated from two samples only; for well-conditioned results it is far below `near`.
 * - Integers and booleans must be equal, unless rounding determines them: `want` or `nudged` differs from `exact`.
 * - If a graph cannot run in double precision: 1e-3·|want| + 1e-4·max|want|.
 */
import { type DType, type FloatType, type HostArray, isFloat, partType } from "../../base/dtype.ts";

/** Elements of one tensor; both parts of complex ones, interleaved. */
export interface Elements {
  readonly dtype: DType;
  readonly values: HostArray;
}

/** The same elements in double precision. */
interface Arbiter {
  readonly exact: HostArray;
  readonly nudged: HostArray;
}

/** The worst of the elements that differ. */
export interface ElementDifference {
  /** Number of different elements, and of all elements. */
  readonly count: number;
  readonly total: number;
  /** Index of the worst in row-major order. */
  readonly at: number;
  readonly got: number | bigint;
  readonly want: number | bigint;
  /** Allowed difference at that index. */
  readonly allowed: number;
}

/**
 * Tolerances within which elements of a type differ by rounding alone, relative to the element and to the largest
 * one.
 */
const NEAR: Readonly<Record<FloatType, { readonly near: number; readonly scale: number }>> = {
  float32: { near: 2e-5, scale: 1e-6 },
  float64: { near: 1e-11, scale: 1e-12 },
  float16: { near: 2e-3, scale: 1e-3 },
  bfloat16: { near: 1.6e-2, scale: 8e-3 },
};

/** The floating type of elements, or of their parts; null: they are integers or booleans. */
const floatOf = (dtype: DType): FloatType | null => {
  const part = partType(dtype);
  return isFloat(part) ? part : null;
};

const nearOf = (dtype: DType) => NEAR[floatOf(dtype) ?? "float32"];

/** Tolerance if nothing can be computed in double precision. */
const FAR = { near: 1e-3, scale: 1e-4 } as const;

const NOISE = 64;

/** The values that an element may have: `of` ± `allowed`. */
interface Bound {
  readonly of: number;
  readonly allowed: number;
}

/** Returns whether two arrays are equal within the tolerances of their type. */
export function areNear(got: Elements, want: Elements): boolean {
  const { near, scale } = nearOf(want.dtype);
  return compareElements(got, want, (at, largest) => around(want, at, near, scale * largest)) === null;
}

/** Compares elements if `areNear` does not hold. */
export function differenceOf(
  got: Elements,
  want: Elements,
  arbiter: Arbiter | null,
): ElementDifference | null {
  if (arbiter === null) {
    return compareElements(got, want, (at, largest) => around(want, at, FAR.near, FAR.scale * largest));
  }
  const { exact, nudged } = arbiter;
  if (floatOf(want.dtype) === null) {
    return compareElements(got, want, (at) => {
      const isDecided = exact[at] === want.values[at] && exact[at] === nudged[at];
      return { of: Number(want.values[at]), allowed: isDecided ? 0 : Infinity };
    });
  }
  let noise = 0;
  for (let at = 0; at < exact.length; at++) {
    const r = Number(exact[at]);
    for (const other of [Number(want.values[at]), Number(nudged[at])]) {
      const distance = Math.abs(other - r);
      if (distance > noise && Number.isFinite(distance)) noise = distance;
    }
  }
  const { near } = nearOf(want.dtype);
  return compareElements(got, want, (at) => {
    const r = Number(exact[at]);
    return { of: r, allowed: NOISE * noise + near * Math.abs(r) };
  });
}

/** Returns a relative and an absolute tolerance around a wanted element; zero for integers and booleans. */
function around({ dtype, values }: Elements, at: number, near: number, far: number): Bound {
  const of = Number(values[at]);
  return { of, allowed: floatOf(dtype) !== null ? near * Math.abs(of) + far : 0 };
}

/**
 * Compares elements one by one; `boundOf` receives the index and the largest finite magnitude of the wanted elements.
 */
function compareElements(
  { values: got }: Elements,
  { values: want }: Elements,
  boundOf: (at: number, scale: number) => Bound,
): ElementDifference | null {
  let scale = 0;
  for (const each of want) {
    const size = Math.abs(Number(each));
    if (size > scale && Number.isFinite(size)) scale = size;
  }
  let count = 0, worst = -1;
  let found: Pick<ElementDifference, "at" | "got" | "want" | "allowed"> | null = null;
  for (let at = 0; at < want.length; at++) {
    const g = got[at] ?? NaN, w = want[at] ?? NaN;
    if (g === w || (g !== g && w !== w)) continue;
    const { of, allowed } = boundOf(at, scale);
    const distance = Math.abs(Number(g) - of);
    if (distance <= allowed) continue;
    // An infinity or NaN that the exact result has too
    if (Object.is(Number(g), of)) continue;
    count++;
    // NaN is worse than any number
    const excess = Number.isNaN(distance) ? Infinity : distance - allowed;
    if (found === null || excess > worst) {
      worst = excess;
      found = { at, got: g, want: w, allowed };
    }
  }
  return found && { ...found, count, total: want.length };
}
