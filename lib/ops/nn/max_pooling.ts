/**
 * Max pooling of [batch?, channels, …]. Invariant: a maximum is found together with its position in the window, and the
 * gradient reads by position, so that windows that do not overlap need no accumulation.
 */
import { DynError } from "../../base/errors.ts";
import { type Dim, mul, product } from "../../sym/expr.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import type { Body, Lowered } from "../../loops/body.ts";
import { composeOp, FUNCTIONAL, INTERNAL, lowerOp, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, optional, required } from "../params.ts";
import { lowest } from "../../base/dtype.ts";
import { t } from "../pointwise.ts";
import { sameShape, shapeText } from "../shapes.ts";
import {
  checkPooled,
  flatOffset,
  gatherWindows,
  internalParams,
  inWindow,
  pooledSizes,
  windowParams,
  type Windows,
  windowsOf,
} from "./windows.ts";

const maxPoolOffsets = lowerOp({
  name: "maxPoolOffsets",
  doc: "The maximum of each window over the last dimensions, and its flat place in the window.",
  params: { self: required("tensor"), ...internalParams },
  results: ["values", "offsets"],
  exposure: INTERNAL,
  infer({ self, ...w }) {
    const shape = pooledSizes(self.shape, w);
    return [contiguousMeta(shape, self.dtype, self.device), contiguousMeta(shape, "int64", self.device)];
  },
  lower({ self, ...windows }, out): Lowered[] {
    const [values, offsets] = out;
    if (!values || !offsets) return [];
    const outside = <V>(o: Body<V>): V => o.constant(lowest(self.dtype), self.dtype);
    const element = <V>(o: Body<V>, index: readonly Dim[], offset: readonly Dim[]): V =>
      inWindow(o, self, { index, offset, windows, outside });
    const common = {
      kind: "reduction",
      shape: values.shape,
      over: windows.kernel,
      accumulator: self.dtype,
    } as const;
    return [
      { ...common, dtype: self.dtype, op: "max", element },
      {
        ...common,
        dtype: "int64",
        op: "argmax",
        element,
        position: (offset) => flatOffset(offset, windows.kernel),
      },
    ];
  },
  gradient: {
    kind: "rule",
    saves: ["out"],
    rule(
      o,
      { args: { self, kernel, stride, padding, dilation, ceilMode }, out: [, offsets], grads: [grad] },
    ) {
      if (!grad || !offsets) return {};
      return {
        self: o.maxPoolBackward(grad, offsets, self.shape, kernel, stride, padding, dilation, ceilMode),
      };
    },
  },
  samples: [{ args: [t(2, 5, 6), [2, 3], [2, 2], [1, 1], [1, 1], false] }],
});

const maxPoolBackward = lowerOp({
  name: "maxPoolBackward",
  doc: "Gradients of windows sent to where their maximum was.",
  params: {
    grad: required("tensor"),
    offsets: required("tensor"),
    inputSizes: required("sizes"),
    ...internalParams,
  },
  exposure: INTERNAL,
  infer: ({ grad, inputSizes }) => contiguousMeta(inputSizes, grad.dtype, grad.device),
  lower({ grad, offsets, inputSizes: _sizes, ...windows }, [result]) {
    if (!result) return [];
    return gatherWindows(result, {
      windows,
      pooled: grad.shape,
      part: (o, window, offset) =>
        o.select(
          o.eq(o.load(offsets, window), o.index(flatOffset(offset, windows.kernel), "int64")),
          o.load(grad, window),
          o.constant(0, result.dtype),
        ),
    });
  },
  gradient: {
    saves: ["offsets"],
    single: (o, grad, { args: { offsets, inputSizes, ...w } }) => ({
      grad: gatherMaxima(o, grad, { offsets, windows: w, inputSizes }),
    }),
  },
  samples: [{
    args: [t(2, 3), { tensor: [2, 3], dtype: "int64", range: [0, 2] }, [2, 6], [2], [2], [0], [1], false],
  }],
});

/** The elements of `x` at the places in windows. */
function gatherMaxima<T extends TensorLike>(
  o: OpApi<T>,
  x: T,
  at: { readonly offsets: T; readonly windows: Windows; readonly inputSizes: readonly Dim[] },
): T {
  const rank = at.windows.kernel.length;
  const flat = flatIndices(o, at);
  const lead = at.inputSizes.slice(0, at.inputSizes.length - rank);
  const gathered = o.gather(o.reshape(x, [...lead, -1]), -1, o.reshape(flat, [...lead, -1]));
  return o.reshape(gathered, at.offsets.shape);
}

