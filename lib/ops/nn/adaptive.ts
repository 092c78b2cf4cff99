/**
 * Pooling to a given output size: window i of n covers [⌊i·size/n⌋, ⌈(i+1)·size/n⌉). Invariant: means and maxima pool
 * one dimension after the other; positions of maxima pool all dimensions at once.
 */
import { DynError } from "../../base/errors.ts";
import { add, ceilDiv, type Dim, floorDiv, max, min, mod, mul, product, sub, Sym } from "../../sym/expr.ts";
import { isAtMost, isEqual, isLess, sizeText } from "../../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { Body, Lowered } from "../../loops/body.ts";
import { FUNCTIONAL, INTERNAL, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, optional, required } from "../params.ts";
import { castTo } from "../promotion.ts";
import { checkCategory, elements, t } from "../pointwise.ts";
import { maximaOf } from "./max_pooling.ts";
import { checkPooled, type Windows, windowsOf } from "./windows.ts";
import { within } from "../shape/scatter_views.ts";
import { checkSizeAtLeast, flatIndex, sameShape, shapeText, withSize } from "../shapes.ts";
import { composeWideOp, lowerWideOp } from "../wide.ts";

const startOf = (i: Dim, size: Dim, count: Dim): Dim => floorDiv(mul(i, size), count);
const endOf = (i: Dim, size: Dim, count: Dim): Dim => ceilDiv(mul(add(i, 1), size), count);

/** Returns whether all windows have the same size, so that none overlap. Symbolic sizes guard the answer. */
const areEqual = (size: Dim, count: Dim): boolean => count === 1 || isEqual(mod(size, max(1, count)), 0);

/** The maximum number of elements of a window. */
function widest(size: Dim, count: Dim): Dim {
  return areEqual(size, count) ? floorDiv(size, max(1, count)) : add(ceilDiv(size, count), 1);
}

/** The output sizes of a call: null keeps a size. */
function outputSizes(self: TensorLike, given: Dim | readonly (Dim | null)[], rank: number): Dim[] {
  const spatial = self.shape.slice(-rank);
  const list = typeof given === "number" || given instanceof Sym ? new Array<Dim>(rank).fill(given) : given;
  if (list.length !== rank && list.length !== 1) {
    throw new DynError(`Expected ${rank} output sizes but found ${list.length}`);
  }
  return spatial.map((size, d) => {
    const count = list[list.length === 1 ? 0 : d] ?? size;
    checkSizeAtLeast("output sizes", count, 0);
    return count;
  });
}

/** A dimension counted from the front. */
const axisOf = (self: { readonly shape: readonly Dim[] }, dim: number): number =>
  dim < 0 ? dim + self.shape.length : dim;

const adaptiveSum = lowerWideOp({
  name: "adaptiveSum",
  doc: "Sums of the `count` windows that cover a dimension.",
  params: { self: required("tensor"), dim: required("int"), count: required("size") },
  exposure: INTERNAL,
  infer: ({ self, dim, count }) =>
    contiguousMeta(withSize(self.shape, axisOf(self, dim), count), self.dtype, self.device),
  lower({ self, dim, count }, [result]): Lowered[] {
    if (!result) return [];
    const at = axisOf(self, dim), size = self.shape[at] ?? 1, { dtype } = result;
    const isExact = areEqual(size, count);
    return [{
      kind: "reduction",
      shape: result.shape,
      dtype,
      op: "sum",
      over: [widest(size, count)],
      accumulator: dtype,
      element(o, index, [k]) {
        const i = index[at] ?? 0, place = add(startOf(i, size, count), k ?? 0);
        const read = () => o.load(self, withSize(index, at, place));
        if (isExact) return read();
        return o.masked(within(o, place, 0, endOf(i, size, count)), read, o.constant(0, dtype));
      },
    }];
  },
  gradient: {
    kind: "rule",
    saves: [],
    rule: (o, { args: { self, dim }, grads: [grad] }) => {
      const at = axisOf(self, dim);
      return grad ? { self: o.adaptiveSumBackward(grad, at, self.shape[at] ?? 1) } : {};
    },
  },
  samples: [{ args: [t(2, 5), 1, 3] }, { args: [t(2, 6), 1, 3] }],
});

