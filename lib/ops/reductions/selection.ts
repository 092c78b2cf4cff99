/**
 * Sorting, and ops that follow from it. Invariant: the only primitive is a stable sort along the last dimension with
 * NaN greatest.
 */
import { checkShare } from "../../base/checked_numbers.ts";
import { DynError } from "../../base/errors.ts";
import { isFloat } from "../../base/dtype.ts";
import { type Dim, floorDiv, sub } from "../../sym/expr.ts";
import { isAtMost, isEqual, isLess, sizeText } from "../../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { Lowered, Operand } from "../../loops/body.ts";
import { composeOp, lowerOp, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, optional, required } from "../params.ts";
import { isTensor } from "../promotion.ts";
import { checkCategory, t } from "../pointwise.ts";
import { knownNumber, normalizeDim, reducedShape, shapeText, withSize } from "../shapes.ts";

const valuesAndIndices = (self: TensorMeta, shape: readonly Dim[]): TensorMeta[] => [
  contiguousMeta(shape, self.dtype, self.device),
  contiguousMeta(shape, "int64", self.device),
];

/** Scatters the gradient of selected elements to their positions. */
function scattered<T extends TensorLike>(o: OpApi<T>, { args: { self }, out: [, indices], grads: [grad] }: {
  readonly args: { readonly self: T };
  readonly out: readonly T[];
  readonly grads: readonly (T | null)[];
}): { readonly self?: T } {
  return grad && indices ? { self: o.scatterAdd(o.newZeros(grad, self.shape), -1, indices, grad) } : {};
}

/** The library's sort along the last dimension; results with fewer elements hold the first of each row. */
function sortCall(self: Operand, descending: boolean, out: readonly TensorMeta[]): Lowered[] {
  return [{
    kind: "extern",
    call: { op: "sort", descending },
    inputs: [self],
    outputs: out.map(({ shape, dtype }) => ({ shape, dtype })),
  }];
}

const sortLast = lowerOp({
  name: "sortLast",
  doc: "Sorted along the last dimension, stable, with indices.",
  params: { self: required("tensor"), descending: required("bool") },
  results: ["values", "indices"],
  exposure: { method: false, free: false },
  infer: ({ self }) => valuesAndIndices(self, self.shape),
  lower: ({ self, descending }, out) => sortCall(self, descending, out),
  gradient: { kind: "rule", saves: ["out"], rule: scattered },
  samples: [{ args: [t(3, 4), false] }, { args: [t(5), true] }],
});

const firstOfSorted = lowerOp({
  name: "firstOfSorted",
  doc: "The first `count` elements of the last dimension as `sortLast` orders it, with indices.",
  params: { self: required("tensor"), count: required("size"), descending: required("bool") },
  results: ["values", "indices"],
  exposure: { method: false, free: false },
  infer({ self, count }) {
    checkCount(count, self.shape.at(-1) ?? 1);
    return valuesAndIndices(self, withSize(self.shape, self.shape.length - 1, count));
  },
  lower: ({ self, descending }, out) => sortCall(self, descending, out),
  gradient: { kind: "rule", saves: ["out"], rule: scattered },
  samples: [{ args: [t(3, 40), 3, false] }, { args: [t(2, 20), 4, true] }, { args: [t(5), 5, true] }],
  errors: [{ args: [t(3), 4, false], message: "Expected k in [0, 3]" }],
});

/** Sorted along any dimension: moved last and back. */
function sorted<T extends TensorLike>(
  o: OpApi<T>,
  self: T,
  { dim, descending }: { dim: number; descending: boolean },
): [T, T] {
  if (self.shape.length === 0) return [o.clone(self), o.zerosLike(self, { dtype: "int64" })];
  const at = normalizeDim(dim, self.shape.length), last = at === self.shape.length - 1;
  const [values, indices] = o.sortLast(last ? self : o.movedim(self, at, -1), descending);
  return last ? [values, indices] : [o.movedim(values, -1, at), o.movedim(indices, -1, at)];
}

