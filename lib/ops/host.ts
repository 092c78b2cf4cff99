/**
 * Ops whose result sizes depend on elements: computed in host memory, between the kernels of a graph. Invariant:
 * results are fresh, row-major and ordered as in PyTorch.
 */
import { snakeCase } from "../base/names.ts";
import { checkAtLeast } from "../base/checked_numbers.ts";
import { numberArray } from "../base/bfloat16.ts";
import { type DType, type HostArray, isFloat } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { contiguousMeta } from "../graph/meta.ts";
import { isLess, sizeText } from "../sym/decide.ts";
import { type Dim, product } from "../sym/expr.ts";
import { composeOp, hostOp, type HostTensor } from "./definition.ts";
import { nullable, optional, required } from "./params.ts";
import { knownSize, normalizeDim, sameShape, shapeText } from "./shapes.ts";
import { t } from "./pointwise.ts";

/** A host tensor over values. */
export function hostTensor(
  shape: readonly number[],
  dtype: DType,
  values: ArrayLike<number | bigint>,
): HostTensor {
  const data = numberArray(dtype, values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? 0;
    // A bool is stored as 0 or 1
    setElement(data, i, dtype === "bool" ? Number(value != 0) : value);
  }
  return { shape, dtype, data };
}

/** Maximum number of elements of a result whose size is no operand's: a GiB of int64. */
const MOST_ELEMENTS = 2 ** 27;

/** Throws DynError if a result would have more elements than can be held. */
export function checkCount(name: string, count: Dim): void {
  if (isLess(MOST_ELEMENTS, count)) {
    throw new DynError(
      `Expected at most ${MOST_ELEMENTS} elements from ${name} but found ${sizeText(count)}`,
    );
  }
}

/** Writes a number into an array of any element type. */
function setElement(data: HostArray, at: number, value: number | bigint): void {
  if (data instanceof BigInt64Array) data[at] = BigInt(value);
  else data[at] = Number(value);
}

const unknown = (name: string) => (): never => {
  throw new DynError(`Expected a tensor with data for ${name} but found one with a shape only`);
};

const knownShape = (x: HostTensor): number[] => x.shape.map((s) => knownSize(s));

const nonzero = composeOp({
  name: "nonzero",
  doc:
    "The indices of nonzero elements, one row each; with asTuple one vector for each dimension. As `torch.nonzero`.",
  params: { self: required("tensor"), asTuple: optional("bool", false, { keyword: true }) },
  results: ["indices"],
  resultsIf: "asTuple",
  dataDependent: () => true,
  infer: unknown("nonzero"),
  compose(o, { self, asTuple }) {
    const rows = o.argwhere(asTuple && self.shape.length === 0 ? o.unsqueeze(self, 0) : self);
    return asTuple ? o.unbind(rows, 1) : rows;
  },
  gradient: { kind: "none", because: "its result is made of indices" },
  samples: [{ args: [{ tensor: [3, 4], dtype: "bool" }] }],
});

/** The indices of nonzero elements, one row each. */
function positionsOf(x: HostTensor): HostTensor {
  const { data } = x, shape = knownShape(x), found: number[] = [];
  for (let i = 0; i < data.length; i++) if (Number(data[i]) !== 0) found.push(i);
  const rows = new BigInt64Array(found.length * shape.length);
  // From the last dimension on, each column takes its part of the flat positions
  for (let d = shape.length - 1; d >= 0; d--) {
    const size = shape[d] ?? 1;
    for (const [row, position] of found.entries()) {
      rows[row * shape.length + d] = BigInt(position % size);
      found[row] = Math.floor(position / size);
    }
  }
  return { shape: [found.length, shape.length], dtype: "int64", data: rows };
}

const argwhere = hostOp({
  name: "argwhere",
  doc: "The indices of nonzero elements, one row each, as `torch.argwhere`. Its size depends on elements.",
  params: { self: required("tensor") },
  dataDependent: () => true,
  infer: unknown("nonzero"),
  inferUnbacked: ({ self }, count) => [
    contiguousMeta([count(product(self.shape)), self.shape.length], "int64", self.device),
  ],
  compute: ({ self }) => [positionsOf(self)],
  gradient: { kind: "none", because: "its result is made of indices" },
  samples: [{ args: [{ tensor: [3, 4], dtype: "bool" }] }, { args: [t()] }],
});

const maskPositions = hostOp({
  name: "maskPositions",
  doc:
    "The indices of the true elements of a mask that has `count` of them, one row each; of another one an error.",
  params: { mask: required("tensor"), count: required("size") },
  exposure: { method: false, free: false },
  infer: ({ mask, count }) => contiguousMeta([count, mask.shape.length], "int64", mask.device),
  compute({ mask, count }) {
    const rows = positionsOf(mask), wanted = knownSize(count), [found = 0] = rows.shape;
    if (found !== wanted) {
      throw new DynError(
        `Expected a mask that selects ${wanted} elements, one for each value, but found one that selects ${found}`,
      );
    }
    return [rows];
  },
  gradient: { kind: "none", because: "its result is made of indices" },
  samples: [],
});