const adaptiveSumBackward = lowerWideOp({
  name: "adaptiveSumBackward",
  doc: "Gradients of windows given to each of their elements along a dimension of `size`.",
  params: { grad: required("tensor"), dim: required("int"), size: required("size") },
  exposure: INTERNAL,
  infer: ({ grad, dim, size }) => contiguousMeta(withSize(grad.shape, dim, size), grad.dtype, grad.device),
  lower({ grad, dim, size }, [result]): Lowered[] {
    if (!result) return [];
    const count = grad.shape[dim] ?? 1, { dtype } = result;
    return [{
      kind: "reduction",
      shape: result.shape,
      dtype,
      op: "sum",
      over: [isAtMost(count, size) ? 2 : add(ceilDiv(count, size), 1)],
      accumulator: dtype,
      element(o, index, [k]) {
        const place = index[dim] ?? 0, i = add(floorDiv(mul(place, count), size), k ?? 0);
        const past = floorDiv(add(mul(add(place, 1), count), -1), size);
        const read = () => o.load(grad, withSize(index, dim, i));
        return o.masked(within(o, i, 0, add(past, 1)), read, o.constant(0, dtype));
      },
    }];
  },
  gradient: {
    saves: [],
    single: (o, grad, { args: { grad: g, dim } }) => ({
      grad: o.adaptiveSum(grad, dim, g.shape[dim] ?? 1),
    }),
  },
  samples: [{ args: [t(2, 3), 1, 5] }],
});

const windowLengths = lowerWideOp({
  name: "windowLengths",
  doc: "The number of elements of each of `count` windows that cover `size`.",
  params: { like: required("tensor"), size: required("size"), count: required("size") },
  exposure: INTERNAL,
  infer: ({ like, count }) => contiguousMeta([count], like.dtype, like.device),
  lower: ({ size, count }, [result]) =>
    elements(result, (o, [i = 0]) => {
      const length = o.index(sub(endOf(i, size, count), startOf(i, size, count)), "int64");
      return castTo(o, length, result?.dtype ?? "int64");
    }),
  gradient: { kind: "none", because: "it reads no elements" },
  samples: [{ args: [t(1), 5, 3] }],
});

/** Means along one dimension. */
function meanAlong<T extends TensorLike>(o: OpApi<T>, x: T, at: { dim: number; count: Dim }): T {
  const size = x.shape[at.dim] ?? 1;
  if (isEqual(size, at.count)) return x;
  const sums = o.adaptiveSum(x, at.dim, at.count);
  if (areEqual(size, at.count)) return o.div(sums, floorDiv(size, max(1, at.count)));
  const lengths = o.windowLengths(o.detach(x), size, at.count);
  return o.div(sums, o.reshape(lengths, x.shape.map((_, d) => d === at.dim ? at.count : 1)));
}

/** adaptiveAvgPool1d, 2d, 3d. */
function adaptiveAverage(rank: 1 | 2 | 3) {
  const name = `adaptiveAvgPool${rank}d`, image = [2, 3, ...[5, 6, 4].slice(0, rank)];
  return composeWideOp({
    name,
    doc: `Means of windows that cover ${rank} dimension(s), so many as the output size says, as ` +
      `\`nn.functional.adaptive_avg_pool${rank}d\`.`,
    params: { self: required("tensor"), outputSize: required("outputSizes") },
    exposure: FUNCTIONAL,
    infer({ self, outputSize }) {
      checkPooled(name, self, rank);
      checkCategory(name, self.dtype, ["float"]);
      const lead = self.shape.slice(0, -rank);
      return contiguousMeta([...lead, ...outputSizes(self, outputSize, rank)], self.dtype, self.device);
    },
    compose(o, { self, outputSize }) {
      const sizes = outputSizes(self, outputSize, rank), lead = self.shape.length - rank;
      if (sizes.every((s) => s === 1)) return o.mean(self, sizes.map((_, d) => lead + d), true);
      const means = sizes.reduce((x, count, d) => meanAlong(o, x, { dim: lead + d, count }), self);
      return means === self ? o.clone(self) : means;
    },
    samples: [{ args: [t(...image), 1] }, { args: [t(...image), 3] }],
    errors: [{ args: [t(2), 1], message: "dimensions" }],
  });
}

