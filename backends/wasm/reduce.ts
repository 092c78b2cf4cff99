/**
 * Reductions in lanes: combining, folding partial results, and positions of extremes. Invariants: combining is lane by
 * lane; partial results fold as a tree over groups of four and then over lanes, so that the order is that of the
 * printed C++. For extremes, NaN beats everything, the first of equal values stays, and the position in an empty range
 * is 0.
 */
import { InternalError } from "../../lib/base/errors.ts";
import { isFloat, type ValueType } from "../../lib/base/dtype.ts";
import { isPosition, type Reduction } from "../../lib/loops/ir.ts";
import { combinationOf, neutralOf } from "../../lib/loops/reductions.ts";
import { allEqual, constantBits, isWide, type Lanes, type LaneValue, partOf } from "./lanes.ts";
import { scalar } from "./straight_line.ts";

/** The operation of a reduction and the type of its lanes. */
export type Combination = Pick<Reduction, "op" | "dtype">;

/** Combines the partial result with a value, lane by lane. */
export function combined(
  lanes: Lanes,
  r: Combination,
  { args, four }: { readonly args: readonly [LaneValue, LaneValue]; readonly four: boolean },
): LaneValue {
  if (isPosition(r.op)) throw new InternalError(`Expected a reduction without positions but found ${r.op}`);
  return scalar(lanes, combinationOf(r.op, r.dtype), { args, four });
}

/** A partial result combined with lane 0 of a value; the other lanes are unchanged. */
export function combineFirst(
  lanes: Lanes,
  r: Combination,
  [partial, value]: readonly [LaneValue, LaneValue],
) {
  const { body } = lanes, wide = isWide(r.dtype);
  body.get(partOf(value, 0)).splatConstant(...constantBits(neutralOf(r.op, r.dtype), r.dtype));
  body.lanes([-1, wide ? -1 : 0, 0, 0]).simd("bitselect");
  const alone = body.local("v128");
  body.set(alone);
  const first: LaneValue = { type: r.dtype, parts: [partOf(partial, 0)], equal: false };
  const other: LaneValue = { type: r.dtype, parts: [alone], equal: false };
  lanes.assign(first, combined(lanes, r, { args: [first, other], four: false }));
}

/**
 * Returns whether the order of combination affects the result: through rounding, or through which of two zeros is kept.
 */
export const dependsOnOrder = ({ dtype }: Combination): boolean => isFloat(dtype);

/**
 * Rotates partial results by one lane, so that the next value combined with the first one belongs to the next element.
 * Folding combines the same pairs however far they were rotated.
 */
export function rotate(lanes: Lanes, partials: readonly LaneValue[]): void {
  const { body } = lanes, vectors = partials.flatMap(({ parts }) => parts), first = body.local("v128");
  const distance = isWide(partials[0]?.type ?? "int32") ? 8 : 4;
  const bytes = Array.from({ length: 16 }, (_, byte) => byte + distance);
  body.get(vectors[0] ?? -1).set(first);
  vectors.forEach((vector, n) => {
    body.get(vector).get(vectors[n + 1] ?? first).shuffle(bytes).set(vector);
  });
}

/** Folds all partial results into one, the same in every lane. */
export function foldPartials(lanes: Lanes, r: Combination, partials: readonly LaneValue[]): LaneValue {
  const { body } = lanes, wide = isWide(r.dtype);
  let groups = partials;
  while (groups.length > 1) {
    const half = groups.length / 2;
    groups = groups.slice(0, half).map((group, n) => {
      const other = groups[n + half];
      if (!other) throw new InternalError("Expected as many groups as a power of two");
      return combined(lanes, r, { args: [group, other], four: true });
    });
  }
  const [group] = groups;
  if (!group) throw new InternalError("Expected partial results but found none");
  const one = (local: number): LaneValue => ({ type: r.dtype, parts: [local], equal: false });
  const turned = (local: number, distance: number): LaneValue => {
    const made = body.local("v128");
    body.get(local).get(local).shuffle(Array.from({ length: 16 }, (_, byte) => (byte + distance) % 16)).set(
      made,
    );
    return one(made);
  };
  const both = (a: LaneValue, b: LaneValue) => combined(lanes, r, { args: [a, b], four: false });
  const first = partOf(group, 0);
  const pair = both(one(first), wide ? one(partOf(group, 1)) : turned(first, 8));
  const last = partOf(both(pair, turned(partOf(pair, 0), wide ? 8 : 4)), 0);
  const result = body.local("v128");
  body.get(last).get(last).words(wide ? [0, 1, 0, 1] : [0, 0, 0, 0]).set(result);
  return { type: r.dtype, parts: [result], equal: true };
}

/** The state of argmax or argmin: the extreme so far, its position, and whether there is one. */
export interface Extreme {
  readonly value: LaneValue;
  readonly position: LaneValue;
  readonly found: LaneValue;
}

/** Initialises the state. */
export function openExtreme(
  lanes: Lanes,
  types: { readonly value: ValueType; readonly position: ValueType },
  place: { readonly four: boolean; readonly equal: boolean },
): Extreme {
  const open = (type: ValueType): LaneValue => {
    const made = lanes.variable(type, place);
    lanes.assign(made, lanes.constant(type === "bool" ? false : 0, type));
    return made;
  };
  return { value: open(types.value), position: open(types.position), found: open("bool") };
}

/** Takes over a value and its position in lanes where it is the first or beats the extreme. */
export function takeExtreme(
  lanes: Lanes,
  { value, position, found }: Extreme,
  { op, four, ...candidate }: {
    readonly op: "argmax" | "argmin";
    readonly four: boolean;
    readonly value: LaneValue;
    readonly position: LaneValue;
  },
): void {
  const { type } = value, full = four && !allEqual([value, candidate.value]);
  const of = (name: Parameters<typeof scalar>[1], ...args: readonly LaneValue[]) =>
    scalar(lanes, name, { args, four: full });
  let better = of(op === "argmax" ? "gt" : "lt", candidate.value, value);
  if (isFloat(type)) {
    better = of("or", better, of("and", of("isNan", candidate.value), of("eq", value, value)));
  }
  better = of("or", better, of("not", found));
  lanes.assign(value, lanes.select(better, [candidate.value, value], four));
  lanes.assign(position, lanes.select(better, [candidate.position, position], four));
  lanes.assign(found, lanes.constant(true, "bool"));
}
