/**
 * Sums, means and maxima of embeddings in bags: one row for each bag. Invariant: compositions; indices outside all
 * bags, and the padding index, go to a row that is dropped.
 */
import { zeroUnless } from "../refusals.ts";
import { DynError, invariant } from "../../base/errors.ts";
import { isInteger } from "../../base/dtype.ts";
import { isEqual } from "../../sym/decide.ts";
import { add, sub } from "../../sym/expr.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import type { TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { checkEmbeddingOptions, checkTable, paddingRow, tableAndIndices } from "./embedding.ts";
import { checkIndex, indexRange } from "./indexing.ts";
import { nullable, optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { sameShape, shapeText } from "../shapes.ts";
import { composeWideOp } from "../wide.ts";

type Mode = "sum" | "mean" | "max";
const MODES = ["sum", "mean", "max"] as const;

interface Bags<T> {
  /** [bags, length, dim], or [length, dim] where `bag` names the bag of each. */
  readonly rows: T;
  /** Whether an index counts. */
  readonly counted: T | null;
  readonly mode: Mode;
}

/** Bags of one length. */
function evenBags<T extends TensorLike>(o: OpApi<T>, { rows, counted, mode }: Bags<T>): T {
  const mask = counted && o.unsqueeze(counted, -1);
  if (isEqual(rows.shape[1] ?? 1, 0)) return o.sum(rows, 1);
  if (mode === "max") {
    const [largest] = o.max(mask ? o.where(mask, rows, -Infinity) : rows, 1);
    invariant(largest, "Expected maxima but found none");
    return counted ? o.where(o.any(o.unsqueeze(counted, -1), 1), largest, 0) : largest;
  }
  const total = o.sum(mask ? o.where(mask, rows, 0) : rows, 1);
  if (mode === "sum") return total;
  if (!counted) return o.div(total, rows.shape[1] ?? 1);
  return o.div(total, o.clampMin(o.sum(o.to(o.unsqueeze(counted, -1), rows.dtype), 1), 1));
}

/** Bags that start at offsets. */
function bagsFrom<T extends TensorLike>(
  o: OpApi<T>,
  { rows, counted, mode }: Bags<T>,
  { offsets, includeLast }: { readonly offsets: T; readonly includeLast: boolean },
): T {
  const [length = 0, dim = 1] = rows.shape, starts = offsets.shape[0] ?? 0;
  const bags = includeLast ? sub(starts, 1) : starts;
  const places = o.arange(length, { device: rows.device, dtype: offsets.dtype });
  const before = o.searchsorted(offsets, places, { right: true });
  // 0 is before the first bag
  const own = o.logicalAnd(o.gt(before, 0), o.le(before, bags));
  const bag = o.where(counted ? o.logicalAnd(own, counted) : own, o.sub(before, 1), bags);
  // Bags begin at 0, do not overlap, and end with the indices
  const late = o.ne(o.narrow(offsets, 0, 0, 1), 0), falling = o.lt(o.diff(offsets), 0);
  const beyond = o.logicalNot(o.le(o.narrow(offsets, 0, sub(starts, 1), 1), length));
  const checked = zeroUnless(o, o.cat([late, falling, beyond], 0), {
    like: o.detach(rows),
    expected: "offsets of bags that begin at 0, do not fall and end within the indices but found others",
  });
  const whole = o.add(o.newZeros(rows, [add(bags, 1), dim]), checked);
  if (mode === "max") {
    const index = o.expand(o.unsqueeze(bag, -1), rows.shape);
    return o.narrow(o.scatterReduce(whole, 0, index, rows, "amax", { includeSelf: false }), 0, 0, bags);
  }
  const total = o.narrow(o.indexAdd(whole, 0, bag, rows), 0, 0, bags);
  if (mode === "sum") return total;
  const ones = o.onesLike(o.detach(o.narrow(rows, 1, 0, 1)));
  const counts = o.narrow(o.indexAdd(o.narrow(o.detach(whole), 1, 0, 1), 0, bag, ones), 0, 0, bags);
  return o.div(total, o.clampMin(counts, 1));
}

const embeddingBag = composeWideOp({
  name: "embeddingBag",
  doc:
    "Sums, means or maxima of the rows of `weight` at bags of integers, as `nn.functional.embedding_bag`: rows of a matrix " +
    "are bags, and vectors have bags that start at `offsets`.",
  params: {
    input: required("tensor"),
    weight: required("tensor"),
    offsets: nullable("tensor"),
    maxNorm: nullable("float"),
    normType: optional("float", 2),
    scaleGradByFreq: optional("bool", false),
    mode: optional("string", "mean", { oneOf: MODES }),
    sparse: optional("bool", false),
    perSampleWeights: nullable("tensor"),
    includeLastOffset: optional("bool", false),
    paddingIdx: nullable("int"),
  },
  exposure: { method: false, free: false, namespaces: ["nn.functional"] },
  infer({ input, weight, offsets, maxNorm, mode, sparse, perSampleWeights, includeLastOffset, paddingIdx }) {
    const { table, indices } = tableAndIndices(input, weight);
    checkIndex("embeddingBag", indices);
    checkTable(table);
    paddingRow(paddingIdx, table.shape[0] ?? 1);
    checkEmbeddingOptions("embeddingBag", { maxNorm, sparse });
    if (perSampleWeights) {
      if (mode !== "sum") throw new DynError(`Expected mode sum with perSampleWeights but found ${mode}`);
      if (!sameShape(perSampleWeights.shape, indices.shape)) {
        throw new DynError(
          `Expected a weight for each index, ${shapeText(indices.shape)}, but found ${
            shapeText(perSampleWeights.shape)
          }`,
        );
      }
    }
    const [first = 1] = indices.shape, dim = table.shape[1] ?? 1;
    if (indices.shape.length === 2) {
      if (offsets) {
        throw new DynError(
          "Expected no offsets beside indices of 2 dimensions, whose rows are bags, but found some",
        );
      }
      return contiguousMeta([first, dim], table.dtype, table.device);
    }
    if (indices.shape.length !== 1) {
      throw new DynError(`Expected indices of 1 or 2 dimensions but found ${shapeText(indices.shape)}`);
    }
    if (!offsets || offsets.shape.length !== 1 || !isInteger(offsets.dtype)) {
      const found = offsets ? `${offsets.dtype} of shape ${shapeText(offsets.shape)}` : "none";
      throw new DynError(`Expected a vector of integers as offsets of bags but found ${found}`);
    }
    const starts = offsets.shape[0] ?? 0;
    if (starts === 0) throw new DynError("Expected offsets of bags, of which the first is 0, but found none");
    return contiguousMeta([includeLastOffset ? sub(starts, 1) : starts, dim], table.dtype, table.device);
  },
  ranges({ input, weight, offsets }) {
    const { table, indices } = tableAndIndices(input, weight), length = indices.shape[0] ?? 0;
    const inTable = indexRange(indices, table.shape[0] ?? 1);
    if (!offsets || indices.shape.length !== 1 || typeof length !== "number") return [inTable];
    return [inTable, { values: offsets, low: 0, high: length + 1, what: "offset" }];
  },
  compose(o, args) {
    const { offsets, mode, perSampleWeights, includeLastOffset: includeLast } = args;
    const { table, indices } = tableAndIndices(args.input, args.weight);
    const padding = paddingRow(args.paddingIdx, table.shape[0] ?? 1);
    const read = o.embeddingRows(table, indices, null, args.scaleGradByFreq);
    const rows = perSampleWeights ? o.mul(read, o.unsqueeze(perSampleWeights, -1)) : read;
    const bags = { rows, counted: padding === null ? null : o.ne(indices, padding), mode: mode as Mode };
    return offsets ? bagsFrom(o, bags, { offsets, includeLast }) : evenBags(o, bags);
  },
  samples: [
    { args: [{ tensor: [2, 3], dtype: "int64", range: [0, 4] }, t(4, 3)] },
    {
      args: [{ tensor: [5], dtype: "int64", range: [0, 4] }, t(4, 3), {
        tensor: [2],
        dtype: "int64",
        range: [0, 3],
      }],
      options: { mode: "sum", perSampleWeights: t(5) },
    },
  ],
  errors: [{ args: [{ tensor: [5], dtype: "int64", range: [0, 4] }, t(4, 3)], message: "offsets" }],
});

export const embeddingBags = { embeddingBag } as const;
