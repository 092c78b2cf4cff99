/**
 * The primitive scalar operations on lanes. Invariant: an element's bits do not depend on its lane, so that loop
 * tails may use one lane.
 */
import type { ValueType } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import { resultType, type ScalarOpName } from "../../lib/loops/scalar.ts";
import { allEqual, isWide, type Lanes, type LaneValue, partOf } from "./lanes.ts";
import type { Simd } from "./opcodes.ts";

/** Simd prefix of lanes of a type. */
const SHAPE = { float32: "f32", float64: "f64", int32: "i32", int64: "i64" } as const;
type Number = keyof typeof SHAPE;

const isFloat = (type: Number): type is "float32" | "float64" => type === "float32" || type === "float64";

const COMPARISONS = { eq: "Eq", ne: "Ne", lt: "Lt", le: "Le", gt: "Gt", ge: "Ge" } as const;
const OF_INTEGERS = { eq: "Eq", ne: "Ne", lt: "LtS", le: "LeS", gt: "GtS", ge: "GeS" } as const;

const comparison = (op: keyof typeof COMPARISONS, type: Number): Simd =>
  isFloat(type)
    ? `${SHAPE[type]}${COMPARISONS[op]}`
    : `${type === "int64" ? "i64" : "i32"}${OF_INTEGERS[op]}`;

const SIMPLE = { add: "Add", sub: "Sub", mul: "Mul", neg: "Neg", abs: "Abs" } as const;
const FLOAT = {
  div: "Div",
  sqrt: "Sqrt",
  floor: "Floor",
  ceil: "Ceil",
  trunc: "Trunc",
  round: "Nearest",
} as const;
const LOGICAL = { and: "and", or: "or", xor: "xor", not: "not" } as const;

const has = <Table extends object>(table: Table, op: string): op is Extract<keyof Table, string> =>
  Object.hasOwn(table, op);

/** The result of a primitive operation. */
export function primitive(
  lanes: Lanes,
  op: ScalarOpName,
  { args, four }: { readonly args: readonly LaneValue[]; readonly four: boolean },
): LaneValue {
  const [a, b] = args;
  if (!a) throw new InternalError(`Expected operands of ${op} but found none`);
  const { type } = a;
  if (type === "bool") return onBools(lanes, op, { args, four });
  const shape = SHAPE[type];
  const simple = (instruction: Simd, result: ValueType = type) =>
    lanes.each(result, args, { four, then: () => void lanes.body.simd(instruction) });
  if (has(COMPARISONS, op)) {
    const instruction = comparison(op, type);
    const made = lanes.compared(args, { four, then: () => void lanes.body.simd(instruction) });
    return b && isFloat(type) && (op === "lt" || op === "gt")
      ? { ...made, order: { op, operands: [a, b] } }
      : made;
  }
  if (has(SIMPLE, op)) {
    return simple(`${shape}${SIMPLE[op]}`);
  }
  if (has(LOGICAL, op) && !isFloat(type)) return simple(LOGICAL[op]);
  if (has(FLOAT, op) && isFloat(type)) return simple(`${SHAPE[type]}${FLOAT[op]}`);
  switch (op) {
    case "fma":
      if (isFloat(type)) return fused(lanes, type, { args, four });
      break;
    case "mulHigh":
      if (b) return highProduct(lanes, [a, b], four);
      break;
    case "minimum":
    case "maximum":
      if (b) return extreme(lanes, op, { a, b, four });
      break;
    case "isNan":
      return lanes.compared([a, a], { four, then: () => void lanes.body.simd(`${shape}Ne`) });
    case "rounded":
      return a;
    case "bitsToFloat":
    case "floatToBits":
      return { type: resultType(op, type), parts: a.parts, equal: a.equal };
    case "shl":
    case "shr":
      if (b && !isFloat(type)) return shifted(lanes, op, { value: a, count: b, four });
      break;
    case "truncDiv":
      if (type === "int64") return byVector(lanes, args, four);
      return lanes.call(lanes.room.helper("divideInt32"), args, { type, four });
    default:
  }
  throw new InternalError(`Expected a primitive operation on ${type} but found ${op}`);
}

/** The high words of products of unsigned words. */
function highProduct(lanes: Lanes, operands: readonly [LaneValue, LaneValue], four: boolean): LaneValue {
  const { body } = lanes;
  return lanes.make("int32", { four, equal: allEqual(operands) }, (part) => {
    for (const product of ["i64MulLowU32", "i64MulHighU32"] as const) {
      for (const each of operands) body.get(partOf(each, part));
      body.simd(product);
    }
    body.words([1, 3, 5, 7]);
  });
}

function fused(
  lanes: Lanes,
  type: "float32" | "float64",
  { args, four }: { readonly args: readonly LaneValue[]; readonly four: boolean },
): LaneValue {
  const { room, body } = lanes;
  if (room.fuses) {
    const then = () => void body.simd(type === "float32" ? "f32Madd" : "f64Madd");
    return lanes.each(type, args, { four, then });
  }
  return lanes.call(room.scalarFunction("fma", type, four && !allEqual(args)), args, { type, four });
}

