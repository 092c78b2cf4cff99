/**
 * Embeddings: rows of a table looked up by integers. Invariant: the gradient of a row sums over all reads of it; the
 * padding index has none.
 */
import { DynError } from "../../base/errors.ts";
import { type DType, isInteger } from "../../base/dtype.ts";
import { isEqual } from "../../sym/decide.ts";
import type { Dim } from "../../sym/expr.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { Body } from "../../loops/body.ts";
import { composeOp, hostOp, INTERNAL, lowerOp } from "../definition.ts";
import { nullable, optional, required } from "../params.ts";
import { castTo } from "../promotion.ts";
import { checkIndex, indexRange, indirectIndex } from "./indexing.ts";
import { elements, t } from "../pointwise.ts";
import { checkSizeAtLeast, knownSize, shapeText } from "../shapes.ts";

const INDICES = { tensor: [2, 3], dtype: "int64", range: [0, 4] } as const;

/** A padding index counted from the front. */
export function paddingRow(paddingIdx: number | null, rows: Dim): number | null {
  if (paddingIdx === null) return null;
  const count = knownSize(rows);
  if (paddingIdx < -count || paddingIdx >= count) {
    throw new DynError(`Expected paddingIdx in [${-count}, ${count - 1}] but found ${paddingIdx}`);
  }
  return paddingIdx < 0 ? paddingIdx + count : paddingIdx;
}

/** Throws for a norm, which would write the table, and for sparse gradients. */
export function checkEmbeddingOptions(
  owner: string,
  { maxNorm, sparse }: { readonly maxNorm: number | null; readonly sparse: boolean },
): void {
  if (maxNorm !== null) {
    throw new DynError(
      `Expected no maxNorm of ${owner} but found ${maxNorm}; layers take it, which scale their own table in place`,
    );
  }
  if (sparse) {
    throw new DynError(`Expected sparse of ${owner} to be false but found true: gradients are dense`);
  }
}

/** Throws unless a table has rows. */
export function checkTable(weight: Pick<TensorMeta, "shape">): void {
  if (weight.shape.length !== 2) {
    throw new DynError(`Expected a table of 2 dimensions but found ${shapeText(weight.shape)}`);
  }
}

/** nn.functional.embedding takes the integers first, torch.embedding the table; they are distinguished by type. */
export function tableAndIndices<T extends { readonly dtype: DType }>(
  input: T,
  weight: T,
): { table: T; indices: T } {
  const swapped = !isInteger(input.dtype) && isInteger(weight.dtype);
  return swapped ? { table: input, indices: weight } : { table: weight, indices: input };
}

/** The table and the indices. Throws DynError unless they are a table and integers. */
function checkedTable<T extends Pick<TensorMeta, "dtype" | "shape">>(
  input: T,
  weight: T,
): { table: T; indices: T } {
  const both = tableAndIndices(input, weight);
  checkIndex("embedding", both.indices);
  checkTable(both.table);
  return both;
}

const embedding = composeOp({
  name: "embedding",
  doc: "The rows of `weight` at the integers in `input`, as `nn.functional.embedding`; also with the two " +
    "exchanged, as `torch.embedding`.",
  params: {
    input: required("tensor"),
    weight: required("tensor"),
    paddingIdx: nullable("int"),
    maxNorm: nullable("float"),
    normType: optional("float", 2),
    scaleGradByFreq: optional("bool", false),
    sparse: optional("bool", false),
  },
  exposure: { method: false, free: false, namespaces: ["nn.functional"] },
  infer({ input, weight, paddingIdx, maxNorm, sparse }) {
    const { table, indices } = checkedTable(input, weight);
    paddingRow(paddingIdx, table.shape[0] ?? 1);
    checkEmbeddingOptions("embedding", { maxNorm, sparse });
    return contiguousMeta([...indices.shape, table.shape[1] ?? 1], table.dtype, table.device);
  },
  ranges({ input, weight }) {
    const { table, indices } = tableAndIndices(input, weight);
    return [indexRange(indices, table.shape[0] ?? 1)];
  },
  compose(o, { input, weight, paddingIdx, scaleGradByFreq }) {
    // Complex tables have not been checked by `infer`
    const { table, indices } = checkedTable(input, weight);
    return o.embeddingRows(table, indices, paddingRow(paddingIdx, table.shape[0] ?? 1), scaleGradByFreq);
  },
  samples: [{ args: [INDICES, t(4, 3)] }, { args: [INDICES, t(4, 3), 1], frozen: true }],
  errors: [{ args: [t(2), t(4, 3)], message: "int64" }],
});

