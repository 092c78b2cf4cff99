/**
 * Pooling. Input: activations [batch?, channels, …]; output: one value for each window. Invariant: windows have
 * known sizes; the maximum is found together with its place in the window, and the gradient reads by place, so
 * that windows that do not overlap need no accumulation.
 */
import { DynError } from "../base/errors.ts";
import { categoryOf, isFloat } from "../base/dtype.ts";
import { add, boundsOf, type Dim, floorDiv, mod, mul, sub } from "../sym/expr.ts";
import { isLess } from "../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../graph/meta.ts";
import type { Body, Lowered, Operand } from "../loops/body.ts";
import { defineOp, type TensorLike } from "./definition.ts";
import type { OpApi } from "./generated.ts";
import { nullable, optional, required } from "./params.ts";
import { castTo, lowest } from "./promotion.ts";
import { t } from "./pointwise.ts";
import { within } from "./scatter_views.ts";
import { shapeText, spread } from "./shapes.ts";

const FUNCTIONAL = { method: false, free: false, namespaces: ["nn.functional"] } as const;
const INTERNAL = { method: false, free: false } as const;

/** Windows over the last dimensions. */
export interface Windows {
  readonly kernel: readonly number[];
  readonly stride: readonly number[];
  readonly padding: readonly number[];
  readonly dilation: readonly number[];
  readonly ceilMode: boolean;
}

/** How many windows lie along a dimension. The last one must start inside of the input or its left padding. */
function windowCount(size: Dim, w: Windows, d: number): Dim {
  const kernel = w.kernel[d] ?? 1, stride = w.stride[d] ?? 1, padding = w.padding[d] ?? 0;
  const reach = (w.dilation[d] ?? 1) * (kernel - 1) + 1;
  const room = sub(add(size, 2 * padding), reach);
  const count = add(floorDiv(add(room, w.ceilMode ? stride - 1 : 0), stride), 1);
  if (!w.ceilMode) return count;
  return isLess(mul(sub(count, 1), stride), add(size, padding)) ? count : sub(count, 1);
}

/** The output sizes of pooling over the last dimensions. */
export function pooledSizes(shape: readonly Dim[], w: Windows): Dim[] {
  const rank = w.kernel.length, lead = shape.length - rank;
  const positive = [...w.kernel, ...w.stride, ...w.dilation].every((v) => v > 0);
  if (!positive) throw new DynError("Expected a positive kernel size, stride and dilation");
  w.padding.forEach((p, d) => {
    const reach = ((w.kernel[d] ?? 1) - 1) * (w.dilation[d] ?? 1) + 1;
    if (p < 0 || p > reach / 2) {
      throw new DynError(`Expected padding of at most half the kernel size ${w.kernel[d]} but found ${p}`);
    }
  });
  const out = w.kernel.map((_, d) => windowCount(shape[lead + d] ?? 1, w, d));
  if (out.some((size) => isLess(size, 1))) {
    throw new DynError(
      `Expected windows that fit into ${shapeText(shape)} but found kernel size [${w.kernel}]`,
    );
  }
  return [...shape.slice(0, lead), ...out];
}

/** Parameters of windows as users write them. */
export const windowParams = {
  kernelSize: required("intOrInts"),
  stride: nullable("intOrInts"),
  padding: optional("intOrInts", 0),
} as const;

/** A user's windows with everything filled in. */
export function windowsOf(
  args: {
    readonly kernelSize: number | readonly number[];
    readonly stride: number | readonly number[] | null;
    readonly padding: number | readonly number[];
    readonly dilation?: number | readonly number[];
    readonly ceilMode: boolean;
  },
  rank: number,
): Windows {
  const stride = args.stride === null || (Array.isArray(args.stride) && args.stride.length === 0)
    ? args.kernelSize
    : args.stride;
  return {
    kernel: spread(args.kernelSize, rank, "kernelSize"),
    stride: spread(stride, rank, "stride"),
    padding: spread(args.padding, rank, "padding"),
    dilation: spread(args.dilation ?? 1, rank, "dilation"),
    ceilMode: args.ceilMode,
  };
}

/** Checks that an input has a channel and the pooled dimensions, possibly a batch. */
export function checkPooled(name: string, self: TensorMeta, rank: number): void {
  if (self.shape.length !== rank + 1 && self.shape.length !== rank + 2) {
    throw new DynError(
      `Expected ${name} of ${rank + 1} or ${rank + 2} dimensions but found ${shapeText(self.shape)}`,
    );
  }
  if (self.shape.slice(self.shape.length === rank + 2 ? 1 : 0).some((s) => s === 0)) {
    throw new DynError(`Expected sizes besides the batch that are not 0 but found ${shapeText(self.shape)}`);
  }
}