const sort = composeOp({
  name: "sort",
  doc: "Sorted along a dimension, with the original indices; always stable. As `torch.sort`.",
  params: {
    self: required("tensor"),
    dim: optional("int", -1),
    descending: optional("bool", false),
    stable: nullable("bool"),
  },
  results: ["values", "indices"],
  infer({ self, dim }) {
    normalizeDim(dim, self.shape.length);
    return valuesAndIndices(self, self.shape);
  },
  compose: (o, { self, dim, descending }) => sorted(o, self, { dim, descending }),
  samples: [{ args: [t(3, 4)] }, { args: [t(3, 4), 0, true] }],
  errors: [{ args: [t(3), 1], message: "Expected dim in [-1, 0]" }],
});

const argsort = composeOp({
  name: "argsort",
  doc: "The indices that sort a dimension, as `torch.argsort`.",
  params: {
    self: required("tensor"),
    dim: optional("int", -1),
    descending: optional("bool", false),
    stable: optional("bool", false),
  },
  infer({ self, dim }) {
    normalizeDim(dim, self.shape.length);
    return contiguousMeta(self.shape, "int64", self.device);
  },
  compose: (o, { self, dim, descending }) => sorted(o, o.detach(self), { dim, descending })[1],
  gradient: { kind: "none", because: "its result is made of indices" },
  samples: [{ args: [t(3, 4)] }, { args: [t(3, 4), 0, true] }],
});

const msort = composeOp({
  name: "msort",
  doc: "Sorted along the first dimension, as `torch.msort`.",
  params: { self: required("tensor") },
  infer: ({ self }) => contiguousMeta(self.shape, self.dtype, self.device),
  compose: (o, { self }) => sorted(o, self, { dim: 0, descending: false })[0],
  samples: [{ args: [t(3, 4)] }],
});

function checkCount(k: Dim, size: Dim): void {
  if (isLess(k, 0) || !isAtMost(k, size)) {
    throw new DynError(`Expected k in [0, ${sizeText(size)}] but found ${sizeText(k)}`);
  }
}

const topk = composeOp({
  name: "topk",
  doc:
    "The k largest (or smallest) elements along a dimension, in order, with their indices, as `torch.topk`.",
  params: {
    self: required("tensor"),
    k: required("size"),
    dim: optional("int", -1),
    largest: optional("bool", true),
    sorted: optional("bool", true),
  },
  results: ["values", "indices"],
  infer({ self, k, dim }) {
    const at = normalizeDim(dim, self.shape.length);
    checkCount(k, self.shape[at] ?? 1);
    return valuesAndIndices(self, withSize(self.shape, at, k));
  },
  compose(o, { self, k, dim, largest }) {
    if (self.shape.length === 0) return sorted(o, self, { dim, descending: largest });
    const at = normalizeDim(dim, self.shape.length), last = at === self.shape.length - 1;
    const rows = o.detach(self);
    const [, order] = o.firstOfSorted(last ? rows : o.movedim(rows, at, -1), k, largest);
    const indices = last ? order : o.movedim(order, -1, at);
    return [o.gather(self, at, indices), indices];
  },
  samples: [{ args: [t(3, 4), 2] }, { args: [t(3, 4), 2, 0, false] }],
  errors: [{ args: [t(3), 4], message: "Expected k in [0, 3]" }],
});

/** The element at a position of the sorted order along a dimension. */
function atPosition<T extends TensorLike>(
  o: OpApi<T>,
  self: T,
  at: { dim: number; position: Dim; keepdim: boolean },
): [T, T] {
  if (self.shape.length === 0) return [o.clone(self), o.zerosLike(self, { dtype: "int64" })];
  const { dim, position, keepdim } = at;
  const [, order] = sorted(o, o.detach(self), { dim, descending: false });
  const indices = o.narrow(order, dim, position, 1), values = o.gather(self, dim, indices);
  return keepdim ? [values, indices] : [o.squeeze(values, dim), o.squeeze(indices, dim)];
}

