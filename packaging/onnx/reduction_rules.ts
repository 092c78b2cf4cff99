/**
 * Rules for reductions. Invariants: NaN is propagated as in PyTorch, although ONNX does not specify that for extremes;
 * empty sums have PyTorch's values.
 */
import { isFloat } from "../../lib/base/dtype.ts";
import type { OnnxCall, Rule } from "./onnx_call.ts";

/** Returns whether all dimensions are reduced; a 0-d tensor has none to name. */
function isWhole(call: OnnxCall, rank: number): boolean {
  const dim = call.argument("dim");
  return rank === 0 || dim === null || (Array.isArray(dim) && dim.length === 0);
}

/** Reduces elements in the type of the result. */
function reduced(call: OnnxCall, operator: string, name: string): string {
  const inputs = [name], keepdims = call.argument("keepdim") === true ? 1 : 0;
  const { shape } = call.tensor("self");
  if (!isWhole(call, shape.length)) inputs.push(call.values.integers(call.numbers("dim")));
  return call.node(operator, call.dtype, { inputs, attributes: { keepdims } });
}

/** `ofNothing`: the value for no elements. */
const reduction = (operator: string, ofNothing: number): Rule => (call) => {
  const { values, dtype, shape } = call, self = call.tensor("self");
  call.settled("dtype");
  if (!self.shape.includes(0)) return reduced(call, operator, values.cast(self, dtype));
  call.settled("dim", "keepdim");
  return values.model.node("Expand", [values.scalar(ofNothing, dtype), values.sizes(shape)]);
};

/** NaN if any element is NaN, else the extreme. */
const extreme = (operator: string): Rule => (call) => {
  const { values, dtype } = call, { name } = call.tensor("self"), found = reduced(call, operator, name);
  if (!isFloat(dtype)) return found;
  const odd = values.model.node("IsNaN", [name]);
  const count = reduced(call, "ReduceMax", values.cast({ name: odd, dtype: "bool" }, dtype));
  const isOdd = values.cast({ name: count, dtype }, "bool");
  return values.model.node("Where", [isOdd, values.scalar(NaN, dtype), found]);
};

/** The index of the first NaN or, without NaN, of the first extreme. */
const position = (operator: string): Rule => (call) => {
  const { values, shape } = call, { model } = values, self = call.tensor("self");
  const isAll = isWhole(call, self.shape.length);
  const from = isAll ? model.node("Reshape", [self.name, values.integers([-1])]) : self.name;
  const attributes = {
    axis: isAll ? 0 : call.axis(self.shape),
    keepdims: !isAll && call.argument("keepdim") === true ? 1 : 0,
  };
  // The row of all elements gets the result's shape below
  call.settled("keepdim");
  const shaped = (name: string) => isAll ? model.node("Reshape", [name, values.sizes(shape)]) : name;
  const found = call.node(operator, self.dtype, { inputs: [from], attributes });
  if (!isFloat(self.dtype)) return shaped(found);
  const odd = values.cast({ name: model.node("IsNaN", [from]), dtype: "bool" }, self.dtype);
  const first = model.node("ArgMax", [odd], attributes);
  const { axis, keepdims } = attributes;
  const some = model.node("ReduceMax", [odd, values.integers([axis])], { keepdims });
  const isOdd = values.cast({ name: some, dtype: self.dtype }, "bool");
  return shaped(model.node("Where", [isOdd, first, found]));
};

export const REDUCTIONS: Readonly<Record<string, Rule>> = {
  sum: reduction("ReduceSum", 0),
  prod: reduction("ReduceProd", 1),
  amax: extreme("ReduceMax"),
  amin: extreme("ReduceMin"),
  argmax: position("ArgMax"),
  argmin: position("ArgMin"),
  cumsum(call) {
    const { values, dtype } = call, self = call.tensor("self");
    call.settled("dtype");
    const name = values.cast(self, dtype);
    const axis = call.axis(self.shape);
    if (self.shape.length === 0) return name;
    return call.node("CumSum", dtype, { inputs: [name, values.scalar(axis, "int64")] });
  },
};
