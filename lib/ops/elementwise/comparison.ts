/**
 * Comparisons, logic, bits and choice. Invariant: comparison happens in the promoted type; only the chosen operand
 * receives a gradient.
 */
import { capitalized, snakeCase } from "../../base/names.ts";
import { DynError } from "../../base/errors.ts";
import { isFloat } from "../../base/dtype.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import type { Body, Lowered, Operand } from "../../loops/body.ts";
import { lowerOp } from "../definition.ts";
import { numberIn } from "../numbers.ts";
import { optional, required } from "../params.ts";
import { castTo, checkHeld, checkSameType, elementOf, isTensor } from "../promotion.ts";
import {
  binary,
  elements,
  type OperandOf,
  pointwiseMeta,
  reduceTo,
  t,
  typesOf,
  unary,
} from "../pointwise.ts";

const NOT_CONTINUOUS = "its result is not of a floating type";

/** The relations in words, for documentation. */
const RELATIONS = {
  eq: "equals",
  ne: "differs from",
  lt: "is less than",
  le: "is at most",
  gt: "is greater than",
  ge: "is at least",
} as const;

function comparison(name: "eq" | "ne" | "lt" | "le" | "gt" | "ge", aliases: readonly string[]) {
  return binary({
    name,
    doc: `True where self ${RELATIONS[name]} other, elementwise, as \`torch.${name}\`.`,
    rule: "compare",
    body: (o, a, b) => o[name](a, b),
    derivative: NOT_CONTINUOUS,
    exposure: { aliases },
  });
}

function logical(name: "and" | "or" | "xor") {
  return binary({
    name: `logical${capitalized(name)}`,
    doc: `Logical ${name}, where nonzero elements are true, as \`torch.logical_${name}\`.`,
    rule: "logical",
    body: (o, a, b) => o[name](a, b),
    derivative: NOT_CONTINUOUS,
    tensorsOnly: true,
  });
}

function bitwise(name: "and" | "or" | "xor") {
  return binary({
    name: `bitwise${capitalized(name)}`,
    doc: `Bitwise ${name} of integers, logical ${name} of bools, as \`torch.bitwise_${name}\`.`,
    rule: "promote",
    accepts: ["bool", "integer"],
    body: (o, a, b) => o[name](a, b),
    derivative: NOT_CONTINUOUS,
  });
}

function shift(name: string, body: <V>(o: Body<V>, a: V, b: V) => V) {
  return binary({
    name,
    doc: `Integers shifted by \`other\` bits, as \`torch.${snakeCase(name)}\`.`,
    rule: "promote",
    accepts: ["integer"],
    body,
    derivative: NOT_CONTINUOUS,
  });
}

const logicalNot = unary({
  name: "logicalNot",
  doc: "True where an element is 0, as `torch.logical_not`.",
  rule: "logical",
  body: (o, x) => o.not(x),
  derivative: NOT_CONTINUOUS,
});

const bitwiseNot = unary({
  name: "bitwiseNot",
  doc: "Bitwise not of integers, logical not of bools, as `torch.bitwise_not`.",
  rule: "promote",
  accepts: ["bool", "integer"],
  body: (o, x) => o.not(x),
  derivative: NOT_CONTINUOUS,
});

/** A predicate that only floats can satisfy. */
function floatTest(name: string, body: <V>(o: Body<V>, x: V) => V, whereNot: boolean) {
  return unary({
    name,
    doc: `${name} of each element, as \`torch.${name.toLowerCase()}\`.`,
    rule: "compare",
    body: (o, x) => isFloat(o.dtypeOf(x)) ? body(o, x) : o.constant(whereNot, "bool"),
    derivative: NOT_CONTINUOUS,
    inplace: false,
  });
}

const infinity = <V>(o: Body<V>, x: V, sign: 1 | -1 = 1): V => o.constant(sign * Infinity, o.dtypeOf(x));

const isnan = floatTest("isnan", (o, x) => o.isNan(x), false);
const isinf = floatTest("isinf", (o, x) => o.eq(o.abs(x), infinity(o, x)), false);
const isposinf = floatTest("isposinf", (o, x) => o.eq(x, infinity(o, x)), false);
const isneginf = floatTest("isneginf", (o, x) => o.eq(x, infinity(o, x, -1)), false);
const isfinite = floatTest("isfinite", (o, x) => o.lt(o.abs(x), infinity(o, x)), true);
const isreal = floatTest("isreal", (o) => o.constant(true, "bool"), true);

const signbit = unary({
  name: "signbit",
  doc: "True where the sign bit is set, that of −0 included, as `torch.signbit`.",
  rule: "compare",
  body: (o, x) => {
    const dtype = o.dtypeOf(x);
    if (dtype === "bool") return o.constant(false, "bool");
    const zero = o.constant(0, dtype);
    if (!isFloat(dtype)) return o.lt(x, zero);
    // 1 / −0 is −∞
    return o.or(o.lt(x, zero), o.and(o.eq(x, zero), o.lt(o.div(o.constant(1, dtype), x), zero)));
  },
  derivative: NOT_CONTINUOUS,
  inplace: false,
});

/** Elements of one operand where a condition holds, of another elsewhere. */
function selected(
  result: TensorMeta | undefined,
  { condition, held, other }: { condition: Operand; held: OperandOf<Operand>; other: OperandOf<Operand> },
): Lowered[] {
  return elements(result, (o, index) => {
    const at = { index, dtype: result?.dtype ?? "float32" };
    return o.select(
      elementOf(o, condition, { index, dtype: "bool" }),
      elementOf(o, held, at),
      elementOf(o, other, at),
    );
  });
}

