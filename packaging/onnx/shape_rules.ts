/**
 * Rules for views, slices, joins and lookups. Invariant: an index that is out of range, or negative where PyTorch
 * does not allow it, is an error when the model runs.
 */
import { isFloat } from "../../lib/base/dtype.ts";
import { DynError } from "../../lib/base/errors.ts";
import type { OnnxCall, Rule } from "./onnx_call.ts";
import { isValue, type OnnxValue } from "./values.ts";

/** Reshapes the elements to the result's shape. */
const reshaped: Rule = (call) => {
  call.settled("shape", "size", "dim");
  return inShape(call, call.tensor("self").name);
};

const inShape = (call: OnnxCall, name: string): string =>
  call.values.model.node("Reshape", [name, call.values.sizes(call.shape)], { allowzero: 1 });

const same: Rule = (call) => call.values.model.node("Identity", [call.tensor("self").name]);

/** A number as a vector with one element. */
const row = (call: OnnxCall, { name, shape }: OnnxValue): string =>
  shape.length > 0 ? name : call.values.model.node("Reshape", [name, call.values.integers([1])]);

/** Indices along a dimension; negative ones, which would count from the end, become out of range. */
function rows(call: OnnxCall, index: OnnxValue, size: string): string {
  const { values } = call, { model } = values, name = values.cast(index, "int64");
  const below = model.node("Less", [name, values.scalar(0, "int64")]);
  return model.node("Where", [below, size, name]);
}

/** Looks up along a dimension; 0-d indices are treated as vectors with one element. */
const lookup = (operator: string): Rule => (call) => {
  const self = call.tensor("self"), index = call.tensor("index"), { values } = call;
  const isNumber = self.shape.length === 0, dims = isNumber ? [1] : self.shape, axis = call.axis(dims);
  call.settled("sparseGrad");
  const wanted = rows(call, index, values.sizeScalar(dims[axis] ?? 1));
  const inputs = [row(call, self), row(call, { ...index, name: wanted })];
  const found = values.model.node(operator, inputs, { axis });
  return isNumber ? inShape(call, found) : found;
};

