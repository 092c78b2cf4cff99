/**
 * Observations of a run as a list of facts, and the differences between two lists. Invariant: a fact is identified by
 * its place, so that runs that took different paths can be compared.
 */
import { type DType, type HostArray, isFloat } from "../../../lib/base/dtype.ts";

/** Kinds of observation. */
export const ASPECTS = [
  /** Whether a call returned or threw. */
  "outcome",
  /** Class and message of an error, if another one was expected. */
  "error",
  /** The results: tensors, numbers, null. */
  "results",
  "dtype",
  "shape",
  "strides",
  /** Identity of results with inputs or other results. */
  "identity",
  /** Tensors that share memory. */
  "memory",
  /** Whether gradients are recorded. */
  "requiresGrad",
  "values",
  /** Contents of inputs and captured tensors afterwards, and whether they count as written. */
  "mutation",
  /** `.grad` of leaves, errors of backward. */
  "gradients",
  /** Recorded texts and numbers, in order. */
  "effects",
  /** Number of random numbers drawn. */
  "random",
] as const;

/** A kind of observation. */
export type Aspect = typeof ASPECTS[number];

/** One observation. */
export type Fact =
  & { readonly place: string; readonly aspect: Aspect }
  & (
    | { readonly kind: "text"; readonly text: string }
    | { readonly kind: "elements"; readonly dtype: DType; readonly elements: HostArray }
  );

/** A difference between two runs. */
export interface FactDifference {
  readonly place: string;
  readonly aspect: Aspect;
  /** Absent: the run did not get this far. */
  readonly expected: Fact | undefined;
  readonly found: Fact | undefined;
}

/** Returns whether two elements are identical: −0 is not 0, NaN is NaN. */
export function sameElement(a: number | bigint, b: number | bigint): boolean {
  return Object.is(a, b);
}

/** Returns whether two elements are zeros of opposite signs. */
export function areOppositeZeros(a: number | bigint, b: number | bigint): boolean {
  return a === 0 && b === 0 && !Object.is(a, b);
}

/** The distance between neighbouring numbers of a floating type at a magnitude. */
export function spacing(dtype: DType, magnitude: number): number {
  if (!isFloat(dtype) || !Number.isFinite(magnitude)) return 0;
  const [bits, least] = dtype === "float32" ? [23, -126] : [52, -1022];
  return 2 ** (Math.max(least, Math.floor(Math.log2(Math.max(Math.abs(magnitude), 2 ** least)))) - bits);
}

/** Units in the last place by which results may differ without further examination. */
const NEAR = 4;

/** Returns whether two elements are equal within the tolerance of their type. */
export function nearElement(dtype: DType, a: number | bigint, b: number | bigint): boolean {
  if (sameElement(a, b)) return true;
  if (!isFloat(dtype) || areOppositeZeros(a, b)) return false;
  const x = Number(a), y = Number(b);
  return Math.abs(x - y) <= NEAR * spacing(dtype, Math.max(Math.abs(x), Math.abs(y)));
}

/** Returns whether a number is subnormal in a type. */
export function isSubnormal(x: number, dtype: DType): boolean {
  return dtype === "float32" && x !== 0 && Math.abs(x) < 2 ** -126;
}

/** Facts of a device that may flush subnormal numbers and −0 to 0, or of a run compared with it. */
export function withoutSubnormals(facts: readonly Fact[]): readonly Fact[] {
  return facts.map((fact) => {
    if (fact.kind === "text" || !(fact.elements instanceof Float32Array)) return fact;
    return { ...fact, elements: fact.elements.map((x) => x === 0 || isSubnormal(x, fact.dtype) ? 0 : x) };
  });
}

function sameFact(a: Fact, b: Fact): boolean {
  if (a.kind === "text" || b.kind === "text") {
    return a.kind === "text" && b.kind === "text" && a.text === b.text;
  }
  if (a.dtype !== b.dtype || a.elements.length !== b.elements.length) return false;
  return a.elements.every((x: number | bigint, k: number) => nearElement(a.dtype, x, b.elements[k] ?? 0));
}

const threw = (fact: Fact | undefined): boolean => fact?.kind === "text" && fact.text.startsWith("threw ");

/** All differences, in the order of the expected facts; an outcome that differs hides its consequences. */
export function compareFacts(expected: readonly Fact[], found: readonly Fact[]): FactDifference[] {
  const places = new Map(found.map((fact) => [fact.place, fact]));
  const differences: FactDifference[] = [];
  for (const fact of expected) {
    const other = places.get(fact.place);
    places.delete(fact.place);
    if (other && sameFact(fact, other)) continue;
    const threwBoth = fact.aspect === "outcome" && threw(fact) && threw(other);
    differences.push({
      place: fact.place,
      aspect: threwBoth ? "error" : fact.aspect,
      expected: fact,
      found: other,
    });
    if (fact.aspect === "outcome" && !threwBoth) return differences;
  }
  for (const [place, fact] of places) {
    differences.push({ place, aspect: fact.aspect, expected: undefined, found: fact });
  }
  return differences;
}

/** A fact for people: elements where the two first differ, else the beginning. */
export function factText(fact: Fact | undefined, other: Fact | undefined): string {
  if (fact === undefined) return "nothing";
  if (fact.kind === "text") return fact.text;
  const { elements, dtype } = fact;
  const text = (x: number | bigint) =>
    dtype === "bool" ? String(x !== 0) : Object.is(x, -0) ? "-0" : String(x);
  const texts = Array.from(elements, text);
  const at = other?.kind === "elements"
    ? texts.findIndex((_, k) => !nearElement(dtype, elements[k] ?? 0, other.elements[k] ?? 0))
    : -1;
  const list = texts.length <= 24
    ? texts.join(", ")
    : `${texts.slice(0, 24).join(", ")}, … (${texts.length})`;
  return at < 24 ? `[${list}]` : `[${list}], at ${at}: ${texts[at]}`;
}