/** A quotient of int64, pair by pair. */
const byVector = (lanes: Lanes, args: readonly LaneValue[], four: boolean): LaneValue =>
  lanes.each("int64", args, { four, then: () => void lanes.body.call(lanes.room.helper("divideInt64")) });

const isNumber = ({ constant }: LaneValue): boolean =>
  constant !== undefined && !Number.isNaN(Number(constant));

/** The greater or the smaller operand; NaN if either is, the first of equal ones. */
function extreme(
  lanes: Lanes,
  op: "minimum" | "maximum",
  { a, b, four }: { readonly a: LaneValue; readonly b: LaneValue; readonly four: boolean },
): LaneValue {
  const { body } = lanes, { type } = a, least = op === "minimum";
  if (type === "bool") throw new InternalError(`Expected ${op} of numbers but found bools`);
  if (type === "int32") {
    return lanes.each(type, [a, b], { four, then: () => void body.simd(least ? "i32MinS" : "i32MaxS") });
  }
  const equal = allEqual([a, b]);
  if (type === "int64") {
    return lanes.make(type, { four, equal }, (part) => {
      body.get(partOf(b, part)).get(partOf(a, part));
      body.get(partOf(b, part)).get(partOf(a, part)).simd(least ? "i64LtS" : "i64GtS", "bitselect");
    });
  }
  const shape = SHAPE[type];
  const push = (part: number) =>
    void body.get(partOf(a, part)).get(partOf(b, part)).simd(least ? `${shape}PMin` : `${shape}PMax`);
  return lanes.make(type, { four, equal }, (part) => {
    if (isNumber(b)) return push(part);
    const second = partOf(b, part);
    if (isNumber(a)) {
      const first = partOf(a, part);
      body.get(first).get(second).get(second).get(first).simd(least ? `${shape}Ge` : `${shape}Le`);
    } else {
      body.get(second);
      push(part);
      body.get(second).get(second).simd(`${shape}Ne`);
    }
    body.simd("bitselect");
  });
}

/** Logical operations: the instruction, and which operand is negated first. */
const ON_BOOLS: Partial<
  Record<ScalarOpName, { readonly by: "and" | "or" | "xor"; readonly not?: "first" | "second" | "result" }>
> = {
  and: { by: "and" },
  minimum: { by: "and" },
  mul: { by: "and" },
  or: { by: "or" },
  maximum: { by: "or" },
  add: { by: "or" },
  xor: { by: "xor" },
  ne: { by: "xor" },
  eq: { by: "xor", not: "result" },
  lt: { by: "and", not: "first" },
  le: { by: "or", not: "first" },
  gt: { by: "and", not: "second" },
  ge: { by: "or", not: "second" },
};

function onBools(
  lanes: Lanes,
  op: ScalarOpName,
  { args, four }: { readonly args: readonly LaneValue[]; readonly four: boolean },
): LaneValue {
  const { body } = lanes, [a, b] = args;
  if (a && op === "not") return bools(lanes, [a], { four, then: () => void body.simd("not") });
  const form = ON_BOOLS[op];
  if (!a || !b || !form) throw new InternalError(`Expected an operation on bools but found ${op}`);
  const negated = (value: LaneValue) => bools(lanes, [value], { four, then: () => void body.simd("not") });
  const operands = [form.not === "first" ? negated(a) : a, form.not === "second" ? negated(b) : b];
  const made = bools(lanes, operands, { four, then: () => void body.simd(form.by) });
  return form.not === "result" ? negated(made) : made;
}

/** A bool from bools; if all operands have masks of 64 bits, so does the result. */
function bools(
  lanes: Lanes,
  operands: readonly LaneValue[],
  { four, then }: { readonly four: boolean; readonly then: () => void },
): LaneValue {
  const made = lanes.each("bool", operands, { four, then });
  const wide = operands.flatMap(({ masks, equal }): LaneValue[] =>
    masks ? [{ type: "int64", parts: masks, equal }] : []
  );
  if (wide.length < operands.length) return made;
  return { ...made, masks: lanes.each("int64", wide, { four, then }).parts };
}

/** The operands of a shift. */
interface Shift {
  readonly value: LaneValue;
  readonly count: LaneValue;
  readonly four: boolean;
}

/** `value` shifted by `count`; a count outside [0, bits) gives 0, or −1 for a negative value shifted right. */
function shifted(lanes: Lanes, op: "shl" | "shr", { value, count, four }: Shift): LaneValue {
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
  // A count out of range shifts everything out
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

/** Compares lanes: the first operand with the second. */
const compare = (
  lanes: Lanes,
  operands: readonly LaneValue[],
  { wide, four }: { readonly wide: boolean; readonly four: boolean },
): LaneValue =>
  lanes.compared(operands, { four, then: () => void lanes.body.simd(wide ? "i64LtS" : "i32LtS") });

/** Shifts by counts modulo the width, with the scalar instruction for each lane in turn. */
function laneByLane(lanes: Lanes, op: "shl" | "shr", { value, count, four }: Shift): LaneValue {
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
