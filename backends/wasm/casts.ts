/**
 * Conversions between element types in lanes. Invariants: floats become integers through int64: a value out of range
 * becomes the least integer, and narrower types keep its low bits; integers become floats with one rounding; to bool
 * is ≠ 0.
 */
import type { ValueType } from "../../lib/base/dtype.ts";
import type { Lanes } from "./lanes.ts";
import { type LaneValue, partOf } from "./values.ts";

/** The value as another type. */
export function cast(
  lanes: Lanes,
  value: LaneValue,
  { to, four }: { readonly to: ValueType; readonly four: boolean },
): LaneValue {
  if (value.type === to) return value;
  if (value.constant !== undefined && isExact(value.constant, to)) {
    return constantCast(lanes, value.constant, to);
  }
  switch (to) {
    case "bool":
      return toBool(lanes, value, four);
    case "float32":
      return toFloat32(lanes, value, four);
    case "float64":
      return toFloat64(lanes, value, four);
    case "int64":
      return toInt64(lanes, value, four);
    case "int32":
      return toInt32(lanes, value, four);
    default:
      return to satisfies never;
  }
}

/** Returns whether a constant is a small integer, which every number type has. */
const isExact = (constant: number | bigint | boolean, to: ValueType): boolean => {
  const value = Number(constant);
  return Number.isInteger(value) && !Object.is(value, -0) && value >= 0 && value < 256 && to !== "bool";
};

const constantCast = (lanes: Lanes, constant: number | bigint | boolean, to: ValueType): LaneValue =>
  lanes.constant(to === "int64" ? BigInt(constant) : Number(constant), to);

function toBool(lanes: Lanes, value: LaneValue, four: boolean): LaneValue {
  const { body } = lanes, zero = lanes.constant(0, value.type);
  const unequal = {
    float32: "f32Ne",
    float64: "f64Ne",
    int32: "i32Ne",
    int64: "i64Ne",
  } as const;
  const { type } = value;
  if (type === "bool") return value;
  return lanes.compared([value, zero], { four, then: () => void body.simd(unequal[type]) });
}

/** The bits of a constant where a mask is set. */
function masked(
  lanes: Lanes,
  mask: LaneValue,
  { to, four }: { readonly to: ValueType; readonly four: boolean },
) {
  return lanes.select(mask, [lanes.constant(1, to), lanes.constant(0, to)], four);
}

/** Applies an instruction that takes the low half of a vector to both halves. */
function byHalves(
  lanes: Lanes,
  value: LaneValue,
  { to, four, then }: { readonly to: ValueType; readonly four: boolean; readonly then: () => void },
): LaneValue {
  const { body } = lanes, source = partOf(value, 0);
  return lanes.make(to, { four, equal: value.equal }, (part) => {
    body.get(source);
    if (part === 1) body.get(source).words([2, 3, 2, 3]);
    then();
  });
}

/** One vector out of the low halves of two. */
function joined(
  lanes: Lanes,
  value: LaneValue,
  { to, four, words, then = () => {} }: {
    readonly to: ValueType;
    readonly four: boolean;
    readonly words: readonly [number, number, number, number];
    readonly then?: () => void;
  },
): LaneValue {
  const { body } = lanes, full = four && !value.equal;
  return lanes.make(to, { four, equal: value.equal }, () => {
    for (const part of full ? [0, 1] : [0]) {
      body.get(partOf(value, part));
      then();
    }
    if (full) body.words(words);
    else if (value.equal) {
      // The low half holds the element
      const local = body.local("v128");
      body.tee(local).get(local).words([0, 0, 0, 0]);
    }
  });
}

function toFloat32(lanes: Lanes, value: LaneValue, four: boolean): LaneValue {
  const { body } = lanes, { type } = value;
  switch (type) {
    case "bool":
      return masked(lanes, value, { to: "float32", four });
    case "int32":
      return lanes.each("float32", [value], { four, then: () => void body.simd("f32ConvertI32") });
    case "float64":
      return joined(lanes, value, {
        to: "float32",
        four,
        words: [0, 1, 4, 5],
        then: () => void body.simd("f32DemoteZero"),
      });
    case "int64":
      return joined(lanes, value, {
        to: "float32",
        four,
        words: [0, 1, 4, 5],
        then: () => void body.call(lanes.room.helper("float32OfInt64")),
      });
    case "float32":
      return value;
    default:
      return type satisfies never;
  }
}

