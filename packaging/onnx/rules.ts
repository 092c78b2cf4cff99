/**
 * What ONNX has in the place of ops. Input: a call of a functional graph; output: nodes. Invariant: an op without a rule, or
 * with an option that ONNX does not have, is refused.
 */
import { type DType, isFloat, promoteTypes } from "../../lib/base/dtype.ts";
import { DynError } from "../../lib/base/errors.ts";
import type { Dim } from "../../lib/sym/expr.ts";
import { typeNumber } from "./model.ts";
import { isValue, type OnnxValue, type Values } from "./values.ts";

/** A call: arguments by name, tensors as values, and what its result is. */
export interface OnnxCall {
  readonly target: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly shape: readonly Dim[];
  readonly dtype: DType;
  readonly values: Values;
}

/** Gives the name of the result. */
type Rule = (call: OnnxCall) => string;

function tensor({ target, args }: OnnxCall, name: string): OnnxValue {
  const found = args[name];
  if (isValue(found)) return found;
  throw new DynError(`Expected a tensor as ${name} of ${target} but found ${typeof found}`);
}

function integer({ target, args }: OnnxCall, name: string): number {
  const found = args[name];
  if (typeof found === "number") return found;
  throw new DynError(`Expected a known number as ${name} of ${target} but found ${typeof found}`);
}

function integers(call: OnnxCall, name: string): readonly number[] {
  const found: unknown = call.args[name];
  const list: readonly unknown[] = Array.isArray(found) ? found : [found];
  return list.map((each) => {
    if (typeof each === "number") return each;
    throw new DynError(`Expected known numbers as ${name} of ${call.target} but found ${typeof each}`);
  });
}

function refuse(call: OnnxCall, name: string, allowed: readonly unknown[]): void {
  const found = call.args[name];
  if (found === undefined || allowed.includes(found)) return;
  throw new DynError(`Expected ${name} of ${call.target} as ONNX has it but found ${String(found)}`);
}

/** The dimension of a tensor that an argument names. */
function axis(call: OnnxCall, { shape }: OnnxValue, name = "dim"): number {
  const dim = integer(call, name);
  return dim < 0 ? dim + shape.length : dim;
}

/** Functions that ONNX has for integers, too. */
const OF_INTEGERS: ReadonlySet<string> = new Set(["Abs", "Neg", "Sign"]);

/** One tensor, in the type of the result. */
const unary = (type: string): Rule => (call) => {
  if (!isFloat(call.dtype) && !OF_INTEGERS.has(type)) {
    throw new DynError(`Expected fractions in ${call.target}, as ONNX has it, but found ${call.dtype}`);
  }
  return call.values.model.node(type, [call.values.cast(tensor(call, "self"), call.dtype)]);
};

/** The type in which two operands meet. */
function meeting({ args }: OnnxCall): DType {
  const operands = [args["self"], args["other"]];
  const types = operands.filter(isValue).map(({ dtype }) => dtype);
  const [first = "float32", second = first] = types, both = promoteTypes(first, second);
  const isFraction = operands.some((each) => typeof each === "number" && !Number.isInteger(each));
  return isFraction && !isFloat(both) ? "float32" : both;
}

/** Two operands, in the type of the result. */
const binary = (type: string, names: readonly [string, string] = ["self", "other"]): Rule => (call) => {
  const { values, dtype, args } = call;
  refuse(call, "roundingMode", [null]);
  refuse(call, "alpha", [1]);
  return values.model.node(type, names.map((name) => values.operand(args[name], dtype)));
};

const comparison = (type: string): Rule => (call) => {
  const { values, args } = call, dtype = meeting(call);
  return values.model.node(type, [args["self"], args["other"]].map((each) => values.operand(each, dtype)));
};

const logical = (type: string): Rule => ({ values, args }) =>
  values.model.node(type, [args["self"], args["other"]].map((each) => values.operand(each, "bool")));

/** The elements in another shape. */
const reshaped: Rule = (call) =>
  call.values.model.node("Reshape", [tensor(call, "self").name, call.values.sizes(call.shape)], {
    allowzero: 1,
  });

const reduction = (type: string): Rule => (call) => {
  const { values, dtype, args } = call, from = tensor(call, "self");
  const inputs = [values.cast(from, dtype)], dim = args["dim"];
  const isAll = dim === null || dim === undefined || (Array.isArray(dim) && dim.length === 0);
  if (!isAll) inputs.push(values.integers(integers(call, "dim")));
  return values.model.node(type, inputs, { keepdims: args["keepdim"] === true ? 1 : 0 });
};

const position = (type: string): Rule => (call) => {
  const { values, args } = call, from = tensor(call, "self");
  return values.model.node(type, [from.name], {
    axis: axis(call, from),
    keepdims: args["keepdim"] === true ? 1 : 0,
  });
};

const same: Rule = (call) => call.values.model.node("Identity", [tensor(call, "self").name]);

const converted: Rule = (call) =>
  call.values.model.node("Cast", [tensor(call, "self").name], { to: typeNumber(call.dtype) });

const product: Rule = (call) => {
  const right = isValue(call.args["mat2"]) ? "mat2" : "other";
  return call.values.model.node("MatMul", [tensor(call, "self").name, tensor(call, right).name]);
};

/** On both sides alike, as ONNX counts them. */
const twice = (sizes: readonly number[]): readonly number[] => [...sizes, ...sizes];

