/**
 * Removes differences of a compiled run that rounding explains. There are two judges, the cheaper one first:
 *
 * 1. The program in float64 determines the error of each run; that of the compiled one may not be markedly larger.
 * 2. Plain runs with random rounding errors (noise.ts) show the possible results: of comparisons near equality, sums
 *    that cancel, integers converted from floats. A difference is explained only if some such run shows it too, or if
 *    it is within a small multiple of their spread.
 *
 * Invariant: a difference that neither judge has found in a plain run is kept.
 */
import { getDefaultDtype, isFloat, setDefaultDtype } from "../../../lib/base/dtype.ts";
import {
  areOppositeZeros,
  compareFacts,
  type Fact,
  type FactDifference,
  nearElement,
  sameElement,
  spacing,
} from "./facts.ts";
import { withNoise } from "./noise.ts";
import { observe, type Runnable } from "./observe.ts";
import { type Arg, mapArg, mapStatements, type Program, type Statement } from "./program.ts";

/** Factor by which a compiled run's error may exceed the plain run's. */
const WORSE = 4;

/** Number of noisy runs at first, and if they disagree among themselves. */
const FEW_RUNS = 8, MANY_RUNS = 48;

/** The tensor for which a fact says whether it was written to. */
const writtenPlace = (place: string): string => place.replace(/ written$/, "");

const isWhetherChanged = (fact: Fact | undefined): boolean =>
  fact?.kind === "text" && (fact.text === "changed" || fact.text === "as before");

/** Factor by which a difference may exceed the spread of noisy runs. */
const SPREAD = 3;

type Elements = Fact & { readonly kind: "elements" };

/** Judges one program. */
export class RoundingJudge {
  readonly #runnable: Runnable;
  readonly #inFloat64: (() => Promise<Runnable>) | undefined;
  #wide: readonly (readonly Fact[])[] | undefined;
  readonly #flushes: boolean;
  readonly #noisy: (readonly (readonly Fact[])[])[] = [];

  /**
   * `inFloat64` creates the same program with float32 replaced by float64; `flushes`: whether the compiled run may have
   * flushed subnormal numbers to 0.
   */
  constructor(
    runnable: Runnable,
    { inFloat64, flushes }: { readonly inFloat64?: () => Promise<Runnable>; readonly flushes: boolean },
  ) {
    this.#runnable = runnable;
    this.#inFloat64 = inFloat64;
    this.#flushes = flushes;
  }

