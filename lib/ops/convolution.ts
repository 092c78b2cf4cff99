/**
 * Convolutions (cross-correlations) over one or two spatial dimensions. Input: [N, C, ...] or [C, ...] and a
 * weight [O, C/groups, ...kernel]; output: [N, O, ...]. Invariant: everything becomes the three library calls for
 * two dimensions (the product and its two gradients), each of which is differentiated by the other two.
 */
import { DynError } from "../base/errors.ts";
import { contiguousMeta, type TensorMeta } from "../graph/meta.ts";
import { add, type Dim, floorDiv, sub } from "../sym/expr.ts";
import { isEqual, isLess } from "../sym/decide.ts";
import type { ConvGeometry } from "../loops/ir.ts";
import type { Lowered, Operand } from "../loops/body.ts";
import { defineOp, type TensorLike } from "./definition.ts";
import type { OpApi } from "./generated.ts";
import { nullable, optional, required } from "./params.ts";
import { t } from "./pointwise.ts";
import { shapeText, spread } from "./shapes.ts";

interface GeometryArgs {
  readonly stride: readonly number[];
  readonly padding: readonly number[];
  readonly dilation: readonly number[];
  readonly groups: number;
}

const geometryParams = {
  stride: required("ints"),
  padding: required("ints"),
  dilation: required("ints"),
  groups: required("int"),
} as const;

function geometryOf({ stride, padding, dilation, groups }: GeometryArgs): ConvGeometry {
  const pair = (list: readonly number[]) => [list[0] ?? 1, list[1] ?? 1] as const;
  return { stride: pair(stride), padding: pair(padding), dilation: pair(dilation), groups };
}

/** ⌊(size + 2·padding − dilation·(kernel − 1) − 1) / stride⌋ + 1 */
function outputSize(size: Dim, kernel: Dim, at: { stride: number; padding: number; dilation: number }): Dim {
  const span = typeof kernel === "number" ? at.dilation * (kernel - 1) + 1 : kernel;
  const room = sub(add(size, 2 * at.padding), span);
  if (isLess(room, 0)) {
    throw new DynError(
      `Expected a kernel that fits the padded input but found ${span} against ${add(size, 2 * at.padding)}`,
    );
  }
  return add(floorDiv(room, at.stride), 1);
}

function checkChannels(self: TensorMeta, weight: TensorMeta, groups: number): void {
  const [outputs = 0, inputs = 0] = weight.shape;
  const channels = self.shape[1] ?? 0;
  const expected = typeof inputs === "number" ? inputs * groups : inputs;
  if (!isEqual(channels, expected)) {
    throw new DynError(
      `Expected an input of ${expected} channels for a weight ${
        shapeText(weight.shape)
      } in ${groups} groups but found ${shapeText(self.shape)}`,
    );
  }
  if (typeof outputs === "number" && outputs % groups !== 0) {
    throw new DynError(`Expected output channels divisible by ${groups} groups but found ${outputs}`);
  }
  if (self.dtype !== weight.dtype) {
    throw new DynError(`Expected a weight of type ${self.dtype} but found ${weight.dtype}`);
  }
}

function external(
  op: "convForward" | "convBackwardInput" | "convBackwardWeight",
  inputs: readonly Operand[],
  { args, out }: { args: GeometryArgs; out: readonly TensorMeta[] },
): readonly Lowered[] {
  const outputs = out.map(({ shape, dtype }) => ({ shape, dtype }));
  return [{ kind: "extern", call: { op, ...geometryOf(args) }, inputs, outputs }];
}

const GEOMETRY = [[1, 1], [0, 0], [1, 1], 1] as const;
const HIDDEN = { method: false, free: false } as const;