const repeatedIndices = hostOp({
  name: "repeatedIndices",
  doc: "Index i repeats[i] times, for all i below `size`; one number of repeats stands for all.",
  params: { repeats: required("tensor"), size: required("size"), outputSize: nullable("size") },
  exposure: { method: false, free: false },
  dataDependent: ({ outputSize }) => outputSize === null,
  infer: ({ repeats, outputSize }) =>
    outputSize === null
      ? unknown("repeatInterleave")()
      : contiguousMeta([outputSize], "int64", repeats.device),
  inferUnbacked: ({ repeats }, count) => [contiguousMeta([count(Infinity)], "int64", repeats.device)],
  compute({ repeats, size, outputSize }) {
    const count = knownSize(size);
    if (repeats.shape.length > 1 || (repeats.data.length !== 1 && repeats.data.length !== count)) {
      throw new DynError(
        `Expected ${count} repeats in one dimension but found ${shapeText(repeats.shape)}`,
      );
    }
    const times = Array.from({ length: count }, (_, i) => {
      const each = Number(repeats.data[repeats.data.length === 1 ? 0 : i]);
      checkAtLeast("repeats", each, 0);
      return each;
    });
    const total = times.reduce((sum, each) => sum + each, 0);
    const wanted = outputSize === null ? total : knownSize(outputSize);
    if (wanted !== total) {
      throw new DynError(`Expected repeats that sum to an outputSize of ${wanted} but found ${total}`);
    }
    checkCount("repeatInterleave", total);
    const data = new BigInt64Array(total);
    let at = 0;
    for (const [i, each] of times.entries()) data.fill(BigInt(i), at, at += each);
    return [{ shape: [total], dtype: "int64", data }];
  },
  gradient: { kind: "none", because: "its result is made of indices" },
  samples: [{ args: [{ tensor: [3], dtype: "int64", range: [0, 3] }, 3] }],
});

/** Slices of a host tensor along a dimension, each as a list of elements. */
function slicesOf(x: HostTensor, dim: number): (number | bigint)[][] {
  const shape = knownShape(x), size = shape[dim] ?? 1;
  const inner = shape.slice(dim + 1).reduce((a, b) => a * b, 1);
  const slices: (number | bigint)[][] = Array.from({ length: size }, () => []);
  for (let i = 0; i < x.data.length; i++) slices[Math.floor(i / inner) % size]?.push(x.data[i] ?? 0);
  return slices;
}

/** Slices joined along a dimension again. */
function joinSlices(
  slices: readonly (readonly (number | bigint)[])[],
  x: HostTensor,
  dim: number,
): HostTensor {
  const shape = knownShape(x).map((s, d) => d === dim ? slices.length : s);
  const inner = shape.slice(dim + 1).reduce((a, b) => a * b, 1);
  const count = shape.reduce((a, b) => a * b, 1), values: (number | bigint)[] = new Array(count);
  for (let i = 0; i < count; i++) {
    const slice = Math.floor(i / inner) % Math.max(1, slices.length);
    const outer = Math.floor(i / inner / Math.max(1, slices.length));
    values[i] = slices[slice]?.[outer * inner + i % inner] ?? 0;
  }
  return hostTensor(shape, x.dtype, values);
}

function compareSlices(a: readonly (number | bigint)[], b: readonly (number | bigint)[]): number {
  for (let i = 0; i < a.length; i++) {
    const x = a[i] ?? 0, y = b[i] ?? 0;
    if (x < y) return -1;
    if (x > y) return 1;
    if (x !== y) return Number.isNaN(Number(x)) ? 1 : -1;
  }
  return 0;
}

interface Groups {
  readonly representatives: readonly number[];
  readonly inverse: readonly number[];
  readonly counts: readonly number[];
}

/** Groups of equal slices: of adjacent ones, or of all, sorted. */
function groupsOf(slices: readonly (readonly (number | bigint)[])[], consecutive: boolean): Groups {
  const order = slices.map((_, i) => i);
  if (!consecutive) order.sort((a, b) => compareSlices(slices[a] ?? [], slices[b] ?? []) || a - b);
  const representatives: number[] = [], counts: number[] = [], inverse = new Array<number>(slices.length);
  for (const i of order) {
    const last = representatives.at(-1);
    if (last === undefined || compareSlices(slices[last] ?? [], slices[i] ?? []) !== 0) {
      representatives.push(i);
      counts.push(0);
    }
    counts[counts.length - 1] = (counts.at(-1) ?? 0) + 1;
    inverse[i] = representatives.length - 1;
  }
  return { representatives, inverse, counts };
}

function uniqueResult(
  self: HostTensor,
  spec: { readonly dim: number | null; readonly consecutive: boolean },
): [HostTensor, HostTensor, HostTensor] {
  const whole = spec.dim === null;
  const flat: HostTensor = whole ? { ...self, shape: [self.data.length] } : self;
  const dim = whole ? 0 : normalizeDim(spec.dim ?? 0, self.shape.length);
  if (!whole && self.shape.some((size, d) => d !== dim && size === 0)) {
    throw new DynError(`Expected slices with elements for unique but found ${shapeText(self.shape)}`);
  }
  const slices = slicesOf(flat, dim);
  const groups = groupsOf(slices, spec.consecutive);
  const kept = groups.representatives.map((i) => slices[i] ?? []);
  return [
    joinSlices(kept, flat, dim),
    hostTensor(whole ? knownShape(self) : [slices.length], "int64", groups.inverse),
    hostTensor([groups.counts.length], "int64", groups.counts),
  ];
}