function toFloat64(lanes: Lanes, value: LaneValue, four: boolean): LaneValue {
  const { body } = lanes, { type } = value;
  switch (type) {
    case "bool":
      return masked(lanes, value, { to: "float64", four });
    case "float32":
      return byHalves(lanes, value, { to: "float64", four, then: () => void body.simd("f64PromoteLow") });
    case "int32":
      return byHalves(lanes, value, { to: "float64", four, then: () => void body.simd("f64ConvertLowI32") });
    case "int64":
      return float64OfInt64(lanes, value, four);
    case "float64":
      return value;
    default:
      return type satisfies never;
  }
}

/**
 * Both halves of an integer as the low bits of doubles with known high ones; all but the last addition are exact.
 */
function float64OfInt64(lanes: Lanes, value: LaneValue, four: boolean): LaneValue {
  const { body } = lanes;
  return lanes.make("float64", { four, equal: value.equal }, (part) => {
    const from = partOf(value, part);
    // (2⁸⁴ + 2⁶³ + high·2³²) − (2⁸⁴ + 2⁶³ + 2⁵²), then + (2⁵² + low)
    body.get(from).i32(32).simd("i64ShrU").splatConstant(0x80000000 | 0, 0x45300000).simd("xor");
    lanes.pushConstant(2 ** 84 + 2 ** 63 + 2 ** 52, "float64").simd("f64Sub");
    body.get(from).splatConstant(-1, 0).simd("and").splatConstant(0, 0x43300000).simd("or", "f64Add");
  });
}

function toInt64(lanes: Lanes, value: LaneValue, four: boolean): LaneValue {
  const { body, room } = lanes, { type } = value;
  switch (type) {
    case "bool":
      return masked(lanes, value, { to: "int64", four });
    case "int32":
      return lanes.make("int64", { four, equal: value.equal }, (part) => {
        body.get(partOf(value, 0)).simd(part === 0 ? "i64ExtendLowS" : "i64ExtendHighS");
      });
    case "float32":
      return toInt64(lanes, toFloat64(lanes, value, four), four);
    case "float64":
      return lanes.each("int64", [value], {
        four,
        then: () => void body.call(room.helper("int64OfDoubles")),
      });
    case "int64":
      return value;
    default:
      return type satisfies never;
  }
}

function toInt32(lanes: Lanes, value: LaneValue, four: boolean): LaneValue {
  const { body, room } = lanes, { type } = value;
  switch (type) {
    case "bool":
      return masked(lanes, value, { to: "int32", four });
    case "int64":
      return joined(lanes, value, { to: "int32", four, words: [0, 2, 4, 6] });
    case "float64": {
      const low = partOf(value, 0), high = partOf(value, 1);
      return lanes.make("int32", { four, equal: value.equal }, () => {
        body.get(low).get(high).call(room.helper("int32OfDoubles"));
      });
    }
    case "float32":
      return int32OfFloat32(lanes, value, four);
    case "int32":
      return value;
    default:
      return type satisfies never;
  }
}

/** Integers of 31 bits have an instruction; others, and what is none, go the long way. */
function int32OfFloat32(lanes: Lanes, value: LaneValue, four: boolean): LaneValue {
  const { body } = lanes, result = lanes.variable("int32", { four, equal: value.equal });
  body.get(partOf(value, 0)).simd("f32Abs");
  lanes.pushConstant(2 ** 31, "float32").simd("f32Lt", "i32AllTrue").when(
    () => {
      body.get(partOf(value, 0)).simd("i32TruncF32").set(partOf(result, 0));
    },
    () => lanes.assign(result, toInt32(lanes, toFloat64(lanes, value, four), four)),
  );
  return result;
}