const convolution = defineOp({
  name: "convolution",
  doc: "Two-dimensional convolution [N, C, H, W] → [N, O, H', W'].",
  params: {
    self: required("tensor"),
    weight: required("tensor"),
    bias: nullable("tensor"),
    ...geometryParams,
  },
  exposure: HIDDEN,
  infer({ self, weight, bias, ...geometry }) {
    checkChannels(self, weight, geometry.groups);
    const { stride, padding, dilation } = geometryOf(geometry);
    const [n = 1, , height = 1, width = 1] = self.shape,
      [outputs = 1, , kernelY = 1, kernelX = 1] = weight.shape;
    if (bias && !isEqual(bias.shape[0] ?? -1, outputs)) {
      throw new DynError(`Expected a bias of shape [${outputs}] but found ${shapeText(bias.shape)}`);
    }
    const y = outputSize(height, kernelY, { stride: stride[0], padding: padding[0], dilation: dilation[0] });
    const x = outputSize(width, kernelX, { stride: stride[1], padding: padding[1], dilation: dilation[1] });
    return contiguousMeta([n, outputs, y, x], self.dtype, self.device);
  },
  implementation: {
    kind: "lower",
    lower: ({ self, weight, bias, ...args }, out) =>
      external("convForward", bias ? [self, weight, bias] : [self, weight], { args, out }),
  },
  gradient: {
    kind: "rule",
    saves: ["self", "weight"],
    rule(o, { args: { self, weight, bias, stride, padding, dilation, groups }, grads: [grad], needs }) {
      if (!grad) return {};
      return {
        self: needs("self")
          ? o.convolutionInput(grad, weight, self.shape, stride, padding, dilation, groups)
          : null,
        weight: needs("weight")
          ? o.convolutionWeight(grad, self, weight.shape, stride, padding, dilation, groups)
          : null,
        bias: bias && needs("bias") ? o.sum(grad, [0, 2, 3]) : null,
      };
    },
  },
  samples: [
    { args: [t(2, 3, 5, 4), t(4, 3, 3, 2), t(4), ...GEOMETRY] },
    { args: [t(1, 4, 6, 5), t(2, 2, 3, 3), null, [2, 1], [1, 2], [1, 2], 2] },
  ],
});

const convolutionInput = defineOp({
  name: "convolutionInput",
  doc: "The gradient of a convolution with respect to its input, of shape `inputSize`.",
  params: {
    grad: required("tensor"),
    weight: required("tensor"),
    inputSize: required("sizes"),
    ...geometryParams,
  },
  exposure: HIDDEN,
  infer: ({ grad, inputSize }) => contiguousMeta(inputSize, grad.dtype, grad.device),
  implementation: {
    kind: "lower",
    lower: ({ grad, weight, ...args }, out) => external("convBackwardInput", [grad, weight], { args, out }),
  },
  gradient: {
    kind: "rule",
    saves: ["grad", "weight"],
    rule(o, { args: { grad, weight, stride, padding, dilation, groups }, grads: [outer], needs }) {
      if (!outer) return {};
      return {
        grad: needs("grad") ? o.convolution(outer, weight, null, stride, padding, dilation, groups) : null,
        weight: needs("weight")
          ? o.convolutionWeight(grad, outer, weight.shape, stride, padding, dilation, groups)
          : null,
      };
    },
  },
  samples: [{ args: [t(2, 4, 3, 3), t(4, 3, 3, 2), [2, 3, 5, 4], ...GEOMETRY] }],
});

const convolutionWeight = defineOp({
  name: "convolutionWeight",
  doc: "The gradient of a convolution with respect to its weight, of shape `weightSize`.",
  params: {
    grad: required("tensor"),
    input: required("tensor"),
    weightSize: required("sizes"),
    ...geometryParams,
  },
  exposure: HIDDEN,
  infer: ({ grad, weightSize }) => contiguousMeta(weightSize, grad.dtype, grad.device),
  implementation: {
    kind: "lower",
    lower: ({ grad, input, ...args }, out) => external("convBackwardWeight", [grad, input], { args, out }),
  },
  gradient: {
    kind: "rule",
    saves: ["grad", "input"],
    rule(o, { args: { grad, input, stride, padding, dilation, groups }, grads: [outer], needs }) {
      if (!outer) return {};
      return {
        grad: needs("grad") ? o.convolution(input, outer, null, stride, padding, dilation, groups) : null,
        input: needs("input")
          ? o.convolutionInput(grad, outer, input.shape, stride, padding, dilation, groups)
          : null,
      };
    },
  },
  samples: [{ args: [t(2, 4, 3, 3), t(2, 3, 5, 4), [4, 3, 3, 2], ...GEOMETRY] }],
});

interface ConvArgs<T> {
  readonly self: T;
  readonly weight: T;
  readonly bias: T | null;
  readonly stride: number | readonly number[];
  readonly padding: number | readonly number[] | string;
  readonly dilation: number | readonly number[];
  readonly groups: number;
}

/** Padding on both sides of each spatial dimension. */
function paddings(
  rank: number,
  { weight, stride, padding, dilation }: ConvArgs<TensorLike>,
): (readonly [number, number])[] {
  if (typeof padding !== "string") return spread(padding, rank, "padding").map((p) => [p, p]);
  if (padding === "valid") return Array.from({ length: rank }, () => [0, 0]);
  if (padding !== "same") {
    throw new DynError(`Expected padding "same", "valid" or numbers but found "${padding}"`);
  }
  if (spread(stride, rank, "stride").some((s) => s !== 1)) {
    throw new DynError(`Expected stride 1 for padding "same" but found ${stride}`);
  }
  return spread(dilation, rank, "dilation").map((d, i) => {
    const total = d * (Number(weight.shape[2 + i] ?? 1) - 1);
    return [total >> 1, total - (total >> 1)];
  });
}