const kthvalue = composeOp({
  name: "kthvalue",
  doc: "The k-th smallest element (k from 1) along a dimension and its index, as `torch.kthvalue`.",
  params: {
    self: required("tensor"),
    k: required("size"),
    dim: optional("int", -1),
    keepdim: optional("bool", false),
  },
  results: ["values", "indices"],
  infer({ self, k, dim, keepdim }) {
    const at = normalizeDim(dim, self.shape.length), size = self.shape[at] ?? 1;
    if (isLess(k, 1) || !isAtMost(k, size)) {
      throw new DynError(`Expected k in [1, ${sizeText(size)}] but found ${sizeText(k)}`);
    }
    return valuesAndIndices(self, self.shape.length === 0 ? [] : reducedShape(self.shape, [at], keepdim));
  },
  compose: (o, { self, k, dim, keepdim }) => atPosition(o, self, { dim, position: sub(k, 1), keepdim }),
  samples: [{ args: [t(3, 4), 2] }],
  errors: [{ args: [t(3), 0], message: "Expected k in [1, 3]" }],
});

/** The lower middle element along a dimension (kept), and its index. */
function middleAlong<T extends TensorLike>(
  o: OpApi<T>,
  self: T,
  { dim, numbersOnly }: { readonly dim: number; readonly numbersOnly: boolean },
): [T, T] {
  const at = normalizeDim(dim, self.shape.length), size = self.shape[at] ?? 1;
  const [, order] = sorted(o, o.detach(self), { dim: at, descending: false });
  // NaN sorts last: it is the median if there is any, unless NaN is ignored
  const numbers = o.sum(o.logicalNot(o.isnan(self)), [at], true);
  const position = numbersOnly
    ? o.clamp(o.div(o.sub(numbers, 1), 2, { roundingMode: "floor" }), 0, null)
    : o.where(
      o.eq(numbers, size),
      o.fullLike(numbers, floorDiv(sub(size, 1), 2)),
      numbers,
    );
  const indices = o.gather(order, at, position);
  return [o.gather(self, at, indices), indices];
}

const medianOfAll = composeOp({
  name: "medianOfAll",
  doc: "The lower middle element of all; its gradient is shared by the elements that equal it.",
  params: { self: required("tensor"), numbersOnly: required("bool") },
  exposure: { method: false, free: false },
  infer: ({ self }) => contiguousMeta([], self.dtype, self.device),
  compose(o, { self, numbersOnly }) {
    if (self.shape.includes(0)) {
      return o.full([], isFloat(self.dtype) ? NaN : 0, { dtype: self.dtype, device: self.device });
    }
    const [value] = middleAlong(o, o.reshape(self, [-1]), { dim: 0, numbersOnly });
    return o.reshape(value, []);
  },
  gradient: {
    saves: ["self", "out"],
    single(o, grad, { args: { self }, out: [out] }) {
      if (!out) return {};
      const equal = o.logicalOr(o.eq(self, out), o.logicalAnd(o.isnan(self), o.isnan(out)));
      return { self: o.where(equal, o.div(grad, o.sum(equal)), 0) };
    },
  },
  samples: [{ args: [t(5), false] }, { args: [t(2, 3), true] }],
});

/** median and nanmedian: the lower of the two middle elements. */
function median(name: "median" | "nanmedian") {
  return composeOp({
    name,
    doc:
      `The lower middle element${name === "nanmedian" ? ", ignoring NaN" : ", NaN if there is one"}; with ` +
      `\`dim\` also its index. As \`torch.${name}\`.`,
    params: { self: required("tensor"), dim: nullable("int"), keepdim: optional("bool", false) },
    results: ["values", "indices"],
    resultsIf: "dim",
    infer({ self, dim, keepdim }) {
      checkCategory(name, self.dtype, ["integer", "float"]);
      if (dim === null) return contiguousMeta([], self.dtype, self.device);
      const at = normalizeDim(dim, self.shape.length);
      if (isEqual(self.shape[at] ?? 1, 0)) {
        throw new DynError(
          `Expected at least one element along dim ${dim} but found shape ${shapeText(self.shape)}`,
        );
      }
      return valuesAndIndices(self, self.shape.length === 0 ? [] : reducedShape(self.shape, [at], keepdim));
    },
    compose(o, { self, dim, keepdim }) {
      if (self.shape.length === 0) {
        const only = o.clone(self);
        return dim === null ? only : [only, o.zerosLike(self, { dtype: "int64" })];
      }
      if (dim === null) return o.medianOfAll(self, name === "nanmedian");
      const [values, indices] = middleAlong(o, self, { dim, numbersOnly: name === "nanmedian" });
      return keepdim ? [values, indices] : [o.squeeze(values, dim), o.squeeze(indices, dim)];
    },
    samples: [{ args: [t(5)] }, { args: [t(3, 4), 1] }, { args: [t(3, 4), 0, true] }],
  });
}