const uniqueGroups = hostOp({
  name: "uniqueGroups",
  doc: "Distinct elements (or slices along `dim`), where each went, and how many there were of each.",
  params: {
    self: required("tensor"),
    dim: nullable("int"),
    consecutive: optional("bool", false),
  },
  results: ["output", "inverseIndices", "counts"],
  exposure: { method: false, free: false },
  dataDependent: () => true,
  infer: unknown("unique"),
  inferUnbacked({ self, dim }, count) {
    const { shape, dtype, device } = self, at = dim === null ? null : normalizeDim(dim, shape.length);
    const along = at === null ? product(shape) : shape[at] ?? 1, found = count(along);
    return [
      contiguousMeta(at === null ? [found] : shape.with(at, found), dtype, device),
      contiguousMeta(at === null ? shape : [along], "int64", device),
      contiguousMeta([found], "int64", device),
    ];
  },
  compute: ({ self, dim, consecutive }) => uniqueResult(self, { dim, consecutive }),
  gradient: { kind: "none", because: "its sizes depend on elements" },
  samples: [{ args: [{ tensor: [6], dtype: "int64", range: [0, 3] }] }],
});

/** unique and uniqueConsecutive, with as many results as requested. */
function unique(name: "unique" | "uniqueConsecutive") {
  const consecutive = name === "uniqueConsecutive";
  const tail = {
    returnInverse: optional("bool", false),
    returnCounts: optional("bool", false),
    dim: nullable("int"),
  };
  return composeOp({
    name,
    doc:
      `${consecutive ? "The elements without consecutive duplicates" : "Distinct elements, sorted"}; with ` +
      `returnInverse and returnCounts also the index of each element among them, and their counts. As \`torch.${
        snakeCase(name)
      }\`.`,
    params: consecutive
      ? { self: required("tensor"), ...tail, sorted: optional("bool", true) }
      : { self: required("tensor"), sorted: optional("bool", true), ...tail },
    results: ["output", "inverseIndices", "counts"],
    resultsWith: { inverseIndices: "returnInverse", counts: "returnCounts" },
    dataDependent: () => true,
    infer: unknown(name),
    compose(o, { self, returnInverse, returnCounts, dim }) {
      const [output, inverse, counts] = o.uniqueGroups(self, dim, consecutive);
      return [output, ...returnInverse ? [inverse] : [], ...returnCounts ? [counts] : []];
    },
    gradient: { kind: "none", because: "its sizes depend on elements" },
    samples: [{ args: [{ tensor: [6], dtype: "int64", range: [0, 3] }] }],
  });
}

/** The type of counts, or of sums of weights. */
function weightedType(weights: DType | null): DType {
  return weights === null ? "int64" : weights === "float32" ? "float32" : "float64";
}

const bincount = hostOp({
  name: "bincount",
  doc: "The number of occurrences of each integer from 0 on, or the sum of its weights, as `torch.bincount`.",
  params: { self: required("tensor"), weights: nullable("tensor"), minlength: optional("size", 0) },
  dataDependent: () => true,
  infer: unknown("bincount"),
  inferUnbacked: ({ self, weights }, count) => [
    contiguousMeta([count(Infinity)], weightedType(weights?.dtype ?? null), self.device),
  ],
  compute({ self, weights, minlength }) {
    if (self.shape.length !== 1 || isFloat(self.dtype) || self.dtype === "bool") {
      throw new DynError(
        `Expected a vector of integers but found ${self.dtype} of shape ${shapeText(self.shape)}`,
      );
    }
    const least = knownSize(minlength);
    checkAtLeast("minlength of bincount", least, 0);
    if (weights && !sameShape(weights.shape, self.shape)) {
      throw new DynError(
        `Expected weights of shape ${shapeText(self.shape)} but found ${shapeText(weights.shape)}`,
      );
    }
    let count = least;
    for (const element of self.data) {
      const value = Number(element);
      checkAtLeast("elements of bincount", value, 0);
      count = Math.max(count, value + 1);
    }
    checkCount("bincount", count);
    const counts = new Float64Array(count);
    for (let i = 0; i < self.data.length; i++) {
      const value = Number(self.data[i]);
      counts[value] = (counts[value] ?? 0) + (weights ? Number(weights.data[i]) : 1);
    }
    return [hostTensor([count], weightedType(weights?.dtype ?? null), counts)];
  },
  gradient: { kind: "none", because: "its result counts" },
  samples: [{ args: [{ tensor: [6], dtype: "int64", range: [0, 4] }] }],
});

export const hostOps = {
  nonzero,
  argwhere,
  maskPositions,
  repeatedIndices,
  uniqueGroups,
  unique: unique("unique"),
  uniqueConsecutive: unique("uniqueConsecutive"),
  bincount,
} as const;
