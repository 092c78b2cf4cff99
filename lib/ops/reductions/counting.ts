/**
 * Counting and choosing: extremes of both kinds, most frequent elements, histograms, combinations. Invariant:
 * compositions where sizes are known; others run on the host.
 */
import { checkAtLeast } from "../../base/checked_numbers.ts";
import { DynError } from "../../base/errors.ts";
import { isEqual, isLess } from "../../sym/decide.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { composeOp, hostOp } from "../definition.ts";
import { nullable, optional, required } from "../params.ts";
import { checkCount, hostTensor } from "../host.ts";
import { checkIndex } from "../indexing/indexing.ts";
import { t } from "../pointwise.ts";
import { knownSize, normalizeDim, reducedDims, reducedShape, shapeText } from "../shapes.ts";

const LIST = { method: false } as const;

const aminmax = composeOp({
  name: "aminmax",
  doc: "The minimum and the maximum of all elements or along a dimension, as `torch.aminmax`.",
  params: {
    self: required("tensor"),
    dim: nullable("int", { keyword: true }),
    keepdim: optional("bool", false, { keyword: true }),
  },
  results: ["min", "max"],
  infer({ self, dim, keepdim }) {
    const dims = reducedDims(dim, self.shape.length);
    if (dims.some((d) => isEqual(self.shape[d] ?? 1, 0))) {
      throw new DynError(
        `Expected aminmax over at least one element but found shape ${shapeText(self.shape)}`,
      );
    }
    const shape = dim === null ? [] : reducedShape(self.shape, dims, keepdim);
    const meta = contiguousMeta(
      keepdim ? reducedShape(self.shape, dims, true) : shape,
      self.dtype,
      self.device,
    );
    return [meta, meta];
  },
  compose(o, { self, dim, keepdim }) {
    const dims = reducedDims(dim, self.shape.length);
    return [o.amin(self, dims, keepdim), o.amax(self, dims, keepdim)];
  },
  samples: [{ args: [t(3, 4)] }, { args: [t(3, 4)], options: { dim: 1 } }],
});

const mode = composeOp({
  name: "mode",
  doc:
    "The most frequent element along a dimension, the least where several are, and its last index. As `torch.mode`.",
  params: { self: required("tensor"), dim: optional("int", -1), keepdim: optional("bool", false) },
  results: ["values", "indices"],
  infer({ self, dim, keepdim }) {
    const at = normalizeDim(dim, self.shape.length);
    const shape = self.shape.length === 0 ? [] : reducedShape(self.shape, [at], keepdim);
    return [contiguousMeta(shape, self.dtype, self.device), contiguousMeta(shape, "int64", self.device)];
  },
  compose(o, { self, dim, keepdim }) {
    if (self.shape.length === 0) return [o.clone(self), o.zerosLike(self, { dtype: "int64" })];
    const at = normalizeDim(dim, self.shape.length);
    const plain = o.detach(self);
    // Count each element along the dimension, then pick the least of the most frequent; the last occurrence is
    // returned
    const rows = o.movedim(plain, at, -1);
    const counts = o.sum(o.eq(o.unsqueeze(rows, -1), o.unsqueeze(rows, -2)), -1);
    const frequent = o.eq(counts, o.amax(counts, [-1], true));
    const [, order] = o.sort(rows, -1);
    const sortedFrequent = o.gather(frequent, -1, order);
    const first = o.gather(order, -1, o.argmax(o.to(sortedFrequent, "uint8"), -1, true));
    const least = o.gather(rows, -1, first);
    const positions = o.arange(rows.shape.at(-1) ?? 1, { device: self.device });
    const index = o.amax(o.where(o.eq(rows, least), positions, 0), [-1], true);
    const indices = o.movedim(index, -1, at), values = o.gather(self, at, indices);
    return keepdim ? [values, indices] : [o.squeeze(values, at), o.squeeze(indices, at)];
  },
  samples: [{ args: [{ tensor: [3, 4], dtype: "int64", range: [0, 3] }] }],
});

const histc = hostOp({
  name: "histc",
  doc: "The number of elements in each of `bins` equal parts of [min, max], as `torch.histc`.",
  params: {
    self: required("tensor"),
    bins: optional("size", 100),
    min: optional("float", 0),
    max: optional("float", 0),
  },
  infer({ self, bins, min, max }) {
    if (isLess(bins, 1)) checkAtLeast("the number of bins", knownSize(bins), 1);
    checkCount("histc", bins);
    if (max < min) throw new DynError(`Expected min at most max but found ${min} and ${max}`);
    if (self.dtype === "bool") throw new DynError("Expected numbers for histc but found bool");
    return contiguousMeta([bins], self.dtype, self.device);
  },
  compute({ self, bins: size, min, max }) {
    const bins = knownSize(size);
    const values = Array.from(self.data, Number);
    let [low, high] = [min, max];
    if (low === high && values.length > 0) [low, high] = [Math.min(...values), Math.max(...values)];
    if (!Number.isFinite(low) || !Number.isFinite(high)) {
      throw new DynError(`Expected finite elements to count but found a range from ${low} to ${high}`);
    }
    if (low === high) [low, high] = [low - 1, high + 1];
    const counts = new Float64Array(bins);
    for (const v of values) {
      if (!(v >= low && v <= high)) continue;
      const bin = Math.min(bins - 1, Math.floor((v - low) / (high - low) * bins));
      counts[bin] = (counts[bin] ?? 0) + 1;
    }
    return [hostTensor([bins], self.dtype, counts)];
  },
  gradient: { kind: "none", because: "its result counts" },
  samples: [{ args: [t(6), 3, -2, 2] }],
  errors: [
    { args: [t(3), 0], message: "at least 1" },
    { args: [{ tensor: [3], dtype: "bool" }], message: "numbers for histc but found bool" },
  ],
});