/** Rules by the op's name. */
export const RULES: Readonly<Record<string, Rule>> = {
  abs: unary("Abs"),
  neg: unary("Neg"),
  exp: unary("Exp"),
  log: unary("Log"),
  sqrt: unary("Sqrt"),
  tanh: unary("Tanh"),
  sigmoid: unary("Sigmoid"),
  relu: unary("Relu"),
  erf: unary("Erf"),
  sin: unary("Sin"),
  cos: unary("Cos"),
  floor: unary("Floor"),
  ceil: unary("Ceil"),
  round: unary("Round"),
  sign: unary("Sign"),
  reciprocal: unary("Reciprocal"),
  logicalNot: ({ values, args }) => values.model.node("Not", [values.operand(args["self"], "bool")]),
  rsqrt: (call) => call.values.model.node("Reciprocal", [unary("Sqrt")(call)]),
  square(call) {
    const name = call.values.cast(tensor(call, "self"), call.dtype);
    return call.values.model.node("Mul", [name, name]);
  },
  silu(call) {
    const { name } = tensor(call, "self"), { model } = call.values;
    return model.node("Mul", [name, model.node("Sigmoid", [name])]);
  },
  gelu(call) {
    const { approximate } = call.args;
    return call.values.model.node("Gelu", [tensor(call, "self").name], {
      approximate: typeof approximate === "string" ? approximate : "none",
    });
  },
  add: binary("Add"),
  sub: binary("Sub"),
  mul: binary("Mul"),
  div: binary("Div"),
  pow: binary("Pow", ["self", "exponent"]),
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
  where({ values, args, dtype }) {
    const condition = values.operand(args["condition"], "bool");
    return values.model.node("Where", [
      condition,
      values.operand(args["input"], dtype),
      values.operand(args["other"], dtype),
    ]);
  },
  clamp(call) {
    const { values, args, dtype } = call;
    let name = values.cast(tensor(call, "self"), dtype);
    for (const [bound, type] of [["min", "Max"], ["max", "Min"]] as const) {
      const given = args[bound];
      if (given !== null && given !== undefined) {
        name = values.model.node(type, [name, values.operand(given, dtype)]);
      }
    }
    return name;
  },
  sum: reduction("ReduceSum"),
  mean: reduction("ReduceMean"),
  prod: reduction("ReduceProd"),
  amax: reduction("ReduceMax"),
  amin: reduction("ReduceMin"),
  argmax: position("ArgMax"),
  argmin: position("ArgMin"),
  mm: product,
  bmm: product,
  permute(call) {
    const { name, shape } = tensor(call, "self");
    const perm = integers(call, "dims").map((d) => d < 0 ? d + shape.length : d);
    return call.values.model.node("Transpose", [name], { perm });
  },
  reshape: reshaped,
  squeeze: reshaped,
  unsqueeze: reshaped,
  expand: (call) =>
    call.values.model.node("Expand", [tensor(call, "self").name, call.values.sizes(call.shape)]),
  select(call) {
    const from = tensor(call, "self"), { values, args } = call;
    const index = values.operand(args["index"], "int64");
    return values.model.node("Gather", [from.name, index], { axis: axis(call, from) });
  },
  slice(call) {
    const from = tensor(call, "self"), { values, args } = call;
    const place = (name: string, otherwise: number): string => {
      const given = args[name];
      if (given === null || given === undefined) return values.integers([otherwise]);
      return values.model.node("Reshape", [values.operand(given, "int64"), values.integers([1])]);
    };
    const parts = [place("start", 0), place("end", Number.MAX_SAFE_INTEGER)];
    const axes = values.integers([axis(call, from)]), steps = values.integers([integer(call, "step")]);
    return values.model.node("Slice", [from.name, ...parts, axes, steps]);
  },
  cat(call) {
    const { values, args, dtype, shape } = call, list: unknown = args["tensors"];
    const parts: readonly unknown[] = Array.isArray(list) ? list : [], dim = integer(call, "dim");
    const names = parts.map((each) => values.operand(each, dtype));
    return values.model.node("Concat", names, { axis: dim < 0 ? dim + shape.length : dim });
  },
  contiguous: same,
  clone: same,
  detach: same,
  to: converted,
  convert: converted,
  embeddingRows: (call) =>
    call.values.model.node("Gather", [tensor(call, "weight").name, tensor(call, "indices").name], {
      axis: 0,
    }),
  indexSelect(call) {
    const from = tensor(call, "self");
    return call.values.model.node("Gather", [from.name, tensor(call, "index").name], {
      axis: axis(call, from),
    });
  },
  gather(call) {
    const from = tensor(call, "self");
    return call.values.model.node("GatherElements", [from.name, tensor(call, "index").name], {
      axis: axis(call, from),
    });
  },
  full: ({ values, args, shape, dtype }) =>
    values.model.node("Expand", [values.operand(args["fillValue"], dtype), values.sizes(shape)]),
  convolution(call) {
    const { values: { model } } = call, inputs = ["input", "weight"].map((name) => tensor(call, name).name);
    if (isValue(call.args["bias"])) inputs.push(call.args["bias"].name);
    return model.node("Conv", inputs, {
      strides: integers(call, "stride"),
      pads: twice(integers(call, "padding")),
      dilations: integers(call, "dilation"),
      group: integer(call, "groups"),
    });
  },
  /** Its first result; the second one has no counterpart. */
  maxPoolOffsets(call) {
    refuse(call, "ceilMode", [false]);
    const { model } = call.values, from = tensor(call, "self"), kernel = integers(call, "kernel");
    // ONNX has no images without a batch
    const isAlone = from.shape.length === kernel.length + 1, first = call.values.integers([0]);
    const images = isAlone ? model.node("Unsqueeze", [from.name, first]) : from.name;
    const pooled = model.node("MaxPool", [images], {
      kernel_shape: kernel,
      strides: integers(call, "stride"),
      pads: twice(integers(call, "padding")),
      dilations: integers(call, "dilation"),
    });
    return isAlone ? model.node("Squeeze", [pooled, first]) : pooled;
  },
};