/** A convolution over `rank` spatial dimensions, with or without a batch. */
function convolve<T extends TensorLike>(o: OpApi<T>, rank: 1 | 2, args: ConvArgs<T>): T {
  const { self, weight, bias, stride, dilation, groups } = args;
  const batched = self.shape.length === rank + 2;
  let input = batched ? self : o.unsqueeze(self, 0);
  const sides = paddings(rank, args);
  const even = sides.every(([before, after]) => before === after);
  if (!even) input = o.constantPadNd(input, [...sides].reverse().flat(), 0);
  const padding = sides.map(([before]) => even ? before : 0);
  const strides = spread(stride, rank, "stride"), dilations = spread(dilation, rank, "dilation");
  // One dimension is two of which the first has size 1
  const result = rank === 2
    ? o.convolution(input, weight, bias, strides, padding, dilations, groups)
    : o.squeeze(
      o.convolution(
        o.unsqueeze(input, 2),
        o.unsqueeze(weight, 2),
        bias,
        [1, ...strides],
        [0, ...padding],
        [1, ...dilations],
        groups,
      ),
      2,
    );
  return batched ? result : o.squeeze(result, 0);
}

function inferConvolve(rank: 1 | 2, args: ConvArgs<TensorMeta>): TensorMeta {
  const { self, weight, stride, dilation, groups } = args;
  if (weight.shape.length !== rank + 2) {
    throw new DynError(`Expected a weight of ${rank + 2} dimensions but found ${shapeText(weight.shape)}`);
  }
  if (self.shape.length !== rank + 1 && self.shape.length !== rank + 2) {
    throw new DynError(
      `Expected an input of ${rank + 1} or ${rank + 2} dimensions but found ${shapeText(self.shape)}`,
    );
  }
  const batched = self.shape.length === rank + 2;
  const full = batched ? self : { ...self, shape: [1, ...self.shape], strides: [0, ...self.strides] };
  checkChannels(full, weight, groups);
  const strides = spread(stride, rank, "stride"), dilations = spread(dilation, rank, "dilation");
  const spatial = paddings(rank, args).map(([before, after], i) =>
    outputSize(add(full.shape[2 + i] ?? 1, before + after), weight.shape[2 + i] ?? 1, {
      stride: strides[i] ?? 1,
      padding: 0,
      dilation: dilations[i] ?? 1,
    })
  );
  const shape = [weight.shape[0] ?? 1, ...spatial];
  return contiguousMeta(batched ? [full.shape[0] ?? 1, ...shape] : shape, self.dtype, self.device);
}

const convParams = {
  self: required("tensor"),
  weight: required("tensor"),
  bias: nullable("tensor"),
  stride: optional("intOrInts", 1),
  padding: optional("intsOrString", 0),
  dilation: optional("intOrInts", 1),
  groups: optional("int", 1),
} as const;
const exposure = { method: false, namespaces: ["nn.functional"] } as const;

const conv1d = defineOp({
  name: "conv1d",
  doc: "[N, C, L] with a weight [O, C/groups, K] → [N, O, L'], as `nn.functional.conv1d`.",
  params: convParams,
  exposure,
  infer: (args) => inferConvolve(1, args),
  implementation: { kind: "composite", compose: (o, args) => convolve(o, 1, args) },
  gradient: { kind: "composite" },
  samples: [
    { args: [t(2, 3, 7), t(4, 3, 3), t(4)], options: { stride: 2, padding: 1 } },
    { args: [t(3, 7), t(4, 3, 2)], options: { padding: "same" } },
  ],
});

const conv2d = defineOp({
  name: "conv2d",
  doc: "[N, C, H, W] with a weight [O, C/groups, Kh, Kw] → [N, O, H', W'], as `nn.functional.conv2d`.",
  params: convParams,
  exposure,
  infer: (args) => inferConvolve(2, args),
  implementation: { kind: "composite", compose: (o, args) => convolve(o, 2, args) },
  gradient: { kind: "composite" },
  samples: [
    { args: [t(2, 3, 5, 4), t(4, 3, 3, 2), t(4)], options: { padding: 1 } },
    { args: [t(4, 6, 5), t(6, 2, 3, 3)], options: { groups: 2, stride: [2, 1], padding: "valid" } },
  ],
  errors: [{ args: [t(2, 3, 5, 5), t(4, 2, 3, 3)], message: "Expected an input of 2 channels" }],
});

export const convolutions = { convolution, convolutionInput, convolutionWeight, conv1d, conv2d } as const;
