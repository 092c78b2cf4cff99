/**
 * Histograms of one and several dimensions, optionally weighted. Invariant: a bin includes its lower edge, the last one
 * also its upper; values outside, and NaN, go to a bin that is dropped.
 */
import { DynError, invariant } from "../../base/errors.ts";
import { type Dim, product, sub } from "../../sym/expr.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { INTERNAL, type TensorLike } from "../definition.ts";
import { nullable, optional, required } from "../params.ts";
import { checkCategory, t } from "../pointwise.ts";
import { zeroUnless } from "../refusals.ts";
import { isTensor } from "../promotion.ts";
import { knownSize, sameShape, shapeText } from "../shapes.ts";
import { composeWideOp } from "../wide.ts";

const COUNTED = "it counts elements";

function checkRange(range: number | readonly number[] | null): void {
  if (range === null) return;
  const [low = NaN, high = NaN] = typeof range === "number" ? [] : range;
  if (!(low <= high) || !Number.isFinite(high - low)) {
    throw new DynError(`Expected a range of two numbers, the lower one first, but found [${range}]`);
  }
}

/** Returns the number of bins. Throws DynError if there are none, or if the edges are not a vector. */
function binCount(bins: number | TensorLike): Dim {
  if (typeof bins === "number") {
    if (bins > 0) return bins;
    throw new DynError(`Expected a positive number of bins but found ${bins}`);
  }
  const count = sub(bins.shape[0] ?? 0, 1);
  if (bins.shape.length !== 1 || knownSize(count) < 1) {
    throw new DynError(`Expected a vector of at least 2 edges of bins but found ${shapeText(bins.shape)}`);
  }
  return count;
}

const binEdges = composeWideOp({
  name: "binEdges",
  doc: "The edges of bins of equal width over a range, by default that of the elements.",
  params: { self: required("tensor"), bins: required("int"), range: nullable("floatOrFloats") },
  exposure: INTERNAL,
  infer({ self, bins, range }) {
    checkCategory("a histogram", self.dtype, ["float"]);
    binCount(bins);
    checkRange(range);
    return contiguousMeta([bins + 1], self.dtype, self.device);
  },
  compose(o, { self: given, bins, range }) {
    const self = o.detach(given);
    const steps = o.arange(bins + 1, { dtype: self.dtype, device: self.device });
    const [from = 0, to = 1] = typeof range === "number" || range === null ? [] : range;
    const number = (value: number) => o.full([], value, { dtype: self.dtype, device: self.device });
    const whole = range !== null || knownSize(product(self.shape)) === 0;
    const first = whole ? number(from) : o.amin(self), last = whole ? number(to) : o.amax(self);
    const flat = o.mul(o.to(o.eq(first, last), self.dtype), 0.5);
    let low = o.sub(first, flat);
    const high = o.add(last, flat);
    if (!whole) {
      const isFinite = o.logicalAnd(o.isfinite(first), o.isfinite(last));
      const expected = "elements in a finite range for a histogram but found NaN or infinite ones";
      low = o.add(low, o.squeeze(zeroUnless(o, o.logicalNot(isFinite), { like: self, expected })));
    }
    const inner = o.add(low, o.mul(o.div(o.sub(high, low), bins), steps));
    return o.where(o.eq(steps, bins), high, inner);
  },
  gradient: { kind: "none", because: COUNTED },
  samples: [{ args: [t(5), 3] }],
});

