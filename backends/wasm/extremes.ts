/**
 * Positions of extremes in lanes. Input: values and their positions, in order; output: the position of the first
 * extreme. Invariant: NaN beats all else, the first of equal values stays; the position of nothing is 0.
 */
import type { ValueType } from "../../lib/base/dtype.ts";
import { isFloat } from "../../lib/base/dtype.ts";
import { allEqual, type Lanes } from "./lanes.ts";
import { scalar } from "./straight_line.ts";
import type { LaneValue } from "./values.ts";

/** The state of argmax or argmin: the extreme so far, its position, and whether there is one. */
export interface Extreme {
  readonly value: LaneValue;
  readonly position: LaneValue;
  readonly found: LaneValue;
}

/** Opens the state. */
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