const adaptiveMax = lowerWideOp({
  name: "adaptiveMax",
  doc: "Maxima of the `count` windows that cover a dimension.",
  params: { self: required("tensor"), dim: required("int"), count: required("size") },
  exposure: INTERNAL,
  infer: ({ self, dim, count }) =>
    contiguousMeta(withSize(self.shape, axisOf(self, dim), count), self.dtype, self.device),
  lower({ self, dim, count }, [result]): Lowered[] {
    if (!result) return [];
    const at = axisOf(self, dim), size = self.shape[at] ?? 1, { dtype } = result;
    const isExact = areEqual(size, count);
    return [{
      kind: "reduction",
      shape: result.shape,
      dtype,
      op: "max",
      over: [widest(size, count)],
      accumulator: dtype,
      element(o, index, [k]) {
        const i = index[at] ?? 0, place = add(startOf(i, size, count), k ?? 0);
        // Repeating the last element changes no maximum, and needs no condition
        const last = sub(endOf(i, size, count), 1);
        return o.load(self, withSize(index, at, isExact ? place : min(place, last)));
      },
    }];
  },
  gradient: { kind: "none", because: "adaptiveMaxima says where its gradients go" },
  samples: [{ args: [t(2, 5), 1, 3] }, { args: [t(2, 6), 1, 3] }],
});

const adaptiveMaxima = composeWideOp({
  name: "adaptiveMaxima",
  doc: "Maxima of windows that cover the last dimensions, so many as `sizes` say.",
  params: { self: required("tensor"), sizes: required("sizes") },
  exposure: INTERNAL,
  infer: ({ self, sizes }) =>
    contiguousMeta([...self.shape.slice(0, -sizes.length), ...sizes], self.dtype, self.device),
  // The last dimension comes last, so that until then adjacent elements are read
  compose: (o, { self, sizes }) =>
    sizes.reduce((x, count, d) => o.adaptiveMax(x, self.shape.length - sizes.length + d, count), self),
  gradient: {
    saves: ["self"],
    single(o, grad, { args: { self, sizes } }) {
      const lead = self.shape.slice(0, -sizes.length), count = product(sizes);
      const size = self.shape.slice(-sizes.length).reduce<Dim>(mul, 1);
      const rows = (x: typeof self) => o.reshape(x, [...lead, count]);
      const indices = o.adaptiveMaxIndices(o.detach(self), sizes);
      const sent = o.scatterAdd(o.newZeros(grad, [...lead, size]), -1, rows(indices), rows(grad));
      return { self: o.reshape(sent, self.shape) };
    },
  },
  samples: [{ args: [t(2, 5, 4), [3, 3]] }],
});

const adaptiveMaxIndices = composeWideOp({
  name: "adaptiveMaxIndices",
  doc: "For each window over the last dimensions the flat index of its maximum among them.",
  params: { self: required("tensor"), sizes: required("sizes") },
  exposure: INTERNAL,
  infer({ self, sizes }) {
    return contiguousMeta([...self.shape.slice(0, -sizes.length), ...sizes], "int64", self.device);
  },
  compose(o, { self, sizes }) {
    const rank = sizes.length, lead = self.shape.length - rank;
    const spatial = self.shape.slice(lead);
    const kernel = spatial.map((size, d) => widest(size, sizes[d] ?? 1));
    let rest = o.adaptiveMaxOffsets(self, sizes, kernel), flat: typeof self | null = null, scale: Dim = 1;
    for (let d = rank - 1; d >= 0; d--) {
      const count = sizes[d] ?? 1, size = spatial[d] ?? 1, width = kernel[d] ?? 1;
      const starts = o.floorDivide(o.mul(o.arange(count, { device: self.device }), size), count);
      const inside = d === 0 ? rest : o.remainder(rest, width);
      const shape = sizes.map((s, e) => e === d ? s : 1);
      const part = o.mul(o.add(inside, o.reshape(starts, shape)), scale);
      flat = flat ? o.add(flat, part) : part;
      scale = mul(scale, size);
      rest = o.floorDivide(rest, width);
    }
    return flat ?? rest;
  },
  gradient: { kind: "none", because: "its result is made of indices" },
  samples: [{ args: [t(2, 5), [3]] }],
});

