/**
 * Rules for elementwise ops. Invariant: NaN, infinities and zeros behave as in PyTorch.
 */
import { type DType, isFloat, promoteTypes } from "../../lib/base/dtype.ts";
import { DynError } from "../../lib/base/errors.ts";
import type { OnnxCall, Rule } from "./onnx_call.ts";
import { isValue } from "./values.ts";

/** The call's tensor, in the type of the result. */
const own = (call: OnnxCall): string => call.values.cast(call.tensor("self"), call.dtype);

/** A rule for one tensor, in the type of the result. */
const unary = (operator: string): Rule => (call) => call.node(operator, call.dtype, { inputs: [own(call)] });

/** Rounds floats; integers are unchanged. */
const rounded = (operator: string): Rule => (call) =>
  isFloat(call.dtype) ? unary(operator)(call) : call.values.model.node("Identity", [own(call)]);

/** Arithmetic of booleans. */
const OF_BOOLS: Readonly<Record<string, string>> = { Add: "Or", Mul: "And", Max: "Or", Min: "And" };

/** Combines two values in the type of the result. */
const combined = (call: OnnxCall, operator: string, inputs: readonly string[]): string =>
  call.node(call.dtype === "bool" ? OF_BOOLS[operator] ?? operator : operator, call.dtype, { inputs });

const binary = (operator: string): Rule => (call) => {
  const names = ["self", "other"].map((name) => call.values.operand(call.argument(name), call.dtype));
  return combined(call, operator, names);
};

/** self ± alpha · other */
const sum = (operator: string): Rule => (call) => {
  const { values, dtype } = call, alpha = call.argument("alpha");
  const self = values.operand(call.argument("self"), dtype);
  const other = values.operand(call.argument("other"), dtype);
  const scaled = alpha === 1 ? other : combined(call, "Mul", [other, values.operand(alpha, dtype)]);
  return combined(call, operator, [self, scaled]);
};

/** The type in which two operands are compared. */
function meeting(call: OnnxCall, isOrdered: boolean): DType {
  const operands = [call.argument("self"), call.argument("other")];
  const types = operands.filter(isValue).map(({ dtype }) => dtype);
  const [first = "float32", second = first] = types, both = promoteTypes(first, second);
  const isFraction = operands.some((each) => typeof each === "number" && !Number.isInteger(each));
  if (isFraction && !isFloat(both)) return "float32";
  const beside = operands.some((each) => !isValue(each) && typeof each !== "boolean");
  return both === "bool" && (isOrdered || beside) ? "int64" : both;
}

const comparison = (operator: string): Rule => (call) => {
  const dtype = meeting(call, operator !== "Equal");
  const inputs = ["self", "other"].map((name) => call.values.operand(call.argument(name), dtype));
  return call.node(operator, dtype, { inputs });
};

const logical = (operator: string): Rule => (call) =>
  call.values.model.node(
    operator,
    ["self", "other"].map((name) => call.values.operand(call.argument(name), "bool")),
  );

/** self · min(max(self + 3, 0), 6) / 6, or without the first factor; ONNX's operator may lose NaN. */
const hard = (isFactor: boolean): Rule => (call) => {
  const { values, dtype } = call, name = own(call), { model } = values;
  const at = (value: number) => values.scalar(value, dtype);
  const moved = model.node("Add", [name, at(3)]), low = model.node("Max", [moved, at(0)]);
  const bent = model.node("Mul", [model.node("Min", [low, at(6)]), at(1 / 6)]);
  return isFactor ? model.node("Mul", [name, bent]) : bent;
};