/** quantile and nanquantile by interpolation in the sorted order. */
function quantile(name: "quantile" | "nanquantile") {
  return composeOp({
    name,
    doc: `The q-quantiles of all elements or of a dimension, as \`torch.${name}\`.`,
    params: {
      self: required("tensor"),
      q: required("operand", { changes: { atLeast: 0, atMost: 1 } }),
      dim: nullable("int"),
      keepdim: optional("bool", false),
      interpolation: optional("string", "linear", {
        keyword: true,
        oneOf: ["linear", "lower", "higher", "midpoint", "nearest"],
      }),
    },
    checksNumbers: true,
    bounds: () => ({ q: [0, 1] }),
    infer({ self, q, dim, keepdim }) {
      checkCategory(name, self.dtype, ["float"]);
      if (isTensor(q) && (q.dtype !== self.dtype || q.shape.length > 1)) {
        throw new DynError(
          `Expected q of type ${self.dtype} in at most 1 dimension but found ${q.dtype} ${
            shapeText(q.shape)
          }`,
        );
      }
      if (typeof q === "number") checkShare("q", q);
      const dims = dim === null ? self.shape.map((_, d) => d) : [normalizeDim(dim, self.shape.length)];
      if (dims.some((d) => isEqual(self.shape[d] ?? 1, 0))) {
        throw new DynError("Expected at least one element but found none");
      }
      const rest = reducedShape(self.shape, dims, keepdim);
      return contiguousMeta([...isTensor(q) ? q.shape : [], ...rest], self.dtype, self.device);
    },
    compose(o, { self, q, dim, keepdim, interpolation }) {
      const rank = self.shape.length;
      const at = dim === null ? 0 : normalizeDim(dim, rank);
      const rows = dim === null || rank === 0 ? o.reshape(self, [-1]) : o.movedim(self, at, -1);
      const [order] = o.sortLast(rows, false), size = rows.shape.at(-1) ?? 1;
      const points = isTensor(q)
        ? o.reshape(q, [-1])
        : o.full([1], knownNumber(q), { dtype: self.dtype, device: self.device });
      const nans = o.any(o.isnan(rows), -1, true);
      const last = name === "nanquantile"
        ? o.sub(o.to(o.sum(o.logicalNot(o.isnan(rows)), [-1], true), self.dtype), 1)
        : o.full([1], sub(size, 1), { dtype: self.dtype, device: self.device });
      const spot = o.clamp(o.mul(points, last), 0, null);
      const position = o.expand(spot, [...rows.shape.slice(0, -1), points.shape[0] ?? 1]);
      const pick = (p: typeof self) => o.gather(order, -1, o.to(p, "int64"));
      const low = pick(o.floor(position)), high = pick(o.ceil(position));
      const between = () => {
        switch (interpolation) {
          case "lower":
            return low;
          case "higher":
            return high;
          case "midpoint":
            return o.lerp(low, high, 0.5);
          case "nearest":
            return pick(o.round(position));
          default:
            return o.lerp(low, high, o.sub(position, o.floor(position)));
        }
      };
      const found = name === "quantile" ? o.where(nans, NaN, between()) : between();
      const leading = o.movedim(found, -1, 0);
      const dims = dim === null ? self.shape.map((_, d) => d) : [at];
      const rest = reducedShape(self.shape, rank === 0 ? [] : dims, keepdim);
      return o.reshape(leading, [...isTensor(q) ? q.shape : [], ...rest]);
    },
    samples: [{ args: [t(5), 0.3] }, { args: [t(3, 4), 0.5, 1] }],
  });
}

export const selection = {
  sortLast,
  firstOfSorted,
  sort,
  argsort,
  msort,
  topk,
  kthvalue,
  medianOfAll,
  median: median("median"),
  nanmedian: median("nanmedian"),
  quantile: quantile("quantile"),
  nanquantile: quantile("nanquantile"),
} as const;