const adaptiveMaxOffsets = lowerWideOp({
  name: "adaptiveMaxOffsets",
  doc: "For each window over the last dimensions the flat place of its maximum in a window of `kernel`.",
  params: { self: required("tensor"), sizes: required("sizes"), kernel: required("sizes") },
  exposure: INTERNAL,
  infer: ({ self, sizes }) =>
    contiguousMeta([...self.shape.slice(0, -sizes.length), ...sizes], "int64", self.device),
  lower({ self, sizes, kernel }, [result]): Lowered[] {
    if (!result) return [];
    const lead = self.shape.length - sizes.length;
    return [{
      kind: "reduction",
      shape: result.shape,
      dtype: "int64",
      op: "argmax",
      over: kernel,
      accumulator: self.dtype,
      position: (offset) => flatIndex(offset, kernel),
      element<V>(o: Body<V>, index: readonly Dim[], offset: readonly Dim[]): V {
        let inside: V | undefined;
        const source = index.map((i, d) => {
          if (d < lead) return i;
          const size = self.shape[d] ?? 1, count = sizes[d - lead] ?? 1;
          const place = add(startOf(i, size, count), offset[d - lead] ?? 0);
          const here = within(o, place, 0, endOf(i, size, count));
          inside = inside === undefined ? here : o.and(inside, here);
          return place;
        });
        const read = () => o.load(self, source);
        return inside === undefined ? read() : o.masked(inside, read, o.constant(-Infinity, self.dtype));
      },
    }];
  },
  gradient: { kind: "none", because: "its result is made of indices" },
  samples: [{ args: [t(2, 5), [3], [3]] }],
});

/** The windows of a call, if all have the same known size, so that none overlap. */
function equalWindows(self: TensorLike, sizes: readonly Dim[]): Windows | undefined {
  const rank = sizes.length, spatial = self.shape.slice(-rank);
  const kernel = spatial.map((size, d) => {
    const count = sizes[d] ?? 1;
    return typeof size === "number" && typeof count === "number" ? size / count : NaN;
  });
  if (!kernel.every((size) => Number.isInteger(size) && size > 0)) return undefined;
  const all = (value: number) => new Array<number>(rank).fill(value);
  return { kernel, stride: kernel, padding: all(0), dilation: all(1), ceilMode: false };
}

/** adaptiveMaxPool1d, 2d, 3d. */
function adaptiveMaximum(rank: 1 | 2 | 3) {
  const name = `adaptiveMaxPool${rank}d`, image = [2, 3, ...[5, 6, 4].slice(0, rank)];
  return composeWideOp({
    name,
    doc: `Maxima of windows that cover ${rank} dimension(s), so many as the output size says, as ` +
      `\`nn.functional.adaptive_max_pool${rank}d\`.`,
    params: {
      self: required("tensor"),
      outputSize: required("outputSizes"),
      returnIndices: optional("bool", false),
    },
    results: ["values", "indices"],
    resultsIf: "returnIndices",
    exposure: FUNCTIONAL,
    infer({ self, outputSize, returnIndices }) {
      checkPooled(name, self, rank);
      checkCategory(name, self.dtype, ["float"]);
      const shape = [...self.shape.slice(0, -rank), ...outputSizes(self, outputSize, rank)];
      const values: TensorMeta = contiguousMeta(shape, self.dtype, self.device);
      return returnIndices ? [values, contiguousMeta(shape, "int64", self.device)] : values;
    },
    compose(o, { self, outputSize, returnIndices }) {
      const sizes = outputSizes(self, outputSize, rank), lead = self.shape.slice(0, -rank);
      const equal = equalWindows(self, sizes);
      if (equal) {
        const { values, indices } = maximaOf(o, self, equal);
        return returnIndices ? [values, indices()] : values;
      }
      const count = product(sizes);
      if (isEqual(count, 0)) {
        const none = o.narrow(o.reshape(self, [...lead, product(self.shape.slice(-rank))]), -1, 0, 0);
        const values = o.reshape(none, [...lead, ...sizes]);
        if (!returnIndices) return values;
        return [values, o.zeros([...lead, ...sizes], { dtype: "int64", device: self.device })];
      }
      if (!returnIndices && isLess(0, count)) return o.adaptiveMaxima(self, sizes);
      const indices = o.adaptiveMaxIndices(o.detach(self), sizes);
      const size = self.shape.slice(-rank).reduce<Dim>(mul, 1);
      const flat = o.gather(o.reshape(self, [...lead, size]), -1, o.reshape(indices, [...lead, count]));
      const values = o.reshape(flat, indices.shape);
      return returnIndices ? [values, indices] : values;
    },
    samples: [
      { args: [t(...image), 3] },
      { args: [t(...image), 2, true] },
      { args: [t(...image), 0, true] },
    ],
  });
}