const internalParams = {
  kernel: required("ints"),
  stride: required("ints"),
  padding: required("ints"),
  dilation: required("ints"),
  ceilMode: required("bool"),
} as const;

/** The element of a window, or a value outside of the input. */
function inWindow<V>(
  o: Body<V>,
  self: Operand,
  at: {
    readonly index: readonly Dim[];
    readonly offset: readonly Dim[];
    readonly windows: Windows;
    readonly outside: (o: Body<V>) => V;
  },
): V {
  const { index, offset, windows: w, outside } = at;
  const lead = index.length - w.kernel.length;
  let inside: V | undefined;
  const source = index.map((i, d) => {
    if (d < lead) return i;
    const axis = d - lead, padding = w.padding[axis] ?? 0;
    const place = add(
      sub(mul(i, w.stride[axis] ?? 1), padding),
      mul(offset[axis] ?? 0, w.dilation[axis] ?? 1),
    );
    if (padding > 0 || w.ceilMode) {
      const here = within(o, place, 0, self.shape[d] ?? 1);
      inside = inside === undefined ? here : o.and(inside, here);
    }
    return place;
  });
  return inside === undefined
    ? o.load(self, source)
    : o.masked(inside, () => o.load(self, source), outside(o));
}

/** The flat place of an offset in a window. */
const flatOffset = (offset: readonly Dim[], kernel: readonly number[]): Dim =>
  offset.reduce<Dim>((flat, i, d) => add(mul(flat, kernel[d] ?? 1), i), 0);