  /** The differences of call `k` that rounding does not explain. */
  async unexplained(k: number, differences: readonly FactDifference[]): Promise<readonly FactDifference[]> {
    const left: FactDifference[] = [];
    for (const difference of differences) {
      const { expected, found } = difference;
      const isNumeric = expected?.kind === "elements" && found?.kind === "elements" &&
        expected.elements.length === found.elements.length;
      if (isNumeric && isFloat(expected.dtype) && await this.#isNoWorse(k, expected, found)) continue;
      if (!this.#happensByNoise(k, difference)) left.push(difference);
    }
    // A change of a tensor follows from its contents
    const places = new Set(left.map(({ place }) => place));
    return left.filter(({ place, expected, found }) =>
      !(isWhetherChanged(expected) && isWhetherChanged(found)) || places.has(writtenPlace(place))
    );
  }

  /** Returns whether each differing element is about as close to the float64 result as the plain one. */
  async #isNoWorse(k: number, expected: Elements, found: Elements): Promise<boolean> {
    if (expected.dtype !== "float32" || !this.#inFloat64) return false;
    this.#wide ??= plainInFloat64(await this.#inFloat64());
    const exact = this.#wide[k]?.find(({ place }) => place === expected.place);
    if (exact?.kind !== "elements" || exact.elements.length !== expected.elements.length) return false;
    const reference = Array.from(exact.elements, Number);
    const errors = reference.map((exactly, i) => Math.abs(Number(expected.elements[i] ?? 0) - exactly));
    return reference.every((exactly, i) => {
      const plain = expected.elements[i] ?? 0, compiled = found.elements[i] ?? 0;
      if (nearElement("float32", plain, compiled)) return true;
      if (areOppositeZeros(plain, compiled)) return false;
      // Errors of elements of comparable size
      const usual = Math.max(
        ...errors.filter((_, j) => Math.abs(reference[j] ?? 0) <= 16 * Math.abs(exactly)),
        errors[i] ?? 0,
      );
      const error = Math.abs(Number(compiled) - exactly);
      return Number.isFinite(usual) && error <= WORSE * Math.max(usual, spacing("float32", exactly));
    });
  }

  /** Returns whether runs with noise show the found value. */
  #happensByNoise(k: number, difference: FactDifference): boolean {
    for (let count = FEW_RUNS; count <= MANY_RUNS; count *= 2) {
      while (this.#noisy.length < count) {
        const seed = this.#noisy.length;
        const noise = { seed, flushes: this.#flushes };
        this.#noisy.push(withNoise(noise, () => observe(this.#runnable, (f) => f)));
      }
      const seen = this.#noisy.map((run) => run[k] ?? []);
      const verdict = isAmong(difference, seen);
      if (verdict !== "perhaps") return verdict === "yes";
    }
    return false;
  }
}

/** Returns whether the found value is among those of noisy runs; "perhaps" if they disagree, but less. */
function isAmong(
  { place, expected, found }: FactDifference,
  runs: readonly (readonly Fact[])[],
): "yes" | "no" | "perhaps" {
  const others = runs.map((facts) => facts.find((fact) => fact.place === place));
  if (
    expected?.kind !== "elements" || found?.kind !== "elements" ||
    expected.elements.length !== found.elements.length
  ) {
    const wanted = found ? [found] : [];
    const isSeen = others.some((other) => compareFacts(other ? [other] : [], wanted).length === 0);
    if (isSeen) return "yes";
    const plain = expected ? [expected] : [];
    return others.some((other) => compareFacts(other ? [other] : [], plain).length > 0) ? "perhaps" : "no";
  }
  let moved = true, explained = true;
  for (let i = 0; i < expected.elements.length; i++) {
    const plain = expected.elements[i] ?? 0, compiled = found.elements[i] ?? 0;
    if (nearElement(expected.dtype, plain, compiled)) continue;
    let spread = 0, met = false, differs = false;
    for (const other of others) {
      const x = counterpart(other, { expected, i });
      if (sameElement(x, compiled)) met = true;
      if (!sameElement(x, plain)) differs = true;
      const distance = Math.abs(Number(x) - Number(plain));
      if (distance > spread) spread = distance;
    }
    // Rounding decides the sign of a zero that may result from cancellation
    const within = areOppositeZeros(plain, compiled)
      ? spread > 0
      : Math.abs(Number(compiled) - Number(plain)) <= SPREAD * spread;
    if (met || within) continue;
    explained = false;
    if (!differs) moved = false;
  }
  return explained ? "yes" : moved ? "perhaps" : "no";
}

/** The element of another run: at the same place, or the nearest one if their number differs. */
function counterpart(
  other: Fact | undefined,
  { expected, i }: { readonly expected: Elements; readonly i: number },
): number | bigint {
  if (other?.kind !== "elements") return NaN;
  const { elements } = other, plain = Number(expected.elements[i] ?? 0);
  if (elements.length === expected.elements.length) return elements[i] ?? 0;
  return Array.from(elements, Number).reduce(
    (nearest, x) => Number.isNaN(nearest) || Math.abs(x - plain) < Math.abs(nearest - plain) ? x : nearest,
    NaN,
  );
}

/** Returns the observations of a plain run with float64 as the default type. */
function plainInFloat64(wide: Runnable): readonly (readonly Fact[])[] {
  const former = getDefaultDtype();
  setDefaultDtype("float64");
  try {
    return observe(wide, (f) => f);
  } finally {
    setDefaultDtype(former);
  }
}

/** The program with float32 replaced by float64. */
export function widened(program: Program): Program {
  const wide = (part: Arg): Arg =>
    part === "float32" ? "float64" : part === "complex64" ? "complex128" : part;
  const list = (statements: readonly Statement[]): readonly Statement[] =>
    mapStatements(statements, (each) => {
      if (each.kind === "data") {
        return [{ ...each, dtype: each.dtype === "float32" ? "float64" : each.dtype }];
      }
      if (each.kind !== "call") return [each];
      return [{
        ...each,
        name: each.name === "float" ? "double" : each.name,
        args: each.args.map((arg) => mapArg(arg, wide)),
      }];
    });
  return { ...program, state: list(program.state), setup: list(program.setup), body: list(program.body) };
}