const where = lowerOp({
  name: "where",
  arrange(given, isATensor) {
    if (given.length !== 1 || !isATensor(given[0])) return given;
    throw new DynError(
      "Expected values to choose from besides the condition of where; " +
        "nonzero(condition, { asTuple: true }) says where it holds",
    );
  },
  doc: "input where the condition holds, else other, broadcast and promoted, as `torch.where`.",
  params: {
    condition: required("tensor"),
    input: required("operand", { late: true }),
    other: required("operand", { late: true }),
  },
  elementwise: true,
  infer({ condition, input, other }) {
    if (condition.dtype !== "bool" && condition.dtype !== "uint8") {
      throw new DynError(`Expected a bool condition but found ${condition.dtype}`);
    }
    const { result } = typesOf("promote", [input, other]);
    checkHeld(input, result);
    checkHeld(other, result);
    return pointwiseMeta([condition, input, other], result);
  },
  lower({ condition, input, other }, [result]) {
    return selected(result, { condition: condition, held: input, other: other });
  },
  gradient: {
    saves: ["condition"],
    single: (o, grad, { args: { condition, input, other }, needs }) => ({
      input: isTensor(input) && needs("input") ? reduceTo(o, o.where(condition, grad, 0), input) : null,
      other: isTensor(other) && needs("other") ? reduceTo(o, o.where(condition, 0, grad), other) : null,
    }),
  },
  exposure: { method: false },
  samples: [
    { args: [{ tensor: [3, 4], dtype: "bool" }, t(3, 4), t(4)] },
    { args: [{ tensor: [3, 1], dtype: "bool" }, 1.5, t(4)] },
    { args: [{ tensor: [0], dtype: "bool" }, 1, 2] },
  ],
  errors: [{ args: [t(3), t(3), t(3)], message: "bool condition" }],
});

const maskedFill = lowerOp({
  name: "maskedFill",
  doc: "self with `value` where the mask is true, as `Tensor.masked_fill`.",
  params: { self: required("tensor"), mask: required("tensor"), value: required("operand", { late: true }) },
  inplace: true,
  elementwise: true,
  infer({ self, mask, value }) {
    if (mask.dtype !== "bool") throw new DynError(`Expected a bool mask but found ${mask.dtype}`);
    if (isTensor(value) && value.shape.length > 0) {
      throw new DynError(`Expected a 0-d value but found one with ${value.shape.length} dimensions`);
    }
    checkHeld(value, self.dtype);
    return pointwiseMeta([self, mask], self.dtype);
  },
  lower({ self, mask, value }, [result]) {
    return selected(result, { condition: mask, held: value, other: self });
  },
  gradient: {
    saves: ["mask"],
    single: (o, grad, { args: { self, mask, value }, needs }) => ({
      self: needs("self") ? reduceTo(o, o.where(mask, 0, grad), self) : null,
      value: isTensor(value) && needs("value") ? reduceTo(o, o.where(mask, grad, 0), value) : null,
    }),
  },
  samples: [{ args: [t(3, 4), { tensor: [4], dtype: "bool" }, -1] }],
  errors: [{ args: [t(3), t(3), 0], message: "bool mask" }],
});

const isclose = lowerOp({
  name: "isclose",
  doc: "|self − other| ≤ atol + rtol · |other|, elementwise, as `torch.isclose`.",
  params: {
    self: required("tensor"),
    other: required("tensor"),
    rtol: optional("floatOperand", 1e-5, { changes: { atLeast: 0 } }),
    atol: optional("floatOperand", 1e-8, { changes: { atLeast: 0 } }),
    equalNan: optional("bool", false),
  },
  infer({ self, other, rtol, atol }) {
    checkSameType("isclose", self, other);
    if ([rtol, atol].some((each) => typeof each === "number" && !(each >= 0))) {
      throw new DynError(
        `Expected non-negative tolerances but found rtol ${String(rtol)} and atol ${String(atol)}`,
      );
    }
    return pointwiseMeta([self, other], "bool");
  },
  lower({ self, other, rtol, atol, equalNan }, [result]) {
    const dtype = isFloat(self.dtype) ? self.dtype : "float64";
    return elements(result, (o, index) => {
      const a = elementOf(o, self, { index, dtype }), b = elementOf(o, other, { index, dtype });
      const allowed = o.add(numberIn(o, b, atol), o.mul(numberIn(o, b, rtol), o.abs(b)));
      const error = o.abs(o.sub(a, b));
      const near = o.and(o.lt(error, o.constant(Infinity, dtype)), o.le(error, allowed));
      const close = o.or(o.eq(a, b), near);
      return castTo(o, equalNan ? o.or(close, o.and(o.isNan(a), o.isNan(b))) : close, "bool");
    });
  },
  gradient: { kind: "none", because: NOT_CONTINUOUS },
  samples: [{ args: [t(3, 4), t(3, 4)] }],
});

export const comparisons = {
  eq: comparison("eq", []),
  ne: comparison("ne", ["notEqual"]),
  lt: comparison("lt", ["less"]),
  le: comparison("le", ["lessEqual"]),
  gt: comparison("gt", ["greater"]),
  ge: comparison("ge", ["greaterEqual"]),
  logicalAnd: logical("and"),
  logicalOr: logical("or"),
  logicalXor: logical("xor"),
  logicalNot,
  bitwiseAnd: bitwise("and"),
  bitwiseOr: bitwise("or"),
  bitwiseXor: bitwise("xor"),
  bitwiseNot,
  bitwiseLeftShift: shift("bitwiseLeftShift", (o, a, b) => o.shl(a, b)),
  bitwiseRightShift: shift("bitwiseRightShift", (o, a, b) => o.shr(a, b)),
  isnan,
  isinf,
  isposinf,
  isneginf,
  isfinite,
  isreal,
  signbit,
  where,
  maskedFill,
  isclose,
} as const;