const maxPoolOffsets = defineOp({
  name: "maxPoolOffsets",
  doc: "The maximum of each window over the last dimensions, and its flat place in the window.",
  params: { self: required("tensor"), ...internalParams },
  results: ["values", "offsets"],
  exposure: INTERNAL,
  infer({ self, ...w }) {
    const shape = pooledSizes(self.shape, w);
    return [contiguousMeta(shape, self.dtype, self.device), contiguousMeta(shape, "int64", self.device)];
  },
  implementation: {
    kind: "lower",
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

/** How many windows may hold a place along a dimension. */
function candidatesAlong(w: Windows, d: number): number {
  const reach = (w.dilation[d] ?? 1) * ((w.kernel[d] ?? 1) - 1) + 1;
  return Math.ceil(reach / (w.stride[d] ?? 1));
}

/**
 * Sums, over the windows that hold a place, what `part` gives for the window and the offset of the place in it.
 * With windows that do not overlap there is one candidate, and the sum is no loop.
 */
function gatherWindows(
  result: TensorMeta,
  spec: {
    readonly windows: Windows;
    readonly pooled: readonly Dim[];
    readonly part: <V>(o: Body<V>, window: readonly Dim[], offset: readonly Dim[]) => V;
  },
): Lowered[] {
  const { windows: w, pooled, part } = spec, { shape, dtype } = result;
  const rank = w.kernel.length, lead = shape.length - rank;
  const counts = w.kernel.map((_, d) => candidatesAlong(w, d));
  const contribution = <V>(o: Body<V>, index: readonly Dim[], candidate: readonly Dim[]): V => {
    const window: Dim[] = index.slice(0, lead), offset: Dim[] = [];
    let holds: V | undefined;
    const also = (condition: V) => holds = holds === undefined ? condition : o.and(holds, condition);
    for (let d = 0; d < rank; d++) {
      const stride = w.stride[d] ?? 1, dilation = w.dilation[d] ?? 1, kernel = w.kernel[d] ?? 1;
      const place = add(index[lead + d] ?? 0, w.padding[d] ?? 0);
      const at = sub(floorDiv(place, stride), candidate[d] ?? 0);
      const distance = sub(place, mul(at, stride));
      window.push(at);
      offset.push(floorDiv(distance, dilation));
      const size = pooled[lead + d] ?? 1;
      const [low, high] = boundsOf(at);
      if (low < 0 || high >= boundsOf(size)[0]) also(within(o, at, 0, size));
      if ((counts[d] ?? 1) * stride !== (kernel - 1) * dilation + 1 || dilation > 1) {
        also(o.lt(o.index(distance, "int64"), o.index((kernel - 1) * dilation + 1, "int64")));
      }
      if (dilation > 1) also(o.eq(o.index(mod(distance, dilation), "int64"), o.constant(0, "int64")));
    }
    const zero = o.constant(0, dtype), value = () => castTo(o, part(o, window, offset), dtype);
    return holds === undefined ? value() : o.masked(holds, value, zero);
  };
  if (counts.every((c) => c === 1)) {
    return [{
      kind: "pointwise",
      shape,
      dtype,
      element: (o, index) => contribution(o, index, counts.map(() => 0)),
    }];
  }
  return [{
    kind: "reduction",
    shape,
    dtype,
    op: "sum",
    over: counts,
    accumulator: dtype,
    element: contribution,
  }];
}

const maxPoolBackward = defineOp({
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
  implementation: {
    kind: "lower",
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
  },
  gradient: {
    kind: "rule",
    saves: ["offsets"],
    rule(o, { args: { offsets, inputSizes, ...w }, grads: [grad] }) {
      if (!grad) return {};
      return { grad: gatherMaxima(o, grad, { offsets, windows: w, inputSizes }) };
    },
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

/** Places in windows as flat indices into the pooled dimensions of the input: PyTorch's indices. */
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

/** maxPool1d, maxPool2d, maxPool3d. */
function maxPool(rank: 1 | 2 | 3) {
  const name = `maxPool${rank}d`;
  const image = [2, 3, ...[5, 6, 4].slice(0, rank)];
  return defineOp({
    name,
    doc: `The maximum of each window over ${rank} dimension(s); with returnIndices also where it was. As ` +
      `\`nn.functional.max_pool${rank}d\`.`,
    params: {
      self: required("tensor"),
      ...windowParams,
      dilation: optional("intOrInts", 1),
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
    implementation: {
      kind: "composite",
      compose(o, { self, returnIndices, ...args }) {
        const windows = windowsOf(args, rank);
        const { kernel, stride, padding, dilation, ceilMode } = windows;
        const [values, offsets] = o.maxPoolOffsets(self, kernel, stride, padding, dilation, ceilMode);
        return returnIndices
          ? [values, flatIndices(o, { offsets, windows, inputSizes: self.shape })]
          : values;
      },
    },
    gradient: { kind: "composite" },
    samples: [
      { args: [t(...image), 2] },
      { args: [t(...image), 3], options: { stride: 2, padding: 1 } },
      { args: [t(...image.slice(1)), 2], options: { stride: 1, ceilMode: true } },
    ],
    errors: [{ args: [t(2, 2), 2, 2, 2], message: "Expected" }],
  });
}

/** The number of elements of a window: of its part inside of the padded input, or of the input. */
function windowSize<V>(
  o: Body<V>,
  window: readonly Dim[],
  at: { readonly sizes: readonly Dim[]; readonly windows: Windows; readonly countIncludePad: boolean },
): V {
  const { sizes, windows: w, countIncludePad } = at;
  let count: V = o.constant(1, "int64");
  w.kernel.forEach((kernel, d) => {
    const padding = w.padding[d] ?? 0, size = sizes[d] ?? 1;
    const start = sub(mul(window[d] ?? 0, w.stride[d] ?? 1), padding), end = add(start, kernel);
    const limit = countIncludePad ? add(size, padding) : size;
    const first = countIncludePad || padding === 0
      ? o.index(start, "int64")
      : o.maximum(o.index(start, "int64"), o.constant(0, "int64"));
    const plain = (countIncludePad || padding === 0) && !w.ceilMode;
    const last = plain ? o.index(end, "int64") : o.minimum(o.index(end, "int64"), o.index(limit, "int64"));
    count = o.mul(count, o.sub(last, first));
  });
  return count;
}

const avgParams = {
  kernel: required("ints"),
  stride: required("ints"),
  padding: required("ints"),
  ceilMode: required("bool"),
} as const;

const undilated = (w: Omit<Windows, "dilation">): Windows => ({ ...w, dilation: w.kernel.map(() => 1) });

const windowSum = defineOp({
  name: "windowSum",
  doc: "The sum of each window over the last dimensions.",
  params: { self: required("tensor"), ...avgParams },
  exposure: INTERNAL,
  infer: ({ self, ...args }) =>
    contiguousMeta(pooledSizes(self.shape, undilated(args)), self.dtype, self.device),
  implementation: {
    kind: "lower",
    lower({ self, ...args }, [result]): Lowered[] {
      if (!result) return [];
      const windows = undilated(args), { dtype } = result;
      return [{
        kind: "reduction",
        shape: result.shape,
        dtype,
        op: "sum",
        over: windows.kernel,
        accumulator: dtype,
        element: (o, index, offset) =>
          inWindow(o, self, { index, offset, windows, outside: (h) => h.constant(0, dtype) }),
      }];
    },
  },
  gradient: {
    kind: "rule",
    saves: [],
    rule: (o, { args: { self, kernel, stride, padding, ceilMode }, grads: [grad] }) =>
      grad ? { self: o.windowSumBackward(grad, self.shape, kernel, stride, padding, ceilMode) } : {},
  },
  samples: [{ args: [t(2, 5, 6), [2, 3], [2, 2], [1, 1], false] }],
});

const windowSumBackward = defineOp({
  name: "windowSumBackward",
  doc: "Gradients of windows given to each of their elements.",
  params: { grad: required("tensor"), inputSizes: required("sizes"), ...avgParams },
  exposure: INTERNAL,
  infer: ({ grad, inputSizes }) => contiguousMeta(inputSizes, grad.dtype, grad.device),
  implementation: {
    kind: "lower",
    lower({ grad, inputSizes: _sizes, ...args }, [result]) {
      if (!result) return [];
      const windows = undilated(args);
      return gatherWindows(result, {
        windows,
        pooled: grad.shape,
        part: (o, window) => o.load(grad, window),
      });
    },
  },
  gradient: {
    kind: "rule",
    saves: [],
    rule: (o, { args: { kernel, stride, padding, ceilMode }, grads: [grad] }) =>
      grad ? { grad: o.windowSum(grad, kernel, stride, padding, ceilMode) } : {},
  },
  samples: [{ args: [t(2, 3, 3), [2, 5, 6], [2, 3], [2, 2], [1, 1], false] }],
});

const windowSizes = defineOp({
  name: "windowSizes",
  doc: "How many elements each window over the last dimensions has, of those in the (padded) input.",
  params: { self: required("tensor"), ...avgParams, countIncludePad: required("bool") },
  exposure: INTERNAL,
  infer({ self, countIncludePad: _count, ...args }) {
    const windows = undilated(args), rank = windows.kernel.length;
    return contiguousMeta(pooledSizes(self.shape.slice(-rank), windows), self.dtype, self.device);
  },
  implementation: {
    kind: "lower",
    lower({ self, countIncludePad, ...args }, [result]): Lowered[] {
      if (!result) return [];
      const windows = undilated(args), sizes = self.shape.slice(-windows.kernel.length);
      return [{
        kind: "pointwise",
        shape: result.shape,
        dtype: result.dtype,
        element: (o, window) =>
          castTo(o, windowSize(o, window, { sizes, windows, countIncludePad }), result.dtype),
      }];
    },
  },
  gradient: { kind: "none", because: "it reads no elements" },
  samples: [{ args: [t(2, 5, 6), [2, 3], [2, 2], [1, 1], false, false] }],
});

/** avgPool1d, avgPool2d, avgPool3d. */
function averagePool(rank: 1 | 2 | 3) {
  const name = `avgPool${rank}d`, image = [2, 3, ...[5, 6, 4].slice(0, rank)];
  return defineOp({
    name,
    doc: `The mean of each window over ${rank} dimension(s), as \`nn.functional.avg_pool${rank}d\`.`,
    params: {
      self: required("tensor"),
      ...windowParams,
      ceilMode: optional("bool", false),
      countIncludePad: optional("bool", true),
      divisorOverride: nullable("int"),
    },
    exposure: { ...FUNCTIONAL, free: rank === 1 },
    infer({ self, divisorOverride, ...args }) {
      checkPooled(name, self, rank);
      if (divisorOverride === 0) throw new DynError("Expected a divisor that is not 0");
      if (categoryOf(self.dtype) === "bool") {
        throw new DynError("Expected numbers to average but found bool tensors");
      }
      return contiguousMeta(pooledSizes(self.shape, windowsOf(args, rank)), self.dtype, self.device);
    },
    implementation: {
      kind: "composite",
      compose(o, { self, countIncludePad, divisorOverride, ...args }) {
        const { kernel, stride, padding, ceilMode } = windowsOf(args, rank);
        const sums = o.windowSum(self, kernel, stride, padding, ceilMode);
        const whole = !ceilMode && (countIncludePad || padding.every((p) => p === 0));
        const count = divisorOverride ??
          (whole
            ? kernel.reduce((a, b) => a * b, 1)
            : o.windowSizes(o.detach(self), kernel, stride, padding, ceilMode, countIncludePad));
        return isFloat(self.dtype) ? o.div(sums, count) : o.div(sums, count, { roundingMode: "trunc" });
      },
    },
    gradient: { kind: "composite" },
    samples: [
      { args: [t(...image), 2] },
      { args: [t(...image), 3], options: { stride: 2, padding: 1, countIncludePad: false } },
    ],
  });
}

export const pooling = {
  maxPoolOffsets,
  maxPoolBackward,
  maxPool1d: maxPool(1),
  maxPool2d: maxPool(2),
  maxPool3d: maxPool(3),
  windowSum,
  windowSumBackward,
  windowSizes,
  avgPool1d: averagePool(1),
  avgPool2d: averagePool(2),
  avgPool3d: averagePool(3),
} as const;