const embeddingRows = lowerOp({
  name: "embeddingRows",
  doc: "The rows of a table at indices.",
  params: {
    weight: required("tensor"),
    indices: required("tensor"),
    paddingIdx: nullable("int"),
    scaleGradByFreq: optional("bool", false),
  },
  exposure: INTERNAL,
  infer: ({ weight, indices }) =>
    contiguousMeta([...indices.shape, weight.shape[1] ?? 1], weight.dtype, weight.device),
  ranges: ({ indices, weight }) => [indexRange(indices, weight.shape[0] ?? 1)],
  lower({ weight, indices }, [result]) {
    const size = weight.shape[0] ?? 1;
    return elements(result, (o, index) =>
      o.load(weight, [
        indirectIndex(o, o.load(indices, index.slice(0, -1)), { size }),
        index.at(-1) ?? 0,
      ]));
  },
  gradient: {
    saves: ["indices"],
    single(o, grad, { args: { weight, indices, paddingIdx, scaleGradByFreq } }) {
      const rows = weight.shape[0] ?? 1;
      if (!scaleGradByFreq) return { weight: o.embeddingBackward(grad, indices, rows, paddingIdx) };
      const flat = o.reshape(indices, [-1]);
      const counts = o.scatterAdd(
        o.newZeros(grad, [rows]),
        0,
        o.to(flat, "int64"),
        o.onesLike(flat, { dtype: grad.dtype }),
      );
      const share = o.unsqueeze(o.gatherIndices(counts, [indices]), -1);
      return { weight: o.embeddingBackward(o.div(grad, share), indices, rows, paddingIdx) };
    },
  },
  samples: [{ args: [t(4, 3), INDICES, null] }, { args: [t(4, 3), INDICES, 1], frozen: true }],
});

const embeddingBackward = lowerOp({
  name: "embeddingBackward",
  doc:
    "The gradient of a table of `rows` rows: gradients of rows added up, without those of the padding index.",
  params: {
    grad: required("tensor"),
    indices: required("tensor"),
    rows: required("size"),
    paddingIdx: nullable("int"),
  },
  exposure: INTERNAL,
  infer: ({ grad, rows }) => contiguousMeta([rows, grad.shape.at(-1) ?? 1], grad.dtype, grad.device),
  ranges: ({ indices, rows }) => [indexRange(indices, rows)],
  lower({ grad, indices, rows, paddingIdx }, [result]) {
    if (!result) return [];
    const { dtype } = result;
    const row = <V>(o: Body<V>, position: readonly Dim[]): V => o.load(indices, position.slice(0, -1));
    return [{
      kind: "scatter",
      shape: result.shape,
      dtype,
      base: (o) => o.constant(0, dtype),
      over: grad.shape,
      mode: "add",
      target: (o, position) => [indirectIndex(o, row(o, position), { size: rows }), position.at(-1) ?? 0],
      value: (o, position) => {
        const value = o.load(grad, position);
        if (paddingIdx === null) return value;
        const padded = o.eq(castTo(o, row(o, position), "int64"), o.constant(paddingIdx, "int64"));
        return o.select(padded, o.constant(0, dtype), value);
      },
    }];
  },
  gradient: {
    saves: ["indices"],
    single(o, grad, { args: { indices, paddingIdx } }) {
      const read = o.embeddingRows(grad, indices, null);
      if (paddingIdx === null) return { grad: read };
      return { grad: o.where(o.unsqueeze(o.eq(indices, paddingIdx), -1), 0, read) };
    },
  },
  samples: [{ args: [t(2, 3, 2), INDICES, 4, null] }, { args: [t(2, 3, 2), INDICES, 4, 1] }],
});

