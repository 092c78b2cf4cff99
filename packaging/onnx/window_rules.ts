/**
 * Rules for products, convolutions and pooling. Invariant: pooling propagates NaN as in PyTorch, although ONNX does not
 * specify that.
 */
import { DynError } from "../../lib/base/errors.ts";
import { isFloat } from "../../lib/base/dtype.ts";
import { type Dim, mul, sub } from "../../lib/sym/expr.ts";
import type { OnnxCall, Rule } from "./onnx_call.ts";

const product: Rule = (call) => {
  const inputs = ["self", "mat2"].map((name) => call.tensor(name).name);
  return call.node("MatMul", call.dtype, { inputs });
};

/** Padding on both sides, in ONNX's order. */
const twice = (sizes: readonly number[]): readonly number[] => [...sizes, ...sizes];

const geometry = (call: OnnxCall) => ({
  strides: call.numbers("stride"),
  pads: twice(call.numbers("padding")),
  dilations: call.numbers("dilation"),
});

/** Returns the output padding of a transposed convolution: the sizes beyond the smallest possible result. */
function beyond(call: OnnxCall, grad: readonly Dim[], kernel: readonly Dim[]): readonly number[] {
  const { strides, pads, dilations } = geometry(call);
  return kernel.map((size, d) => {
    const steps = mul(strides[d] ?? 1, sub(grad[d + 2] ?? 0, 1));
    const least = sub(mul(dilations[d] ?? 1, sub(size, 1)), 2 * (pads[d] ?? 0) - 1);
    const more = sub(sub(call.shape[d + 2] ?? 0, steps), least);
    if (typeof more === "number") return more;
    throw new DynError(`Expected sizes of ${call.target} that differ by known numbers but found ${more}`);
  });
}

export const WINDOWS: Readonly<Record<string, Rule>> = {
  mm: product,
  bmm: product,
  convolution(call) {
    const inputs = ["input", "weight"].map((name) => call.tensor(name).name);
    if (call.argument("bias") !== null) inputs.push(call.tensor("bias").name);
    const attributes = { ...geometry(call), group: call.number("groups") };
    return call.node("Conv", call.dtype, { inputs, attributes });
  },
  convolutionBackwardInput(call) {
    const grad = call.tensor("grad"), weight = call.tensor("weight");
    call.settled("inputSizes");
    const attributes = {
      ...geometry(call),
      group: call.number("groups"),
      output_padding: beyond(call, grad.shape, weight.shape.slice(2)),
    };
    return call.node("ConvTranspose", call.dtype, { inputs: [grad.name, weight.name], attributes });
  },
  /** The first result; the second one has no counterpart. */
  maxPoolOffsets(call) {
    if (call.argument("ceilMode") === true) {
      throw new DynError("Expected pooling without ceilMode but found it");
    }
    const { values, dtype } = call, { model } = values, self = call.tensor("self");
    const kernel = call.numbers("kernel"), attributes = { kernel_shape: kernel, ...geometry(call) };
    // ONNX has no images without a batch
    const isAlone = self.shape.length === kernel.length + 1, first = values.integers([0]);
    const images = isAlone ? model.node("Unsqueeze", [self.name, first]) : self.name;
    const pooled = call.node("MaxPool", dtype, { inputs: [images], attributes });
    const kept = isFloat(dtype) ? withNaN(pooled) : pooled;
    return isAlone ? model.node("Squeeze", [kept, first]) : kept;

    function withNaN(found: string): string {
      const odd = values.cast({ name: model.node("IsNaN", [images]), dtype: "bool" }, dtype);
      const isOdd = values.cast({ name: model.node("MaxPool", [odd], attributes), dtype }, "bool");
      return model.node("Where", [isOdd, values.scalar(NaN, dtype), found]);
    }
  },
};
