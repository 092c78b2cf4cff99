/**
 * Average pooling of [batch?, channels, …]. Invariant: sums and their divisors are separate ops, so that gradients
 * share them.
 */
import { DynError } from "../../base/errors.ts";
import { isFloat } from "../../base/dtype.ts";
import { add, type Dim, mul, product, sub } from "../../sym/expr.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import type { Body, Lowered } from "../../loops/body.ts";
import { FUNCTIONAL, INTERNAL } from "../definition.ts";
import { nullable, optional, required } from "../params.ts";
import { castTo } from "../promotion.ts";
import { elements, t } from "../pointwise.ts";
import {
  checkPooled,
  gatherWindows,
  inWindow,
  pooledSizes,
  windowParams,
  type Windows,
  windowsOf,
} from "./windows.ts";
import { composeWideOp, lowerWideOp } from "../wide.ts";

/** The number of elements of a window inside the padded input, or inside the input. */
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
  kernel: required("counts"),
  stride: required("counts"),
  padding: required("counts"),
  ceilMode: required("bool"),
} as const;

const undilated = (w: Omit<Windows, "dilation">): Windows => ({ ...w, dilation: w.kernel.map(() => 1) });

const windowSum = lowerWideOp({
  name: "windowSum",
  doc: "The sum of each window over the last dimensions.",
  params: { self: required("tensor"), ...avgParams },
  exposure: INTERNAL,
  infer: ({ self, ...args }) =>
    contiguousMeta(pooledSizes(self.shape, undilated(args)), self.dtype, self.device),
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
  gradient: {
    saves: [],
    single: (o, grad, { args: { self, kernel, stride, padding, ceilMode } }) => ({
      self: o.windowSumBackward(grad, self.shape, kernel, stride, padding, ceilMode),
    }),
  },
  samples: [{ args: [t(2, 5, 6), [2, 3], [2, 2], [1, 1], false] }],
});

const windowSumBackward = lowerWideOp({
  name: "windowSumBackward",
  doc: "Gradients of windows given to each of their elements.",
  params: { grad: required("tensor"), inputSizes: required("sizes"), ...avgParams },
  exposure: INTERNAL,
  infer: ({ grad, inputSizes }) => contiguousMeta(inputSizes, grad.dtype, grad.device),
  lower({ grad, inputSizes: _sizes, ...args }, [result]) {
    if (!result) return [];
    const windows = undilated(args);
    return gatherWindows(result, {
      windows,
      pooled: grad.shape,
      part: (o, window) => o.load(grad, window),
    });
  },
  gradient: {
    saves: [],
    single: (o, grad, { args: { kernel, stride, padding, ceilMode } }) => ({
      grad: o.windowSum(grad, kernel, stride, padding, ceilMode),
    }),
  },
  samples: [{ args: [t(2, 3, 3), [2, 5, 6], [2, 3], [2, 2], [1, 1], false] }],
});

const windowSizes = lowerWideOp({
  name: "windowSizes",
  doc: "The number of elements of the (padded) input in each window over the last dimensions.",
  params: { self: required("tensor"), ...avgParams, countIncludePad: required("bool") },
  exposure: INTERNAL,
  infer({ self, countIncludePad: _count, ...args }) {
    const windows = undilated(args), rank = windows.kernel.length;
    return contiguousMeta(pooledSizes(self.shape.slice(-rank), windows), self.dtype, self.device);
  },
  lower({ self, countIncludePad, ...args }, [result]): Lowered[] {
    if (!result) return [];
    const windows = undilated(args), sizes = self.shape.slice(-windows.kernel.length);
    return elements(
      result,
      (o, window) => castTo(o, windowSize(o, window, { sizes, windows, countIncludePad }), result.dtype),
    );
  },
  gradient: { kind: "none", because: "it reads no elements" },
  samples: [{ args: [t(2, 5, 6), [2, 3], [2, 2], [1, 1], false, false] }],
});

/** avgPool1d, avgPool2d, avgPool3d. */
function averagePool(rank: 1 | 2 | 3) {
  const name = `avgPool${rank}d`, image = [2, 3, ...[5, 6, 4].slice(0, rank)];
  return composeWideOp({
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
      if (divisorOverride === 0) throw new DynError("Expected a nonzero divisorOverride but found 0");
      if (!isFloat(self.dtype) && self.dtype !== "int64") {
        throw new DynError(`Expected floats or int64 to average but found ${self.dtype}`);
      }
      return contiguousMeta(pooledSizes(self.shape, windowsOf(args, rank)), self.dtype, self.device);
    },
    compose(o, { self, countIncludePad, divisorOverride, ...args }) {
      const { kernel, stride, padding, ceilMode } = windowsOf(args, rank);
      const sums = o.windowSum(self, kernel, stride, padding, ceilMode);
      const whole = !ceilMode && (countIncludePad || padding.every((p) => p === 0));
      const count = divisorOverride ??
        (whole
          ? product(kernel)
          : o.windowSizes(o.detach(self), kernel, stride, padding, ceilMode, countIncludePad));
      return isFloat(self.dtype) ? o.div(sums, count) : o.div(sums, count, { roundingMode: "trunc" });
    },
    samples: [
      { args: [t(...image), 2] },
      { args: [t(...image), 3], options: { stride: 2, padding: 1, countIncludePad: false } },
    ],
  });
}

export const averagePooling = {
  windowSum,
  windowSumBackward,
  windowSizes,
  avgPool1d: averagePool(1),
  avgPool2d: averagePool(2),
  avgPool3d: averagePool(3),
} as const;