/** oneHot without a number of classes depends on elements. */
const oneHot = composeOp({
  name: "oneHot",
  doc:
    "1 at the class that each integer names, else 0, in a new last dimension, as `nn.functional.one_hot`. Without " +
    "numClasses the size depends on elements.",
  params: { self: required("tensor"), numClasses: optional("size", -1) },
  otherNames: { tensor: "self" },
  exposure: { method: false, free: false, namespaces: ["nn.functional"] },
  dataDependent: ({ numClasses }) => isEqual(numClasses, -1),
  infer({ self, numClasses }) {
    checkIndex("oneHot", self);
    checkSizeAtLeast("numClasses of oneHot", numClasses, 1);
    return contiguousMeta([...self.shape, numClasses], "int64", self.device);
  },
  ranges: ({ self, numClasses }) =>
    isEqual(numClasses, -1) ? [] : [{ values: self, low: 0, high: numClasses, what: "class" }],
  compose(o, { self, numClasses }) {
    if (isEqual(numClasses, -1)) return o.oneHotOfAll(self);
    return o.oneHotClasses(self, numClasses);
  },
  gradient: { kind: "none", because: "its result is made of integers" },
  samples: [{ args: [{ tensor: [3], dtype: "int64", range: [0, 4] }, 4] }],
  errors: [
    { args: [t(3), 4], message: "int64" },
    { args: [{ tensor: [3], dtype: "int64" }, -2], message: "numClasses" },
  ],
});

const oneHotClasses = lowerOp({
  name: "oneHotClasses",
  doc: "oneHot of a known number of classes.",
  params: { self: required("tensor"), numClasses: required("size") },
  exposure: INTERNAL,
  infer: ({ self, numClasses }) => contiguousMeta([...self.shape, numClasses], "int64", self.device),
  ranges: ({ self, numClasses }) => [{ values: self, low: 0, high: numClasses, what: "class" }],
  lower({ self }, [result]) {
    return elements(result, (o, index) => {
      const wanted = castTo(o, o.load(self, index.slice(0, -1)), "int64");
      return o.cast(o.eq(wanted, o.index(index.at(-1) ?? 0, "int64")), "int64");
    });
  },
  gradient: { kind: "none", because: "its result is made of integers" },
  samples: [{ args: [{ tensor: [3], dtype: "int64", range: [0, 4] }, 4] }],
});

const oneHotOfAll = hostOp({
  name: "oneHotOfAll",
  doc: "oneHot with as many classes as the greatest integer needs.",
  params: { self: required("tensor") },
  exposure: INTERNAL,
  dataDependent: () => true,
  infer() {
    throw new DynError("Expected numClasses of oneHot for a tensor without data but found none");
  },
  inferUnbacked: ({ self }, count) => [
    contiguousMeta([...self.shape, count(Infinity)], "int64", self.device),
  ],
  compute({ self }) {
    if (self.dtype !== "int64" && self.dtype !== "int32") {
      throw new DynError(`Expected classes of type int64 but found ${self.dtype}`);
    }
    if (self.data.length === 0) {
      throw new DynError("Expected a number of classes for a tensor without elements but found none");
    }
    const classes = Array.from(self.data, Number), count = Math.max(...classes) + 1;
    const negative = classes.find((c) => c < 0);
    if (negative !== undefined) {
      throw new DynError(`Expected non-negative classes but found ${negative}`);
    }
    const data = new BigInt64Array(classes.length * count);
    classes.forEach((c, i) => data[i * count + c] = 1n);
    return [{ shape: [...self.shape, count], dtype: "int64", data }];
  },
  gradient: { kind: "none", because: "its result is made of integers" },
  samples: [{ args: [{ tensor: [3], dtype: "int64", range: [0, 4] }] }],
});

export const embeddings = {
  embedding,
  embeddingRows,
  embeddingBackward,
  oneHot,
  oneHotClasses,
  oneHotOfAll,
} as const;
