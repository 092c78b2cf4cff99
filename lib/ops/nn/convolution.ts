/**
 * Convolutions of [batch?, channels, …]. Invariant: one and two dimensions use the runtime library, three use plain
 * loops; all gradients are convolutions too.
 */
import { checkOneOf } from "../../base/checked_input.ts";
import { DynError } from "../../base/errors.ts";
import { add, type Dim, floorDiv, mul, sub } from "../../sym/expr.ts";
import { isEqual, isLess, sizeText } from "../../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { Lowered, Operand } from "../../loops/body.ts";
import type { ConvGeometry } from "../../loops/ir.ts";
import { composeOp, INTERNAL, lowerOp, type Sample, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { knownSize, shapeText, spread } from "../shapes.ts";
import { checkSameType } from "../promotion.ts";

const FUNCTIONAL = { method: false, namespaces: ["nn.functional"] } as const;

/** The geometry of a convolution over any number of spatial dimensions. */
export interface Geometry {
  readonly stride: readonly number[];
  readonly padding: readonly number[];
  readonly dilation: readonly number[];
  readonly groups: number;
}

/** The output size along one dimension. */
function outputSize(size: Dim, kernel: Dim, at: { stride: number; padding: number; dilation: number }): Dim {
  const reach = add(mul(sub(kernel, 1), at.dilation), 1);
  const room = sub(add(size, 2 * at.padding), reach);
  if (isLess(room, 0)) {
    throw new DynError(
      `Expected a padded input at least as large as the kernel but found ${sizeText(size)} and ${
        sizeText(kernel)
      }`,
    );
  }
  return add(floorDiv(room, at.stride), 1);
}

function geometryMeta(name: string, g: Geometry): void {
  const positive = [...g.stride, ...g.dilation, g.groups].every((v) => v > 0);
  if (!positive || g.padding.some((p) => p < 0)) {
    throw new DynError(
      `Expected a positive stride, dilation and groups and non-negative padding for ${name} but found stride ` +
        `[${g.stride}], dilation [${g.dilation}], groups ${g.groups} and padding [${g.padding}]`,
    );
  }
}

/** Metadata of a convolution of [batch, channels, …spatial]. */
function convolvedMeta(input: TensorMeta, weight: TensorMeta, g: Geometry): TensorMeta {
  geometryMeta("convolution", g);
  const [batch, channels, ...spatial] = input.shape, [features, perGroup, ...kernel] = weight.shape;
  if (spatial.length !== kernel.length || spatial.length !== g.stride.length) {
    throw new DynError(
      `Expected shapes that convolve but found ${shapeText(input.shape)} and ${shapeText(weight.shape)}`,
    );
  }
  if (!isEqual(channels ?? 1, mul(perGroup ?? 1, g.groups))) {
    throw new DynError(
      `Expected an input of ${sizeText(mul(perGroup ?? 1, g.groups))} channels but found ${
        shapeText(input.shape)
      }`,
    );
  }
  if (knownSize(features ?? 1) % g.groups !== 0) {
    throw new DynError(
      `Expected features that divide into ${g.groups} groups but found ${shapeText(weight.shape)}`,
    );
  }
  const out = spatial.map((size, d) =>
    outputSize(size, kernel[d] ?? 1, {
      stride: g.stride[d] ?? 1,
      padding: g.padding[d] ?? 0,
      dilation: g.dilation[d] ?? 1,
    })
  );
  checkPositions(input, spatial.length);
  return contiguousMeta([batch ?? 1, features ?? 1, ...out], input.dtype, input.device);
}

/** Throws DynError if one of the last dimensions, those of positions, is empty. */
export function checkPositions({ shape }: TensorLike, rank: number): void {
  if (shape.slice(-rank).some((size) => isEqual(size, 0))) {
    throw new DynError(`Expected an input with positions but found ${shapeText(shape)}`);
  }
}

const pair = (values: readonly number[]): readonly [number, number] => [values[0] ?? 0, values[1] ?? 0];
const planar = (g: Geometry): ConvGeometry => ({
  stride: pair(g.stride),
  padding: pair(g.padding),
  dilation: pair(g.dilation),
  groups: g.groups,
});

/** A library call on some tensors. */
function convolved(
  result: TensorMeta | undefined,
  op: "convForward" | "convBackwardInput" | "convBackwardWeight",
  { inputs, geometry }: { readonly inputs: readonly Operand[]; readonly geometry: Geometry },
): Lowered[] {
  if (!result) return [];
  const { shape, dtype } = result;
  return [{ kind: "extern", call: { op, ...planar(geometry) }, inputs, outputs: [{ shape, dtype }] }];
}

const geometryParams = {
  stride: required("ints"),
  padding: required("ints"),
  dilation: required("ints"),
  groups: required("int"),
} as const;

const GEOMETRY: readonly [number[], number[], number[], number] = [[1, 1], [1, 1], [1, 1], 1];

const convolution = lowerOp({
  name: "convolution",
  doc: "Cross-correlation of [batch, channels, h, w] with [features, channels / groups, kh, kw].",
  params: {
    input: required("tensor"),
    weight: required("tensor"),
    bias: nullable("tensor"),
    ...geometryParams,
  },
  exposure: INTERNAL,
  infer: ({ input, weight, ...g }) => convolvedMeta(input, weight, g),
  lower: ({ input, weight, bias, ...g }, [result]) =>
    convolved(result, "convForward", { inputs: bias ? [input, weight, bias] : [input, weight], geometry: g }),
  gradient: {
    saves: ["input", "weight"],
    single(o, grad, { args: { input, weight, bias, ...g }, needs }) {
      const { stride, padding, dilation, groups } = g;
      return {
        input: needs("input")
          ? o.convolutionBackwardInput(grad, weight, input.shape, stride, padding, dilation, groups)
          : null,
        weight: needs("weight")
          ? o.convolutionBackwardWeight(grad, input, weight.shape, stride, padding, dilation, groups)
          : null,
        bias: bias && needs("bias") ? o.sum(grad, [0, 2, 3]) : null,
      };
    },
  },
  samples: [{ args: [t(2, 4, 5, 5), t(6, 2, 3, 3), t(6), [2, 1], [1, 0], [1, 1], 2] }],
});

const convolutionBackwardInput = lowerOp({
  name: "convolutionBackwardInput",
  doc: "The gradient of a convolution in its input, of `inputSizes`.",
  params: {
    grad: required("tensor"),
    weight: required("tensor"),
    inputSizes: required("sizes"),
    ...geometryParams,
  },
  exposure: INTERNAL,
  infer: ({ grad, inputSizes }) => contiguousMeta(inputSizes, grad.dtype, grad.device),
  lower: ({ grad, weight, inputSizes: _sizes, ...g }, [result]) =>
    convolved(result, "convBackwardInput", { inputs: [grad, weight], geometry: g }),
  gradient: {
    saves: ["grad", "weight"],
    single: (o, grad, { args: { grad: g, weight, stride, padding, dilation, groups }, needs }) => ({
      grad: needs("grad")
        ? croppedTo(o, o.convolution(grad, weight, null, stride, padding, dilation, groups), g)
        : null,
      weight: needs("weight")
        ? o.convolutionBackwardWeight(g, grad, weight.shape, stride, padding, dilation, groups)
        : null,
    }),
  },
  samples: [{ args: [t(2, 3, 5, 5), t(3, 2, 3, 3), [2, 2, 5, 5], ...GEOMETRY] }],
});

/** Crops elements at the ends: the padding of a transposed convolution's output may be whole strides. */
function croppedTo<T extends TensorLike>(o: OpApi<T>, convolved: T, { shape }: TensorLike): T {
  return shape.reduce(
    (made, size, d) => d < 2 || isEqual(made.shape[d] ?? 1, size) ? made : o.narrow(made, d, 0, size),
    convolved,
  );
}

const convolutionBackwardWeight = lowerOp({
  name: "convolutionBackwardWeight",
  doc: "The gradient of a convolution in its weight, of `weightSizes`.",
  params: {
    grad: required("tensor"),
    input: required("tensor"),
    weightSizes: required("sizes"),
    ...geometryParams,
  },
  exposure: INTERNAL,
  infer: ({ grad, weightSizes }) => contiguousMeta(weightSizes, grad.dtype, grad.device),
  lower: ({ grad, input, weightSizes: _sizes, ...g }, [result]) =>
    convolved(result, "convBackwardWeight", { inputs: [grad, input], geometry: g }),
  gradient: {
    saves: ["grad", "input"],
    single: (o, grad, { args: { grad: g, input, stride, padding, dilation, groups }, needs }) => ({
      grad: needs("grad")
        ? croppedTo(o, o.convolution(input, grad, null, stride, padding, dilation, groups), g)
        : null,
      input: needs("input")
        ? o.convolutionBackwardInput(g, grad, input.shape, stride, padding, dilation, groups)
        : null,
    }),
  },
  samples: [{ args: [t(2, 3, 5, 5), t(2, 2, 5, 5), [3, 2, 3, 3], ...GEOMETRY] }],
});

/** A user's padding of each dimension. */
interface Padding {
  /** The part that the convolution itself adds on both sides. */
  readonly before: number[];
  /** One more after, as "same" may need. */
  readonly extra: number[];
  /** Zeros to add on both sides before: a padding that changes between calls of one graph. */
  readonly around: Dim[];
}

function paddingOf(
  padding: Dim | readonly Dim[] | string,
  at: {
    readonly kernel: readonly Dim[];
    readonly stride: readonly number[];
    readonly dilation: readonly number[];
  },
): Padding {
  const { kernel, stride, dilation } = at, none = kernel.map(() => 0);
  if (typeof padding !== "string") {
    const all = spread(padding, kernel.length, "padding");
    if (all.some((p) => isLess(p, 0))) {
      throw new DynError(`Expected non-negative padding but found ${shapeText(all)}`);
    }
    return {
      before: all.map((p) => typeof p === "number" ? p : 0),
      extra: none,
      around: all.map((p) => typeof p === "number" ? 0 : p),
    };
  }
  if (padding === "valid") return { before: none, extra: none, around: none };
  checkOneOf("padding", padding, ["same", "valid"]);
  if (stride.some((s) => s !== 1)) {
    throw new DynError(`Expected a stride of 1 with padding "same" but found [${stride}]`);
  }
  const totals = kernel.map((size, d) => (knownSize(size) - 1) * (dilation[d] ?? 1));
  return { before: totals.map((p) => Math.floor(p / 2)), extra: totals.map((p) => p % 2), around: none };
}

/** A user's call, checked, with its arguments for each dimension. */
interface Settled extends Pick<Padding, "extra" | "around"> {
  readonly geometry: Geometry;
  readonly batched: boolean;
}

/** Checks a user's call and expands arguments given once for all dimensions. */
export function settle(
  name: string,
  args: {
    readonly input: TensorLike;
    readonly weight: TensorLike;
    readonly bias: TensorLike | null;
    readonly stride: number | readonly number[];
    readonly padding: Dim | readonly Dim[] | string;
    readonly dilation: number | readonly number[];
    readonly groups: number;
  },
  rank: number,
): Settled {
  const { input, weight, bias } = args;
  if (
    weight.shape.length !== rank + 2 || (input.shape.length !== rank + 2 && input.shape.length !== rank + 1)
  ) {
    throw new DynError(
      `Expected ${name} of an input of ${rank + 1} or ${rank + 2} dimensions and a weight of ${
        rank + 2
      } but found ` +
        `${shapeText(input.shape)} and ${shapeText(weight.shape)}`,
    );
  }
  if (weight.shape.some((size) => isEqual(size, 0))) {
    throw new DynError(`Expected a kernel with elements for ${name} but found ${shapeText(weight.shape)}`);
  }
  checkSameType(name, input, weight, ...bias ? [bias] : []);
  if (input.dtype === "bool") throw new DynError(`Expected ${name} of numbers but found bool tensors`);
  const stride = spread(args.stride, rank, "stride"), dilation = spread(args.dilation, rank, "dilation");
  const { before, extra, around } = paddingOf(args.padding, {
    kernel: weight.shape.slice(2),
    stride,
    dilation,
  });
  const geometry = { stride, padding: before, dilation, groups: args.groups };
  geometryMeta(name, geometry);
  return { geometry, extra, around, batched: input.shape.length === rank + 2 };
}

export function checkBias(bias: TensorMeta | null, features: Dim): void {
  if (bias && (bias.shape.length !== 1 || !isEqual(bias.shape[0] ?? 1, features))) {
    throw new DynError(`Expected a bias of shape [${sizeText(features)}] but found ${shapeText(bias.shape)}`);
  }
}

/** conv1d, conv2d, conv3d. */
function convOf(rank: 1 | 2 | 3, samples: readonly Sample[]) {
  const name = `conv${rank}d`;
  return composeOp({
    name,
    doc:
      `Cross-correlation over ${rank} dimension(s), with or without a batch; padding may be "same" or "valid". As ` +
      `\`nn.functional.${name}\`.`,
    params: {
      input: required("tensor"),
      weight: required("tensor"),
      bias: nullable("tensor"),
      stride: optional("intOrInts", 1),
      padding: optional("sizesOrString", 0),
      dilation: optional("intOrInts", 1),
      groups: optional("int", 1),
    },
    exposure: FUNCTIONAL,
    infer(args) {
      const { geometry, extra, around, batched } = settle(name, args, rank);
      checkBias(args.bias, args.weight.shape[0] ?? 1);
      const shape = batched ? args.input.shape : [1, ...args.input.shape];
      const wide = shape.map((size, d) =>
        d < 2 ? size : add(size, add(mul(2, around[d - 2] ?? 0), extra[d - 2] ?? 0))
      );
      const out = convolvedMeta({ ...args.input, shape: wide }, args.weight, geometry);
      return batched ? out : contiguousMeta(out.shape.slice(1), out.dtype, out.device);
    },
    compose(o, args) {
      const { geometry, extra, around, batched } = settle(name, args, rank);
      const { weight, bias } = args;
      let input = batched ? args.input : o.unsqueeze(args.input, 0);
      if ([...extra, ...around].some((e) => e !== 0)) {
        const pads = around.map((p, d) => [p, add(p, extra[d] ?? 0)]);
        input = o.constantPadNd(input, pads.toReversed().flat(), 0);
      }
      const out = convolve(o, { input, weight, bias }, geometry);
      return batched ? out : o.squeeze(out, 0);
    },
    samples,
    errors: [
      { args: [t(2, ...new Array<number>(rank + 1).fill(3)), t(2, 3)], message: "dimensions" },
      {
        args: [t(2, ...new Array<number>(rank + 1).fill(3)), t(2, 3, ...new Array<number>(rank).fill(0))],
        message: "a kernel with elements",
      },
      {
        args: [t(1, 2, ...new Array<number>(rank).fill(0)), t(2, 2, ...new Array<number>(rank).fill(2))],
        options: { padding: 1 },
        message: "an input with positions",
      },
    ],
  });
}

/** A convolution of batched activations over one, two or three dimensions. */
function convolve<T extends TensorLike>(
  o: OpApi<T>,
  { input, weight, bias }: { input: T; weight: T; bias: T | null },
  g: Geometry,
): T {
  if (g.stride.length === 1) {
    const [stride, padding, dilation] = raise(g);
    const out = o.convolution(
      o.unsqueeze(input, 2),
      o.unsqueeze(weight, 2),
      bias,
      stride,
      padding,
      dilation,
      g.groups,
    );
    return o.squeeze(out, 2);
  }
  if (g.stride.length === 2) {
    return o.convolution(input, weight, bias, g.stride, g.padding, g.dilation, g.groups);
  }
  return convolve3d(o, { input, weight, bias }, g);
}

/** One dimension as two, the first of size 1. */
export const raise = (g: Geometry): [number[], number[], number[]] => [
  [1, ...g.stride],
  [0, ...g.padding],
  [1, ...g.dilation],
];

/** The depth of the kernel unrolled: a sum of planar convolutions of shifted slices. */
function convolve3d<T extends TensorLike>(
  o: OpApi<T>,
  { input, weight, bias }: { input: T; weight: T; bias: T | null },
  g: Geometry,
): T {
  const [depthStride = 1, ...stride] = g.stride, [depthPad = 0, ...padding] = g.padding;
  const [depthDilation = 1, ...dilation] = g.dilation;
  const kernel = knownSize(weight.shape[2] ?? 1);
  const wide = depthPad > 0 ? o.constantPadNd(input, [0, 0, 0, 0, depthPad, depthPad], 0) : input;
  const [batch = 1, channels = 1, depth = 1, ...plane] = wide.shape;
  const out = outputSize(depth, kernel, { stride: depthStride, padding: 0, dilation: depthDilation });
  let total: T | null = null;
  for (let z = 0; z < kernel; z++) {
    const start = z * depthDilation, end = add(start, add(mul(sub(out, 1), depthStride), 1));
    // [batch, channels, out, h, w] → [batch · out, channels, h, w]
    const slices = o.transpose(o.slice(wide, 2, start, end, depthStride), 1, 2);
    const flat = o.reshape(slices, [mul(batch, out), channels, ...plane]);
    const part = o.convolution(flat, o.select(weight, 2, z), null, stride, padding, dilation, g.groups);
    total = total ? o.add(total, part) : part;
  }
  if (!total) throw new DynError("Expected a kernel with elements but found none");
  const [, features = 1, ...rest] = total.shape;
  const result = o.transpose(o.reshape(total, [batch, out, features, ...rest]), 1, 2);
  return bias ? o.add(result, o.reshape(bias, [features, 1, 1, 1])) : result;
}

export const convolutions = {
  convolution,
  convolutionBackwardInput,
  convolutionBackwardWeight,
  conv1d: convOf(1, [{ args: [t(2, 4, 7), t(6, 2, 3), t(6)], options: { groups: 2, padding: 1 } }]),
  conv2d: convOf(2, [
    { args: [t(2, 3, 5, 5), t(4, 3, 3, 3), t(4)] },
    { args: [t(2, 5, 5), t(4, 2, 3, 3)], options: { padding: "same" } },
    { args: [t(1, 2, 6, 5), t(3, 2, 2, 3)], options: { stride: 2, padding: [1, 0], dilation: [1, 2] } },
  ]),
  conv3d: convOf(3, [{
    args: [t(1, 2, 4, 4, 4), t(3, 2, 2, 3, 3), t(3)],
    options: { padding: 1, stride: [2, 1, 1] },
  }]),
} as const;
