/**
 * Conversions between element types in lanes. Invariants: floats become integers through int64: a value out of range
 * becomes the least integer, and narrower types keep its low bits; integers become floats with one rounding; to bool
 * is ≠ 0.
 */
import type { ValueType } from "../../lib/base/dtype.ts";
import { type HelperName, type Lanes, type LaneValue, partOf } from "./lanes.ts";
import type { Simd } from "./opcodes.ts";

/** The value as another type. */
export function cast(
  lanes: Lanes,
  value: LaneValue,
  { to, four }: { readonly to: ValueType; readonly four: boolean },
): LaneValue {
  const { type, constant } = value;
  if (type === to) return value;
  if (constant !== undefined && isExact(constant, to)) {
    return lanes.constant(to === "int64" ? BigInt(constant) : Number(constant), to);
  }
  return CASTS[to][type](lanes, value, four);
}

/** Returns whether a constant is a small integer, which every number type represents exactly. */
const isExact = (constant: number | bigint | boolean, to: ValueType): boolean => {
  const value = Number(constant);
  return Number.isInteger(value) && !Object.is(value, -0) && value >= 0 && value < 256 && to !== "bool";
};

type Cast = (lanes: Lanes, value: LaneValue, four: boolean) => LaneValue;

const same: Cast = (_, value) => value;

const unequal = (instruction: Simd): Cast => (lanes, value, four) =>
  lanes.compared([value, lanes.constant(0, value.type)], {
    four,
    then: () => void lanes.body.simd(instruction),
  });

/** The bits of a constant where a mask is set. */
const ofMask = (to: ValueType): Cast => (lanes, mask, four) =>
  lanes.select(mask, [lanes.constant(1, to), lanes.constant(0, to)], four);

/** Emits instructions for each vector, which is on the stack. */
type Step = (lanes: Lanes) => void;
const simd = (instruction: Simd): Step => ({ body }) => void body.simd(instruction);
const helper = (name: HelperName): Step => ({ body, room }) => void body.call(room.helper(name));

const byVectors = (to: ValueType, step: Step): Cast => (lanes, value, four) =>
  lanes.each(to, [value], { four, then: () => step(lanes) });

/** Applies an instruction that takes the low half of a vector to both halves. */
const byHalves = (instruction: Simd): Cast => (lanes, value, four) =>
  lanes.make("float64", { four, equal: value.equal }, (part) => {
    const source = partOf(value, 0);
    lanes.body.get(source);
    if (part === 1) lanes.body.get(source).words([2, 3, 2, 3]);
    lanes.body.simd(instruction);
  });

/** Selects one vector from the words of two. */
const joined =
  (to: ValueType, words: readonly [number, number, number, number], step: Step = () => {}): Cast =>
  (lanes, value, four) => {
    const { body } = lanes, full = four && !value.equal;
    return lanes.make(to, { four, equal: value.equal }, () => {
      for (const part of full ? [0, 1] : [0]) {
        body.get(partOf(value, part));
        step(lanes);
      }
      if (full) body.words(words);
      else if (value.equal) {
        // The low half holds the element
        const local = body.local("v128");
        body.tee(local).get(local).words([0, 0, 0, 0]);
      }
    });
  };

const throughFloat64 = (to: ValueType): Cast => (lanes, value, four) =>
  cast(lanes, cast(lanes, value, { to: "float64", four }), { to, four });

/**
 * Both halves of an integer as the low bits of doubles with known high ones; all but the last addition are exact.
 */
const float64OfInt64: Cast = (lanes, value, four) =>
  lanes.make("float64", { four, equal: value.equal }, (part) => {
    const { body } = lanes, from = partOf(value, part);
    // (2⁸⁴ + 2⁶³ + high·2³²) − (2⁸⁴ + 2⁶³ + 2⁵²), then + (2⁵² + low)
    body.get(from).i32(32).simd("i64ShrU").splatConstant(0x80000000 | 0, 0x45300000).simd("xor");
    lanes.pushConstant(2 ** 84 + 2 ** 63 + 2 ** 52, "float64").simd("f64Sub");
    body.get(from).splatConstant(-1, 0).simd("and").splatConstant(0, 0x43300000).simd("or", "f64Add");
  });

const int64OfInt32: Cast = (lanes, value, four) =>
  lanes.make("int64", { four, equal: value.equal }, (part) => {
    lanes.body.get(partOf(value, 0)).simd(part === 0 ? "i64ExtendLowS" : "i64ExtendHighS");
  });

const int32OfFloat64: Cast = (lanes, value, four) =>
  lanes.make("int32", { four, equal: value.equal }, () => {
    lanes.body.get(partOf(value, 0)).get(partOf(value, 1));
    helper("int32OfDoubles")(lanes);
  });

/** An instruction handles integers of up to 31 bits; larger ones, NaN and infinities take the slow path. */
const int32OfFloat32: Cast = (lanes, value, four) => {
  const { body } = lanes, result = lanes.variable("int32", { four, equal: value.equal });
  body.get(partOf(value, 0)).simd("f32Abs");
  lanes.pushConstant(2 ** 31, "float32").simd("f32Lt", "i32AllTrue").when(
    () => {
      body.get(partOf(value, 0)).simd("i32TruncF32").set(partOf(result, 0));
    },
    () => lanes.assign(result, throughFloat64("int32")(lanes, value, four)),
  );
  return result;
};

/** Conversions, by target type and then by source type. */
const CASTS: Readonly<Record<ValueType, Readonly<Record<ValueType, Cast>>>> = {
  bool: {
    bool: same,
    float32: unequal("f32Ne"),
    float64: unequal("f64Ne"),
    int32: unequal("i32Ne"),
    int64: unequal("i64Ne"),
  },
  float32: {
    bool: ofMask("float32"),
    float32: same,
    float64: joined("float32", [0, 1, 4, 5], simd("f32DemoteZero")),
    int32: byVectors("float32", simd("f32ConvertI32")),
    int64: joined("float32", [0, 1, 4, 5], helper("float32OfInt64")),
  },
  float64: {
    bool: ofMask("float64"),
    float32: byHalves("f64PromoteLow"),
    float64: same,
    int32: byHalves("f64ConvertLowI32"),
    int64: float64OfInt64,
  },
  int32: {
    bool: ofMask("int32"),
    float32: int32OfFloat32,
    float64: int32OfFloat64,
    int32: same,
    int64: joined("int32", [0, 2, 4, 6]),
  },
  int64: {
    bool: ofMask("int64"),
    float32: throughFloat64("int64"),
    float64: byVectors("int64", helper("int64OfDoubles")),
    int32: int64OfInt32,
    int64: same,
  },
};