export const POINTWISE: Readonly<Record<string, Rule>> = {
  abs: unary("Abs"),
  neg: unary("Neg"),
  exp: unary("Exp"),
  log: unary("Log"),
  sqrt: unary("Sqrt"),
  tanh: unary("Tanh"),
  sigmoid: unary("Sigmoid"),
  erf: unary("Erf"),
  sin: unary("Sin"),
  cos: unary("Cos"),
  reciprocal: unary("Reciprocal"),
  floor: rounded("Floor"),
  ceil: rounded("Ceil"),
  round: rounded("Round"),
  relu(call) {
    if (isFloat(call.dtype)) return unary("Relu")(call);
    return combined(call, "Max", [own(call), call.values.scalar(0, call.dtype)]);
  },
  // ONNX's operator returns NaN where PyTorch returns 0
  sign(call) {
    const { values, dtype } = call, name = own(call);
    if (dtype === "bool") return values.model.node("Identity", [name]);
    if (!isFloat(dtype)) return unary("Sign")(call);
    const zero = values.scalar(0, dtype);
    const [above = "", below = ""] = ["Greater", "Less"].map((operator) =>
      values.cast({ name: values.model.node(operator, [name, zero]), dtype: "bool" }, dtype)
    );
    return values.model.node("Sub", [above, below]);
  },
  isnan(call) {
    const { name, dtype } = call.tensor("self");
    return call.node("IsNaN", dtype, { inputs: [name] });
  },
  logicalNot: (call) => call.values.model.node("Not", [call.values.operand(call.argument("self"), "bool")]),
  rsqrt: (call) => call.values.model.node("Reciprocal", [unary("Sqrt")(call)]),
  square: (call) => combined(call, "Mul", [own(call), own(call)]),
  silu: (call) => call.values.model.node("Mul", [own(call), unary("Sigmoid")(call)]),
  gelu(call) {
    const approximate = String(call.argument("approximate"));
    if (approximate === "tanh" && call.dtype === "float64") {
      // ONNX Runtime computes the constants in float32
      throw new DynError("Expected gelu by tanh of float32 but found float64");
    }
    return call.node("Gelu", call.dtype, { inputs: [own(call)], attributes: { approximate } });
  },
  leakyRelu(call) {
    const alpha = { float: call.number("negativeSlope") };
    return call.node("LeakyRelu", call.dtype, { inputs: [own(call)], attributes: { alpha } });
  },
  eluLinear(call) {
    const alpha = { float: call.number("alpha") }, { values, dtype } = call;
    if (call.number("rate") !== 1) {
      throw new DynError("Expected an exponential unit of rate 1, as ONNX has it");
    }
    const name = call.node("Elu", dtype, { inputs: [own(call)], attributes: { alpha } });
    return values.model.node("Mul", [name, values.scalar(call.number("scale"), dtype)]);
  },
  hardswish: hard(true),
  hardsigmoid: hard(false),
  add: sum("Add"),
  sub: sum("Sub"),
  mul: binary("Mul"),
  div: binary("Div"),
  // Integer powers overflow here, or are computed as floats there
  pow(call) {
    const { values, dtype } = call;
    if (!isFloat(dtype)) throw new DynError(`Expected fractions in pow, as ONNX has it, but found ${dtype}`);
    const inputs = ["self", "exponent"].map((name) => values.operand(call.argument(name), dtype));
    return call.node("Pow", dtype, { inputs });
  },
  maximum: binary("Max"),
  minimum: binary("Min"),
  eq: comparison("Equal"),
  lt: comparison("Less"),
  le: comparison("LessOrEqual"),
  gt: comparison("Greater"),
  ge: comparison("GreaterOrEqual"),
  ne: (call) => call.values.model.node("Not", [comparison("Equal")(call)]),
  logicalAnd: logical("And"),
  logicalOr: logical("Or"),
  logicalXor: logical("Xor"),
  where(call) {
    const { values, dtype } = call, condition = values.operand(call.argument("condition"), "bool");
    const sides = ["input", "other"].map((name) => values.operand(call.argument(name), dtype));
    return values.model.node("Where", [condition, ...sides]);
  },
  maskedFill(call) {
    const { values, dtype } = call, mask = values.operand(call.argument("mask"), "bool");
    return values.model.node("Where", [mask, values.operand(call.argument("value"), dtype), own(call)]);
  },
  clamp(call) {
    let name = own(call);
    for (const [bound, operator] of [["min", "Max"], ["max", "Min"]] as const) {
      const given = call.argument(bound);
      if (given !== null) name = combined(call, operator, [name, call.values.operand(given, call.dtype)]);
    }
    return name;
  },
};