const binnedSums = composeWideOp({
  name: "binnedSums",
  doc: "The number of points [count, dimensions] in each cell between edges, or the sum of their weights.",
  params: {
    points: required("tensor"),
    edges: required("tensors"),
    weight: nullable("tensor"),
    density: required("bool"),
  },
  exposure: INTERNAL,
  infer({ points, edges, weight }) {
    const [count = 0, dims = 0] = points.shape;
    checkCategory("a histogram", points.dtype, ["float"]);
    if (knownSize(dims) !== edges.length) {
      throw new DynError(`Expected bins for each of ${dims} dimensions but found ${edges.length}`);
    }
    if (weight && (!sameShape(weight.shape, [count]) || weight.dtype !== points.dtype)) {
      throw new DynError(
        `Expected a weight of type ${points.dtype} for each element but found ${weight.dtype} of ${
          shapeText(weight.shape)
        }`,
      );
    }
    return contiguousMeta(edges.map(binCount), points.dtype, points.device);
  },
  compose(o, { points: given, edges: bounds, weight, density }) {
    const points = o.detach(given), edges = bounds.map((each) => o.detach(each));
    type T = typeof points;
    const shape = edges.map((each) => knownSize(binCount(each))), cells = shape.reduce((a, b) => a * b, 1);
    let cell: T | null = null, inside: T | null = null;
    edges.forEach((edge, d) => {
      const bins = shape[d] ?? 1, values = o.contiguous(o.select(points, 1, d));
      const first = o.select(edge, 0, 0), last = o.select(edge, 0, bins);
      const own = o.logicalAnd(o.ge(values, first), o.le(values, last));
      const bin = o.clamp(o.sub(o.searchsorted(edge, values, { right: true }), 1), 0, bins - 1);
      cell = cell ? o.add(o.mul(cell, bins), bin) : bin;
      inside = inside ? o.logicalAnd(inside, own) : own;
    });
    invariant(cell && inside, "Expected dimensions but found none");
    const amounts = weight ??
      o.ones([points.shape[0] ?? 0], { dtype: points.dtype, device: points.device });
    const sums = o.scatterAdd(o.newZeros(points, [cells + 1]), 0, o.where(inside, cell, cells), amounts);
    const counts = o.reshape(o.narrow(sums, 0, 0, cells), shape);
    if (!density) return counts;
    const shares = o.div(counts, o.sum(counts));
    return edges.reduce((sum, edge, d) => {
      const bins = shape[d] ?? 1, widths = o.sub(o.narrow(edge, 0, 1, bins), o.narrow(edge, 0, 0, bins));
      return o.div(sum, o.reshape(widths, shape.map((_, e) => e === d ? bins : 1)));
    }, shares);
  },
  gradient: { kind: "none", because: COUNTED },
  samples: [],
});

const histogram = composeWideOp({
  name: "histogram",
  doc:
    "The number of elements in each bin, and the bins' edges, as `torch.histogram`: `bins` of equal width over a range (by " +
    "default that of the elements), or between given edges.",
  params: {
    self: required("tensor"),
    bins: required("operand"),
    range: nullable("floatOrFloats", { keyword: true }),
    weight: nullable("tensor", { keyword: true }),
    density: optional("bool", false, { keyword: true }),
  },
  results: ["hist", "binEdges"],
  infer({ self, bins, range, weight }) {
    checkCategory("a histogram", self.dtype, ["float"]);
    if (weight && !sameShape(weight.shape, self.shape)) {
      throw new DynError(`Expected a weight for each element but found ${shapeText(weight.shape)}`);
    }
    checkRange(range);
    const count = knownSize(binCount(isTensor(bins) ? bins : Number(bins))),
      meta = (n: number) => contiguousMeta([n], self.dtype, self.device);
    return [meta(count), meta(count + 1)];
  },
  compose(o, { self, bins, range, weight, density }) {
    const edges = isTensor(bins) ? o.clone(o.detach(bins)) : o.binEdges(self, Number(bins), range);
    const points = o.reshape(self, [-1, 1]);
    return [o.binnedSums(points, [edges], weight && o.reshape(weight, [-1]), density), edges];
  },
  gradient: { kind: "none", because: COUNTED },
  samples: [{ args: [t(6), 3] }],
  errors: [{ args: [t(6), 0], message: "number of bins" }],
});

export const histograms = { binEdges, binnedSums, histogram } as const;