/** Converts places in windows to flat indices into the pooled dimensions of the input, as PyTorch returns them. */
function flatIndices<T extends TensorLike>(
  o: OpApi<T>,
  at: { readonly offsets: T; readonly windows: Windows; readonly inputSizes: readonly Dim[] },
): T {
  const { offsets, windows: w, inputSizes } = at;
  const rank = w.kernel.length, lead = inputSizes.length - rank;
  let rest = offsets, flat: T | null = null, scale: Dim = 1;
  for (let d = rank - 1; d >= 0; d--) {
    const kernel = w.kernel[d] ?? 1, axis = lead + d;
    const inside = d === 0 ? rest : o.remainder(rest, kernel);
    const shape = offsets.shape.map((size, e) => e === axis ? size : 1);
    const starts = o.mul(o.arange(offsets.shape[axis] ?? 1, { device: offsets.device }), w.stride[d] ?? 1);
    const place = o.add(
      o.mul(inside, w.dilation[d] ?? 1),
      o.reshape(o.sub(starts, w.padding[d] ?? 0), shape),
    );
    const part = o.mul(place, scale);
    flat = flat ? o.add(flat, part) : part;
    scale = mul(scale, inputSizes[axis] ?? 1);
    rest = o.floorDivide(rest, kernel);
  }
  return flat ?? offsets;
}

/** The maxima of windows, and on demand their flat indices. */
export function maximaOf<T extends TensorLike>(
  o: OpApi<T>,
  self: T,
  windows: Windows,
): { readonly values: T; readonly indices: () => T } {
  const { kernel, stride, padding, dilation, ceilMode } = windows;
  const [values, offsets] = o.maxPoolOffsets(self, kernel, stride, padding, dilation, ceilMode);
  return { values, indices: () => flatIndices(o, { offsets, windows, inputSizes: self.shape }) };
}

/** maxPool1d, maxPool2d, maxPool3d. */
function maxPool(rank: 1 | 2 | 3) {
  const name = `maxPool${rank}d`;
  const image = [2, 3, ...[5, 6, 4].slice(0, rank)];
  return composeOp({
    name,
    doc: `The maximum of each window over ${rank} dimension(s); with returnIndices also its flat index. As ` +
      `\`nn.functional.max_pool${rank}d\`.`,
    params: {
      self: required("tensor"),
      ...windowParams,
      dilation: optional("sizeOrSizes", 1),
      ceilMode: optional("bool", false),
      returnIndices: optional("bool", false),
    },
    results: ["values", "indices"],
    resultsIf: "returnIndices",
    exposure: { ...FUNCTIONAL, free: true },
    infer({ self, returnIndices, ...args }) {
      checkPooled(name, self, rank);
      const shape = pooledSizes(self.shape, windowsOf(args, rank));
      const values = contiguousMeta(shape, self.dtype, self.device);
      return returnIndices ? [values, contiguousMeta(shape, "int64", self.device)] : values;
    },
    compose(o, { self, returnIndices, ...args }) {
      const { values, indices } = maximaOf(o, self, windowsOf(args, rank));
      return returnIndices ? [values, indices()] : values;
    },
    samples: [
      { args: [t(...image), 2] },
      { args: [t(...image), 3], options: { stride: 2, padding: 1 } },
      { args: [t(...image.slice(1)), 2], options: { stride: 1, ceilMode: true } },
    ],
    errors: [{ args: [t(2, 2), 2, 2, 2], message: "Expected" }],
  });
}

const maxPool2dWithIndicesBackward = composeOp({
  name: "maxPool2dWithIndicesBackward",
  doc: "The gradient of maxPool2d: gradients of windows, added at the indices of their maxima.",
  params: {
    gradOutput: required("tensor"),
    self: required("tensor"),
    kernelSize: required("sizeOrSizes"),
    stride: nullable("sizeOrSizes"),
    padding: optional("sizeOrSizes", 0),
    dilation: optional("sizeOrSizes", 1),
    ceilMode: optional("bool", false),
    indices: required("tensor"),
  },
  exposure: { method: false },
  infer({ gradOutput, self, indices }) {
    checkPooled("maxPool2d", self, 2);
    if (!sameShape(gradOutput.shape, indices.shape)) {
      throw new DynError(
        `Expected an index for each gradient but found ${shapeText(indices.shape)} and ${
          shapeText(gradOutput.shape)
        }`,
      );
    }
    return contiguousMeta(self.shape, gradOutput.dtype, self.device);
  },
  compose(o, { gradOutput, self, indices }) {
    const lead = self.shape.slice(0, -2), flat = [...lead, product(self.shape.slice(-2))];
    const rows = (x: typeof self) => o.reshape(x, [...lead, -1]);
    const sent = o.scatterAdd(o.newZeros(gradOutput, flat), -1, rows(indices), rows(gradOutput));
    return o.reshape(sent, self.shape);
  },
  // The input only determines where gradients go
  gradient: {
    saves: ["indices"],
    single(o, grad, { args: { gradOutput, self, indices } }) {
      const rows = (x: typeof grad) => o.reshape(x, [...self.shape.slice(0, -2), -1]);
      const read = o.reshape(o.gather(rows(grad), -1, rows(indices)), gradOutput.shape);
      return { gradOutput: read, self: o.newZeros(grad, self.shape) };
    },
  },
  samples: [],
  errors: [{
    args: [t(1, 2, 2), t(1, 4, 4), 2, 2, 0, 1, false, { tensor: [1, 2, 1], dtype: "int64" }],
    message: "index for each",
  }],
});

export const maxPooling = {
  maxPool2dWithIndicesBackward,
  maxPoolOffsets,
  maxPoolBackward,
  maxPool1d: maxPool(1),
  maxPool2d: maxPool(2),
  maxPool3d: maxPool(3),
} as const;