const unravelIndex = composeOp({
  name: "unravelIndex",
  doc: "Flat indices as one index for each dimension of a shape, as `torch.unravel_index`.",
  params: { indices: required("tensor"), shape: required("ints") },
  resultList: true,
  exposure: LIST,
  infer({ indices, shape }) {
    checkIndex("unravelIndex", indices);
    if (shape.some((s) => s < 0)) {
      throw new DynError(`Expected non-negative sizes but found [${shape}]`);
    }
    return shape.map(() => contiguousMeta(indices.shape, "int64", indices.device));
  },
  compose(o, { indices, shape }) {
    let rest = o.to(indices, "int64");
    const out: (typeof indices)[] = [];
    for (let d = shape.length - 1; d >= 0; d--) {
      out.unshift(o.remainder(rest, shape[d] ?? 1));
      rest = o.floorDivide(rest, shape[d] ?? 1);
    }
    return out;
  },
  gradient: { kind: "none", because: "its result is made of indices" },
  samples: [{ args: [{ tensor: [4], dtype: "int64", range: [0, 6] }, [2, 3]] }],
});

/** Returns the number of ways to choose r of n positions. Throws DynError when there are too many to list. */
function countChoices(n: number, r: number, repeat: boolean): number {
  const from = repeat ? Math.max(0, n + r - 1) : n;
  if (from < r) return 0;
  let count = 1;
  for (let k = 1; k <= r; k++) {
    count = count * (from - r + k) / k;
    checkCount(`choices of ${r} out of ${n}`, count * r);
  }
  return count;
}

/** Combinations of r of n positions, in order, one after another. */
function choices(n: number, r: number, repeat: boolean): number[] {
  const found: number[] = [];
  const row = Array.from({ length: r }, (_, place) => repeat ? 0 : place);
  for (let left = countChoices(n, r, repeat); left > 0; left--) {
    found.push(...row);
    const last = row.findLastIndex((position, place) => position < (repeat ? n - 1 : n - r + place));
    const next = (row[last] ?? 0) + 1;
    for (let place = Math.max(0, last); place < r; place++) row[place] = repeat ? next : next + place - last;
  }
  return found;
}

const combinations = composeOp({
  name: "combinations",
  doc: "All choices of r elements of a vector, one a row, as `torch.combinations`.",
  params: { self: required("tensor"), r: optional("int", 2), withReplacement: optional("bool", false) },
  hostParts: true,
  infer({ self, r, withReplacement }) {
    if (self.shape.length !== 1) {
      throw new DynError(`Expected a vector but found shape ${shapeText(self.shape)}`);
    }
    checkAtLeast("r of combinations", r, 0);
    const n = knownSize(self.shape[0] ?? 1);
    const count = r === 0 ? 0 : countChoices(n, r, withReplacement);
    return contiguousMeta(r === 0 ? [0] : [count, r], self.dtype, self.device);
  },
  compose(o, { self, r, withReplacement }) {
    if (r === 0) return o.newEmpty(self, [0]);
    const indices = o.choiceIndices(knownSize(self.shape[0] ?? 1), r, withReplacement, {
      device: self.device,
    });
    return o.take(self, indices);
  },
  samples: [{ args: [t(4)] }, { args: [t(3), 2, true] }],
});

const choiceIndices = hostOp({
  name: "choiceIndices",
  doc: "All choices of r of n positions, one a row.",
  params: {
    n: required("int"),
    r: required("int"),
    repeat: required("bool"),
    device: nullable("device", { keyword: true }),
  },
  exposure: { method: false, free: false },
  infer: ({ n, r, repeat, device }) =>
    contiguousMeta([countChoices(n, r, repeat), r], "int64", device ?? "cpu"),
  compute({ n, r, repeat }) {
    return [hostTensor([countChoices(n, r, repeat), r], "int64", choices(n, r, repeat))];
  },
  gradient: { kind: "none", because: "its result is made of indices" },
  samples: [{ args: [4, 2, false] }],
});

export const counting = {
  aminmax,
  mode,
  histc,
  unravelIndex,
  combinations,
  choiceIndices,
} as const;