/** maxUnpool1d, 2d, 3d: values at the positions of the maxima. */
function maxUnpool(rank: 1 | 2 | 3) {
  const name = `maxUnpool${rank}d`;
  return composeWideOp({
    name,
    doc:
      `Values at the indices that maxPool${rank}d returned, zeros elsewhere, as \`nn.functional.max_unpool${rank}d\`.`,
    params: {
      self: required("tensor"),
      indices: required("tensor"),
      kernelSize: required("sizeOrSizes"),
      stride: nullable("sizeOrSizes"),
      padding: optional("sizeOrSizes", 0),
      outputSize: nullable("counts"),
    },
    exposure: FUNCTIONAL,
    infer({ self, indices, ...args }) {
      if (!sameShape(self.shape, indices.shape)) {
        throw new DynError(
          `Expected indices of shape ${shapeText(self.shape)} but found ${shapeText(indices.shape)}`,
        );
      }
      if (indices.dtype !== "int64") {
        throw new DynError(`Expected indices of type int64 but found ${indices.dtype}`);
      }
      checkPooled(name, self, rank);
      return contiguousMeta(
        [...self.shape.slice(0, -rank), ...unpooled(self, args, rank)],
        self.dtype,
        self.device,
      );
    },
    compose(o, { self, indices, ...args }) {
      const sizes = unpooled(self, args, rank), lead = self.shape.slice(0, -rank);
      const count = sizes.reduce<Dim>(mul, 1), own = self.shape.slice(-rank).reduce<Dim>(mul, 1);
      const flat = o.scatter(
        o.newZeros(self, [...lead, count]),
        -1,
        o.reshape(indices, [...lead, own]),
        o.reshape(self, [...lead, own]),
      );
      return o.reshape(flat, [...lead, ...sizes]);
    },
    samples: [{
      args: [t(1, 1, ...new Array<number>(rank).fill(2)), {
        tensor: [1, 1, ...new Array<number>(rank).fill(2)],
        dtype: "int64",
        range: [0, 2 ** rank],
      }, 2],
    }],
    errors: [{
      args: [
        t(1, 1, ...new Array<number>(rank).fill(2)),
        { tensor: [1, 1, ...new Array<number>(rank).fill(2)], dtype: "int64", range: [0, 1] },
        new Array<number>(rank + 1).fill(2),
      ],
      message: "kernelSize",
    }],
  });
}

function unpooled(
  self: TensorLike,
  args: {
    readonly kernelSize: Dim | readonly Dim[];
    readonly stride: Dim | readonly Dim[] | null;
    readonly padding: Dim | readonly Dim[];
    readonly outputSize: readonly Dim[] | null;
  },
  rank: number,
): Dim[] {
  const { outputSize } = args,
    { kernel, stride: steps, padding } = windowsOf({ ...args, ceilMode: false }, rank);
  if (outputSize && outputSize.length !== rank && outputSize.length !== rank + 2) {
    throw new DynError(
      `Expected ${rank} or ${rank + 2} sizes for outputSize but found ${shapeText(outputSize)}`,
    );
  }
  return self.shape.slice(-rank).map((size, d) => {
    const stride = steps[d] ?? 1;
    checkSizeAtLeast("stride", stride, 1);
    const natural = add(mul(sub(size, 1), stride), sub(kernel[d] ?? 1, mul(2, padding[d] ?? 0)));
    const wanted = outputSize?.at(d - rank);
    if (wanted === undefined) return natural;
    if (isLess(sub(natural, stride), wanted) && isLess(wanted, add(natural, stride))) return wanted;
    throw new DynError(
      `Expected an outputSize less than ${sizeText(stride)} from ${sizeText(natural)} but found ${
        sizeText(wanted)
      }`,
    );
  });
}

export const adaptivePooling = {
  adaptiveSum,
  adaptiveSumBackward,
  windowLengths,
  adaptiveAvgPool1d: adaptiveAverage(1),
  adaptiveAvgPool2d: adaptiveAverage(2),
  adaptiveAvgPool3d: adaptiveAverage(3),
  adaptiveMax,
  adaptiveMaxima,
  adaptiveMaxOffsets,
  adaptiveMaxIndices,
  adaptiveMaxPool1d: adaptiveMaximum(1),
  adaptiveMaxPool2d: adaptiveMaximum(2),
  adaptiveMaxPool3d: adaptiveMaximum(3),
  maxUnpool1d: maxUnpool(1),
  maxUnpool2d: maxUnpool(2),
  maxUnpool3d: maxUnpool(3),
} as const;
