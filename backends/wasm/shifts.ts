/**
 * Shifts of integers in lanes, each lane by a count of its own. Input: values and counts; output: values. Invariant: a
 * count outside [0, bits) gives 0, or −1 for a negative operand of a shift to the right.
 */
import type { Lanes } from "./lanes.ts";
import { isWide, type LaneValue, partOf } from "./values.ts";

interface Operands {
  readonly value: LaneValue;
  readonly count: LaneValue;
  readonly four: boolean;
}

/** `value` shifted by `count`. */
export function shifted(lanes: Lanes, op: "shl" | "shr", { value, count, four }: Operands): LaneValue {
  const { body } = lanes, { type } = value, wide = isWide(type);
  const bits = wide ? 64 : 32, shape = wide ? "i64" : "i32";
  const instruction = op === "shl" ? `${shape}Shl` as const : `${shape}ShrS` as const;
  if (count.constant !== undefined) {
    const by = Number(count.constant), inside = by >= 0 && by < bits;
    return lanes.each(type, [value], {
      four,
      then: () => {
        if (inside) body.i32(by).simd(instruction);
        else if (op === "shr") body.i32(bits - 1).simd(instruction);
        else lanes.pushConstant(0, type).simd("and");
      },
    });
  }
  // A count beyond the range shifts everything out
  const zero = lanes.constant(0, type), limit = lanes.constant(bits - 1, type);
  const below = compare(lanes, [count, zero], { wide, four }),
    above = compare(lanes, [limit, count], { wide, four });
  const outside = lanes.each("bool", [below, above], { four, then: () => void body.simd("or") });
  const plain = laneByLane(lanes, op, { value, count, four });
  const filled = op === "shl" ? zero : lanes.each(type, [value], {
    four,
    then: () => void body.i32(bits - 1).simd(instruction),
  });
  return lanes.select(outside, [filled, plain], four);
}

/** Whether the first is below the second. */
const compare = (
  lanes: Lanes,
  operands: readonly LaneValue[],
  { wide, four }: { readonly wide: boolean; readonly four: boolean },
): LaneValue =>
  lanes.compared(operands, { four, then: () => void lanes.body.simd(wide ? "i64LtS" : "i32LtS") });

/** Shifts by counts modulo the width, with the plain instruction for one lane after the other. */
function laneByLane(lanes: Lanes, op: "shl" | "shr", { value, count, four }: Operands): LaneValue {
  const { body } = lanes, { type } = value, wide = isWide(type), shape = wide ? "i64" : "i32";
  const equal = value.equal && count.equal;
  return lanes.make(type, { four, equal }, (part) => {
    const number = equal || !four ? 1 : wide ? 2 : 4;
    const pushLane = (lane: number) => {
      body.get(partOf(value, part)).lane(`${shape}Extract`, lane);
      body.get(partOf(count, part)).lane(`${shape}Extract`, lane);
      body.op(op === "shl" ? `${shape}Shl` : `${shape}ShrS`);
    };
    pushLane(0);
    body.simd(`${shape}Splat`);
    for (let lane = 1; lane < number; lane++) {
      pushLane(lane);
      body.lane(`${shape}Replace`, lane);
    }
  });
}