export const SHAPES: Readonly<Record<string, Rule>> = {
  reshape: reshaped,
  view: reshaped,
  squeeze: reshaped,
  unsqueeze: reshaped,
  contiguous: same,
  clone: same,
  convert(call) {
    call.settled("dtype");
    return call.values.model.node("Identity", [call.values.cast(call.tensor("self"), call.dtype)]);
  },
  permute(call) {
    const { name, shape } = call.tensor("self");
    const perm = call.numbers("dims").map((d) => d < 0 ? d + shape.length : d);
    return call.values.model.node("Transpose", [name], { perm });
  },
  expand(call) {
    call.settled("size", "implicit");
    return call.values.model.node("Expand", [call.tensor("self").name, call.values.sizes(call.shape)]);
  },
  select(call) {
    const { name, shape } = call.tensor("self"), { values } = call;
    const index = values.operand(call.argument("index"), "int64");
    return values.model.node("Gather", [name, index], { axis: call.axis(shape) });
  },
  slice(call) {
    const { name, shape } = call.tensor("self"), { values } = call;
    const place = (argument: string, otherwise: number): string => {
      const given = call.argument(argument);
      if (given === null) return values.integers([otherwise]);
      return values.model.node("Reshape", [values.operand(given, "int64"), values.integers([1])]);
    };
    const parts = [place("start", 0), place("end", Number.MAX_SAFE_INTEGER)];
    const axes = values.integers([call.axis(shape)]), steps = values.integers([call.number("step")]);
    return values.model.node("Slice", [name, ...parts, axes, steps]);
  },
  flip(call) {
    const { name, shape } = call.tensor("self"), { values } = call, dims = call.numbers("dims");
    if (shape.length === 0 || dims.length === 0) return values.model.node("Identity", [name]);
    const [starts, ends, steps] = [-1, -Number.MAX_SAFE_INTEGER, -1].map((each) =>
      values.integers(dims.map(() => each))
    );
    return values.model.node("Slice", [name, starts ?? "", ends ?? "", values.integers(dims), steps ?? ""]);
  },
  rollDims(call) {
    const { name: given, shape } = call.tensor("self"), { values } = call, shifts = call.numbers("shifts");
    return call.numbers("dims").reduce((name, each, k) => {
      const dim = each < 0 ? each + shape.length : each, size = shape[dim], shift = shifts[k] ?? 0;
      if (typeof size !== "number") {
        throw new DynError(`Expected a known size of what is rolled but found ${size}`);
      }
      const cut = size === 0 ? 0 : ((size - shift) % size + size) % size, axes = values.integers([dim]);
      if (cut === 0) return name;
      const part = (from: number, to: number) =>
        values.model.node("Slice", [name, values.integers([from]), values.integers([to]), axes]);
      return values.model.node("Concat", [part(cut, size), part(0, cut)], { axis: dim });
    }, values.model.node("Identity", [given]));
  },
  cat(call) {
    const { values, dtype, shape } = call, list = call.argument("tensors");
    const parts: readonly unknown[] = Array.isArray(list) ? list : [];
    // Empty vectors can be concatenated with any tensor
    const names = parts.filter((each) => !isValue(each) || each.shape.length === shape.length)
      .map((each) => values.operand(each, dtype));
    return values.model.node("Concat", names, { axis: call.axis(shape) });
  },
  constantPadNd(call) {
    const { name, shape } = call.tensor("self"), { values, dtype } = call, pad = call.numbers("pad");
    // PyTorch lists pairs from the last dimension; ONNX lists all starts, then all ends
    const places = shape.map((_, d) => 2 * (shape.length - 1 - d));
    const pads = [...places.map((at) => pad[at] ?? 0), ...places.map((at) => pad[at + 1] ?? 0)];
    const value = values.operand(call.argument("value"), dtype);
    return values.model.node("Pad", [name, values.integers(pads), value]);
  },
  embeddingRows(call) {
    const { name, shape: [size = 1] } = call.tensor("weight"), { values } = call;
    call.settled("paddingIdx", "scaleGradByFreq");
    const wanted = rows(call, call.tensor("indices"), values.sizeScalar(size));
    return values.model.node("Gather", [name, wanted], { axis: 0 });
  },
  indexSelect: lookup("Gather"),
  gather: lookup("GatherElements"),
  // Negative indices count from the end in both
  gatherIndices(call) {
    const { values } = call, { name } = call.tensor("self"), list = call.argument("indices");
    const indices: readonly unknown[] = Array.isArray(list) ? list : [];
    const [index, ...more] = indices.filter(isValue);
    if (!index || more.length > 0) {
      throw new DynError(`Expected one tensor of indices, as ONNX has it, but found ${more.length + 1}`);
    }
    const axis = indices.indexOf(index);
    return values.model.node("Gather", [name, values.cast(index, "int64")], { axis });
  },
  full(call) {
    const { values, shape, dtype } = call;
    call.settled("size", "dtype", "device");
    return values.model.node("Expand", [
      values.operand(call.argument("fillValue"), dtype),
      values.sizes(shape),
    ]);
  },
  arange(call) {
    const { values, shape, dtype } = call, { model } = values;
    const exact = isFloat(dtype) ? "float64" : "int64";
    call.settled("dtype", "device");
    const at = (value: unknown) => values.operand(value, exact), end = call.argument("end");
    const start = end === null ? 0 : call.argument("start");
    if (end === null) call.settled("start");
    const count = values.sizeScalar(shape[0] ?? 0),
      [zero, one] = [0, 1].map((k) => values.scalar(k, "int64"));
    const places = model.node("Range", [zero ?? "", count, one ?? ""]);
    const steps = model.node("Mul", [
      values.cast({ name: places, dtype: "int64" }, exact),
      at(call.argument("step")),
    ]);
    return values.cast({ name: model.node("Add", [steps, at(start)]), dtype: exact }, dtype);
  },
};
